//! A node and its derivatives on a trace: their inputs and outputs, by position (9.1).

use eddy_flow::{Equation, Flow, Kind, VarId};
use eddy_language::clocks::{Clock, Root};
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_tensor::{Scalar, Value};

use crate::generated::case::{Case, Ready, Refusal, prepared_for};
use crate::generated::engines::{NoValue, Rows, simulate};
use crate::generated::generate::Choices;
use crate::generated::harness::{SampleChoices, Trial, Verdict, law};
use crate::generated::trace::generic_value;
use crate::numbers::elements;

/// Larger numbers are not compared: rounding dominates their last digits.
const LARGE: f64 = 1e3;

/// The codes of errors about streams on several clocks: clocks, and resets of sampled recurrences.
const ONE_CLOCK: [&str; 2] = ["E0401", "E0802"];
/// The code of the error about training a recurrence without resets.
const RECURRENCE: &str = "E0801";

/// Why a law stops.
#[derive(Debug)]
pub enum Stop {
    /// The law does not apply.
    Vacuous(&'static str),
    /// The law is violated.
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

/// A law about nodes that can be differentiated.
pub fn law_of_nodes(
    name: &'static str,
    cases: u32,
    sample: impl Fn(&mut SampleChoices<'_>) -> Case,
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

/// The run of a case, if its node can be differentiated.
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

/// A node with its cells on a trace.
pub struct Run {
    pub text: String,
    /// The node, which may be synthesised.
    pub name: String,
    pub ready: Ready,
    /// The cells of all streams.
    pub rows: Rows,
    /// The sources of derivatives: the `num` inputs, then the parameters.
    pub sources: Vec<VarId>,
    /// The targets of derivatives: the `num` outputs.
    pub targets: Vec<VarId>,
}

/// The run of a derivative, and the rows that it adds to those of its node.
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
        // This also finds NaN.
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

    pub fn rows_of(&self, vars: &[VarId]) -> Rows {
        vars.iter().map(|var| self.row(*var).to_vec()).collect()
    }

    /// Runs another node of the program on these inputs. It must be accepted.
    pub fn other(&self, name: &str, inputs: Rows) -> Result<Run, Stop> {
        run_text(&self.text, name, inputs, self.ready.n_cycles)
    }

    /// Runs another node of the program on the inputs of this one and on conditions from `truth`. The node
    /// may be rejected if its streams are not all on one clock.
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

    /// A node whose conditions must be on the clock of its inputs: the law applies only if all inputs are
    /// present at the same cycles.
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

    /// Training code of a node with sampled inputs; the law applies only if the others are all present at the
    /// same cycles.
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

    /// An input on the base clock.
    fn base(&self) -> Option<&Vec<Cell>> {
        let is_root = |input: &VarId| self.ready.n_samplings(*input) == 0;
        let number = self.flow().inputs.iter().position(is_root)?;
        Some(&self.ready.inputs[number])
    }

    /// A row of Booleans on the clock of an input that N does not have.
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
        let owner_row = owner.and_then(|owner| self.ready.inputs.get(owner)).or_else(|| self.base());
        let is_there = |cycle: usize| owner_row.is_none_or(|row| row[cycle].is_present());
        let mut cell = |cycle| if is_there(cycle) { Cell::Value(Value::Bool(truth())) } else { Cell::Absent };
        Ok((0..self.ready.n_cycles).map(&mut cell).collect())
    }

    /// Runs `adj_N` with these cotangents of the targets; its rows are the cotangents of the sources.
    pub fn adjoint(&self, seeds: &Rows) -> Result<Derived, Stop> {
        self.derived("adj_", seeds)
    }

    /// Runs `tan_N` with these tangents of the sources; its rows are the tangents of the targets.
    pub fn tangent(&self, directions: &Rows) -> Result<Derived, Stop> {
        self.derived("tan_", directions)
    }

    fn derived(&self, prefix: &str, given: &Rows) -> Result<Derived, Stop> {
        let inputs = [self.ready.inputs.clone(), given.clone()].concat();
        let run = self.other(&format!("{prefix}{}", self.name), inputs)?;
        let rows = run.rows_of(&run.flow().outputs[self.flow().outputs.len()..]);
        Ok(Derived { run, rows })
    }

    /// Weights for the targets: zero where a target is unknown, so that it does not count.
    pub fn seeds(&self, choices: &mut Choices<'_>) -> Rows {
        let targets = self.rows_of(&self.targets);
        self.like(&self.targets, &targets, choices)
    }

    /// A direction for the sources: zero where their cotangents are unknown.
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

    /// Zeros on the clocks of these streams.
    pub fn zeros(&self, vars: &[VarId]) -> Rows {
        let row =
            |var: &VarId| self.row(*var).iter().map(|cell| zero_if_present(cell, &self.zero(*var))).collect();
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
                other => zero_if_present(other, &self.zero(*var)),
            };
            row.iter().map(&mut cell).collect()
        };
        vars.iter().zip(rows).map(row).collect()
    }
}

/// Zero where a stream is present.
fn zero_if_present(cell: &Cell, zero: &Value) -> Cell {
    if cell.is_present() { Cell::Value(zero.clone()) } else { cell.clone() }
}

/// Runs a node, which must be accepted, on these inputs.
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
