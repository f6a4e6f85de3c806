//! Plans by windows: candidates for their ends, the prelude, and the choice of the best plan (sections 2, 4,
//! 8 and 9).

use std::cell::{Cell, RefCell};

use eddy_flow::VarId;
use eddy_flow::clocks::ClockId;
use eddy_tensor::{Op, Scalar};
use rustc_hash::FxHashSet;

use crate::copies::same_conditions;
use crate::derived_end::derived_end;
use crate::lower::{Optimisations, Site, lagged, windows};
use crate::plan::{
    Cut, Direction, Lagged, MemoryUse, Mode, NoPlan, Place, Polarity, Reason, Rejected, Windows,
};
use crate::region::{Context, Draft, Task, cycle_among, no_plan, plan_region};
use crate::retime::{Lags, Unsolvable, retime};
use crate::system::{Def, Need, System};
use crate::zones::Shape;
use crate::{Kinds, Options};

/// The plan by windows, if there is one, and the rejected conditions.
pub struct Found {
    pub windows: Result<(Windows, MemoryUse), NoPlan>,
    pub rejected: Vec<Rejected>,
}

/// Finds windows for the streams of a root that no forward loop computes.
pub fn find(
    system: &System<'_>,
    root: ClockId,
    outputs: &[VarId],
    failure: Unsolvable,
    options: &Options,
) -> Found {
    let streams: Vec<VarId> = system.streams_of(root).collect();
    let same = same_conditions(system, &streams);
    let context = Context {
        system,
        streams: &streams,
        holds: options.holds,
        same,
        budget: Cell::new(BUDGET),
        failed: RefCell::default(),
    };
    let search = Search { context, root, outputs, options, is_late: unsolvable(system, root, &streams) };
    let mut rejected = Vec::new();
    let found = match options.kinds {
        Kinds::Trace => search.whole_trace(),
        Kinds::Bounded => search
            .by_guard(&mut rejected)
            .or_else(|| search.derived())
            .or_else(|| search.by_guard_and_constant()),
        Kinds::All => search
            .by_guard(&mut rejected)
            .or_else(|| search.derived())
            .or_else(|| search.whole_trace())
            .or_else(|| search.by_guard_and_constant()),
    };
    let found = found.ok_or_else(|| search.no_plan(failure));
    Found { windows: found, rejected }
}

/// The search for windows visits at most this many cells. Training programs of a thousand equations take less
/// than a hundredth of it.
const BUDGET: usize = 10_000_000;

struct Search<'a> {
    context: Context<'a>,
    root: ClockId,
    outputs: &'a [VarId],
    options: &'a Options,
    /// Streams for which no lags exist, and those that depend on them: they need windows.
    is_late: Vec<bool>,
}

/// The loop that runs before the window.
struct Prelude {
    lags: Lags,
    is_in: Vec<bool>,
}

impl Search<'_> {
    /// Cuts time where one condition holds (kind 2).
    fn by_guard(&self, rejected: &mut Vec<Rejected>) -> Option<(Windows, MemoryUse)> {
        let mut best: Option<((VarId, bool), Prelude, Draft)> = None;
        for guard in self.candidates() {
            let found = self.try_guard(guard);
            let polarity = polarity(guard.1);
            match found {
                Err(reason) => rejected.push(Rejected { guard: guard.0, polarity, reason }),
                Ok((prelude, draft)) => {
                    let is_better = best.as_ref().is_none_or(|(.., known)| draft.cost() < known.cost());
                    let worse = if is_better {
                        best.replace((guard, prelude, draft)).map(|(guard, ..)| guard)
                    } else {
                        Some(guard)
                    };
                    rejected.extend(worse.map(|(guard, truth)| Rejected {
                        guard,
                        polarity: self::polarity(truth),
                        reason: Reason::Worse,
                    }));
                }
            }
        }
        let (guard, prelude, draft) = best?;
        let cut = Cut::Guard(guard.0, polarity(guard.1));
        Some(self.lower(cut, prelude, vec![(None, draft)], &[guard.0]))
    }

    fn try_guard(&self, guard: (VarId, bool)) -> Result<(Prelude, Draft), Reason> {
        let prelude = self.guard_prelude(&[guard.0])?;
        let draft =
            plan_region(&self.context, self.task(Mode::Guard, Some(guard), None, &prelude.is_in), None)?;
        Ok((prelude, draft))
    }

    fn guard_prelude(&self, conditions: &[VarId]) -> Result<Prelude, Reason> {
        let system = self.context.system;
        if conditions.iter().any(|condition| self.is_late[condition.index()]) {
            return Err(Reason::Inside);
        }
        if conditions.iter().any(|condition| system.may_be_unknown[condition.index()]) {
            return Err(Reason::Unknown);
        }
        self.prelude(conditions).ok_or(Reason::Inside)
    }

    fn task(
        &self,
        mode: Mode,
        guard: Option<(VarId, bool)>,
        assumes: Option<(VarId, bool)>,
        is_before: &[bool],
    ) -> Task {
        let system = self.context.system;
        let mut is_inside = vec![false; system.defs.len()];
        for var in self.context.streams {
            is_inside[var.index()] = !system.is_input(*var) && !is_before[var.index()];
        }
        let shape = Shape { clock: system.root_clock(self.root), guard, mode, assumes };
        Task {
            shape,
            order: Direction::Forward,
            is_inside,
            wanted: self.outputs.to_vec(),
            carried: Vec::new(),
            depth: 0,
        }
    }

    /// Ends the window where no required stream needs a later cycle (kind 3).
    fn derived(&self) -> Option<(Windows, MemoryUse)> {
        let prelude = self.prelude(&[])?;
        let draft =
            plan_region(&self.context, self.task(Mode::Cut, None, None, &prelude.is_in), None).ok()?;
        let derived_end = derived_end(&self.context, self.outputs, &draft)?;
        let needed: Vec<VarId> = derived_end.reads(self.context.system);
        Some(self.lower(Cut::Derived(Box::new(derived_end)), prelude, vec![(None, draft)], &needed))
    }

    /// One window (kind 4).
    fn whole_trace(&self) -> Option<(Windows, MemoryUse)> {
        let nothing = vec![false; self.context.system.defs.len()];
        let draft = plan_region(&self.context, self.task(Mode::Trace, None, None, &nothing), None).ok()?;
        let inputs: Vec<VarId> =
            self.context.streams.iter().copied().filter(|var| self.context.system.is_input(*var)).collect();
        let lags = Lags { order: inputs.into_iter().map(|var| (var, 0)).collect() };
        let prelude = Prelude { lags, is_in: nothing };
        Some(self.lower(Cut::Trace, prelude, vec![(None, draft)], &[]))
    }

    /// Two versions of the code, for windows in which a condition is always true or always false (kind 5).
    fn by_guard_and_constant(&self) -> Option<(Windows, MemoryUse)> {
        let system = self.context.system;
        // Conditions that late streams read.
        let mut candidates: Vec<VarId> = Vec::new();
        for var in self.context.streams.iter().filter(|var| self.is_late[var.index()]) {
            candidates.extend(system.conditions(system.clock(*var)).map(|(condition, _)| condition));
            if let Def::Choice { condition, .. } = system.def(*var) {
                candidates.push(*condition);
            }
        }
        let is_root = |var: &VarId| system.clock(*var) == system.root_clock(self.root);
        candidates
            .retain(|var| system.is_stream(*var) && is_root(var) && self.context.same.get(var) == Some(var));
        candidates.sort_unstable();
        candidates.dedup();
        for guard in self.candidates() {
            for constant in candidates.iter().copied().filter(|constant| *constant != guard.0) {
                let Ok(prelude) = self.guard_prelude(&[guard.0, constant]) else { continue };
                let task = |assumes| self.task(Mode::Guard, Some(guard), assumes, &prelude.is_in);
                // State carried into a window may come from any window.
                let shape = task(None).shape;
                let zones = crate::zones::zones(system, &shape);
                let any = crate::zones::evaluate_zones(system, &shape, &zones, self.context.streams, None);
                let version = |truth: bool, carried: &[VarId]| {
                    let assumes = Some((constant, truth));
                    let task = Task { carried: carried.to_vec(), ..task(assumes) };
                    Some((assumes, plan_region(&self.context, task, Some(&any)).ok()?))
                };
                // If one version reads a delay across windows, the other must carry it through.
                let mut carried: Vec<VarId> = Vec::new();
                while let (Some(yes), Some(no)) = (version(true, &carried), version(false, &carried)) {
                    let mut all = [yes.1.carried(system), no.1.carried(system)].concat();
                    all.sort_unstable();
                    all.dedup();
                    if all == carried {
                        let cut = Cut::Guard(guard.0, polarity(guard.1));
                        return Some(self.lower(cut, prelude, vec![yes, no], &[guard.0, constant]));
                    }
                    carried = all;
                }
            }
        }
        None
    }

    fn lower(
        &self,
        cut: Cut,
        prelude: Prelude,
        versions: Vec<(Option<(VarId, bool)>, Draft)>,
        needed: &[VarId],
    ) -> (Windows, MemoryUse) {
        let system = self.context.system;
        // The inputs and results of the prelude that the window reads.
        let mut shown: Vec<VarId> = needed.to_vec();
        for (_, draft) in &versions {
            shown.extend(draft.liveness.outside.iter().map(|(var, _)| *var));
            shown.extend(
                draft
                    .units
                    .iter()
                    .flat_map(|unit| unit.reads.iter().copied())
                    .filter(|var| !draft.task.is_inside[var.index()]),
            );
            shown.extend(
                draft
                    .zones
                    .alternatives
                    .iter()
                    .flat_map(|alternative| &alternative.conditions)
                    .map(|(var, _)| *var),
            );
            shown.extend(
                self.outputs
                    .iter()
                    .filter(|var| system.is_stream(**var) && !draft.task.is_inside[var.index()]),
            );
        }
        shown.sort_unstable();
        shown.dedup();
        let prelude = self.prelude_loop(&prelude.lags, &shown);
        let Options { recompute, checkpoints, .. } = *self.options;
        windows(system, cut, prelude, &versions, self.outputs, Optimisations { recompute, checkpoints })
    }

    fn prelude_loop(&self, lags: &Lags, shown: &[VarId]) -> Lagged {
        let system = self.context.system;
        let site = Site {
            clock: system.root_clock(self.root),
            outputs: shown,
            waits_for_all: true,
            outside: &|_| Place::Nowhere,
            slot: &|_| None,
            is_given: &|var| system.is_input(var),
            is_always_unknown: &|_| false,
        };
        lagged(system, lags, &site)
    }

    /// The loop that computes some conditions and bounded look-ahead before the window (section 9); `None` if
    /// no lags exist for it.
    fn prelude(&self, conditions: &[VarId]) -> Option<Prelude> {
        let system = self.context.system;
        let mut is_in = vec![false; system.defs.len()];
        let is_ahead =
            |var: &&VarId| matches!(system.def(**var), Def::Ahead { .. }) && !self.is_late[var.index()];
        let mut todo: Vec<VarId> = conditions.to_vec();
        todo.extend(self.context.streams.iter().filter(is_ahead));
        while let Some(var) = todo.pop() {
            if system.is_stream(var) && !std::mem::replace(&mut is_in[var.index()], true) {
                todo.extend(system.needs(var).map(|(operand, _)| operand));
            }
        }
        let members: Vec<VarId> = self
            .context
            .streams
            .iter()
            .copied()
            .filter(|var| is_in[var.index()] || system.is_input(*var))
            .collect();
        let lags = retime(system, &members, system.root_clock(self.root)).ok()?;
        Some(Prelude { lags, is_in })
    }

    /// Conditions that may end windows, each with both values: all conditions in use, and the booleans from
    /// which they are computed; inputs first.
    fn candidates(&self) -> Vec<(VarId, bool)> {
        let system = self.context.system;
        let root = system.root_clock(self.root);
        let is_truth = |var: VarId| {
            let ty = &system.flow.var(var).ty;
            ty.scalar == Scalar::Bool && ty.shape.is_scalar() && system.is_stream(var)
        };
        let mut todo = Vec::new();
        for var in self.context.streams {
            if let Def::Choice { condition, .. } = system.def(*var) {
                todo.push(*condition);
            }
            todo.extend(system.conditions(system.clock(*var)).map(|(condition, _)| condition));
        }
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        while let Some(var) = todo.pop() {
            if !is_truth(var) || !seen.insert(var) {
                continue;
            }
            todo.extend(
                system.needs(var).filter(|(_, need)| *need != Need::Clock).map(|(operand, _)| operand),
            );
            // A copy or a negation cuts where its operand does.
            let is_alias = match system.def(var) {
                Def::Copy(operand) => system.clock(*operand) == system.clock(var),
                Def::Apply(Op::Not, _) => true,
                _ => false,
            };
            if system.clock(var) == root && !is_alias {
                found.push(var);
            }
        }
        found.retain(|var| self.context.same[var] == *var);
        found.sort_unstable_by_key(|var| (!system.is_input(*var), *var));
        found.into_iter().flat_map(|var| [(var, true), (var, false)]).collect()
    }

    fn no_plan(&self, failure: Unsolvable) -> NoPlan {
        let system = self.context.system;
        match failure {
            Unsolvable::Cycle(cycle) => no_plan(system, cycle),
            Unsolvable::Sampled(var) => {
                let late: Vec<VarId> =
                    self.context.streams.iter().copied().filter(|var| self.is_late[var.index()]).collect();
                let found = cycle_among(system, &late);
                if found.cycle.is_empty() { no_plan(system, vec![var]) } else { found }
            }
        }
    }
}

fn polarity(truth: bool) -> Polarity {
    if truth { Polarity::On } else { Polarity::OnNot }
}

/// Streams for which no lags exist in a forward loop, and all that depend on them.
fn unsolvable(system: &System<'_>, root: ClockId, streams: &[VarId]) -> Vec<bool> {
    let clock = system.root_clock(root);
    let mut is_late = vec![false; system.defs.len()];
    let mut todo = Vec::new();
    for members in system.components(streams, |_| true) {
        if retime(system, &members, clock).is_err() {
            todo.extend(members);
        }
    }
    while let Some(var) = todo.pop() {
        if !std::mem::replace(&mut is_late[var.index()], true) {
            todo.extend(&system.users[var.index()]);
        }
    }
    is_late
}
