//! The oracle itself: right rewrites pass, wrong ones are caught, and the entry that differs is small.

use std::rc::Rc;

use eddy_syntax::SourceFile;
use eddy_tables::dialect::Dialect;
use eddy_tables::optimise::optimise;
use eddy_tables::oracle::sample::DIMENSIONS;
use eddy_tables::oracle::{Datum, FiniteTable, Outcome, Reason, Sort, Tolerance, agree, inputs, table_of};
use eddy_tables::run::{Limits, RunError, Shown, run};
use eddy_tables::syntax::Program;
use eddy_tables::typing;

fn reals(input: &Datum) -> Vec<f64> {
    match input {
        Datum::Real(x) => vec![*x],
        Datum::Tensor(_, elements) => elements.clone(),
        Datum::Tuple(items) => items.iter().flat_map(reals).collect(),
        _ => panic!("the inputs are reals: {input}"),
    }
}

fn on_reals(f: impl Fn(&[f64]) -> f64) -> impl Fn(&Datum, u64) -> Outcome {
    move |input, _| Outcome::Value(Datum::Real(f(&reals(input))))
}

/// Whether a rewrite of a function of `n` reals passes.
fn passes(
    n: usize,
    before: impl Fn(&[f64]) -> f64,
    after: impl Fn(&[f64]) -> f64,
    tolerance: Tolerance,
) -> bool {
    let inputs = inputs(&Sort::Tuple(vec![Sort::Real; n]), 7);
    agree("rewrite", &on_reals(before), &on_reals(after), &inputs, tolerance).is_ok()
}

#[test]
fn rewrites_that_keep_tables_pass() {
    assert!(passes(2, |x| x[0] + x[1], |x| x[1] + x[0], Tolerance::Exact));
    assert!(passes(1, |x| x[0] * 2.0, |x| x[0] + x[0], Tolerance::Exact));
    assert!(passes(1, |x| -(-x[0]), |x| x[0], Tolerance::Exact));
    assert!(passes(1, |x| x[0] / 4.0, |x| x[0] * 0.25, Tolerance::Exact));
}

#[test]
fn rewrites_that_change_tables_are_caught() {
    assert!(!passes(1, |x| x[0] - x[0], |_| 0.0, Tolerance::Exact), "infinities");
    assert!(!passes(1, |x| x[0] * 0.0, |_| 0.0, Tolerance::Exact), "signs and NaN");
    assert!(!passes(1, |x| x[0] + 0.0, |x| x[0], Tolerance::Exact), "-0 + 0 is 0");
    assert!(!passes(1, |x| x[0] / 3.0, |x| x[0] * (1.0 / 3.0), Tolerance::Exact), "rounding");
    assert!(!passes(1, |x| f64::from(x[0] == x[0]), |_| 1.0, Tolerance::Exact), "NaN");
    assert!(
        !passes(2, |x| x[0] / x[1], |x| x[0] * x[1], Tolerance::Within { atol: 0.1, rtol: 0.1 }),
        "wrong"
    );
    assert!(!passes(3, |x| x[0] + x[1] + x[2], |x| x[0] + (x[1] + x[2]), Tolerance::Exact), "order");
}

#[test]
fn zeros_agree_unless_bits_count() {
    let tolerance = Tolerance::Within { atol: 0.0, rtol: 1e-15 };
    assert!(passes(1, |x| x[0] + 0.0, |x| x[0], tolerance));
    assert!(passes(1, |x| x[0] / 3.0, |x| x[0] * (1.0 / 3.0), tolerance));
}

/// Positive terms: without cancellation, another order of summation stays within its tolerance.
#[test]
fn reassociation_has_its_own_tolerance() {
    for n in DIMENSIONS {
        let terms = u32::try_from(n.max(1)).expect("small");
        let sum = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
        let reversed = |x: &[f64]| x.iter().rev().map(|x| x.abs()).sum::<f64>();
        let inputs = inputs(&Sort::Tensor(vec![n]), 3);
        let reassociated = Tolerance::Reassociated { terms };
        assert!(
            agree("reversed sum", &on_reals(sum), &on_reals(reversed), &inputs, reassociated).is_ok(),
            "{n}"
        );
    }
}

#[test]
fn shapes_are_exact() {
    let keep = |input: &Datum, _: u64| Outcome::Value(input.clone());
    let flatten = |input: &Datum, _: u64| match input {
        Datum::Tensor(_, elements) => Outcome::Value(Datum::Tensor(vec![elements.len()], elements.clone())),
        _ => unreachable!("the inputs are tensors"),
    };
    let inputs = inputs(&Sort::Tensor(vec![2, 3]), 1);
    assert!(agree("flatten", &keep, &flatten, &inputs, Tolerance::Within { atol: 1.0, rtol: 1.0 }).is_err());
}

#[test]
fn undefined_is_an_empty_meaning() {
    let divide = |input: &Datum, _: u64| match input {
        Datum::Int(0) => Outcome::Undefined(Reason::Trap),
        Datum::Int(n) => Outcome::Value(Datum::Int(6_i64.wrapping_div(*n))),
        _ => unreachable!("the inputs are integers"),
    };
    let total = |input: &Datum, _: u64| match input {
        Datum::Int(0) => Outcome::Value(Datum::Int(0)),
        other => divide(other, 0),
    };
    let elsewhere = |input: &Datum, _: u64| match divide(input, 0) {
        Outcome::Undefined(_) => Outcome::Undefined(Reason::Shape),
        value @ Outcome::Value(_) => value,
    };
    let inputs = inputs(&Sort::Int, 1);
    let witness = agree("total division", &divide, &total, &inputs, Tolerance::Exact)
        .expect_err("it is defined at 0 now");
    assert_eq!(witness.to_string(), "total division: 0 -> undefined (Trap) becomes 0 -> 0");
    assert!(agree("another reason", &divide, &elsewhere, &inputs, Tolerance::Exact).is_ok());
}

#[test]
fn a_comparison_that_tests_nothing_fails() {
    let tired = |_: &Datum, _: u64| Outcome::Undefined(Reason::Fuel);
    let inputs = inputs(&Sort::Real, 1);
    let witness = agree("nothing", &tired, &tired, &inputs, Tolerance::Exact).expect_err("it is vacuous");
    assert_eq!(witness.to_string(), "nothing: 64 of 64 samples ran out of fuel, so nothing was tested");
    assert_eq!(table_of(&tired, &inputs[..1], 1), [(inputs[0].clone(), Outcome::Undefined(Reason::Fuel))]);
}

/// A rewrite of a function of functions: `f (x + 0)` is not `f x`, and the shrunk function has one input.
#[test]
fn functions_are_sampled_as_tables() {
    let call = |input: &Datum, change: &dyn Fn(i64) -> i64| {
        let Datum::Tuple(items) = input else { panic!("two inputs") };
        let (Datum::Function(f), Datum::Int(x)) = (&items[0], &items[1]) else {
            panic!("a function and an integer")
        };
        f.call(&Datum::Int(change(*x)))
    };
    let function = Sort::Function(Box::new(Sort::Int), Box::new(Sort::Int));
    let inputs = inputs(&Sort::Tuple(vec![function, Sort::Int]), 5);
    let before = |input: &Datum, _: u64| call(input, &|x| x);
    let right = |input: &Datum, _: u64| call(input, &|x| x.wrapping_add(0));
    let wrong = |input: &Datum, _: u64| call(input, &|x| x.wrapping_neg());
    assert!(agree("x + 0", &before, &right, &inputs, Tolerance::Exact).is_ok());
    let witness = agree("-x", &before, &wrong, &inputs, Tolerance::Exact).expect_err("it is wrong");
    let Datum::Tuple(items) = &witness.input else { panic!("two inputs") };
    let Datum::Function(table) = &items[0] else { panic!("a function") };
    assert_eq!(table.entries.len(), 1, "{witness}");
}

#[test]
fn lookup_is_exact_after_rounding() {
    let table = FiniteTable::new(vec![(Datum::Real(0.1), Datum::Int(1))]);
    assert_eq!(table.call(&Datum::Real(0.1 + 1e-17)), Outcome::Value(Datum::Int(1)));
    assert_eq!(table.call(&Datum::Real(0.1001)), Outcome::Undefined(Reason::Outside));
    assert_eq!(table.demanded().entries.len(), 1);
    let function = Datum::Function(Rc::new(table));
    assert_eq!(function.to_string(), "{0.1 -> 1}");
}

/// The optimiser of `.lam` as a pass, on functions of integers.
#[test]
fn the_optimiser_of_lam_passes() {
    let functions = [
        "\\n. n + (3 - 1) * 2",
        "\\n. (\\f. f (f n)) (\\x. x * 2 + 1)",
        "let twice = \\f. \\x. f (f x) in \\n. twice (twice (\\k. k - 3)) n",
        "\\n. if 1 < 2 then n / 2 else 1 / 0",
        "\\n. (\\d. 100 / d) n",
        "let Z = \\f. let M = \\x. f (\\v. x x v) in M M in Z (\\r. \\n. if n < 1 then 0 else if n > 50 then 0 else n + r (n - 1))",
    ];
    for text in functions {
        for depth in 0..=4 {
            let before = typing::check(&SourceFile::new("f", text), Dialect::Lambda).expect("it is closed");
            let mut after = before.clone();
            after.main = optimise(&mut after, depth).expect("it is small");
            let inputs = inputs(&Sort::Int, 11);
            let tables =
                [before, after].map(|program| move |input: &Datum, fuel: u64| applied(&program, input, fuel));
            agree(
                &format!("O at depth {depth} of {text}"),
                &tables[0],
                &tables[1],
                &inputs,
                Tolerance::Exact,
            )
            .unwrap_or_else(|witness| panic!("{witness}"));
        }
    }
}

/// The outcome of a function of `.lam` for an integer.
fn applied(program: &Program, input: &Datum, fuel: u64) -> Outcome {
    let Datum::Int(n) = input else { panic!("the inputs are integers") };
    let mut program = program.clone();
    let span = program.terms.span(program.main);
    let argument = program.terms.push(eddy_tables::syntax::Term::Int((*n).into()), span);
    let call =
        eddy_tables::syntax::Term::Apply(program.main, argument, eddy_tables::syntax::Written::Plainly);
    program.main = program.terms.push(call, span);
    match run(&program, Limits { fuel, ..Limits::default() }).0 {
        // Results are integers of any size: their text is exact.
        Ok(Shown(text)) => match text.parse() {
            Ok(n) => Outcome::Value(Datum::Int(n)),
            Err(_) => {
                Outcome::Value(Datum::Tuple(text.bytes().map(|byte| Datum::Int(byte.into())).collect()))
            }
        },
        Err(RunError::Stuck(..)) => Outcome::Undefined(Reason::Trap),
        Err(_) => Outcome::Undefined(Reason::Fuel),
    }
}
