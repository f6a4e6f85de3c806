//! Terms as text, which parses back (sums and zeros aside, which no program has).
//!
//! Variables get the names that the user gave them, with a number where that is taken.

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

/// A closed term as text.
pub fn show(terms: &Terms, id: TermId) -> String {
    show_briefly(terms, id, usize::MAX)
}

/// A term as text, cut where it gets long. Free variables, if there are any, print as `#0`, `#1`, …
pub fn show_briefly(terms: &Terms, id: TermId, limit: usize) -> String {
    show_open(terms, id, Vec::new(), limit)
}

/// A term with free variables of these names, the innermost last, cut where it gets long.
pub fn show_open(terms: &Terms, id: TermId, scope: Vec<String>, limit: usize) -> String {
    let used = scope.iter().cloned().collect();
    let mut printer = Printer { terms, text: String::new(), scope, used, limit };
    printer.print(id);
    printer.text
}

enum Task {
    /// A term where anything may stand.
    Anywhere(TermId),
    /// A term that must be an argument: applications and blocks get parentheses.
    Argument(TermId),
    Text(&'static str),
    /// A variable comes into scope.
    Enter(String),
    /// The innermost one goes out of scope.
    Leave,
}

struct Printer<'a> {
    terms: &'a Terms,
    text: String,
    scope: Vec<String>,
    used: FxHashSet<String>,
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
                Task::Enter(name) => {
                    self.used.insert(name.clone());
                    self.scope.push(name);
                }
                Task::Leave => {
                    let name = self.scope.pop().expect("the variable is in scope");
                    self.used.remove(&name);
                }
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
            Term::Var(index) => {
                let place = self.scope.len().checked_sub(index as usize + 1);
                match place {
                    Some(place) => self.text.push_str(&self.scope[place]),
                    None => self.write(format_args!("#{}", index as usize - self.scope.len())),
                }
            }
            Term::Num(n) => self.write(format_args!("{n}")),
            Term::Coin(probability) => {
                self.write(format_args!("coin({})", self.terms.probability(probability)));
            }
            Term::Zero(ty) => self.write(format_args!("0_({})", self.terms.types.show(ty))),
            Term::Lambda(ty, body) => {
                let name = self.fresh(id);
                self.write(format_args!("\\{name}:{}. ", self.terms.types.show(ty)));
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
                let name = self.fresh(id);
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

    fn fresh(&self, binder: TermId) -> String {
        let given = self.terms.binder_name(binder).map_or("x", |name| self.terms.names.text(name));
        let is_taken = |name: &str| self.used.contains(name) || LEXICON.reserved.contains(&name);
        if !is_taken(given) {
            return given.to_string();
        }
        let candidates = (self.scope.len()..).map(|number| format!("{given}'{number}"));
        let mut free = candidates.filter(|name| !is_taken(name));
        free.next().expect("there are more names than variables")
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes all that is written");
    }
}
