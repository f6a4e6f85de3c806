//! Terms as text: one line, types erased, parentheses only where the grammar of section 3 needs them.
//!
//! `\x. e`, `/\. e`, `e [_]`, `fix f. e`, and `let x = e in b` for applications that were written so.
//! Negative literals are in parentheses as operands and arguments. Printing uses a list of pieces instead of
//! recursion.

use std::fmt::{self, Write};

use crate::integer::{Int, Level};
use crate::surface::Prefix;
use crate::syntax::{Term, TermId, Terms, Written};

/// Precedences of forms and places.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    /// A binding form, `if` or `:=`.
    Block,
    /// A comparison, or a negative literal: as an operand or an argument, a negative literal needs
    /// parentheses.
    Comparison,
    /// `+` and `-`.
    Sum,
    /// `*`, `/` and `%`.
    Product,
    /// A function and its arguments.
    Application,
    /// An argument.
    Atom,
}

/// Pending output.
enum Piece {
    Text(&'static str),
    Term(TermId, Binding),
}

pub fn write(terms: &Terms, term: TermId, out: &mut dyn Write) -> fmt::Result {
    let mut work = vec![Piece::Term(term, Binding::Block)];
    while let Some(piece) = work.pop() {
        match piece {
            Piece::Text(text) => out.write_str(text)?,
            Piece::Term(id, place) => {
                let term = terms.term(id);
                let needs_brackets = binding(term) < place;
                if needs_brackets {
                    out.write_str("(")?;
                    work.push(Piece::Text(")"));
                }
                head(terms, term, out)?;
                work.extend(parts(terms, term).into_iter().rev());
            }
        }
    }
    Ok(())
}

pub fn show(terms: &Terms, term: TermId) -> String {
    let mut text = String::new();
    write(terms, term, &mut text).expect("a string takes all that is written");
    text
}

/// The text of a term for messages: shortened when too long to read.
pub fn show_briefly(terms: &Terms, term: TermId) -> String {
    let mut brief = Brief(String::new());
    match write(terms, term, &mut brief) {
        Ok(()) => brief.0,
        Err(_) => brief.0 + "…",
    }
}

/// Text of limited length.
struct Brief(String);

impl Write for Brief {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        const ENOUGH: usize = 80;
        self.0.push_str(text);
        if self.0.len() > ENOUGH { Err(fmt::Error) } else { Ok(()) }
    }
}

fn binding(term: &Term) -> Binding {
    match term {
        Term::Int(int) if *int < Int::ZERO => Binding::Comparison,
        Term::Int(_) | Term::Variable(_) | Term::Address(_) | Term::Pair(..) => Binding::Atom,
        Term::Prefix(Prefix::Read, _) => Binding::Atom,
        Term::Apply(_, _, Written::Plainly) | Term::TypeApply(_) | Term::Prefix(..) => Binding::Application,
        Term::Op(op, ..) => of_level(op.level()),
        Term::Apply(_, _, Written::AsLet)
        | Term::Lambda(..)
        | Term::If(..)
        | Term::TypeLambda(_)
        | Term::Fix(..)
        | Term::Assign(..) => Binding::Block,
    }
}

fn of_level(level: Level) -> Binding {
    match level {
        Level::Comparison => Binding::Comparison,
        Level::Sum => Binding::Sum,
        Level::Product => Binding::Product,
    }
}

/// Writes the text before the parts of a term.
fn head(terms: &Terms, term: &Term, out: &mut dyn Write) -> fmt::Result {
    let name = |name| terms.names.text(name);
    match term {
        Term::Int(int) => write!(out, "{int}"),
        Term::Variable(variable) => out.write_str(name(*variable)),
        Term::Address(address) => write!(out, "@{address}"),
        Term::Lambda(variable, _) => write!(out, "\\{}. ", name(*variable)),
        Term::Fix(variable, _) => write!(out, "fix {}. ", name(*variable)),
        Term::TypeLambda(_) => out.write_str("/\\. "),
        Term::Apply(function, _, Written::AsLet) => {
            let Term::Lambda(variable, _) = terms.term(*function) else {
                unreachable!("a `let` applies a λ")
            };
            write!(out, "let {} = ", name(*variable))
        }
        Term::Prefix(Prefix::Read, _) => out.write_str("!"),
        Term::Prefix(prefix, _) => write!(out, "{} ", prefix.symbol()),
        Term::If(..) => out.write_str("if "),
        Term::Pair(..) => out.write_str("("),
        Term::Apply(..) | Term::TypeApply(_) | Term::Op(..) | Term::Assign(..) => Ok(()),
    }
}

/// The parts of a term and the text between and after them.
fn parts(terms: &Terms, term: &Term) -> Vec<Piece> {
    use Piece::Text;
    let free = |term| Piece::Term(term, Binding::Block);
    match *term {
        Term::Int(_) | Term::Variable(_) | Term::Address(_) => Vec::new(),
        Term::Lambda(_, e) | Term::Fix(_, e) | Term::TypeLambda(e) => vec![free(e)],
        Term::Apply(function, argument, Written::AsLet) => {
            let Term::Lambda(_, body) = *terms.term(function) else { unreachable!("a `let` applies a λ") };
            vec![free(argument), Text(" in "), free(body)]
        }
        Term::Apply(function, argument, Written::Plainly) => {
            vec![Piece::Term(function, Binding::Application), Text(" "), Piece::Term(argument, Binding::Atom)]
        }
        Term::TypeApply(e) => vec![Piece::Term(e, Binding::Application), Text(" [_]")],
        Term::Op(op, a, b) => {
            let (left, right) = match op.level() {
                Level::Comparison => (Binding::Sum, Binding::Sum),
                Level::Sum => (Binding::Sum, Binding::Product),
                Level::Product => (Binding::Product, Binding::Application),
            };
            let pieces =
                [Piece::Term(a, left), Text(" "), Text(op.symbol()), Text(" "), Piece::Term(b, right)];
            pieces.into()
        }
        Term::If(c, a, b) => vec![free(c), Text(" then "), free(a), Text(" else "), free(b)],
        Term::Pair(a, b) => vec![free(a), Text(", "), free(b), Text(")")],
        Term::Prefix(_, e) => vec![Piece::Term(e, Binding::Atom)],
        Term::Assign(a, b) => vec![Piece::Term(a, Binding::Comparison), Text(" := "), free(b)],
    }
}
