//! Eddy against its peers: the same workloads on all sides, taking turns, in one run.
//!
//! A [`Side`] takes turns; each turn says how long a workload took and what it computed. [`twins`] are programs in C,
//! [`peers`] are JAX, `PyTorch` and onnxruntime, [`eddy`] is Eddy. `bench/README.md` is the manual.

pub mod checking;
pub mod eddy;
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

/// Somebody who does a workload when it is their turn.
pub trait Side {
    /// Does it for some time.
    fn turn(&mut self) -> Result<Vec<Record>, String>;
}

/// What to compare, and how thoroughly.
pub struct Plan {
    /// Workloads whose names contain one of these words; all if there are none.
    pub words: Vec<String>,
    pub is_quick: bool,
    pub is_pinned: bool,
}

/// What is known about a workload in the end.
pub struct Outcome {
    pub target: &'static Target,
    /// The records of each side that answered, a record for each of its variants.
    pub records: Vec<Record>,
    /// Why others did not.
    pub silent: Vec<String>,
}

impl Plan {
    fn is_chosen(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    /// Turns of each side, and seconds of a turn.
    fn effort(&self) -> (usize, f64) {
        if self.is_quick { (2, 0.1) } else { (7, 0.3) }
    }
}

/// Compares all that is chosen, and gives the tables as Markdown; none if nothing is chosen.
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
        for why in &outcome.silent {
            println!("  {why}");
        }
        outcomes.push(outcome);
    }
    Some(table::markdown(&facts, python.err().as_deref(), &outcomes))
}

fn measure(target: &'static Target, plan: &Plan, python: Option<&Path>, work: &Path) -> Outcome {
    let workload = Workload::named(target.name).expect("targets are workloads");
    let mut silent = Vec::new();
    let mut sides = Vec::new();
    for (name, side) in sides_of(target.name, workload, plan, python, work) {
        // The first turn warms up: peers compile in it.
        match side.and_then(|mut side| side.turn().map(|_| side)) {
            Ok(side) => sides.push((name, side, Vec::new())),
            Err(why) => silent.push(format!("{name}: {why}")),
        }
    }
    let (turns, _) = plan.effort();
    for _ in 0..turns {
        for (name, side, records) in &mut sides {
            match side.turn() {
                Ok(turn) => records.push(turn),
                Err(why) => silent.push(format!("{name}: {why}")),
            }
        }
    }
    let records = sides.iter().flat_map(|(_, _, turns)| by_variant(turns)).collect();
    Outcome { target, records, silent }
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

/// The records of all turns, summed up for each variant.
fn by_variant(turns: &[Vec<Record>]) -> Vec<Record> {
    let n = turns.iter().map(Vec::len).min().unwrap_or(0);
    let variant = |number: usize| -> Vec<Record> { turns.iter().map(|turn| turn[number].clone()).collect() };
    (0..n).filter_map(|number| Record::of_turns(&variant(number))).collect()
}

/// The folder for what benchmarks make: in that of cargo.
pub fn work_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target"), PathBuf::from);
    target.join("bench")
}
