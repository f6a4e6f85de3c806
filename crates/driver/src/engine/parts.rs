//! Programs with several roots, some of which look ahead: each root runs as a program of its own.
//!
//! No equation combines streams of different roots, so each root can run separately: one part may be in the
//! middle of a window, another one late, a third one simulated. A cycle is shown when all parts have computed
//! it.

use std::collections::VecDeque;

use eddy_flow::{Flow, Kind, VarId};
use eddy_language::clocks::{Clock, ClockId, Clocks};
use eddy_language::semantics::{Cell, simulate};
use eddy_tensor::Value;

use super::program::Compilation;
use super::{Engine, EngineError, EngineInput};

/// The streams of one root.
pub struct Part {
    /// The equations; their numbers in the program are in `equations`.
    flow: Flow,
    equations: Vec<usize>,
    /// The positions of its inputs and of its outputs in the program.
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    shown: Vec<VarId>,
    /// For each stream whether it belongs to the part.
    is_own: Vec<bool>,
}

/// The parts of a compiled program.
pub struct Split {
    /// The part to which the surrounding compilation belongs.
    pub first: Part,
    /// The other parts; those without code are simulated.
    pub others: Vec<(Part, Option<Compilation>)>,
}

fn root_of(clocks: &Clocks, var: VarId) -> ClockId {
    let mut clock = clocks.of(var);
    while let Clock::On { of, .. } = clocks.clock(clock) {
        clock = of;
    }
    clock
}

/// The parts of a program, one for each root. `None` if the roots cannot be separated, if a parameter is
/// learnt that outlives a run, or if an operation that may fail belongs to no root.
pub fn split(source: &EngineInput<'_>) -> Option<Vec<Part>> {
    let EngineInput { flow, clocks, shown, .. } = source;
    if !flow.parameters.is_empty() || !flow.persistent_state.is_empty() {
        return None;
    }
    let mut roots: Vec<ClockId> = shown.iter().map(|var| root_of(clocks, *var)).collect();
    roots.sort_unstable();
    roots.dedup();
    let may_fail = flow.equations.iter().filter(|equation| match &equation.kind {
        Kind::Apply(op, _) => op.can_fail(flow.var(equation.out).ty.scalar),
        _ => false,
    });
    let mut noticed = may_fail.map(|equation| &equation.out).chain(&flow.inputs);
    if !noticed.all(|var| roots.contains(&root_of(clocks, *var))) {
        return None;
    }
    let part = |root: &ClockId| {
        let is_own: Vec<bool> = flow.var_ids().map(|var| root_of(clocks, var) == *root).collect();
        let own = |vars: &[VarId]| -> Vec<usize> {
            (0..vars.len()).filter(|position| is_own[vars[*position].index()]).collect()
        };
        let (inputs, outputs) = (own(&flow.inputs), own(shown));
        let shown: Vec<VarId> = outputs.iter().map(|position| shown[*position]).collect();
        let equations = 0..flow.equations.len();
        let equations: Vec<usize> =
            equations.filter(|number| is_own[flow.equations[*number].out.index()]).collect();
        let flow = Flow {
            equations: equations.iter().map(|number| flow.equations[*number].clone()).collect(),
            inputs: inputs.iter().map(|position| flow.inputs[*position]).collect(),
            outputs: shown.clone(),
            ..(*flow).clone()
        };
        Part { flow, equations, inputs, outputs, shown, is_own }
    };
    Some(roots.iter().map(part).collect())
}

impl Part {
    /// The part as a program.
    pub fn source<'a>(&'a self, whole: &EngineInput<'a>) -> EngineInput<'a> {
        EngineInput { flow: &self.flow, shown: &self.shown, ..*whole }
    }

    /// A failure of the part as a failure of the program.
    fn failure(&self, failure: EngineError) -> EngineError {
        match failure {
            EngineError::Simulation(simulate::SimulationError::Operation { equation, cycle, error }) => {
                let equation = self.equations[equation];
                EngineError::Simulation(simulate::SimulationError::Operation { equation, cycle, error })
            }
            EngineError::Simulation(other @ simulate::SimulationError::Window { .. }) => {
                EngineError::Simulation(other)
            }
            EngineError::Synchronisation(cycle, equation, contradiction) => {
                let contradiction = contradiction.map(|mut contradiction| {
                    contradiction.equation = self.equations[contradiction.equation];
                    contradiction
                });
                EngineError::Synchronisation(cycle, self.equations[equation], contradiction)
            }
        }
    }
}

/// The cycle and equation of a failure: they determine which failure is the earliest.
fn place(failure: &EngineError) -> (u64, usize) {
    match failure {
        EngineError::Simulation(simulate::SimulationError::Operation { equation, cycle, .. }) => {
            (*cycle, *equation)
        }
        EngineError::Simulation(simulate::SimulationError::Window { cycle, .. }) => (*cycle, usize::MAX),
        EngineError::Synchronisation(cycle, equation, _) => (*cycle, *equation),
    }
}

/// The running parts.
pub struct Parts<'a> {
    parts: Vec<(&'a Part, Engine<'a>, VecDeque<Vec<Cell>>)>,
    n_shown: usize,
}

impl<'a> Parts<'a> {
    /// Parts before the first cycle.
    pub fn new(source: EngineInput<'a>, compilation: &'a Compilation, split: &'a Split) -> Parts<'a> {
        let first = (&split.first, Engine::compiled(split.first.source(&source), compilation));
        let others = split.others.iter();
        let others =
            others.map(|(part, compilation)| (part, Engine::new(part.source(&source), compilation.as_ref())));
        let parts = std::iter::once(first).chain(others);
        let parts = parts.map(|(part, engine)| (part, engine, VecDeque::new())).collect();
        Parts { parts, n_shown: source.shown.len() }
    }

    fn owner(&self, var: VarId) -> Option<usize> {
        self.parts.iter().position(|(part, ..)| part.is_own[var.index()])
    }

    pub fn give(&mut self, parameter: VarId, value: &Value) {
        if let Some(owner) = self.owner(parameter) {
            self.parts[owner].1.give(parameter, value);
        }
    }

    /// Whether the simulator runs a part now.
    pub fn is_simulated(&self) -> bool {
        self.parts.iter().any(|(_, engine, _)| engine.run.is_simulated())
    }

    pub fn open(&mut self, cells: &[Cell]) -> Result<(), EngineError> {
        self.each(|part, engine| {
            let own: Vec<Cell> = part.inputs.iter().map(|input| cells[*input].clone()).collect();
            engine.open(&own)
        })
    }

    pub fn end(&mut self) -> Result<(), EngineError> {
        self.each(|_, engine| engine.end())
    }

    /// Applies a function to all parts, and reports the earliest failure.
    fn each(
        &mut self,
        mut run: impl FnMut(&Part, &mut Engine<'a>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut failures = Vec::new();
        for (part, engine, found) in &mut self.parts {
            if let Err(failure) = run(part, engine) {
                failures.push(part.failure(failure));
            }
            found.extend(std::iter::from_fn(|| engine.next_row()));
        }
        failures.into_iter().min_by_key(place).map_or(Ok(()), Err)
    }

    pub fn next_row(&mut self) -> Option<Vec<Cell>> {
        if self.parts.iter().any(|(.., found)| found.is_empty()) {
            return None;
        }
        let mut row = vec![Cell::Absent; self.n_shown];
        for (part, _, found) in &mut self.parts {
            for (position, cell) in part.outputs.iter().zip(found.pop_front()?) {
                row[*position] = cell;
            }
        }
        Some(row)
    }
}
