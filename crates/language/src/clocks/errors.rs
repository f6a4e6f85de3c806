//! Diagnostics about streams with different clocks.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::infer::{Term, Terms, clock_of};
use crate::codes;
use crate::flow::clocks::letters;
use crate::flow::{Flow, Labels, Polarity, VarId};

/// The rule that required two clocks to be equal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Situation {
    /// The stream is an operand of an operation; this is another operand of the same operation.
    Operands(VarId),
    /// The result of `when`.
    Sampled,
    /// A branch of `merge` with this condition.
    MergeBranch(VarId, Polarity),
    /// A clock annotation.
    Written,
}

/// The error if `var` must be on `clock` and is not.
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
            format!("clock error: {name} is on clock {found} but is declared on clock {expected}")
        }
    };
    let declared = flow.var(var).span;
    let mut diagnostic = Diagnostic::error(codes::CLOCK, span, title);
    if declared != span {
        diagnostic = diagnostic.cause(declared, format!("{name} is on clock {found}"));
    }
    if let Situation::Operands(other) = situation
        && flow.var(other).span != span
    {
        let other_name = labels.subject(other, "'");
        diagnostic = diagnostic.cause(flow.var(other).span, format!("{other_name} is on clock {expected}"));
    }
    diagnostic = diagnostic.reason("an operation combines streams that are present at the same cycles");
    if found == expected {
        // Two conditions with the same text, so the texts of the clocks are equal.
        return diagnostic
            .reason(
                "two conditions are equal only if they are the same stream; these are two streams with the same text",
            )
            .help("give the condition a name in an equation of its own, and use that name in both places");
    }
    match suggestion(flow, terms, labels, var, clock, situation) {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Suggests the `when` or `merge` that is probably missing.
fn suggestion(
    flow: &Flow,
    terms: &Terms,
    labels: &Labels<'_>,
    var: VarId,
    clock: u32,
    situation: Situation,
) -> Option<String> {
    // The user cannot change synthesised equations.
    let other = match situation {
        Situation::Operands(other) => other,
        Situation::Sampled | Situation::MergeBranch(..) | Situation::Written => var,
    };
    if !labels.is_written(var) || !labels.is_written(other) {
        return None;
    }
    // `when` binds tightly, so its left operand needs parentheses.
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
                    "{named}they are never present together: `merge {condition} {yes} {no}` takes the one that is present"
                ));
            }
            let (faster, slower, (condition, polarity)) = match one_slower(found, clock) {
                Some(sampling) => ((other_var, other), name, sampling),
                None => ((var, name), other, one_slower(clock, found)?),
            };
            let not = not(polarity);
            // `c when c` is always true, so do not suggest it.
            if terms.source(faster.0) == condition {
                let condition = labels.operand(condition);
                return Some(format!(
                    "hold the slower one: `merge {condition} …` gives it a value also where `{slower}` is absent"
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
                // Sampled by the same condition, with the opposite value.
                (Term::On { condition: a, .. }, Term::On { condition: b, .. }) if a == b => Some(format!(
                    "{named}this branch is present when `{text}` has the other value: sample it with `when {not}{text}`"
                )),
                // Sampled by another condition: the intention is unknown.
                (Term::On { .. }, _) => None,
                _ => Some(format!(
                    "{named}a branch of `merge` is present only when it is selected: `{name} when {not}{text}`"
                )),
            }
        }
        Situation::Sampled | Situation::Written => None,
    }
}

/// The name of a condition, after a text for the start of the help that introduces this name. The text is
/// empty if the condition has a name already.
fn with_name(flow: &Flow, labels: &Labels<'_>, condition: VarId) -> (String, String) {
    if flow.var(condition).name.is_some() {
        return (String::new(), labels.label(condition));
    }
    let is_free = |name: &&str| flow.find(name).is_none();
    let name = ["c", "d", "c1", "c2"].into_iter().find(is_free).unwrap_or("condition");
    (format!("name the condition, `{name} = {};`; ", labels.label(condition)), name.to_string())
}

/// The text of a clock during inference; roots without an input are shown as `base`.
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
