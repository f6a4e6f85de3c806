//! The Kahn semantics against the present values of A (P15).

use eddy_flow::VarId;
use eddy_language::semantics::{Cell, kahn};
use eddy_tensor::Value;

use crate::generated::case::{Case, Ready};
use crate::generated::compare::{label, show};
use crate::generated::engines::{SEED, cells, denote};
use crate::generated::harness::{SampleChoices, Trial, Verdict, law_of_programs};
use crate::generated::trace::Absences;

#[test]
fn p15_lists_agree_with_the_present_values() {
    // Lists have no clocks: a constant has a value for each cycle, and `i fby x` has one value more than `x`.
    // So a list may be longer than the number of activations, and only values that are known in both are
    // compared.
    law_of_programs("P15 K compatible with A", 300, Case::sample_without_end, |_, ready| {
        compare(ready, |_, list, values| list.iter().zip(values).all(|(left, right)| left == right))
    });
}

#[test]
fn p15_lists_are_prefixes_where_nothing_is_sampled_or_absent() {
    law_of_programs("P15 K below A", 300, sample_unsampled, |_, ready| {
        let is_root = |var: VarId| ready.clocks().is_root(ready.clocks().of(var));
        compare(ready, |var, list, values| values.starts_with(list) || !is_root(var))
    });
}

fn sample_unsampled(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.program_without_sampling();
    Case::new(program, source, Absences::None)
}

fn compare(ready: &Ready, is_right: impl Fn(VarId, &[Value], &[Value]) -> bool) -> Trial {
    let inputs: Vec<Vec<Value>> = ready.inputs.iter().map(|row| known(row)).collect();
    let a = cells!(denote(ready));
    let Ok(lists) = kahn::lists(ready.flow(), &inputs, ready.n_cycles, SEED) else {
        return Ok(Verdict::Vacuous("no value"));
    };
    for var in ready.flow().var_ids() {
        let (list, row) = (&lists[var.index()], &a[var.index()]);
        if !is_right(var, list, &known(row)) {
            let list: Vec<String> = list.iter().map(ToString::to_string).collect();
            let (label, list, row) = (label(ready.flow(), var), list.join(" "), show(row));
            return Err(format!("`{label}`\n  K: {list}\n  A: {row}"));
        }
    }
    Ok(Verdict::Holds)
}

/// The values of a row up to the first unknown one; absent cells are dropped.
fn known(row: &[Cell]) -> Vec<Value> {
    row.iter().filter(|cell| **cell != Cell::Absent).map_while(Cell::value).cloned().collect()
}
