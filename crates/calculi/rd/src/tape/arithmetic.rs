//! Operations as instructions on reals.

use super::code::{Instr, Operand, Tail};
use super::compile::{Compiler, Leaves};
use crate::operation::{Op, Primitive, Scalar};
use crate::template::{Algebra, reverse_binary, reverse_unary};

impl Compiler<'_> {
    pub(super) fn operation(&mut self, op: Op, argument: Leaves, tail: Tail) -> Leaves {
        match op {
            Op::Primal(Primitive::Scalar(scalar)) if scalar.is_binary() => {
                let (x, y) = (self.leaf(argument, 0), self.leaf(argument, 1));
                self.free(&[x, y]);
                let result = self.binary_instr(scalar, x, y, tail);
                self.list(&[result])
            }
            Op::Primal(Primitive::Scalar(scalar)) => {
                let x = self.leaf(argument, 0);
                self.free(&[x]);
                let result = self.unary_instr(scalar, x, tail);
                self.list(&[result])
            }
            Op::Primal(Primitive::Dot(_)) => {
                let (a, b) = halves(argument);
                let result = self.dot(a, b, tail);
                self.list(&[result])
            }
            Op::Primal(Primitive::Scale(_)) => {
                let vector = Leaves { start: argument.start + 1, len: argument.len - 1 };
                self.scale(self.leaf(argument, 0), vector, tail)
            }
            Op::Reverse(primitive) => self.reverse(primitive, argument),
        }
    }

    /// `op_r(⟨x,w⟩)` by the template of `op`.
    pub(super) fn reverse(&mut self, primitive: Primitive, argument: Leaves) -> Leaves {
        let at = |n: u32| Leaves { start: argument.start + n, len: argument.len - n };
        let infallible = "writing instructions does not fail";
        match primitive {
            Primitive::Scalar(op) if op.is_binary() => {
                let (a, b, w) = (self.leaf(argument, 0), self.leaf(argument, 1), self.leaf(argument, 2));
                let (da, db) = reverse_binary(self, op, (a, b), None, w).expect(infallible);
                self.list(&[da, db])
            }
            Primitive::Scalar(op) => {
                let (x, w) = (self.leaf(argument, 0), self.leaf(argument, 1));
                let dx = reverse_unary(self, op, x, None, w).expect(infallible);
                self.list(&[dx])
            }
            Primitive::Dot(_) => {
                let point = Leaves { start: argument.start, len: argument.len - 1 };
                let w = self.leaf(at(argument.len - 1), 0);
                let (a, b) = halves(point);
                let (da, db) = (self.scale(w, b, Tail::No), self.scale(w, a, Tail::No));
                self.join([da, db])
            }
            Primitive::Scale(_) => {
                let n = (argument.len - 1) / 2;
                let (v, w) = (Leaves { len: n, ..at(1) }, at(1 + n));
                let dr = self.dot(v, w, Tail::No);
                let dr = self.list(&[dr]);
                let dv = self.scale(self.leaf(argument, 0), w, Tail::No);
                self.join([dr, dv])
            }
        }
    }

    /// Products of leaves, added from left to right.
    pub(super) fn dot(&mut self, a: Leaves, b: Leaves, tail: Tail) -> Operand {
        let mut sum = None;
        for i in 0..a.len {
            let product = self.binary_instr(Scalar::Mul, self.leaf(a, i), self.leaf(b, i), tail);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.binary_instr(Scalar::Add, sum, product, tail),
            });
        }
        sum.unwrap_or_else(|| self.constant_operand(0.0))
    }

    pub(super) fn scale(&mut self, factor: Operand, vector: Leaves, tail: Tail) -> Leaves {
        let products: Vec<Operand> = (0..vector.len)
            .map(|i| self.binary_instr(Scalar::Mul, factor, self.leaf(vector, i), tail))
            .collect();
        self.list(&products)
    }
    pub(super) fn binary_instr(&mut self, op: Scalar, x: Operand, y: Operand, tail: Tail) -> Operand {
        let dst = self.slot();
        let instr = match op {
            Scalar::Add => Instr::Add(dst, x, y),
            Scalar::Sub => Instr::Sub(dst, x, y),
            Scalar::Mul => Instr::Mul(dst, x, y),
            Scalar::Div => Instr::Div(dst, x, y),
            Scalar::Pow => Instr::Pow(dst, x, y),
            _ => unreachable!("a unary operation has one argument"),
        };
        self.emit(instr, tail);
        Operand::slot(dst)
    }

    pub(super) fn unary_instr(&mut self, op: Scalar, x: Operand, tail: Tail) -> Operand {
        let dst = self.slot();
        let instr = if op == Scalar::Neg {
            Instr::Neg(dst, x)
        } else {
            let unary = &mut self.linker.code.unary;
            let number = *self.linker.unary.entry(op).or_insert_with(|| {
                unary.push(op);
                u32::try_from(unary.len() - 1).expect("fewer operations than 2^32")
            });
            Instr::Unary(number, dst, x)
        };
        self.emit(instr, tail);
        Operand::slot(dst)
    }
}

/// Templates written as instructions.
impl Algebra for Compiler<'_> {
    type Number = Operand;
    type Error = std::convert::Infallible;

    fn constant(&mut self, value: f64) -> Operand {
        self.constant_operand(value)
    }

    fn unary(&mut self, op: Scalar, x: Operand) -> Result<Operand, Self::Error> {
        Ok(self.unary_instr(op, x, Tail::No))
    }

    fn binary(&mut self, op: Scalar, x: Operand, y: Operand) -> Result<Operand, Self::Error> {
        Ok(self.binary_instr(op, x, y, Tail::No))
    }
}

fn halves(leaves: Leaves) -> (Leaves, Leaves) {
    let n = leaves.len / 2;
    (Leaves { start: leaves.start, len: n }, Leaves { start: leaves.start + n, len: n })
}
