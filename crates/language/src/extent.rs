//! Finds nodes that are too large after inlining, without inlining their callers.
//!
//! A chain of nodes that each instantiate the next one twice doubles in size with each level. Elaboration
//! stops at the limit on equations, but only after it has built that many. So a lower bound is computed for
//! each node first: the bounds of its instances, plus one equation for each output that an operator computes
//! and for each `fby`, `when` and `merge`. A node whose lower bound exceeds the limit is rejected at once. A
//! node whose written equations, with those of its instances, exceed the limit is elaborated. A caller of a
//! rejected node is too large itself and is not elaborated.

use eddy_syntax::Diagnostic;

use crate::codes;
use crate::elaborate::{ElaborationOptions, MAX_DEPTH, elaborate};
use crate::program::{Base, Callable, Callee, Node, NodeId, Program, Reference, Role, SlotId};
use crate::resolve::{callees, callees_first};
use crate::tree::{ExprId, ExprKind};

/// Errors about nodes that are too large. Nodes that are too large only because of a rejected callee get
/// no error.
pub fn too_large(program: &Program) -> Vec<Diagnostic> {
    let order = callees_first(program).nodes;
    let n_nodes = program.nodes.len();
    let (mut sizes, mut depths, mut is_refused) =
        (vec![0_usize; n_nodes], vec![0; n_nodes], vec![false; n_nodes]);
    let at_least = at_least(program, &order);
    let mut diagnostics = Vec::new();
    for node in order.iter().copied() {
        sizes[node.index()] = program.node(node).equations.len();
        for (callee, _) in callees(program, node) {
            sizes[node.index()] = sizes[node.index()].saturating_add(sizes[callee.index()]);
            depths[node.index()] = depths[node.index()].max(depths[callee.index()] + 1);
            is_refused[node.index()] |= is_refused[callee.index()];
        }
        // A library node is reported only as a part of the user's node that instantiates it.
        if is_refused[node.index()] || program.module_of(node).is_library {
            continue;
        }
        if at_least[node.index()] > program.limits.equations {
            is_refused[node.index()] = true;
            diagnostics.push(definitely_too_large(program, node, &at_least));
        } else if sizes[node.index()] > program.limits.equations || depths[node.index()] >= MAX_DEPTH {
            let found = elaborate(program, &Callable::from(Base::Node(node)), &ElaborationOptions::default());
            let found = found.err().unwrap_or_default();
            is_refused[node.index()] = found.iter().any(|diagnostic| diagnostic.code == codes::TOO_LARGE);
            diagnostics.extend(found.into_iter().filter(|diagnostic| diagnostic.code == codes::TOO_LARGE));
        }
    }
    diagnostics
}

/// A lower bound on the number of equations of each node after inlining; `order` lists callees first.
fn at_least(program: &Program, order: &[NodeId]) -> Vec<usize> {
    let mut sizes = vec![0_usize; program.nodes.len()];
    for node in order {
        let own = least_own_equations(program, *node);
        let calls = plain_calls(program, *node).into_iter();
        sizes[node.index()] = calls.fold(own, |sum, callee| sum.saturating_add(sizes[callee.index()]));
    }
    sizes
}

/// The nodes that a node instantiates directly, once for each call. Synthesised nodes are left out, because
/// they have no lower bound.
fn plain_calls(program: &Program, node: NodeId) -> Vec<NodeId> {
    let module = program.module_of(node);
    let mut found = Vec::new();
    let mut todo: Vec<ExprId> = program.node(node).equations.iter().map(|equation| equation.value).collect();
    while let Some(expr) = todo.pop() {
        if let Reference::Call { callee: Callee::Instance(callable), .. } = &module.references[expr.index()]
            && let (Base::Node(callee), true) = (callable.base, callable.modes.is_empty())
        {
            found.push(callee);
        }
        todo.extend(module.tree.exprs.children(expr));
    }
    found
}

/// A lower bound on the equations that a node's own equations become in every instance: constants and copies
/// of names count for no equation; an operator counts for its own equation and that of a literal operand;
/// `fby`, `when` and `merge` count for one.
fn least_own_equations(program: &Program, node: NodeId) -> usize {
    let (declared, exprs) = (program.node(node), &program.module_of(node).tree.exprs);
    let is_literal = |expr: ExprId| matches!(exprs.kind(expr), ExprKind::Number(_));
    let certain = |value: ExprId, is_output: bool| match exprs.kind(exprs.without_parentheses(value)) {
        ExprKind::Fby(..) | ExprKind::When(..) | ExprKind::Merge(..) => 1,
        // An operation on two literals is folded to a literal.
        ExprKind::Binary(_, left, right) if is_output && is_literal(left) != is_literal(right) => 2,
        ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::If(..) if is_output => 1,
        _ => 0,
    };
    let equations = declared.equations.iter();
    equations.map(|equation| certain(equation.value, defines_output(declared, &equation.targets))).sum()
}

fn defines_output(node: &Node, targets: &[Option<SlotId>]) -> bool {
    targets
        .iter()
        .flatten()
        .any(|slot| node.slots[slot.index()].role == Role::Output && !node.is_static[slot.index()])
}

/// The error about a node whose lower bound exceeds the limit, with the calls that cause it.
fn definitely_too_large(program: &Program, node: NodeId, at_least: &[usize]) -> Diagnostic {
    let title = format!("more than {} equations once all nodes are inlined", program.limits.equations);
    let count = match at_least[node.index()] {
        usize::MAX => "more than fit into 64 bits".to_string(),
        n => format!("at least {n}"),
    };
    Diagnostic::error(codes::TOO_LARGE, program.node(node).span, title)
        .label(format!("this node has {count}"))
        .reason(format!("each instance is a copy of its node: {}", chain(program, node, at_least)))
        .help(program.limits.equation_limit().help)
}

/// "`f3` has 2 instances of `f2`, which has 2 instances of `f1`": follows the largest callee.
fn chain(program: &Program, node: NodeId, at_least: &[usize]) -> String {
    // Longer chains add no information.
    const MAX_SHOWN: usize = 4;
    let mut steps = Vec::new();
    let mut at = node;
    while steps.len() < MAX_SHOWN {
        let calls = plain_calls(program, at);
        let Some(largest) = calls.iter().copied().max_by_key(|callee| at_least[callee.index()]) else {
            break;
        };
        let times = calls.iter().filter(|callee| **callee == largest).count();
        let plural = if times == 1 { "" } else { "s" };
        steps.push(format!("has {times} instance{plural} of `{}`", program.node(largest).name));
        at = largest;
    }
    let name = &program.node(node).name;
    match steps.as_slice() {
        [] => format!("`{name}` has these equations itself"),
        steps => format!("`{name}` {}", steps.join(", which ")),
    }
}

#[cfg(test)]
mod tests {
    use eddy_syntax::{SourceFile, Sources};

    use super::*;
    use crate::resolve::resolve;

    /// No node that elaborates has fewer equations than its lower bound.
    #[test]
    fn lower_bound_never_exceeds_the_elaborated_equations() {
        let text = "
            node halved(x) -> (y)  y = 0.5 * x;
            node both(x) -> (y, z)  y = halved(x) + 1.0; z = -y;
            node constant() -> (y)  k = 2 * 3; y = k;
            node sums() -> (y)  y = 2 + 3;
            node sized(n, x) -> (y)  m = n + 1; y = sum(x + zeros([m]));
            node caller(x) -> (y)  y = sized(2, x) + (0.0 fby y);
            node chosen(x, c) -> (y)  y = if c then x else constant();
            node sampled(x, c) -> (y)  y = merge c (x when c) (halved(x) when not c);
            node copied(x) -> (y)  y = x;
            node deep(x) -> (y)  y = copied(copied(halved(copied(x))));
            node list(x) -> (y)  y = sum([x, 1.0, 2.0]);
        ";
        let mut sources = Sources::alone(SourceFile::new("counted.eddy", text));
        let program = resolve(&mut sources).accepted().expect("the program is correct");
        let order: Vec<NodeId> = (0..program.nodes.len()).map(NodeId::new).collect();
        let counts = at_least(&program, &order);
        let mut n_tried = 0;
        for node in order {
            if let Ok(draft) =
                elaborate(&program, &Callable::from(Base::Node(node)), &ElaborationOptions::default())
            {
                let (name, found) = (&program.node(node).name, draft.equations.len());
                assert!(
                    counts[node.index()] <= found,
                    "`{name}` has {found} equations, below the bound {}",
                    counts[node.index()]
                );
                n_tried += 1;
            }
        }
        assert!(n_tried > 10);
    }
}
