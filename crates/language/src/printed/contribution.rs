//! The contribution of a use to a cotangent, as an expression: the backward equations of [`eddy_autodiff`],
//! nested into one expression.
//!
//! The equations are dense: a cotangent is present wherever its stream is. In sparse form it is a pair, a
//! support b and a stream d that is present where b holds; together they stand for `merge b d 0`. So each
//! equation is translated in the same way: pad its operands, keep the operation, sample its result.
//!
//! | equation | in dense form | in sparse form, from support b to b' |
//! | --- | --- | --- |
//! | operation on `d` and `x` | `x * d` | `(x when b) * d` |
//! | `0 fby back d` | the same | `(post (merge b d 0.0)) when b'` |
//! | `merge c d 0` | the same | `(merge c (merge b d 0.0) 0.0) when b'` |

use eddy_autodiff::Transposed;
use eddy_tensor::{Op, Scalar, Spelling, Static, StaticKind, builtin};
use rustc_hash::FxHashMap;

use super::Ends;
use super::local::StreamId;
use super::node::Writer;
use super::supports::SupportId;
use crate::flow::{Constant, Equation, Kind};
use crate::tree::{BinaryOp, Direction, ExprId, UnaryOp};

/// A stream of a contribution as an expression.
#[derive(Clone, Copy)]
struct Term {
    expr: ExprId,
    part: Part,
}

/// What a term depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Nothing: the term is present whenever it is needed.
    Constant,
    /// Only the cycle, like `true fby false`; the term is on the clock of the stream.
    Edge,
    /// Values of the node; the term is present where the support holds.
    Primal,
    /// The cotangent.
    Linear,
}

/// The transposed step: its result, and the supports of the cotangent and of the contribution.
struct Transposition {
    result: StreamId,
    from: Option<SupportId>,
    to: Option<SupportId>,
}

type Terms = FxHashMap<StreamId, Term>;

impl Writer<'_> {
    /// The contribution of a use, given the cotangent of the result of its step.
    pub fn contribution(&mut self, step: usize, position: usize, cotangent: ExprId) -> ExprId {
        let (transposed, usage) = (self.transposed, self.contributions[&(step, position)]);
        let result = self.local.steps[step].results[0];
        let (from, to) = (self.support(result), self.support_of_use(step, position));
        let transposition = Transposition { result, from, to };
        let mut terms = Terms::default();
        terms.insert(transposed.cotangents[&result], Term { expr: cotangent, part: Part::Linear });
        for equation in transposed.equations_of(usage) {
            let term = self.term(equation, transposed, &transposition, &terms);
            terms.insert(equation.out, term);
        }
        terms[&usage.value].expr
    }

    fn term(
        &mut self,
        equation: &Equation,
        transposed: &Transposed,
        transposition: &Transposition,
        terms: &Terms,
    ) -> Term {
        let linear = |stream: StreamId| terms.get(&stream).is_some_and(|term| term.part == Part::Linear);
        match &equation.kind {
            Kind::Const(constant) => {
                let expr = self.constant(constant, equation.out, transposed);
                Term { expr, part: Part::Constant }
            }
            Kind::Apply(op, operands) => self.application(op, operands, transposition, terms),
            Kind::Fby { init, next } if !linear(*next) => {
                let expr = self.text.fby(Direction::Forward, terms[init].expr, terms[next].expr);
                Term { expr, part: Part::Edge }
            }
            Kind::FbyBack { init, next } if !linear(*next) => {
                let expr = self.text.fby(Direction::Back, terms[init].expr, terms[next].expr);
                Term { expr, part: Part::Edge }
            }
            kind => {
                let moved = self.moved(kind, transposition.from, terms);
                Term { expr: self.sampled(moved, transposition.to), part: Part::Linear }
            }
        }
    }

    /// A cotangent that moves in time or to another clock.
    fn moved(&mut self, kind: &Kind, from: Option<SupportId>, terms: &Terms) -> ExprId {
        match kind {
            Kind::FbyBack { init, next } => {
                let dense = self.padded(terms[next].expr, from);
                match self.ends() {
                    Ends::Open => self.text.unary(UnaryOp::Post, dense),
                    Ends::Finite => self.text.fby(Direction::Back, terms[init].expr, dense),
                }
            }
            Kind::Fby { init, next } => {
                let dense = self.padded(terms[next].expr, from);
                self.text.fby(Direction::Forward, terms[init].expr, dense)
            }
            Kind::When { value, condition, polarity } => {
                let condition = self.written(*condition);
                let dense = self.padded(terms[value].expr, from);
                self.text.when(dense, condition, *polarity)
            }
            Kind::Merge { condition, yes, no } => {
                let condition = self.written(*condition);
                let [yes, no] = [yes, no].map(|branch| match terms[branch] {
                    Term { expr, part: Part::Linear } => self.padded(expr, from),
                    Term { expr, .. } => expr,
                });
                self.text.merge(condition, yes, no)
            }
            Kind::Const(_) | Kind::Apply(..) | Kind::Post(_) | Kind::Param(_) => {
                unreachable!("no cotangent moves by {kind:?}")
            }
        }
    }

    /// A cotangent is the right factor of a product: `(k when bp) * do`.
    fn application(
        &mut self,
        op: &Op,
        operands: &[StreamId],
        transposition: &Transposition,
        terms: &Terms,
    ) -> Term {
        let mut parts: Vec<Term> = Vec::new();
        for operand in operands {
            parts.push(self.operand(*operand, transposition, terms));
        }
        let is_linear = |term: &Term| term.part == Part::Linear;
        if *op == Op::Mul && is_linear(&parts[0]) && !is_linear(&parts[1]) {
            parts.swap(0, 1);
        }
        let part = if parts.iter().any(is_linear) { Part::Linear } else { Part::Primal };
        let exprs: Vec<ExprId> = parts.into_iter().map(|part| part.expr).collect();
        Term { expr: self.operation(op, &exprs), part }
    }

    /// An operand of an operation, where the support holds.
    fn operand(&mut self, stream: StreamId, transposition: &Transposition, terms: &Terms) -> Term {
        let Transposition { result, from, .. } = *transposition;
        match terms.get(&stream) {
            Some(Term { expr, part: Part::Edge }) => {
                Term { expr: self.sampled(*expr, from), part: Part::Primal }
            }
            Some(term) => *term,
            None => {
                let shared = self.shared_results.get(&stream).filter(|_| stream == result).cloned();
                let expr = match shared {
                    Some(name) => self.text.var(&name),
                    None => self.primal(stream, from),
                };
                Term { expr, part: Part::Primal }
            }
        }
    }

    /// A constant of a backward equation.
    fn constant(&mut self, constant: &Constant, out: StreamId, transposed: &Transposed) -> ExprId {
        let ty = &transposed.vars[out.index()].ty;
        match constant {
            Constant::Bool(truth) => self.text.truth(*truth),
            Constant::Num(value) => self.text.number(*value),
            Constant::Zero if ty.scalar == Scalar::Num => {
                self.dimensions.zero(&ty.shape, self.instances.shapes, &mut self.text)
            }
            constant => unreachable!("no backward equation has the constant {constant:?}"),
        }
    }

    fn operation(&mut self, op: &Op, operands: &[ExprId]) -> ExprId {
        match (op.spelling(), operands) {
            (Spelling::Itself, [x]) => *x,
            (Spelling::Prefix, [x]) => {
                let prefix = if *op == Op::Neg { UnaryOp::Negate } else { UnaryOp::Not };
                self.text.unary(prefix, *x)
            }
            (Spelling::Choice, [c, yes, no]) => self.text.conditional(*c, *yes, *no),
            (Spelling::List, items) => self.text.list(items),
            (Spelling::Infix, [x, y]) if *op == Op::Add => self.text.sum(*x, *y),
            (Spelling::Infix, [x, y]) => {
                let infix = BinaryOp::from_symbol(op.name()).expect("an infix operation has a symbol");
                self.text.binary(infix, *x, *y)
            }
            (Spelling::Row, [x]) => {
                let Op::Index(row) = op else { unreachable!("only an index takes a row") };
                self.text.index(*x, *row)
            }
            (Spelling::Call | Spelling::Function, operands) => self.called(op, operands),
            (Spelling::Pick | Spelling::Hidden, _) => unreachable!("rows at run time were refused"),
            (spelling, operands) => unreachable!("{spelling:?} does not take {} operands", operands.len()),
        }
    }

    /// `slice(0,n,x)`, `sum(x,1)`.
    fn called(&mut self, op: &Op, operands: &[ExprId]) -> ExprId {
        let kinds = builtin(op.name()).expect("it is called by its name").statics();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (number, (kind, value)) in kinds.iter().zip(op.statics()).enumerate() {
            // The first static of `spread` is an axis, although it precedes the operand.
            let is_axis = *kind == StaticKind::Axis || (matches!(op, Op::Spread(..)) && number == 0);
            let argument = match value {
                Static::Int(n) => {
                    let size = usize::try_from(n).expect("sizes are not negative");
                    if is_axis { self.text.integer(size) } else { self.dimensions.size(size, &mut self.text) }
                }
                Static::List(sizes) => {
                    let sizes = sizes.iter().map(|n| usize::try_from(*n).expect("sizes are not negative"));
                    self.dimensions.shape(&sizes.collect::<Vec<_>>().into(), &mut self.text)
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
