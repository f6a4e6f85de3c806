//! Test benches: `run f { x: 1 2 3; }` (sections 1 and 11).
//!
//! * [`options`]: what the words after the node's name ask for.
//! * [`inputs`]: rows of cells as values of the inputs' types.
//! * [`output`]: what is printed of the result.

mod inputs;
mod options;
mod output;

use std::fmt;

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use crate::cell::Cell;
use crate::chronogram::Chart;
use crate::chronogram::text::table;
use crate::codes;
use crate::denote::Denotation;
use crate::elaborate::{Given, Interface, interface};
use crate::errors;
use crate::flow::VarId;
use crate::kahn;
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Callable, Program};
use crate::simulate::{self, Simulation};
use crate::tree::{Run, Semantics};
use inputs::Rows;

pub use options::{RunOptions, Wishes};
pub use output::{JsonLine, json_line};

/// So many cells are kept at most, of all streams and cycles of a test bench; about a gibibyte.
const MAX_CELLS: usize = 1 << 26;

/// Checks a test bench without running it.
pub fn check(program: &Program, run: &Run) -> Result<(), Vec<Diagnostic>> {
    Bench::new(program, run, &Wishes::default())?.shown().map(|_| ())
}

/// What a test bench runs.
pub struct Ready {
    /// The node.
    pub prepared: Prepared,
    /// A row of cells for each of its inputs.
    pub inputs: Vec<Vec<Cell>>,
    /// How many cycles.
    pub n_cycles: usize,
}

/// What a test bench runs; nothing if it asks for something else than the operational semantics of checked programs.
pub fn ready(program: &Program, run: &Run) -> Result<Option<Ready>, Vec<Diagnostic>> {
    let Bench { prepared, options, n_cycles, inputs, .. } = Bench::new(program, run, &Wishes::default())?;
    let is_usual =
        !options.unchecked && !options.strict && options.semantics != Semantics::Kahn && options.seed == 0;
    Ok(is_usual.then_some(Ready { prepared, inputs, n_cycles }))
}

/// Runs a test bench and returns its picture.
pub fn chart(program: &Program, run: &Run, wishes: &Wishes) -> Result<Chart, Vec<Diagnostic>> {
    Bench::new(program, run, wishes)?.chart()
}

/// Runs a test bench and returns what it prints, and warnings about cells that stay unknown for ever.
pub fn execute(
    program: &Program,
    run: &Run,
    wishes: &Wishes,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let bench = Bench::new(program, run, wishes)?;
    let warnings = bench.prepared.deadlocks().collect();
    Ok((bench.execute()?, warnings))
}

/// Runs a node on rows of cells, one for each input, and returns what it prints.
pub fn execute_cells(
    program: &Program,
    callable: &Callable,
    interface: Interface,
    prepared: Prepared,
    options: RunOptions,
    inputs: Vec<Vec<Cell>>,
) -> Result<String, Vec<Diagnostic>> {
    let n_cycles = options.n_cycles.unwrap_or(0);
    fits(n_cycles, &prepared, program.span_of(callable))?;
    let title = program.name_of(callable);
    Bench { title, interface, prepared, options, n_cycles, inputs }.execute()
}

/// All cells of a run are kept, so there may not be too many.
fn fits(n_cycles: usize, prepared: &Prepared, span: Span) -> Result<(), Vec<Diagnostic>> {
    if n_cycles.saturating_mul(prepared.flow.vars.len()) <= MAX_CELLS {
        return Ok(());
    }
    let title = format!("a run of {n_cycles} cycles would fill more than {MAX_CELLS} cells");
    let help = "all its cells are kept; `eddy run FILE --node NAME --cycles N` forgets what is complete";
    Err(vec![Diagnostic::error(codes::TOO_MANY_CELLS, span, title).help(help)])
}

/// A test bench that is ready.
struct Bench {
    title: String,
    interface: Interface,
    prepared: Prepared,
    options: RunOptions,
    n_cycles: usize,
    /// A row of cells for each input.
    inputs: Vec<Vec<Cell>>,
}

impl Bench {
    fn new(program: &Program, run: &Run, wishes: &Wishes) -> Result<Self, Vec<Diagnostic>> {
        let module = &program.modules[Program::MAIN];
        let options = RunOptions::new(run, &module.names, wishes);
        let callable = program.find(module.names.text(run.node.name), run.node.span)?;
        let rows = Rows::new(program, run, &callable)?;
        let interface = interface(program, &callable, &rows.constants)?;
        rows.check_names(&program.name_of(&callable), program.span_of(&callable), &interface)?;
        let shown: FxHashSet<String> = options.show.iter().map(|(name, _)| name.clone()).collect();
        let given = Given { constants: rows.constants.clone(), shown, ..Given::default() };
        let checks = if options.unchecked { Checks::Off } else { Checks::On };
        let prepared = prepare(program, &callable, &given, |draft| rows.hints(draft), checks)?;
        let n_cycles = options.n_cycles.unwrap_or(rows.n_cycles());
        fits(n_cycles, &prepared, run.node.span)?;
        let inputs = rows.cells(&prepared.flow, n_cycles)?;
        let title = program.name_of(&callable);
        Ok(Bench { title, interface, prepared, options, n_cycles, inputs })
    }

    fn execute(&self) -> Result<String, Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let shown = self.shown()?;
        let mut text = String::new();
        if self.options.trace {
            let mut denotation = self.denotation();
            let outcome = denotation.iterate(&mut text).expect("a string takes all that is written");
            let look_ahead = outcome.map_err(|failure| {
                vec![errors::operation(flow, failure.equation, failure.cycle as u64, failure.error)]
            })?;
            self.stats(look_ahead as u64, &mut text);
            return Ok(text);
        }
        if self.options.semantics == Semantics::Kahn {
            return self.kahn(&shown);
        }
        let (rows, look_ahead) = match self.options.semantics {
            Semantics::Denotational => self.denote(&shown)?,
            _ => self.simulate(&shown)?,
        };
        if self.options.chrono {
            let inputs =
                flow.inputs.iter().map(|input| flow.var(*input).name.as_deref().expect("inputs have names"));
            let names = inputs.chain(shown.iter().map(|(name, _)| name.as_str()));
            let rows: Vec<(&str, &[Cell])> = names.zip(rows.iter().map(Vec::as_slice)).collect();
            text.push_str(&table(&rows, self.n_cycles, self.options.width));
        } else {
            for cycle in 0..self.n_cycles {
                let cells = shown
                    .iter()
                    .zip(&rows[flow.inputs.len()..])
                    .map(|((name, _), row)| (name.as_str(), &row[cycle]));
                text.push_str(&json_line(cells));
            }
        }
        self.stats(look_ahead, &mut text);
        Ok(text)
    }

    /// The picture of the run, by the semantics that it asks for.
    fn chart(&self) -> Result<Chart, Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let all: Vec<(String, VarId)> = flow.var_ids().map(|var| (String::new(), var)).collect();
        let (rows, _) = match self.options.semantics {
            Semantics::Denotational => self.denote(&all)?,
            _ => self.simulate(&all)?,
        };
        let rows = &rows[flow.inputs.len()..];
        let cell = |var: VarId, cycle: usize| rows[var.index()][cycle].clone();
        Ok(Chart::of_run(&self.title, flow, &self.prepared.clocks, self.n_cycles, cell))
    }

    fn stats(&self, look_ahead: u64, text: &mut String) {
        use fmt::Write;
        if self.options.stats {
            writeln!(text, "# look-ahead used: {look_ahead}").expect("a string takes all that is written");
        }
    }

    /// What is printed: outputs, or what `show` asks for.
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

    /// The rows of the inputs, then of what is shown; and how far ahead the outputs looked.
    fn denote(&self, shown: &[(String, VarId)]) -> Result<(Vec<Vec<Cell>>, u64), Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        let mut denotation = self.denotation();
        let look_ahead = if self.options.stats {
            denotation
                .iterate(&mut String::new())
                .expect("a string takes all that is written")
                .map(|k| k as u64)
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
        let failed = |failure: simulate::Failure| vec![errors::simulation(flow, &failure)];
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

    fn kahn(&self, shown: &[(String, VarId)]) -> Result<String, Vec<Diagnostic>> {
        let flow = &self.prepared.flow;
        // Absent cells are dropped; a list ends where nothing is known.
        let known = |row: &Vec<Cell>| {
            let cells = row.iter().filter(|cell| **cell != Cell::Absent);
            cells.map_while(Cell::value).cloned().collect::<Vec<_>>()
        };
        let inputs: Vec<_> = self.inputs.iter().map(known).collect();
        let lists = kahn::lists(flow, &inputs, self.n_cycles, self.options.seed)
            .map_err(|failure| vec![errors::kahn(flow, &failure)])?;
        let shown = shown.iter().map(|(name, var)| (name.as_str(), lists[var.index()].as_slice()));
        Ok(output::json_lists(shown))
    }
}
