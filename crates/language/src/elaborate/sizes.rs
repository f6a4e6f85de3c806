//! Sizes, shapes, axes and indices: values that must be known at compile time, and the errors if they are
//! not.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Builtin, Op, Shape, StaticError, StaticKind};

use super::{Elaborator, InstanceId};
use crate::codes;
use crate::flow::constant::with_point;
use crate::program::{NodeId, Reference};
use crate::static_value::{self, Static};
use crate::tree::{BinaryOp, ExprId, ExprKind};

impl Elaborator<'_> {
    /// The operation of a function with these static arguments.
    pub(super) fn with_statics(
        &mut self,
        instance: InstanceId,
        builtin: Builtin,
        arguments: &[ExprId],
    ) -> Option<Op> {
        let mut statics = Vec::new();
        for argument in arguments {
            match self.known(instance, *argument) {
                Some(constant) => statics.push(constant.clone()),
                None => {
                    self.fail(with_max_help(builtin, self.not_static(instance, *argument)));
                    return None;
                }
            }
        }
        match builtin.op(&statics) {
            Ok(op) => Some(op),
            Err(error) => {
                let wrong = arguments.iter().zip(&statics).zip(builtin.statics());
                let mut wrong = wrong.filter(|((_, constant), kind)| !is_of_kind(constant, **kind));
                let ((argument, constant), kind) = wrong.next().expect("one of them is wrong");
                let diagnostic = self.wrong_static(instance, *argument, constant, *kind, &error);
                self.fail(with_max_help(builtin, diagnostic));
                None
            }
        }
    }

    fn wrong_static(
        &self,
        instance: InstanceId,
        argument: ExprId,
        constant: &Static,
        kind: StaticKind,
        error: &StaticError,
    ) -> Diagnostic {
        let span = self.module(instance).tree.exprs.at(argument);
        match (kind, constant) {
            (StaticKind::Axis, Static::Int(n)) => {
                let title = format!("the compile-time axis {n} is out of range: axes are counted from 0");
                Diagnostic::error(codes::COMPILE_TIME, span, title)
                    .help("the last axis of a vector is 0, that of a matrix 1")
            }
            (StaticKind::Axis, Static::Num(x)) => self.not_an_integer(instance, argument, "an axis", *x),
            (StaticKind::Size, Static::Num(x)) => {
                self.not_an_integer(instance, argument, "a size or an index", *x)
            }
            _ => Diagnostic::error(codes::COMPILE_TIME, span, error.to_string()),
        }
    }

    pub(super) fn shape(&mut self, instance: InstanceId, expr: ExprId) -> Option<Shape> {
        let span = self.module(instance).tree.exprs.at(expr);
        let diagnostic = match self.known(instance, expr) {
            None => self.not_static(instance, expr),
            Some(constant) => match static_value::shape(constant).map(|shape| (shape.n_elements(), shape)) {
                Some((Ok(_), shape)) => return Some(shape),
                Some((Err(error), _)) => Diagnostic::error(codes::SHAPE, span, error.to_string()),
                None => {
                    let constant = static_value::shown(constant);
                    let title =
                        format!("a shape is a compile-time list of sizes, such as `[2,3]`, not `{constant}`");
                    Diagnostic::error(codes::COMPILE_TIME, span, title)
                }
            },
        };
        self.fail(diagnostic);
        None
    }

    pub(super) fn size(&mut self, instance: InstanceId, expr: ExprId) -> Option<usize> {
        let span = self.module(instance).tree.exprs.at(expr);
        let diagnostic = match self.known(instance, expr) {
            None => self.not_static(instance, expr),
            Some(Static::Int(n)) => match usize::try_from(*n) {
                Ok(size) => return Some(size),
                Err(_) => {
                    let title = format!(
                        "the compile-time number {n} is out of range: a size or an index is not negative"
                    );
                    Diagnostic::error(codes::COMPILE_TIME, span, title)
                }
            },
            Some(Static::Num(x)) => self.not_an_integer(instance, expr, "a size or an index", *x),
            Some(constant @ Static::List(_)) => {
                let constant = static_value::shown(constant);
                let title = format!("a size or an index is a compile-time integer, not `{constant}`");
                Diagnostic::error(codes::COMPILE_TIME, span, title)
            }
        };
        self.fail(diagnostic);
        None
    }

    pub(super) fn must_be_static(
        &self,
        instance: InstanceId,
        argument: ExprId,
        node: NodeId,
        input: usize,
    ) -> Diagnostic {
        let slot = &self.program.node(node).slots[input];
        self.not_static(instance, argument)
            .cause(slot.span, format!("`{}` is used as a size or a shape", slot.name))
    }

    /// The error about an expression that is not a constant. For a list, it points at the item that is not a
    /// constant or not a size.
    fn not_static(&self, instance: InstanceId, expr: ExprId) -> Diagnostic {
        let exprs = &self.module(instance).tree.exprs;
        let expr = exprs.without_parentheses(expr);
        if let ExprKind::List(items) = exprs.kind(expr) {
            for item in exprs.items(items) {
                match self.known(instance, *item) {
                    Some(Static::Int(_)) => {}
                    Some(Static::Num(x)) => return self.not_an_integer(instance, *item, "a size", *x),
                    Some(list) => {
                        let title =
                            format!("a size is a compile-time integer, not `{}`", static_value::shown(list));
                        return Diagnostic::error(codes::COMPILE_TIME, exprs.at(*item), title);
                    }
                    None => return not_known(exprs.at(*item)),
                }
            }
        }
        not_known(exprs.at(expr))
    }

    fn not_an_integer(&self, instance: InstanceId, expr: ExprId, what: &str, found: f64) -> Diagnostic {
        let span = self.module(instance).tree.exprs.at(expr);
        let title = format!("{what} is a compile-time integer, not `{}`", with_point(found));
        let diagnostic = Diagnostic::error(codes::COMPILE_TIME, span, title);
        match self.division(instance, expr) {
            Some(at) if at == span => diagnostic.help("`/` makes a num: divide integers with `div`"),
            Some(at) => diagnostic.cause(at, "`/` makes a num: divide integers with `div`"),
            None => diagnostic,
        }
    }

    /// The `/` at the root of an expression, or at the root of the definition of its name.
    fn division(&self, instance: InstanceId, expr: ExprId) -> Option<Span> {
        let (module, node) =
            (self.module(instance), self.program.node(self.instances[instance.index()].node));
        let exprs = &module.tree.exprs;
        let mut at = exprs.without_parentheses(expr);
        // Follows names to their definitions. Static names are acyclic, so the loop terminates.
        while let Reference::Slot(slot) = module.references[at.index()] {
            let equation = node.equations.iter().find(|equation| equation.targets == [Some(slot)])?;
            at = exprs.without_parentheses(equation.value);
        }
        matches!(exprs.kind(at), ExprKind::Binary(BinaryOp::Divide, ..)).then(|| exprs.at(at))
    }
}

/// `max(x, 1.0)`: if the second argument is not an axis, the user probably meant the larger of two values.
fn with_max_help(builtin: Builtin, diagnostic: Diagnostic) -> Diagnostic {
    if builtin.name() == "max" && diagnostic.help.is_none() {
        return diagnostic.help(codes::LARGER_OF_TWO);
    }
    diagnostic
}

fn is_of_kind(constant: &Static, kind: StaticKind) -> bool {
    match (constant, kind) {
        (Static::Int(n), StaticKind::Size | StaticKind::Axis) => *n >= 0,
        (Static::List(ns), StaticKind::Shape) => ns.iter().all(|n| *n >= 0),
        _ => false,
    }
}

fn not_known(span: Span) -> Diagnostic {
    Diagnostic::error(codes::COMPILE_TIME, span, "a compile-time constant is needed here")
        .label("not known before the program runs")
        .reason("constants are numbers, names that are defined by constants, and sums, products and lists of them")
}
