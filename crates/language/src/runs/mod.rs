//! Executes test benches: `run f { x: 1 2 3; }` (sections 1 and 11).
//!
//! * [`options`]: the options after the node's name.
//! * [`inputs`]: rows of cells as values of the inputs' types.
//! * [`expected`]: the cells that a bench expects, `expect o: 1 2;`.
//! * [`output`]: the results of a run, and how they are printed.

mod expected;
mod inputs;
mod options;
mod output;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use crate::chronogram::{Chart, is_own_stream};
use crate::codes;
use crate::elaborate::{ElaborationOptions, Interface, interface, probes};
use crate::flow::{Name, VarId};
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Callable, Enumerations, Program};
use crate::semantics::Cell;
use crate::semantics::denote::Denotation;
use crate::semantics::errors;
use crate::semantics::kahn;
use crate::semantics::simulate::{self, Simulation};
use crate::tree::{Run, Semantics};
use expected::Expected;
use inputs::Rows;

pub use expected::{TOLERANCE, Tested};
pub use options::{RunOptions, RunOverrides};
pub use output::{Found, JsonLine, Ran, json_line, rounded};

/// The largest number of cells, over all streams and cycles, that a test bench may keep; about a gibibyte.
const MAX_CELLS: usize = 1 << 26;

pub fn check(program: &Program, run: &Run) -> Result<(), Vec<Diagnostic>> {
    Bench::new(program, run, &RunOverrides::default())?.shown().map(|_| ())
}

/// A test bench that is ready to run.
pub struct Ready {
    pub prepared: Prepared,
    /// A row of cells for each input of the node.
    pub inputs: Vec<Vec<Cell>>,
    pub n_cycles: usize,
}

/// Prepares a test bench; returns `None` if its options select anything else than the operational semantics
/// of a checked program.
pub fn ready(program: &Program, run: &Run) -> Result<Option<Ready>, Vec<Diagnostic>> {
    let Bench { prepared, options, n_cycles, inputs, .. } =
        Bench::new(program, run, &RunOverrides::default())?;
    let is_usual =
        !options.unchecked && !options.strict && options.semantics != Semantics::Kahn && options.seed == 0;
    Ok(is_usual.then_some(Ready { prepared, inputs, n_cycles }))
}

/// Runs a test bench and returns its chronogram.
pub fn chart(program: &Program, run: &Run, overrides: &RunOverrides) -> Result<Chart, Vec<Diagnostic>> {
    Bench::new(program, run, overrides)?.chart()
}

/// Runs a test bench. Returns its output, and warnings about cells that stay unknown forever.
pub fn execute(
    program: &Program,
    run: &Run,
    overrides: &RunOverrides,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    self::run(program, run, overrides).map(|(ran, warnings)| (ran.text(overrides.width), warnings))
}

/// As [`execute`], with the results instead of their text.
pub fn run(
    program: &Program,
    run: &Run,
    overrides: &RunOverrides,
) -> Result<(Ran, Vec<Diagnostic>), Vec<Diagnostic>> {
    let bench = Bench::new(program, run, overrides)?;
    let warnings = bench.prepared.deadlocks().collect();
    Ok((bench.run()?, warnings))
}

/// Runs a test bench and compares it with the cells that it expects; `None` if it expects none.
pub fn test(
    program: &Program,
    run: &Run,
    overrides: &RunOverrides,
    tolerance: f64,
) -> Result<Option<Tested>, Vec<Diagnostic>> {
    let bench = Bench::new(program, run, overrides)?;
    if bench.expected.is_empty() {
        return Ok(None);
    }
    let streams: Vec<(String, VarId)> =
        bench.expected.iter().map(|(expected, var)| (expected.name.clone(), *var)).collect();
    let (rows, _) = match bench.options.semantics {
        Semantics::Denotational => bench.denote(&streams)?,
        _ => bench.simulate(&streams)?,
    };
    let found = &rows[bench.prepared.flow.inputs.len()..];
    let failures = bench
        .expected
        .iter()
        .zip(found)
        .filter_map(|((expected, _), found)| expected.difference(found, tolerance))
        .collect();
    let n_cells = bench.expected.iter().map(|(expected, _)| expected.cells.len()).sum();
    Ok(Some(Tested { node: bench.title.clone(), span: run.span, n_cells, failures }))
}

/// Runs a node on rows of cells, one for each input.
pub fn run_cells(
    program: &Program,
    callable: &Callable,
    interface: Interface,
    prepared: Prepared,
    options: RunOptions,
    inputs: Vec<Vec<Cell>>,
) -> Result<Ran, Vec<Diagnostic>> {
    let n_cycles = options.n_cycles.unwrap_or(0);
    check_cell_limit(n_cycles, &prepared, program.span_of(callable))?;
    let title = program.name_of(callable);
    let enumerations = enumerations(program, callable, &interface, &options);
    let expected = Vec::new();
    Bench { title, interface, prepared, options, n_cycles, inputs, enumerations, expected }.run()
}

/// Reports a run with too many cells, since all of them are kept.
fn check_cell_limit(n_cycles: usize, prepared: &Prepared, span: Span) -> Result<(), Vec<Diagnostic>> {
    if n_cycles.saturating_mul(prepared.flow.vars.len()) <= MAX_CELLS {
        return Ok(());
    }
    let title = format!("a run of {n_cycles} cycles would fill more than {MAX_CELLS} cells");
    let help = "a test bench keeps all cells; `eddy run FILE --node NAME --cycles N` drops completed cycles";
    Err(vec![Diagnostic::error(codes::TOO_MANY_CELLS, span, title).help(help)])
}

/// The enumerations among the printed streams of a run.
fn enumerations(
    program: &Program,
    callable: &Callable,
    interface: &Interface,
    options: &RunOptions,
) -> Enumerations {
    let ports = interface.inputs.iter().chain(&interface.outputs).map(|port| port.name.as_str());
    let shown = options.show.iter().map(|(name, _)| name.as_str());
    program.enumerations(callable, ports.chain(shown))
}

struct Bench {
    title: String,
    interface: Interface,
    prepared: Prepared,
    options: RunOptions,
    n_cycles: usize,
    /// A row of cells for each input.
    inputs: Vec<Vec<Cell>>,
    enumerations: Enumerations,
    /// The cells that streams must have.
    expected: Vec<(Expected, VarId)>,
}

impl Bench {
    fn new(program: &Program, run: &Run, overrides: &RunOverrides) -> Result<Self, Vec<Diagnostic>> {
        let module = &program.modules[Program::MAIN];
        let mut options = RunOptions::new(run, &module.names, overrides);
        let mut callable = program.find(module.names.text(run.node.name), run.node.span)?;
        let composed = program.benches.get(&run.span);
        if let Some(bench) = composed {
            callable.base = bench.base_of(callable.base);
        }
        let leaves = |(name, span): &(String, Span)| -> Vec<(String, Span)> {
            program.leaves_of(&callable, name).into_iter().map(|leaf| (leaf, *span)).collect()
        };
        options.show = options.show.iter().flat_map(leaves).collect();
        let rows = Rows::new(program, run, &callable, composed)?;
        let interface = interface(program, &callable, &rows.constants)?;
        rows.check_names(&program.name_of(&callable), program.span_of(&callable), &interface)?;
        let defaults = program.defaults_of(&callable).into_iter().filter(|name| !rows.has_cells(name));
        let mut given = ElaborationOptions {
            constants: rows.constants.clone(),
            defaults: defaults.collect(),
            ..ElaborationOptions::default()
        };
        if options.probe {
            let probes = probes(program, &callable, &given)?;
            if options.show.is_empty() {
                let outputs = interface.outputs.iter().map(|port| port.name.clone());
                options.show.extend(outputs.map(|name| (name, run.node.span)));
            }
            for name in probes {
                if !options.show.iter().any(|(other, _)| *other == name) {
                    options.show.push((name, run.node.span));
                }
            }
        }
        let expected = rows.expected.iter().map(|row| row.name.as_str());
        given.shown =
            options.show.iter().map(|(name, _)| name.as_str()).chain(expected).map(Name::from).collect();
        let checks = if options.unchecked { Checks::Off } else { Checks::On };
        let prepared = prepare(program, &callable, &given, |draft| rows.hints(draft), checks)?;
        let n_cycles = options.n_cycles.unwrap_or(rows.n_cycles());
        check_cell_limit(n_cycles, &prepared, run.node.span)?;
        let mut enumerations = enumerations(program, &callable, &interface, &options);
        let own = prepared.flow.vars.iter().filter_map(|var| var.name.as_deref());
        enumerations.extend(program.enumerations(&callable, own.filter(|name| is_own_stream(name))));
        let inputs = rows.cells(&prepared.flow, n_cycles, &enumerations)?;
        let title = program.name_of(&callable);
        let mut expected = Vec::new();
        for row in &rows.expected {
            let flow = &prepared.flow;
            let output = interface.outputs.iter().position(|port| port.name == row.name);
            let var = output.map(|output| flow.outputs[output]).or_else(|| flow.find(&row.name));
            let var = var.ok_or_else(|| vec![errors::unknown_stream(flow, &row.name, row.span)])?;
            let cases = program.enumerations(&callable, std::iter::once(row.name.as_str()));
            let cases = cases.get(&row.name).map(Vec::as_slice);
            let cells = rows.expected_cells(flow, var, row, cases)?;
            expected.push((Expected { name: row.name.clone(), span: row.span, cells }, var));
        }
        Ok(Bench { title, interface, prepared, options, n_cycles, inputs, enumerations, expected })
    }

    fn run(&self) -> Result<Ran, Vec<Diagnostic>> {
        let (found, look_ahead) = self.found()?;
        Ok(Ran {
            node: self.title.clone(),
            n_cycles: self.n_cycles,
            found,
            enumerations: self.enumerations.clone(),
            is_table: self.options.chrono,
            digits: None,
            look_ahead: look_ahead.filter(|_| self.options.stats),
        })
    }

    /// The results of the run, and how far ahead the outputs looked; Kahn's lists have no such number.
    fn found(&self) -> Result<(Found, Option<u64>), Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let shown = self.shown()?;
        if self.options.trace {
            let (mut denotation, mut text) = (self.denotation(), String::new());
            let outcome = denotation.iterate(&mut text).expect("writing to a string succeeds");
            let look_ahead = outcome.map_err(|failure| {
                vec![errors::operation(flow, failure.equation, failure.cycle as u64, failure.error)]
            })?;
            return Ok((Found::Iterates(text), Some(look_ahead as u64)));
        }
        if self.options.semantics == Semantics::Kahn {
            return Ok((Found::Lists(self.kahn(&shown)?), None));
        }
        let (rows, look_ahead) = match self.options.semantics {
            Semantics::Denotational => self.denote(&shown)?,
            _ => self.simulate(&shown)?,
        };
        let input = |var: &VarId| flow.var(*var).name.as_deref().expect("inputs have names").to_string();
        let names = flow.inputs.iter().map(input).chain(shown.into_iter().map(|(name, _)| name));
        let mut inputs: Vec<(String, Vec<Cell>)> = names.zip(rows).collect();
        let shown = inputs.split_off(flow.inputs.len());
        Ok((Found::Cells { inputs, shown }, Some(look_ahead)))
    }

    /// The chronogram of the run, by the semantics that its options select.
    fn chart(&self) -> Result<Chart, Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let all: Vec<(String, VarId)> = flow.var_ids().map(|var| (String::new(), var)).collect();
        let (rows, _) = match self.options.semantics {
            Semantics::Denotational => self.denote(&all)?,
            _ => self.simulate(&all)?,
        };
        let rows = &rows[flow.inputs.len()..];
        let cell = |var: VarId, cycle: usize| rows[var.index()][cycle].clone();
        let clocks = &self.prepared.clocks;
        Ok(Chart::of_run(&self.title, flow, clocks, self.n_cycles, &self.enumerations, cell))
    }

    /// The printed streams: outputs, or those in `show`.
    fn shown(&self) -> Result<Vec<(String, VarId)>, Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        if self.options.show.is_empty() {
            let names = self.interface.outputs.iter().map(|port| port.name.clone());
            return Ok(names.zip(flow.outputs.iter().copied()).collect());
        }
        let find = |(name, span): &(String, Span)| match flow.find(name) {
            Some(var) => Ok((name.clone(), var)),
            None => Err(vec![errors::unknown_stream(flow, name, *span)]),
        };
        self.options.show.iter().map(find).collect()
    }

    fn denotation(&self) -> Denotation<'_> {
        Denotation::new(
            &self.prepared.flow,
            &self.prepared.clocks,
            &self.inputs,
            self.n_cycles,
            self.options.seed,
        )
    }

    /// The rows of the inputs followed by those of `shown`, and how far ahead the outputs looked.
    fn denote(&self, shown: &[(String, VarId)]) -> Result<(Vec<Vec<Cell>>, u64), Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let mut denotation = self.denotation();
        let look_ahead = if self.options.stats {
            denotation.iterate(&mut String::new()).expect("writing to a string cannot fail").map(|k| k as u64)
        } else {
            denotation.solve().map(|()| 0)
        };
        let look_ahead = look_ahead.map_err(|failure| {
            vec![errors::operation(flow, failure.equation, failure.cycle as u64, failure.error)]
        })?;
        let vars = flow.inputs.iter().copied().chain(shown.iter().map(|(_, var)| *var));
        Ok((vars.map(|var| denotation.row(var).to_vec()).collect(), look_ahead))
    }

    fn simulate(&self, shown: &[(String, VarId)]) -> Result<(Vec<Vec<Cell>>, u64), Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let options = simulate::Options {
            strict: self.options.strict,
            seed: self.options.seed,
            max_window: self.options.max_window,
            single: false,
        };
        let mut simulation = Simulation::new(flow, &self.prepared.clocks, options);
        let failed = |failure: simulate::SimulationError| vec![errors::simulation(flow, &failure)];
        for cycle in 0..self.n_cycles {
            let cells: Vec<Cell> = self.inputs.iter().map(|row| row[cycle].clone()).collect();
            if cycle + 1 == self.n_cycles {
                simulation.open_last(&cells).map_err(failed)?;
            } else {
                simulation.open(&cells).map_err(failed)?;
            }
            if !self.options.unchecked
                && let Some((cycle, equation)) = simulation.first_error()
            {
                return Err(vec![errors::synchronisation(flow, equation, cycle, simulation.contradiction())]);
            }
        }
        let vars: Vec<VarId> = flow.inputs.iter().copied().chain(shown.iter().map(|(_, var)| *var)).collect();
        let row = |var: &VarId| {
            (0..self.n_cycles).map(|cycle| simulation.cell(cycle as u64, *var).clone()).collect()
        };
        Ok((vars.iter().map(row).collect(), simulation.look_ahead()))
    }

    fn kahn(&self, shown: &[(String, VarId)]) -> Result<Vec<(String, Vec<Value>)>, Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        // Absent cells are dropped; a list ends at the first unknown cell.
        let known = |row: &Vec<Cell>| {
            let cells = row.iter().filter(|cell| **cell != Cell::Absent);
            cells.map_while(Cell::value).cloned().collect::<Vec<_>>()
        };
        let inputs: Vec<_> = self.inputs.iter().map(known).collect();
        let lists = kahn::lists(flow, &inputs, self.n_cycles, self.options.seed)
            .map_err(|failure| vec![errors::kahn(flow, &failure)])?;
        Ok(shown.iter().map(|(name, var)| (name.clone(), lists[var.index()].clone())).collect())
    }
}
