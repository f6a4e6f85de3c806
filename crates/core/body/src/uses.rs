//! Which names statements read.

use rustc_hash::FxHashSet;

use crate::ir::{Control, Kind, Region, Stmt, Var};

/// Names that a statement reads and does not define itself, those inside of its regions included;
/// accumulators count as read.
pub fn free_vars(stmt: &Stmt) -> FxHashSet<Var> {
    let mut free: FxHashSet<Var> = stmt.kind.operands().into_iter().collect();
    match &stmt.kind {
        Kind::If(_, yes, no) => {
            free.extend(free_of_region(yes, &[]));
            free.extend(free_of_region(no, &[]));
        }
        Kind::Loop(repeat) => {
            let mut bound: Vec<Var> =
                repeat.states.iter().chain(&repeat.accs).map(|binding| binding.var).collect();
            bound.extend(repeat.counter().map(|(index, _)| index));
            if let Control::While(condition) = &repeat.control {
                free.extend(free_of_region(condition, &[]));
            }
            free.extend(free_of_region(&repeat.body, &repeat.collect));
            for var in bound {
                free.remove(&var);
            }
        }
        _ => {}
    }
    free
}

/// Names that a region reads and does not define; `also` is read at its end.
pub fn free_of_region(region: &Region, also: &[Var]) -> FxHashSet<Var> {
    let mut free: FxHashSet<Var> = region.yields.iter().chain(also).copied().collect();
    for stmt in region.stmts.iter().rev() {
        for result in &stmt.results {
            free.remove(result);
        }
        free.extend(free_vars(stmt));
    }
    free
}
