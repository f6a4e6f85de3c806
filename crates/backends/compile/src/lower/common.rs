//! Common subexpression elimination.
//!
//! Derivatives repeat expressions: the derivative of a product of a stream with itself has each term twice. A
//! statement with the same operation and operands as an earlier one becomes a copy of its result.

use eddy_flow::VarId;
use rustc_hash::FxHashMap;

use super::prune::can_fail;
use super::{Code, Operand, Right};

/// The code with copies in place of repeated statements.
pub(super) fn share(code: &Code) -> Code {
    let mut code = code.clone();
    let mut first: FxHashMap<VarId, VarId> = FxHashMap::default();
    // Unconditional results are available in all later groups; conditional ones only in their own group.
    let mut always: FxHashMap<String, VarId> = FxHashMap::default();
    for group in &mut code.groups {
        let mut here: FxHashMap<String, VarId> = FxHashMap::default();
        for statement in &mut group.statements {
            for operand in statement.right.operands_mut() {
                if let Operand::Var(var) = operand {
                    *var = first.get(var).copied().unwrap_or(*var);
                }
            }
            if can_fail(statement) || matches!(statement.right, Right::Copy(_)) {
                continue;
            }
            let key = format!("{:?} {:?}", statement.ty, statement.right);
            match always.get(&key).or_else(|| here.get(&key)) {
                Some(same) => {
                    first.insert(statement.var, *same);
                    statement.right = Right::Copy(Operand::Var(*same));
                }
                None if group.conditions.is_empty() => drop(always.insert(key, statement.var)),
                None => drop(here.insert(key, statement.var)),
            }
        }
    }
    code
}
