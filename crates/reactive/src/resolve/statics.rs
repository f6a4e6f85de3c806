//! Which streams must be known at compile time (section 2).
//!
//! Shapes, sizes and axes are compile-time numbers. A stream that occurs in such a place must be static, and so must
//! everything that its definition mentions; an input that must be static asks the same of each argument for it.

use eddy_syntax::{Diagnostic, Diagnostics};

use crate::codes;
use crate::program::{Callee, NodeId, Program, Reference, SlotId, static_positions};
use crate::tree::{ExprId, ExprKind, Exprs};

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
    // The expressions that must be static.
    let mut todo: Vec<ExprId> = Vec::new();
    for annotation in node.slots.iter().flat_map(|slot| &slot.annotations) {
        todo.extend(annotation.dims.iter().flat_map(|dims| exprs.items(*dims)));
    }
    let mut visit: Vec<ExprId> = node.equations.iter().map(|equation| equation.value).collect();
    while let Some(expr) = visit.pop() {
        match exprs.kind(expr) {
            ExprKind::Index(_, index) => todo.push(index),
            ExprKind::Call(_, arguments) => {
                let arguments = exprs.items(arguments);
                todo.extend(static_arguments(program, &module.references[expr.index()], arguments));
            }
            _ => {}
        }
        visit.extend(exprs.children(expr));
    }
    let mut definitions = vec![None; node.slots.len()];
    for equation in &node.equations {
        if let [Some(slot)] = equation.targets.as_slice() {
            definitions[slot.0] = Some(equation.value);
        }
    }
    diagnostics.extend(never_static(exprs, &todo));
    let mut is_static = vec![false; node.slots.len()];
    while let Some(expr) = todo.pop() {
        if let Reference::Slot(SlotId(slot)) = module.references[expr.index()]
            && !is_static[slot]
        {
            is_static[slot] = true;
            todo.extend(definitions[slot]);
        }
        todo.extend(exprs.children(expr));
    }
    is_static
}

/// What is said about parts of these expressions that no caller can make static.
fn never_static(exprs: &Exprs, roots: &[ExprId]) -> Vec<Diagnostic> {
    let (mut found, mut todo) = (Vec::new(), roots.to_vec());
    while let Some(expr) = todo.pop() {
        if let ExprKind::Fby(..) | ExprKind::When(..) | ExprKind::Merge(..) | ExprKind::Bool(_) =
            exprs.kind(expr)
        {
            let title = "a compile-time constant is needed here";
            let diagnostic = Diagnostic::error(codes::COMPILE_TIME, exprs.at(expr), title);
            found.push(diagnostic.label("this is never known before the program runs"));
        } else {
            todo.extend(exprs.children(expr));
        }
    }
    found
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
