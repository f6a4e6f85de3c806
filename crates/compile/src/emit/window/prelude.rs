//! What runs before the window, cycle by cycle, and what of it arrives in the window (section 9).
//!
//! The prelude may be late: then it is a loop with rings, as forward programs are, and a cycle arrives some steps after its inputs did.

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::{Arrival, Cut, Place, Read, Right as Planned, Windows};

use super::super::Emitter;
use super::super::assign::copy;
use super::super::iteration::{Loop, before_end};
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::Lowered;

impl<'a> Emitter<'a> {
    /// One iteration of the prelude; the cycle that it completes goes into the window.
    pub(super) fn prelude(&mut self, windows: &'a Windows, this: &Loop<'a>, lines: &mut Lines) {
        let lag = windows.prelude.max_lag;
        if lag > 0 {
            self.count("t", "cycles so far");
            lines.line("const int64_t t = self->t;");
        }
        let mut code = self.prelude_statements(this);
        let shown = windows.prelude.emit.code.iter().filter_map(|instruction| match &instruction.right {
            Planned::Copy(Read::Here(var, Place::Ring(0))) => Some(*var),
            _ => None,
        });
        code.live_out.extend(shown.filter(|var| this.computes(*var)));
        let lowered = self.lowered(&code);
        self.rings_of_inputs(this, lines);
        lines.append(&lowered.lines);
        self.use_conditions(this, &lowered, lines);
        self.flags_of_rings(this, &lowered, lines);
        let mut arriving = Lines::default();
        for arrival in &windows.arrivals {
            self.arrive(this, &lowered, arrival, &mut arriving);
        }
        let mut has_come: Vec<String> = (lag > 0).then(|| format!("t >= {lag}")).into_iter().collect();
        if this.unknown_at_end() > 0 {
            has_come.push(before_end(lag, this.unknown_at_end()));
        }
        lines.guarded(&has_come, |lines| lines.append(&arriving));
        match &windows.cut {
            Cut::Guard(guard, polarity) => {
                self.ending(windows, (*guard, *polarity), (this, &lowered), lines);
            }
            Cut::Derived(closing) => self.derived_end(closing, &has_come, (this, &lowered), lines),
            Cut::Trace => {}
        }
        self.write_registers(this, &lowered, lines);
        if lag > 0 {
            lines.line("self->t = t + 1;");
        }
    }

    /// A field of the state that counts, from 0.
    pub(super) fn count(&mut self, name: &str, comment: &str) {
        if self.state.find(name).is_none() {
            self.state.field(name.into(), Element::Count, Vec::new(), comment.into(), self.precision);
            self.reset_state.line(format!("self->{name} = 0;"));
        }
    }

    /// Puts an input or a result of the prelude where the window reads it.
    fn arrive(&mut self, this: &Loop<'a>, lowered: &Lowered, arrival: &Arrival, lines: &mut Lines) {
        let read = shown_by(this, arrival.var);
        let view = self.view_after(this, lowered, &read);
        let ty = self.ty(arrival.var).clone();
        let present = self.presence(this, lowered, &read);
        let mut put = |to: String, conditions: Vec<String>| {
            lines.guarded(&conditions, |lines| copy(&view, &to, &ty, lines));
        };
        if let Some(buffer) = arrival.buffer {
            put(format!("self->w{}[n]", buffer.0), present.clone());
        }
        if let Some(first) = arrival.first {
            put(format!("self->u{}", first.0), [vec!["n == 0".to_string()], present.clone()].concat());
        }
        if let Some(last) = arrival.last {
            put(format!("self->u{}", last.0), present.clone());
        }
        if !self.is_sampled(arrival.var) {
            return;
        }
        let is_there = if present.is_empty() { "true".to_string() } else { present.join(" && ") };
        if let Some(buffer) = arrival.buffer {
            lines.line(format!("self->wf{}[n] = {is_there};", buffer.0));
        }
        if let Some(first) = arrival.first {
            lines.line(format!("if (n == 0) self->uf{} = {is_there};", first.0));
        }
        if let Some(last) = arrival.last {
            lines.line(format!("self->uf{0} = {is_there} || (n > 0 && self->uf{0});", last.0));
        }
    }

    /// Whether the window ends here, and how: before registers change.
    fn ending(
        &mut self,
        windows: &'a Windows,
        (guard, polarity): (VarId, Polarity),
        (this, lowered): (&Loop<'a>, &Lowered),
        lines: &mut Lines,
    ) {
        let truth = |emitter: &mut Self, var: VarId| {
            let read = shown_by(this, var);
            let view = emitter.view_after(this, lowered, &read);
            lowered.homes.element(&view, &view.offset.to_string())
        };
        let assumed = windows.versions.iter().find_map(|version| version.assumes);
        if let Some((assumed, _)) = assumed {
            let assumed = truth(self, assumed);
            for flag in ["all", "none"] {
                if self.state.find(flag).is_none() {
                    self.state.field(flag.into(), Element::Flag, Vec::new(), String::new(), self.precision);
                }
            }
            lines.line(format!("self->all = (n == 0 || self->all) && {assumed};"));
            lines.line(format!("self->none = (n == 0 || self->none) && !{assumed};"));
        }
        let closes = truth(self, guard);
        let is_not = if polarity == Polarity::On { "" } else { "!" };
        lines.line(format!("const bool closes = {is_not}{closes};"));
        let mut choice = "0".to_string();
        for (number, alternative) in windows.versions[0].region.alternatives.iter().enumerate().rev() {
            let conditions: Vec<String> = alternative
                .conditions
                .iter()
                .map(|(var, value)| {
                    let text = truth(self, *var);
                    if *value { text } else { format!("!{text}") }
                })
                .collect();
            choice = format!("({}) ? {number} : {choice}", conditions.join(" && "));
        }
        lines.line(format!("const int alt = {choice};"));
    }
}

/// Where the prelude shows an input or a result.
pub(super) fn shown_by(this: &Loop<'_>, var: VarId) -> Read {
    let own = this.lagged.emit.code.iter().find(|instruction| instruction.var == var);
    match own.map(|instruction| &instruction.right) {
        Some(Planned::Copy(read)) => read.clone(),
        _ => Read::Here(var, Place::Ring(0)),
    }
}
