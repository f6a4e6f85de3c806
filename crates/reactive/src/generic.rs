//! Nodes whose sizes are open: what can be said about them before anybody gives the sizes.
//!
//! Types, clocks and causality do not depend on sizes, so they are checked with made-up ones. A shape rule may fail for some sizes and hold for others: only an
//! operation that fits no shape at all is a mistake ([`infer::never_fits`]). Inputs that must be compile-time constants are given a few values, numbers and lists; if
//! with each of them some operation fits nothing, the node can never run.

use eddy_syntax::Diagnostic;

use crate::causality::causality;
use crate::clocks;
use crate::draft::Draft;
use crate::elaborate::{Given, elaborate};
use crate::infer::{self, Sizes};
use crate::program::{Callable, Program};
use crate::static_value::Static;

/// Checks a node with inputs that must be compile-time constants.
pub fn check_sizes(program: &Program, callable: &Callable, inputs: &[&str]) -> Result<(), Vec<Diagnostic>> {
    let elaborated = |values: Vec<Static>| {
        let constants = inputs.iter().map(ToString::to_string).zip(values).collect();
        // A number where a list is needed, or one that is out of range, says nothing about others.
        elaborate(program, callable, &Given { constants, ..Given::default() }).ok()
    };
    // Whether an input is a number or a list follows from how it is used, so the first combination that can be elaborated is the right one.
    let mut combinations = combinations(inputs.len()).into_iter();
    let found = combinations.find_map(|lists| {
        let mut drafts =
            SIZES.iter().map(|size| elaborated(values(inputs.len(), *size, &lists, &[1; MAX_LISTS])));
        Some((drafts.find_map(|draft| draft)?, lists))
    });
    let Some((draft, lists)) = found else { return Ok(()) };
    if infer::never_fits(&draft, Sizes::Open).is_none() {
        return check_rest(draft);
    }
    check_rest(draft)?;
    let mut misfit = None;
    for ranks in ranks(lists.len()) {
        for size in SIZES {
            let Some(draft) = elaborated(values(inputs.len(), size, &lists, &ranks)) else { continue };
            match infer::never_fits(&draft, Sizes::Open) {
                None => return Ok(()),
                Some(found) => misfit = misfit.or(Some(found)),
            }
        }
    }
    misfit.map_or(Ok(()), |misfit| Err(vec![*misfit]))
}

/// Checks a node with inputs whose shapes are open.
pub fn check_shapes(program: &Program, callable: &Callable) -> Result<(), Vec<Diagnostic>> {
    let draft = elaborate(program, callable, &Given::default())?;
    if let Some(misfit) = infer::never_fits(&draft, Sizes::Known) {
        return Err(vec![*misfit]);
    }
    check_rest(draft)
}

/// Types, clocks and causality. Derivatives are equations that need shapes, so with them only types are checked.
fn check_rest(draft: Draft) -> Result<(), Vec<Diagnostic>> {
    let has_derivatives = !draft.marks.is_empty();
    let flow = infer::with_open_sizes(draft)?;
    if has_derivatives {
        return Ok(());
    }
    let clocks = clocks::infer(&flow)?;
    causality(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?;
    Ok(())
}

/// Numbers that are tried. Axes are numbers too, so the small ones are among them.
const SIZES: [i64; 5] = [2, 1, 0, 3, 4];
/// Nodes with more inputs that are lists are not looked at.
const MAX_LISTS: usize = 3;
/// With more constants, lists are not looked for.
const MAX_INPUTS: usize = 6;

/// Which of so many inputs can be lists: all combinations, those with few lists first.
fn combinations(n_inputs: usize) -> Vec<Vec<usize>> {
    if n_inputs > MAX_INPUTS {
        return vec![Vec::new()];
    }
    let lists = |mask: u32| (0..n_inputs).filter(|input| mask >> input & 1 == 1).collect::<Vec<_>>();
    let mut combinations: Vec<Vec<usize>> = (0..1 << n_inputs).map(lists).collect();
    combinations.retain(|lists| lists.len() <= MAX_LISTS);
    combinations.sort_by_key(Vec::len);
    combinations
}

/// Values for so many inputs, of which some are lists of these ranks.
fn values(n_inputs: usize, size: i64, lists: &[usize], ranks: &[usize]) -> Vec<Static> {
    let mut values = vec![Static::Int(size); n_inputs];
    for (input, rank) in lists.iter().zip(ranks) {
        values[*input] = Static::List(vec![size.max(1); *rank]);
    }
    values
}

/// All ranks of so many lists.
fn ranks(n_lists: usize) -> Vec<Vec<usize>> {
    (0..n_lists).fold(vec![Vec::new()], |all, _| {
        all.iter()
            .flat_map(|before| [1, 2, 0, 3, 4].map(|rank| [before.as_slice(), &[rank]].concat()))
            .collect()
    })
}
