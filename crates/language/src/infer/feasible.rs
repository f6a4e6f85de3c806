//! Finds operations that fit no shape, for `check` of a node whose sizes are open.
//!
//! In `f(x) -> (y) y = matmul(x, zeros([3,4,5]));` no shape of `x` fits. Each operation is checked on its
//! own, with the shapes of its operands that are known without assumptions. For the unknown shapes,
//! candidates are tried: small sizes, and the sizes that occur in the operation and its other operands. The
//! shape rules only compare sizes with each other and with the operation's constants, so if no candidate
//! fits, no shape does (a test checks this for all operations). If there are too many candidates to try, the
//! operation is assumed to fit.

use eddy_tensor::{Op, Shape, ShapeRule, Static};

use super::Hints;
use super::shapes::{Assumption, Inference};
use crate::draft::Draft;
use crate::flow::{Kind, Labels, VarId};

/// Whether known sizes are reliable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Sizes are part of the program.
    Known,
    /// Sizes come from placeholder constants: only ranks are reliable.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Shape(Shape),
    Rank(usize),
    Unknown,
}

/// The largest number of combinations to try.
const MAX_TRIALS: usize = 1 << 17;
/// The largest rank of an unknown operand to try: no operation needs more.
const MAX_RANK: usize = 4;

/// An operation that fits no shape of its unknown operands.
pub(super) struct Misfit {
    pub equation: usize,
    /// The operands of unknown shape.
    pub unknown: Vec<VarId>,
    /// The operands of known shape.
    pub known: Vec<(VarId, Shape)>,
}

/// The first operation that fits no shape.
pub(super) fn misfit(draft: &Draft, labels: &Labels<'_>, sizes: Sizes) -> Option<Misfit> {
    let mut inference = Inference::new(draft, labels, Assumption::FirstOperand);
    // Errors here are reported by inference itself; with placeholder sizes they prove nothing.
    inference.given(&Hints::default()).ok()?;
    let mut todo = std::mem::take(&mut inference.todo);
    while let Some(number) = todo.pop() {
        let equation = &draft.equations[number];
        let Kind::Apply(op, operands) = &equation.kind else { continue };
        let is_function = draft.applications.contains_key(&equation.out);
        if is_function || !matches!(op.shape_rule(), ShapeRule::Broadcast | ShapeRule::Function) {
            continue;
        }
        let shapes: Vec<Option<Shape>> =
            operands.iter().map(|operand| inference.classes.get(*operand)).collect();
        let known: Vec<Operand> = shapes.iter().map(|shape| operand(shape.as_ref(), sizes)).collect();
        if !fits(op, &known) {
            let pairs = || operands.iter().copied().zip(shapes.iter().cloned());
            return Some(Misfit {
                equation: number,
                unknown: pairs().filter(|(_, shape)| shape.is_none()).map(|(var, _)| var).collect(),
                known: pairs().filter_map(|(var, shape)| Some((var, shape?))).collect(),
            });
        }
        let shapes: Option<Vec<&Shape>> = shapes.iter().map(Option::as_ref).collect();
        if let Some(shape) = shapes.and_then(|shapes| op.shape(&shapes).ok())
            && inference.classes.get(equation.out).is_none()
            && inference.classes.set(equation.out, shape, equation.span).is_ok()
        {
            let class = inference.classes.find(equation.out);
            todo.extend(&inference.uses[class]);
        }
    }
    None
}

fn operand(shape: Option<&Shape>, sizes: Sizes) -> Operand {
    match (shape, sizes) {
        (None, _) => Operand::Unknown,
        (Some(shape), Sizes::Known) => Operand::Shape(shape.clone()),
        (Some(shape), Sizes::Open) => Operand::Rank(shape.len()),
    }
}

/// Whether an operation has a result for some shapes of such operands.
fn fits(op: &Op, operands: &[Operand]) -> bool {
    let n_unknown = operands.iter().filter(|operand| **operand == Operand::Unknown).count();
    // If no operand is known, some shape always fits; with several unknown operands there are too many
    // combinations.
    if n_unknown == operands.len() {
        return true;
    }
    if op.shape_rule() == ShapeRule::Broadcast {
        // A scalar broadcasts with everything, and so do axes of size 1.
        let shapes = operands.iter().filter_map(|operand| match operand {
            Operand::Shape(shape) => Some(shape),
            Operand::Rank(_) | Operand::Unknown => None,
        });
        let mut joined = Ok(Shape::scalar());
        for shape in shapes {
            joined = joined.and_then(|joined| joined.broadcast(shape));
        }
        return joined.is_ok();
    }
    if n_unknown > 1 {
        return true;
    }
    let sizes = candidate_sizes(op, operands);
    let ranks = if n_unknown == 0 { 0..=0 } else { 0..=MAX_RANK };
    ranks.into_iter().any(|rank| fits_with_rank(op, operands, rank, &sizes))
}

/// As [`fits`], with this rank of the unknown operand.
fn fits_with_rank(op: &Op, operands: &[Operand], rank: usize, sizes: &[usize]) -> bool {
    let n_open: usize = operands
        .iter()
        .map(|operand| match operand {
            Operand::Shape(_) => 0,
            Operand::Rank(rank) => *rank,
            Operand::Unknown => rank,
        })
        .sum();
    let n_trials = u32::try_from(n_open).ok().and_then(|n| sizes.len().checked_pow(n));
    let Some(n_trials) = n_trials.filter(|n| *n <= MAX_TRIALS) else { return true };
    (0..n_trials).any(|trial| {
        let mut rest = trial;
        let mut open = |n: usize| -> Shape {
            let digits: Vec<usize> = (0..n)
                .map(|_| {
                    let size = sizes[rest % sizes.len()];
                    rest /= sizes.len();
                    size
                })
                .collect();
            Shape::new(&digits)
        };
        let shapes: Vec<Shape> = operands
            .iter()
            .map(|operand| match operand {
                Operand::Shape(shape) => shape.clone(),
                Operand::Rank(rank) => open(*rank),
                Operand::Unknown => open(rank),
            })
            .collect();
        op.shape(&shapes.iter().collect::<Vec<_>>()).is_ok()
    })
}

/// Sizes to try: small ones, those of the operation and of its operands, and their products.
fn candidate_sizes(op: &Op, operands: &[Operand]) -> Vec<usize> {
    let mut sizes = vec![1, 2, 3];
    for operand in operands {
        if let Operand::Shape(shape) = operand {
            sizes.extend(shape.iter().copied());
            sizes.extend(shape.n_elements());
        }
    }
    for constant in op.statics() {
        match constant {
            Static::Int(n) => {
                let n = usize::try_from(n).unwrap_or(0);
                sizes.extend([n, n.saturating_add(1)]);
            }
            Static::List(ns) => {
                let ns: Vec<usize> = ns.iter().filter_map(|n| usize::try_from(*n).ok()).collect();
                sizes.push(ns.iter().fold(1, |product: usize, n| product.saturating_mul(*n)));
                sizes.extend(ns);
            }
            Static::Num(_) => {}
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All shapes of at most `max_rank` axes with these sizes.
    fn shapes(sizes: &[usize], max_rank: usize) -> Vec<Shape> {
        let mut found = vec![Vec::new()];
        let mut last = found.clone();
        for _ in 0..max_rank {
            last = last
                .iter()
                .flat_map(|shape: &Vec<usize>| {
                    sizes.iter().map(move |size| shape.iter().copied().chain([*size]).collect())
                })
                .collect();
            found.extend(last.iter().cloned());
        }
        found.iter().map(|shape| Shape::new(shape)).collect()
    }

    /// Operations with their numbers of operands.
    fn operations() -> Vec<(Op, usize)> {
        let shape = |sizes: &[usize]| Shape::new(sizes);
        vec![
            (Op::Matmul, 2),
            (Op::Concat, 2),
            (Op::Conv2d, 2),
            (Op::Conv2dDx, 2),
            (Op::Conv2dDk, 2),
            (Op::Outer, 2),
            (Op::SumTo, 2),
            (Op::Transpose, 1),
            (Op::Softmax, 1),
            (Op::Index(0), 1),
            (Op::Index(5), 1),
            (Op::Reshape(shape(&[4, 7])), 1),
            (Op::Reshape(shape(&[])), 1),
            (Op::Sum(None), 1),
            (Op::Sum(Some(1)), 1),
            (Op::Max(Some(0)), 1),
            (Op::Mean(Some(2)), 1),
            (Op::Slice(2, 5), 1),
            (Op::Pad(1, 7), 1),
            (Op::Spread(1, 4), 1),
            (Op::Broadcast(shape(&[4, 7])), 1),
            (Op::Reduce(shape(&[7])), 1),
        ]
    }

    /// If an operation fits, it still fits with any of its operands unknown, and with all sizes unknown.
    #[test]
    fn valid_operations_fit_with_unknown_operands() {
        let mut n_tried = 0;
        for (op, n_operands) in operations() {
            let all = shapes(&[1, 4, 5, 7, 28], if n_operands == 2 { 3 } else { 4 });
            let others = if n_operands == 2 { &all[..] } else { &all[..1] };
            for (left, right) in all.iter().flat_map(|left| others.iter().map(move |right| (left, right))) {
                let operands = &[left, right][..n_operands];
                if op.shape(operands).is_err() {
                    continue;
                }
                n_tried += 1;
                for hidden in 0..n_operands {
                    let mut some: Vec<Operand> =
                        operands.iter().map(|shape| Operand::Shape((*shape).clone())).collect();
                    some[hidden] = Operand::Unknown;
                    assert!(fits(&op, &some), "{} {operands:?} without {hidden}", op.name());
                }
                let ranks: Vec<Operand> = operands.iter().map(|shape| Operand::Rank(shape.len())).collect();
                assert!(fits(&op, &ranks), "{} {operands:?} by ranks", op.name());
            }
        }
        assert!(n_tried > 1000, "only {n_tried}");
    }

    #[test]
    fn operations_that_fit_no_shape_are_found() {
        let known = |sizes: &[usize]| Operand::Shape(Shape::new(sizes));
        assert!(!fits(&Op::Matmul, &[Operand::Unknown, known(&[3, 4, 5])]));
        assert!(!fits(&Op::Matmul, &[known(&[]), Operand::Unknown]));
        assert!(!fits(&Op::Matmul, &[Operand::Rank(2), Operand::Rank(0)]));
        assert!(!fits(&Op::Index(1), &[Operand::Rank(0)]));
        assert!(!fits(&Op::Add, &[known(&[2]), known(&[3])]));
        assert!(fits(&Op::Add, &[Operand::Rank(1), Operand::Rank(3)]));
    }
}
