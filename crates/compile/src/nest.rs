//! Loops over the elements of several views at once.
//!
//! Neighbouring axes along which all views move alike become one loop: two matrices that are read in row-major order are
//! one loop over all elements, which the C compiler vectorises.

use crate::lines::Lines;
use crate::view::View;

/// A nest of loops with literal bounds, and how the views move in it.
pub(crate) struct Nest {
    /// Outermost first: the size, and the stride of each view.
    axes: Vec<(usize, Vec<usize>)>,
    offsets: Vec<usize>,
    /// Whether the outermost loop goes from `first` to `end` only.
    is_part: bool,
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
        Nest { axes, offsets: views.iter().map(|view| view.offset).collect(), is_part: false }
    }

    /// The same, but the outermost loop goes from `first` to `end` only.
    pub fn part(self) -> Nest {
        Nest { is_part: true, ..self }
    }

    /// The sizes of the loops, outermost first.
    pub fn sizes(&self) -> Vec<usize> {
        self.axes.iter().map(|(size, _)| *size).collect()
    }

    /// The place of a view in the innermost loop.
    pub fn place(&self, view: usize) -> String {
        let terms = self.axes.iter().enumerate().map(|(axis, (_, strides))| (index(axis), strides[view]));
        place(self.offsets[view], terms)
    }

    /// The size of the innermost loop, if each view moves by one element or not at all in it.
    pub fn innermost_in_steps_of_one(&self) -> Option<usize> {
        let (size, strides) = self.axes.last()?;
        strides.iter().all(|stride| *stride <= 1).then_some(*size)
    }

    /// The name of the innermost index.
    pub fn innermost_index(&self) -> String {
        index(self.axes.len() - 1)
    }

    /// Writes all loops but the innermost one.
    pub fn write_outer(&self, lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
        self.write_loops(&self.sizes()[..self.axes.len() - 1], lines, inner);
    }

    /// Writes the loops around some lines.
    pub fn write(&self, lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
        self.write_loops(&self.sizes(), lines, inner);
    }

    fn write_loops(&self, sizes: &[usize], lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
        if self.is_part { part_of_loops(sizes, 0, lines, inner) } else { loops(sizes, 0, lines, inner) }
    }
}

/// `for (size_t i0 = 0; i0 < 4; i0++)`, and so on; nothing if there is nothing to go through.
pub(crate) fn loops(sizes: &[usize], first: usize, lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
    let axes: Vec<usize> = (first..first + sizes.len()).collect();
    loops_over(&axes, sizes, lines, inner);
}

/// Loops whose indices have the numbers of these axes.
pub(crate) fn loops_over(axes: &[usize], sizes: &[usize], lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
    if !sizes.contains(&0) {
        let heads: Vec<String> =
            axes.iter().zip(sizes).map(|(axis, size)| for_loop(&index(*axis), *size)).collect();
        nested(&heads, lines, inner);
    }
}

/// Loops of which one goes from `first` to `end` only; none is empty.
pub(crate) fn part_of_loops(sizes: &[usize], cut: usize, lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
    let head = |(axis, size): (usize, &usize)| match index(axis) {
        i if axis == cut => format!("for (size_t {i} = first; {i} < end; {i}++)"),
        i => for_loop(&i, *size),
    };
    let heads: Vec<String> = sizes.iter().enumerate().map(head).collect();
    nested(&heads, lines, inner);
}

fn nested(heads: &[String], lines: &mut Lines, inner: impl FnOnce(&mut Lines)) {
    match heads {
        [] => inner(lines),
        [head, rest @ ..] => lines.block(head, |lines| nested(rest, lines, inner)),
    }
}

/// The head of a loop.
fn for_loop(index: &str, size: usize) -> String {
    format!("for (size_t {index} = 0; {index} < {size}; {index}++)")
}

/// The name of the index of an axis.
pub(crate) fn index(axis: usize) -> String {
    format!("i{axis}")
}

/// `128 + 64 * i0 + i1`.
pub(crate) fn place(offset: usize, terms: impl IntoIterator<Item = (String, usize)>) -> String {
    let mut sum: Vec<String> = Vec::new();
    for (index, stride) in terms {
        match stride {
            0 => {}
            1 => sum.push(index),
            _ => sum.push(format!("{stride} * {index}")),
        }
    }
    if offset > 0 || sum.is_empty() {
        sum.push(offset.to_string());
    }
    sum.join(" + ")
}
