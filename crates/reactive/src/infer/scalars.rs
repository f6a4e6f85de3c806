//! Scalar types by unification (section 3).
//!
//! Streams of one type are one class. A class is `bool`, `int`, `num`, or still *numeric*, as `2` and `zeros([3])` are; what is
//! numeric to the end becomes `int`, an input about which nothing is known becomes `num`.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Class, Scalar, Signature, Slot};

use super::Hints;
use super::classes::{Classes, Conflict};
use crate::codes;
use crate::draft::Draft;
use crate::flow::Constant;
use crate::flow::{Equation, Kind, Labels, VarId};

/// The scalar type of each stream.
pub(super) fn infer(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
) -> Result<Vec<Scalar>, Vec<Diagnostic>> {
    let n_vars = draft.vars.len();
    let mut inference =
        Inference { labels, classes: Classes::new(n_vars), numeric: Vec::new(), diagnostics: Vec::new() };
    for annotation in &draft.types {
        inference.written(annotation.var, annotation.scalar, annotation.span);
    }
    for (input, scalar) in &hints.scalars {
        let span = draft.vars[input.index()].span;
        // Data that contradict what is written are reported where they are read.
        let _ = inference.classes.set(*input, *scalar, span);
    }
    for equation in &draft.equations {
        inference.equation(equation);
    }
    for alike in &draft.alike {
        inference.same(alike.left, alike.right, alike.span);
    }
    inference.numeric_are_no_truths();
    if inference.diagnostics.is_empty() { Ok(inference.finish(draft)) } else { Err(inference.diagnostics) }
}

struct Inference<'a> {
    labels: &'a Labels<'a>,
    classes: Classes<Scalar>,
    /// Streams that must be numeric, and the operator that says so; literals are numeric by themselves.
    numeric: Vec<(VarId, Option<&'static str>, Span)>,
    diagnostics: Vec<Diagnostic>,
}

impl Inference<'_> {
    fn written(&mut self, var: VarId, scalar: Scalar, span: Span) {
        if let Err(conflict) = self.classes.set(var, scalar, span) {
            let label = self.labels.label(var);
            let title = format!("type error: '{label}' is {} but {scalar} is written here", conflict.left.0);
            let diagnostic =
                Diagnostic::error(codes::TYPE, span, title).cause(conflict.left.1, "the other type");
            self.diagnostics.push(diagnostic);
        }
    }

    fn equation(&mut self, equation: &Equation) {
        let (out, span) = (equation.out, equation.span);
        match &equation.kind {
            Kind::Const(constant) => match constant {
                Constant::Bool(_) => self.is(out, Scalar::Bool, "a truth value", span),
                Constant::Num(_) => self.is(out, Scalar::Num, "a number with a point", span),
                Constant::Initialiser(initialiser, ..) if initialiser.is_random() => {
                    self.is(out, Scalar::Num, initialiser.name(), span);
                }
                Constant::Int(_) | Constant::Ints(_) | Constant::Initialiser(..) => {
                    self.numeric.push((out, None, span));
                }
                Constant::Given(value) => self.is(out, value.scalar(), "a parameter", span),
                Constant::Zero => {}
            },
            Kind::Apply(op, operands) => self.apply(op.name(), &op.signature(), operands, out, span),
            Kind::When { value, condition, .. } => {
                self.is(*condition, Scalar::Bool, "the condition of `when`", span);
                self.same(out, *value, span);
            }
            Kind::Merge { condition, yes, no } => {
                self.is(*condition, Scalar::Bool, "the condition of `merge`", span);
                self.same(*yes, *no, span);
                self.same(out, *yes, span);
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                self.same(*init, *next, span);
                self.same(out, *next, span);
            }
            Kind::Post(operand) => self.same(out, *operand, span),
            Kind::Param(operand) => {
                self.is(*operand, Scalar::Num, "a parameter", span);
                self.is(out, Scalar::Num, "a parameter", span);
            }
        }
    }

    fn apply(
        &mut self,
        name: &'static str,
        signature: &Signature,
        operands: &[VarId],
        out: VarId,
        span: Span,
    ) {
        let slots = operands.iter().enumerate().map(|(index, operand)| (*operand, signature.operand(index)));
        let mut alpha: Option<VarId> = None;
        for (var, slot) in slots.chain([(out, signature.result)]) {
            match slot {
                Slot::Is(scalar) => self.is(var, scalar, &format!("`{name}`"), span),
                Slot::Free => {}
                Slot::Alpha => {
                    if signature.alpha == Class::Numeric {
                        self.numeric.push((var, Some(name), span));
                    }
                    match alpha {
                        None => alpha = Some(var),
                        Some(first) => self.same(first, var, span),
                    }
                }
            }
        }
    }

    fn is(&mut self, var: VarId, scalar: Scalar, what: &str, span: Span) {
        if let Err(conflict) = self.classes.set(var, scalar, span) {
            let label = self.labels.label(var);
            let title = format!("type error: '{label}' is {} but {what} needs {scalar}", conflict.left.0);
            self.diagnostics.push(with_origin(
                Diagnostic::error(codes::TYPE, span, title),
                &conflict.left,
                span,
            ));
        }
    }

    fn same(&mut self, left: VarId, right: VarId, span: Span) {
        if let Err(Conflict { left: a, right: b }) = self.classes.unite(left, right) {
            let (left, right) = (self.labels.label(left), self.labels.label(right));
            let title = format!("type error: '{left}' is {} but '{right}' is {}", a.0, b.0);
            let mut diagnostic = Diagnostic::error(codes::TYPE, span, title);
            diagnostic = with_origin(with_origin(diagnostic, &a, span), &b, span);
            let integer = match (a.0, b.0) {
                (Scalar::Int, Scalar::Num) => Some(&left),
                (Scalar::Num, Scalar::Int) => Some(&right),
                _ => None,
            };
            if let Some(integer) = integer {
                diagnostic = diagnostic.help(format!("nothing converts by itself: write `num({integer})`"));
            }
            self.diagnostics.push(diagnostic);
        }
    }

    /// A truth value where a number is needed; one message, at the first operator that needs it.
    fn numeric_are_no_truths(&mut self) {
        let is_truth = |classes: &mut Classes<Scalar>, var: VarId| match classes.known(var) {
            Some(known @ (Scalar::Bool, _)) => Some(*known),
            _ => None,
        };
        // An operator says more than the literal beside it.
        let (operands, literals): (Vec<_>, Vec<_>) =
            self.numeric.iter().partition(|(_, name, _)| name.is_some());
        for (var, name, span) in operands.into_iter().chain(literals) {
            let Some(known) = is_truth(&mut self.classes, var) else { continue };
            let label = self.labels.label(var);
            let title = match name {
                Some(name) => format!("type error: '{label}' is bool but `{name}` is for numbers"),
                None => format!("type error: the number '{label}' stands where a bool is needed"),
            };
            self.diagnostics.push(with_origin(Diagnostic::error(codes::TYPE, span, title), &known, span));
            return;
        }
    }

    fn finish(mut self, draft: &Draft) -> Vec<Scalar> {
        for input in &draft.inputs {
            let span = draft.vars[input.index()].span;
            if self.classes.get(*input).is_none() {
                assert!(self.classes.set(*input, Scalar::Num, span).is_ok(), "nothing was known about it");
            }
        }
        for (var, _, span) in std::mem::take(&mut self.numeric) {
            if self.classes.get(var).is_none() {
                assert!(self.classes.set(var, Scalar::Int, span).is_ok(), "nothing was known about it");
            }
        }
        // What is left has no relation to numbers, truths or inputs, as `x = post x` has none.
        (0..draft.vars.len()).map(|var| self.classes.get(VarId::new(var)).unwrap_or(Scalar::Num)).collect()
    }
}

/// Says where a type comes from, unless that is the place of the message itself.
fn with_origin(diagnostic: Diagnostic, (scalar, from): &(Scalar, Span), span: Span) -> Diagnostic {
    if *from == span { diagnostic } else { diagnostic.cause(*from, format!("this makes it {scalar}")) }
}
