//! `eddy gradcheck`: derivatives of a node against finite differences.
//!
//! The node is run on a trace, from a file or made up; its outputs are weighted and summed to one number. `adj_N` says how that number
//! changes with each entry of each input at each cycle, and of each parameter; so do two runs in which the entry is a little larger and a
//! little smaller.
//!
//! * [`trace`]: the inputs.
//! * [`measure`]: both derivatives of all entries, or of a sample of them.
//! * [`table`]: the worst entries, for people.

mod measure;
mod table;
mod trace;

use eddy_autodiff::section::Mode;
use eddy_language::{Data, Options};
use eddy_syntax::{Diagnostic, Sources};
use eddy_tensor::Scalar;

use crate::codes;
use crate::command_line::{Told, shape_hints};
use crate::draft::Draft;
use crate::elaborate::Given;
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::Program;
use measure::Measure;
use trace::{Sign, Trace};

/// So many cycles are made up if there are no data.
const CYCLES: usize = 6;

/// Relative errors up to this are rounding.
const TOLERANCE: f64 = 1e-5;

/// Checks the derivatives of a node; the answer is a table of the worst entries.
pub fn check(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    data: Vec<Data>,
) -> Result<String, Vec<Diagnostic>> {
    let name = options.node.as_deref().unwrap_or_default();
    let node = program.find_named(name).map_err(|diagnostic| vec![*diagnostic])?;
    let mut adjoint = node.clone();
    adjoint.modes.push(Mode::Adjoint);
    let span = program.span_of(&node);
    let Told { constants, shapes, .. } =
        Told::read(program, &node, sources, &options.constants, &options.shapes)?;
    let given = Given { constants, ..Given::default() };
    let hints = |draft: &Draft| shape_hints(draft, &shapes);
    let primal = prepare(program, &node, &given, hints, Checks::On)?;
    let derived = prepare(program, &adjoint, &given, hints, Checks::On)?;
    let outputs = primal.flow.outputs.iter().map(|output| primal.flow.var(*output).ty.scalar);
    if !outputs.into_iter().any(|scalar| scalar == Scalar::Num) {
        let title = format!("`{name}` has no output of type `num`, so it has no derivative");
        return Err(vec![Diagnostic::error(codes::GRADIENT, span, title)]);
    }
    let seed = options.seed.unwrap_or(0);
    let tolerance = options.tolerance.unwrap_or(TOLERANCE);
    let measure = |trace: Trace| Measure::new(&primal, &derived, trace, seed, span)?.entries();
    let entries = if data.is_empty() {
        let n_cycles = options.cycles.map_or(CYCLES, |n| usize::try_from(n).unwrap_or(CYCLES));
        let entries = measure(trace::random(&primal, n_cycles, Sign::Both, seed)?)?;
        if entries.measured.iter().any(|entry| entry.error().is_nan()) {
            measure(trace::random(&primal, n_cycles, Sign::Positive, seed)?)?
        } else {
            entries
        }
    } else {
        measure(read(&primal, sources, data)?)?
    };
    table::answer(name, &entries, tolerance, span)
}

/// Reads all rows of some data, turned into rows of cells for each input.
fn read(prepared: &Prepared, sources: &mut Sources, data: Vec<Data>) -> Result<Trace, Vec<Diagnostic>> {
    let (flow, types) = (&prepared.flow, prepared.input_types());
    let names =
        flow.inputs.iter().map(|input| flow.var(*input).name.as_deref().unwrap_or_default().to_string());
    let mut columns =
        crate::stream::Columns::new(data, names.collect()).map_err(|stopped| stopped.diagnostics(sources))?;
    let mut trace = Trace { n_cycles: 0, rows: vec![Vec::new(); flow.inputs.len()] };
    loop {
        let row = match columns.next_row(false) {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(trace),
            Err(stopped) => return Err(stopped.diagnostics(sources)),
        };
        let cells = crate::stream::cells_of(&columns, flow, &types, &row, trace.n_cycles as u64);
        let cells = cells.map_err(|stopped| stopped.diagnostics(sources))?;
        for (row, cell) in trace.rows.iter_mut().zip(cells) {
            row.push(cell);
        }
        trace.n_cycles += 1;
    }
}
