//! L8 for checkpoints: loops that are computed again, chunk by chunk, give the same bits, in windows of all
//! lengths.

use std::cell::RefCell;

use eddy_plan::plan::{Checkpoint, Plan, Schedule};
use eddy_plan::show::report;
use eddy_plan::{Kinds, Options};
use expect_test::expect;

use crate::generated::case::Ready;
use crate::generated::harness::{Trial, Verdict, show};
use crate::invariance::{agree, law_of_samples};
use crate::programs::{LENGTHS, NODES, windows_of, with_checkpoints};
use crate::run::{execute, options, planned};
use crate::samples::Family;

pub fn checkpoints(plan: &Plan) -> Vec<&Checkpoint> {
    let windows = plan.roots.iter().filter_map(|root| match &root.schedule {
        Schedule::Windows(windows) => Some(windows),
        _ => None,
    });
    windows.flat_map(|windows| &windows.versions).flat_map(|version| &version.region.checkpoints).collect()
}

#[test]
fn l8_checkpoints_change_no_bit_in_windows_of_all_lengths() {
    for node in NODES {
        for length in LENGTHS {
            let ready = windows_of(node, length);
            let (plain, again) = (planned(&ready, &options()), planned(&ready, &with_checkpoints()));
            assert!(!checkpoints(&again).is_empty(), "{}", report(node, ready.flow(), &again, None));
            let [plain, found] = [&plain, &again].map(|plan| execute(&ready, plan));
            let plain = plain.unwrap_or_else(|stop| panic!("{node}: {stop:?}"));
            assert!(
                found.as_ref() == Ok(&plain),
                "{node}, windows of {length}: {found:?}\n{plain:?}\n{}",
                report(node, ready.flow(), &again, None)
            );
        }
    }
}

fn changes_no_bit(ready: &Ready, kinds: Kinds, n: &RefCell<usize>) -> Trial {
    let (plain, again) = (Options { kinds, ..options() }, Options { kinds, ..with_checkpoints() });
    if checkpoints(&planned(ready, &again)).is_empty() {
        return Ok(Verdict::Holds);
    }
    *n.borrow_mut() += 1;
    agree(ready, &plain, &again)
}

#[test]
fn l8_checkpoints_change_no_bit() {
    for family in [Family::Plain, Family::Adjoint, Family::Reset, Family::Training] {
        let n = RefCell::new(0);
        law_of_samples("L8 checkpoints", 300, family, |_, ready| changes_no_bit(ready, Kinds::All, &n));
        law_of_samples("L8 checkpoints of traces", 150, family, |_, ready| {
            changes_no_bit(ready, Kinds::Trace, &n)
        });
        show(&format!("L8 checkpoints, {family:?}: {} programs have them", n.borrow()));
        assert!(*n.borrow() >= 10, "{family:?}: {} programs have checkpoints", n.borrow());
    }
}

/// L3 for checkpoints: a missing register is detected.
#[test]
fn l3_a_register_that_is_not_saved_is_detected() {
    for node in NODES {
        let ready = windows_of(node, 26);
        let plan = planned(&ready, &with_checkpoints());
        let expected = execute(&ready, &plan).expect("the plan runs");
        let n = checkpoints(&plan).into_iter().map(|checkpoint| checkpoint.registers.len()).sum();
        for number in 0..n {
            let mut mutant = plan.clone();
            let mut at = number;
            for root in &mut mutant.roots {
                let Schedule::Windows(windows) = &mut root.schedule else { continue };
                let regions = windows.versions.iter_mut().map(|version| &mut version.region);
                for checkpoint in regions.flat_map(|region| &mut region.checkpoints) {
                    if at < checkpoint.registers.len() {
                        checkpoint.registers.remove(at);
                        at = usize::MAX;
                    } else {
                        at = at.saturating_sub(checkpoint.registers.len());
                    }
                }
            }
            let found = execute(&ready, &mutant).ok();
            let report = report(node, ready.flow(), &plan, None);
            assert!(found != Some(expected.clone()), "{node}: register {number}\n{report}");
        }
    }
}

#[test]
fn memory_grows_with_the_square_root() {
    let ready = windows_of("adj_l_end", 2);
    let bound = |options: &Options, cycles: u64| planned(&ready, options).roots[0].memory.bound(cycles);
    // Inputs and outputs are kept for all cycles with and without checkpoints.
    let rest = |cycles: u64| {
        let memory = planned(&ready, &options()).roots[0].memory;
        memory.fixed() + cycles * (memory.inputs + memory.outputs)
    };
    for cycles in [100, 10_000, 1_000_000] {
        let all = bound(&options(), cycles) - rest(cycles);
        let some = bound(&with_checkpoints(), cycles) - rest(cycles);
        assert!(some * cycles.isqrt() <= 2 * all, "{cycles} cycles: {some} B instead of {all} B");
    }
}

#[test]
fn the_plan_gives_the_reason_for_having_no_checkpoints() {
    let refusals = |node: &str| {
        let ready = windows_of(node, 2);
        let report = report(node, ready.flow(), &planned(&ready, &with_checkpoints()), None);
        let lines = report.lines().filter(|line| line.starts_with("  no checkpoints"));
        lines.map(|line| format!("{node}:{line}\n")).collect::<Vec<_>>()
    };
    let refusals = ["bn", "adj_lb", "adj_bn", "adj_t_sgd"].map(refusals).concat().concat();
    expect![[r"
        bn:  no checkpoints: no loop stores a value that a loop in the other direction reads
        adj_lb:  no checkpoints: `h2` of step 1 is not read by exactly one loop in the other direction
        adj_lb:  no checkpoints: `c2` of step 1 is not read by exactly one loop in the other direction
        adj_lb:  no checkpoints: `_33` of step 1 is not read by exactly one loop in the other direction
        adj_lb:  no checkpoints: `_36` of step 1 is not read by exactly one loop in the other direction
        adj_lb:  no checkpoints: `_38` of step 1 is not read by exactly one loop in the other direction
        adj_lb:  no checkpoints: step 2 reads `_41`, which another step stores
        adj_bn:  no checkpoints: `batch_norm#1/mean_var#1/cnt` of step 1 is not read by exactly one loop in the other direction
        adj_bn:  no checkpoints: step 4 reads `batch_norm#1/mean_var#1/cnt`, which another step stores
        adj_t_sgd:  no checkpoints: loops inside the window that go both ways do not run again
        adj_t_sgd:  no checkpoints: `_16` of step 1 is not read by exactly one loop in the other direction
        adj_t_sgd:  no checkpoints: step 3 reads `_12`, which another step stores
    "]]
    .assert_eq(&refusals);
}
