//! P17: tangents are directional derivatives, on the clocks of their streams, and look no further ahead
//! (9.10).

use std::mem::discriminant;

use eddy_language::semantics::Cell;

use crate::differences::directional;
use crate::generated::compare::show;
use crate::numbers::{DIFFERENCES, same_rows};
use crate::run::{Stop, law_of_nodes};
use crate::samples::sample;
use crate::unrolled::Unrolled;

#[test]
fn p17_tangents_are_directional_derivatives() {
    law_of_nodes("P17 differences", 250, sample, |case, node| {
        let directions = node.directions(&node.rows_of(&node.sources), &mut case.decisions());
        let tangent = node.tangent(&directions)?;
        let unrolled = Unrolled::new(node)?;
        let along = (&node.sources[..], &directions);
        let expected = directional(&unrolled, along, &node.targets, node.ready.n_cycles)?;
        let bench = tangent.run.ready.bench(&tangent.run.name);
        Ok(same_rows((&bench, &tangent.rows), ("expected", &expected), DIFFERENCES)?)
    });
}

#[test]
fn p17_tangents_are_there_exactly_where_their_streams_are() {
    law_of_nodes("P17 presence", 250, sample, |case, node| {
        let directions = node.directions(&node.rows_of(&node.sources), &mut case.decisions());
        let tangent = node.tangent(&directions)?;
        for (target, row) in node.targets.iter().zip(&tangent.rows) {
            let target = node.row(*target);
            // A tangent may be known, for example as zero, where the value is not.
            let fits = |(target, tangent): (&Cell, &Cell)| match target {
                Cell::Present => tangent.is_present(),
                target => discriminant(target) == discriminant(tangent),
            };
            if !target.iter().zip(row).all(fits) {
                let bench = tangent.run.ready.bench(&tangent.run.name);
                return Err(Stop::Broken(format!("y: {}\nty: {}\n{bench}", show(target), show(row))));
            }
        }
        Ok(())
    });
}

#[test]
fn p17_tangents_look_as_far_ahead_as_their_streams() {
    law_of_nodes("P17 look-ahead", 150, sample, |case, node| {
        let directions = node.directions(&node.rows_of(&node.sources), &mut case.decisions());
        let tangent = node.tangent(&directions)?;
        let verdicts =
            [node, &tangent.run].map(|run| run.ready.prepared.verdict.clone().expect("it was checked"));
        if verdicts[0] != verdicts[1] {
            return Err(Stop::Broken(format!("{}, and of the tangent {}", verdicts[0], verdicts[1])));
        }
        Ok(())
    });
}
