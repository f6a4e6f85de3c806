//! Constructors of terms; the type follows from those of the parts.

use super::{Hint, Path, Term, TermId, Terms};
use crate::primitive::PrimId;
use crate::surface::Side;
use crate::types::{Type, assemble};

impl Terms {
    /// `r`.
    pub fn real(&mut self, value: f64) -> TermId {
        self.push(Term::Real(value), Type::REAL)
    }

    /// The bound variable with this index.
    pub fn bound(&mut self, index: u32, ty: Type) -> TermId {
        self.push(Term::Bound(index), ty)
    }

    /// `0`.
    pub fn zero(&mut self, ty: Type) -> TermId {
        self.push(Term::Zero, ty)
    }

    /// `⟨s,t⟩`.
    pub fn pair(&mut self, left: TermId, right: TermId) -> TermId {
        let ty = self.types.product(self.ty(left), self.ty(right));
        self.push(Term::Pair(left, right), ty)
    }

    /// `s + t`.
    pub fn add(&mut self, left: TermId, right: TermId) -> TermId {
        let ty = self.ty(left);
        self.push(Term::Add(left, right), ty)
    }

    /// `s t`.
    pub fn apply(&mut self, function: TermId, argument: TermId) -> TermId {
        let (_, ty) = self.types.function(self.ty(function));
        self.push(Term::Apply(function, argument), ty)
    }

    /// `λx:σ.t`.
    pub fn lambda(&mut self, hint: Hint, param: Type, body: TermId) -> TermId {
        let ty = self.types.arrow(param, self.ty(body));
        self.push(Term::Lambda(hint, body), ty)
    }

    /// `let x = s in t`, which is `(λx.t) s`.
    pub fn bind(&mut self, hint: Hint, bound: TermId, body: TermId) -> TermId {
        let lambda = self.lambda(hint, self.ty(bound), body);
        self.apply(lambda, bound)
    }

    /// `f(t)`.
    pub fn prim(&mut self, f: PrimId, argument: TermId) -> TermId {
        let n_outputs = self.primitives.get(f).outputs.len();
        let ty = self.types.vector(n_outputs);
        self.push(Term::Prim(f, argument), ty)
    }

    /// `J f·t`.
    pub fn prim_jacobian(&mut self, f: PrimId, direction: TermId) -> TermId {
        let n_outputs = self.primitives.get(f).outputs.len();
        let result = self.types.vector(n_outputs);
        let ty = self.types.arrow(self.ty(direction), result);
        self.push(Term::PrimJacobian(f, direction), ty)
    }

    /// `(λx:σ.s)^*·t`.
    pub fn dual_map(&mut self, hint: Hint, param: Type, body: TermId, operand: TermId) -> TermId {
        let ty = self.types.dual(param);
        self.push(Term::Dual(hint, body, operand), ty)
    }

    /// `(Ω λx:σ.p)·w`.
    pub fn pullback(&mut self, hint: Hint, param: Type, body: TermId, form: TermId) -> TermId {
        let ty = self.types.omega(param);
        self.push(Term::Pullback(hint, body, form), ty)
    }

    /// `J s·t`.
    pub fn jacobian(&mut self, function: TermId, direction: TermId) -> TermId {
        let ty = self.ty(function);
        self.push(Term::Jacobian(function, direction), ty)
    }

    /// `s @ t`.
    pub fn contract(&mut self, covector: TermId, vector: TermId) -> TermId {
        self.push(Term::Contract(covector, vector), Type::REAL)
    }

    /// `flat t`.
    pub fn flat(&mut self, of: TermId) -> TermId {
        let ty = self.types.dual(self.ty(of));
        self.push(Term::Flat(of), ty)
    }

    /// `sharp t`.
    pub fn sharp(&mut self, of: TermId) -> TermId {
        let ty = self.types.predual(self.ty(of));
        self.push(Term::Sharp(of), ty)
    }

    /// The tuple of a Euclidean type with these leaves.
    pub fn tuple(&mut self, ty: Type, leaves: Vec<TermId>) -> TermId {
        let steps = self.types.assembly(ty);
        assemble(&steps, leaves, |left, right| self.pair(left, right))
    }

    /// A chain of projections; chains of `π1` become one node.
    pub fn project(&mut self, path: Path, of: TermId) -> TermId {
        let mut ty = self.types.after_lefts(self.ty(of), path.lefts).expect("only pairs are projected");
        if path.right {
            ty = self.types.factors(ty).expect("only pairs are projected").1;
        }
        if let Term::Project(Path { lefts, right: false }, inner) = self.term(of) {
            return self.push(Term::Project(Path { lefts: lefts + path.lefts, ..path }, inner), ty);
        }
        self.push(Term::Project(path, of), ty)
    }

    /// The basis vector of a Euclidean type that is 1 at this leaf, as a literal.
    pub fn basis(&mut self, ty: Type, leaf: u64) -> TermId {
        let (mut at, mut rest, mut around) = (ty, leaf, Vec::new());
        while let Some((left, right)) = self.types.factors(at) {
            let n_left = self.types.components(left);
            if rest < n_left {
                around.push((Side::Second, right));
                at = left;
            } else {
                around.push((Side::First, left));
                (at, rest) = (right, rest - n_left);
            }
        }
        let mut vector = self.real(1.0);
        for (side, ty) in around.into_iter().rev() {
            let zero = if ty == Type::REAL { self.real(0.0) } else { self.zero(ty) };
            vector = match side {
                Side::First => self.pair(zero, vector),
                Side::Second => self.pair(vector, zero),
            };
        }
        vector
    }
}
