//! Definitions and calls of functions.

use super::scope::{Function, Scope};
use super::text::{Level, Text, parenthesised};
use super::types::Ty;
use super::{Generator, NESTING};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    Plain,
    Recursive,
    Limited,
    /// Limited, and defined through its own derivative.
    ThroughDerivative,
}

impl Generator<'_> {
    /// A definition, and a term in which the function is in scope.
    pub(super) fn define(&mut self, ty: &Ty, depth: u32) -> Text {
        let kinds = [
            (5, Definition::Plain),
            (5, Definition::Recursive),
            (2, Definition::Limited),
            (1, Definition::ThroughDerivative),
        ];
        let kind = self.choices.weighted(&kinds);
        let outer = (std::mem::take(&mut self.nesting), std::mem::take(&mut self.height));
        let mark = self.scope.enter_function();
        let name = self.choices.among(Scope::function_names());
        let (head, params, result) = match kind {
            Definition::Plain => self.plain(name, depth),
            Definition::Recursive => self.recursive("letrec", name, depth),
            Definition::Limited => {
                let word = format!("letrec[{}]", self.choices.among(&[5, 4, 3, 6, 2, 1, 0]));
                self.recursive(&word, name, depth)
            }
            Definition::ThroughDerivative => self.through_derivative(name, depth),
        };
        self.scope.leave_function(mark);
        let height = self.height;
        (self.nesting, self.height) = outer;
        let mark = self.scope.mark();
        self.scope.define(Function { name, params, result, height });
        // Most definitions are used.
        let rest = if self.choices.once_in(4) { self.term(ty, depth) } else { self.use_function(ty, depth) };
        self.scope.release(mark);
        Text::new(Level::Open, format!("{head} in {}", rest.loose()))
    }

    /// A term that calls the innermost function, unless that would nest too many derivatives.
    fn use_function(&mut self, ty: &Ty, depth: u32) -> Text {
        let Some(function) = self.callable().into_iter().next() else { return self.term(ty, depth) };
        if function.result == *ty {
            return self.call_of(&function, depth);
        }
        let call = self.call_of(&function, depth).loose();
        let name = self.name();
        let mark = self.scope.mark();
        self.scope.bind(name, function.result);
        let rest = self.term(ty, depth.saturating_sub(1)).loose();
        self.scope.release(mark);
        Text::new(Level::Open, format!("let {name} = {call} in {rest}"))
    }

    /// `let f(…):U = M`; also its parameters and its result.
    fn plain(&mut self, name: &str, depth: u32) -> (String, Vec<Ty>, Ty) {
        let result = self.any_type();
        let n = self.choices.among(&[1, 1, 2, 3, 0]);
        let params: Vec<Ty> = (0..n).map(|_| self.any_type()).collect();
        let shown = self.parameters(&params);
        let body = self.term(&result, depth).loose();
        (format!("let {name}{shown}:{} = {body}", result.show()), params, result)
    }

    fn parameters(&mut self, params: &[Ty]) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut shown = Vec::new();
        for param in params {
            let name = self.name_except(&names);
            names.push(name);
            shown.push(format!("{name}:{}", self.type_text(param)));
            self.scope.bind(name, param.clone());
        }
        format!("({})", shown.join(", "))
    }

    /// `letrec f(x:real, …):U = if x < 0.3 then M else N`, where `N` calls `f(x - 1, …)` once.
    fn recursive(&mut self, word: &str, name: &'static str, depth: u32) -> (String, Vec<Ty>, Ty) {
        self.hide(name);
        let result = self.any_type();
        let mut params = vec![Ty::Real];
        if self.choices.once_in(3) {
            params.push(result.clone());
        }
        let shown = self.parameters(&params);
        let x = shown[1..].split(':').next().expect("the first parameter has a name").to_string();
        let inner = depth.saturating_sub(1);
        let base = self.term(&result, inner).loose();
        // Sometimes the recursion moves away from the base case, and does not end.
        let next = if self.choices.once_in(12) { format!("{x} + 1") } else { format!("{x} - 1") };
        let call = match params.get(1) {
            None => Text::atom_of(format!("{name}({next})")),
            Some(ty) => {
                let accumulated = self.term(ty, inner).loose();
                Text::atom_of(format!("{name}({next}, {accumulated})"))
            }
        };
        let step = self.step(call, &result, inner);
        let head = format!("{word} {name}{shown}:{}", result.show());
        (format!("{head} = if {x} < 0.3 then {base} else {step}"), params, result)
    }

    /// A term around a recursive call.
    fn step(&mut self, call: Text, result: &Ty, depth: u32) -> String {
        match self.choices.below(4) {
            0 => call.loose(),
            1 => {
                let other = self.term(result, depth);
                Text::infix(Level::Sum, (other, Level::Sum), "+", (call, Level::Product)).loose()
            }
            2 => {
                let factor = self.term(&Ty::Real, depth);
                Text::infix(Level::Product, (factor, Level::Product), "*", (call, Level::Unary)).loose()
            }
            _ => {
                let local = self.name();
                let mark = self.scope.mark();
                self.scope.bind(local, result.clone());
                let rest = self.term(result, depth).loose();
                self.scope.release(mark);
                format!("let {local} = {} in {rest}", call.loose())
            }
        }
    }

    /// `letrec[n] f(x:real):real = if x < 0.3 then M else grad[x](y. f(y - 1) * N)`: each call is inside one
    /// more derivative, so the limit is small.
    fn through_derivative(&mut self, name: &'static str, depth: u32) -> (String, Vec<Ty>, Ty) {
        self.hide(name);
        let limit = self.choices.among(&[NESTING, 2, 1]);
        let inner = depth.saturating_sub(1);
        // The base case and the factor are inside as many derivatives as there are calls, at most `limit`.
        self.nesting = limit;
        self.height = limit;
        self.scope.bind("x", Ty::Real);
        let base = self.term(&Ty::Real, inner).loose();
        self.scope.bind("y", Ty::Real);
        let factor = self.term(&Ty::Real, inner).at(Level::Unary);
        let step = format!("grad[x](y. {name}(y - 1) * {factor})");
        let head = format!("letrec[{limit}] {name}(x:real):real");
        (format!("{head} = if x < 0.3 then {base} else {step}"), vec![Ty::Real], Ty::Real)
    }

    /// Hides a function in its own body, so that only the one intended recursive call is generated.
    fn hide(&mut self, name: &'static str) {
        self.scope.define(Function { name, params: Vec::new(), result: Ty::Unit, height: NESTING + 1 });
    }

    /// The functions that may be called here.
    pub(super) fn callable(&self) -> Vec<Function> {
        let mut callable = self.scope.callable();
        callable.retain(|function| self.nesting + function.height <= NESTING);
        callable
    }

    pub(super) fn call(&mut self, ty: &Ty, depth: u32) -> Text {
        let mut callable = self.callable();
        callable.retain(|function| function.result == *ty);
        let choice = self.choices.below(callable.len());
        self.call_of(&callable[choice], depth)
    }

    fn call_of(&mut self, function: &Function, depth: u32) -> Text {
        self.height = self.height.max(self.nesting + function.height);
        let product = Ty::product(&function.params);
        let arguments = match function.params.as_slice() {
            [] if !self.choices.once_in(2) => "()".to_string(),
            [_, _, ..] if !self.choices.once_in(4) => {
                let items: Vec<String> =
                    function.params.iter().map(|param| self.term(param, depth).loose()).collect();
                parenthesised(&items.join(", "))
            }
            _ => parenthesised(&self.term(&product, depth).loose()),
        };
        Text::atom_of(format!("{}{arguments}", function.name))
    }
}
