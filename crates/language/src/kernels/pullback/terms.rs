//! Terms of `pullback`: a work list writes them from left to right, so that deep terms need no recursion.
//!
//! A term of a function type is written together with its arguments, which are names: `λx.t` with the
//! argument `a` is `t` where `x` is called `a`. So no function returns a function.

use eddy_pullback::syntax::{Path, Term, TermId};
use eddy_pullback::types::Type;

use super::{Stop, Translator, no_such_type};

/// Pending work.
#[derive(Debug)]
pub(super) enum Task {
    Text(&'static str),
    Owned(String),
    /// A term with one argument for each parameter of its type.
    Term(TermId, Vec<String>),
    /// A function as an argument or in a `let`.
    Function(TermId),
    /// Bring a variable into scope.
    Bind(String),
    /// End the scope of the innermost variable.
    Unbind,
}

use Task::{Owned, Text};

const AT_FUNCTIONS: (&str, &str) = (
    "a derivative at a function, or of a function that gives one",
    "functions are differentiated at numbers and give numbers; this kernel also has duals of function types",
);

impl Translator<'_> {
    /// Schedules these tasks; the first one runs next.
    pub fn schedule(&mut self, tasks: impl IntoIterator<Item = Task, IntoIter: DoubleEndedIterator>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub fn finish(&mut self) -> Result<(), Stop> {
        while let Some(task) = self.tasks.pop() {
            self.out.has_room()?;
            match task {
                Text(text) => self.out.push(text),
                Owned(text) => self.out.push(&text),
                Task::Term(term, arguments) => self.term(term, arguments)?,
                Task::Function(term) => self.function(term)?,
                Task::Bind(name) => self.scope.push(name),
                Task::Unbind => drop(self.scope.pop()),
            }
        }
        Ok(())
    }

    /// Names for the parameters of a function, after the binders of its λs; without a λ, the name is `x`.
    pub fn parameter_names(&mut self, term: TermId, n: usize) -> Vec<String> {
        let (terms, mut names, mut at) = (&self.program.terms, Vec::new(), Some(term));
        for _ in 0..n {
            let hint = match at.map(|at| terms.term(at)) {
                Some(Term::Lambda(hint, body)) => {
                    at = Some(body);
                    terms.names.text(hint.0)
                }
                _ => {
                    at = None;
                    "x"
                }
            };
            names.push(self.out.local(hint));
        }
        names
    }

    /// `\x, y. t`, or the name of a function.
    fn function(&mut self, term: TermId) -> Result<(), Stop> {
        let terms = &self.program.terms;
        let (params, result) = self.operations.uncurried(terms.ty(term));
        if !self.operations.is_data(result) {
            return Err(no_such_type(term));
        }
        if let Term::Bound(index) = terms.term(term) {
            let name = self.variable(index);
            self.out.push(&name);
            return Ok(());
        }
        let names = self.parameter_names(term, params.len());
        self.schedule([Owned(format!("\\{}. ", names.join(", "))), Task::Term(term, names)]);
        Ok(())
    }

    fn variable(&self, index: u32) -> String {
        self.scope[self.scope.len() - 1 - index as usize].clone()
    }

    /// The task for an argument, which may be a function.
    fn argument(&self, term: TermId) -> Task {
        if self.operations.uncurried(self.program.terms.ty(term)).0.is_empty() {
            Task::Term(term, Vec::new())
        } else {
            Task::Function(term)
        }
    }

    fn term(&mut self, id: TermId, arguments: Vec<String>) -> Result<(), Stop> {
        let terms = &self.program.terms;
        let result = self.operations.uncurried(terms.ty(id)).1;
        match terms.term(id) {
            Term::Free(_) => {
                return Err(Stop::Outside(id, "a free variable", "`assume` gives it no value"));
            }
            Term::Bound(index) => {
                let name = self.variable(index);
                self.out.push(&name);
                if !arguments.is_empty() {
                    self.out.push(&format!("({})", arguments.join(", ")));
                }
            }
            Term::Real(value) => self.out.number(value),
            Term::Zero => {
                let zero = self.operations.zero_text(result).ok_or(no_such_type(id))?;
                self.out.push(&zero);
            }
            Term::Pair(left, right) => {
                if !self.operations.is_data(terms.ty(id)) {
                    return Err(pair_of_functions(id));
                }
                self.schedule([
                    Text("("),
                    Task::Term(left, Vec::new()),
                    Text(", "),
                    Task::Term(right, Vec::new()),
                    Text(")"),
                ]);
            }
            Term::Project(path, of) => {
                if !self.operations.is_data(terms.ty(of)) {
                    return Err(pair_of_functions(of));
                }
                self.schedule([Task::Term(of, Vec::new()), Owned(projections(path))]);
            }
            Term::Prim(primitive, of) => {
                let name = self.operations.primitive(terms, primitive, &mut self.out);
                self.schedule([Owned(name + "("), Task::Term(of, Vec::new()), Text(")")]);
            }
            Term::Add(left, right) => self.sum(id, result, (left, right), arguments)?,
            Term::Flat(of) | Term::Sharp(of) => self.tasks.push(Task::Term(of, Vec::new())),
            Term::Contract(covector, vector) => self.contraction(id, covector, vector)?,
            Term::Lambda(_, body) => {
                let mut arguments = arguments;
                let first = arguments.remove(0);
                self.schedule([Task::Bind(first), Task::Term(body, arguments), Task::Unbind]);
            }
            Term::Apply(function, argument) => self.application(function, argument, arguments),
            Term::PrimJacobian(primitive, direction) => {
                let name = self.operations.primitive(terms, primitive, &mut self.out);
                let point = &arguments[0];
                self.schedule([
                    Owned(format!("jvp({name}, {point}, ")),
                    Task::Term(direction, Vec::new()),
                    Text(").1"),
                ]);
            }
            Term::Jacobian(function, direction) => {
                self.differentiable(id, terms.ty(direction), result)?;
                let z = self.out.local("z");
                let point = arguments[0].clone();
                let rest = [z.clone()].into_iter().chain(arguments[1..].iter().cloned()).collect();
                self.schedule([
                    Owned(format!("jvp(\\{z}. ")),
                    Task::Term(function, rest),
                    Owned(format!(", {point}, ")),
                    Task::Term(direction, Vec::new()),
                    Text(").1"),
                ]);
            }
            Term::Dual(hint, body, covector) => {
                let from = self.differentiable(id, terms.param(id), terms.ty(body))?;
                let zero = self.operations.zero_text(from).ok_or(no_such_type(id))?;
                let x = self.out.local(terms.names.text(hint.0));
                self.schedule([
                    Owned(format!("vjp(\\{x}. ")),
                    Task::Bind(x),
                    Task::Term(body, Vec::new()),
                    Task::Unbind,
                    Owned(format!(", {zero}, ")),
                    Task::Term(covector, Vec::new()),
                    Text(").1"),
                ]);
            }
            Term::Pullback(..) => self.pullback(id, &arguments[0])?,
        }
        Ok(())
    }

    /// `((Ω λx.P) · ω) a`
    fn pullback(&mut self, id: TermId, point: &str) -> Result<(), Stop> {
        let terms = &self.program.terms;
        let Term::Pullback(hint, body, form) = terms.term(id) else { unreachable!("it is a pullback") };
        let from = self.differentiable(id, terms.param(id), terms.ty(body))?;
        let (from, to) = (self.operations.type_text(from), self.operations.type_text(terms.ty(body)));
        let (from, to) = (from.ok_or(no_such_type(id))?, to.ok_or(no_such_type(id))?);
        let (p, x) = (self.out.local("p"), self.out.local(terms.names.text(hint.0)));
        // A constant 1-form does not need the value.
        let is_constant =
            matches!(terms.term(form), Term::Lambda(_, covector) if !terms.mentions(covector, 0));
        let value = self.out.local("y");
        let of_value = if is_constant { String::new() } else { format!("let {value} = {p}({point}) in ") };
        self.schedule([
            Owned(format!("(let {p}({x}: {from}) -> {to} = ")),
            Task::Bind(x),
            Task::Term(body, Vec::new()),
            Task::Unbind,
            Owned(format!(" in {of_value}vjp({p}, {point}, ")),
            Task::Term(form, vec![value]),
            Text(").1)"),
        ]);
        Ok(())
    }

    /// Checks that a function between these types has a derivative; returns `from`.
    fn differentiable(&self, at: TermId, from: Type, to: Type) -> Result<Type, Stop> {
        if self.operations.is_data(from) && self.operations.is_data(to) {
            return Ok(from);
        }
        Err(Stop::Outside(at, AT_FUNCTIONS.0, AT_FUNCTIONS.1))
    }

    /// An application; the arguments `trailing` follow `argument`.
    fn application(&mut self, function: TermId, argument: TermId, mut trailing: Vec<String>) {
        let terms = &self.program.terms;
        if let Term::Lambda(hint, body) = terms.term(function) {
            // `let x = s in t`
            let x = self.out.local(terms.names.text(hint.0));
            self.schedule([
                Owned(format!("(let {x} = ")),
                self.argument(argument),
                Text(" in "),
                Task::Bind(x),
                Task::Term(body, trailing),
                Task::Unbind,
                Text(")"),
            ]);
            return;
        }
        let (mut head, mut applied) = (function, vec![argument]);
        while let Term::Apply(function, argument) = terms.term(head)
            && !matches!(terms.term(function), Term::Lambda(..))
        {
            applied.push(argument);
            head = function;
        }
        applied.reverse();
        if let Term::Bound(index) = terms.term(head) {
            let mut tasks = vec![Owned(self.variable(index) + "(")];
            for (at, argument) in applied.into_iter().enumerate() {
                tasks.extend((at > 0).then_some(Text(", ")));
                tasks.push(self.argument(argument));
            }
            tasks.extend(trailing.into_iter().map(|name| Owned(format!(", {name}"))));
            tasks.push(Text(")"));
            self.schedule(tasks);
            return;
        }
        // Any other function is written with names as arguments.
        let (mut tasks, mut names) = (vec![Text("(")], Vec::new());
        for argument in applied {
            let name = self.out.local("a");
            tasks.extend([Owned(format!("let {name} = ")), self.argument(argument), Text(" in ")]);
            names.push(name);
        }
        names.append(&mut trailing);
        tasks.extend([Task::Term(head, names), Text(")")]);
        self.schedule(tasks);
    }

    fn sum(
        &mut self,
        id: TermId,
        ty: Type,
        (left, right): (TermId, TermId),
        arguments: Vec<String>,
    ) -> Result<(), Stop> {
        if !self.operations.is_data(ty) {
            return Err(pair_of_functions(id));
        }
        let (open, between) = self.at_leaves(ty, "+");
        self.schedule([
            Owned(open),
            Task::Term(left, arguments.clone()),
            Text(between),
            Task::Term(right, arguments),
            Text(")"),
        ]);
        Ok(())
    }

    /// `φ @ v`
    fn contraction(&mut self, id: TermId, covector: TermId, vector: TermId) -> Result<(), Stop> {
        let ty = self.program.terms.ty(vector);
        if !self.operations.is_data(ty) {
            return Err(Stop::Outside(id, AT_FUNCTIONS.0, AT_FUNCTIONS.1));
        }
        let (open, between) = self.at_leaves(ty, "*");
        self.schedule([
            Owned(open),
            Task::Term(covector, Vec::new()),
            Text(between),
            Task::Term(vector, Vec::new()),
            Text(")"),
        ]);
        Ok(())
    }

    /// The texts before and between the operands of `+` or `@` at a type.
    fn at_leaves(&mut self, ty: Type, symbol: &str) -> (String, &'static str) {
        match (self.operations.is_single(ty), symbol) {
            (true, "+") => ("(".to_string(), " + "),
            (true, _) => ("(".to_string(), " * "),
            (false, "+") => (self.operations.add(ty, &mut self.out) + "(", ", "),
            (false, _) => (self.operations.contract(ty, &mut self.out) + "(", ", "),
        }
    }
}

fn pair_of_functions(term: TermId) -> Stop {
    Stop::Outside(
        term,
        "a pair with a function",
        "functions stand as arguments and in `let`, not inside of tuples",
    )
}

/// `π2 π1 t` is `t.0.1`.
fn projections(path: Path) -> String {
    let mut text = ".0".repeat(path.lefts as usize);
    if path.right {
        text.push_str(".1");
    }
    text
}
