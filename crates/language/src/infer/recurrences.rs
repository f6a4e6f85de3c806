//! Assumes the shapes of recurrences: of broadcasting operations with an operand that depends on their own
//! result, such as `h = (0.0 fby h) + v`. The rules are those of [`shapes`](super::shapes).

use std::collections::BTreeSet;

use eddy_tensor::{Shape, ShapeRule};

use super::shapes::{Assumption, Inference, Step};
use crate::flow::components::components;
use crate::flow::{Equation, Kind, VarId, definitions};

impl Inference<'_> {
    /// Assumes the shapes of broadcasting operations that depend on themselves, in flattening order.
    pub(super) fn assume_recurrences(&mut self) -> Step {
        while let Some(number) = self.ready.pop_first() {
            let equation = &self.draft.equations[number];
            let Kind::Apply(_, operands) = &equation.kind else {
                unreachable!("only operations are candidates")
            };
            if self.classes.get(equation.out).is_some() {
                continue;
            }
            if let Some(first) = operands.iter().find_map(|operand| self.known_operand(*operand)) {
                let shape = match self.assumption {
                    Assumption::FirstOperand => first,
                    Assumption::AllOperands | Assumption::Least => self.joined(number).unwrap_or(first),
                };
                self.set_result(number, shape)?;
                self.propagate()?;
            }
        }
        Ok(())
    }

    /// The shape of an operand, if it is known and the operand is not a literal.
    fn known_operand(&mut self, operand: VarId) -> Option<Shape> {
        if self.is_literal[operand.index()] { None } else { self.classes.get(operand) }
    }

    /// The shape to which all operands that enter a recurrence broadcast.
    fn joined(&mut self, number: usize) -> Option<Shape> {
        let component = self.component[self.draft.equations[number].out.index()];
        let mut joined = Shape::scalar();
        for other in self.members.get(&component).cloned().unwrap_or_default() {
            let equation = &self.draft.equations[other];
            let Kind::Apply(_, operands) = &equation.kind else {
                unreachable!("only operations are candidates")
            };
            if self.classes.get(equation.out).is_some() {
                continue;
            }
            for operand in operands {
                if let Some(shape) = self.known_operand(*operand) {
                    joined = joined.broadcast(&shape).ok()?;
                }
            }
        }
        Some(joined)
    }

    /// Finds the broadcasting operations with an operand of unknown shape that depends on their own result.
    pub(super) fn find_recurrences(&mut self) -> BTreeSet<usize> {
        let n_vars = self.draft.vars.len();
        let definitions = definitions(n_vars, &self.draft.equations);
        let is_unknown: Vec<bool> =
            (0..n_vars).map(|var| self.classes.get(VarId::new(var)).is_none()).collect();
        if !is_unknown.contains(&true) {
            return BTreeSet::new();
        }
        let component = components(n_vars, |var| {
            let equation =
                definitions[var].filter(|_| is_unknown[var]).map(|number| &self.draft.equations[number]);
            let operands = equation.into_iter().flat_map(|equation| equation.kind.operands());
            operands.map(VarId::index).filter(|operand| is_unknown[*operand]).collect()
        });
        let depends = |equation: &Equation| match &equation.kind {
            Kind::Apply(op, operands) if op.shape_rule() == ShapeRule::Broadcast => {
                operands.iter().any(|operand| {
                    is_unknown[operand.index()]
                        && component[operand.index()] == component[equation.out.index()]
                })
            }
            _ => false,
        };
        let equations = self.draft.equations.iter().enumerate();
        let found: BTreeSet<usize> =
            equations.filter(|(_, equation)| depends(equation)).map(|(number, _)| number).collect();
        for number in &found {
            let home = component[self.draft.equations[*number].out.index()];
            self.members.entry(home).or_default().push(*number);
        }
        self.component = component;
        found
    }
}
