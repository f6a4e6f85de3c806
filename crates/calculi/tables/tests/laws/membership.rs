//! Meanings of types, and the lemmas of type soundness (Lemmas 5.4 to 5.8), against the equations of Figure
//! 10.
//!
//! The equations quantify over all sets of values. The law tries all subsets of *all* values inside the
//! tested one.

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::intype::{Refusal, is_member};
use eddy_tables::types::{Type, TypeKind, Types};
use eddy_tables::value::{Entry, Value, ValueKind, Values};
use eddy_tests::choices::Choices;
use eddy_tests::law::Coverage;

use crate::enumeration::listed;
use crate::generate::systemf;
use crate::harness::{Trial, Verdict, ask, law, program, universe};
use crate::systemf::{FUEL, inside, meanings, ty};

/// T of Figure 10, literally; `None` if there would be too many sets.
fn literally(value: Value, ty: Type, eta: &[Vec<Value>], types: &Types, values: &Values) -> Option<bool> {
    const MOST: usize = 7;
    Some(match (types.kind(ty), values.kind(value)) {
        (TypeKind::Int, ValueKind::Int(_)) | (TypeKind::Forall(_), ValueKind::ThunkNone) => true,
        (TypeKind::Variable(index), kind) => {
            let set = eta.get(index as usize).map_or(&[][..], Vec::as_slice);
            *kind != ValueKind::Wrong && set.iter().any(|member| values.is_below(value, *member))
        }
        (TypeKind::Arrow(from, to), ValueKind::Table(entries)) => {
            let mut all = true;
            for entry in entries {
                all &= !literally(entry.input.value, from, eta, types, values)?
                    || literally(entry.output.value, to, eta, types, values)?;
            }
            all
        }
        (TypeKind::Forall(body), ValueKind::ThunkSome(content)) => {
            let mut parts = inside(*content, values);
            parts.sort_unstable_by(|a, b| values.compare(*a, *b));
            parts.dedup();
            if parts.len() > MOST {
                return None;
            }
            let mut all = true;
            for mask in 0..1_u32 << parts.len() {
                let chosen = parts.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
                let mut inner = vec![chosen.map(|(_, part)| *part).collect()];
                inner.extend_from_slice(eta);
                all &= literally(*content, body, &inner, types, values)?;
            }
            all
        }
        _ => false,
    })
}

/// A value that has nearly the form of a type: members and non-members in about equal numbers.
fn value_of(choices: &mut Choices<'_>, ty: Type, types: &Types, values: &mut Values) -> Value {
    if choices.once_in(12) {
        return match choices.below(3) {
            0 => values.table(Vec::new()),
            1 => values.int(3),
            _ => values.wrong(),
        };
    }
    match types.kind(ty) {
        TypeKind::Arrow(from, to) => {
            let n = 1 + choices.below(2);
            let entries = (0..n)
                .map(|_| {
                    let input = value_of(choices, from, types, values);
                    Entry::new(input, value_of(choices, to, types, values))
                })
                .collect();
            values.table(entries)
        }
        TypeKind::Forall(body) => {
            let content = value_of(choices, body, types, values);
            values.thunk_some(content)
        }
        _ => values.int(choices.below(3)),
    }
}

/// A type that starts with a quantifier, and choices for a value of it.
fn quantified(choices: &mut Choices<'_>) -> (Types, Type, Vec<u16>) {
    let mut types = Types::default();
    let body = ty(choices, &mut types, 3, 2);
    let ty = types.make(TypeKind::Forall(body));
    let seeds = (0..40).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
    (types, ty, seeds)
}

/// Figure 10: membership follows its equations, with a quantifier over every set.
#[test]
fn figure_10_every_set_is_tried() {
    let coverage = Coverage::default();
    law("Figure 10", 2000, quantified, |(types, ty, seeds)| -> Trial {
        let (mut values, mut choices) = (Values::default(), Choices::new(seeds));
        let eta = vec![vec![values.int(0), values.int(2)]];
        let value = value_of(&mut choices, *ty, types, &mut values);
        let Some(expected) = literally(value, *ty, &eta, types, &values) else {
            return Ok(Verdict::Vacuous("too many sets"));
        };
        match is_member(value, *ty, meanings(&eta), types, &values, FUEL) {
            Err(Refusal::Fuel(_) | Refusal::TooManySets(_)) => Ok(Verdict::Vacuous("too many sets")),
            Ok(found) if found != expected => Err(format!("{}: {found}, not {expected}", values.show(value))),
            Ok(found) => {
                coverage.note(if found { "a member" } else { "no member" });
                Ok(Verdict::Holds)
            }
        }
    });
    coverage.require("Figure 10", 400, ["a member", "no member"]);
}

/// `∀a. a → … → a → int`, and a value that only the set of *all* its inputs refutes.
#[test]
fn figure_10_only_the_full_set_refutes() {
    for n in 1..=5_u32 {
        let (mut types, mut values) = (Types::default(), Values::default());
        let variable = types.make(TypeKind::Variable(0));
        let (mut body, mut good, mut bad) = (Type::INT, values.int(7), values.table(Vec::new()));
        for input in 0..n {
            body = types.arrow(variable, body);
            let input = values.int(input);
            [good, bad] = [good, bad].map(|output| values.table(vec![Entry::new(input, output)]));
        }
        let ty = types.make(TypeKind::Forall(body));
        let [good, bad] = [good, bad].map(|content| values.thunk_some(content));
        assert_eq!(is_member(good, ty, meanings(&[]), &types, &values, FUEL), Ok(true), "{n} inputs");
        assert_eq!(is_member(bad, ty, meanings(&[]), &types, &values, FUEL), Ok(false), "{n} inputs");
    }
}

/// A type and a value of it, with sets for two variables.
fn typed_value(choices: &mut Choices<'_>) -> (Types, Vec<Type>, Vec<u16>) {
    let mut types = Types::default();
    let from = ty(choices, &mut types, 2, 2);
    let to = ty(choices, &mut types, 2, 2);
    let arrow = types.arrow(from, to);
    let seeds = (0..80).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
    (types, vec![arrow, from, to], seeds)
}

/// Lemma 5.4: a shifted type means the same, for any sets of the new variables.
#[test]
fn lemma_5_4_shifted_types_mean_the_same() {
    law("Lemma 5.4", 500, typed_value, |(types, ids, seeds)| {
        let (mut types, mut values) = (types.clone(), Values::default());
        let mut choices = Choices::new(seeds);
        let eta = [vec![values.int(0)], vec![values.int(1), values.int(2)]];
        let by = 1 + choices.below(2);
        let others = (0..by).map(|_| vec![values.int(choices.below(3))]);
        let longer: Vec<Vec<Value>> = others.collect::<Vec<_>>().into_iter().chain(eta.clone()).collect();
        let shifted = types.shift(ids[0], u32::try_from(by).expect("one or two"));
        let mut answers = [false; 2];
        for _ in 0..8 {
            let value = value_of(&mut choices, ids[0], &types, &mut values);
            let before = is_member(value, ids[0], meanings(&eta), &types, &values, FUEL);
            let after = is_member(value, shifted, meanings(&longer), &types, &values, FUEL);
            if before != after {
                return Err(format!("{} is {before:?} and {after:?}", values.show(value)));
            }
            if let Ok(is_member) = before {
                answers[usize::from(is_member)] = true;
            }
        }
        Ok(Verdict::of(answers[1], "no value is a member"))
    });
}

/// Lemma 5.7 below a quantifier: `T[∀.A](V,η) = T[[0↦B]∀.A]η` with `V = T[B]η`. The variable of B has another
/// index below the quantifier.
#[test]
fn lemma_5_7_substitution_below_quantifiers() {
    let sample = |choices: &mut Choices<'_>| {
        let mut types = Types::default();
        let outer = types.make(TypeKind::Variable(0));
        // Over the outer variable; often the variable itself.
        let by = if choices.once_in(2) { outer } else { ty(choices, &mut types, 2, 1) };
        // Over the variable of the quantifier, the one to replace, and the outer one.
        let replaced = types.make(TypeKind::Variable(1));
        let other = ty(choices, &mut types, 2, 3);
        let body =
            if choices.once_in(2) { types.arrow(replaced, other) } else { types.arrow(other, replaced) };
        let whole = types.make(TypeKind::Forall(body));
        let seeds: Vec<u16> =
            (0..80).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
        (types, [whole, by], seeds)
    };
    let coverage = Coverage::default();
    law("Lemma 5.7", 1000, sample, |(types, [whole, by], seeds)| {
        let (mut types, mut values) = (types.clone(), Values::default());
        let mut choices = Choices::new(seeds);
        let outer = vec![values.int(1), values.int(2)];
        let substituted = types.substitute(*whole, 0, *by);
        let mut is_compared = false;
        for _ in 0..6 {
            let value = value_of(&mut choices, substituted, &types, &mut values);
            let eta = meanings(std::slice::from_ref(&outer));
            let right = is_member(value, substituted, eta, &types, &values, FUEL);
            let is_in_by = |part: &Value| {
                let eta = meanings(std::slice::from_ref(&outer));
                is_member(*part, *by, eta, &types, &values, FUEL) == Ok(true)
            };
            let meaning: Vec<Value> = inside(value, &values).into_iter().filter(is_in_by).collect();
            let left = is_member(value, *whole, meanings(&[meaning, outer.clone()]), &types, &values, FUEL);
            if left != right {
                let shown = types.show(*whole);
                return Err(format!("{shown}: {} is {left:?} and {right:?}", values.show(value)));
            }
            if let Ok(is_member) = left {
                is_compared = true;
                coverage.note(if is_member { "a member" } else { "no member" });
            }
        }
        Ok(Verdict::of(is_compared, "too many sets"))
    });
    coverage.require("Lemma 5.7", 400, ["a member", "no member"]);
}

/// Lemma 5.5: the value of a variable in an environment is in the meaning of the variable's type, also under
/// further quantifiers.
#[test]
fn lemma_5_5_variables_have_values_of_their_types() {
    let sample = |choices: &mut Choices<'_>| {
        let ty = systemf::ty(choices, 2).text();
        let seeds: Vec<u16> =
            (0..40).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
        (format!("\\x:{ty}. /\\b. \\y:b. x"), seeds)
    };
    law("Lemma 5.5", 500, sample, |(text, seeds)| {
        let program = program(Dialect::SystemF, text);
        let (mut values, mut choices) = (Values::default(), Choices::new(seeds));
        let whole = program.ty.expect("it is typed");
        let TypeKind::Arrow(from, _) = program.types.kind(whole) else { unreachable!("it is a function") };
        let mut is_tried = false;
        for _ in 0..6 {
            let value = value_of(&mut choices, from, &program.types, &mut values);
            let (five, eight) = (values.int(5), values.int(8));
            let inner = values.table(vec![Entry::new(five, value)]);
            let thunk = values.thunk_some(inner);
            let goal = values.table(vec![Entry::new(value, thunk)]);
            if is_member(value, from, meanings(&[]), &program.types, &values, FUEL) != Ok(true) {
                continue;
            }
            is_tried = true;
            if ask(&program, goal, &mut values) != Answer::Yes {
                return Err(format!("{} is not looked up", values.show(goal)));
            }
            if is_member(goal, whole, meanings(&[]), &program.types, &values, FUEL) == Ok(false) {
                return Err(format!("{} is not in its type", values.show(goal)));
            }
            if values.kind(value) != values.kind(eight) {
                let other = values.table(vec![Entry::new(five, eight)]);
                let thunk = values.thunk_some(other);
                let wrong = values.table(vec![Entry::new(value, thunk)]);
                if ask(&program, wrong, &mut values) == Answer::Yes {
                    return Err(format!("{} is looked up", values.show(wrong)));
                }
            }
        }
        Ok(Verdict::of(is_tried, "no value of the type"))
    });
}

/// A variable that is bound outside of a quantifier has the same type inside of it: lookup shifts the type by
/// the binders between.
#[test]
fn lemma_5_5_types_of_variables_are_shifted() {
    let sample = |choices: &mut Choices<'_>| {
        let ty = systemf::ty(choices, 2);
        let variable = systemf::Ty::Variable("c".to_string());
        let ty = match choices.below(3) {
            0 => variable,
            1 => systemf::Ty::arrow(variable, ty),
            _ => systemf::Ty::arrow(ty, variable),
        };
        let depth = 1 + choices.below(2);
        (ty.text(), u32::try_from(depth).expect("one or two"))
    };
    law("Lemma 5.5, types", 200, sample, |(ty, depth)| {
        let binders = "/\\b. \\y:b. ".repeat(*depth as usize);
        let program = program(Dialect::SystemF, &format!("/\\c. \\x:{ty}. {binders}x"));
        let (mut types, found) = (program.types.clone(), program.ty.expect("it is typed"));
        let TypeKind::Forall(function) = types.kind(found) else { unreachable!("it is quantified") };
        let TypeKind::Arrow(from, _) = types.kind(function) else { unreachable!("it is a function") };
        let variable = types.make(TypeKind::Variable(0));
        let result = types.shift(from, *depth);
        let to = (0..*depth).fold(result, |to, _| {
            let arrow = types.arrow(variable, to);
            types.make(TypeKind::Forall(arrow))
        });
        let function = types.arrow(from, to);
        let expected = types.make(TypeKind::Forall(function));
        if found == expected {
            return Ok(Verdict::Holds);
        }
        Err(format!("{} is not {}", types.show(found), types.show(expected)))
    });
}

/// Lemma 5.6: applying members of `A → B` to members of `A` gives members of `B`, and not `wrong`.
#[test]
fn lemma_5_6_application_cannot_go_wrong() {
    law("Lemma 5.6", 500, typed_value, |(types, ids, seeds)| {
        let (mut values, mut choices) = (Values::default(), Choices::new(seeds));
        let eta = [vec![values.int(0)], vec![values.int(1), values.int(2)]];
        let mut arguments = universe(Dialect::SystemF, 2, &mut values);
        let mut n_results = 0;
        for _ in 0..6 {
            let table = value_of(&mut choices, ids[0], types, &mut values);
            let is_in = |value, ty| is_member(value, ty, meanings(&eta), types, &values, FUEL) == Ok(true);
            if !is_in(table, ids[0]) {
                continue;
            }
            arguments.extend(values.entries(table).iter().map(|entry| entry.input.value));
            for &argument in arguments.iter().filter(|argument| is_in(**argument, ids[1])) {
                for entry in
                    values.entries(table).iter().filter(|entry| values.is_below(entry.input.value, argument))
                {
                    n_results += 1;
                    let output = entry.output.value;
                    if !is_in(output, ids[2]) || *values.kind(output) == ValueKind::Wrong {
                        return Err(format!("{} at {}", values.show(table), values.show(argument)));
                    }
                }
            }
        }
        Ok(Verdict::of(n_results > 0, "no entry is used"))
    });
}

/// Lemma 5.8: the tables of a `fix` are in the meaning of its type, those of its second iterate included.
#[test]
fn lemma_5_8_iterates_cannot_go_wrong() {
    let sample = |choices: &mut Choices<'_>| {
        let [from, to] = [systemf::ty(choices, 1), systemf::ty(choices, 1)];
        let whole = systemf::Ty::arrow(from.clone(), to.clone());
        let scope = vec![("f".to_string(), whole.clone()), ("x".to_string(), from.clone())];
        let body = systemf::open_term(choices, &to, 3, scope);
        format!("fix f : {}. \\x:{}. {body}", whole.text(), from.text())
    };
    law("Lemma 5.8", 400, sample, |text| {
        let program = program(Dialect::SystemF, text);
        let mut values = Values::default();
        let (found, _) = listed(&program, 4, &mut values);
        let ty = program.ty.expect("it is typed");
        for value in &found {
            if is_member(*value, ty, meanings(&[]), &program.types, &values, FUEL) == Ok(false) {
                return Err(format!("{} is not in {}", values.show(*value), program.types.show(ty)));
            }
        }
        Ok(Verdict::of(found.iter().any(|value| !values.entries(*value).is_empty()), "only the empty table"))
    });
}
