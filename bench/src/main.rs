//! Side-by-side benchmarks: `cargo xtask bench`; `bench/README.md` is the manual.
//!
//! Every figure is a ratio of two measurements in one run on one machine, or a count that does not depend on
//! the machine. The two sides take turns. Targets are shown next to the figures but not asserted.
//!
//! [`against`] compares Eddy with its peers. The other modules measure one language each; they take the best
//! of several turns, since other work on the machine can only slow a turn down.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]
#![allow(clippy::cast_precision_loss, reason = "sizes and times are far below 2^53")]

mod against;
mod clock;
mod coherent;
mod planning;
mod pullback;
mod rd;
mod reactive;
mod tables;

use std::process::{Command, ExitCode};
use std::{env, fs};

use against::checking;
use against::growth::{self, Reach};
use against::{Plan, gradbench, machine, threads};

/// Languages and layers with their own benchmarks.
const LANGUAGES: &[(&str, fn())] = &[
    ("rd", languages::rd),
    ("pullback", languages::pullback),
    ("coherent", languages::coherent),
    ("tables", languages::tables),
    ("reactive", languages::reactive),
    ("plan", languages::plan),
];

const USAGE: &str = "usage: cargo xtask bench [WORD...] [--quick] [--unpinned] [--long] [--print]

WORD selects workloads whose names contain it, `gradbench`, `growth`, its last tables `checking` and `threads`, or a language: rd, pullback,
coherent, tables, reactive, plan. Without a WORD everything is measured and the results are written to bench/RESULTS.md; with a
WORD they are printed.

--quick     few and short turns, small sizes
--unpinned  all cores and threads, for all sides
--long      also the stream of 10^8 cycles
--print     print the results instead of writing them";

fn main() -> ExitCode {
    let (options, words): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|word| word.starts_with("--"));
    let known = ["--quick", "--unpinned", "--long", "--print"];
    if options.iter().any(|option| !known.contains(&option.as_str())) {
        println!("{USAGE}");
        return ExitCode::from(2);
    }
    let has = |option: &str| options.iter().any(|other| other == option);
    // A single language: a child process of a whole run, or a developer's choice. Needs no tables and no
    // environment.
    if let [word] = &words[..]
        && let Some((name, measure)) = LANGUAGES.iter().find(|(name, _)| name == word)
    {
        println!("{name}\n");
        measure();
        return ExitCode::SUCCESS;
    }
    if !has("--unpinned") {
        machine::pin();
    }
    let text = results(&words, &has);
    if words.is_empty() && !has("--print") {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/RESULTS.md");
        if let Err(error) = fs::write(path, &text) {
            println!("{path}: {error}");
            return ExitCode::FAILURE;
        }
        println!("written: bench/RESULTS.md");
    } else {
        println!("{text}");
    }
    ExitCode::SUCCESS
}

fn results(words: &[String], has: &dyn Fn(&str) -> bool) -> String {
    let is_chosen = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let (work, is_quick) = (against::work_folder(), has("--quick"));
    let mut text = String::new();
    let plan = Plan { words: words.to_vec(), is_quick, is_pinned: !has("--unpinned") };
    text.push_str(&against::compare(&plan, &work).unwrap_or_default());
    if is_chosen("growth") {
        let reach = match (is_quick, has("--long")) {
            (true, _) => Reach::Quick,
            (false, true) => Reach::Long,
            (false, false) => Reach::Usual,
        };
        text.push_str(&growth::tables(reach, &work));
    }
    if (is_chosen("growth") || is_chosen("checking"))
        && let Some(eddy) = growth::binary()
    {
        text.push_str(&checking::table(&eddy, &work, is_quick));
    }
    if is_chosen("gradbench")
        && let Some(eddy) = growth::binary()
    {
        text.push_str(&gradbench::table(&eddy, &work, is_quick, words));
    }
    if is_chosen("growth") || is_chosen("threads") {
        text.push_str(&threads::table(is_quick));
    }
    let chosen: Vec<&str> = LANGUAGES.iter().map(|(name, _)| *name).filter(|name| is_chosen(name)).collect();
    if !chosen.is_empty() {
        text.push_str("\n# Languages\n");
    }
    for name in chosen {
        text.extend(["\n```text\n", alone(name).trim_end(), "\n```\n"]);
    }
    text
}

/// The output of this program for one language.
fn alone(name: &str) -> String {
    println!("{name}");
    let output = env::current_exe().and_then(|this| Command::new(this).arg(name).output());
    match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => format!("{name}: {error}"),
    }
}

mod languages {
    use crate::{coherent, planning, pullback, rd, reactive, tables};

    pub fn rd() {
        rd::loops_against_rust();
        rd::gradients_against_values();
        rd::deep_recursion();
        rd::nested_derivatives();
        rd::reading();
    }

    pub fn pullback() {
        pullback::gradients_against_values();
        pullback::growth();
        pullback::nested_derivatives();
        pullback::reading();
    }

    pub fn coherent() {
        coherent::steps();
        coherent::the_walk();
    }

    pub fn tables() {
        tables::asking_against_running();
        tables::explaining();
        tables::listing();
    }

    pub fn reactive() {
        reactive::firings();
        reactive::checking();
    }

    pub fn plan() {
        planning::planning();
    }
}
