//! Runs flat code.

use std::sync::Arc;

use eddy_tensor::{Op, Shape, ShapeError, Value};

use super::code::{Acc, Argument, Code, Copy, Instruction, Slot, SlotAt};
use super::failure::{Failure, RunError};
use super::ledger::Ledger;
use super::places::{self, Place, Selector, ints};
use super::rows::Rows;
use super::{Limits, Program};
use crate::ir::BodyId;
use crate::operation::Operation;

const NOTHING: Value = Value::Bool(false);

/// An active call.
struct Frame {
    body: BodyId,
    pc: usize,
    base: usize,
    n_tapes: usize,
}

/// An active loop.
struct Repeat {
    iteration: i64,
    count: i64,
    rows: Vec<Rows>,
    /// The shapes that the states keep.
    shapes: Vec<Shape>,
    n_tapes: usize,
}

struct Machine<'a> {
    program: &'a Program,
    values: Vec<Value>,
    base: usize,
    frames: Vec<Frame>,
    loops: Vec<Repeat>,
    tapes: Vec<Box<[Value]>>,
    fuel: u64,
    limits: &'a Limits,
    /// Bytes of tensors in slots, rows and tapes; counted only if there is a limit.
    ledger: Option<Ledger>,
}

pub(super) fn run(
    program: &Program,
    body: BodyId,
    arguments: &[Value],
    limits: &Limits,
) -> (Result<Vec<Value>, RunError>, u64) {
    let fuel = limits.fuel.unwrap_or(u64::MAX);
    let mut machine = Machine {
        program,
        values: Vec::new(),
        base: 0,
        frames: Vec::new(),
        loops: Vec::new(),
        tapes: Vec::new(),
        fuel,
        limits,
        ledger: limits.memory.map(Ledger::new),
    };
    let found = machine.run(body, arguments);
    (found, fuel - machine.fuel)
}

impl Machine<'_> {
    fn run(&mut self, entry: BodyId, arguments: &[Value]) -> Result<Vec<Value>, RunError> {
        let mut code = &self.program.codes[entry.index()];
        let mut body = entry;
        let mut pc = 0;
        let program = self.program;
        let error = |failure, body: BodyId, pc: usize| {
            let span = program.codes[body.index()].spans.get(pc).copied().unwrap_or_default();
            RunError { failure, span, body: program.names[body.index()].clone() }
        };
        self.values.resize(code.n_slots, NOTHING);
        for (slot, argument) in code.params.iter().zip(arguments) {
            self.set(*slot, argument.clone()).map_err(|failure| error(failure, body, 0))?;
        }
        loop {
            let instruction = &code.instructions[pc];
            match instruction {
                Instruction::Jump(target) => {
                    pc = *target;
                    continue;
                }
                Instruction::Branch(slot, target) => {
                    if !matches!(self.get(*slot), Value::Bool(true)) {
                        pc = *target;
                        continue;
                    }
                }
                Instruction::Next { index, exit } => {
                    let repeat = self.loops.last().expect("a loop was entered");
                    if repeat.iteration >= repeat.count {
                        pc = *exit;
                        continue;
                    }
                    let iteration = repeat.iteration;
                    self.values[self.base + *index as usize] = Value::Int(iteration);
                    self.burn().map_err(|failure| error(failure, body, pc))?;
                }
                Instruction::Again { states, target, forgets_tapes } => {
                    self.again(states, *forgets_tapes).map_err(|failure| error(failure, body, pc))?;
                    pc = *target;
                    continue;
                }
                Instruction::Call { callee, arguments, .. } => {
                    self.call(
                        *callee,
                        arguments,
                        Frame { body, pc, base: self.base, n_tapes: self.tapes.len() },
                    )
                    .map_err(|failure| error(failure, body, pc))?;
                    (body, pc) = (*callee, 0);
                    code = &self.program.codes[body.index()];
                    continue;
                }
                Instruction::Return(results) => {
                    let results: Vec<Value> = results.iter().map(|slot| self.get(*slot).clone()).collect();
                    self.release();
                    let Some(frame) = self.frames.pop() else { return Ok(results) };
                    if !code.has_tapes {
                        self.forget_tapes(frame.n_tapes);
                    }
                    (body, pc, self.base) = (frame.body, frame.pc, frame.base);
                    code = &self.program.codes[body.index()];
                    let Instruction::Call { results: to, .. } = &code.instructions[pc] else {
                        unreachable!("a frame waits at a call")
                    };
                    for (to, value) in to.iter().zip(results) {
                        self.set(*to, value).map_err(|failure| error(failure, body, pc))?;
                    }
                }
                other => self.step(other).map_err(|failure| error(failure, body, pc))?,
            }
            pc += 1;
        }
    }

    fn get(&self, slot: Slot) -> &Value {
        &self.values[self.base + slot as usize]
    }

    fn int(&self, slot: Slot) -> i64 {
        match self.get(slot) {
            Value::Int(n) => *n,
            _ => unreachable!("the module is verified: this is an int"),
        }
    }

    fn set(&mut self, slot: Slot, value: Value) -> Result<(), Failure> {
        self.set_at(self.base + slot as usize, value)
    }

    fn set_at(&mut self, place: usize, value: Value) -> Result<(), Failure> {
        if let Some(ledger) = &mut self.ledger {
            ledger.hold(&value)?;
            ledger.release(&self.values[place]);
        }
        self.values[place] = value;
        Ok(())
    }

    fn take_at(&mut self, place: usize) -> Value {
        let value = std::mem::replace(&mut self.values[place], NOTHING);
        if let Some(ledger) = &mut self.ledger {
            ledger.release(&value);
        }
        value
    }

    /// Moves a tensor out of its slot after its last use. A scalar is copied, since it may be read again.
    fn take(&mut self, slot: Slot) -> Value {
        match self.get(slot) {
            Value::Tensor(_) => self.take_at(self.base + slot as usize),
            scalar => scalar.clone(),
        }
    }

    fn burn(&mut self) -> Result<(), Failure> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Failure::Fuel)?;
        Ok(())
    }

    /// Frees the slots of the current frame.
    fn release(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            self.values[self.base..].iter().for_each(|value| ledger.release(value));
        }
        self.values.truncate(self.base);
    }

    fn forget_tapes(&mut self, n: usize) {
        if let Some(ledger) = &mut self.ledger {
            self.tapes[n..].iter().flat_map(|tape| tape.iter()).for_each(|value| ledger.release(value));
        }
        self.tapes.truncate(n);
    }

    fn call(&mut self, callee: BodyId, arguments: &[Argument], frame: Frame) -> Result<(), Failure> {
        self.burn()?;
        if self.frames.len() >= self.limits.depth {
            return Err(Failure::Depth);
        }
        let code: &Code = &self.program.codes[callee.index()];
        let base = self.values.len();
        self.values.resize(base + code.n_slots, NOTHING);
        for (param, argument) in code.params.iter().zip(arguments) {
            let value = match argument {
                Argument::Value(slot) => self.get(*slot).clone(),
                Argument::Acc(acc) => {
                    Value::Int(i64::try_from(self.acc(*acc)).expect("slots fit into memory"))
                }
            };
            self.set_at(base + *param as usize, value)?;
        }
        self.frames.push(frame);
        self.base = base;
        Ok(())
    }

    /// The place of an accumulator.
    fn acc(&self, acc: Acc) -> usize {
        match acc {
            Acc::Here(slot) => self.base + slot as usize,
            Acc::Below(slot) => usize::try_from(self.int(slot)).expect("it names a slot"),
        }
    }

    fn again(&mut self, states: &[Copy], forgets_tapes: bool) -> Result<(), Failure> {
        let repeat = self.loops.last().expect("a loop was entered");
        for (state, shape) in states.iter().zip(&repeat.shapes) {
            fits(shape, self.get(state.from).shape())?;
        }
        self.copy(states)?;
        let repeat = self.loops.last_mut().expect("a loop was entered");
        repeat.iteration += 1;
        let n_tapes = repeat.n_tapes;
        if forgets_tapes {
            self.forget_tapes(n_tapes);
        }
        Ok(())
    }

    fn copy(&mut self, copies: &[Copy]) -> Result<(), Failure> {
        let fetch = |machine: &mut Self, copy: &Copy| {
            if copy.is_taken { machine.take(copy.from) } else { machine.get(copy.from).clone() }
        };
        if let [copy] = copies {
            let value = fetch(self, copy);
            return self.set(copy.to, value);
        }
        let values: Vec<Value> = copies.iter().map(|copy| fetch(self, copy)).collect();
        copies.iter().zip(values).try_for_each(|(copy, value)| self.set(copy.to, value))
    }

    fn step(&mut self, instruction: &Instruction) -> Result<(), Failure> {
        match instruction {
            Instruction::Const(value, slot) => self.set(*slot, value.clone()),
            Instruction::Apply { operation, operands, result } => {
                let value = self.apply(operation, operands)?;
                if let (Some(slot), Some(value)) = (result, value) {
                    self.set(*slot, value)?;
                }
                Ok(())
            }
            Instruction::Index { array, at, result } => {
                let array = self.get(*array);
                let value = match self.offset(array.shape(), at) {
                    Some(offset) => places::element(array, offset?),
                    None => places::place(array.shape(), &self.selectors(at))?.read(array),
                };
                self.set(*result, value)
            }
            Instruction::Update { array, at, value, is_sum, result } => {
                let place = self.place(self.get(*array).shape(), at)?;
                let value = self.get(*value).clone();
                fits(&place.shape, value.shape())?;
                let mut array = self.take(*array);
                if *is_sum {
                    place.add(&mut array, &value)?;
                } else {
                    place.write(&mut array, &value);
                }
                self.set(*result, array)
            }
            Instruction::Add { acc, at, value } => {
                let acc = self.acc(*acc);
                let place = self.place(self.values[acc].shape(), at)?;
                let value = self.get(*value).clone();
                fits(&place.shape, value.shape())?;
                // If other places hold the tensor, `add` copies it, so the accumulator may hold another one
                // afterwards.
                let mut sum = self.take_at(acc);
                place.add(&mut sum, &value)?;
                self.set_at(acc, sum)
            }
            Instruction::Unpack { tape, results } => {
                let tape = usize::try_from(self.int(*tape)).expect("it names a tape");
                let values = self.tapes[tape].clone();
                results.iter().zip(values).try_for_each(|(slot, value)| self.set(*slot, value))
            }
            Instruction::Move(copies) => self.copy(copies),
            Instruction::Enter { count, rows, states } => {
                let count = count.map_or(i64::MAX, |slot| self.int(slot));
                let rows = rows.iter().map(|row| Rows::new(*row)).collect();
                let shapes = states.iter().map(|slot| self.get(*slot).shape().clone()).collect();
                self.loops.push(Repeat { iteration: 0, count, rows, shapes, n_tapes: self.tapes.len() });
                Ok(())
            }
            Instruction::Tick => self.burn(),
            Instruction::Collect(slots) => {
                let repeat = self.loops.last_mut().expect("a loop was entered");
                for (rows, slot) in repeat.rows.iter_mut().zip(slots) {
                    let before = rows.n_bytes();
                    rows.push(&self.values[self.base + *slot as usize])?;
                    if let Some(ledger) = &mut self.ledger {
                        ledger.add(rows.n_bytes() - before)?;
                    }
                }
                Ok(())
            }
            Instruction::Leave { rows, count } => {
                let repeat = self.loops.pop().expect("a loop was entered");
                for (slot, rows) in rows.iter().zip(repeat.rows) {
                    if let Some(ledger) = &mut self.ledger {
                        ledger.subtract(rows.n_bytes());
                    }
                    let value = rows.finish()?;
                    self.set(*slot, value)?;
                }
                match count {
                    Some(slot) => self.set(*slot, Value::Int(repeat.iteration)),
                    None => Ok(()),
                }
            }
            _ => unreachable!("control is done by the main loop"),
        }
    }

    fn selectors(&self, at: &[SlotAt]) -> Vec<Selector<'_>> {
        let selector = |at: &SlotAt| match *at {
            SlotAt::Int(slot) => Selector::Index(self.get(slot)),
            SlotAt::Range(lo, hi) => Selector::Range(self.int(lo), self.int(hi)),
            SlotAt::All => Selector::All,
        };
        at.iter().map(selector).collect()
    }

    fn place(&self, shape: &Shape, at: &[SlotAt]) -> Result<Place, Failure> {
        match self.offset(shape, at) {
            Some(offset) => Ok(Place::element(offset?)),
            None => places::place(shape, &self.selectors(at)),
        }
    }

    fn offset(&self, shape: &Shape, at: &[SlotAt]) -> Option<Result<usize, Failure>> {
        let indices =
            at.iter().map(|at| if let SlotAt::Int(slot) = at { Some(self.get(*slot)) } else { None });
        places::offset(shape, indices)
    }

    fn apply(&mut self, operation: &Operation, operands: &[Slot]) -> Result<Option<Value>, Failure> {
        let value = match operation {
            Operation::Table(op) => match *operands {
                [x] => evaluate(op, &[self.get(x)])?,
                [x, y] => evaluate(op, &[self.get(x), self.get(y)])?,
                _ => {
                    let operands: Vec<&Value> = operands.iter().map(|slot| self.get(*slot)).collect();
                    evaluate(op, &operands)?
                }
            },
            Operation::Sized(sized) => {
                let op = sized.op(&self.sizes(&operands[1..])?);
                evaluate(&op, &[self.get(operands[0])])?
            }
            Operation::Fill => self.fill(operands)?,
            Operation::Size(axis) => size(self.get(operands[0]).shape()[*axis]),
            Operation::ReverseIndex => Value::Int(self.int(operands[0]) - 1 - self.int(operands[1])),
            Operation::FirstMax => first(self.get(operands[0]), |later, best| later > best)?,
            Operation::FirstMin => first(self.get(operands[0]), |later, best| later < best)?,
            Operation::CheckSize => {
                let (found, required) = (self.int(operands[0]), self.int(operands[1]));
                return if found == required { Ok(None) } else { Err(Failure::Size { found, required }) };
            }
            Operation::CheckSome => {
                return if self.int(operands[0]) > 0 { Ok(None) } else { Err(Failure::Empty) };
            }
            Operation::FailOrder => return Err(Failure::Order),
            Operation::Pack => {
                let tape: Box<[Value]> = operands.iter().map(|slot| self.get(*slot).clone()).collect();
                if let Some(ledger) = &mut self.ledger {
                    tape.iter().try_for_each(|value| ledger.hold(value))?;
                }
                self.tapes.push(tape);
                size(self.tapes.len() - 1)
            }
        };
        Ok(Some(value))
    }

    fn sizes(&self, slots: &[Slot]) -> Result<Vec<usize>, Failure> {
        let size = |slot: &Slot| {
            let n = self.int(*slot);
            usize::try_from(n).map_err(|_| Failure::Negative(n))
        };
        slots.iter().map(size).collect()
    }

    fn fill(&self, operands: &[Slot]) -> Result<Value, Failure> {
        let shape = Shape::from(self.sizes(&operands[1..])?);
        let n = shape.n_elements()?;
        let data = match self.get(operands[0]) {
            Value::Bool(x) => eddy_tensor::Data::Bool(vec![*x; n]),
            Value::Int(x) => eddy_tensor::Data::Int(vec![*x; n]),
            Value::Num(x) => eddy_tensor::Data::Num(vec![*x; n]),
            _ => unreachable!("the module is verified: this is a scalar in double precision"),
        };
        Ok(Value::new(shape, data)?)
    }
}

fn evaluate(op: &Op, operands: &[&Value]) -> Result<Value, Failure> {
    let has_tensor = operands.iter().any(|operand| matches!(operand, Value::Tensor(_)));
    if has_tensor {
        let shapes: Vec<&Shape> = operands.iter().map(|operand| operand.shape()).collect();
        op.shape(&shapes)?;
    } else if let Op::Broadcast(_) | Op::Reshape(_) | Op::Reduce(_) | Op::Spread(..) | Op::Onehot(_) = op {
        op.shape(&[operands[0].shape()])?;
    }
    let value = op.eval(operands)?;
    // The statement `copy` needs a tensor of its own, which is then changed in place.
    if let (Op::Copy, Value::Tensor(tensor)) = (op, &value) {
        return Ok(Value::Tensor(Arc::new((**tensor).clone())));
    }
    Ok(value)
}

/// The index of the first element that no later one beats.
fn first(vector: &Value, beats: impl Fn(f64, f64) -> bool + std::marker::Copy) -> Result<Value, Failure> {
    fn best<T: std::marker::Copy>(elements: &[T], beats: impl Fn(T, T) -> bool) -> Option<usize> {
        (0..elements.len())
            .reduce(|best, later| if beats(elements[later], elements[best]) { later } else { best })
    }
    let Value::Tensor(tensor) = vector else { unreachable!("the module is verified: this is a vector") };
    let place = match tensor.data() {
        eddy_tensor::Data::Num(xs) => best(xs, beats),
        // Compared as integers: not all large integers are exact as floats.
        _ => best(ints(vector), |later, best| match later.cmp(&best) {
            std::cmp::Ordering::Less => beats(0.0, 1.0),
            std::cmp::Ordering::Equal => false,
            std::cmp::Ordering::Greater => beats(1.0, 0.0),
        }),
    };
    place.map(size).ok_or(Failure::Empty)
}

fn size(n: usize) -> Value {
    Value::Int(i64::try_from(n).expect("a size is below 2^63"))
}

fn fits(place: &Shape, value: &Shape) -> Result<(), Failure> {
    if place == value {
        return Ok(());
    }
    Err(ShapeError::Different { left: place.clone(), right: value.clone() }.into())
}
