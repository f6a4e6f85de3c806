//! What can be typed: commands, options and their help.
//!
//! `clap` derives the parser from these types, so the help, the completions and the parser cannot disagree.
//! What depends on the language of the file, which engines and options it has, cannot be known before the
//! file is named; [`Evaluation::options`] checks it afterwards, with messages in the same form.

mod asking;
mod building;
mod learning;
mod planning;
mod running;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueHint};
use eddy_language::{Language, OptionName};

use crate::languages::{self, LANGUAGES};
use crate::stop::{Stop, misuse};
pub use asking::{AskArgs, EnumArgs, IntypeArgs, OptArgs, ValueArgs};
pub use building::{BuildArgs, Target};
pub use learning::{DiffArgs, GradcheckArgs, TrainArgs};
pub use planning::PlanArgs;
use running::shown_for_trace;
pub use running::{Evaluation, RunArgs};

/// Check, run, trace and format programs that differentiate
#[derive(Parser)]
#[command(name = "eddy", version, max_term_width = 100, arg_required_else_help = true, after_help = overview())]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const RUN_EXAMPLES: &str = "\
Examples:
  eddy run descent.rd
  eddy run --engine reference --fuel 1000 descent.rd
  echo 'grad[3](x. x * x)' | eddy run --lang rd -";

const ASK_EXAMPLES: &str = "\
Examples:
  eddy ask walk.cd --point 3
  eddy ask factorial.lam --value '{3 -> 6}' --tables";

const TRAIN_EXAMPLES: &str = "\
Examples:
  eddy train line.eddy --in data.csv
  eddy train line.eddy --in data.csv --validate more.csv --epochs 100 --patience 5
  eddy train line.eddy --in data.csv --epochs 200 --run runs/line-learn --resume";
const DIFF_EXAMPLES: &str = "\
Examples:
  eddy diff pipeline.eddy --node app
  eddy diff lstm.eddy --node lstm_end --const units=5 --const sizex=3 --shape x=[3]";

const PLAN_EXAMPLES: &str = "\
Examples:
  eddy plan line.eddy
  eddy plan lstm.eddy --node train --max-window 64
  eddy plan lstm.eddy --node train --svg plan.svg";

const BUILD_EXAMPLES: &str = "\
Examples:
  eddy build filter.eddy --node filter
  eddy build lstm.eddy --node train --f32 --max-window 100 --out firmware/lstm";

const COMPLETIONS_EXAMPLE: &str = "\
Example:
  eddy completions bash > ~/.local/share/bash-completion/completions/eddy";

#[derive(Subcommand)]
pub enum Command {
    /// Check a program and print what it is, such as its type
    #[command(after_help = "Example:\n  eddy check descent.rd")]
    Check(CheckArgs),
    /// Run a program and print its value
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Run a program and print how it came to its value
    #[command(after_help = "Example:\n  eddy trace descent.rd", mut_args(shown_for_trace))]
    Trace(RunArgs),
    /// Ask whether a program has a meaning, and why
    #[command(after_help = ASK_EXAMPLES)]
    Ask(AskArgs),
    /// List the values that a program has, by size
    #[command(after_help = "Example:\n  eddy enum identity.lam --size 3")]
    Enum(EnumArgs),
    /// Fold constants and inline functions
    #[command(after_help = "Example:\n  eddy opt twice.lam --depth 4")]
    Opt(OptArgs),
    /// Ask whether a value is in the meaning of a program's type
    #[command(after_help = "Example:\n  eddy intype identity.sysf --value 'thunk(some({1 -> 1}))'")]
    Intype(IntypeArgs),
    /// Compare the derivatives of a node with finite differences
    #[command(after_help = "Example:\n  eddy gradcheck cell.eddy --node cell --const units=3 --shape x=[2]")]
    Gradcheck(GradcheckArgs),
    /// Learn the parameters of a program from data
    #[command(after_help = TRAIN_EXAMPLES)]
    Train(TrainArgs),
    /// Print the flat equations of a program
    #[command(after_help = "Example:\n  eddy flow counter.eddy")]
    Flow(FlowArgs),
    /// Print the training code of a node as a program
    #[command(after_help = DIFF_EXAMPLES)]
    Diff(DiffArgs),
    /// Say how a program will run: loops, windows, and what is kept
    #[command(after_help = PLAN_EXAMPLES)]
    Plan(PlanArgs),
    /// Write a node of a program in C
    #[command(after_help = BUILD_EXAMPLES)]
    Build(BuildArgs),
    /// Rewrite programs in the one format
    #[command(after_help = "Examples:\n  eddy fmt descent.rd\n  eddy fmt --check *.rd")]
    Fmt(FmtArgs),
    /// Explain the code of a diagnostic, or list all codes
    #[command(after_help = "Examples:\n  eddy explain\n  eddy explain RD005")]
    Explain(ExplainArgs),
    /// Print the script that completes eddy's commands in a shell
    #[command(after_help = COMPLETIONS_EXAMPLE)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub reporting: Reporting,
    /// Say for each output how far it looks ahead, and how much is kept
    #[arg(long)]
    pub memory: bool,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
}

#[derive(Args)]
pub struct FlowArgs {
    #[command(flatten)]
    pub program: Program,
    /// Print the equations of this node
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct FmtArgs {
    /// The programs to rewrite; `-` formats standard input to standard output
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub lang: Lang,
    /// Write nothing; list the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct ExplainArgs {
    /// The code, such as RD005; without it, all codes are listed
    pub code: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The program that a command is about.
#[derive(Args)]
pub struct Program {
    /// The program; `-` reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    #[command(flatten)]
    pub lang: Lang,
    /// Refuse an `.eddy` program with more than N equations once its nodes are inlined [default: 2097152]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub equations: Option<u64>,
}

/// The language, where the extension does not say it.
#[derive(Args)]
pub struct Lang {
    /// The language of the program, if not the one of its extension
    #[arg(long, value_name = "NAME", value_parser = language_names())]
    lang: Option<&'static dyn Language>,
}

impl Lang {
    /// The language of `file`; `command` is the one whose usage a message shows.
    pub fn of(&self, file: &Path, command: &str) -> Result<&'static dyn Language, Stop> {
        if let Some(language) = self.lang {
            return Ok(language);
        }
        let found = if is_standard_input(file) {
            Err(languages::of_standard_input())
        } else {
            languages::of_file(file)
        };
        found.map_err(|message| misuse(command, &message))
    }
}

/// Whether `-` was typed in place of a file.
pub fn is_standard_input(file: &Path) -> bool {
    file == Path::new("-")
}

/// How diagnostics and results are written.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Reporting {
    /// Print each diagnostic on one line
    #[arg(long, conflicts_with = "json")]
    pub short: bool,
    /// Print diagnostics and results as JSON, one object per line
    #[arg(long)]
    pub json: bool,
    /// When to colour diagnostics
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: clap::ColorChoice,
}

/// How many streams run at once.
fn streams(text: &str) -> Result<usize, String> {
    count(text, 1 << 20)
}

/// How many threads compute.
fn threads(text: &str) -> Result<usize, String> {
    count(text, 1 << 10)
}

fn count(text: &str, most: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=most).contains(&n) => Ok(n),
        _ => Err(format!("it is a whole number from 1 to {most}")),
    }
}

fn named_constant(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as `units=3`")?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

fn named_shape(text: &str) -> Result<(String, String), String> {
    let (name, shape) = text.split_once('=').ok_or("write NAME=[SIZES], such as `x=[3]`")?;
    Ok((name.trim().to_string(), shape.trim().to_string()))
}

pub fn bytes(mebibytes: u64) -> u64 {
    mebibytes << 20
}

fn known_options(
    mut given: impl Iterator<Item = OptionName>,
    whose: &str,
    options: &[OptionName],
) -> Result<(), String> {
    let Some(flag) = given.find(|option| !options.contains(option)).map(OptionName::flag) else {
        return Ok(());
    };
    let known: Vec<_> = options.iter().map(|option| option.flag()).collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    Err(format!("{whose} does not understand `{flag}`\n\n  its options: {known}"))
}

fn language_names() -> impl TypedValueParser<Value = &'static dyn Language> {
    let names = LANGUAGES.iter().map(|language| language.name());
    PossibleValuesParser::new(names)
        .map(|name| languages::named(&name).expect("only their names are possible"))
}

fn overview() -> String {
    let languages = languages::overview();
    format!(
        "Languages: {languages}\n\n\
         Exit codes: 0 answered, 1 the program was refused, 2 the command line was wrong, 3 no value\n\n\
         Example:\n  eddy run descent.rd"
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
