//! Shared by the tests of all languages: the runner of file tests, and generated samples for laws and
//! fuzzing.
//!
//! A file test is a program whose comments state the expected output.
//!
//! `README.md` in this folder describes the format for authors of tests. The modules:
//!
//! * [`case`](mod@case) parses a program's comments: commands and expectations;
//! * [`outcome`] runs the real `eddy` and reads its exit code, output and diagnostics;
//! * [`verdict`] compares the two and writes the message of a failing test;
//! * [`bless`] writes the actual outcome into the comments, for a person to review;
//! * [`trials`] finds the files and makes one trial for each directive and engine, and one for the formatter.
//!
//! [`passes`] runs file tests of passes, for the crates that have them.
//!
//! Laws are properties of generated programs: samples are made from [`choices`], [`law`] tries them, and
//! [`fuzz`] tries malformed inputs.
//!
//! The runner knows no language. It passes each file to `eddy` by name, so a new language is tested by adding
//! programs in a new folder. Files run from the root of the repository under their relative names, so that
//! messages are the same on every machine.

pub mod case;
pub mod outcome;

pub mod bless;
pub mod trials;
pub mod verdict;

pub mod passes;

pub mod choices;
pub mod fuzz;
pub mod law;

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The paths that tests need.
#[derive(Clone, Debug)]
pub struct TestPaths {
    /// The binary under test.
    pub eddy: PathBuf,
    /// The root of the repository.
    pub root: PathBuf,
    /// A folder that tests may write to.
    pub scratch: PathBuf,
}

/// Runs the tests that the command line selects, after rewriting expectations if `EDDY_BLESS` is set.
pub fn run(paths: &TestPaths) -> ExitCode {
    let arguments = Arguments::from_args();
    let files = trials::find_files(&paths.root);
    let is_asked_for =
        |trial: &Trial| arguments.filter.as_ref().is_none_or(|filter| trial.name().contains(filter));
    if std::env::var_os("EDDY_BLESS").is_some() && !arguments.list {
        for file in &files {
            if trials::of_file(paths, file).iter().any(is_asked_for) {
                trials::bless_file(paths, file);
            }
        }
    }
    let trials = files.iter().flat_map(|file| trials::of_file(paths, file)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
