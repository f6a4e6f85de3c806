//! The commands that ask about the meaning of a program: `ask`, `enum`, `opt` and `intype`.
//!
//! Not every question is for every language; where one is left out, the answer says so.

use std::fmt::{self, Write};

use eddy_language::{Derivation as DerivationForm, Options, Out, Status, Verdict};
use eddy_syntax::{Diagnostic, Sources};

use crate::ask::{self, Limits};
use crate::derivation::{self, tables, write};
use crate::dialect::Dialect;
use crate::enumerate::Enumeration;
use crate::integer::Int;
use crate::intersection::{self, Intersections};
use crate::intype::{self, Meanings, Refusal};
use crate::optimise::{self, MAX_SIZE};
use crate::syntax::Program;
use crate::value::Values;
use crate::value::parse::{Goal, parse};
use crate::{codes, print};

/// The sizes that `enum` lists, and the integers that it makes inputs of, unless the command line says otherwise.
const DEFAULT_SIZE: u32 = 5;
const DEFAULT_INTS: [u8; 2] = [0, 1];

/// `eddy ask`.
pub(super) fn ask(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, fmt::Error> {
    let wants_derivation = options.derivation.is_some() || options.tables;
    if wants_derivation && program.dialect != Dialect::Lambda {
        return Ok(not_offered(program, "derivations are only for .lam"));
    }
    if options.ty.is_some() && program.dialect != Dialect::Lambda {
        return Ok(not_offered(program, "intersection types are only for .lam"));
    }
    let mut values = Values::default();
    let goal = match goal(program, sources, options, &mut values) {
        Ok(goal) => goal,
        Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
    };
    let limits = limits(options);
    let (answer, steps) = if wants_derivation {
        let (answer, found, steps) = derivation::explain(program, goal, &mut values, limits);
        if let Some(found) = found {
            let Some(text) = explanation(program, sources, options, &found, &mut values) else {
                return Ok(too_long(program, limits.memory));
            };
            out.write_str(&text)?;
        }
        (answer, steps)
    } else {
        ask::ask(program, goal, &mut values, limits)
    };
    writeln!(out, "{}", answer.word())?;
    let mut verdict = Verdict::answered();
    verdict.stats = vec![("applications", steps)];
    Ok(verdict)
}

/// What is asked for.
fn goal(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    values: &mut Values,
) -> Result<Goal, Vec<Diagnostic>> {
    let (name, text) = match (&options.value, &options.ty) {
        (Some((name, text)), _) => (name.as_str(), text),
        (None, Some(text)) => ("--type", text),
        (None, None) => unreachable!("the command line asks for something"),
    };
    let main = program.terms.span(program.main);
    let too_large =
        |reason: String| vec![Diagnostic::error(codes::SYNTAX, main, format!("parse error: {reason}"))];
    let file = sources.add(name, text).map_err(too_large)?;
    if options.value.is_some() {
        return parse(file, program.dialect, values);
    }
    let mut types = Intersections::default();
    let ty = intersection::parse(file, &mut types)?;
    Ok(Goal { value: types.valof(ty, values), store: None })
}

/// The derivation and the tables, as far as they were asked for; none if they are too long.
fn explanation(
    program: &Program,
    sources: &Sources,
    options: &Options,
    found: &derivation::Derivation,
    values: &mut Values,
) -> Option<String> {
    let limit = usize::try_from(limits(options).memory).unwrap_or(usize::MAX);
    let mut text = Limited { text: String::new(), limit };
    if let Some(form) = options.derivation {
        let form = match form {
            DerivationForm::Values => write::Form::Values,
            DerivationForm::Types => write::Form::Types,
        };
        write::write(found, &program.terms, values, form, &mut text).ok()?;
    }
    if options.tables {
        for (label, table) in tables::tables(found, program, sources.main(), values) {
            write!(text, "{label} = ").ok()?;
            values.write(table, &mut text).ok()?;
            text.write_str("\n").ok()?;
        }
    }
    Some(text.text)
}

/// Text that is at most so long: trees and tables share their parts, and may be exponentially longer than what they are made of.
struct Limited {
    text: String,
    limit: usize,
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        if self.text.len() > self.limit { Err(fmt::Error) } else { Ok(()) }
    }
}

/// `eddy enum`.
pub(super) fn enumerate(program: &Program, options: &Options, out: Out<'_>) -> Result<Verdict, fmt::Error> {
    if program.dialect == Dialect::References {
        return Ok(not_offered(program, "values are listed only for .lam and .sysf"));
    }
    let ints = match &options.ints {
        None => DEFAULT_INTS.map(Int::from).to_vec(),
        Some(texts) => match texts.iter().map(|text| text.trim().parse()).collect::<Result<Vec<Int>, _>>() {
            Ok(ints) => ints,
            Err(_) => {
                let title = format!("parse error: `--ints {}` is no list of integers", texts.join(","));
                let main = program.terms.span(program.main);
                let diagnostic = Diagnostic::error(codes::SYNTAX, main, title);
                return Ok(Verdict::refused(vec![diagnostic.help("write `--ints 0,1`")]));
            }
        },
    };
    let mut values = Values::default();
    let mut enumeration = Enumeration::new(program, &ints, &mut values, limits(options));
    let mut count = 0;
    for _ in 0..options.size.unwrap_or(DEFAULT_SIZE) {
        let Ok(listed) = enumeration.next_size() else { break };
        for value in listed {
            enumeration.values().write(value, out)?;
            out.write_str("\n")?;
            count += 1;
        }
    }
    let incomplete = if enumeration.is_complete() { "" } else { " (incomplete)" };
    writeln!(out, "{count} values{incomplete}")?;
    let mut verdict = Verdict::answered();
    verdict.stats = vec![("applications", enumeration.steps())];
    Ok(verdict)
}

/// `eddy opt`.
pub(super) fn optimise(program: &Program, options: &Options, out: Out<'_>) -> Result<Verdict, fmt::Error> {
    if program.dialect != Dialect::Lambda {
        return Ok(not_offered(program, "the optimiser is only for .lam"));
    }
    let mut program = program.clone();
    match optimise::optimise(&mut program, options.depth.unwrap_or(optimise::DEFAULT_DEPTH)) {
        Ok(term) => {
            print::write(&program.terms, term, out)?;
            out.write_str("\n")?;
            Ok(Verdict::answered())
        }
        Err(optimise::TooLarge) => {
            let title = format!("out of fuel: the program grows beyond {MAX_SIZE} terms or calls");
            let diagnostic = Diagnostic::error(codes::FUEL, program.terms.span(program.main), title)
                .help("inline less with a smaller `--depth N`");
            Ok(no_value(diagnostic))
        }
    }
}

/// `eddy intype`.
pub(super) fn intype(
    program: &Program,
    sources: &mut Sources,
    options: &Options,
    out: Out<'_>,
) -> Result<Verdict, fmt::Error> {
    let Some(ty) = program.ty.filter(|_| program.dialect == Dialect::SystemF) else {
        return Ok(not_offered(program, "types have a meaning only in .sysf"));
    };
    let mut values = Values::default();
    let goal = match goal(program, sources, options, &mut values) {
        Ok(goal) => goal,
        Err(diagnostics) => return Ok(Verdict::refused(diagnostics)),
    };
    let fuel = options.fuel.unwrap_or(intype::DEFAULT_FUEL);
    let main = program.terms.span(program.main);
    match intype::is_member(goal.value, ty, (Meanings::default(), 0), &program.types, &values, fuel) {
        Ok(is_member) => {
            writeln!(out, "{}", if is_member { "yes" } else { "no" })?;
            Ok(Verdict::answered())
        }
        Err(Refusal::TooManySets(n)) => {
            let title = format!("a value under a quantifier has {n} different values in it");
            let most = intype::MAX_SUBVALUES;
            let diagnostic = Diagnostic::error(codes::QUESTION, main, title)
                .label(format!("this is `{}`", program.types.show_briefly(ty)))
                .reason(format!("all sets of them are tried, and at most 2^{most} sets are"))
                .help("ask about a part of the value");
            Ok(Verdict::refused(vec![diagnostic]))
        }
        Err(Refusal::Fuel(fuel)) => {
            let title = format!("out of fuel after {fuel} membership tests");
            let diagnostic = Diagnostic::error(codes::FUEL, main, title);
            Ok(no_value(diagnostic.help("give it more with `--fuel N`")))
        }
    }
}

/// This question is not for this language.
fn not_offered(program: &Program, title: &str) -> Verdict {
    let name = program.dialect.name();
    let diagnostic = Diagnostic::error(codes::QUESTION, program.terms.span(program.main), title)
        .label(format!("this is a .{name} program"));
    Verdict::refused(vec![diagnostic])
}

fn too_long(program: &Program, limit: u64) -> Verdict {
    let title = format!("out of fuel: the explanation is longer than {} MiB", limit >> 20);
    let diagnostic = Diagnostic::error(codes::FUEL, program.terms.span(program.main), title);
    no_value(diagnostic.help("ask for the answer alone, or allow more with `--memory MIB`"))
}

fn no_value(diagnostic: Diagnostic) -> Verdict {
    Verdict { status: Status::NoValue, diagnostics: vec![diagnostic], stats: Vec::new() }
}

fn limits(options: &Options) -> Limits {
    let default = Limits::default();
    Limits {
        fuel: options.fuel.unwrap_or(default.fuel),
        steps: options.steps.unwrap_or(default.steps),
        memory: options.memory.unwrap_or(default.memory),
    }
}
