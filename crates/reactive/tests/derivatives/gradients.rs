//! P9: cotangents are partial derivatives, cell by cell (9.8).

use crate::generated::case::Case;
use crate::generated::engines::Rows;
use crate::numbers::{DIFFERENCES, EXACT, same_rows};
use crate::run::{Run, Stop, law_of_nodes, sample};
use crate::unrolled::Unrolled;
use crate::{differences, kernel};

/// The cotangents of the sources are those that a witness finds in the unrolled trace.
fn has_gradient(
    case: &Case,
    node: &Run,
    tolerance: f64,
    witness: impl Fn(&Unrolled<'_>, &Rows) -> Result<Rows, Stop>,
) -> Result<(), Stop> {
    let seeds = node.seeds(&mut case.decisions());
    let adjoint = node.adjoint(&seeds)?;
    let expected = witness(&Unrolled::new(node)?, &seeds)?;
    let bench = adjoint.run.ready.bench(&adjoint.run.name);
    Ok(same_rows((&bench, &adjoint.rows), ("expected", &expected), tolerance)?)
}

#[test]
fn p9_cotangents_are_central_differences() {
    law_of_nodes("P9 differences", 200, sample, |case, node| {
        has_gradient(case, node, DIFFERENCES, |unrolled, seeds| {
            differences::gradient(unrolled, (&node.targets, seeds), &node.sources, node.ready.n_cycles)
        })
    });
}

#[test]
fn p9_cotangents_are_those_of_the_unrolled_trace_in_rd() {
    law_of_nodes("P9 rd", 200, sample, |case, node| {
        has_gradient(case, node, EXACT, |unrolled, seeds| {
            kernel::gradient(unrolled, (&node.targets, seeds), &node.sources, node.ready.n_cycles)
        })
    });
}
