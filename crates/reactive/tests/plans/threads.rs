//! How many threads compute large products does not show in their bits.

use std::cell::RefCell;

use eddy_reactive::cell::Cell;
use eddy_reactive::elaborate::Given;
use eddy_reactive::engine::{Source, print};
use eddy_reactive::simulate;
use eddy_tensor::{Data, Type, Value};

use crate::compiled::{Folder, How, PLAIN, agrees};
use crate::generated::case::Ready;
use crate::generated::harness::Verdict;
use crate::samples::prepared_given;

/// Products of several shapes, all of them large, and how many streams run at once: matrices, sizes that no tile divides, few rows, a vector.
const PROGRAMS: [(&str, Option<usize>); 5] = [
    ("node n(x:num[128,64]) -> (y) y = matmul(param(glorot_uniform([128,128])), x);", None),
    ("node n(x:num[127,67]) -> (y) y = matmul(param(glorot_uniform([131,127])), x);", None),
    ("node n(x:num[3,601]) -> (y) y = matmul(x, param(glorot_uniform([601,603])));", None),
    ("node n(x:num[1001]) -> (y) y = matmul(param(glorot_uniform([1077,1001])), x);", None),
    ("node n(x:num[251]) -> (y) y = tanh(matmul(param(glorot_uniform([233,251])), x));", Some(19)),
];

/// A value that looks like any.
#[allow(clippy::cast_precision_loss)] // the numbers are small
fn value(ty: &Type, cycle: usize) -> Value {
    let n: usize = ty.shape.iter().product();
    let numbers = (0..n).map(|at| ((at * 13 + cycle * 7) as f64 * 0.37).sin()).collect();
    Value::new(ty.shape.clone(), Data::Num(numbers)).expect("there are as many")
}

/// Whether compiled code hands pieces over.
fn is_in_pieces(ready: &Ready) -> bool {
    let source = Source {
        flow: ready.flow(),
        clocks: ready.clocks(),
        shown: &ready.flow().outputs,
        options: simulate::Options::default(),
        is_checked: true,
        checkpoints: false,
    };
    print(&source, "law", false).is_ok_and(|printed| printed.emitted.source.contains("void law_parallel("))
}

#[test]
fn the_number_of_threads_does_not_show() {
    let (folder, number) = (Folder::new("threads"), RefCell::default());
    for (text, batch) in PROGRAMS {
        let given = Given { batch, ..Given::default() };
        let prepared = prepared_given(text, "n", &given).unwrap_or_else(|found| panic!("{found:?}"));
        let ty = prepared.flow.var(prepared.flow.inputs[0]).ty.clone();
        let row = (0..2).map(|cycle| Cell::Value(value(&ty, cycle))).collect();
        let ready = Ready { prepared, inputs: vec![row], n_cycles: 2 };
        assert!(is_in_pieces(&ready), "{text} has no large product");
        for n_threads in [1, 2, 3] {
            eddy_loader::set_threads(Some(n_threads));
            let how = How { flags: &["-O2", "-march=native"], single: n_threads == 2, ..PLAIN };
            match agrees(&ready, &folder, how, &number) {
                Ok(Verdict::Holds) => {}
                Ok(_) => panic!("{text} is not compiled"),
                Err(message) => panic!("{n_threads} threads: {text}\n{message}"),
            }
        }
    }
}
