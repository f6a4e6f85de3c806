//! The arguments of `run` and `trace`: how a program is evaluated.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use eddy_language::{Command as Evaluates, Language, OptionName, Options};
use eddy_syntax::suggest::nearest;

use super::{Program, Reporting, bytes, known_options, named_constant, streams, threads};
use crate::languages::{self, LANGUAGES};
use crate::stop::{Stop, misuse};

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
    /// Let N threads compute large tensors; otherwise as many as the machine has
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
    /// Run loops forwards again, from registers that are put aside every √W cycles, rather than keep what they compute
    #[arg(long, value_name = "HOW", value_parser = ["sqrt"], requires = "node")]
    checkpoint: Option<String>,
    /// Give the parameters of the node the values of this file, which `eddy train` wrote
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "node")]
    pub params: Option<PathBuf>,
    /// Numbers have single precision
    #[arg(long, conflicts_with = "f64", requires = "node")]
    f32: bool,
    /// Numbers have double precision, which is the default
    #[arg(long, requires = "node")]
    f64: bool,
    /// Do not compare the first cycles of compiled code with the simulator
    #[arg(long, requires = "node")]
    no_shadow: bool,
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
            equations: None,
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
            checkpoints: self.checkpoint.is_some(),
            memory_report: false,
            svg: self.svg.is_some(),
            arrows: self.arrows,
            shapes: Vec::new(),
            dense: false,
            finite: false,
            stream: false,
            keep: false,
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
            no_shadow: self.no_shadow,
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
            (self.checkpoint.is_some(), OptionName::Checkpoint),
            (self.svg.is_some(), OptionName::Svg),
            (self.arrows, OptionName::Arrows),
            (self.params.is_some(), OptionName::Params),
            (self.f32 || self.f64, OptionName::Precision),
            (self.no_shadow, OptionName::NoShadow),
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
pub(super) fn shown_for_trace(argument: clap::Arg) -> clap::Arg {
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

fn engine_help() -> String {
    format!("The evaluator; the first is the default [{}]", languages::engines())
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use expect_test::expect;

    use super::super::{Cli, Command};
    use super::*;

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
