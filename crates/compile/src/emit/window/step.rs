//! `step`: the prelude, the arrivals, and the window if it closes here.

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::Windows;

use super::super::Emitter;
use super::super::assign::copy;
use super::super::reads::memory;
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::{Code, Lowered};
use crate::view::View;

impl<'a> Emitter<'a> {
    /// `step`: the prelude, the arrivals, and the window if it closes here.
    pub(super) fn step_of_windows(
        &mut self,
        windows: &'a Windows,
        guard: Option<(VarId, Polarity)>,
        max_window: usize,
    ) {
        let mut body = Lines::default();
        let mut code = self.prelude_code(windows);
        let alternatives = &windows.versions[0].region.alternatives;
        let needed = alternatives.iter().flat_map(|alternative| &alternative.conditions).map(|(var, _)| *var);
        let assumed = windows.versions.iter().filter_map(|version| version.assumes).map(|(var, _)| var);
        let arrivals = windows.arrivals.iter().map(|arrival| arrival.var);
        code.live_out.extend(needed.chain(assumed).chain(arrivals).chain(guard.map(|(guard, _)| guard)));
        code.live_out.retain(|var| !self.source.flow.inputs.contains(var));
        let lowered = self.lowered(&code);
        body.append(&lowered.lines);
        for arrival in &windows.arrivals {
            let view = self.arrived(&lowered, arrival.var);
            let ty = self.ty(arrival.var).clone();
            let present = self.presence_of_arrival(windows, &lowered, arrival.var);
            let mut put = |to: String, conditions: Vec<String>| {
                body.guarded(&conditions, |lines| copy(&view, &to, &ty, lines));
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
            if self.is_sampled(arrival.var) {
                let is_there = if present.is_empty() { "true".to_string() } else { present.join(" && ") };
                if let Some(buffer) = arrival.buffer {
                    body.line(format!("self->wf{}[n] = {is_there};", buffer.0));
                }
                if let Some(first) = arrival.first {
                    body.line(format!("if (n == 0) self->uf{} = {is_there};", first.0));
                }
                if let Some(last) = arrival.last {
                    body.line(format!("self->uf{0} = {is_there} || (n > 0 && self->uf{0});", last.0));
                }
            }
        }
        let truth = |emitter: &mut Self, var: VarId| {
            let view = emitter.arrived(&lowered, var);
            lowered.homes.element(&view, &view.offset.to_string())
        };
        let closes = guard.map(|(guard, polarity)| {
            let closes = truth(self, guard);
            if polarity == Polarity::On { closes } else { format!("!{closes}") }
        });
        let mut choice = "0".to_string();
        for (number, alternative) in alternatives.iter().enumerate().rev() {
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
        let assumed =
            windows.versions.iter().find_map(|version| version.assumes).map(|(var, _)| truth(self, var));
        if assumed.is_some() {
            for flag in ["all", "none"] {
                self.state.field(flag.into(), Element::Flag, Vec::new(), String::new(), self.precision);
            }
        }
        self.write_prelude_registers(windows, &lowered, &mut body);
        let name = self.name.clone();
        let versions: Vec<(usize, Option<bool>)> = windows
            .versions
            .iter()
            .enumerate()
            .map(|(number, version)| (number, version.assumes.map(|(_, truth)| truth)))
            .collect();
        self.functions.line("");
        let head = format!("int32_t {name}_step({name}_state *self, const {name}_in *in, {name}_out *out)");
        self.functions.block(&head, |lines| {
            lines.line("const int64_t n = self->n;");
            lines.line(format!("if (n >= {max_window}) return INT32_MIN;"));
            let unused: &[&str] = if closes.is_some() { &["in"] } else { &["in", "out"] };
            lines.function_body(unused, &body);
            if let Some(assumed) = &assumed {
                lines.line(format!("self->all = (n == 0 || self->all) && {assumed};"));
                lines.line(format!("self->none = (n == 0 || self->none) && !{assumed};"));
            }
            lines.line("self->n = n + 1;");
            let Some(closes) = &closes else {
                // The window is the whole trace: `flush` runs it.
                return lines.line("return 0;");
            };
            lines.line(format!("if (!({closes})) return 0;"));
            lines.line(format!("const int alt = {choice};"));
            lines.line("self->n = 0;");
            for (number, assumes) in &versions {
                let condition = match assumes {
                    None => String::new(),
                    Some(true) => "if (self->all) ".to_string(),
                    Some(false) => "if (self->none) ".to_string(),
                };
                lines.line(format!("{condition}return {name}_window{number}(self, n + 1, alt, out);"));
            }
            if assumed.is_some() {
                lines.line("return INT32_MIN + 1;");
            }
        });
    }

    /// `flush` of a trace that is one window.
    pub(super) fn flush_trace(&mut self) {
        let name = &self.name;
        let head = format!("int32_t {name}_flush({name}_state *self, {name}_out *out)");
        self.functions.line("");
        self.functions.block(&head, |lines| {
            lines.line("const int64_t n = self->n;");
            lines.line("self->n = 0;");
            lines.line(format!("return n == 0 ? 0 : {name}_window0(self, n, 0, out);"));
        });
    }

    /// Where an input or a result of the prelude is in the step that brings it.
    fn arrived(&mut self, lowered: &Lowered, var: VarId) -> View {
        match self.source.flow.inputs.iter().position(|input| *input == var) {
            Some(number) => memory(format!("in->{}", self.inputs[number].field), self.ty(var)),
            None => lowered.homes.seen(var, self.ty(var)),
        }
    }

    /// What must hold for an arrival to be there: a flag of the caller, or the conditions of its clock, which have arrived before it.
    fn presence_of_arrival(&mut self, windows: &'a Windows, lowered: &Lowered, var: VarId) -> Vec<String> {
        self.presence_in_loop(&windows.prelude, lowered, var)
    }

    /// The statements of the prelude, which is not late.
    fn prelude_code(&mut self, windows: &'a Windows) -> Code {
        self.loop_statements(&windows.prelude)
    }

    fn write_prelude_registers(&mut self, windows: &'a Windows, lowered: &Lowered, lines: &mut Lines) {
        self.loop_registers(&windows.prelude, lowered, lines);
    }
}
