//! The machine that runs code: an explicit stack of frames, values in a heap, tapes in levels.
//!
//! A call, a sum of functions that is applied, a pullback that waits for its body and then for its 1-form, a
//! contraction that waits for a call: all of these are [`Frame`]s, so nothing recurses for any nesting of
//! programs.

use super::code::{Abstraction, Action, BlockId, Code, Operand, Signature};
use super::forward::{Derived, Use};
use super::frame::{Activation, Control, Frame, Halt};
use super::heap::{Heap, Object, Value};
use super::layout::{Kind, Layouts};
use super::lazy::{Function, Lazy, Owner};
use super::tape::Tapes;
use crate::outcome::{Answer, Leaf, Limits, Stop};
use crate::primitive::calculus::{Arithmetic, Binary};
use crate::primitive::{PrimId, Primitives};
use crate::syntax::TermId;
use crate::types::{Shape, Type, Types};

pub struct Machine<'a> {
    code: &'a Code,
    primitives: &'a Primitives,
    pub(super) layouts: Layouts,
    pub(super) heap: Heap,
    pub(super) tapes: Tapes,
    pub(super) frames: Vec<Frame>,
    stack: Vec<Value>,
    now: Activation,
}

/// Runs a block without argument.
pub fn run<'a>(
    code: &'a Code,
    primitives: &'a Primitives,
    types: Types,
    limits: Limits,
) -> (Result<Value, Halt>, Machine<'a>) {
    let mut machine = Machine {
        code,
        primitives,
        layouts: Layouts::new(types),
        heap: Heap::default(),
        tapes: Tapes::new(limits),
        frames: Vec::new(),
        stack: Vec::new(),
        now: Activation { block: code.main, next: 0, base: 0 },
    };
    machine.enter(code.main, Value::Real(0.0), 0, 0);
    let mut result = machine.go();
    if let Err(Halt::Stopped(Stop::Domain(undefined))) = &mut result {
        undefined.at = machine.origin();
    }
    (result, machine)
}

impl Machine<'_> {
    fn go(&mut self) -> Result<Value, Halt> {
        let mut control = Control::Run;
        loop {
            let next = match control {
                Control::Run => self.step(),
                Control::Apply(ty, function, argument) => self.apply(ty, function, argument),
                Control::Halted(halt) => Err(halt),
                Control::Return(value) => match self.frames.pop() {
                    None => return Ok(value),
                    Some(frame) => self.resume(frame, value),
                },
            };
            control = match next {
                Err(Halt::UntrackableCall(level)) => self.restart(level),
                next => next?,
            };
        }
    }

    /// The term of the current instruction.
    fn origin(&self) -> Option<TermId> {
        let instructions = &self.code.blocks[self.now.block.index()].instructions;
        let now = (self.now.next as usize).checked_sub(1)?;
        instructions.get(now).map(|instruction| instruction.origin)
    }

    /// Starts a block with its argument and captures.
    fn enter(&mut self, block: BlockId, argument: Value, start: u32, len: u32) {
        let base = self.stack.len();
        let code = &self.code.blocks[block.index()];
        self.stack.resize(base + code.n_slots as usize, Value::Real(0.0));
        self.stack[base] = argument;
        for (slot, value) in code.captured.iter().zip(self.heap.range(start, len)) {
            self.stack[base + *slot as usize] = *value;
        }
        let base = u32::try_from(base).expect("the memory limit ends a run before 2^32 slots");
        self.now = Activation { block, next: 0, base };
    }

    /// Starts a function that was captured.
    pub(super) fn enter_function(&mut self, function: Function, argument: Value) -> Control {
        self.enter(function.block, argument, function.start, function.len);
        Control::Run
    }

    /// How many slots are in use.
    pub(super) fn n_slots(&self) -> usize {
        self.stack.len()
    }

    /// Removes the blocks above this number of slots.
    pub(super) fn truncate_stack(&mut self, n_slots: usize) {
        self.stack.truncate(n_slots);
    }

    fn read(&self, operand: Operand) -> Value {
        match operand {
            Operand::Slot(slot) => self.stack[(self.now.base + slot) as usize],
            Operand::Real(value) => Value::Real(value),
        }
    }

    fn step(&mut self) -> Result<Control, Halt> {
        let block = &self.code.blocks[self.now.block.index()];
        let Some(instruction) = block.instructions.get(self.now.next as usize) else {
            let result = self.read(block.result);
            self.stack.truncate(self.now.base as usize);
            return Ok(Control::Return(result));
        };
        self.now.next += 1;
        self.tapes.spend()?;
        let value = match &instruction.action {
            Action::Unary(op, a) => {
                let a = self.read(*a);
                self.tapes.unary(*op, a)?
            }
            Action::Binary(op, a, b) => {
                let (a, b) = (self.read(*a), self.read(*b));
                self.tapes.binary(*op, a, b)?
            }
            Action::Project(path, of) => self.heap.project(*path, self.read(*of)),
            Action::Tuple { extends, items } => self.tuple(*extends, items),
            Action::Zero(ty) => self.zero(*ty),
            Action::Prim(f, argument) => self.prim(*f, self.read(*argument))?,
            Action::Add(ty, a, b) => {
                let (a, b) = (self.read(*a), self.read(*b));
                self.add(*ty, a, b)?
            }
            Action::Closure(abstraction) => {
                let (block, start, len) = self.capture(abstraction);
                self.heap.object(Object::Closure(block, start, len))
            }
            Action::Pullback(abstraction, form, signature) => {
                let form = self.read(*form);
                let (block, start, len) = self.capture(abstraction);
                self.heap.object(Object::Pullback(block, start, len, form, *signature))
            }
            Action::PrimJacobian(f, direction) => {
                let direction = self.read(*direction);
                self.heap.object(Object::PrimJacobian(*f, direction))
            }
            Action::Jacobian(ty, function, direction) => {
                let (function, direction) = (self.read(*function), self.read(*direction));
                self.jacobian(*ty, function, direction)
            }
            action => return self.suspend(instruction.to, action),
        };
        self.stack[(self.now.base + instruction.to) as usize] = value;
        Ok(Control::Run)
    }

    /// Instructions whose result takes more than one step.
    fn suspend(&mut self, to: u32, action: &Action) -> Result<Control, Halt> {
        self.check_memory()?;
        let frame = Frame::Block(self.now, to);
        Ok(match action {
            Action::Apply(ty, function, argument) => {
                let (function, argument) = (self.read(*function), self.read(*argument));
                self.frames.push(frame);
                Control::Apply(*ty, function, argument)
            }
            Action::Contract(ty, covector, vector) => {
                let (covector, vector) = (self.read(*covector), self.read(*vector));
                self.frames.push(frame);
                self.contract(*ty, covector, vector)?
            }
            Action::Dual(abstraction, operand, signature) => {
                let operand = self.read(*operand);
                let (block, start, len) = self.capture(abstraction);
                self.frames.push(frame);
                let function = Function { block, start, len, signature: *signature };
                let level = self.open_level(Owner::Dual(function, operand));
                let zero = self.zero(signature.from);
                let variable = self.lift(zero, signature.from, level);
                self.frames.push(Frame::DualBody(operand, variable, *signature));
                self.enter(block, variable, start, len);
                Control::Run
            }
            other => unreachable!("{other:?} is done in one step"),
        })
    }

    fn capture(&mut self, abstraction: &Abstraction) -> (BlockId, u32, u32) {
        let (stack, base) = (&self.stack, self.now.base);
        let values = abstraction.captures.iter().map(|operand| match operand {
            Operand::Slot(slot) => stack[(base + slot) as usize],
            Operand::Real(value) => Value::Real(*value),
        });
        let (start, len) = self.heap.store(values);
        (abstraction.block, start, len)
    }

    fn tuple(&mut self, extends: bool, items: &[Operand]) -> Value {
        let values: Vec<Value> = items.iter().map(|item| self.read(*item)).collect();
        if extends { self.heap.extend(values[0], &values[1..]) } else { self.heap.tuple(&values) }
    }

    /// A primitive on a tuple of numbers: runs its operations one by one, so that each is on the tape.
    fn prim(&mut self, f: PrimId, argument: Value) -> Result<Value, Halt> {
        let primitive = self.primitives.get(f);
        let point = self.numbers(argument);
        let result = primitive.apply(&mut self.tapes, &point)?;
        Ok(self.heap.tuple(&result))
    }

    /// The components of a left-nested tuple of numbers.
    fn numbers(&self, tuple: Value) -> Vec<Value> {
        match tuple {
            Value::Tuple(..) => self.heap.items(tuple).to_vec(),
            number => vec![number],
        }
    }

    /// `0` at any type.
    pub(super) fn zero(&mut self, ty: Type) -> Value {
        let layout = self.layouts.of(ty);
        let leaves: Vec<Value> = layout
            .leaves
            .iter()
            .map(|(_, kind)| match kind {
                Kind::Scalar => Value::Real(0.0),
                Kind::Function => self.heap.object(Object::Zero),
                Kind::Functional => self.heap.list(Vec::new()),
            })
            .collect();
        self.layouts.rebuild(&mut self.heap, ty, &leaves)
    }

    /// `s + t` at any type.
    pub(super) fn add(&mut self, ty: Type, a: Value, b: Value) -> Result<Value, Halt> {
        let layout = self.layouts.of(ty);
        let mut sum = self.layouts.flatten(&self.heap, a, ty);
        let other = self.layouts.flatten(&self.heap, b, ty);
        for ((a, b), (_, kind)) in sum.iter_mut().zip(other).zip(&layout.leaves) {
            *a = match kind {
                Kind::Scalar => self.tapes.binary(Binary::Add, *a, b)?,
                Kind::Function => self.heap.object(Object::Sum(*a, b)),
                Kind::Functional => self.heap.object(Object::Both(*a, b)),
            };
        }
        Ok(self.layouts.rebuild(&mut self.heap, ty, &sum))
    }

    fn apply(&mut self, ty: Type, function: Value, argument: Value) -> Result<Control, Halt> {
        let (_, result) = self.layouts.types.function(ty);
        Ok(match self.heap.get(function) {
            Object::Closure(block, start, len) => {
                self.enter(block, argument, start, len);
                Control::Run
            }
            Object::Zero => Control::Return(self.zero(result)),
            Object::Sum(f, g) => {
                self.frames.push(Frame::SumFirst(ty, g, argument));
                Control::Apply(ty, f, argument)
            }
            Object::Pullback(block, start, len, form, signature) => {
                let function = Function { block, start, len, signature };
                let level = self.open_level(Owner::Pullback(function, form, argument));
                let point = self.lift(argument, signature.from, level);
                self.frames.push(Frame::PullbackBody(form, point, signature));
                self.enter(block, point, start, len);
                Control::Run
            }
            Object::PrimJacobian(f, direction) => {
                let (point, direction) = (self.numbers(argument), self.numbers(direction));
                let direction: Vec<Option<Value>> =
                    direction.into_iter().map(|u| (u != Value::Real(0.0)).then_some(u)).collect();
                let tangent = self.primitives.get(f).tangent(&mut self.tapes, &point, &direction)?;
                let tangent: Vec<Value> =
                    tangent.into_iter().map(|part| part.unwrap_or(Value::Real(0.0))).collect();
                Control::Return(self.heap.tuple(&tangent))
            }
            Object::Jacobian(ty, function, direction) => {
                let derived = Derived { function, ty, point: argument, direction, uses: Vec::new(), result };
                self.derive(derived)
            }
            Object::Derived(id) => self.use_derived(id, Use::Apply(argument)),
            Object::Scaled(factor, function) => {
                self.frames.push(Frame::Scaled(result, factor));
                Control::Apply(ty, function, argument)
            }
            Object::Tracked { level, node, under, .. } => {
                let stripped = self.argument_of_tracked(argument, level)?;
                self.frames.push(Frame::Join(level, node, stripped, result));
                Control::Apply(ty, under, argument)
            }
            other @ (Object::List(..) | Object::Both(..) | Object::Lazy(_)) => {
                unreachable!("{other:?} is no function")
            }
        })
    }

    fn resume(&mut self, frame: Frame, value: Value) -> Result<Control, Halt> {
        Ok(match frame {
            Frame::Block(activation, to) => {
                self.now = activation;
                self.stack[(activation.base + to) as usize] = value;
                Control::Run
            }
            Frame::Join(level, node, argument, ty) => {
                Control::Return(self.join(level, node, argument, value, ty))
            }
            Frame::SumFirst(ty, g, argument) => {
                let (_, result) = self.layouts.types.function(ty);
                self.frames.push(Frame::SumSecond(result, value));
                Control::Apply(ty, g, argument)
            }
            Frame::SumSecond(ty, first) => Control::Return(self.add(ty, first, value)?),
            // (9)   y∉FV(E): the 1-form is not evaluated
            Frame::PullbackBody(_, _, signature) if signature.is_constant => {
                self.tapes.levels.pop();
                Control::Return(self.cotangent(None, signature.from))
            }
            Frame::PullbackBody(form, point, signature) => {
                let level = u32::try_from(self.tapes.levels.len() - 1).expect("levels are numbered by `u32`");
                let primal = self.strip_all(value, signature.to, level);
                self.frames.push(Frame::PullbackForm(value, point, signature));
                let ty = self.layouts.types.omega(signature.to);
                Control::Apply(ty, form, primal)
            }
            Frame::PullbackForm(result, point, signature) => self.seed(value, result, point, signature)?,
            Frame::DualBody(covector, variable, signature) => {
                self.seed(covector, value, variable, signature)?
            }
            Frame::Seed(point, from) => {
                let found = self.sweep(point, from, [(value, Value::Real(1.0))])?;
                Control::Return(self.cotangent(found, from))
            }
            Frame::Contraction(contraction) => self.resume_contraction(*contraction, value)?,
            Frame::Derivative(running) => self.resume_derivative(*running, value)?,
            Frame::DerivativeSeed(covector, ty) => self.finish_derivative(covector, ty, value)?,
            Frame::DerivedLeaves(derived, done) => self.resume_leaves(*derived, done, value),
            Frame::LazyForm(function, form, point) => self.resume_lazy_form(function, form, point, value),
            Frame::LazyCovector(function, point) => {
                let lazy = Lazy { function, point: Some(point), covector: value, leaf: 0 };
                self.next_lazy_leaf(lazy, Vec::new())
            }
            Frame::LazyLeaves(lazy, mut done) => {
                done.push(value);
                self.next_lazy_leaf(*lazy, done)
            }
            Frame::LazyValue(covector, ty) => self.contract(ty, covector, value)?,
            Frame::LazySeed(epsilon) => self.finish_lazy(epsilon, value)?,
            Frame::Scaled(ty, factor) => Control::Return(self.scale(ty, factor, value)?),
        })
    }

    /// The result of a body with the cells of this level removed.
    fn strip_all(&mut self, value: Value, ty: Type, level: u32) -> Value {
        let layout = self.layouts.of(ty);
        if !layout.is_vector {
            return self.strip(value, level);
        }
        let mut leaves = self.layouts.flatten(&self.heap, value, ty);
        for leaf in &mut leaves {
            *leaf = self.tapes.primal(*leaf, level);
        }
        self.layouts.rebuild(&mut self.heap, ty, &leaves)
    }

    /// Sweeps the tape from the result with its covector. A covector that does not consist of numbers is
    /// contracted with the result first.
    fn seed(
        &mut self,
        covector: Value,
        result: Value,
        point: Value,
        signature: Signature,
    ) -> Result<Control, Halt> {
        if self.layouts.of(signature.to).is_vector {
            let results = self.layouts.flatten(&self.heap, result, signature.to);
            let seeds = self.layouts.flatten(&self.heap, covector, signature.to);
            let found = self.sweep(point, signature.from, results.into_iter().zip(seeds))?;
            return Ok(Control::Return(self.cotangent(found, signature.from)));
        }
        self.frames.push(Frame::Seed(point, signature.from));
        self.contract(signature.to, covector, result)
    }

    fn cotangent(&mut self, found: Option<Value>, of: Type) -> Value {
        found.unwrap_or_else(|| {
            let dual = self.layouts.types.dual(of);
            self.zero(dual)
        })
    }

    /// Checks the approximate memory in use against the limit.
    pub(super) fn check_memory(&mut self) -> Result<(), Stop> {
        let bytes = self.heap.bytes()
            + self.tapes.bytes()
            + self.stack.capacity() * size_of::<Value>()
            + self.frames.capacity() * size_of::<Frame>();
        let bytes = bytes as u64;
        self.tapes.counters.bytes = self.tapes.counters.bytes.max(bytes);
        if bytes > self.tapes.limits.memory { Err(Stop::OutOfMemory) } else { Ok(()) }
    }

    /// The answer of a value.
    pub fn answer(&mut self, value: Value, ty: Type) -> Answer {
        let (mut leaves, mut work) = (Vec::new(), vec![(value, ty)]);
        while let Some((value, at)) = work.pop() {
            match self.layouts.types.shape(at) {
                Shape::Arrow(..) => leaves.push(Leaf::Function),
                Shape::Dual(of) if !self.layouts.types.is_euclidean(of) => leaves.push(Leaf::Dual),
                Shape::Product(..) => {
                    let items = self.layouts.types.spine(at);
                    work.extend(self.heap.items(value).iter().copied().zip(items).rev());
                }
                Shape::Real | Shape::Dual(_) => {
                    for leaf in self.layouts.flatten(&self.heap, value, at) {
                        let Value::Real(value) = leaf else { unreachable!("no tape is open") };
                        leaves.push(Leaf::Real(value));
                    }
                }
            }
        }
        Answer { ty, leaves }
    }

    /// The counters, and the types of the answer.
    pub fn finish(mut self) -> (crate::outcome::Counters, Types) {
        // The limit is not enforced any more; this only updates the counter.
        let _ = self.check_memory();
        (self.tapes.counters, self.layouts.types)
    }
}
