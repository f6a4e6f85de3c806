//! Compares every operation, batched, with a loop over the streams: the bits must be the same.

// Generates operands for every operation. The parts for derivatives are unused here.
#[allow(dead_code)]
#[path = "../../tensor/tests/laws/cases.rs"]
mod cases;

use eddy_batch::batch;
use eddy_flow::{Constant, Equation, Flow, Kind, Var, VarId};
use eddy_syntax::Span;
use eddy_tensor::slices::{split, stack};
use eddy_tensor::{Data, Op, Value};
use eddy_tests::law::{Verdict, law};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use cases::{Case, Choices, case, eval, tensor};

const STREAMS: usize = 3;

/// Operands for each stream, and which of them differ between streams.
#[derive(Debug)]
struct Sample {
    op: Op,
    streams: Vec<Vec<Value>>,
    is_wide: Vec<bool>,
}

fn sample(op: &Op, choices: &[u16]) -> Sample {
    let mut c = Choices::new(choices);
    let Case { op, operands } = case(op, &mut c);
    let mut is_wide: Vec<bool> = operands.iter().map(|_| c.below(3) > 0).collect();
    if !is_wide.contains(&true) {
        is_wide[0] = true;
    }
    let n_rows = match &op {
        Op::Onehot(n) | Op::Place(n) => Some(*n),
        Op::Row => Some(operands[0].shape()[0]),
        _ => None,
    };
    let of_stream = |stream: usize| {
        let own = operands.iter().zip(&is_wide);
        own.map(|(operand, is_wide)| other(n_rows, operand, if *is_wide { stream } else { 0 })).collect()
    };
    let streams = (0..STREAMS).map(of_stream).collect();
    Sample { op, streams, is_wide }
}

/// A different operand of the same type, for another stream. An index is below `n_rows`.
fn other(n_rows: Option<usize>, operand: &Value, stream: usize) -> Value {
    let Value::Tensor(elements) = operand else {
        return match (n_rows, operand) {
            (Some(n), Value::Int(index)) => {
                let shifted = usize::try_from(*index).expect("it is an index") + stream;
                Value::Int(i64::try_from(shifted % n).expect("it is small"))
            }
            (_, Value::Bool(truth)) => Value::Bool(*truth ^ (stream % 2 == 1)),
            // Stays at least 1/2 away from zero and keeps its sign.
            (_, Value::Num(x)) => {
                Value::Num(x * (1.0 + 0.25 * f64::from(u32::try_from(stream).expect("small"))))
            }
            // At least 8 away from zero.
            (_, Value::Int(x)) => Value::Int(x + i64::try_from(stream).expect("small")),
            (_, Value::Num32(_) | Value::Tensor(_)) => unreachable!("cases are in double precision"),
        };
    };
    let mut data = elements.data().clone();
    match &mut data {
        Data::Num(xs) => rotate(xs, stream),
        Data::Int(xs) => rotate(xs, stream),
        Data::Bool(xs) => {
            xs.iter_mut().enumerate().for_each(|(i, x)| *x ^= (i + stream) % 3 == 1 && stream > 0);
        }
        Data::Num32(_) => unreachable!("cases are in double precision"),
    }
    tensor(operand.shape(), data)
}

fn rotate<T>(xs: &mut [T], by: usize) {
    let n = xs.len().max(1);
    xs.rotate_left(by % n);
}

/// One equation, whose wide operands are inputs and whose shared ones are constants.
fn flow(sample: &Sample) -> Flow {
    let mut flow = Flow::default();
    let mut operands = Vec::new();
    for (value, is_wide) in sample.streams[0].iter().zip(&sample.is_wide) {
        let var = add(&mut flow, value, (!is_wide).then(|| Kind::Const(Constant::Value(value.clone()))));
        if *is_wide {
            flow.inputs.push(var);
        }
        operands.push(var);
    }
    let result = eval(&sample.op, &sample.streams[0].iter().collect::<Vec<_>>());
    let out = add(&mut flow, &result, Some(Kind::Apply(sample.op.clone(), operands.into())));
    flow.outputs.push(out);
    flow
}

/// Adds a variable of the type of `like` and its equation.
fn add(flow: &mut Flow, like: &Value, kind: Option<Kind>) -> VarId {
    let var = VarId::new(flow.vars.len());
    let span = Span::default();
    flow.vars.push(Var {
        name: Some(format!("v{}", var.index()).as_str().into()),
        span,
        ty: like.ty(),
        purpose: None,
    });
    flow.equations.extend(kind.map(|kind| Equation { out: var, kind, span, call: None }));
    var
}

/// Runs a flow without delays and returns its output.
fn run(flow: &Flow, inputs: Vec<Value>) -> Value {
    let mut values: Vec<Option<Value>> = vec![None; flow.vars.len()];
    for (var, value) in flow.inputs.iter().zip(inputs) {
        values[var.index()] = Some(value);
    }
    for equation in &flow.equations {
        let value = match &equation.kind {
            Kind::Const(constant) => constant.value(&flow.var(equation.out).ty, 0),
            Kind::Apply(op, operands) => {
                let get = |var: &VarId| values[var.index()].as_ref().expect("operands come first");
                eval(op, &operands.iter().map(get).collect::<Vec<_>>())
            }
            other => panic!("batching one operation made {other:?}"),
        };
        assert_eq!(value.ty(), flow.var(equation.out).ty, "the type of {equation:?}");
        values[equation.out.index()] = Some(value);
    }
    values[flow.outputs[0].index()].take().expect("outputs are computed")
}

fn bits(value: &Value) -> Vec<String> {
    let of = |element: Value| match element {
        Value::Num(x) => format!("{:016x}", x.to_bits()),
        other => other.to_string(),
    };
    value.elements().map(of).collect()
}

#[test]
fn a_batched_operation_is_a_loop_over_the_streams() {
    for op in Op::all() {
        let samples = vec(any::<u16>(), 0..400).prop_map(|choices| sample(op, &choices));
        law(&format!("batched {op:?}"), 60, &samples, |sample| {
            let (batched, of) = batch(flow(sample), STREAMS, &[]).map_err(|found| found[0].title.clone())?;
            let wide = |operand: usize| {
                let slices: Vec<&Value> = sample.streams.iter().map(|stream| &stream[operand]).collect();
                stack(&slices)
            };
            let inputs = (0..sample.is_wide.len()).filter(|operand| sample.is_wide[*operand]).map(wide);
            let result = run(&batched, inputs.collect());
            assert!(of.is_wide(batched.outputs[0]), "the result differs from stream to stream");
            for (stream, (found, operands)) in split(&result).iter().zip(&sample.streams).enumerate() {
                let expected = eval(&sample.op, &operands.iter().collect::<Vec<_>>());
                if found.ty() != expected.ty() || bits(found) != bits(&expected) {
                    return Err(format!("stream {stream} is {found} instead of {expected}"));
                }
            }
            Ok(Verdict::Holds)
        });
    }
}
