//! The two machines of the paper: typing, progress, determinacy, and agreement.

use std::cell::Cell;

use eddy_coherent::krivine::resolve::{cells, resolve};
use eddy_coherent::krivine::state::State;
use eddy_coherent::krivine::step::{Next, Sums, step};
use eddy_coherent::krivine::typing::is_well_typed;
use eddy_coherent::krivine::{det, nd};
use eddy_coherent::outcome::{Limits, Outcome};
use eddy_coherent::syntax::{Program, Terms};
use eddy_coherent::typing::Checker;

use crate::harness::{LIMITS, Verdict, at_least, law, leaves, program};

/// The maximal number of steps of a run to check.
const MAX_CHECKED: usize = 150;

/// The states of the det machine on one leaf, from the first on, and the result of the last.
fn det_run(program: &mut Program, path: &[eddy_coherent::syntax::Bit]) -> (Vec<State>, Option<Next>) {
    let mut states = vec![State::start(program.main, path)];
    // Some terms grow exponentially; the checked ones stay small.
    while states.len() < MAX_CHECKED && program.terms.bytes() < LIMITS.memory / 16 {
        let state = states[states.len() - 1].clone();
        match step(&mut program.terms, state, Sums::Cells).next {
            Next::State(next) => states.push(next),
            end => return (states, Some(end)),
        }
    }
    (states, None)
}

#[test]
fn subject_reduction_of_states_p1_and_progress_p3() {
    law("P1 and P3", 300, program, |sample| {
        for path in leaves(&sample.program) {
            let mut program = sample.program.clone();
            let mut checker = Checker::default();
            let (states, end) = det_run(&mut program, &path);
            for state in &states {
                if !is_well_typed(&mut program.terms, &mut checker, state) {
                    return Err(format!("not well typed: {state}"));
                }
            }
            // `step` panics if no rule applies; a state without a successor is 0 or a number alone.
            if let Some(Next::Value(_)) = end {
                let last = &states[states.len() - 1];
                if !(last.stack.is_empty() && last.word.is_empty()) {
                    return Err(format!("a normal state: {last}"));
                }
            }
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn subject_reduction_of_nd_states_p1() {
    law("P1, nd", 150, program, |sample| {
        for path in leaves(&sample.program) {
            let mut program = sample.program.clone();
            let mut checker = Checker::default();
            let mut states = vec![State::start(program.main, &path)];
            for _ in 0..MAX_CHECKED {
                if program.terms.bytes() > LIMITS.memory / 16 {
                    break;
                }
                let Some(state) = states.pop() else { break };
                if !is_well_typed(&mut program.terms, &mut checker, &state) {
                    return Err(format!("not well typed: {state}"));
                }
                match step(&mut program.terms, state, Sums::Both).next {
                    Next::State(next) => states.push(next),
                    Next::Sum(first, second) => states.extend([first, second]),
                    _ => {}
                }
            }
        }
        Ok(Verdict::Holds)
    });
}

/// The numbers that all summands of a state reach; `None` if fuel runs out.
pub fn whole_tree(terms: &mut Terms, start: State) -> Option<Vec<u64>> {
    let mut values = Vec::new();
    let mut states = vec![start];
    let mut fuel = LIMITS.fuel;
    while let Some(state) = states.pop() {
        fuel = fuel.checked_sub(1).filter(|_| terms.bytes() < LIMITS.memory)?;
        match step(terms, state, Sums::Both).next {
            Next::State(next) => states.push(next),
            Next::Sum(first, second) => states.extend([first, second]),
            Next::Zero => {}
            Next::Value(value) => values.push(value),
            Next::Coin(..) | Next::Overflow => return None,
        }
    }
    Some(values)
}

#[test]
fn at_most_one_summand_reaches_a_number_theorem_7_5() {
    let valued = Cell::new(0);
    law("Theorem 7.5", 500, program, |sample| {
        let mut is_informative = false;
        for path in leaves(&sample.program) {
            let Some(values) =
                whole_tree(&mut sample.program.terms.clone(), State::start(sample.program.main, &path))
            else {
                continue;
            };
            is_informative = true;
            valued.set(valued.get() + u32::from(values.len() == 1));
            if values.len() > 1 {
                return Err(format!("at {path:?}: {values:?}"));
            }
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("out of fuel") })
    });
    at_least("leaves with a number", 100, valued.get());
}

#[test]
fn nd_is_det_with_equal_step_counts_theorem_7_11() {
    let with_cells = Cell::new(0);
    law("Theorem 7.11", 600, program, |sample| {
        let mut is_informative = false;
        for path in leaves(&sample.program) {
            let det = det::run(&sample.program, &path, LIMITS);
            // All summands share the fuel of the nd machine.
            let nd = nd::run(&sample.program, &path, Limits { fuel: 20 * LIMITS.fuel, ..LIMITS });
            match (det.outcome, nd.outcome) {
                (Outcome::Exhausted(_), _) | (_, Outcome::Exhausted(_)) => continue,
                (Outcome::Value { .. }, Outcome::Value { .. }) => {
                    if det != nd {
                        return Err(format!("at {path:?}: {det:?} and {nd:?}"));
                    }
                    let (states, _) = det_run(&mut sample.program.clone(), &path);
                    let has_cells = states.last().is_some_and(|state| state.fresh > 0);
                    with_cells.set(with_cells.get() + u32::from(has_cells));
                }
                (det, nd) if det != nd => return Err(format!("at {path:?}: {det:?} and {nd:?}")),
                _ => {}
            }
            is_informative = true;
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("out of fuel") })
    });
    at_least("leaves with a number and a cell", 20, with_cells.get());
}

/// One step of the nd machine, as a list of states.
fn nd_steps(program: &mut Program, state: &State) -> Vec<State> {
    match step(&mut program.terms, state.clone(), Sums::Both).next {
        Next::State(next) => vec![next],
        Next::Sum(first, second) => vec![first, second],
        _ => Vec::new(),
    }
}

/// The maximal number of choices for the ones of all cells.
const MAX_WAYS: usize = 200;

#[test]
fn simulation_and_cosimulation_lemmas_7_9_and_7_10() {
    let steps_with_cells = Cell::new(0);
    law("Lemmas 7.9 and 7.10", 150, program, |sample| {
        for path in leaves(&sample.program) {
            let mut program = sample.program.clone();
            let (states, end) = det_run(&mut program, &path);
            let mut after: Vec<Vec<State>> = states.iter().skip(1).map(resolve).collect();
            if let Some(Next::Zero) = end {
                after.push(Vec::new());
            }
            for (state, after) in states.iter().zip(after) {
                let before = resolve(state);
                if before.len() > MAX_WAYS || after.len() > MAX_WAYS {
                    continue;
                }
                steps_with_cells.set(steps_with_cells.get() + u32::from(!cells(state).is_empty()));
                simulates(&mut program, state, &before, &after)?;
            }
        }
        Ok(Verdict::Holds)
    });
    at_least("steps of states with cells", 500, steps_with_cells.get());
}

/// Every summand of the next state is the result of a step from exactly one summand of this state, and every
/// summand of this state steps only to summands of the next state.
fn simulates(program: &mut Program, state: &State, before: &[State], after: &[State]) -> Result<(), String> {
    let mut origins = vec![0; after.len()];
    for summand in before {
        for next in nd_steps(program, summand) {
            match after.iter().position(|other| *other == next) {
                Some(place) => origins[place] += 1,
                None => return Err(format!("{state}: {next} is no summand of the next state")),
            }
        }
    }
    match origins.iter().position(|origins| *origins != 1) {
        Some(place) => Err(format!("{state}: {} has {} origins", after[place], origins[place])),
        None => Ok(()),
    }
}
