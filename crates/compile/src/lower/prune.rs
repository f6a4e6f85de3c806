//! Statements whose results nobody reads are not written, unless they can fail.

use eddy_flow::VarId;
use eddy_tensor::{Op, Scalar};
use rustc_hash::FxHashSet;

use super::{Code, Group, Operand, Right, Statement};

/// The code without what is not needed.
pub(super) fn prune(code: &Code) -> Code {
    let mut needed: FxHashSet<VarId> = code.exports.keys().chain(&code.live_out).copied().collect();
    let mut groups: Vec<Group> = Vec::new();
    for group in code.groups.iter().rev() {
        let mut statements: Vec<Statement> = Vec::new();
        for statement in group.statements.iter().rev() {
            if needed.contains(&statement.var) || can_fail(statement) {
                needed.extend(statement.right.operands().into_iter().filter_map(var_of));
                statements.push(statement.clone());
            }
        }
        if !statements.is_empty() {
            needed.extend(group.conditions.iter().filter_map(|(operand, _)| var_of(operand)));
            statements.reverse();
            groups.push(Group { conditions: group.conditions.clone(), statements });
        }
    }
    groups.reverse();
    Code { groups, ..code.clone() }
}

fn var_of(operand: &Operand) -> Option<VarId> {
    match operand {
        Operand::Var(var) => Some(*var),
        Operand::Seen(_) => None,
    }
}

/// Whether an operation has no value for some operands: then the program stops there, even if nobody reads the result.
pub(crate) fn can_fail(statement: &Statement) -> bool {
    let Right::Apply(op, _) = &statement.right else { return false };
    let is_int = statement.ty.scalar == Scalar::Int;
    match op.applied() {
        Op::IntDiv | Op::IntMod | Op::ToInt | Op::Onehot(_) => true,
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Neg
        | Op::Abs
        | Op::Sum(_)
        | Op::SumTo
        | Op::Reduce(_)
        | Op::Fold(..) => is_int,
        _ => false,
    }
}
