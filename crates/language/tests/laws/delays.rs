//! `post` inverts `fby`, and `fby` inverts `post` (P7).

use eddy_flow::{Kind, VarId};
use eddy_language::semantics::Cell;
use eddy_language::semantics::denote::Denotation;

use crate::generated::case::{Case, Ready, prepared};
use crate::generated::compare::show;
use crate::generated::engines::{SEED, cells, denote, settled, simulate};
use crate::generated::generate::Choices;
use crate::generated::harness::{SampleChoices, Verdict, law_of_programs};
use crate::generated::trace::Absences;

/// A program with the streams `undone = post (other fby one)` and `redone = other fby (post one)` for two
/// streams `one` and `other` of the same clock.
fn sample(source: &mut SampleChoices<'_>) -> Case {
    let mut program = source.program.program();
    if let Ok(plain) = prepared(&program.text(), program.main().name) {
        let (flow, clocks) = (&plain.flow, &plain.clocks);
        let definitions = flow.definitions();
        // Copies of compile-time constants would not be streams.
        let is_constant = |number: usize| matches!(flow.equations[number].kind, Kind::Const(_));
        let is_stream = |var: &VarId| !definitions[var.index()].is_some_and(is_constant);
        let is_named = |var: &VarId| flow.var(*var).name.as_deref().is_some_and(|name| !name.contains('/'));
        let named: Vec<VarId> = flow.var_ids().filter(is_named).filter(is_stream).collect();
        if named.is_empty() {
            return Case::new(program, source, Absences::Some);
        }
        let mut choices = Choices::new(source.law);
        let v = choices.among(&named);
        let is_alike = |w: &VarId| (clocks.of(*w), &flow.var(*w).ty) == (clocks.of(v), &flow.var(v).ty);
        let alike: Vec<VarId> = named.into_iter().filter(is_alike).collect();
        let name = |var: VarId| flow.var(var).name.as_deref().expect("they are named").to_string();
        let (v, w) = (name(v), name(choices.among(&alike)));
        let main = program.nodes.last_mut().expect("a program has a node");
        main.equations.extend([
            format!("one = {v};"),
            format!("other = {w};"),
            "undone = post (other fby one);".to_string(),
            "redone = other fby (post one);".to_string(),
        ]);
    }
    Case::new(program, source, Absences::Some)
}

#[test]
fn p7_post_undoes_fby_and_fby_undoes_post() {
    law_of_programs("P7 post and fby", 400, sample, |_, ready| {
        if ready.flow().find("one").is_none() {
            return Ok(Verdict::Vacuous("only constants"));
        }
        let (a, b) = (cells!(denote(ready)), settled(&cells!(simulate(ready))));
        let activity = activity(ready);
        for (name, rows) in [("A", &a), ("B", &b)] {
            let row = |name: &str| &rows[ready.flow().find(name).expect("it was added").index()];
            let (v, w) = (row("one"), row("other"));
            let undone: Vec<Cell> = (0..ready.n_cycles)
                .map(|n| {
                    match (activity[n], activity[n + 1..].iter().find(|activity| **activity != Some(false))) {
                        (Some(true), Some(Some(true))) => v[n].clone(),
                        (Some(false), _) => Cell::Absent,
                        // The last activation, or it is unknown whether there is another.
                        _ => Cell::Unknown,
                    }
                })
                .collect();
            let redone: Vec<Cell> = (0..ready.n_cycles)
                .map(|n| {
                    match (activity[n], activity[..n].iter().rfind(|activity| **activity != Some(false))) {
                        (Some(true), None) => w[n].clone(),
                        (Some(true), Some(Some(true))) => v[n].clone(),
                        (Some(false), _) => Cell::Absent,
                        _ => Cell::Unknown,
                    }
                })
                .collect();
            for (stream, expected) in [("undone", undone), ("redone", redone)] {
                if *row(stream) != expected {
                    let (found, expected) = (show(row(stream)), show(&expected));
                    return Err(format!("`{stream}` in {name}: {found}\n  expected: {expected}"));
                }
            }
        }
        Ok(Verdict::Holds)
    });
}

/// Whether the clock of `one` is active.
fn activity(ready: &Ready) -> Vec<Option<bool>> {
    let mut denotation = Denotation::new(ready.flow(), ready.clocks(), &ready.inputs, ready.n_cycles, SEED);
    denotation.solve().expect("it was solved before");
    let v = ready.flow().find("one").expect("it was added");
    (0..ready.n_cycles).map(|cycle| denotation.is_active(v, cycle)).collect()
}
