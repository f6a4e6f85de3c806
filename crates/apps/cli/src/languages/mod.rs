//! The languages: their names, the commands that they answer, and the choice of a language for a file.
//!
//! * [`reactive`], [`rd`], [`pullback`], [`coherent`], [`tables`]: for each language the arguments of its
//!   commands, the request that they make, and the answer as text and as JSON.
//!
//! [`LANGUAGES`] is the one list: a new language is a dependency of this crate, a file here and a line in it.
//! Help, completions, `explain` and all messages read it.

mod coherent;
mod pullback;
mod rd;
pub mod reactive;
mod tables;

use std::path::Path;

use clap::{ArgMatches, Args};
use eddy_syntax::suggest::nearest;
use eddy_syntax::{Code, Diagnostic, SourceFile};

use crate::commands::Command;
use crate::session::Session;
use crate::status::Status;
use crate::stop::Stop;

/// Every language, in the order of the help.
pub const LANGUAGES: &[&dyn Language] = &[
    &reactive::Reactive,
    &rd::Rd,
    &pullback::Pullback,
    &coherent::Coherent,
    &tables::LAM,
    &tables::SYSF,
    &tables::REF,
];

/// One language of Eddy, as the command line sees it.
pub trait Language: Send + Sync {
    /// The name for `--lang`.
    fn name(&self) -> &'static str;
    /// The file extensions, without the dot.
    fn extensions(&self) -> &'static [&'static str];
    /// The evaluators for `--engine`; the first is the default.
    fn engines(&self) -> Vec<&'static str>;
    /// The codes of its diagnostics, in order.
    fn codes(&self) -> Vec<Code>;
    /// The code for files that cannot be read.
    fn unreadable(&self) -> Code;
    /// The commands that the language answers.
    fn offers(&self) -> Vec<Offer>;
    /// The program in the one format, or the errors that prevent parsing.
    fn format(&self, file: &SourceFile) -> Result<String, Vec<Diagnostic>>;
    /// The counters of `--stats` as text.
    fn show_stats(&self, stats: &[(&'static str, u64)]) -> String {
        stats.iter().fold(String::new(), |text, (name, value)| text + &format!("{name}: {value}\n"))
    }
}

/// A command that a language answers: the arguments that the language understands, and the function that
/// answers.
pub struct Offer {
    pub command: Command,
    augment: fn(clap::Command) -> clap::Command,
    read: Box<Read>,
}

/// Reads the arguments of one language from the merged arguments of all.
type Read = dyn Fn(&ArgMatches) -> Result<Answer, clap::Error>;

/// A command with parsed arguments, ready to be answered.
pub type Answer = Box<dyn FnOnce(&Session) -> Result<Status, Stop>>;

impl Offer {
    /// An offer whose arguments are `A` and whose answer is `answer`.
    fn new<A: Args + 'static>(
        command: Command,
        answer: impl Fn(A, &Session) -> Result<Status, Stop> + Copy + 'static,
    ) -> Offer {
        let read = move |matches: &ArgMatches| {
            let args = A::from_arg_matches(matches)?;
            Ok(Box::new(move |session: &Session| answer(args, session)) as Answer)
        };
        Offer { command, augment: A::augment_args, read: Box::new(read) }
    }

    /// The arguments that the language understands in this command.
    pub fn arguments(&self) -> Vec<clap::Arg> {
        let command = (self.augment)(clap::Command::new(self.command.name()));
        command.get_arguments().cloned().collect()
    }

    /// Reads the arguments from those of all languages.
    pub fn read(&self, matches: &ArgMatches) -> Result<Answer, clap::Error> {
        (self.read)(matches)
    }
}

/// A command of a language without arguments of its own.
#[derive(Args)]
struct NoArgs {}

/// The language with this name.
pub fn named(name: &str) -> Option<&'static dyn Language> {
    LANGUAGES.iter().copied().find(|language| language.name() == name)
}

/// The language of a file by its extension; otherwise an error message for the user.
pub fn of_file(file: &Path) -> Result<&'static dyn Language, String> {
    let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
    let has_extension = |language: &&&dyn Language| language.extensions().contains(&&*extension);
    if let Some(language) = LANGUAGES.iter().find(has_extension) {
        return Ok(*language);
    }
    let known = LANGUAGES.iter().flat_map(|language| language.extensions()).copied();
    let tip = match nearest(&extension, known) {
        Some(meant) => format!("did you mean `{}`?", file.with_extension(meant).display()),
        None => "name the language with `--lang NAME`".to_owned(),
    };
    let what = if extension.is_empty() {
        format!("cannot determine the language of `{}`: it has no extension", file.display())
    } else {
        format!(
            "cannot determine the language of `{}`: no language has the extension `.{extension}`",
            file.display()
        )
    };
    Err(format!("{what}\n\n  languages: {}\n  tip: {tip}", overview()))
}

/// The message that asks for the language of standard input, which has no extension.
pub fn of_standard_input() -> String {
    format!(
        "standard input has no extension: name its language with `--lang NAME`\n\n  languages: {}",
        overview()
    )
}

/// Every language with its extensions, such as `rd (.rd)`.
pub fn overview() -> String {
    list(LANGUAGES.iter().map(|language| {
        let extensions = list(language.extensions().iter().map(|extension| format!(".{extension}")));
        format!("{} ({extensions})", language.name())
    }))
}

/// Every language with its engines, such as `rd: tape, reference`.
pub fn engines() -> String {
    let of = |language: &&dyn Language| format!("{}: {}", language.name(), language.engines().join(", "));
    LANGUAGES.iter().map(of).collect::<Vec<_>>().join("; ")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explain::families;

    #[test]
    fn a_file_is_recognised_by_its_extension() {
        assert_eq!(of_file(Path::new("a.b/model.rd")).map(Language::name), Ok("rd"));
    }

    #[test]
    fn a_misspelt_extension_is_corrected() {
        let message =
            of_file(Path::new("dir/model.RD")).map(Language::name).expect_err("upper case is unknown");
        assert!(message.contains("did you mean `dir/model.rd`?"), "{message}");
    }

    #[test]
    fn no_two_languages_share_a_name_or_an_extension_and_no_two_families_a_code() {
        let names = LANGUAGES.iter().map(|language| format!("--lang {}", language.name()));
        let extensions = LANGUAGES.iter().flat_map(|language| language.extensions()).map(|e| format!(".{e}"));
        let codes = families().flat_map(|family| family[0].codes()).map(|code| code.name().to_owned());
        let all: Vec<String> = names.chain(extensions).chain(codes).collect();
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }

    #[test]
    fn every_language_has_a_page_for_files_that_cannot_be_read() {
        for language in LANGUAGES {
            assert!(language.codes().contains(&language.unreadable()), "{}", language.name());
        }
    }
}
