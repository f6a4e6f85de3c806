//! The order of equations does not matter (P2, P3).

use eddy_flow::Flow;
use eddy_language::semantics::Cell;

use crate::generated::case::{Case, Ready, Refusal, prepared};
use crate::generated::compare::{same, show};
use crate::generated::engines::{Rows, cells, denote, denote_flow, simulate, simulate_flow};
use crate::generated::generate::{Choices, ProgramText};
use crate::generated::harness::{Trial, Verdict, law_of_programs};
use crate::naive::fixpoint;

#[test]
fn p2_the_order_of_flow_equations_changes_no_cell() {
    law_of_programs("P2 order of the flow", 300, Case::sample, |case, ready| {
        let mut flow = ready.flow().clone();
        let order = permutation(flow.equations.len(), &mut case.decisions());
        flow.equations = order.iter().map(|number| ready.flow().equations[*number].clone()).collect();
        let (rows, shuffled) = (cells!(simulate(ready)), cells!(simulate_flow(&flow, ready.clocks(), ready)));
        same(ready.flow(), ("B", &rows), ("B, shuffled", &shuffled))?;
        let (rows, shuffled) = (cells!(denote(ready)), cells!(denote_flow(&flow, ready.clocks(), ready)));
        same(ready.flow(), ("A", &rows), ("A, shuffled", &shuffled))?;
        Ok(Verdict::Holds)
    });
}

#[test]
fn p2_the_order_of_equations_in_the_text_changes_no_cell() {
    law_of_programs("P2 order of the text", 300, Case::sample, |case, ready| {
        let shuffled = shuffled(&case.program, &mut case.decisions());
        let other = match prepared(&shuffled.text(), shuffled.main().name) {
            Ok(prepared) => Ready { prepared, inputs: ready.inputs.clone(), n_cycles: ready.n_cycles },
            Err(Refusal::Arithmetic) => return Ok(Verdict::Vacuous("no value")),
            Err(refusal) => return Err(format!("{refusal:?}\n{}", shuffled.text())),
        };
        let (verdict, other_verdict) = (&ready.prepared.verdict, &other.prepared.verdict);
        // Instances are numbered in the order of the text, so guards inside of them have other names.
        if verdict.as_ref().map(std::mem::discriminant) != other_verdict.as_ref().map(std::mem::discriminant)
        {
            return Err(format!("{verdict:?} is not {other_verdict:?}\n{}", shuffled.text()));
        }
        let (rows, other_rows) = (cells!(simulate(ready)), cells!(simulate(&other)));
        same_named((ready.flow(), &rows), (other.flow(), &other_rows))
            .map_err(|message| format!("{message}\n{}", shuffled.text()))?;
        Ok(Verdict::Holds)
    });
}

/// Streams of the outermost node have the same cells.
fn same_named((left, left_rows): (&Flow, &Rows), (right, right_rows): (&Flow, &Rows)) -> Result<(), String> {
    for var in left.var_ids() {
        let Some(name) = left.var(var).name.as_deref().filter(|name| !name.contains('/')) else { continue };
        let Some(other) = right.find(name) else { return Err(format!("there is no `{name}`")) };
        let (row, other_row) = (&left_rows[var.index()], &right_rows[other.index()]);
        if row != other_row {
            return Err(format!("`{name}`\n  as written: {}\n  shuffled: {}", show(row), show(other_row)));
        }
    }
    Ok(())
}

fn shuffled(program: &ProgramText, choices: &mut Choices<'_>) -> ProgramText {
    let mut program = program.clone();
    for node in &mut program.nodes {
        let order = permutation(node.equations.len(), choices);
        node.equations = order.iter().map(|number| node.equations[*number].clone()).collect();
    }
    program
}

/// A permutation of n things.
fn permutation(n: usize, choices: &mut Choices<'_>) -> Vec<usize> {
    let mut rest: Vec<usize> = (0..n).collect();
    (0..n).map(|_| rest.remove(choices.below(rest.len()))).collect()
}

#[test]
fn p3_simulation_is_the_fixpoint_of_all_updates() {
    law_of_programs("P3 B = fixpoint", 800, Case::sample, is_fixpoint);
}

#[test]
fn p3_simulation_is_the_fixpoint_where_any_input_is_unknown() {
    law_of_programs(
        "P3 B = fixpoint, unknown cells",
        400,
        |source| Case::sample(source).changed(Ready::with_unknown_cells),
        is_fixpoint,
    );
}

fn is_fixpoint(case: &Case, ready: &Ready) -> Trial {
    let order = permutation(ready.flow().equations.len(), &mut case.decisions());
    let (rows, naive) = (cells!(simulate(ready)), cells!(fixpoint(ready, &order)));
    same(ready.flow(), ("B", &rows), ("fixpoint", &naive))?;
    Ok(Verdict::Holds)
}

#[test]
fn p3_contradictions_are_found_in_every_order() {
    // Inputs that violate the clocks. The order determines to which cells a contradiction propagates: a delay
    // takes over a value that was known before the contradiction, but never ✗. The order does not determine
    // whether there is a contradiction.
    law_of_programs(
        "P3 contradictions",
        300,
        |source| Case::sample(source).changed(Ready::with_wrong_cells),
        |case, ready| {
            let order = permutation(ready.flow().equations.len(), &mut case.decisions());
            let (rows, naive) = (cells!(simulate(ready)), cells!(fixpoint(ready, &order)));
            let has_error = |rows: &Rows| rows.iter().flatten().any(|cell| *cell == Cell::Error);
            match (has_error(&rows), has_error(&naive)) {
                (true, true) => Ok(Verdict::Holds),
                (false, false) => {
                    same(ready.flow(), ("B", &rows), ("fixpoint", &naive))?;
                    Ok(Verdict::Holds)
                }
                (found, expected) => Err(format!("✗ in B: {found}, in the fixpoint: {expected}")),
            }
        },
    );
}
