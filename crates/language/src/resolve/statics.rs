//! Determines which streams must be known at compile time (section 2).
//!
//! Shapes, sizes and axes are compile-time numbers. A stream that occurs in such a place must be static, and
//! so must all streams in its definition. If an input must be static, so must each argument for it.

use eddy_syntax::{Diagnostic, Diagnostics};

use crate::codes;
use crate::program::{Callee, Copies, Module, Node, NodeId, Program, Reference, static_positions};
use crate::static_value;
use crate::tree::{ExprId, ExprKind, Exprs, Form, Index, UnaryOp};

/// Marks the static streams of all nodes; `order` lists callees first.
pub(super) fn mark_statics(program: &mut Program, order: &[NodeId], diagnostics: &mut Diagnostics) {
    for node in order {
        let Statics { is_static, broken, unsampled } = statics_of(program, *node, diagnostics);
        let module = program.node(*node).module;
        for (sampling, value) in unsampled {
            program.modules[module].tree.exprs.replace(sampling, ExprKind::Group(value));
        }
        let node = &mut program.nodes[node.index()];
        node.is_static = is_static;
        for equation in broken {
            match equation {
                Some(equation) => node.equations[equation].is_broken = true,
                None => node.is_broken = true,
            }
        }
    }
}

struct Statics {
    /// For each slot, whether it must be known at compile time.
    is_static: Vec<bool>,
    /// The equations that require a constant and have a stream; `None` stands for a type annotation.
    broken: Vec<Option<usize>>,
    /// Samplings of constants that are not written, each with its value.
    unsampled: Vec<(ExprId, ExprId)>,
}

fn statics_of(program: &Program, node: NodeId, diagnostics: &mut Diagnostics) -> Statics {
    let (module, node) = (program.module_of(node), program.node(node));
    let exprs = &module.tree.exprs;
    let mut todo = static_places(program, module, node);
    // The definition of each stream, and whether it is the only one on the left side; otherwise it is an
    // output of an instance.
    let mut definitions: Vec<Option<(ExprId, bool)>> = vec![None; node.slots.len()];
    for equation in &node.equations {
        for slot in equation.targets.iter().flatten() {
            definitions[slot.index()] = Some((equation.value, equation.targets.len() == 1));
        }
    }
    for (number, slot) in node.inputs().iter().enumerate().filter(|(_, slot)| !slot.is_callable) {
        definitions[number] = slot.default.map(|default| (default, true));
    }
    let mut is_static = vec![false; node.slots.len()];
    let (mut broken, mut unsampled) = (Vec::new(), Vec::new());
    while let Some(Needed { expr, place, equation }) = todo.pop() {
        // A state of a machine reads compile-time constants from around it without sampling them.
        if let ExprKind::When(_, value, _) = exprs.kind(expr)
            && expr.index() >= module.n_written
        {
            unsampled.push((expr, value));
            todo.push(Needed { expr: value, place, equation });
            continue;
        }
        if is_never_static(exprs.kind(expr)) {
            diagnostics.push(never_static(exprs, expr, place));
            broken.push(equation);
            continue;
        }
        if let Reference::Slot(slot) = module.references[expr.index()]
            && !is_static[slot.index()]
        {
            is_static[slot.index()] = true;
            match definitions[slot.index()] {
                Some((definition, true)) => todo.push(Needed { expr: definition, place, equation }),
                Some((definition, false)) => {
                    diagnostics.push(never_static(exprs, definition, place));
                    broken.push(equation);
                }
                None => {}
            }
        }
        todo.extend(exprs.children(expr).map(|part| {
            // Inside of the place itself, the error points at the part.
            let place = if place == expr { part } else { place };
            Needed { expr: part, place, equation }
        }));
    }
    Statics { is_static, broken, unsampled }
}

/// An expression that must be static, and the place that requires it.
#[derive(Clone, Copy)]
struct Needed {
    expr: ExprId,
    place: ExprId,
    /// The equation that contains the place; `None` for a type annotation.
    equation: Option<usize>,
}

/// The expressions of a node that must be static.
fn static_places(program: &Program, module: &Module, node: &Node) -> Vec<Needed> {
    let exprs = &module.tree.exprs;
    let needed = |expr: ExprId, equation| Needed { expr, place: expr, equation };
    let mut places = Vec::new();
    for annotation in node.slots.iter().flat_map(|slot| &slot.annotations) {
        let dims = annotation.dims.iter().flat_map(|dims| exprs.items(*dims));
        places.extend(dims.map(|dim| needed(*dim, None)));
    }
    let values = node.equations.iter().enumerate().map(|(number, equation)| (Some(number), equation.value));
    let mut visit: Vec<(Option<usize>, ExprId)> = values.collect();
    while let Some((equation, expr)) = visit.pop() {
        match exprs.kind(expr) {
            ExprKind::Call(_, arguments) => {
                let arguments = exprs.items(arguments);
                let arguments = static_arguments(program, &module.references[expr.index()], arguments);
                places.extend(arguments.into_iter().map(|argument| needed(argument, equation)));
            }
            ExprKind::Form(form, parts) if let Form::Place(indices) = exprs.form(form) => {
                let mut at = 1;
                for index in indices {
                    let bounds = exprs.items(parts)[at..at + index.n_parts()].iter();
                    at += index.n_parts();
                    if *index != Index::At {
                        places.extend(bounds.map(|bound| needed(*bound, equation)));
                    }
                }
            }
            _ => {}
        }
        visit.extend(exprs.children(expr).map(|part| (equation, part)));
    }
    places
}

/// Whether an expression is a stream for all values of its parts, so that no caller can make it static.
fn is_never_static(kind: ExprKind) -> bool {
    match kind {
        ExprKind::Fby(..)
        | ExprKind::When(..)
        | ExprKind::Merge(..)
        | ExprKind::If(..)
        | ExprKind::Call(..)
        | ExprKind::Form(..)
        | ExprKind::Bool(_)
        | ExprKind::Unary(UnaryOp::Not | UnaryOp::Post, _) => true,
        ExprKind::Binary(op, ..) => !static_value::is_static_operator(op),
        ExprKind::Error
        | ExprKind::Number(_)
        | ExprKind::Variable(_)
        | ExprKind::Group(_)
        | ExprKind::Named(..)
        | ExprKind::Tuple(_)
        | ExprKind::List(_)
        | ExprKind::Index(..)
        | ExprKind::Unary(UnaryOp::Negate, _) => false,
    }
}

/// The error about an expression that no caller can make static.
fn never_static(exprs: &Exprs, expr: ExprId, place: ExprId) -> Diagnostic {
    let title = "a compile-time constant is needed here";
    let (at, of) = (exprs.at(place), exprs.at(expr));
    let diagnostic = Diagnostic::error(codes::COMPILE_TIME, at, title);
    let diagnostic = if at == of {
        diagnostic.label("this is never known before the program runs")
    } else {
        diagnostic.label("not known before the program runs").cause(of, "this is computed while it runs")
    };
    diagnostic.reason(
        "constants are numbers, names that are defined by constants, and sums, products and lists of them",
    )
}

/// The arguments of a call that must be static.
fn static_arguments(program: &Program, reference: &Reference, arguments: &[ExprId]) -> Vec<ExprId> {
    let Reference::Call { callee, site, .. } = reference else { return Vec::new() };
    if let (Some(copies), Callee::Instance(callable)) = (site.as_ref().and_then(|site| site.copies), callee) {
        let body = program.node(program.origin(callable.base));
        return static_arguments_of_copies(body, copies, arguments);
    }
    let numbers: Vec<usize> = match callee {
        // The inputs of a synthesised node begin with those of the original node.
        Callee::Instance(callable) => {
            let node = program.node(program.origin(callable.base));
            let n_inputs = node.n_inputs.min(arguments.len());
            (0..n_inputs).filter(|input| node.is_static[*input]).collect()
        }
        Callee::Function(builtin) => static_positions(*builtin, arguments.len()).collect(),
        Callee::Initialiser(_) => vec![0],
        Callee::Applied(..) | Callee::Param | Callee::AllSum => Vec::new(),
    };
    numbers.into_iter().map(|number| arguments[number]).collect()
}

/// The arguments of copies that must be static: their number, and what the body needs to be static.
fn static_arguments_of_copies(body: &Node, copies: Copies, arguments: &[ExprId]) -> Vec<ExprId> {
    let (n_own, n_bound) = copies.n_bound();
    let captured = arguments.iter().skip(n_own).zip(body.is_static.iter().skip(n_bound));
    let captured = captured.filter(|(_, is_static)| **is_static).map(|(argument, _)| *argument);
    arguments.first().copied().into_iter().chain(captured).collect()
}
