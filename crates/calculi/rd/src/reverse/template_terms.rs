//! The templates of `op_r` as trace terms.

use std::convert::Infallible;

use crate::operation::{Primitive, Scalar};
use crate::syntax::{Term, TermId, Terms, VarId};
use crate::template::{Algebra, reverse_binary, reverse_unary};

/// `let p = D in let x = fst p in let w = snd p in template`, the meaning of `op_r(D)`.
pub fn expand_reverse(terms: &mut Terms, primitive: Primitive, argument: TermId) -> TermId {
    let mut writer = Writer { terms, lets: Vec::new() };
    let p = writer.name("p", argument);
    let x = writer.project(p, Term::Fst, "x");
    let w = writer.project(p, Term::Snd, "w");
    let result = match primitive {
        Primitive::Scalar(op) if op.is_binary() => {
            let a = writer.project(x, Term::Fst, "a");
            let b = writer.project(x, Term::Snd, "b");
            let (da, db) = never_fails(reverse_binary(&mut writer, op, (a, b), None, w));
            writer.terms.pair(da, db)
        }
        Primitive::Scalar(op) => never_fails(reverse_unary(&mut writer, op, x, None, w)),
        // ⟨scale_T(w,b), scale_T(w,a)⟩
        Primitive::Dot(_) => {
            let a = writer.project(x, Term::Fst, "a");
            let b = writer.project(x, Term::Snd, "b");
            let (da, db) = (writer.terms.scale(w, b), writer.terms.scale(w, a));
            writer.terms.pair(da, db)
        }
        // ⟨dot_T(v,w), scale_T(r,w)⟩ with r = fst x, v = snd x
        Primitive::Scale(ty) => {
            let r = writer.project(x, Term::Fst, "r");
            let v = writer.project(x, Term::Snd, "v");
            let vw = writer.terms.pair(v, w);
            let dr = writer.terms.push(Term::Op(crate::operation::Op::Primal(Primitive::Dot(ty)), vw));
            let dv = writer.terms.scale(r, w);
            writer.terms.pair(dr, dv)
        }
    };
    let lets = writer.lets;
    terms.bind_all(&lets, result)
}

/// Writes a template as a chain of lets.
struct Writer<'a> {
    terms: &'a mut Terms,
    lets: Vec<(VarId, TermId)>,
}

impl Writer<'_> {
    fn name(&mut self, name: &str, bound: TermId) -> TermId {
        let var = self.terms.fresh_named(name, self.terms.ty(bound));
        self.lets.push((var, bound));
        self.terms.variable(var)
    }

    fn project(&mut self, pair: TermId, half: fn(TermId) -> Term, name: &str) -> TermId {
        let half = self.terms.push(half(pair));
        self.name(name, half)
    }
}

impl Algebra for Writer<'_> {
    type Number = TermId;
    type Error = Infallible;

    fn constant(&mut self, value: f64) -> TermId {
        self.terms.real(value)
    }

    fn unary(&mut self, op: Scalar, x: TermId) -> Result<TermId, Infallible> {
        let term = self.terms.scalar(op, x);
        Ok(self.name("t", term))
    }

    fn binary(&mut self, op: Scalar, x: TermId, y: TermId) -> Result<TermId, Infallible> {
        let term = match op {
            Scalar::Add => self.terms.push(Term::Add(x, y)),
            _ => self.terms.scalar2(op, x, y),
        };
        Ok(self.name("t", term))
    }
}

fn never_fails<T>(result: Result<T, Infallible>) -> T {
    match result {
        Ok(value) => value,
    }
}
