//! Loops over the elements of several views at once.
//!
//! Adjacent axes along which all views move alike are merged: two matrices in row-major order need one loop
//! over all elements, which a compiler vectorises.

use eddy_imp::{Block, Expr, Name};

use crate::view::View;

/// A nest of loops with literal bounds, and the strides of views in it.
pub(crate) struct Nest {
    /// Outermost first: the size, and the stride of each view.
    axes: Vec<(usize, Vec<usize>)>,
    offsets: Vec<usize>,
}

impl Nest {
    /// Loops over a shape that all views have.
    pub fn new(shape: &[usize], views: &[&View]) -> Nest {
        let mut axes: Vec<(usize, Vec<usize>)> = Vec::new();
        for (axis, &size) in shape.iter().enumerate() {
            let strides: Vec<usize> = views.iter().map(|view| view.strides[axis]).collect();
            match axes.last_mut() {
                _ if size == 1 => {}
                Some((outer, outer_strides))
                    if outer_strides.iter().zip(&strides).all(|(outer, inner)| *outer == inner * size) =>
                {
                    *outer *= size;
                    *outer_strides = strides;
                }
                _ => axes.push((size, strides)),
            }
        }
        Nest { axes, offsets: views.iter().map(|view| view.offset).collect() }
    }

    /// The sizes of the loops, outermost first.
    pub fn sizes(&self) -> Vec<usize> {
        self.axes.iter().map(|(size, _)| *size).collect()
    }

    /// The index of a view's element in the innermost loop.
    pub fn place(&self, view: usize) -> Expr {
        let terms = self.axes.iter().enumerate().map(|(axis, (_, strides))| (index(axis), strides[view]));
        place(self.offsets[view], terms)
    }

    /// Writes the loops around some statements.
    pub fn write(&self, block: &mut Block, inner: impl FnOnce(&mut Block)) {
        loops(&self.sizes(), 0, block, inner);
    }
}

/// `for i0 = 0 while i0 < 4`, and so on; only `inner` if there are no axes.
pub(crate) fn loops(sizes: &[usize], first: usize, block: &mut Block, inner: impl FnOnce(&mut Block)) {
    let axes: Vec<usize> = (first..first + sizes.len()).collect();
    loops_over(&axes, sizes, block, inner);
}

/// Loops whose indices have the numbers of these axes.
pub(crate) fn loops_over(axes: &[usize], sizes: &[usize], block: &mut Block, inner: impl FnOnce(&mut Block)) {
    if !sizes.contains(&0) {
        nested(axes, sizes, block, inner);
    }
}

fn nested(axes: &[usize], sizes: &[usize], block: &mut Block, inner: impl FnOnce(&mut Block)) {
    match (axes, sizes) {
        ([axis, axes @ ..], [size, sizes @ ..]) => {
            let (mut body, index) = (Block::new(), index_name(*axis));
            nested(axes, sizes, &mut body, inner);
            block.each(index, *size, |block| block.append(body));
        }
        _ => inner(block),
    }
}

fn index_name(axis: usize) -> Name {
    format!("i{axis}").into()
}

pub(crate) fn index(axis: usize) -> Expr {
    Expr::var(index_name(axis))
}

/// `64 * i0 + i1 + 128`.
pub(crate) fn place(offset: usize, terms: impl IntoIterator<Item = (Expr, usize)>) -> Expr {
    let mut sum: Option<Expr> = None;
    for (index, stride) in terms {
        let term = match stride {
            0 => continue,
            1 => index,
            _ => Expr::from(stride) * index,
        };
        sum = Some(match sum {
            None => term,
            Some(sum) => sum + term,
        });
    }
    match sum {
        None => offset.into(),
        Some(sum) if offset == 0 => sum,
        Some(sum) => sum + offset,
    }
}
