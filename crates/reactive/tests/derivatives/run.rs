//! A node that was run, and its derivatives: what they are given and what they say, by position (9.1).

use eddy_reactive::cell::Cell;
use eddy_reactive::clocks::{Clock, Root};
use eddy_reactive::flow::{Equation, Flow, Kind, VarId};
use eddy_reactive::prepare::Prepared;
use eddy_tensor::{Scalar, Value};

use crate::generated::case::{Case, Ready, Refusal, prepared_for};
use crate::generated::engines::{NoValue, Rows, simulate};
use crate::generated::generate::Choices;
use crate::generated::harness::{Source, Trial, Verdict, law};
use crate::generated::trace::generic_value;
use crate::numbers::elements;

/// Numbers above this are left alone: their last digits say nothing about derivatives.
const LARGE: f64 = 1e3;

/// The codes of what is wrong where streams are on several clocks: clocks, and weaving into sampled ones.
const ONE_CLOCK: [&str; 2] = ["E0401", "E0802"];
/// The code of what is wrong where a recurrence is trained that nothing resets.
const RECURRENCE: &str = "E0801";

/// Why a law goes no further.
#[derive(Debug)]
pub enum Stop {
    /// It says nothing here.
    Vacuous(&'static str),
    /// It is broken.
    Broken(String),
}

impl From<String> for Stop {
    fn from(broken: String) -> Stop {
        Stop::Broken(broken)
    }
}

impl From<NoValue> for Stop {
    fn from(_: NoValue) -> Stop {
        Stop::Vacuous("no value")
    }
}

/// A law about nodes that have something to differentiate.
pub fn law_of_nodes(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut Source<'_>) -> Case,
    holds: impl Fn(&Case, &Run) -> Result<(), Stop>,
) {
    law(name, cases, sample, |case| verdict(run_of(case).and_then(|run| holds(case, &run))));
}

fn verdict(outcome: Result<(), Stop>) -> Trial {
    match outcome {
        Ok(()) => Ok(Verdict::Holds),
        Err(Stop::Vacuous(reason)) => Ok(Verdict::Vacuous(reason)),
        Err(Stop::Broken(broken)) => Err(broken),
    }
}

/// The run of a case, if its node has something to differentiate.
pub fn run_of(case: &Case) -> Result<Run, Stop> {
    let ready = match &case.outcome {
        Ok(ready) => ready,
        Err(Refusal::Causality) => return Err(Stop::Vacuous("waits for itself")),
        Err(Refusal::Arithmetic) => return Err(Stop::Vacuous("no value")),
        Err(Refusal::Other(message)) => return Err(Stop::Broken(format!("not accepted: {message}"))),
    };
    let run = Run::new(&case.program.text(), case.program.main().name, ready.clone())?;
    let has_value =
        |vars: &[VarId]| vars.iter().flat_map(|var| run.row(*var)).any(|cell| cell.value().is_some());
    if !has_value(&run.sources) || !has_value(&run.targets) {
        return Err(Stop::Vacuous("nothing to differentiate"));
    }
    Ok(run)
}

/// A node that was run.
pub struct Run {
    /// The program.
    pub text: String,
    /// The node, which may be a synthesised one.
    pub name: String,
    pub ready: Ready,
    /// The cells of all streams.
    pub rows: Rows,
    /// What derivatives are taken with respect to: the `num` inputs, then the parameters.
    pub sources: Vec<VarId>,
    /// What derivatives are taken of: the `num` outputs.
    pub targets: Vec<VarId>,
}

/// A derivative that was run, and the rows that it adds to those of its node.
pub struct Derived {
    pub run: Run,
    pub rows: Rows,
}

/// The parameters, in flattening order.
pub fn parameters(flow: &Flow) -> impl Iterator<Item = &Equation> {
    flow.equations.iter().filter(|equation| matches!(equation.kind, Kind::Param(_)))
}

impl Run {
    pub fn new(text: &str, name: &str, ready: Ready) -> Result<Run, Stop> {
        let rows = simulate(&ready)?;
        let flow = ready.flow();
        let is_num = |var: &VarId| flow.var(*var).ty.scalar == Scalar::Num;
        let parameters = parameters(flow).map(|equation| equation.out);
        let sources = flow.inputs.iter().copied().filter(is_num).chain(parameters).collect();
        let targets = flow.outputs.iter().copied().filter(is_num).collect();
        let run = Run { text: text.to_string(), name: name.to_string(), rows, sources, targets, ready };
        let numbers = run.rows.iter().flatten().filter_map(Cell::value).flat_map(elements);
        // This also finds what is not a number.
        if !numbers.into_iter().all(|number| number.abs() < LARGE) {
            return Err(Stop::Vacuous("large numbers"));
        }
        Ok(run)
    }

    pub fn flow(&self) -> &Flow {
        self.ready.flow()
    }

    pub fn row(&self, var: VarId) -> &[Cell] {
        &self.rows[var.index()]
    }

    /// The rows of some streams.
    pub fn rows_of(&self, vars: &[VarId]) -> Rows {
        vars.iter().map(|var| self.row(*var).to_vec()).collect()
    }

    /// Another node of the program on these inputs. It must be accepted.
    pub fn other(&self, name: &str, inputs: Rows) -> Result<Run, Stop> {
        run_text(&self.text, name, inputs, self.ready.n_cycles)
    }

    /// Another node of the program on the inputs of this one and on truth values that `truth` decides. The node may be refused where
    /// its streams are not all on one clock.
    pub fn with_signals(
        &self,
        name: &str,
        n_signals: usize,
        mut truth: impl FnMut() -> bool,
    ) -> Result<Run, Stop> {
        let prepared = self.prepared_on_one_clock(name)?;
        let mut inputs = self.ready.inputs.clone();
        for _ in 0..n_signals {
            inputs.push(self.signal(&prepared, inputs.len(), &mut truth)?);
        }
        Run::new(&self.text, name, Ready { prepared, inputs, n_cycles: self.ready.n_cycles })
    }

    /// A node whose signals must be as fast as its inputs: these are all there at the same cycles, or the law says nothing.
    pub fn prepared_on_one_clock(&self, name: &str) -> Result<Prepared, Stop> {
        let several = Err(Stop::Vacuous("several clocks"));
        let is_there = |row: &Vec<Cell>| row.iter().map(Cell::is_present).collect::<Vec<_>>();
        if self.ready.inputs.iter().any(|row| Some(is_there(row)) != self.base().map(is_there)) {
            return several;
        }
        prepared_for(&self.text, name, &self.ready.inputs).or_else(|refusal| match refusal {
            Refusal::Causality => Err(Stop::Vacuous("waits for itself")),
            Refusal::Other(message) if ONE_CLOCK.iter().any(|code| message.starts_with(code)) => several,
            Refusal::Other(message) if message.starts_with(RECURRENCE) => Err(Stop::Vacuous("a recurrence")),
            refusal => Err(Stop::Broken(format!("`{name}` is refused: {refusal:?}\n{}", self.text))),
        })
    }

    /// Training code of a node whose inputs may be sampled; those that are not are all there at the same cycles, or the law says nothing.
    pub fn prepared_on_one_root(&self, name: &str) -> Result<Prepared, Stop> {
        let is_there = |row: &Vec<Cell>| row.iter().map(Cell::is_present).collect::<Vec<_>>();
        let on_roots = self.flow().inputs.iter().zip(&self.ready.inputs);
        let mut on_roots = on_roots.filter(|(input, _)| self.ready.n_samplings(**input) == 0);
        if on_roots.any(|(_, row)| Some(is_there(row)) != self.base().map(is_there)) {
            return Err(Stop::Vacuous("several roots"));
        }
        prepared_for(&self.text, name, &self.ready.inputs).map_err(|refusal| match refusal {
            Refusal::Causality => Stop::Vacuous("waits for itself"),
            refusal => Stop::Broken(format!("`{name}` is refused: {refusal:?}\n{}", self.text)),
        })
    }

    /// An input on the base.
    fn base(&self) -> Option<&Vec<Cell>> {
        let is_root = |input: &VarId| self.ready.n_samplings(*input) == 0;
        let number = self.flow().inputs.iter().position(is_root)?;
        Some(&self.ready.inputs[number])
    }

    /// A row of truth values on the clock of an input that N does not have.
    pub fn signal(
        &self,
        prepared: &Prepared,
        input: usize,
        mut truth: impl FnMut() -> bool,
    ) -> Result<Vec<Cell>, Stop> {
        let (flow, clocks) = (&prepared.flow, &prepared.clocks);
        let Clock::Root(Root::Input(owner)) = clocks.clock(clocks.of(flow.inputs[input])) else {
            return Err(Stop::Vacuous("several clocks"));
        };
        let owner = flow.inputs.iter().position(|other| *other == owner);
        let beside = owner.and_then(|owner| self.ready.inputs.get(owner)).or_else(|| self.base());
        let is_there = |cycle: usize| beside.is_none_or(|row| row[cycle].is_present());
        let mut cell = |cycle| if is_there(cycle) { Cell::Value(Value::Bool(truth())) } else { Cell::Absent };
        Ok((0..self.ready.n_cycles).map(&mut cell).collect())
    }

    /// `adj_N`, given cotangents of the targets; its rows are the cotangents of the sources.
    pub fn adjoint(&self, seeds: &Rows) -> Result<Derived, Stop> {
        self.derived("adj_", seeds)
    }

    /// `tan_N`, given tangents of the sources; its rows are the tangents of the targets.
    pub fn tangent(&self, directions: &Rows) -> Result<Derived, Stop> {
        self.derived("tan_", directions)
    }

    fn derived(&self, prefix: &str, given: &Rows) -> Result<Derived, Stop> {
        let inputs = [self.ready.inputs.clone(), given.clone()].concat();
        let run = self.other(&format!("{prefix}{}", self.name), inputs)?;
        let rows = run.rows_of(&run.flow().outputs[self.flow().outputs.len()..]);
        Ok(Derived { run, rows })
    }

    /// Weights for the targets: zero where the value of a target is not known, so that it does not count.
    pub fn seeds(&self, choices: &mut Choices<'_>) -> Rows {
        let targets = self.rows_of(&self.targets);
        self.like(&self.targets, &targets, choices)
    }

    /// A direction for the sources: zero where their cotangents are not known.
    pub fn directions(&self, cotangents: &Rows, choices: &mut Choices<'_>) -> Rows {
        let sources = self.rows_of(&self.sources);
        let known = sources.iter().zip(cotangents).map(|(source, cotangent)| {
            let known = |(source, cotangent): (&Cell, &Cell)| match cotangent {
                Cell::Value(_) => source.clone(),
                _ if source.is_present() => Cell::Present,
                _ => source.clone(),
            };
            source.iter().zip(cotangent).map(known).collect()
        });
        let known: Rows = known.collect();
        self.like(&self.sources, &known, choices)
    }

    /// Zeros beside these streams.
    pub fn zeros(&self, vars: &[VarId]) -> Rows {
        let row =
            |var: &VarId| self.row(*var).iter().map(|cell| zero_beside(cell, &self.zero(*var))).collect();
        vars.iter().map(row).collect()
    }

    fn zero(&self, var: VarId) -> Value {
        Value::zeros(&self.flow().var(var).ty)
    }

    /// Rows of numbers on the clocks of some streams; zeros where only presence is known.
    fn like(&self, vars: &[VarId], rows: &Rows, choices: &mut Choices<'_>) -> Rows {
        let row = |(var, row): (&VarId, &Vec<Cell>)| {
            let mut cell = |cell: &Cell| match cell {
                Cell::Value(_) => Cell::Value(generic_value(&self.flow().var(*var).ty, choices)),
                other => zero_beside(other, &self.zero(*var)),
            };
            row.iter().map(&mut cell).collect()
        };
        vars.iter().zip(rows).map(row).collect()
    }
}

/// Zero where a stream is there.
fn zero_beside(cell: &Cell, zero: &Value) -> Cell {
    if cell.is_present() { Cell::Value(zero.clone()) } else { cell.clone() }
}

/// A node that must be accepted, on these inputs.
pub fn run_text(text: &str, name: &str, inputs: Rows, n_cycles: usize) -> Result<Run, Stop> {
    let prepared = prepared_for(text, name, &inputs)
        .map_err(|refusal| Stop::Broken(format!("`{name}` is refused: {refusal:?}\n{text}")))?;
    Run::new(text, name, Ready { prepared, inputs, n_cycles }).map_err(|stop| about(stop, name))
}

fn about(stop: Stop, name: &str) -> Stop {
    match stop {
        Stop::Broken(broken) => Stop::Broken(format!("`{name}`: {broken}")),
        skipped @ Stop::Vacuous(_) => skipped,
    }
}
