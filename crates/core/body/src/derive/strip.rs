//! Bodies and statements that do not add to some accumulators.
//!
//! A reverse sweep runs forward code again for its values and not for its effects: the forward sweep has made
//! the additions already.

use rustc_hash::FxHashSet;

use super::{Deriver, Key};
use crate::ir::{Body, BodyId, Control, Kind, Param, Region, Stmt, Var};

/// A body without these accumulators among its parameters.
pub(super) fn write(deriver: &mut Deriver, of: BodyId, without: &[bool]) -> Body {
    deriver.write(of);
    let mut body = deriver.module.body(of).clone();
    let is_gone = |param: &Param, params: &[Param]| {
        params.iter().zip(without).any(|(other, gone)| *gone && other.var == param.var)
    };
    let all = body.params.clone();
    let gone: FxHashSet<Var> =
        all.iter().filter(|param| is_gone(param, &all)).map(|param| param.var).collect();
    body.params.retain(|param| !gone.contains(&param.var));
    strip(deriver, &mut body.region.stmts, &gone);
    body
}

/// Removes all additions to these accumulators.
pub(super) fn strip(deriver: &mut Deriver, stmts: &mut Vec<Stmt>, gone: &FxHashSet<Var>) {
    stmts.retain(|stmt| !matches!(&stmt.kind, Kind::Add(acc, ..) if gone.contains(acc)));
    for stmt in stmts {
        match &mut stmt.kind {
            Kind::Call(_, callee, arguments) => {
                let params = &deriver.module.body(*callee).params;
                let without: Vec<bool> = params
                    .iter()
                    .zip(&*arguments)
                    .map(|(param, var)| param.is_acc && gone.contains(var))
                    .collect();
                if without.contains(&true) {
                    arguments.retain(|argument| !gone.contains(argument));
                    *callee = deriver.request(Key::Strip { of: *callee, without });
                }
            }
            Kind::If(_, yes, no) => {
                strip(deriver, &mut yes.stmts, gone);
                strip(deriver, &mut no.stmts, gone);
            }
            Kind::Loop(repeat) => {
                if let Control::While(condition) = &mut repeat.control {
                    strip(deriver, &mut condition.stmts, gone);
                }
                strip(deriver, &mut repeat.body.stmts, gone);
            }
            _ => {}
        }
    }
}

/// The accumulators that statements add to and do not define.
pub(super) fn foreign_accs(deriver: &Deriver, stmts: &[Stmt]) -> FxHashSet<Var> {
    let mut added = FxHashSet::default();
    let mut bound = FxHashSet::default();
    let mut regions: Vec<&[Stmt]> = vec![stmts];
    while let Some(stmts) = regions.pop() {
        for stmt in stmts {
            match &stmt.kind {
                Kind::Add(acc, ..) => {
                    added.insert(*acc);
                }
                Kind::Call(_, callee, arguments) => {
                    let params = &deriver.module.body(*callee).params;
                    added.extend(
                        params.iter().zip(arguments).filter(|(param, _)| param.is_acc).map(|(_, var)| *var),
                    );
                }
                Kind::Loop(repeat) => bound.extend(repeat.accs.iter().map(|acc| acc.var)),
                _ => {}
            }
            regions.extend(stmt.kind.regions().into_iter().map(|region: &Region| region.stmts.as_slice()));
        }
    }
    added.retain(|acc| !bound.contains(acc));
    added
}
