//! The smallest shapes that satisfy all rules, by a fixpoint: for recurrences whose shape no single operand
//! determines.
//!
//! ```text
//! node f(x:num [2], k) -> (s)  s = (0.0 fby s) + k * x;
//!
//! s    []  []   [2]        unknown shapes start as scalars; an operation grows its result
//! k    []  []   []         to the shape of its operands; equal shapes grow together
//! ```
//!
//! Growing means broadcasting, so each shape grows at most twice per axis, and the fixpoint does not depend
//! on the order.

use std::collections::VecDeque;

use eddy_tensor::{Shape, ShapeRule};

use super::shapes::{Inference, MAX_AXES};
use crate::flow::{Kind, VarId};

impl Inference<'_> {
    /// Gives streams of unknown shape the smallest shapes that fit, if any; does not check the rules.
    pub(super) fn assume_least(&mut self) -> Option<()> {
        let n_vars = self.draft.vars.len();
        let mut shapes: Vec<Option<Shape>> = vec![None; n_vars];
        for var in (0..n_vars).map(VarId::new) {
            let known = self.classes.get(var);
            shapes[self.classes.find(var)] = Some(known.unwrap_or_else(Shape::scalar));
        }
        let mut todo: VecDeque<usize> = (0..self.draft.equations.len()).collect();
        let mut is_planned = vec![true; self.draft.equations.len()];
        while let Some(number) = todo.pop_front() {
            is_planned[number] = false;
            let equation = &self.draft.equations[number];
            let Kind::Apply(op, operands) = &equation.kind else { continue };
            if !matches!(op.shape_rule(), ShapeRule::Broadcast | ShapeRule::Function | ShapeRule::Stack)
                || self.classes.get(equation.out).is_some()
            {
                continue;
            }
            let classes: Vec<usize> = operands.iter().map(|operand| self.classes.find(*operand)).collect();
            let operands: Option<Vec<&Shape>> = classes.iter().map(|class| shapes[*class].as_ref()).collect();
            // An operation that does not fit yet may fit once its operands have grown.
            let Some(Ok(shape)) = self.shape(number, op, &operands?) else { continue };
            let class = self.classes.find(equation.out);
            let before = shapes[class].as_ref()?;
            let grown = before.broadcast(&shape).ok()?;
            if grown.len() > MAX_AXES {
                return None;
            }
            if grown != *before {
                shapes[class] = Some(grown);
                for user in &self.uses[class] {
                    if !std::mem::replace(&mut is_planned[*user], true) {
                        todo.push_back(*user);
                    }
                }
            }
        }
        for var in (0..n_vars).map(VarId::new) {
            let class = self.classes.find(var);
            let shape = shapes[class].clone()?;
            self.classes.set(var, shape, self.draft.vars[var.index()].span).ok()?;
        }
        Some(())
    }
}
