//! ⊑, ⊔, and that meanings respect them.

use eddy_tables::ask::Answer;
use eddy_tables::dialect::Dialect;
use eddy_tables::value::{Entry, Value, Values};
use eddy_tests::choices::Choices;

use crate::generate::{lam, simple};
use crate::harness::{Verdict, ask, law, program, universe};

/// P3, Propositions 2.1 and 3.4: ⊑ is a partial order, and ⊔ the least upper bound where it is defined.
#[test]
fn p3_the_order_and_its_joins() {
    for dialect in [Dialect::Lambda, Dialect::SystemF] {
        let mut values = Values::default();
        let all = universe(dialect, 4, &mut values);
        for &a in &all {
            assert!(values.is_below(a, a));
            for &b in &all {
                let (up, down) = (values.is_below(a, b), values.is_below(b, a));
                assert_eq!(up && down, a == b, "{} and {}", values.show(a), values.show(b));
                let uppers: Vec<Value> = all
                    .iter()
                    .copied()
                    .filter(|c| values.is_below(a, *c) && values.is_below(b, *c))
                    .collect();
                match values.join(a, b) {
                    Some(join) => {
                        assert!(values.is_below(a, join) && values.is_below(b, join));
                        assert!(uppers.iter().all(|c| values.is_below(join, *c)));
                    }
                    None => assert!(uppers.is_empty(), "{} and {}", values.show(a), values.show(b)),
                }
                if up {
                    let above = all.iter().filter(|c| values.is_below(b, **c));
                    assert!(above.into_iter().all(|c| values.is_below(a, *c)), "⊑ is transitive");
                }
            }
        }
    }
}

/// The canonical order is total, and sorts by kind first.
#[test]
fn the_canonical_order_is_total() {
    let mut values = Values::default();
    let all = universe(Dialect::SystemF, 4, &mut values);
    for &a in &all {
        for &b in &all {
            assert_eq!(values.compare(a, b), values.compare(b, a).reverse());
            assert_eq!(values.compare(a, b).is_eq(), a == b);
        }
    }
    let mut sorted = all.clone();
    sorted.sort_by(|a, b| values.compare(*a, *b));
    for pair in sorted.windows(3) {
        assert!(values.compare(pair[0], pair[2]).is_lt(), "the order is transitive");
    }
}

/// A λ and some choices for values.
fn sample(choices: &mut Choices<'_>) -> (String, Vec<u16>) {
    let text = match choices.below(2) {
        0 => lam::lambda(choices),
        _ => simple::lambda(choices),
    };
    (text, (0..40).map(|_| u16::try_from(choices.below(1 << 16)).expect("16 bits")).collect())
}

/// Values in the meaning of a λ: tables of its outputs.
fn members(program: &eddy_tables::syntax::Program, values: &mut Values, seeds: &[u16]) -> Vec<Value> {
    let all = universe(Dialect::Lambda, 4, values);
    let mut choices = Choices::new(seeds);
    let mut found = vec![values.table(Vec::new())];
    // Outputs are mostly integers, or the empty table.
    let outputs: Vec<Value> = all.iter().copied().filter(|value| values.size(*value) <= 2).collect();
    for _ in 0..16 {
        let entry = Entry::new(all[choices.below(all.len())], outputs[choices.below(outputs.len())]);
        let table = values.table(vec![entry]);
        if ask(program, table, values) == Answer::Yes {
            found.push(table);
        }
    }
    found
}

/// P4, Proposition 2.3: values below a member are members, and a larger environment has no fewer.
#[test]
fn p4_subsumption_and_change_of_environment() {
    law("P4", 800, sample, |(text, seeds)| {
        let program = program(Dialect::Lambda, text);
        let mut values = Values::default();
        let all = universe(Dialect::Lambda, 5, &mut values);
        let mut is_informative = false;
        for value in all
            .iter()
            .copied()
            .filter(|value| seeds.contains(&0) || values.size(*value) < 5)
            .collect::<Vec<_>>()
        {
            if ask(&program, value, &mut values) != Answer::Yes {
                continue;
            }
            for &lower in &all {
                if lower != value && values.is_below(lower, value) {
                    is_informative = true;
                    if ask(&program, lower, &mut values) == Answer::No {
                        return Err(format!(
                            "{} is in, and {} is not",
                            values.show(value),
                            values.show(lower)
                        ));
                    }
                }
            }
            // {t ↦ v} and a larger t.
            let entries = values.entries(value).to_vec();
            for entry in entries {
                for &larger in &all {
                    if values.is_below(entry.input.value, larger) && larger != entry.input.value {
                        is_informative = true;
                        let more = values.table(vec![Entry::new(larger, entry.output.value)]);
                        if ask(&program, more, &mut values) == Answer::No {
                            return Err(format!(
                                "{} is in, and {} is not",
                                values.show(value),
                                values.show(more)
                            ));
                        }
                    }
                }
            }
        }
        Ok(if is_informative { Verdict::Holds } else { Verdict::Vacuous("nothing to compare") })
    });
}

/// P5, Lemma 3.5: the join of two members of a λ is a member.
#[test]
fn p5_joining_values() {
    law("P5", 800, sample, |(text, seeds)| {
        let program = program(Dialect::Lambda, text);
        let mut values = Values::default();
        let found = members(&program, &mut values, seeds);
        for &a in &found {
            for &b in &found {
                let join = values.join(a, b).expect("both are tables");
                if ask(&program, join, &mut values) != Answer::Yes {
                    return Err(format!(
                        "{} and {} are in, and their join is not",
                        values.show(a),
                        values.show(b)
                    ));
                }
            }
        }
        // With the empty table alone there is nothing to join.
        Ok(Verdict::of(found.len() > 1, "only the empty table"))
    });
}
