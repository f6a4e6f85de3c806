//! Derivatives of a node against finite differences.
//!
//! The node runs on a trace, from a file or random; its outputs are weighted and summed to one number.
//! `adj_N` gives the derivative of that number with respect to each entry of each input at each cycle, and of
//! each parameter; a finite difference takes two runs, with the entry slightly larger and slightly smaller.
//!
//! * [`trace`]: the inputs.
//! * [`measure`]: both derivatives of all entries, or of a sample of them.
//! * [`report`]: the result, and the table of the worst entries.

mod measure;
mod report;
mod trace;

use eddy_autodiff::section::Mode;
use eddy_language::codes;
use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::shape_hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::Enumerations;
use eddy_syntax::{Diagnostic, Sources};
use eddy_tensor::Scalar;
use eddy_tensor::Static;
use rustc_hash::FxHashMap;

use crate::data::Data;
use crate::model::Model;
use crate::parameters;
use crate::program::Answer;
use crate::refusal::Refusal;
use measure::Measure;
pub(crate) use measure::{STEP, is_kink, numbers};
pub use report::{Entry, GradientReport};
pub(crate) use report::{count, place_in, table};
use trace::{Sign, Trace};

/// The number of generated cycles if there are no data.
const CYCLES: usize = 6;

/// Relative errors up to this are rounding errors.
pub(crate) const TOLERANCE: f64 = 1e-5;

/// How derivatives are checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct GradcheckRequest {
    /// The number of generated cycles if there are no data; `None` means 6.
    pub cycles: Option<u64>,
    /// The seed of generated data.
    pub seed: u64,
    /// The tolerated difference from finite differences; `None` means 1e-5.
    pub tolerance: Option<f64>,
}

impl Model {
    /// Compares the derivatives of the node with finite differences, on data or on a random trace.
    /// Derivatives that differ are a refusal.
    pub fn gradcheck(
        &self,
        request: &GradcheckRequest,
        data: Vec<Data>,
    ) -> Result<Answer<GradientReport>, Refusal> {
        let mut sources = self.sources().clone();
        match self.check_gradients(request, data, &mut sources) {
            Ok(report) => Ok(self.program().answer(report, Vec::new())),
            Err(found) => Err(Refusal { diagnostics: eddy_language::check::to_report(found), sources }),
        }
    }

    fn check_gradients(
        &self,
        request: &GradcheckRequest,
        data: Vec<Data>,
        sources: &mut Sources,
    ) -> Result<GradientReport, Vec<Diagnostic>> {
        let (program, node, span) = (self.program().resolved(), self.callable(), self.span());
        let mut adjoint = node.clone();
        adjoint.modes.push(Mode::Adjoint);
        let given = ElaborationOptions {
            constants: self.fixed_inputs().constants.clone(),
            ..ElaborationOptions::default()
        };
        let hints = |draft: &Draft| shape_hints(draft, &self.fixed_inputs().shapes);
        let primal = prepare(program, node, &given, hints, Checks::On)?;
        let derived = prepare(program, &adjoint, &given, hints, Checks::On)?;
        let name = &self.request().node;
        let outputs = primal.flow.outputs.iter().map(|output| primal.flow.var(*output).ty.scalar);
        if !outputs.into_iter().any(|scalar| scalar == Scalar::Num) {
            let title = format!("`{name}` has no output of type `num`, so it has no derivative");
            return Err(vec![Diagnostic::error(codes::GRADIENT, span, title)]);
        }
        let GradcheckRequest { cycles, seed, tolerance } = *request;
        let values = match self.given_parameters() {
            Some(given) => given.values.clone(),
            None => parameters::values(&primal.flow, seed),
        };
        let measure = |trace: Trace| {
            let measure = Measure::new(&primal, &derived, trace, seed, span, values.clone())?;
            Ok::<_, Vec<Diagnostic>>((measure.entries()?, measure.not_finite()?))
        };
        let (entries, not_finite) = if data.is_empty() {
            let n_cycles = cycles.map_or(CYCLES, |n| usize::try_from(n).unwrap_or(CYCLES));
            let measured = measure(trace::random(&primal, n_cycles, Sign::Both, seed)?)?;
            if measured.0.measured.iter().any(|entry| entry.error().is_nan()) {
                measure(trace::random(&primal, n_cycles, Sign::Positive, seed)?)?
            } else {
                measured
            }
        } else {
            let names = self.fixed_inputs().interface.inputs.iter().map(|port| port.name.as_str());
            let enumerations = program.enumerations(node, names);
            measure(read(&primal, &enumerations, &self.fixed_inputs().defaults, sources, data)?)?
        };
        let report = GradientReport::new(name, entries, tolerance.unwrap_or(TOLERANCE), span);
        match (report, not_finite) {
            (Err(_), Some((output, cycle))) => {
                let title =
                    format!("`{output}` is not finite at cycle {cycle}, so finite differences say nothing");
                let help = "give data with `--in FILE` at which the outputs are finite";
                Err(vec![Diagnostic::error(codes::GRADIENT, span, title).help(help)])
            }
            (report, _) => report,
        }
    }
}

/// Reads all rows of some data and transposes them to a row of cells for each input.
fn read(
    prepared: &Prepared,
    enumerations: &Enumerations,
    defaults: &FxHashMap<String, Static>,
    sources: &mut Sources,
    data: Vec<Data>,
) -> Result<Trace, Vec<Diagnostic>> {
    let (flow, types) = (&prepared.flow, prepared.input_types());
    let names =
        flow.inputs.iter().map(|input| flow.var(*input).name.as_deref().unwrap_or_default().to_string());
    let encoding = crate::stream::SharedEncoding::new(&eddy_formats::Encoding::default());
    let mut columns = crate::stream::Columns::new(data, names.collect(), enumerations, defaults, &encoding)
        .map_err(|stopped| stopped.diagnostics(sources))?;
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
