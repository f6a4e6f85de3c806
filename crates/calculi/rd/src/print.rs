//! Core terms as `.rd` text that reads back as the same term.
//!
//! Each binder gets a name that no other binder of the printed term has, the user's own where possible, so
//! nothing is captured. Free variables print as their values where those are known.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::operation::{Op, Primitive};
use crate::syntax::{FnId, Term, TermId, Terms, Test, VarId};
use crate::value::Value;

use eddy_syntax::real::Real;

/// Prints a term on one line; the values of its free variables are taken from `env`.
pub fn print(terms: &Terms, env: &FxHashMap<VarId, Value>, term: TermId) -> String {
    Printer::new(terms, env).print(term)
}

/// Prints several terms with consistent names.
pub struct Printer<'a> {
    terms: &'a Terms,
    env: &'a FxHashMap<VarId, Value>,
    vars: FxHashMap<VarId, String>,
    functions: FxHashMap<FnId, String>,
    used: FxHashSet<String>,
    /// The last suffix tried for each base name.
    suffixes: FxHashMap<String, u64>,
    out: String,
}

/// The syntactic position of a term: a whole term, an operand of `+` or of a comparison, the right operand of
/// `+`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Term,
    Sum,
    Product,
}

enum Task {
    Text(&'static str),
    Owned(String),
    Term(TermId, Place),
    /// `x:T` of a binder; printing it chooses the name of `x`.
    Binder(VarId),
}

impl<'a> Printer<'a> {
    pub fn new(terms: &'a Terms, env: &'a FxHashMap<VarId, Value>) -> Self {
        let (vars, functions) = (FxHashMap::default(), FxHashMap::default());
        Printer {
            terms,
            env,
            vars,
            functions,
            used: FxHashSet::default(),
            suffixes: FxHashMap::default(),
            out: String::new(),
        }
    }

    /// The name of a variable that is free in the following terms.
    pub fn name(&mut self, var: VarId) -> String {
        let name = self.unused(self.terms.names.text(self.terms.var(var).name));
        self.vars.insert(var, name.clone());
        name
    }

    pub fn print(&mut self, term: TermId) -> String {
        let mut tasks = vec![Task::Term(term, Place::Term)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Text(text) => self.out.push_str(text),
                Task::Owned(text) => self.out.push_str(&text),
                Task::Binder(var) => {
                    let name = self.name(var);
                    let ty = self.terms.types.show(self.terms.var(var).ty);
                    let _ = write!(self.out, "{name}:{ty}");
                }
                Task::Term(term, place) => self.term(term, place, &mut tasks),
            }
        }
        std::mem::take(&mut self.out)
    }

    fn unused(&mut self, base: &str) -> String {
        if self.used.insert(base.to_string()) {
            return base.to_string();
        }
        // Continues where the last search ended: a long trace has thousands of names with one base.
        let suffix = self.suffixes.entry(base.to_string()).or_insert(1);
        loop {
            *suffix += 1;
            let name = format!("{base}_{suffix}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    fn term(&mut self, id: TermId, place: Place, tasks: &mut Vec<Task>) {
        use Task::{Owned, Text};
        let inner = |id: TermId| Task::Term(id, Place::Term);
        let operand = |id: TermId, place: Place| Task::Term(id, place);
        let term = self.terms.term(id);
        let loose = matches!(term, Term::Let { .. } | Term::If { .. } | Term::Letrec { .. });
        let sum = matches!(term, Term::Add(..));
        let parenthesised = (loose && place != Place::Term) || (sum && place == Place::Product);
        // Tasks run from the last to the first, so the parts are listed in order and reversed at the end.
        let mut parts: Vec<Task> = Vec::new();
        if parenthesised {
            parts.push(Text("("));
        }
        match term {
            Term::Var(var) => parts.push(Owned(self.occurrence(var))),
            Term::Real(value) => parts.push(Owned(Real(value).to_string())),
            Term::Unit => parts.push(Text("()")),
            Term::Add(left, right) => {
                parts.extend([operand(left, Place::Sum), Text(" + "), operand(right, Place::Product)]);
            }
            Term::Op(Op::Primal(primitive), argument) => {
                parts.extend([Owned(primitive.name()), Text("("), inner(argument), Text(")")]);
            }
            Term::Op(Op::Reverse(primitive), argument) => self.reverse(primitive, argument, &mut parts),
            Term::Let { var, bound, body } => {
                parts.extend([
                    Text("let "),
                    Task::Binder(var),
                    Text(" = "),
                    inner(bound),
                    Text(" in "),
                    inner(body),
                ]);
            }
            Term::Pair(left, right) => {
                parts.extend([Text("("), inner(left), Text(", "), inner(right), Text(")")]);
            }
            Term::Fst(pair) => parts.extend([Text("fst("), inner(pair), Text(")")]),
            Term::Snd(pair) => parts.extend([Text("snd("), inner(pair), Text(")")]),
            Term::If { test, yes, no } => {
                parts.push(Text("if "));
                self.test(test, &mut parts);
                parts.extend([Text(" then "), inner(yes), Text(" else "), inner(no)]);
            }
            Term::Letrec { function, body } => self.letrec(function, body, &mut parts),
            Term::Call { function, argument } => {
                let name = self.functions.get(&function).expect("functions are named where they are defined");
                parts.extend([Owned(name.clone()), Text("("), inner(argument), Text(")")]);
            }
            Term::Rd { cotangent, point, var, body } => parts.extend([
                Text("("),
                inner(cotangent),
                Text(").rd["),
                inner(point),
                Text("]("),
                Task::Binder(var),
                Text(". "),
                inner(body),
                Text(")"),
            ]),
        }
        if parenthesised {
            parts.push(Text(")"));
        }
        tasks.extend(parts.into_iter().rev());
    }

    fn occurrence(&self, var: VarId) -> String {
        match (self.vars.get(&var), self.env.get(&var)) {
            (Some(name), _) => name.clone(),
            (None, Some(value)) => value.to_string(),
            (None, None) => self.terms.names.text(self.terms.var(var).name).to_string(),
        }
    }

    /// `op_r(⟨L,M⟩)` is written `(M).op_r(L)`.
    fn reverse(&mut self, primitive: Primitive, argument: TermId, parts: &mut Vec<Task>) {
        let name = Op::Reverse(primitive).name();
        let Term::Pair(point, cotangent) = self.terms.term(argument) else {
            // An argument that is not a literal pair gets a name first.
            let pair = self.unused("p");
            let use_of_pair = format!(" in (snd({pair})).{name}(fst({pair})))");
            parts.extend([
                Task::Owned(format!("(let {pair} = ")),
                Task::Term(argument, Place::Term),
                Task::Owned(use_of_pair),
            ]);
            return;
        };
        parts.extend([
            Task::Text("("),
            Task::Term(cotangent, Place::Term),
            Task::Owned(format!(").{name}(")),
            Task::Term(point, Place::Term),
            Task::Text(")"),
        ]);
    }

    fn test(&mut self, test: Test, parts: &mut Vec<Task>) {
        match test {
            Test::Constant(known) => parts.push(Task::Text(if known { "true" } else { "false" })),
            Test::Pred(pred, argument) => {
                let symbol = format!(" {} ", pred.symbol());
                let Term::Pair(left, right) = self.terms.term(argument) else {
                    unreachable!("conditions are written as comparisons of two terms")
                };
                parts.extend([
                    Task::Term(left, Place::Sum),
                    Task::Owned(symbol),
                    Task::Term(right, Place::Sum),
                ]);
            }
        }
    }

    fn letrec(&mut self, function: FnId, body: TermId, parts: &mut Vec<Task>) {
        let known = self.terms.function(function);
        let name = self.unused(self.terms.function_name(function));
        let limit = known.limit.map_or(String::new(), |limit| format!("[{limit}]"));
        self.functions.insert(function, name.clone());
        parts.extend([
            Task::Owned(format!("letrec{limit} {name}(")),
            Task::Binder(known.param),
            Task::Owned(format!("):{} = ", self.terms.types.show(known.result))),
            Task::Term(self.terms.body(function), Place::Term),
            Task::Text(" in "),
            Task::Term(body, Place::Term),
        ]);
    }
}
