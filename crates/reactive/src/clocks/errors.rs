//! What is said about streams that tick at different times.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::infer::{Term, Terms, clock_of};
use crate::codes;
use crate::flow::clocks::letters;
use crate::flow::{Flow, Labels, Polarity, VarId};

/// Where two clocks met.
#[derive(Clone, Copy, Debug)]
pub(super) enum Situation {
    /// Two operands of one operation; this is the other one.
    Operands(VarId),
    /// The result of `when`.
    Sampled,
    /// A branch of `merge` with this condition.
    MergeBranch(VarId, Polarity),
    /// A clock is written.
    Written,
}

/// `var` should be on `clock` and is not.
pub(super) fn mismatch(
    flow: &Flow,
    terms: &Terms,
    labels: &Labels<'_>,
    var: VarId,
    clock: u32,
    situation: Situation,
    span: Span,
) -> Diagnostic {
    let found = show(flow, terms, labels, clock_of(var));
    let expected = show(flow, terms, labels, clock);
    let name = labels.subject(var, "'");
    let title = match situation {
        Situation::Operands(other) => {
            let other = labels.subject(other, "'");
            format!("clock error: {name} is on clock {found} but {other} is on clock {expected}")
        }
        Situation::Sampled => {
            format!("clock error: {name} is on clock {found} but sampling puts it on clock {expected}")
        }
        Situation::MergeBranch(condition, _) => {
            let condition = labels.operand(condition);
            format!(
                "clock error: {name} is on clock {found} but `merge {condition}` needs it on clock {expected}"
            )
        }
        Situation::Written => {
            format!("clock error: {name} is on clock {found} but clock {expected} is written")
        }
    };
    let declared = flow.var(var).span;
    let mut diagnostic = Diagnostic::error(codes::CLOCK, span, title);
    if declared != span {
        diagnostic = diagnostic.cause(declared, format!("{name} is here when: {found}"));
    }
    if let Situation::Operands(other) = situation
        && flow.var(other).span != span
    {
        let other_name = labels.subject(other, "'");
        diagnostic = diagnostic.cause(flow.var(other).span, format!("{other_name} is here when: {expected}"));
    }
    diagnostic = diagnostic.reason("streams are combined at the cycles where all of them are there");
    if found == expected {
        // Two conditions with one text: the clocks cannot be told apart by what they are called.
        return diagnostic
            .reason(
                "two conditions are the same only if they are one stream; these are two with the same text",
            )
            .help("give the condition a name in an equation of its own, and use that name in both places");
    }
    match way_out(flow, terms, labels, var, clock, situation) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// The `when` or `merge` that is probably missing.
fn way_out(
    flow: &Flow,
    terms: &Terms,
    labels: &Labels<'_>,
    var: VarId,
    clock: u32,
    situation: Situation,
) -> Option<String> {
    // What is synthesised cannot be written otherwise.
    let other = match situation {
        Situation::Operands(other) => other,
        Situation::Sampled | Situation::MergeBranch(..) | Situation::Written => var,
    };
    if !labels.is_written(var) || !labels.is_written(other) {
        return None;
    }
    // `when` binds tightly, so what it samples stands in parentheses.
    let name = labels.operand(var);
    let one_slower = |slow: u32, fast: u32| match terms.terms[terms.find(slow) as usize] {
        Term::On { of, condition, polarity } if terms.find(of) == terms.find(fast) => {
            Some((condition, polarity))
        }
        _ => None,
    };
    let found = clock_of(var);
    let not = |polarity: Polarity| if polarity == Polarity::On { "" } else { "not " };
    match situation {
        Situation::Operands(other_var) => {
            let other = labels.operand(other_var);
            if let Some((condition, polarity)) = terms.complements(found, clock) {
                let (named, condition) = with_name(flow, labels, condition);
                let (yes, no) = if polarity == Polarity::On { (name, other) } else { (other, name) };
                return Some(format!(
                    "{named}they are never there together: `merge {condition} {yes} {no}` takes whichever is there"
                ));
            }
            let (faster, slower, (condition, polarity)) = match one_slower(found, clock) {
                Some(sampling) => ((other_var, other), name, sampling),
                None => ((var, name), other, one_slower(clock, found)?),
            };
            let not = not(polarity);
            // `c when c` is always true, and nobody means it.
            if terms.source(faster.0) == condition {
                let condition = labels.operand(condition);
                return Some(format!(
                    "hold the slower one: `merge {condition} …` gives it a value also where `{slower}` is not there"
                ));
            }
            let (named, condition) = with_name(flow, labels, condition);
            let faster = faster.1;
            Some(format!(
                "{named}sample the faster one, `{faster} when {not}{condition}`, or hold the slower one with `merge {condition} …`"
            ))
        }
        Situation::MergeBranch(condition, polarity) => {
            let (named, text) = with_name(flow, labels, condition);
            let not = not(polarity);
            match (terms.terms[terms.find(found) as usize], terms.terms[terms.find(clock) as usize]) {
                // Sampled by the same condition, the other way round.
                (Term::On { condition: a, .. }, Term::On { condition: b, .. }) if a == b => Some(format!(
                    "{named}this branch is there when `{text}` has the other value: sample it with `when {not}{text}`"
                )),
                // Sampled by something else: what was meant cannot be known.
                (Term::On { .. }, _) => None,
                _ => Some(format!(
                    "{named}a branch of `merge` is there only when it is chosen: `{name} when {not}{text}`"
                )),
            }
        }
        Situation::Sampled | Situation::Written => None,
    }
}

/// A condition that can be used twice: its name, or one that it should be given first.
fn with_name(flow: &Flow, labels: &Labels<'_>, condition: VarId) -> (String, String) {
    if flow.var(condition).name.is_some() {
        return (String::new(), labels.label(condition));
    }
    let is_free = |name: &&str| flow.find(name).is_none();
    let name = ["c", "d", "c1", "c2"].into_iter().find(is_free).unwrap_or("condition");
    (format!("name the condition, `{name} = {};`; ", labels.label(condition)), name.to_string())
}

/// A clock that is not finished: roots of inputs by name, others as `?`.
fn show(flow: &Flow, terms: &Terms, labels: &Labels<'_>, clock: u32) -> String {
    let mut conditions = Vec::new();
    let mut at = terms.find(clock);
    while let Term::On { of, condition, polarity } = terms.terms[at as usize] {
        let not = if polarity == Polarity::On { "" } else { "not " };
        conditions.push(format!(" on {not}{}", labels.operand(condition)));
        at = terms.find(of);
    }
    let mut roots: FxHashMap<u32, usize> = FxHashMap::default();
    for input in &flow.inputs {
        let root = terms.find(clock_of(*input));
        if matches!(terms.terms[root as usize], Term::Free) {
            let next = roots.len();
            roots.entry(root).or_insert(next);
        }
    }
    let mut text = match roots.get(&at) {
        None | Some(0) => "base".to_string(),
        Some(number) => letters(number - 1),
    };
    text.extend(conditions.into_iter().rev());
    text
}
