//! P16: derivatives of derivatives (9.9). The Hessian of Σ ⟨w, y⟩ along v is the same by reverse over
//! reverse, forward over reverse and reverse over forward, and equals the slope of the gradient.

use eddy_flow::VarId;
use eddy_language::causality::Verdict as Lookahead;

use crate::differences::directional;
use crate::generated::case::Case;
use crate::generated::engines::Rows;
use crate::numbers::{EXACT, are_close, dot_rows, same_rows};
use crate::run::{Derived, Run, Stop, law_of_nodes};
use crate::samples::{sample, sample_single};
use crate::unrolled::Unrolled;

/// The tolerance against central differences of derivatives.
const DIFFERENCES: f64 = 2e-5;

/// The gradient, the direction, and the result of forward over reverse, with which all others are compared.
pub struct Curvature {
    weights: Rows,
    directions: Rows,
    pub adjoint: Derived,
    /// By `tan_adj_N`: a row for each source.
    pub rows: Rows,
}

/// The number of inputs of N that have derivatives.
fn n_inputs(node: &Run) -> usize {
    node.sources.iter().filter(|source| node.flow().inputs.contains(source)).count()
}

/// Rows for the sources of a derivative of N: those of N with others inserted after the inputs.
fn spliced(node: &Run, rows: &Rows, between: &Rows) -> Rows {
    let n_inputs = n_inputs(node);
    [&rows[..n_inputs], between, &rows[n_inputs..]].concat()
}

/// The rows of the sources of N among those of a derivative of N.
fn unspliced(node: &Run, rows: &Rows) -> Rows {
    let (n_inputs, n_parameters) = (n_inputs(node), node.sources.len() - n_inputs(node));
    [&rows[..n_inputs], &rows[rows.len() - n_parameters..]].concat()
}

impl Curvature {
    pub fn new(case: &Case, node: &Run) -> Result<Curvature, Stop> {
        let choices = &mut case.decisions();
        let weights = node.seeds(choices);
        let adjoint = node.adjoint(&weights)?;
        let directions = node.directions(&adjoint.rows, choices);
        // The seeds are constant.
        let seeds: Vec<VarId> = adjoint.run.sources[n_inputs(node)..][..node.targets.len()].to_vec();
        let along = spliced(node, &directions, &adjoint.run.zeros(&seeds));
        let both = adjoint.run.tangent(&along)?;
        let rows = both.rows[node.targets.len()..].to_vec();
        Ok(Curvature { weights, directions, adjoint, rows })
    }
}

#[test]
fn p16_reverse_over_reverse_is_forward_over_reverse() {
    law_of_nodes("P16 adj_adj, tan_adj", 120, sample, |case, node| {
        let curvature = Curvature::new(case, node)?;
        let adjoint = &curvature.adjoint.run;
        let seeds = [node.zeros(&node.targets), curvature.directions.clone()].concat();
        let twice = adjoint.adjoint(&seeds)?;
        let found = unspliced(node, &twice.rows);
        Ok(same_rows(("adj_adj", &found), ("tan_adj", &curvature.rows), EXACT)?)
    });
}

#[test]
fn p16_reverse_over_forward_is_forward_over_reverse() {
    law_of_nodes("P16 adj_tan, tan_adj", 120, sample, |case, node| {
        let curvature = Curvature::new(case, node)?;
        let tangent = node.tangent(&curvature.directions)?.run;
        let seeds = [node.zeros(&node.targets), curvature.weights.clone()].concat();
        let mixed = tangent.adjoint(&seeds)?;
        let found = unspliced(node, &mixed.rows);
        Ok(same_rows(("adj_tan", &found), ("tan_adj", &curvature.rows), EXACT)?)
    });
}

#[test]
fn p16_second_derivatives_are_central_differences_of_the_gradient() {
    law_of_nodes("P16 differences", 120, sample, |case, node| {
        let curvature = Curvature::new(case, node)?;
        let adjoint = &curvature.adjoint.run;
        let sources =
            [&adjoint.sources[..n_inputs(node)], &adjoint.sources[n_inputs(node) + node.targets.len()..]];
        let gradient = &adjoint.flow().outputs[node.flow().outputs.len()..];
        let unrolled = Unrolled::new(adjoint)?;
        let along = (&sources.concat()[..], &curvature.directions);
        let expected = directional(&unrolled, along, gradient, node.ready.n_cycles)?;
        Ok(same_rows(("tan_adj", &curvature.rows), ("differences", &expected), DIFFERENCES)?)
    });
}

#[test]
fn p16_higher_orders_look_as_far_ahead_as_the_first() {
    law_of_nodes("P16 look-ahead", 100, sample, |case, node| {
        let adjoint = Curvature::new(case, node)?.adjoint.run;
        let twice = adjoint.adjoint(&adjoint.zeros(&adjoint.targets))?.run;
        let verdicts =
            [&adjoint, &twice].map(|run| run.ready.prepared.verdict.clone().expect("it was checked"));
        let is_same = match &verdicts {
            // A look-ahead through a recurrence is reversed twice, and then also waits for the end of the
            // trace.
            [Lookahead::Guarded { conditions, .. }, Lookahead::Guarded { conditions: of_twice, .. }] => {
                conditions == of_twice
            }
            [first, second] => first == second,
        };
        if is_same {
            return Ok(());
        }
        Err(Stop::Broken(format!("{}, and of the second order {}", verdicts[0], verdicts[1])))
    });
}

#[test]
fn p16_third_derivatives_agree() {
    law_of_nodes("P16 third order", 40, sample_single, |case, node| {
        let curvature = Curvature::new(case, node)?;
        // ⟨v, D³L v v⟩: the slope of the Hessian along v, applied to v; and the Hessian of the slope along v.
        let adjoint = &curvature.adjoint.run;
        let seeds: Vec<VarId> = adjoint.sources[n_inputs(node)..][..node.targets.len()].to_vec();
        let along = spliced(node, &curvature.directions, &adjoint.zeros(&seeds));
        let second = adjoint.tangent(&along)?.run;
        let third = second.tangent(&straight(&second, adjoint, &along))?;
        let by_reverse =
            dot_rows(&third.rows[third.rows.len() - node.sources.len()..], &curvature.directions);
        let first = node.tangent(&curvature.directions)?.run;
        let second = first.tangent(&straight(&first, node, &curvature.directions))?.run;
        let along = straight(&second, &first, &straight(&first, node, &curvature.directions));
        let third = second.tangent(&along)?;
        let by_forward = dot_rows(&third.rows[third.rows.len() - node.targets.len()..], &curvature.weights);
        if are_close(by_reverse, by_forward, EXACT) {
            Ok(())
        } else {
            Err(Stop::Broken(format!("by reverse {by_reverse}, by forward {by_forward}")))
        }
    });
}

/// A direction for the sources of `tan_N` that moves N along the same line: the given tangents stay constant.
fn straight(tangent: &Run, node: &Run, along: &Rows) -> Rows {
    let given = &tangent.flow().inputs[node.flow().inputs.len()..];
    spliced(node, along, &tangent.zeros(given))
}
