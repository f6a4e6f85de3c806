//! Statements of the paper that its theorems rest on: linear reduction (Lemmas 4.2 and 4.5), substitution
//! (Lemma 4.10), multisets of terms (Theorem 4.13), the terms of states (Lemmas 6.3 to 6.5), cells (Lemma
//! 7.8), and natural coefficients (Theorem 7.3).

use std::collections::{BTreeSet, HashSet};

use dashu_ratio::RBig;
use eddy_coherent::environment;
use eddy_coherent::krivine::readback::read_back;
use eddy_coherent::krivine::resolve::cells;
use eddy_coherent::krivine::state::{Frame, State};
use eddy_coherent::krivine::step::{Next, Sums, step};
use eddy_coherent::rewrite::{linear, steps};
use eddy_coherent::substitute::instantiate;
use eddy_coherent::syntax::{Program, Term, TermId, Terms};
use eddy_coherent::types::Type;
use eddy_coherent::typing::{recheck, recheck_open};
use eddy_coherent::word::{Letter, Word};
use eddy_tests::law::Coverage;

use crate::generate::{Generator, Sample};
use crate::harness::{LIMITS, Trial, Verdict, law, leaves, program};
use crate::rewriting::{small, small_with_sums};

/// The linear contexts of height 1 around the innermost linear place of a term, the outermost first, and the
/// term there.
fn linear_spine(terms: &Terms, m: TermId) -> (Vec<TermId>, TermId) {
    let (mut contexts, mut inside) = (Vec::new(), m);
    while let Some(part) = linear::hole(terms.get(inside)) {
        contexts.push(inside);
        inside = part;
    }
    (contexts, inside)
}

fn plug_all(terms: &mut Terms, contexts: &[TermId], inside: TermId) -> TermId {
    contexts.iter().rev().fold(inside, |inside, context| linear::plug(terms, *context, inside))
}

/// All linear reductions of a term at a linear place. Sums of arbitrary terms have no type, so terms are not
/// typed here, and zeros get the type of numbers.
fn linear_steps(terms: &mut Terms, m: TermId) -> Vec<TermId> {
    let (contexts, _) = linear_spine(terms, m);
    let mut found = Vec::new();
    for (at, context) in contexts.iter().enumerate() {
        if let Some(reduced) = linear::reduce(terms, *context, |_, _| Type::NAT) {
            found.push(plug_all(terms, &contexts[..at], reduced));
        }
    }
    found
}

/// The normal form of a term under linear reduction.
fn linear_normal_form(terms: &mut Terms, mut m: TermId) -> TermId {
    while let Some(&next) = linear_steps(terms, m).last() {
        m = next;
    }
    m
}

/// Figure 1: which forms are linear contexts, and in which part. The lemmas below take that from
/// [`linear::hole`].
#[test]
fn linear_contexts_are_those_of_figure_1() {
    let coverage = Coverage::default();
    law("Figure 1", 200, program, |sample| -> Trial {
        let terms = &sample.program.terms;
        let (mut seen, mut work) = (HashSet::new(), vec![sample.program.main]);
        while let Some(id) = work.pop() {
            let term = terms.get(id);
            let parts: Vec<TermId> = term.parts().map(|(part, _)| part).collect();
            let (form, is_linear) = match term {
                Term::Lambda(..) => ("abstraction", true),
                Term::Apply(..) => ("application", true),
                Term::Derive(_) => ("D", true),
                Term::Op(..) => ("operator", true),
                Term::If(..) => ("if", true),
                Term::Let(..) => ("let", true),
                Term::Tick(_) => ("tick", true),
                Term::Fix(_) => ("fix", false),
                Term::Var(_) | Term::Num(_) | Term::Coin(_) => ("leaf", false),
                Term::Zero(_) | Term::Sum(..) => ("sum", false),
            };
            coverage.note(form);
            if linear::hole(term) != parts.first().copied().filter(|_| is_linear) {
                return Err(format!("the hole of this form: {form}"));
            }
            work.extend(parts.into_iter().filter(|part| seen.insert(*part)));
        }
        Ok(Verdict::Holds)
    });
    let forms = ["abstraction", "application", "D", "operator", "if", "let", "fix", "leaf"];
    coverage.require("Figure 1", 20, forms);
}

#[test]
fn linear_contexts_commute_with_sums_lemma_4_2() {
    law("Lemma 4.2", 300, small, |sample| -> Trial {
        let Program { mut terms, main, .. } = sample.program.clone();
        let (contexts, inside) = linear_spine(&terms, main);
        let other = terms.add(Term::Num(7));
        let sum = terms.add(Term::Sum(inside, other));
        let whole = plug_all(&mut terms, &contexts, sum);
        let second = plug_all(&mut terms, &contexts, other);
        let expected = terms.add(Term::Sum(main, second));
        if linear_normal_form(&mut terms, whole) != expected {
            return Err("L[M + N] does not become L[M] + L[N]".to_string());
        }
        let zero = terms.add(Term::Zero(Type::NAT));
        let whole = plug_all(&mut terms, &contexts, zero);
        if linear_normal_form(&mut terms, whole) != zero {
            return Err("L[0] does not become 0".to_string());
        }
        Ok(Verdict::of(contexts.len() > 1, "a context of height 0 or 1"))
    });
}

#[test]
fn linear_contexts_keep_linear_reduction_lemma_4_5() {
    law("Lemma 4.5", 300, small, |sample| -> Trial {
        let Program { mut terms, main, .. } = sample.program.clone();
        let (contexts, inside) = linear_spine(&terms, main);
        let Some((last, outer)) = contexts.split_last().filter(|(_, outer)| !outer.is_empty()) else {
            return Ok(Verdict::Vacuous("no context around a context"));
        };
        // R = K[M + N] →lin R' = K[M] + K[N], inside of L.
        let other = terms.add(Term::Num(7));
        let sum = terms.add(Term::Sum(inside, other));
        let before = linear::plug(&mut terms, *last, sum);
        let after = linear::reduce(&mut terms, before, |_, _| Type::NAT).expect("there is a sum");
        let [before, after] = [before, after].map(|part| plug_all(&mut terms, outer, part));
        let is_step = linear_steps(&mut terms, before).contains(&after);
        if is_step { Ok(Verdict::Holds) } else { Err("L[R] does not become L[R']".to_string()) }
    });
}

/// A term over `y` and `x`, of which x is the innermost variable, and a term over y to substitute for x.
#[derive(Debug)]
struct Substitution {
    sample: Sample,
    argument: TermId,
    y: Type,
}

fn substitution(mut generator: Generator<'_>) -> Substitution {
    let function = generator.terms.types.arrow(Type::NAT, Type::NAT);
    let candidates = [Type::NAT, function, Type::ground(1)];
    let [x, y] = [(); 2].map(|()| generator.choices.among(&candidates));
    generator.scope.push(y);
    let size = std::mem::replace(&mut generator.size, 5);
    let argument = generator.term(x);
    generator.size = size;
    generator.scope.push(x);
    let ty = Type::ground(generator.level(2));
    let main = generator.term(ty);
    Substitution { sample: generator.finish(main, ty), argument, y }
}

/// The numbers of binders over the occurrences of a variable; each shared part is visited once for each
/// number of binders.
fn binders_over(terms: &Terms, m: TermId, index: u32) -> BTreeSet<u32> {
    let (mut found, mut seen, mut work) = (BTreeSet::new(), HashSet::new(), vec![(m, 0)]);
    while let Some((id, under)) = work.pop() {
        if terms.get(id) == Term::Var(index + under) {
            found.insert(under);
        } else if seen.insert((id, under)) {
            work.extend(terms.get(id).parts().map(|(part, binders)| (part, under + binders)));
        }
    }
    found
}

/// Both terms have a further variable: if it is not lifted under binders, or not moved down when x is
/// replaced, its type changes.
#[test]
fn substitution_keeps_types_lemma_4_10() {
    let coverage = Coverage::default();
    law("Lemma 4.10", 1000, substitution, |Substitution { sample, argument, y }| {
        let Program { mut terms, main, ty, .. } = sample.program.clone();
        let result = instantiate(&mut terms, main, *argument);
        if recheck_open(&mut terms, result, &[*y]) != Some(ty) {
            return Err(format!("{} has another type", eddy_coherent::print::show(&terms, result)));
        }
        let over_x = binders_over(&terms, main, 0);
        let is_argument_open = !binders_over(&terms, *argument, 0).is_empty();
        if is_argument_open {
            for n in &over_x {
                coverage.note(format!("an open term under {n}"));
            }
        }
        if !over_x.is_empty() && !binders_over(&terms, main, 1).is_empty() {
            coverage.note("a variable beside x");
        }
        Ok(Verdict::of(!over_x.is_empty(), "x does not occur"))
    });
    let cases = ["an open term under 0", "an open term under 1", "an open term under 2"];
    coverage.require("Lemma 4.10", 10, cases);
    coverage.require("Lemma 4.10", 50, ["a variable beside x"]);
}

/// The number of steps tried for each multiset.
const STEPS: usize = 25;

#[test]
fn subject_reduction_of_multisets_theorem_4_13() {
    let coverage = Coverage::default();
    law("Theorem 4.13", 200, small_with_sums, |sample| {
        let Program { mut terms, main, ty, .. } = sample.program.clone();
        let mut multiset = vec![main];
        for at in 0..STEPS {
            let Some(term) = multiset.pop() else { break };
            let made = steps(&mut terms, term);
            let Some(rewriting) = made.get(at % made.len().max(1)) else { continue };
            match terms.get(rewriting.term) {
                // A zero is dropped, a sum becomes two elements.
                Term::Zero(_) => coverage.note("0"),
                Term::Sum(first, second) => {
                    coverage.note("a sum");
                    multiset.splice(0..0, [first, second]);
                }
                _ => {
                    coverage.note("one term");
                    multiset.insert(0, rewriting.term);
                }
            }
            if let Some(other) = multiset.iter().find(|term| recheck(&mut terms, **term) != Some(ty)) {
                return Err(format!("{} has another type", eddy_coherent::print::show(&terms, *other)));
            }
        }
        Ok(Verdict::of(multiset != [main], "no step"))
    });
    coverage.require("Theorem 4.13", 20, ["0", "a sum", "one term"]);
}

/// The states of a run of the nd machine, sums included.
fn nd_states(sample: &Sample, most: usize) -> (Terms, Vec<State>) {
    let mut terms = sample.program.terms.clone();
    let mut seen = Vec::new();
    let mut work: Vec<State> =
        leaves(&sample.program).map(|path| State::start(sample.program.main, &path)).collect();
    while let Some(state) = work.pop() {
        if seen.len() == most || terms.bytes() > LIMITS.memory / 16 {
            break;
        }
        seen.push(state.clone());
        match step(&mut terms, state, Sums::Both).next {
            Next::State(next) => work.push(next),
            Next::Sum(first, second) => work.extend([first, second]),
            _ => {}
        }
    }
    (terms, seen)
}

#[test]
fn states_are_terms_of_numbers_lemmas_6_3_to_6_5() {
    let coverage = Coverage::default();
    law("Lemmas 6.3 to 6.5", 150, program, |sample| {
        let (mut terms, states) = nd_states(sample, 25);
        for state in &states {
            // Lemma 6.4: pi_δ(M) has the type of M, less a level for each letter.
            let head = State { stack: Vec::new(), ..state.clone() };
            let head = read_back(&mut terms, &head);
            let (of_head, of_term) = (recheck(&mut terms, head), recheck(&mut terms, state.term));
            let letters = u32::try_from(state.word.len()).expect("a short word");
            if of_head.is_none() || of_head != of_term.and_then(|ty| ty.shallower(letters)) {
                return Err(format!("{state}: {of_term:?} becomes {of_head:?}"));
            }
            // Lemma 6.3: the stack is a linear context, of type nat around its hole.
            let variable = terms.add(Term::Var(0));
            let alone = State { word: Word(Vec::new()), term: variable, ..state.clone() };
            let context = read_back(&mut terms, &alone);
            if recheck_open(&mut terms, context, &[of_head.expect("it has a type")]) != Some(Type::NAT) {
                return Err(format!("{state}: the stack has another type"));
            }
            if linear_spine(&terms, context).1 != variable {
                return Err(format!("{state}: the stack is not linear"));
            }
            // Lemma 6.5: so the whole is a number.
            let whole = read_back(&mut terms, state);
            if recheck(&mut terms, whole) != Some(Type::NAT) {
                return Err(format!("{state} is no number"));
            }
            coverage.note(if state.stack.is_empty() { "no stack" } else { "a stack" });
            if !state.word.is_empty() {
                coverage.note("a word");
            }
        }
        Ok(Verdict::of(states.iter().any(|state| !state.stack.is_empty()), "no stack"))
    });
    coverage.require("Lemmas 6.3 to 6.5", 200, ["a stack", "no stack", "a word"]);
}

/// Every letter of a state, in the word and in the stack.
fn letters(state: &State) -> Vec<Letter> {
    let of_frames = state.stack.iter().flat_map(|frame| match frame {
        Frame::If(word, ..) | Frame::Let(word, _) => word.0.clone(),
        Frame::Derive(letter) => vec![*letter],
        Frame::Arg(_) | Frame::Succ | Frame::Pred => Vec::new(),
    });
    state.word.0.iter().copied().chain(of_frames).collect()
}

/// `c ∈ w_0(γ)`, given the letters of both: where γ has a cell, c has 0 or 1.
fn is_instance(instance: &[Letter], of: &[Letter]) -> bool {
    let fits = |(letter, of): (&Letter, &Letter)| letter == of || matches!(of, Letter::Cell(_));
    instance.len() == of.len() && instance.iter().zip(of).all(fits)
}

#[test]
fn cells_without_a_one_are_zero_lemma_7_8() {
    let coverage = Coverage::default();
    law("Lemma 7.8", 150, program, |sample| {
        let mut is_tried = false;
        for path in leaves(&sample.program) {
            let mut terms = sample.program.terms.clone();
            let mut state = State::start(sample.program.main, &path);
            for _ in 0..40 {
                for cell in cells(&state) {
                    let all = letters(&state);
                    let mut resolved = state.clone();
                    resolved.resolve(cell);
                    let after = letters(&resolved);
                    // All choices for the other cells: those with a 1 in place of this cell, and those
                    // without.
                    let places: Vec<usize> =
                        (0..all.len()).filter(|at| matches!(all[*at], Letter::Cell(_))).collect();
                    for mask in 0..1_u32 << places.len().min(4) {
                        let mut instance = all.clone();
                        for (bit, place) in places.iter().enumerate() {
                            let is_one = bit < 4 && mask >> bit & 1 == 1;
                            instance[*place] = if is_one { Letter::One } else { Letter::Zero };
                        }
                        let has_one = places
                            .iter()
                            .any(|at| all[*at] == Letter::Cell(cell) && instance[*at] == Letter::One);
                        coverage.note(if has_one { "a one" } else { "no one" });
                        is_tried = true;
                        if is_instance(&instance, &all) && is_instance(&instance, &after) == has_one {
                            return Err(format!("{state}: cell {cell}, {instance:?}"));
                        }
                    }
                }
                match step(&mut terms, state, Sums::Cells).next {
                    Next::State(next) => state = next,
                    _ => break,
                }
            }
        }
        Ok(Verdict::of(is_tried, "no cell"))
    });
    coverage.require("Lemma 7.8", 200, ["a one", "no one"]);
}

/// Coefficients of programs without coins are natural numbers; a mass is at most 1, so at a leaf it is 0 or
/// 1.
#[test]
fn masses_without_coins_are_natural_theorem_7_3() {
    let coverage = Coverage::default();
    law("Theorem 7.3", 300, program, |sample| {
        for path in leaves(&sample.program) {
            let code = environment::compile(&sample.program, LIMITS.memory).expect("a small program");
            let Ok((mass, _)) = environment::distribution(&code, &path, LIMITS, 4) else {
                return Ok(Verdict::Vacuous("out of memory"));
            };
            if mass.values.len() > 1 || mass.values.values().any(|(weight, _)| *weight != RBig::ONE) {
                return Err(format!("at {path:?}: {}", mass.show(false)));
            }
            coverage.note(if mass.values.is_empty() { "0" } else { "1" });
        }
        Ok(Verdict::Holds)
    });
    coverage.require("Theorem 7.3", 100, ["0", "1"]);
}
