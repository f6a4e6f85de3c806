//! Kernel terms as text, for traces and for the normal forms of open programs.
//!
//! The text is source text: `let`s, patterns of names, `λ`, `Ω` and `·`. A chain of projections on a variable
//! prints as `π2 (π1 e)`. Bound variables keep their source names, with a number where a name is taken.
//!
//! Terms are graphs and text is a tree, so the text of a small term may be huge: it is cut after [`LONGEST`]
//! bytes.

use rustc_hash::FxHashMap;

use crate::eval::literal;
use crate::names::Name;
use crate::syntax::{Hint, Path, Term, TermId, Terms};
use eddy_syntax::real::Real;

/// The precedence of the place of a term.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Open,
    Sum,
    Contract,
    Dot,
    Apply,
    Atom,
}

enum Task {
    Word(&'static str),
    Text(String),
    Term(TermId, Level),
    Bind(Hint, String),
    Unbind,
}

/// The maximal length of a text, in bytes: a let series of ten thousand steps is shorter.
pub const LONGEST: usize = 1 << 20;

struct Printer<'a> {
    terms: &'a Terms,
    out: String,
    tasks: Vec<Task>,
    /// The names of the enclosing binders, the innermost last.
    names: Vec<(Hint, String)>,
    taken: FxHashMap<String, u32>,
    /// The number of enclosing binders with each source name.
    written: FxHashMap<Hint, usize>,
    /// Whether pullbacks are shown as `⟨P | K⟩_y`.
    cps: bool,
}

pub fn show(terms: &Terms, id: TermId) -> String {
    show_with(terms, id, false)
}

/// A term as text; with `cps`, pullbacks `(Ω λy.P)·K` are configurations `⟨P | K⟩_y` (section 3.5 of the
/// paper).
pub fn show_with(terms: &Terms, id: TermId, cps: bool) -> String {
    show_up_to(terms, id, cps, LONGEST)
}

/// Like [`show_with`], cut after `longest` bytes.
pub fn show_up_to(terms: &Terms, id: TermId, cps: bool, longest: usize) -> String {
    run(terms, vec![Task::Term(id, Level::Open)], cps, longest)
}

fn run(terms: &Terms, tasks: Vec<Task>, cps: bool, longest: usize) -> String {
    let mut printer = Printer {
        terms,
        out: String::new(),
        tasks,
        names: Vec::new(),
        taken: FxHashMap::default(),
        written: FxHashMap::default(),
        cps,
    };
    while let Some(task) = printer.tasks.pop() {
        if printer.out.len() > longest {
            printer.out.push('…');
            break;
        }
        match task {
            Task::Word(word) => printer.out.push_str(word),
            Task::Text(text) => printer.out.push_str(&text),
            Task::Term(id, level) => printer.term(id, level),
            Task::Bind(hint, name) => {
                *printer.taken.entry(name.clone()).or_default() += 1;
                *printer.written.entry(hint).or_default() += 1;
                printer.names.push((hint, name));
            }
            Task::Unbind => {
                let (hint, name) = printer.names.pop().expect("it was bound");
                *printer.taken.get_mut(&name).expect("it was taken") -= 1;
                *printer.written.get_mut(&hint).expect("it was written") -= 1;
            }
        }
    }
    printer.out
}

/// The body of a binder as text, under the name of its variable.
pub fn show_body(terms: &Terms, hint: Hint, body: TermId) -> String {
    let name = terms.names.text(hint.0).to_string();
    run(terms, vec![Task::Term(body, Level::Open), Task::Bind(hint, name)], false, LONGEST)
}

impl Printer<'_> {
    fn term(&mut self, id: TermId, place: Level) {
        if let Some(text) = self.literal(id) {
            // A negative number needs parentheses as an operand.
            let text = if text.starts_with('-') && place > Level::Sum { format!("({text})") } else { text };
            self.out.push_str(&text);
            return;
        }
        let (level, tasks) = self.form(id);
        let brackets = level < place;
        if brackets {
            self.tasks.push(Task::Word(")"));
        }
        self.tasks.extend(tasks.into_iter().rev());
        if brackets {
            self.tasks.push(Task::Word("("));
        }
    }

    fn form(&mut self, id: TermId) -> (Level, Vec<Task>) {
        let apply = |head: Task, operand: TermId| {
            (Level::Apply, vec![head, Task::Word(" "), Task::Term(operand, Level::Atom)])
        };
        match self.terms.term(id) {
            Term::Bound(index) => (Level::Atom, vec![Task::Text(self.bound(index))]),
            Term::Free(var) => {
                (Level::Atom, vec![Task::Text(self.text(self.terms.var(var).name).to_string())])
            }
            Term::Lambda(hint, body) => {
                let name = self.fresh(hint);
                let head = Task::Text(format!("λ{name}. "));
                (Level::Open, vec![head, Task::Bind(hint, name), Task::Term(body, Level::Open), Task::Unbind])
            }
            Term::Apply(function, argument) => match self.terms.term(function) {
                Term::Lambda(hint, body) => self.binding(hint, argument, body),
                _ => (
                    Level::Apply,
                    vec![
                        Task::Term(function, Level::Apply),
                        Task::Word(" "),
                        Task::Term(argument, Level::Atom),
                    ],
                ),
            },
            Term::Pair(..) => (Level::Atom, self.tuple(id)),
            Term::Project(path, of) => (Level::Apply, projection(path, of)),
            Term::Real(value) => (Level::Atom, vec![Task::Text(Real(value).to_string())]),
            Term::Prim(f, of) => {
                let head = Task::Text(format!("{}(", self.terms.primitives.get(f).name));
                (Level::Atom, vec![head, Task::Term(of, Level::Open), Task::Word(")")])
            }
            Term::PrimJacobian(f, of) => {
                let head = Task::Text(format!("J {} · ", self.terms.primitives.get(f).name));
                (Level::Dot, vec![head, Task::Term(of, Level::Dot)])
            }
            Term::Dual(hint, body, operand) => {
                let name = self.fresh(hint);
                let head = Task::Text(format!("(λ{name}. "));
                let rest = Task::Word(")^* · ");
                let body = [Task::Bind(hint, name), Task::Term(body, Level::Open), Task::Unbind];
                let mut tasks = vec![head];
                tasks.extend(body);
                tasks.extend([rest, Task::Term(operand, Level::Dot)]);
                (Level::Dot, tasks)
            }
            Term::Pullback(hint, body, form) => self.pullback(hint, body, form),
            Term::Zero => (Level::Atom, vec![Task::Word("zero")]),
            Term::Add(left, right) => (
                Level::Sum,
                vec![Task::Term(left, Level::Sum), Task::Word(" + "), Task::Term(right, Level::Contract)],
            ),
            Term::Jacobian(function, direction) => (
                Level::Dot,
                vec![
                    Task::Word("J "),
                    Task::Term(function, Level::Atom),
                    Task::Word(" · "),
                    Task::Term(direction, Level::Dot),
                ],
            ),
            Term::Contract(left, right) => (
                Level::Contract,
                vec![Task::Term(left, Level::Contract), Task::Word(" @ "), Task::Term(right, Level::Dot)],
            ),
            Term::Flat(of) => apply(Task::Word("flat"), of),
            Term::Sharp(of) => apply(Task::Word("sharp"), of),
        }
    }

    /// `let x = s in t`.
    fn binding(&mut self, hint: Hint, bound: TermId, body: TermId) -> (Level, Vec<Task>) {
        let name = self.fresh(hint);
        let head = Task::Text(format!("let {name} = "));
        let tasks = vec![
            head,
            Task::Term(bound, Level::Open),
            Task::Word(" in "),
            Task::Bind(hint, name),
            Task::Term(body, Level::Open),
            Task::Unbind,
        ];
        (Level::Open, tasks)
    }

    fn pullback(&mut self, hint: Hint, body: TermId, form: TermId) -> (Level, Vec<Task>) {
        let name = self.fresh(hint);
        if self.cps {
            let tasks = vec![
                Task::Word("⟨"),
                Task::Bind(hint, name.clone()),
                Task::Term(body, Level::Open),
                Task::Unbind,
                Task::Word(" | "),
                Task::Term(form, Level::Open),
                Task::Text(format!("⟩_{name}")),
            ];
            return (Level::Atom, tasks);
        }
        let head = Task::Text(format!("(Ω λ{name}. "));
        let tasks = vec![
            head,
            Task::Bind(hint, name),
            Task::Term(body, Level::Open),
            Task::Unbind,
            Task::Word(") · "),
            Task::Term(form, Level::Dot),
        ];
        (Level::Dot, tasks)
    }

    /// `<a, b, c>`: the items along the left spine of a tuple.
    fn tuple(&self, id: TermId) -> Vec<Task> {
        let (mut items, mut at) = (Vec::new(), id);
        while let Term::Pair(left, right) = self.terms.term(at) {
            items.push(right);
            at = left;
        }
        items.push(at);
        let mut tasks = vec![Task::Word("<")];
        for (i, item) in items.into_iter().rev().enumerate() {
            if i > 0 {
                tasks.push(Task::Word(", "));
            }
            tasks.push(Task::Term(item, Level::Open));
        }
        tasks.push(Task::Word(">"));
        tasks
    }

    /// Numbers, tuples of numbers and covectors print as values do.
    fn literal(&self, id: TermId) -> Option<String> {
        use crate::outcome::{Answer, Leaf};
        let ty = self.terms.ty(id);
        let leaves = match self.terms.term(id) {
            Term::Real(_) | Term::Pair(..) => literal::vector(self.terms, id)?,
            Term::Flat(_) => literal::covector(self.terms, id)?,
            _ => return None,
        };
        let leaves = leaves.into_iter().map(Leaf::Real).collect();
        Some(Answer { ty, leaves }.show(&self.terms.types))
    }

    fn bound(&self, index: u32) -> String {
        let from_end = index as usize + 1;
        match self.names.len().checked_sub(from_end) {
            Some(at) => self.names[at].1.clone(),
            None => unreachable!("the caller names the variable of a body"),
        }
    }

    fn text(&self, name: Name) -> &str {
        self.terms.names.text(name)
    }

    /// The name of a binder, with a number if it is taken.
    fn fresh(&self, hint: Hint) -> String {
        let text = self.text(hint.0);
        let is_taken = |name: &str| self.taken.get(name).is_some_and(|count| *count > 0);
        let mut name = text.to_string();
        // Enclosing binders with the same source name already have numbers.
        let mut number = self.written.get(&hint).copied().unwrap_or(0).max(1);
        while is_taken(&name) {
            name = format!("{text}{number}");
            number += 1;
        }
        name
    }
}

/// `π2 (π1 e)`.
fn projection(path: Path, of: TermId) -> Vec<Task> {
    let n = path.lefts as usize + usize::from(path.right);
    let mut tasks = Vec::new();
    for i in 0..n {
        tasks.push(Task::Word(if i == 0 && path.right { "π2 " } else { "π1 " }));
        if i + 1 < n {
            tasks.push(Task::Word("("));
        }
    }
    tasks.push(Task::Term(of, Level::Atom));
    tasks.extend((1..n).map(|_| Task::Word(")")));
    tasks
}
