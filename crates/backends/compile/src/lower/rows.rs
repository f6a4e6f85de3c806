//! Rows at an index that is an operand: `x[i]`, and `place(n, i, g)`, its transpose.
//!
//! In a batch, each stream may have an index of its own; the streams are along the last axis of the result.

use eddy_imp::{Block, Expr, Intrinsic, Name, Stmt, Type};

use super::schedule::Item;
use super::structure::zeros;
use super::write::Writer;
use crate::nest::{index, loops, loops_over, place};
use crate::view::{View, row_major};

/// A row of the first operand; `is_wide` says whether that has an axis for streams.
pub(super) fn row(writer: &Writer<'_>, item: &Item<'_>, is_wide: bool, block: &mut Block) {
    let [x, at] = item.reads.as_slice() else { unreachable!("a tensor and an index") };
    let shape = &item.statement.ty.shape;
    let at = Index::new(writer, item, at, x.shape[0], shape.len());
    at.write(shape, block, |at, block| {
        let n_own = x.shape.len() - 1 - usize::from(is_wide);
        let from = element_at(x, Some(at), n_own, is_wide, shape.len());
        let to = place(0, (0..shape.len()).map(index).zip(row_major(shape)));
        writer.set(item, to, writer.homes.element(x, from), block);
    });
}

/// The second operand as a row among `n` rows of zeros; `is_wide` says whether it has an axis for streams.
pub(super) fn place_row(writer: &Writer<'_>, item: &Item<'_>, n: usize, is_wide: bool, block: &mut Block) {
    let [at, g] = item.reads.as_slice() else { unreachable!("an index and a row") };
    let shape = &item.statement.ty.shape;
    zeros(writer, item, block);
    let strides = row_major(shape);
    let array = writer.array(item);
    let at = Index::new(writer, item, at, n, shape.len() - 1);
    at.write(&shape[1..], block, |at, block| {
        let n_own = g.shape.len() - usize::from(is_wide);
        let from = element_at(g, None, n_own, is_wide, shape.len() - 1);
        let terms = [(at, strides[0])]
            .into_iter()
            .chain((0..shape.len() - 1).map(index).zip(strides[1..].iter().copied()));
        block.store(array.index(place(0, terms)), writer.homes.element(g, from));
    });
}

/// The place of an element in a view: its row if it has rows, the indices of its own axes, and its stream.
fn element_at(view: &View, row: Option<Expr>, n_own: usize, is_wide: bool, n_loops: usize) -> Expr {
    let own = (0..n_own).map(index);
    let stream = is_wide.then(|| index(n_loops - 1));
    place(view.offset, row.into_iter().chain(own).chain(stream).zip(view.strides.iter().copied()))
}

/// An index of a row, or one for each stream.
struct Index {
    checked: Expr,
    /// The number of streams that have an index each; `None` if all share one.
    n_streams: Option<usize>,
    n_rows: usize,
    n_loops: usize,
}

impl Index {
    /// The index in a view, for rows that are written in so many loops, the last one over streams.
    fn new(writer: &Writer<'_>, item: &Item<'_>, view: &View, n_rows: usize, n_loops: usize) -> Index {
        let n_streams = view.shape.first().copied();
        let stream = n_streams.map(|_| index(n_loops - 1));
        let at = writer
            .homes
            .element(view, place(view.offset, stream.into_iter().zip(view.strides.iter().copied())));
        let checked = Expr::Checked(Intrinsic::Index, vec![at, n_rows.into()], item.statement.site);
        Index { checked, n_streams, n_rows, n_loops }
    }

    /// Writes loops over a shape, whose body gets the index.
    fn write(self, shape: &[usize], block: &mut Block, body: impl FnOnce(Expr, &mut Block)) {
        let Index { checked, n_streams, n_rows, n_loops } = self;
        // Without rows or without elements there is nothing to read, but the index may be wrong.
        if n_rows == 0 || shape.contains(&0) {
            let streams = n_streams.map(|n| (n_loops - 1, n));
            let (axes, sizes): (Vec<usize>, Vec<usize>) = streams.into_iter().unzip();
            return loops_over(&axes, &sizes, block, |block| block.push(Stmt::Check(checked)));
        }
        if n_streams.is_some() {
            return loops(shape, 0, block, |block| body(checked, block));
        }
        block.scope(|block| {
            let row = Name::from("row");
            block.constant(row.clone(), Type::Size, checked);
            loops(shape, 0, block, |block| body(Expr::var(row), block));
        });
    }
}
