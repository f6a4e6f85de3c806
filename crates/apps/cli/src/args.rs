//! Arguments that several commands or languages share, and how their values are read.
//!
//! Languages that share an option share its struct here, so that one parser, one value type and one help text
//! serve all of them; `command_line` puts the arguments of all languages into one command.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint, value_parser};
use eddy_syntax::suggest::UnknownName;

use crate::command_line::misuse;
use crate::languages::{self, LANGUAGES, Language};
use crate::stop::Stop;

/// The program that a command is about.
#[derive(Args)]
pub struct Program {
    /// The program; `-` reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    #[command(flatten)]
    pub lang: Lang,
}

/// The option that names the language.
#[derive(Args)]
pub struct Lang {
    /// The language of the program, if not the one of its extension
    #[arg(long, value_name = "NAME", value_parser = language_names())]
    lang: Option<&'static dyn Language>,
}

impl Lang {
    /// The language of `file`; error messages show the usage of `command`.
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

fn language_names() -> impl TypedValueParser<Value = &'static dyn Language> {
    let names = LANGUAGES.iter().map(|language| language.name());
    PossibleValuesParser::new(names)
        .map(|name| languages::named(&name).expect("only their names are possible"))
}

/// Whether the user typed `-` in place of a file.
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

/// The option that names the file of the answer.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Write the answer to this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
}

/// Whether counters are printed.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct Stats {
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
}

/// The evaluator of `run`, by its name in the language.
#[derive(Args)]
pub struct EngineName {
    #[arg(long, value_name = "NAME", help = engine_help())]
    pub engine: Option<String>,
}

impl EngineName {
    /// The engine with that name, or the default one.
    pub fn read<E: Default + FromStr<Err = UnknownName>>(&self, language: &dyn Language) -> Result<E, Stop> {
        match &self.engine {
            None => Ok(E::default()),
            Some(name) => name.parse().map_err(|unknown| unknown_engine(&unknown, language)),
        }
    }
}

/// A message about an engine that the language does not have.
pub fn unknown_engine(unknown: &UnknownName, language: &dyn Language) -> Stop {
    let tip = match unknown.nearest() {
        Some(meant) => format!("\n  tip: did you mean `{meant}`?"),
        None => String::new(),
    };
    let (language, engine, known) = (language.name(), &unknown.name, unknown.known.join(", "));
    misuse("run", &format!("the language {language} has no engine `{engine}`\n\n  its engines: {known}{tip}"))
}

fn engine_help() -> String {
    format!("The evaluator; the first is the default [{}]", languages::engines())
}

/// The limit of calls or steps of a run.
#[derive(Args)]
pub struct Fuel {
    /// Stop after this many calls or steps
    #[arg(long, value_name = "N")]
    pub fuel: Option<u64>,
}

/// The limit of memory of a run.
#[derive(Args)]
pub struct MemoryLimit {
    /// Stop when the program's data take more than this many mebibytes (bytes for functions in `.eddy`
    /// files); a unit may follow: 64MiB, 1000B
    #[arg(long, value_name = "MIB", value_parser = amount)]
    memory: Option<Amount>,
}

/// An amount of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    /// A number without a unit.
    Plain(u64),
    Bytes(u64),
}

impl MemoryLimit {
    /// The limit in bytes, if one is given; a number without a unit is in mebibytes.
    pub fn bytes(&self) -> Option<u64> {
        self.memory.map(|amount| match amount {
            Amount::Plain(n) => bytes(n),
            Amount::Bytes(n) => n,
        })
    }

    /// The limit for functions in bytes, if one is given; a number without a unit is in bytes.
    pub fn bytes_of_functions(&self) -> Option<u64> {
        self.memory.map(|(Amount::Plain(n) | Amount::Bytes(n))| n)
    }
}

/// Reads an amount of memory whose number of bytes fits a `u64`.
fn amount(text: &str) -> Result<Amount, String> {
    const UNITS: [(&str, u32); 4] = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];
    let wrong = || format!("it is a whole number up to {}, or one with a unit: 64MiB", u64::MAX >> 20);
    let shift = |n: u64, by: u32| n.checked_shl(by).filter(|shifted| shifted >> by == n);
    for (unit, by) in UNITS {
        if let Some(number) = text.strip_suffix(unit) {
            let n = number.trim_end().parse().ok().and_then(|n| shift(n, by));
            return n.map(Amount::Bytes).ok_or_else(wrong);
        }
    }
    let n: u64 = text.parse().map_err(|_| wrong())?;
    shift(n, 20).map(|_| Amount::Plain(n)).ok_or_else(wrong)
}

/// The limits of a search.
#[derive(Args)]
pub struct SearchLimits {
    /// Stop after this many steps of the search, or this many applications on a branch
    #[arg(long, value_name = "N")]
    pub fuel: Option<u64>,
    /// Stop when a branch takes more than this many mebibytes
    #[arg(long, value_name = "MIB", value_parser = mebibytes())]
    memory: Option<u64>,
}

impl SearchLimits {
    /// The limit of memory in bytes, if one is given.
    pub fn bytes(&self) -> Option<u64> {
        self.memory.map(bytes)
    }
}

/// Reads a number of mebibytes whose number of bytes fits a `u64`.
pub fn mebibytes() -> impl TypedValueParser<Value = u64> {
    value_parser!(u64).range(..=u64::MAX >> 20)
}

pub fn bytes(mebibytes: u64) -> u64 {
    mebibytes << 20
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn an_engine_is_one_of_the_language() {
        let rd = languages::named("rd").expect("it is a language");
        let read =
            |name: &str| EngineName { engine: Some(name.to_string()) }.read::<eddy_rd::engine::Engine>(rd);
        assert!(matches!(read("reference"), Ok(eddy_rd::engine::Engine::Reference)));
        let Err(Stop::Misuse(unknown)) = read("tap") else { panic!("it has another name") };
        expect![[r"
            error: the language rd has no engine `tap`

              its engines: tape, reference, transform
              tip: did you mean `tape`?

            Usage: eddy run [OPTIONS] <FILE>

            For more information, try '--help'.
        "]]
        .assert_eq(&unknown.to_string());
    }

    #[test]
    fn memory_is_given_in_mebibytes_and_for_functions_in_bytes() {
        let limits = |text: &str| {
            let memory = MemoryLimit { memory: Some(amount(text).expect("it is an amount")) };
            (memory.bytes(), memory.bytes_of_functions())
        };
        assert_eq!(limits("3"), (Some(3 * 1024 * 1024), Some(3)));
        assert_eq!(limits("2KiB"), (Some(2048), Some(2048)));
        assert_eq!(limits("100B"), (Some(100), Some(100)));
        assert!(amount("3 MB").is_err() && amount("-1").is_err() && amount(&u64::MAX.to_string()).is_err());
    }
}
