//! The rules for one equation at one cycle (Definitions 5 to 8).

use eddy_tensor::{EvalError, Op, Value};

use super::Simulation;
use crate::flow::{Equation, Kind, Polarity, VarId};
use crate::semantics::Cell;

impl Simulation<'_> {
    /// Applies an equation at a cycle: joins all conclusions into the cells of its streams.
    pub(super) fn update(&mut self, cycle: u64, number: usize) -> Result<(), EvalError> {
        let flow = self.flow;
        let equation = &flow.equations[number];
        let out = equation.out;
        match &equation.kind {
            // Definition 6: if the result is present, it is k.
            Kind::Const(_) => {
                if *self.cell(cycle, out) == Cell::Present {
                    let value = Cell::Value(self.tables.constant(number).clone());
                    self.join(cycle, out, &value);
                }
            }
            Kind::Apply(op, operands) => return self.apply(cycle, op, operands, out),
            Kind::Param(operand) => return self.apply(cycle, &Op::Copy, &[*operand], out),
            Kind::When { value, condition, polarity } => {
                self.when(cycle, out, *value, *condition, *polarity);
                self.propagate_error(cycle, equation);
            }
            Kind::Merge { condition, yes, no } => {
                self.merge(cycle, out, *condition, *yes, *no);
                self.propagate_error(cycle, equation);
            }
            Kind::Fby { init, next } => {
                self.fby(cycle, number, [out, *init, *next]);
                self.propagate_error(cycle, equation);
            }
            Kind::FbyBack { init, next } => {
                self.fby_back_or_post(cycle, number, out, *next, Some(*init));
                self.propagate_error(cycle, equation);
            }
            Kind::Post(operand) => {
                self.fby_back_or_post(cycle, number, out, *operand, None);
                self.propagate_error(cycle, equation);
            }
        }
        Ok(())
    }

    /// cerr: if one stream of the equation is ✗ at this cycle, all become ✗.
    fn propagate_error(&mut self, cycle: u64, equation: &Equation) {
        if !self.window.has_error(cycle) {
            return;
        }
        let streams = || equation.kind.operands().chain([equation.out]);
        if streams().any(|var| *self.cell(cycle, var) == Cell::Error) {
            for var in streams() {
                self.join(cycle, var, &Cell::Error);
            }
        }
    }

    /// Joins the presence of these streams: present, absent, unknown, or ✗ if they differ.
    fn synchronisation(&self, cycle: u64, streams: impl Iterator<Item = VarId>) -> Cell {
        let mut status = Cell::Unknown;
        for var in streams {
            status.join(match self.cell(cycle, var) {
                Cell::Value(_) => &Cell::Present,
                other => other,
            });
        }
        status
    }

    /// Requires these streams to be all present or all absent.
    pub(super) fn synchronise(&mut self, cycle: u64, streams: &[VarId]) -> Cell {
        let status = self.synchronisation(cycle, streams.iter().copied());
        for var in streams {
            self.join(cycle, *var, &status);
        }
        status
    }

    /// Definition 5: s = join of nv of all operands and results; if s = ? and all operands are values, join
    /// f(..) into the result; join s into every variable. `if` needs only the condition and the selected
    /// branch.
    fn apply(&mut self, cycle: u64, op: &Op, operands: &[VarId], out: VarId) -> Result<(), EvalError> {
        let status = self.synchronisation(cycle, operands.iter().copied().chain([out]));
        let mut outcome = Ok(());
        if status == Cell::Present && !matches!(self.cell(cycle, out), Cell::Value(_)) {
            match self.value(cycle, op, operands) {
                Ok(Some(value)) => self.join(cycle, out, &Cell::Value(value)),
                Err(error) if !self.may_lack_value[out.index()] => outcome = Err(error),
                Ok(None) | Err(_) => {}
            }
        }
        for var in operands {
            self.join(cycle, *var, &status);
        }
        self.join(cycle, out, &status);
        outcome
    }

    /// The value of an operation, if it is known; rounded to single precision if the program runs in it.
    fn value(&self, cycle: u64, op: &Op, operands: &[VarId]) -> Result<Option<Value>, EvalError> {
        let value = self.exact_value(cycle, op, operands)?;
        Ok(if self.options.single { value.map(|value| value.to_num32()) } else { value })
    }

    fn exact_value(&self, cycle: u64, op: &Op, operands: &[VarId]) -> Result<Option<Value>, EvalError> {
        let operand = |index: usize| self.cell(cycle, operands[index]).value();
        if *op == Op::If && !self.options.strict {
            let branch = match operand(0).and_then(Value::as_bool) {
                None => return Ok(None),
                Some(true) => operand(1),
                Some(false) => operand(2),
            };
            return Ok(branch.cloned());
        }
        match operands.len() {
            1 => match operand(0) {
                Some(a) => op.eval(&[a]).map(Some),
                None => Ok(None),
            },
            2 => match (operand(0), operand(1)) {
                (Some(a), Some(b)) => op.eval(&[a, b]).map(Some),
                _ => Ok(None),
            },
            n => {
                let values: Option<Vec<&Value>> = (0..n).map(operand).collect();
                values.map(|values| op.eval(&values)).transpose()
            }
        }
    }

    /// Definition 7, in its order.
    fn when(&mut self, cycle: u64, out: VarId, value: VarId, condition: VarId, polarity: Polarity) {
        let chosen = self.cell(cycle, condition).truth().map(|truth| truth == (polarity == Polarity::On));
        match (self.cell(cycle, condition), chosen) {
            // c = □: all ⊔ □
            (Cell::Absent, _) => self.join_all(cycle, &[out, value, condition], &Cell::Absent),
            // c true: o ⊔ (y ⊔ ?), y ⊔ ?
            (_, Some(true)) => {
                self.join(cycle, value, &Cell::Present);
                let cell = self.cell(cycle, value).clone();
                self.join(cycle, out, &cell);
            }
            // c false: o ⊔ □, y ⊔ ?
            (_, Some(false)) => {
                self.join(cycle, out, &Cell::Absent);
                self.join(cycle, value, &Cell::Present);
            }
            // c = ?: y ⊔ ?
            (Cell::Present, None) => {
                self.join(cycle, value, &Cell::Present);
            }
            _ => {}
        }
        // y = □: all ⊔ □; y present: c ⊔ ?
        match self.cell(cycle, value) {
            Cell::Absent => self.join_all(cycle, &[out, value, condition], &Cell::Absent),
            Cell::Present | Cell::Value(_) => {
                self.join(cycle, condition, &Cell::Present);
            }
            _ => {}
        }
        // o present: all ⊔ ?
        if self.cell(cycle, out).is_present() {
            self.join_all(cycle, &[value, condition], &Cell::Present);
        }
    }

    /// Definition 8, in its order.
    fn merge(&mut self, cycle: u64, out: VarId, condition: VarId, yes: VarId, no: VarId) {
        match (self.cell(cycle, condition), self.cell(cycle, condition).truth()) {
            // c = □: all ⊔ □
            (Cell::Absent, _) => self.join_all(cycle, &[out, condition, yes, no], &Cell::Absent),
            // c true: o ⊔ (y ⊔ ?), y ⊔ ?, z ⊔ □; c false: mirror image
            (_, Some(truth)) => {
                let (selected, other) = if truth { (yes, no) } else { (no, yes) };
                self.join(cycle, selected, &Cell::Present);
                let cell = self.cell(cycle, selected).clone();
                self.join(cycle, out, &cell);
                self.join(cycle, other, &Cell::Absent);
            }
            // c = ?: o ⊔ ?
            (Cell::Present, None) => {
                self.join(cycle, out, &Cell::Present);
            }
            _ => {}
        }
        // y or z present: c ⊔ ?
        if self.cell(cycle, yes).is_present() || self.cell(cycle, no).is_present() {
            self.join(cycle, condition, &Cell::Present);
        }
        // o = □: all ⊔ □; o present: c ⊔ ?
        match self.cell(cycle, out) {
            Cell::Absent => self.join_all(cycle, &[condition, yes, no], &Cell::Absent),
            Cell::Present | Cell::Value(_) => {
                self.join(cycle, condition, &Cell::Present);
            }
            _ => {}
        }
    }

    fn join_all(&mut self, cycle: u64, vars: &[VarId], cell: &Cell) {
        for var in vars {
            self.join(cycle, *var, cell);
        }
    }
}
