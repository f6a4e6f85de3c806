//! Sums over the batch: the gradient of a parameter is the sum of the gradients of all streams.
//!
//! Derivatives are linear in cotangents, so a sum moves from a gradient towards its operands, through
//! additions, delays and sampling, until it reaches a nonlinear equation:
//!
//! ```text
//! g  = sum over the batch of d             g  = c1 + h1
//! d  = c + h                               c1 = matmul(e, transpose(x))
//! c  = outer(e, x)                         h1 = 0 fby back g1 …
//! h  = 0 fby back d …
//! ```
//!
//! There, a sum of outer products is one dense product, and no array of the size of a parameter is kept for
//! each stream. A sum moves only past variables without other readers ([`Movable`]); a variable that is
//! computed for each stream anyway is summed directly. Equations that become dead are removed.

use eddy_flow::{Constant, Equation, Kind, VarId};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::writer::Writer;

/// Defines `gradients`, which are copies of wide variables, as sums over the batch. Returns the variables
/// that become dead.
pub(crate) fn translate(writer: &mut Writer, gradients: &[VarId]) -> FxHashSet<VarId> {
    let movable = Movable::new(writer, gradients);
    let mut sums = Sums { writer, movable, sums: FxHashMap::default(), todo: Vec::new() };
    for gradient in gradients {
        sums.gradient(*gradient);
    }
    while let Some((var, sum)) = sums.todo.pop() {
        sums.define(var, sum);
    }
    newly_dead(writer)
}

/// Variables past which sums move: each is linear in its wide operands and read only by other movable
/// variables.
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
        // If a variable or its operands have other readers, it is computed for each stream anyway.
        let is_needed = |var: &VarId, movable: &FxHashSet<VarId>| {
            let mut others = readers.get(var).into_iter().flatten();
            others.any(|reader| !movable.contains(reader) || !found[reader].contains(var))
        };
        let outside = writer.used_outside_equations();
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

/// The wide operands to sum instead of a wide variable; `None` if the variable is not linear in them.
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
        Kind::Apply(op, operands) => match passage(op) {
            Passage::Operands => Some(wide(operands)),
            Passage::Branches => (!writer.is_wide(operands[0])).then(|| wide(&operands[1..])),
            Passage::OuterProduct if operands.iter().all(|operand| writer.is_wide(*operand)) => {
                Some(Vec::new())
            }
            Passage::OuterProduct | Passage::OneFactor => {
                Some(wide(operands)).filter(|wide: &Vec<VarId>| wide.len() == 1)
            }
            Passage::Blocked => None,
        },
    }
}

/// How a sum over the batch moves past an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passage {
    /// The operation is linear in all operands together: apply it to their sums. A smaller operand is
    /// stretched along the axes of one stream, which does not depend on the batch.
    Operands,
    /// Sum both branches, if the condition is shared.
    Branches,
    /// Sum the only wide factor.
    OneFactor,
    /// Like `OneFactor`; if both factors are wide, the sum of outer products is one matrix product.
    OuterProduct,
    /// The sum does not move past the operation: sum the result.
    Blocked,
}

#[deny(clippy::wildcard_enum_match_arm)]
fn passage(op: &Op) -> Passage {
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
        | Op::Concat
        | Op::Add
        | Op::Sub => Passage::Operands,
        Op::If => Passage::Branches,
        Op::Mul | Op::Matmul => Passage::OneFactor,
        Op::Outer => Passage::OuterProduct,
        // Linear in some operand, but summing earlier would save little.
        Op::StopGradient
        | Op::ToNum
        | Op::Where
        | Op::Sum(_)
        | Op::Mean(_)
        | Op::SumTo
        | Op::Spread(..)
        | Op::Broadcast(_)
        | Op::Unfold(..)
        | Op::Fold(..)
        | Op::Row
        | Op::Place(_)
        | Op::Conv2d
        | Op::Conv2dDx
        | Op::Conv2dDk => Passage::Blocked,
        Op::Div
        | Op::Pow
        | Op::Maximum
        | Op::Minimum
        | Op::IntDiv
        | Op::IntMod
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::Eq
        | Op::Ne
        | Op::And
        | Op::Or
        | Op::Not
        | Op::Abs
        | Op::Relu
        | Op::Exp
        | Op::Log
        | Op::Sqrt
        | Op::Tanh
        | Op::Sigmoid
        | Op::Sin
        | Op::Cos
        | Op::Lgamma
        | Op::Digamma
        | Op::Max(_)
        | Op::MaxMask(_)
        | Op::Softmax
        | Op::ToInt
        | Op::Argmax
        | Op::Onehot(_)
        | Op::ZerosLike
        | Op::OnesLike
        | Op::Each(_)
        | Op::Call(_) => Passage::Blocked,
    }
}

struct Sums<'a> {
    writer: &'a mut Writer,
    movable: Movable,
    /// The sum of each wide variable.
    sums: FxHashMap<VarId, VarId>,
    /// Sums without an equation: the variable and its sum.
    todo: Vec<(VarId, VarId)>,
}

impl Sums<'_> {
    fn gradient(&mut self, gradient: VarId) {
        let equation = self.writer.definition(gradient).expect("a gradient is a copy").clone();
        let computed = equation.kind.operands().next().expect("a copy has an operand");
        self.writer.at(&equation);
        // A gradient that depends on no data is shared: its sum is a multiple of it.
        if !self.writer.is_wide(computed) {
            self.writer.equations.retain(|other| other.out != gradient);
        }
        let sum = self.sum(computed);
        self.writer.define_apply(gradient, Op::Copy, &[sum]);
    }

    /// The sum of a variable over the batch.
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

    /// The sum of a shared variable: as many times its value as there are streams.
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

    /// The equation between the sums of the operands.
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
        match (passage(op), operands) {
            (Passage::Branches, [condition, yes, no]) => {
                (op.clone(), vec![*condition, self.sum(*yes), self.sum(*no)])
            }
            (Passage::OuterProduct, [x, y]) if self.writer.is_wide(*x) && self.writer.is_wide(*y) => {
                let transposed = self.writer.apply(Op::Transpose, &[*y]);
                // `reshape` makes the layout row-major, which the product needs for its right factor.
                let shape = self.writer.shape(transposed).clone();
                let rows = self.writer.apply(Op::Reshape(shape), &[transposed]);
                (Op::Matmul, vec![*x, rows])
            }
            // One factor is shared.
            (Passage::OuterProduct | Passage::OneFactor, [x, y]) if self.writer.is_wide(*x) => {
                (op.clone(), vec![self.sum(*x), *y])
            }
            (Passage::OuterProduct | Passage::OneFactor, [x, y]) => (op.clone(), vec![*x, self.sum(*y)]),
            _ => (op.clone(), operands.iter().map(|operand| self.sum(*operand)).collect()),
        }
    }
}

/// Variables that were live and are dead now that sums have replaced them. A variable that was dead before
/// stays, since it may exist for its clock.
fn newly_dead(writer: &Writer) -> FxHashSet<VarId> {
    let read_before: FxHashSet<VarId> =
        writer.old.iter().flat_map(|equation| equation.kind.operands()).collect();
    let own = || writer.old.iter().map(|equation| equation.out);
    let mut roots: FxHashSet<VarId> = writer.used_outside_equations();
    roots.extend(own().filter(|var| !read_before.contains(var)));
    let needed_before = needed(&writer.old, roots.iter().copied());
    roots.extend(own().filter(|var| !needed_before.contains(var)));
    let needed_now = needed(&writer.equations, roots);
    let defined = writer.equations.iter().map(|equation| equation.out);
    defined.filter(|var| !needed_now.contains(var)).collect()
}

/// The transitive operands of some variables, and these variables.
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
