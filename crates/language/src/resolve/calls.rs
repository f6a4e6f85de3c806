//! The call graph of nodes: rejects nodes that instantiate themselves, and orders callees before callers.

use eddy_syntax::{Diagnostic, Span};

use crate::codes;
use crate::program::{Base, Callee, NodeId, Program, Reference};
use crate::tree::ExprId;

/// The nodes that a node instantiates, each with the call.
pub(crate) fn callees(program: &Program, node: NodeId) -> Vec<(NodeId, ExprId)> {
    let module = program.module_of(node);
    let exprs = &module.tree.exprs;
    let mut found = Vec::new();
    let mut todo: Vec<_> = program.node(node).equations.iter().rev().map(|equation| equation.value).collect();
    while let Some(expr) = todo.pop() {
        if let Reference::Call { callee: Callee::Instance(callee), .. } = &module.references[expr.index()] {
            found.extend(instantiated(program, callee.base).map(|callee| (callee, expr)));
        }
        todo.extend(exprs.children(expr));
    }
    found
}

/// The nodes that an instance consists of.
fn instantiated(program: &Program, base: Base) -> impl Iterator<Item = NodeId> {
    let (first, others) = match base {
        Base::Node(node) | Base::Woven { node, .. } => (node, None),
        Base::Train(train) | Base::Test(train) => {
            let train = program.train(train);
            (
                train.node,
                Some(std::iter::once(train.loss).chain(train.rules.iter().map(|rule| rule.optimiser))),
            )
        }
    };
    std::iter::once(first).chain(others.into_iter().flatten())
}

/// An order of the nodes in which callees come first.
pub(crate) struct Order {
    /// All nodes, callees before callers; recursive calls are ignored.
    pub nodes: Vec<NodeId>,
    /// The calls by which nodes instantiate themselves; without these calls no node does.
    pub recursive: Vec<RecursiveCall>,
    /// The error about the first recursive call.
    pub recursion: Option<Diagnostic>,
}

/// A call by which a node instantiates itself, directly or not.
pub(crate) struct RecursiveCall {
    pub caller: NodeId,
    pub expr: ExprId,
}

pub(crate) fn callees_first(program: &Program) -> Order {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; program.nodes.len()];
    let mut order = Order { nodes: Vec::new(), recursive: Vec::new(), recursion: None };
    for start in (0..program.nodes.len()).map(NodeId::new) {
        // The path from `start` to the current node, each entry with its callees that are still to be
        // visited.
        let mut path: Path = Vec::new();
        if states[start.index()] == State::New {
            states[start.index()] = State::Open;
            path.push((start, callees(program, start)));
        }
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            match rest.pop() {
                None => {
                    states[node.index()] = State::Done;
                    order.nodes.push(node);
                    path.pop();
                }
                Some((callee, expr)) => match states[callee.index()] {
                    State::Done => {}
                    State::New => {
                        states[callee.index()] = State::Open;
                        path.push((callee, callees(program, callee)));
                    }
                    State::Open => {
                        if order.recursion.is_none() {
                            let span = program.module_of(node).tree.exprs.at(expr);
                            order.recursion = Some(recursion_error(program, &path, callee, span));
                        }
                        order.recursive.push(RecursiveCall { caller: node, expr });
                    }
                },
            }
        }
    }
    order
}

/// A path of nodes that call each other, each with the calls that are not followed yet.
type Path = Vec<(NodeId, Vec<(NodeId, ExprId)>)>;

fn recursion_error(
    program: &Program,
    path: &[(NodeId, Vec<(NodeId, ExprId)>)],
    callee: NodeId,
    span: Span,
) -> Diagnostic {
    let name = |node: NodeId| program.node(node).name.as_str();
    let cycle = path.iter().map(|(node, _)| *node).skip_while(|node| *node != callee);
    let names: Vec<&str> = cycle.map(name).chain([name(callee)]).collect();
    let title = format!("the node `{}` instantiates itself: {}", name(callee), names.join(" -> "));
    Diagnostic::error(codes::RECURSIVE, span, title)
        .reason("an instance is a copy of its node, so inlining would never end")
        .help("recursion over time is written with `fby`")
}
