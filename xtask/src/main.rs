//! Tasks for developers: `cargo xtask test` is the only test command, also in continuous integration; `cargo
//! xtask bench` compares Eddy with its peers (see `bench/README.md`); `cargo xtask book` builds the guide;
//! `cargo xtask pictures` draws those of its pictures that show what examples compute.
//!
//! `test` runs these steps in order and stops at the first that fails:
//!
//! 1. formatting, by `rustfmt.toml`;
//! 2. tidiness ([`tidy`]): rules that no other tool checks, such as links between documents; `cargo xtask
//!    tidy` runs it alone;
//! 3. licences and sources of dependencies, by `cargo deny`, if it is installed; `deny.toml` lists the
//!    accepted ones;
//! 4. lints, with warnings as errors;
//! 5. tests: unit tests, properties, the file tests under `tests/` and `examples/`, the commands shown in
//!    documents, the error pages, and the examples in doc comments;
//! 6. the documentation of the code, whose links must resolve;
//! 7. `eddy-language` for `wasm32-unknown-unknown`, which shows that it is pure; `cargo xtask wasm` runs it
//!    alone.
//!
//! The first three take seconds, so their errors appear before anything is built.

mod book;
mod dependencies;
mod library;
mod manifest;
mod markdown;
mod papers;
mod pictures;
mod purity;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((task, [])) if task == "test" => test(&root(), STEPS),
        Some((task, [])) if task == "tidy" => test(&root(), &[TIDINESS]),
        Some((task, [])) if task == "book" => build_book(&root()),
        Some((task, [])) if task == "pictures" => draw_pictures(&root()),
        Some((task, [])) if task == "wasm" => test(&root(), &[WASM]),
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
       cargo xtask book
       cargo xtask pictures
       cargo xtask wasm
       cargo xtask bench [WORD...] [--quick] [--unpinned] [--long] [--print]

test   checks formatting, lints, tests, tidiness and licences; stops at the first failure
tidy   checks tidiness alone
book   builds the guide with mdBook in target/book; without mdBook it says so and does nothing
pictures  draws docs/guide/pictures from the output of examples/functions
wasm   checks that the language builds for wasm32-unknown-unknown
bench  measures Eddy beside its peers; bench/README.md is the manual";

/// Builds and runs the benchmarks.
fn bench(root: &Path, arguments: &[String]) -> ExitCode {
    let run = ["run", "--quiet", "--release", "--package", "eddy-bench", "--"];
    let run: Vec<&str> = run.into_iter().chain(arguments.iter().map(String::as_str)).collect();
    let succeeds = cargo(root, &["build", "--quiet", "--release", "--package", "eddy"]) && cargo(root, &run);
    if succeeds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Draws the pictures again.
fn draw_pictures(root: &Path) -> ExitCode {
    for picture in pictures::PICTURES {
        let printed = std::fs::read_to_string(root.join(picture.source())).unwrap_or_default();
        let done = picture.draw(&printed).and_then(|drawing| {
            std::fs::write(root.join(picture.file()), drawing).map_err(|error| error.to_string())
        });
        if let Err(error) = done {
            say(&format!("{}: {error}", picture.source()));
            return ExitCode::FAILURE;
        }
        say(&picture.file());
    }
    ExitCode::SUCCESS
}

fn build_book(root: &Path) -> ExitCode {
    if !is_installed("mdbook", &["--version"]) {
        say("skipped: mdbook is not installed (cargo install mdbook)");
        return ExitCode::SUCCESS;
    }
    let source = root.join("target/book-source");
    if let Err(error) = book::stage(root, &tidy::files(root), &source) {
        say(&format!("cannot copy docs to target/book-source: {error}"));
        return ExitCode::FAILURE;
    }
    let mut mdbook = Command::new("mdbook");
    let status = mdbook.arg("build").arg(source).arg("--dest-dir").arg(root.join("target/book")).status();
    if !status.is_ok_and(|status| status.success()) {
        return ExitCode::FAILURE;
    }
    say("target/book/index.html");
    ExitCode::SUCCESS
}

/// Whether a program can be started with these arguments and succeeds.
fn is_installed(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

struct Step {
    name: &'static str,
    check: Check,
}

enum Check {
    /// A call of cargo that must succeed.
    Cargo(&'static [&'static str]),
    /// The same for a target that may be missing.
    Target(&'static str, &'static [&'static str]),
    Tidiness,
    Licences,
}

const TIDINESS: Step = Step { name: "tidiness", check: Check::Tidiness };

/// Without advisories: they need the network, and their answer for a commit changes over time.
const DENY: &[&str] = &["deny", "--offline", "check", "bans", "licenses", "sources"];

const STEPS: &[Step] = &[
    Step { name: "formatting", check: Check::Cargo(&["fmt", "--all", "--check"]) },
    TIDINESS,
    Step { name: "licences", check: Check::Licences },
    Step {
        name: "lints",
        check: Check::Cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
    },
    Step { name: "tests", check: Check::Cargo(&["test", "--workspace", "--no-fail-fast"]) },
    Step {
        name: "docs",
        check: Check::Cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]),
    },
    WASM,
];

const WASM: Step = Step {
    name: "wasm",
    check: Check::Target("wasm32-unknown-unknown", &["check", "--package", "eddy-language"]),
};

fn test(root: &Path, steps: &[Step]) -> ExitCode {
    let mut summary = vec![String::from("\n== summary")];
    let mut failed = false;
    for step in steps {
        if failed {
            summary.push(format!("   not run  {}", step.name));
            continue;
        }
        let start = Instant::now();
        let outcome = step.run(root);
        failed = outcome == Outcome::Failed;
        let word = match outcome {
            Outcome::Passed => "ok",
            Outcome::Failed => "FAILED",
            Outcome::Skipped => "skipped",
        };
        summary.push(format!("{word:>10}  {:<10}  {:6.1} s", step.name, start.elapsed().as_secs_f64()));
    }
    say(&summary.join("\n"));
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// A tool that the step needs is not installed.
    Skipped,
}

impl Outcome {
    fn of(passes: bool) -> Outcome {
        if passes { Outcome::Passed } else { Outcome::Failed }
    }
}

impl Step {
    fn run(&self, root: &Path) -> Outcome {
        match self.check {
            Check::Cargo(arguments) => {
                say(&format!("\n== {}: cargo {}", self.name, arguments.join(" ")));
                Outcome::of(cargo(root, arguments))
            }
            Check::Licences if !is_installed("cargo-deny", &["--version"]) => {
                say(&format!("\n== {}: skipped, cargo-deny is not installed", self.name));
                Outcome::Skipped
            }
            Check::Licences => {
                say(&format!("\n== {}: cargo {}", self.name, DENY.join(" ")));
                Outcome::of(cargo(root, DENY))
            }
            Check::Target(target, arguments) => {
                let arguments = [arguments, &["--target", target]].concat();
                say(&format!("\n== {}: cargo {}", self.name, arguments.join(" ")));
                if !has_target(target) {
                    say(&format!("not checked: install the target with `rustup target add {target}`"));
                    return Outcome::Skipped;
                }
                Outcome::of(cargo(root, &arguments))
            }
            Check::Tidiness => {
                say(&format!("\n== {}", self.name));
                let complaints = tidy::complaints(root);
                for complaint in &complaints {
                    say(complaint);
                }
                Outcome::of(complaints.is_empty())
            }
        }
    }
}

fn cargo(root: &Path, arguments: &[&str]) -> bool {
    // Cargo passes its own path to subcommands, so that all steps use the same toolchain.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo).args(arguments).current_dir(root).status();
    status.is_ok_and(|status| status.success())
}

/// Whether the compiler has the standard library of a target.
fn has_target(target: &str) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", target]).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists())
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is a folder of the repository").to_owned()
}

#[expect(clippy::print_stdout, reason = "a task talks to the developer who called it")]
fn say(text: &str) {
    println!("{text}");
}
