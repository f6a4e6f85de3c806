//! L2 and L3 for shared buffers: one stream is written after the last step that reads the other.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_flow::VarId;
use eddy_plan::plan::{
    Body, BufferId, BufferRole, Direction, Place, Plan, Read, Region, Right, Schedule, Step, Store, Windows,
};
use eddy_plan::show::report;
use eddy_plan::{Options, Recompute, plan};
use expect_test::expect;

use crate::generated::case::Ready;
use crate::generated::harness::{Trial, Verdict, show};
use crate::invariance::law_of_samples;
use crate::programs::{PROGRAMS, prepared};
use crate::run::{execute, options, planned};
use crate::samples::Family;

fn windows(plan: &Plan) -> impl Iterator<Item = &Windows> {
    plan.roots.iter().filter_map(|root| match &root.schedule {
        Schedule::Windows(windows) => Some(&**windows),
        _ => None,
    })
}

#[test]
fn which_streams_share_a_buffer() {
    let mut lines = Vec::new();
    for node in ["adj_bn", "adj_lb", "diff_lb", "t_bir", "adj_adj_birnn", "adj_adj_bn"] {
        let prepared = prepared(PROGRAMS, node);
        let plan = plan(&prepared.flow, &prepared.clocks, &Options::default());
        for buffer in windows(&plan).flat_map(|windows| &windows.buffers) {
            if buffer.vars.len() > 1 {
                lines.push(format!("{node}: {} streams\n", buffer.vars.len()));
            }
        }
    }
    expect![[r"
        diff_lb: 2 streams
        diff_lb: 2 streams
    "]]
    .assert_eq(&lines.concat());
}

/// For each stream in a buffer, the steps that write it and those that read it.
fn lifetimes(region: &Region) -> BTreeMap<(BufferId, VarId), (Vec<usize>, Vec<usize>)> {
    let mut found: BTreeMap<(BufferId, VarId), (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (number, step) in region.steps.iter().enumerate() {
        let Step::Sweep(sweep) = step else { continue };
        for instruction in sweep.bodies.iter().flat_map(|body| &body.code) {
            for store in &instruction.store {
                if let Store::Buffer(buffer) = store {
                    found.entry((*buffer, instruction.var)).or_default().0.push(number);
                }
            }
            for (var, buffer) in Region::reads(instruction).flat_map(buffers) {
                found.entry((buffer, var)).or_default().1.push(number);
            }
        }
    }
    found
}

fn buffers(read: &Read) -> Vec<(VarId, BufferId)> {
    let places: Vec<&Place> = match read {
        Read::Here(_, place) => vec![place],
        Read::Before { first, inner, .. } => vec![first, inner],
        Read::After { inner, last, .. } => std::iter::once(inner).chain(last).collect(),
    };
    let buffer = |place: &Place| match place {
        Place::Buffer(buffer) => Some((read.var(), *buffer)),
        _ => None,
    };
    places.into_iter().filter_map(buffer).collect()
}

fn take_turns(ready: &Ready, n_shared: &RefCell<usize>) -> Trial {
    // With recomputation, few streams need buffers that they could share.
    let plans = [Recompute::Elementwise, Recompute::Nothing]
        .map(|recompute| planned(ready, &Options { recompute, ..options() }));
    for (plan, windows) in plans.iter().flat_map(|plan| windows(plan).map(move |windows| (plan, windows))) {
        for version in &windows.versions {
            let lifetimes = lifetimes(&version.region);
            for (number, buffer) in windows.buffers.iter().enumerate() {
                *n_shared.borrow_mut() += usize::from(buffer.vars.len() > 1);
                for pair in buffer.vars.windows(2) {
                    let of = |var: VarId| lifetimes.get(&(BufferId::new(number), var));
                    let (Some(before), Some(after)) = (of(pair[0]), of(pair[1])) else { continue };
                    let last = before.0.iter().chain(&before.1).max();
                    if last >= after.0.iter().min() {
                        return Err(report("n", ready.flow(), plan, None));
                    }
                }
            }
        }
    }
    Ok(Verdict::Holds)
}

#[test]
fn l2_streams_that_share_a_buffer_take_turns() {
    let n = RefCell::new(0);
    for family in [Family::Adjoint, Family::Reset, Family::Training] {
        law_of_samples("L2 shared buffers", 300, family, |_, ready| take_turns(ready, &n));
    }
    show(&format!("L2: {} buffers are shared", n.borrow()));
    assert!(*n.borrow() >= 10, "{} buffers are shared", n.borrow());
}

/// Moves the streams of a buffer to another one.
fn merge(region: &mut Region, from: BufferId, to: BufferId) {
    let place = |place: &mut Place| {
        if *place == Place::Buffer(from) {
            *place = Place::Buffer(to);
        }
    };
    let read = |read: &mut Read| match read {
        Read::Here(_, here) => place(here),
        Read::Before { first, inner, .. } => [first, inner].into_iter().for_each(place),
        Read::After { inner, last, .. } => std::iter::once(inner).chain(last.iter_mut()).for_each(place),
    };
    let body = |body: &mut Body| {
        for instruction in &mut body.code {
            for store in &mut instruction.store {
                if *store == Store::Buffer(from) {
                    *store = Store::Buffer(to);
                }
            }
            instruction.clock.iter_mut().for_each(|condition| read(&mut condition.read));
            match &mut instruction.right {
                Right::Copy(one) => read(one),
                Right::Apply(reads) => reads.iter_mut().for_each(read),
                Right::Choice { condition, yes, no } => [condition, yes, no].into_iter().for_each(read),
                Right::Ahead { next: Some(next), .. } => read(next),
                _ => {}
            }
        }
    };
    region.steps.iter_mut().for_each(|step| {
        if let Step::Sweep(sweep) = step {
            sweep.bodies.iter_mut().for_each(body);
        }
    });
}

/// L3: two streams that are kept for the same backward loop cannot share a buffer.
fn is_missed(ready: &Ready, counts: &RefCell<(u32, u32)>) -> Verdict {
    let plan = planned(ready, &options());
    let Ok(expected) = execute(ready, &plan) else { return Verdict::Vacuous("no value") };
    let mut mutant = plan.clone();
    for root in &mut mutant.roots {
        let Schedule::Windows(windows) = &mut root.schedule else { continue };
        let is_window_long = ready.n_cycles > 3 && windows.versions.len() == 1;
        let region = &mut windows.versions[0].region;
        let is_back =
            |step: &Step| matches!(step, Step::Sweep(sweep) if sweep.direction == Direction::Backward);
        if !is_window_long || region.steps.len() != 2 || !is_back(&region.steps[1]) {
            continue;
        }
        let is_kept = |number: &usize| windows.buffers[*number].role == BufferRole::Sweeps;
        let kept: Vec<usize> = (0..windows.buffers.len()).filter(is_kept).collect();
        let [one, other, ..] = kept[..] else { continue };
        merge(region, BufferId::new(one), BufferId::new(other));
        let mut counts = counts.borrow_mut();
        counts.1 += 1;
        counts.0 += u32::from(execute(ready, &mutant).ok() != Some(expected));
        return Verdict::Holds;
    }
    Verdict::Holds
}

#[test]
fn l3_streams_that_are_live_at_once_cannot_share_a_buffer() {
    let counts = RefCell::new((0, 0));
    for family in [Family::Adjoint, Family::Reset] {
        law_of_samples("L3 shared buffers", 400, family, |_, ready| Ok(is_missed(ready, &counts)));
    }
    let (caught, n) = counts.into_inner();
    show(&format!("L3: {caught} of {n} pairs that share a buffer are caught"));
    assert!(n >= 10 && 100 * caught >= 90 * n, "{caught} of {n} were caught");
}
