//! Sums of products, the inner loops of `matmul` and `conv2d`: `sums[i,j]` accumulates `x[i,l] y[l,j]` over
//! l.
//!
//! Every sum runs over l from left to right, and each term is added with one rounding: `sum ← x y + sum`, a
//! fused multiply-add. So the result does not depend on how the loops over i and j are tiled, and it is the
//! same on every machine and in compiled C. A sum that starts from
//! [`NEUTRAL`](crate::element::Number::NEUTRAL) starts from its first product.
//!
//! The loops are tiled: the sums of a few rows and columns stay in registers while l runs
//! ([`Products::tile`]), so that each number read serves several sums. A tile is a few vectors wide.
//! Processors without fused multiply-add compute the same bits much more slowly.

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::element::Float;
use crate::processor::widest;

/// The number of terms added before the next tile, so that the part of `y` that a tile reads stays in the L1
/// cache.
const TERMS: usize = 256;

/// The matrix x, with strides.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, F> {
    pub elements: &'a [F],
    /// The strides between rows and between columns.
    pub steps: [usize; 2],
    pub n_columns: usize,
}

/// Adds the product of `x` and the row-major matrix `y` to the matrix `sums`, whose rows have `m` elements.
pub(crate) fn accumulate<F: Float>(x: Rows<'_, F>, y: &[F], m: usize, sums: &mut [F]) {
    widest().dispatch(Products { x, y, m, sums });
}

struct Products<'a, F> {
    x: Rows<'a, F>,
    y: &'a [F],
    m: usize,
    sums: &'a mut [F],
}

impl<F: Float> WithSimd for Products<'_, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        // COLUMNS is two vectors of this processor; ROWS is chosen so that all sums fit into its registers.
        match size_of::<S::f64s>() / size_of::<F>() {
            16 => self.all::<8, 32, 128>(),
            8 if size_of::<F>() == 8 => self.all::<8, 16, 64>(),
            8 => self.all::<4, 16, 64>(),
            _ => self.all::<4, 8, 32>(),
        }
    }
}

impl<F: Float> Products<'_, F> {
    /// Computes all sums: in tiles of ROWS × COLUMNS, or of one wide row if there are few rows; smaller tiles
    /// cover the remainder.
    #[inline(always)]
    fn all<const ROWS: usize, const COLUMNS: usize, const WIDE: usize>(&mut self) {
        if self.m == 0 || self.sums.is_empty() {
            return;
        }
        let mut first = 0;
        while first < self.x.n_columns {
            let terms = first..self.x.n_columns.min(first + TERMS);
            first = terms.end;
            let n_rows = self.sums.len() / self.m;
            let mut column = 0;
            if n_rows < ROWS {
                column = self.columns::<1, WIDE>(column, &terms);
                column = self.columns::<1, COLUMNS>(column, &terms);
            } else {
                column = self.columns::<ROWS, COLUMNS>(column, &terms);
            }
            column = self.columns::<ROWS, 4>(column, &terms);
            self.columns::<8, 1>(column, &terms);
        }
    }

    /// Computes as many groups of COLUMNS columns as fit; returns the first remaining column.
    #[inline(always)]
    fn columns<const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        first: usize,
        terms: &Range<usize>,
    ) -> usize {
        let n_rows = self.sums.len() / self.m;
        let mut column = first;
        while column + COLUMNS <= self.m {
            let mut row = 0;
            while row + ROWS <= n_rows {
                self.tile::<ROWS, COLUMNS>(row, column, terms);
                row += ROWS;
            }
            while row < n_rows {
                self.tile::<1, COLUMNS>(row, column, terms);
                row += 1;
            }
            column += COLUMNS;
        }
        column
    }

    #[inline(always)]
    fn tile<const ROWS: usize, const COLUMNS: usize>(
        &mut self,
        row: usize,
        column: usize,
        terms: &Range<usize>,
    ) {
        let (m, x) = (self.m, self.x);
        let mut sums = [[F::ZERO; COLUMNS]; ROWS];
        for (i, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&self.sums[(row + i) * m + column..][..COLUMNS]);
        }
        for l in terms.clone() {
            let ys: &[F; COLUMNS] = self.y[l * m + column..].first_chunk().expect("y has COLUMNS columns");
            for (i, sums) in sums.iter_mut().enumerate() {
                let x = x.elements[(row + i) * x.steps[0] + l * x.steps[1]];
                for (sum, y) in sums.iter_mut().zip(ys) {
                    *sum = x.times_plus(*y, *sum);
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            self.sums[(row + i) * m + column..][..COLUMNS].copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes that need every kind of tile, against the definition, with the vectors of this processor and
    /// without vectors.
    fn check<F: Float>(numbers: &[F]) {
        let sizes = [(1, 1, 1), (1, 5, 200), (3, 300, 9), (9, 7, 1), (17, 3, 37), (8, 600, 16), (20, 2, 77)];
        for (n, k, m) in sizes {
            let (xs, ys, start) = (&numbers[..n * k], &numbers[n * k..][..k * m], &numbers[5..][..n * m]);
            let x = Rows { elements: xs, steps: [k, 1], n_columns: k };
            let mut expected = start.to_vec();
            for (i, sum) in expected.iter_mut().enumerate() {
                for l in 0..k {
                    *sum = xs[i / m * k + l].times_plus(ys[l * m + i % m], *sum);
                }
            }
            let mut found = start.to_vec();
            accumulate(x, ys, m, &mut found);
            assert!(found == expected, "[{n},{k}]·[{k},{m}] in vectors");
            let mut found = start.to_vec();
            Products { x, y: ys, m, sums: &mut found }.with_simd(pulp::Scalar::new());
            assert!(found == expected, "[{n},{k}]·[{k},{m}] without vectors");
        }
    }

    #[test]
    #[allow(clippy::cast_possible_truncation)]
    fn tiles_do_not_show() {
        // Numbers of different magnitudes, so that a different order of terms changes the bits.
        let numbers: Vec<f64> = (0..20_000).map(|i| (f64::from(i) * 0.7).sin().powi(5) * 1e3).collect();
        check(&numbers);
        check(&numbers.iter().map(|x| *x as f32).collect::<Vec<_>>());
    }

    #[test]
    fn columns_may_be_apart() {
        // The second and third row of a matrix, as columns.
        let elements = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][2..];
        let mut sums = [100.0, 200.0];
        accumulate(Rows { elements, steps: [1, 2], n_columns: 2 }, &[10.0, 1.0], 1, &mut sums);
        assert_eq!(sums, [135.0, 246.0]);
    }
}
