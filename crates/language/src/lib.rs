//! What a language offers to the command line, and the only thing the command line knows about it.
//!
//! A language implements [`Language`]; `eddy` lists the languages in one place. Answers are written to a
//! [`std::fmt::Write`], so that a language does no input or output itself and a long trace need not fit in
//! memory; what it has to say about the program comes back in a [`Verdict`].

use std::fmt::Write;

use eddy_syntax::explain::Page;
use eddy_syntax::{Code, Diagnostic, SourceFile};

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

/// A command that evaluates a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// [`Language::run`].
    Run,
    /// [`Language::trace`].
    Trace,
}

impl Command {
    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Command::Run => "run",
            Command::Trace => "trace",
        }
    }
}

/// The names of the options that only some languages understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionName {
    /// `--engine NAME`.
    Engine,
    /// `--fuel N`.
    Fuel,
    /// `--memory MIB`.
    Memory,
    /// `--approx N`.
    Approx,
    /// `--literal`.
    Literal,
    /// `--rules`.
    Rules,
}

impl OptionName {
    /// As it is typed.
    pub fn flag(self) -> &'static str {
        match self {
            OptionName::Engine => "--engine",
            OptionName::Fuel => "--fuel",
            OptionName::Memory => "--memory",
            OptionName::Approx => "--approx",
            OptionName::Literal => "--literal",
            OptionName::Rules => "--rules",
        }
    }
}

/// The options of `run` and `trace`, as given; a language fills in its own defaults.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which evaluator; one of [`Language::engines`].
    pub engine: Option<String>,
    /// How many calls or steps the program may make.
    pub fuel: Option<u64>,
    /// How many bytes an engine may use for the program's data.
    pub memory: Option<u64>,
    /// Replace each recursion by its n-th approximant.
    pub approx: Option<u32>,
    /// Show rules as the paper prints them, at any cost in size.
    pub literal: bool,
    /// Show each rule that is applied.
    pub rules: bool,
}

/// A place for answers.
pub type Out<'a> = &'a mut dyn Write;

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
    /// The options that a command of this language understands.
    fn options(&self, command: Command) -> &'static [OptionName];
    /// The pages of its diagnostics, in the order of their codes.
    fn pages(&self) -> &'static [Page];
    /// The code under which a file that cannot be read is reported.
    fn unreadable(&self) -> Code;

    /// Checks a program and writes what it is, its type for instance.
    fn check(&self, file: &SourceFile, out: Out<'_>) -> Result<Verdict, std::fmt::Error>;
    /// Runs a program and writes its value.
    fn run(&self, file: &SourceFile, options: &Options, out: Out<'_>) -> Result<Verdict, std::fmt::Error>;
    /// Runs a program and writes how it came to its value.
    fn trace(&self, file: &SourceFile, options: &Options, out: Out<'_>) -> Result<Verdict, std::fmt::Error>;
    /// The same program in the one format, or why it cannot be read.
    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>>;
}
