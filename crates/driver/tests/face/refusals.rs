//! Errors are reported as diagnostics, in every request.

use eddy_driver::model::GivenParameters;
use eddy_driver::{Data, EngineKind, NodeRequest, Refusal, Row, RunRequest, TrainRequest};
use eddy_language::semantics::Cell;
use eddy_tensor::Value;
use expect_test::{Expect, expect};

use crate::{model, nums, program, session, tensor};

fn check<T>(outcome: Result<T, Refusal>, expected: &Expect) {
    let refusal = outcome.err().expect("it is refused");
    assert!(!refusal.diagnostics.is_empty());
    expected.assert_eq(&refusal.to_string());
}

#[test]
fn programs_that_are_wrong() {
    let loaded = session().0.load_text("wrong.eddy", "node n(x) -> (y) y = z;");
    check(
        loaded,
        &expect![[r"
        error[E0201]: unknown variable `z`
         --> wrong.eddy:1:22
          |
        1 | node n(x) -> (y) y = z;
          |                      ^ no input or equation of this node defines it"]],
    );
}

#[test]
fn nodes_and_constants() {
    let program = program("node size(n) -> (y) y = sum(ones([n]));\nnode other(x:num []) -> (y) y = x;");
    check(
        program.model(NodeRequest::of("sise")),
        &expect![[r"
        error[E0202]: unknown node or function `sise`
         --> test.eddy:1:1
          |
        1 | node size(n) -> (y) y = sum(ones([n]));
          | ^
          |
          = help: did you mean `size`?"]],
    );
    let constants = vec![("n".to_string(), "3 +".to_string())];
    check(
        program.model(NodeRequest { constants, ..NodeRequest::of("size") }),
        &expect![[r"
        error[E0102]: expected an expression, found `;`
         --> --const n:2:1
          |
        2 | ; }
          | ^
          |
          = help: `+` has no operand on its right"]],
    );
}

#[test]
fn steps() {
    let model = model("node n(x:num [2]) -> (y) y = sum(x);", "n");
    let mut run = model.start(&RunRequest::default()).expect("it starts");
    check(
        run.step(&nums([1.0])),
        &expect![[r"
        error[E0701]: `x` has shape []: its type is num [2]
         --> test.eddy:1:6
          |
        1 | node n(x:num [2]) -> (y) y = sum(x);
          |      ^"]],
    );
    check(
        run.step(&[]),
        &expect![[r"
        error[E0701]: a step takes a cell for each of the 1 inputs of `n`, and 0 are given
         --> test.eddy:1:6
          |
        1 | node n(x:num [2]) -> (y) y = sum(x);
          |      ^"]],
    );
    check(
        run.step(&[Cell::Value(Value::Bool(true))]),
        &expect![[r"
        error[E0701]: `x` has shape []: its type is num [2]
         --> test.eddy:1:6
          |
        1 | node n(x:num [2]) -> (y) y = sum(x);
          |      ^"]],
    );
    let pair = Cell::Value(tensor(&[2], vec![1.0, 2.0]));
    assert_eq!(run.step(&[pair]).expect("it is right").len(), 1, "a step that was refused did not happen");
    run.flush().expect("it ends");
    check(
        run.step(&[Cell::Absent]),
        &expect![[r"
        error[E0701]: the run has ended: it starts again after a reset
         --> test.eddy:1:6
          |
        1 | node n(x:num [2]) -> (y) y = sum(x);
          |      ^"]],
    );
    let request = RunRequest { engine: Some(EngineKind::Denote), ..RunRequest::default() };
    check(
        model.start(&request),
        &expect![[r"
        error[E0701]: the engine `denote` needs the whole trace, and cannot run step by step
         --> test.eddy:1:6
          |
        1 | node n(x:num [2]) -> (y) y = sum(x);
          |      ^"]],
    );
}

#[test]
fn operations_without_a_value() {
    let model = model("node n(x:int []) -> (y) y = 6 div x;", "n");
    let mut run = model.start(&RunRequest::default()).expect("it starts");
    assert_eq!(run.step(&[Cell::Value(Value::Int(3))]).expect("6 div 3 is 2").len(), 1);
    check(
        run.step(&[Cell::Value(Value::Int(0))]),
        &expect![[r"
        error[E0602]: division by zero at cycle 1 in 'y'
         --> test.eddy:1:31
          |
        1 | node n(x:int []) -> (y) y = 6 div x;
          |                               ^^^"]],
    );
}

#[test]
fn rows_before_a_failure_are_given() {
    let model = model("node n(x:int []) -> (y) z = 6 div x; y = post x;", "n");
    let cells = [3, 0].map(|number| Cell::Value(Value::Int(number)));
    let data = vec![Data::cells([("x", cells.to_vec())])];
    let streamed: Vec<Result<Row, Refusal>> =
        model.run(&RunRequest::default(), data).expect("it starts").collect();
    let mut run = model.start(&RunRequest::default()).expect("it starts");
    let stepped: Vec<Row> = cells
        .iter()
        .flat_map(|cell| run.step(std::slice::from_ref(cell)).expect("the failure comes after the rows"))
        .collect();
    let [Ok(first), Err(failure)] = streamed.as_slice() else { panic!("{streamed:?}") };
    assert_eq!(stepped.as_slice(), std::slice::from_ref(first));
    for outcome in [run.step(&cells[..1]), run.flush(), run.step(&cells[..1])] {
        assert_eq!(outcome.expect_err("it has failed").to_string(), failure.to_string());
    }
    run.reset();
    assert_eq!(run.step(&cells[..1]).expect("it starts anew"), []);
}

#[test]
fn data_in_memory() {
    let model = model("node n(x:num [], k:num []) -> (y) y = x + k;", "n");
    let run = |data: Data| {
        model.run(&RunRequest::default(), vec![data]).and_then(Iterator::collect::<Result<Vec<_>, _>>)
    };
    let vector = |n: usize| tensor(&[n], vec![1.0; n]);
    check(
        run(Data::tensors([("x", vector(2)), ("k", vector(3))])),
        &expect![[r"
        error[E0701]: `k` has 3 cycles and `x` has 2: tensors are equally long
        --> <data>:1:1"]],
    );
    check(
        run(Data::tensors([("x", Value::Num(1.0))])),
        &expect![[r"
        error[E0701]: `x` is a scalar: the first axis of a tensor is time
        --> <data>:1:1"]],
    );
    check(
        run(Data::cells([("x", vec![Cell::Value(vector(2))]), ("k", nums([1.0]))])),
        &expect![[r"
        error[E0701]: `x` has shape [2], at cycle 0: its type is num []
        --> <data>:1:1"]],
    );
}

#[test]
fn parameters() {
    let mut model = model("node n(x:num []) -> (y) y = param(2.0) * x;", "n");
    let before = model.parameters(0).expect("it has one");
    assert_eq!(before.len(), 1);
    let name = before[0].0.clone();
    let given = |values: Vec<(String, Value)>| GivenParameters { from: "elsewhere".to_string(), values };
    check(
        model.set_parameters(given(vec![("other".to_string(), Value::Num(1.0))])),
        &expect![[r"
        error[E0703]: `elsewhere` has no value for the parameter `param#1`
         --> test.eddy:1:29
          |
        1 | node n(x:num []) -> (y) y = param(2.0) * x;
          |                             ^^^^^"]],
    );
    check(
        model.set_parameter(&name, Value::Bool(true), 0),
        &expect![[r"
        error[E0703]: the parameter `param#1` is num [] but `the values given` has bool [] for it
         --> test.eddy:1:29
          |
        1 | node n(x:num []) -> (y) y = param(2.0) * x;
          |                             ^^^^^"]],
    );
    assert_eq!(model.parameters(0).expect("it has one"), before, "a value that was refused changed nothing");
    model.set_parameter(&name, Value::Num(5.0), 0).expect("it fits");
    let mut run = model.start(&RunRequest::default()).expect("it starts");
    assert_eq!(run.step(&nums([3.0])).expect("it runs")[0].cells, nums([15.0]));
}

#[test]
fn training() {
    let program = program("node n(x) -> (y) y = param(0.0) * x;\ntrain n as learn loss mse optim sgd(0.1);");
    let request = TrainRequest::default();
    check(
        program.trainer(&request, Vec::new(), Vec::new()),
        &expect![[r"
        error[E0701]: the data have no rows
         --> test.eddy:2:1
          |
        2 | train n as learn loss mse optim sgd(0.1);
          | ^^^^^
          |
          = help: each row of a file after its header, or each line of JSON, is a cycle"]],
    );
    let data =
        || vec![Data::tensors([("x", tensor(&[2], vec![1.0, 2.0])), ("gt", tensor(&[2], vec![1.0, 2.0]))])];
    let whole = TrainRequest { engine: Some(EngineKind::Kahn), ..TrainRequest::default() };
    check(
        program.trainer(&whole, data(), Vec::new()),
        &expect![[r"
        error[E0701]: the engine `kahn` cannot train: it computes whole traces
         --> test.eddy:2:1
          |
        2 | train n as learn loss mse optim sgd(0.1);
          | ^^^^^"]],
    );
    assert!(program.trainer(&request, data(), Vec::new()).is_ok());
}
