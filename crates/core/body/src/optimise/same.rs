//! Removes operations that keep a tensor as it is: sums down to its own shape, and stretching to it.

use eddy_tensor::Op;

use super::rewrite::{collected, rewritten};
use crate::clean::compact;
use crate::derive::sizes::Sizes;
use crate::edit::Renaming;
use crate::ir::{Body, Kind, Module, Stmt, Var};
use crate::operation::{Operation, Sized};
use crate::own::own_body;
use crate::verify::types_of;

/// Removes them from a body.
pub(super) fn same(module: &Module, body: &mut Body) {
    let types = types_of(module, body).expect("the body is well formed");
    let sizes = Sizes::with_rows(body, &types);
    let collected = collected(&body.region);
    let is_same = |x: Var, shape: &[Var]| {
        let rank = types[x.index()].rank;
        rank > 0 && rank == shape.len() && (0..rank).all(|axis| sizes.axis(x, axis) == sizes.int(shape[axis]))
    };
    let mut is_changed = false;
    let mut rewrite = |stmt: Stmt, to: &mut Renaming, stmts: &mut Vec<Stmt>| {
        if let Kind::Op(Operation::Sized(Sized::Reduce | Sized::Broadcast), operands) = &stmt.kind
            && is_same(operands[0], &operands[1..])
        {
            is_changed = true;
            if collected.contains(&stmt.results[0]) {
                let kind = Kind::Op(Operation::Table(Op::Copy), vec![operands[0]]);
                stmts.push(Stmt { kind, ..stmt });
            } else {
                to.insert(stmt.results[0], operands[0]);
            }
            return;
        }
        stmts.push(stmt);
    };
    let region = rewritten(&body.region, &mut Renaming::default(), &mut rewrite);
    if is_changed {
        body.region = region;
        own_body(body);
        compact(body);
    }
}
