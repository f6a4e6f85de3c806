//! Rewrites statements one by one, from the first to the last.

use rustc_hash::FxHashSet;

use crate::edit::{Renaming, renamed_stmt, renamed_vars};
use crate::ir::{Control, Kind, Loop, Region, Stmt, Var};

/// Appends what replaces a statement, and may map its results to other names.
pub(super) type Rewrite<'a> = dyn FnMut(Stmt, &mut Renaming, &mut Vec<Stmt>) + 'a;

/// The region with each statement replaced by what `rewrite` appends for it: inner statements first, operands
/// renamed.
pub(super) fn rewritten(region: &Region, to: &mut Renaming, rewrite: &mut Rewrite<'_>) -> Region {
    let mut stmts = Vec::with_capacity(region.stmts.len());
    for stmt in &region.stmts {
        let stmt = match &stmt.kind {
            Kind::If(condition, yes, no) => {
                let (yes, no) = (rewritten(yes, to, rewrite), rewritten(no, to, rewrite));
                let condition = *to.get(condition).unwrap_or(condition);
                Stmt { kind: Kind::If(condition, yes, no), ..stmt.clone() }
            }
            Kind::Loop(repeat) => rewritten_loop(stmt, repeat, to, rewrite),
            _ => renamed_stmt(stmt, to),
        };
        rewrite(stmt, to, &mut stmts);
    }
    Region { stmts, yields: renamed_vars(&region.yields, to) }
}

fn rewritten_loop(stmt: &Stmt, repeat: &Loop, to: &mut Renaming, rewrite: &mut Rewrite<'_>) -> Stmt {
    // Collected names are defined in the regions, which are rewritten first.
    let condition = match &repeat.control {
        Control::While(condition) => Some(rewritten(condition, to, rewrite)),
        _ => None,
    };
    let body = rewritten(&repeat.body, to, rewrite);
    let mut head = Loop { body: Region::default(), ..repeat.clone() };
    if let Control::While(condition) = &mut head.control {
        *condition = Region::default();
    }
    let mut stmt = renamed_stmt(&Stmt { kind: Kind::Loop(Box::new(head)), ..stmt.clone() }, to);
    if let Kind::Loop(repeat) = &mut stmt.kind {
        repeat.body = body;
        if let Some(condition) = condition {
            repeat.control = Control::While(condition);
        }
    }
    stmt
}

/// The names that loops collect. They are names of the loop's body, so that they cannot be renamed to names
/// from outside.
pub(super) fn collected(region: &Region) -> FxHashSet<Var> {
    let mut found = FxHashSet::default();
    for stmt in &region.stmts {
        if let Kind::Loop(repeat) = &stmt.kind {
            found.extend(repeat.collect.iter().copied());
        }
        for region in stmt.kind.regions() {
            found.extend(collected(region));
        }
    }
    found
}
