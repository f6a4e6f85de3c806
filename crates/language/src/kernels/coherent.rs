//! From the numerals of `coherent` to functions: see [`super::pcf`] for the table.
//!
//! | `coherent` | function |
//! | --- | --- |
//! | `nat`, `A -> B` | `int`, a function |
//! | `succ M`, `pred M` | `M + 1`, a helper that keeps 0 |
//! | `if M then P else Q`, `let x = M in N` | `if M == 0 ..`, `let` |
//! | `fix M`, `omega[A]` | a local function that calls itself |
//!
//! These have no translation: terms with a depth, that is `D` and its pairs; coins and ticks.
//!
//! The kernel evaluates arguments by name, functions evaluate them by value: if an unused argument has no
//! value, the kernel may have a value where the translation has none. If the translation has a value, the
//! kernel has the same value.

use eddy_coherent::parse::parse;
use eddy_coherent::surface::{ExprKind, Prefix};
use eddy_coherent::syntax::{Op, Program, Term, TermId};
use eddy_coherent::typing::check;
use eddy_syntax::{Diagnostic, SourceFile, Span};

use super::pcf::{self, BinderId, Operator, Pcf};
use super::writer::{TooLong, Translation};
use super::{outside, too_long};

/// The program as an `eval`; otherwise its errors, or an error at the construct without translation.
pub fn translate(file: &SourceFile) -> Result<Translation, Vec<Diagnostic>> {
    let program = check(file)?;
    let surface = parse(file).program;
    let exprs = &surface.exprs;
    if let Some((what, id)) = exprs.ids().find_map(|id| Some((beyond_numerals(exprs.kind(id))?, id))) {
        return Err(vec![outside(
            exprs.span(id),
            what,
            "only numbers and functions of them have a translation",
        )]);
    }
    let whole = exprs.span(surface.main);
    let (pcf, main) = converted(&program, whole).map_err(|stop| {
        vec![match stop {
            Stop::TooLong => too_long(whole),
            Stop::Outside(what) => {
                outside(whole, what, "only numbers and functions of them have a translation")
            }
        }]
    })?;
    pcf.translate(main)
}

/// The description of an expression without translation; `None` if it has one.
fn beyond_numerals(kind: &ExprKind) -> Option<&'static str> {
    Some(match kind {
        ExprKind::Prefix(Prefix::Derive(_) | Prefix::Deriv, _) => "a derivative of this kernel",
        ExprKind::Prefix(Prefix::Tick, _) => "`tick`",
        ExprKind::Prefix(Prefix::Op(Op::Pi(_) | Op::Inj(_) | Op::Theta | Op::Flip(_), _), _) => {
            "an operation on summable pairs"
        }
        ExprKind::Prefix(Prefix::Op(_, 1..), _) | ExprKind::Let(1.., ..) | ExprKind::If(1.., ..) => {
            "a term at a depth"
        }
        ExprKind::Coin(_) | ExprKind::Choice(..) => "a coin",
        ExprKind::Linear(..) => "a linear application",
        ExprKind::Switch(..) => "a summable pair",
        _ => return None,
    })
}

enum Stop {
    TooLong,
    Outside(&'static str),
}

impl From<TooLong> for Stop {
    fn from(_: TooLong) -> Stop {
        Stop::TooLong
    }
}

enum Task {
    Visit(TermId),
    Build(TermId),
    Bind(TermId),
}

/// Converts the terms. The kernel shares equal parts of terms; here each occurrence is a separate term.
fn converted(program: &Program, whole: Span) -> Result<(Pcf, pcf::TermId), Stop> {
    let terms = &program.terms;
    let (mut pcf, mut done) = (Pcf::default(), Vec::new());
    let mut scope: Vec<BinderId> = Vec::new();
    let mut tasks = vec![Task::Visit(program.main)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(id) => {
                tasks.push(Task::Build(id));
                for (part, under) in terms.get(id).parts().rev() {
                    tasks.push(Task::Visit(part));
                    if under > 0 {
                        tasks.push(Task::Bind(id));
                    }
                }
            }
            Task::Bind(id) => {
                let name = terms.binder_name(id).map_or("x", |name| terms.names.text(name));
                scope.push(pcf.binder(name));
            }
            Task::Build(id) => {
                let mut part = || done.pop().expect("parts are built first");
                let term = match terms.get(id) {
                    Term::Var(index) => pcf::Term::Variable(scope[scope.len() - 1 - index as usize]),
                    Term::Num(value) => match i64::try_from(value) {
                        Ok(value) => pcf::Term::Int(value),
                        Err(_) => return Err(Stop::Outside("a number above 2^63 - 1")),
                    },
                    Term::Lambda(..) => pcf::Term::Lambda(scope.pop().expect("it was bound"), part()),
                    Term::Apply(..) => {
                        let argument = part();
                        pcf::Term::Apply(part(), argument)
                    }
                    Term::Fix(_) => pcf::Term::Fix(part()),
                    Term::Op(Op::Pred, 0, _) => pcf::Term::Predecessor(part()),
                    Term::Op(Op::Succ, 0, _) => {
                        let of = part();
                        let one = pcf.term(pcf::Term::Int(1), whole)?;
                        pcf::Term::Operator(Operator::Infix("+"), of, one)
                    }
                    Term::If(0, ..) => {
                        let (no, yes) = (part(), part());
                        pcf::Term::If(part(), "==", yes, no)
                    }
                    Term::Let(0, ..) => {
                        let binder = scope.pop().expect("it was bound");
                        let body = part();
                        pcf::Term::Let(binder, part(), body)
                    }
                    _ => return Err(Stop::Outside("a term at a depth")),
                };
                done.push(pcf.term(term, whole)?);
            }
        }
    }
    Ok((pcf, done.pop().expect("the program is built")))
}
