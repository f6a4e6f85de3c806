//! Applications of every operation of the table, with an axis of a given size.
//!
//! The match has no `_` arm: a new operation does not compile until it has cases.

use eddy_tensor::{Class, Each, Op, Scalar, Shape, Slot};

use super::operands::{Values, Wanted};

/// An operation and its operands.
#[derive(Clone, Debug)]
pub(super) struct Application {
    pub op: Op,
    pub operands: Vec<Wanted>,
}

fn apply(op: &Op, operands: &[(Values, &[usize])]) -> Application {
    let wanted = |(values, shape): &(Values, &[usize])| Wanted { shape: shape.to_vec(), values: *values };
    Application { op: op.clone(), operands: operands.iter().map(wanted).collect() }
}

/// The applications of an operation whose innermost loop has the size `n`; the static arguments of `op` are
/// replaced by matching ones.
pub(super) fn applications(op: &Op, n: usize) -> Vec<Application> {
    let mut all = candidates(op, n);
    all.retain(is_typed);
    all
}

/// Whether the operation accepts operands of these types.
fn is_typed(application: &Application) -> bool {
    let signature = application.op.signature();
    let is_accepted = |(position, operand): (usize, &Wanted)| match (
        signature.operand(position),
        operand.values.scalar(),
    ) {
        (Slot::Is(scalar), found) => scalar == found,
        (Slot::Alpha, found) => signature.alpha != Class::Numeric || found != Scalar::Bool,
        (Slot::Free, _) => true,
    };
    application.operands.iter().enumerate().all(is_accepted)
}

fn candidates(op: &Op, n: usize) -> Vec<Application> {
    use Values::{Below, Divisors, Integers, Numbers, Positive, Truths};
    match op {
        Op::Add | Op::Sub | Op::Mul | Op::Maximum | Op::Minimum | Op::Lt | Op::Le | Op::Gt | Op::Ge => {
            [stretched(op, [Numbers; 2], n), stretched(op, [Integers; 2], n)].concat()
        }
        Op::Eq | Op::Ne => {
            [stretched(op, [Numbers; 2], n), stretched(op, [Integers; 2], n), stretched(op, [Truths; 2], n)]
                .concat()
        }
        Op::Div => stretched(op, [Numbers; 2], n),
        Op::Pow => stretched(op, [Positive, Numbers], n),
        Op::IntDiv | Op::IntMod => stretched(op, [Integers, Divisors], n),
        Op::And | Op::Or => stretched(op, [Truths; 2], n),
        Op::Not => elements(op, Truths, n),
        Op::Neg | Op::Abs | Op::Relu => [elements(op, Numbers, n), elements(op, Integers, n)].concat(),
        Op::Copy | Op::StopGradient => {
            [elements(op, Numbers, n), elements(op, Integers, n), elements(op, Truths, n)].concat()
        }
        Op::Exp | Op::Tanh | Op::Sigmoid | Op::Sin | Op::Cos => elements(op, Numbers, n),
        Op::ZerosLike | Op::OnesLike | Op::ToInt | Op::ToNum => {
            [elements(op, Numbers, n), elements(op, Integers, n)].concat()
        }
        Op::Log | Op::Sqrt | Op::Lgamma | Op::Digamma => elements(op, Positive, n),
        Op::If => [Numbers, Integers, Truths]
            .map(|values| apply(op, &[(Truths, &[]), (values, &[3, n]), (values, &[3, n])]))
            .to_vec(),
        Op::Where => chosen(n),
        Op::Matmul => vec![
            apply(op, &[(Numbers, &[3, n]), (Numbers, &[n, 4])]),
            apply(op, &[(Numbers, &[2, 3]), (Numbers, &[3, n])]),
            apply(op, &[(Numbers, &[n, 2]), (Numbers, &[2, 5])]),
            apply(op, &[(Numbers, &[3, n]), (Numbers, &[n])]),
            apply(op, &[(Numbers, &[3]), (Numbers, &[3, n])]),
            apply(op, &[(Numbers, &[n]), (Numbers, &[n])]),
        ],
        Op::Outer => vec![
            apply(op, &[(Numbers, &[3]), (Numbers, &[n])]),
            apply(op, &[(Numbers, &[n]), (Numbers, &[2])]),
        ],
        Op::Concat => [Numbers, Integers, Truths]
            .map(|values| apply(op, &[(values, &[2, n]), (values, &[1, n]), (values, &[3, n])]))
            .to_vec(),
        Op::Stack => [Numbers, Integers, Truths]
            .map(|values| apply(op, &[(values, &[2, n]), (values, &[2, n])]))
            .to_vec(),
        Op::Index(_) => moved(&[Op::Index(2)], &[4, 2, n]),
        Op::Slice(..) => moved(&[Op::Slice(1, 3), Op::Slice(0, 2)], &[4, 2, n]),
        Op::Pad(..) => moved(&[Op::Pad(1, 4), Op::Pad(0, 3)], &[2, 2, n]),
        Op::Reshape(_) => moved(&[Op::Reshape(Shape::new(&[n, 8]))], &[4, 2, n]),
        Op::Transpose => [moved(&[Op::Transpose], &[3, n]), moved(&[Op::Transpose], &[n, 2])].concat(),
        Op::Spread(..) => moved(&[Op::Spread(0, 3), Op::Spread(1, 2), Op::Spread(2, 3)], &[2, n]),
        Op::Broadcast(_) => {
            let whole = || Op::Broadcast(Shape::new(&[4, 2, n]));
            [moved(&[whole()], &[4, 1, n]), moved(&[whole()], &[n]), moved(&[whole()], &[4, 2, 1])].concat()
        }
        Op::Sum(_) => along(&Op::Sum, &[Numbers, Integers], n),
        Op::Mean(_) => along(&Op::Mean, &[Numbers], n),
        Op::Max(_) => along(&Op::Max, &[Numbers, Integers], n),
        Op::MaxMask(_) => along(&Op::MaxMask, &[Numbers], n),
        Op::Softmax => elements(op, Numbers, n),
        Op::Argmax => [elements(op, Numbers, n), elements(op, Integers, n)].concat(),
        Op::Onehot(_) => vec![apply(&Op::Onehot(n), &[(Below(n), &[])])],
        Op::Row => [Numbers, Integers, Truths]
            .map(|values| apply(op, &[(values, &[4, 2, n]), (Below(4), &[])]))
            .to_vec(),
        Op::Place(_) => vec![
            apply(&Op::Place(n), &[(Below(n), &[]), (Numbers, &[3])]),
            apply(&Op::Place(3), &[(Below(3), &[]), (Numbers, &[2, n])]),
        ],
        Op::Reduce(_) => {
            let to = |shape: &[usize]| Op::Reduce(Shape::new(shape));
            moved(&[to(&[4, 1, n]), to(&[n]), to(&[4, 2, 1]), to(&[1, 2, n]), to(&[])], &[4, 2, n])
        }
        Op::SumTo => vec![
            apply(op, &[(Numbers, &[4, 2, n]), (Truths, &[4, 1, n])]),
            apply(op, &[(Numbers, &[4, 2, n]), (Truths, &[n])]),
            apply(op, &[(Integers, &[4, 2, n]), (Truths, &[4, 2, 1])]),
        ],
        Op::Unfold(..) => vec![
            apply(&Op::Unfold(0, 2, 1), &[(Numbers, &[4, n])]),
            apply(&Op::Unfold(1, 2, 2), &[(Numbers, &[2, 5, n])]),
            apply(&Op::Unfold(1, n, 2), &[(Numbers, &[2, n + 3])]),
        ],
        Op::Fold(..) => vec![
            apply(&Op::Fold(0, 1, 5), &[(Numbers, &[4, 2, n])]),
            apply(&Op::Fold(1, 2, 5), &[(Numbers, &[2, 2, 2, n])]),
            apply(&Op::Fold(1, 2, n + 3), &[(Numbers, &[2, 2, n])]),
        ],
        Op::Conv2d => vec![
            apply(op, &[(Numbers, &[3, n + 1, 2]), (Numbers, &[2, 2, 2, 3])]),
            apply(op, &[(Numbers, &[3, 3, 2]), (Numbers, &[2, 2, 2, n])]),
            apply(op, &[(Numbers, &[3, 3, n]), (Numbers, &[2, 2, n, 2])]),
        ],
        Op::Conv2dDx => vec![
            apply(op, &[(Numbers, &[2, 2, 2, 3]), (Numbers, &[2, n, 3])]),
            apply(op, &[(Numbers, &[2, 2, 2, n]), (Numbers, &[2, 2, n])]),
            apply(op, &[(Numbers, &[2, 2, n, 2]), (Numbers, &[2, 2, 2])]),
        ],
        Op::Conv2dDk => vec![
            apply(op, &[(Numbers, &[3, n + 1, 2]), (Numbers, &[2, n, 3])]),
            apply(op, &[(Numbers, &[3, 3, 2]), (Numbers, &[2, 2, n])]),
            apply(op, &[(Numbers, &[3, 3, n]), (Numbers, &[2, 2, 2])]),
        ],
        Op::Each(_) => of_streams(n),
        Op::Call(_) => Vec::new(),
    }
}

/// Two operands, one of which may be broadcast along an outer axis, an inner axis, or all axes.
fn stretched(op: &Op, [left, right]: [Values; 2], n: usize) -> Vec<Application> {
    let whole: &[usize] = &[4, 2, n];
    let parts: [&[usize]; 5] = [&[4, 1, n], &[n], &[4, 2, 1], &[1, 2, n], &[]];
    let mut all = vec![apply(op, &[(left, whole), (right, whole)])];
    for part in parts {
        all.push(apply(op, &[(left, whole), (right, part)]));
        all.push(apply(op, &[(left, part), (right, whole)]));
    }
    all
}

fn elements(op: &Op, values: Values, n: usize) -> Vec<Application> {
    [&[4, 2, n][..], &[n], &[n, 3]].map(|shape| apply(op, &[(values, shape)])).to_vec()
}

/// `where`, with each of its operands broadcast in turn.
fn chosen(n: usize) -> Vec<Application> {
    let whole: &[usize] = &[4, 2, n];
    let shapes: [[&[usize]; 3]; 7] = [
        [whole, whole, whole],
        [whole, &[4, 1, n], &[]],
        [whole, &[], &[4, 1, n]],
        [&[4, 1, n], whole, &[n]],
        [&[4, 2, 1], whole, whole],
        [&[n], whole, &[4, 2, 1]],
        [whole, &[n], &[1, 2, n]],
    ];
    let of = |values: Values| {
        shapes.map(|[c, x, y]| apply(&Op::Where, &[(Values::Truths, c), (values, x), (values, y)]))
    };
    [Values::Numbers, Values::Integers, Values::Truths].map(of).concat()
}

/// Operations with one operand that move or sum its elements.
fn moved(ops: &[Op], shape: &[usize]) -> Vec<Application> {
    let of = |op: &Op| {
        [Values::Numbers, Values::Integers, Values::Truths].map(|values| apply(op, &[(values, shape)]))
    };
    ops.iter().flat_map(of).collect()
}

/// Reductions along each axis, and of all elements.
fn along(op: &dyn Fn(Option<usize>) -> Op, values: &[Values], n: usize) -> Vec<Application> {
    let shapes: [(&[usize], Option<usize>); 6] = [
        (&[4, 2, n], Some(0)),
        (&[4, 2, n], Some(1)),
        (&[4, 2, n], Some(2)),
        (&[2, n, 3], Some(1)),
        (&[n, 3], Some(0)),
        (&[3, n], None),
    ];
    let of = |values: Values| shapes.map(|(shape, axis)| apply(&op(axis), &[(values, shape)])).to_vec();
    values.iter().flat_map(|values| of(*values)).collect()
}

/// Operations of fixed rank, on `n` streams along a last axis.
fn of_streams(n: usize) -> Vec<Application> {
    use Values::{Below, Numbers};
    let each = |op: Op, wide: &[bool]| Op::Each(Each::new(op, wide));
    let both = &[true, true];
    vec![
        apply(&each(Op::Matmul, both), &[(Numbers, &[2, 3, n]), (Numbers, &[3, 4, n])]),
        apply(&each(Op::Matmul, &[false, true]), &[(Numbers, &[2, 3]), (Numbers, &[3, n])]),
        apply(&each(Op::Matmul, &[true, false]), &[(Numbers, &[3, n]), (Numbers, &[3, 4])]),
        apply(&each(Op::Transpose, &[true]), &[(Numbers, &[2, 3, n])]),
        apply(&each(Op::Conv2d, &[true, false]), &[(Numbers, &[3, 3, 2, n]), (Numbers, &[2, 2, 2, 3])]),
        apply(&each(Op::Conv2dDx, &[false, true]), &[(Numbers, &[2, 2, 2, 3]), (Numbers, &[2, 2, 3, n])]),
        apply(&each(Op::Conv2dDk, both), &[(Numbers, &[3, 3, 2, n]), (Numbers, &[2, 2, 3, n])]),
        apply(&each(Op::Argmax, &[true]), &[(Numbers, &[5, n])]),
        apply(&each(Op::Onehot(4), &[true]), &[(Below(4), &[n])]),
        apply(&each(Op::Row, &[true, true]), &[(Numbers, &[3, 2, n]), (Below(3), &[n])]),
        apply(&each(Op::Place(3), &[true, true]), &[(Below(3), &[n]), (Numbers, &[2, n])]),
    ]
}
