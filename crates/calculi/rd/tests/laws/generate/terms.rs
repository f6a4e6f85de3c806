//! Terms and conditions of a given type, one production per form.

use super::scope::Scope;
use super::text::{Level, Text, parenthesised};
use super::types::Ty;
use super::{Generator, NESTING};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Leaf,
    Let,
    LetTuple,
    If,
    Define,
    Const,
    Call,
    Project,
    Derivative,
    ReverseOperation,
    Sum,
    Negate,
    Scale,
    Tuple,
    Unary,
    Binary,
    Power,
    Dot,
    Kinked,
}

impl Generator<'_> {
    /// A term of this type, at most `depth` deep.
    pub(super) fn term(&mut self, ty: &Ty, depth: u32) -> Text {
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.form(ty) {
            Form::Leaf => self.leaf(ty),
            Form::Let => self.let_name(ty, depth),
            Form::LetTuple => self.let_tuple(ty, depth),
            Form::If => {
                let condition = self.condition(depth).loose();
                let (yes, no) = (self.term(ty, depth).loose(), self.term(ty, depth).loose());
                Text::new(Level::Open, format!("if {condition} then {yes} else {no}"))
            }
            Form::Define => self.define(ty, depth),
            Form::Const => {
                let constant_ty = self.any_type();
                let value = self.literal(&constant_ty).loose();
                let name = self.name();
                let mark = self.scope.mark();
                self.scope.bind_constant(name, constant_ty);
                let rest = self.term(ty, depth).loose();
                self.scope.release(mark);
                Text::new(Level::Open, format!("const {name} = {value} in {rest}"))
            }
            Form::Call => self.call(ty, depth),
            Form::Project => {
                let other = self.any_type();
                let (word, pair) = if self.choices.once_in(2) {
                    ("snd", Ty::pair(other, ty.clone()))
                } else {
                    ("fst", Ty::pair(ty.clone(), other))
                };
                let argument = self.arguments(&pair, depth);
                Text::atom_of(format!("{word}{argument}"))
            }
            Form::Derivative => self.derivative(ty, depth),
            Form::ReverseOperation => self.reverse_operation(ty, depth),
            Form::Sum => {
                let (left, right) = (self.term(ty, depth), self.term(ty, depth));
                let op = self.choices.among(&["+", "-"]);
                Text::infix(Level::Sum, (left, Level::Sum), op, (right, Level::Product))
            }
            Form::Negate => self.term(ty, depth).negated(),
            Form::Scale => {
                if self.choices.once_in(4) {
                    let argument = self.arguments(&Ty::pair(Ty::Real, ty.clone()), depth);
                    return Text::atom_of(format!("scale{argument}"));
                }
                let (factor, vector) = (self.term(&Ty::Real, depth), self.term(ty, depth));
                let op = self.choices.among(&["*", "*", "·", "×"]);
                Text::infix(Level::Product, (factor, Level::Product), op, (vector, Level::Unary))
            }
            Form::Tuple => self.tuple(ty, depth),
            Form::Unary => self.unary(depth),
            Form::Binary => self.binary(depth),
            Form::Power => self.power(depth),
            Form::Dot => self.dot(depth),
            Form::Kinked => self.kinked(depth),
        }
    }

    /// The form of a term of this type. Derivatives and calls are possible only if their nesting of
    /// derivatives does not exceed `NESTING`.
    fn form(&mut self, ty: &Ty) -> Form {
        let can_call = self.callable().iter().any(|function| function.result == *ty);
        let can_differentiate = self.nesting < NESTING;
        let (is_real, is_pair) = (*ty == Ty::Real, matches!(ty, Ty::Pair(..)));
        let only = |possible: bool, weight: usize| if possible { weight } else { 0 };
        self.choices.weighted(&[
            (4, Form::Leaf),
            (only(is_pair, 16), Form::Tuple),
            (5, Form::Let),
            (3, Form::LetTuple),
            (5, Form::If),
            (6, Form::Define),
            (2, Form::Const),
            (only(can_call, 10), Form::Call),
            (3, Form::Project),
            (only(can_differentiate, 8), Form::Derivative),
            (only(*ty != Ty::Unit, 2), Form::ReverseOperation),
            (6, Form::Sum),
            (2, Form::Negate),
            (5, Form::Scale),
            (only(is_real, 7), Form::Unary),
            (only(is_real, 3), Form::Binary),
            (only(is_real, 3), Form::Power),
            (only(is_real, 2), Form::Dot),
            (only(is_real, 3), Form::Kinked),
        ])
    }

    fn let_name(&mut self, ty: &Ty, depth: u32) -> Text {
        let bound_ty = self.any_type();
        let bound = self.term(&bound_ty, depth).loose();
        let name = self.name();
        let annotation = self.annotation(&bound_ty);
        let mark = self.scope.mark();
        self.scope.bind(name, bound_ty);
        let body = self.term(ty, depth).loose();
        self.scope.release(mark);
        Text::new(Level::Open, format!("let {name}{annotation} = {bound} in {body}"))
    }

    fn let_tuple(&mut self, ty: &Ty, depth: u32) -> Text {
        let n = self.choices.among(&[2, 2, 2, 3, 1, 0]);
        let items: Vec<Ty> = (0..n).map(|_| self.any_type()).collect();
        let bound = self.term(&Ty::product(&items), depth).loose();
        let mark = self.scope.mark();
        let mut names: Vec<&str> = Vec::new();
        let mut shown = Vec::new();
        for item in items {
            let name = self.name_except(&names);
            names.push(name);
            shown.push(format!("{name}{}", self.annotation(&item)));
            self.scope.bind(name, item);
        }
        let (open, close) = self.choices.among(&[("(", ")"), ("(", ")"), ("<", ">"), ("⟨", "⟩")]);
        let body = self.term(ty, depth).loose();
        self.scope.release(mark);
        let items = shown.join(", ");
        Text::new(Level::Open, format!("let {open}{items}{close} = {bound} in {body}"))
    }

    fn tuple(&mut self, ty: &Ty, depth: u32) -> Text {
        let Ty::Pair(left, right) = ty else { unreachable!("only products have tuples") };
        let mut items = Vec::new();
        // A tuple of three is the same as a pair with a pair on the left.
        match &**left {
            Ty::Pair(first, second) if self.choices.once_in(2) => {
                items.push(self.term(first, depth).loose());
                items.push(self.term(second, depth).loose());
            }
            left => items.push(self.term(left, depth).loose()),
        }
        items.push(self.term(right, depth).loose());
        let items = items.join(", ");
        Text::atom_of(match self.choices.among(&["(", "(", "(", "<", "⟨"]) {
            "<" => format!("<{items}>"),
            "⟨" => format!("⟨{items}⟩"),
            _ => parenthesised(&items),
        })
    }

    /// The arguments of a function or operation with one parameter of this type: a product may be written as
    /// several arguments.
    pub(super) fn arguments(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Pair(left, right) if !self.choices.once_in(4) => {
                let (left, right) = (self.term(left, depth).loose(), self.term(right, depth).loose());
                parenthesised(&format!("{left}, {right}"))
            }
            _ => parenthesised(&self.term(ty, depth).loose()),
        }
    }

    fn leaf(&mut self, ty: &Ty) -> Text {
        let mut uses = Vec::new();
        for (name, found) in self.scope.visible() {
            paths(name, &found, ty, &mut uses);
        }
        // If variables are in scope, seven leaves out of eight use one, most often the innermost. Otherwise
        // most derivatives would be zero.
        if !uses.is_empty() && !self.choices.once_in(8) {
            let n = self.choices.below(uses.len()) * self.choices.below(2);
            return Text::atom_of(uses.swap_remove(n));
        }
        if *ty == Ty::Unit && self.choices.once_in(4) {
            return Text::atom_of("*");
        }
        if self.choices.once_in(16) {
            return Text::atom_of(format!("zero[{}]", self.type_text(ty)));
        }
        match ty {
            Ty::Pair(left, right) => {
                let (left, right) = (self.leaf(left).loose(), self.leaf(right).loose());
                Text::atom_of(parenthesised(&format!("{left}, {right}")))
            }
            _ => self.literal(ty),
        }
    }

    pub(super) fn literal(&mut self, ty: &Ty) -> Text {
        match ty {
            Ty::Real => {
                let numeral = self.numeral();
                let level = if numeral.starts_with('-') { Level::Unary } else { Level::Atom };
                Text::new(level, numeral)
            }
            Ty::Unit => Text::atom_of("()"),
            Ty::Pair(left, right) => {
                let (left, right) = (self.literal(left).loose(), self.literal(right).loose());
                Text::atom_of(parenthesised(&format!("{left}, {right}")))
            }
        }
    }

    fn condition(&mut self, depth: u32) -> Text {
        let and_or = usize::from(depth > 0);
        match self.choices.weighted(&[(8, 0), (and_or, 1), (and_or, 2), (1, 3), (1, 4)]) {
            1 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                let op = self.choices.among(&["&&", "∧"]);
                Text::infix(Level::And, (left, Level::And), op, (right, Level::Comparison))
            }
            2 => {
                let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
                let op = self.choices.among(&["||", "∨"]);
                Text::infix(Level::Or, (left, Level::Or), op, (right, Level::And))
            }
            3 => {
                let word = self.choices.among(&["not ", "¬"]);
                let inner = self.condition(depth.saturating_sub(1)).at(Level::Comparison);
                Text::new(Level::Comparison, format!("{word}{inner}"))
            }
            4 => Text::new(Level::Comparison, self.choices.among(&["true", "false"])),
            _ => {
                let (left, right) = (self.term(&Ty::Real, depth), self.other_real(depth));
                let allowed = if self.clarke { 6 } else { 2 };
                let op = self.choices.among(&["<", ">", "<=", ">=", "==", "≠"][..allowed]);
                Text::infix(Level::Comparison, (left, Level::Sum), op, (right, Level::Sum))
            }
        }
    }

    /// A real to compare another one with: mostly a numeral, which rarely equals another real.
    pub(super) fn other_real(&mut self, depth: u32) -> Text {
        match self.choices.below(4) {
            0 => Text::atom_of("0.25"),
            1 => Text::atom_of("1.5"),
            _ => self.term(&Ty::Real, depth),
        }
    }

    pub(super) fn name(&mut self) -> &'static str {
        self.choices.among(Scope::variable_names())
    }

    pub(super) fn name_except(&mut self, taken: &[&str]) -> &'static str {
        let free: Vec<&str> =
            Scope::variable_names().iter().filter(|name| !taken.contains(name)).copied().collect();
        self.choices.among(&free)
    }

    /// `:T`, or nothing.
    pub(super) fn annotation(&mut self, ty: &Ty) -> String {
        if self.choices.once_in(2) { format!(":{}", self.type_text(ty)) } else { String::new() }
    }
}

/// The paths to parts of type `wanted` of a variable.
fn paths(path: &str, ty: &Ty, wanted: &Ty, found: &mut Vec<String>) {
    if ty == wanted {
        found.push(path.to_string());
    }
    if let Ty::Pair(left, right) = ty {
        paths(&format!("fst({path})"), left, wanted, found);
        paths(&format!("snd({path})"), right, wanted, found);
    }
}
