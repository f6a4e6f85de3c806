//! The heap: answers about programs with references agree with their runs (P19).

use eddy_tables::ask::{Answer, ask as ask_goal};
use eddy_tables::dialect::Dialect;
use eddy_tables::run::RunError;
use eddy_tables::value::parse::Goal;
use eddy_tables::value::{Entry, Side, Store, Value, Values};
use eddy_tests::choices::Choices;

use crate::generate::references;
use crate::harness::{LIMITS, Verdict, ask, law, program, run};

/// P19: run(e)=n iff ask(e,n)=yes, and no well-typed program answers yes to `wrong`.
#[test]
fn p19_integers_are_what_programs_run_to() {
    law("P19", 2000, references::int_term, |text| {
        let program = program(Dialect::References, text);
        let mut values = Values::default();
        let wrong = values.wrong();
        if ask(&program, wrong, &mut values) == Answer::Yes {
            return Err("it goes wrong".into());
        }
        let outcome = run(&program);
        for n in -3..5 {
            let value = values.int(n);
            let answer = ask(&program, value, &mut values);
            let expected = match &outcome {
                Ok(result) if *result == n.to_string() => Answer::Yes,
                Ok(_) | Err(RunError::Stuck(..)) => Answer::No,
                Err(_) => return Ok(Verdict::Vacuous("out of fuel")),
            };
            if answer != expected {
                return Err(format!("runs to {outcome:?}, and {n} is answered {answer:?}"));
            }
        }
        Ok(Verdict::Holds)
    });
}

/// P19, last part: renaming addresses in a goal does not change the answer.
#[test]
fn p19_addresses_have_no_names() {
    let sample = |choices: &mut Choices<'_>| {
        let text = references::update(choices);
        (text, choices.below(3), choices.below(4), 1 + choices.below(6) as u64)
    };
    law("P19, addresses", 1000, sample, |(text, before, other, renamed)| {
        let after = content_after(text, *before).unwrap_or(*other);
        let program = program(Dialect::References, text);
        let mut values = Values::default();
        let answers = [0, *renamed].map(|address| {
            let at = values.address(address);
            let [first, second] = [*before, after].map(|n| values.int(n));
            let [input, output] = [first, second].map(|stored| values.store(vec![(address, stored)]));
            let entry =
                Entry { input: Side { value: at, store: input }, output: Side { value: at, store: output } };
            let value = values.table(vec![entry]);
            ask_goal(&program, Goal { value, store: None }, &mut values, LIMITS).0
        });
        match answers {
            [a, b] if a != b => Err(format!("{a:?} at @0, and {b:?} at @{renamed}")),
            [a, _] => Ok(Verdict::of(a == Answer::Yes, "not in the meaning")),
        }
    });
}

/// The content of the argument cell after a call of a function.
fn content_after(update: &str, before: usize) -> Option<usize> {
    let text = format!("let cell = ref {before} in let other = ({update}) cell in !cell");
    run(&program(Dialect::References, &text)).ok()?.parse().ok()
}

/// A function that allocates, and a program that calls it and has its own cells.
fn caller(choices: &mut Choices<'_>) -> (String, String, [i64; 2]) {
    let [mine, theirs] = [5 + choices.below(2), 7 + choices.below(2)];
    let function = match choices.below(3) {
        0 => format!("(\\x:int. ref {theirs})"),
        1 => format!("(\\x:int. let q = ref {theirs} in q)"),
        _ => format!("(\\x:int. let q = ref x in q := {theirs})"),
    };
    let body = match choices.below(6) {
        0 => format!("let r = ref {mine} in let s = f 0 in !r"),
        1 => format!("let r = ref {mine} in let s = f 0 in !s"),
        2 => format!("let s = f 0 in let r = ref {mine} in !s"),
        3 => format!("let r = ref {mine} in let s = f 0 in (r := 6; !s)"),
        4 => format!("let r = ref {mine} in let s = f 0 in (s := 6; !r)"),
        _ => format!("let s = f 0 in let r = ref {mine} in (r := 8; !s)"),
    };
    let numbers = [mine, theirs].map(|n| i64::try_from(n).expect("small"));
    (function, format!("\\f:int -> ref int. {body}"), numbers)
}

/// R16: a call changes only the cells of its entry. So if a function has the table t, and a program gives v
/// for t, then the program runs to v with the function as argument: also where both allocate, and where an
/// entry must not be used because its cells are the caller's.
#[test]
fn r16_a_call_keeps_the_cells_of_its_caller() {
    law("R16", 300, caller, |(function, text, numbers)| {
        let whole = program(Dialect::References, &format!("({text}) {function}"));
        let result = run(&whole).map_err(|failure| format!("{failure:?}"))?;
        let [function, text] = [function, text].map(|text| program(Dialect::References, text));
        let mut values = Values::default();
        let mut found = Vec::new();
        for stored in candidate_stores(*numbers, &mut values) {
            let table = allocating(numbers[1], stored.at, &mut values);
            if ask(&function, table, &mut values) != Answer::Yes {
                continue;
            }
            for n in 4..10 {
                let output = Side { value: values.int(n), store: stored.after };
                let goal = values.table(vec![Entry::new(table, output)]);
                if ask(&text, goal, &mut values) == Answer::Yes {
                    found.push(n.to_string());
                    if n.to_string() != result {
                        return Err(format!("runs to {result}, and {} is answered yes", values.show(goal)));
                    }
                }
            }
        }
        if found.is_empty() {
            Err(format!("runs to {result}, and no table says so"))
        } else {
            Ok(Verdict::Holds)
        }
    });
}

/// A place for the function's cell, and the cells after a call by its caller.
struct Candidate {
    at: u64,
    after: Store,
}

/// Stores of one or two cells with contents that may occur.
fn candidate_stores(numbers: [i64; 2], values: &mut Values) -> Vec<Candidate> {
    let contents: Vec<Value> = [numbers[0], numbers[1], 6, 8].map(|n| values.int(n)).to_vec();
    let mut all = Vec::new();
    for at in [0, 1] {
        for &first in &contents {
            let after = values.store(vec![(at, first)]);
            all.push(Candidate { at, after });
            for &second in &contents {
                let after = values.store(vec![(0, first), (1, second)]);
                all.push(Candidate { at, after });
            }
        }
    }
    all
}

/// `{0 -> @at with @at = content}`.
fn allocating(content: i64, at: u64, values: &mut Values) -> Value {
    let (zero, address, content) = (values.int(0), values.address(at), values.int(content));
    let store = values.store(vec![(at, content)]);
    values.table(vec![Entry::new(zero, Side { value: address, store })])
}

/// An entry is used where its store is part of the heap, and its output store is part of the heap afterwards:
/// `f` is a table that requires `stored` in its cell.
#[test]
fn an_entry_is_used_only_in_its_store() {
    for (cell, stored, left, asked) in (0..81).map(|n| (n % 3, n / 3 % 3, n / 9 % 3, n / 27)) {
        let text = format!("\\f:ref int -> int. let r = ref {cell} in let n = f r in n + !r");
        let program = program(Dialect::References, &text);
        let mut values = Values::default();
        let address = values.address(0);
        let [stored_value, left_value, four, sum] = [stored, left, 4, 4 + asked].map(|n| values.int(n));
        let [before, after] = [stored_value, left_value].map(|value| values.store(vec![(0, value)]));
        let entry = Entry::new(Side { value: address, store: before }, Side { value: four, store: after });
        let function = values.table(vec![entry]);
        let goal = values.table(vec![Entry::new(function, Side { value: sum, store: after })]);
        let expected = if cell == stored && left == asked { Answer::Yes } else { Answer::No };
        assert_eq!(ask(&program, goal, &mut values), expected, "{} of {text}", values.show(goal));
    }
}

/// An answer mentions all cells of the run: if a call leaves a cell behind, the function has no entry without
/// that cell.
#[test]
fn an_entry_has_all_cells_that_are_left() {
    let program = program(Dialect::References, "\\x:int. let cell = ref x in x");
    let mut values = Values::default();
    let zero = values.int(0);
    let left = values.store(vec![(0, zero)]);
    for (store, expected) in [(Store::EMPTY, Answer::No), (left, Answer::Yes)] {
        let goal = values.table(vec![Entry::new(zero, Side { value: zero, store })]);
        assert_eq!(ask(&program, goal, &mut values), expected, "{}", values.show(goal));
    }
}

/// Reading an address without a cell has no value; it is not a type error, so it does not go wrong.
#[test]
fn reading_an_absent_cell_has_no_value() {
    let program = program(Dialect::References, "\\r:ref int. !r");
    let mut values = Values::default();
    let (address, zero, wrong) = (values.address(0), values.int(0), values.wrong());
    let cells = values.store(vec![(0, zero)]);
    let cases = [
        (Store::EMPTY, zero, Answer::No),
        (Store::EMPTY, wrong, Answer::No),
        (cells, zero, Answer::Yes),
        (cells, wrong, Answer::No),
    ];
    for (store, value, expected) in cases {
        let entry = Entry::new(Side { value: address, store }, Side { value, store });
        let goal = values.table(vec![entry]);
        assert_eq!(ask(&program, goal, &mut values), expected, "{}", values.show(goal));
    }
}
