//! Less knowledge about the inputs gives less knowledge about all streams (P6).

use crate::generated::case::Case;
use crate::generated::compare::below;
use crate::generated::engines::{cells, denote, simulate};
use crate::generated::harness::{Verdict, law_of_programs};

#[test]
fn p6_unknown_inputs_only_lower_cells() {
    law_of_programs("P6 monotonicity", 400, Case::sample, |case, ready| {
        let hidden = ready.with_unknown_cells(&mut case.decisions());
        if hidden.inputs == ready.inputs {
            return Ok(Verdict::Vacuous("nothing is hidden"));
        }
        let (whole, less) = (cells!(simulate(ready)), cells!(simulate(&hidden)));
        below(ready.flow(), (&format!("B of {}", hidden.bench("n")), &less), ("B", &whole))?;
        let (whole, less) = (cells!(denote(ready)), cells!(denote(&hidden)));
        below(ready.flow(), (&format!("A of {}", hidden.bench("n")), &less), ("A", &whole))?;
        Ok(Verdict::Holds)
    });
}
