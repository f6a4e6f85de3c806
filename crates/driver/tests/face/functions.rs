//! Functions that are called with tensors, records and enumerators in memory.

use eddy_driver::FunctionRequest;
use eddy_driver::functions::{Budget, Datum, NoResult};

use crate::{program, tensor};

const PROGRAM: &str = "\
type sort = enum { small, large };
type p = { x: num [2], kind: sort };
fn scaled(p: p, by: num) -> p = { p with x = by * p.x };
fn total(x) = sum(x);
fn down(n: int) -> int = if n == 0 then 0 else down(n - 1);
";

fn named(name: &str, datum: Datum) -> (String, Datum) {
    (name.to_string(), datum)
}

fn vector(elements: &[f64]) -> Datum {
    Datum::Tensor(tensor(&[elements.len()], elements.to_vec()))
}

#[test]
fn results_are_data_that_can_be_arguments_again() {
    let mut scaled = program(PROGRAM).function(FunctionRequest::new("scaled")).expect("it is there");
    let kind = Datum::Text("large".to_string());
    let p = Datum::Record(vec![named("kind", kind.clone()), named("x", vector(&[1.0, 2.0]))]);
    let once = scaled.call(&[named("p", p), named("by", Datum::Int(3))]).expect("it has a value");
    assert_eq!(once.to_string(), r#"{"x":[3,6],"kind":"large"}"#);
    let expected = Datum::Record(vec![named("x", vector(&[3.0, 6.0])), named("kind", kind)]);
    assert_eq!(once.to_datum(), expected);
    let twice = scaled.call(&[named("p", once.to_datum()), named("by", Datum::Num(0.5))]).expect("again");
    assert_eq!(twice.to_string(), r#"{"x":[1.5,3],"kind":"large"}"#);
}

#[test]
fn kinds_and_ranks_may_change_from_call_to_call() {
    let mut total = program(PROGRAM).function(FunctionRequest::new("total")).expect("it is there");
    assert_eq!(total.call(&[named("x", vector(&[1.0, 2.5]))]).expect("a vector").to_string(), "3.5");
    assert_eq!(total.call(&[named("x", Datum::Int(2))]).expect("a number").to_string(), "2");
    let rows = Datum::List(vec![Datum::List(vec![Datum::Int(1)]), Datum::List(vec![Datum::Int(2)])]);
    assert_eq!(total.call(&[named("x", rows)]).expect("a matrix").to_string(), "3");
}

#[test]
fn a_budget_is_shared_by_the_calls_of_a_function() {
    let budget = Budget { fuel: Some(10), ..Budget::default() };
    let mut down = program(PROGRAM)
        .function(FunctionRequest { budget, ..FunctionRequest::new("down") })
        .expect("it is there");
    let mut call = |n| down.call(&[named("n", Datum::Int(n))]);
    assert!(call(5).is_ok());
    assert!(matches!(call(5), Err(NoResult::Failed(_))));
    let wrong = down.call(&[named("n", Datum::Bool(true))]);
    let Err(NoResult::Refused(refusal)) = wrong else { panic!("a truth value is no integer") };
    assert!(refusal.to_string().contains("`n` must be an integer, not true"), "{refusal}");
}
