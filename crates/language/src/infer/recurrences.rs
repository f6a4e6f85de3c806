//! Assumes the shapes of recurrences: of broadcasting operations with an operand that depends on their own
//! result, such as `h = (0.0 fby h) + v`. The rules are those of [`shapes`](super::shapes).

use std::collections::{BTreeMap, BTreeSet};

use eddy_tensor::{Shape, ShapeRule};
use rustc_hash::FxHashMap;

use super::shapes::{Assumption, Inference, Step};
use crate::flow::components::components;
use crate::flow::{Equation, Kind, VarId, definitions};

/// The recurrent operations of unknown shape, and the shapes that enter each strongly connected component of
/// them. An operation adds the shapes of its operands when they become known, and removes them when its own
/// result does, so that the shape of a component is known without a walk through its operations.
#[derive(Default)]
pub(super) struct Recurrences {
    operations: BTreeSet<usize>,
    /// The component of each stream.
    component: Vec<usize>,
    /// The shapes that operation `number` has added to its component.
    added: FxHashMap<usize, Vec<Shape>>,
    /// For each component, the shapes that enter it, with the number of operands that have them.
    entering: FxHashMap<usize, BTreeMap<Shape, usize>>,
}

impl Recurrences {
    /// The recurrent operations among some equations.
    pub(super) fn among<'a>(&'a self, equations: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        equations.iter().copied().filter(|number| self.operations.contains(number))
    }

    /// Replaces the shapes that an operation of a component adds to it.
    fn replace(&mut self, number: usize, component: usize, shapes: Vec<Shape>) {
        let entering = self.entering.entry(component).or_default();
        for shape in &shapes {
            *entering.entry(shape.clone()).or_default() += 1;
        }
        for shape in self.added.insert(number, shapes).unwrap_or_default() {
            let count = entering.get_mut(&shape).expect("the operation added this shape");
            *count -= 1;
            if *count == 0 {
                entering.remove(&shape);
            }
        }
    }

    /// The shape to which all shapes broadcast that enter the component of a stream, if there is one.
    fn joined(&self, out: VarId) -> Option<Shape> {
        let mut entering = self.entering[&self.component[out.index()]].keys();
        entering.try_fold(Shape::scalar(), |joined, shape| joined.broadcast(shape).ok())
    }
}

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
                    Assumption::AllOperands | Assumption::Least => {
                        self.recurrences.joined(equation.out).unwrap_or(first)
                    }
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

    /// Counts the known operands of a recurrent operation again, after a shape has become known.
    pub(super) fn count_operands(&mut self, number: usize) {
        let Equation { out, kind, .. } = &self.draft.equations[number];
        let shapes = match self.classes.get(*out) {
            Some(_) => Vec::new(),
            None => kind.operands().filter_map(|operand| self.known_operand(operand)).collect(),
        };
        let component = self.recurrences.component[out.index()];
        self.recurrences.replace(number, component, shapes);
    }

    /// Finds the broadcasting operations with an operand of unknown shape that depends on their own result.
    pub(super) fn find_recurrences(&mut self) {
        let n_vars = self.draft.vars.len();
        let definitions = definitions(n_vars, &self.draft.equations);
        let is_unknown: Vec<bool> =
            (0..n_vars).map(|var| self.classes.get(VarId::new(var)).is_none()).collect();
        if !is_unknown.contains(&true) {
            return;
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
        let operations: BTreeSet<usize> =
            equations.filter(|(_, equation)| depends(equation)).map(|(number, _)| number).collect();
        self.ready.clone_from(&operations);
        self.recurrences = Recurrences { operations, component, ..Recurrences::default() };
        for number in self.ready.clone() {
            self.count_operands(number);
        }
    }
}
