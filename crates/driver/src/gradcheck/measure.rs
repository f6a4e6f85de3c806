//! Both derivatives of the entries of inputs and parameters.

use eddy_flow::{Equation, Flow, Kind, VarId};
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::init::SplitMix64;
use eddy_tensor::{Data, Scalar, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::report::Entry;
use super::trace::{Sign, Trace, run, run_flow, value};
use crate::parameters;

/// The largest number of measured entries; a sample, if there are more.
const MAX_ENTRIES: usize = 2000;

/// The smallest number of measured entries, even if a run takes long.
const MIN_ENTRIES: usize = 20;

/// The approximate number of equations to compute in all.
const MAX_WORK: usize = 1 << 28;

/// The step of finite differences, relative to the entry: both rounding and curvature errors are small then.
pub(crate) const STEP: f64 = 1e-6;

/// All measurements.
pub(super) struct Entries {
    pub measured: Vec<Entry>,
    /// The number of all entries.
    pub n_all: usize,
    pub n_cycles: usize,
    /// The number of cells of outputs, and the number of those that are unknown.
    pub n_cells: usize,
    pub n_unknown: usize,
    /// What could not be measured.
    pub notes: Vec<String>,
}

/// An entry of a place, and its derivative by `adj_N`.
#[derive(Clone, Copy)]
struct Adjoint {
    place: Place,
    index: usize,
    adjoint: f64,
    /// Whether the adjoint is known at all cycles.
    is_whole: bool,
}

/// A node, its adjoint, and a trace.
pub(super) struct Measure<'a> {
    primal: &'a Prepared,
    derived: &'a Prepared,
    trace: Trace,
    seed: u64,
    span: Span,
    parameters: Vec<(String, Value)>,
    weights: Weights,
    n_cells: usize,
    n_unknown: usize,
}

/// The weight of each `num` output at each cycle; `None` where the output is unknown.
type Weights = Vec<(VarId, Vec<Option<Value>>)>;

/// A number that can be varied: an input at a cycle, or a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Input(usize, usize),
    Parameter(usize),
}

impl<'a> Measure<'a> {
    pub fn new(
        primal: &'a Prepared,
        derived: &'a Prepared,
        trace: Trace,
        seed: u64,
        span: Span,
        parameters: Vec<(String, Value)>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let (weights, n_cells, n_unknown) = (Vec::new(), 0, 0);
        let mut measure =
            Measure { primal, derived, trace, seed, span, parameters, weights, n_cells, n_unknown };
        measure.weigh()?;
        Ok(measure)
    }

    /// Draws random weights where outputs are known numbers; at least one must be.
    fn weigh(&mut self) -> Result<(), Vec<Diagnostic>> {
        let flow = &self.primal.flow;
        let simulation = run(self.primal, &self.trace, self.seed)?;
        let mut weights = Vec::new();
        for output in flow.outputs.iter().filter(|output| flow.var(**output).ty.scalar == Scalar::Num) {
            let name = flow.var(*output).name.as_deref().unwrap_or_default();
            let weight = |cycle: usize| {
                simulation.cell(cycle as u64, *output).value()?;
                let random = SplitMix64::new(&format!("weight {name} {cycle}"), self.seed);
                Some(value(&flow.var(*output).ty, Sign::Both, random))
            };
            weights.push((*output, (0..self.trace.n_cycles).map(weight).collect()));
            for cycle in 0..self.trace.n_cycles {
                let cell = simulation.cell(cycle as u64, *output);
                self.n_cells += usize::from(*cell != Cell::Absent);
                self.n_unknown += usize::from(!cell.is_final());
            }
        }
        self.weights = weights;
        if self.n_cells > self.n_unknown {
            return Ok(());
        }
        let title = match self.n_cells {
            _ if self.trace.n_cycles == 0 => "the data have no rows".to_string(),
            0 => format!("no output is present at any of {} cycles", self.trace.n_cycles),
            n => format!("every output is unknown: all {n} output cells wait for later cycles"),
        };
        let help = "give more cycles with `--cycles N`, or data with `--in FILE` in which the conditions that the node waits for come true";
        Err(vec![Diagnostic::error(codes::GRADIENT, self.span, title).help(help)])
    }

    /// The first output that is not finite, with its cycle: finite differences are then NaN.
    pub fn not_finite(&self) -> Result<Option<(String, usize)>, Vec<Diagnostic>> {
        let mut flow = self.primal.flow.clone();
        give(&mut flow, &self.parameters, self.span)?;
        let simulation = run_flow(&flow, &self.primal.clocks, &self.trace, self.seed)?;
        let mut places = (0..self.trace.n_cycles)
            .flat_map(|cycle| self.weights.iter().map(move |(output, _)| (cycle, *output)));
        let found = places.find(|(cycle, output)| {
            let value = simulation.cell(*cycle as u64, *output).value();
            value.is_some_and(|value| numbers(value).iter().any(|number| !number.is_finite()))
        });
        Ok(found.map(|(cycle, output)| (flow.var(output).name.as_deref().unwrap_or_default().into(), cycle)))
    }

    /// Whether outputs give information about an entry: a known output depends on it, or no output does.
    fn is_seen(&self, place: Place) -> Result<bool, Vec<Diagnostic>> {
        Ok(self.is_seen_by_known(place)? || !self.is_seen_by_unknown(place)?)
    }

    /// Whether a known output depends on an entry: it becomes unknown when the entry does.
    fn is_seen_by_known(&self, place: Place) -> Result<bool, Vec<Diagnostic>> {
        let (mut flow, mut trace) = (self.primal.flow.clone(), self.trace.clone());
        give(&mut flow, &self.parameters, self.span)?;
        match place {
            Place::Input(number, cycle) => trace.rows[number][cycle] = Cell::Present,
            Place::Parameter(number) => {
                let var = flow.parameters[number].var;
                let definition = flow.definitions()[var.index()].expect("a parameter has an equation");
                // A stream that is defined as its own `post` is never known.
                flow.equations[definition].kind = Kind::Post(var);
            }
        }
        let simulation = run_flow(&flow, &self.primal.clocks, &trace, self.seed)?;
        let is_lost = |(output, weights): &(VarId, Vec<Option<Value>>)| {
            let mut known = weights.iter().enumerate().filter(|(_, weight)| weight.is_some());
            known.any(|(cycle, _)| simulation.cell(cycle as u64, *output).value().is_none())
        };
        Ok(self.weights.iter().any(is_lost))
    }

    /// Whether, by the equations, an unknown cell of an output may depend on an entry.
    fn is_seen_by_unknown(&self, place: Place) -> Result<bool, Vec<Diagnostic>> {
        let flow = &self.primal.flow;
        let simulation = run(self.primal, &self.trace, self.seed)?;
        let mut readers: Vec<Vec<&Equation>> = vec![Vec::new(); flow.vars.len()];
        for equation in &flow.equations {
            equation.kind.operands().for_each(|operand| readers[operand.index()].push(equation));
        }
        let mut todo: Vec<(VarId, usize)> = match place {
            Place::Input(number, cycle) => vec![(flow.inputs[number], cycle)],
            Place::Parameter(number) => {
                (0..self.trace.n_cycles).map(|cycle| (flow.parameters[number].var, cycle)).collect()
            }
        };
        let mut found: FxHashSet<(VarId, usize)> = FxHashSet::default();
        while let Some((var, cycle)) = todo.pop() {
            if !found.insert((var, cycle)) {
                continue;
            }
            for Equation { out, kind, .. } in readers[var.index()].iter().copied() {
                let is_there = |cycle: &usize| *simulation.cell(*cycle as u64, *out) != Cell::Absent;
                let at = match kind {
                    Kind::Fby { next, .. } if *next == var => (cycle + 1..self.trace.n_cycles).find(is_there),
                    Kind::FbyBack { next, .. } | Kind::Post(next) if *next == var => {
                        (0..cycle).rev().find(is_there)
                    }
                    _ => Some(cycle),
                };
                todo.extend(at.map(|at| (*out, at)));
            }
        }
        let is_unknown = |(output, _): &(VarId, Vec<Option<Value>>)| {
            let mut cycles = 0..self.trace.n_cycles;
            cycles.any(|cycle| {
                found.contains(&(*output, cycle)) && !simulation.cell(cycle as u64, *output).is_final()
            })
        };
        Ok(self.weights.iter().any(is_unknown))
    }

    /// The weighted sum of the outputs.
    fn loss(&self, trace: &Trace, values: &[(String, Value)]) -> Result<f64, Vec<Diagnostic>> {
        let mut flow = self.primal.flow.clone();
        give(&mut flow, values, self.span)?;
        let simulation = run_flow(&flow, &self.primal.clocks, trace, self.seed)?;
        let mut sum = 0.0;
        for (output, weights) in &self.weights {
            for (cycle, weight) in weights.iter().enumerate() {
                if let (Some(weight), Some(value)) = (weight, simulation.cell(cycle as u64, *output).value())
                {
                    let products = numbers(weight).into_iter().zip(numbers(value)).map(|(w, y)| w * y);
                    sum += products.sum::<f64>();
                }
            }
        }
        Ok(sum)
    }

    /// Measures all entries, or a sample of them.
    pub fn entries(&self) -> Result<Entries, Vec<Diagnostic>> {
        let mut flow = self.derived.flow.clone();
        give(&mut flow, &self.parameters, self.span)?;
        let simulation = run_flow(&flow, &self.derived.clocks, &self.trace_of_adjoint(), self.seed)?;
        let mut notes = Vec::new();
        let mut all: Vec<Adjoint> = Vec::new();
        let mut n_unknown = 0;
        let n_outputs = self.primal.flow.outputs.len();
        let mut outputs = self.derived.flow.outputs[n_outputs..].iter();
        for (number, input) in self.primal.flow.inputs.iter().enumerate() {
            if self.primal.flow.var(*input).ty.scalar != Scalar::Num {
                continue;
            }
            let Some(output) = outputs.next() else { break };
            for cycle in 0..self.trace.n_cycles {
                let Cell::Value(given) = &self.trace.rows[number][cycle] else { continue };
                match simulation.cell(cycle as u64, *output) {
                    Cell::Value(value) => {
                        let (place, entries) =
                            (Place::Input(number, cycle), numbers(value).into_iter().enumerate());
                        let entry = |(index, adjoint)| Adjoint { place, index, adjoint, is_whole: true };
                        all.extend(entries.map(entry));
                    }
                    Cell::Absent => {}
                    Cell::Unknown | Cell::Present | Cell::Error => n_unknown += given.n_elements(),
                }
            }
        }
        for (number, parameter) in self.primal.flow.parameters.iter().enumerate() {
            let Some(output) = outputs.next() else { break };
            if self.parameters.iter().all(|(name, _)| **name != *parameter.name) {
                notes.push(format!(
                    "the initial value of `{}` is no constant: it is not varied",
                    parameter.name
                ));
                continue;
            }
            let n = self.primal.flow.var(parameter.var).ty.shape.iter().product();
            let (mut sums, mut is_whole) = (vec![0.0; n], true);
            for cycle in 0..self.trace.n_cycles {
                let cell = simulation.cell(cycle as u64, *output);
                is_whole &= cell.is_final();
                if let Some(value) = cell.value() {
                    for (sum, x) in sums.iter_mut().zip(numbers(value)) {
                        *sum += x;
                    }
                }
            }
            let place = Place::Parameter(number);
            let entry = |(index, adjoint)| Adjoint { place, index, adjoint, is_whole };
            all.extend(sums.into_iter().enumerate().map(entry));
        }
        let n_all = all.len() + n_unknown;
        let mut measured = Vec::new();
        let mut seen: FxHashMap<Place, bool> = FxHashMap::default();
        for adjoint in self.sample(all) {
            let mut entry = self.entry(adjoint)?;
            if self.n_unknown > 0 {
                let is_seen = match seen.get(&adjoint.place) {
                    // Two zeros may only mean that no known value depends on the entry.
                    _ if entry.adjoint != 0.0 || entry.difference != 0.0 => true,
                    Some(is_seen) => *is_seen,
                    None => {
                        let is_seen = self.is_seen(adjoint.place)?;
                        seen.insert(adjoint.place, is_seen);
                        is_seen
                    }
                };
                let is_equal = entry.error() < super::TOLERANCE;
                entry.is_checked = is_seen && (adjoint.is_whole || is_equal);
            }
            measured.push(entry);
        }
        let (n_cells, n_unknown) = (self.n_cells, self.n_unknown);
        Ok(Entries { measured, n_all, n_cycles: self.trace.n_cycles, n_cells, n_unknown, notes })
    }

    /// All entries, or an evenly spread sample: each entry takes two runs.
    fn sample(&self, mut all: Vec<Adjoint>) -> Vec<Adjoint> {
        let run = 2 * self.primal.flow.equations.len() * self.trace.n_cycles;
        let max = (MAX_WORK / run.max(1)).clamp(MIN_ENTRIES, MAX_ENTRIES);
        let mut random = SplitMix64::new("entries", self.seed);
        while all.len() > max {
            let left_out = (u128::from(random.bits()) * all.len() as u128) >> 64;
            all.swap_remove(usize::try_from(left_out).unwrap_or(0));
        }
        all
    }

    /// The inputs of `adj_N`: those of N, then the weights.
    fn trace_of_adjoint(&self) -> Trace {
        let mut trace = self.trace.clone();
        for (output, weights) in &self.weights {
            let ty = &self.primal.flow.var(*output).ty;
            let simulation = run(self.primal, &self.trace, self.seed);
            let cell = |(cycle, weight): (usize, &Option<Value>)| match weight {
                Some(weight) => Cell::Value(weight.clone()),
                // Where an output is present and unknown, its weight is zero.
                None => match &simulation {
                    Ok(simulation) if simulation.cell(cycle as u64, *output).is_present() => {
                        Cell::Value(Value::zeros(ty))
                    }
                    _ => Cell::Absent,
                },
            };
            trace.rows.push(weights.iter().enumerate().map(cell).collect());
        }
        trace
    }

    fn entry(&self, Adjoint { place, index, adjoint, .. }: Adjoint) -> Result<Entry, Vec<Diagnostic>> {
        let flow = &self.primal.flow;
        let (name, var, cycle, value) = match place {
            Place::Input(number, cycle) => {
                let var = flow.inputs[number];
                let name = flow.var(var).name.as_deref().unwrap_or_default().to_string();
                (
                    name,
                    var,
                    Some(cycle),
                    self.trace.rows[number][cycle].value().expect("the input is present").clone(),
                )
            }
            Place::Parameter(number) => {
                let parameter = &flow.parameters[number];
                let value = self.parameters.iter().find(|(name, _)| **name == *parameter.name);
                (parameter.name.to_string(), parameter.var, None, value.expect("it is varied").1.clone())
            }
        };
        let step = STEP * numbers(&value)[index].abs().max(1.0);
        let up = self.varied(place, &value, index, step)?;
        let down = self.varied(place, &value, index, -step)?;
        let here = self.loss(&self.trace, &self.parameters)?;
        let (left, right) = ((here - down) / step, (up - here) / step);
        Ok(Entry {
            name,
            span: flow.var(var).span,
            cycle,
            index,
            shape: value.shape().clone(),
            adjoint,
            difference: (up - down) / (2.0 * step),
            is_kink: is_kink(left, right, adjoint),
            is_checked: true,
        })
    }

    /// The loss when one entry is changed.
    fn varied(&self, place: Place, value: &Value, index: usize, by: f64) -> Result<f64, Vec<Diagnostic>> {
        let mut elements = numbers(value);
        elements[index] += by;
        let changed = Value::new(value.shape().clone(), Data::Num(elements)).expect("the shape is the same");
        let (mut trace, mut parameters) = (self.trace.clone(), self.parameters.clone());
        match place {
            Place::Input(number, cycle) => trace.rows[number][cycle] = Cell::Value(changed),
            Place::Parameter(number) => {
                let name = &self.primal.flow.parameters[number].name;
                for (other, value) in &mut parameters {
                    if **other == **name {
                        value.clone_from(&changed);
                    }
                }
            }
        }
        self.loss(&trace, &parameters)
    }
}

/// Replaces the values of the given parameters.
fn give(flow: &mut Flow, values: &[(String, Value)], span: Span) -> Result<(), Vec<Diagnostic>> {
    let is_given = |name: &str| values.iter().any(|(given, _)| given == name);
    let (given, others): (Vec<_>, Vec<_>) =
        std::mem::take(&mut flow.parameters).into_iter().partition(|parameter| is_given(&parameter.name));
    flow.parameters = given;
    let result = if values.is_empty() { Ok(()) } else { parameters::give(flow, values, "gradcheck", span) };
    flow.parameters.extend(others);
    result
}

/// Whether the slopes on both sides differ by more than curvature and rounding can explain, and the adjoint
/// is one that a kink allows. At a jump the slopes are huge, and the error is reported.
pub(crate) fn is_kink(left: f64, right: f64, adjoint: f64) -> bool {
    const CURVATURE: f64 = 1e-3;
    const JUMP: f64 = 1e4;
    let size = left.abs().max(right.abs()).max(1.0);
    let slack = CURVATURE * size;
    let is_between = adjoint >= left.min(right) - slack && adjoint <= left.max(right) + slack;
    (left - right).abs() > slack && size < JUMP && is_between
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    let number = |element: Value| match element {
        Value::Num(x) => x,
        _ => f64::NAN,
    };
    value.elements().map(number).collect()
}
