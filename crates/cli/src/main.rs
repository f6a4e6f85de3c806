//! `eddy`: the command line of Eddy's languages.
//!
//! A command finds the language of its file, hands the text to it, and carries the answer out of the house:
//!
//! * [`languages`]: which languages there are, and which of them a file is written in.
//! * [`args`]: what can be typed, as `clap` understands it.
//! * [`input`]: a program's text, from a file or from standard input.
//! * [`evaluate`]: the commands that a language answers.
//! * [`build`](mod@build): the command `build`, which writes C.
//! * [`train`](mod@train): the command `train`, with its run folder.
//! * [`format`](mod@format): the command `fmt`, which rewrites files without ever losing one.
//! * [`explain`]: the command `explain`.
//! * [`answers`]: results, on standard output.
//! * [`replacement`]: a file that takes the place of another, in one step.
//! * [`reproduction`]: a folder that shows again where two engines differ.
//! * [`report`]: diagnostics, counters and failures, on standard error.
//! * [`json`]: the machine forms of both.
//! * [`stop`]: the two ways in which a command ends early.
//!
//! Invariants: results go to standard output and everything else to standard error; when a program is
//! refused, standard output stays empty; no reader who closes a pipe ever sees a panic. The exit code is 0
//! when the question was answered, 1 when the program was refused, 2 when the command line was wrong and 3
//! when the program has no value.

mod languages;

mod args;
mod input;

mod build;
mod evaluate;
mod explain;
mod format;
mod train;

mod answers;
mod json;
mod replacement;
mod report;
mod reproduction;
mod stop;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use answers::Answers;
use args::{Cli, Command};
use eddy_language::Status;
use stop::Stop;

fn main() -> ExitCode {
    let ended = match Cli::try_parse() {
        Ok(cli) => execute(&cli.command),
        // `--help` and `--version` arrive here as well; they are answers.
        Err(error) if error.use_stderr() => Err(Stop::Misuse(error)),
        Err(answer) => answer.print().map(|()| Status::Answered).map_err(Stop::Output),
    };
    match ended {
        Ok(status) => ExitCode::from(status.exit_code()),
        Err(stop) => stop.report(),
    }
}

fn execute(command: &Command) -> Result<Status, Stop> {
    match command {
        Command::Check(args) => evaluate::check(args),
        Command::Run(args) => evaluate::run(args),
        Command::Trace(args) => evaluate::trace(args),
        Command::Ask(args) => evaluate::ask(args),
        Command::Enum(args) => evaluate::enumerate(args),
        Command::Opt(args) => evaluate::optimise(args),
        Command::Intype(args) => evaluate::intype(args),
        Command::Flow(args) => evaluate::flow(args),
        Command::Gradcheck(args) => evaluate::gradcheck(args),
        Command::Train(args) => train::train(args),
        Command::Diff(args) => evaluate::diff(args),
        Command::Plan(args) => evaluate::plan(args),
        Command::Build(args) => build::build(args),
        Command::Fmt(args) => format::fmt(args),
        Command::Explain(args) => explain::explain(args),
        Command::Completions { shell } => completions(*shell),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<Status, Stop> {
    // `generate` panics when it cannot write, and a pipe may be closed; memory it can always write to.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "eddy", &mut script);
    let mut answers = Answers::to_stdout();
    answers.write(&String::from_utf8_lossy(&script))?;
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}
