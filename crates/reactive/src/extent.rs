//! Nodes that are too large once everything is inlined, found without inlining what calls them.
//!
//! A node that instantiates another twice, which instantiates another twice, and so on, doubles with each level. The limit of
//! equations stops each of them, but only after millions were made; a caller of a node that is too large is too large itself, and
//! is not tried.

use eddy_syntax::{Diagnostic, Diagnostics};

use crate::codes;
use crate::elaborate::{Given, MAX_DEPTH, MAX_EQUATIONS, elaborate};
use crate::program::{Base, Callable, Program};
use crate::resolve::{callees, callees_first};

/// What is said about the nodes that are too large, one message for each that does not merely call another.
pub fn too_large(program: &Program) -> Vec<Diagnostic> {
    let Some(order) = callees_first(program, &mut Diagnostics::default()) else {
        unreachable!("resolution refuses nodes that instantiate themselves")
    };
    let n_nodes = program.nodes.len();
    let (mut sizes, mut depths, mut is_refused) =
        (vec![0_usize; n_nodes], vec![0; n_nodes], vec![false; n_nodes]);
    let mut diagnostics = Vec::new();
    for node in order {
        sizes[node.0] = program.node(node).equations.len();
        for (callee, _) in callees(program, node) {
            sizes[node.0] = sizes[node.0].saturating_add(sizes[callee.0]);
            depths[node.0] = depths[node.0].max(depths[callee.0] + 1);
            is_refused[node.0] |= is_refused[callee.0];
        }
        // An estimate from below, since an equation becomes several; whether it is right is seen when it is tried.
        let may_be_too_large = sizes[node.0] > MAX_EQUATIONS || depths[node.0] >= MAX_DEPTH;
        if may_be_too_large && !is_refused[node.0] {
            let found = elaborate(program, &Callable::from(Base::Node(node)), &Given::default());
            let found = found.err().unwrap_or_default();
            is_refused[node.0] = found.iter().any(|diagnostic| diagnostic.code == codes::TOO_LARGE);
            diagnostics.extend(found.into_iter().filter(|diagnostic| diagnostic.code == codes::TOO_LARGE));
        }
    }
    diagnostics
}
