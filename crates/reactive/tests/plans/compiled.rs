//! Compiled code computes what the simulator does, cell by cell, bit for bit.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use eddy_compile::emit::{Emitted, NotCompiled, Pieces};
use eddy_compile::machine::Machine;
use eddy_loader::Library;
use eddy_reactive::cell::Cell;
use eddy_reactive::engine::{Compilation, Engine, Failure, Source, print_in_pieces, split};
use eddy_reactive::simulate;

use crate::checkpoints::{LENGTHS, NODES, windows_of};
use crate::generated::case::Ready;
use crate::generated::compare::show;
use crate::generated::engines::SEED;
use crate::generated::harness::{Trial, Verdict, law};
use crate::samples::{Family, Sample};

/// A folder that is gone when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
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

/// What a run shows, and how it ended.
type Outcome = (Vec<Vec<Cell>>, Result<(), Failure>);

fn run(ready: &Ready, mut engine: Engine<'_>) -> Outcome {
    let mut rows = Vec::new();
    for cycle in 0..ready.n_cycles {
        let opened = engine.open(&ready.cycle(cycle));
        rows.extend(std::iter::from_fn(|| engine.next_row()));
        if opened.is_err() {
            return (rows, opened);
        }
    }
    let ended = engine.end();
    rows.extend(std::iter::from_fn(|| engine.next_row()));
    (rows, ended)
}

/// Machine code with a host, the same without one if it can be flushed, and the text.
type Code = (Compilation, Option<Machine>, String);

/// The program as machine code and as text; or why it is not compiled.
fn compilation(
    source: &Source<'_>,
    folder: &Folder,
    how: How,
    number: &RefCell<usize>,
) -> Result<Result<Code, String>, &'static str> {
    let printed = match print_in_pieces(source, "law", how.opens, how.pieces) {
        Ok(printed) => printed,
        Err(NotCompiled::SeveralRoots) => return parts(source, folder, how, number),
        Err(why) => {
            return Err(match why {
                NotCompiled::Nothing => "nothing to compute",
                NotCompiled::SeveralRoots => "several roots",
                NotCompiled::EventDriven => "no plan",
                NotCompiled::Unknown(_) => "unknown at the end",
                NotCompiled::Start(_) => "a start that is computed",
                NotCompiled::Checkpoints => "checkpoints of sampled streams",
                NotCompiled::Fails(_) => unreachable!("a host finds out"),
            });
        }
    };
    *number.borrow_mut() += 1;
    let text = format!("{}\n{}", printed.emitted.header, printed.emitted.source);
    let library = build(&printed.emitted, &folder.0, *number.borrow(), how.flags);
    Ok(match library {
        Ok(library) => {
            let emitted = &printed.emitted;
            let machine = emitted.is_flushed.then(|| Machine::new(emitted.clone(), &library));
            Ok((printed.opened(library), machine, text))
        }
        Err(error) => Err(format!("{error}\n{text}")),
    })
}

/// A program whose roots are compiled one by one.
fn parts(
    source: &Source<'_>,
    folder: &Folder,
    how: How,
    number: &RefCell<usize>,
) -> Result<Result<Code, String>, &'static str> {
    let (mut compiled, mut texts) = (Vec::new(), String::new());
    for part in split(source).ok_or("roots that are not told apart")? {
        let compilation = match compilation(&part.source(source), folder, how, number) {
            Ok(Ok((compilation, _, text))) => {
                texts += &text;
                Some(compilation)
            }
            Ok(Err(error)) => return Ok(Err(error)),
            Err(_) => None,
        };
        compiled.push((part, compilation));
    }
    Compilation::joined(compiled).map(|compilation| Ok((compilation, None, texts))).ok_or("no plan")
}

/// Code that is called without a host gives all cycles, the last ones when it is flushed.
fn flushes(ready: &Ready, mut machine: Machine, simulated: &[Vec<Cell>]) -> Result<(), String> {
    let is_known = |cell: &Cell| matches!(cell, Cell::Value(_) | Cell::Absent);
    let inputs = (0..ready.n_cycles).map(|cycle| ready.cycle(cycle)).collect::<Vec<_>>();
    if !inputs.iter().chain(simulated).flatten().all(is_known) {
        return Ok(());
    }
    let mut rows = Vec::new();
    for cells in &inputs {
        let values: Vec<_> = cells.iter().map(|cell| cell.value().cloned()).collect();
        // A window in which a condition changes that was assumed to be constant is run by the host.
        if machine.step(&values).is_err() {
            return Ok(());
        }
        rows.extend(std::iter::from_fn(|| machine.next_row()));
    }
    if machine.flush().is_err() {
        return Ok(());
    }
    rows.extend(std::iter::from_fn(|| machine.next_row()));
    let n_shown = ready.flow().outputs.len();
    let value = |cell: &Cell| cell.value().cloned();
    let expected: Vec<Vec<_>> = simulated.iter().map(|row| row.iter().map(value).collect()).collect();
    for row in &mut rows {
        row.truncate(n_shown);
    }
    if rows == expected { Ok(()) } else { Err(format!("flushed: {rows:?}\nsimulated: {expected:?}")) }
}

fn source(ready: &Ready, how: How) -> Source<'_> {
    Source {
        flow: ready.flow(),
        clocks: ready.clocks(),
        shown: &ready.flow().outputs,
        options: simulate::Options { seed: SEED, single: how.single, ..simulate::Options::default() },
        is_checked: true,
        checkpoints: how.checkpoints,
    }
}

pub fn agrees(ready: &Ready, folder: &Folder, how: How, number: &RefCell<usize>) -> Trial {
    let source = source(ready, how);
    let (compilation, machine, text) = match compilation(&source, folder, how, number) {
        Ok(compiled) => compiled?,
        Err(why) => return Ok(Verdict::Skipped(why)),
    };
    if let (Some(machine), true) = (machine, how.opens) {
        let (simulated, ending) = run(ready, Engine::new(source, None));
        if ending.is_ok() {
            flushes(ready, machine, &simulated).map_err(|broken| format!("{broken}\n{text}"))?;
        }
    }
    same_rows(ready, source, &compilation, &text)
}

fn same_rows(ready: &Ready, source: Source<'_>, compilation: &Compilation, text: &str) -> Trial {
    let (simulated, ending) = run(ready, Engine::new(source, None));
    let (compiled, compiled_ending) = run(ready, Engine::new(source, Some(compilation)));
    if ending != compiled_ending {
        return Err(format!("simulated: {ending:?}\n  compiled: {compiled_ending:?}\n{text}"));
    }
    for (output, var) in ready.flow().outputs.iter().enumerate() {
        let of = |rows: &[Vec<Cell>]| rows.iter().map(|row| row[output].clone()).collect::<Vec<_>>();
        let (simulated, compiled) = (of(&simulated), of(&compiled));
        if simulated != compiled {
            let name = ready.flow().var(*var).name.as_deref().unwrap_or("_");
            return Err(format!(
                "`{name}`\n  simulated: {}\n  compiled:  {}\n{text}",
                show(&simulated),
                show(&compiled)
            ));
        }
    }
    Ok(Verdict::Holds)
}

/// How programs are compiled.
#[derive(Clone, Copy)]
pub struct How {
    pub flags: &'static [&'static str],
    pub single: bool,
    /// Whether the window that is open at the end is compiled too.
    pub opens: bool,
    pub checkpoints: bool,
    /// How long functions are cut.
    pub pieces: Pieces,
}

/// Without vectors, in double precision, everything kept.
pub const PLAIN: How =
    How { flags: &["-O0"], single: false, opens: false, checkpoints: false, pieces: Pieces::USUAL };

fn compiled(name: &'static str, n: u32, family: Family, how: How) {
    let number = RefCell::default();
    let folder = Folder::new(&name.replace(' ', "-"));
    law(
        name,
        n,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => agrees(ready, &folder, how, &number),
            Err(refusal) => Ok(Verdict::Skipped(refusal)),
        },
    );
}

#[test]
fn compiled_programs() {
    compiled("compiled programs", 50, Family::Plain, PLAIN);
}

#[test]
fn compiled_programs_in_single_precision() {
    let how = How { flags: &["-O3", "-march=native"], single: true, opens: true, ..PLAIN };
    compiled("compiled single", 30, Family::Plain, how);
}

#[test]
fn compiled_training() {
    compiled("compiled training", 40, Family::Training, How { flags: &["-O1"], opens: true, ..PLAIN });
}

#[test]
fn compiled_checkpoints() {
    let how = How { flags: &["-O1"], checkpoints: true, ..PLAIN };
    compiled("compiled checkpoints", 40, Family::Training, how);
}

#[test]
fn compiled_in_pieces() {
    let how = How { flags: &["-O1"], opens: true, pieces: Pieces::of_lines(2), ..PLAIN };
    compiled("compiled in pieces", 40, Family::Plain, how);
    let how = How { flags: &["-O3", "-march=native"], single: true, pieces: Pieces::of_lines(5), ..PLAIN };
    compiled("compiled in larger pieces", 20, Family::Training, how);
    let how = How { checkpoints: true, pieces: Pieces::of_lines(3), ..PLAIN };
    compiled("compiled checkpoints in pieces", 20, Family::Training, how);
}

#[test]
fn compiled_checkpoints_in_windows_of_all_lengths() {
    let how = How { flags: &["-O1"], checkpoints: true, ..PLAIN };
    let folder = Folder::new("checkpoints");
    for (number, node) in NODES.into_iter().enumerate() {
        let ready = windows_of(node, 1);
        // Some of the programs are not compiled at all.
        let Ok(printed) = print_in_pieces(&source(&ready, how), "law", how.opens, how.pieces) else {
            continue;
        };
        let text = format!("{}\n{}", printed.emitted.header, printed.emitted.source);
        assert!(text.contains("chunk"), "{node} has no checkpoints\n{text}");
        let library = build(&printed.emitted, &folder.0, number, how.flags)
            .unwrap_or_else(|error| panic!("{node}: {error}\n{text}"));
        let compilation = printed.opened(library);
        for length in LENGTHS {
            let ready = windows_of(node, length);
            if let Err(difference) = same_rows(&ready, source(&ready, how), &compilation, "") {
                panic!("{node}, windows of {length}: {difference}\n{text}");
            }
        }
    }
}
