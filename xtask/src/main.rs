//! The tasks of Eddy's developers: `cargo xtask test` is the one test command, here and on the build machine, and
//! `cargo xtask bench` compares Eddy with its peers, as `bench/README.md` tells.
//!
//! `test` runs these steps in order and stops at the first that fails:
//!
//! 1. formatting, as `rustfmt.toml` has it;
//! 2. lints, with every warning an error;
//! 3. tests: units, properties, the file tests under `tests/` and `examples/`, the commands that the documents
//!    show, the error pages, and the examples in doc comments;
//! 4. the documentation of the code, whose links must lead somewhere;
//! 5. tidiness ([`tidy`]): what no tool of the language checks, such as links between documents; `cargo xtask tidy` runs it alone.

mod library;
mod markdown;
mod papers;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((task, [])) if task == "test" => test(&root(), STEPS),
        Some((task, [])) if task == "tidy" => test(&root(), &STEPS[STEPS.len() - 1..]),
        Some((task, arguments)) if task == "bench" => bench(&root(), arguments),
        _ => {
            say(USAGE);
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "\
usage: cargo xtask test
       cargo xtask tidy
       cargo xtask bench [WORD...] [--quick] [--unpinned] [--long] [--print]

test   checks formatting, lints, tests and tidiness; stops at the first failure
tidy   checks tidiness alone
bench  measures Eddy beside its peers; bench/README.md is the manual";

/// Builds what is measured, and measures it.
fn bench(root: &Path, arguments: &[String]) -> ExitCode {
    let run = ["run", "--quiet", "--release", "--package", "eddy-bench", "--"];
    let run: Vec<&str> = run.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let succeeds = cargo(root, &["build", "--quiet", "--release", "--package", "eddy"]) && cargo(root, &run);
    if succeeds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One thing to check.
struct Step {
    name: &'static str,
    check: Check,
}

enum Check {
    /// A call of cargo that must succeed.
    Cargo(&'static [&'static str]),
    Tidiness,
}

const STEPS: &[Step] = &[
    Step { name: "formatting", check: Check::Cargo(&["fmt", "--all", "--check"]) },
    Step {
        name: "lints",
        check: Check::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    },
    Step { name: "tests", check: Check::Cargo(&["test", "--workspace"]) },
    Step {
        name: "docs",
        check: Check::Cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]),
    },
    Step { name: "tidiness", check: Check::Tidiness },
];

fn test(root: &Path, steps: &[Step]) -> ExitCode {
    let mut summary = vec![String::from("\n== summary")];
    let mut failed = false;
    for step in steps {
        if failed {
            summary.push(format!("   not run  {}", step.name));
            continue;
        }
        let start = Instant::now();
        failed = !step.passes(root);
        let word = if failed { "FAILED" } else { "ok" };
        summary.push(format!("{word:>10}  {:<10}  {:6.1} s", step.name, start.elapsed().as_secs_f64()));
    }
    say(&summary.join("\n"));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl Step {
    fn passes(&self, root: &Path) -> bool {
        match self.check {
            Check::Cargo(arguments) => {
                say(&format!("\n== {}: cargo {}", self.name, arguments.join(" ")));
                cargo(root, arguments)
            }
            Check::Tidiness => {
                say(&format!("\n== {}", self.name));
                let complaints = tidy::complaints(root);
                for complaint in &complaints {
                    say(complaint);
                }
                complaints.is_empty()
            }
        }
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> bool {
    // Cargo tells its own path to what it runs, so that the same toolchain is used throughout.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo).args(arguments).current_dir(root).status();
    status.is_ok_and(|status| status.success())
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is a folder of the repository").to_owned()
}

#[expect(clippy::print_stdout, reason = "a task talks to the developer who called it")]
fn say(text: &str) {
    println!("{text}");
}
