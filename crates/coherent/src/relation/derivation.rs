//! A derivation as text: a judgement on each line, what it needs below it and indented.
//!
//! ```text
//! [if] x:[0, 0] ⊢ if x then x else 7 : 0
//!   [var] x:[0] ⊢ x : 0
//!   [var] x:[0] ⊢ x : 0
//! ```

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use super::point;
use super::search::{Environment, Found};
use super::store::{Collector, PointId};
use crate::print;
use crate::syntax::{Term, Terms};

/// A term is cut here.
const TERM_WIDTH: usize = 60;
/// Deeper judgements are not indented further: nobody counts blanks.
const MAX_INDENT: usize = 40;

/// Writes a derivation.
pub fn write(found: &Found, terms: &Terms, out: &mut dyn Write) -> fmt::Result {
    let uses = uses(found, terms);
    // What a judgement needs, in the order in which it was shown.
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); found.judgements.len()];
    for (place, judgement) in found.judgements.iter().enumerate() {
        if let Some(below) = judgement.below {
            above[below].push(place);
        }
    }
    let mut work = vec![(0, 0)];
    while let Some((place, depth)) = work.pop() {
        work.extend(above[place].iter().rev().map(|next| (*next, depth + 1)));
        let (judgement, uses) = (found.judgements[place], &uses[place]);
        let names = names(found, terms, judgement.environment);
        let mut context = String::new();
        for (collector, name) in &names {
            let Some(points) = uses.get(collector) else { continue };
            let points: Vec<String> = points.iter().map(|id| point::show(&found.store, *id)).collect();
            let comma = if context.is_empty() { "" } else { ", " };
            write!(context, "{comma}{name}:[{}]", points.join(", "))?;
        }
        let blank = if context.is_empty() { "" } else { " " };
        let scope = names.into_iter().map(|(_, name)| name).collect();
        let term = print::show_open(terms, judgement.term, scope, TERM_WIDTH);
        let shown = point::show(&found.store, judgement.point);
        let indent = 2 * depth.min(MAX_INDENT);
        writeln!(
            out,
            "{:indent$}[{}] {context}{blank}⊢ {term} : {shown}",
            "",
            rule(terms.get(judgement.term))
        )?;
    }
    Ok(())
}

/// For each judgement the uses of its free variables: those of the leaves that it needs.
fn uses(found: &Found, terms: &Terms) -> Vec<BTreeMap<Collector, Vec<PointId>>> {
    let mut uses = vec![BTreeMap::<Collector, Vec<PointId>>::new(); found.judgements.len()];
    for (place, judgement) in found.judgements.iter().enumerate() {
        let Term::Var(index) = terms.get(judgement.term) else { continue };
        let variable = (0..index).fold(judgement.environment, |environment, _| outer(found, environment));
        let collector = found.environments[innermost(variable)].collector;
        let mut next = Some(place);
        while let Some(place) = next {
            if !is_in_scope(found, found.judgements[place].environment, variable) {
                break;
            }
            uses[place].entry(collector).or_default().push(judgement.point);
            next = found.judgements[place].below;
        }
    }
    uses
}

/// The variables of an environment, the outermost first, with names that differ.
fn names(found: &Found, terms: &Terms, environment: Environment) -> Vec<(Collector, String)> {
    let mut variables = Vec::new();
    let mut next = environment;
    while next.0.is_some() {
        variables.push(found.environments[innermost(next)]);
        next = outer(found, next);
    }
    let mut names: Vec<(Collector, String)> = Vec::new();
    for variable in variables.into_iter().rev() {
        let given = terms.binder_name(variable.binder).map_or("x", |name| terms.names.text(name));
        let mut name = given.to_string();
        while names.iter().any(|(_, other)| *other == name) {
            name.push('\'');
        }
        names.push((variable.collector, name));
    }
    names
}

/// Environments grow at their inner end, and a later one has a larger number.
fn is_in_scope(found: &Found, mut environment: Environment, variable: Environment) -> bool {
    while environment.0 > variable.0 {
        environment = outer(found, environment);
    }
    environment == variable
}

fn outer(found: &Found, environment: Environment) -> Environment {
    found.environments[innermost(environment)].outer
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
