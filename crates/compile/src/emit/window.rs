//! Windows of time: inputs are collected until one closes, then sweeps run over it (sections 4 to 7, 10 and 12).
//!
//! ```text
//! step:     put the inputs into the buffers; return 0 unless the window closes here
//! window:   F, then I in a loop, then L, or the other way round, for each sweep
//!           fill the outputs, in cycle order; write what is carried
//! ```
//!
//! `t` is the cycle in the window, `n` its length, `alt` which alternative of its last zone holds.

use eddy_flow::{Polarity, VarId};
use eddy_plan::plan::{
    Body, Condition, Cut, Direction, Instruction, Mode, Place, Read, Region, Right as Planned, Scalar,
    Source, Step, Store, Sweep, Version, Windows, Zone,
};
use eddy_tensor::Type;
use rustc_hash::FxHashSet;

use super::forward::{copy, truth};
use super::reads::memory;
use super::{Emitter, NotCompiled};
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::{Code, Group, Lowered, Operand, Right, lower};
use crate::view::{Root, View};

/// Where code of a window is.
struct Context {
    /// The number of the sweep; registers of neighbours are its own.
    sweep: usize,
    /// The streams that are computed here.
    computed: FxHashSet<VarId>,
    /// Pointers that must be declared first.
    pointers: Lines,
    n_pointers: usize,
}

impl<'a> Emitter<'a> {
    /// Writes `step`, `flush` and the window.
    pub(super) fn windows(&mut self, windows: &'a Windows, max_window: usize) -> Result<(), NotCompiled> {
        check(windows, self)?;
        let Cut::Guard(guard, polarity) = &windows.cut else { return Err(NotCompiled::Windows) };
        self.state.field(
            "n".into(),
            Element::Count,
            Vec::new(),
            "cycles in the window".into(),
            self.precision,
        );
        self.reset_state.line("self->n = 0;");
        for (number, buffer) in windows.buffers.iter().enumerate() {
            let ty = self.ty(buffer.vars[0]);
            let size = buffer
                .vars
                .iter()
                .map(|var| self.ty(*var).shape.iter().product::<usize>())
                .max()
                .unwrap_or(1);
            let mut dimensions = vec![max_window];
            if buffer.vars.iter().any(|var| !self.ty(*var).shape.is_scalar()) {
                dimensions.push(size);
            }
            let names: Vec<String> = buffer.vars.iter().map(|var| self.label(*var)).collect();
            let (element, precision) = (Element::Value(ty.scalar), self.precision);
            self.state.field(format!("w{number}"), element, dimensions, names.join("; "), precision);
            if buffer.vars.iter().any(|var| self.is_sampled(*var)) {
                self.state.field(
                    format!("wf{number}"),
                    Element::Flag,
                    vec![max_window],
                    String::new(),
                    precision,
                );
            }
        }
        for (number, Scalar { var, .. }) in windows.scalars.iter().enumerate() {
            let ty = self.ty(*var);
            let comment = self.label(*var);
            self.state.value(format!("u{number}"), ty.scalar, &ty.shape, comment, self.precision);
            if self.is_sampled(*var) {
                self.state.field(
                    format!("uf{number}"),
                    Element::Flag,
                    Vec::new(),
                    String::new(),
                    self.precision,
                );
            }
        }
        for (number, carried) in windows.carried.iter().enumerate() {
            let ty = self.ty(carried.shift);
            let comment = self.label(carried.shift);
            self.state.value(format!("p{number}"), ty.scalar, &ty.shape, comment, self.precision);
        }
        let name = self.name.clone();
        for (number, version) in windows.versions.iter().enumerate() {
            let mut body = Lines::default();
            self.version(windows, version, &mut body);
            self.functions.line("");
            let head = format!(
                "static int32_t {name}_window{number}({name}_state *self, int64_t n, int alt, {name}_out *out)"
            );
            self.functions.block(&head, |lines| {
                lines.line("int32_t error = 0;");
                lines.line("(void)self;");
                lines.line("(void)alt;");
                lines.line("(void)out;");
                lines.append(&body);
                lines.line("return error ? -error : (int32_t)n;");
            });
        }
        self.step_of_windows(windows, (*guard, *polarity), max_window);
        self.functions.line("");
        self.functions.block(
            &format!("int32_t {name}_flush({name}_state *self, {name}_out *out)"),
            |lines| {
                lines.line("(void)self;");
                lines.line("(void)out;");
                lines.line("return 0;");
            },
        );
        Ok(())
    }

    /// `step`: the prelude, the arrivals, and the window if it closes here.
    fn step_of_windows(&mut self, windows: &'a Windows, guard: (VarId, Polarity), max_window: usize) {
        let mut body = Lines::default();
        let mut code = self.prelude_code(windows);
        let alternatives = &windows.versions[0].region.alternatives;
        let needed = alternatives.iter().flat_map(|alternative| &alternative.conditions).map(|(var, _)| *var);
        let assumed = windows.versions.iter().filter_map(|version| version.assumes).map(|(var, _)| var);
        let arrivals = windows.arrivals.iter().map(|arrival| arrival.var);
        code.live_out.extend(needed.chain(assumed).chain(arrivals).chain([guard.0]));
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
        let (guard, polarity) = guard;
        let closes = truth(self, guard);
        let closes = if polarity == Polarity::On { closes } else { format!("!{closes}") };
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
            lines.line("int32_t error = 0;");
            lines.line("const int64_t n = self->n;");
            lines.line("(void)self;");
            lines.line("(void)in;");
            lines.line("(void)out;");
            lines.line(format!("if (n >= {max_window}) return INT32_MIN;"));
            lines.append(&body);
            lines.line("if (error) return -error;");
            if let Some(assumed) = &assumed {
                lines.line(format!("self->all = (n == 0 || self->all) && {assumed};"));
                lines.line(format!("self->none = (n == 0 || self->none) && !{assumed};"));
            }
            lines.line("self->n = n + 1;");
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

    fn lowered(&mut self, code: &Code) -> Lowered {
        let names = |var: VarId| self.names.of(var);
        lower(code, &names, self.precision, &mut self.scratch)
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

    /// All sweeps of a window, the outputs, and what is carried.
    fn version(&mut self, windows: &'a Windows, version: &'a Version, lines: &mut Lines) {
        let region = &version.region;
        let singles: Vec<Lines> = region
            .single
            .iter()
            .enumerate()
            .map(|(alternative, body)| {
                let mut lines = self.body(usize::MAX, body, None);
                self.emission(region, version, Zone::Only(alternative), &mut lines);
                self.carry(windows, region, Zone::Only(alternative), &mut lines);
                lines
            })
            .collect();
        lines.block("if (n == 1)", |lines| {
            lines.line("const int64_t t = 0;");
            lines.line("(void)t;");
            alternatives(&singles, lines);
            lines.line("return error ? -error : 1;");
        });
        for (number, step) in region.steps.iter().enumerate() {
            let Step::Sweep(sweep) = step else { unreachable!("units were refused") };
            self.sweep(region, number, sweep, lines);
        }
        self.emissions(region, version, lines);
        let carried: Vec<Lines> = last_zones(region)
            .into_iter()
            .map(|zone| {
                let mut lines = Lines::default();
                self.carry(windows, region, zone, &mut lines);
                lines
            })
            .collect();
        alternatives(&carried, lines);
    }

    /// One sweep: the first and the last cycle are peeled off the loop.
    fn sweep(&mut self, region: &'a Region, number: usize, sweep: &'a Sweep, lines: &mut Lines) {
        let of = |zone: Zone| region.zone_id(zone).map(|id| &sweep.bodies[id.0]);
        let body = |emitter: &mut Self, zone: Zone| match of(zone) {
            Some(body) => emitter.body(number, body, Some((sweep, zone))),
            None => Lines::default(),
        };
        let first = body(self, Zone::First);
        let inner = if sweep.is_straight { Lines::default() } else { body(self, Zone::Inner) };
        let lasts: Vec<Lines> = last_zones(region).into_iter().map(|zone| body(self, zone)).collect();
        let at = |index: &str, inner: &dyn Fn(&mut Lines), lines: &mut Lines| {
            lines.block("", |lines| {
                lines.line(format!("const int64_t t = {index};"));
                lines.line("(void)t;");
                inner(lines);
            });
        };
        lines.line(format!(
            "/* sweep {number}, {} */",
            if sweep.direction == Direction::Forward { "forwards" } else { "backwards" }
        ));
        let write_first = |lines: &mut Lines| {
            if !first.is_empty() {
                at("0", &|lines| lines.append(&first), lines);
            }
        };
        let write_last = |lines: &mut Lines| {
            if lasts.iter().any(|last| !last.is_empty()) {
                at("n - 1", &|lines| alternatives(&lasts, lines), lines);
            }
        };
        let head = match sweep.direction {
            Direction::Forward => "for (int64_t t = 1; t < n - 1; t++)",
            Direction::Backward => "for (int64_t t = n - 2; t > 0; t--)",
        };
        let write_inner = |lines: &mut Lines| {
            if !inner.is_empty() {
                lines.block(head, |lines| lines.append(&inner));
            }
        };
        match sweep.direction {
            Direction::Forward => {
                write_first(lines);
                write_inner(lines);
                write_last(lines);
            }
            Direction::Backward => {
                write_last(lines);
                write_inner(lines);
                write_first(lines);
            }
        }
    }

    /// The code of one cycle in one zone.
    fn body(&mut self, sweep: usize, body: &'a Body, of: Option<(&'a Sweep, Zone)>) -> Lines {
        let mut context = Context {
            sweep,
            computed: body.code.iter().map(|instruction| instruction.var).collect(),
            pointers: Lines::default(),
            n_pointers: 0,
        };
        let mut code = self.body_code(&mut context, body);
        let neighbours: Vec<VarId> = of.map_or(Vec::new(), |(sweep, zone)| {
            let is_last_run = match sweep.direction {
                Direction::Forward => matches!(zone, Zone::Last(_)),
                Direction::Backward => zone == Zone::First,
            };
            if is_last_run { Vec::new() } else { sweep.neighbours.clone() }
        });
        for var in neighbours.iter().filter(|var| context.computed.contains(var)) {
            code.live_out.push(*var);
            let register = self.register(context.sweep, *var);
            code.in_place.insert(*var, register);
        }
        let latches =
            of.filter(|(_, zone)| *zone == Zone::Inner).map_or(&[][..], |(sweep, _)| &sweep.latches);
        code.live_out.extend(latches.iter().map(|latch| latch.var));
        let lowered = self.lowered(&code);
        let mut lines = Lines::default();
        lines.append(&context.pointers);
        lines.append(&lowered.lines);
        self.flags_of_stores(&mut context, &lowered, body, &mut lines);
        for latch in latches {
            let view = lowered.homes.seen(latch.var, self.ty(latch.var));
            let (to, ty) = (format!("self->u{}", latch.scalar.0), self.ty(latch.var).clone());
            lines.guarded(&["t == n - 2".to_string()], |lines| copy(&view, &to, &ty, lines));
        }
        // Registers take their values at once, as those of forward loops do.
        let mut writes = Vec::new();
        for var in neighbours.iter().filter(|var| context.computed.contains(var)) {
            let (to, ty) = (self.register(context.sweep, *var), self.ty(*var).clone());
            writes.push((to, lowered.homes.seen(*var, &ty), ty));
        }
        write_at_once(writes, self, &mut lines);
        lines
    }

    /// Says of streams on sampled clocks whether they are there, where they are kept.
    fn flags_of_stores(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        body: &'a Body,
        lines: &mut Lines,
    ) {
        for instruction in &body.code {
            if !self.is_sampled(instruction.var) {
                continue;
            }
            let conditions = self.presence_after(context, lowered, &instruction.clock);
            let is_there = if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
            for store in &instruction.store {
                match store {
                    Store::Buffer(buffer) => lines.line(format!("self->wf{}[t] = {is_there};", buffer.0)),
                    Store::Scalar(scalar) => lines.line(format!("self->uf{} = {is_there};", scalar.0)),
                }
            }
        }
    }

    /// Conditions as C expressions, when all statements have run.
    fn presence_after(
        &mut self,
        context: &mut Context,
        lowered: &Lowered,
        clock: &'a [Condition],
    ) -> Vec<String> {
        let mut texts = Vec::new();
        for condition in clock {
            let view = match self.read(context, &condition.read) {
                Operand::Seen(view) => view,
                Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
            };
            let element = lowered.homes.element(&view, &view.offset.to_string());
            texts.push(if condition.polarity == Polarity::On { element } else { format!("!{element}") });
        }
        texts
    }

    /// The statements of a body.
    fn body_code(&mut self, context: &mut Context, body: &'a Body) -> Code {
        let mut code = Code::default();
        for instruction in &body.code {
            let conditions: Vec<(Operand, bool)> = instruction
                .clock
                .iter()
                .map(|condition| (self.read(context, &condition.read), condition.polarity == Polarity::On))
                .collect();
            let right = self.planned(context, instruction);
            let statement = self.statement_of(instruction.var, right);
            match code.groups.last_mut() {
                Some(group) if group.conditions == conditions => group.statements.push(statement),
                _ => code.groups.push(Group { conditions, statements: vec![statement] }),
            }
            for condition in &instruction.clock {
                if context.computed.contains(&condition.read.var()) {
                    code.live_out.push(condition.read.var());
                }
            }
            for store in &instruction.store {
                let place = match store {
                    Store::Buffer(buffer) => format!("self->w{}[t]", buffer.0),
                    Store::Scalar(scalar) => format!("self->u{}", scalar.0),
                };
                code.exports.entry(instruction.var).or_default().push(place);
            }
        }
        code
    }

    fn planned(&mut self, context: &mut Context, instruction: &'a Instruction) -> Right {
        let var = instruction.var;
        match &instruction.right {
            Planned::Copy(read) => Right::Copy(self.read(context, read)),
            Planned::Apply(reads) => {
                let operands = reads.iter().map(|read| self.read(context, read)).collect();
                self.by_columns(Right::Apply(self.operation(var), operands))
            }
            Planned::Choice { condition, yes, no } => {
                let [condition, yes, no] = [condition, yes, no].map(|read| self.read(context, read));
                Right::Choice(condition, yes, no)
            }
            Planned::Carried { slot: Some(slot), init, .. } => {
                let text = format!("self->p{}", slot.0);
                let carried = Operand::Seen(memory(text.clone(), self.ty(var)));
                match self.initial(init) {
                    Some(view) => {
                        self.set_once(&text, &view, var);
                        Right::Copy(carried)
                    }
                    None => {
                        let flag = self.state_flag("f", var);
                        self.reset_state.line(format!("{flag} = false;"));
                        let init = self.read(context, init);
                        Right::Choice(truth(flag), carried, init)
                    }
                }
            }
            Planned::Carried { slot: None, init, .. } => Right::Copy(self.read(context, init)),
            Planned::Ahead { next: Some(next), .. } => Right::Copy(self.read(context, next)),
            Planned::Ahead { init: Some(init), .. } => Right::Copy(self.read(context, init)),
            other => unreachable!("a closed window has no {other:?}"),
        }
    }

    /// Sets a slot when the state is reset; what was learnt is kept by `reset_state`.
    fn set_once(&mut self, text: &str, view: &View, var: VarId) {
        if self.is_set.insert(text.to_string()) {
            let mut lines = Lines::default();
            copy(view, text, self.ty(var), &mut lines);
            let is_learnt = self.source.flow.memory.iter().any(|memory| memory.var == var);
            let to = if is_learnt { &mut self.reset } else { &mut self.reset_state };
            to.append(&lines);
        }
    }

    /// What an instruction reads.
    fn read(&mut self, context: &mut Context, read: &Read) -> Operand {
        match read {
            Read::Here(var, Place::Local) if context.computed.contains(var) => Operand::Var(*var),
            Read::Here(var, place) => Operand::Seen(self.place(context, *var, place, "t")),
            Read::Before { var, first, inner } => {
                let first = self.place(context, *var, first, "(t - 1)");
                let inner = self.place(context, *var, inner, "(t - 1)");
                Operand::Seen(self.picked(context, *var, "t == 1", first, inner))
            }
            Read::After { var, inner, last } => {
                let mut view = self.place(context, *var, inner, "(t + 1)");
                let mut lasts =
                    last.iter().map(|place| self.place(context, *var, place, "(t + 1)")).collect::<Vec<_>>();
                if let Some(mut chosen) = lasts.pop() {
                    for (number, other) in lasts.into_iter().enumerate().rev() {
                        chosen = self.picked(context, *var, &format!("alt == {number}"), other, chosen);
                    }
                    view = self.picked(context, *var, "t == n - 2", chosen, view);
                }
                Operand::Seen(view)
            }
        }
    }

    /// Where a cell is.
    fn place(&mut self, context: &mut Context, var: VarId, place: &Place, at: &str) -> View {
        match place {
            Place::Immediate(immediate) => self.immediate(var, immediate),
            Place::Neighbour => {
                let text = self.register(context.sweep, var);
                memory(text, self.ty(var))
            }
            Place::Buffer(buffer) => memory(format!("self->w{}[{at}]", buffer.0), self.ty(var)),
            Place::Scalar(scalar) => memory(format!("self->u{}", scalar.0), self.ty(var)),
            // Nobody who counts reads what is not there.
            Place::Absent | Place::Nowhere => View::whole(Root::One("0".to_string()), self.ty(var)),
            Place::Local | Place::Ring(_) => unreachable!("it is read where it was not computed: {var:?}"),
        }
    }

    /// One of two views, by a condition of C. Arrays are chosen by a pointer.
    fn picked(&mut self, context: &mut Context, var: VarId, condition: &str, yes: View, no: View) -> View {
        if yes == no || matches!(&no.root, Root::One(text) if text == "0") && !self.is_zero(var, &no) {
            return yes;
        }
        let ty = self.ty(var).clone();
        match (&yes.root, &no.root) {
            (Root::One(yes), Root::One(no)) => {
                View::whole(Root::One(format!("({condition} ? {yes} : {no})")), &ty)
            }
            _ => {
                let [yes, no] = [yes, no].map(|view| self.as_array(var, view));
                context.n_pointers += 1;
                let name = format!("x{}_{}", context.n_pointers, self.names.of(var));
                let c_type = self.precision.c_type(ty.scalar);
                context.pointers.line(format!("const {c_type} *const {name} = {condition} ? {yes} : {no};"));
                View::whole(Root::Memory(name), &ty)
            }
        }
    }

    /// Whether the text "0" stands for a value, and not for something that is nowhere: values are written with a point.
    fn is_zero(&self, var: VarId, _view: &View) -> bool {
        self.ty(var).scalar != eddy_tensor::Scalar::Num
    }

    /// The C expression of an array with the elements of a view.
    fn as_array(&mut self, var: VarId, view: View) -> String {
        match view.root {
            Root::Memory(text) => text,
            Root::One(text) => {
                let ty = self.ty(var).clone();
                let name = format!("c{}_{}", self.constants.len(), self.names.of(var));
                self.state.value(name.clone(), ty.scalar, &ty.shape, "constant".to_string(), self.precision);
                let view = View::whole(Root::One(text), &ty);
                let mut lines = Lines::default();
                copy(&view, &format!("self->{name}"), &ty, &mut lines);
                self.reset.append(&lines);
                self.constants.push((name.clone(), eddy_tensor::Value::zeros(&ty)));
                format!("self->{name}")
            }
            Root::Var(_) => unreachable!("it has a place by now"),
        }
    }

    /// The register of a stream that the next iteration reads.
    fn register(&mut self, sweep: usize, var: VarId) -> String {
        self.state_value(&format!("r{sweep}"), var)
    }

    /// Fills the outputs of all cycles, in order.
    fn emissions(&mut self, region: &'a Region, version: &'a Version, lines: &mut Lines) {
        let zone = |emitter: &mut Self, zone: Zone| {
            let mut lines = Lines::default();
            emitter.emission(region, version, zone, &mut lines);
            lines
        };
        let (first, inner) = (zone(self, Zone::First), zone(self, Zone::Inner));
        let lasts: Vec<Lines> = last_zones(region).into_iter().map(|last| zone(self, last)).collect();
        lines.block("for (int64_t t = 0; t < n; t++)", |lines| {
            lines.block("if (t == 0)", |lines| lines.append(&first));
            lines.block("else if (t < n - 1)", |lines| lines.append(&inner));
            lines.block("else", |lines| alternatives(&lasts, lines));
        });
    }

    /// The outputs of a cycle in a zone.
    fn emission(&mut self, region: &'a Region, version: &'a Version, zone: Zone, lines: &mut Lines) {
        let Some(id) = region.zone_id(zone) else { return };
        let body = &version.emit[id.0];
        let mut context = Context {
            sweep: usize::MAX,
            computed: FxHashSet::default(),
            pointers: Lines::default(),
            n_pointers: 0,
        };
        let mut copies = Lines::default();
        for (output, port) in self.source.flow.outputs.clone().iter().zip(self.outputs.clone()) {
            let Some(instruction) = body.code.iter().find(|instruction| instruction.var == *output) else {
                continue;
            };
            let Planned::Copy(read) = &instruction.right else { unreachable!("outputs are copied") };
            let mut conditions = self.conditions_of(&mut context, &instruction.clock);
            if let Read::Here(var, place) = read
                && self.is_sampled(*var)
            {
                match place {
                    Place::Buffer(buffer) => conditions.push(format!("self->wf{}[t]", buffer.0)),
                    Place::Scalar(scalar) => conditions.push(format!("self->uf{}", scalar.0)),
                    _ => {}
                }
            }
            let is_absent = matches!(read, Read::Here(_, Place::Absent));
            if port.has_flag {
                let is_there = if is_absent {
                    "false".to_string()
                } else if conditions.is_empty() {
                    "true".to_string()
                } else {
                    conditions.join(" && ")
                };
                copies.line(format!("out[t].{}_present = {is_there};", port.field));
            }
            if is_absent {
                continue;
            }
            let Operand::Seen(view) = self.read(&mut context, read) else {
                unreachable!("nothing is computed here")
            };
            let (to, ty) = (format!("out[t].{}", port.field), self.ty(*output).clone());
            copies.guarded(&conditions, |lines| copy(&view, &to, &ty, lines));
        }
        lines.append(&context.pointers);
        lines.append(&copies);
    }

    fn conditions_of(&mut self, context: &mut Context, clock: &[Condition]) -> Vec<String> {
        let mut conditions = Vec::new();
        for condition in clock {
            let Operand::Seen(view) = self.read(context, &condition.read) else {
                unreachable!("it has a place")
            };
            let Root::One(text) = &view.root else { unreachable!("a condition is a scalar") };
            conditions.push(if condition.polarity == Polarity::On {
                text.clone()
            } else {
                format!("!{text}")
            });
        }
        conditions
    }

    /// Writes what is carried into the next window, after all else.
    fn carry(&mut self, windows: &'a Windows, region: &'a Region, last: Zone, lines: &mut Lines) {
        let mut writes = Vec::new();
        for (slot, Source { places }) in &region.slots {
            let carried = &windows.carried[slot.0];
            let found = places.iter().find(|(zone, _)| region.zones[zone.0] == last);
            let Some((_, place)) = found else { continue };
            let mut context = Context {
                sweep: usize::MAX,
                computed: FxHashSet::default(),
                pointers: Lines::default(),
                n_pointers: 0,
            };
            let view = self.place(&mut context, carried.next, place, "(n - 1)");
            let flag = self.state.find(&format!("f_{}", self.names.of(carried.shift))).is_some();
            let ty = self.ty(carried.shift).clone();
            writes.push((format!("self->p{}", slot.0), view, ty));
            if flag {
                let flag = self.state_flag("f", carried.shift);
                lines.line(format!("{flag} = true;"));
            }
        }
        write_at_once(writes, self, lines);
    }

    /// The statements of the prelude, which is not late.
    fn prelude_code(&mut self, windows: &'a Windows) -> Code {
        self.loop_statements(&windows.prelude)
    }

    fn write_prelude_registers(&mut self, windows: &'a Windows, lowered: &Lowered, lines: &mut Lines) {
        self.loop_registers(&windows.prelude, lowered, lines);
    }
}

/// Several assignments that happen at once: what is overwritten and still read is put aside first.
fn write_at_once(mut writes: Vec<(String, View, Type)>, emitter: &Emitter<'_>, lines: &mut Lines) {
    let written: Vec<String> = writes.iter().map(|(to, ..)| to.clone()).collect();
    for (number, (to, view, ty)) in writes.iter_mut().enumerate() {
        let is_overwritten = match &view.root {
            Root::One(text) | Root::Memory(text) => *text != *to && written.contains(text),
            Root::Var(_) => false,
        };
        if is_overwritten {
            let name = format!("aside{number}");
            let size = ty.shape.iter().product::<usize>();
            let dimension = if ty.shape.is_scalar() { String::new() } else { format!("[{size}]") };
            lines.line(format!("{} {name}{dimension};", emitter.precision.c_type(ty.scalar)));
            copy(view, &name, ty, lines);
            *view = memory(name, ty);
        }
    }
    for (to, view, ty) in &writes {
        let is_there =
            matches!(&view.root, Root::One(own) | Root::Memory(own) if own == to) && view.offset == 0;
        if !is_there {
            copy(view, to, ty, lines);
        }
    }
}

/// The last zones of windows of two or more cycles.
fn last_zones(region: &Region) -> Vec<Zone> {
    region.zones.iter().copied().filter(|zone| matches!(zone, Zone::Last(_))).collect()
}

/// Code for each alternative of the last zone.
fn alternatives(codes: &[Lines], lines: &mut Lines) {
    match codes {
        [] => {}
        [only] => lines.append(only),
        [codes @ .., last] => {
            for (number, code) in codes.iter().enumerate() {
                let word = if number == 0 { "if" } else { "else if" };
                lines.block(&format!("{word} (alt == {number})"), |lines| lines.append(code));
            }
            lines.block("else", |lines| lines.append(last));
        }
    }
}

/// What is not printed yet runs in the simulator.
fn check(windows: &Windows, emitter: &Emitter<'_>) -> Result<(), NotCompiled> {
    if windows.prelude.max_lag > 0 || !matches!(windows.cut, Cut::Guard(..)) {
        return Err(NotCompiled::Windows);
    }
    for version in &windows.versions {
        let region = &version.region;
        if region.mode != Mode::Guard {
            return Err(NotCompiled::Windows);
        }
        for step in &region.steps {
            match step {
                Step::Unit(_) => return Err(NotCompiled::Windows),
                Step::Sweep(sweep) if !sweep.trackers.is_empty() => return Err(NotCompiled::Windows),
                Step::Sweep(sweep) => {
                    let is_sampled = |var: VarId| emitter.source.clocks.of(var) != region.clock;
                    if sweep.latches.iter().any(|latch| is_sampled(latch.var)) {
                        return Err(NotCompiled::Windows);
                    }
                }
            }
        }
        let is_sampled = |slot: usize| emitter.source.clocks.of(windows.carried[slot].next) != region.clock;
        if region.slots.iter().any(|(slot, _)| is_sampled(slot.0)) {
            return Err(NotCompiled::Windows);
        }
    }
    Ok(())
}
