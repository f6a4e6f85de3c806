//! Random inputs: present where their clocks are active, and away from zero, where many functions have a
//! kink.

use eddy_flow::{Flow, Polarity, VarId};
use eddy_language::clocks::{Clock, Clocks};
use eddy_language::prepare::Prepared;
use eddy_language::semantics::simulate::{self, Simulation};
use eddy_language::semantics::{Cell, errors};
use eddy_syntax::Diagnostic;
use eddy_tensor::init::SplitMix64;
use eddy_tensor::{Data, Scalar, Type, Value};

/// The cells of all inputs.
#[derive(Clone)]
pub(super) struct Trace {
    /// The number of cycles, also for a node without inputs.
    pub n_cycles: usize,
    /// A row of cells for each input.
    pub rows: Vec<Vec<Cell>>,
}

/// A random trace.
///
/// The presence of a sampled input depends on its conditions, which may depend on other inputs; so the
/// program runs until all of them are decided.
pub(super) fn random(
    prepared: &Prepared,
    n_cycles: usize,
    sign: Sign,
    seed: u64,
) -> Result<Trace, Vec<Diagnostic>> {
    let (flow, clocks) = (&prepared.flow, &prepared.clocks);
    let mut trace = Trace { n_cycles, rows: vec![vec![Cell::Unknown; n_cycles]; flow.inputs.len()] };
    // How often the cells of each cycle were drawn again.
    let mut redrawn = vec![0; n_cycles];
    loop {
        if redrawn.iter().sum::<usize>() < MAX_REDRAWN
            && let Some(cycle) = violated_assumption(prepared, &trace, seed)
        {
            redrawn[cycle] += 1;
            for row in &mut trace.rows {
                row[cycle..].fill(Cell::Unknown);
            }
            continue;
        }
        let simulation = run(prepared, &trace, seed)?;
        let mut is_news = false;
        for (number, input) in flow.inputs.iter().enumerate() {
            let name = flow.var(*input).name.as_deref().unwrap_or_default();
            for (cycle, cell) in
                trace.rows[number].iter_mut().enumerate().filter(|(_, cell)| **cell == Cell::Unknown)
            {
                let Some(is_there) = is_active(&simulation, clocks, *input, cycle as u64) else { continue };
                is_news = true;
                let path = match redrawn[cycle] {
                    0 => format!("{name} {cycle}"),
                    n => format!("{name} {cycle} {n}"),
                };
                let random = SplitMix64::new(&path, seed);
                *cell = if is_there {
                    Cell::Value(value(&flow.var(*input).ty, sign, random))
                } else {
                    Cell::Absent
                };
            }
        }
        if !is_news {
            return Ok(trace);
        }
    }
}

/// After this many attempts, an assumption is reported as violated.
const MAX_REDRAWN: usize = 1000;

/// The cycle at which made-up inputs violate what the node assumes about them.
fn violated_assumption(prepared: &Prepared, trace: &Trace, seed: u64) -> Option<usize> {
    let flow = &prepared.flow;
    let is_own =
        |var: VarId| flow.equations.iter().any(|equation| equation.out == var && equation.call.is_none());
    let mut assumed = flow.contracts.iter().filter(|contract| contract.is_assumption);
    if !assumed.any(|contract| is_own(contract.var)) {
        return None;
    }
    let options = simulate::Options { seed, ..simulate::Options::default() };
    let mut simulation = Simulation::new(flow, &prepared.clocks, options);
    let cells = |cycle: usize| trace.rows.iter().map(|row| row[cycle].clone()).collect::<Vec<_>>();
    let mut outcomes = (0..trace.n_cycles).map(|cycle| simulation.open(&cells(cycle)));
    let simulate::SimulationError::Operation { equation, cycle, .. } = outcomes.find_map(Result::err)? else {
        return None;
    };
    let out = flow.equations[equation].out;
    let mut assumed = flow.contracts.iter().filter(|contract| contract.is_assumption);
    let is_violated = is_own(out) && assumed.any(|contract| contract.var == out);
    is_violated.then(|| usize::try_from(cycle).ok()).flatten()
}

/// Whether the clock of a stream is active at a cycle, if that is known.
fn is_active(simulation: &Simulation<'_>, clocks: &Clocks, var: VarId, cycle: u64) -> Option<bool> {
    let mut at = clocks.of(var);
    let mut is_active = true;
    loop {
        match clocks.clock(at) {
            Clock::Root(_) => return Some(is_active),
            Clock::On { of, condition, polarity } => {
                match simulation.cell(cycle, condition) {
                    Cell::Absent => is_active = false,
                    cell => is_active &= cell.truth()? == (polarity == Polarity::On),
                }
                at = of;
            }
        }
    }
}

/// Runs a program on a trace.
pub(super) fn run<'a>(
    prepared: &'a Prepared,
    trace: &Trace,
    seed: u64,
) -> Result<Simulation<'a>, Vec<Diagnostic>> {
    run_flow(&prepared.flow, &prepared.clocks, trace, seed)
}

/// As [`run`], for a program with changed parameters.
pub(super) fn run_flow<'a>(
    flow: &'a Flow,
    clocks: &Clocks,
    trace: &Trace,
    seed: u64,
) -> Result<Simulation<'a>, Vec<Diagnostic>> {
    let options = simulate::Options { seed, ..simulate::Options::default() };
    let mut simulation = Simulation::new(flow, clocks, options);
    let failed = |failure: simulate::SimulationError| vec![errors::simulation(flow, &failure)];
    for cycle in 0..trace.n_cycles {
        let cells: Vec<Cell> = trace.rows.iter().map(|row| row[cycle].clone()).collect();
        simulation.open(&cells).map_err(failed)?;
    }
    simulation.end().map_err(failed)?;
    match simulation.first_error() {
        Some((cycle, equation)) => {
            Err(vec![errors::synchronisation(flow, equation, cycle, simulation.contradiction())])
        }
        None => Ok(simulation),
    }
}

/// The sign of generated numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Positive and negative ones.
    Both,
    /// Positive ones: some functions have no value elsewhere.
    Positive,
}

/// A random value of a type: numbers of magnitude 0.2 to 1.2, integers 0 or 1.
pub(super) fn value(ty: &Type, sign: Sign, mut random: SplitMix64) -> Value {
    let n = ty.shape.n_elements().unwrap_or(0);
    let data = match ty.scalar {
        Scalar::Bool => Data::Bool((0..n).map(|_| random.bits().is_multiple_of(2)).collect()),
        Scalar::Int => Data::Int((0..n).map(|_| i64::from(random.bits().is_multiple_of(2))).collect()),
        Scalar::Num => Data::Num((0..n).map(|_| away_from_zero(sign, &mut random)).collect()),
    };
    Value::new(ty.shape.clone(), data).expect("there are as many elements as the shape has")
}

fn away_from_zero(sign: Sign, random: &mut SplitMix64) -> f64 {
    let size = 0.2 + random.uniform();
    if random.bits().is_multiple_of(2) || sign == Sign::Positive { size } else { -size }
}
