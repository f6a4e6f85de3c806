//! Which node instantiates which: never itself, and callees before callers.

use eddy_syntax::{Diagnostic, Diagnostics, Span};

use crate::codes;
use crate::program::{Base, Callee, NodeId, Program, Reference};

/// What a node instantiates, and where.
pub(crate) fn callees(program: &Program, node: NodeId) -> Vec<(NodeId, Span)> {
    let module = program.module_of(node);
    let exprs = &module.tree.exprs;
    let mut found = Vec::new();
    let mut todo: Vec<_> = program.node(node).equations.iter().rev().map(|equation| equation.value).collect();
    while let Some(expr) = todo.pop() {
        if let Reference::Call { callee: Callee::Instance(callee), .. } = &module.references[expr.index()] {
            found.extend(instantiated(program, callee.base).map(|callee| (callee, exprs.at(expr))));
        }
        todo.extend(exprs.children(expr));
    }
    found
}

/// The nodes that an instance is made of.
fn instantiated(program: &Program, base: Base) -> impl Iterator<Item = NodeId> {
    let (first, others) = match base {
        Base::Node(node) | Base::Woven { node, .. } => (node, None),
        Base::Train(train) | Base::Test(train) => {
            let train = program.train(train);
            (train.node, Some([train.loss, train.optimiser]))
        }
    };
    std::iter::once(first).chain(others.into_iter().flatten())
}

/// All nodes, callees before callers; none if some node instantiates itself.
pub(crate) fn callees_first(program: &Program, diagnostics: &mut Diagnostics) -> Option<Vec<NodeId>> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; program.nodes.len()];
    let mut order = Vec::new();
    for start in (0..program.nodes.len()).map(NodeId) {
        // The nodes on the way from `start` to here, each with what it still has to visit.
        let mut path: Vec<(NodeId, Vec<(NodeId, Span)>)> = Vec::new();
        if states[start.0] == State::New {
            states[start.0] = State::Open;
            path.push((start, callees(program, start)));
        }
        while let Some((node, rest)) = path.last_mut() {
            let node = *node;
            match rest.pop() {
                None => {
                    states[node.0] = State::Done;
                    order.push(node);
                    path.pop();
                }
                Some((callee, span)) => match states[callee.0] {
                    State::Done => {}
                    State::New => {
                        states[callee.0] = State::Open;
                        path.push((callee, callees(program, callee)));
                    }
                    State::Open => {
                        diagnostics.push(itself(program, &path, callee, span));
                        return None;
                    }
                },
            }
        }
    }
    Some(order)
}

fn itself(
    program: &Program,
    path: &[(NodeId, Vec<(NodeId, Span)>)],
    callee: NodeId,
    span: Span,
) -> Diagnostic {
    let name = |node: NodeId| program.node(node).name.as_str();
    let cycle = path.iter().map(|(node, _)| *node).skip_while(|node| *node != callee);
    let names: Vec<&str> = cycle.map(name).chain([name(callee)]).collect();
    let title = format!("the node `{}` instantiates itself: {}", name(callee), names.join(" -> "));
    Diagnostic::error(codes::RECURSIVE, span, title)
        .reason("an instance is a copy of its node, so this one would never end")
        .help("recursion over time is written with `fby`")
}
