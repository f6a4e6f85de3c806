//! `D^n (\f:nat -> nat. BODY) K`: derivatives of functions that call their argument in several places. Their
//! runs make cells, and some of them reach a number, which other terms rarely do.

use eddy_coherent::syntax::{Op, Term, TermId};
use eddy_coherent::types::Type;

use super::{Generator, Sample};

pub fn program(mut generator: Generator<'_>) -> Sample {
    let n = 1 + generator.level(1);
    let (function, argument) = generator.pair(n);
    let mut derived = function;
    for _ in 0..n {
        derived = generator.add(Term::Derive(derived));
    }
    let main = generator.add(Term::Apply(derived, argument));
    generator.finish(main, Type::ground(n))
}

impl Generator<'_> {
    /// A function that calls its argument, and the argument, for an n-fold derivative.
    pub fn pair(&mut self, n: u32) -> (TermId, TermId) {
        let calls = self.terms.types.arrow(Type::NAT, Type::NAT);
        self.scope.push(calls);
        self.size = self.size.min(8);
        let body = self.body();
        self.scope.pop();
        let function = self.add(Term::Lambda(calls, body));
        (function, self.table(n))
    }

    /// Calls of f, conditionals on them and sums of them.
    fn body(&mut self) -> TermId {
        if self.size == 0 {
            return self.leaf(0);
        }
        self.size -= 1;
        match self.choices.weighted(&[(1, 0), (6, 1), (4, 2), (2, 3), (2, 4)]) {
            0 => self.leaf(0),
            1 => {
                let argument = self.body();
                self.call(argument)
            }
            2 => {
                let (condition, yes, no) = (self.body(), self.body(), self.body());
                self.add(Term::If(0, condition, yes, no))
            }
            3 => {
                let bound = self.body();
                self.scope.push(Type::NAT);
                let body = self.body();
                self.scope.pop();
                self.add(Term::Let(0, bound, body))
            }
            _ => {
                let part = self.body();
                let op = self.choices.among(&[Op::Succ, Op::Pred]);
                self.terms.op(op, 0, part)
            }
        }
    }

    /// f is the outermost variable.
    fn call(&mut self, argument: TermId) -> TermId {
        let f = self.add(Term::Var(u32::try_from(self.scope.len() - 1).expect("small")));
        self.add(Term::Apply(f, argument))
    }

    /// `\q:nat. let k = q in if k then L0 else if pred k then L1 else L2`, each L a numeral under n
    /// injections.
    fn table(&mut self, n: u32) -> TermId {
        let mut entry = || {
            let mut term = {
                let number = u64::try_from(self.choices.below(3)).expect("small");
                self.add(Term::Num(number))
            };
            for _ in 0..n {
                let bit = self.bit();
                term = self.terms.op(Op::Inj(bit), 0, term);
            }
            term
        };
        let (zero, one, other) = (entry(), entry(), entry());
        let k = self.add(Term::Var(0));
        let below = self.terms.op(Op::Pred, 0, k);
        let rest = self.add(Term::If(0, below, one, other));
        let cases = self.add(Term::If(0, k, zero, rest));
        let shared = self.add(Term::Let(0, k, cases));
        self.add(Term::Lambda(Type::NAT, shared))
    }
}
