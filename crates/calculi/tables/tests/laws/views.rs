//! The other views: derivations, the literal equations over a finite universe, and intersection types.

use std::collections::BTreeMap;

use eddy_tables::ask::Answer;
use eddy_tables::derivation::{Derivation, NodeId, Rule, explain};
use eddy_tables::dialect::Dialect;
use eddy_tables::integer::Int;
use eddy_tables::intersection::{Form, Intersection, Intersections};
use eddy_tables::names::Name;
use eddy_tables::syntax::{Program, Term, TermId, Terms};
use eddy_tables::value::parse::Goal;
use eddy_tables::value::{Entry, Value, ValueKind, Values};
use eddy_tests::choices::Choices;
use eddy_tests::law::Coverage;

use crate::generate::{lam, simple};
use crate::harness::{LIMITS, Verdict, ask, law, program, some_of, universe};

type Environment = BTreeMap<Name, Value>;

/// P6, Proposition 2.5: types and values are isomorphic.
#[test]
fn p6_types_and_values_are_isomorphic() {
    let (mut values, mut types) = (Values::default(), Intersections::default());
    for value in universe(Dialect::Lambda, 5, &mut values) {
        let ty = types.typof(value, &values);
        assert_eq!(types.valof(ty, &mut values), value, "valof(typof(v)) = v");
    }
    law(
        "P6",
        500,
        |choices| types_of(choices, 1),
        |(types, ids)| {
            let (mut values, mut types) = (Values::default(), types.clone());
            let value = types.valof(ids[0], &mut values);
            let back = types.typof(value, &values);
            if types.are_equivalent(back, ids[0]) {
                Ok(Verdict::Holds)
            } else {
                Err(format!("{} is not its own type", values.show(value)))
            }
        },
    );
}

/// P7, Proposition 2.4: the rules of subtyping are the reversed order, and an entry of a table is a
/// supertype.
#[test]
fn p7_subtyping_is_the_reversed_order() {
    let coverage = Coverage::default();
    law(
        "P7",
        1500,
        |choices| types_of(choices, 2),
        |(types, ids)| {
            let mut values = Values::default();
            let (by_rules, by_order) =
                (types.derives_subtype(ids[0], ids[1]), types.is_subtype(ids[0], ids[1], &mut values));
            let [a, b] = [ids[0], ids[1]].map(|id| types.valof(id, &mut values));
            if by_rules == by_order {
                coverage.note(if by_rules { "a subtype" } else { "no subtype" });
                Ok(Verdict::Holds)
            } else {
                Err(format!("{} <: {}: by rules {by_rules}", values.show(a), values.show(b)))
            }
        },
    );
    coverage.require("P7", 300, ["a subtype", "no subtype"]);
    let (mut values, mut types) = (Values::default(), Intersections::default());
    for table in universe(Dialect::Lambda, 5, &mut values) {
        for entry in values.entries(table).to_vec() {
            let whole = types.typof(table, &values);
            let arrow = values.table(vec![entry]);
            let arrow = types.typof(arrow, &values);
            assert!(types.derives_subtype(whole, arrow));
        }
    }
}

/// Some types over few integers, so that they are often related.
fn types_of(choices: &mut Choices<'_>, n: usize) -> (Intersections, Vec<Intersection>) {
    let mut types = Intersections::default();
    let ids = (0..n).map(|_| ty(choices, &mut types, 4, false)).collect();
    (types, ids)
}

fn ty(choices: &mut Choices<'_>, types: &mut Intersections, depth: u32, is_function: bool) -> Intersection {
    let form = match if depth == 0 { 0 } else { choices.below(6) } {
        0 if !is_function => Form::Int(Int::from(choices.below(2))),
        0 | 1 => Form::Top,
        2 | 3 => {
            let from = ty(choices, types, depth.saturating_sub(2), false);
            Form::Arrow(from, ty(choices, types, depth.saturating_sub(2), false))
        }
        _ => {
            let first = ty(choices, types, depth - 1, true);
            Form::And(first, ty(choices, types, depth - 1, true))
        }
    };
    types.make(form)
}

/// P8, Theorems 2.2 and 2.6: every yes has a derivation, which an independent checker of the rules accepts in
/// the empty environment.
#[test]
fn p8_every_yes_has_a_derivation() {
    law(
        "P8",
        1500,
        |choices| (lam::mixed(choices), seeds(choices)),
        |(text, seeds)| {
            let program = program(Dialect::Lambda, text);
            let mut values = Values::default();
            let all = universe(Dialect::Lambda, 5, &mut values);
            let mut goals = some_of(&all, &mut Choices::new(seeds), 8);
            goals.extend([values.int(0), values.int(1), values.table(Vec::new())]);
            let mut is_informative = false;
            for value in goals {
                let goal = Goal { value, store: None };
                let (answer, derivation, _) = explain(&program, goal, &mut values, LIMITS);
                if (answer == Answer::Yes) != derivation.is_some() {
                    return Err("an answer without its reason".into());
                }
                let Some(derivation) = derivation else { continue };
                is_informative = true;
                let mut checker = Checker {
                    derivation: &derivation,
                    terms: &program.terms,
                    values: &values,
                    left: 100_000,
                };
                let root = derivation.root();
                if derivation.node(root).value != value || derivation.node(root).term != program.main {
                    return Err("the derivation is of something else".into());
                }
                checker
                    .check(root, &Environment::new())
                    .map_err(|why| format!("{}: {why}", values.show(value)))?;
            }
            Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("no answer is yes") })
        },
    );
}

fn seeds(choices: &mut Choices<'_>) -> Vec<u16> {
    (0..12).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect()
}

/// The rules of Figure 2, read from below.
struct Checker<'a> {
    derivation: &'a Derivation,
    terms: &'a Terms,
    values: &'a Values,
    /// A budget: trees may be exponentially larger than their shared form.
    left: usize,
}

impl Checker<'_> {
    fn check(&mut self, id: NodeId, environment: &Environment) -> Result<(), String> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Ok(());
        }
        let node = self.derivation.node(id).clone();
        let derivation = self.derivation;
        let premise = |id: NodeId| derivation.node(id);
        let holds = match (self.terms.term(node.term), &node.rule) {
            (Term::Int(int), Rule::Int) => *self.values.kind(node.value) == ValueKind::Int(int.clone()),
            (Term::Variable(name), Rule::Variable) => {
                let bound = environment.get(name).ok_or("a variable without a value")?;
                self.values.is_below(node.value, *bound)
            }
            (Term::Op(op, a, b), Rule::Op(parts)) => {
                let [left, right] = parts.map(premise);
                self.check(parts[0], environment)?;
                self.check(parts[1], environment)?;
                match (
                    self.values.kind(left.value),
                    self.values.kind(right.value),
                    self.values.kind(node.value),
                ) {
                    (ValueKind::Int(x), ValueKind::Int(y), ValueKind::Int(z)) => {
                        (left.term, right.term) == (*a, *b) && op.apply(x, y).as_ref() == Ok(z)
                    }
                    _ => false,
                }
            }
            (Term::If(c, a, b), Rule::If(parts)) => {
                let [condition, branch] = parts.map(premise);
                self.check(parts[0], environment)?;
                self.check(parts[1], environment)?;
                let ValueKind::Int(int) = self.values.kind(condition.value) else {
                    return Err("no condition".into());
                };
                let taken = if *int == Int::ZERO { b } else { a };
                condition.term == *c && branch.term == *taken && branch.value == node.value
            }
            (Term::Lambda(name, body), Rule::Lambda(bound, premises)) => {
                let entries = self.values.entries(node.value);
                let has_premise = |entry: &Entry| {
                    premises.iter().any(|(input, at)| {
                        let below = premise(*at);
                        (*input, below.value, below.term) == (entry.input.value, entry.output.value, *body)
                    })
                };
                let is_table = matches!(self.values.kind(node.value), ValueKind::Table(_));
                let holds = is_table && name == bound && entries.iter().all(has_premise);
                for (input, at) in premises {
                    let mut inner = environment.clone();
                    inner.insert(*name, *input);
                    self.check(*at, &inner)?;
                }
                holds
            }
            (Term::Apply(f, a, _), Rule::Apply(parts)) => {
                let [function, argument] = parts.map(premise);
                self.check(parts[0], environment)?;
                self.check(parts[1], environment)?;
                let fits = |entry: &Entry| {
                    self.values.is_below(entry.input.value, argument.value)
                        && self.values.is_below(node.value, entry.output.value)
                };
                (function.term, argument.term) == (*f, *a)
                    && self.values.entries(function.value).iter().any(fits)
            }
            _ => false,
        };
        if holds { Ok(()) } else { Err(format!("the rule {:?} does not apply", node.rule)) }
    }
}

/// P8, second part: `ask` answers yes for all values of the set equations of Figure 3, over all values of
/// size at most 5 over 0 and 1.
#[test]
fn p8_the_literal_equations_are_answered_yes() {
    let sample = |choices: &mut Choices<'_>| match choices.below(2) {
        0 => lam::open_term(choices, 3, &mut Vec::new()),
        _ => {
            let ty = simple::small_type(choices, 1);
            simple::term(choices, &ty, 3, &mut Vec::new())
        }
    };
    law("P8, equations", 400, sample, |text| {
        let program = program(Dialect::Lambda, text);
        let mut values = Values::default();
        let all = universe(Dialect::Lambda, 5, &mut values);
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

/// Figure 3, with every quantifier over a finite universe.
struct Equations<'a> {
    program: &'a Program,
    all: &'a [Value],
}

impl Equations<'_> {
    fn meaning(&self, e: TermId, environment: &Environment, values: &mut Values) -> Vec<Value> {
        match self.program.terms.term(e).clone() {
            Term::Int(int) => vec![values.int(int)],
            Term::Variable(name) => {
                let bound = environment[&name];
                self.all.iter().copied().filter(|value| values.is_below(*value, bound)).collect()
            }
            Term::Op(op, a, b) => {
                let (left, right) =
                    (self.meaning(a, environment, values), self.meaning(b, environment, values));
                let mut results = Vec::new();
                for x in &left {
                    for y in &right {
                        if let (ValueKind::Int(x), ValueKind::Int(y)) = (values.kind(*x), values.kind(*y))
                            && let Ok(int) = op.apply(x, y)
                        {
                            results.push(values.int(int));
                        }
                    }
                }
                unique(results)
            }
            Term::If(c, a, b) => {
                let conditions = self.meaning(c, environment, values);
                let mut results = Vec::new();
                for condition in conditions {
                    match values.kind(condition) {
                        ValueKind::Int(int) if *int == Int::ZERO => {
                            results.extend(self.meaning(b, environment, values));
                        }
                        ValueKind::Int(_) => results.extend(self.meaning(a, environment, values)),
                        _ => {}
                    }
                }
                unique(results)
            }
            Term::Lambda(name, body) => {
                let mut outputs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
                let mut results = Vec::new();
                for &table in self.all {
                    if !matches!(values.kind(table), ValueKind::Table(_)) {
                        continue;
                    }
                    let holds = values.entries(table).to_vec().into_iter().all(|entry| {
                        let key = values.show(entry.input.value);
                        let known = outputs.entry(key).or_insert_with(|| {
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
                results
            }
            Term::Apply(f, a, _) => {
                let (functions, arguments) =
                    (self.meaning(f, environment, values), self.meaning(a, environment, values));
                let mut results = Vec::new();
                for function in functions {
                    for entry in values.entries(function) {
                        if arguments.iter().any(|argument| values.is_below(entry.input.value, *argument)) {
                            let output = entry.output.value;
                            results.extend(self.all.iter().filter(|value| values.is_below(**value, output)));
                        }
                    }
                }
                unique(results)
            }
            _ => unreachable!("the forms of `.lam`"),
        }
    }
}

fn unique(values: Vec<Value>) -> Vec<Value> {
    let mut seen = std::collections::HashSet::new();
    values.into_iter().filter(|value| seen.insert(*value)).collect()
}
