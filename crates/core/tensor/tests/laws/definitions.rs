//! Compares sums and products with their definitions, written with indices. Sums run from left to right and
//! products are added with one rounding, so the bits must be the same.

use eddy_tensor::{Op, Shape, Value};

use crate::cases::{Case, Choices, eval, numbers};
use crate::elements::indices;
use crate::harness::{self, Verdict, law_of};

fn at(value: &Value, index: &[usize]) -> f64 {
    let place = index.iter().zip(value.shape().iter()).fold(0, |place, (i, size)| place * size + i);
    numbers(value)[place]
}

/// Tries a law on numbers with many digits and magnitudes, so that every sum rounds and its order affects the
/// bits.
fn law(name: &str, cases: u32, applies_to: impl Fn(&Op) -> bool, holds: impl Fn(&Case) -> Verdict) {
    let rough = |x: &Value| eval(&Op::Mul, &[&eval(&Op::Exp, &[x]), x]);
    harness::law(name, cases, applies_to, |case| {
        holds(&Case { op: case.op.clone(), operands: case.operands.iter().map(rough).collect() })
    });
}

/// Sums from left to right, starting from the first term.
fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    terms.into_iter().reduce(|sum, term| sum + term).unwrap_or(0.0)
}

/// Sums products from left to right: each product after the first is added with one rounding.
fn sum_of_products(terms: impl IntoIterator<Item = [f64; 2]>) -> f64 {
    let mut terms = terms.into_iter();
    let first = terms.next().map_or(0.0, |[x, y]| x * y);
    terms.fold(first, |sum, [x, y]| x.mul_add(y, sum))
}

fn equal(found: &Value, expected: impl Fn(&[usize]) -> f64) -> Verdict {
    for index in indices(found.shape()) {
        let (found, expected) = (at(found, &index), expected(&index));
        if found.to_bits() != expected.to_bits() {
            return Err(format!("{found} at {index:?} should be {expected}"));
        }
    }
    Ok(())
}

#[test]
fn sums_and_maxima_along_an_axis() {
    let is_reduction = |op: &Op| matches!(op, Op::Sum(_) | Op::Mean(_) | Op::Max(_));
    law("sums_and_maxima_along_an_axis", 200, is_reduction, |case| {
        let x = &case.operands[0];
        let (Op::Sum(axis) | Op::Mean(axis) | Op::Max(axis)) = case.op else { unreachable!("filtered") };
        equal(&case.result(), |index| {
            // The elements of x whose index equals that of the result, except at the axis.
            let terms: Vec<f64> = indices(x.shape())
                .iter()
                .filter(|place| match axis {
                    None => true,
                    Some(axis) => [&place[..axis], &place[axis + 1..]].concat() == index,
                })
                .map(|place| at(x, place))
                .collect();
            match case.op {
                Op::Sum(_) => sum(terms),
                Op::Mean(_) => {
                    sum(terms.iter().copied()) / f64::from(u32::try_from(terms.len()).expect("few"))
                }
                _ => terms.into_iter().fold(f64::NEG_INFINITY, f64::max),
            }
        })
    });
}

#[test]
fn reduce_sums_what_stretching_repeats() {
    law(
        "reduce_sums_what_stretching_repeats",
        300,
        |op| matches!(op, Op::Reduce(_)),
        |case| {
            let x = &case.operands[0];
            let result = case.result();
            let shape = result.shape().clone();
            equal(&result, |index| {
                let is_summed_here = |place: &Vec<usize>| {
                    let own = &place[place.len() - shape.len()..];
                    (0..shape.len()).all(|axis| shape[axis] == 1 || own[axis] == index[axis])
                };
                sum(indices(x.shape()).iter().filter(|place| is_summed_here(place)).map(|place| at(x, place)))
            })
        },
    );
}

#[test]
fn reduce_is_the_transpose_of_broadcast() {
    let sample = |c: &mut Choices<'_>| {
        let large = c.shape(0..=3);
        let small = c.shrunk(&large);
        [c.num(&small), c.num(&large)]
    };
    law_of("reduce_is_the_transpose_of_broadcast", 1000, sample, |[x, g]| {
        let stretched = eval(&Op::Broadcast(g.shape().clone()), &[x]);
        let reduced = eval(&Op::Reduce(x.shape().clone()), &[g]);
        let inner = |x: &Value, y: &Value| sum(numbers(x).iter().zip(numbers(y)).map(|(x, y)| x * y));
        // All numbers are small multiples of 1/16, so nothing is rounded.
        let (left, right) = (inner(&stretched, g), inner(x, &reduced));
        if left == right { Ok(()) } else { Err(format!("{left} is not {right}")) }
    });
}

#[test]
fn matrix_products() {
    law(
        "matrix_products",
        300,
        |op| matches!(op, Op::Matmul | Op::Outer),
        |case| {
            let [x, y] = &case.operands[..] else { unreachable!("two operands") };
            if case.op == Op::Outer {
                return equal(&case.result(), |index| at(x, &index[..1]) * at(y, &index[1..]));
            }
            let n_rows = x.shape().len() - 1;
            equal(&case.result(), |index| {
                let (row, column) = index.split_at(n_rows);
                let terms = (0..y.shape()[0])
                    .map(|k| [at(x, &[row, &[k]].concat()), at(y, &[&[k], column].concat())]);
                sum_of_products(terms)
            })
        },
    );
}

fn convolution_shapes(case: &Case) -> [Shape; 3] {
    let [left, right] = &case.shapes()[..] else { unreachable!("two operands") };
    let result = case.result().shape().clone();
    match case.op {
        Op::Conv2d => [left.clone(), right.clone(), result],
        Op::Conv2dDx => [result, left.clone(), right.clone()],
        _ => [left.clone(), result, right.clone()],
    }
}

#[test]
fn convolutions() {
    let is_convolution = |op: &Op| matches!(op, Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk);
    law("convolutions", 100, is_convolution, |case| {
        let [_, kernel, output] = convolution_shapes(case);
        let [left, right] = &case.operands[..] else { unreachable!("two operands") };
        // All triples of indices into image, kernel and output that meet: for each position of the kernel and
        // each weight.
        let meetings: Vec<[Vec<usize>; 3]> = indices(&Shape::new(&output[..2]))
            .iter()
            .flat_map(|place| indices(&kernel).into_iter().map(move |weight| meeting(place, weight)))
            .collect();
        let result = case.result();
        equal(&result, |index| {
            let mut terms: Vec<(&[Vec<usize>; 3], [f64; 2])> = Vec::new();
            for all @ [in_image, in_kernel, in_output] in &meetings {
                let (own, factors) = match case.op {
                    Op::Conv2d => (in_output, [in_image, in_kernel]),
                    Op::Conv2dDx => (in_image, [in_kernel, in_output]),
                    _ => (in_kernel, [in_image, in_output]),
                };
                if own == index {
                    terms.push((all, [at(left, factors[0]), at(right, factors[1])]));
                }
            }
            // Over (i,j,c) for the result, over the elements of the cotangent for the other two.
            terms.sort_by_key(|([_, in_kernel, in_output], _)| match case.op {
                Op::Conv2d => in_kernel.clone(),
                _ => in_output.clone(),
            });
            sum_of_products(terms.into_iter().map(|(_, term)| term))
        })
    });
}

/// With the kernel at `place`, its weight [i,j,c,o] connects pixel [r+i,q+j,c] of the image with [r,q,o] of
/// the result.
fn meeting(place: &[usize], weight: Vec<usize>) -> [Vec<usize>; 3] {
    let in_image = vec![place[0] + weight[0], place[1] + weight[1], weight[2]];
    let in_output = vec![place[0], place[1], weight[3]];
    [in_image, weight, in_output]
}
