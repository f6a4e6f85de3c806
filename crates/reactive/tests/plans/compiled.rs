//! Compiled code computes what the simulator does, cell by cell, bit for bit.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use eddy_compile::Precision;
use eddy_compile::emit::{Emitted, NotCompiled, Options as EmitOptions, Source, emit};
use eddy_compile::machine::{Machine, Trouble};
use eddy_loader::Library;
use eddy_reactive::cell::Cell;
use eddy_tensor::Value;

use crate::generated::case::Ready;
use crate::generated::compare::show;
use crate::generated::engines::{Rows, SEED, cells};
use crate::generated::harness::{Trial, Verdict, law};
use crate::run::{kind, options, planned, simulated};
use crate::samples::{Family, Sample};

/// A folder that is gone when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("eddy-compiled-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("there is a place for temporary files");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn build(emitted: &Emitted, folder: &Path, number: usize, flags: &[&str]) -> Result<Library, String> {
    let name = &emitted.name;
    let place = folder.join(number.to_string());
    fs::create_dir_all(&place).map_err(|error| error.to_string())?;
    let files = [
        (format!("{name}.h"), &emitted.header),
        (format!("{name}.c"), &emitted.source),
        ("eddy_rt.h".to_string(), &emitted.runtime_header),
    ];
    for (file, text) in &files {
        fs::write(place.join(file), text).map_err(|error| error.to_string())?;
    }
    let object = place.join(format!("{name}.so"));
    let built = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fPIC", "-shared"])
        .args(["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"])
        .args(flags)
        .arg("-o")
        .arg(&object)
        .arg(place.join(format!("{name}.c")))
        .arg("-lm")
        .output()
        .map_err(|error| error.to_string())?;
    if !built.status.success() {
        let errors = String::from_utf8_lossy(&built.stderr);
        return Err(errors.lines().take(30).collect::<Vec<_>>().join("\n"));
    }
    let bytes = fs::read(&object).map_err(|error| error.to_string())?;
    Library::open(&object, &blake3::hash(&bytes), name, Machine::sizes(emitted))
        .map_err(|error| error.to_string())
}

/// The cells of the outputs, as far as they are found.
fn run(ready: &Ready, emitted: Emitted, library: &Library) -> Result<Rows, Trouble> {
    let mut machine = Machine::new(emitted, library);
    let mut rows: Rows = vec![Vec::new(); ready.flow().outputs.len()];
    for cycle in 0..ready.n_cycles {
        let cells = ready.cycle(cycle);
        let inputs: Vec<Option<Value>> = cells.iter().map(|cell| cell.value().cloned()).collect();
        machine.step(&inputs)?;
        while let Some(values) = machine.next_row() {
            for (row, value) in rows.iter_mut().zip(values) {
                row.push(value.map_or(Cell::Absent, Cell::Value));
            }
        }
    }
    Ok(rows)
}

fn agrees(
    ready: &Ready,
    folder: &Folder,
    flags: &[&str],
    counts: &RefCell<BTreeMap<String, usize>>,
    number: &RefCell<usize>,
) -> Trial {
    let plan = planned(ready, &options());
    if ready.inputs.iter().flatten().any(|cell| matches!(cell, Cell::Unknown | Cell::Present)) {
        return Ok(Verdict::Skipped("unknown inputs"));
    }
    let simulated = cells!(simulated(ready));
    let source = Source { flow: ready.flow(), clocks: ready.clocks(), plan: &plan, seed: SEED };
    let options = EmitOptions { name: "law".to_string(), precision: Precision::Double, max_window: 64 };
    let emitted = match emit(&source, &options) {
        Ok(emitted) => emitted,
        Err(why) => {
            *counts.borrow_mut().entry(format!("{} {why:?}", kind(&plan))).or_default() += 1;
            return Ok(Verdict::Skipped(match why {
                NotCompiled::Nothing => "nothing to compute",
                NotCompiled::SeveralRoots => "several roots",
                NotCompiled::EventDriven => "no plan",
                NotCompiled::Windows => "windows that are not compiled",
            }));
        }
    };
    *counts.borrow_mut().entry(kind(&plan).to_string()).or_default() += 1;
    *number.borrow_mut() += 1;
    let text = format!("{}\n{}", emitted.header, emitted.source);
    let library =
        build(&emitted, &folder.0, *number.borrow(), flags).map_err(|error| format!("{error}\n{text}"))?;
    let compiled = match run(ready, emitted, &library) {
        Ok(rows) => rows,
        Err(Trouble::Mixed) => return Ok(Verdict::Skipped("a condition that changes inside a window")),
        Err(trouble) => return Err(format!("{trouble:?}\n{text}")),
    };
    for (output, (simulated, compiled)) in ready.flow().outputs.iter().zip(simulated.iter().zip(&compiled)) {
        if simulated[..compiled.len()] != *compiled {
            let name = ready.flow().var(*output).name.as_deref().unwrap_or("_");
            return Err(format!(
                "`{name}`\n  simulated: {}\n  compiled:  {}\n{text}",
                show(simulated),
                show(compiled)
            ));
        }
    }
    Ok(Verdict::Holds)
}

fn compiled(name: &'static str, n: u32, family: Family, flags: &'static [&'static str]) {
    let (counts, number) = (RefCell::default(), RefCell::default());
    let folder = Folder::new(&name.replace(' ', "-"));
    law(
        name,
        n,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => agrees(ready, &folder, flags, &counts, &number),
            Err(refusal) => Ok(Verdict::Skipped(refusal)),
        },
    );
}

#[test]
fn compiled_programs() {
    compiled("compiled programs", 150, Family::Plain, &["-O1"]);
}

#[test]
fn compiled_training() {
    compiled("compiled training", 100, Family::Training, &["-O1"]);
}
