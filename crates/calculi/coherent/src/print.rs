//! Terms as text. The text parses back, except for sums and zeros, which programs do not have.
//!
//! Variables keep their source names, with a number where a name is taken.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use crate::parse::LEXICON;
use crate::syntax::{Op, Term, TermId, Terms};

/// The word of an operator, with its index and without its depth.
pub fn word(op: Op) -> String {
    match op {
        Op::Succ => "succ".to_string(),
        Op::Pred => "pred".to_string(),
        Op::Pi(bit) => format!("pi{}", bit.digit()),
        Op::Inj(bit) => format!("inj{}", bit.digit()),
        Op::Theta => "theta".to_string(),
        Op::Flip(0) => "flip".to_string(),
        Op::Flip(levels) => format!("flip[{levels}]"),
    }
}

pub fn show(terms: &Terms, id: TermId) -> String {
    show_briefly(terms, id, usize::MAX)
}

/// The text of a term, cut where it gets long. Free variables print as `#0`, `#1`, …
pub fn show_briefly(terms: &Terms, id: TermId, limit: usize) -> String {
    show_in(&mut Scope::default(), terms, id, limit)
}

/// The text of a term in a scope, cut where it gets long.
pub fn show_in(scope: &mut Scope, terms: &Terms, id: TermId, limit: usize) -> String {
    let outside = scope.names.len();
    let mut printer = Printer { terms, text: String::new(), scope, limit };
    printer.print(id);
    let text = printer.text;
    // If the text was cut, variables may still be in scope.
    while scope.names.len() > outside {
        scope.leave();
    }
    text
}

/// The names of the variables in scope, all of them different.
#[derive(Debug, Default)]
pub struct Scope {
    /// The names, the innermost last.
    names: Vec<String>,
    used: FxHashSet<String>,
}

impl Scope {
    /// A name for the variable of a binder: its source name, with a number where that is taken.
    pub fn fresh(&self, terms: &Terms, binder: TermId) -> String {
        let given = terms.binder_name(binder).map_or("x", |name| terms.names.text(name));
        let is_free = |name: &String| !self.used.contains(name) && !LEXICON.reserved.contains(&name.as_str());
        let numbered = (self.names.len()..).map(|number| format!("{given}'{number}"));
        let mut candidates = std::iter::once(given.to_string()).chain(numbered);
        candidates.find(is_free).expect("there are more names than variables")
    }

    /// A variable comes into scope.
    pub fn enter(&mut self, name: String) {
        self.used.insert(name.clone());
        self.names.push(name);
    }

    /// Removes the innermost variable from the scope.
    pub fn leave(&mut self) {
        let name = self.names.pop().expect("the variable is in scope");
        self.used.remove(&name);
    }

    /// The name of a variable, by its index; `None` if it is free.
    pub fn name(&self, index: u32) -> Option<&str> {
        let place = self.names.len().checked_sub(index as usize + 1)?;
        Some(&self.names[place])
    }
}

enum Task {
    /// A term at a place without restrictions.
    Anywhere(TermId),
    /// A term that must be an argument: applications and blocks get parentheses.
    Argument(TermId),
    Text(&'static str),
    /// A variable comes into scope.
    Enter(String),
    /// The innermost variable leaves the scope.
    Leave,
}

struct Printer<'a> {
    terms: &'a Terms,
    text: String,
    scope: &'a mut Scope,
    limit: usize,
}

impl Printer<'_> {
    fn print(&mut self, id: TermId) {
        let mut work = vec![Task::Anywhere(id)];
        while let Some(task) = work.pop() {
            if self.text.len() > self.limit {
                self.text.push('…');
                return;
            }
            match task {
                Task::Text(text) => self.text.push_str(text),
                Task::Enter(name) => self.scope.enter(name),
                Task::Leave => self.scope.leave(),
                Task::Argument(id) => {
                    let needs_brackets = matches!(
                        self.terms.get(id),
                        Term::Lambda(..) | Term::Apply(..) | Term::If(..) | Term::Let(..) | Term::Sum(..)
                    );
                    if needs_brackets {
                        work.extend([Task::Text(")"), Task::Anywhere(id), Task::Text("(")]);
                    } else {
                        self.form(id, &mut work);
                    }
                }
                Task::Anywhere(id) => self.form(id, &mut work),
            }
        }
    }

    fn form(&mut self, id: TermId, work: &mut Vec<Task>) {
        use Task::{Anywhere, Argument, Enter, Leave, Text};
        match self.terms.get(id) {
            Term::Var(index) => match self.scope.name(index) {
                Some(name) => self.text.push_str(name),
                None => self.write(format_args!("#{}", index as usize - self.scope.names.len())),
            },
            Term::Num(n) => self.write(format_args!("{n}")),
            Term::Coin(probability) => {
                self.write(format_args!("coin({})", self.terms.probability(probability)));
            }
            Term::Zero(ty) => self.write(format_args!("0_({})", self.terms.types.show(ty))),
            Term::Lambda(ty, body) => {
                let name = self.scope.fresh(self.terms, id);
                let ty = self.terms.types.show_at_most(ty, self.limit);
                self.write(format_args!("\\{name}:{ty}. "));
                work.extend([Leave, Anywhere(body), Enter(name)]);
            }
            Term::Apply(function, argument) => {
                work.extend([Argument(argument), Text(" "), self.function(function)]);
            }
            Term::Fix(m) => work.extend([Argument(m), Text("fix ")]),
            Term::Derive(m) => work.extend([Argument(m), Text("D ")]),
            Term::Tick(m) => work.extend([Argument(m), Text("tick ")]),
            Term::Op(op, depth, m) => {
                self.text.push_str(&word(op));
                self.depth(depth);
                work.extend([Argument(m), Text(" ")]);
            }
            Term::If(depth, m, p, q) => {
                self.text.push_str("if");
                self.depth(depth);
                work.extend([
                    Anywhere(q),
                    Text(" else "),
                    Anywhere(p),
                    Text(" then "),
                    Anywhere(m),
                    Text(" "),
                ]);
            }
            Term::Let(depth, m, p) => {
                let name = self.scope.fresh(self.terms, id);
                self.text.push_str("let");
                self.depth(depth);
                self.write(format_args!(" {name} = "));
                work.extend([Leave, Anywhere(p), Enter(name), Text(" in "), Anywhere(m)]);
            }
            Term::Sum(m, n) => work.extend([Argument(n), Text(" + "), Argument(m)]),
        }
    }

    fn function(&self, id: TermId) -> Task {
        // `f a b` needs no parentheses.
        if matches!(self.terms.get(id), Term::Apply(..)) { Task::Anywhere(id) } else { Task::Argument(id) }
    }

    fn depth(&mut self, depth: u32) {
        if depth > 0 {
            self.write(format_args!("^{depth}"));
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all that is written");
    }
}
