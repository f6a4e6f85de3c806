//! P9: cotangents are partial derivatives, cell by cell (9.8).

use crate::generated::case::Case;
use crate::generated::engines::Rows;
use crate::numbers::{DIFFERENCES, EXACT, same_rows};
use crate::run::{Run, Stop, law_of_nodes};
use crate::samples::{sample, sample_to_train};
use crate::training::diff;
use crate::unrolled::Unrolled;
use crate::{differences, kernel};

/// P9 of any node: the cotangents of the sources equal those that an independent method computes on the
/// unrolled trace.
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
    law_of_nodes("P9 rd", 200, sample, has_gradient_of_kernel);
}

/// P9 against the kernel, for any node.
fn has_gradient_of_kernel(case: &Case, node: &Run) -> Result<(), Stop> {
    has_gradient(case, node, EXACT, |unrolled, seeds| {
        kernel::gradient(unrolled, (&node.targets, seeds), &node.sources, node.ready.n_cycles)
    })
}

#[test]
fn p9_cotangents_of_nodes_with_resets_are_those_of_the_unrolled_trace() {
    law_of_nodes("P9 resets", 150, sample_to_train, |case, node| {
        let choices = &mut case.decisions();
        let woven = node.with_signals(&format!("{}_end", node.name), 1, || choices.once_in(3))?;
        has_gradient_of_kernel(case, &woven)
    });
}

#[test]
fn p20_cotangents_of_training_code_go_through_the_updates() {
    law_of_nodes("P20 adj_diff", 150, sample_to_train, |case, node| {
        let diff = diff(node, &mut case.decisions())?;
        has_gradient_of_kernel(case, &diff.run)
    });
}
