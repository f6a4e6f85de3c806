//! Derivatives of operations as source expressions: the formulas of the operation table, written down.
//!
//! The table is the only place that knows them. What is added here is how they read: a cotangent stands on the right of a
//! product (`(k when bp) * do`), and sizes have the names of the program.

use eddy_tensor::{Algebra, Op, Shape, Static, StaticKind, builtin};

use super::Shapes;
use super::dimensions::Dimensions;
use super::text::Text;
use crate::tree::{BinaryOp, ExprId, UnaryOp};

/// An expression in a formula.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    pub expr: ExprId,
    pub shape: Shape,
    pub part: Part,
}

/// What an expression is in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Something that depends on primals alone.
    Primal,
    /// An operand of the operation.
    Operand,
    /// The result of the operation.
    Result,
    /// The cotangent of the result.
    Cotangent,
    /// Something that depends on the cotangent.
    Linear,
}

/// Writes formulas, and counts how often they read operands, the result and its cotangent.
pub(super) struct Formulas<'a> {
    pub text: &'a mut Text,
    pub dimensions: &'a Dimensions,
    pub shapes: Shapes,
    pub n_operands: usize,
    pub n_results: usize,
    pub n_cotangents: usize,
}

impl Formulas<'_> {
    fn written(&mut self, op: &Op, operands: &[ExprId]) -> ExprId {
        match (op, operands) {
            (Op::Copy, [x]) => *x,
            (Op::Neg, [x]) => self.text.unary(UnaryOp::Negate, *x),
            (Op::Not, [x]) => self.text.unary(UnaryOp::Not, *x),
            (Op::If, [c, yes, no]) => self.text.conditional(*c, *yes, *no),
            (Op::Stack, items) => self.text.list(items),
            (Op::Index(row), [x]) => self.text.index(*x, *row),
            (Op::Add, [x, y]) => self.text.sum(*x, *y),
            (_, [x, y]) if BinaryOp::from_symbol(op.name()).is_some() => {
                let op = BinaryOp::from_symbol(op.name()).expect("it was found");
                self.text.binary(op, *x, *y)
            }
            _ => self.called(op, operands),
        }
    }

    /// `slice(0,n,x)`, `sum(x,1)`.
    fn called(&mut self, op: &Op, operands: &[ExprId]) -> ExprId {
        let kinds = builtin(op.name()).expect("other operations have syntax").statics();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (number, (kind, value)) in kinds.iter().zip(op.statics()).enumerate() {
            // The first number of `spread` is an axis, although it stands in front.
            let is_axis = *kind == StaticKind::Axis || (matches!(op, Op::Spread(..)) && number == 0);
            let argument = match value {
                Static::Int(n) => {
                    let size = usize::try_from(n).expect("sizes are not negative");
                    if is_axis { self.text.integer(size) } else { self.dimensions.size(size, self.text) }
                }
                Static::List(sizes) => {
                    let sizes = sizes.iter().map(|n| usize::try_from(*n).expect("sizes are not negative"));
                    self.dimensions.shape(&sizes.collect::<Vec<_>>().into(), self.text)
                }
                Static::Num(x) => self.text.number(x),
            };
            if *kind == StaticKind::Axis { after.push(argument) } else { before.push(argument) }
        }
        let arguments: Vec<ExprId> =
            before.into_iter().chain(operands.iter().copied()).chain(after).collect();
        self.text.call(op.name(), &arguments)
    }
}

impl Algebra for Formulas<'_> {
    type Value = Formula;

    fn apply(&mut self, op: Op, operands: &[Formula]) -> Formula {
        let count = |part: Part| operands.iter().filter(|operand| operand.part == part).count();
        self.n_operands += count(Part::Operand);
        self.n_results += count(Part::Result);
        self.n_cotangents += count(Part::Cotangent);
        let is_linear = |operand: &Formula| matches!(operand.part, Part::Cotangent | Part::Linear);
        let shapes: Vec<&Shape> = operands.iter().map(|operand| &operand.shape).collect();
        let shape = op.shape(&shapes).expect("derivatives of well-shaped operations are well-shaped");
        let mut exprs: Vec<ExprId> = operands.iter().map(|operand| operand.expr).collect();
        if let (Op::Mul, [left, right]) = (&op, operands)
            && is_linear(left)
            && !is_linear(right)
        {
            exprs.swap(0, 1);
        }
        let part = if operands.iter().any(is_linear) { Part::Linear } else { Part::Primal };
        Formula { expr: self.written(&op, &exprs), shape, part }
    }

    fn constant(&mut self, value: f64) -> Formula {
        Formula { expr: self.text.number(value), shape: Shape::scalar(), part: Part::Primal }
    }

    fn shape(&self, value: &Formula) -> Shape {
        value.shape.clone()
    }

    fn zeros(&mut self, shape: &Shape) -> Formula {
        let expr = self.dimensions.zero(shape, self.shapes, self.text);
        Formula { expr, shape: shape.clone(), part: Part::Primal }
    }
}
