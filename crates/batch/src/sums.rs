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
//! There the sum of outer products is one dense product, and nothing of the size of a parameter is kept for each stream. A sum is moved
//! only past streams that nobody else needs ([`Movable`]): what is computed for each stream anyway is summed up as it is. Equations that nobody
//! reads afterwards are left out.

use eddy_flow::{Constant, Equation, Kind, VarId};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::writer::Writer;

/// Writes the equations of these streams, copies of wide ones, as sums over the batch. Gives the streams that nobody needs any more.
pub(crate) fn translate(writer: &mut Writer, gradients: &[VarId]) -> FxHashSet<VarId> {
    let movable = Movable::new(writer, gradients);
    let mut sums = Sums { writer, movable, sums: FxHashMap::default(), todo: Vec::new() };
    for gradient in gradients {
        sums.gradient(*gradient);
    }
    while let Some((var, sum)) = sums.todo.pop() {
        sums.define(var, sum);
    }
    left_out(writer)
}

/// The streams past which a sum is moved: linear in what differs from stream to stream, and read by others of them alone.
struct Movable(FxHashSet<VarId>);

impl Movable {
    fn new(writer: &Writer, gradients: &[VarId]) -> Movable {
        let mut found: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
        let own =
            |gradient: &VarId| writer.definition(*gradient).into_iter().flat_map(|copy| copy.kind.operands());
        let mut todo: Vec<VarId> = gradients.iter().flat_map(own).collect();
        while let Some(var) = todo.pop() {
            if !found.contains_key(&var)
                && let Some(equation) = writer.definition(var)
                && let Some(summands) = summands(writer, equation)
            {
                todo.extend(&summands);
                found.insert(var, summands);
            }
        }
        let mut readers: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
        for equation in writer.old.iter().filter(|equation| !gradients.contains(&equation.out)) {
            equation
                .kind
                .operands()
                .for_each(|operand| readers.entry(operand).or_default().push(equation.out));
        }
        let mut movable: FxHashSet<VarId> = found.keys().copied().collect();
        // Others need it, or need what it is made of: then that is there anyway.
        let is_needed = |var: &VarId, movable: &FxHashSet<VarId>| {
            let mut others = readers.get(var).into_iter().flatten();
            others.any(|reader| !movable.contains(reader) || !found[reader].contains(var))
        };
        let outside = writer.known_outside();
        let mut todo: Vec<VarId> =
            movable.iter().copied().filter(|var| outside.contains(var) || is_needed(var, &movable)).collect();
        while let Some(var) = todo.pop() {
            if movable.remove(&var) {
                todo.extend(found[&var].iter().filter(|summand| movable.contains(summand)));
            }
        }
        Movable(movable)
    }
}

/// The wide operands of a wide stream that take its place if it is summed up; none if it is not linear in them.
fn summands(writer: &Writer, Equation { out, kind, .. }: &Equation) -> Option<Vec<VarId>> {
    if !writer.is_wide(*out) {
        return None;
    }
    let wide =
        |operands: &[VarId]| operands.iter().copied().filter(|operand| writer.is_wide(*operand)).collect();
    match kind {
        Kind::Const(_) | Kind::Param(_) => None,
        Kind::When { value, .. } => Some(vec![*value]),
        Kind::Post(operand) => Some(vec![*operand]),
        Kind::Merge { yes: x, no: y, .. }
        | Kind::Fby { init: x, next: y }
        | Kind::FbyBack { init: x, next: y } => Some(wide(&[*x, *y])),
        Kind::Apply(op, operands) => match op {
            Op::Copy
            | Op::Neg
            | Op::Index(_)
            | Op::Slice(..)
            | Op::Pad(..)
            | Op::Reshape(_)
            | Op::Transpose
            | Op::Reduce(_)
            | Op::Stack
            | Op::Concat => Some(wide(operands)),
            // Stretching one of them would count it too often.
            Op::Add | Op::Sub => {
                let own = writer.own_shape(*out);
                operands.iter().all(|operand| writer.own_shape(*operand) == own).then(|| wide(operands))
            }
            Op::If if !writer.is_wide(operands[0]) => Some(wide(&operands[1..])),
            // The sum of outer products is a product.
            Op::Outer if operands.iter().all(|operand| writer.is_wide(*operand)) => Some(Vec::new()),
            Op::Outer | Op::Mul | Op::Matmul => {
                Some(wide(operands)).filter(|wide: &Vec<VarId>| wide.len() == 1)
            }
            _ => None,
        },
    }
}

struct Sums<'a> {
    writer: &'a mut Writer,
    movable: Movable,
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
        if let Some(equation) = self.writer.definition(var).cloned() {
            self.writer.at(&equation);
            if self.movable.0.contains(&var) {
                let kind = self.moved(&equation);
                return self.writer.define(sum, kind);
            }
        }
        let last = self.writer.shape(var).len() - 1;
        self.writer.define_apply(sum, Op::Sum(Some(last)), &[var]);
    }

    /// The equation between sums.
    fn moved(&mut self, equation: &Equation) -> Kind {
        match &equation.kind {
            Kind::Apply(op, operands) => {
                let (op, operands) = self.operation(op, operands);
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
            Kind::Const(_) | Kind::Param(_) => unreachable!("these are the same for all streams"),
        }
    }

    fn operation(&mut self, op: &Op, operands: &[VarId]) -> (Op, Vec<VarId>) {
        match (op, operands) {
            (Op::If, [condition, yes, no]) => (Op::If, vec![*condition, self.sum(*yes), self.sum(*no)]),
            (Op::Outer, [x, y]) if self.writer.is_wide(*x) && self.writer.is_wide(*y) => {
                let transposed = self.writer.apply(Op::Transpose, &[*y]);
                // Reshaping puts elements into row-major order: the product runs along the rows of its right factor.
                let shape = self.writer.shape(transposed).clone();
                let rows = self.writer.apply(Op::Reshape(shape), &[transposed]);
                (Op::Matmul, vec![*x, rows])
            }
            // One factor is the same for all streams.
            (Op::Outer | Op::Mul | Op::Matmul, [x, y]) if self.writer.is_wide(*x) => {
                (op.clone(), vec![self.sum(*x), *y])
            }
            (Op::Outer | Op::Mul | Op::Matmul, [x, y]) => (op.clone(), vec![*x, self.sum(*y)]),
            _ => (op.clone(), operands.iter().map(|operand| self.sum(*operand)).collect()),
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
