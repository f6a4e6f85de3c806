//! Nodes that apply functions which stay calls: compiled code calls them as the simulator does.

use std::cell::Cell;

use crate::compiled::{How, PLAIN, compiled_samples};
use crate::generated::harness::Verdict;
use crate::samples::Family;

/// Compares machine code with the simulator on programs with calls. At least so many of a hundred programs
/// must have some, so that the law says something.
fn calls(name: &'static str, n: u32, at_least: u32, family: Family, how: How) {
    let (n_tried, n_calls) = (Cell::new(0), Cell::new(0));
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
    println!("{name}: {} programs with {} calls", n_tried.get(), n_calls.get());
    assert!(
        100 * n_tried.get() >= at_least * n,
        "{name}: only {} of {n} programs say something",
        n_tried.get()
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
