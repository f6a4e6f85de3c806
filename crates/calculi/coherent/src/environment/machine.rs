//! The rules of the environment machine, on terms without levels; [`levels`](super::levels) has the others.
//!
//! A state consists of arrays: the word, the levels, the accessible values, and the stack. The words, values
//! and levels that `if` and `let` frames save are in separate arrays parallel to the frames; a frame stores
//! how many entries belong to it. So the only allocation of a step is, in the heap, the closure of an
//! argument that is neither a number, nor a variable, nor closed.

use super::cells::{Cells, EmptyLeaf};
use super::code::{Binder, BlockId, Code, Form, Make, NodeId, Slot};
use super::heap::{Heap, Value};
use crate::outcome::{ExhaustedLimit, Limits};
use crate::syntax::{Bit, Op};
use crate::word::{Letter, Word};

/// A frame of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Frame {
    Arg(Value),
    Succ,
    Pred,
    /// The branches, and the numbers of saved letters and levels.
    If(BlockId, u32, u32),
    /// The body, and the numbers of saved letters and levels.
    Let(BlockId, u32, u32),
    Derive(Letter),
}

/// Why the machine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Value(u64),
    Empty,
    /// It waits for a coin.
    Coin,
    Exhausted(ExhaustedLimit),
}

/// A run of the machine; a clone continues independently.
#[derive(Clone)]
pub(super) struct Machine<'c> {
    pub code: &'c Code,
    pub node: NodeId,
    pub captured: Vec<Value>,
    pub locals: Vec<Value>,
    /// In machine order: `ε u1…un`, the last letters being those of the levels.
    pub word: Vec<Letter>,
    pub levels: Vec<Binder>,
    pub frames: Vec<Frame>,
    pub saved_values: Vec<Value>,
    pub saved_letters: Vec<Letter>,
    pub saved_levels: Vec<Binder>,
    pub heap: Heap,
    pub cells: Cells,
    pub steps: u64,
    pub ticks: u64,
    /// The step of the next memory check.
    next_memory_check: u64,
}

/// The number of values, letters and levels that a run may gain between memory checks: a few megabytes.
const GROWTH_BETWEEN_CHECKS: usize = 1 << 18;
/// The maximal number of steps between memory checks.
const MAX_STEPS_BETWEEN_CHECKS: usize = 1 << 10;

impl<'c> Machine<'c> {
    /// The leaf of a compiled program at the end of a path.
    pub fn new(code: &'c Code, path: &[Bit]) -> Machine<'c> {
        Machine {
            code,
            node: code.start.expect("compiled code has a start"),
            captured: Vec::new(),
            locals: Vec::new(),
            word: Word::along(path).0,
            levels: Vec::new(),
            frames: Vec::new(),
            saved_values: Vec::new(),
            saved_letters: Vec::new(),
            saved_levels: Vec::new(),
            heap: Heap::new(),
            cells: Cells::default(),
            steps: 0,
            ticks: 0,
            next_memory_check: 0,
        }
    }

    /// Runs until a number, an empty leaf, a coin to flip, or a limit.
    pub fn advance(&mut self, limits: Limits) -> Stop {
        let stop = loop {
            if self.steps >= limits.fuel && !self.is_value() {
                break Stop::Exhausted(ExhaustedLimit::Fuel(limits.fuel));
            }
            if self.heap.is_full() {
                self.collect();
            }
            if self.steps >= self.next_memory_check {
                self.next_memory_check = self.steps + self.steps_until_memory_check();
                if self.bytes() > limits.memory {
                    break Stop::Exhausted(ExhaustedLimit::Memory(limits.memory));
                }
            }
            self.steps += 1;
            match self.step() {
                Ok(None) => {}
                Ok(Some(stop)) => break stop,
                Err(EmptyLeaf) => break Stop::Empty,
            }
        };
        match stop {
            Stop::Value(_) | Stop::Empty if self.steps > limits.fuel => {
                Stop::Exhausted(ExhaustedLimit::Fuel(limits.fuel))
            }
            stop => stop,
        }
    }

    /// Whether the state is a final number, which has no step.
    fn is_value(&self) -> bool {
        self.frames.is_empty() && matches!(self.code.form(self.node), Form::Num(_))
    }

    /// Continues with this side of the pending coin.
    pub fn flip_coin(&mut self, side: u64, limits: Limits) -> Stop {
        self.steps += 1;
        match self.number(side) {
            Ok(None) => self.advance(limits),
            Ok(Some(stop)) => stop,
            Err(EmptyLeaf) => Stop::Empty,
        }
    }

    /// Resets the counters.
    pub fn reset_counters(&mut self) {
        (self.steps, self.ticks, self.cells.made, self.next_memory_check) = (0, 0, 0, 0);
    }

    /// Makes one step; after a step to a number, also makes the steps that consume the number.
    #[inline]
    fn step(&mut self) -> Result<Option<Stop>, EmptyLeaf> {
        match self.code.form(self.node) {
            Form::Var(slot) => {
                let value = self.value(slot);
                return self.enter(value);
            }
            Form::Lambda(binder, local, body) => match self.frames.pop() {
                Some(Frame::Arg(value)) => {
                    self.locals.truncate(local as usize);
                    self.locals.push(value);
                    self.node = body;
                }
                Some(Frame::Derive(letter)) => self.differentiate(binder, body, letter)?,
                frame => unreachable!("a function meets an argument or a D, not {frame:?}"),
            },
            Form::Apply(function, argument, make) => {
                if self.levels.is_empty() {
                    let value = self.make(argument, make, &[]);
                    self.frames.push(Frame::Arg(value));
                } else {
                    self.apply_with_levels(function, argument, make);
                }
                self.node = function;
            }
            Form::FixClosed(function) => {
                self.frames.push(Frame::Arg(Value::Closed(self.node)));
                self.captured.clear();
                self.locals.clear();
                self.node = function;
            }
            Form::Fix(function, block) => {
                if self.levels.is_empty() {
                    let itself = self.closure(block, &[]);
                    self.frames.push(Frame::Arg(itself));
                } else {
                    self.fix_with_levels(block);
                }
                self.gather(block);
                self.node = function;
            }
            Form::Num(n) => return self.number(n),
            Form::Op(op, depth, part) => {
                self.node = part;
                return self.operator(op, depth);
            }
            Form::If(depth, condition, block) => {
                if self.levels.is_empty() {
                    let n_letters = self.save(depth, block);
                    self.frames.push(Frame::If(block, n_letters, 0));
                } else {
                    let [yes, no] = self.code.block(block).starts;
                    let (n_letters, n_levels) = self.save_with_levels(depth, condition, &[yes, no], block);
                    self.frames.push(Frame::If(block, n_letters, n_levels));
                }
                self.node = condition;
            }
            Form::Let(depth, bound, block) => {
                if self.levels.is_empty() {
                    let n_letters = self.save(depth, block);
                    self.frames.push(Frame::Let(block, n_letters, 0));
                } else {
                    let [body, _] = self.code.block(block).starts;
                    let (n_letters, n_levels) = self.save_with_levels(depth, bound, &[body], block);
                    self.frames.push(Frame::Let(block, n_letters, n_levels));
                }
                self.node = bound;
            }
            Form::Derive(function) => {
                let letter = self.word.remove(self.word.len() - 1 - self.levels.len());
                self.frames.push(Frame::Derive(letter));
                self.node = function;
            }
            Form::Coin(_) => return Ok(Some(Stop::Coin)),
            Form::Tick(part) => {
                self.ticks += 1;
                self.node = part;
            }
        }
        Ok(None)
    }

    /// Continues with the value of a variable and the same word.
    fn enter(&mut self, value: Value) -> Result<Option<Stop>, EmptyLeaf> {
        match value {
            Value::Number(n) => {
                self.steps += 1;
                return self.number(n);
            }
            Value::Closed(node) => {
                self.node = node;
                self.captured.clear();
                self.locals.clear();
                self.levels.clear();
            }
            Value::Closure(place) => {
                let (start, values, levels) = self.heap.closure(place);
                self.node = start;
                self.captured.clear();
                self.captured.extend_from_slice(values);
                self.locals.clear();
                self.levels.clear();
                self.levels.extend(levels.iter().map(|level| match level {
                    Value::Level(binder) => *binder,
                    other => unreachable!("the levels of a closure are levels, not {other:?}"),
                }));
            }
            other => unreachable!("a variable stands for a number or a closure, not {other:?}"),
        }
        Ok(None)
    }

    /// `(⟨⟩, n, s)`: gives the number to the frames that expect one. The step to the first of them is already
    /// counted.
    fn number(&mut self, mut n: u64) -> Result<Option<Stop>, EmptyLeaf> {
        debug_assert!(self.word.is_empty(), "a number has no levels");
        loop {
            match self.frames.pop() {
                None => {
                    // No frame is left, so no step was made.
                    self.steps -= 1;
                    return Ok(Some(Stop::Value(n)));
                }
                Some(Frame::Succ) => match n.checked_add(1) {
                    Some(next) => n = next,
                    None => return Ok(Some(Stop::Exhausted(ExhaustedLimit::Overflow))),
                },
                Some(Frame::Pred) => n = n.saturating_sub(1),
                Some(Frame::If(block, n_letters, n_levels)) => {
                    self.restore(block, n_letters, n_levels);
                    self.node = self.code.block(block).starts[usize::from(n != 0)];
                    // The variable of a level may occur only in the branch that was not taken.
                    self.drop_unused_levels()?;
                    return Ok(None);
                }
                Some(Frame::Let(block, n_letters, n_levels)) => {
                    self.restore(block, n_letters, n_levels);
                    self.node = self.code.block(block).starts[0];
                    self.locals.push(Value::Number(n));
                    return Ok(None);
                }
                Some(frame @ (Frame::Arg(_) | Frame::Derive(_))) => {
                    unreachable!("a number is not a function, but the top frame is {frame:?}")
                }
            }
            self.steps += 1;
        }
    }

    /// The operators at depth `d + n`, where n is the number of levels.
    fn operator(&mut self, op: Op, depth: u32) -> Result<Option<Stop>, EmptyLeaf> {
        // The number of letters before the last d + n.
        let outer = || self.word.len() - depth as usize - self.levels.len();
        match op {
            Op::Succ => self.frames.push(Frame::Succ),
            Op::Pred => self.frames.push(Frame::Pred),
            Op::Pi(bit) => {
                let place = outer();
                self.word.insert(place, bit.into());
            }
            Op::Inj(bit) => {
                let place = outer() - 1;
                let letter = self.word.remove(place);
                self.cells.inject(letter, bit)?;
            }
            Op::Theta => {
                let place = outer() - 1;
                let (first, second) = self.cells.split(self.word[place]);
                self.word[place] = first;
                self.word.insert(place, second);
            }
            Op::Flip(levels) => {
                let end = outer();
                self.word[end - levels as usize - 2..end].rotate_right(1);
            }
        }
        Ok(None)
    }

    fn value(&self, slot: Slot) -> Value {
        match slot {
            Slot::Captured(place) => self.captured[place as usize],
            Slot::Local(place) => self.locals[place as usize],
        }
    }

    /// The value of an argument with these levels.
    #[inline]
    pub fn make(&mut self, argument: NodeId, make: Make, levels: &[Binder]) -> Value {
        match make {
            Make::Number(n) => Value::Number(n),
            // ⟨y | ρ | y…y⟩ is equivalent to ρ(y).
            Make::Slot(slot) => self.value(slot),
            Make::Closed => Value::Closed(argument),
            Make::Closure(block) => self.closure(block, levels),
        }
    }

    pub fn closure(&mut self, block: BlockId, levels: &[Binder]) -> Value {
        let code = self.code;
        let block = code.block(block);
        let captures = code.captures(block);
        let closure = self.heap.begin(block.starts[0], captures.len(), levels.len());
        for slot in captures {
            self.heap.push(self.value(*slot));
        }
        for level in levels {
            self.heap.push(Value::Level(*level));
        }
        closure
    }

    /// Makes the captures of a block the accessible values.
    fn gather(&mut self, block: BlockId) {
        let start = self.saved_values.len();
        self.save_values(block);
        self.captured.clear();
        self.captured.extend(self.saved_values.drain(start..));
        self.locals.clear();
    }

    /// Saves the data of a frame, and keeps the last `depth` letters of the word; returns the number of saved
    /// letters.
    fn save(&mut self, depth: u32, block: BlockId) -> u32 {
        self.save_values(block);
        let n_letters = self.word.len() - depth as usize;
        self.saved_letters.extend(self.word.drain(..n_letters));
        u32::try_from(n_letters).expect("a word is shorter than 2^32")
    }

    pub fn save_values(&mut self, block: BlockId) {
        let code = self.code;
        for slot in code.captures(code.block(block)) {
            let value = self.value(*slot);
            self.saved_values.push(value);
        }
    }

    /// Restores the data of a frame. The word is empty.
    fn restore(&mut self, block: BlockId, n_letters: u32, n_levels: u32) {
        let n_values = self.code.captures(self.code.block(block)).len();
        self.captured.clear();
        self.captured.extend(self.saved_values.drain(self.saved_values.len() - n_values..));
        self.locals.clear();
        self.word.extend(self.saved_letters.drain(self.saved_letters.len() - n_letters as usize..));
        self.levels.clear();
        self.levels.extend(self.saved_levels.drain(self.saved_levels.len() - n_levels as usize..));
    }

    /// Collects unreachable closures.
    #[cold]
    pub fn collect(&mut self) {
        let arguments = self.frames.iter_mut().filter_map(|frame| match frame {
            Frame::Arg(value) => Some(value),
            _ => None,
        });
        let rows = [&mut self.captured, &mut self.locals, &mut self.saved_values];
        self.heap.collect(rows.into_iter().flatten().chain(arguments));
    }

    /// The number of steps until the next check. A step adds at most the captures of one block, copies of the
    /// levels and of their letters, and a few more entries.
    fn steps_until_memory_check(&self) -> u64 {
        let growth = self.code.largest_block as usize + 2 * self.levels.len() + 8;
        (GROWTH_BETWEEN_CHECKS / growth).clamp(1, MAX_STEPS_BETWEEN_CHECKS) as u64
    }

    /// The approximate size of the state in bytes.
    pub fn bytes(&self) -> u64 {
        let values = self.heap.len() + self.saved_values.len() + self.captured.len() + self.locals.len();
        let letters = self.word.len() + self.saved_letters.len();
        let levels = self.levels.len() + self.saved_levels.len();
        let rows = values * size_of::<Value>() + letters * size_of::<Letter>() + levels * size_of::<Binder>();
        (rows + self.frames.len() * size_of::<Frame>() + self.cells.bytes()) as u64
    }
}
