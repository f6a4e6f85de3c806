//! Which streams must be known at compile time (section 2).
//!
//! Shapes, sizes and axes are compile-time numbers. A stream that occurs in such a place must be static, and so must
//! everything that its definition mentions; an input that must be static asks the same of each argument for it.

use eddy_syntax::{Diagnostic, Diagnostics};

use crate::codes;
use crate::program::{Callee, Module, Node, NodeId, Program, Reference, SlotId, static_positions};
use crate::static_value;
use crate::tree::{ExprId, ExprKind, Exprs, UnaryOp};

/// Marks the static streams of all nodes; callees come first in `order`.
pub(super) fn mark_statics(program: &mut Program, order: &[NodeId], diagnostics: &mut Diagnostics) {
    for node in order {
        let is_static = statics_of(program, *node, diagnostics);
        program.nodes[node.0].is_static = is_static;
    }
}

fn statics_of(program: &Program, node: NodeId, diagnostics: &mut Diagnostics) -> Vec<bool> {
    let (module, node) = (program.module_of(node), program.node(node));
    let exprs = &module.tree.exprs;
    let mut todo = static_places(program, module, node);
    // What a stream is defined as; a stream among several on the left side is an output of an instance.
    let mut definitions: Vec<Option<(ExprId, bool)>> = vec![None; node.slots.len()];
    for equation in &node.equations {
        for slot in equation.targets.iter().flatten() {
            definitions[slot.0] = Some((equation.value, equation.targets.len() == 1));
        }
    }
    let mut is_static = vec![false; node.slots.len()];
    while let Some(Needed { expr, place, kind }) = todo.pop() {
        if is_never_static(exprs.kind(expr)) {
            diagnostics.push(never_static(exprs, expr, place, kind));
            continue;
        }
        if let Reference::Slot(SlotId(slot)) = module.references[expr.index()]
            && !is_static[slot]
        {
            is_static[slot] = true;
            match definitions[slot] {
                Some((definition, true)) => todo.push(Needed { expr: definition, place, kind }),
                Some((definition, false)) => diagnostics.push(never_static(exprs, definition, place, kind)),
                None => {}
            }
        }
        todo.extend(exprs.children(expr).map(|part| {
            // Inside of the place itself, the message points at the part.
            let place = if place == expr { part } else { place };
            Needed { expr: part, place, kind }
        }));
    }
    is_static
}

/// An expression that must be static, and where that is needed.
#[derive(Clone, Copy)]
struct Needed {
    expr: ExprId,
    place: ExprId,
    kind: Place,
}

/// Where something static is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Index,
    Other,
}

/// The expressions of a node that must be static.
fn static_places(program: &Program, module: &Module, node: &Node) -> Vec<Needed> {
    let exprs = &module.tree.exprs;
    let needed = |expr: ExprId, kind: Place| Needed { expr, place: expr, kind };
    let mut places = Vec::new();
    for annotation in node.slots.iter().flat_map(|slot| &slot.annotations) {
        let dims = annotation.dims.iter().flat_map(|dims| exprs.items(*dims));
        places.extend(dims.map(|dim| needed(*dim, Place::Other)));
    }
    let mut visit: Vec<ExprId> = node.equations.iter().map(|equation| equation.value).collect();
    while let Some(expr) = visit.pop() {
        match exprs.kind(expr) {
            ExprKind::Index(_, index) => places.push(needed(index, Place::Index)),
            ExprKind::Call(_, arguments) => {
                let arguments = exprs.items(arguments);
                let arguments = static_arguments(program, &module.references[expr.index()], arguments);
                places.extend(arguments.into_iter().map(|argument| needed(argument, Place::Other)));
            }
            _ => {}
        }
        visit.extend(exprs.children(expr));
    }
    places
}

/// Whether an expression is a stream whatever its parts are, so that no caller can make it static.
fn is_never_static(kind: ExprKind) -> bool {
    match kind {
        ExprKind::Fby(..)
        | ExprKind::When(..)
        | ExprKind::Merge(..)
        | ExprKind::If(..)
        | ExprKind::Call(..)
        | ExprKind::Bool(_)
        | ExprKind::Unary(UnaryOp::Not | UnaryOp::Post, _) => true,
        ExprKind::Binary(op, ..) => !static_value::is_static_operator(op),
        ExprKind::Error
        | ExprKind::Number(_)
        | ExprKind::Variable(_)
        | ExprKind::Group(_)
        | ExprKind::Tuple(_)
        | ExprKind::List(_)
        | ExprKind::Index(..)
        | ExprKind::Unary(UnaryOp::Negate, _) => false,
    }
}

/// What is said about something that no caller can make static.
fn never_static(exprs: &Exprs, expr: ExprId, place: ExprId, kind: Place) -> Diagnostic {
    let title = "a compile-time constant is needed here";
    let (at, of) = (exprs.at(place), exprs.at(expr));
    let diagnostic = Diagnostic::error(codes::COMPILE_TIME, at, title);
    let diagnostic = if at == of {
        diagnostic.label("this is never known before the program runs")
    } else {
        diagnostic.label("not known before the program runs").cause(of, "this is computed while it runs")
    };
    match kind {
        Place::Index => diagnostic
            .reason("indices are compile-time constants")
            .help("to take the row that a stream `i` tells, write `matmul(onehot(n, i), x)`, with n the number of rows"),
        Place::Other => diagnostic.reason(
            "constants are numbers, names that are defined by constants, and sums, products and lists of them",
        ),
    }
}

/// The arguments of a call that must be static.
fn static_arguments(program: &Program, reference: &Reference, arguments: &[ExprId]) -> Vec<ExprId> {
    let Reference::Call { callee, .. } = reference else { return Vec::new() };
    let numbers: Vec<usize> = match callee {
        // The inputs of a synthesised node begin with those of the node itself.
        Callee::Instance(callable) => {
            let node = program.node(program.origin(callable.base));
            let n_inputs = node.n_inputs.min(arguments.len());
            (0..n_inputs).filter(|input| node.is_static[*input]).collect()
        }
        Callee::Function(builtin) => static_positions(*builtin, arguments.len()).collect(),
        Callee::Initialiser(_) => vec![0],
        Callee::Param => Vec::new(),
    };
    numbers.into_iter().map(|number| arguments[number]).collect()
}
