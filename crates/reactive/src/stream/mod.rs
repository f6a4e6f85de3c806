//! One node on streams of data: `eddy run FILE --node N --in data.jsonl` (section 11).
//!
//! Each cycle is printed as soon as it and all before it are decided, and forgotten when everything in it is known; so an
//! endless pipe runs in the memory of its window. Types may depend on the first values of the inputs, which are therefore read
//! before the program is prepared ([`peek`]). With `--batch`, several such streams run at once ([`mod@batch`]).

mod batch;
mod columns;
mod demand;
mod peek;
mod shadow;

use std::fmt;

use eddy_language::{Data, Options, Out, Verdict};
use eddy_runtime::{BadData, Raw, Row};
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::Type;
use rustc_hash::FxHashSet;

use crate::cell::Cell;
use crate::command_line::Told;
use crate::draft::Draft;
use crate::elaborate::{Given, Interface};
use crate::engine::choose::{Choice, choose};
use crate::engine::{Compilation, Engine, Source};
use crate::flow::{Flow, VarId};
use crate::infer::Hints;
use crate::language::semantics;
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Callable, Program};
use crate::runs::{RunOptions, execute_cells, json_line};
use crate::simulate;
use crate::tree::Semantics;
use crate::{codes, errors, parameters};
pub(crate) use columns::Columns;
use demand::{Asked, Asking, Demands};
use peek::Peek;

/// Runs a node on data.
pub fn run(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    data: Vec<Data>,
    out: Out<'_>,
) -> Result<Verdict, fmt::Error> {
    let mut stream = match Stream::new(program, sources, options, data) {
        Ok(stream) => stream,
        Err(stopped) => return Ok(Verdict::refused(stopped.diagnostics(sources))),
    };
    let prepared = match stream.prepare(out) {
        Ok(prepared) => prepared,
        Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
    };
    let shown = match stream.shown(&prepared.flow) {
        Ok(shown) => shown,
        Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
    };
    let is_whole = options.chrono
        || options.engine.as_deref().is_some_and(|engine| ["denote", "kahn"].contains(&engine));
    if is_whole && let Some(batch) = &prepared.batch {
        let diagnostic = batch::only_one(batch, program.span_of(&stream.callable));
        return Ok(Verdict::refused(vec![diagnostic]));
    }
    if is_whole {
        return stream.run_whole(prepared, sources, out);
    }
    let vars: Vec<VarId> = shown.iter().map(|(_, var)| *var).collect();
    let source = Source {
        flow: &prepared.flow,
        clocks: &prepared.clocks,
        shown: &vars,
        options: simulate::Options {
            strict: false,
            seed: options.seed.unwrap_or(0),
            max_window: options.max_window,
            single: options.single,
        },
        is_checked: !options.unchecked,
        checkpoints: options.checkpoints,
    };
    let choice = Choice {
        engine: options.engine.clone(),
        name: program.name_of(&stream.callable),
        span: program.span_of(&stream.callable),
    };
    let (compilation, note) = choose(&source, &choice, out);
    let engine = match &compilation {
        Some(compilation) if !options.no_shadow => Engine::shadowed(source, compilation, options.cycles),
        _ => Engine::new(source, compilation.as_ref()),
    };
    let demands = stream.demands(&prepared);
    let asking = demands.as_ref().map(|demands| Asking::new(demands, &prepared.clocks, source.options));
    let compiled = compilation.as_ref();
    let mut player = Player { prepared: &prepared, engine, shown: &shown, compilation: compiled, asking };
    let stopped = stream.play(&mut player, sources, out)?;
    let warnings = note.into_iter().chain(prepared.deadlocks()).chain(stream.warnings()).collect();
    let stats = player.engine.stats();
    Ok(match stopped {
        None => Verdict { diagnostics: warnings, stats, ..Verdict::answered() },
        Some(stopped) => Verdict { stats, ..Verdict::refused(stopped.diagnostics(sources)) },
    })
}

/// Why a run stopped before its data did.
pub(crate) enum Stopped {
    Program(Vec<Diagnostic>),
    Data { file: String, bad: BadData },
}

impl Stopped {
    pub fn diagnostics(self, sources: &mut Sources) -> Vec<Diagnostic> {
        match self {
            Stopped::Program(diagnostics) => diagnostics,
            Stopped::Data { file, bad } => {
                let bad = bad.shortened();
                let line = u32::try_from(bad.place.line).unwrap_or(u32::MAX).max(1);
                let span = match sources.add_excerpt(&file, &bad.place.text, line) {
                    Ok(excerpt) => excerpt.span_around(bad.bytes),
                    Err(_) => Span::default(),
                };
                vec![Diagnostic::error(codes::DATA, span, bad.message)]
            }
        }
    }
}

/// A node and the data for it.
struct Stream<'a> {
    program: &'a Program,
    options: &'a Options,
    callable: Callable,
    interface: Interface,
    given: Given,
    /// The data of each stream; without a batch there is one.
    feeds: Vec<Columns>,
}

impl<'a> Stream<'a> {
    fn new(
        program: &'a Program,
        sources: &mut Sources,
        options: &'a Options,
        data: Vec<Data>,
    ) -> Result<Self, Stopped> {
        let name = options.node.as_deref().expect("a node is named");
        let callable = program.find_named(name).map_err(|diagnostic| Stopped::Program(vec![*diagnostic]))?;
        let told = Told::read(program, &callable, sources, &options.constants, &[]);
        let Told { constants, interface, .. } = told.map_err(Stopped::Program)?;
        if let Some(shown) = twice(&options.show) {
            let title = format!("`--show` names `{shown}` twice");
            let diagnostic = Diagnostic::error(codes::DATA, program.span_of(&callable), title);
            return Err(Stopped::Program(vec![diagnostic]));
        }
        let inputs = interface.inputs.iter().map(|port| port.name.clone());
        let inputs: Vec<String> = inputs.filter(|name| !constants.contains_key(name)).collect();
        if data.is_empty() && options.cycles.is_none() {
            let has = if inputs.is_empty() { "no inputs" } else { "inputs" };
            let help = if inputs.is_empty() {
                "say how many cycles to run: `--cycles N`"
            } else {
                "give them data, `--in FILE`, or say how many cycles to run without: `--cycles N`"
            };
            let title =
                format!("the node `{name}` has {has}, and there are no data that say how long it runs");
            let diagnostic = Diagnostic::error(codes::DATA, program.span_of(&callable), title).help(help);
            return Err(Stopped::Program(vec![diagnostic]));
        }
        let span = program.span_of(&callable);
        let data = batch::dealt(data, options.batch.unwrap_or(1), span)?;
        let feed = |data| Columns::new(data, inputs.clone());
        let feeds: Vec<Columns> = data.into_iter().map(feed).collect::<Result<_, Stopped>>()?;
        let shown: FxHashSet<String> = options.show.iter().cloned().collect();
        Ok(Stream {
            program,
            options,
            callable,
            interface,
            given: Given { constants, shown, batch: options.batch, ..Given::default() },
            feeds,
        })
    }

    fn prepare(&mut self, out: Out<'_>) -> Result<Prepared, Vec<Diagnostic>> {
        let checks = if self.options.unchecked { Checks::Off } else { Checks::On };
        // All streams have the types of the first.
        let columns = &mut self.feeds[0];
        let hints = |draft: &Draft| Peek { draft, columns, out, is_explained: false }.hints();
        let mut prepared = prepare(self.program, &self.callable, &self.given, hints, checks)?;
        if let Some((file, values)) = &self.options.parameters {
            parameters::give(&mut prepared.flow, values, file, self.program.span_of(&self.callable))?;
        }
        Ok(prepared)
    }

    /// The streams to print.
    fn shown(&self, flow: &Flow) -> Result<Vec<(String, VarId)>, Vec<Diagnostic>> {
        if self.options.show.is_empty() {
            let names = self.interface.outputs.iter().map(|port| port.name.clone());
            return Ok(names.zip(flow.outputs.iter().copied()).collect());
        }
        let find = |name: &String| match flow.find(name) {
            Some(var) => Ok((name.clone(), var)),
            // The name was typed on the command line, so there is nothing to edit.
            None => Err(vec![
                errors::unknown_stream(flow, name, self.program.span_of(&self.callable)).without_edit(),
            ]),
        };
        self.options.show.iter().map(find).collect()
    }

    /// The inputs that the program asks for; their files are left alone until it does.
    fn demands(&mut self, prepared: &Prepared) -> Option<Demands> {
        let demands = Demands::of(prepared, &self.feeds[0]).filter(|_| !self.options.unchecked)?;
        demands.inputs().for_each(|input| self.feeds[0].demand(input));
        Some(demands)
    }

    /// The cells of all inputs at the next cycle; none when the data end.
    fn next_cells(
        &mut self,
        prepared: &Prepared,
        asking: &mut Option<Asking<'_>>,
        cycle: u64,
        out: Out<'_>,
    ) -> Result<Option<Vec<Cell>>, Stopped> {
        let is_bounded = self.options.cycles.is_some();
        let rows: Vec<Option<Row>> =
            self.feeds.iter_mut().map(|feed| feed.next_row(is_bounded)).collect::<Result<_, _>>()?;
        if cycle == 0
            && let Some(stopped) = rows.iter().flatten().next().and_then(|row| self.constant_in_data(row))
        {
            return Err(stopped);
        }
        let types = prepared.input_types();
        let cells = self
            .feeds
            .iter()
            .zip(&rows)
            .filter_map(|(feed, row)| Some(cells_of(feed, &prepared.flow, &types, row.as_ref()?, cycle)));
        let mut cells: Vec<Vec<Cell>> = cells.collect::<Result<_, _>>()?;
        if let (Some(asking), [cells]) = (asking, cells.as_mut_slice())
            && let Asked::Ended = asking.cycle(&mut self.feeds[0], &types, cells, cycle, out)?
            && !self.feeds[0].has_other_files()
        {
            return Ok(None);
        }
        match &prepared.batch {
            _ if cells.is_empty() => Ok(None),
            None => Ok(cells.pop()),
            Some(batch) => batch::in_lock_step(self, prepared, batch, &rows, &cells, cycle).map(Some),
        }
    }

    /// Feeds all rows to the player.
    fn play(
        &mut self,
        player: &mut Player<'_>,
        sources: &Sources,
        out: Out<'_>,
    ) -> Result<Option<Stopped>, fmt::Error> {
        let mut n_cycles = 0;
        while self.options.cycles.is_none_or(|limit| n_cycles < limit) {
            if self.feeds.iter().any(Columns::is_waiting) {
                out.flush();
            }
            match self.next_cells(player.prepared, &mut player.asking, n_cycles, out) {
                Ok(Some(cells)) => {
                    let opened = player.open(&cells);
                    player.tell_of_shadow(self, sources, out);
                    if let Err(diagnostic) = opened {
                        player.print(out)?;
                        return Ok(Some(Stopped::Program(vec![*diagnostic])));
                    }
                }
                Ok(None) => break,
                Err(stopped) => return Ok(Some(stopped)),
            }
            player.print(out)?;
            n_cycles += 1;
        }
        let ended = player.end();
        player.tell_of_shadow(self, sources, out);
        player.print(out)?;
        match ended {
            Ok(()) => Ok(None),
            Err(diagnostic) => Ok(Some(Stopped::Program(vec![*diagnostic]))),
        }
    }

    /// Reads all data, runs the node on them, and prints the result: for what needs to see the whole trace.
    fn run_whole(
        mut self,
        prepared: Prepared,
        sources: &mut Sources,
        out: Out<'_>,
    ) -> Result<Verdict, fmt::Error> {
        let mut inputs: Vec<Vec<Cell>> = vec![Vec::new(); prepared.flow.inputs.len()];
        let demands = self.demands(&prepared);
        let mut asking = demands.as_ref().map(|demands| {
            let seed = self.options.seed.unwrap_or(0);
            Asking::new(demands, &prepared.clocks, simulate::Options { seed, ..simulate::Options::default() })
        });
        let mut n_cycles = 0;
        while self.options.cycles.is_none_or(|limit| n_cycles < limit) {
            let cells = self.next_cells(&prepared, &mut asking, n_cycles, out);
            match cells {
                Ok(Some(cells)) => inputs.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell)),
                Ok(None) => break,
                Err(stopped) => return Ok(Verdict::refused(stopped.diagnostics(sources))),
            }
            n_cycles += 1;
        }
        let span = self.program.span_of(&self.callable);
        let options = RunOptions {
            semantics: self.options.engine.as_deref().map_or(Semantics::Operational, semantics),
            chrono: self.options.chrono,
            unchecked: self.options.unchecked,
            n_cycles: Some(usize::try_from(n_cycles).unwrap_or(usize::MAX)),
            seed: self.options.seed.unwrap_or(0),
            max_window: self.options.max_window,
            width: self.options.width,
            show: self.options.show.iter().map(|name| (name.clone(), span)).collect(),
            ..RunOptions::default()
        };
        match execute_cells(self.program, &self.callable, self.interface.clone(), prepared, options, inputs) {
            Ok(text) => {
                out.write_str(&text)?;
                Ok(Verdict { diagnostics: self.warnings(), ..Verdict::answered() })
            }
            Err(diagnostics) => Ok(Verdict::refused(diagnostics)),
        }
    }

    /// What is said about data for an input that is a constant of this run.
    fn constant_in_data(&self, row: &Row) -> Option<Stopped> {
        let mut names = self.options.constants.iter().map(|(name, _)| name);
        let name = names.find(|name| self.feeds[0].has_unused(name))?;
        let message = format!("`{name}` is given by the data and by `--const`");
        Some(self.feeds[0].bad(row, name, message))
    }

    /// Names in the data that are no inputs, and inputs that are not in the data.
    fn warnings(&mut self) -> Vec<Diagnostic> {
        let (node, span) = (self.program.name_of(&self.callable), self.program.span_of(&self.callable));
        let columns = &mut self.feeds[0];
        let title = unused_columns(&columns.unused(), &node);
        let warning = title.map(|title| Diagnostic::warning(codes::UNUSED_COLUMN, span, title));
        let mut warnings: Vec<Diagnostic> = warning.into_iter().collect();
        if columns.has_data() {
            warnings.extend(columns.missing().into_iter().map(|name| {
                let title = format!("the data have nothing for the input `{name}` of `{node}`");
                Diagnostic::warning(codes::UNUSED_COLUMN, span, title)
            }));
        }
        let has_all_cycles = self.options.cycles.is_none();
        for (input, file) in if has_all_cycles { columns.unread() } else { Vec::new() } {
            let title = format!("`{file}` has more values than `{node}` asks for");
            let reason = format!("a value is read at each cycle at which the clock of `{input}` is true");
            warnings.push(Diagnostic::warning(codes::UNUSED_COLUMN, span, title).reason(reason));
        }
        warnings
    }
}

/// What is said about columns that no input has: their names, as far as a line has room.
fn unused_columns(names: &[String], node: &str) -> Option<String> {
    const SHOWN: usize = 5;
    let quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => None,
        1 => Some(format!("the data have a column {}, and `{node}` has no input of that name", quoted[0])),
        n => {
            let rest = if n > SHOWN { format!(" and {} more", n - SHOWN) } else { String::new() };
            let names = quoted.join(", ");
            Some(format!("the data have {n} columns that are no inputs of `{node}`: {names}{rest}"))
        }
    }
}

/// A row as cells of the inputs' types.
pub(crate) fn cells_of(
    columns: &Columns,
    flow: &Flow,
    types: &[&Type],
    row: &Row,
    cycle: u64,
) -> Result<Vec<Cell>, Stopped> {
    let inputs = types.iter().copied().enumerate();
    inputs.map(|input| cell_of(columns, flow, input, row, cycle)).collect()
}

/// The cell of an input of this number and type.
fn cell_of(
    columns: &Columns,
    flow: &Flow,
    (input, ty): (usize, &Type),
    row: &Row,
    cycle: u64,
) -> Result<Cell, Stopped> {
    match &row.cells[input] {
        Raw::Absent => Ok(Cell::Absent),
        Raw::Unknown => Ok(Cell::Unknown),
        raw => raw.to_value(ty).map(Cell::Value).map_err(|mismatch| {
            let name = flow.var(flow.inputs[input]).name.as_deref().expect("inputs have names");
            columns.bad(row, name, format!("`{name}` {mismatch}, at cycle {cycle}: its type is {ty}"))
        }),
    }
}

/// What the first values say about inputs, for data that are all there.
pub(crate) fn hints(draft: &Draft, columns: &mut Columns) -> Hints {
    Peek { draft, columns, out: &mut String::new(), is_explained: true }.hints()
}

/// The first name that stands twice.
fn twice(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| name)
}

/// A run, and how its rows are printed.
struct Player<'a> {
    prepared: &'a Prepared,
    engine: Engine<'a>,
    shown: &'a [(String, VarId)],
    compilation: Option<&'a Compilation>,
    asking: Option<Asking<'a>>,
}

impl Player<'_> {
    fn open(&mut self, cells: &[Cell]) -> Result<(), Box<Diagnostic>> {
        self.engine.open(cells).map_err(|failure| Box::new(errors::run(&self.prepared.flow, &failure)))
    }

    fn end(&mut self) -> Result<(), Box<Diagnostic>> {
        self.engine.end().map_err(|failure| Box::new(errors::run(&self.prepared.flow, &failure)))
    }

    fn tell_of_shadow(&mut self, stream: &Stream<'_>, sources: &Sources, out: Out<'_>) {
        stream.tell_of_shadow(&mut self.engine, self.compilation, self.prepared, sources, out);
    }

    /// Prints the cycles that are decided.
    fn print(&mut self, out: Out<'_>) -> fmt::Result {
        while let Some(row) = self.engine.next_row() {
            match &self.prepared.batch {
                None => {
                    let names = self.shown.iter().map(|(name, _)| name.as_str());
                    out.write_str(&json_line(names.zip(&row)))?;
                }
                Some(batch) => out.write_str(&batch::lines(batch, self.shown, &row))?,
            }
        }
        Ok(())
    }
}
