//! The two semantics agree (P1), and accepted programs have no contradictions (P8).

use eddy_language::semantics::denote::Denotation;

use crate::generated::agreement::agree;
use crate::generated::case::{Case, Ready};
use crate::generated::compare::{below, same, without_error};
use crate::generated::engines::{SEED, cells, denote, simulate};
use crate::generated::harness::{Verdict, law_of_programs};

#[test]
fn p1_denotation_is_simulation() {
    law_of_programs("P1 A = B", 800, Case::sample, |_, ready| agree(ready));
}

#[test]
fn p1_denotation_is_simulation_where_clocks_are_written() {
    law_of_programs("P1 A = B, written clocks", 400, Case::sample_with_written_clocks, |_, ready| {
        agree(ready)
    });
}

#[test]
fn p1_denotation_is_simulation_where_cycles_are_unknown() {
    law_of_programs(
        "P1 A = B, unknown cycles",
        400,
        |source| Case::sample(source).changed(Ready::with_unknown_cycles),
        |_, ready| agree(ready),
    );
}

#[test]
fn p1_denotation_is_below_simulation_where_any_input_is_unknown() {
    // B also infers presence from the uses of a stream and from sampled inputs.
    law_of_programs(
        "P1 A below B, unknown cells",
        400,
        |source| Case::sample(source).changed(Ready::with_unknown_cells),
        |_, ready| {
            let (a, b) = (cells!(denote(ready)), cells!(simulate(ready)));
            below(ready.flow(), ("A", &a), ("B", &b))?;
            Ok(Verdict::Holds)
        },
    );
}

#[test]
fn p1_iterates_end_in_the_denotation() {
    law_of_programs("P1 iterates", 200, Case::sample, |_, ready| {
        let solved = cells!(denote(ready));
        let mut denotation =
            Denotation::new(ready.flow(), ready.clocks(), &ready.inputs, ready.n_cycles, SEED);
        let iterated = denotation.iterate(&mut String::new()).expect("writing to a string cannot fail");
        if iterated.is_err() {
            return Ok(Verdict::Vacuous("no value"));
        }
        let last = ready.flow().var_ids().map(|var| denotation.row(var).to_vec()).collect();
        same(ready.flow(), ("solved", &solved), ("last iterate", &last))?;
        Ok(Verdict::Holds)
    });
}

#[test]
fn p8_accepted_programs_have_no_contradictions() {
    law_of_programs("P8 no contradictions", 400, Case::sample, |_, ready| {
        let (a, b) = (cells!(denote(ready)), cells!(simulate(ready)));
        without_error(ready.flow(), "A", &a)?;
        without_error(ready.flow(), "B", &b)?;
        Ok(Verdict::Holds)
    });
}
