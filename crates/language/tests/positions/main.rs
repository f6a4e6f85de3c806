//! Positions: the symbol at each place of a program, and the facts about it.
//!
//! * [`cases`]: small programs, correct and incorrect, with all their positions.
//! * [`corpus`]: all programs of the repository; each name of a correct program has a definition.
//! * [`broken`]: the same programs with a token removed or replaced.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

mod broken;
mod cases;
mod corpus;

use std::fs;
use std::path::{Path, PathBuf};

use eddy_language::positions::Positions;
use eddy_language::{Resolved, resolve};
use eddy_syntax::{SourceFile, Sources};

/// A program of the repository.
struct Written {
    path: String,
    text: String,
}

/// All programs of the examples and the file tests, including those with errors.
fn written() -> Vec<Written> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["examples", "tests/reactive"] {
        find(&root.join(folder), &mut paths);
    }
    paths.sort();
    let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).expect("it can be read")).into_owned();
    paths.iter().map(|path| Written { path: path.display().to_string(), text: text(path) }).collect()
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "eddy") {
            found.push(path);
        }
    }
}

/// A program that may import files.
struct Read {
    sources: Sources,
    resolved: Resolved,
    positions: Positions,
}

fn read(path: &str, text: &str) -> Read {
    let load = |path: &str| fs::read(path).map_err(|error| error.to_string());
    of(Sources::new(SourceFile::new(path, text), Box::new(load)))
}

fn of(mut sources: Sources) -> Read {
    let resolved = resolve(&mut sources);
    let positions = Positions::of(&resolved);
    Read { sources, resolved, positions }
}
