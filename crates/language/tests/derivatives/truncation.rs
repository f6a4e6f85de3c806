//! P20: `N_cut` has the values of N, and its gradients are those of the pieces between cuts (9.11).

use eddy_language::semantics::Cell;

use crate::kernel;
use crate::numbers::{EXACT, elements, same_cells, same_rows, with_elements};
use crate::run::{law_of_nodes, parameters};
use crate::samples::sample_to_train;
use crate::unrolled::Unrolled;

#[test]
fn p20_cutting_gradients_changes_no_value() {
    law_of_nodes("P20 values", 150, sample_to_train, |case, node| {
        let choices = &mut case.decisions();
        let cut = node.with_signals("n_cut", 1, || choices.once_in(3))?;
        let [expected, found] = [node, &cut].map(|run| run.rows_of(&run.flow().outputs));
        Ok(same_cells((&cut.ready.bench("n_cut"), &found), ("n", &expected), 0.0)?)
    });
}

#[test]
fn p20_gradients_between_cuts_are_those_of_the_pieces() {
    law_of_nodes("P20 pieces", 200, sample_to_train, |case, node| {
        let choices = &mut case.decisions();
        let cut = node.with_signals("n_cut", 1, || choices.once_in(3))?;
        let seeds = cut.seeds(choices);
        let found = cut.adjoint(&seeds)?;
        let cuts = &cut.ready.inputs[node.ready.inputs.len()];
        // Values from beyond a cut are constants to the piece.
        let detaches = |from: usize, to: usize| cuts[from.min(to)].truth() == Some(true);
        let pieces = Unrolled::with(node, node.sources.clone(), &detaches)?;
        let mut expected =
            kernel::gradient(&pieces, (&node.targets, &seeds), &node.sources, node.ready.n_cycles)?;
        let n_inputs = node.sources.len() - parameters(node.flow()).count();
        for row in &mut expected[n_inputs..] {
            *row = held(row, cuts);
        }
        Ok(same_rows((&found.run.ready.bench(&found.run.name), &found.rows), ("pieces", &expected), EXACT)?)
    });
}

/// The cotangents of a parameter that is held between cuts: their sum over each piece, at its first cycle.
fn held(row: &[Cell], cuts: &[Cell]) -> Vec<Cell> {
    let mut held: Vec<Cell> = row.to_vec();
    let mut first: Option<usize> = None;
    for (cycle, cell) in row.iter().enumerate() {
        let Some(value) = cell.value() else { continue };
        let zero = vec![0.0; elements(value).len()];
        match first {
            None => first = Some(cycle),
            Some(first) => {
                let sum = elements(held[first].value().expect("a piece begins with a value"));
                let sum = sum.into_iter().zip(elements(value)).map(|(sum, number)| sum + number).collect();
                held[first] = Cell::Value(with_elements(value, sum));
                held[cycle] = Cell::Value(with_elements(value, zero));
            }
        }
        if cuts[cycle].truth() == Some(true) {
            first = None;
        }
    }
    held
}

#[test]
fn p20_resets_and_cuts_together_have_the_values_of_resets() {
    law_of_nodes("P20 both", 150, sample_to_train, |case, node| {
        let mut choices = case.decisions();
        let mut ends = Vec::new();
        let both = node.with_signals("n_end_cut", 2, || {
            ends.push(choices.once_in(3));
            ends[ends.len() - 1]
        })?;
        let mut ends = ends.into_iter();
        let end = node.with_signals("n_end", 1, || ends.next().expect("there are as many cycles"))?;
        let [expected, found] = [&end, &both].map(|run| run.rows_of(&run.flow().outputs));
        Ok(same_cells((&both.ready.bench(&both.name), &found), ("n_end", &expected), 0.0)?)
    });
}
