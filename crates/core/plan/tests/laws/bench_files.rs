//! The test benches of all file tests and examples.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

use std::fs;
use std::path::{Path, PathBuf};

use eddy_language::program::Program;
use eddy_language::resolve;
use eddy_language::runs;
use eddy_syntax::{SourceFile, Sources};

use crate::generated::case::Ready;

/// Calls a function with each test bench and its file.
pub fn each_bench(mut each: impl FnMut(&Path, Ready)) {
    let mut files = Vec::new();
    for folder in ["tests/reactive", "examples/reactive", "examples/training"] {
        programs(&root().join(folder), &mut files);
    }
    files.sort();
    for path in files {
        let text = fs::read_to_string(&path).expect("the program can be read");
        let mut sources = Sources::alone(SourceFile::new("bench.eddy", &text));
        // Programs that are refused, or import other files, are tested elsewhere.
        let Ok(program) = resolve(&mut sources).accepted() else { continue };
        for run in program.modules[Program::MAIN].tree.runs() {
            let Ok(Some(ready)) = runs::ready(&program, run) else { continue };
            each(&path, Ready { prepared: ready.prepared, inputs: ready.inputs, n_cycles: ready.n_cycles });
        }
    }
}

/// The root of the repository, from a crate at any depth.
fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let is_root = |folder: &&Path| folder.join("Cargo.lock").is_file();
    crates.into_iter().find(is_root).expect("a crate is inside of the repository").to_owned()
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("the folder can be listed").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "eddy") {
            found.push(path);
        }
    }
}
