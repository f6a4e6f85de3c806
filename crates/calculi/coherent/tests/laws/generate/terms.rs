//! Terms of a given type: each form whose rule concludes that type is an option.

use eddy_coherent::sugar;
use eddy_coherent::syntax::{Bit, Op, Term, TermId};
use eddy_coherent::types::Type;

use super::{Generator, Sample};

/// The maximal depth of the type of a part.
const MAX_DEPTH: u32 = 4;

/// A closed program of type `D^d nat`, d ≤ 2.
pub fn program(mut generator: Generator<'_>) -> Sample {
    let depth = generator.level(2);
    let ty = Type::ground(depth);
    let main = generator.term(ty);
    generator.finish(main, ty)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Leaf,
    Variable,
    Number,
    If,
    Let,
    Inj,
    Pi,
    Theta,
    Flip,
    Derivative,
    Component,
    Linear,
    Beta,
    Fix,
    Coin,
    Tick,
}

impl Generator<'_> {
    /// A level from 0 to the largest.
    pub fn level(&mut self, largest: u32) -> u32 {
        u32::try_from(self.choices.below(largest as usize + 1)).expect("a small number")
    }

    pub fn bit(&mut self) -> Bit {
        self.choices.among(&Bit::BOTH)
    }

    /// A term of a type, in the current scope.
    pub fn term(&mut self, ty: Type) -> TermId {
        self.size = self.size.saturating_sub(1);
        match self.terms.types.sides(ty) {
            Some((from, to)) => self.function(ty, from, to),
            None => self.ground(ty.depth),
        }
    }

    fn function(&mut self, ty: Type, from: Type, to: Type) -> TermId {
        let known: Vec<u32> = self.variables(|other| other == ty);
        if !known.is_empty() && self.choices.once_in(3) {
            let index = self.choices.among(&known);
            return self.add(Term::Var(index));
        }
        if !self.with.only_numerals
            && let (Some(inner_from), Some(inner_to)) = (from.shallower(1), to.shallower(1))
            && self.size > 2
            && self.choices.once_in(3)
        {
            let inner = self.terms.types.arrow(inner_from, inner_to);
            let function = self.term(inner);
            return self.add(Term::Derive(function));
        }
        if self.size > 2 && self.choices.once_in(4) {
            return self.surrounded(ty);
        }
        self.lambda(from, to)
    }

    /// A term of a type made from one of another depth, or from one of two.
    fn surrounded(&mut self, ty: Type) -> TermId {
        let depth = ty.depth;
        match if self.with.only_numerals { 3 } else { self.choices.below(5) } {
            0 if depth > 0 => {
                let (bit, at) = (self.bit(), self.level(depth - 1));
                let part = self.term(ty.shallower(1).expect("it is deep enough"));
                self.terms.op(Op::Inj(bit), at, part)
            }
            1 if depth > 0 && depth < MAX_DEPTH => {
                let at = self.level(depth - 1);
                let part = self.term(ty.deeper(1));
                self.terms.op(Op::Theta, at, part)
            }
            2 if depth > 1 => {
                let levels = self.level(depth - 2);
                let at = self.level(depth - 2 - levels);
                let part = self.term(ty);
                self.terms.op(Op::Flip(levels), at, part)
            }
            3 => {
                let inner = self.level(depth);
                let condition = self.term(Type::ground(inner));
                let branch = ty.shallower(inner).expect("it is deep enough");
                let (yes, no) = (self.term(branch), self.term(branch));
                self.add(Term::If(inner, condition, yes, no))
            }
            _ => {
                let (bit, at) = (self.bit(), self.level(depth));
                let part = self.term(ty.deeper(1));
                self.terms.op(Op::Pi(bit), at, part)
            }
        }
    }

    pub fn lambda(&mut self, from: Type, to: Type) -> TermId {
        self.scope.push(from);
        let body = self.term(to);
        self.scope.pop();
        self.add(Term::Lambda(from, body))
    }

    /// The indices of the variables whose type passes the test.
    fn variables(&self, test: impl Fn(Type) -> bool) -> Vec<u32> {
        let types = self.scope.iter().rev().enumerate();
        types.filter(|(_, ty)| test(**ty)).map(|(index, _)| u32::try_from(index).expect("small")).collect()
    }

    fn ground(&mut self, depth: u32) -> TermId {
        if self.size == 0 {
            return self.leaf(depth);
        }
        let deeper = depth < MAX_DEPTH && !self.with.only_numerals;
        let options = [
            (2, Form::Leaf, true),
            (6, Form::Variable, !self.scope.is_empty()),
            (2, Form::Number, true),
            (3, Form::If, true),
            (2, Form::Let, true),
            (3, Form::Inj, depth > 0),
            (2, Form::Pi, deeper),
            (3, Form::Theta, depth > 0 && deeper),
            (3, Form::Flip, depth > 1),
            (5, Form::Derivative, depth > 0),
            (5, Form::Component, deeper),
            (3, Form::Linear, !self.with.only_numerals),
            (2, Form::Beta, true),
            (2, Form::Fix, self.with.fix),
            (8, Form::Coin, self.with.coins && depth == 0),
            (3, Form::Tick, self.with.ticks),
        ];
        let options: Vec<(usize, Form)> = options
            .into_iter()
            .filter(|(.., is_on)| *is_on)
            .map(|(weight, form, _)| (weight, form))
            .collect();
        let form = self.choices.weighted(&options);
        self.form(form, depth)
    }

    fn form(&mut self, form: Form, depth: u32) -> TermId {
        match form {
            Form::Leaf => self.leaf(depth),
            Form::Variable => self.variable(depth),
            Form::Number => {
                let part = self.term(Type::ground(depth));
                let op = self.choices.among(&[Op::Succ, Op::Pred]);
                self.terms.op(op, depth, part)
            }
            Form::If => {
                let inner = self.level(depth);
                let condition = self.term(Type::ground(inner));
                let yes = self.term(Type::ground(depth - inner));
                let no = self.term(Type::ground(depth - inner));
                self.add(Term::If(inner, condition, yes, no))
            }
            Form::Let => {
                let inner = self.level(depth);
                let bound = self.term(Type::ground(inner));
                self.scope.push(Type::NAT);
                let body = self.term(Type::ground(depth - inner));
                self.scope.pop();
                self.add(Term::Let(inner, bound, body))
            }
            Form::Inj => {
                let (bit, at) = (self.bit(), self.level(depth - 1));
                let part = self.term(Type::ground(depth - 1));
                self.terms.op(Op::Inj(bit), at, part)
            }
            Form::Pi => {
                let (bit, at) = (self.bit(), self.level(depth));
                let part = self.term(Type::ground(depth + 1));
                self.terms.op(Op::Pi(bit), at, part)
            }
            Form::Theta => {
                let at = self.level(depth - 1);
                let part = self.term(Type::ground(depth + 1));
                self.terms.op(Op::Theta, at, part)
            }
            Form::Flip => {
                let levels = self.level(depth - 2);
                let at = self.level(depth - 2 - levels);
                let part = self.term(Type::ground(depth));
                self.terms.op(Op::Flip(levels), at, part)
            }
            Form::Derivative => self.derivative(depth - 1),
            Form::Component => {
                let derivative = self.derivative(depth);
                let bit = self.bit();
                self.terms.op(Op::Pi(bit), 0, derivative)
            }
            Form::Linear => {
                let from = self.argument_type();
                let function = self.arrow_to(from, depth);
                let argument = self.term(from);
                sugar::linear(&mut self.terms, function, argument)
            }
            Form::Beta => {
                let from = self.argument_type();
                let function = self.lambda(from, Type::ground(depth));
                let argument = self.term(from);
                self.add(Term::Apply(function, argument))
            }
            Form::Fix => self.recursion(depth),
            Form::Coin => self.coin(),
            Form::Tick => {
                let part = self.term(Type::ground(depth));
                self.add(Term::Tick(part))
            }
        }
    }

    pub fn coin(&mut self) -> TermId {
        let (numerator, denominator) = (self.choices.below(4), 3_u8);
        let probability = dashu_ratio::RBig::from_parts(numerator.into(), denominator.into());
        let probability = self.terms.add_probability(probability);
        self.add(Term::Coin(probability))
    }

    /// `D F X`, of type `D^(depth+1) nat`.
    fn derivative(&mut self, depth: u32) -> TermId {
        let from = self.argument_type();
        let function = self.arrow_to(from, depth);
        let derived = self.add(Term::Derive(function));
        let argument = self.term(from.deeper(1));
        self.add(Term::Apply(derived, argument))
    }

    fn arrow_to(&mut self, from: Type, depth: u32) -> TermId {
        let ty = self.terms.types.arrow(from, Type::ground(depth));
        self.term(ty)
    }

    /// `fix M`, or a recursive function applied to a number, which ends more often.
    fn recursion(&mut self, depth: u32) -> TermId {
        let ground = Type::ground(depth);
        if self.choices.below(2) == 0 {
            let step = self.lambda(ground, ground);
            return self.add(Term::Fix(step));
        }
        let ty = self.terms.types.arrow(Type::NAT, ground);
        let step = self.lambda(ty, ty);
        let fixed = self.add(Term::Fix(step));
        let argument = self.term(Type::NAT);
        self.add(Term::Apply(fixed, argument))
    }

    fn argument_type(&mut self) -> Type {
        let types = &mut self.terms.types;
        let function = types.arrow(Type::NAT, Type::NAT);
        let pairs = types.arrow(Type::NAT, Type::ground(1));
        let higher = types.arrow(function, Type::NAT);
        if self.with.only_numerals {
            return self.choices.weighted(&[(5, Type::NAT), (4, function), (2, higher)]);
        }
        self.choices.weighted(&[(5, Type::NAT), (2, Type::ground(1)), (4, function), (1, pairs), (1, higher)])
    }

    /// A variable, applied to as many arguments as it takes, and brought to the depth.
    fn variable(&mut self, depth: u32) -> TermId {
        let index = self.choices.below(self.scope.len());
        let mut ty = self.scope[self.scope.len() - 1 - index];
        let mut term = self.add(Term::Var(u32::try_from(index).expect("small")));
        while let Some((from, to)) = self.terms.types.sides(ty) {
            let argument = self.term(from);
            term = self.add(Term::Apply(term, argument));
            ty = to;
        }
        self.bring(term, ty.depth, depth)
    }

    /// Injections or projections until the depth is right.
    fn bring(&mut self, mut term: TermId, from: u32, to: u32) -> TermId {
        for above in from..to {
            let (bit, at) = (self.bit(), self.level(above));
            term = self.terms.op(Op::Inj(bit), at, term);
        }
        for above in (to..from).rev() {
            let (bit, at) = (self.bit(), self.level(above));
            term = self.terms.op(Op::Pi(bit), at, term);
        }
        term
    }

    /// A number under injections, or a variable.
    pub fn leaf(&mut self, depth: u32) -> TermId {
        let numbers = self.variables(Type::is_ground);
        if !numbers.is_empty() && self.choices.below(2) == 0 {
            let index = self.choices.among(&numbers);
            let ty = self.scope[self.scope.len() - 1 - index as usize];
            let term = self.add(Term::Var(index));
            return self.bring(term, ty.depth, depth);
        }
        let number = u64::try_from(self.choices.below(4)).expect("small");
        let term = self.add(Term::Num(number));
        self.bring(term, 0, depth)
    }
}
