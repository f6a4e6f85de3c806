//! Wengert tapes, one for each active derivative, and their backward sweep.
//!
//! Tape 1 belongs to the outermost derivative; its records depend on floats only, so it stores floats and is
//! swept in floats. The tapes above store numbers of the tapes below, and their sweep is recorded there.
//!
//! A recorded operation takes 24 bytes on the first tape and 32 on the others. Its cotangent during the sweep
//! takes 8 or 16 bytes, and an operand that is not on the tape another 8 or 16: 64 bytes at most.

use crate::eval::traces::Floats;
use crate::operation::{Scalar, Undefined};
use crate::template::{Algebra, reverse_binary, reverse_unary};

/// A real during evaluation: its float, and its node on the innermost tape that it depends on. Level 0 means
/// that the real is a constant and on no tape.
///
/// Level and index share a word. Two separate fields are stored one by one, and loading both as one word
/// right afterwards stalls the processor (measured: a third of the time of a gradient).
#[derive(Clone, Copy, Debug)]
pub struct Real {
    pub value: f64,
    node: u64,
}

impl Real {
    #[inline]
    pub fn constant(value: f64) -> Real {
        Real { value, node: 0 }
    }

    #[inline]
    fn new(value: f64, level: u32, index: u32) -> Real {
        Real { value, node: u64::from(level) << 32 | u64::from(index) }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the upper half
    fn level(self) -> u32 {
        (self.node >> 32) as u32
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the lower half
    fn index(self) -> u32 {
        self.node as u32
    }
}

/// The numbers of a tape: floats on tape 1, reals of the tapes below on the others.
trait Number: Copy {
    /// A placeholder for a cotangent without contributions, which is zero.
    const ABSENT: Self;
    fn is_absent(self) -> bool;
    fn from_real(real: Real) -> Self;
    fn value(self) -> f64;

    fn is_finite(self) -> bool {
        self.value().is_finite()
    }
}

impl Number for f64 {
    // No value is ever NaN.
    const ABSENT: f64 = f64::NAN;

    #[inline]
    fn is_absent(self) -> bool {
        self.is_nan()
    }

    #[inline]
    fn from_real(real: Real) -> f64 {
        real.value
    }

    #[inline]
    fn value(self) -> f64 {
        self
    }
}

impl Number for Real {
    const ABSENT: Real = Real { value: 0.0, node: u64::MAX };

    fn is_absent(self) -> bool {
        self.node == u64::MAX
    }

    fn from_real(real: Real) -> Real {
        real
    }

    fn value(self) -> f64 {
        self.value
    }
}

/// An operand of a node: a node of the same tape, or a number that does not depend on this tape.
#[derive(Clone, Copy)]
struct NodeOperand(u32);

impl NodeOperand {
    const OUTER: u32 = 1 << 31;

    fn node(index: u32) -> NodeOperand {
        NodeOperand(index)
    }

    fn outer(index: usize) -> NodeOperand {
        // The machine stops before a tape has 2^31 nodes, see `Tapes::is_full`.
        #[allow(clippy::cast_possible_truncation)]
        NodeOperand(index as u32 | NodeOperand::OUTER)
    }

    fn on_tape(self) -> Option<usize> {
        (self.0 & NodeOperand::OUTER == 0).then_some(self.0 as usize)
    }
}

/// A recorded operation and its result. Its operands are stored in it, so a backward sweep reads the records
/// sequentially.
#[derive(Clone, Copy)]
struct Record<N> {
    op: Opcode,
    x: NodeOperand,
    y: NodeOperand,
    primal: N,
}

/// An operation without its exponent, which would double its size: the exponent of a power is its second
/// operand.
#[derive(Clone, Copy)]
struct Opcode(u32);

impl Opcode {
    const OPS: [Scalar; 15] = [
        Scalar::Add,
        Scalar::Sub,
        Scalar::Mul,
        Scalar::Div,
        Scalar::Pow,
        Scalar::Neg,
        Scalar::Exp,
        Scalar::Log,
        Scalar::Sin,
        Scalar::Cos,
        Scalar::Tan,
        Scalar::Tanh,
        Scalar::Sigmoid,
        Scalar::Sqrt,
        Scalar::Powi(0),
    ];

    /// The place of an operation in [`Opcode::OPS`].
    #[inline]
    fn of(op: Scalar) -> Opcode {
        Opcode(match op {
            Scalar::Add => 0,
            Scalar::Sub => 1,
            Scalar::Mul => 2,
            Scalar::Div => 3,
            Scalar::Pow => 4,
            Scalar::Neg => 5,
            Scalar::Exp => 6,
            Scalar::Log => 7,
            Scalar::Sin => 8,
            Scalar::Cos => 9,
            Scalar::Tan => 10,
            Scalar::Tanh => 11,
            Scalar::Sigmoid => 12,
            Scalar::Sqrt => 13,
            Scalar::Powi(_) => 14,
        })
    }

    #[inline]
    fn op(self) -> Scalar {
        Opcode::OPS[self.0 as usize]
    }
}

/// The second operand of an operation: its own, the exponent of a power, or none.
#[inline]
#[allow(clippy::cast_precision_loss)] // exponents are within ±2^53, see the parser
fn second(op: Scalar, y: Real) -> Option<Real> {
    match op {
        Scalar::Powi(exponent) => Some(Real::constant(exponent as f64)),
        _ => op.is_binary().then_some(y),
    }
}

struct Tape<N> {
    records: Vec<Record<N>>,
    /// Operands that do not depend on this tape.
    outer: Vec<N>,
    cotangents: Vec<N>,
}

impl<N: Number> Tape<N> {
    fn new() -> Self {
        Tape { records: Vec::new(), outer: Vec::new(), cotangents: Vec::new() }
    }

    #[allow(clippy::cast_possible_truncation)] // see `Tapes::is_full`
    fn len(&self) -> u32 {
        self.records.len() as u32
    }

    fn clear(&mut self) {
        self.records.clear();
        self.outer.clear();
    }

    fn push_leaf(&mut self, primal: N) {
        let none = NodeOperand::outer(0);
        self.records.push(Record { op: Opcode(0), x: none, y: none, primal });
    }

    #[inline]
    fn push(&mut self, level: u32, op: Scalar, x: Real, y: Real, primal: N) {
        let x = self.source(x, level);
        let y = second(op, y).map_or(NodeOperand::outer(0), |y| self.source(y, level));
        self.records.push(Record { op: Opcode::of(op), x, y, primal });
    }

    #[inline]
    fn source(&mut self, real: Real, level: u32) -> NodeOperand {
        if real.level() == level {
            return NodeOperand::node(real.index());
        }
        self.outer.push(N::from_real(real));
        NodeOperand::outer(self.outer.len() - 1)
    }

    #[inline]
    fn number(&self, source: NodeOperand) -> N {
        match source.on_tape() {
            Some(index) => self.records[index].primal,
            None => self.outer[(source.0 & !NodeOperand::OUTER) as usize],
        }
    }

    /// The bytes in use, including the cotangents of the sweep that will follow.
    fn bytes(&self) -> usize {
        self.records.len() * (size_of::<Record<N>>() + size_of::<N>()) + self.outer.len() * size_of::<N>()
    }

    /// Seeds the outputs and sweeps backwards; afterwards `cotangents` holds those of the leaves.
    fn sweep<A: Algebra<Number = N, Error = Undefined>>(
        &mut self,
        alg: &mut A,
        n_leaves: usize,
        seeds: impl Iterator<Item = (u32, N)>,
    ) -> Result<(), Undefined> {
        let mut cotangents = std::mem::take(&mut self.cotangents);
        cotangents.clear();
        cotangents.resize(self.records.len(), N::ABSENT);
        for (index, seed) in seeds {
            add(alg, &mut cotangents, NodeOperand::node(index), seed)?;
        }
        for i in (n_leaves..self.records.len()).rev() {
            let w = cotangents[i];
            if !w.is_absent() {
                self.step(alg, &mut cotangents, self.records[i], w)?;
            }
        }
        self.cotangents = cotangents;
        Ok(())
    }

    /// Propagates the cotangent of one operation to its operands.
    #[inline]
    fn step<A: Algebra<Number = N, Error = Undefined>>(
        &self,
        alg: &mut A,
        cotangents: &mut [N],
        record: Record<N>,
        w: N,
    ) -> Result<(), Undefined> {
        let x = self.number(record.x);
        // The last operation of a body may have overflowed; then its template reports the overflow.
        let known = record.primal.is_finite().then_some(record.primal);
        let op = match record.op.op() {
            #[allow(clippy::cast_possible_truncation)] // it was made from an integer
            Scalar::Powi(_) => Scalar::Powi(self.number(record.y).value() as i64),
            op => op,
        };
        if op.is_binary() {
            let (dx, dy) = reverse_binary(alg, op, (x, self.number(record.y)), known, w)?;
            add(alg, cotangents, record.x, dx)?;
            add(alg, cotangents, record.y, dy)
        } else {
            let dx = reverse_unary(alg, op, x, known, w)?;
            add(alg, cotangents, record.x, dx)
        }
    }
}

/// Adds to the cotangent of an operand, if it is on the tape.
#[inline]
fn add<A: Algebra<Number = N, Error = Undefined>, N: Number>(
    alg: &mut A,
    cotangents: &mut [N],
    at: NodeOperand,
    w: N,
) -> Result<(), Undefined> {
    let Some(index) = at.on_tape() else { return Ok(()) };
    let sum = &mut cotangents[index];
    *sum = if sum.is_absent() { w } else { alg.binary(Scalar::Add, *sum, w)? };
    Ok(())
}

/// The open tapes.
pub struct Tapes {
    /// Tape 1.
    plain: Tape<f64>,
    /// Tapes 2, 3, …; those above `depth` are empty and kept for their storage.
    nested: Vec<Tape<Real>>,
    /// The bytes in use by nested tapes. There may be as many tapes as calls, so this sum is updated and
    /// never recomputed.
    nested_bytes: usize,
    /// The number of active derivatives.
    depth: u32,
    /// The number of recorded operations.
    pub recorded: u64,
}

impl Tapes {
    pub fn new() -> Self {
        Tapes { plain: Tape::new(), nested: Vec::new(), nested_bytes: 0, depth: 0, recorded: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.plain.bytes() + self.nested.len() * size_of::<Tape<Real>>() + self.nested_bytes
    }

    /// Whether a tape is close to the maximal number of nodes.
    pub fn is_full(&self) -> bool {
        const MANY: usize = 1 << 30;
        // All nested tapes together have at least as many nodes as any one of them.
        self.plain.records.len() > MANY || self.nested_bytes / size_of::<Record<Real>>() > MANY
    }

    /// Opens a tape; the reals given to [`Tapes::leaf`] next are its leaves.
    pub fn open(&mut self) {
        self.depth += 1;
        let above_first = self.depth as usize - 1;
        if above_first > self.nested.len() {
            self.nested.push(Tape::new());
        }
    }

    /// Makes a real a leaf of the innermost tape.
    pub fn leaf(&mut self, point: Real) -> Real {
        let level = self.depth;
        let index = if level == 1 {
            self.plain.push_leaf(point.value);
            self.plain.len() - 1
        } else {
            let tape = &mut self.nested[level as usize - 2];
            let before = tape.bytes();
            tape.push_leaf(point);
            self.nested_bytes += tape.bytes() - before;
            tape.len() - 1
        };
        Real::new(point.value, level, index)
    }

    /// Closes the innermost tape; returns the cotangents of its `n_leaves` leaves, given those of its
    /// outputs.
    pub fn close(
        &mut self,
        n_leaves: usize,
        outputs: &[Real],
        cotangents: &[Real],
        result: &mut Vec<Real>,
    ) -> Result<(), Undefined> {
        let level = self.depth;
        let tracked = |(output, _): &(&Real, &Real)| output.level() == level;
        let seeds = outputs.iter().zip(cotangents).filter(tracked);
        self.depth -= 1;
        result.clear();
        if level == 1 {
            let seeds = seeds.map(|(output, w)| (output.index(), w.value));
            self.plain.sweep(&mut Floats, n_leaves, seeds)?;
            let leaves = self.plain.cotangents[..n_leaves].iter();
            result.extend(leaves.map(|w| Real::constant(if w.is_absent() { 0.0 } else { *w })));
            self.plain.clear();
        } else {
            let above_first = level as usize - 2;
            let mut tape = std::mem::replace(&mut self.nested[above_first], Tape::new());
            let seeds = seeds.map(|(output, w)| (output.index(), *w));
            tape.sweep(self, n_leaves, seeds)?;
            let leaves = tape.cotangents[..n_leaves].iter();
            result.extend(leaves.map(|w| if w.is_absent() { Real::constant(0.0) } else { *w }));
            self.nested_bytes -= tape.bytes();
            tape.clear();
            self.nested[above_first] = tape;
        }
        Ok(())
    }

    /// The result `value` of `op(x)` or `op(x, y)`, recorded on every tape that it depends on. A unary
    /// operation has a constant for `y`.
    #[inline]
    pub fn record(&mut self, op: Scalar, x: Real, y: Real, value: f64) -> Real {
        // Both are constants: the fast path for programs outside of derivatives.
        if x.node | y.node == 0 { Real::constant(value) } else { self.record_dependent(op, x, y, value) }
    }

    fn record_dependent(&mut self, op: Scalar, x: Real, y: Real, value: f64) -> Real {
        if x.level().max(y.level()) == 1 {
            let index = self.record_plain(op, x, y, value);
            return Real::new(value, 1, index);
        }
        self.record_nested(op, x, y, value)
    }

    #[inline]
    fn record_plain(&mut self, op: Scalar, x: Real, y: Real, value: f64) -> u32 {
        self.recorded += 1;
        self.plain.push(1, op, x, y, value);
        self.plain.len() - 1
    }

    fn record_nested(&mut self, op: Scalar, mut x: Real, mut y: Real, value: f64) -> Real {
        let mut level = x.level().max(y.level());
        let result = Real::new(value, level, self.next_index(level));
        while level > 1 {
            self.recorded += 1;
            let tape = &self.nested[level as usize - 2];
            let (lower_x, lower_y) = (tape.lower(x, level), tape.lower(y, level));
            let below = lower_x.level().max(lower_y.level());
            let primal = Real::new(value, below, self.next_index(below));
            let tape = &mut self.nested[level as usize - 2];
            let before = tape.bytes();
            tape.push(level, op, x, y, primal);
            self.nested_bytes += tape.bytes() - before;
            (x, y, level) = (lower_x, lower_y, below);
        }
        if level == 1 {
            self.record_plain(op, x, y, value);
        }
        result
    }

    fn next_index(&self, level: u32) -> u32 {
        match level {
            0 => 0,
            1 => self.plain.len(),
            _ => self.nested[level as usize - 2].len(),
        }
    }
}

impl Tape<Real> {
    /// The primal of a real on the tapes below.
    fn lower(&self, real: Real, level: u32) -> Real {
        if real.level() == level { self.records[real.index() as usize].primal } else { real }
    }
}

/// Operations on reals, computed and recorded; templates use them during a sweep.
impl Algebra for Tapes {
    type Number = Real;
    type Error = Undefined;

    fn constant(&mut self, value: f64) -> Real {
        Real::constant(value)
    }

    fn unary(&mut self, op: Scalar, x: Real) -> Result<Real, Undefined> {
        let value = op.eval(x.value, 0.0)?;
        Ok(self.record(op, x, Real::constant(0.0), value))
    }

    fn binary(&mut self, op: Scalar, x: Real, y: Real) -> Result<Real, Undefined> {
        let value = op.eval(x.value, y.value)?;
        Ok(self.record(op, x, y, value))
    }
}
