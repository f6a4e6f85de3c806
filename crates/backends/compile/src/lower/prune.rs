//! Removes dead statements that cannot fail.

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::FxHashSet;

use super::{Code, Group, Operand, Right, Statement};

pub(super) fn prune(code: &Code) -> Code {
    let mut needed: FxHashSet<VarId> = code.exports.keys().chain(&code.live_out).copied().collect();
    let mut groups: Vec<Group> = Vec::new();
    for group in code.groups.iter().rev() {
        let mut statements: Vec<Statement> = Vec::new();
        for statement in group.statements.iter().rev() {
            if needed.contains(&statement.var) || can_fail(statement) {
                let statement = without_unread(statement);
                needed.extend(statement.right.operands().into_iter().filter_map(var_of));
                statements.push(statement);
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

/// `zeros_like` and `ones_like` use only the shape of their operand, which the result has too.
fn without_unread(statement: &Statement) -> Statement {
    match &statement.right {
        Right::Apply(op @ (Op::ZerosLike | Op::OnesLike), _) => {
            Statement { right: Right::Apply(op.clone(), Vec::new()), ..statement.clone() }
        }
        _ => statement.clone(),
    }
}

fn var_of(operand: &Operand) -> Option<VarId> {
    match operand {
        Operand::Var(var) => Some(*var),
        Operand::Seen(_) => None,
    }
}

/// Whether an operation fails for some operands: then the program must stop, even if the result is dead.
pub(crate) fn can_fail(statement: &Statement) -> bool {
    matches!(&statement.right, Right::Apply(op, _) if op.can_fail(statement.ty.scalar))
}
