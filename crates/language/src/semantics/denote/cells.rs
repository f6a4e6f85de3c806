//! Evaluates one cell of an equation (section 6).

use eddy_tensor::{EvalError, Op, Value};
use rustc_hash::FxHashMap;

use crate::clocks::{Clock, ClockId, Clocks, Root};
use crate::flow::{Flow, Kind, Polarity, VarId};
use crate::semantics::Cell;

/// Whether a clock is active at a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    On,
    Off,
    Unknown,
}

/// Computes cells from rows.
pub(super) struct Evaluator<'a> {
    flow: &'a Flow,
    clocks: &'a Clocks,
    constants: Vec<Option<Value>>,
    /// The inputs on each root; the key is the first of them.
    on_root: FxHashMap<VarId, Vec<VarId>>,
}

type Rows = [Vec<Cell>];

impl<'a> Evaluator<'a> {
    pub fn new(flow: &'a Flow, clocks: &'a Clocks, seed: u64) -> Self {
        let constants = flow.equations.iter().map(|equation| match &equation.kind {
            Kind::Const(constant) => Some(constant.value(&flow.var(equation.out).ty, seed)),
            _ => None,
        });
        let constants = constants.collect();
        let on_root = flow.inputs.iter().map(|input| (*input, clocks.inputs_on_root(flow, *input))).collect();
        Evaluator { flow, clocks, constants, on_root }
    }

    /// `ck_v(n)`: root activity, then each condition; □ gives false, ⊥ gives unknown.
    pub fn activity(&self, rows: &Rows, var: VarId, cycle: usize) -> Activity {
        let mut conditions = Vec::new();
        let mut clock: ClockId = self.clocks.of(var);
        let root = loop {
            match self.clocks.clock(clock) {
                Clock::Root(root) => break root,
                Clock::On { of, condition, polarity } => {
                    conditions.push((condition, polarity));
                    clock = of;
                }
            }
        };
        let mut activity = match root {
            Root::Always => Activity::On,
            Root::Input(owner) => {
                // One present input suffices, even if others violate the clock by being absent.
                let mut activity = Activity::Unknown;
                for input in &self.on_root[&owner] {
                    match rows[input.index()][cycle] {
                        Cell::Unknown => {}
                        Cell::Absent => activity = Activity::Off,
                        Cell::Present | Cell::Value(_) | Cell::Error => {
                            activity = Activity::On;
                            break;
                        }
                    }
                }
                activity
            }
        };
        for (condition, polarity) in conditions.into_iter().rev() {
            if activity != Activity::On {
                break;
            }
            let cell = &rows[condition.index()][cycle];
            activity = match (cell, cell.truth()) {
                (_, Some(truth)) if truth == (polarity == Polarity::On) => Activity::On,
                (_, Some(_)) | (Cell::Absent, _) => Activity::Off,
                _ => Activity::Unknown,
            };
        }
        activity
    }

    /// The cell of an equation's stream.
    pub fn cell(
        &self,
        rows: &Rows,
        equation: usize,
        cycle: usize,
        horizon: usize,
        is_whole: bool,
    ) -> Result<Cell, EvalError> {
        let out = self.flow.equations[equation].out;
        let at = |var: &VarId| &rows[var.index()][cycle];
        Ok(match &self.flow.equations[equation].kind {
            Kind::Const(_) => match self.activity(rows, out, cycle) {
                Activity::On => Cell::Value(self.constants[equation].clone().expect("constants have values")),
                Activity::Off => Cell::Absent,
                Activity::Unknown => Cell::Unknown,
            },
            Kind::Apply(op, operands) => {
                let cells: Vec<&Cell> = operands.iter().map(at).collect();
                application(op, &cells)?
            }
            Kind::Param(operand) => at(operand).clone(),
            Kind::When { value, condition, polarity } => when(at(value), at(condition), *polarity),
            Kind::Merge { condition, yes, no } => merge(at(condition), at(yes), at(no)),
            Kind::Fby { init, next } => self.delay(rows, out, cycle, &[at(init), at(next)], || {
                let earlier = (0..cycle).rev().find(|m| self.activity(rows, out, *m) != Activity::Off);
                match earlier {
                    None => at(init).clone(),
                    Some(m) => self.neighbour(rows, out, *next, m),
                }
            }),
            Kind::Post(next) => self.delay(rows, out, cycle, &[at(next)], || {
                self.later(rows, out, cycle, horizon)
                    .map_or(Cell::Unknown, |m| self.neighbour(rows, out, *next, m))
            }),
            Kind::FbyBack { init, next } => {
                self.delay(rows, out, cycle, &[at(init), at(next)], || {
                    match self.later(rows, out, cycle, horizon) {
                        Some(m) => self.neighbour(rows, out, *next, m),
                        None if is_whole => at(init).clone(),
                        None => Cell::Unknown,
                    }
                })
            }
        })
    }

    fn later(&self, rows: &Rows, out: VarId, cycle: usize, horizon: usize) -> Option<usize> {
        (cycle + 1..horizon).find(|m| self.activity(rows, out, *m) != Activity::Off)
    }

    /// The operand of a delay at the neighbouring activation.
    fn neighbour(&self, rows: &Rows, out: VarId, next: VarId, cycle: usize) -> Cell {
        match self.activity(rows, out, cycle) {
            Activity::On => rows[next.index()][cycle].clone(),
            _ => Cell::Unknown,
        }
    }

    /// The rules common to all delays: operand ✗ → ✗; ck unknown → ⊥; ck false → □, ✗ if an operand is a
    /// value; an operand □ → ✗.
    fn delay(
        &self,
        rows: &Rows,
        out: VarId,
        cycle: usize,
        operands: &[&Cell],
        value: impl FnOnce() -> Cell,
    ) -> Cell {
        if operands.contains(&&Cell::Error) {
            return Cell::Error;
        }
        match self.activity(rows, out, cycle) {
            Activity::Unknown => Cell::Unknown,
            Activity::Off if operands.iter().any(|cell| cell.is_present()) => Cell::Error,
            Activity::Off => Cell::Absent,
            Activity::On if operands.contains(&&Cell::Absent) => Cell::Error,
            Activity::On => value(),
        }
    }
}

/// Any ✗ → ✗; any ⊥ → ⊥, but `if` with a known condition and a known selected branch → that branch; all □ →
/// □; some □ → ✗; else f.
fn application(op: &Op, operands: &[&Cell]) -> Result<Cell, EvalError> {
    if operands.contains(&&Cell::Error) {
        return Ok(Cell::Error);
    }
    let n_absent = operands.iter().filter(|cell| ***cell == Cell::Absent).count();
    let is_unknown = operands.iter().any(|cell| matches!(cell, Cell::Unknown | Cell::Present));
    if is_unknown {
        if *op == Op::If
            && n_absent == 0
            && let Some(truth) = operands[0].truth()
        {
            let branch = if truth { operands[1] } else { operands[2] };
            if let Cell::Value(_) = branch {
                return Ok(branch.clone());
            }
        }
        return Ok(Cell::Unknown);
    }
    if n_absent == operands.len() {
        return Ok(Cell::Absent);
    }
    if n_absent > 0 {
        return Ok(Cell::Error);
    }
    let values: Vec<&Value> = operands.iter().map(|cell| cell.value().expect("all are values")).collect();
    op.eval(&values).map(Cell::Value)
}

fn when(value: &Cell, condition: &Cell, polarity: Polarity) -> Cell {
    match (value, condition) {
        (Cell::Error, _) | (_, Cell::Error) => Cell::Error,
        (_, Cell::Unknown | Cell::Present) => Cell::Unknown,
        (Cell::Absent, Cell::Absent) => Cell::Absent,
        (Cell::Unknown | Cell::Present, Cell::Absent) => Cell::Unknown,
        (Cell::Value(_), Cell::Absent) | (Cell::Absent, Cell::Value(_)) => Cell::Error,
        (_, Cell::Value(_)) if condition.truth() == Some(polarity == Polarity::On) => value.clone(),
        (_, Cell::Value(_)) => Cell::Absent,
    }
}

fn merge(condition: &Cell, yes: &Cell, no: &Cell) -> Cell {
    if [condition, yes, no].contains(&&Cell::Error) {
        return Cell::Error;
    }
    match (condition, condition.truth()) {
        (Cell::Absent, _) => match (yes, no) {
            (Cell::Absent, Cell::Absent) => Cell::Absent,
            (Cell::Value(_), _) | (_, Cell::Value(_)) => Cell::Error,
            _ => Cell::Unknown,
        },
        (_, Some(truth)) => {
            let (selected, other) = if truth { (yes, no) } else { (no, yes) };
            if matches!(other, Cell::Value(_)) || *selected == Cell::Absent {
                Cell::Error
            } else {
                selected.clone()
            }
        }
        _ => Cell::Unknown,
    }
}
