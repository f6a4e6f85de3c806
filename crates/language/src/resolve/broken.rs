//! Removes the invalid parts of a program with errors, so that the rest can be elaborated and typed.
//!
//! An equation is removed if a name in it is unknown, if it could not be parsed, if it calls a `train` that
//! could not be resolved, if a call in it makes its node instantiate itself, or if it has a stream where a
//! constant is required. Its streams stay, without a definition: only their uses determine their types. Nodes
//! that lost an equation are marked as broken.
//!
//! ```text
//! node f(x:num [3])->(o, p)
//!   o = x + unknown;        removed       
//!   p = x * 2.0;            kept: `p` is a num [3]
//! ```

use rustc_hash::FxHashSet;

use super::calls::RecursiveCall;
use crate::program::{Base, Callee, Module, NodeId, Program, Reference};
use crate::tree::{Annotation, ExprId, ExprKind};

/// Marks the equations that contain an unresolved part, and drops type annotations that contain one.
pub(super) fn mark_unresolved(program: &mut Program) {
    let Program { modules, nodes, broken_trains, .. } = program;
    let is_broken_train = |base: Base| match base {
        Base::Train(train) | Base::Test(train) => broken_trains.contains(&train),
        Base::Node(_) | Base::Woven { .. } => false,
    };
    for node in nodes {
        let module = &modules[node.module];
        let is_fully_resolved = |root: ExprId| is_fully_resolved(module, root, is_broken_train);
        for equation in &mut node.equations {
            equation.is_broken |= !is_fully_resolved(equation.value);
        }
        for slot in &mut node.slots {
            let n_written = slot.annotations.len();
            let dims = |annotation: &Annotation| annotation.dims.map(|dims| module.tree.exprs.items(dims));
            slot.annotations.retain(|annotation| {
                dims(annotation).is_none_or(|dims| dims.iter().all(|dim| is_fully_resolved(*dim)))
            });
            node.is_broken |= slot.annotations.len() < n_written;
        }
    }
}

/// Whether all parts of an expression are resolved.
fn is_fully_resolved(module: &Module, root: ExprId, is_broken_train: impl Fn(Base) -> bool) -> bool {
    let exprs = &module.tree.exprs;
    let mut todo = vec![root];
    while let Some(expr) = todo.pop() {
        let is_resolved = match (exprs.kind(expr), &module.references[expr.index()]) {
            (ExprKind::Error, _) | (ExprKind::Variable(_) | ExprKind::Call(..), Reference::Nothing) => false,
            (_, Reference::Call { callee: Callee::Instance(callable), .. }) => {
                !is_broken_train(callable.base)
            }
            _ => true,
        };
        if !is_resolved {
            return false;
        }
        todo.extend(exprs.children(expr));
    }
    true
}

/// Marks the equations with calls by which a node instantiates itself.
pub(super) fn mark_recursive(program: &mut Program, recursive: &[RecursiveCall]) {
    let calls: FxHashSet<(NodeId, ExprId)> = recursive.iter().map(|call| (call.caller, call.expr)).collect();
    let callers: FxHashSet<NodeId> = recursive.iter().map(|call| call.caller).collect();
    for caller in callers {
        let Program { modules, nodes, .. } = &mut *program;
        let node = &mut nodes[caller.index()];
        let exprs = &modules[node.module].tree.exprs;
        for equation in &mut node.equations {
            let mut todo = vec![equation.value];
            while let Some(expr) = todo.pop() {
                equation.is_broken |= calls.contains(&(caller, expr));
                todo.extend(exprs.children(expr));
            }
        }
    }
}

/// Removes the marked equations.
pub(super) fn remove_marked(program: &mut Program) {
    for node in &mut program.nodes {
        let n_equations = node.equations.len();
        node.equations.retain(|equation| !equation.is_broken);
        node.is_broken |= node.equations.len() < n_equations;
    }
}
