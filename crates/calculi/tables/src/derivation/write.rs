//! Derivations as text: root first, two spaces per level, `[rule] ρ |- e => v`, or with types `[rule] Γ |- e
//! : A`.

use std::fmt::{self, Write};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Derivation, NodeId, Rule};
use crate::intersection;
use crate::names::Name;
use crate::print;
use crate::syntax::{TermId, Terms};
use crate::value::{Value, Values};

/// The contents of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Values: `x := v |- e => v`.
    Values,
    /// Types: `x : A |- e : A`.
    Types,
}

/// All ρs of a derivation: each is a binding and the index of the outer ρ; 0 is the empty one.
#[derive(Default)]
struct Environments(Vec<(Name, Value, usize)>);

impl Environments {
    fn bind(&mut self, name: Name, value: Value, outer: usize) -> usize {
        self.0.push((name, value, outer));
        self.0.len()
    }

    fn lookup(&self, name: Name, mut environment: usize) -> Value {
        loop {
            let (bound, value, outer) = self.0[environment.checked_sub(1).expect("programs are closed")];
            if bound == name {
                return value;
            }
            environment = outer;
        }
    }
}

/// Writes a derivation; `out` may refuse text that is too long.
pub fn write(
    derivation: &Derivation,
    terms: &Terms,
    values: &Values,
    form: Form,
    out: &mut dyn Write,
) -> fmt::Result {
    let mut free: FxHashMap<TermId, Rc<[Name]>> = FxHashMap::default();
    let mut environments = Environments::default();
    let mut work = vec![(derivation.root(), 0_usize, 0_usize)];
    while let Some((id, level, environment)) = work.pop() {
        let node = derivation.node(id);
        let names = free.entry(node.term).or_insert_with(|| {
            let mut names = terms.free_variables(node.term);
            names.sort_by_key(|name| terms.names.text(*name));
            names.into()
        });
        write!(out, "{:1$}[{2}] ", "", 2 * level, rule_name(&node.rule))?;
        for (i, name) in names.iter().enumerate() {
            out.write_str(if i == 0 { "" } else { ", " })?;
            out.write_str(terms.names.text(*name))?;
            write_value(environments.lookup(*name, environment), values, form, Place::Binding, out)?;
        }
        out.write_str(if names.is_empty() { "|- " } else { " |- " })?;
        print::write(terms, node.term, out)?;
        write_value(node.value, values, form, Place::Conclusion, out)?;
        out.write_str("\n")?;
        let below = |id: NodeId| (id, level + 1, environment);
        match &node.rule {
            Rule::Int | Rule::Variable => {}
            Rule::Op(parts) | Rule::If(parts) | Rule::Apply(parts) => {
                work.extend(parts.iter().rev().map(|part| below(*part)));
            }
            Rule::Lambda(name, premises) => work.extend(premises.iter().rev().map(|(input, premise)| {
                (*premise, level + 1, environments.bind(*name, *input, environment))
            })),
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Place {
    Binding,
    Conclusion,
}

fn write_value(value: Value, values: &Values, form: Form, place: Place, out: &mut dyn Write) -> fmt::Result {
    match (form, place) {
        (Form::Values, Place::Binding) => out.write_str(" := ")?,
        (Form::Values, Place::Conclusion) => out.write_str(" => ")?,
        (Form::Types, _) => out.write_str(" : ")?,
    }
    match form {
        Form::Values => values.write(value, out),
        Form::Types => intersection::write_type_of(value, values, out),
    }
}

fn rule_name(rule: &Rule) -> &'static str {
    match rule {
        Rule::Int => "int",
        Rule::Variable => "var",
        Rule::Op(_) => "op",
        Rule::If(_) => "if",
        Rule::Lambda(..) => "lam",
        Rule::Apply(_) => "app",
    }
}
