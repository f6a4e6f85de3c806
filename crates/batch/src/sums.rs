//! Sums over the batch: the gradient of a parameter is the sum of those of all streams.
//!
//! Derivatives are linear in cotangents, so a sum can be moved from a gradient towards what it is made of, through additions, delays and
//! samplings, as far as an equation that is not linear:
//!
//! ```text
//! g  = sum over the batch of d             g  = c1 + h1
//! d  = c + h                               c1 = matmul(e, transpose(x))
//! c  = outer(e, x)                         h1 = 0 fby back g1 …
//! h  = 0 fby back d …
//! ```
//!
//! There the sum of outer products is one dense product, and nothing of the size of a parameter is kept for each stream. Equations that
//! nobody reads afterwards are left out.

use eddy_flow::{Constant, Equation, Kind, VarId};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::writer::Writer;

/// Writes the equations of these streams, copies of wide ones, as sums over the batch. Gives the streams that nobody needs any more.
pub(crate) fn translate(writer: &mut Writer, gradients: &[VarId]) -> FxHashSet<VarId> {
    let mut sums = Sums { writer, sums: FxHashMap::default(), todo: Vec::new() };
    for gradient in gradients {
        sums.gradient(*gradient);
    }
    while let Some((var, sum)) = sums.todo.pop() {
        sums.define(var, sum);
    }
    left_out(writer)
}

struct Sums<'a> {
    writer: &'a mut Writer,
    /// The stream that is the sum of a wide one.
    sums: FxHashMap<VarId, VarId>,
    /// Sums that have no equation yet.
    todo: Vec<(VarId, VarId)>,
}

impl Sums<'_> {
    fn gradient(&mut self, gradient: VarId) {
        let equation = self.writer.definition(gradient).expect("a gradient is a copy").clone();
        let computed = equation.kind.operands().next().expect("a copy has an operand");
        self.writer.at(&equation);
        // A gradient that no data reach is the same for all streams: it counts as often as there are streams.
        if !self.writer.is_wide(computed) {
            self.writer.equations.retain(|other| other.out != gradient);
        }
        let sum = self.sum(computed);
        self.writer.define_apply(gradient, Op::Copy, &[sum]);
    }

    /// The sum of a stream over the batch.
    fn sum(&mut self, var: VarId) -> VarId {
        if !self.writer.is_wide(var) {
            return self.multiple(var);
        }
        if let Some(sum) = self.sums.get(&var) {
            return *sum;
        }
        let ty = Type { scalar: self.writer.ty(var).scalar, shape: self.writer.own_shape(var) };
        let sum = self.writer.fresh(ty, false);
        self.sums.insert(var, sum);
        self.todo.push((var, sum));
        sum
    }

    /// What is the same for all streams, as often as there are streams.
    fn multiple(&mut self, var: VarId) -> VarId {
        if self.is_zero(var) {
            return var;
        }
        #[allow(clippy::cast_precision_loss)] // a batch has fewer than 2^28 streams
        let n = Constant::Num(self.writer.n as f64);
        let n = self.writer.constant(n, Type { scalar: Scalar::Num, shape: Shape::scalar() });
        self.writer.apply(Op::Mul, &[n, var])
    }

    fn is_zero(&self, var: VarId) -> bool {
        let Some(Kind::Const(constant)) = self.writer.definition(var).map(|equation| &equation.kind) else {
            return false;
        };
        match constant {
            Constant::Zero | Constant::Int(0) => true,
            Constant::Num(x) => *x == 0.0,
            _ => false,
        }
    }

    fn define(&mut self, var: VarId, sum: VarId) {
        let definition = self.writer.definition(var).cloned();
        if let Some(equation) = definition {
            self.writer.at(&equation);
            if let Some(kind) = self.linear(&equation) {
                return self.writer.define(sum, kind);
            }
        }
        let last = self.writer.shape(var).len() - 1;
        self.writer.define_apply(sum, Op::Sum(Some(last)), &[var]);
    }

    /// The equation between sums, if the equation is linear in what differs from stream to stream.
    fn linear(&mut self, equation: &Equation) -> Option<Kind> {
        Some(match &equation.kind {
            Kind::Apply(op, operands) => {
                let (op, operands) = self.operation(op, operands, equation.out)?;
                Kind::Apply(op, operands.into())
            }
            Kind::When { value, condition, polarity } => {
                Kind::When { value: self.sum(*value), condition: *condition, polarity: *polarity }
            }
            Kind::Merge { condition, yes, no } => {
                Kind::Merge { condition: *condition, yes: self.sum(*yes), no: self.sum(*no) }
            }
            Kind::Fby { init, next } => Kind::Fby { init: self.sum(*init), next: self.sum(*next) },
            Kind::FbyBack { init, next } => Kind::FbyBack { init: self.sum(*init), next: self.sum(*next) },
            Kind::Post(operand) => Kind::Post(self.sum(*operand)),
            Kind::Const(_) | Kind::Param(_) => return None,
        })
    }

    fn operation(&mut self, op: &Op, operands: &[VarId], out: VarId) -> Option<(Op, Vec<VarId>)> {
        let is_wide = |this: &Self, operand: usize| this.writer.is_wide(operands[operand]);
        match op {
            Op::Copy
            | Op::Neg
            | Op::Index(_)
            | Op::Slice(..)
            | Op::Pad(..)
            | Op::Reshape(_)
            | Op::Transpose
            | Op::Reduce(_)
            | Op::Stack
            | Op::Concat => Some((op.clone(), operands.iter().map(|operand| self.sum(*operand)).collect())),
            // Stretching one of them would count it too often.
            Op::Add | Op::Sub => {
                let own = self.writer.own_shape(out);
                let is_whole = operands.iter().all(|operand| self.writer.own_shape(*operand) == own);
                is_whole.then(|| (op.clone(), operands.iter().map(|operand| self.sum(*operand)).collect()))
            }
            Op::If if !is_wide(self, 0) => {
                let [condition, yes, no] = *operands else { unreachable!("`if` has two branches") };
                Some((Op::If, vec![condition, self.sum(yes), self.sum(no)]))
            }
            Op::Outer if is_wide(self, 0) && is_wide(self, 1) => {
                let transposed = self.writer.apply(Op::Transpose, &[operands[1]]);
                // Reshaping puts elements into row-major order: the product runs along the rows of its right factor.
                let shape = self.writer.shape(transposed).clone();
                let rows = self.writer.apply(Op::Reshape(shape), &[transposed]);
                Some((Op::Matmul, vec![operands[0], rows]))
            }
            Op::Outer | Op::Mul | Op::Matmul => match (is_wide(self, 0), is_wide(self, 1)) {
                (true, true) => None,
                (true, false) => Some((op.clone(), vec![self.sum(operands[0]), operands[1]])),
                (false, _) => Some((op.clone(), vec![operands[0], self.sum(operands[1])])),
            },
            _ => None,
        }
    }
}

/// The streams that were needed, and are needed no more, since sums took their place. What nobody needed before stays: it may be there for
/// its clock.
fn left_out(writer: &Writer) -> FxHashSet<VarId> {
    let read_before: FxHashSet<VarId> =
        writer.old.iter().flat_map(|equation| equation.kind.operands()).collect();
    let own = || writer.old.iter().map(|equation| equation.out);
    let mut roots: FxHashSet<VarId> = writer.known_outside();
    roots.extend(own().filter(|var| !read_before.contains(var)));
    let needed_before = needed(&writer.old, roots.iter().copied());
    roots.extend(own().filter(|var| !needed_before.contains(var)));
    let needed_now = needed(&writer.equations, roots);
    let defined = writer.equations.iter().map(|equation| equation.out);
    defined.filter(|var| !needed_now.contains(var)).collect()
}

/// All that some streams depend on, and they themselves.
fn needed(equations: &[Equation], by: impl IntoIterator<Item = VarId>) -> FxHashSet<VarId> {
    let definitions: FxHashMap<VarId, &Kind> =
        equations.iter().map(|equation| (equation.out, &equation.kind)).collect();
    let mut todo: Vec<VarId> = by.into_iter().collect();
    let mut found: FxHashSet<VarId> = FxHashSet::default();
    while let Some(var) = todo.pop() {
        if found.insert(var) {
            todo.extend(definitions.get(&var).into_iter().flat_map(|kind| kind.operands()));
        }
    }
    found
}
