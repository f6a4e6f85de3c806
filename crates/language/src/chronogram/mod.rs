//! Chronograms: streams over time, as a table and as a picture.
//!
//! A chart has a row for each stream and a column for each cycle. Absent, unknown, present-but-unknown and
//! contradictory cells look different from each other and from values. [`text`] writes the table of section
//! 11, [`svg`] draws a picture. In a picture clocks have their own rows, and arrows show reads across time:
//! blue from the past, red from the future. The values of an enumeration, such as the state of a machine, are
//! segments with their names.

pub mod svg;
pub mod text;

mod arrows;

use eddy_tensor::Value;

use crate::clocks::{Clock, Clocks};
use crate::flow::{Flow, VarId};
use crate::program::Enumerations;
use crate::runs::rounded;
use crate::semantics::Cell;

pub use arrows::{Arrow, arrows};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Input,
    /// A named stream of the node that is neither an input nor an output.
    Local,
    Output,
    /// The activity of a sampled clock.
    Clock,
}

#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub role: Role,
    /// One per cycle.
    pub cells: Vec<Cell>,
    /// The names of the values, if they are numbers of enumerators.
    pub enumerators: Vec<String>,
}

impl Row {
    /// The name of the value at a cycle, if it is the number of an enumerator.
    pub(crate) fn enumerator(&self, cycle: usize) -> Option<&str> {
        match self.cells[cycle].value()? {
            Value::Int(number) => self.enumerators.get(usize::try_from(*number).ok()?).map(String::as_str),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Chart {
    pub title: String,
    pub rows: Vec<Row>,
    /// Reads across time.
    pub arrows: Vec<Arrow>,
    pub n_cycles: usize,
}

impl Chart {
    /// The chart of a run: all streams with names in the node itself, the states of its machines, and the
    /// sampled clocks of these.
    pub fn of_run(
        title: &str,
        flow: &Flow,
        clocks: &Clocks,
        n_cycles: usize,
        enumerations: &Enumerations,
        cell: impl Fn(VarId, usize) -> Cell,
    ) -> Chart {
        let is_own = |var: &VarId| flow.var(*var).name.as_deref().is_some_and(is_own_stream);
        let vars: Vec<VarId> = flow.var_ids().filter(is_own).collect();
        let mut chart = Chart { title: title.to_string(), n_cycles, ..Chart::default() };
        for var in &vars {
            let role = if flow.inputs.contains(var) {
                Role::Input
            } else if flow.outputs.contains(var) {
                Role::Output
            } else {
                Role::Local
            };
            let name =
                flow.var(*var).name.as_deref().expect("`is_own` checks that there is a name").to_string();
            chart.rows.push(Row {
                enumerators: enumerations.get(&name).cloned().unwrap_or_default(),
                name,
                role,
                cells: (0..n_cycles).map(|cycle| cell(*var, cycle)).collect(),
            });
        }
        chart.arrows = arrows(flow, &vars, n_cycles, &cell);
        chart.clock_rows(flow, clocks, &vars);
        chart
    }

    /// The chart with its numbers rounded to at most `digits` significant digits.
    #[must_use]
    pub fn rounded(mut self, digits: usize) -> Chart {
        for cell in self.rows.iter_mut().flat_map(|row| &mut row.cells) {
            if let Cell::Value(value) = cell {
                *value = rounded(value, digits);
            }
        }
        self
    }

    /// Adds a row for each sampled clock, present where its streams are.
    fn clock_rows(&mut self, flow: &Flow, clocks: &Clocks, vars: &[VarId]) {
        let mut seen = Vec::new();
        for (index, var) in vars.iter().enumerate() {
            let clock = clocks.of(*var);
            if seen.contains(&clock) || matches!(clocks.clock(clock), Clock::Root(_)) {
                continue;
            }
            seen.push(clock);
            let label = |condition: VarId| flow.var(condition).name.as_deref().unwrap_or("…").to_string();
            let activity = self.rows[index].cells.iter().map(|cell| match cell {
                Cell::Value(_) => Cell::Present,
                other => other.clone(),
            });
            let cells = activity.collect();
            let (name, role) = (clocks.show(flow, clock, &label), Role::Clock);
            self.rows.push(Row { name, role, cells, enumerators: Vec::new() });
        }
    }
}

/// Whether a stream is one of the node itself: a name without a path, or the state of a machine. Streams that
/// composition adds have names with a `:`.
pub(crate) fn is_own_stream(name: &str) -> bool {
    let state = name.strip_prefix("automaton#").and_then(|rest| rest.strip_suffix("/state"));
    let is_state = state.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    !name.contains(':') && (is_state || !name.contains('/'))
}
