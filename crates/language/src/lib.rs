//! What a language offers to the command line, and the only thing the command line knows about it.
//!
//! A language implements [`Language`]; `eddy` lists the languages in one place. Answers are written to a
//! [`std::fmt::Write`], so that a language does no input or output itself and a long trace need not fit in
//! memory; what it has to say about the program comes back in a [`Verdict`].

pub mod disagreement;
pub mod training;

use std::fmt::Write;
use std::io::{BufReader, Read};

use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile, Sources};
use eddy_tensor::Value;

pub use disagreement::{Comparison, Disagreement, Reproduction};
pub use training::{BatchLoss, Measured, Plan, Progress, TrainOptions, Trainer};

/// How a command ended; each has its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The command did its job and wrote its answer.
    Answered,
    /// The program or its data was refused; the diagnostics say why.
    Refused,
    /// The program was run and has no value: undefined, or out of fuel or memory.
    NoValue,
}

impl Status {
    /// 0, 1 or 3; the command line itself uses 2 for its own misuse.
    pub fn exit_code(self) -> u8 {
        match self {
            Status::Answered => 0,
            Status::Refused => 1,
            Status::NoValue => 3,
        }
    }
}

/// How a command ended and what there is to say about the program.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How it ended.
    pub status: Status,
    /// Errors and warnings, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// Counters for `--stats`: name and value.
    pub stats: Vec<(&'static str, u64)>,
}

impl Verdict {
    /// The command did its job.
    pub fn answered() -> Self {
        Verdict { status: Status::Answered, diagnostics: Vec::new(), stats: Vec::new() }
    }

    /// The program is wrong.
    pub fn refused(diagnostics: Vec<Diagnostic>) -> Self {
        debug_assert!(!diagnostics.is_empty(), "a refusal says why");
        Verdict { status: Status::Refused, diagnostics, stats: Vec::new() }
    }
}

/// What can be asked about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// What is it? Its type, for instance.
    Check,
    /// What is its value?
    Run,
    /// How does it come to its value?
    Trace,
    /// What are its equations?
    Flow,
    /// Are its derivatives right?
    Gradcheck,
    /// What is its derivative, as a program?
    Diff,
    /// How will it run?
    Plan,
    /// Does it have this meaning?
    Ask,
    /// Which meanings does it have?
    Enum,
    /// What is the same program, made simpler?
    Opt,
    /// Is this value in the meaning of its type?
    Intype,
}

impl Command {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Command::Check => "check",
            Command::Run => "run",
            Command::Trace => "trace",
            Command::Flow => "flow",
            Command::Gradcheck => "gradcheck",
            Command::Diff => "diff",
            Command::Plan => "plan",
            Command::Ask => "ask",
            Command::Enum => "enum",
            Command::Opt => "opt",
            Command::Intype => "intype",
        }
    }
}

/// The form of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// A header of names, then a line per cycle.
    Csv,
    /// One array, whose first axis is time.
    Npy,
}

/// Data that a program reads.
pub struct Data {
    /// What the file is called in messages.
    pub name: String,
    /// The input that it is for; otherwise its columns have names.
    pub input: Option<String>,
    /// Its form.
    pub format: Format,
    /// Its bytes.
    pub reader: BufReader<Box<dyn Read>>,
    /// Whether all bytes are there already, as in a regular file: reading them never waits.
    pub is_at_hand: bool,
}

/// The names of the options that only some languages understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionName {
    /// `--f32` and `--f64`.
    Precision,
    /// `--engine NAME`.
    Engine,
    /// `--fuel N`.
    Fuel,
    /// `--memory MIB`.
    Memory,
    /// `--equations N`.
    Equations,
    /// `--approx N`.
    Approx,
    /// `--literal`.
    Literal,
    /// `--rules`.
    Rules,
    /// `--node NAME`.
    Node,
    /// `--in FILE`.
    In,
    /// `--const NAME=VALUE`.
    Const,
    /// `--cycles N`.
    Cycles,
    /// `--batch N`.
    Batch,
    /// `--threads N`.
    Threads,
    /// `--seed N`.
    Seed,
    /// `--show NAME,..`.
    Show,
    /// `--chrono`.
    Chrono,
    /// `--unchecked`.
    Unchecked,
    /// `--max-window N`.
    MaxWindow,
    /// `--checkpoint HOW`.
    Checkpoint,
    /// `--memory` of `check`.
    MemoryReport,
    /// `--svg FILE`.
    Svg,
    /// `--arrows`.
    Arrows,
    /// `--params FILE`.
    Params,
    /// `--shape NAME=SHAPE`.
    Shape,
    /// `--tolerance X`.
    Tolerance,
    /// `--dense`.
    Dense,
    /// `--finite`.
    Finite,
    /// `--cps`.
    Cps,
    /// `--paper`.
    Paper,
    /// `--states`.
    States,
    /// `--stream`.
    Stream,
    /// `--coins N`.
    Coins,
    /// `--from N`.
    From,
    /// `--to N`.
    To,
    /// `--limit N`.
    Limit,
    /// `--terms`.
    Terms,
    /// `--point P`.
    Point,
    /// `--copies N`.
    Copies,
    /// `--unfold N`.
    Unfold,
    /// `--value V` or `--value-file FILE`.
    Value,
    /// `--type A`.
    Type,
    /// `--steps N`.
    Steps,
    /// `--derivation`.
    Derivation,
    /// `--tables`.
    Tables,
    /// `--size N`.
    Size,
    /// `--ints N,..`.
    Ints,
    /// `--depth N`.
    Depth,
    /// `--no-shadow`.
    NoShadow,
}

impl OptionName {
    /// As it is typed.
    pub fn flag(self) -> &'static str {
        match self {
            OptionName::Engine => "--engine",
            OptionName::Fuel => "--fuel",
            OptionName::Memory | OptionName::MemoryReport => "--memory",
            OptionName::Equations => "--equations",
            OptionName::Approx => "--approx",
            OptionName::Literal => "--literal",
            OptionName::Rules => "--rules",
            OptionName::Node => "--node",
            OptionName::In => "--in",
            OptionName::Const => "--const",
            OptionName::Cycles => "--cycles",
            OptionName::Batch => "--batch",
            OptionName::Threads => "--threads",
            OptionName::Seed => "--seed",
            OptionName::Show => "--show",
            OptionName::Chrono => "--chrono",
            OptionName::Unchecked => "--unchecked",
            OptionName::MaxWindow => "--max-window",
            OptionName::Checkpoint => "--checkpoint",
            OptionName::Svg => "--svg",
            OptionName::Arrows => "--arrows",
            OptionName::Params => "--params",
            OptionName::Shape => "--shape",
            OptionName::Tolerance => "--tolerance",
            OptionName::Dense => "--dense",
            OptionName::Finite => "--finite",
            OptionName::Cps => "--cps",
            OptionName::Paper => "--paper",
            OptionName::States => "--states",
            OptionName::Stream => "--stream",
            OptionName::Coins => "--coins",
            OptionName::Precision => "--f32",
            OptionName::From => "--from",
            OptionName::To => "--to",
            OptionName::Limit => "--limit",
            OptionName::Terms => "--terms",
            OptionName::Point => "--point",
            OptionName::Copies => "--copies",
            OptionName::Unfold => "--unfold",
            OptionName::Value => "--value",
            OptionName::Type => "--type",
            OptionName::Steps => "--steps",
            OptionName::Derivation => "--derivation",
            OptionName::Tables => "--tables",
            OptionName::Size => "--size",
            OptionName::Ints => "--ints",
            OptionName::Depth => "--depth",
            OptionName::NoShadow => "--no-shadow",
        }
    }
}

/// How a derivation is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// With values.
    Values,
    /// With types.
    Types,
}

/// The options of a command, as given; a language fills in its own defaults.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line are independent")]
pub struct Options {
    /// Which evaluator; one of [`Language::engines`].
    pub engine: Option<String>,
    /// How many calls or steps the program may make.
    pub fuel: Option<u64>,
    /// How many bytes an engine may use for the program's data.
    pub memory: Option<u64>,
    /// How many equations the program may have once its nodes are inlined.
    pub equations: Option<u64>,
    /// Replace each recursion by its n-th approximant.
    pub approx: Option<u32>,
    /// Show rules as the paper prints them, at any cost in size.
    pub literal: bool,
    /// Show each rule that is applied.
    pub rules: bool,
    /// Show pullbacks in continuation-passing style.
    pub cps: bool,
    /// Leave stuck what the paper leaves stuck.
    pub paper: bool,
    /// Show the whole state after each step.
    pub states: bool,
    /// The node to run, instead of the test benches of the file.
    pub node: Option<String>,
    /// Compile-time constants for its inputs: name and expression.
    pub constants: Vec<(String, String)>,
    /// At most so many cycles.
    pub cycles: Option<u64>,
    /// How many streams to run at once.
    pub batch: Option<usize>,
    /// How many threads compute; without it, as many as the machine has.
    pub threads: Option<usize>,
    /// The seed of random numbers.
    pub seed: Option<u64>,
    /// The streams to print, instead of the outputs.
    pub show: Vec<String>,
    /// Print a table.
    pub chrono: bool,
    /// Check neither clocks nor causality.
    pub unchecked: bool,
    /// At most so many cycles may be open at once.
    pub max_window: Option<usize>,
    /// Loops run again rather than keep what they compute.
    pub checkpoints: bool,
    /// Say how much memory the program needs.
    pub memory_report: bool,
    /// Draw pictures instead of writing lines.
    pub svg: bool,
    /// Draw which cell reads which.
    pub arrows: bool,
    /// Shapes of inputs: name and list of sizes.
    pub shapes: Vec<(String, String)>,
    /// Write derivatives at every cycle, not only where they can be different from zero.
    pub dense: bool,
    /// Derivatives from beyond the end of the trace are zero, not unknown.
    pub finite: bool,
    /// The data come without an end: memory must not grow with them.
    pub stream: bool,
    /// Keep what takes long to compute again.
    pub keep: bool,
    /// Answer with an object for scripts, in a command that has one of its own.
    pub json: bool,
    /// How far a derivative may be from finite differences.
    pub tolerance: Option<f64>,
    /// How many coins a path may flip.
    pub coins: Option<u64>,
    /// The first step to show.
    pub from: Option<u64>,
    /// The last step to show.
    pub to: Option<u64>,
    /// How many steps to show at most.
    pub limit: Option<u64>,
    /// Show the term of each step.
    pub terms: bool,
    /// The point that is asked about.
    pub point: Option<String>,
    /// How often an argument may be used, where that must be guessed.
    pub copies: Option<u32>,
    /// How often a recursion may be unfolded.
    pub unfold: Option<u32>,
    /// Numbers have single precision.
    pub single: bool,
    /// The first cycles of compiled code are not compared with the simulator.
    pub no_shadow: bool,
    /// The value that is asked about: what it is called in messages, and its text.
    pub value: Option<(String, String)>,
    /// The intersection type that is asked about.
    pub ty: Option<String>,
    /// How many steps all branches of a search may make together.
    pub steps: Option<u64>,
    /// Show why the answer is yes.
    pub derivation: Option<Derivation>,
    /// Show which part of each function was needed.
    pub tables: bool,
    /// The largest size of the values that are listed.
    pub size: Option<u32>,
    /// The integers that inputs are made of.
    pub ints: Option<Vec<String>>,
    /// How deep functions are inlined.
    pub depth: Option<u32>,
    /// Values of parameters, by their names, and the file that they are from.
    pub parameters: Option<(String, Vec<(String, Value)>)>,
    /// How wide a table may be; without it, as wide as it gets.
    pub width: Option<usize>,
}

/// A program in another language.
#[derive(Clone, Debug)]
pub struct Built {
    /// What it is called.
    pub node: String,
    /// Its files.
    pub files: Vec<File>,
    /// How large it is.
    pub report: String,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// A file that was written by Eddy.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether people edit it: then it is written once.
    pub is_edited: bool,
}

/// A place for answers.
pub trait Sink: Write {
    /// What was written should reach its reader now: the next line may be long in coming.
    fn flush(&mut self) {}

    /// A remark for whoever wonders why there is no answer yet; it is not part of the answer.
    fn remark(&mut self, _text: &str) {}

    /// A remark on something that took time, for a person who watches.
    fn progress(&mut self, _text: &str) {}

    /// Two engines gave different results: the user is told at once, and gets the files that show it again.
    fn disagreement(&mut self, _sources: &Sources, _found: Disagreement) {}
}

impl Sink for String {}

/// A place for answers, as a language gets it.
pub type Out<'a> = &'a mut dyn Sink;

/// One language of Eddy.
///
/// Methods that write return `Err` only when `out` does (a closed pipe); the command line then stops quietly.
pub trait Language: Sync {
    /// The name for `--lang`.
    fn name(&self) -> &'static str;
    /// The file extensions, without the dot.
    fn extensions(&self) -> &'static [&'static str];
    /// The evaluators for `--engine`; the first is the default.
    fn engines(&self) -> &'static [&'static str];
    /// The options that a command of this language understands; none if it does not know the command.
    fn options(&self, command: Command) -> Option<&'static [OptionName]>;
    /// The pages of its diagnostics, in the order of their codes.
    fn pages(&self) -> &'static [Page];
    /// The code under which a file that cannot be read is reported.
    fn unreadable(&self) -> Code;

    /// Answers a question about a program: writes the answer, and returns how it went.
    fn answer(
        &self,
        command: Command,
        sources: &mut Sources,
        options: &Options,
        data: Vec<Data>,
        out: Out<'_>,
    ) -> Result<Verdict, std::fmt::Error>;
    /// A node of the program, ready to be trained on data, with other data to validate it; none if this language does not learn.
    fn trainer(
        &self,
        _sources: &mut Sources,
        _options: &TrainOptions,
        _data: Vec<Data>,
        _validation: Vec<Data>,
    ) -> Option<Result<Box<dyn Trainer>, Vec<Diagnostic>>> {
        None
    }
    /// A node of the program as C; none if this language is not compiled.
    fn build(&self, _sources: &mut Sources, _options: &Options) -> Option<Result<Built, Vec<Diagnostic>>> {
        None
    }
    /// The counters of `--stats` as a person reads them.
    fn show_stats(&self, stats: &[(&'static str, u64)]) -> String {
        stats.iter().fold(String::new(), |text, (name, value)| text + &format!("{name}: {value}\n"))
    }
    /// The same program in the one format, or why it cannot be read.
    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>>;
}
