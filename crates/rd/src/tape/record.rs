//! Wengert tapes, one for each derivative that is being taken, and their backward sweep.
//!
//! Tape 1 belongs to the outermost derivative; what it records depends on nothing but floats, so it stores floats and is
//! swept in floats. The tapes above store numbers of the tapes below, and their sweep is recorded there.
//!
//! A recorded operation takes 16 bytes, its primal 8 (16 above the first tape), its cotangent as much again during the
//! sweep, and an operand that is not on the tape once more as much.

use rustc_hash::FxHashMap;

use crate::eval::traces::Floats;
use crate::operation::{Scalar, Undefined};
use crate::template::{Algebra, reverse_binary, reverse_unary};

/// A real during evaluation: its float, and its node on the innermost tape that it depends on. Level 0 is no tape: a
/// constant.
///
/// Level and index share a word: as fields of their own they are written in halves, and reading the whole back at once stalls
/// the processor (a third of the time of a gradient, measured).
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

/// What a tape stores: a number of the tapes below.
trait Number: Copy {
    /// Stands for a cotangent that is zero because nothing contributed to it.
    const ABSENT: Self;
    fn is_absent(self) -> bool;
    fn from_real(real: Real) -> Self;
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
}

impl Number for Real {
    const ABSENT: Real = Real { value: 0.0, node: u64::MAX };

    fn is_absent(self) -> bool {
        self.node == u64::MAX
    }

    fn from_real(real: Real) -> Real {
        real
    }
}

/// An operand of a node: a node of the same tape, or a number that does not depend on this tape.
#[derive(Clone, Copy)]
struct Source(u32);

impl Source {
    const OUTER: u32 = 1 << 31;

    fn node(index: u32) -> Source {
        Source(index)
    }

    fn outer(index: usize) -> Source {
        // The machine stops before a tape has 2^31 nodes, see `Tapes::is_full`.
        #[allow(clippy::cast_possible_truncation)]
        Source(index as u32 | Source::OUTER)
    }

    fn on_tape(self) -> Option<usize> {
        (self.0 & Source::OUTER == 0).then_some(self.0 as usize)
    }
}

/// A recorded operation, by its number in [`OpTable`].
#[derive(Clone, Copy)]
struct Node {
    op: u32,
    x: Source,
    y: Source,
}

struct Tape<N> {
    nodes: Vec<Node>,
    primals: Vec<N>,
    outer: Vec<N>,
    cotangents: Vec<N>,
}

impl<N: Number> Tape<N> {
    fn new() -> Self {
        Tape { nodes: Vec::new(), primals: Vec::new(), outer: Vec::new(), cotangents: Vec::new() }
    }

    #[allow(clippy::cast_possible_truncation)] // see `Tapes::is_full`
    fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.primals.clear();
        self.outer.clear();
    }

    fn push(&mut self, node: Node, primal: N) {
        self.nodes.push(node);
        self.primals.push(primal);
    }

    #[inline]
    fn source(&mut self, real: Real, level: u32) -> Source {
        if real.level() == level {
            return Source::node(real.index());
        }
        self.outer.push(N::from_real(real));
        Source::outer(self.outer.len() - 1)
    }

    #[inline]
    fn number(&self, source: Source) -> N {
        match source.on_tape() {
            Some(index) => self.primals[index],
            None => self.outer[(source.0 & !Source::OUTER) as usize],
        }
    }

    /// The bytes in use, the cotangents of a sweep to come included.
    fn bytes(&self) -> usize {
        self.nodes.len() * (size_of::<Node>() + 2 * size_of::<N>()) + self.outer.len() * size_of::<N>()
    }

    /// Seeds the outputs and sweeps backwards; afterwards `cotangents` holds those of the leaves.
    fn sweep<A: Algebra<Number = N, Error = Undefined>>(
        &mut self,
        alg: &mut A,
        ops: &OpTable,
        n_leaves: usize,
        seeds: impl Iterator<Item = (u32, N)>,
    ) -> Result<(), Undefined> {
        let mut cotangents = std::mem::take(&mut self.cotangents);
        cotangents.clear();
        cotangents.resize(self.nodes.len(), N::ABSENT);
        let add = |alg: &mut A, cotangents: &mut [N], at: Source, w: N| -> Result<(), Undefined> {
            let Some(index) = at.on_tape() else { return Ok(()) };
            let sum = &mut cotangents[index];
            *sum = if sum.is_absent() { w } else { alg.binary(Scalar::Add, *sum, w)? };
            Ok(())
        };
        for (index, seed) in seeds {
            add(alg, &mut cotangents, Source::node(index), seed)?;
        }
        for i in (n_leaves..self.nodes.len()).rev() {
            let w = cotangents[i];
            if w.is_absent() {
                continue;
            }
            let node = self.nodes[i];
            let op = ops.op(node.op);
            if op.is_binary() {
                let at = (self.number(node.x), self.number(node.y));
                let (dx, dy) = reverse_binary(alg, op, at, w)?;
                add(alg, &mut cotangents, node.x, dx)?;
                add(alg, &mut cotangents, node.y, dy)?;
            } else {
                let dx = reverse_unary(alg, op, self.number(node.x), w)?;
                add(alg, &mut cotangents, node.x, dx)?;
            }
        }
        self.cotangents = cotangents;
        Ok(())
    }
}

/// Operations by number: a [`Scalar`] carries an exponent and would double the size of a node.
#[derive(Clone)]
struct OpTable {
    ops: Vec<Scalar>,
    powers: FxHashMap<i64, u32>,
}

impl OpTable {
    fn new() -> Self {
        use Scalar::{Add, Cos, Div, Exp, Log, Mul, Neg, Pow, Sigmoid, Sin, Sqrt, Sub, Tan, Tanh};
        let ops = vec![Add, Sub, Mul, Div, Pow, Neg, Exp, Log, Sin, Cos, Tan, Tanh, Sigmoid, Sqrt];
        OpTable { ops, powers: FxHashMap::default() }
    }

    #[inline]
    fn op(&self, number: u32) -> Scalar {
        self.ops[number as usize]
    }

    #[inline]
    fn number(&mut self, op: Scalar) -> u32 {
        match op {
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
            Scalar::Powi(exponent) => self.power(exponent),
        }
    }

    fn power(&mut self, exponent: i64) -> u32 {
        let next = u32::try_from(self.ops.len()).expect("fewer exponents than nodes");
        *self.powers.entry(exponent).or_insert_with(|| {
            self.ops.push(Scalar::Powi(exponent));
            next
        })
    }
}

/// The open tapes.
pub struct Tapes {
    /// Tape 1.
    plain: Tape<f64>,
    /// Tapes 2, 3, …; those above `depth` are empty and kept for their storage.
    nested: Vec<Tape<Real>>,
    ops: OpTable,
    /// How many derivatives are being taken.
    depth: u32,
    /// How many operations were recorded in all.
    pub recorded: u64,
}

impl Tapes {
    pub fn new() -> Self {
        Tapes { plain: Tape::new(), nested: Vec::new(), ops: OpTable::new(), depth: 0, recorded: 0 }
    }

    pub fn bytes(&self) -> usize {
        self.plain.bytes() + self.nested.iter().map(Tape::bytes).sum::<usize>()
    }

    /// Whether a tape has so many nodes that they could soon not be numbered any more.
    pub fn is_full(&self) -> bool {
        let full = |len: usize| len > 1 << 30;
        full(self.plain.nodes.len()) || self.nested.iter().any(|tape| full(tape.nodes.len()))
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
        let node = Node { op: 0, x: Source::outer(0), y: Source::outer(0) };
        let index = if level == 1 {
            self.plain.push(node, point.value);
            self.plain.len() - 1
        } else {
            let tape = &mut self.nested[level as usize - 2];
            tape.push(node, point);
            tape.len() - 1
        };
        Real::new(point.value, level, index)
    }

    /// Closes the innermost tape: the cotangents of its `n_leaves` leaves, given those of its outputs.
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
            self.plain.sweep(&mut Floats, &self.ops, n_leaves, seeds)?;
            let leaves = self.plain.cotangents[..n_leaves].iter();
            result.extend(leaves.map(|w| Real::constant(if w.is_absent() { 0.0 } else { *w })));
            self.plain.clear();
        } else {
            let above_first = level as usize - 2;
            let mut tape = std::mem::replace(&mut self.nested[above_first], Tape::new());
            // The sweep records on the tapes below, and may add exponents; numbers given before stay as they are.
            let ops = self.ops.clone();
            let seeds = seeds.map(|(output, w)| (output.index(), *w));
            tape.sweep(self, &ops, n_leaves, seeds)?;
            let leaves = tape.cotangents[..n_leaves].iter();
            result.extend(leaves.map(|w| if w.is_absent() { Real::constant(0.0) } else { *w }));
            tape.clear();
            self.nested[above_first] = tape;
        }
        Ok(())
    }

    /// The result `value` of `op(x)` or `op(x, y)`, recorded on every tape that it depends on. A unary operation has
    /// a constant for `y`.
    #[inline]
    pub fn record(&mut self, op: Scalar, x: Real, y: Real, value: f64) -> Real {
        // Both constants: the lightest way out, for programs outside of derivatives.
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
        let number = self.ops.number(op);
        let x = self.plain.source(x, 1);
        let y = if op.is_binary() { self.plain.source(y, 1) } else { Source::outer(0) };
        self.plain.push(Node { op: number, x, y }, value);
        self.plain.len() - 1
    }

    fn record_nested(&mut self, op: Scalar, mut x: Real, mut y: Real, value: f64) -> Real {
        let mut level = x.level().max(y.level());
        let result = Real::new(value, level, self.next_index(level));
        let number = self.ops.number(op);
        while level > 1 {
            self.recorded += 1;
            let tape = &mut self.nested[level as usize - 2];
            let (x_source, lower_x) = (tape.source(x, level), tape.lower(x, level));
            let y_source = if op.is_binary() { tape.source(y, level) } else { Source::outer(0) };
            let lower_y = tape.lower(y, level);
            let below = lower_x.level().max(lower_y.level());
            let primal = Real::new(value, below, self.next_index(below));
            self.nested[level as usize - 2].push(Node { op: number, x: x_source, y: y_source }, primal);
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
    /// A real as the tapes below see it.
    fn lower(&self, real: Real, level: u32) -> Real {
        if real.level() == level { self.primals[real.index() as usize] } else { real }
    }
}

/// Operations on reals, computed and recorded: what templates do during a sweep.
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
