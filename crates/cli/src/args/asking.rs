//! The arguments of the commands that ask about the meaning of a program.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint, value_parser};
use eddy_language::{Command as Evaluates, Derivation, Language, OptionName, Options};

use super::{Program, Reporting, bytes, known_options};
use crate::stop::{Stop, misuse};

#[derive(Args)]
pub struct AskArgs {
    #[command(flatten)]
    pub program: Program,
    /// The point of the meaning, such as `3`, `01:3` for a leaf, or `[0, 0] -> 1` for a function
    #[arg(long, value_name = "POINT", allow_hyphen_values = true)]
    point: Option<String>,
    #[command(flatten)]
    pub value: ValueArgs,
    /// The intersection type of the meaning, such as `(1 -> 2) & (3 -> 4)`
    #[arg(long = "type", value_name = "TYPE", allow_hyphen_values = true, conflicts_with_all = ["point", "value", "value_file"])]
    ty: Option<String>,
    /// Show why the answer is yes, with values or with types
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "values")]
    derivation: Option<Form>,
    /// Show which part of each function was needed
    #[arg(long)]
    tables: bool,
    /// Where the number of uses of an argument must be guessed, try up to this many
    #[arg(long, value_name = "N")]
    copies: Option<u32>,
    /// Unfold each recursion at most this often
    #[arg(long, value_name = "N")]
    unfold: Option<u32>,
    #[command(flatten)]
    budget: Budget,
    #[command(flatten)]
    pub reporting: Reporting,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
}

#[derive(Args)]
pub struct EnumArgs {
    #[command(flatten)]
    pub program: Program,
    /// List the values up to this size
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=40))]
    size: Option<u32>,
    /// Make inputs of these integers
    #[arg(long, value_name = "N", value_delimiter = ',', allow_hyphen_values = true)]
    ints: Option<Vec<String>>,
    #[command(flatten)]
    budget: Budget,
    #[command(flatten)]
    pub reporting: Reporting,
    /// Print counters on standard error
    #[arg(long)]
    pub stats: bool,
}

#[derive(Args)]
pub struct OptArgs {
    #[command(flatten)]
    pub program: Program,
    /// Inline at most this deep
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct IntypeArgs {
    #[command(flatten)]
    pub program: Program,
    #[command(flatten)]
    pub value: ValueArgs,
    /// Stop after this many membership tests
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    #[command(flatten)]
    pub reporting: Reporting,
}

/// The value that is asked about.
#[derive(Args)]
pub struct ValueArgs {
    /// The value, such as `3` or `{1 -> 2}`
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true, conflicts_with = "value_file")]
    value: Option<String>,
    /// Read the value from this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub value_file: Option<PathBuf>,
}

/// What a search may use.
#[derive(Args)]
struct Budget {
    /// Stop after this many steps of the search, or this many applications on a branch
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,
    /// Stop after this many applications on all branches together
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Stop when a branch takes more than this many mebibytes
    #[arg(long, value_name = "MIB", value_parser = value_parser!(u64).range(..=u64::MAX >> 20))]
    memory: Option<u64>,
}

/// How a derivation is written.
#[derive(Clone, Copy, ValueEnum)]
enum Form {
    Values,
    Types,
}

impl ValueArgs {
    /// The value that was typed, or what the file holds.
    fn given(&self, read: Option<String>) -> Option<(String, String)> {
        let typed = self.value.clone().map(|value| ("--value".to_string(), value));
        typed.or_else(|| Some((self.value_file.as_ref()?.display().to_string(), read?)))
    }

    fn is_given(&self) -> bool {
        self.value.is_some() || self.value_file.is_some()
    }
}

impl AskArgs {
    /// The options as the language takes them; `read` is what the file of the value holds.
    pub fn options(&self, language: &dyn Language, read: Option<String>) -> Result<Options, Stop> {
        let given = [
            (self.point.is_some(), OptionName::Point),
            (self.value.is_given(), OptionName::Value),
            (self.ty.is_some(), OptionName::Type),
            (self.derivation.is_some(), OptionName::Derivation),
            (self.tables, OptionName::Tables),
            (self.copies.is_some(), OptionName::Copies),
            (self.unfold.is_some(), OptionName::Unfold),
        ];
        let known = check(language, Evaluates::Ask, &[&given, &self.budget.given()])?;
        let asks = [OptionName::Point, OptionName::Value, OptionName::Type];
        if !given.iter().any(|(given, name)| *given && asks.contains(name)) {
            let flags: Vec<_> =
                asks.into_iter().filter(|ask| known.contains(ask)).map(OptionName::flag).collect();
            let message = format!("say what to ask for: {}", flags.join(" or "));
            return Err(misuse(Evaluates::Ask.name(), &message));
        }
        let derivation = self.derivation.map(|form| match form {
            Form::Values => Derivation::Values,
            Form::Types => Derivation::Types,
        });
        Ok(Options {
            point: self.point.clone(),
            value: self.value.given(read),
            ty: self.ty.clone(),
            derivation,
            tables: self.tables,
            copies: self.copies,
            unfold: self.unfold,
            ..self.budget.options()
        })
    }
}

impl EnumArgs {
    /// The options as the language takes them.
    pub fn options(&self, language: &dyn Language) -> Result<Options, Stop> {
        check(language, Evaluates::Enum, &[&self.budget.given()])?;
        Ok(Options { size: self.size, ints: self.ints.clone(), ..self.budget.options() })
    }
}

impl OptArgs {
    /// The options as the language takes them.
    pub fn options(&self) -> Options {
        Options { depth: self.depth, ..Options::default() }
    }
}

impl IntypeArgs {
    /// The options as the language takes them; `read` is what the file of the value holds.
    pub fn options(&self, read: Option<String>) -> Result<Options, Stop> {
        if !self.value.is_given() {
            return Err(misuse(Evaluates::Intype.name(), "say what to ask for: --value"));
        }
        Ok(Options { value: self.value.given(read), fuel: self.fuel, ..Options::default() })
    }
}

impl Budget {
    fn given(&self) -> [(bool, OptionName); 3] {
        [
            (self.fuel.is_some(), OptionName::Fuel),
            (self.steps.is_some(), OptionName::Steps),
            (self.memory.is_some(), OptionName::Memory),
        ]
    }

    fn options(&self) -> Options {
        Options { fuel: self.fuel, steps: self.steps, memory: self.memory.map(bytes), ..Options::default() }
    }
}

/// The options that a command of the language understands, if those that were given are among them.
fn check(
    language: &dyn Language,
    command: Evaluates,
    given: &[&[(bool, OptionName)]],
) -> Result<&'static [OptionName], Stop> {
    let options = language.options(command).unwrap_or_default();
    let whose = format!("`{}` of the language {}", command.name(), language.name());
    let given = given.iter().flat_map(|list| list.iter()).filter_map(|(given, name)| given.then_some(*name));
    known_options(given, &whose, options).map_err(|message| misuse(command.name(), &message))?;
    Ok(options)
}
