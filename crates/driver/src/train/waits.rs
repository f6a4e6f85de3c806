//! Which stream a loss waits for, and what that stream waits for.
//!
//! The epoch is simulated until a loss is unknown. From there a path leads from each unknown cell to an
//! unknown operand of its equation, until it ends after the last row, at an unknown input, or at a cell that
//! it has visited before.

use std::borrow::Cow;
use std::fmt::Write as _;

use eddy_flow::{Flow, Kind, VarId};
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::Simulation;
use eddy_syntax::Span;
use eddy_tensor::Op;
use rustc_hash::FxHashSet;

/// The largest number of rows after the unknown loss that are simulated. If a parameter waits for itself, the
/// cycle of dependencies is as long as the memory of the model, which is mostly shorter; otherwise the
/// message is less exact.
const MAX_ROWS_AFTER: usize = 64;

/// The largest number of cells of a path.
const MAX_STEPS: usize = 100_000;

/// What a loss waits for.
pub(super) struct Wait {
    pub text: String,
    /// The operation that takes a value or a gradient from a later row.
    pub cause: Option<(Span, String)>,
}

/// Finds what the loss at a row waits for.
pub(super) fn find<'a>(
    flow: &Flow,
    mut simulation: Simulation<'_>,
    rows: impl Iterator<Item = Cow<'a, [Cell]>>,
    loss: VarId,
    row: usize,
) -> Option<Wait> {
    let mut n_rows = 0;
    let mut is_whole = true;
    for cells in rows {
        if n_rows > row + MAX_ROWS_AFTER {
            is_whole = false;
            break;
        }
        simulation.open(&cells).ok()?;
        n_rows += 1;
        let row = row as u64;
        while simulation.first_cycle() < row.min(simulation.n_cycles())
            && simulation.is_complete(simulation.first_cycle())
        {
            simulation.release();
        }
    }
    if is_whole {
        simulation.end().ok()?;
    }
    let path = Path::new(flow, &simulation, loss, row as u64, n_rows as u64);
    Some(path.wait(flow, loss, row))
}

/// The unknown cells on the way from a loss.
struct Path {
    cells: Vec<(VarId, u64)>,
    /// The first equation that reads a later row.
    ahead: Option<(usize, u64)>,
    end: End,
}

/// Where a path ends.
enum End {
    /// It needs a row after the last one.
    AfterData,
    /// It returned to this cell of the path.
    Itself(usize),
    /// An input that is absent in the data.
    Input(VarId, u64),
    Lost,
}

impl Path {
    fn new(flow: &Flow, simulation: &Simulation<'_>, loss: VarId, row: u64, n_rows: u64) -> Path {
        let definitions = flow.definitions();
        let mut seen = FxHashSet::default();
        let mut path = Path { cells: Vec::new(), ahead: None, end: End::Lost };
        let mut at = (loss, row);
        while path.cells.len() < MAX_STEPS {
            if !seen.insert(at) {
                let start = path.cells.iter().position(|cell| *cell == at).unwrap_or(0);
                path.end = End::Itself(start);
                break;
            }
            path.cells.push(at);
            let Some(number) = definitions[at.0.index()] else {
                path.end = End::Input(at.0, at.1);
                break;
            };
            let kind = &flow.equations[number].kind;
            if matches!(kind, Kind::Post(_) | Kind::FbyBack { .. }) && path.ahead.is_none() {
                path.ahead = Some((number, at.1));
            }
            match next(kind, at, simulation, n_rows) {
                Next::Cell(var, cycle) => at = (var, cycle),
                Next::AfterData => {
                    path.end = End::AfterData;
                    break;
                }
                Next::Nothing => break,
            }
        }
        path
    }

    fn wait(&self, flow: &Flow, loss: VarId, row: usize) -> Wait {
        let labels = flow.labels();
        let name = |var: VarId| flow.var(var).name.as_deref().filter(|name| !name.is_empty());
        // The state of an optimiser has a name that begins with that of the parameter.
        let parameter_of = |var: VarId| {
            let parameter = flow.parameters.iter().find(|named| named.var == var);
            let register = || flow.persistent_state.iter().find(|named| named.var == var);
            let name = |name: &str| name.rsplit_once('/').map_or(name, |(before, _)| before).to_string();
            parameter
                .map(|named| named.name.to_string())
                .or_else(|| register().map(|named| name(&named.name)))
        };
        let waiting = self
            .cells
            .iter()
            .find(|(var, _)| *var != loss && name(*var).is_some())
            .map_or(loss, |cell| cell.0);
        let mut text = format!("at row {} `{}` waits", row + 1, labels.label(waiting));
        let parameter = self.cells.iter().find_map(|(var, cycle)| Some((parameter_of(*var)?, *cycle)));
        if let Some((parameter, cycle)) = &parameter {
            let _ = write!(text, " for the parameter `{parameter}`");
            if *cycle > 0 {
                let _ = write!(text, ", which waits for its gradient at row {cycle}");
            }
        }
        match &self.end {
            End::AfterData if parameter.is_none() => text += " for a row after the last one",
            End::AfterData => text += ", which waits for a row after the last one",
            End::Itself(start) => {
                let cycle = self.cells[*start].1 + 1;
                let _ = write!(
                    text,
                    ", which waits for values computed with the parameter at row {cycle}: it waits for itself"
                );
            }
            End::Input(input, cycle) => {
                let _ = write!(
                    text,
                    " for the input `{}`, which the data do not know at row {}",
                    labels.label(*input),
                    cycle + 1
                );
            }
            End::Lost => text += " for later rows",
        }
        let cause = self.ahead.map(|(number, _)| {
            let equation = &flow.equations[number];
            let label = match equation.kind {
                Kind::Post(_) => "this reads a later row".to_string(),
                _ => "this is read one row later, so its gradient comes from there".to_string(),
            };
            (equation.span, label)
        });
        Wait { text, cause }
    }
}

/// The operand that an unknown cell waits for.
enum Next {
    Cell(VarId, u64),
    AfterData,
    Nothing,
}

fn next(kind: &Kind, (out, cycle): (VarId, u64), simulation: &Simulation<'_>, n_rows: u64) -> Next {
    let is_unknown = |var: VarId| matches!(simulation.cell(cycle, var), Cell::Unknown | Cell::Present);
    let first = |operands: &[VarId]| {
        let found = operands.iter().copied().find(|operand| is_unknown(*operand));
        found.map_or(Next::Nothing, |operand| Next::Cell(operand, cycle))
    };
    let chosen = |condition: VarId, yes: VarId, no: VarId| match simulation.cell(cycle, condition).truth() {
        Some(true) => Next::Cell(yes, cycle),
        Some(false) => Next::Cell(no, cycle),
        None => Next::Cell(condition, cycle),
    };
    let is_there = |cycle: &u64| *simulation.cell(*cycle, out) != Cell::Absent;
    match kind {
        Kind::Const(_) => Next::Nothing,
        Kind::Apply(Op::If, operands) => chosen(operands[0], operands[1], operands[2]),
        Kind::Merge { condition, yes, no } => chosen(*condition, *yes, *no),
        Kind::Apply(_, operands) => first(operands),
        Kind::When { value, condition, .. } => first(&[*condition, *value]),
        Kind::Param(operand) => first(&[*operand]),
        Kind::Fby { init, next } => match (simulation.first_cycle()..cycle).rev().find(is_there) {
            Some(before) => Next::Cell(*next, before),
            None => first(&[*init]),
        },
        Kind::FbyBack { next, .. } | Kind::Post(next) => match (cycle + 1..n_rows).find(is_there) {
            Some(after) => Next::Cell(*next, after),
            None => Next::AfterData,
        },
    }
}
