//! The number of threads for large work does not change the bits of results.

use std::cell::RefCell;

use eddy_compile::emit::Pieces;
use eddy_driver::engine::{EngineInput, print};
use eddy_flow::VarId;
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::semantics::{Cell, simulate};
use eddy_tensor::{Data, Scalar, Type, Value};

use crate::compiled::{Folder, How, PLAIN, agrees};
use crate::generated::case::Ready;
use crate::generated::harness::Verdict;
use crate::samples::prepared_given;

/// A program with large work.
struct Sample {
    text: &'static str,
    /// How many streams run at once.
    batch: Option<usize>,
    n_cycles: usize,
    /// The functions that its C text calls.
    calls: &'static [&'static str],
}

const fn sample(calls: &'static [&'static str], text: &'static str) -> Sample {
    Sample { text, batch: None, n_cycles: 2, calls }
}

const PRODUCT: &[&str] = &["eddy_large_matmul("];
const LOOP: &[&str] = &["&loop, law_loop0_part"];

const SAMPLES: [Sample; 15] = [
    // Products of several shapes: matrices, sizes that no tile divides, few rows, a vector, a batch.
    sample(PRODUCT, "node n(x:num[128,64]) -> (y) y = matmul(param(glorot_uniform([128,128])), x);"),
    sample(PRODUCT, "node n(x:num[127,67]) -> (y) y = matmul(param(glorot_uniform([131,127])), x);"),
    sample(PRODUCT, "node n(x:num[3,601]) -> (y) y = matmul(x, param(glorot_uniform([601,603])));"),
    sample(PRODUCT, "node n(x:num[17,301]) -> (y) y = matmul(x, param(glorot_uniform([301,407])));"),
    sample(PRODUCT, "node n(x:num[1001]) -> (y) y = matmul(param(glorot_uniform([1077,1001])), x);"),
    Sample {
        batch: Some(19),
        ..sample(PRODUCT, "node n(x:num[251]) -> (y) y = tanh(matmul(param(glorot_uniform([233,251])), x));")
    },
    // Sums of outer products after a loop, and of products in it.
    Sample {
        n_cycles: 80,
        ..sample(
            &["eddy_large_outer_sums("],
            "node f(x:num[121]) -> (y) y = sum(tanh(matmul(param(glorot_uniform([131,121])), x)));\n\
             node n(x, end) -> (y, dx, dw) y, dx, dw = adj_f_end(x, end, 1.0);",
        )
    },
    Sample {
        n_cycles: 5,
        ..sample(
            &["eddy_large_matmul(", "eddy_large_matmul_plus("],
            "node f(x:num[101,35]) -> (y) y = sum(tanh(matmul(param(glorot_uniform([303,101])), x)));\n\
             node n(x, end) -> (y, dx, dw) y, dx, dw = adj_f_end(x, end, 1.0);",
        )
    },
    // Loops: one, one inside of another, with scalars, and one that writes where it reads.
    sample(LOOP, "node n(x:num[301,201]) -> (y) y = tanh(x) * sigmoid(x) + exp(0.5 * x);"),
    sample(LOOP, "node n(x:num[301,201]) -> (y) y = sin(x) + cos(param(glorot_uniform([201])) * x);"),
    sample(LOOP, "node n(x:num[30,2001]) -> (y) s = 0.0 fby s + x[1][7]; y = s * tanh(s + x);"),
    sample(LOOP, "node n(x:num[301,201]) -> (y) y = zeros([301,201]) fby tanh(y + x) * 0.5;"),
    // In `over`, where a loop asks whether its cycle is before the `end` of the inputs.
    sample(LOOP, "node n(x:num[301,201]) -> (y) y = tanh((ones([301,201]) fby back x) * 0.5);"),
    // Convolutions, and their cotangents.
    sample(LOOP, "node n(x:num[26,23,9]) -> (y) y = conv2d(x, param(glorot_uniform([3,4,9,27])));"),
    Sample {
        n_cycles: 3,
        ..sample(
            &["&loop, law_loop0_part", "&loop, law_loop1_part", "&loop, law_loop2_part"],
            "node f(x:num[26,23,9]) -> (y) y = sum(conv2d(x, param(glorot_uniform([3,4,9,27]))));\n\
             node n(x, end) -> (y, dx, dk) y, dx, dk = adj_f_end(x, end, 1.0);",
        )
    },
];

/// An arbitrary value; a window ends with the last cycle.
#[allow(clippy::cast_precision_loss)] // the numbers are small
fn value(ty: &Type, cycle: usize, n_cycles: usize) -> Value {
    if ty.scalar == Scalar::Bool {
        return Value::Bool(cycle + 1 == n_cycles);
    }
    let n: usize = ty.shape.iter().product();
    let numbers = (0..n).map(|at| ((at * 13 + cycle * 7) as f64 * 0.37).sin()).collect();
    Value::new(ty.shape.clone(), Data::Num(numbers)).expect("there are as many")
}

/// The text of compiled code.
fn text(ready: &Ready) -> String {
    let source = EngineInput {
        flow: ready.flow(),
        clocks: ready.clocks(),
        shown: &ready.flow().outputs,
        options: simulate::Options::default(),
        is_checked: true,
        checkpoints: false,
    };
    print(&source, "law", false).expect("it can be compiled").emitted.source
}

#[test]
fn the_number_of_threads_does_not_show() {
    let (folder, number) = (Folder::new("threads"), RefCell::default());
    for Sample { text, batch, n_cycles, calls } in SAMPLES {
        let given = ElaborationOptions { batch, ..ElaborationOptions::default() };
        let prepared = prepared_given(text, "n", &given).unwrap_or_else(|found| panic!("{found:?}"));
        let row = |input: &VarId| {
            let ty = &prepared.flow.var(*input).ty;
            (0..n_cycles).map(|cycle| Cell::Value(value(ty, cycle, n_cycles))).collect()
        };
        let inputs = prepared.flow.inputs.iter().map(row).collect();
        let ready = Ready { prepared, inputs, n_cycles };
        let c = self::text(&ready);
        assert!(c.contains("void law_parallel("), "{text} has nothing for threads");
        for call in calls {
            assert!(c.contains(call), "{text} does not call {call}:\n{c}");
        }
        for n_threads in [1, 2, 3] {
            let pieces = if n_threads == 3 { Pieces::of_lines(2) } else { PLAIN.pieces };
            let how =
                How { flags: &["-O2", "-march=native"], single: n_threads == 2, pieces, n_threads, ..PLAIN };
            match agrees(&ready, &folder, how, &number) {
                Ok(Verdict::Holds) => {}
                Ok(_) => panic!("{text} is not compiled"),
                Err(message) => panic!("{n_threads} threads: {text}\n{message}"),
            }
        }
    }
}
