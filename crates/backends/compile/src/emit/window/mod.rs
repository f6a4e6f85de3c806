//! Windows of time: inputs are collected until a window closes, then sweeps run over it (sections 4 to 7, 10
//! and 12).
//!
//! ```text
//! step:     store the inputs in buffers; return 0 unless the window closes here
//! window:   for each sweep F, then I in a loop, then L, or in reverse
//!           fill the outputs, in cycle order; write the carried state
//! ```
//!
//! `t` is the cycle in the window, `n` its length, `alt` the alternative of its last zone.
//!
//! * [`step`]: the prelude, the arrivals, and the window if it closes here; [`prelude`]: the loop before
//!   windows.
//! * [`storage`]: buffers, and initial values of delays; [`sweep`]: the loops over a window.
//! * [`checkpoint`]: loops that run again, chunk by chunk; [`chunks`]: the bounds of chunks.
//! * [`nested`], [`retimed`]: units.
//! * [`derived`]: windows with a derived end; [`companions`]: values that are unknown there.
//! * [`deferred`]: sums of outer products, computed after a loop.
//! * [`read`]: the places of cells.
//! * [`frame`]: the cycles that code runs over.
//! * [`sampled`]: streams that are absent at some cycles.
//! * [`show`]: the outputs of a window.
//! * [`carry`]: the state carried into the next window.

mod carry;
mod checkpoint;
mod chunks;
mod companions;
mod deferred;
mod derived;
mod frame;
mod nested;
mod prelude;
mod read;
mod retimed;
mod sampled;
mod show;
mod step;
mod storage;
mod sweep;

use eddy_flow::{Polarity, VarId};
use eddy_imp::Parameter::{Out, State};
use eddy_imp::{Block, Expr, Linkage, Name, Parameter, Place, Stmt, Type, effects};
use eddy_plan::plan::{
    Cut, Mode, OpenEntry, Region, ScalarId, SlotId, Step, Unit, Version, Windows, Zone, ZoneEnd,
};
use rustc_hash::FxHashSet;

pub(super) use companions::Companions;
pub(super) use frame::Frame;

use super::assign::copy;
use super::{Constants, Emitter, NotCompiled, Shape};
use crate::lower::{Code, Lowered, lower};

/// The context of code in a window.
struct Context {
    /// The number of the sweep; it owns its registers of neighbours.
    sweep: usize,
    /// The streams that are computed here.
    computed: FxHashSet<VarId>,
    /// Pointers that must be declared first.
    pointers: Vec<Pointer>,
}

/// A pointer to one of two arrays.
struct Pointer {
    name: Name,
    declaration: Stmt,
    targets: [Place; 2],
}

impl Context {
    /// A context that computes nothing.
    fn nowhere() -> Context {
        Context { sweep: usize::MAX, computed: FxHashSet::default(), pointers: Vec::new() }
    }

    /// Declares the pointers that some code mentions, before it.
    fn declare_pointers(&self, code: Block) -> Block {
        // A pointer may refer to the target of another one.
        let mut mentioned = effects::free(&code);
        let mut declarations = Vec::new();
        for pointer in self.pointers.iter().rev() {
            if mentioned.contains(&pointer.name) {
                mentioned.extend(effects::free_of_stmt(&pointer.declaration));
                declarations.push(pointer.declaration.clone());
            }
        }
        declarations.reverse();
        let mut block = Block::from(declarations);
        block.append(code);
        block
    }
}

impl<'a> Emitter<'a> {
    /// Writes `step`, `flush` and the window.
    pub(super) fn windows(&mut self, windows: &'a Windows, max_window: usize) -> Result<(), NotCompiled> {
        self.check(windows)?;
        self.count("n", "cycles in the window");
        let lag = windows.prelude.max_lag;
        self.max_outputs = max_window + lag;
        self.memory_of_windows(windows, max_window);
        self.shape = match &windows.cut {
            Cut::Guard(guard, polarity) => {
                Shape::Windows { end: Some((*guard, *polarity == Polarity::On)), lag }
            }
            Cut::Derived(_) => Shape::Windows { end: None, lag },
            Cut::Trace => Shape::Trace,
        };
        self.known_delay_states(&windows.versions[0].region);
        for (number, version) in windows.versions.iter().enumerate() {
            let mut body = Block::new();
            self.version(windows, version, &mut body);
            let (n, alt) = (value("n"), value("alt"));
            self.window(format!("window{number}"), vec![State, n, alt, Out], body);
        }
        self.step_of_windows(windows, max_window);
        if self.opens && !matches!(windows.cut, Cut::Trace) && self.root.may_be_unknown.is_empty() {
            for (number, version) in windows.versions.iter().enumerate() {
                let mut body = Block::new();
                self.open_version(windows, version, &mut body);
                self.window(format!("open{number}"), vec![State, value("n"), Out], body);
            }
        }
        self.flush_windows(windows, max_window);
        Ok(())
    }

    /// A procedure that runs a window and returns as many outputs as it has cycles.
    fn window(&mut self, name: String, parameters: Vec<Parameter>, mut body: Block) {
        body.push(Stmt::LeaveIfFailed);
        body.leave(n().cast(Type::Status));
        self.procedure(name, Linkage::Private, parameters, body);
    }

    /// The window that is open when the trace ends.
    fn open_version(&mut self, windows: &'a Windows, version: &'a Version, block: &mut Block) {
        let region = &version.region;
        self.frame = Frame { is_open: true, is_cut_off: true, ..Frame::default() };
        self.n_units = 0;
        Self::chunk_of_window(region, block);
        self.steps(windows, region, 0, block);
        self.emissions(region, version, block);
        self.frame = Frame::default();
    }

    /// All steps of a region; `base` is the number of the first.
    fn steps(&mut self, windows: &'a Windows, region: &'a Region, base: usize, block: &mut Block) {
        if self.frame.is_open {
            self.open_held(region, block);
        }
        for (number, step) in region.steps.iter().enumerate() {
            match step {
                Step::Sweep(sweep) if base == 0 => self.sweep_or_chunks(region, number, sweep, block),
                Step::Sweep(sweep) => self.sweep(region, base + number, sweep, block),
                Step::Unit(Unit::Retimed(retimed)) => self.retimed(windows, retimed, block),
                Step::Unit(Unit::Nested(inner)) => self.nested(windows, (region, inner), block),
            }
        }
    }

    /// Sets values that are held from the last cycle to their value at the end of the trace.
    fn open_held(&mut self, region: &'a Region, block: &mut Block) {
        for held in region.held.iter().filter(|held| held.entry.1 == ZoneEnd::Last) {
            if let OpenEntry::Init(immediate) = &held.open {
                let (view, ty) = (self.immediate(held.entry.0, immediate), self.ty(held.entry.0).clone());
                copy(&view, &scalar_place(held.scalar), &ty, block);
            }
            if self.is_sampled(held.entry.0) {
                block.store(scalar_flag(held.scalar), true);
            }
        }
    }

    /// All sweeps of a window, the outputs, and the carried state.
    fn version(&mut self, windows: &'a Windows, version: &'a Version, block: &mut Block) {
        let region = &version.region;
        self.n_units = 0;
        if region.mode == Mode::Cut {
            self.frame.is_open = true;
            Self::chunk_of_window(region, block);
            self.steps(windows, region, 0, block);
            self.emissions(region, version, block);
            self.carry(windows, region, None, block);
            self.frame.is_open = false;
            return;
        }
        let singles: Vec<Block> = region
            .single
            .iter()
            .enumerate()
            .map(|(alternative, body)| {
                let mut block = self.body(usize::MAX, body, None, &[]);
                self.emission(region, version, Zone::Only(alternative), &mut block);
                self.carry(windows, region, Some(Zone::Only(alternative)), &mut block);
                block
            })
            .collect();
        block.when(n().equals(1), |block| {
            block.constant("t", Type::Cycle, 0);
            alternatives(singles, block);
            block.push(Stmt::LeaveIfFailed);
            block.leave(1);
        });
        Self::chunk_of_window(region, block);
        self.steps(windows, region, 0, block);
        self.emissions(region, version, block);
        let carried: Vec<Block> = last_zones(region)
            .into_iter()
            .map(|zone| {
                let mut block = Block::new();
                self.carry(windows, region, Some(zone), &mut block);
                block
            })
            .collect();
        alternatives(carried, block);
    }

    /// Programs that are not compiled run in the simulator.
    fn check(&mut self, windows: &'a Windows) -> Result<(), NotCompiled> {
        // At the end of a trace `post` is unknown, which compiled code cannot represent.
        if let (Some(var), Cut::Trace) = (self.root.may_be_unknown.first(), &windows.cut) {
            return Err(NotCompiled::Unknown(self.labels.subject(*var, "`")));
        }
        // A host finds out whether such an operation fails after all; other users would get an error that is
        // wrong.
        match self.find_companions(windows) {
            Some(var) if self.constants_are == Constants::InText => {
                Err(NotCompiled::Fails(self.labels.subject(var, "`")))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn lowered(&mut self, code: &Code) -> Lowered {
        let names = |var: VarId| self.names.of(var);
        lower(code, &names, &mut self.scratch)
    }
}

fn n() -> Expr {
    Expr::var("n")
}

/// A parameter that counts cycles, or selects the alternative of the last zone.
fn value(name: &str) -> Parameter {
    Parameter::Value(name.into(), Type::Cycle)
}

fn slot_place(slot: SlotId) -> Place {
    Place::state(format!("p{}", slot.index()))
}

fn scalar_place(scalar: ScalarId) -> Place {
    Place::state(format!("u{}", scalar.index()))
}

fn scalar_flag(scalar: ScalarId) -> Place {
    Place::state(format!("uf{}", scalar.index()))
}

/// The last zones of windows of two or more cycles.
fn last_zones(region: &Region) -> Vec<Zone> {
    region.zones.iter().copied().filter(|zone| matches!(zone, Zone::Last(_))).collect()
}

/// Code for each alternative of the last zone.
fn alternatives(mut codes: Vec<Block>, block: &mut Block) {
    let Some(last) = codes.pop() else { return };
    if codes.is_empty() {
        return block.append(last);
    }
    let arms = codes.into_iter().enumerate();
    let arms = arms.map(|(number, code)| (Expr::var("alt").equals(number), code)).collect();
    block.push(Stmt::If(arms, last));
}

/// Code for a cycle of the window.
fn at_cycle(cycle: impl Into<Expr>, inner: Block) -> Block {
    let mut block = Block::new();
    block.constant("t", Type::Cycle, cycle);
    block.append(inner);
    block
}
