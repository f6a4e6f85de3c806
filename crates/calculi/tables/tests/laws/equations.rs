//! The equations of Figure 9, read literally over a finite universe, against the mixed machine: it answers
//! yes for all their values (P8, for System F).
//!
//! `wrong` short-circuits from left to right, tables may output it (R8), `fix` starts from the empty table
//! (R9), and `thunk(none)` is in every Λ (R10).

use std::collections::BTreeMap;

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::integer::Int;
use eddy_tables::names::Name;
use eddy_tables::syntax::{Program, Term, TermId};
use eddy_tables::value::{Value, ValueKind, Values};
use eddy_tests::choices::Choices;

use crate::generate::systemf;
use crate::harness::{Verdict, ask, law, program, universe};

type Environment = BTreeMap<Name, Value>;

#[test]
fn p8_the_equations_of_system_f_are_answered_yes() {
    let sample = |choices: &mut Choices<'_>| {
        let ty = systemf::ty(choices, 2);
        systemf::term_of(choices, &ty, 3)
    };
    law("P8 in System F", 400, sample, |text| {
        let program = program(Dialect::SystemF, text);
        let mut values = Values::default();
        let all = universe(Dialect::SystemF, 4, &mut values);
        let equations = Equations { program: &program, all: &all };
        let meaning = equations.meaning(program.main, &Environment::new(), &mut values);
        for value in &meaning {
            if ask(&program, *value, &mut values) == Answer::No {
                return Err(format!("{} is in the meaning", values.show(*value)));
            }
        }
        Ok(if meaning.is_empty() { Verdict::Vacuous("empty") } else { Verdict::Holds })
    });
}

struct Equations<'a> {
    program: &'a Program,
    all: &'a [Value],
}

impl Equations<'_> {
    fn meaning(&self, e: TermId, environment: &Environment, values: &mut Values) -> Vec<Value> {
        let wrong = values.wrong();
        let mut results = Vec::new();
        match self.program.terms.term(e).clone() {
            Term::Int(int) => results.push(values.int(int)),
            Term::Variable(name) => results = self.below(environment[&name], values),
            Term::Op(op, a, b) => {
                let (left, right) =
                    (self.meaning(a, environment, values), self.meaning(b, environment, values));
                for (x, y) in pairs(&left, &right, wrong) {
                    match y.map(|y| (values.kind(x).clone(), values.kind(y).clone())) {
                        Some((ValueKind::Int(x), ValueKind::Int(y))) => {
                            results.extend(op.apply(&x, &y).ok().map(|int| values.int(int)));
                        }
                        _ => results.push(wrong),
                    }
                }
            }
            Term::If(c, a, b) => {
                for condition in self.meaning(c, environment, values) {
                    match values.kind(condition).clone() {
                        ValueKind::Int(int) => {
                            let branch = if int == Int::ZERO { b } else { a };
                            results.extend(self.meaning(branch, environment, values));
                        }
                        _ => results.push(wrong),
                    }
                }
            }
            Term::Lambda(name, body) => results = self.tables(name, body, environment, values),
            Term::Fix(name, body) => {
                let empty = values.table(Vec::new());
                let mut known = vec![empty];
                for _ in 0..2 {
                    let mut next = known.clone();
                    for table in known {
                        let mut inner = environment.clone();
                        inner.insert(name, table);
                        next.extend(self.meaning(body, &inner, values));
                    }
                    known = unique(next);
                }
                results = known;
            }
            Term::Apply(f, a, _) => {
                let (functions, arguments) =
                    (self.meaning(f, environment, values), self.meaning(a, environment, values));
                for (function, argument) in pairs(&functions, &arguments, wrong) {
                    match (values.kind(function), argument) {
                        (ValueKind::Table(entries), Some(argument)) if argument != wrong => {
                            let fits =
                                entries.iter().filter(|entry| values.is_below(entry.input.value, argument));
                            let outputs: Vec<Value> = fits.map(|entry| entry.output.value).collect();
                            results.extend(outputs.into_iter().flat_map(|output| self.below(output, values)));
                        }
                        _ => results.push(wrong),
                    }
                }
            }
            Term::TypeLambda(body) => {
                results.push(values.thunk_none());
                for content in self.meaning(body, environment, values) {
                    results.push(values.thunk_some(content));
                }
            }
            Term::TypeApply(e) => {
                for thunk in self.meaning(e, environment, values) {
                    match *values.kind(thunk) {
                        ValueKind::ThunkNone => {}
                        ValueKind::ThunkSome(content) => results.extend(self.below(content, values)),
                        _ => results.push(wrong),
                    }
                }
            }
            _ => unreachable!("the forms of `.sysf`"),
        }
        unique(results)
    }

    /// The values below another one, as far as they are in the universe.
    fn below(&self, value: Value, values: &Values) -> Vec<Value> {
        let lower = self.all.iter().copied().filter(|other| values.is_below(*other, value));
        lower.chain([value]).collect()
    }

    /// { t | ∀(v↦v')∈t. v' ∈ E[e]ρ(x:=v) }, and tables with one entry whose output is not in the universe.
    fn tables(&self, name: Name, body: TermId, environment: &Environment, values: &mut Values) -> Vec<Value> {
        let mut outputs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let mut results = Vec::new();
        for &table in self.all {
            if !matches!(values.kind(table), ValueKind::Table(_)) {
                continue;
            }
            let holds = values.entries(table).to_vec().into_iter().all(|entry| {
                let known = outputs.entry(values.show(entry.input.value)).or_insert_with(|| {
                    let mut inner = environment.clone();
                    inner.insert(name, entry.input.value);
                    self.meaning(body, &inner, values)
                });
                known.contains(&entry.output.value)
            });
            if holds {
                results.push(table);
            }
        }
        let wrong = values.wrong();
        for &input in self.all.iter().filter(|value| values.size(**value) == 1).collect::<Vec<_>>() {
            let known = outputs.entry(values.show(input)).or_default().clone();
            if known.contains(&wrong) {
                results.push(values.table(vec![eddy_tables::value::Entry::new(input, wrong)]));
            }
        }
        results
    }
}

fn unique(values: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    values.into_iter().filter(|value| seen.insert(*value)).collect()
}

/// The combined values of two subterms; after a `wrong` the second one is not evaluated.
fn pairs(first: &[Value], second: &[Value], wrong: Value) -> Vec<(Value, Option<Value>)> {
    let with = |x: &Value| -> Vec<(Value, Option<Value>)> {
        if *x == wrong { vec![(*x, None)] } else { second.iter().map(|y| (*x, Some(*y))).collect() }
    };
    first.iter().flat_map(with).collect()
}
