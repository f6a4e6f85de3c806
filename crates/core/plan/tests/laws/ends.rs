//! Derived ends that never hold: an output on a clock that is known only at the end of the trace must make
//! the whole trace one window.
//!
//! A plan whose derived end never holds computes the same cells. So both the plan and the cells are checked.

use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::generated::case::Ready;
use crate::run::{execute, kind, options, planned, simulated};
use crate::samples::prepared;

#[test]
fn a_clock_that_waits_for_the_end_of_the_trace_has_no_derived_end() {
    for body in [
        "c = b fby back c; y = x when c;",
        "c = b fby back c; y = 5.0 when c;",
        "c = b fby back c; d = (x > 2.0) when c; y = (x when c) when d;",
        "c = b fby back (if b then b else c); y = x when c;",
    ] {
        let text = format!("node f(b:bool, x:num) -> (y) {body}");
        let prepared = prepared(&text, "f").unwrap_or_else(|refused| panic!("{text}: {refused}"));
        let inputs = prepared.flow.inputs.iter().map(|input| {
            let cell = |cycle: usize| match prepared.flow.var(*input).name.as_deref() {
                Some("b") => Value::Bool(cycle % 3 == 2),
                _ => Value::Num([1.0, 5.0, 3.0, 7.0, 2.0, 4.0][cycle]),
            };
            (0..6).map(|cycle| Cell::Value(cell(cycle))).collect()
        });
        let inputs = inputs.collect();
        let ready = Ready { prepared, inputs, n_cycles: 6 };
        let plan = planned(&ready, &options());
        assert_eq!(kind(&plan), "whole trace", "{text}");
        let cells = simulated(&ready).unwrap_or_else(|_| panic!("{text}: no value"));
        let executed = execute(&ready, &plan).unwrap_or_else(|stop| panic!("{text}: {stop:?}"));
        assert_eq!(executed, cells, "{text}");
    }
}
