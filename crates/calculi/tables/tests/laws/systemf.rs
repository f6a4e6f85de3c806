//! Type soundness of System F (section 5 of the paper).

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::intype::{Meanings, Refusal, is_member};
use eddy_tables::types::{Type, TypeKind, Types};
use eddy_tables::value::{Entry, Value, ValueKind, Values};
use eddy_tests::choices::Choices;

use crate::enumeration::listed;
use crate::generate::systemf;
use crate::harness::{Verdict, ask, law, program, some_of, universe};

pub const FUEL: u64 = 1_000_000;

/// η as a list of sets, the innermost first.
pub fn meanings(sets: &[Vec<Value>]) -> (Meanings, usize) {
    let mut meanings = Meanings::default();
    let eta = sets.iter().rev().fold(0, |outer, set| meanings.push(set.clone(), outer));
    (meanings, eta)
}

/// P16, Theorem 4: all values of a program are in the meaning of its type, and `wrong` is not among them.
#[test]
fn p16_well_typed_programs_do_not_go_wrong() {
    law(
        "P16",
        800,
        |choices| systemf::term(choices).0,
        |text| {
            let program = program(Dialect::SystemF, text);
            let mut values = Values::default();
            let wrong = values.wrong();
            if ask(&program, wrong, &mut values) == Answer::Yes {
                return Err("it goes wrong".into());
            }
            let (found, _) = listed(&program, 4, &mut values);
            let ty = program.ty.expect("it is typed");
            for value in &found {
                match is_member(*value, ty, meanings(&[]), &program.types, &values, FUEL) {
                    Ok(true) => {}
                    Ok(false) => {
                        return Err(format!("{} is not in {}", values.show(*value), program.types.show(ty)));
                    }
                    Err(Refusal::Fuel(_) | Refusal::TooManySets(_)) => {
                        return Ok(Verdict::Vacuous("too many sets"));
                    }
                }
            }
            // `{}` and `thunk(none)` are in the meaning of every type of their form.
            Ok(Verdict::of(found.iter().any(|value| is_informative(*value, &values)), "empty"))
        },
    );
}

/// Whether a value is more than an empty table or an empty thunk.
fn is_informative(value: Value, values: &Values) -> bool {
    match values.kind(value) {
        ValueKind::Table(entries) => !entries.is_empty(),
        ValueKind::ThunkNone => false,
        ValueKind::ThunkSome(content) => is_informative(*content, values),
        _ => true,
    }
}

/// A type with free variables below `n_free`, and some choices for values.
fn sample(choices: &mut Choices<'_>, n_free: u32) -> (Types, Vec<Type>, Vec<u16>) {
    let mut types = Types::default();
    let ids = vec![ty(choices, &mut types, 3, n_free), ty(choices, &mut types, 2, n_free)];
    let seeds = (0..60).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect();
    (types, ids, seeds)
}

pub fn ty(choices: &mut Choices<'_>, types: &mut Types, depth: u32, n_free: u32) -> Type {
    let kind = match if depth == 0 { choices.below(2) } else { choices.below(6) } {
        0 => TypeKind::Int,
        1 if n_free > 0 => TypeKind::Variable(u32::try_from(choices.below(n_free as usize)).expect("few")),
        1 => TypeKind::Int,
        2 => TypeKind::Forall(ty(choices, types, depth - 1, n_free + 1)),
        _ => {
            let from = ty(choices, types, depth - 1, n_free);
            TypeKind::Arrow(from, ty(choices, types, depth - 1, n_free))
        }
    };
    types.make(kind)
}

/// P17, Lemmas 5.1 and 5.2: meanings of types are downward closed, and never contain `wrong`.
#[test]
fn p17_meanings_of_types_are_downward_closed() {
    law(
        "P17",
        150,
        |choices| sample(choices, 2),
        |(types, ids, seeds)| {
            let mut values = Values::default();
            let all = universe(Dialect::SystemF, 4, &mut values);
            let mut choices = Choices::new(seeds);
            let wrong = values.wrong();
            // A set may contain `wrong`: `cleanup` removes it.
            let sets = [(); 2].map(|()| [some_of(&all, &mut choices, 4), vec![wrong]].concat());
            let is_in =
                |value, values: &Values| is_member(value, ids[0], meanings(&sets), types, values, FUEL);
            if is_in(wrong, &values) != Ok(false) {
                return Err("it contains `wrong`".into());
            }
            let members: Vec<Value> =
                all.iter().copied().filter(|value| is_in(*value, &values) == Ok(true)).collect();
            let mut is_compared = false;
            for member in &members {
                for &lower in &all {
                    let is_lower = lower != *member && values.is_below(lower, *member);
                    is_compared |= is_lower;
                    if is_lower && is_in(lower, &values) != Ok(true) {
                        return Err(format!(
                            "{} is in, and {} is not",
                            values.show(*member),
                            values.show(lower)
                        ));
                    }
                }
            }
            Ok(Verdict::of(is_compared, "nothing is below a member"))
        },
    );
}

/// P18, Lemmas 5.4 and 5.7: weakening, and T[A](η1 V η2)=T[[|η1|↦B]A](η1η2) with V=T[B](η1η2).
#[test]
fn p18_weakening_and_compositionality() {
    law(
        "P18",
        200,
        |choices| sample(choices, 2),
        |(types, ids, seeds)| {
            let mut types = types.clone();
            let mut values = Values::default();
            let all = universe(Dialect::SystemF, 4, &mut values);
            let mut choices = Choices::new(seeds);
            let [first, second] = [some_of(&all, &mut choices, 4), some_of(&all, &mut choices, 4)];
            let shifted = types.shift(ids[0], 1);
            let mut is_inhabited = false;
            for value in some_of(&all, &mut choices, 20) {
                let weak = is_member(
                    value,
                    ids[0],
                    meanings(&[first.clone(), second.clone()]),
                    &types,
                    &values,
                    FUEL,
                );
                let sets = [first.clone(), first.clone(), second.clone()];
                let strong = is_member(value, shifted, meanings(&sets), &types, &values, FUEL);
                is_inhabited |= weak == Ok(true) && is_informative(value, &values);
                if weak != strong {
                    return Err(format!("weakening: {} is {weak:?} and {strong:?}", values.show(value)));
                }
                // A has the variables 0 and 1; for i = |η1| in 0 and 1, B is over the others.
                for position in 0..2_u32 {
                    let outer = if position == 0 { vec![second.clone()] } else { vec![first.clone()] };
                    let b = types.substitute(ids[1], position, Type::INT);
                    let parts = inside(value, &values);
                    let is_in_b = |part: &Value| {
                        is_member(*part, b, meanings(&outer), &types, &values, FUEL) == Ok(true)
                    };
                    let meaning: Vec<Value> = parts.into_iter().filter(is_in_b).collect();
                    let sets =
                        if position == 0 { [meaning, second.clone()] } else { [first.clone(), meaning] };
                    let left = is_member(value, ids[0], meanings(&sets), &types, &values, FUEL);
                    let substituted = types.substitute(ids[0], position, b);
                    let right = is_member(value, substituted, meanings(&outer), &types, &values, FUEL);
                    if left != right {
                        let shown = types.show(ids[0]);
                        return Err(format!(
                            "{shown} at {position}: {} is {left:?} and {right:?}",
                            values.show(value)
                        ));
                    }
                }
            }
            Ok(Verdict::of(is_inhabited, "no member says something"))
        },
    );
}

/// The content of a thunk is one value, however often it is forced, even if it depends on a lookup in a table
/// inside of a closure.
#[test]
fn a_thunk_has_one_content() {
    for body in ["t 0", "(\\x:int. t x) 0", "g 0"] {
        let text = format!("\\t:int -> int. let g = \\x:int. t x in let p = /\\a. {body} in p[int] - p[int]");
        let program = program(Dialect::SystemF, &text);
        let mut values = Values::default();
        let [zero, one, two] = [0, 1, 2].map(|n| values.int(n));
        let table = values.table(vec![Entry::new(zero, one), Entry::new(zero, two)]);
        for (difference, expected) in [(0, Answer::Yes), (1, Answer::No), (-1, Answer::No)] {
            let difference = values.int(difference);
            let goal = values.table(vec![Entry::new(table, difference)]);
            assert_eq!(ask(&program, goal, &mut values), expected, "{} of {text}", values.show(goal));
        }
    }
}

/// The values inside of a value, itself included.
pub fn inside(value: Value, values: &Values) -> Vec<Value> {
    let (mut all, mut at) = (vec![value], 0);
    while at < all.len() {
        all.extend(values.parts(all[at]));
        at += 1;
    }
    all.retain(|value| *values.kind(*value) != ValueKind::Wrong);
    all
}
