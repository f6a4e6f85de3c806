//! The prelude, which runs before the window, cycle by cycle, and the arrival of its results in the window
//! (section 9).
//!
//! The prelude may have a lag: then it is a loop with rings, like a forward program, and a cycle arrives some
//! steps after its inputs.

use eddy_flow::{Polarity, VarId};
use eddy_imp::{Block, Expr, Place as ImpPlace, Type};
use eddy_plan::plan::{Arrival, Cut, Place, Read, Right as Planned, Windows};

use super::super::assign::copy;
use super::super::iteration::{Loop, before_end, t};
use super::super::{Emitter, holds};
use super::{n, scalar_flag, scalar_place};
use crate::lower::Lowered;

impl<'a> Emitter<'a> {
    /// One iteration of the prelude; the cycle that it completes is added to the window.
    pub(super) fn prelude(&mut self, windows: &'a Windows, this: &Loop<'a>, block: &mut Block) {
        let lag = windows.prelude.max_lag;
        if lag > 0 {
            self.count("t", "cycles so far");
            block.constant("t", Type::Cycle, ImpPlace::state("t"));
        }
        let mut code = self.prelude_statements(this);
        let shown = windows.prelude.emit.code.iter().filter_map(|instruction| match &instruction.right {
            Planned::Copy(Read::Here(var, Place::Ring(0))) => Some(*var),
            _ => None,
        });
        code.live_out.extend(shown.filter(|var| this.computes(*var)));
        let mut lowered = self.lowered(&code);
        self.rings_of_inputs(this, block);
        block.append(std::mem::take(&mut lowered.block));
        self.flags_of_rings(this, &lowered, block);
        let mut arriving = Block::new();
        for arrival in &windows.arrivals {
            self.arrive(this, &lowered, arrival, &mut arriving);
        }
        let mut has_come: Vec<Expr> = (lag > 0).then(|| t().ge(lag)).into_iter().collect();
        if this.unknown_at_end() > 0 {
            has_come.push(before_end(lag, this.unknown_at_end()));
        }
        let has_come = Expr::all(has_come);
        block.when(has_come.clone(), |block| block.append(arriving));
        match &windows.cut {
            Cut::Guard(guard, polarity) => {
                self.ending(windows, (*guard, *polarity), (this, &lowered), block);
            }
            Cut::Derived(derived_end) => self.derived_end(derived_end, has_come, (this, &lowered), block),
            Cut::Trace => {}
        }
        self.write_registers(this, &lowered, block);
        if lag > 0 {
            block.store(ImpPlace::state("t"), t() + 1);
        }
    }

    /// Stores an input or a result of the prelude where the window reads it.
    fn arrive(&mut self, this: &Loop<'a>, lowered: &Lowered, arrival: &Arrival, block: &mut Block) {
        let read = shown_by(this, arrival.var);
        let view = self.view_after(this, lowered, &read);
        let ty = self.ty(arrival.var).clone();
        let present = self.presence(this, lowered, &read);
        let is_there = Expr::all(present);
        let mut put = |to: ImpPlace, condition: Expr| {
            block.when(condition, |block| copy(&view, &to, &ty, block));
        };
        if let Some(buffer) = arrival.buffer {
            put(ImpPlace::state(format!("w{}", buffer.index())).index(n()), is_there.clone());
        }
        if let Some(first) = arrival.first {
            put(scalar_place(first), n().equals(0).and_then(is_there.clone()));
        }
        if let Some(last) = arrival.last {
            put(scalar_place(last), is_there.clone());
        }
        if !self.is_sampled(arrival.var) {
            return;
        }
        if let Some(buffer) = arrival.buffer {
            block.store(ImpPlace::state(format!("wf{}", buffer.index())).index(n()), is_there.clone());
        }
        if let Some(first) = arrival.first {
            block.when(n().equals(0), |block| block.store(scalar_flag(first), is_there.clone()));
        }
        if let Some(last) = arrival.last {
            let was_there = n().gt(0).and_then(scalar_flag(last).load());
            block.store(scalar_flag(last), is_there.or_else(was_there));
        }
    }

    /// Whether the window ends here, and in which alternative; evaluated before registers change.
    fn ending(
        &mut self,
        windows: &'a Windows,
        (guard, polarity): (VarId, Polarity),
        (this, lowered): (&Loop<'a>, &Lowered),
        block: &mut Block,
    ) {
        let truth = |emitter: &mut Self, var: VarId| {
            let read = shown_by(this, var);
            let view = emitter.view_after(this, lowered, &read);
            lowered.homes.first(&view)
        };
        let assumed = windows.versions.iter().find_map(|version| version.assumes);
        if let Some((assumed, _)) = assumed {
            let assumed = truth(self, assumed);
            for (flag, value) in [("all", assumed.clone()), ("none", !assumed)] {
                let flag = self.flags(flag, Vec::new());
                block.store(&flag, n().equals(0).or_else(flag.load()).and_then(value));
            }
        }
        let closes = truth(self, guard);
        block.constant("closes", Type::Bool, holds(polarity, closes));
        let mut choice = Expr::from(0);
        for (number, alternative) in windows.versions[0].region.alternatives.iter().enumerate().rev() {
            let conditions = alternative.conditions.iter();
            let conditions = conditions.map(|(var, value)| {
                let condition = truth(self, *var);
                if *value { condition } else { !condition }
            });
            choice = Expr::choice(Expr::all(conditions), number, choice);
        }
        block.constant("alt", Type::Cycle, choice);
    }
}

/// The read of an input or a result in the prelude's outputs.
pub(super) fn shown_by(this: &Loop<'_>, var: VarId) -> Read {
    let own = this.lagged.emit.code.iter().find(|instruction| instruction.var == var);
    match own.map(|instruction| &instruction.right) {
        Some(Planned::Copy(read)) => read.clone(),
        _ => Read::Here(var, Place::Ring(0)),
    }
}
