//! The wording of type errors, in one place.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};

use super::rules::RuleMismatch;
use crate::codes;
use crate::syntax::Op;
use crate::types::{MAX_DEPTH, Type, Types};

/// Where a rule did not apply.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    pub form: Span,
    /// The part that does not fit.
    pub part: Span,
    /// The part that it should fit with.
    pub other: Option<Span>,
    /// The name of the form, such as `pi0^1`.
    pub name: &'a str,
}

/// The diagnostic for a rule that does not apply.
pub fn rule_mismatch(types: &Types, mismatch: RuleMismatch, place: Place<'_>) -> Diagnostic {
    let code = if mismatch.is_about_depth() { codes::DEPTH } else { codes::TYPE };
    let show = |ty: Type| format!("`{}`", types.show_briefly(ty));
    let name = place.name;
    // The place of the error is the construct whose rule fails; the part that does not fit is its cause.
    let error = |title: String, found: Type| {
        Diagnostic::error(code, place.form, title).cause(place.part, format!("this is {}", show(found)))
    };
    match mismatch {
        RuleMismatch::NotAFunction(found) => {
            let diagnostic = error(format!("{name} takes a function, and this is {}", show(found)), found);
            if name == "an application" {
                diagnostic.help("only functions are applied to something; is there an argument too many?")
            } else {
                diagnostic.help(format!("apply {name} to a term of type `A -> B`"))
            }
        }
        RuleMismatch::Argument(expected, found) => {
            let title = format!("the function takes {}, and its argument is {}", show(expected), show(found));
            let diagnostic = error(title, found);
            let diagnostic = match place.other {
                Some(function) => diagnostic.cause(function, format!("this takes {}", show(expected))),
                None => diagnostic,
            };
            help_with_levels(diagnostic, expected, found)
        }
        RuleMismatch::NotAnEndofunction(from, to) => {
            let title = format!(
                "{name} takes a function from a type to itself, and this goes from {} to {}",
                show(from),
                show(to)
            );
            let cause = format!("from {} to {}", show(from), show(to));
            Diagnostic::error(code, place.form, title).cause(place.part, cause)
        }
        RuleMismatch::NotGround(depth, found) => {
            let due = show(Type::ground(depth));
            let diagnostic = error(format!("{name} takes exactly {due}, and this is {}", show(found)), found);
            if found.is_ground() && name.starts_with('`') {
                let word = name.trim_matches('`').split('^').next().unwrap_or_default();
                let suffix = if found.depth == 0 { String::new() } else { format!("^{}", found.depth) };
                diagnostic.help(format!("the depth is never inferred: write `{word}{suffix}`"))
            } else {
                diagnostic.reason("numbers are computed with, functions are not")
            }
        }
        RuleMismatch::TooShallow(levels, found) => {
            let plural = if levels == 1 { "" } else { "s" };
            let title = format!(
                "{name} needs {levels} level{plural} of `D`, and {} has {}",
                show(found),
                found.depth
            );
            error(title, found).reason("`D` of a function counts at the end: `A -> D B` has one level")
        }
        RuleMismatch::TooDeep(found) => {
            error(format!("{name} would make a type deeper than {MAX_DEPTH}"), found)
        }
        RuleMismatch::Branches(yes, no) => {
            let title = format!("the branches differ: {} after `then`, {} after `else`", show(yes), show(no));
            let diagnostic = error(title, no);
            let diagnostic = match place.other {
                Some(other) => diagnostic.cause(other, format!("this is {}", show(yes))),
                None => diagnostic,
            };
            help_with_levels(diagnostic, yes, no)
        }
    }
}

/// Two types that differ only in their depth: an injection or a projection is missing.
fn help_with_levels(diagnostic: Diagnostic, expected: Type, found: Type) -> Diagnostic {
    if expected.shallower(1) == Some(found) {
        diagnostic.help("`inj0 M` makes a pair out of M, with 0 as its derivative")
    } else if found.shallower(1) == Some(expected) {
        diagnostic.help("`pi0 M` is the first component of a pair, `pi1 M` its derivative")
    } else {
        diagnostic
    }
}

/// A definition of another type than it declares: the whole, its term, and the declaration.
pub fn declared(types: &Types, places: [Span; 3], expected: Type, found: Type) -> Diagnostic {
    let (due, got) = (types.show_briefly(expected), types.show_briefly(found));
    let [definition, term, annotation] = places;
    let diagnostic =
        Diagnostic::error(codes::TYPE, definition, format!("declared as `{due}`, and this is `{got}`"))
            .cause(term, format!("this is `{got}`"))
            .cause(annotation, format!("`{due}` is declared here"));
    help_with_levels(diagnostic, expected, found)
}

/// An unbound variable.
pub fn unbound<'a>(
    text: &str,
    span: Span,
    visible: impl Iterator<Item = &'a str>,
    is_later: Option<Span>,
) -> Diagnostic {
    let title = format!("unbound variable `{text}`");
    let diagnostic = Diagnostic::error(codes::UNBOUND, span, title).label("nothing binds this name here");
    if let Some(later) = is_later {
        return diagnostic
            .cause(later, "it is defined here")
            .reason("a definition sees only those before it, and not itself")
            .help(format!("for recursion write `fix \\{text}:A. …`"));
    }
    // Sorted, so that a tie does not depend on the order of a hash table.
    let mut names: Vec<&str> = visible.filter(|name| *name != "_").collect();
    names.sort_unstable();
    match nearest(text, names) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic,
    }
}

/// The name of an operator in messages.
pub fn name_of(op: Op, depth: u32) -> String {
    let suffix = if depth == 0 { String::new() } else { format!("^{depth}") };
    format!("`{}{suffix}`", crate::print::word(op))
}
