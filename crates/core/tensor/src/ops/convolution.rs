//! Two-dimensional convolution and its two cotangents: `conv2d`, `conv2d_dx`, `conv2d_dk`.
//!
//! An image `[H,W,C]` has C channels, and a kernel `[h,w,C,O]` maps them to O channels; stride 1, no padding,
//! no flip: `y[r,q,o] = Σ x[r+i,q+j,c] k[i,j,c,o]`, so the result is `[H-h+1,W-w+1,O]`. Let ⟨y, g⟩ be the sum
//! over all r, q, o of `g[r,q,o] x[r+i,q+j,c] k[i,j,c,o]`. It is linear in each of x, k and g, and each
//! operation of this file is this sum without one of the three factors. Hence the derivative of each is
//! another one.
//!
//! Decision: `conv2d` sums in the order (i, j, c), as specified. The two cotangents sum in the row-major
//! order of g, the order in which a loop over the results would add to them. Terms are added with one
//! rounding, as in [`products`](crate::products).

use std::ops::Range;

use crate::algebra::{Algebra, Formula, Site};
use crate::element::{Element, Float, Number, with_float};
use crate::op::Op;
use crate::operation::{EvalError, Operation};
use crate::ops::linear::product_with;
use crate::products::{Rows, accumulate};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::shape_rule::ShapeRule;
use crate::signature::{NUM, Signature};
use crate::value::Value;

#[derive(Clone, Copy)]
struct Sizes {
    /// W and C of the image.
    width: usize,
    n_channels: usize,
    /// h and w of the kernel.
    kernel: [usize; 2],
    /// H-h+1, W-w+1 and O of the result.
    output: [usize; 2],
    n_outputs: usize,
}

impl Sizes {
    /// The shapes of image and kernel must match.
    fn new(image: &[usize], kernel: &[usize]) -> Sizes {
        Sizes {
            width: image[1],
            n_channels: image[2],
            kernel: [kernel[0], kernel[1]],
            output: [image[0] - kernel[0] + 1, image[1] - kernel[1] + 1],
            n_outputs: kernel[3],
        }
    }

    /// The number of consecutive elements of the image that a row of the kernel covers: w · C.
    fn n_run(self) -> usize {
        self.kernel[1] * self.n_channels
    }

    /// All pairs of a row of the result and a row of the kernel, in this order.
    fn row_triples(self) -> impl Iterator<Item = RowTriple> {
        let row = |n: usize, i: usize| n * i..n * (i + 1);
        (0..self.output[0]).flat_map(move |r| {
            (0..self.kernel[0]).map(move |i| RowTriple {
                result: row(self.output[1] * self.n_outputs, r),
                image: row(self.width * self.n_channels, r + i),
                kernel: row(self.n_run() * self.n_outputs, i),
            })
        })
    }
}

/// Row r of the result, row r + i of the image, and row i of the kernel as a matrix with w · C rows and O
/// columns.
struct RowTriple {
    result: Range<usize>,
    image: Range<usize>,
    kernel: Range<usize>,
}

const SIGNATURE: Signature = Signature::any(&[NUM, NUM], NUM);

/// Rejects operands with a wrong number of axes, or with an extent (one of the first two sizes) of zero.
fn check_ranks(op: &'static str, operands: &[&Shape], ranks: [usize; 2]) -> Result<(), ShapeError> {
    if operands[0].len() != ranks[0] || operands[1].len() != ranks[1] {
        return Err(misfit(op, operands, "an image has three axes, a kernel four"));
    }
    if operands.iter().any(|shape| shape[..2].contains(&0)) {
        return Err(misfit(op, operands, "image and kernel must not be empty"));
    }
    Ok(())
}

fn misfit(op: &'static str, operands: &[&Shape], reason: &'static str) -> ShapeError {
    ShapeError::Convolution { op, left: operands[0].clone(), right: operands[1].clone(), reason }
}

fn accepted(sizes: &[usize]) -> Result<Shape, ShapeError> {
    let shape = Shape::new(sizes);
    shape.n_elements()?;
    Ok(shape)
}

/// `conv2d(x,k)`.
pub(crate) struct Conv2d;

impl Operation for Conv2d {
    fn signature(&self) -> Signature {
        SIGNATURE
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        check_ranks("conv2d", operands, [3, 4])?;
        let (image, kernel) = (operands[0], operands[1]);
        if image[2] != kernel[2] {
            return Err(misfit("conv2d", operands, "the numbers of channels differ"));
        }
        if kernel[0] > image[0] || kernel[1] > image[1] {
            return Err(misfit("conv2d", operands, "the kernel is larger than the image"));
        }
        accepted(&[image[0] - kernel[0] + 1, image[1] - kernel[1] + 1, kernel[3]])
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let sizes = Sizes::new(operands[0].shape(), operands[1].shape());
        let shape = Shape::new(&[sizes.output[0], sizes.output[1], sizes.n_outputs]);
        Ok(with_float!(operands[0], F => {
            F::value(shape, convolve::<F>(F::slice(operands[0]), F::slice(operands[1]), sizes))
        }))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // conv2d_dx(k,g) · conv2d_dk(x,g)
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        match operand {
            0 => a.two(Op::Conv2dDx, &s.operands[1], g),
            _ => a.two(Op::Conv2dDk, &s.operands[0], g),
        }
    }

    // conv2d(t,k) · conv2d(x,t)
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        product_with(&Op::Conv2d, operand, s, t, a)
    }
}

/// Computes each pixel as a sum over (i, j, c) in this order.
fn convolve<F: Float>(image: &[F], kernel: &[F], sizes: Sizes) -> Vec<F> {
    let n = sizes.output[0] * sizes.output[1] * sizes.n_outputs;
    let mut results = F::accumulators(n, sizes.n_channels);
    for at in sizes.row_triples() {
        // One row for each pixel; rows overlap.
        let elements = &image[at.image];
        let pixels = Rows { elements, steps: [sizes.n_channels, 1], n_columns: sizes.n_run() };
        accumulate(pixels, &kernel[at.kernel], sizes.n_outputs, &mut results[at.result]);
    }
    results
}

/// `conv2d_dx(k,g)`: the cotangent of the image.
pub(crate) struct Conv2dDx;

impl Operation for Conv2dDx {
    fn signature(&self) -> Signature {
        SIGNATURE
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        check_ranks("conv2d_dx", operands, [4, 3])?;
        let (kernel, g) = (operands[0], operands[1]);
        if kernel[3] != g[2] {
            return Err(misfit("conv2d_dx", operands, "the numbers of channels differ"));
        }
        accepted(&[g[0].saturating_add(kernel[0] - 1), g[1].saturating_add(kernel[1] - 1), kernel[2]])
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = self.shape(&[operands[0].shape(), operands[1].shape()]);
        let shape = shape.expect("operands passed the shape rules");
        let sizes = Sizes::new(&shape, operands[0].shape());
        Ok(with_float!(operands[0], F => {
            let mut results = F::accumulators(shape.size(), sizes.n_outputs);
            scatter::<F>(F::slice(operands[0]), F::slice(operands[1]), sizes, &mut results);
            F::value(shape, results)
        }))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // of g and the operands (k, h): conv2d_dk(g,h) · conv2d(g,k)
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        match operand {
            0 => a.two(Op::Conv2dDk, g, &s.operands[1]),
            _ => a.two(Op::Conv2d, g, &s.operands[0]),
        }
    }

    // conv2d_dx(t,h) · conv2d_dx(k,t)
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        product_with(&Op::Conv2dDx, operand, s, t, a)
    }
}

/// Computes each element of the image as a sum over (r, q, o) in this order.
fn scatter<F: Float>(kernel: &[F], g: &[F], sizes: Sizes, image: &mut [F]) {
    let (n_run, n_outputs) = (sizes.n_run(), sizes.n_outputs);
    if n_run == 0 || n_outputs == 0 {
        return;
    }
    // With the output channel first, adjacent elements of the image have adjacent weights.
    let mut turned = kernel.to_vec();
    for (turned, rows) in
        turned.chunks_exact_mut(n_run * n_outputs).zip(kernel.chunks_exact(n_run * n_outputs))
    {
        for (o, turned) in turned.chunks_exact_mut(n_run).enumerate() {
            for (turned, weights) in turned.iter_mut().zip(rows.chunks_exact(n_outputs)) {
                *turned = weights[o];
            }
        }
    }
    for at in sizes.row_triples() {
        for (q, pixel) in g[at.result].chunks_exact(n_outputs).enumerate() {
            let pixel = Rows { elements: pixel, steps: [n_outputs, 1], n_columns: n_outputs };
            let first = at.image.start + q * sizes.n_channels;
            accumulate(pixel, &turned[at.kernel.clone()], n_run, &mut image[first..first + n_run]);
        }
    }
}

/// `conv2d_dk(x,g)`: the cotangent of the kernel.
pub(crate) struct Conv2dDk;

impl Operation for Conv2dDk {
    fn signature(&self) -> Signature {
        SIGNATURE
    }

    fn shape_rule(&self) -> ShapeRule {
        ShapeRule::Function
    }

    fn shape(&self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        check_ranks("conv2d_dk", operands, [3, 3])?;
        let (image, g) = (operands[0], operands[1]);
        if g[0] > image[0] || g[1] > image[1] {
            return Err(misfit("conv2d_dk", operands, "the result is larger than the image"));
        }
        accepted(&[image[0] - g[0] + 1, image[1] - g[1] + 1, image[2], g[2]])
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let shape = self.shape(&[operands[0].shape(), operands[1].shape()]);
        let shape = shape.expect("operands passed the shape rules");
        let sizes = Sizes::new(operands[0].shape(), &shape);
        Ok(with_float!(operands[0], F => {
            let mut results = vec![F::NEUTRAL; shape.size()];
            correlate::<F>(F::slice(operands[0]), F::slice(operands[1]), sizes, &mut results);
            F::value(shape, results)
        }))
    }

    fn is_differentiable_in(&self, _: usize) -> bool {
        true
    }

    // of g and the operands (x, h): conv2d_dx(g,h) · conv2d(x,g)
    fn vjp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, g: &A::Value, a: &mut A) -> A::Value {
        match operand {
            0 => a.two(Op::Conv2dDx, g, &s.operands[1]),
            _ => a.two(Op::Conv2d, &s.operands[0], g),
        }
    }

    // conv2d_dk(t,h) · conv2d_dk(x,t)
    fn jvp<A: Algebra>(&self, operand: usize, s: &Site<'_, A::Value>, t: &A::Value, a: &mut A) -> A::Value {
        product_with(&Op::Conv2dDk, operand, s, t, a)
    }
}

/// Computes each element of the kernel as a sum over (r, q) in this order.
fn correlate<F: Float>(image: &[F], g: &[F], sizes: Sizes, kernel: &mut [F]) {
    for at in sizes.row_triples() {
        // One row for each element that a row of the kernel covers, one column for each pixel.
        let elements = &image[at.image];
        let runs = Rows { elements, steps: [1, sizes.n_channels], n_columns: sizes.output[1] };
        accumulate(runs, &g[at.result], sizes.n_outputs, &mut kernel[at.kernel]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check, eval, refusal, zeros};

    const IMAGE: &str = "[[[1.0],[2.0],[3.0]],[[4.0],[5.0],[6.0]]]";
    const KERNEL: &str = "[[[[1.0]],[[10.0]]]]";

    #[test]
    fn convolution_slides_the_kernel_without_flipping_it() {
        check(&Op::Conv2d, &[IMAGE, KERNEL], "num [2,2,1] [[[21],[32]],[[54],[65]]]");
        let two_outputs = "[[[[1.0,0.0]]],[[[0.0,1.0]]]]";
        check(&Op::Conv2d, &[IMAGE, two_outputs], "num [1,3,2] [[[1,4],[2,5],[3,6]]]");
        let two_channels = "[[[1.0,2.0]]]";
        check(&Op::Conv2d, &[two_channels, "[[[[3.0],[5.0]]]]"], "num [1,1,1] [[[13]]]");
    }

    #[test]
    fn cotangents_of_a_convolution() {
        let g = "[[[1.0],[2.0]],[[0.0],[100.0]]]";
        check(&Op::Conv2dDx, &[KERNEL, g], "num [2,3,1] [[[1],[12],[20]],[[0],[100],[1000]]]");
        check(&Op::Conv2dDk, &[IMAGE, g], "num [1,2,1,1] [[[[505]],[[608]]]]");
    }

    #[test]
    fn operands_fit() {
        let ranks = "conv2d of shapes [2,3,1] and [2,3,1]: an image has three axes, a kernel four";
        check(&Op::Conv2d, &[IMAGE, IMAGE], ranks);
        let channels = "conv2d of shapes [1,1,2] and [1,2,1,1]: the numbers of channels differ";
        check(&Op::Conv2d, &["[[[1.0,2.0]]]", KERNEL], channels);
        let large = "conv2d of shapes [1,1,1] and [1,2,1,1]: the kernel is larger than the image";
        check(&Op::Conv2d, &["[[[1.0]]]", KERNEL], large);
        let channels = "conv2d_dx of shapes [1,2,1,1] and [1,1,2]: the numbers of channels differ";
        check(&Op::Conv2dDx, &[KERNEL, "[[[1.0,2.0]]]"], channels);
        let large = "conv2d_dk of shapes [1,1,1] and [2,3,1]: the result is larger than the image";
        check(&Op::Conv2dDk, &["[[[1.0]]]", IMAGE], large);
        let empty = [&Shape::new(&[0, 3, 1]), &Shape::new(&[1, 1, 1, 1])];
        let sentence = "conv2d of shapes [0,3,1] and [1,1,1,1]: image and kernel must not be empty";
        assert_eq!(refusal(&Op::Conv2d, &empty), sentence);
    }

    #[test]
    fn a_convolution_over_no_channels_is_zero() {
        let result = eval(&Op::Conv2d, &[&zeros(&[1, 1, 0]), &zeros(&[1, 1, 0, 1])]);
        assert_eq!(result, zeros(&[1, 1, 1]));
        let result = eval(&Op::Conv2dDx, &[&zeros(&[1, 1, 1, 0]), &zeros(&[1, 1, 0])]);
        assert_eq!(result, zeros(&[1, 1, 1]));
    }
}
