//! L1 on the test benches of all file tests and examples: the golden examples, the library, the semantics.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use eddy_plan::Options;
use eddy_plan::execute::Stop;
use eddy_plan::show::report;
use eddy_reactive::cell::Cell;
use eddy_reactive::program::Program;
use eddy_reactive::resolve::resolve;
use eddy_reactive::runs;
use eddy_reactive::simulate::Simulation;
use eddy_syntax::{SourceFile, Sources};

use crate::compiled::{Folder, How, PLAIN, agrees};
use crate::generated::case::Ready;
use crate::generated::engines::{Rows, rows};
use crate::generated::harness::Verdict;
use crate::run::{execute, has_unknown_inputs, planned};

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            programs(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "eddy") {
            found.push(path);
        }
    }
}

/// The cells of the outputs by simulation, with the seed of test benches; none if an operation has no value, or inputs break the clocks.
fn simulated(ready: &Ready) -> Option<Rows> {
    let mut simulation =
        Simulation::new(ready.flow(), ready.clocks(), eddy_reactive::simulate::Options::default());
    for cycle in 0..ready.n_cycles {
        let cells = ready.cycle(cycle);
        let is_last = cycle + 1 == ready.n_cycles;
        if is_last { simulation.open_last(&cells) } else { simulation.open(&cells) }.ok()?;
    }
    let rows = rows(&simulation, ready.flow(), ready.n_cycles);
    if rows.iter().flatten().any(|cell| *cell == Cell::Error) {
        return None;
    }
    let settled = |cell: &Cell| if *cell == Cell::Present { Cell::Unknown } else { cell.clone() };
    let outputs = ready.flow().outputs.iter();
    Some(outputs.map(|output| rows[output.index()].iter().map(settled).collect()).collect())
}

/// Does something with each test bench, and the file that it is in.
fn each_bench(mut each: impl FnMut(&Path, Ready)) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["tests/reactive", "examples/reactive", "examples/training"] {
        programs(&root.join(folder), &mut files);
    }
    files.sort();
    for path in files {
        let text = fs::read_to_string(&path).expect("it can be read");
        let mut sources = Sources::alone(SourceFile::new("bench.eddy", &text));
        // Programs that are refused, or import other files, are tested elsewhere.
        let Ok(program) = resolve(&mut sources) else { continue };
        for run in program.modules[Program::MAIN].tree.runs() {
            let Ok(Some(ready)) = runs::ready(&program, run) else { continue };
            each(&path, Ready { prepared: ready.prepared, inputs: ready.inputs, n_cycles: ready.n_cycles });
        }
    }
}

#[test]
fn l1_all_test_benches() {
    let (mut n_agree, mut n_without_plan, mut wrong) = (0, 0, Vec::new());
    each_bench(|path, ready| {
        let (false, Some(expected)) = (has_unknown_inputs(&ready), simulated(&ready)) else { return };
        let plan = planned(&ready, &Options::default());
        match execute(&ready, &plan) {
            Ok(found) if found == expected => n_agree += 1,
            Err(Stop::NoPlan | Stop::Mixed(_)) => n_without_plan += 1,
            other => {
                let report = report("bench", ready.flow(), &plan, None);
                wrong.push(format!("{}: {other:?}\n{expected:?}\n{report}", path.display()));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_agree >= 250 && n_without_plan <= 10, "{n_agree} agree, {n_without_plan} have no plan");
}

/// The same benches as machine code: one in double precision and without vectors, the next in single precision and with them.
#[test]
fn compiled_test_benches() {
    let (folder, number) = (Folder::new("compiled-benches"), RefCell::default());
    let (mut n, mut n_agree, mut skipped, mut wrong) = (0, 0, Vec::new(), Vec::new());
    each_bench(|path, ready| {
        n += 1;
        let how = match n % 2 {
            0 => PLAIN,
            _ => How { flags: &["-O3", "-march=native"], single: true, opens: true, ..PLAIN },
        };
        match agrees(&ready, &folder, how, &number) {
            Ok(Verdict::Holds) => n_agree += 1,
            Ok(_) => skipped.push(path.display().to_string()),
            Err(difference) => wrong.push(format!("{}: {difference}", path.display())),
        }
    });
    assert!(wrong.is_empty(), "{} of {n}: {}", wrong.len(), wrong[0]);
    assert!(n_agree >= 450, "{n_agree} of {n} agree; not compiled: {skipped:?}");
}
