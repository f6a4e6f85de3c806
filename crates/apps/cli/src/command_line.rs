//! The grammar of the command line: commands, their options and their help.
//!
//! The language of a program is known only when its file is. So a command takes the options of all languages
//! that answer it. Each language declares its options with `clap` ([`Offer`]); this module merges them into
//! one command, whose help names the languages of each option. Once the language is found, options that it
//! did not declare are refused, and the rest is read into its own argument struct.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, FromArgMatches, Subcommand};

use crate::args::{Output, Program, Reporting, Stats};
use crate::commands::{Command, OwnCommand};
use crate::languages::{self, LANGUAGES, Language, Offer};
use crate::report::Form;
use crate::session::Session;
use crate::status::Status;
use crate::stop::Stop;
use crate::train;

/// The languages that answer a command, with the arguments that they understand.
fn offers(command: Command) -> Vec<(&'static dyn Language, Vec<Arg>)> {
    let offered =
        |language: &&'static dyn Language| Some((*language, offer(*language, command)?.arguments()));
    LANGUAGES.iter().filter_map(offered).collect()
}

fn offer(language: &dyn Language, command: Command) -> Option<Offer> {
    language.offers().into_iter().find(|offer| offer.command == command)
}

/// The option of `train` that names the runs to compare.
const COMPARED: &str = "compare";

/// The whole command line.
pub fn command() -> clap::Command {
    let root = clap::Command::new("eddy").subcommands(Command::ALL.map(asking));
    // `clap` would take the doc comment of a type that declares arguments as the description of the command,
    // so the description is set last.
    OwnCommand::augment_subcommands(root)
        .version(env!("CARGO_PKG_VERSION"))
        .about("Check, run, trace and format programs that differentiate")
        .max_term_width(100)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .after_help(overview())
}

/// A command with the options of all languages that answer it.
fn asking(command: Command) -> clap::Command {
    let mut whole = Program::augment_args(clap::Command::new(command.name())).args(union(&offers(command)));
    if command == Command::Train {
        // Runs are compared without a program.
        whole = whole
            .mut_arg("file", |file| file.required(false).required_unless_present(COMPARED))
            .override_usage(
                "eddy train [OPTIONS] <FILE>\n       eddy train --compare <RUN> <RUN>... [--svg <FILE>]",
            );
    }
    if command.has_output() {
        whole = Output::augment_args(whole);
    }
    whole = Reporting::augment_args(whole);
    if command.has_stats() {
        whole = Stats::augment_args(whole);
    }
    let (about, examples) = command.help();
    whole.about(about).after_help(examples)
}

/// Each option once, under a heading with the languages that understand it; options of all languages have no
/// heading and come first.
fn union(offers: &[(&'static dyn Language, Vec<Arg>)]) -> Vec<Arg> {
    let mut union: Vec<(Vec<&str>, Arg)> = Vec::new();
    for (language, arguments) in offers {
        for argument in arguments {
            match union.iter_mut().find(|(_, known)| known.get_id() == argument.get_id()) {
                Some((languages, _)) => languages.push(language.name()),
                None => union.push((vec![language.name()], argument.clone())),
            }
        }
    }
    // Options of more languages come first.
    union.sort_by_key(|(languages, _)| std::cmp::Reverse(languages.len()));
    let headed = |(place, (languages, argument)): (usize, (Vec<&str>, Arg))| {
        let argument = argument.display_order(place + 1);
        if languages.len() == offers.len() {
            argument
        } else {
            argument.help_heading(format!("Options of {}", languages.join(", ")))
        }
    };
    union.into_iter().enumerate().map(headed).collect()
}

/// A parsed command line, up to the arguments of the command.
pub enum Typed {
    Command(Command, ArgMatches),
    Own(OwnCommand),
}

/// Reads a command line, beginning with the name of the program.
pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Typed, clap::Error> {
    let mut matches = command().try_get_matches_from(line)?;
    let is_typed = |command: &Command| matches.subcommand_name() == Some(command.name());
    match Command::ALL.into_iter().find(is_typed) {
        Some(command) => {
            let (_, typed) = matches.remove_subcommand().expect("its name was found");
            Ok(Typed::Command(command, typed))
        }
        None => Ok(Typed::Own(OwnCommand::from_arg_matches(&matches)?)),
    }
}

/// Finds the language of the program, and calls its answer to the command.
pub fn answer(command: Command, matches: &ArgMatches) -> Result<Status, Stop> {
    let name = command.name();
    if command == Command::Train
        && let Some(runs) = matches.get_many::<PathBuf>(COMPARED)
    {
        let runs: Vec<PathBuf> = runs.cloned().collect();
        let svg = matches.get_one::<PathBuf>("svg");
        return train::compare(&runs, svg.map(PathBuf::as_path), Form::new(&shared(command, matches)?));
    }
    let program: Program = shared(command, matches)?;
    let language = program.lang.of(&program.file, name)?;
    let Some(offer) = offer(language, command) else { return Err(no_command(command, language)) };
    understood(command, language, &offer, matches)?;
    let reporting: Reporting = shared(command, matches)?;
    let out = if command.has_output() { shared::<Output>(command, matches)?.out } else { None };
    let stats = command.has_stats() && shared::<Stats>(command, matches)?.stats;
    let answer = offer.read(matches).map_err(|error| formatted(command, error))?;
    answer(&Session::new(command, program.file, language, &reporting, out, stats))
}

fn shared<A: Args>(command: Command, matches: &ArgMatches) -> Result<A, Stop> {
    A::from_arg_matches(matches).map_err(|error| formatted(command, error))
}

fn no_command(command: Command, language: &dyn Language) -> Stop {
    let others: Vec<&str> = offers(command).iter().map(|(language, _)| language.name()).collect();
    let (name, language) = (command.name(), language.name());
    let message = format!(
        "the language {language} has no command `{name}`\n\n  languages that have it: {}",
        others.join(", ")
    );
    misuse(name, &message)
}

/// Refuses options that the language does not understand.
fn understood(
    command: Command,
    language: &dyn Language,
    offer: &Offer,
    matches: &ArgMatches,
) -> Result<(), Stop> {
    let own = offer.arguments();
    let is_foreign = |argument: &Arg| {
        matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine)
            && !own.iter().any(|known| known.get_id() == argument.get_id())
    };
    match union(&offers(command)).iter().find(|argument| is_foreign(argument)) {
        None => Ok(()),
        Some(foreign) => {
            let known: Vec<String> = own.iter().map(flag).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let (name, language, foreign) = (command.name(), language.name(), flag(foreign));
            let message = format!(
                "`{name}` of the language {language} does not understand `{foreign}`\n\n  its options: {known}"
            );
            Err(misuse(name, &message))
        }
    }
}

/// An option as the user types it.
fn flag(argument: &Arg) -> String {
    format!("--{}", argument.get_long().expect("languages declare options only"))
}

/// An error for a command line that `clap` accepts and Eddy does not, in `clap`'s form, with the usage of
/// `command`.
pub fn misuse(command: &str, message: &str) -> Stop {
    Stop::Misuse(with_usage(command, |usage| usage.error(clap::error::ErrorKind::InvalidValue, message)))
}

fn formatted(command: Command, error: clap::Error) -> Stop {
    Stop::Misuse(with_usage(command.name(), |usage| error.format(usage)))
}

fn with_usage(name: &str, make: impl FnOnce(&mut clap::Command) -> clap::Error) -> clap::Error {
    let mut cli = command();
    cli.build();
    make(cli.find_subcommand_mut(name).expect("a command knows its own name"))
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
    use expect_test::expect;

    use super::*;

    fn matches(line: &[impl AsRef<str>]) -> Result<ArgMatches, clap::Error> {
        let words = line.iter().map(|word| OsString::from(word.as_ref()));
        let typed = read(std::iter::once(OsString::from("eddy")).chain(words))?;
        let Typed::Command(_, matches) = typed else { panic!("a language answers it") };
        Ok(matches)
    }

    fn message(stop: Stop) -> String {
        let Stop::Misuse(error) = stop else { panic!("it is a mistake on the command line") };
        error.to_string()
    }

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// `clap` panics when an argument is read with another type than it was declared with. So two languages
    /// that have the same option must declare it in the same way.
    #[test]
    fn languages_that_share_an_option_declare_it_in_one_way() {
        let declared = |argument: &Arg| {
            let (help, names) = (argument.get_help(), argument.get_value_names());
            let how = (argument.get_action(), argument.get_num_args(), argument.get_possible_values());
            format!("{:?} {how:?} {help:?} {names:?}", argument.get_value_parser().type_id())
        };
        for command in Command::ALL {
            let offers = offers(command);
            let known = union(&offers);
            for (language, arguments) in &offers {
                let what = format!("`{}` of {}", command.name(), language.name());
                for argument in arguments {
                    let first = known.iter().find(|known| known.get_id() == argument.get_id());
                    assert_eq!(Some(declared(argument)), first.map(declared), "{what}: {}", flag(argument));
                }
                for needed in known.iter().filter(|known| known.is_required_set()) {
                    let has_it = arguments.iter().any(|argument| argument.get_id() == needed.get_id());
                    assert!(has_it, "{what} cannot be asked: it has no {}", flag(needed));
                }
            }
        }
    }

    /// Each option of each language can be typed, is understood, and is read into the argument struct of the
    /// language.
    #[test]
    fn each_language_reads_its_arguments_out_of_those_of_all() {
        for command in Command::ALL {
            for (language, arguments) in offers(command) {
                let offer = offer(language, command).expect("it is offered");
                let file = format!("a.{}", language.extensions()[0]);
                for option in std::iter::once(None).chain(arguments.iter().map(Some)) {
                    let what = format!("`{}` of {} with {option:?}", command.name(), language.name());
                    let matches = lines(command, &file, option).find_map(|line| matches(&line).ok());
                    let matches = matches.unwrap_or_else(|| panic!("{what} cannot be typed"));
                    assert!(understood(command, language, &offer, &matches).is_ok(), "{what} is foreign");
                    assert!(offer.read(&matches).is_ok(), "{what} cannot be read");
                }
            }
        }
    }

    /// Ways to type a command with an option, one of which is valid: with or without a value, and with the
    /// options that it requires.
    fn lines<'a>(
        command: Command,
        file: &'a str,
        option: Option<&Arg>,
    ) -> impl Iterator<Item = Vec<String>> + use<'a> {
        const VALUES: [&str; 11] =
            ["1", "4096", "x=1", "sqrt", "mean", "simulate", "c", "types", "csv", "0.5", "max:loss"];
        const NEEDED: [&[&str]; 6] = [
            &[],
            &["--node=n"],
            &["--svg=a.svg"],
            &["--in=a.csv"],
            &["--in=a.csv", "--run=r", "--batch=1"],
            &["--compare", "a", "b"],
        ];
        let n_values = |option: &Arg| option.get_num_args().map_or(1, |n| n.min_values());
        let options: Vec<Vec<String>> = match option {
            None => vec![vec!["--short".to_string()]],
            Some(option) if option.get_action().takes_values() && n_values(option) > 1 => {
                let values = std::iter::repeat_n("1".to_string(), n_values(option));
                vec![std::iter::once(flag(option)).chain(values).collect()]
            }
            Some(option) if option.get_action().takes_values() => {
                VALUES.iter().map(|value| vec![format!("{}={value}", flag(option))]).collect()
            }
            Some(option) => vec![vec![flag(option)]],
        };
        NEEDED.into_iter().flat_map(move |needed| {
            let line = move |option: &Vec<String>| {
                let option = option.iter().map(String::as_str);
                let words = [command.name(), file].into_iter().chain(option).chain(needed.iter().copied());
                words.map(str::to_string).collect()
            };
            options.iter().map(line).collect::<Vec<Vec<String>>>()
        })
    }

    #[test]
    fn an_option_is_one_of_the_language() {
        let check = |line: &[&str]| {
            let matches = matches(line).expect("`run` has the option");
            let rd = languages::named("rd").expect("it is a language");
            understood(Command::Run, rd, &offer(rd, Command::Run).expect("it runs"), &matches)
        };
        assert!(check(&["run", "a.rd", "--approx=3", "--memory=1", "--stats", "--json"]).is_ok());
        expect![[r"
            error: `run` of the language rd does not understand `--coins`

              its options: --engine, --fuel, --memory, --approx

            Usage: eddy run [OPTIONS] <FILE>

            For more information, try '--help'.
        "]]
        .assert_eq(&check(&["run", "a.rd", "--coins=3"]).map_err(message).expect_err("rd has no coins"));
    }

    #[test]
    fn a_command_that_a_language_has_not_names_those_that_have_it() {
        let matches = matches(&["flow", "a.rd"]).expect("`flow` takes a file");
        expect![[r"
            error: the language rd has no command `flow`

              languages that have it: reactive

            Usage: eddy flow [OPTIONS] <FILE>

            For more information, try '--help'.
        "]]
        .assert_eq(&answer(Command::Flow, &matches).map_err(message).expect_err("rd has no equations"));
    }

    #[test]
    fn help_names_the_languages_of_each_option() {
        let mut cli = command();
        let mut help =
            |name| cli.find_subcommand_mut(name).expect("it is a command").render_help().to_string();
        let (run, trace) = (help("run"), help("trace"));
        assert!(trace.contains("Options of pullback:\n      --cps "), "{trace}");
        assert!(trace.contains("--svg") && trace.contains("--out") && !trace.contains("--node"), "{trace}");
        assert!(run.contains("Options of rd:\n      --approx <N>"), "{run}");
        assert!(!run.contains("--cps") && !run.contains("--svg"), "{run}");
    }
}
