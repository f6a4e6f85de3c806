//! Compares compiled code with the table, bit for bit: every operation and its adjoint, in loops of many
//! sizes.
//!
//! `EDDY_SWEEP=full` tries all forms, `CC` selects another compiler.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use eddy_tensor::Op;

use super::{Battery, Extent, FINGERPRINT, Writer};
use crate::precision::Precision;

const LEVELS: [&[&str]; 2] = [&["-O0"], &["-O3", "-march=native"]];

/// Compiles and runs a battery, and returns the names of wrong cases.
fn failures(battery: &Battery, flags: &[&str], folder: &Path) -> Vec<String> {
    let [source, program, input, output] =
        ["battery.c", "battery", "input", "output"].map(|name| folder.join(name));
    fs::write(&source, &battery.text).expect("it can be written");
    fs::write(&input, &battery.input).expect("it can be written");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_string());
    let built = Command::new(compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"])
        .args(["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fPIC"])
        .args(flags)
        .arg("-o")
        .args([&program, &source])
        .arg("-lm")
        .output()
        .expect("there is a C compiler");
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{}", errors.lines().take(30).collect::<Vec<_>>().join("\n"));
    let ran = Command::new(&program).args([&input, &output]).status().expect("it can be started");
    assert!(ran.success(), "{flags:?}: {ran}");
    battery.failures(&fs::read(&output).expect("it was written"))
}

fn sweep(precision: Precision) {
    let is_full = env::var("EDDY_SWEEP").is_ok_and(|how| how == "full");
    let battery = Battery::new(precision, if is_full { Extent::Full } else { Extent::Usual });
    let folder = tempfile::tempdir().expect("there is a place for temporary files");
    for flags in LEVELS {
        let failures = failures(&battery, flags, folder.path());
        assert!(
            failures.is_empty(),
            "{precision:?} {flags:?}: {} of {} differ from the table\n{}",
            failures.len(),
            battery.n_cases(),
            failures.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
        );
    }
}

#[test]
fn sweep_in_double_precision() {
    sweep(Precision::Double);
}

#[test]
fn sweep_in_single_precision() {
    sweep(Precision::Single);
}

#[test]
fn the_sweep_has_every_operation() {
    let mut writer = Writer::new(Precision::Double);
    writer.sweep(false);
    let names = |ops: &mut dyn Iterator<Item = &Op>| -> BTreeSet<(String, String)> {
        ops.map(|op| (op.name().to_string(), op.signature().to_string())).collect()
    };
    let met = names(&mut writer.operations.iter());
    let missing: Vec<_> = names(&mut Op::all()).difference(&met).cloned().collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_fingerprint_is_that_of_the_brief_batteries() {
    let mut hasher = blake3::Hasher::new();
    for precision in [Precision::Double, Precision::Single] {
        let battery = Battery::new(precision, Extent::Brief);
        hasher.update(battery.text.as_bytes()).update(&battery.input);
    }
    let found = &hasher.finalize().to_hex()[..16];
    assert_eq!(found, FINGERPRINT, "the batteries have changed: set `battery::FINGERPRINT` to `{found}`");
}

#[test]
fn the_compiler_of_this_machine_passes_the_brief_battery() {
    let folder = tempfile::tempdir().expect("there is a place for temporary files");
    for precision in [Precision::Double, Precision::Single] {
        let battery = Battery::new(precision, Extent::Brief);
        assert_eq!(failures(&battery, LEVELS[1], folder.path()), Vec::<String>::new());
    }
}
