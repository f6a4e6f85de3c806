//! What the tests of all languages share: the runner of the file tests, and how laws and fuzzing try generated samples.
//!
//! A file test is a program that says in its comments what must come out.
//!
//! `README.md` in this folder is the description for writers of tests. In here,
//!
//! * [`case`](mod@case) reads a program's comments: what to do with it and what to expect;
//! * [`outcome`] runs the real `eddy` and reads its exit code, output and diagnostics;
//! * [`verdict`] compares the two, and its words are what a failing test prints;
//! * [`bless`] writes what came out into the comments, for a person to read the difference;
//! * [`trials`] finds the files and makes one trial of each directive and engine, and one for the formatter.
//!
//! Laws are properties of generated programs: [`choices`] are what samples are made of, [`law`] tries them, [`fuzz`] tries what
//! nobody would write.
//!
//! The runner knows no language. It gives each file to `eddy` by its name, so a new language is tested by
//! putting programs into a new folder. Files run from the root of the repository under their relative names,
//! which keeps messages the same on every machine.

pub mod case;
pub mod outcome;

pub mod bless;
pub mod trials;
pub mod verdict;

pub mod choices;
pub mod fuzz;
pub mod law;

use std::path::PathBuf;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// Where things are.
#[derive(Clone, Debug)]
pub struct House {
    /// The program under test.
    pub eddy: PathBuf,
    /// The root of the repository.
    pub root: PathBuf,
    /// A folder that tests may write to.
    pub scratch: PathBuf,
}

/// Runs the tests that the command line asks for, after rewriting expectations where `EDDY_BLESS` is set.
pub fn run(house: &House) -> ExitCode {
    let arguments = Arguments::from_args();
    let files = trials::find_files(&house.root);
    let is_asked_for =
        |trial: &Trial| arguments.filter.as_ref().is_none_or(|filter| trial.name().contains(filter));
    if std::env::var_os("EDDY_BLESS").is_some() && !arguments.list {
        for file in &files {
            if trials::of_file(house, file).iter().any(is_asked_for) {
                trials::bless_file(house, file);
            }
        }
    }
    let trials = files.iter().flat_map(|file| trials::of_file(house, file)).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
