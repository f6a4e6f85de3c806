//! Eddy against its peers: all sides run the same workloads alternately, in one process group and one
//! session.
//!
//! A [`Side`] takes turns; each turn reports the time of a workload and its results. [`twins`] are programs
//! in C, [`peers`] are JAX, `PyTorch` and onnxruntime, [`eddy`] is Eddy. `bench/README.md` is the manual.

pub mod checking;
pub mod eddy;
pub mod gradbench;
pub mod growth;
pub mod machine;
mod numbers;
mod peers;
mod process;
pub mod record;
mod table;
pub mod threads;
mod twins;
mod workload;

use std::path::{Path, PathBuf};
use std::process::Command;

use process::Process;
use record::Record;
use workload::{SLOW_PEER, TARGETS, Target, Workload};

/// An implementation of a workload, which takes turns with the others.
pub trait Side {
    /// Runs the workload for some time.
    fn turn(&mut self) -> Result<Vec<Record>, String>;
}

/// Which workloads to compare, and how thoroughly.
pub struct Plan {
    /// Selects workloads whose names contain one of these words; all if empty.
    pub words: Vec<String>,
    pub is_quick: bool,
    pub is_pinned: bool,
}

/// The measurements of a workload.
pub struct Outcome {
    pub target: &'static Target,
    /// The records of the sides that answered, one for each variant.
    pub records: Vec<Record>,
    /// The reasons why other sides did not answer.
    pub failures: Vec<String>,
}

impl Plan {
    fn is_chosen(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// The number of turns of each side, and the seconds of a turn.
    fn effort(&self) -> (usize, f64) {
        if self.is_quick { (2, 0.1) } else { (7, 0.3) }
    }
}

/// Compares the selected workloads and returns the tables as Markdown; `None` if none is selected.
pub fn compare(plan: &Plan, work: &Path) -> Option<String> {
    let chosen: Vec<&Target> = TARGETS.iter().filter(|target| plan.is_chosen(target.name)).collect();
    if chosen.is_empty() {
        return None;
    }
    let python = peers::environment(&work.join("peers")).map_err(|error| {
        println!("no peers: {error}");
        error
    });
    let mut facts = machine::facts(python.is_ok());
    let (turns, seconds) = plan.effort();
    let cores = if plan.is_pinned { "one core, one thread" } else { "all cores" };
    facts.push(format!("each side: {turns} turns of {seconds} s, {cores}"));
    let mut outcomes = Vec::new();
    for target in chosen {
        println!("{}", target.name);
        let outcome = measure(target, plan, python.as_deref().ok(), work);
        for record in &outcome.records {
            println!("  {:<12} {:<28} {}", record.peer, record.variant, table::duration(record.median_ns));
        }
        for why in &outcome.failures {
            println!("  {why}");
        }
        outcomes.push(outcome);
    }
    Some(table::markdown(&facts, python.err().as_deref(), &outcomes))
}

fn measure(target: &'static Target, plan: &Plan, python: Option<&Path>, work: &Path) -> Outcome {
    let workload = Workload::named(target.name).expect("targets are workloads");
    let mut failures = Vec::new();
    let mut sides = Vec::new();
    for (name, side) in sides_of(target.name, workload, plan, python, work) {
        // The first turn warms up: peers compile in it.
        match side.and_then(|mut side| side.turn().map(|_| side)) {
            Ok(side) => sides.push((name, side, Vec::new())),
            Err(why) => failures.push(format!("{name}: {why}")),
        }
    }
    let (turns, _) = plan.effort();
    for _ in 0..turns {
        for (name, side, records) in &mut sides {
            match side.turn() {
                Ok(turn) => records.push(turn),
                Err(why) => failures.push(format!("{name}: {why}")),
            }
        }
    }
    let records = sides.iter().flat_map(|(_, _, turns)| by_variant(turns)).collect();
    Outcome { target, records, failures }
}

type Started = (String, Result<Box<dyn Side>, String>);

fn sides_of(name: &str, workload: Workload, plan: &Plan, python: Option<&Path>, work: &Path) -> Vec<Started> {
    let (_, seconds) = plan.effort();
    let process = |mut command: Command| -> Result<Box<dyn Side>, String> {
        command.arg(format!("--seconds={seconds}"));
        if !plan.is_pinned {
            command.arg("--unpinned");
        }
        Ok(Box::new(Process::start(&mut command)?))
    };
    let twin = || {
        let mut command = Command::new(twins::build(workload, &work.join("twins"), false)?);
        command.arg(format!("--only={}", workload.twin().part));
        process(command)
    };
    let mut sides = vec![("eddy".to_owned(), eddy::side(workload, seconds)), ("C".to_owned(), twin())];
    let (script, peers) = workload.peers();
    for peer in peers.iter().filter(|peer| !plan.is_quick || **peer != SLOW_PEER) {
        let Some(python) = python else { continue };
        let mut command = Command::new(python);
        command.arg("-B").arg(peers::folder().join(script)).args([peer, name]);
        sides.push(((*peer).to_owned(), process(command)));
    }
    sides
}

/// The records of all turns, summarised for each variant.
fn by_variant(turns: &[Vec<Record>]) -> Vec<Record> {
    let n = turns.iter().map(Vec::len).min().unwrap_or(0);
    let variant = |number: usize| -> Vec<Record> { turns.iter().map(|turn| turn[number].clone()).collect() };
    (0..n).filter_map(|number| Record::of_turns(&variant(number))).collect()
}

/// The folder for generated files, in cargo's target folder.
pub fn work_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    target.join("bench")
}
