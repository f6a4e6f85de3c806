//! Unread operations stop compiled code where they stop the simulator: at a failure, unless they look ahead.

use std::cell::RefCell;

use eddy_language::semantics::{Cell, simulate};
use eddy_tensor::Value;

use crate::compiled::{Folder, PLAIN, agrees, ending};
use crate::generated::case::Ready;
use crate::generated::harness::Verdict;
use crate::samples::prepared;

/// Programs with a division that is unread (but for one), and the cycle at which they stop if `n` is 0 at
/// cycle 3 and `c` at cycles 1, 3 and 5.
const PROGRAMS: [(&str, Option<u64>); 13] = [
    // In a loop forwards; through other streams; after a delay; counted.
    ("d = 1 div n; y = n;", Some(3)),
    ("k = n * n; d = (7 mod k) + 2; e = d * d; y = n;", Some(3)),
    ("d = 1 div (1 fby n); y = n;", Some(4)),
    ("s = 9223372036854775804 fby s + 1; y = n;", Some(3)),
    // In the branch that is not taken, and in one that is never taken.
    ("y = if c then n else 1 div n;", Some(3)),
    ("y = if true then n else 1 div n;", Some(3)),
    // On a sampled clock that is active, and on one that is not.
    ("d = 1 div (n when c); y = n;", Some(3)),
    ("d = 1 div (n when not c); y = n;", None),
    // Beside late streams, and beside windows.
    ("d = 1 div n; y = post n;", Some(3)),
    ("d = 1 div n; g = n fby back (if c then n else g); y = g;", Some(3)),
    // Read, where the whole trace is one window.
    ("d = 1 div n; g = n fby back (if c then n else g); y = if c then d else g;", Some(3)),
    // Operations that look ahead are ignored.
    ("d = 1 div (post n); y = n;", None),
    ("d = 1 div (n fby back n); e = d + 1; y = n;", None),
];

#[test]
fn unread_failures_stop_compiled_code_too() {
    let (folder, number) = (Folder::new("unread"), RefCell::default());
    for (body, expected) in PROGRAMS {
        let text = format!("node f(n:int, c:bool) -> (y, z) {body} z = c;");
        let prepared = prepared(&text, "f").unwrap_or_else(|refused| panic!("{text}: {refused}"));
        let cells = |input: &eddy_flow::VarId| {
            let cell = |cycle: i64| match prepared.flow.var(*input).name.as_deref() {
                Some("n") => Cell::Value(Value::Int(3 - cycle)),
                _ => Cell::Value(Value::Bool(cycle % 2 == 1)),
            };
            (0..7).map(cell).collect()
        };
        let inputs = prepared.flow.inputs.iter().map(cells).collect();
        let ready = Ready { prepared, inputs, n_cycles: 7 };
        let stop = match ending(&ready, PLAIN) {
            Ok(()) => None,
            Err(eddy_driver::engine::EngineError::Simulation(simulate::SimulationError::Operation {
                cycle,
                ..
            })) => Some(cycle),
            Err(other) => panic!("{text}: {other:?}"),
        };
        assert_eq!(stop, expected, "{text}");
        match agrees(&ready, &folder, PLAIN, &number) {
            Ok(Verdict::Holds) => {}
            Ok(Verdict::Vacuous(why)) => panic!("{text} is not compiled: {why}"),
            Err(difference) => panic!("{text}\n{difference}"),
        }
    }
}
