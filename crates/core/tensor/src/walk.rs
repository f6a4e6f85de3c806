//! The order in which broadcasting reads its operands.
//!
//! A result is filled row by row. A *row* is a run of elements in which every operand either advances by one
//! or stays in place. Adjacent axes in which all operands behave alike are merged first: `[4,3] + [4,3]` is
//! one row of twelve elements; `[4,3] + []` is one row in which the second operand stays in place; `[4,3] +
//! [3]` is four rows; `[4,3] + [4,1]` is four rows in which the second operand stays in place.

/// The order in which N operands that broadcast to one shape are read.
pub(crate) struct Walk<const N: usize> {
    /// Outermost first, at least one.
    axes: Vec<Axis<N>>,
}

#[derive(Clone, Copy)]
struct Axis<const N: usize> {
    size: usize,
    /// The stride of each operand; 0 where it is broadcast.
    steps: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// The operands must broadcast to the result.
    pub fn new(result: &[usize], operands: [&[usize]; N]) -> Walk<N> {
        // The common case: one row, all operands advance.
        if operands.iter().all(|operand| *operand == result) {
            return Walk { axes: vec![Axis { size: result.iter().product(), steps: [1; N] }] };
        }
        let mut axes: Vec<Axis<N>> = Vec::new();
        let mut n_inner = [1; N];
        for (from_right, &size) in result.iter().rev().enumerate() {
            let mut steps = [0; N];
            for (i, operand) in operands.iter().enumerate() {
                let own = operand.len().checked_sub(from_right + 1).map_or(1, |axis| operand[axis]);
                if own != 1 {
                    steps[i] = n_inner[i];
                    n_inner[i] *= own;
                }
            }
            match axes.last_mut() {
                _ if size == 1 => {}
                Some(inner) if inner.steps.map(|step| step * inner.size) == steps => inner.size *= size,
                _ => axes.push(Axis { size, steps }),
            }
        }
        if axes.is_empty() {
            axes.push(Axis { size: 1, steps: [1; N] });
        }
        axes.reverse();
        Walk { axes }
    }

    pub fn row_len(&self) -> usize {
        self.inner().size
    }

    /// Whether each operand advances within a row; otherwise it stays in place.
    pub fn advances(&self) -> [bool; N] {
        self.inner().steps.map(|step| step == 1)
    }

    /// The start of each row in each operand.
    pub fn rows(&self) -> Rows<'_, N> {
        let outer = &self.axes[..self.axes.len() - 1];
        let n_left = outer.iter().map(|axis| axis.size).product();
        Rows { outer, counters: vec![0; outer.len()], starts: [0; N], n_left }
    }

    fn inner(&self) -> &Axis<N> {
        self.axes.last().expect("there is at least one axis")
    }
}

/// The iterator of [`Walk::rows`]: an odometer over the outer axes.
pub(crate) struct Rows<'a, const N: usize> {
    outer: &'a [Axis<N>],
    counters: Vec<usize>,
    starts: [usize; N],
    n_left: usize,
}

impl<const N: usize> Iterator for Rows<'_, N> {
    type Item = [usize; N];

    fn next(&mut self) -> Option<[usize; N]> {
        self.n_left = self.n_left.checked_sub(1)?;
        let starts = self.starts;
        for (axis, counter) in self.outer.iter().zip(&mut self.counters).rev() {
            *counter += 1;
            for (start, step) in self.starts.iter_mut().zip(axis.steps) {
                *start += step;
            }
            if *counter < axis.size {
                break;
            }
            *counter = 0;
            for (start, step) in self.starts.iter_mut().zip(axis.steps) {
                *start -= step * axis.size;
            }
        }
        Some(starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &[usize], operands: [&[usize]; 2], row: (usize, [bool; 2]), starts: &[[usize; 2]]) {
        let walk = Walk::new(result, operands);
        assert_eq!((walk.row_len(), walk.advances()), row);
        assert_eq!(walk.rows().collect::<Vec<_>>(), starts);
    }

    #[test]
    fn axes_in_which_operands_behave_alike_are_merged() {
        check(&[4, 3], [&[4, 3], &[4, 3]], (12, [true, true]), &[[0, 0]]);
        check(&[4, 3], [&[4, 3], &[]], (12, [true, false]), &[[0, 0]]);
        check(&[4, 3], [&[1, 1], &[4, 3]], (12, [false, true]), &[[0, 0]]);
        check(&[2, 3], [&[2, 3], &[3]], (3, [true, true]), &[[0, 0], [3, 0]]);
        check(&[2, 3], [&[2, 1], &[2, 3]], (3, [false, true]), &[[0, 0], [1, 3]]);
        check(&[2, 3], [&[2, 1], &[3]], (3, [false, true]), &[[0, 0], [1, 0]]);
        check(&[2, 2, 2], [&[2, 1, 2], &[1, 2, 2]], (2, [true, true]), &[[0, 0], [0, 2], [2, 0], [2, 2]]);
        check(&[], [&[], &[]], (1, [true, true]), &[[0, 0]]);
        check(&[1, 1], [&[1], &[1, 1]], (1, [true, true]), &[[0, 0]]);
    }

    #[test]
    fn an_empty_result_has_no_elements() {
        for (result, other) in [(&[0, 2][..], &[2][..]), (&[2, 0], &[2, 1])] {
            let walk = Walk::new(result, [result, other]);
            assert_eq!(walk.rows().count() * walk.row_len(), 0);
        }
    }
}
