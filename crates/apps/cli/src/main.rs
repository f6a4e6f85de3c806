//! `eddy`: the command line of Eddy's languages.
//!
//! A command finds the language of its file, passes the text to it, and prints its answer:
//!
//! * [`languages`]: the list of languages; for each, its commands with their arguments and answers.
//! * [`commands`], [`command_line`]: the grammar of the command line, for `clap`; [`args`]: the arguments
//!   that languages share.
//! * [`input`]: a program's text, from a file or from standard input.
//! * [`session`]: a question about a program, from the file to the answer on the screen.
//! * [`build`](mod@build): the command `build`, which writes C.
//! * [`train`](mod@train): the command `train`, with its run folder.
//! * [`format`](mod@format): the command `fmt`, which rewrites files without losing one.
//! * [`explain`]: the command `explain`. [`mod@new`]: the command `new`. [`repl`]: the command `repl`.
//! * [`gradbench`]: the command `gradbench`, a tool of that benchmark.
//! * [`answers`]: results, on standard output.
//! * [`replacement`]: replaces a file in one step.
//! * [`reproduction`]: a folder that reproduces a difference between two engines.
//! * [`report`]: diagnostics, counters and failures, on standard error.
//! * [`json`]: the machine-readable forms of both.
//! * [`status`]: how a command ends; [`stop`]: errors that end a command before it has a status.
//!
//! Invariants: results go to standard output and everything else to standard error; when a program is
//! refused, standard output stays empty; a closed pipe never causes a panic. The exit code is 0 when the
//! question was answered, 1 when the program was refused, 2 when the command line was wrong and 3 when the
//! program has no value.

mod languages;

mod args;
mod command_line;
mod commands;
mod input;

mod session;

mod build;
mod explain;
mod format;
mod gradbench;
mod new;
mod repl;
mod train;

mod answers;
mod json;
mod replacement;
mod report;
mod reproduction;
mod status;
mod stop;

use std::process::ExitCode;

use answers::Answers;
use command_line::Typed;
use commands::OwnCommand;
use status::Status;
use stop::Stop;

fn main() -> ExitCode {
    let ended = match command_line::read(std::env::args_os()) {
        Ok(Typed::Command(command, matches)) => command_line::answer(command, &matches),
        Ok(Typed::Own(command)) => execute(&command),
        // `clap` returns `--help` and `--version` as errors as well; they are answers.
        Err(error) if error.use_stderr() => Err(Stop::Misuse(error)),
        Err(answer) => answer.print().map(|()| Status::Answered).map_err(Stop::Output),
    };
    match ended {
        Ok(status) => ExitCode::from(status.exit_code()),
        Err(stop) => stop.report(),
    }
}

fn execute(command: &OwnCommand) -> Result<Status, Stop> {
    match command {
        OwnCommand::Fmt(args) => format::fmt(args),
        OwnCommand::Explain(args) => explain::explain(args),
        OwnCommand::New(args) => new::new(args),
        OwnCommand::Repl(args) => repl::repl(args),
        OwnCommand::Gradbench(args) => gradbench::serve(args),
        OwnCommand::Completions { shell } => completions(*shell),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<Status, Stop> {
    // `generate` panics when it cannot write, and a pipe may be closed; writing to memory always succeeds.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command_line::command(), "eddy", &mut script);
    let mut answers = Answers::to_stdout();
    answers.write(&String::from_utf8_lossy(&script))?;
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}
