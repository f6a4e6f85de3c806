//! From `lam` to functions: see [`super::pcf`] for the table.
//!
//! The kernel has no types. These have no translation: terms that have no type, not even an infinite one, and
//! integers of more than 64 bits. The translation fails where a result has more than 64 bits.
//!
//! A partial application becomes a function of the remaining parameters, and its arguments are evaluated only
//! when that function is called. So a division by zero in a partial application `f (1 / 0)` fails later than
//! in the kernel, or not at all. If the kernel has a value, the translation has the same value.

use eddy_syntax::{Diagnostic, SourceFile, Span};
use eddy_tables::dialect::Dialect;
use eddy_tables::integer::Op;
use eddy_tables::syntax::{Program, Term, TermId};
use eddy_tables::typing::check;
use rustc_hash::FxHashMap;

use super::pcf::{self, BinderId, Operator, Pcf};
use super::writer::{TooLong, Translation};
use super::{outside, too_long};

/// The program as an `eval`; otherwise its errors, or an error at the construct without translation.
pub fn translate(file: &SourceFile) -> Result<Translation, Vec<Diagnostic>> {
    let program = check(file, Dialect::Lambda)?;
    let (pcf, main) = converted(&program).map_err(|stop| match stop {
        Stop::TooLong => vec![too_long(program.terms.span(program.main))],
        Stop::Integer(span) => {
            let reason = "an `int` is between -2^63 and 2^63 - 1";
            vec![outside(span, "an integer of this size", reason)]
        }
    })?;
    pcf.translate(main)
}

enum Stop {
    TooLong,
    Integer(Span),
}

impl From<TooLong> for Stop {
    fn from(_: TooLong) -> Stop {
        Stop::TooLong
    }
}

enum Task {
    Visit(TermId),
    Build(TermId),
    /// The binder of a λ comes into scope before the body.
    Bind(TermId),
}

fn converted(program: &Program) -> Result<(Pcf, pcf::TermId), Stop> {
    let terms = &program.terms;
    let (mut pcf, mut done) = (Pcf::default(), Vec::new());
    let mut scopes: FxHashMap<_, Vec<BinderId>> = FxHashMap::default();
    let mut tasks = vec![Task::Visit(program.main)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(id) => {
                tasks.push(Task::Build(id));
                let parts: Vec<TermId> = terms.term(id).parts().collect();
                tasks.extend(parts.into_iter().rev().map(Task::Visit));
                if terms.term(id).binder().is_some() {
                    tasks.push(Task::Bind(id));
                }
            }
            Task::Bind(id) => {
                let name = terms.term(id).binder().expect("only binders are bound");
                let binder = pcf.binder(terms.names.text(name));
                scopes.entry(name).or_default().push(binder);
            }
            Task::Build(id) => {
                let span = terms.span(id);
                let mut part = || done.pop().expect("parts are built first");
                let term = match terms.term(id) {
                    Term::Int(value) => {
                        let value = i64::try_from(value).map_err(|_| Stop::Integer(span))?;
                        pcf::Term::Int(value)
                    }
                    Term::Variable(name) => {
                        let binder = scopes.get(name).and_then(|scope| scope.last());
                        pcf::Term::Variable(*binder.expect("a checked program is closed"))
                    }
                    Term::Lambda(name, _) => {
                        let binder = scopes.get_mut(name).and_then(Vec::pop).expect("it was bound");
                        pcf::Term::Lambda(binder, part())
                    }
                    Term::Apply(..) => {
                        let argument = part();
                        pcf::Term::Apply(part(), argument)
                    }
                    Term::Op(op, ..) => {
                        let right = part();
                        pcf::Term::Operator(operator(*op), part(), right)
                    }
                    Term::If(..) => {
                        let (no, yes) = (part(), part());
                        pcf::Term::If(part(), "!=", yes, no)
                    }
                    other => unreachable!("{other:?} is of another dialect"),
                };
                done.push(pcf.term(term, span)?);
            }
        }
    }
    Ok((pcf, done.pop().expect("the program is built")))
}

fn operator(op: Op) -> Operator {
    match op {
        Op::Add => Operator::Infix("+"),
        Op::Subtract => Operator::Infix("-"),
        Op::Multiply => Operator::Infix("*"),
        Op::Divide => Operator::FloorDiv,
        Op::Remainder => Operator::FloorMod,
        Op::Equal => Operator::Compare("=="),
        Op::NotEqual => Operator::Compare("!="),
        Op::Less => Operator::Compare("<"),
        Op::LessEqual => Operator::Compare("<="),
        Op::Greater => Operator::Compare(">"),
        Op::GreaterEqual => Operator::Compare(">="),
    }
}
