//! Both semantics give the same cells (P1).

use eddy_flow::{Flow, VarId};

use super::case::Ready;
use super::compare::{below, same};
use super::engines::{cells, denote, settled, simulate};
use super::harness::{Trial, Verdict};

/// If an operation depends on its own result at the same cycle, only B concludes from the absence of its
/// other operands that the result is absent.
pub fn agree(ready: &Ready) -> Trial {
    let (a, b) = (settled(&cells!(denote(ready))), settled(&cells!(simulate(ready))));
    if waits(ready.flow()) {
        below(ready.flow(), ("A", &a), ("B", &b))?;
        return Ok(Verdict::Vacuous("waits within a cycle"));
    }
    same(ready.flow(), ("A", &a), ("B", &b))?;
    Ok(Verdict::Holds)
}

/// Whether some stream depends on itself without a delay. Such a program is accepted if a condition breaks
/// the cycle.
pub fn waits(flow: &Flow) -> bool {
    let definitions = flow.definitions();
    let operands = |var: VarId| -> Vec<VarId> {
        match definitions[var.index()].map(|number| &flow.equations[number].kind) {
            Some(kind) if !kind.is_delay() => kind.operands().collect(),
            _ => Vec::new(),
        }
    };
    flow.var_ids().any(|start| {
        let (mut seen, mut todo) = (vec![false; flow.vars.len()], operands(start));
        while let Some(var) = todo.pop() {
            if !std::mem::replace(&mut seen[var.index()], true) {
                todo.extend(operands(var));
            }
        }
        seen[start.index()]
    })
}
