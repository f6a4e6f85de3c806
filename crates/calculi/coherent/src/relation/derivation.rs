//! A derivation as text: a judgement on each line, its premises below it and indented.
//!
//! Each variable of a judgement is printed with the points at which its premises use it.
//!
//! ```text
//! [if] x:[0, 0] ⊢ if x then x else 7 : 0
//!   [var] x:[0] ⊢ x : 0
//!   [var] x:[0] ⊢ x : 0
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::point;
use super::search::{Derivation, Environment};
use super::store::PointId;
use crate::print::{self, Scope};
use crate::syntax::{Term, TermId, Terms};

/// The maximal length of a printed term.
const TERM_WIDTH: usize = 60;
/// The maximal indentation of judgements.
const MAX_INDENT: usize = 40;
/// The maximal number of listed uses of a variable.
const MAX_USES: usize = 100;

/// Writes a derivation.
pub fn write(derivation: &Derivation, terms: &Terms, out: &mut dyn Write) -> fmt::Result {
    enum Task {
        /// A judgement, and its depth.
        Write(usize, usize),
        /// The variable of a judgement leaves the scope.
        Leave,
    }
    let uses = uses(derivation, terms);
    // The premises of each judgement, in the order of the search.
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); derivation.judgements.len()];
    for (place, judgement) in derivation.judgements.iter().enumerate() {
        if let Some(below) = judgement.below {
            above[below].push(place);
        }
    }
    let mut scope = Scope::default();
    let mut work = vec![Task::Write(0, 0)];
    while let Some(task) = work.pop() {
        let Task::Write(place, depth) = task else {
            scope.leave();
            continue;
        };
        let judgement = derivation.judgements[place];
        if let Some(binder) = binder(derivation, place) {
            let name = scope.fresh(terms, binder);
            scope.enter(name);
            work.push(Task::Leave);
        }
        work.extend(above[place].iter().rev().map(|next| Task::Write(*next, depth + 1)));
        let context = context(derivation, &scope, &uses[place]);
        // Derivations are not source text, so λ is used for readability.
        let term = print::show_in(&mut scope, terms, judgement.term, TERM_WIDTH).replace('\\', "λ");
        let (rule, point) =
            (rule(terms.get(judgement.term)), point::show(&derivation.store, judgement.point));
        let indent = 2 * depth.min(MAX_INDENT);
        writeln!(out, "{:indent$}[{rule}] {context}⊢ {term} : {point}", "")?;
    }
    Ok(())
}

/// The binder whose variable is in scope in a judgement, but not in the judgement below it.
fn binder(derivation: &Derivation, place: usize) -> Option<TermId> {
    let judgement = derivation.judgements[place];
    let below = judgement.below.map_or(Environment(None), |below| derivation.judgements[below].environment);
    if judgement.environment == below {
        return None;
    }
    let variable = derivation.environments[innermost(judgement.environment)];
    debug_assert_eq!(variable.outer, below, "a rule binds one variable at most");
    Some(variable.binder)
}

/// The uses of variables, by the index of the variable, the outermost first.
type Uses = BTreeMap<std::cmp::Reverse<u32>, Vec<PointId>>;

/// `x:[0, 0], y:[3] `, or nothing.
fn context(derivation: &Derivation, scope: &Scope, uses: &Uses) -> String {
    let mut context = String::new();
    for (index, points) in uses {
        let name = scope.name(index.0).expect("every variable is bound");
        let mut points: Vec<String> = points.iter().map(|id| point::show(&derivation.store, *id)).collect();
        if points.len() == MAX_USES {
            points.push("…".to_string());
        }
        let comma = if context.is_empty() { "" } else { ", " };
        context.extend([comma, name, ":[", &points.join(", "), "]"]);
    }
    if !context.is_empty() {
        context.push(' ');
    }
    context
}

/// For each judgement the uses of its free variables, collected from the `[var]` judgements above it.
fn uses(derivation: &Derivation, terms: &Terms) -> Vec<Uses> {
    let mut uses = vec![Uses::new(); derivation.judgements.len()];
    for (place, judgement) in derivation.judgements.iter().enumerate() {
        let Term::Var(mut index) = terms.get(judgement.term) else { continue };
        // Adds the use to each judgement down to the binder of the variable. If a list is full, so are those
        // below.
        let mut next = Some(place);
        while let Some(place) = next {
            let points = uses[place].entry(std::cmp::Reverse(index)).or_default();
            if points.len() == MAX_USES {
                break;
            }
            points.push(judgement.point);
            if binder(derivation, place).is_some() {
                let Some(outer) = index.checked_sub(1) else { break };
                index = outer;
            }
            next = derivation.judgements[place].below;
        }
    }
    uses
}

fn innermost(environment: Environment) -> usize {
    environment.0.expect("every variable is bound") as usize
}

/// The name of the rule for a form.
fn rule(term: Term) -> String {
    match term {
        Term::Var(_) => "var".to_string(),
        Term::Lambda(..) => "abs".to_string(),
        Term::Apply(..) => "app".to_string(),
        Term::Fix(_) => "fix".to_string(),
        Term::Num(_) => "num".to_string(),
        Term::Op(op, ..) => print::word(op),
        Term::If(..) => "if".to_string(),
        Term::Let(..) => "let".to_string(),
        Term::Derive(_) => "D".to_string(),
        Term::Coin(_) => "coin".to_string(),
        Term::Tick(_) => "tick".to_string(),
        Term::Zero(_) | Term::Sum(..) => unreachable!("programs are free of sums"),
    }
}
