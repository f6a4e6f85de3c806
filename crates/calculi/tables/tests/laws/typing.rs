//! The rules of Figure 6 against the denotational view (Theorem 2.6), in both directions, with subtyping by
//! the rules of Figure 5.

use std::collections::BTreeMap;

use eddy_tables::ask::Answer;
use eddy_tables::derivation::{Derivation, NodeId, Rule, explain};
use eddy_tables::dialect::Dialect;
use eddy_tables::integer::Int;
use eddy_tables::intersection::{Form, Intersection, Intersections};
use eddy_tables::names::Name;
use eddy_tables::syntax::{Program, Term, TermId};
use eddy_tables::value::Values;
use eddy_tables::value::parse::Goal;
use eddy_tests::choices::Choices;

use crate::generate::{lam, simple};
use crate::harness::{LIMITS, Verdict, ask, law, program, some_of, universe};

/// Γ.
type Context = BTreeMap<Name, Intersection>;

/// Theorem 2.6 (1): the derivation of a value, read with types for values, is a derivation in the type
/// system.
#[test]
fn theorem_2_6_values_have_types() {
    let sample = |choices: &mut Choices<'_>| {
        let seeds: Vec<u16> =
            (0..12).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
        (lam::mixed(choices), seeds)
    };
    law("Theorem 2.6 (1)", 800, sample, |(text, seeds)| {
        let program = program(Dialect::Lambda, text);
        let mut values = Values::default();
        let all = universe(Dialect::Lambda, 5, &mut values);
        let mut goals = some_of(&all, &mut Choices::new(seeds), 8);
        goals.extend([values.int(0), values.int(1), values.table(Vec::new())]);
        let mut is_checked = false;
        for value in goals {
            let goal = Goal { value, store: None };
            let (_, Some(derivation), _) = explain(&program, goal, &mut values, LIMITS) else { continue };
            is_checked = true;
            let mut reader = Reader {
                derivation: &derivation,
                program: &program,
                values: &values,
                types: Intersections::default(),
                left: 20_000,
            };
            reader
                .check(derivation.root(), &Context::new())
                .map_err(|why| format!("{}: {why}", values.show(value)))?;
        }
        Ok(Verdict::of(is_checked, "no answer is yes"))
    });
}

/// Reads a derivation of values as one of types.
struct Reader<'a> {
    derivation: &'a Derivation,
    program: &'a Program,
    values: &'a Values,
    types: Intersections,
    /// A budget: trees may be exponentially larger than their shared form.
    left: usize,
}

impl Reader<'_> {
    /// `Γ ⊢ e : typof(v)` for the node of e and v; returns the type.
    fn check(&mut self, id: NodeId, context: &Context) -> Result<Intersection, String> {
        let node = self.derivation.node(id).clone();
        let ty = self.types.typof(node.value, self.values);
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Ok(ty);
        }
        let holds = match (self.program.terms.term(node.term), &node.rule) {
            (Term::Int(int), Rule::Int) => *self.types.form(ty) == Form::Int(int.clone()),
            // Γ(x) <: A
            (Term::Variable(name), Rule::Variable) => self.types.derives_subtype(context[name], ty),
            (Term::Op(op, ..), Rule::Op(parts)) => {
                let (a, b) = (self.check(parts[0], context)?, self.check(parts[1], context)?);
                let forms = (self.types.form(a), self.types.form(b), self.types.form(ty));
                matches!(forms, (Form::Int(a), Form::Int(b), Form::Int(c)) if op.apply(a, b).as_ref() == Ok(c))
            }
            (Term::If(..), Rule::If(parts)) => {
                let (condition, branch) = (self.check(parts[0], context)?, self.check(parts[1], context)?);
                matches!(self.types.form(condition), Form::Int(_)) && self.types.derives_subtype(branch, ty)
            }
            // Γ, x:A ⊢ e : B gives A → B, the types of a λ are closed under ∧, and ⊤ is one.
            (Term::Lambda(name, _), Rule::Lambda(_, premises)) => {
                let mut whole = self.types.make(Form::Top);
                for (input, at) in premises {
                    let from = self.types.typof(*input, self.values);
                    let mut inner = context.clone();
                    inner.insert(*name, from);
                    let to = self.check(*at, &inner)?;
                    let arrow = self.types.make(Form::Arrow(from, to));
                    whole = self.types.make(Form::And(whole, arrow));
                }
                self.types.derives_subtype(whole, ty)
            }
            // e1 : A → B, e2 : A gives B; both sides by subsumption.
            (Term::Apply(..), Rule::Apply(parts)) => {
                let (function, argument) = (self.check(parts[0], context)?, self.check(parts[1], context)?);
                arrows(&self.types, function).into_iter().any(|(from, to)| {
                    self.types.derives_subtype(argument, from) && self.types.derives_subtype(to, ty)
                })
            }
            _ => false,
        };
        if holds { Ok(ty) } else { Err(format!("no rule of Figure 6 for {:?}", node.rule)) }
    }
}

/// The arrows of which a type is the intersection.
fn arrows(types: &Intersections, ty: Intersection) -> Vec<(Intersection, Intersection)> {
    match *types.form(ty) {
        Form::Arrow(from, to) => vec![(from, to)],
        Form::And(first, second) => [arrows(types, first), arrows(types, second)].concat(),
        Form::Int(_) | Form::Top => Vec::new(),
    }
}

/// Theorem 2.6 (2): a term of a type has its value in its meaning. Types are found by the rules of Figure 6,
/// with few types for the variables of functions.
#[test]
fn theorem_2_6_types_are_values() {
    let sample = |choices: &mut Choices<'_>| match choices.below(3) {
        0 => lam::open_term(choices, 3, &mut Vec::new()),
        _ => {
            let ty = simple::small_type(choices, 2);
            simple::term(choices, &ty, 3, &mut Vec::new())
        }
    };
    law("Theorem 2.6 (2)", 500, sample, |text| {
        let program = program(Dialect::Lambda, text);
        let mut finder = Finder { program: &program, types: Intersections::default() };
        let found = finder.types_of(program.main, &Context::new());
        let (types, mut values) = (finder.types, Values::default());
        for ty in &found {
            let value = types.valof(*ty, &mut values);
            if ask(&program, value, &mut values) == Answer::No {
                return Err(format!("{} is the value of a type of the program", values.show(value)));
            }
        }
        let is_more_than_top = |ty: &Intersection| *types.form(*ty) != Form::Top;
        Ok(Verdict::of(found.iter().any(is_more_than_top), "no type but ⊤"))
    });
}

struct Finder<'a> {
    program: &'a Program,
    types: Intersections,
}

impl Finder<'_> {
    fn types_of(&mut self, e: TermId, context: &Context) -> Vec<Intersection> {
        const MOST: usize = 12;
        let mut found = Vec::new();
        match self.program.terms.term(e).clone() {
            Term::Int(int) => found.push(self.types.make(Form::Int(int))),
            Term::Variable(name) => {
                // By subsumption also each arrow of an intersection.
                found.push(context[&name]);
                for (from, to) in arrows(&self.types, context[&name]) {
                    found.push(self.types.make(Form::Arrow(from, to)));
                }
            }
            Term::Op(op, a, b) => {
                let (left, right) = (self.types_of(a, context), self.types_of(b, context));
                for (a, b) in left.iter().flat_map(|a| right.iter().map(move |b| (*a, *b))) {
                    if let (Form::Int(a), Form::Int(b)) = (self.types.form(a), self.types.form(b))
                        && let Ok(int) = op.apply(a, b)
                    {
                        found.push(self.types.make(Form::Int(int)));
                    }
                }
            }
            Term::If(c, a, b) => {
                for condition in self.types_of(c, context) {
                    if let Form::Int(int) = self.types.form(condition) {
                        let branch = if *int == Int::ZERO { b } else { a };
                        found.extend(self.types_of(branch, context));
                    }
                }
            }
            Term::Lambda(name, body) => {
                let inputs = self.inputs();
                found = self.types_of_lambda(name, body, &inputs, context);
            }
            Term::Apply(f, a, _) => {
                let arguments = self.types_of(a, context);
                let functions = match *self.program.terms.term(f) {
                    Term::Lambda(name, body) => self.types_of_lambda(name, body, &arguments, context),
                    _ => self.types_of(f, context),
                };
                for function in functions {
                    for (from, to) in arrows(&self.types, function) {
                        if arguments.iter().any(|argument| self.types.derives_subtype(*argument, from)) {
                            found.push(to);
                        }
                    }
                }
            }
            _ => unreachable!("the forms of `.lam`"),
        }
        found.sort_unstable();
        found.dedup();
        // Any of the types works; the last ones of a λ are the largest.
        found.drain(..found.len().saturating_sub(MOST));
        found
    }

    /// ⊤, an arrow from each of these types, and the intersection of all.
    fn types_of_lambda(
        &mut self,
        name: Name,
        body: TermId,
        inputs: &[Intersection],
        context: &Context,
    ) -> Vec<Intersection> {
        let mut whole = self.types.make(Form::Top);
        let mut found = vec![whole];
        for &from in inputs {
            let mut inner = context.clone();
            inner.insert(name, from);
            for to in self.types_of(body, &inner) {
                let arrow = self.types.make(Form::Arrow(from, to));
                whole = self.types.make(Form::And(whole, arrow));
                found.push(arrow);
            }
        }
        found.push(whole);
        found
    }

    /// Types to try for the variable of a λ.
    fn inputs(&mut self) -> Vec<Intersection> {
        let [zero, one] = [Int::ZERO, Int::ONE].map(|int| self.types.make(Form::Int(int)));
        let (there, back) = (Form::Arrow(zero, one), Form::Arrow(one, zero));
        let [there, back] = [there, back].map(|form| self.types.make(form));
        let both = self.types.make(Form::And(there, back));
        vec![zero, one, both]
    }
}
