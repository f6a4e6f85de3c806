//! Compiled code computes the cells of the simulator, bit for bit.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests compile and run C")]

use std::cell::RefCell;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

use eddy_compile::build::BuildOptions;
use eddy_compile::emit::{Emitted, NotCompiled, Pieces, Shape};
use eddy_compile::machine::{Machine, StepError};
use eddy_driver::engine::{
    Compilation, Engine, EngineError, EngineInput, Native, compile, print_in_pieces, split,
};
use eddy_language::semantics::{Cell, simulate};
use eddy_loader::{Library, Threads};
use eddy_plan::plan::RootPlan;
use eddy_tensor::Value;

use crate::generated::case::Ready;
use crate::generated::compare::show;
use crate::generated::engines::SEED;
use crate::generated::harness::{Trial, Verdict, law};
use crate::programs::{LENGTHS, NODES, windows_of, with_checkpoints};
use crate::run::planned;
use crate::samples::{Family, Sample, prepared};

/// A folder that is removed at the end of the test.
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

/// The rows of a run, and how it ended.
type Outcome = (Vec<Vec<Cell>>, Result<(), EngineError>);

fn run(ready: &Ready, mut engine: Engine<'_>) -> Outcome {
    run_on(ready, &mut engine)
}

fn run_on(ready: &Ready, engine: &mut Engine<'_>) -> Outcome {
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

/// Machine code that runs without a host.
struct Flushed {
    machine: Machine,
    /// Whether it yields the outputs of all cycles.
    is_complete: bool,
    /// Whether windows end where nothing waits: then an operation without a value also has none in the
    /// simulator.
    is_derived: bool,
}

impl Flushed {
    fn new(emitted: &Emitted, library: &Library) -> Flushed {
        let machine = Machine::new(emitted.clone(), library);
        let is_derived = matches!(emitted.shape, Shape::Windows { end: None, .. });
        Flushed { machine, is_complete: emitted.is_flushed, is_derived }
    }
}

/// Machine code with a host, the same without a host if it is in one piece, and the text.
type Code = (Compilation, Option<Flushed>, String);

/// The program as machine code and as text, or the reason why it is not compiled.
fn compilation(
    source: &EngineInput<'_>,
    folder: &Folder,
    how: How,
    number: &RefCell<usize>,
) -> Result<Result<Code, String>, &'static str> {
    let printed = match print_in_pieces(source, "law", how.opens, how.pieces) {
        Ok(printed) => printed,
        Err(NotCompiled::SeveralRoots(..)) => return parts(source, folder, how, number),
        Err(why) => {
            return Err(match why {
                NotCompiled::Nothing => "nothing to compute",
                NotCompiled::SeveralRoots(..) => "several roots",
                NotCompiled::EventDriven => "no plan",
                NotCompiled::Unknown(_) => "unknown at the end",
                NotCompiled::Calls(_) => "functions",
                NotCompiled::Fails(_) => unreachable!("a host finds out"),
                NotCompiled::InternalError(violation) => return Ok(Err(violation)),
            });
        }
    };
    *number.borrow_mut() += 1;
    let text = format!("{}\n{}", printed.emitted.header, printed.emitted.source);
    let library = build(&printed.emitted, &folder.0, *number.borrow(), how.flags);
    Ok(match library {
        Ok(library) => {
            let n_threads = NonZero::new(how.n_threads).expect("someone computes");
            let library = library.with_threads(&Threads::new(n_threads));
            let machine = Flushed::new(&printed.emitted, &library);
            Ok((printed.opened(library), Some(machine), text))
        }
        Err(error) => Err(format!("{error}\n{text}")),
    })
}

/// A program whose roots are compiled one by one.
fn parts(
    source: &EngineInput<'_>,
    folder: &Folder,
    how: How,
    number: &RefCell<usize>,
) -> Result<Result<Code, String>, &'static str> {
    let (mut compiled, mut texts) = (Vec::new(), String::new());
    for part in split(source).ok_or("roots that cannot be separated")? {
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

/// Code without a host yields all cycles, the last ones when it is flushed; if values may be unknown then, it
/// yields those of the first cycles, in which all are known.
fn flushes(ready: &Ready, machine: Flushed, simulated: &[Vec<Cell>]) -> Result<(), String> {
    let Flushed { mut machine, is_complete, is_derived } = machine;
    let is_known = |cell: &Cell| matches!(cell, Cell::Value(_) | Cell::Absent);
    let inputs = (0..ready.n_cycles).map(|cycle| ready.cycle(cycle)).collect::<Vec<_>>();
    let is_all_known = simulated.iter().flatten().all(is_known);
    if !inputs.iter().flatten().all(is_known) || is_complete && !is_all_known {
        return Ok(());
    }
    let mut rows = Vec::new();
    for cells in &inputs {
        let values: Vec<_> = cells.iter().map(|cell| cell.value().cloned()).collect();
        match machine.step(&values) {
            Ok(()) => {}
            Err(error @ StepError::Operation(_)) if is_derived => return Err(format!("{error:?}")),
            // The host runs a window in which a condition changes that was assumed to be constant.
            Err(_) => return Ok(()),
        }
        rows.extend(std::iter::from_fn(|| machine.next_row()));
    }
    if machine.flush().is_err() {
        return Ok(());
    }
    rows.extend(std::iter::from_fn(|| machine.next_row()));
    let n_shown = ready.flow().outputs.len();
    let value = |cell: &Cell| cell.value().cloned();
    let n = if is_complete { simulated.len() } else { rows.len().min(simulated.len()) };
    let expected: Vec<Vec<_>> = simulated[..n].iter().map(|row| row.iter().map(value).collect()).collect();
    for row in &mut rows {
        row.truncate(n_shown);
    }
    if rows == expected && simulated[..n].iter().flatten().all(is_known) {
        Ok(())
    } else {
        Err(format!("flushed: {rows:?}\nsimulated: {simulated:?}"))
    }
}

pub fn source(ready: &Ready, how: How) -> EngineInput<'_> {
    EngineInput {
        flow: ready.flow(),
        clocks: ready.clocks(),
        shown: &ready.flow().outputs,
        options: simulate::Options { seed: SEED, single: how.single, ..simulate::Options::default() },
        is_checked: true,
        checkpoints: how.checkpoints,
    }
}

/// How a simulated run ends.
pub fn ending(ready: &Ready, how: How) -> Result<(), EngineError> {
    run(ready, Engine::new(source(ready, how), None)).1
}

/// Whether operations wait until their operands are known.
pub fn has_waiting_failures(ready: &Ready, how: How) -> bool {
    let printed = print_in_pieces(&source(ready, how), "law", how.opens, how.pieces);
    printed.is_ok_and(|printed| printed.emitted.source.contains("is it known: "))
}

pub fn agrees(ready: &Ready, folder: &Folder, how: How, number: &RefCell<usize>) -> Trial {
    let source = source(ready, how);
    let (compilation, machine, text) = match compilation(&source, folder, how, number) {
        Ok(compiled) => compiled?,
        Err(why) => return Ok(Verdict::Vacuous(why)),
    };
    if let (Some(machine), true) = (machine, how.opens) {
        let (simulated, ending) = run(ready, Engine::new(source, None));
        if ending.is_ok() {
            flushes(ready, machine, &simulated).map_err(|broken| format!("{broken}\n{text}"))?;
        }
    }
    // Code that runs the open window itself, as that of `eddy build` does, drops what is learnt there.
    if !how.opens {
        same_in_shadow(ready, source, &compilation).map_err(|broken| format!("{broken}\n{text}"))?;
    }
    same_rows(ready, source, &compilation, &text)
}

fn same_rows(ready: &Ready, source: EngineInput<'_>, compilation: &Compilation, text: &str) -> Trial {
    let (simulated, ending) = run(ready, Engine::new(source, None));
    let (compiled, compiled_ending) = run(ready, Engine::new(source, Some(compilation)));
    if ending != compiled_ending {
        return Err(format!("simulated: {ending:?}\n  compiled: {compiled_ending:?}\n{text}"));
    }
    for (output, var) in ready.flow().outputs.iter().enumerate() {
        // Before a failure, an engine that knows more of later cycles has shown more cycles.
        let n_rows = if ending.is_ok() { usize::MAX } else { simulated.len().min(compiled.len()) };
        let of =
            |rows: &[Vec<Cell>]| rows.iter().take(n_rows).map(|row| row[output].clone()).collect::<Vec<_>>();
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

/// The shadow check accepts correct code, and changes none of its rows.
fn same_in_shadow(ready: &Ready, source: EngineInput<'_>, compilation: &Compilation) -> Result<(), String> {
    let compiled = run(ready, Engine::new(source, Some(compilation)));
    let mut engine = Engine::shadowed(source, compilation, None);
    let shadowed = run_on(ready, &mut engine);
    match engine.take_difference() {
        Some(difference) => Err(format!("the shadow check finds a fault: {difference:?}")),
        None if shadowed != compiled => Err(format!("in the shadow: {shadowed:?}\ncompiled: {compiled:?}")),
        None => Ok(()),
    }
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
    pub n_threads: usize,
}

/// Without vectors, in double precision, everything kept.
pub const PLAIN: How = How {
    flags: &["-O0"],
    single: false,
    opens: false,
    checkpoints: false,
    pieces: Pieces::USUAL,
    n_threads: 2,
};

fn compiled(name: &'static str, n: u32, family: Family, how: How) {
    compiled_samples(name, n, family, |_, ready, check| check(ready, how));
}

/// Tests generated programs: `test` gets a sample, the program, and a function that compares machine code
/// with the simulator.
pub fn compiled_samples(
    name: &'static str,
    n: u32,
    family: Family,
    trial: impl Fn(&Sample, &Ready, &dyn Fn(&Ready, How) -> Trial) -> Trial,
) {
    let number = RefCell::default();
    let folder = Folder::new(&name.replace(' ', "-"));
    law(
        name,
        n,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => trial(sample, ready, &|ready, how| agrees(ready, &folder, how, &number)),
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
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
    let how = How { flags: &["-O1"], checkpoints: true, opens: true, ..PLAIN };
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
    let how = How { flags: &["-O1"], checkpoints: true, opens: true, ..PLAIN };
    let folder = Folder::new("checkpoints");
    for (number, node) in NODES.into_iter().enumerate() {
        let ready = windows_of(node, 1);
        let printed = print_in_pieces(&source(&ready, how), "law", how.opens, how.pieces);
        let printed = printed.unwrap_or_else(|why| panic!("{node}: {why}"));
        let text = format!("{}\n{}", printed.emitted.header, printed.emitted.source);
        assert!(text.contains("chunk"), "{node} has no checkpoints\n{text}");
        let library = build(&printed.emitted, &folder.0, number, how.flags)
            .unwrap_or_else(|error| panic!("{node}: {error}\n{text}"));
        for length in LENGTHS {
            let ready = windows_of(node, length);
            let (simulated, ending) = run(&ready, Engine::new(source(&ready, how), None));
            assert!(ending.is_ok(), "{node}: {ending:?}");
            let machine = Flushed::new(&printed.emitted, &library);
            let is_known = |root: &RootPlan| root.may_be_unknown.is_empty();
            let is_known = planned(&ready, &with_checkpoints()).roots.iter().all(is_known);
            assert!(machine.is_complete || !is_known, "{node}\n{text}");
            if let Err(difference) = flushes(&ready, machine, &simulated) {
                panic!("{node}, windows of {length}: {difference}\n{text}");
            }
        }
        let compilation = printed.opened(library);
        for length in LENGTHS {
            let ready = windows_of(node, length);
            if let Err(difference) = same_rows(&ready, source(&ready, how), &compilation, "") {
                panic!("{node}, windows of {length}: {difference}\n{text}");
            }
        }
    }
}

/// If no root of a program compiles, the reason is that of the first root.
#[test]
fn the_reason_of_several_roots() {
    let text = "node sums(x)->(o) c = post (x > 0.0); r = (x when c) + (0.0 fby back r); o = merge c r (x when not c);
                node two(x,y)->(a,b) a = sums(x); b = sums(y);";
    let prepared = prepared(text, "two").expect("it is a program");
    let ready = Ready { prepared, inputs: vec![Vec::new(); 2], n_cycles: 0 };
    let source = source(&ready, PLAIN);
    assert_eq!(split(&source).map(|parts| parts.len()), Some(2));
    let native = Native { building: BuildOptions::from_environment(), threads: Threads::alone() };
    let why = compile(&source, "law", &native, &mut |_| ()).err().expect("it cannot be compiled").to_string();
    assert!(why.contains("at the end of the trace, where `a` may be unknown"), "{why}");
}

/// The simulator runs a whole trace with a failing operation, and reports the failure.
#[test]
fn a_trace_that_fails() {
    let text = "node t(x:int [],y:int [])->(b) b = (x div y) + (0 fby back b);";
    let prepared = prepared(text, "t").expect("it is a program");
    let row = |numbers: [i64; 3]| numbers.map(|number| Cell::Value(Value::Int(number))).to_vec();
    for divisors in [[2, 1, 2], [2, 0, 2]] {
        let inputs = vec![row([4, 5, 4]), row(divisors)];
        let ready = Ready { prepared: prepared.clone(), inputs, n_cycles: 3 };
        let tried = agrees(&ready, &Folder::new("trace"), PLAIN, &RefCell::default());
        assert!(matches!(tried, Ok(Verdict::Holds)), "{}", tried.err().unwrap_or_default());
    }
}
