//! The distribution of generated programs: most are accepted, and none is rejected for another reason than
//! causality.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_flow::Kind;
use eddy_language::causality::Verdict as Lookahead;
use eddy_language::check::{check_program, load};
use eddy_language::codes;
use eddy_language::program::Limits;
use eddy_language::semantics::Cell;
use eddy_syntax::{SourceFile, Sources};

use crate::generated::case::{Case, Ready};
use crate::generated::engines::{cells, simulate};
use crate::generated::harness::{Verdict, law_of_programs, show};

#[test]
fn most_generated_programs_are_accepted_and_compute_something() {
    let (features, contents) = (RefCell::new(BTreeMap::new()), RefCell::new(BTreeMap::new()));
    let n_samples = RefCell::new(0);
    law_of_programs(
        "distribution",
        2000,
        |source| {
            *n_samples.borrow_mut() += 1;
            Case::sample(source)
        },
        |_, ready| {
            for feature in features_of(ready) {
                *features.borrow_mut().entry(feature).or_insert(0) += 1;
            }
            for cell in cells!(simulate(ready)).iter().flatten() {
                let kind = match cell {
                    Cell::Unknown => "⊥",
                    Cell::Present => "?",
                    Cell::Absent => "□",
                    Cell::Value(_) => "value",
                    Cell::Error => "✗",
                };
                *contents.borrow_mut().entry(kind).or_insert(0) += 1;
            }
            Ok(Verdict::Holds)
        },
    );
    let (features, contents) = (features.into_inner(), contents.into_inner());
    show(&format!("programs with: {features:?}"));
    show(&format!("cells: {contents:?}"));
    let share =
        |kind: &str| 100 * contents.get(kind).copied().unwrap_or(0) / contents.values().sum::<usize>();
    assert!(
        100 * features["accepted"] >= 70 * *n_samples.borrow(),
        "most programs should be accepted: {features:?}"
    );
    assert!(share("value") >= 40, "most cells should have a value: {contents:?}");
    assert!(share("□") >= 10, "some cells should be absent: {contents:?}");
    assert!(share("⊥") + share("?") >= 5, "some cells should stay unknown: {contents:?}");
}

/// The constructs of a program.
fn features_of(ready: &Ready) -> Vec<&'static str> {
    let flow = ready.flow();
    let has = |is_it: &dyn Fn(&Kind) -> bool| flow.equations.iter().any(|equation| is_it(&equation.kind));
    let depth = flow.var_ids().map(|var| ready.n_samplings(var)).max().unwrap_or(0);
    let is_sampled_input = |index: &usize| ready.n_samplings(flow.inputs[*index]) > 0;
    let features = [
        ("accepted", true),
        ("fby", has(&|kind| matches!(kind, Kind::Fby { .. }))),
        ("fby back", has(&|kind| matches!(kind, Kind::FbyBack { .. }))),
        ("post", has(&|kind| matches!(kind, Kind::Post(_)))),
        ("when", has(&|kind| matches!(kind, Kind::When { .. }))),
        ("merge", has(&|kind| matches!(kind, Kind::Merge { .. }))),
        ("param", has(&|kind| matches!(kind, Kind::Param(_)))),
        ("instances", flow.vars.iter().any(|var| var.name.as_deref().is_some_and(|name| name.contains('/')))),
        ("nested clocks", depth >= 2),
        ("sampled inputs", (0..flow.inputs.len()).any(|index| is_sampled_input(&index))),
        ("unowned roots", !ready.clocks().demanded().is_empty()),
        ("no inputs", flow.inputs.is_empty()),
        ("written clocks", !flow.clocks.is_empty()),
        ("look-ahead 0", ready.prepared.verdict == Some(Lookahead::LookAhead(0))),
        ("look-ahead z", matches!(ready.prepared.verdict, Some(Lookahead::LookAhead(1..)))),
        ("next activation", ready.prepared.verdict == Some(Lookahead::NextActivation)),
        ("guarded", matches!(ready.prepared.verdict, Some(Lookahead::Guarded { .. }))),
    ];
    features.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect()
}

#[test]
fn check_accepts_programs_that_run() {
    law_of_programs("check", 300, Case::sample, |case, _| {
        let mut sources = Sources::alone(SourceFile::new("law.eddy", case.program.text()));
        let checked = load(&mut sources, Limits::default()).and_then(|program| check_program(&program, None));
        match checked {
            Ok(_) => Ok(Verdict::Holds),
            // A node whose output is dead.
            Err(found) if found[0].code == codes::CAUSALITY => Ok(Verdict::Vacuous("waits for itself")),
            Err(found) => Err(found[0].title.clone()),
        }
    });
}
