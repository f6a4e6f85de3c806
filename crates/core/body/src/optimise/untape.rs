//! Removes tapes that are packed and unpacked in one body.
//!
//! ```text
//! t = pack(x, y)  ..  a, b = unpack(num, num)(t)        a and b are x and y
//! ```

use rustc_hash::FxHashMap;

use eddy_tensor::Op;

use super::rewrite::{collected, rewritten};
use crate::clean::{Pruner, compact};
use crate::edit::Renaming;
use crate::ir::{Body, Kind, Module, Region, Stmt, Var};
use crate::operation::Operation;
use crate::own::own_body;

/// The body without such tapes.
pub(super) fn untape(module: &Module, body: &mut Body) {
    let collected = collected(&body.region);
    let mut packed: FxHashMap<Var, Vec<Var>> = FxHashMap::default();
    let mut is_changed = false;
    let mut rewrite = |stmt: Stmt, to: &mut Renaming, stmts: &mut Vec<Stmt>| {
        match &stmt.kind {
            Kind::Op(Operation::Pack, operands) => drop(packed.insert(stmt.results[0], operands.clone())),
            Kind::Unpack(_, tape) => {
                if let Some(operands) = packed.get(tape) {
                    is_changed = true;
                    for (result, operand) in stmt.results.iter().zip(operands) {
                        if collected.contains(result) {
                            let kind = Kind::Op(Operation::Table(Op::Copy), vec![*operand]);
                            stmts.push(Stmt { results: vec![*result], kind, span: stmt.span });
                        } else {
                            to.insert(*result, *operand);
                        }
                    }
                    return;
                }
            }
            _ => {}
        }
        stmts.push(stmt);
    };
    let region = rewritten(&body.region, &mut Renaming::default(), &mut rewrite);
    if !is_changed {
        return;
    }
    let Region { mut stmts, yields } = region;
    // Everything but dead tapes stays: it may fail.
    let keep = |stmt: &Stmt| !matches!(stmt.kind, Kind::Op(Operation::Pack, _));
    Pruner { module, keep: &keep }.prune(&mut stmts, yields.iter().copied().collect());
    body.region = Region { stmts, yields };
    own_body(body);
    compact(body);
}
