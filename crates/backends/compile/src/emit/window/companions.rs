//! Values that are unknown where a window with a derived end ends.
//!
//! There `post` and `fby back` have no value. No live result depends on them, so the code may continue with
//! any value; but an operation that can fail must not be applied to one. So each stream on which such an
//! operation depends gets a companion, a flag that says whether it is known, and the operation is guarded by
//! its own:
//!
//! ```text
//! a = x[t + 1]       a_known = t + 1 < n && x_known[t + 1]
//! b = a / y          if (a_known && y_known) b = a / y
//! ```

use eddy_flow::VarId;
use eddy_imp::{Expr, Place as ImpPlace};
use eddy_plan::plan::{
    BufferId, Instruction, Mode, Place, Read, Region, Right as Planned, ScalarId, Step, Sweep, Unit, Windows,
};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::Emitter;
use super::super::assign::Write;
use super::super::forward::truth;
use super::super::iteration::t;
use super::{Context, n};
use crate::lower::{Lowered, Operand, Right, Statement, can_fail};

/// Streams and their companions.
pub(in super::super) type Companions = FxHashMap<VarId, VarId>;

pub(super) fn bool_type() -> Type {
    Type { scalar: Scalar::Bool, shape: Shape::scalar() }
}

impl<'a> Emitter<'a> {
    /// Finds the streams that need a companion. Returns a stream that may fail but cannot have one, because
    /// loops inside of the window have no companions.
    pub(super) fn find_companions(&mut self, windows: &'a Windows) -> Option<VarId> {
        let mut refused = None;
        for version in windows.versions.iter().filter(|version| version.region.mode == Mode::Cut) {
            let streams = Streams::new(&version.region);
            let unknown = streams.unknown();
            let fails = |instruction: &&Instruction| {
                matches!(instruction.right, Planned::Apply(_)) && unknown.contains(&instruction.var) && {
                    let right = Right::Apply(self.operation(instruction.var), Vec::new());
                    can_fail(&self.statement_of(instruction.var, right))
                }
            };
            let mut todo: Vec<VarId> =
                streams.code.iter().copied().filter(fails).map(|one| one.var).collect();
            let mut needed: FxHashSet<VarId> = FxHashSet::default();
            while let Some(var) = todo.pop() {
                if needed.insert(var) {
                    todo.extend(streams.made_of(var).filter(|operand| unknown.contains(operand)));
                }
            }
            let mut needed: Vec<VarId> = needed.into_iter().collect();
            needed.sort_unstable();
            refused = refused.or_else(|| needed.iter().copied().find(|var| streams.of_units.contains(var)));
            for var in needed {
                let companion = self.names.step_to(var);
                self.companions.entry(var).or_insert(companion);
            }
        }
        refused
    }

    /// The companion of a stream, in code that needs it.
    pub(super) fn companion(&self, var: VarId) -> Option<VarId> {
        let is_derived = self.frame.is_open && !self.frame.is_cut_off && self.frame.is_outermost();
        self.companions.get(&var).copied().filter(|_| is_derived)
    }

    /// The statements that compute the companion of a stream.
    pub(super) fn companion_code(
        &mut self,
        context: &mut Context,
        instruction: &'a Instruction,
    ) -> Vec<Statement> {
        let var = instruction.var;
        let Some(own) = self.companion(var) else { return Vec::new() };
        let mut code = Vec::new();
        let mut all: Vec<Operand> = instruction
            .clock
            .iter()
            .filter_map(|condition| self.certainty(context, &condition.read))
            .collect();
        let never = || truth(false);
        match &instruction.right {
            Planned::Copy(read) => all.extend(self.certainty(context, read)),
            Planned::Apply(reads) => {
                all.extend(reads.iter().filter_map(|read| self.certainty(context, read)));
            }
            Planned::Choice { condition, yes, no } => {
                all.extend(self.certainty(context, condition));
                let [yes, no] = [yes, no].map(|read| self.certainty(context, read));
                if yes.is_some() || no.is_some() {
                    let condition = self.read(context, condition);
                    all.push(self.chosen(var, (condition, yes, no), &mut code));
                }
            }
            Planned::Carried { is_tracked: true, init, .. } => {
                let (certain, flag) =
                    (self.tracked_certainty(context.sweep, var), self.tracker(context.sweep, var).1);
                let init = self.certainty(context, init);
                all.push(self.chosen(var, (truth(flag), Some(certain), init), &mut code));
            }
            Planned::Tracked { .. } => {
                let (certain, flag) =
                    (self.tracked_certainty(context.sweep, var), self.tracker(context.sweep, var).1);
                all.push(self.chosen(var, (truth(flag), Some(certain), Some(never())), &mut code));
            }
            // A carried value is known.
            Planned::Carried { slot, init, .. } => {
                let flag = slot.and_then(|slot| self.slot_flag(var, slot, init));
                let init = self.certainty(context, init);
                match (slot, flag) {
                    (None, _) => all.extend(init),
                    (Some(_), Some(flag)) if init.is_some() => {
                        all.push(self.chosen(var, (truth(flag), None, init), &mut code));
                    }
                    _ => {}
                }
            }
            Planned::Ahead { next: Some(next), .. } => {
                let next = self.certainty(context, next);
                let has_next = truth((t() + 1).lt(n()));
                all.push(self.chosen(var, (has_next, next, Some(never())), &mut code));
            }
            Planned::Ahead { .. } => all.push(never()),
            other => unreachable!("a closed window has no {other:?}"),
        }
        let mut certain = all.pop().unwrap_or_else(|| truth(true));
        for other in all {
            let both = self.names.step_to(var);
            code.push(self.about(both, var, Right::Apply(Op::And, vec![certain, other])));
            certain = Operand::Var(both);
        }
        code.push(self.about(own, var, Right::Copy(certain)));
        code
    }

    /// A choice between the companions of two values; a missing companion counts as true.
    fn chosen(
        &mut self,
        var: VarId,
        (condition, yes, no): (Operand, Option<Operand>, Option<Operand>),
        code: &mut Vec<Statement>,
    ) -> Operand {
        let [yes, no] = [yes, no].map(|certain| certain.unwrap_or_else(|| truth(true)));
        let chosen = self.names.step_to(var);
        code.push(self.about(chosen, var, Right::Choice(condition, yes, no)));
        Operand::Var(chosen)
    }

    fn about(&self, own: VarId, var: VarId, right: Right) -> Statement {
        let statement = self.statement_of(var, right);
        let comment = format!("is it known: {}", statement.comment);
        Statement { var: own, ty: bool_type(), comment, ..statement }
    }

    /// Whether an operand is known; `None` if it always is.
    fn certainty(&mut self, context: &mut Context, read: &Read) -> Option<Operand> {
        let own = self.companion(read.var())?;
        match read {
            Read::Here(var, Place::Local) if context.computed.contains(var) => Some(Operand::Var(own)),
            Read::Here(var, place) => Some(truth(self.kept_certainty(context, *var, place, t())?)),
            Read::Before { var, first, inner } => {
                let first = self.kept_certainty(context, *var, first, t() - 1);
                let inner = self.kept_certainty(context, *var, inner, t() - 1);
                if first == inner {
                    return first.map(truth);
                }
                let [first, inner] = [first, inner].map(|place| place.map_or(Expr::Bool(true), Expr::from));
                Some(truth(Expr::choice(t().equals(1), first, inner)))
            }
            // Such a window has no separate last cycle.
            Read::After { var, inner, .. } => {
                Some(truth(self.kept_certainty(context, *var, inner, t() + 1)?))
            }
        }
    }

    fn kept_certainty(&mut self, context: &Context, var: VarId, place: &Place, at: Expr) -> Option<ImpPlace> {
        match place {
            Place::Neighbour => Some(self.register_certainty(context.sweep, var)),
            Place::Buffer(buffer) => Some(self.entry_certainty(*buffer, at)),
            Place::Scalar(scalar) => Some(self.scalar_certainty(*scalar)),
            _ => None,
        }
    }

    /// Where the companion of a register is stored; below, those of buffers, scalars and registers of sampled
    /// delays.
    pub(super) fn register_certainty(&mut self, sweep: usize, var: VarId) -> ImpPlace {
        self.state_flag(&format!("rk{sweep}"), var)
    }

    pub(super) fn entry_certainty(&mut self, buffer: BufferId, at: Expr) -> ImpPlace {
        self.certainties_of_buffer(buffer).index(self.index(buffer, at))
    }

    pub(super) fn certainties_of_buffer(&mut self, buffer: BufferId) -> ImpPlace {
        let is_chunked = self.chunked.contains(&buffer.index());
        let (letter, entries) =
            if is_chunked { ("c", self.chunk_entries()) } else { ("w", self.max_outputs) };
        self.flags(format!("{letter}k{}", buffer.index()), vec![entries])
    }

    pub(super) fn scalar_certainty(&mut self, scalar: ScalarId) -> ImpPlace {
        self.flags(format!("uk{}", scalar.index()), Vec::new())
    }

    pub(super) fn tracker_certainty(&mut self, sweep: usize, shift: VarId) -> ImpPlace {
        self.state_flag(&format!("xk{sweep}"), shift)
    }

    fn tracked_certainty(&mut self, sweep: usize, shift: VarId) -> Operand {
        truth(self.tracker_certainty(sweep, shift))
    }

    /// The register of a sampled delay takes the companion of its operand together with its value.
    pub(super) fn track_certainty(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        (shift, read): (VarId, &Read),
        conditions: Vec<Expr>,
    ) -> Option<Write> {
        self.companion(shift)?;
        let certain = self.certainty(context, read).unwrap_or_else(|| truth(true));
        let view = match certain {
            Operand::Seen(view) => view,
            Operand::Var(own) => lowered.homes.seen(own, &bool_type()),
        };
        let to = self.tracker_certainty(context.sweep, shift);
        Some(Write { to, view, ty: bool_type(), conditions, flag: None })
    }
}

struct Streams<'p> {
    code: Vec<&'p Instruction>,
    sweeps: Vec<&'p Sweep>,
    /// Streams that loops inside of the window compute.
    of_units: FxHashSet<VarId>,
}

impl<'p> Streams<'p> {
    fn new(region: &'p Region) -> Streams<'p> {
        let mut streams = Streams { code: Vec::new(), sweeps: Vec::new(), of_units: FxHashSet::default() };
        for step in &region.steps {
            match step {
                Step::Sweep(sweep) => {
                    streams.code.extend(sweep.bodies.iter().flat_map(|body| &body.code));
                    streams.sweeps.push(sweep);
                }
                Step::Unit(Unit::Retimed(retimed)) => {
                    let body = retimed.lagged.body.iter().map(|late| &late.instruction);
                    streams.of_units.extend(body.clone().map(|instruction| instruction.var));
                    streams.code.extend(body);
                }
                // Nested windows are closed: everything is known there.
                Step::Unit(Unit::Nested(_)) => {}
            }
        }
        streams
    }

    /// The operands of a stream.
    fn made_of(&self, var: VarId) -> impl Iterator<Item = VarId> {
        let own = self.code.iter().filter(move |instruction| instruction.var == var);
        let trackers = self.sweeps.iter().flat_map(|sweep| &sweep.trackers);
        let tracked = trackers.filter(move |tracker| tracker.shift == var).flat_map(|tracker| &tracker.next);
        own.flat_map(|instruction| Region::reads(instruction)).chain(tracked).map(Read::var)
    }

    /// The streams that may be unknown: delays into the future, and everything that depends on them.
    fn unknown(&self) -> FxHashSet<VarId> {
        let mut unknown: FxHashSet<VarId> = FxHashSet::default();
        loop {
            let n = unknown.len();
            for instruction in &self.code {
                let is_ahead = matches!(instruction.right, Planned::Ahead { .. } | Planned::Tracked { .. });
                if is_ahead || self.made_of(instruction.var).any(|operand| unknown.contains(&operand)) {
                    unknown.insert(instruction.var);
                }
            }
            if unknown.len() == n {
                return unknown;
            }
        }
    }
}
