//! One forward loop, whose iterations are calls of `step` (section 3 of the planner's specification).
//!
//! A stream that is late is computed some calls after its cycle arrived; until then what it reads is kept in rings, at the index of
//! the iteration that computed it. A `fby` is a field of the state that is written when all else was computed. It starts with its
//! initial value, or, if that is no constant, has a flag that says whether it was written.

use eddy_flow::clocks::{Clock, Root as ClockRoot};
use eddy_flow::{Kind, Polarity, VarId};
use eddy_plan::plan::{Condition, Instruction, Lagged, Late, Place, Read, Right as Planned, RootPlan};
use eddy_tensor::{Op, Scalar, Shape as TensorShape, Type};

use super::assign::{Write, copy, write_at_once};
use super::iteration::{Loop, in_loop, keep_conditions};
use super::reads::memory;
use super::{Emitter, Shape};
use crate::layout::Element;
use crate::lines::Lines;
use crate::lower::{Code, Lowered, Operand, Right, Statement, lower};
use crate::view::{Root, View};

impl<'a> Emitter<'a> {
    /// The statements of a loop that runs before windows.
    pub(super) fn prelude_statements(&mut self, this: &Loop<'a>) -> Code {
        let mut code = self.loop_code(this);
        keep_conditions(this, &mut code);
        code
    }

    /// Writes `step` and `flush` of a program with one root.
    pub(super) fn forward(&mut self, lagged: &'a Lagged) {
        let is_late = lagged.max_lag > 0;
        if is_late {
            self.state.field("t".into(), Element::Count, Vec::new(), "cycles so far".into(), self.precision);
            self.reset_state.line("self->t = 0;");
        }
        let iteration = self.iteration(&Loop::new(lagged));
        if is_late {
            self.shape = Shape::Late(self.kept(lagged));
        }
        let mut body = Lines::default();
        if is_late {
            body.line("const int64_t t = self->t;");
        }
        body.append(&iteration);
        if is_late {
            body.line("self->t = t + 1;");
        }
        let result = match lagged.look_ahead {
            0 => "1".to_string(),
            z => format!("t >= {z}"),
        };
        self.step(&body, &result);
        if is_late {
            self.flush_late(lagged);
        } else {
            self.flush_nothing();
        }
    }

    /// Writes `step` and `flush` of a program with several roots, whose equations are not late: each runs at the cycles at which it
    /// is active.
    pub(super) fn forward_together(&mut self, loops: &[(&'a RootPlan, &'a Lagged)]) {
        let mut body = Lines::default();
        for port in &self.outputs {
            body.line(format!("out->{}_present = false;", port.field));
        }
        for (root, lagged) in loops {
            self.root = root;
            let iteration = self.iteration(&Loop::new(lagged));
            let flow = self.source.flow;
            let owners = flow.inputs.iter().zip(&self.inputs);
            let owners = owners.filter(|(input, _)| self.source.clocks.of(**input) == root.clock);
            let owners: Vec<String> = owners.map(|(_, port)| format!("in->{}_present", port.field)).collect();
            let activity = match self.source.clocks.clock(root.clock) {
                Clock::Root(ClockRoot::Input(_)) => vec![format!("({})", owners.join(" || "))],
                _ => Vec::new(),
            };
            body.guarded(&activity, |lines| lines.block("", |lines| lines.append(&iteration)));
        }
        self.step(&body, "1");
        self.flush_nothing();
    }

    /// The code of one iteration.
    pub(super) fn iteration(&mut self, this: &Loop<'a>) -> Lines {
        let mut code = self.loop_code(this);
        self.export_outputs(this, &mut code);
        let names = |var: VarId| self.names.of(var);
        let lowered = lower(&code, &names, self.precision, &mut self.scratch, &self.long_loops);
        let mut body = Lines::default();
        self.rings_of_inputs(this, &mut body);
        body.append(&lowered.lines);
        self.use_conditions(this, &lowered, &mut body);
        self.flags_of_rings(this, &lowered, &mut body);
        self.show(this, &lowered, &mut body);
        self.write_registers(this, &lowered, &mut body);
        body
    }

    fn step(&mut self, body: &Lines, result: &str) {
        let name = self.name.clone();
        let head = format!("int32_t {name}_step({name}_state *self, const {name}_in *in, {name}_out *out)");
        let can_prepare_fail = self.can_prepare_fail();
        self.functions.line("");
        self.functions.block(&head, |lines| {
            if can_prepare_fail {
                lines.line("if (self->failed) return -self->failed;");
            }
            lines.function_body(&["self", "in", "out"], body);
            lines.line(format!("return {result};"));
        });
    }

    /// `flush`: what is open when the stream ends is not decided.
    pub(super) fn flush_nothing(&mut self) {
        let name = &self.name;
        let head = format!("int32_t {name}_flush({name}_state *self, {name}_out *out)");
        self.functions.line("");
        self.functions.block(&head, |lines| {
            lines.function_body(&["self", "out"], &Lines::default());
            lines.line("return 0;");
        });
    }

    /// The statements of one iteration, in groups that run under the same conditions.
    fn loop_code(&mut self, this: &Loop<'a>) -> Code {
        let mut code = Code::default();
        for late in this.body() {
            let conditions = self.conditions(this, late);
            let statement = self.statement(this, late);
            code.add(conditions, vec![statement]);
        }
        for register in &this.lagged.registers {
            if let Read::Here(next, Place::Ring(0)) = &register.next
                && this.computes(*next)
            {
                code.live_out.push(*next);
                let place = self.state_value("s", register.fby);
                code.in_place.entry(*next).or_insert(place);
            }
        }
        for ring in &this.lagged.rings {
            if this.computes(ring.var) {
                let place = self.ring(this, ring.var, 0);
                code.exports.entry(ring.var).or_default().push(place);
            }
        }
        for var in self.newest(this) {
            let place = self.ring(this, var, 0);
            let places = code.exports.entry(var).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
        code
    }

    /// When an instruction runs: when its cycle has come, and where it is there.
    fn conditions(&mut self, this: &Loop<'a>, late: &'a Late) -> Vec<(Operand, bool)> {
        let mut conditions = Vec::new();
        conditions.extend(this.has_come(late).map(|text| (truth(format!("({text})")), true)));
        for condition in &late.instruction.clock {
            let operand = self.operand(this, &condition.read);
            conditions.push((operand, condition.polarity == Polarity::On));
        }
        conditions
    }

    fn statement(&mut self, this: &Loop<'a>, late: &'a Late) -> Statement {
        let instruction = &late.instruction;
        let right = self.right(this, late, instruction);
        self.statement_of(instruction.var, right)
    }

    /// A statement for the equation of a stream.
    pub(super) fn statement_of(&self, var: VarId, right: Right) -> Statement {
        let site = self.definitions[var.index()];
        let definition = self.labels.definition(var);
        let comment = match site.and_then(|site| self.places.get(site)) {
            Some(place) => format!("{place}: {definition}"),
            None => definition,
        };
        Statement {
            var,
            ty: self.ty(var).clone(),
            right,
            site: site.map_or(0, |site| site + 1),
            comment: comment.replace("*/", "* /").replace("/*", "/ *"),
        }
    }

    fn right(&mut self, this: &Loop<'a>, late: &'a Late, instruction: &'a Instruction) -> Right {
        let var = instruction.var;
        match &instruction.right {
            Planned::Copy(read) => Right::Copy(self.operand(this, read)),
            Planned::Apply(reads) => {
                let operands = reads.iter().map(|read| self.operand(this, read)).collect();
                self.by_columns(Right::Apply(self.operation(var), operands))
            }
            Planned::Choice { condition, yes, no } => {
                Right::Choice(self.operand(this, condition), self.operand(this, yes), self.operand(this, no))
            }
            Planned::Register { init, .. } => {
                let text = self.state_value("s", var);
                let register = Operand::Seen(memory(text.clone(), self.ty(var)));
                match self.initial(init) {
                    Some(view) => {
                        self.set(&text, &view, self.ty(var).clone());
                        Right::Copy(register)
                    }
                    None => {
                        let flag = self.state_flag("f", var);
                        self.reset_state.line(format!("{flag} = false;"));
                        let init = self.operand(this, init);
                        Right::Choice(truth(flag), register, init)
                    }
                }
            }
            Planned::Previous { init, next, .. } => {
                self.remember_newest(this, var, next.var());
                let (init, next) = (self.start_of(this, var, init), self.operand(this, next));
                let has_before = truth(format!("(t > {})", late.lag));
                Right::Choice(has_before, next, init)
            }
            Planned::Ahead { next: Some(next), init, .. } if this.is_over => {
                let is_before_end = truth(format!("(t + 1 < end + {})", late.lag));
                let init = match init {
                    Some(init) => self.operand(this, init),
                    None => self.nothing(var),
                };
                Right::Choice(is_before_end, self.operand(this, next), init)
            }
            Planned::Ahead { next: Some(next), .. } => Right::Copy(self.operand(this, next)),
            Planned::Ahead { .. } | Planned::Carried { .. } | Planned::Tracked { .. } => {
                unreachable!("a forward loop has no windows")
            }
        }
    }

    /// The operation of the equation of a stream.
    pub(super) fn operation(&self, var: VarId) -> Op {
        let equation = self.equation(var);
        match equation.map(|equation| &equation.kind) {
            Some(Kind::Apply(op, _)) => op.clone(),
            kind => unreachable!("an operation is applied, not {kind:?}"),
        }
    }

    /// What an instruction reads.
    pub(super) fn operand(&mut self, this: &Loop<'a>, read: &Read) -> Operand {
        let (var, place) = in_loop(read);
        match place {
            Place::Immediate(immediate) => Operand::Seen(self.immediate(*var, immediate)),
            Place::Ring(0) | Place::Local if this.computes(*var) => Operand::Var(*var),
            Place::Ring(0) | Place::Local if this.is_over => self.nothing(*var),
            Place::Ring(0) | Place::Local => Operand::Seen(self.input(*var)),
            Place::Ring(age) => {
                let text = self.ring(this, *var, *age);
                Operand::Seen(memory(text, self.ty(*var)))
            }
            // Nobody reads what is not there.
            Place::Absent | Place::Nowhere => self.nothing(*var),
            Place::Neighbour | Place::Buffer(_) | Place::Scalar(_) => {
                unreachable!("a forward loop has no windows")
            }
        }
    }

    /// What nobody who counts reads.
    fn nothing(&self, var: VarId) -> Operand {
        Operand::Seen(View::whole(Root::One("0".to_string()), self.ty(var)))
    }

    /// An input, in the struct that the caller gave.
    pub(super) fn input(&self, var: VarId) -> View {
        let number = self.source.flow.inputs.iter().position(|input| *input == var);
        let number = number.expect("what is not computed is an input");
        memory(format!("in->{}", self.inputs[number].field), self.ty(var))
    }

    /// Where a stream of so many iterations ago is.
    pub(super) fn ring(&mut self, this: &Loop<'a>, var: VarId, age: usize) -> String {
        let slots = this.lagged.slots(var);
        let name = format!("q_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            let ty = self.ty(var);
            let mut dimensions = vec![slots];
            if !ty.shape.is_scalar() {
                dimensions.push(ty.shape.iter().product());
            }
            let comment = format!("{}, the last {slots}", self.label(var));
            self.state.field(name.clone(), Element::Value(ty.scalar), dimensions, comment, self.precision);
        }
        match age {
            0 => format!("self->{name}[t % {slots}]"),
            _ => format!("self->{name}[(t + {}) % {slots}]", slots - age),
        }
    }

    /// Inputs that are kept for later iterations.
    pub(super) fn rings_of_inputs(&mut self, this: &Loop<'a>, lines: &mut Lines) {
        for ring in &this.lagged.rings {
            if self.source.flow.inputs.contains(&ring.var) && !this.is_over {
                let to = self.ring(this, ring.var, 0);
                copy(&self.input(ring.var), &to, self.ty(ring.var), lines);
            }
        }
    }

    /// Outputs that are computed in the iteration that shows them go there at once.
    fn export_outputs(&self, this: &Loop<'a>, code: &mut Code) {
        for (instruction, field) in self.shown(this) {
            if let Planned::Copy(Read::Here(var, Place::Ring(0))) = &instruction.right
                && this.computes(*var)
            {
                code.exports.entry(*var).or_default().push(format!("out->{field}"));
            }
        }
        for instruction in &this.lagged.emit.code {
            for condition in &instruction.clock {
                if let Read::Here(var, Place::Ring(0)) = &condition.read
                    && this.computes(*var)
                {
                    code.live_out.push(*var);
                }
            }
        }
        keep_conditions(this, code);
    }

    /// The outputs with their fields; a stream that is two outputs is in both.
    fn shown(&self, this: &Loop<'a>) -> Vec<(&'a Instruction, String)> {
        let mut shown = Vec::new();
        for (output, port) in self.source.flow.outputs.iter().zip(&self.outputs) {
            let instruction = this.lagged.emit.code.iter().find(|instruction| instruction.var == *output);
            shown.extend(instruction.map(|instruction| (instruction, port.field.clone())));
        }
        shown
    }

    /// What is shown besides, and which outputs are there.
    fn show(&mut self, this: &Loop<'a>, lowered: &Lowered, lines: &mut Lines) {
        for (instruction, field) in self.shown(this) {
            let Planned::Copy(read) = &instruction.right else { unreachable!("outputs are copied") };
            let is_exported = matches!(read, Read::Here(var, Place::Ring(0)) if this.computes(*var));
            let mut conditions = self.texts(this, lowered, &instruction.clock);
            conditions.extend(self.presence(this, lowered, read));
            if self.outputs.iter().any(|port| port.field == field && port.has_flag) {
                let is_there =
                    if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
                lines.line(format!("out->{field}_present = {is_there};"));
            }
            if !is_exported {
                let view = self.view_after(this, lowered, read);
                copy(&view, &format!("out->{field}"), self.ty(instruction.var), lines);
            }
        }
    }

    /// Conditions as C expressions, when all statements have run.
    fn texts(&mut self, this: &Loop<'a>, lowered: &Lowered, clock: &[Condition]) -> Vec<String> {
        let mut conditions = Vec::new();
        for condition in clock {
            let view = self.view_after(this, lowered, &condition.read);
            let element = lowered.homes.element(&view, &view.offset.to_string());
            conditions.push(if condition.polarity == Polarity::On { element } else { format!("!{element}") });
        }
        conditions
    }

    /// What must hold for a stream on a sampled clock to be there.
    pub(super) fn presence(&mut self, this: &Loop<'a>, lowered: &Lowered, read: &Read) -> Vec<String> {
        let (var, place) = in_loop(read);
        match place {
            Place::Absent => vec!["false".to_string()],
            Place::Ring(0) => match this.late(*var) {
                Some(late) => self.texts(this, lowered, &late.instruction.clock),
                None => self.flag_of_input(*var),
            },
            Place::Ring(age) if self.is_sampled(*var) => vec![self.flag_ring(this, *var, *age)],
            _ => Vec::new(),
        }
    }

    /// Whether a stream is not there at all cycles of the root.
    pub(super) fn is_sampled(&self, var: VarId) -> bool {
        self.source.clocks.of(var) != self.root.clock
    }

    fn flag_of_input(&self, var: VarId) -> Vec<String> {
        let number = self.source.flow.inputs.iter().position(|input| *input == var);
        let number = number.expect("what is not computed is an input");
        let port = &self.inputs[number];
        if port.has_flag { vec![format!("in->{}_present", port.field)] } else { Vec::new() }
    }

    /// Whether a stream was there so many iterations ago.
    fn flag_ring(&mut self, this: &Loop<'a>, var: VarId, age: usize) -> String {
        let slots = this.lagged.slots(var);
        let name = format!("qf_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            self.state.field(name.clone(), Element::Flag, vec![slots], String::new(), self.precision);
        }
        format!("self->{name}[(t + {}) % {slots}]", slots - age)
    }

    /// Keeps in mind whether streams on sampled clocks that are kept for later iterations were there.
    pub(super) fn flags_of_rings(&mut self, this: &Loop<'a>, lowered: &Lowered, lines: &mut Lines) {
        for ring in &this.lagged.rings {
            if self.is_sampled(ring.var) && (!this.is_over || this.computes(ring.var)) {
                let conditions = self.presence(this, lowered, &Read::Here(ring.var, Place::Ring(0)));
                let flag = self.flag_ring(this, ring.var, 0);
                let is_there =
                    if conditions.is_empty() { "true".to_string() } else { conditions.join(" && ") };
                lines.line(format!("{flag} = {is_there};"));
            }
        }
    }

    /// Where an operand is when all statements have run.
    pub(super) fn view_after(&mut self, this: &Loop<'a>, lowered: &Lowered, read: &Read) -> View {
        match self.operand(this, read) {
            Operand::Seen(view) => view,
            Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
        }
    }

    /// Registers take their new values, all at once: what one of them held before may be what another one takes.
    pub(super) fn write_registers(&mut self, this: &Loop<'a>, lowered: &Lowered, lines: &mut Lines) {
        let mut writes = Vec::new();
        for register in &this.lagged.registers {
            let to = self.state_value("s", register.fby);
            let view = self.view_after(this, lowered, &register.next);
            let late = this.late(register.fby).expect("a register belongs to an equation of the loop");
            if !this.computes(register.fby) {
                continue;
            }
            let mut conditions: Vec<String> = this.has_come(late).into_iter().collect();
            conditions.extend(self.texts(this, lowered, &late.instruction.clock));
            let flag = self.written_flag(register.fby);
            self.remember(register.fby, &to, flag.as_deref(), Some(late.lag));
            let ty = self.ty(register.fby).clone();
            writes.push(Write { to, view, ty, conditions, flag });
        }
        write_at_once(writes, self, lines);
    }
}

/// A C expression that is a truth value.
pub(super) fn truth(text: String) -> Operand {
    let ty = Type { scalar: Scalar::Bool, shape: TensorShape::scalar() };
    Operand::Seen(View::whole(Root::One(text), &ty))
}
