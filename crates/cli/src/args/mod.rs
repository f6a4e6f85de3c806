//! What can be typed: commands, options and their help.
//!
//! `clap` derives the parser from these types, so the help, the completions and the parser cannot disagree.
//! What depends on the language of the file, which engines and options it has, cannot be known before the
//! file is named; [`Evaluation::options`] checks it afterwards, with messages in the same form.

mod asking;
mod building;
mod learning;
mod planning;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueHint, value_parser};
use eddy_language::{Command as Evaluates, Language, OptionName, Options};
use eddy_syntax::suggest::nearest;

use crate::languages::{self, LANGUAGES};
use crate::stop::{Stop, misuse};
pub use asking::{AskArgs, EnumArgs, IntypeArgs, OptArgs, ValueArgs};
pub use building::{BuildArgs, Target};
pub use learning::{DiffArgs, GradcheckArgs, TrainArgs};
pub use planning::PlanArgs;

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
pub struct RunArgs {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub evaluation: Evaluation,
    #[command(flatten)]
    pub reporting: Reporting,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
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

/// How a program is evaluated. Each language understands some of these.
#[derive(Args)]
#[command(next_help_heading = "Evaluation (each language and command understands some of these)")]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line are independent")]
pub struct Evaluation {
    #[arg(long, value_name = "NAME", help = engine_help())]
    engine: Option<String>,
    /// Stop after this many calls or steps
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Stop when the program's data take more than this many mebibytes
    #[arg(long, value_name = "MIB", value_parser = value_parser!(u64).range(..=u64::MAX >> 20))]
    memory: Option<u64>,
    /// Flip at most this many coins on each path
    #[arg(long, value_name = "N")]
    coins: Option<u64>,
    /// Show the steps from this one on
    #[arg(long, value_name = "N")]
    from: Option<u64>,
    /// Show the steps up to this one
    #[arg(long, value_name = "N")]
    to: Option<u64>,
    /// Show at most this many steps
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Show the term of each step
    #[arg(long)]
    terms: bool,
    /// Replace each recursion by its N-th approximant
    #[arg(long, value_name = "N")]
    approx: Option<u32>,
    /// Show rules as the paper prints them, at any cost in size
    #[arg(long)]
    literal: bool,
    /// Show each rule that is applied
    #[arg(long)]
    rules: bool,
    /// Show pullbacks in continuation-passing style
    #[arg(long)]
    cps: bool,
    /// Leave stuck what the paper leaves stuck
    #[arg(long)]
    paper: bool,
    /// Show the whole state after each step
    #[arg(long)]
    states: bool,
    /// Run this node, instead of the test benches of the file
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Read the inputs of the node: .jsonl, .csv or .npy, `-` for JSON lines on standard input; NAME=FILE for one input
    #[arg(long = "in", value_name = "[NAME=]FILE", value_hint = ValueHint::FilePath, requires = "node")]
    pub data: Vec<String>,
    /// Write the answer to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Give an input of the node a compile-time constant
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = named_constant, requires = "node")]
    constants: Vec<(String, String)>,
    /// Run this many cycles
    #[arg(long, value_name = "N", requires = "node")]
    cycles: Option<u64>,
    /// Run N independent streams in lock-step; `--in` then names N files, one for each
    #[arg(long, value_name = "N", value_parser = streams, requires = "node")]
    batch: Option<usize>,
    /// Let N threads compute large products; otherwise as many as the machine has
    #[arg(long, value_name = "N", value_parser = threads, requires = "node")]
    threads: Option<usize>,
    /// The seed of random numbers
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print these streams, instead of the outputs
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "node")]
    show: Vec<String>,
    /// Print a chronogram
    #[arg(long, requires = "node")]
    chrono: bool,
    /// Check neither clocks nor causality
    #[arg(long, requires = "node")]
    unchecked: bool,
    /// Stop when more than N cycles are open at once
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    max_window: Option<u64>,
    /// Give the parameters of the node the values of this file, which `eddy train` wrote
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "node")]
    pub params: Option<PathBuf>,
    /// Numbers have single precision
    #[arg(long, conflicts_with = "f64", requires = "node")]
    f32: bool,
    /// Numbers have double precision, which is the default
    #[arg(long, requires = "node")]
    f64: bool,
    /// Draw chronograms into this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out")]
    pub svg: Option<PathBuf>,
    /// Draw which cell reads which across time
    #[arg(long, requires = "svg")]
    arrows: bool,
}

impl Evaluation {
    /// The options as the language takes them, or a message about the first that it does not understand.
    pub fn options(&self, language: &dyn Language, command: Evaluates) -> Result<Options, Stop> {
        let (name, refuse) = (language.name(), |message: String| misuse(command.name(), &message));
        let whose = format!("`{}` of the language {name}", command.name());
        let options = language.options(command).unwrap_or_default();
        known_options(self.given(), &whose, options).map_err(refuse)?;
        if let Some(engine) = &self.engine {
            known_engine(engine, name, language.engines()).map_err(refuse)?;
        }
        Ok(Options {
            engine: self.engine.clone(),
            fuel: self.fuel,
            memory: self.memory.map(bytes),
            approx: self.approx,
            literal: self.literal,
            rules: self.rules,
            cps: self.cps,
            paper: self.paper,
            states: self.states,
            node: self.node.clone(),
            constants: self.constants.clone(),
            cycles: self.cycles,
            batch: self.batch,
            threads: self.threads,
            seed: self.seed,
            show: self.show.clone(),
            chrono: self.chrono,
            unchecked: self.unchecked,
            max_window: self.max_window.map(|cycles| usize::try_from(cycles).unwrap_or(usize::MAX)),
            memory_report: false,
            svg: self.svg.is_some(),
            arrows: self.arrows,
            shapes: Vec::new(),
            dense: false,
            finite: false,
            stream: false,
            json: false,
            tolerance: None,
            coins: self.coins,
            from: self.from,
            to: self.to,
            limit: self.limit,
            terms: self.terms,
            point: None,
            copies: None,
            unfold: None,
            single: self.f32,
            value: None,
            ty: None,
            steps: None,
            derivation: None,
            tables: false,
            size: None,
            ints: None,
            depth: None,
            parameters: None,
            width: terminal_width(),
        })
    }

    fn given(&self) -> impl Iterator<Item = OptionName> {
        [
            (self.engine.is_some(), OptionName::Engine),
            (self.fuel.is_some(), OptionName::Fuel),
            (self.memory.is_some(), OptionName::Memory),
            (self.coins.is_some(), OptionName::Coins),
            (self.from.is_some(), OptionName::From),
            (self.to.is_some(), OptionName::To),
            (self.limit.is_some(), OptionName::Limit),
            (self.terms, OptionName::Terms),
            (self.approx.is_some(), OptionName::Approx),
            (self.literal, OptionName::Literal),
            (self.rules, OptionName::Rules),
            (self.cps, OptionName::Cps),
            (self.paper, OptionName::Paper),
            (self.states, OptionName::States),
            (self.node.is_some(), OptionName::Node),
            (!self.data.is_empty(), OptionName::In),
            (!self.constants.is_empty(), OptionName::Const),
            (self.cycles.is_some(), OptionName::Cycles),
            (self.batch.is_some(), OptionName::Batch),
            (self.threads.is_some(), OptionName::Threads),
            (self.seed.is_some(), OptionName::Seed),
            (!self.show.is_empty(), OptionName::Show),
            (self.chrono, OptionName::Chrono),
            (self.unchecked, OptionName::Unchecked),
            (self.max_window.is_some(), OptionName::MaxWindow),
            (self.svg.is_some(), OptionName::Svg),
            (self.arrows, OptionName::Arrows),
            (self.params.is_some(), OptionName::Params),
            (self.f32 || self.f64, OptionName::Precision),
        ]
        .into_iter()
        .filter_map(|(given, name)| given.then_some(name))
    }
}

/// The width of the terminal that answers go to, if they go to one.
fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
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

fn known_engine(engine: &str, language: &str, engines: &[&str]) -> Result<(), String> {
    if engines.contains(&engine) {
        return Ok(());
    }
    let known = engines.join(", ");
    let tip = match nearest(engine, engines.iter().copied()) {
        Some(meant) => format!("\n  tip: did you mean `{meant}`?"),
        None => String::new(),
    };
    Err(format!("the language {language} has no engine `{engine}`\n\n  its engines: {known}{tip}"))
}

/// `run` and `trace` share their arguments; the help of `trace` shows those that it understands in some language.
fn shown_for_trace(argument: clap::Arg) -> clap::Arg {
    let is_evaluation = argument.get_help_heading().is_some_and(|heading| heading.starts_with("Evaluation"));
    let flag = format!("--{}", argument.get_long().unwrap_or_default());
    let understands = |language: &&dyn Language| {
        let options = language.options(Evaluates::Trace).unwrap_or_default();
        options.iter().any(|option| option.flag() == flag)
    };
    // The file of the answer is no business of a language.
    let is_shown = !is_evaluation || flag == "--out" || LANGUAGES.iter().any(understands);
    argument.hide(!is_shown)
}

fn language_names() -> impl TypedValueParser<Value = &'static dyn Language> {
    let names = LANGUAGES.iter().map(|language| language.name());
    PossibleValuesParser::new(names)
        .map(|name| languages::named(&name).expect("only their names are possible"))
}

fn engine_help() -> String {
    format!("The evaluator; the first is the default [{}]", languages::engines())
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
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_engine_is_one_of_the_language() {
        let check = |engine| known_engine(engine, "rd", &["tape", "reference"]);
        assert_eq!(check("reference"), Ok(()));
        expect![[r"
            the language rd has no engine `tap`

              its engines: tape, reference
              tip: did you mean `tape`?"]]
        .assert_eq(&check("tap").expect_err("it has another name"));
    }

    #[test]
    fn an_option_is_one_of_the_language() {
        let check = |flag| {
            let cli = Cli::try_parse_from(["eddy", "run", "a.rd", flag]).map(|cli| cli.command);
            let Ok(Command::Run(args)) = cli else { panic!("`run` has the option") };
            known_options(
                args.evaluation.given(),
                "`run` of the language rd",
                &[OptionName::Fuel, OptionName::Literal],
            )
        };
        assert_eq!(check("--literal"), Ok(()));
        assert_eq!(check("--fuel=3"), Ok(()));
        expect![[r"
            `run` of the language rd does not understand `--rules`

              its options: --fuel, --literal"]]
        .assert_eq(&check("--rules").expect_err("it is not in the list"));
    }

    #[test]
    fn the_help_of_trace_shows_what_it_understands() {
        let mut cli = Cli::command();
        let help = cli.find_subcommand_mut("trace").expect("it is a command").render_help().to_string();
        assert!(help.contains("--rules") && help.contains("--svg") && help.contains("--out"), "{help}");
        assert!(!help.contains("--node") && !help.contains("--seed"), "{help}");
    }

    #[test]
    fn memory_is_given_in_mebibytes() {
        let cli = Cli::try_parse_from(["eddy", "run", "a.rd", "--memory", "3"]).map(|cli| cli.command);
        let Ok(Command::Run(args)) = cli else { panic!("`run` has the option") };
        assert_eq!(args.evaluation.memory.map(bytes), Some(3 * 1024 * 1024));
    }
}
