//! Programs with the pattern of restarts, or nearly with this pattern, have the values of the simulator.

use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::generated::case::Ready;
use crate::run::{execute, options, planned, simulated};
use crate::samples::prepared;

/// Variants of the pattern: the initial value of `first`, the initial value of `held`, the condition that
/// clears `held`, and the value that `held` keeps. The first variant of each is the pattern itself, in which
/// `k` is always 5. The initial value of `held` does not matter.
const FIRST: [&str; 2] = ["true", "false"];
const HELD: [&str; 2] = ["5.0", "2.0"];
const END: [&str; 3] = ["e", "d", "not e"];
const KEPT: [&str; 3] = ["k", "k + 1.0", "x"];

/// The values of `e` in three traces: ends close together and far apart, at the first cycle and at the last.
const ENDS: [[bool; 6]; 3] = [
    [false, false, true, false, false, true],
    [true, true, false, false, true, false],
    [false, true, false, true, false, false],
];

#[test]
fn a_stream_that_is_the_same_after_restarts_keeps_its_initial_value() {
    let mut n_constant = 0;
    for (first, held) in FIRST.iter().flat_map(|first| HELD.iter().map(move |held| (first, held))) {
        for (end, kept) in END.iter().flat_map(|end| KEPT.iter().map(move |kept| (end, kept))) {
            let text = format!(
                "node f(e:bool, d:bool, x:num) -> (k)
                 first = {first} fby e; k = if first then 5.0 else held; held = {held} fby (if {end} then 0.0 else {kept});"
            );
            for ends in ENDS {
                n_constant += u32::from(plan_agrees(&text, ends));
            }
        }
    }
    // The pattern itself gives 6 constant streams: 2 initial values of `held`, on 3 traces. Other streams may
    // happen to be 5 on these traces.
    assert!(n_constant >= 6, "{n_constant} streams are constant");
}

/// Checks that a plan has the cells of the simulator; returns whether all of them are 5.
fn plan_agrees(text: &str, ends: [bool; 6]) -> bool {
    let prepared = prepared(text, "f").unwrap_or_else(|refused| panic!("{text}: {refused}"));
    let inputs = prepared.flow.inputs.iter().map(|input| {
        let cell = |(cycle, end): (usize, bool)| match prepared.flow.var(*input).name.as_deref() {
            Some("e") => Cell::Value(Value::Bool(end)),
            Some("d") => Cell::Value(Value::Bool(ends[(cycle + 1) % 6])),
            _ => Cell::Value(Value::Num([1.0, 5.0, 3.0, 7.0, 5.0, 2.0][cycle])),
        };
        ends.into_iter().enumerate().map(cell).collect()
    });
    let inputs = inputs.collect();
    let ready = Ready { prepared, inputs, n_cycles: 6 };
    let expected = simulated(&ready).unwrap_or_else(|_| panic!("{text}: no value"));
    let found =
        execute(&ready, &planned(&ready, &options())).unwrap_or_else(|stop| panic!("{text}: {stop:?}"));
    assert_eq!(found, expected, "{text}\n{ends:?}");
    expected[0].iter().all(|cell| *cell == Cell::Value(Value::Num(5.0)))
}
