//! Integers and functions: the common part of `coherent` and `lam`, and its translation.
//!
//! | term | function |
//! | --- | --- |
//! | `n`, `+ - *`, comparisons | integers; a comparison is `if a < b then 1 else 0` |
//! | `/`, `%` | helpers that round down; `div` and `mod` leave a remainder that is not negative |
//! | `pred m` | a helper: the predecessor of 0 is 0 |
//! | `if` | `if m == 0` or `if m != 0` |
//! | `λx.λy.t`, applied to `a` and `b` | a function of two parameters, `f(a, b)` |
//! | `let x = s in t`, `(λx.t) s` | `let x = s in t` |
//! | `fix λf.λx.t` | `let f(x) -> int = t in f` |
//!
//! A function cannot return a function, so a term of a function type is written together with its arguments,
//! which are names: `λx.t` with the argument `a` is `t` where `x` is called `a`. The type of a term
//! determines how many arguments it takes; types are found by unification. They may be infinite, as that of
//! `λs.λn. s s (n - 1)`, so that recursion by self-application becomes a recursive function; only the number
//! of arguments must be finite.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::writer::{TooLong, Translation, Writer};
use super::{outside, too_long};

eddy_index::id! {
    /// A term; its parts have smaller ids.
    pub(super) struct TermId, "the limit of terms is smaller";
    pub(super) struct BinderId, "the limit of terms is smaller";
    struct TypeId, "a few types for each term";
}

/// The maximal number of terms: a kernel shares equal parts, so without sharing its program may be
/// exponentially longer than its text.
pub(super) const MAX_TERMS: usize = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// An operator that is the same in both languages.
    Infix(&'static str),
    Compare(&'static str),
    FloorDiv,
    FloorMod,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    Variable(BinderId),
    Lambda(BinderId, TermId),
    Apply(TermId, TermId),
    Int(i64),
    Operator(Operator, TermId, TermId),
    Predecessor(TermId),
    /// The condition, the operator that compares it with 0, and the branches.
    If(TermId, &'static str, TermId, TermId),
    Fix(TermId),
    /// `let x = s in t`, where `s` is a number.
    Let(BinderId, TermId, TermId),
}

#[derive(Clone, Copy, Debug)]
enum Type {
    Unknown,
    Int,
    Arrow(TypeId, TypeId),
    Same(TypeId),
}

/// A program under construction.
#[derive(Debug, Default)]
pub(super) struct Pcf {
    terms: Vec<(Term, Span)>,
    /// The names of binders in the source.
    binders: Vec<String>,
    types: Vec<Type>,
}

/// Why there is no translation.
enum Stop {
    Outside(Box<Diagnostic>),
    TooLong,
}

impl From<TooLong> for Stop {
    fn from(_: TooLong) -> Stop {
        Stop::TooLong
    }
}

impl Pcf {
    /// Adds a term, unless there are too many.
    pub fn term(&mut self, term: Term, span: Span) -> Result<TermId, TooLong> {
        if self.terms.len() == MAX_TERMS {
            return Err(TooLong);
        }
        self.terms.push((term, span));
        Ok(TermId::new(self.terms.len() - 1))
    }

    pub fn binder(&mut self, name: &str) -> BinderId {
        self.binders.push(name.to_string());
        BinderId::new(self.binders.len() - 1)
    }

    /// `eval` of a term.
    pub fn translate(mut self, main: TermId) -> Result<Translation, Vec<Diagnostic>> {
        let whole = self.terms[main.index()].1;
        let written = self.infer().and_then(|()| Emission::new(&self, main)?.program(main));
        written.map_err(|stop| {
            vec![match stop {
                Stop::Outside(diagnostic) => *diagnostic,
                Stop::TooLong => too_long(whole),
            }]
        })
    }

    /// The type of a term. `types` begins with the types of all terms, then those of all binders.
    fn of_term(term: TermId) -> TypeId {
        TypeId::new(term.index())
    }

    fn of_binder(&self, binder: BinderId) -> TypeId {
        TypeId::new(self.terms.len() + binder.index())
    }

    fn infer(&mut self) -> Result<(), Stop> {
        self.types = vec![Type::Unknown; self.terms.len() + self.binders.len()];
        self.types.push(Type::Int);
        let int = TypeId::new(self.types.len() - 1);
        for at in 0..self.terms.len() {
            let (term, span) = self.terms[at];
            let own = TypeId::new(at);
            let equal: [Option<(TypeId, TypeId)>; 3] = match term {
                Term::Variable(binder) => [Some((own, self.of_binder(binder))), None, None],
                Term::Lambda(binder, body) => {
                    let arrow = self.arrow(self.of_binder(binder), Self::of_term(body));
                    [Some((own, arrow)), None, None]
                }
                Term::Apply(function, argument) => {
                    let arrow = self.arrow(Self::of_term(argument), own);
                    [Some((Self::of_term(function), arrow)), None, None]
                }
                Term::Int(_) => [Some((own, int)), None, None],
                Term::Operator(_, left, right) => {
                    [Some((own, int)), Some((Self::of_term(left), int)), Some((Self::of_term(right), int))]
                }
                Term::Predecessor(of) => [Some((own, int)), Some((Self::of_term(of), int)), None],
                Term::If(condition, _, yes, no) => [
                    Some((Self::of_term(condition), int)),
                    Some((own, Self::of_term(yes))),
                    Some((own, Self::of_term(no))),
                ],
                Term::Fix(of) => {
                    let arrow = self.arrow(own, own);
                    [Some((Self::of_term(of), arrow)), None, None]
                }
                Term::Let(binder, value, body) => [
                    Some((self.of_binder(binder), int)),
                    Some((Self::of_term(value), int)),
                    Some((own, Self::of_term(body))),
                ],
            };
            for (left, right) in equal.into_iter().flatten() {
                if !self.unify(left, right) {
                    let reason = "functions have types, and this would need two";
                    let what = "a term that is used as a number and as a function";
                    return Err(Stop::Outside(Box::new(outside(span, what, reason))));
                }
            }
        }
        Ok(())
    }

    fn arrow(&mut self, from: TypeId, to: TypeId) -> TypeId {
        self.types.push(Type::Arrow(from, to));
        TypeId::new(self.types.len() - 1)
    }

    /// Makes two types equal; returns whether that is possible. Types may be cyclic.
    fn unify(&mut self, left: TypeId, right: TypeId) -> bool {
        let mut work = vec![(left, right)];
        while let Some((left, right)) = work.pop() {
            let (left, right) = (self.representative(left), self.representative(right));
            if left == right {
                continue;
            }
            match (self.types[left.index()], self.types[right.index()]) {
                (Type::Unknown, _) => self.types[left.index()] = Type::Same(right),
                (_, Type::Unknown) | (Type::Int, Type::Int) => self.types[right.index()] = Type::Same(left),
                (Type::Arrow(a, b), Type::Arrow(c, d)) => {
                    self.types[right.index()] = Type::Same(left);
                    work.extend([(a, c), (b, d)]);
                }
                _ => return false,
            }
        }
        true
    }

    fn representative(&mut self, ty: TypeId) -> TypeId {
        let mut root = ty;
        while let Type::Same(other) = self.types[root.index()] {
            root = other;
        }
        let mut at = ty;
        while let Type::Same(other) = self.types[at.index()] {
            self.types[at.index()] = Type::Same(root);
            at = other;
        }
        root
    }

    /// The number of arguments that a term of this type takes until it is a number; `None` if it is infinite.
    fn arity(&self, ty: TypeId) -> Option<usize> {
        let (mut at, mut n, mut seen) = (ty, 0, FxHashSet::default());
        loop {
            match self.types[at.index()] {
                Type::Same(other) => at = other,
                Type::Unknown | Type::Int => return Some(n),
                Type::Arrow(_, to) => {
                    if !seen.insert(at) {
                        return None;
                    }
                    n += 1;
                    at = to;
                }
            }
        }
    }
}

/// Pending work.
enum Task {
    Text(&'static str),
    Owned(String),
    /// A term with its arguments.
    Term(TermId, Vec<String>),
    /// A function as an argument.
    Function(TermId),
    /// The following text uses this name for the variable.
    Name(BinderId, String),
    At(Span),
}

use Task::{Owned, Text};

/// The text of a program whose types are known.
struct Emission<'a> {
    pcf: &'a Pcf,
    out: Writer,
    names: FxHashMap<BinderId, String>,
    /// The helpers that are used: their names and texts.
    helpers: Vec<(&'static str, String)>,
    tasks: Vec<Task>,
}

impl<'a> Emission<'a> {
    fn new(pcf: &'a Pcf, main: TermId) -> Result<Emission<'a>, Stop> {
        let emission = Emission {
            pcf,
            out: Writer::default(),
            names: FxHashMap::default(),
            helpers: Vec::new(),
            tasks: Vec::new(),
        };
        for at in 0..pcf.terms.len() {
            emission.arity(TermId::new(at))?;
        }
        if emission.arity(main)? > 0 {
            let reason = "a value consists of numbers; apply the function";
            let what = "a program whose value is a function";
            return Err(Stop::Outside(Box::new(outside(pcf.terms[main.index()].1, what, reason))));
        }
        Ok(emission)
    }

    fn program(mut self, main: TermId) -> Result<Translation, Stop> {
        self.out.item(self.pcf.terms[main.index()].1);
        self.out.push("eval ");
        self.schedule([Task::Term(main, Vec::new()), Text(";\n")]);
        while let Some(task) = self.tasks.pop() {
            self.out.has_room()?;
            match task {
                Text(text) => self.out.push(text),
                Owned(text) => self.out.push(&text),
                Task::Term(term, arguments) => self.term(term, arguments)?,
                Task::Function(term) => self.function(term)?,
                Task::Name(binder, name) => drop(self.names.insert(binder, name)),
                Task::At(span) => self.out.at(span),
            }
        }
        for (text, name) in &self.helpers {
            self.out.push(&text.replace("NAME", name));
        }
        Ok(self.out.finish())
    }

    fn schedule(&mut self, tasks: impl IntoIterator<Item = Task, IntoIter: DoubleEndedIterator>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    fn arity(&self, term: TermId) -> Result<usize, Stop> {
        self.pcf.arity(Pcf::of_term(term)).ok_or_else(|| {
            let reason = "however many arguments it gets, it returns a function";
            let what = "a function without a number of parameters";
            Stop::Outside(Box::new(outside(self.pcf.terms[term.index()].1, what, reason)))
        })
    }

    /// Names for the parameters of a function, after the binders of its λs; without a λ, the name is `x`.
    fn parameters(&mut self, term: TermId, n: usize) -> Vec<String> {
        let (mut names, mut at) = (Vec::new(), term);
        for _ in 0..n {
            let like = match self.pcf.terms[at.index()].0 {
                Term::Lambda(binder, body) => {
                    at = body;
                    &*self.pcf.binders[binder.index()]
                }
                _ => "x",
            };
            names.push(self.out.local(like));
        }
        names
    }

    /// `\x, y. t`, or the name of a function.
    fn function(&mut self, term: TermId) -> Result<(), Stop> {
        if let Term::Variable(binder) = self.pcf.terms[term.index()].0 {
            self.out.push(&self.names[&binder]);
            return Ok(());
        }
        let n = self.arity(term)?;
        let names = self.parameters(term, n);
        self.schedule([Owned(format!("\\{}. ", names.join(", "))), Task::Term(term, names)]);
        Ok(())
    }

    fn argument(&self, term: TermId) -> Result<Task, Stop> {
        Ok(if self.arity(term)? == 0 { Task::Term(term, Vec::new()) } else { Task::Function(term) })
    }

    fn term(&mut self, id: TermId, arguments: Vec<String>) -> Result<(), Stop> {
        let (term, span) = self.pcf.terms[id.index()];
        let around = self.out.place();
        self.out.at(span);
        self.tasks.push(Task::At(around));
        match term {
            Term::Variable(binder) => {
                self.out.push(&self.names[&binder]);
                if !arguments.is_empty() {
                    self.out.push(&format!("({})", arguments.join(", ")));
                }
            }
            Term::Int(value) if value < 0 => self.out.push(&format!("({value})")),
            Term::Int(value) => self.out.push(&value.to_string()),
            Term::Operator(operator, left, right) => self.operator(operator, left, right),
            Term::Predecessor(of) => {
                let name = self.helper(PREDECESSOR, "predecessor");
                self.schedule([Owned(name + "("), Task::Term(of, Vec::new()), Text(")")]);
            }
            Term::If(condition, comparison, yes, no) => self.schedule([
                Text("(if "),
                Task::Term(condition, Vec::new()),
                Owned(format!(" {comparison} 0 then ")),
                Task::Term(yes, arguments.clone()),
                Text(" else "),
                Task::Term(no, arguments),
                Text(")"),
            ]),
            Term::Lambda(binder, body) => {
                let mut arguments = arguments;
                let first = arguments.remove(0);
                self.schedule([Task::Name(binder, first), Task::Term(body, arguments)]);
            }
            Term::Apply(function, argument) => self.application(function, argument, arguments)?,
            Term::Let(binder, value, body) => {
                let name = self.out.local(&self.pcf.binders[binder.index()]);
                self.schedule([
                    Owned(format!("(let {name} = ")),
                    Task::Term(value, Vec::new()),
                    Text(" in "),
                    Task::Name(binder, name),
                    Task::Term(body, arguments),
                    Text(")"),
                ]);
            }
            Term::Fix(of) => {
                let like = match self.pcf.terms[of.index()].0 {
                    Term::Lambda(binder, _) => &*self.pcf.binders[binder.index()],
                    _ => "f",
                };
                let name = self.out.local(like);
                let params: Vec<String> = (0..arguments.len()).map(|_| self.out.local("x")).collect();
                // A recursive number is a function without parameters.
                let itself = if params.is_empty() { format!("{name}()") } else { name.clone() };
                let inner = [itself].into_iter().chain(params.iter().cloned()).collect();
                self.schedule([
                    Owned(format!("(let {name}({}) -> int = ", params.join(", "))),
                    Task::Term(of, inner),
                    Owned(format!(" in {name}({}))", arguments.join(", "))),
                ]);
            }
        }
        Ok(())
    }

    fn application(
        &mut self,
        function: TermId,
        argument: TermId,
        mut trailing: Vec<String>,
    ) -> Result<(), Stop> {
        if let Term::Lambda(binder, body) = self.pcf.terms[function.index()].0 {
            let name = self.out.local(&self.pcf.binders[binder.index()]);
            let n = self.arity(argument)?;
            let head = match n {
                0 => format!("(let {name} = "),
                _ => String::new(),
            };
            let value = match n {
                0 => vec![Owned(head), Task::Term(argument, Vec::new())],
                _ => {
                    let params = self.parameters(argument, n);
                    vec![
                        Owned(format!("(let {name}({}) -> int = ", params.join(", "))),
                        Task::Term(argument, params),
                    ]
                }
            };
            let rest = [Text(" in "), Task::Name(binder, name), Task::Term(body, trailing), Text(")")];
            self.schedule(value.into_iter().chain(rest).collect::<Vec<_>>());
            return Ok(());
        }
        let (mut head, mut applied) = (function, vec![argument]);
        while let Term::Apply(function, argument) = self.pcf.terms[head.index()].0
            && !matches!(self.pcf.terms[function.index()].0, Term::Lambda(..))
        {
            applied.push(argument);
            head = function;
        }
        applied.reverse();
        if let Term::Variable(binder) = self.pcf.terms[head.index()].0 {
            let mut tasks = vec![Owned(format!("{}(", self.names[&binder]))];
            for (at, argument) in applied.into_iter().enumerate() {
                tasks.extend((at > 0).then_some(Text(", ")));
                tasks.push(self.argument(argument)?);
            }
            tasks.extend(trailing.into_iter().map(|name| Owned(format!(", {name}"))));
            tasks.push(Text(")"));
            self.schedule(tasks);
            return Ok(());
        }
        // Any other function is written with names as arguments.
        let (mut tasks, mut names) = (vec![Text("(")], Vec::new());
        for argument in applied {
            let name = self.out.local("a");
            tasks.extend([Owned(format!("let {name} = ")), self.argument(argument)?, Text(" in ")]);
            names.push(name);
        }
        names.append(&mut trailing);
        tasks.extend([Task::Term(head, names), Text(")")]);
        self.schedule(tasks);
        Ok(())
    }

    fn operator(&mut self, operator: Operator, left: TermId, right: TermId) {
        let (open, between, close) = match operator {
            Operator::Infix(symbol) => ("(".to_string(), format!(" {symbol} "), ")"),
            Operator::Compare(symbol) => ("(if ".to_string(), format!(" {symbol} "), " then 1 else 0)"),
            Operator::FloorDiv => (self.helper(FLOOR_DIV, "floor_div") + "(", ", ".to_string(), ")"),
            Operator::FloorMod => (self.helper(FLOOR_MOD, "floor_mod") + "(", ", ".to_string(), ")"),
        };
        let operand = |term| Task::Term(term, Vec::new());
        self.schedule([Owned(open), operand(left), Owned(between), operand(right), Text(close)]);
    }

    fn helper(&mut self, text: &'static str, like: &str) -> String {
        if let Some((_, name)) = self.helpers.iter().find(|(known, _)| *known == text) {
            return name.clone();
        }
        let name = self.out.global(like);
        self.helpers.push((text, name.clone()));
        name
    }
}

const PREDECESSOR: &str = "fn NAME(n: int) -> int = if n == 0 then 0 else n - 1;\n";

// `div` and `mod` leave a remainder that is not negative; with rounding down, the remainder has the sign of
// the divisor.
const FLOOR_DIV: &str =
    "fn NAME(a: int, b: int) -> int = if b < 0 and a mod b != 0 then a div b - 1 else a div b;\n";
const FLOOR_MOD: &str =
    "fn NAME(a: int, b: int) -> int = let r = a mod b in if b < 0 and r != 0 then r + b else r;\n";
