//! The rules of section 7 on a matrix of cells, applied until nothing changes: no schedule, no window, no
//! searches.
//!
//! All cycles are open from the start and the trace is known to end. The environment supplies the inputs and
//! the presence of the roots: a stream on a root is present exactly when the inputs on that root are.

use eddy_flow::{Equation, Kind, Polarity, VarId};
use eddy_language::clocks::{Clock, Root};
use eddy_language::semantics::Cell;
use eddy_tensor::{Op, Value};

use crate::generated::case::Ready;
use crate::generated::compare::is_below;
use crate::generated::engines::{NoValue, Rows, SEED};

/// Iterates all updates; the equations are applied in this order.
pub fn fixpoint(ready: &Ready, order: &[usize]) -> Result<Rows, NoValue> {
    let n_cycles = ready.n_cycles;
    let cells = vec![vec![Cell::Unknown; n_cycles]; ready.flow().vars.len()];
    let mut matrix = Matrix { ready, cells, has_changed: true };
    for cycle in 0..n_cycles {
        matrix.environment(cycle);
    }
    while std::mem::take(&mut matrix.has_changed) {
        for cycle in 0..n_cycles {
            for number in order {
                matrix.update(&ready.flow().equations[*number], cycle)?;
            }
        }
    }
    Ok(matrix.cells)
}

struct Matrix<'a> {
    ready: &'a Ready,
    /// Indexed by stream, then by cycle.
    cells: Rows,
    has_changed: bool,
}

impl Matrix<'_> {
    fn at(&self, var: VarId, cycle: usize) -> &Cell {
        &self.cells[var.index()][cycle]
    }

    /// The least upper bound of both cells.
    fn join(&mut self, var: VarId, cycle: usize, other: &Cell) {
        let cell = &mut self.cells[var.index()][cycle];
        if is_below(other, cell) {
            return;
        }
        *cell = if is_below(cell, other) { other.clone() } else { Cell::Error };
        self.has_changed = true;
    }

    fn join_all(&mut self, vars: &[VarId], cycle: usize, other: &Cell) {
        for var in vars {
            self.join(*var, cycle, other);
        }
    }

    fn environment(&mut self, cycle: usize) {
        let (ready, clocks) = (self.ready, self.ready.clocks());
        let inputs = || ready.flow().inputs.iter().zip(&ready.inputs);
        for (input, row) in inputs() {
            self.join(*input, cycle, &row[cycle]);
        }
        for var in ready.flow().var_ids() {
            match clocks.clock(clocks.of(var)) {
                Clock::Root(Root::Always) => self.join(var, cycle, &Cell::Present),
                Clock::Root(Root::Input(_)) => {
                    for (_, row) in inputs().filter(|(input, _)| clocks.of(**input) == clocks.of(var)) {
                        self.join(var, cycle, &status(&row[cycle]));
                    }
                }
                Clock::On { .. } => {}
            }
        }
    }

    fn update(&mut self, equation: &Equation, n: usize) -> Result<(), NoValue> {
        let out = equation.out;
        match &equation.kind {
            // Definition 6: if the result is ≥ ?, join k.
            Kind::Const(constant) => {
                if self.at(out, n).is_present() {
                    let value = constant.value(&self.ready.flow().var(out).ty, SEED);
                    self.join(out, n, &Cell::Value(value));
                }
            }
            Kind::Apply(op, operands) => self.apply(op, operands, out, n)?,
            Kind::Param(operand) => self.apply(&Op::Copy, &[*operand], out, n)?,
            Kind::When { value, condition, polarity } => self.when(out, *value, *condition, *polarity, n),
            Kind::Merge { condition, yes, no } => self.merge(out, *condition, *yes, *no, n),
            Kind::Fby { init, next } => {
                let earlier = (0..n).rev().find(|m| *self.at(out, *m) != Cell::Absent);
                self.delay(out, Some(*init), *next, earlier, n);
            }
            Kind::FbyBack { init, next } => {
                let later = (n + 1..self.ready.n_cycles).find(|m| *self.at(out, *m) != Cell::Absent);
                self.delay(out, Some(*init), *next, later, n);
            }
            Kind::Post(next) => {
                let later = (n + 1..self.ready.n_cycles).find(|m| *self.at(out, *m) != Cell::Absent);
                self.delay(out, None, *next, later, n);
            }
        }
        // cerr: if any variable of the equation at this cycle is ✗, all become ✗.
        let vars: Vec<VarId> = equation.kind.operands().chain([out]).collect();
        if vars.iter().any(|var| *self.at(*var, n) == Cell::Error) {
            self.join_all(&vars, n, &Cell::Error);
        }
        Ok(())
    }

    /// The join of nv of these cells.
    fn synchronisation(&self, vars: &[VarId], n: usize) -> Cell {
        let mut all = Cell::Unknown;
        for var in vars {
            let other = status(self.at(*var, n));
            all = match (is_below(&all, &other), is_below(&other, &all)) {
                (true, _) => other,
                (false, true) => all,
                (false, false) => Cell::Error,
            };
        }
        all
    }

    /// Definition 5: s = join of nv of all operands and results; if s = ? and all operands are values, join
    /// f(..) into the results; join s into every variable. `if` needs only the condition and the selected
    /// branch as values.
    fn apply(&mut self, op: &Op, operands: &[VarId], out: VarId, n: usize) -> Result<(), NoValue> {
        let vars: Vec<VarId> = operands.iter().copied().chain([out]).collect();
        let synchronisation = self.synchronisation(&vars, n);
        if synchronisation == Cell::Present {
            let values: Vec<Option<&Value>> =
                operands.iter().map(|operand| self.at(*operand, n).value()).collect();
            let result = if *op == Op::If {
                match values[0].and_then(Value::as_bool) {
                    Some(true) => values[1].cloned(),
                    Some(false) => values[2].cloned(),
                    None => None,
                }
            } else {
                let values: Option<Vec<&Value>> = values.into_iter().collect();
                values.map(|values| op.eval(&values)).transpose().map_err(|_| NoValue)?
            };
            if let Some(result) = result {
                self.join(out, n, &Cell::Value(result));
            }
        }
        self.join_all(&vars, n, &synchronisation);
        Ok(())
    }

    /// Definition 7.
    fn when(&mut self, out: VarId, value: VarId, condition: VarId, polarity: Polarity, n: usize) {
        let all = [out, value, condition];
        let is_chosen = self.at(condition, n).truth().map(|truth| truth == (polarity == Polarity::On));
        match (self.at(condition, n), is_chosen) {
            (Cell::Absent, _) => self.join_all(&all, n, &Cell::Absent),
            (Cell::Present, _) => self.join(value, n, &Cell::Present),
            (_, Some(true)) => {
                self.join(value, n, &Cell::Present);
                let cell = self.at(value, n).clone();
                self.join(out, n, &cell);
            }
            (_, Some(false)) => {
                self.join(out, n, &Cell::Absent);
                self.join(value, n, &Cell::Present);
            }
            _ => {}
        }
        match self.at(value, n) {
            Cell::Absent => self.join_all(&all, n, &Cell::Absent),
            Cell::Present | Cell::Value(_) => self.join(condition, n, &Cell::Present),
            _ => {}
        }
        if self.at(out, n).is_present() {
            self.join_all(&all, n, &Cell::Present);
        }
    }

    /// Definition 8.
    fn merge(&mut self, out: VarId, condition: VarId, yes: VarId, no: VarId, n: usize) {
        let all = [out, condition, yes, no];
        match (self.at(condition, n), self.at(condition, n).truth()) {
            (Cell::Absent, _) => self.join_all(&all, n, &Cell::Absent),
            (Cell::Present, _) => self.join(out, n, &Cell::Present),
            (_, Some(truth)) => {
                let (selected, other) = if truth { (yes, no) } else { (no, yes) };
                self.join(selected, n, &Cell::Present);
                let cell = self.at(selected, n).clone();
                self.join(out, n, &cell);
                self.join(other, n, &Cell::Absent);
            }
            _ => {}
        }
        if self.at(yes, n).is_present() || self.at(no, n).is_present() {
            self.join(condition, n, &Cell::Present);
        }
        match self.at(out, n) {
            Cell::Absent => self.join_all(&all, n, &Cell::Absent),
            Cell::Present | Cell::Value(_) => self.join(condition, n, &Cell::Present),
            _ => {}
        }
    }

    /// Definitions 9 and 10; `neighbour` is the nearest earlier or later cycle where the result is not □.
    fn delay(&mut self, out: VarId, init: Option<VarId>, next: VarId, neighbour: Option<usize>, n: usize) {
        let vars: Vec<VarId> = [out, next].into_iter().chain(init).collect();
        let synchronisation = self.synchronisation(&vars, n);
        self.join_all(&vars, n, &synchronisation);
        if !self.at(out, n).is_present() {
            return;
        }
        let found = match (neighbour, init) {
            (Some(m), _) => self.at(next, m),
            (None, Some(init)) => self.at(init, n),
            (None, None) => return,
        };
        if found.is_present() {
            let found = found.clone();
            self.join(out, n, &found);
        }
    }
}

/// nv: replaces a value by its presence.
fn status(cell: &Cell) -> Cell {
    match cell {
        Cell::Value(_) => Cell::Present,
        other => other.clone(),
    }
}
