//! Translates flow equations to static loops: retiming, windows, sweeps.
//!
//! A program defines the values of streams, but not when to compute them. Planning decides this: which
//! equations run in one forward loop, possibly some cycles late; where time is cut into windows; which loops
//! run over a window, forwards or backwards; and which values are stored between them. The result is data
//! from which code is printed.
//!
//! ```text
//! f = x + (if rst then 0.0 else (0.0 fby f))     window end: F,B    when `end` holds: a forward loop over
//! b = x + (if end then 0.0 else post b)                             the cycles since it last held, then a
//!                                                                   backward loop
//! ```
//!
//! Section numbers in comments refer to the planner's specification. Modules, in the order of planning:
//!
//! * Equations: [`system`] prepares them: it evaluates what is [`known`] at all times, removes [`copies`],
//!   and looks through [`restarts`].
//! * One loop: [`retime`](mod@retime) gives each equation a lag, if one loop with lags suffices.
//! * Windows: [`windows`](mod@windows) tries conditions that may end them; [`derived_end`](mod@derived_end)
//!   derives an end from several conditions.
//! * Inside a window: [`zones`](mod@zones) finds the known values in each zone, [`cells`] the live cells,
//!   [`held`](mod@held) the values that do not change; [`graph`] has the remaining dependencies. [`region`]
//!   combines these, [`units`] plans mixed components, and [`sweeps`] schedules the rest in few loops.
//! * Code: [`lower`] decides where cells are stored and writes the instructions of the [`plan`](mod@plan).
//! * Use: [`execute`] runs plans literally, [`show`] prints and draws them.
//!
//! This crate reads no files and prints nothing. Its recursions go as deep as windows are nested, not as deep
//! as a program is long.

mod cells;
mod copies;
mod derived_end;
pub mod execute;
mod graph;
mod held;
mod known;
mod lower;
pub mod plan;
mod region;
mod restarts;
mod retime;
pub mod show;
mod sweeps;
mod system;
mod units;
mod windows;
mod zones;

use eddy_flow::clocks::{ClockId, Clocks};
use eddy_flow::{Flow, Kind, VarId};

use known::KnownValue;
use lower::{Site, lagged, late_bytes};
use plan::{Immediate, Instruction, MemoryUse, Place, Read, Right, RootPlan, Schedule};
use region::order_within;
use retime::retime;
use system::{Def, System};

pub use plan::Plan;

#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "the options are independent of each other")]
pub struct Options {
    pub seed: u64,
    /// Whether numbers have single precision.
    pub single: bool,
    /// Whether values that do not change inside a window are held (section 6).
    pub holds: bool,
    pub recompute: Recompute,
    /// Whether loops save their registers periodically and run again, to need less memory (section 7).
    pub checkpoints: bool,
    /// Which kinds of plan to try.
    pub kinds: Kinds,
}

/// What a later loop over a window recomputes instead of reading it from memory (section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recompute {
    Nothing,
    /// Sums, products, choices: operations that take no longer than a read. The fastest option.
    Arithmetic,
    /// All elementwise operations, including `exp`. Needs the least memory.
    Elementwise,
}

/// Which kinds of plan to try for programs that need more than a forward loop (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// All, in this order: windows, windows with a derived end, the whole trace, windows in which a condition
    /// is constant.
    All,
    /// The kinds that work on an endless stream: all but the whole trace.
    Bounded,
    /// Only the whole trace, for comparison.
    Trace,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            seed: 0,
            single: false,
            holds: true,
            recompute: Recompute::Elementwise,
            checkpoints: false,
            kinds: Kinds::All,
        }
    }
}

pub fn plan(flow: &Flow, clocks: &Clocks, options: &Options) -> Plan {
    let system = System::new(flow, clocks, options);
    let mut roots: Vec<ClockId> = flow.outputs.iter().map(|output| system.root(*output)).collect();
    roots.extend(flow.var_ids().filter(|var| system.live[var.index()]).map(|var| system.root(var)));
    roots.sort_unstable();
    roots.dedup();
    let roots = roots.into_iter().map(|root| plan_root(&system, root, options)).collect();
    Plan { roots, invariants: invariants(&system), unread: unread(&system), single: options.single }
}

/// Dead equations that can fail at run time; no plan contains them.
fn unread(system: &System<'_>) -> Vec<VarId> {
    let can_fail = |var: &VarId| match system.def(*var) {
        Def::Apply(op, _) => op.can_fail(system.flow.var(*var).ty.scalar),
        _ => false,
    };
    system.flow.var_ids().filter(|var| !system.live[var.index()]).filter(can_fail).collect()
}

fn plan_root(system: &System<'_>, root: ClockId, options: &Options) -> RootPlan {
    let streams: Vec<VarId> = system.streams_of(root).collect();
    let inputs = streams.iter().copied().filter(|var| system.is_input(*var)).collect();
    let mut outputs: Vec<VarId> = Vec::new();
    for output in system.flow.outputs.iter().filter(|output| system.root(**output) == root) {
        if !outputs.contains(output) {
            outputs.push(*output);
        }
    }
    let may_be_unknown = streams.iter().copied().filter(|var| system.may_be_unknown[var.index()]).collect();
    let clock = system.root_clock(root);
    let (schedule, memory, rejected) = match retime(system, &streams, clock) {
        Ok(lags) => {
            let site = Site {
                clock,
                outputs: &outputs,
                waits_for_all: false,
                outside: &|_| Place::Nowhere,
                slot: &|_| None,
                is_given: &|var| system.is_input(var),
                is_always_unknown: &|_| false,
            };
            let lagged = lagged(system, &lags, &site);
            let memory = MemoryUse { rings: late_bytes(system, &lagged), ..MemoryUse::default() };
            (Schedule::Forward(lagged), memory, Vec::new())
        }
        Err(failure) => {
            let found = windows::find(system, root, &outputs, failure, options);
            match found.windows {
                Ok((windows, memory)) => (Schedule::Windows(Box::new(windows)), memory, found.rejected),
                Err(reason) => (Schedule::EventDriven(reason), MemoryUse::default(), found.rejected),
            }
        }
    };
    RootPlan { clock: root, inputs, outputs, schedule, rejected, may_be_unknown, memory }
}

/// Parameters and operations on them, each after its operands.
fn invariants(system: &System<'_>) -> Vec<Instruction> {
    let is_own = |var: VarId| matches!(system.def(var), Def::Known(KnownValue::Invariant(own)) | Def::Materialised(KnownValue::Invariant(own)) if *own == var);
    let mut equations = rustc_hash::FxHashMap::default();
    for equation in system.flow.equations.iter().filter(|equation| is_own(equation.out)) {
        equations.insert(equation.out.index(), equation);
    }
    let mut vars: Vec<usize> = equations.keys().copied().collect();
    vars.sort_unstable();
    let source = |var: VarId| match system.def(var) {
        Def::Known(known) | Def::Materialised(known) => Some(known.immediate()),
        _ => None,
    };
    let needs = |var: usize| -> Vec<usize> {
        let operands = equations[&var].kind.operands().filter_map(source);
        let invariants = operands.filter_map(|operand| match operand {
            Immediate::Invariant(operand) => Some(operand.index()),
            Immediate::Value(_) => None,
        });
        invariants.collect()
    };
    let order = order_within(&vars, needs).expect("streams that do not depend on time have no cycles");
    let instruction = |var: usize| {
        let equation = equations[&var];
        let read =
            |operand: VarId| Read::Here(operand, source(operand).map_or(Place::Nowhere, Place::Immediate));
        let right = match &equation.kind {
            Kind::Apply(_, operands) => Right::Apply(operands.iter().map(|operand| read(*operand)).collect()),
            Kind::Param(operand) => Right::Copy(read(*operand)),
            _ => unreachable!("only parameters and operations on them are invariants"),
        };
        Instruction { var: equation.out, clock: Box::default(), right, store: Vec::new(), is_repeated: false }
    };
    order.into_iter().map(instruction).collect()
}
