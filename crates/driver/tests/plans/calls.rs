//! Nodes that apply functions which stay calls: compiled code calls them as the simulator does.

use std::cell::{Cell as Count, RefCell};

use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::compiled::{Folder, How, PLAIN, agrees, compiled_samples, ending};
use crate::generated::case::Ready;
use crate::generated::harness::Verdict;
use crate::samples::{Family, prepared};

/// Compares machine code with the simulator on programs with calls. At least `at_least` of a hundred programs
/// must have calls, so that the law is not vacuous.
fn calls(name: &'static str, n: u32, at_least: u32, family: Family, how: How) {
    let (n_tried, n_calls) = (Count::new(0), Count::new(0));
    compiled_samples(name, n, family, |sample, ready, check| {
        if sample.n_calls() == 0 {
            return Ok(Verdict::Vacuous("no call"));
        }
        let tried = check(ready, how)?;
        if let Verdict::Holds = tried {
            n_tried.set(n_tried.get() + 1);
            n_calls.set(n_calls.get() + sample.n_calls());
        }
        Ok(tried)
    });
    assert!(
        100 * n_tried.get() >= at_least * n,
        "{name}: only {} of {n} programs say something, with {} calls",
        n_tried.get(),
        n_calls.get()
    );
}

#[test]
fn compiled_calls() {
    calls("compiled calls", 40, 40, Family::Functions, PLAIN);
}

#[test]
fn compiled_calls_in_single_precision() {
    let how = How { flags: &["-O3", "-march=native"], single: true, opens: true, ..PLAIN };
    calls("compiled calls single", 25, 40, Family::Functions, how);
}

#[test]
fn compiled_adjoints_of_calls() {
    calls("compiled adjoints of calls", 30, 40, Family::FunctionsAdjoint, How { opens: true, ..PLAIN });
}

#[test]
fn compiled_training_with_calls() {
    let how = How { flags: &["-O1"], opens: true, ..PLAIN };
    calls("compiled training with calls", 25, 40, Family::FunctionsTraining, how);
    let how = How { flags: &["-O3", "-march=native"], single: true, ..PLAIN };
    calls("compiled training with calls single", 15, 40, Family::FunctionsTraining, how);
    let how = How { flags: &["-O1"], checkpoints: true, opens: true, ..PLAIN };
    calls("compiled checkpoints with calls", 15, 40, Family::FunctionsTraining, how);
}

/// Results are written inside of their arrays, and no memory is read before it is written.
#[test]
fn sanitised_calls() {
    let how = How { flags: &["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"], ..PLAIN };
    calls("sanitised calls", 15, 40, Family::FunctionsAdjoint, how);
}

/// A function that fails at some cycle, or at none: the run ends alike, in loops, with lags, in windows,
/// where it is sampled, and if all of the trace is one window.
#[test]
fn calls_that_fail() {
    let nodes = [
        "y = pick(x, 2.0) + (0.0 fby 0.5 * y);",
        "z = pick(x, 0.5); y = z + post z;",
        "s = pick(x, 0.25) + (if e then 0.0 else post s); y = s;",
        "y = merge e (pick(x when e, 0.5)) 0.0;",
        "y = pick(x, 1.5) + (0.0 fby back 0.5 * y);",
        "a, b = both(x, 0.5); y = a + num(b);",
    ];
    let (folder, number) = (Folder::new("failing"), RefCell::default());
    for node in nodes {
        let text = format!(
            "fn pick(i: int, a: num) -> num = [a, 1.5, 0.5 * a][i];\n\
             fn both(i: int, a: num) -> (num, int) = ([a, 1.5, 0.5 * a][i], 6 div (i + 1));\n\
             node t(x:int [], e:bool []) -> (y) {node}"
        );
        let prepared = prepared(&text, "t").expect("it is a program");
        let mut n_failed = 0;
        for failing in [None, Some(0), Some(2), Some(4)] {
            let row = |cycle: usize| {
                let x = if failing == Some(cycle) { 7 } else { i64::from(cycle % 3 == 1) };
                vec![Cell::Value(Value::Int(x)), Cell::Value(Value::Bool(cycle.is_multiple_of(2)))]
            };
            let rows: Vec<Vec<Cell>> = (0..5).map(row).collect();
            let inputs = (0..2).map(|input| rows.iter().map(|row| row[input].clone()).collect()).collect();
            let ready = Ready { prepared: prepared.clone(), inputs, n_cycles: 5 };
            n_failed += usize::from(ending(&ready, PLAIN).is_err());
            let tried = agrees(&ready, &folder, PLAIN, &number);
            assert!(matches!(tried, Ok(Verdict::Holds)), "{node}: {}", tried.err().unwrap_or_default());
        }
        assert_eq!(n_failed, 3, "{node}");
    }
}
