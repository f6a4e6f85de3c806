//! Growth: how Eddy's time and memory depend on sizes. Measures whole runs of the binary `eddy`, and compile
//! times.
//!
//! [`super::threads`] measures the effect of threads. Absolute figures matter little here; compare how the
//! figures grow when a size doubles.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use eddy_compile::Precision;
use eddy_compile::build::{BuildOptions, build};
use eddy_compile::emit::{Constants, EmitInput, Options, Pieces, emit};

use super::eddy::compiled::Compiled;
use super::eddy::ready::folder;
use super::numbers::number;
use super::table::duration;
use super::workload::Workload;
use crate::reactive::prepared;

/// Which sizes to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Quick,
    Usual,
    /// Like `Usual`, plus the stream of 10^8 cycles.
    Long,
}

/// The cost of a run of `eddy`.
struct Run {
    seconds: f64,
    /// The peak resident memory in KiB, as sampled; a short run may end between two samples.
    peak_kib: u64,
}

pub fn tables(reach: Reach, work: &Path) -> String {
    let mut text = String::from("\n# Growth\n");
    let is_quick = reach == Reach::Quick;
    let lengths: &[usize] = if is_quick { &[10, 100] } else { &[10, 100, 1000, 10_000] };
    compile_times(&mut text, "T of a gradient through T steps (lstm, 64 units)", lengths, |steps| {
        let name = format!("lstm-train-h64-b1-t{steps}");
        let workload = Workload::named(&name).expect("the name is that of a workload");
        Ok(Compiled::new(workload, 0.0)?.compile_seconds)
    });
    let sizes: &[usize] = if is_quick { &[100, 1000] } else { &[100, 1000, 10_000] };
    compile_times(&mut text, "equations of a forward program", sizes, |n| compile(&chain(n), "chain"));
    let Some(eddy) = binary() else {
        text.push_str("\nThe binary `eddy` is not beside the benchmarks, so nothing else was measured.\n");
        return text;
    };
    let cycles = if is_quick { 100 } else { 1600 };
    let lengths: &[usize] = if is_quick { &[50, 100] } else { &[100, 200, 400, 800] };
    runs(
        &mut text,
        "steps of a sequence (lstm, 16 units, the same number of cycles)",
        lengths,
        cycles,
        |steps| gradient(&eddy, work, Layer { units: 16, batch: None, steps, cycles }),
    );
    let sizes: &[usize] = if is_quick { &[4, 8] } else { &[8, 16, 32, 64] };
    runs(&mut text, "units (lstm, sequences of 50 steps)", sizes, cycles, |units| {
        gradient(&eddy, work, Layer { units, batch: None, steps: 50, cycles })
    });
    let sizes: &[usize] = if is_quick { &[2, 4] } else { &[2, 8, 32] };
    runs(&mut text, "sequences at once (lstm, 16 units, 50 steps)", sizes, cycles, |batch| {
        gradient(&eddy, work, Layer { units: 16, batch: Some(batch), steps: 50, cycles })
    });
    let (windows, cycles): (&[usize], usize) =
        if is_quick { (&[10, 100], 1000) } else { (&[10, 100, 1000, 10_000], 200_000) };
    runs(&mut text, "cycles until a value comes back (backfill)", windows, cycles, |window| {
        backfill(&eddy, work, window, cycles)
    });
    let cycles: &[usize] = match reach {
        Reach::Quick => &[10_000],
        Reach::Usual => &[10_000, 100_000, 1_000_000],
        Reach::Long => &[10_000, 1_000_000, 100_000_000],
    };
    for n in cycles {
        runs(&mut text, "cycles of a filter", &[*n], *n, |n| stream(&eddy, work, n));
    }
    text
}

fn compile_times(
    text: &mut String,
    what: &str,
    sizes: &[usize],
    mut measure: impl FnMut(usize) -> Result<(f64, f64), String>,
) {
    println!("compile time: {what}");
    let _ = writeln!(text, "\n| {what} | text to C | C to machine code |\n| --- | --- | --- |");
    for size in sizes {
        let _ = match measure(*size) {
            Ok((to_c, to_code)) => writeln!(text, "| {size} | {to_c:.3} s | {to_code:.3} s |"),
            Err(why) => writeln!(text, "| {size} | not measured: {why} | |"),
        };
    }
}

fn runs(
    text: &mut String,
    what: &str,
    sizes: &[usize],
    cycles: usize,
    mut measure: impl FnMut(usize) -> Result<Run, String>,
) {
    println!("growth: {what}");
    let _ = writeln!(text, "\n| {what} | time | per cycle | most memory |\n| --- | --- | --- | --- |");
    for size in sizes {
        let _ = match measure(*size) {
            Ok(Run { seconds, peak_kib }) => {
                let per_cycle = duration(seconds * 1e9 / cycles as f64);
                let memory = match peak_kib {
                    0 => "not seen".to_owned(),
                    kib => format!("{:.1} MiB", kib as f64 / 1024.0),
                };
                writeln!(text, "| {size} | {seconds:.2} s | {per_cycle} | {memory} |")
            }
            Err(why) => writeln!(text, "| {size} | not measured: {why} | | |"),
        };
    }
}

/// The binary `eddy` next to this one.
pub fn binary() -> Option<PathBuf> {
    let eddy = std::env::current_exe().ok()?.with_file_name("eddy");
    eddy.exists().then_some(eddy)
}

/// Compiles from text to machine code.
fn compile(text: &str, node: &str) -> Result<(f64, f64), String> {
    let start = Instant::now();
    let prepared = prepared(text, node);
    let plan = eddy_plan::plan(&prepared.flow, &prepared.clocks, &eddy_plan::Options::default());
    let source = EmitInput { flow: &prepared.flow, clocks: &prepared.clocks, plan: &plan, seed: 0 };
    let options = Options {
        name: "bench".to_owned(),
        precision: Precision::Double,
        max_window: 1,
        constants: Constants::FromHost,
        opens: false,
        places: Vec::new(),
        pieces: Pieces::USUAL,
        arena: 0,
    };
    let emitted = emit(&source, &options).map_err(|why| format!("{why:?}"))?;
    let to_c = start.elapsed().as_secs_f64();
    let settings = BuildOptions::from_environment().map_err(|bad| bad.to_string())?;
    let settings = BuildOptions { cache: None, ..settings };
    let (built, _) = build(&emitted, &settings, &mut || ()).map_err(|error| error.to_string())?;
    Ok((to_c, built.seconds))
}

/// A chain of filters, two equations each.
fn chain(n: usize) -> String {
    let mut text = String::from("node chain(x0: num []) -> (y)\n");
    for number in 0..n / 2 {
        let _ = writeln!(text, "  x{} = x{number} + (0.5 fby x{number});", number + 1);
    }
    let _ = writeln!(text, "  y = x{};", n / 2);
    text
}

#[derive(Clone, Copy)]
struct Layer {
    units: usize,
    batch: Option<usize>,
    steps: usize,
    cycles: usize,
}

const INPUTS: usize = 8;

/// Computes gradients of a recurrent layer over sequences.
fn gradient(eddy: &Path, work: &Path, layer: Layer) -> Result<Run, String> {
    let Layer { units, batch, steps, cycles } = layer;
    let row = |cycle: usize| {
        let numbers = |from: usize, n: usize| -> Vec<f64> {
            (from..from + n).map(|i| number(3, (cycle * INPUTS + i) as u64, 1.0)).collect()
        };
        let x = match batch {
            None => format!("{:?}", numbers(0, INPUTS)),
            Some(batch) => format!("{:?}", (0..INPUTS).map(|i| numbers(i, batch)).collect::<Vec<_>>()),
        };
        format!("{{\"x\":{x},\"end\":{}}}", (cycle + 1).is_multiple_of(steps))
    };
    let data = write(work, cycles, row).map_err(|error| error.to_string())?;
    let mut command = Command::new(eddy);
    let file = if batch.is_some() { "lstm-batch.eddy" } else { "lstm.eddy" };
    command.arg("run").arg(folder().join(file)).args(["--node", "gradient", "--in"]).arg(data);
    for (name, size) in
        [("units", Some(units)), ("inputs", Some(INPUTS)), ("steps", Some(steps)), ("batch", batch)]
    {
        if let Some(size) = size {
            command.args(["--const", &format!("{name}={size}")]);
        }
    }
    watch(&mut command)
}

/// Runs a program that sends values back over windows.
fn backfill(eddy: &Path, work: &Path, window: usize, cycles: usize) -> Result<Run, String> {
    let row = |cycle: usize| format!("{{\"i\":{cycle}.5,\"bp\":{}}}", (cycle + 1).is_multiple_of(window));
    let data = write(work, cycles, row).map_err(|error| error.to_string())?;
    let program = program(work, "node f(i, bp) -> (o)\n  o = backfill(i, bp);\n")?;
    watch(Command::new(eddy).arg("run").arg(program).args(["--node", "f", "--in"]).arg(data))
}

/// Runs a filter on a stream that the program itself generates.
fn stream(eddy: &Path, work: &Path, cycles: usize) -> Result<Run, String> {
    let program = program(
        work,
        "node f() -> (y)\n  n = 0 fby (n + 1) mod 7;\n  x = num(n);\n  y = 0.2 * x + 0.5 * (0.0 fby y);\n",
    )?;
    watch(Command::new(eddy).arg("run").arg(program).args(["--node", "f", "--cycles", &cycles.to_string()]))
}

fn program(work: &Path, text: &str) -> Result<PathBuf, String> {
    let path = work.join("growth.eddy");
    fs::create_dir_all(work).and_then(|()| fs::write(&path, text)).map_err(|error| error.to_string())?;
    Ok(path)
}

fn write(work: &Path, cycles: usize, row: impl Fn(usize) -> String) -> io::Result<PathBuf> {
    fs::create_dir_all(work)?;
    let path = work.join("growth.jsonl");
    let mut file = BufWriter::new(File::create(&path)?);
    for cycle in 0..cycles {
        writeln!(file, "{}", row(cycle))?;
    }
    file.flush()?;
    Ok(path)
}

/// Runs a command to its end while sampling its memory.
fn watch(command: &mut Command) -> Result<Run, String> {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let mut peak_kib = 0;
    loop {
        peak_kib = peak_kib.max(resident_kib(&child).unwrap_or(0));
        match child.try_wait() {
            Ok(None) => sleep(Duration::from_millis(2)),
            Ok(Some(status)) if status.success() => {
                return Ok(Run { seconds: start.elapsed().as_secs_f64(), peak_kib });
            }
            Ok(Some(status)) => return Err(format!("`eddy` ended with {status}")),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// The peak resident memory so far.
fn resident_kib(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
