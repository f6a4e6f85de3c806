//! L3: a mutated plan is detected, by its results or by its reads.

use std::cell::RefCell;

use eddy_plan::plan::{Plan, Region, Schedule, Step, Store, Sweep};

use crate::generated::case::Ready;
use crate::generated::engines::cells;
use crate::generated::generate::Choices;
use crate::generated::harness::{Trial, Verdict, law, show};
use crate::run::{execute, has_unknown_inputs, options, planned, simulated};
use crate::samples::{Family, Sample};

#[derive(Clone, Copy, Debug)]
enum Mutation {
    ForgetBuffer,
    ForgetSlot,
    ReverseSweep,
    SwapSteps,
    ForgetEquation,
}

const MUTATIONS: [Mutation; 5] = [
    Mutation::ForgetBuffer,
    Mutation::ForgetSlot,
    Mutation::ReverseSweep,
    Mutation::SwapSteps,
    Mutation::ForgetEquation,
];

fn sweeps(region: &mut Region) -> Vec<&mut Sweep> {
    let sweep = |step| match step {
        &mut Step::Sweep(ref mut sweep) => Some(sweep),
        Step::Unit(_) => None,
    };
    region.steps.iter_mut().filter_map(sweep).collect()
}

/// Applies a mutation; returns whether the plan has a place for it.
fn mutate(plan: &mut Plan, mutation: Mutation, choices: &mut Choices<'_>) -> bool {
    let Some(root) = plan.roots.iter_mut().find(|root| matches!(root.schedule, Schedule::Windows(_))) else {
        return false;
    };
    let Schedule::Windows(windows) = &mut root.schedule else { return false };
    let region = &mut windows.versions[0].region;
    match mutation {
        Mutation::ForgetSlot => {
            if region.slots.is_empty() {
                return false;
            }
            region.slots.remove(choices.below(region.slots.len()));
        }
        Mutation::SwapSteps => {
            if region.steps.len() < 2 {
                return false;
            }
            let first = choices.below(region.steps.len() - 1);
            region.steps.swap(first, first + 1);
        }
        Mutation::ReverseSweep => {
            use eddy_plan::plan::Direction::{Backward, Forward};
            let mut loops: Vec<_> =
                sweeps(region).into_iter().filter(|sweep| !sweep.neighbours.is_empty()).collect();
            if loops.is_empty() {
                return false;
            }
            let chosen = choices.below(loops.len());
            loops[chosen].direction = if loops[chosen].direction == Forward { Backward } else { Forward };
        }
        Mutation::ForgetBuffer | Mutation::ForgetEquation => {
            let bodies = sweeps(region).into_iter().flat_map(|sweep| &mut sweep.bodies);
            let mut bodies: Vec<_> = bodies.filter(|body| !body.code.is_empty()).collect();
            if bodies.is_empty() {
                return false;
            }
            let chosen = choices.below(bodies.len());
            let code = &mut bodies[chosen].code;
            let number = choices.below(code.len());
            if matches!(mutation, Mutation::ForgetEquation) {
                code.remove(number);
            } else {
                let store = &mut code[number].store;
                let n_before = store.len();
                store.retain(|store| !matches!(store, Store::Buffer(_)));
                return store.len() < n_before;
            }
        }
    }
    true
}

fn is_caught(ready: &Ready, plan: &Plan, expected: &crate::generated::engines::Rows) -> bool {
    execute(ready, plan).map_or(true, |rows| rows != *expected)
}

fn try_mutations(sample: &Sample, counts: &RefCell<[(u32, u32); 5]>) -> Trial {
    let ready = match &sample.ready {
        Ok(ready) if has_unknown_inputs(ready) => return Ok(Verdict::Vacuous("unknown inputs")),
        // Short traces show few differences.
        Ok(ready) if ready.n_cycles <= 3 => return Ok(Verdict::Holds),
        Ok(ready) => ready,
        Err(refusal) => return Ok(Verdict::Vacuous(refusal)),
    };
    let simulated = cells!(simulated(ready));
    let plan = planned(ready, &options());
    let choices = &mut sample.decisions();
    for (index, mutation) in MUTATIONS.into_iter().enumerate() {
        let mut mutant = plan.clone();
        if mutate(&mut mutant, mutation, choices) {
            let mut counts = counts.borrow_mut();
            counts[index].1 += 1;
            counts[index].0 += u32::from(is_caught(ready, &mutant, &simulated));
        }
    }
    Ok(Verdict::Holds)
}

#[test]
fn l3_mutants_are_caught() {
    let counts = RefCell::new([(0, 0); 5]);
    law(
        "L3 mutants",
        400,
        |source| Sample::of(Family::Training, source),
        |sample| try_mutations(sample, &counts),
    );
    let counts = counts.into_inner();
    show(&format!("L3: caught of {MUTATIONS:?}: {counts:?}"));
    for (mutation, (caught, n)) in MUTATIONS.iter().zip(counts) {
        // Each mutant runs on one trace only, in which an initial value may happen to be right, a branch may
        // never be taken, or two steps may be independent.
        let least = if matches!(mutation, Mutation::ForgetSlot | Mutation::SwapSteps) { 40 } else { 60 };
        assert!(n >= 10, "{mutation:?} was tried {n} times");
        assert!(100 * caught >= least * n, "{mutation:?}: {caught} of {n} were caught");
    }
}
