//! Values that do not depend on time: parameters, and operations on them.
//!
//! Parameters are fields of the state. `reset` sets their initial values; a host that sets other values calls
//! `prepare`, which computes the rest.

use eddy_flow::{Kind, VarId};
use eddy_plan::plan::{Immediate, Instruction, Place, Read, Right as Planned};

use super::assign::copy;
use super::{Emitter, field_name};
use crate::lower::{Code, Group, Operand, Right, lower};

impl<'a> Emitter<'a> {
    /// Writes `prepare`, and the part of `reset` for parameters.
    pub(super) fn invariants(&mut self) {
        let mut code = Code { groups: vec![Group::default()], ..Code::default() };
        for instruction in &self.source.plan.invariants {
            let var = instruction.var;
            let place = self.state_value("k", var);
            self.invariant_fields.extend(place.field().cloned());
            match &instruction.right {
                Planned::Copy(read) if self.is_parameter(var) => {
                    self.parameters.push((var, field_name(&place)));
                    let view = self.invariant(read);
                    copy(&view, &place, self.ty(var), &mut self.reset);
                }
                _ => {
                    let right = self.invariant_right(instruction, &code);
                    code.groups[0].statements.push(self.statement_of(var, right));
                    code.exports.entry(var).or_default().push(place);
                }
            }
        }
        let names = |var: VarId| self.names.of(var);
        let lowered = lower(&code, &names, &mut self.scratch);
        self.prepare.append(lowered.block);
    }

    fn is_parameter(&self, var: VarId) -> bool {
        let equation = self.equation(var);
        matches!(equation.map(|equation| &equation.kind), Some(Kind::Param(_)))
    }

    fn invariant_right(&mut self, instruction: &'a Instruction, code: &Code) -> Right {
        // Reads of values that are computed here are marked, so that the computation comes first.
        let computed = |var: VarId| code.groups[0].statements.iter().any(|statement| statement.var == var);
        let mut operand = |read: &Read| match read {
            Read::Here(_, Place::Immediate(Immediate::Invariant(var))) if computed(*var) => {
                Operand::Var(*var)
            }
            read => Operand::Seen(self.invariant(read)),
        };
        match &instruction.right {
            Planned::Copy(read) => Right::Copy(operand(read)),
            Planned::Apply(reads) => {
                let operands = reads.iter().map(operand).collect();
                Right::Apply(self.operation(instruction.var), operands)
            }
            other => unreachable!("invariants are made by operations, not by {other:?}"),
        }
    }

    fn invariant(&mut self, read: &Read) -> crate::view::View {
        match read {
            Read::Here(var, Place::Immediate(immediate)) => self.immediate(*var, immediate),
            other => unreachable!("operands of invariants are constants or invariants, not {other:?}"),
        }
    }
}
