//! One forward loop, whose iterations are calls of `step` (section 3 of the planner's specification).
//!
//! A stream with a lag is computed some calls after its cycle arrived; until then its operands are kept in
//! rings, at the index of the iteration that computed them. A `fby` is a field of the state that is written
//! after everything else was computed. It starts with its initial value; if that is not a constant, it has a
//! flag that says whether it was written.

use eddy_flow::clocks::{Clock, Root as ClockRoot};
use eddy_flow::{Kind, Polarity, VarId};
use eddy_imp::Parameter::{In, Out, State};
use eddy_imp::{Block, Expr, Linkage, Place as ImpPlace, Stmt};
use eddy_plan::plan::{Condition, Instruction, Lagged, Late, Place, Read, Right as Planned, RootPlan};
use eddy_tensor::{Op, Scalar, Shape as TensorShape, Type};

use super::assign::{Write, copy, write_at_once};
use super::iteration::{Loop, in_loop, keep_conditions, t};
use super::reads::memory;
use super::{Emitter, Shape, holds};
use crate::lower::{Code, Lowered, Operand, Right, Statement, lower};
use crate::names::flag_name;
use crate::precision::element_type;
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
            self.count("t", "cycles so far");
        }
        let iteration = self.iteration(&Loop::new(lagged));
        if is_late {
            self.shape = Shape::Late(self.kept(lagged));
        }
        let mut body = Block::new();
        if is_late {
            body.constant("t", eddy_imp::Type::Cycle, ImpPlace::state("t"));
        }
        body.append(iteration);
        if is_late {
            body.store(ImpPlace::state("t"), t() + 1);
        }
        let result = match lagged.look_ahead {
            0 => 1.into(),
            z => Expr::choice(t().ge(z), 1, 0),
        };
        self.step(body, result);
        if is_late {
            self.flush_late(lagged);
        } else {
            self.flush_nothing();
        }
    }

    /// Writes `step` and `flush` of a program with several roots without lags: each runs at the cycles at
    /// which it is active.
    pub(super) fn forward_together(&mut self, loops: &[(&'a RootPlan, &'a Lagged)]) {
        let mut body = Block::new();
        for port in &self.outputs {
            body.store(ImpPlace::output(flag_name(&port.field)), false);
        }
        for (root, lagged) in loops {
            self.root = root;
            let iteration = self.iteration(&Loop::new(lagged));
            let flow = self.source.flow;
            let owners = flow.inputs.iter().zip(&self.inputs);
            let owners = owners.filter(|(input, _)| self.source.clocks.of(**input) == root.clock);
            let owners = owners.map(|(_, port)| ImpPlace::input(flag_name(&port.field)).load());
            let is_active = match self.source.clocks.clock(root.clock) {
                Clock::Root(ClockRoot::Input(_)) => Expr::any(owners),
                _ => true.into(),
            };
            body.when(is_active, |block| block.push(Stmt::Scope(iteration)));
        }
        self.step(body, 1.into());
        self.flush_nothing();
    }

    pub(super) fn iteration(&mut self, this: &Loop<'a>) -> Block {
        let mut code = self.loop_code(this);
        self.export_outputs(this, &mut code);
        let names = |var: VarId| self.names.of(var);
        let mut lowered = lower(&code, &names, &mut self.scratch);
        let mut body = Block::new();
        self.rings_of_inputs(this, &mut body);
        body.append(std::mem::take(&mut lowered.block));
        self.flags_of_rings(this, &lowered, &mut body);
        self.show(this, &lowered, &mut body);
        self.write_registers(this, &lowered, &mut body);
        body
    }

    fn step(&mut self, body: Block, result: Expr) {
        let mut step = self.start_of_step();
        step.append(body);
        step.push(Stmt::LeaveIfFailed);
        step.leave(result);
        self.procedure("step", Linkage::Public, vec![State, In, Out], step);
    }

    /// If an operation on invariants failed, each step reports it.
    pub(super) fn start_of_step(&self) -> Block {
        let mut block = Block::new();
        if self.can_prepare_fail() {
            let failed = ImpPlace::state("failed").load();
            block.when(failed.clone().differs(0), |block| block.leave(-failed));
        }
        block
    }

    /// `flush` of a program that emits nothing after the last step.
    pub(super) fn flush_nothing(&mut self) {
        let mut body = Block::new();
        body.leave(0);
        self.procedure("flush", Linkage::Public, vec![State, Out], body);
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

    /// When an instruction runs: when its cycle has arrived, and where its stream is present.
    fn conditions(&mut self, this: &Loop<'a>, late: &'a Late) -> Vec<(Operand, bool)> {
        let mut conditions = Vec::new();
        conditions.extend(this.has_come(late).map(|has_come| (truth(has_come), true)));
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

    /// The statement for the equation of a stream.
    pub(super) fn statement_of(&self, var: VarId, right: Right) -> Statement {
        let site = self.definitions[var.index()];
        let definition = self.labels.definition(var);
        let comment = match site.and_then(|site| self.places.get(site)) {
            Some(place) => format!("{place}: {definition}"),
            None => definition,
        };
        Statement { var, ty: self.ty(var).clone(), right, site: site.map_or(0, |site| site + 1), comment }
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
                let place = self.state_value("s", var);
                let register = Operand::Seen(memory(place.clone(), self.ty(var)));
                match self.initial(init) {
                    Some(view) => {
                        self.set(&place, &view, self.ty(var));
                        Right::Copy(register)
                    }
                    None => {
                        let flag = self.state_flag("f", var);
                        self.reset_state.store(&flag, false);
                        let init = self.operand(this, init);
                        Right::Choice(truth(flag), register, init)
                    }
                }
            }
            Planned::Previous { init, next, .. } => {
                self.remember_newest(this, var, next.var());
                let (init, next) = (self.start_of(this, var, init), self.operand(this, next));
                let has_before = truth(t().gt(late.lag));
                Right::Choice(has_before, next, init)
            }
            Planned::Ahead { next: Some(next), init, .. } if this.is_after_end => {
                let is_before_end = truth((t() + 1).lt(Expr::var("end") + late.lag));
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

    pub(super) fn operation(&self, var: VarId) -> Op {
        let equation = self.equation(var);
        match equation.map(|equation| &equation.kind) {
            Some(Kind::Apply(op, _)) => op.clone(),
            kind => unreachable!("an operation is applied, not {kind:?}"),
        }
    }

    /// The operand for a read.
    pub(super) fn operand(&mut self, this: &Loop<'a>, read: &Read) -> Operand {
        let (var, place) = in_loop(read);
        match place {
            Place::Immediate(immediate) => Operand::Seen(self.immediate(*var, immediate)),
            Place::Ring(0) | Place::Local if this.computes(*var) => Operand::Var(*var),
            Place::Ring(0) | Place::Local if this.is_after_end => self.nothing(*var),
            Place::Ring(0) | Place::Local => Operand::Seen(self.input(*var)),
            Place::Ring(age) => Operand::Seen(memory(self.ring(this, *var, *age), self.ty(*var))),
            // No live instruction reads an absent cell.
            Place::Absent | Place::Nowhere => self.nothing(*var),
            Place::Neighbour | Place::Buffer(_) | Place::Scalar(_) => {
                unreachable!("a forward loop has no windows")
            }
        }
    }

    /// A placeholder for a cell that no live instruction reads.
    pub(super) fn nothing(&self, var: VarId) -> Operand {
        Operand::Seen(View::whole(Root::Nothing, self.ty(var)))
    }

    /// An input, in the struct from the caller.
    pub(super) fn input(&self, var: VarId) -> View {
        let number = self.source.flow.inputs.iter().position(|input| *input == var);
        let number = number.expect("a stream without an equation is an input");
        memory(ImpPlace::input(self.inputs[number].field.as_str()), self.ty(var))
    }

    /// The place of a stream that was computed `age` iterations ago.
    pub(super) fn ring(&mut self, this: &Loop<'a>, var: VarId, age: usize) -> ImpPlace {
        let slots = this.lagged.slots(var);
        let name = format!("q_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            let ty = self.ty(var);
            let mut dimensions = vec![slots];
            if !ty.shape.is_scalar() {
                dimensions.push(ty.shape.iter().product());
            }
            let comment = format!("{}, the last {slots}", self.label(var));
            self.state.field(name.as_str(), element_type(ty.scalar), dimensions, comment, self.precision);
        }
        let iteration = if age == 0 { t() } else { t() + (slots - age) };
        ImpPlace::state(name).index(iteration % slots)
    }

    /// Stores inputs for later iterations.
    pub(super) fn rings_of_inputs(&mut self, this: &Loop<'a>, block: &mut Block) {
        for ring in &this.lagged.rings {
            if self.source.flow.inputs.contains(&ring.var) && !this.is_after_end {
                let to = self.ring(this, ring.var, 0);
                copy(&self.input(ring.var), &to, self.ty(ring.var), block);
            }
        }
    }

    /// Computes outputs in place if they are computed in the iteration that emits them.
    fn export_outputs(&self, this: &Loop<'a>, code: &mut Code) {
        for (instruction, field) in self.shown(this) {
            if let Planned::Copy(Read::Here(var, Place::Ring(0))) = &instruction.right
                && this.computes(*var)
            {
                code.exports.entry(*var).or_default().push(ImpPlace::output(field.as_str()));
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

    /// Writes the other outputs, and which outputs are present.
    fn show(&mut self, this: &Loop<'a>, lowered: &Lowered, block: &mut Block) {
        for (instruction, field) in self.shown(this) {
            let Planned::Copy(read) = &instruction.right else { unreachable!("outputs are copied") };
            let is_exported = matches!(read, Read::Here(var, Place::Ring(0)) if this.computes(*var));
            let mut conditions = self.holding(this, lowered, &instruction.clock);
            conditions.extend(self.presence(this, lowered, read));
            if self.outputs.iter().any(|port| port.field == field && port.has_flag) {
                block.store(ImpPlace::output(flag_name(&field)), Expr::all(conditions));
            }
            if !is_exported {
                let view = self.view_after(this, lowered, read);
                copy(&view, &ImpPlace::output(field.as_str()), self.ty(instruction.var), block);
            }
        }
    }

    /// The conditions after all statements have run.
    fn holding(&mut self, this: &Loop<'a>, lowered: &Lowered, clock: &[Condition]) -> Vec<Expr> {
        let mut conditions = Vec::new();
        for condition in clock {
            let view = self.view_after(this, lowered, &condition.read);
            conditions.push(holds(condition.polarity, lowered.homes.first(&view)));
        }
        conditions
    }

    /// The conditions under which a stream on a sampled clock is present.
    pub(super) fn presence(&mut self, this: &Loop<'a>, lowered: &Lowered, read: &Read) -> Vec<Expr> {
        let (var, place) = in_loop(read);
        match place {
            Place::Absent => vec![false.into()],
            Place::Ring(0) => match this.late(*var) {
                Some(late) => self.holding(this, lowered, &late.instruction.clock),
                None => self.flag_of_input(*var),
            },
            Place::Ring(age) if self.is_sampled(*var) => vec![self.flag_ring(this, *var, *age).into()],
            _ => Vec::new(),
        }
    }

    /// Whether a stream is absent at some cycles of the root.
    pub(super) fn is_sampled(&self, var: VarId) -> bool {
        self.source.clocks.of(var) != self.root.clock
    }

    fn flag_of_input(&self, var: VarId) -> Vec<Expr> {
        let number = self.source.flow.inputs.iter().position(|input| *input == var);
        let number = number.expect("a stream without an equation is an input");
        let port = &self.inputs[number];
        if port.has_flag { vec![ImpPlace::input(flag_name(&port.field)).into()] } else { Vec::new() }
    }

    /// Whether a stream was present `age` iterations ago.
    fn flag_ring(&mut self, this: &Loop<'a>, var: VarId, age: usize) -> ImpPlace {
        let slots = this.lagged.slots(var);
        let flags = self.flags(format!("qf_{}", self.names.of(var)), vec![slots]);
        flags.index((t() + (slots - age)) % slots)
    }

    /// Records the presence of streams on sampled clocks that are kept for later iterations.
    pub(super) fn flags_of_rings(&mut self, this: &Loop<'a>, lowered: &Lowered, block: &mut Block) {
        for ring in &this.lagged.rings {
            if self.is_sampled(ring.var) && (!this.is_after_end || this.computes(ring.var)) {
                let conditions = self.presence(this, lowered, &Read::Here(ring.var, Place::Ring(0)));
                let flag = self.flag_ring(this, ring.var, 0);
                block.store(flag, Expr::all(conditions));
            }
        }
    }

    /// The place of an operand after all statements have run.
    pub(super) fn view_after(&mut self, this: &Loop<'a>, lowered: &Lowered, read: &Read) -> View {
        match self.operand(this, read) {
            Operand::Seen(view) => view,
            Operand::Var(var) => lowered.homes.seen(var, self.ty(var)),
        }
    }

    /// Writes all registers simultaneously: one of them may take the old value of another.
    pub(super) fn write_registers(&mut self, this: &Loop<'a>, lowered: &Lowered, block: &mut Block) {
        let mut writes = Vec::new();
        for register in &this.lagged.registers {
            let to = self.state_value("s", register.fby);
            let view = self.view_after(this, lowered, &register.next);
            let late = this.late(register.fby).expect("a register belongs to an equation of the loop");
            if !this.computes(register.fby) {
                continue;
            }
            let mut conditions: Vec<Expr> = this.has_come(late).into_iter().collect();
            conditions.extend(self.holding(this, lowered, &late.instruction.clock));
            let flag = self.written_flag(register.fby);
            self.remember(register.fby, &to, flag.as_ref(), Some(late.lag));
            let ty = self.ty(register.fby).clone();
            writes.push(Write { to, view, ty, conditions, flag });
        }
        write_at_once(writes, block);
    }
}

pub(super) fn truth(expr: impl Into<Expr>) -> Operand {
    let ty = Type { scalar: Scalar::Bool, shape: TensorShape::scalar() };
    Operand::Seen(View::whole(Root::One(expr.into()), &ty))
}
