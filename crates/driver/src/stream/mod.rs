//! Runs one node on streams of data (section 11).
//!
//! Each cycle is shown as soon as it and all before it are decided, and dropped when all its cells are known;
//! so an endless pipe needs only the memory of one window. Types may depend on the first values of the
//! inputs, which are therefore read before the program is prepared ([`peek`]). In a batch, several such
//! streams run at once ([`mod@batch`]).
//!
//! * [`columns`]: data files and [`in_memory`] columns as one source of rows; [`demand`]: inputs that are
//!   read on demand.
//! * [`data_run`]: the rows of a run, as an iterator. [`whole`]: runs that need the whole trace.
//! * [`shadow`]: the report when compiled code is wrong.

mod batch;
mod columns;
mod data_run;
mod demand;
mod in_memory;
mod peek;
mod shadow;
mod whole;

use eddy_compile::Precision;
use eddy_flow::{Flow, Name};
use eddy_formats::{BadData, Raw, Row as RawRow};
use eddy_language::codes;
use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::{Hints, shape_hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::Type;

use crate::data::Data;
use crate::listener::Deaf;
use crate::model::Model;
use crate::precision::{check_single, too_large_for_single};
use crate::ready::{shown_twice, with_leaves};
use crate::refusal::Refusal;
use crate::run::{Row, RunRequest};
pub(crate) use columns::{Columns, SharedEncoding};
pub use data_run::{DataRun, Summary};
use demand::{DemandOutcome, IDLE_CYCLES};
pub(crate) use demand::{DemandRun, Demands};
use peek::Peek;
pub(crate) use shadow::announce_shadow_check;

/// Why a run stopped before its data did.
pub(crate) enum Stopped {
    Program(Vec<Diagnostic>),
    Data { file: String, bad: BadData },
}

impl Stopped {
    /// As a refusal, with an excerpt of the data.
    pub fn refusal(self, sources: &Sources) -> Refusal {
        let mut sources = sources.clone();
        Refusal { diagnostics: self.diagnostics(&mut sources), sources }
    }

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
struct Stream {
    model: Model,
    request: RunRequest,
    /// The data of each stream; without a batch there is one.
    feeds: Vec<Columns>,
}

impl Stream {
    fn new(model: &Model, request: &RunRequest, data: Vec<Data>) -> Result<Self, Stopped> {
        let request = with_leaves(model, request);
        shown_twice(model, &request).map_err(Stopped::Program)?;
        let fixed = model.fixed_inputs();
        let inputs = fixed.interface.inputs.iter().map(|port| port.name.clone());
        let inputs: Vec<String> = inputs.filter(|name| !fixed.constants.contains_key(name)).collect();
        if data.is_empty() && request.cycles.is_none() {
            let has = if inputs.is_empty() { "no inputs" } else { "inputs" };
            let help = if inputs.is_empty() {
                "say how many cycles to run: `--cycles N`"
            } else {
                "give them data, `--in FILE`, or say how many cycles to run without: `--cycles N`"
            };
            let name = &model.request().node;
            let title =
                format!("the node `{name}` has {has}, and there are no data that say how long it runs");
            let diagnostic = Diagnostic::error(codes::DATA, model.span(), title).help(help);
            return Err(Stopped::Program(vec![diagnostic]));
        }
        let data = batch::files_of_streams(data, model.request().batch.unwrap_or(1), model.span())?;
        let names = inputs.iter().map(String::as_str);
        let enumerations = model.program().resolved().enumerations(model.callable(), names);
        let is_single = request.precision == Some(Precision::Single);
        let encoding = SharedEncoding::new(model.encoding());
        let feed = |data| {
            let feed = Columns::new(data, inputs.clone(), &enumerations, &fixed.defaults, &encoding)?;
            Ok(if is_single { feed.in_single_precision() } else { feed })
        };
        let feeds: Vec<Columns> = data.into_iter().map(feed).collect::<Result<_, Stopped>>()?;
        Ok(Stream { model: model.clone(), request, feeds })
    }

    fn prepare(&mut self) -> Result<Prepared, Stopped> {
        let prepared = self.prepare_for_data();
        prepared.map_err(|found| self.feeds[0].peeked_error().unwrap_or(Stopped::Program(found)))
    }

    fn prepare_for_data(&mut self) -> Result<Prepared, Vec<Diagnostic>> {
        let Stream { model, request, feeds } = self;
        let checks = if request.unchecked { Checks::Off } else { Checks::On };
        let shown = request.show.iter().map(|name| Name::from(name.as_str())).collect();
        let given = ElaborationOptions { shown, ..model.given() };
        let listener = model.program().session().listener();
        // All streams have the types of the first.
        let columns = &mut feeds[0];
        let hints = |draft: &Draft| {
            let mut hints = Peek { draft, columns, listener, is_explained: false }.hints();
            let given = shape_hints(draft, &model.fixed_inputs().shapes);
            hints.shapes.extend(given.shapes);
            hints
        };
        let mut prepared = prepare(model.program().resolved(), model.callable(), &given, hints, checks)?;
        model.give_parameters(&mut prepared)?;
        if request.precision == Some(Precision::Single) {
            check_single(&prepared.flow)?;
        }
        Ok(prepared)
    }

    /// The inputs that are read on demand; their files are not read before.
    fn demands(&mut self, prepared: &Prepared) -> Option<Demands> {
        let demands = Demands::of(prepared, &self.feeds[0]).filter(|_| !self.request.unchecked)?;
        demands.inputs().for_each(|input| self.feeds[0].demand(input));
        Some(demands)
    }

    /// The cells of all inputs at the next cycle; `None` when the data end.
    fn next_cells(
        &mut self,
        prepared: &Prepared,
        demand_run: &mut Option<DemandRun<'_>>,
        cycle: u64,
    ) -> Result<Option<Vec<Cell>>, Stopped> {
        let is_bounded = self.request.cycles.is_some();
        let rows: Vec<Option<RawRow>> =
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
        if let (Some(demand_run), [cells]) = (demand_run, cells.as_mut_slice())
            && let DemandOutcome::Ended = demand_run.cycle(&mut self.feeds[0], &types, cells, cycle)?
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

    /// The error for an idle run: only its demands determine its end, and it has demanded no row for
    /// [`IDLE_CYCLES`] cycles, so its clocks may never be true again.
    fn idle(&self, demand_run: Option<&DemandRun<'_>>) -> Option<String> {
        let is_open = self.request.cycles.is_none() && !self.feeds[0].has_other_files();
        if !is_open || !demand_run?.becomes_idle() {
            return None;
        }
        let node = self.model.name();
        Some(format!(
            "`{node}` has asked for no row of its data in {IDLE_CYCLES} cycles, and nothing else says when the run ends"
        ))
    }

    /// The error for data for an input that is a constant of this run.
    fn constant_in_data(&self, row: &RawRow) -> Option<Stopped> {
        let mut names = self.model.request().constants.iter().map(|(name, _)| name);
        let name = names.find(|name| self.feeds[0].has_unused(name))?;
        let message = format!("`{name}` is given by the data and by `--const`");
        Some(self.feeds[0].bad(row, name, message))
    }

    /// Warnings: names in the data that are no inputs, and inputs without data.
    fn warnings(&mut self) -> Vec<Diagnostic> {
        let (node, span) = (self.model.name(), self.model.span());
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
        let has_all_cycles = self.request.cycles.is_none();
        for (input, file) in if has_all_cycles { columns.unread() } else { Vec::new() } {
            let title = format!("`{file}` has more values than `{node}` asks for");
            let reason = format!("a value is read at each cycle at which the clock of `{input}` is true");
            warnings.push(Diagnostic::warning(codes::UNUSED_COLUMN, span, title).reason(reason));
        }
        warnings
    }
}

/// The warning about columns that match no input, with as many names as fit in a line.
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
    row: &RawRow,
    cycle: u64,
) -> Result<Vec<Cell>, Stopped> {
    let inputs = types.iter().copied().enumerate();
    inputs.map(|input| cell_of(columns, flow, input, row, cycle)).collect()
}

/// The cell of an input with this number and type.
fn cell_of(
    columns: &Columns,
    flow: &Flow,
    (input, ty): (usize, &Type),
    row: &RawRow,
    cycle: u64,
) -> Result<Cell, Stopped> {
    let name = || flow.var(flow.inputs[input]).name.as_deref().expect("inputs have names");
    let value = match &row.cells[input] {
        Raw::Absent => return Ok(Cell::Absent),
        Raw::Unknown => return Ok(Cell::Unknown),
        raw => raw.to_value(ty).map_err(|mismatch| {
            let name = name();
            columns.bad(row, name, format!("`{name}` {mismatch}, at cycle {cycle}: its type is {ty}"))
        })?,
    };
    if columns.is_single
        && let Some(number) = too_large_for_single(&value)
    {
        let name = name();
        let message = format!("`{name}` has the number {number:e}, which is infinite in single precision");
        return Err(columns.bad(row, name, message));
    }
    Ok(Cell::Value(value))
}

/// What the first values determine about inputs, for data that are available as a whole.
pub(crate) fn hints(draft: &Draft, columns: &mut Columns) -> Hints {
    Peek { draft, columns, listener: &Deaf, is_explained: true }.hints()
}

/// A row of one stream.
pub(crate) fn row_of_cells(cycle: u64, cells: Vec<Cell>) -> Row {
    Row { cycle, stream: None, cells }
}
