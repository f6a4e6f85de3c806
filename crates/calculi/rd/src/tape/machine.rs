//! The interpreter.

use super::code::{Code, Instr, List, Operand, Pc, Tail};
use super::record::{Real, Tapes};
use crate::operation::{Scalar, Undefined, finite};
use crate::outcome::{Counters, Limits, Stop, Ties};

/// The caller's state, which a return restores, and the properties of the call.
#[derive(Clone, Copy)]
struct Frame {
    pc: Pc,
    base: u32,
    /// Whether the last operation of the callee may overflow, see [`Tail`].
    lenient: bool,
    /// Whether the call repeats an earlier one.
    repeated: bool,
}

/// The result of running until the end or a missing function.
pub enum Step {
    /// The value, real by real.
    Finished(Vec<f64>),
    /// The program called a function that is not linked yet; run again after linking.
    Missing(u32),
}

/// Runs code, which may grow between runs but must not change otherwise.
pub struct Machine {
    constants: Vec<Real>,
    /// The slots of all frames, one above the other.
    stack: Vec<Real>,
    frames: Vec<Frame>,
    /// The function to enter when running starts or continues, and its frame.
    entering: u32,
    base: usize,
    tapes: Tapes,
    ties: Ties,
    limits: Limits,
    fuel: u64,
    /// The number of open calls that repeat earlier ones; while it is positive, calls cost no fuel.
    repeating: u32,
    /// Counts calls, to check the memory periodically.
    ticks: u32,
    bytes: u64,
    main_body: Option<Vec<f64>>,
    scratch: Vec<Real>,
}

impl Machine {
    /// A machine at the start of a program.
    pub fn new(limits: Limits, ties: Ties) -> Self {
        Machine {
            constants: Vec::new(),
            stack: Vec::new(),
            frames: Vec::new(),
            entering: 0,
            base: 0,
            tapes: Tapes::new(),
            ties,
            limits,
            fuel: limits.fuel,
            repeating: 0,
            ticks: 0,
            bytes: 0,
            main_body: None,
            scratch: Vec::new(),
        }
    }

    pub fn counters(&self) -> Counters {
        Counters { calls: self.limits.fuel - self.fuel, recorded: self.tapes.recorded, bytes: self.bytes }
    }

    /// The ties with the choices that were made.
    pub fn into_ties(self) -> Ties {
        self.ties
    }

    /// The value of the body of the main derivative, if a tie was met in it.
    pub fn main_body(&mut self) -> Option<Vec<f64>> {
        self.main_body.take()
    }

    /// Runs the program from its start, or continues after a missing function.
    pub fn run(&mut self, code: &Code) -> Result<Step, Stop> {
        let new_constants = &code.constants[self.constants.len()..];
        self.constants.extend(new_constants.iter().map(|value| Real::constant(*value)));
        let entered = code.functions[self.entering as usize];
        let mut base = self.base;
        let mut pc = entered.entry as usize;
        if base + entered.n_slots as usize > self.stack.len() {
            self.make_room(base + entered.n_slots as usize)?;
        }
        loop {
            let at = pc;
            pc += 1;
            match code.instrs[at] {
                Instr::Add(dst, x, y) => {
                    let (x, y) = (self.get(base, x), self.get(base, y));
                    let value = self.checked(x.value + y.value, code, at)?;
                    self.stack[base + dst as usize] = self.tapes.record(Scalar::Add, x, y, value);
                }
                Instr::Sub(dst, x, y) => {
                    let (x, y) = (self.get(base, x), self.get(base, y));
                    let value = self.checked(x.value - y.value, code, at)?;
                    self.stack[base + dst as usize] = self.tapes.record(Scalar::Sub, x, y, value);
                }
                Instr::Mul(dst, x, y) => {
                    let (x, y) = (self.get(base, x), self.get(base, y));
                    let value = self.checked(x.value * y.value, code, at)?;
                    self.stack[base + dst as usize] = self.tapes.record(Scalar::Mul, x, y, value);
                }
                Instr::Div(dst, x, y) => {
                    let (x, y) = (self.get(base, x), self.get(base, y));
                    if y.value == 0.0 {
                        return Err(Scalar::Div.outside(x.value, y.value).into());
                    }
                    let value = self.checked(x.value / y.value, code, at)?;
                    self.stack[base + dst as usize] = self.tapes.record(Scalar::Div, x, y, value);
                }
                Instr::Pow(dst, x, y) => {
                    let (x, y) = (self.get(base, x), self.get(base, y));
                    let value = self.apply(Scalar::Pow, (x.value, y.value), code, at)?;
                    self.stack[base + dst as usize] = self.tapes.record(Scalar::Pow, x, y, value);
                }
                Instr::Neg(dst, x) => {
                    let x = self.get(base, x);
                    let real = self.tapes.record(Scalar::Neg, x, Real::constant(0.0), -x.value);
                    self.stack[base + dst as usize] = real;
                }
                Instr::Unary(number, dst, x) => {
                    let op = code.unary[number as usize];
                    let x = self.get(base, x);
                    let value = self.apply(op, (x.value, 0.0), code, at)?;
                    self.stack[base + dst as usize] = self.tapes.record(op, x, Real::constant(0.0), value);
                }
                Instr::Copy(dst, x) => self.stack[base + dst as usize] = self.get(base, x),
                Instr::Branch(pred, x, y, otherwise) => {
                    let (x, y) = (self.get(base, x).value, self.get(base, y).value);
                    if !self.ties.decide(pred, x, y)? {
                        pc = otherwise as usize;
                    }
                }
                Instr::Jump(to) => pc = to as usize,
                Instr::Call { function, window, lenient, repeated } => {
                    let callee = code.functions[function as usize];
                    // Both fit: the stack is bounded by the memory limit, the code by the size of the source.
                    #[allow(clippy::cast_possible_truncation)]
                    self.frames.push(Frame { pc: pc as Pc, base: base as u32, lenient, repeated });
                    self.repeating += u32::from(repeated);
                    base += window as usize;
                    self.spend(base + callee.n_slots as usize)?;
                    pc = callee.entry as usize;
                }
                Instr::TailCall { function, window } => {
                    let callee = code.functions[function as usize];
                    let from = base + window as usize;
                    self.copy_down(from, base, callee.n_arguments as usize);
                    self.spend(base + callee.n_slots as usize)?;
                    pc = callee.entry as usize;
                }
                Instr::Return { window, n } => {
                    let from = base + window as usize;
                    match self.frames.pop() {
                        Some(frame) => {
                            self.copy_down(from, base, n as usize);
                            self.repeating -= u32::from(frame.repeated);
                            (pc, base) = (frame.pc as usize, frame.base as usize);
                        }
                        None => return Ok(Step::Finished(values(&self.stack[from..from + n as usize]))),
                    }
                }
                Instr::Missing(function) => {
                    (self.entering, self.base) = (function, base);
                    return Ok(Step::Missing(function));
                }
                Instr::Limit(dst, x, function) => {
                    let remaining = self.get(base, x).value;
                    if remaining == 0.0 {
                        let name = code.names[function as usize].clone();
                        return Err(Undefined::LetrecLimit(name).into());
                    }
                    self.stack[base + dst as usize] = Real::constant(remaining - 1.0);
                }
                Instr::Open { point, dst, main } => self.open(base, operands(code, point), dst, main),
                Instr::Close { outputs, cotangents, dst, n, main } => {
                    let (outputs, cotangents) = (operands(code, outputs), operands(code, cotangents));
                    self.close(base, outputs, cotangents, n as usize, main)?;
                    let dst = base + dst as usize;
                    self.stack[dst..dst + n as usize].copy_from_slice(&self.scratch);
                }
            }
        }
    }

    #[inline]
    fn get(&self, base: usize, operand: Operand) -> Real {
        match operand.locate() {
            Ok(slot) => self.stack[base + slot],
            Err(constant) => self.constants[constant],
        }
    }

    /// Moves a value down to where a frame starts. Most values are a few reals, too few for a block move.
    #[inline]
    fn copy_down(&mut self, from: usize, to: usize, n: usize) {
        for i in 0..n {
            self.stack[to + i] = self.stack[from + i];
        }
    }

    fn apply(&self, op: Scalar, (x, y): (f64, f64), code: &Code, at: usize) -> Result<f64, Undefined> {
        if op.is_defined(x, y) { self.checked(op.raw(x, y), code, at) } else { Err(op.outside(x, y)) }
    }

    /// Checks that a result is finite, unless it is the last operation of a derivative's body.
    #[inline]
    fn checked(&self, value: f64, code: &Code, at: usize) -> Result<f64, Undefined> {
        if value.is_finite() { Ok(value) } else { self.overflow(value, code, at) }
    }

    #[cold]
    fn overflow(&self, value: f64, code: &Code, at: usize) -> Result<f64, Undefined> {
        let unseen = match code.tails[at] {
            Tail::No => false,
            Tail::Function => self.frames.last().is_some_and(|frame| frame.lenient),
            Tail::Derivative => true,
        };
        if unseen { Ok(value) } else { Err(Undefined::Overflow) }
    }

    /// Spends fuel for a call and checks that its frame fits.
    #[inline]
    fn spend(&mut self, n_slots: usize) -> Result<(), Stop> {
        if self.repeating == 0 {
            self.fuel = self.fuel.checked_sub(1).ok_or(Stop::Diverged)?;
        }
        if n_slots > self.stack.len() {
            self.make_room(n_slots)?;
        }
        // A program allocates little between two calls, so a periodic check is enough.
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(1024) { self.check_memory() } else { Ok(()) }
    }

    #[cold]
    fn make_room(&mut self, n_slots: usize) -> Result<(), Stop> {
        let doubled = (self.stack.len() * 2).max(n_slots).max(256);
        self.check_memory()?;
        if (n_slots * size_of::<Real>()) as u64 > self.limits.memory || u32::try_from(n_slots).is_err() {
            return Err(Stop::OutOfMemory);
        }
        self.stack.resize(doubled, Real::constant(0.0));
        Ok(())
    }

    fn check_memory(&mut self) -> Result<(), Stop> {
        let bytes = self.stack.len() * size_of::<Real>()
            + self.frames.len() * size_of::<Frame>()
            + self.tapes.bytes();
        self.bytes = self.bytes.max(bytes as u64);
        if bytes as u64 > self.limits.memory || self.tapes.is_full() {
            Err(Stop::OutOfMemory)
        } else {
            Ok(())
        }
    }

    fn open(&mut self, base: usize, point: &[Operand], dst: u32, main: bool) {
        if main {
            self.ties.activate();
        }
        self.tapes.open();
        for (i, operand) in point.iter().enumerate() {
            let leaf = self.tapes.leaf(self.get(base, *operand));
            self.stack[base + dst as usize + i] = leaf;
        }
    }

    /// Leaves the cotangents of the leaves in `scratch`.
    fn close(
        &mut self,
        base: usize,
        outputs: &[Operand],
        cotangents: &[Operand],
        n_leaves: usize,
        main: bool,
    ) -> Result<(), Stop> {
        let gather = |operands: &[Operand]| -> Vec<Real> {
            operands.iter().map(|operand| self.get(base, *operand)).collect()
        };
        let (outputs, cotangents) = (gather(outputs), gather(cotangents));
        self.check_memory()?;
        self.tapes.close(n_leaves, &outputs, &cotangents, &mut self.scratch)?;
        if main {
            self.ties.deactivate();
            if self.ties.has_choices() {
                let body: Result<Vec<f64>, Undefined> = values(&outputs).into_iter().map(finite).collect();
                self.main_body = Some(body?);
            }
        }
        Ok(())
    }
}

fn operands(code: &Code, list: List) -> &[Operand] {
    &code.lists[list.start as usize..(list.start + list.len) as usize]
}

fn values(reals: &[Real]) -> Vec<f64> {
    reals.iter().map(|real| real.value).collect()
}
