//! Compiled code is right for every shape of plan: programs are drawn until there are some of each.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_compile::emit::Pieces;
use eddy_plan::Options;
use eddy_plan::plan::{
    Cut, Direction, Late, Mode, Place, Plan, Read, Region, Right, RootPlan, Schedule, Step, Unit, Windows,
};

use crate::compiled::{Folder, How, PLAIN, agrees, has_waiting_failures};
use crate::generated::case::Ready;
use crate::generated::generate::{Choices, Generator};
use crate::generated::harness::{SampleChoices, Verdict, show};
use crate::run::{options, planned};
use crate::samples::{Family, Sample};

/// The less common shapes of a plan.
fn shapes(ready: &Ready, plan: &Plan) -> Vec<&'static str> {
    let mut found = Vec::new();
    for root in &plan.roots {
        shapes_of_root(ready, root, &mut found);
    }
    let waits = |root: &RootPlan| !matches!(&root.schedule, Schedule::Forward(lagged) if lagged.max_lag == 0);
    if plan.roots.len() > 1 && plan.roots.iter().any(waits) {
        found.push("several roots");
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn shapes_of_root(ready: &Ready, root: &RootPlan, found: &mut Vec<&'static str>) {
    let windows = match &root.schedule {
        Schedule::Windows(windows) => windows,
        Schedule::Forward(lagged) if lagged.max_lag > 0 && !root.may_be_unknown.is_empty() => {
            return found.push("late, unknown at the end");
        }
        _ => return,
    };
    if windows.prelude.max_lag > 0 {
        found.push("late prelude");
    }
    if matches!(windows.cut, Cut::Derived(_)) {
        found.push("derived end");
    }
    if matches!(windows.cut, Cut::Trace) && !root.may_be_unknown.is_empty() {
        found.push("unknown at the end");
    }
    for version in &windows.versions {
        shapes_of_region(ready, windows, &version.region, found);
    }
}

fn shapes_of_region(ready: &Ready, windows: &Windows, region: &Region, found: &mut Vec<&'static str>) {
    let is_sampled = |var| ready.clocks().of(var) != region.clock;
    for step in &region.steps {
        match step {
            Step::Unit(Unit::Retimed(retimed)) => {
                found.push("retimed unit");
                let is_computed = |late: &Late| {
                    let is_tensor = !ready.flow().var(late.instruction.var).ty.shape.is_scalar();
                    is_tensor
                        && matches!(&late.instruction.right, Right::Previous { slot: Some(_), init, .. } if !matches!(init, Read::Here(_, Place::Immediate(_))))
                };
                if retimed.lagged.body.iter().any(is_computed) {
                    found.push("retimed unit, computed start");
                }
            }
            Step::Unit(Unit::Nested(inner)) => {
                found.push(match inner.order {
                    Direction::Forward => "windows in windows",
                    Direction::Backward => "windows in windows, backwards",
                });
                shapes_of_region(ready, windows, inner, found);
            }
            Step::Sweep(sweep) => {
                if !sweep.trackers.is_empty() {
                    found.push("tracked");
                }
                if sweep.latches.iter().any(|latch| is_sampled(latch.var)) {
                    found.push("sampled latch");
                }
            }
        }
    }
    for checkpoint in &region.checkpoints {
        found.push("checkpoint");
        if region.mode == Mode::Cut {
            found.push("checkpoint, derived end");
        }
        if !checkpoint.again.trackers.is_empty() {
            found.push("checkpoint, tracked");
        }
        if checkpoint.again.direction == Direction::Backward {
            found.push("checkpoint, backwards");
        }
        if region.steps.iter().any(|step| matches!(step, Step::Unit(_))) {
            found.push("checkpoint, units");
        }
    }
    if region.slots.iter().any(|(slot, _)| is_sampled(windows.carried[slot.index()].next)) {
        found.push("sampled slot");
    }
}

/// A sample from this many numbers.
fn sample(family: Family, state: &mut u32) -> Sample {
    let mut numbers = |n: usize| -> Vec<u16> {
        let mut next = || {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u16::try_from(*state >> 16).expect("16 bits are left")
        };
        (0..n).map(|_| next()).collect()
    };
    let (program, trace, law) = (numbers(250), numbers(80), numbers(50));
    let mut source =
        SampleChoices { program: Generator::new(&program), trace: Choices::new(&trace), law: &law };
    Sample::of(family, &mut source)
}

/// Draws programs and tests at most `most` of each shape; requires at least as many as in `least`.
fn all_shapes(family: Family, n: u32, most: usize, least: &[(&'static str, usize)]) {
    shapes_with(How { opens: true, ..PLAIN }, family, n, most, least);
}

/// The same for programs that are compiled in a given way.
fn shapes_with(how: How, family: Family, n: u32, most: usize, least: &[(&'static str, usize)]) {
    let planning = Options { checkpoints: how.checkpoints, ..options() };
    let folder = Folder::new(&format!("shapes-{family:?}-{}-{}", how.checkpoints, how.pieces.lines));
    let number = RefCell::default();
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut skipped: BTreeMap<(&'static str, &'static str), usize> = BTreeMap::new();
    let (mut state, factor) = (12_345, eddy_tests::law::factor());
    let most = most * factor as usize;
    for _ in 0..n * factor {
        let sample = sample(family, &mut state);
        let Ok(ready) = &sample.ready else { continue };
        let mut shapes = shapes(ready, &planned(ready, &planning));
        if shapes.contains(&"derived end") && has_waiting_failures(ready, how) {
            shapes.push(if how.checkpoints { "checkpoint, unknown at end" } else { "unknown at end" });
        }
        shapes.retain(|shape| !how.checkpoints || shape.starts_with("checkpoint"));
        if !shapes.iter().any(|shape| counts.get(shape).is_none_or(|count| *count < most)) {
            continue;
        }
        match agrees(ready, &folder, how, &number) {
            Ok(Verdict::Holds) => {
                for shape in shapes {
                    *counts.entry(shape).or_default() += 1;
                }
            }
            Ok(Verdict::Vacuous(why)) => {
                for shape in shapes {
                    *skipped.entry((shape, why)).or_default() += 1;
                }
            }
            Err(broken) => panic!("{sample:?}\n{broken}"),
        }
    }
    show(&format!("{family:?}: {counts:?}\n  skipped: {skipped:?}"));
    for (shape, least) in least {
        assert!(counts.get(shape).is_some_and(|count| count >= least), "{shape}: {counts:?}, {skipped:?}");
    }
}

#[test]
fn shapes_of_plain_programs() {
    let least = [
        ("derived end", 10),
        ("late prelude", 10),
        ("late, unknown at the end", 10),
        ("sampled latch", 8),
        ("sampled slot", 10),
        ("several roots", 10),
        ("tracked", 10),
        ("unknown at the end", 10),
        ("windows in windows", 1),
        ("windows in windows, backwards", 1),
    ];
    all_shapes(Family::Plain, 1500, 10, &least);
}

#[test]
fn shapes_of_adjoints() {
    let least = [
        ("derived end", 10),
        ("late prelude", 10),
        ("sampled slot", 8),
        ("tracked", 10),
        ("several roots", 10),
    ];
    all_shapes(Family::Adjoint, 800, 10, &least);
}

#[test]
fn shapes_of_resets() {
    all_shapes(Family::Reset, 300, 10, &[("late prelude", 8), ("several roots", 10)]);
}

#[test]
fn shapes_of_training() {
    let least =
        [("derived end", 8), ("late prelude", 10), ("unknown at the end", 8), ("windows in windows", 1)];
    all_shapes(Family::Training, 400, 10, &least);
}

#[test]
fn shapes_of_derivatives_of_training() {
    let least = [("late prelude", 10), ("windows in windows", 3), ("windows in windows, backwards", 1)];
    all_shapes(Family::ThroughTraining, 300, 10, &least);
}

#[test]
fn shapes_of_checkpoints() {
    let how = How {
        flags: &["-O1", "-fsanitize=undefined", "-fno-sanitize-recover"],
        opens: true,
        checkpoints: true,
        ..PLAIN
    };
    let plain = [
        ("checkpoint", 10),
        ("checkpoint, tracked", 5),
        ("checkpoint, derived end", 5),
        ("checkpoint, backwards", 5),
        ("checkpoint, units", 1),
    ];
    shapes_with(how, Family::Plain, 1500, 10, &plain);
    let adjoint = [
        ("checkpoint", 10),
        ("checkpoint, tracked", 10),
        ("checkpoint, derived end", 3),
        ("checkpoint, backwards", 5),
    ];
    shapes_with(how, Family::Adjoint, 800, 10, &adjoint);
}

#[test]
fn shapes_of_streams_that_go_both_ways() {
    let least = [("retimed unit", 10), ("retimed unit, computed start", 10)];
    all_shapes(Family::BothWays, 60, 15, &least);
}

#[test]
fn shapes_of_programs_with_waiting_failures() {
    all_shapes(Family::UnknownAtEnd, 150, 25, &[("derived end", 20), ("unknown at end", 20)]);
    let how = How { flags: &["-O1"], opens: true, checkpoints: true, ..PLAIN };
    shapes_with(how, Family::UnknownAtEnd, 100, 10, &[("checkpoint, unknown at end", 5)]);
}

/// Functions of all shapes are cut, too.
#[test]
fn shapes_in_pieces() {
    let how = How { opens: true, pieces: Pieces::of_lines(2), ..PLAIN };
    let least = [
        ("derived end", 3),
        ("late prelude", 3),
        ("sampled latch", 3),
        ("sampled slot", 3),
        ("several roots", 3),
        ("tracked", 3),
        ("unknown at the end", 3),
        ("windows in windows", 1),
        ("windows in windows, backwards", 1),
    ];
    shapes_with(how, Family::Plain, 1500, 3, &least);
    let least = [("late prelude", 2), ("windows in windows", 2), ("windows in windows, backwards", 1)];
    shapes_with(how, Family::ThroughTraining, 300, 2, &least);
}
