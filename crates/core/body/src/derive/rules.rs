//! Derivatives of operations: the formulas of the tensor table, written as statements.
//!
//! The formulas read shapes, and the sizes of a body are known only when it runs. So the formulas get
//! *symbolic* shapes: each size is a number that stands for "axis k of x" or for an `int` operand. Formulas
//! only compare sizes and pass them on as static arguments, which become operands again. Two sizes that are
//! not known to be equal are different numbers; then the formula sums or stretches to a shape that may be the
//! same at run time, where the operation does nothing.
//!
//! Rules that compute with sizes (`mean`, `concat`, `pad`) are written here, as are those of operations that
//! only bodies have.

use rustc_hash::FxHashMap;

use eddy_tensor::{Algebra, MAX_ELEMENTS, Op, Shape, Site};

use super::sizes::{Size, Sizes};
use crate::build::Builder;
use crate::ir::{At, Kind, Literal, Stmt, Type, Var};
use crate::operation::{Operation, Sized};

/// Numbers from here on are symbols; smaller ones are sizes, which are at most [`MAX_ELEMENTS`].
const FIRST_SYMBOL: usize = 4 * MAX_ELEMENTS;

/// The size that a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Symbol {
    Known(Size),
    /// A size that no formula passes on.
    Unknown(usize),
}

/// A value in a formula.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    var: Var,
    shape: Shape,
}

/// Writes formulas.
pub(crate) struct Formulas<'a> {
    builder: &'a mut Builder,
    known: &'a Sizes,
    /// Statements for sizes, which come after the values rather than in the derivative.
    sizes: &'a mut Vec<Stmt>,
    symbols: Vec<Symbol>,
    codes: FxHashMap<Symbol, usize>,
}

impl<'a> Formulas<'a> {
    pub fn new(builder: &'a mut Builder, known: &'a Sizes, sizes: &'a mut Vec<Stmt>) -> Formulas<'a> {
        Formulas { builder, known, sizes, symbols: Vec::new(), codes: FxHashMap::default() }
    }

    /// The contribution of the cotangent `g` of `y` to that of an operand; `None` if it is zero.
    pub fn vjp(
        &mut self,
        operation: &Operation,
        operands: &[Var],
        y: Var,
        operand: usize,
        g: Var,
    ) -> Option<Var> {
        match operation {
            Operation::Fill => return (operand == 0).then(|| self.builder.op(Op::Sum(None), &[g])),
            Operation::Table(Op::Mean(axis)) => {
                let share = self.share(operands[0], *axis, g);
                return self.table_vjp(&Op::Sum(*axis), operands, y, operand, share);
            }
            Operation::Table(Op::Concat) => {
                let (lo, hi) = self.rows(operands, operand);
                return Some(self.builder.index(g, &[At::Range(lo, hi)]));
            }
            Operation::Sized(Sized::Pad) => {
                if operand > 0 {
                    return None;
                }
                let n = self.size(operands[0], 0);
                let hi = self.int_sum(operands[1], n);
                return Some(self.builder.index(g, &[At::Range(operands[1], hi)]));
            }
            Operation::Table(op) => return self.table_vjp(op, operands, y, operand, g),
            Operation::Sized(sized) if operand == 0 => {
                let op = self.sized_op(*sized, &operands[1..]);
                return self.table_vjp(&op, &operands[..1], y, 0, g);
            }
            _ => {}
        }
        None
    }

    /// The contribution of the tangent `t` of an operand to that of `y`; `None` if it is zero.
    pub fn jvp(
        &mut self,
        operation: &Operation,
        operands: &[Var],
        y: Var,
        operand: usize,
        t: Var,
    ) -> Option<Var> {
        let with_tangent = || {
            let mut operands = operands.to_vec();
            operands[operand] = t;
            operands
        };
        match operation {
            Operation::Fill if operand == 0 => Some(self.builder.apply(Operation::Fill, &with_tangent())),
            Operation::Table(Op::Mean(_)) => Some(self.builder.apply(operation.clone(), &with_tangent())),
            Operation::Table(Op::Concat) => {
                let zeros = self.builder.zeros_like(y);
                let (lo, hi) = self.rows(operands, operand);
                Some(self.builder.increase(zeros, &[At::Range(lo, hi)], t))
            }
            Operation::Sized(_) if operand == 0 => {
                Some(self.builder.apply(operation.clone(), &with_tangent()))
            }
            Operation::Table(op) => {
                let (terms, result) = (self.terms(operands), self.term(y));
                let (values, shapes) = split(&terms);
                let site =
                    Site { operands: &values, result: &result, shapes: &shapes, result_shape: &result.shape };
                let tangent = Term { var: t, shape: shapes[operand].clone() };
                let op = op.clone();
                op.jvp(operand, &site, &tangent, self).map(|term| term.var)
            }
            _ => None,
        }
    }

    fn table_vjp(&mut self, op: &Op, operands: &[Var], y: Var, operand: usize, g: Var) -> Option<Var> {
        let (terms, result) = (self.terms(operands), self.term(y));
        let (values, shapes) = split(&terms);
        let site = Site { operands: &values, result: &result, shapes: &shapes, result_shape: &result.shape };
        let cotangent = Term { var: g, shape: result.shape.clone() };
        op.vjp(operand, &site, &cotangent, self).map(|term| term.var)
    }

    fn terms(&mut self, vars: &[Var]) -> Vec<Term> {
        vars.iter().map(|var| self.term(*var)).collect()
    }

    fn term(&mut self, var: Var) -> Term {
        let rank = self.builder.ty(var).rank;
        let codes: Vec<usize> =
            (0..rank).map(|axis| self.code(Symbol::Known(self.known.axis(var, axis)))).collect();
        Term { var, shape: Shape::from(codes) }
    }

    fn code(&mut self, symbol: Symbol) -> usize {
        *self.codes.entry(symbol).or_insert_with(|| {
            self.symbols.push(symbol);
            FIRST_SYMBOL + self.symbols.len() - 1
        })
    }

    fn unknown(&mut self) -> usize {
        self.code(Symbol::Unknown(self.symbols.len()))
    }

    fn sized_op(&mut self, sized: Sized, sizes: &[Var]) -> Op {
        let codes: Vec<usize> =
            sizes.iter().map(|size| self.code(Symbol::Known(self.known.int(*size)))).collect();
        sized.op(&codes)
    }

    /// The `int` that a number in a symbolic shape stands for.
    fn int(&mut self, code: usize) -> Var {
        let Some(at) = code.checked_sub(FIRST_SYMBOL) else {
            return self.builder.constant(Literal::int(i64::try_from(code).expect("a size is below 2^63")));
        };
        match self.symbols[at] {
            Symbol::Known(Size::Int(var)) => var,
            Symbol::Known(Size::Axis(var, axis)) => self.size(var, axis),
            Symbol::Unknown(_) => unreachable!("formulas stretch and sum to shapes of operands and results"),
        }
    }

    fn ints(&mut self, shape: &Shape) -> Vec<Var> {
        shape.iter().map(|code| self.int(*code)).collect()
    }

    fn size(&mut self, var: Var, axis: usize) -> Var {
        let (stmts, size) = self.builder.aside(|builder| builder.size(var, axis));
        self.sizes.extend(stmts);
        size
    }

    fn int_sum(&mut self, x: Var, y: Var) -> Var {
        let (stmts, sum) = self.builder.aside(|builder| builder.op(Op::Add, &[x, y]));
        self.sizes.extend(stmts);
        sum
    }

    /// The range of the rows of an operand of `concat` in its result.
    fn rows(&mut self, operands: &[Var], operand: usize) -> (Var, Var) {
        let (stmts, mut lo) = self.builder.aside(|builder| builder.constant(Literal::int(0)));
        self.sizes.extend(stmts);
        for before in &operands[..operand] {
            let n = self.size(*before, 0);
            lo = self.int_sum(lo, n);
        }
        let n = self.size(operands[operand], 0);
        (lo, self.int_sum(lo, n))
    }

    /// `g` divided by the number of elements of which a mean is taken.
    fn share(&mut self, x: Var, axis: Option<usize>, g: Var) -> Var {
        let axes = axis.map_or(0..self.builder.ty(x).rank, |axis| axis..axis + 1);
        let sizes: Vec<Var> = axes.map(|axis| self.size(x, axis)).collect();
        let (stmts, n) = self.builder.aside(|builder| {
            let product = sizes.into_iter().reduce(|n, size| builder.op(Op::Mul, &[n, size]));
            let product = product.unwrap_or_else(|| builder.constant(Literal::int(1)));
            builder.op(Op::ToNum, &[product])
        });
        self.sizes.extend(stmts);
        self.builder.op(Op::Div, &[g, n])
    }

    /// The symbolic shape of a result in a formula.
    fn shape_of(&mut self, op: &Op, operands: &[Term], ty: Type) -> Shape {
        let shapes: Vec<&Shape> = operands.iter().map(|term| &term.shape).collect();
        let first = || shapes[0].clone();
        match op {
            Op::Broadcast(shape) | Op::Reduce(shape) | Op::Reshape(shape) => shape.clone(),
            Op::Sum(Some(axis)) => {
                let mut sizes = shapes[0].to_vec();
                sizes.remove(*axis);
                Shape::from(sizes)
            }
            Op::Spread(axis, n) => {
                let mut sizes = shapes[0].to_vec();
                sizes.insert(*axis, *n);
                Shape::from(sizes)
            }
            Op::Transpose => shapes[0].iter().rev().copied().collect::<Vec<_>>().into(),
            Op::MaxMask(_) | Op::Copy | Op::ZerosLike | Op::OnesLike => first(),
            _ if ty.rank == 0 => Shape::scalar(),
            _ if shapes.iter().all(|shape| *shape == shapes[0] || shape.is_scalar())
                && shapes[0].len() == ty.rank =>
            {
                first()
            }
            _ => (0..ty.rank).map(|_| self.unknown()).collect::<Vec<_>>().into(),
        }
    }
}

fn split(terms: &[Term]) -> (Vec<Term>, Vec<Shape>) {
    (terms.to_vec(), terms.iter().map(|term| term.shape.clone()).collect())
}

impl Algebra for Formulas<'_> {
    type Value = Term;

    fn apply(&mut self, op: Op, operands: &[Term]) -> Term {
        let vars: Vec<Var> = operands.iter().map(|term| term.var).collect();
        let sized = |formulas: &mut Self, sized: Sized, sizes: Vec<Var>| {
            let operands: Vec<Var> = vars.iter().copied().chain(sizes).collect();
            formulas.builder.apply(Operation::Sized(sized), &operands)
        };
        let var = match &op {
            Op::Broadcast(shape) => {
                let sizes = self.ints(shape);
                sized(self, Sized::Broadcast, sizes)
            }
            Op::Reduce(shape) if shape.is_scalar() => self.builder.op(Op::Sum(None), &vars),
            Op::Reduce(shape) => {
                let sizes = self.ints(shape);
                sized(self, Sized::Reduce, sizes)
            }
            Op::Reshape(shape) => {
                let sizes = self.ints(shape);
                sized(self, Sized::Reshape, sizes)
            }
            Op::Spread(axis, n) => {
                let n = self.int(*n);
                sized(self, Sized::Spread(*axis), vec![n])
            }
            Op::Pad(lo, n) => {
                let sizes = vec![self.int(*lo), self.int(*n)];
                sized(self, Sized::Pad, sizes)
            }
            Op::Unfold(axis, size, stride) => {
                let sizes = vec![self.int(*size), self.int(*stride)];
                sized(self, Sized::Unfold(*axis), sizes)
            }
            Op::Fold(axis, stride, n) => {
                let sizes = vec![self.int(*stride), self.int(*n)];
                sized(self, Sized::Fold(*axis), sizes)
            }
            Op::Index(row) => {
                let row = self.int(*row);
                self.builder.index(vars[0], &[At::Int(row)])
            }
            other => self.builder.op(other.clone(), &vars),
        };
        let ty = self.builder.ty(var);
        // A comparison of cotangents makes bools; only shapes matter here.
        let shape = self.shape_of(&op, operands, ty);
        Term { var, shape }
    }

    fn constant(&mut self, value: f64) -> Term {
        Term { var: self.builder.constant(Literal::num(value)), shape: Shape::scalar() }
    }

    fn shape(&self, value: &Term) -> Shape {
        value.shape.clone()
    }
}

/// Whether the results of a statement have derivatives with respect to an operand.
pub(crate) fn passes(kind: &Kind, operand: usize) -> bool {
    match kind {
        // It has a derivative but no formula: derivatives that reach it are refused.
        Kind::Op(Operation::Table(Op::Digamma), _) => true,
        Kind::Op(Operation::Table(op), _) => op.is_differentiable_in(operand),
        Kind::Op(Operation::Sized(Sized::Onehot), _) => false,
        Kind::Op(Operation::Sized(_) | Operation::Fill, _) => operand == 0,
        Kind::Op(..) | Kind::Const(_) => false,
        _ => true,
    }
}
