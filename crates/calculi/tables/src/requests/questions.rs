//! The questions about the meaning of a program: is a value in it, which values are, which simpler program
//! has the same meaning, and is a value in the meaning of the program's type?
//!
//! Some questions are only for some of the languages; the others are refused with a diagnostic.
//!
//! ```
//! use eddy_syntax::{SourceFile, Sources};
//! use eddy_tables::dialect::Dialect;
//! use eddy_tables::requests::questions::{Ask, Question};
//!
//! let mut sources = Sources::alone(SourceFile::new("next.lam", "\\x. x + 1"));
//! let asked = Ask::new(Question::value("{1 -> 2}")).answer(&mut sources, Dialect::Lambda).unwrap();
//! assert_eq!(asked.to_string(), "yes");
//! ```

use std::fmt::{self, Write};

use eddy_syntax::{Diagnostic, SourceFile, Sources};

use crate::ask::{self, Answer, Limits};
use crate::derivation::{self, tables, write};
use crate::dialect::Dialect;
use crate::enumerate::Enumeration;
use crate::integer::Int;
use crate::intersection::{self, Intersections};
use crate::intype::{self, Meanings, Refusal};
use crate::optimise::{self, MAX_SIZE, TooLarge};
use crate::syntax::{Program, TermId};
use crate::value::parse::{Goal, parse};
use crate::value::{Value, Values};
use crate::{codes, print, typing};

/// Is this value in the meaning of the program?
#[derive(Clone, Debug)]
pub struct Ask {
    pub question: Question,
    /// Explain a yes by a derivation, written in this form.
    pub derivation: Option<write::Form>,
    /// Explain a yes by the table of each function.
    pub tables: bool,
    /// The limits of the search and of the explanation.
    pub limits: Limits,
}

/// The value of a question, as text.
#[derive(Clone, Debug)]
pub struct Question {
    /// How the text is read.
    pub kind: QuestionKind,
    /// The name of the text in messages.
    pub name: String,
    pub text: String,
}

/// How the text of a question is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// A value.
    Value,
    /// An intersection type, which represents a value.
    Type,
}

/// Which values does the program have?
#[derive(Clone, Debug)]
pub struct Enum {
    /// The largest size that is listed.
    pub size: u32,
    /// The integers that inputs are made of.
    pub ints: Vec<Int>,
    /// The limits of the search.
    pub limits: Limits,
}

/// Simplifies the program: folds constants and inlines functions.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// The depth to which functions are inlined.
    pub depth: u32,
}

/// Is this value in the meaning of the program's type?
#[derive(Clone, Debug)]
pub struct Intype {
    /// The value.
    pub question: Question,
    /// The largest number of membership tests.
    pub fuel: u64,
}

/// Whether something is in the meaning. It prints as the explanation and then `yes`, `no` or `unknown`.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The answer, unless its explanation is too long.
    pub outcome: Result<Explained, TooLong>,
    /// The number of applications.
    pub applications: u64,
    /// Why there is no answer, if there is none.
    pub diagnostic: Option<Diagnostic>,
}

/// An answer with the requested explanation; only a yes has one.
#[derive(Clone, Debug)]
pub struct Explained {
    pub answer: Answer,
    /// The derivation, a judgement on each line.
    pub derivation: Option<String>,
    /// For each function its name and its table.
    pub tables: Option<Vec<(String, String)>>,
}

/// An explanation that does not fit into memory: trees and tables share their parts, and may be exponentially
/// longer than the shared form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The values of a program by size. They print as a line each and then their number.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The listed values, by size and then in their canonical order.
    pub listed: Vec<Value>,
    /// The store of the values.
    pub values: Values,
    /// Whether nothing was cut by a limit.
    pub is_complete: bool,
    /// The number of applications.
    pub applications: u64,
}

/// The simplified program. It prints as the program.
#[derive(Clone, Debug)]
pub struct Optimised {
    /// The terms of the program and of the result.
    pub program: Program,
    pub outcome: Result<TermId, TooLarge>,
    /// Why there is no result, if there is none.
    pub diagnostic: Option<Diagnostic>,
}

/// Whether a value is in the meaning of a type. It prints as `yes` or `no`.
#[derive(Clone, Debug)]
pub struct Membership {
    /// The answer; `None` if it is unknown.
    pub is_member: Option<bool>,
    /// Why it is unknown, if it is.
    pub diagnostic: Option<Diagnostic>,
}

impl Question {
    /// A question about the value with this text.
    pub fn value(text: &str) -> Question {
        Question { kind: QuestionKind::Value, name: "--value".to_string(), text: text.to_string() }
    }

    /// A question about the intersection type with this text.
    pub fn ty(text: &str) -> Question {
        Question { kind: QuestionKind::Type, name: "--type".to_string(), text: text.to_string() }
    }
}

impl Ask {
    /// The plain question.
    pub fn new(question: Question) -> Ask {
        Ask { question, derivation: None, tables: false, limits: Limits::default() }
    }

    /// The answer, with the requested explanation.
    pub fn answer(&self, sources: &mut Sources, dialect: Dialect) -> Result<Asked, Vec<Diagnostic>> {
        let program = typing::check(sources.main(), dialect)?;
        let is_explained = self.derivation.is_some() || self.tables;
        if is_explained && dialect != Dialect::Lambda {
            return Err(not_offered(&program, "derivations are only for .lam"));
        }
        if self.question.kind == QuestionKind::Type && dialect != Dialect::Lambda {
            return Err(not_offered(&program, "intersection types are only for .lam"));
        }
        let mut values = Values::default();
        let goal = goal(&program, sources, &self.question, &mut values)?;
        let plain = |answer| Explained { answer, derivation: None, tables: None };
        let (outcome, applications) = if is_explained {
            let (answer, found, steps) = derivation::explain(&program, goal, &mut values, self.limits);
            let explained = match found {
                Some(found) => self.explained(answer, &found, &program, sources.main(), &mut values),
                None => Ok(plain(answer)),
            };
            (explained, steps)
        } else {
            let (answer, steps) = ask::ask(&program, goal, &mut values, self.limits);
            (Ok(plain(answer)), steps)
        };
        let diagnostic = outcome.as_ref().err().map(|TooLong| too_long(&program, self.limits.memory));
        Ok(Asked { outcome, applications, diagnostic })
    }

    /// A yes with the requested derivation and tables.
    fn explained(
        &self,
        answer: Answer,
        found: &derivation::Derivation,
        program: &Program,
        file: &SourceFile,
        values: &mut Values,
    ) -> Result<Explained, TooLong> {
        let mut text =
            Limited { left: usize::try_from(self.limits.memory).unwrap_or(usize::MAX), text: String::new() };
        let mut derivation = None;
        if let Some(form) = self.derivation {
            write::write(found, &program.terms, values, form, &mut text).map_err(|_| TooLong)?;
            derivation = Some(text.take().trim_end().to_string());
        }
        let mut shown = None;
        if self.tables {
            let mut listed = Vec::new();
            for (label, table) in tables::tables(found, program, file, values) {
                values.write(table, &mut text).map_err(|_| TooLong)?;
                listed.push((label, text.take()));
            }
            shown = Some(listed);
        }
        Ok(Explained { answer, derivation, tables: shown })
    }
}

impl Default for Enum {
    fn default() -> Self {
        Enum { size: 5, ints: vec![Int::from(0), Int::from(1)], limits: Limits::default() }
    }
}

impl Enum {
    /// The values up to the size.
    pub fn answer(&self, file: &SourceFile, dialect: Dialect) -> Result<Listed, Vec<Diagnostic>> {
        let program = typing::check(file, dialect)?;
        if dialect == Dialect::References {
            return Err(not_offered(&program, "values are listed only for .lam and .sysf"));
        }
        let mut values = Values::default();
        let mut enumeration = Enumeration::new(&program, &self.ints, &mut values, self.limits);
        let mut listed = Vec::new();
        for _ in 0..self.size {
            let Ok(more) = enumeration.next_size() else { break };
            listed.extend(more);
        }
        let (is_complete, applications) = (enumeration.is_complete(), enumeration.steps());
        Ok(Listed { listed, values, is_complete, applications })
    }
}

impl Default for Opt {
    fn default() -> Self {
        Opt { depth: optimise::DEFAULT_DEPTH }
    }
}

impl Opt {
    /// The simpler program.
    pub fn answer(self, file: &SourceFile, dialect: Dialect) -> Result<Optimised, Vec<Diagnostic>> {
        let mut program = typing::check(file, dialect)?;
        if dialect != Dialect::Lambda {
            return Err(not_offered(&program, "the optimiser is only for .lam"));
        }
        let outcome = optimise::optimise(&mut program, self.depth);
        let diagnostic = outcome.err().map(|TooLarge| {
            let title = format!("out of fuel: the program grows beyond {MAX_SIZE} terms or calls");
            Diagnostic::error(codes::FUEL, program.terms.span(program.main), title)
                .help("inline less with a smaller `--depth N`")
        });
        Ok(Optimised { program, outcome, diagnostic })
    }
}

impl Intype {
    /// A question with the default number of tests.
    pub fn new(question: Question) -> Intype {
        Intype { question, fuel: intype::DEFAULT_FUEL }
    }

    /// Whether the value is in the meaning of the program's type.
    pub fn answer(&self, sources: &mut Sources, dialect: Dialect) -> Result<Membership, Vec<Diagnostic>> {
        let program = typing::check(sources.main(), dialect)?;
        let Some(ty) = program.ty.filter(|_| dialect == Dialect::SystemF) else {
            return Err(not_offered(&program, "types have a meaning only in .sysf"));
        };
        let mut values = Values::default();
        let goal = goal(&program, sources, &self.question, &mut values)?;
        let main = program.terms.span(program.main);
        let meanings = (Meanings::default(), 0);
        match intype::is_member(goal.value, ty, meanings, &program.types, &values, self.fuel) {
            Ok(is_member) => Ok(Membership { is_member: Some(is_member), diagnostic: None }),
            Err(Refusal::TooManySets(n)) => {
                let title = format!("a value under a quantifier has {n} different values in it");
                let most = intype::MAX_SUBVALUES;
                let diagnostic = Diagnostic::error(codes::QUESTION, main, title)
                    .label(format!("this is `{}`", program.types.show_briefly(ty)))
                    .reason(format!("all sets of them are tried, and at most 2^{most} sets are"))
                    .help("ask about a part of the value");
                Err(vec![diagnostic])
            }
            Err(Refusal::Fuel(fuel)) => {
                let title = format!("out of fuel after {fuel} membership tests");
                let diagnostic =
                    Diagnostic::error(codes::FUEL, main, title).help("give it more with `--fuel N`");
                Ok(Membership { is_member: None, diagnostic: Some(diagnostic) })
            }
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(Explained { answer, derivation, tables }) = &self.outcome else { return Ok(()) };
        if let Some(derivation) = derivation {
            writeln!(f, "{derivation}")?;
        }
        for (label, table) in tables.iter().flatten() {
            writeln!(f, "{label} = {table}")?;
        }
        f.write_str(answer.word())
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for value in &self.listed {
            self.values.write(*value, f)?;
            f.write_str("\n")?;
        }
        let incomplete = if self.is_complete { "" } else { " (incomplete)" };
        write!(f, "{} values{incomplete}", self.listed.len())
    }
}

impl fmt::Display for Optimised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome.map_or(Ok(()), |term| print::write(&self.program.terms, term, f))
    }
}

impl fmt::Display for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_member {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        })
    }
}

/// The goal of the question.
fn goal(
    program: &Program,
    sources: &mut Sources,
    question: &Question,
    values: &mut Values,
) -> Result<Goal, Vec<Diagnostic>> {
    let main = program.terms.span(program.main);
    let too_large =
        |reason: String| vec![Diagnostic::error(codes::SYNTAX, main, format!("parse error: {reason}"))];
    let file = sources.add(&question.name, &question.text).map_err(too_large)?;
    match question.kind {
        QuestionKind::Value => parse(file, program.dialect, values),
        QuestionKind::Type => {
            let mut types = Intersections::default();
            let ty = intersection::parse(file, &mut types)?;
            Ok(Goal { value: types.valof(ty, values), store: None })
        }
    }
}

/// Text with a limit on its length.
struct Limited {
    text: String,
    left: usize,
}

impl Limited {
    /// Takes the text so far; later text is separate, and the limit applies to both together.
    fn take(&mut self) -> String {
        std::mem::take(&mut self.text)
    }
}

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.text.push_str(text);
        Ok(())
    }
}

/// The diagnostic for a question that this language does not support.
fn not_offered(program: &Program, title: &str) -> Vec<Diagnostic> {
    let name = program.dialect.name();
    let diagnostic = Diagnostic::error(codes::QUESTION, program.terms.span(program.main), title)
        .label(format!("this is a .{name} program"));
    vec![diagnostic]
}

fn too_long(program: &Program, limit: u64) -> Diagnostic {
    let title = format!("out of fuel: the explanation is longer than {} MiB", limit >> 20);
    Diagnostic::error(codes::FUEL, program.terms.span(program.main), title)
        .help("ask for the answer alone, or allow more with `--memory MIB`")
}
