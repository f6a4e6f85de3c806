//! Terms of `rd`: a work list writes them from left to right, so that deep terms need no recursion.

use eddy_rd::operation::{Op, Pred, Primitive};
use eddy_rd::syntax::{FnId, Term, TermId, Test, VarId};
use eddy_syntax::Span;

use super::Translator;
use super::operations::Written;
use crate::kernels::writer::TooLong;

/// Pending work.
#[derive(Debug)]
pub(super) enum Task {
    Text(&'static str),
    Owned(String),
    Term(TermId, Position),
    Test(Test),
    /// Begin the body of a limited function with the name of its limit, or end it.
    Within(FnId, Option<String>),
    At(Span),
}

/// The position of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The term may extend to the right.
    Last,
    /// Forms that extend to the right need parentheses.
    Operand,
}

use Position::{Last, Operand};
use Task::{Owned, Text};

impl Translator<'_> {
    /// Schedules these tasks; the first one runs next.
    pub fn schedule(&mut self, tasks: impl IntoIterator<Item = Task, IntoIter: DoubleEndedIterator>) {
        self.tasks.extend(tasks.into_iter().rev());
    }

    pub fn finish(&mut self) -> Result<(), TooLong> {
        while let Some(task) = self.tasks.pop() {
            self.out.has_room()?;
            match task {
                Text(text) => self.out.push(text),
                Owned(text) => self.out.push(&text),
                Task::Term(term, position) => self.term(term, position),
                Task::Test(test) => self.test(test),
                Task::Within(function, Some(limit)) => drop(self.within.insert(function, limit)),
                Task::Within(function, None) => drop(self.within.remove(&function)),
                Task::At(span) => self.out.at(span),
            }
        }
        Ok(())
    }

    /// `f(x: T) -> U = `; a limited function has a parameter for its limit.
    pub fn head(&mut self, function: FnId) -> Vec<Task> {
        let kernel = self.terms.function(function);
        let limit = kernel.limit.map(|_| self.out.local("limit"));
        let param = self.binder(kernel.param);
        let (from, to) = (self.terms.var(kernel.param).ty, kernel.result);
        let (from, to) = (self.operations.type_text(from), self.operations.type_text(to));
        let name = self.functions[&function].clone();
        let limited = limit.as_ref().map(|limit| format!("{limit}: int, ")).unwrap_or_default();
        let mut head = vec![Owned(format!("{name}({limited}{param}: {from}) -> {to} = "))];
        if let Some(limit) = limit {
            // The kernel is undefined where the limit is 0; division fails there.
            head.push(Owned(format!("let _ = 1 div {limit} in ")));
            head.push(Task::Within(function, Some(limit)));
        }
        head
    }

    /// The body of a function after its head, then `rest`.
    pub fn body(&self, function: FnId, rest: Vec<Task>) -> Vec<Task> {
        let mut tasks = vec![Task::Term(self.terms.body(function), Last), Task::Within(function, None)];
        tasks.extend(rest);
        tasks
    }

    /// The name of a variable, given when its binder is written.
    fn binder(&mut self, var: VarId) -> String {
        let name = self.out.local(self.terms.names.text(self.terms.var(var).name));
        self.vars.insert(var, name.clone());
        name
    }

    fn term(&mut self, id: TermId, position: Position) {
        match self.terms.term(id) {
            Term::Var(var) => self.out.push(&self.vars[&var]),
            Term::Real(value) => self.out.number(value),
            Term::Unit => self.out.push("()"),
            Term::Add(left, right) => self.infix("+", left, right),
            Term::Op(Op::Primal(primitive), argument) => self.operation(primitive, argument),
            Term::Op(Op::Reverse(primitive), argument) => self.reverse_operation(primitive, argument),
            Term::Pair(left, right) => {
                self.schedule([
                    Text("("),
                    Task::Term(left, Last),
                    Text(", "),
                    Task::Term(right, Last),
                    Text(")"),
                ]);
            }
            Term::Fst(pair) => self.schedule([Task::Term(pair, Operand), Text(".0")]),
            Term::Snd(pair) => self.schedule([Task::Term(pair, Operand), Text(".1")]),
            Term::Let { var, bound, body } => {
                let name = self.binder(var);
                self.rightmost(
                    position,
                    vec![
                        Owned(format!("let {name} = ")),
                        Task::Term(bound, Last),
                        Text(" in "),
                        Task::Term(body, Last),
                    ],
                );
            }
            Term::If { test, yes, no } => self.rightmost(
                position,
                vec![
                    Text("if "),
                    Task::Test(test),
                    Text(" then "),
                    Task::Term(yes, Last),
                    Text(" else "),
                    Task::Term(no, Last),
                ],
            ),
            Term::Letrec { function, body } => self.definition(function, body, position),
            Term::Call { function, argument } => {
                let name = self.functions[&function].clone();
                let limit = match (self.within.get(&function), self.terms.function(function).limit) {
                    (Some(limit), _) => format!("{limit} - 1, "),
                    (None, Some(limit)) => format!("{limit}, "),
                    (None, None) => String::new(),
                };
                self.schedule([Owned(format!("{name}({limit}")), Task::Term(argument, Last), Text(")")]);
            }
            Term::Rd { cotangent, point, var, body } => self.derivative(cotangent, point, var, body),
        }
    }

    /// A form that extends to the right.
    fn rightmost(&mut self, position: Position, tasks: Vec<Task>) {
        match position {
            Last => self.schedule(tasks),
            Operand => {
                self.out.push("(");
                self.tasks.push(Text(")"));
                self.schedule(tasks);
            }
        }
    }

    /// A function that is an item was written before; any other function becomes local.
    fn definition(&mut self, function: FnId, body: TermId, position: Position) {
        if self.functions.contains_key(&function) {
            self.tasks.push(Task::Term(body, position));
            return;
        }
        let name = self.out.local(self.terms.function_name(function));
        self.functions.insert(function, name);
        let (own, around) = (self.heads[function.index()].ident.span, self.out.place());
        let head = self.head(function);
        let rest = vec![Task::At(around), Text(" in "), Task::Term(body, Last)];
        let tasks = [Task::At(own), Text("let ")].into_iter().chain(head).chain(self.body(function, rest));
        let tasks: Vec<Task> = tasks.collect();
        self.rightmost(position, tasks);
    }

    /// `M.rd[L](x. N)`, and the derivatives that are sugar for it.
    fn derivative(&mut self, cotangent: TermId, point: TermId, var: VarId, body: TermId) {
        let (from, to) = (self.terms.ty(point), self.terms.ty(body));
        // Without reals in the point or in the result, the derivative is zero.
        if !self.operations.has_reals(from) || !self.operations.has_reals(to) {
            return self.out.push(&self.operations.zero_text(from));
        }
        if let Some((point, var, body)) = self.forward(point, var, body) {
            return self.operator("jvp(", (var, body), &[point, cotangent], ").1");
        }
        if self.terms.term(cotangent) == Term::Real(1.0) {
            return self.operator("grad(", (var, body), &[point], ")");
        }
        self.operator("vjp(", (var, body), &[point, cotangent], ").1");
    }

    /// `operator(\x. N, L, ..)`
    fn operator(
        &mut self,
        open: &'static str,
        (var, body): (VarId, TermId),
        points: &[TermId],
        close: &'static str,
    ) {
        let name = self.binder(var);
        let mut tasks = vec![Text(open), Owned(format!("\\{name}. ")), Task::Term(body, Last)];
        tasks.extend(points.iter().flat_map(|point| [Text(", "), Task::Term(*point, Last)]));
        tasks.push(Text(close));
        self.schedule(tasks);
    }

    /// If a reverse derivative is the expansion of a forward one, `M.rd[0](y. y.rd[L](x. N))`, returns L, x
    /// and N.
    fn forward(&self, point: TermId, var: VarId, body: TermId) -> Option<(TermId, VarId, TermId)> {
        let Term::Rd { cotangent: inner, point: at, var: x, body: n } = self.terms.term(body) else {
            return None;
        };
        let is_sugar = self.terms.term(inner) == Term::Var(var)
            && self.n_uses.get(&var) == Some(&1)
            && self.is_zero(point);
        is_sugar.then_some((at, x, n))
    }

    fn is_zero(&self, term: TermId) -> bool {
        let mut work = vec![term];
        while let Some(term) = work.pop() {
            match self.terms.term(term) {
                Term::Real(0.0) | Term::Unit => {}
                Term::Pair(left, right) => work.extend([left, right]),
                _ => return false,
            }
        }
        true
    }

    fn infix(&mut self, symbol: &'static str, left: TermId, right: TermId) {
        self.schedule([
            Text("("),
            Task::Term(left, Operand),
            Owned(format!(" {symbol} ")),
            Task::Term(right, Operand),
            Text(")"),
        ]);
    }

    fn operation(&mut self, primitive: Primitive, argument: TermId) {
        let written = self.operations.written(primitive, &mut self.out);
        match (written, self.terms.term(argument)) {
            (Written::Prefix(symbol), _) => {
                self.schedule([Text("("), Text(symbol), Task::Term(argument, Operand), Text(")")]);
            }
            (Written::Call(name), _) => {
                self.schedule([Owned(name + "("), Task::Term(argument, Last), Text(")")]);
            }
            (Written::Infix(symbol), Term::Pair(left, right)) => self.infix(symbol, left, right),
            (Written::Call2(name), Term::Pair(left, right)) => self.schedule([
                Owned(name + "("),
                Task::Term(left, Last),
                Text(", "),
                Task::Term(right, Last),
                Text(")"),
            ]),
            (written, _) => {
                let pair = self.out.local("pair");
                let applied = applied(&written, &pair);
                self.schedule([
                    Owned(format!("(let {pair} = ")),
                    Task::Term(argument, Last),
                    Owned(format!(" in {applied})")),
                ]);
            }
        }
    }

    /// `op_r⟨L,M⟩`
    fn reverse_operation(&mut self, primitive: Primitive, argument: TermId) {
        let (from, to) = self.operations.arity(primitive);
        if !self.operations.has_reals(from) || !self.operations.has_reals(to) {
            return self.out.push(&self.operations.zero_text(from));
        }
        let written = self.operations.written(primitive, &mut self.out);
        let (pair, z) = (self.out.local("pair"), self.out.local("z"));
        let applied = applied(&written, &z);
        self.schedule([
            Owned(format!("(let {pair} = ")),
            Task::Term(argument, Last),
            Owned(format!(" in vjp(\\{z}. {applied}, {pair}.0, {pair}.1).1)")),
        ]);
    }

    fn test(&mut self, test: Test) {
        let (pred, operands) = match test {
            Test::Constant(value) => return self.out.push(if value { "true" } else { "false" }),
            Test::Pred(pred, operands) => (pred, operands),
        };
        if let Some(Connective { word, left, right }) = self.connective(pred, operands) {
            let side = |(test, is_negated): (Test, bool)| {
                [Text(if is_negated { "(not " } else { "(" }), Task::Test(test), Text(")")]
            };
            let (left, right) = (side(left), side(right));
            return self.schedule(left.into_iter().chain([Text(word)]).chain(right).collect::<Vec<_>>());
        }
        let symbol = pred.symbol();
        match self.terms.term(operands) {
            Term::Pair(left, right) => self.infix(symbol, left, right),
            _ => {
                let pair = self.out.local("pair");
                self.schedule([
                    Owned(format!("(let {pair} = ")),
                    Task::Term(operands, Last),
                    Owned(format!(" in {pair}.0 {symbol} {pair}.1)")),
                ]);
            }
        }
    }

    /// If a comparison is the expansion of `B1 && B2` or `B1 || B2`, returns its sides; `not` swaps branches:
    ///
    /// ```text
    /// B1 && B2      0 < if B1 then (if B2 then 1 else -1) else -1
    /// B1 || B2      0 < if B1 then 1 else (if B2 then 1 else -1)
    /// ```
    fn connective(&self, pred: Pred, operands: TermId) -> Option<Connective> {
        let is = |id: TermId, value: f64| self.terms.term(id) == Term::Real(value);
        let truth = |id: TermId| match self.terms.term(id) {
            Term::If { test, yes, no } if is(yes, 1.0) && is(no, -1.0) => Some((test, false)),
            Term::If { test, yes, no } if is(yes, -1.0) && is(no, 1.0) => Some((test, true)),
            _ => None,
        };
        let Term::Pair(zero, choice) = self.terms.term(operands) else { return None };
        let Term::If { test, yes, no } = self.terms.term(choice) else { return None };
        if pred != Pred::Lt || !is(zero, 0.0) {
            return None;
        }
        let (word, is_negated, right) = match (truth(yes), truth(no)) {
            (Some(right), None) if is(no, -1.0) => (" and ", false, right),
            (None, Some(right)) if is(yes, -1.0) => (" and ", true, right),
            (None, Some(right)) if is(yes, 1.0) => (" or ", false, right),
            (Some(right), None) if is(no, 1.0) => (" or ", true, right),
            _ => return None,
        };
        Some(Connective { word, left: (test, is_negated), right })
    }
}

/// `B1 and B2` or `B1 or B2`; a condition that is negated has `not` in front.
struct Connective {
    word: &'static str,
    left: (Test, bool),
    right: (Test, bool),
}

/// An operation applied to a variable.
fn applied(written: &Written, variable: &str) -> String {
    match written {
        Written::Prefix(symbol) => format!("({symbol}{variable})"),
        Written::Infix(symbol) => format!("({variable}.0 {symbol} {variable}.1)"),
        Written::Call(name) => format!("{name}({variable})"),
        Written::Call2(name) => format!("{name}({variable}.0, {variable}.1)"),
    }
}
