//! The cells of a finite trace as an acyclic graph (9.8): each known cell is given, a constant, or an
//! operation on other cells.
//!
//! Delays, sampling and conditions are resolved: the run decided from which cell a stream takes its value. So
//! the graph represents the program as long as its conditions do not change, which each evaluation checks.

use eddy_flow::{Kind, VarId};
use eddy_language::semantics::Cell;
use eddy_tensor::{Op, Value};

use crate::generated::engines::Rows;
use crate::numbers::{dot, elements, with_elements};
use crate::run::{Run, Stop};

/// The index of a cell in the graph.
pub type StepNo = usize;

/// How a cell is computed.
pub enum Step {
    /// A constant, an input, or a parameter.
    Given,
    Apply(Op, Vec<StepNo>),
}

/// The graph; operands come before operations.
pub struct Unrolled<'a> {
    run: &'a Run,
    pub steps: Vec<Step>,
    /// The value of each step on the trace.
    pub values: Vec<Value>,
    definitions: Vec<Option<usize>>,
    /// The step of each cell, by stream and cycle.
    places: Vec<Vec<Option<StepNo>>>,
    /// Streams that are given although they have equations.
    given: Vec<VarId>,
    /// Whether a delay passes a value from the first cycle to the second as a constant.
    detaches: &'a dyn Fn(usize, usize) -> bool,
}

impl<'a> Unrolled<'a> {
    /// The graph of a run, with its parameters given.
    pub fn new(run: &'a Run) -> Result<Self, Stop> {
        Unrolled::with(run, run.sources.clone(), &|_, _| false)
    }

    /// The graph of a run in which these streams are given, and some delays pass on constants.
    pub fn with(
        run: &'a Run,
        given: Vec<VarId>,
        detaches: &'a dyn Fn(usize, usize) -> bool,
    ) -> Result<Self, Stop> {
        let mut unrolled = Unrolled {
            run,
            steps: Vec::new(),
            values: Vec::new(),
            definitions: run.flow().definitions(),
            places: vec![vec![None; run.ready.n_cycles]; run.flow().vars.len()],
            given,
            detaches,
        };
        for var in run.flow().var_ids() {
            for cycle in 0..run.ready.n_cycles {
                if run.row(var)[cycle].value().is_some() {
                    let step = unrolled.place(var, cycle)?;
                    if Some(&unrolled.values[step]) != run.row(var)[cycle].value() {
                        return Err(Stop::Broken(format!("unrolling changes {var:?} at cycle {cycle}")));
                    }
                }
            }
        }
        Ok(unrolled)
    }

    pub fn steps_of(&self, var: VarId) -> impl Iterator<Item = (usize, StepNo)> + '_ {
        self.places[var.index()].iter().enumerate().filter_map(|(cycle, step)| Some((cycle, (*step)?)))
    }

    fn push(&mut self, step: Step, value: Value) -> StepNo {
        self.steps.push(step);
        self.values.push(value);
        self.steps.len() - 1
    }

    fn place(&mut self, var: VarId, cycle: usize) -> Result<StepNo, Stop> {
        if let Some(step) = self.places[var.index()][cycle] {
            return Ok(step);
        }
        let Some(value) = self.run.row(var)[cycle].value().cloned() else {
            return Err(Stop::Broken(format!("a value depends on {var:?}, which has none at cycle {cycle}")));
        };
        let definition = self.definitions[var.index()].filter(|_| !self.given.contains(&var));
        let kind = definition.map(|number| self.run.flow().equations[number].kind.clone());
        let step = match kind {
            None | Some(Kind::Const(_)) => self.push(Step::Given, value),
            Some(Kind::Apply(Op::If, operands)) => {
                let condition = self.truth(operands[0], cycle);
                self.place(operands[if condition { 1 } else { 2 }], cycle)?
            }
            Some(Kind::Apply(Op::StopGradient, operands)) => {
                // For derivatives the result is a constant.
                self.place(operands[0], cycle)?;
                self.push(Step::Given, value)
            }
            Some(Kind::Apply(op, operands)) => {
                let operands = operands.iter().map(|operand| self.place(*operand, cycle));
                let operands: Vec<StepNo> = operands.collect::<Result<_, _>>()?;
                let value = apply(&op, &operands, &self.values)?;
                self.push(Step::Apply(op, operands), value)
            }
            Some(Kind::Param(operand) | Kind::When { value: operand, .. }) => self.place(operand, cycle)?,
            Some(Kind::Merge { condition, yes, no }) => {
                let branch = if self.truth(condition, cycle) { yes } else { no };
                self.place(branch, cycle)?
            }
            Some(Kind::Fby { init, next }) => {
                let before = (0..cycle).rev().find(|other| self.is_there(var, *other));
                self.delayed((init, next), cycle, before)?
            }
            Some(Kind::FbyBack { init, next }) => {
                let after = (cycle + 1..self.run.ready.n_cycles).find(|other| self.is_there(var, *other));
                self.delayed((init, next), cycle, after)?
            }
            Some(Kind::Post(next)) => {
                let after = (cycle + 1..self.run.ready.n_cycles).find(|other| self.is_there(var, *other));
                self.delayed((next, next), cycle, after)?
            }
        };
        self.places[var.index()][cycle] = Some(step);
        Ok(step)
    }

    fn delayed(
        &mut self,
        (init, next): (VarId, VarId),
        cycle: usize,
        from: Option<usize>,
    ) -> Result<StepNo, Stop> {
        let Some(from) = from else { return self.place(init, cycle) };
        let step = self.place(next, from)?;
        if (self.detaches)(from, cycle) {
            let value = self.values[step].clone();
            return Ok(self.push(Step::Given, value));
        }
        Ok(step)
    }

    fn truth(&self, condition: VarId, cycle: usize) -> bool {
        self.run.row(condition)[cycle].truth().expect("a decided cell has a known condition")
    }

    fn is_there(&self, var: VarId, cycle: usize) -> bool {
        self.run.row(var)[cycle] != Cell::Absent
    }

    /// The values of all steps after changes of some given ones. If an operation or a condition would choose
    /// differently, the graph does not represent the program, and there is a kink or a jump.
    pub fn evaluate(&self, changes: &[(StepNo, Value)]) -> Result<Vec<Value>, Stop> {
        let mut values: Vec<Value> = Vec::with_capacity(self.steps.len());
        let mut changed = vec![None; self.steps.len()];
        for (step, value) in changes {
            changed[*step] = Some(value);
        }
        for (number, step) in self.steps.iter().enumerate() {
            let value = match (step, changed[number]) {
                (_, Some(value)) => value.clone(),
                (Step::Given, None) => self.values[number].clone(),
                (Step::Apply(op, operands), None) => {
                    if choice(op, operands, &values)? != choice(op, operands, &self.values)? {
                        return Err(Stop::Vacuous("a kink"));
                    }
                    apply(op, operands, &values)?
                }
            };
            if elements(&value).is_empty() && value != self.values[number] {
                return Err(Stop::Vacuous("a kink"));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// The graph at other values of some given cells.
    pub fn at(mut self, changes: &[(StepNo, Value)]) -> Result<Self, Stop> {
        self.values = self.evaluate(changes)?;
        Ok(self)
    }

    /// Σ ⟨w, y⟩ over the cells of some streams.
    pub fn loss(&self, targets: &[VarId], weights: &Rows, values: &[Value]) -> f64 {
        let mut loss = 0.0;
        for (target, weights) in targets.iter().zip(weights) {
            for (cycle, step) in self.steps_of(*target) {
                if let Some(weight) = weights[cycle].value() {
                    loss += dot(weight, &values[step]);
                }
            }
        }
        loss
    }

    /// The changes that move given cells along a direction.
    pub fn moved(&self, sources: &[VarId], directions: &Rows, length: f64) -> Vec<(StepNo, Value)> {
        let mut changes = Vec::new();
        for (source, direction) in sources.iter().zip(directions) {
            for (cycle, step) in self.steps_of(*source) {
                if let Some(direction) = direction[cycle].value() {
                    let numbers = elements(&self.values[step]).into_iter().zip(elements(direction));
                    let numbers = numbers.map(|(number, along)| number + length * along).collect();
                    changes.push((step, with_elements(direction, numbers)));
                }
            }
        }
        changes
    }
}

fn apply(op: &Op, operands: &[StepNo], values: &[Value]) -> Result<Value, Stop> {
    let operands: Vec<&Value> = operands.iter().map(|operand| &values[*operand]).collect();
    op.eval(&operands).map_err(|_| Stop::Vacuous("no value"))
}

/// The choice of an operation with a kink.
fn choice(op: &Op, operands: &[StepNo], values: &[Value]) -> Result<Option<Value>, Stop> {
    let operand = |number: usize| &values[operands[number]];
    let zero = Value::Num(0.0);
    if operands.is_empty() || elements(operand(0)).is_empty() {
        return Ok(None);
    }
    let chosen = match op {
        Op::Relu => Op::Gt.eval(&[operand(0), &zero]),
        Op::Abs => Op::Gt.eval(&[operand(0), &zero]),
        Op::Maximum | Op::Minimum => Op::Ge.eval(&[operand(0), operand(1)]),
        Op::Max(axis) => Op::MaxMask(*axis).eval(&[operand(0)]),
        _ => return Ok(None),
    };
    chosen.map(Some).map_err(|_| Stop::Vacuous("no value"))
}
