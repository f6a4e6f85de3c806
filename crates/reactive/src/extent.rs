//! Nodes that are too large once everything is inlined, found without inlining what calls them.
//!
//! A node that instantiates another twice, which instantiates another twice, and so on, doubles with each level. Elaboration stops
//! at the limit of equations, but only after it made that many. So each node is measured from below first: it has at least the
//! equations of its instances, and one for each output that an operator computes and for each `fby`, `when` and `merge`. What has
//! too many by that count is refused at once; what may have too many is tried. A caller of a node that is too large is too large
//! itself, and is not tried.

use eddy_syntax::{Diagnostic, Diagnostics};

use crate::codes;
use crate::elaborate::{Given, MAX_DEPTH, elaborate};
use crate::program::{Base, Callable, Callee, Node, NodeId, Program, Reference, Role, SlotId};
use crate::resolve::{callees, callees_first};
use crate::tree::{ExprId, ExprKind};

/// What is said about the nodes that are too large, one message for each that does not merely call another.
pub fn too_large(program: &Program) -> Vec<Diagnostic> {
    let Some(order) = callees_first(program, &mut Diagnostics::default()) else {
        unreachable!("resolution refuses nodes that instantiate themselves")
    };
    let n_nodes = program.nodes.len();
    let (mut sizes, mut depths, mut is_refused) =
        (vec![0_usize; n_nodes], vec![0; n_nodes], vec![false; n_nodes]);
    let at_least = at_least(program, &order);
    let mut diagnostics = Vec::new();
    for node in order.iter().copied() {
        sizes[node.0] = program.node(node).equations.len();
        for (callee, _) in callees(program, node) {
            sizes[node.0] = sizes[node.0].saturating_add(sizes[callee.0]);
            depths[node.0] = depths[node.0].max(depths[callee.0] + 1);
            is_refused[node.0] |= is_refused[callee.0];
        }
        // A node of the library is told only as a part of what instantiates it.
        if is_refused[node.0] || program.module_of(node).is_library {
            continue;
        }
        if at_least[node.0] > program.limits.equations {
            is_refused[node.0] = true;
            diagnostics.push(certainly(program, node, &at_least));
        } else if sizes[node.0] > program.limits.equations || depths[node.0] >= MAX_DEPTH {
            let found = elaborate(program, &Callable::from(Base::Node(node)), &Given::default());
            let found = found.err().unwrap_or_default();
            is_refused[node.0] = found.iter().any(|diagnostic| diagnostic.code == codes::TOO_LARGE);
            diagnostics.extend(found.into_iter().filter(|diagnostic| diagnostic.code == codes::TOO_LARGE));
        }
    }
    diagnostics
}

/// How many equations each node has once everything is inlined, counted from below; callees come first in `order`.
pub fn at_least(program: &Program, order: &[NodeId]) -> Vec<usize> {
    let mut sizes = vec![0_usize; program.nodes.len()];
    for node in order {
        let own = certain_equations(program, *node);
        let calls = plain_calls(program, *node).into_iter();
        sizes[node.0] = calls.fold(own, |sum, callee| sum.saturating_add(sizes[callee.0]));
    }
    sizes
}

/// The nodes that a node instantiates as they are, once for each call. What is synthesised is not counted: its size is not known
/// from below.
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

/// How many equations those of a node become in every instance, counted from below: constants become none, names are only
/// copied, and of an operator only its own equation and that of a literal operand are counted.
fn certain_equations(program: &Program, node: NodeId) -> usize {
    let (declared, exprs) = (program.node(node), &program.module_of(node).tree.exprs);
    let is_literal = |expr: ExprId| matches!(exprs.kind(expr), ExprKind::Number(_));
    let certain = |value: ExprId, is_output: bool| match exprs.kind(exprs.without_parentheses(value)) {
        ExprKind::Fby(..) | ExprKind::When(..) | ExprKind::Merge(..) => 1,
        // Of two literals the result is a literal.
        ExprKind::Binary(_, left, right) if is_output && is_literal(left) != is_literal(right) => 2,
        ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::If(..) if is_output => 1,
        _ => 0,
    };
    let equations = declared.equations.iter();
    equations.map(|equation| certain(equation.value, defines_output(declared, &equation.targets))).sum()
}

fn defines_output(node: &Node, targets: &[Option<SlotId>]) -> bool {
    targets.iter().flatten().any(|slot| node.slots[slot.0].role == Role::Output && !node.is_static[slot.0])
}

/// The message about a node that has too many equations by the count from below, with the calls that make it so.
fn certainly(program: &Program, node: NodeId, at_least: &[usize]) -> Diagnostic {
    let title = format!("more than {} equations once all nodes are inlined", program.limits.equations);
    let count = match at_least[node.0] {
        usize::MAX => "more than can be counted".to_string(),
        n => format!("at least {n}"),
    };
    Diagnostic::error(codes::TOO_LARGE, program.node(node).span, title)
        .label(format!("this node has {count}"))
        .reason(format!("each instance is a copy of its node: {}", chain(program, node, at_least)))
        .help("`--equations N` raises the limit")
}

/// `f3` has 2 instances of `f2`, which has 2 instances of `f1`: from callee to largest callee.
fn chain(program: &Program, node: NodeId, at_least: &[usize]) -> String {
    // Longer chains say nothing new.
    const MAX_SHOWN: usize = 4;
    let mut steps = Vec::new();
    let mut at = node;
    while steps.len() < MAX_SHOWN {
        let calls = plain_calls(program, at);
        let Some(largest) = calls.iter().copied().max_by_key(|callee| at_least[callee.0]) else { break };
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
