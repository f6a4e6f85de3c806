//! Combine (section 6.1): the call-by-value core, rules 1 to 6, sums, contractions, and the completion rule
//! C2.

use super::conclude::{Goal, Premise};
use super::tower::{self, Tower};
use super::transpose::transpose;
use super::{Control, Detail, Frame, Machine, literal};
use crate::outcome::Stop;
use crate::primitive::PrimId;
use crate::primitive::calculus::{Arithmetic, Binary, Reals};
use crate::syntax::{Hint, Path, Term, TermId, VarId};
use crate::types::Type;

impl Machine<'_> {
    /// `V W`.
    pub(super) fn apply(&mut self, function: TermId, argument: TermId) -> Result<Control, Stop> {
        match self.terms.term(function) {
            // (1)   (λx.s) V → s[V/x]
            Term::Lambda(_, body) => {
                let before = self.terms.apply(function, argument);
                let after = self.terms.instantiate(body, &[argument]);
                self.rewrite("1", before, after)
            }
            // ((Ω λy.E)·ω) V
            Term::Pullback(hint, body, form) => self.pull(function, hint, body, form, argument),
            // (+)   0 W → 0
            Term::Zero => {
                let before = self.terms.apply(function, argument);
                let after = self.terms.zero(self.terms.ty(before));
                self.rewrite("+", before, after)
            }
            // (+)   (V1+V2) W → V1 W + V2 W
            Term::Add(left, right) => {
                let before = self.terms.apply(function, argument);
                let (left, right) = (self.terms.apply(left, argument), self.terms.apply(right, argument));
                let after = self.terms.add(left, right);
                self.rewrite("+", before, after)
            }
            _ => self.apply_tower(function, argument),
        }
    }

    /// (4)   `(J f·r) r' → J(f)(r')(r)`, for second derivatives `(J (J f·r1)·r2) r' → J²(f)(r')(r1,r2)`, and
    /// so on.
    fn apply_tower(&mut self, function: TermId, point: TermId) -> Result<Control, Stop> {
        let before = self.terms.apply(function, point);
        let Some(tower) = Tower::of(&self.terms, function) else { return Ok(Control::Return(before)) };
        let ty = self.terms.ty(before);
        // (+)   J f·0 → 0
        if tower.directions.iter().any(|direction| literal::is_zero(&self.terms, *direction)) {
            let after = self.terms.zero(ty);
            return self.rewrite("+", before, after);
        }
        let directions = tower.directions.iter().map(|direction| literal::vector(&self.terms, *direction));
        let (Some(directions), Some(r)) =
            (directions.collect::<Option<Vec<_>>>(), literal::vector(&self.terms, point))
        else {
            return Ok(Control::Return(before));
        };
        let value = tower::value(&mut self.terms.primitives, tower.prim, r, &directions)?;
        let after = literal::make(&mut self.terms, ty, &value);
        self.rewrite("4", before, after)
    }

    /// (2)   `π_i ⟨V1,V2⟩ → V_i`, a whole chain of projections at once.
    pub(super) fn project(&mut self, path: Path, value: TermId) -> Result<Control, Stop> {
        let after = self.select(path, value);
        let is_stuck = matches!(self.terms.term(after), Term::Project(..));
        if is_stuck {
            return Ok(Control::Return(after));
        }
        let before = self.terms.project(path, value);
        let rule = if matches!(self.terms.term(value), Term::Pair(..)) { "2" } else { "+" };
        self.rewrite(rule, before, after)
    }

    /// The component of a value at a path.
    pub(super) fn select(&mut self, path: Path, mut value: TermId) -> TermId {
        let Path { mut lefts, mut right } = path;
        while lefts > 0 || right {
            match self.terms.term(value) {
                Term::Pair(first, _) if lefts > 0 => {
                    lefts -= 1;
                    value = first;
                }
                Term::Pair(_, second) => {
                    right = false;
                    value = second;
                }
                // (+)   π_i 0 → 0
                Term::Zero => {
                    let whole = self.terms.project(Path { lefts, right }, value);
                    return self.terms.zero(self.terms.ty(whole));
                }
                // (+)   π_i (V1+V2) → π_i V1 + π_i V2
                Term::Add(first, second) => {
                    let first = self.terms.project(Path { lefts, right }, first);
                    let second = self.terms.project(Path { lefts, right }, second);
                    return self.terms.add(first, second);
                }
                _ => return self.terms.project(Path { lefts, right }, value),
            }
        }
        value
    }

    /// (3)   `f(r)` → the literal `f(r)`.
    pub(super) fn prim(&mut self, f: PrimId, value: TermId) -> Result<Control, Stop> {
        let before = self.terms.prim(f, value);
        let Some(point) = literal::vector(&self.terms, value) else { return Ok(Control::Return(before)) };
        let result = self.terms.primitives.get(f).apply(&mut Reals, &point)?;
        let ty = self.terms.ty(before);
        let after = literal::make(&mut self.terms, ty, &result);
        self.contract_to("3", Detail::Value(before, after), after)
    }

    /// `V1 + V2`.
    pub(super) fn add(&mut self, left: TermId, right: TermId) -> Result<Control, Stop> {
        let before = self.terms.add(left, right);
        let ty = self.terms.ty(before);
        let after = match (self.terms.term(left), self.terms.term(right)) {
            // 0 + V → V
            (Term::Zero, _) => right,
            (_, Term::Zero) => left,
            // λx.s + λx.t → λx.(s+t)
            (Term::Lambda(hint, s), Term::Lambda(_, t)) => {
                let body = self.terms.add(s, t);
                self.terms.lambda(hint, self.terms.param(left), body)
            }
            // literal + literal, c^* + d^*
            _ if self.terms.types.is_euclidean(ty) || self.terms.types.is_covector(ty) => {
                match self.add_literals(left, right, ty)? {
                    Some(sum) => sum,
                    None => match (self.terms.term(left), self.terms.term(right)) {
                        (Term::Pair(a, b), Term::Pair(c, d)) => self.add_pairs([a, b], [c, d]),
                        _ => return Ok(Control::Return(before)),
                    },
                }
            }
            // pair + pair, componentwise
            (Term::Pair(a, b), Term::Pair(c, d)) => self.add_pairs([a, b], [c, d]),
            _ => return Ok(Control::Return(before)),
        };
        self.rewrite("+", before, after)
    }

    fn add_pairs(&mut self, [a, b]: [TermId; 2], [c, d]: [TermId; 2]) -> TermId {
        let (first, second) = (self.terms.add(a, c), self.terms.add(b, d));
        self.terms.pair(first, second)
    }

    fn add_literals(&mut self, left: TermId, right: TermId, ty: Type) -> Result<Option<TermId>, Stop> {
        let is_vector = self.terms.types.is_euclidean(ty);
        let leaves = |id| {
            if is_vector { literal::vector(&self.terms, id) } else { literal::covector(&self.terms, id) }
        };
        let (Some(left), Some(right)) = (leaves(left), leaves(right)) else { return Ok(None) };
        let mut sum = Vec::with_capacity(left.len());
        for (a, b) in left.into_iter().zip(right) {
            sum.push(Reals.binary(Binary::Add, a, b)?);
        }
        Ok(Some(if is_vector {
            literal::make(&mut self.terms, ty, &sum)
        } else {
            let of = self.terms.types.predual(ty);
            literal::make_covector(&mut self.terms, of, &sum)
        }))
    }

    /// `(λx.s)^* · V`: the operand is a value; evaluates the body under its binder.
    pub(super) fn dual_operand(
        &mut self,
        hint: Hint,
        param: Type,
        body: TermId,
        operand: TermId,
    ) -> Result<Control, Stop> {
        // (+)   (λv.S)^*·0 → 0
        if self.terms.term(operand) == Term::Zero {
            let before = self.terms.dual_map(hint, param, body, operand);
            let after = self.terms.zero(self.terms.ty(before));
            return self.rewrite("+", before, after);
        }
        let var = self.terms.fresh(hint.0, param);
        let variable = self.terms.push(Term::Free(var), param);
        let open = self.terms.instantiate(body, &[variable]);
        self.frames.push(Frame::DualBody(hint, var, operand));
        Ok(Control::Eval(open))
    }

    /// `(λx.V)^* · V'`: both are values; `var` is free in the body.
    pub(super) fn dual_body(
        &mut self,
        hint: Hint,
        var: VarId,
        body: TermId,
        operand: TermId,
    ) -> Result<Control, Stop> {
        let param = self.terms.var(var).ty;
        let closed = self.terms.abstract_over(body, &[var]);
        let whole = self.terms.dual_map(hint, param, closed, operand);
        // (+)   (λv.0)^*·φ → 0
        if self.terms.term(body) == Term::Zero {
            let after = self.terms.zero(self.terms.ty(whole));
            return self.rewrite("+", whole, after);
        }
        // (5)   (λv.S)^*·c^* → (Sᵀ c)^*
        if self.terms.types.is_euclidean(param)
            && let Some(covector) = literal::covector(&self.terms, operand)
            && let Some(pulled) = transpose(&mut self.terms, body, var, covector)?
        {
            let after = literal::make_covector(&mut self.terms, param, &pulled);
            return self.contract_to("5", Detail::Term(after), after);
        }
        // (6)   (λv1.V1)^*·((λv2.V2)^*·V3) → (λv1.V2[V1/v2])^*·V3
        if let Term::Dual(_, inner, rest) = self.terms.term(operand) {
            let composed = self.terms.instantiate(inner, &[body]);
            let composed = self.terms.abstract_over(composed, &[var]);
            let after = self.terms.dual_map(hint, param, composed, rest);
            return self.rewrite("6", whole, after);
        }
        // (+)   (λv.S)^*·(φ+ψ) → (λv.S)^*·φ + (λv.S)^*·ψ, only if rule 5 or 6 needs one of the summands
        if let Term::Add(left, right) = self.terms.term(operand)
            && self.has_dual_map(operand)
        {
            let left = self.terms.dual_map(hint, param, closed, left);
            let right = self.terms.dual_map(hint, param, closed, right);
            let after = self.terms.add(left, right);
            return self.rewrite("+", whole, after);
        }
        Ok(Control::Return(whole))
    }

    /// Whether one of the summands of a covector is a dual map or a literal.
    fn has_dual_map(&self, covector: TermId) -> bool {
        let mut work = vec![covector];
        while let Some(id) = work.pop() {
            match self.terms.term(id) {
                Term::Add(left, right) => work.extend([left, right]),
                Term::Dual(..) => return true,
                _ if literal::covector(&self.terms, id).is_some() => return true,
                _ => {}
            }
        }
        false
    }

    /// `V1 @ V2`.
    pub(super) fn contract(&mut self, left: TermId, right: TermId) -> Result<Control, Stop> {
        let before = self.terms.contract(left, right);
        let after = match (self.terms.term(left), self.terms.term(right)) {
            (Term::Zero, _) | (_, Term::Zero) => self.terms.real(0.0),
            // ((λx.s)^*·φ) @ V → φ @ s[V/x]
            (Term::Dual(_, body, operand), _) => {
                let image = self.terms.instantiate(body, &[right]);
                self.terms.contract(operand, image)
            }
            (Term::Add(a, b), _) => {
                let (a, b) = (self.terms.contract(a, right), self.terms.contract(b, right));
                self.terms.add(a, b)
            }
            // c^* @ r → Σ c_i r_i
            _ => {
                let covector = literal::covector(&self.terms, left);
                match (covector, literal::vector(&self.terms, right)) {
                    (Some(c), Some(r)) => {
                        let sum = c.iter().zip(&r).fold(0.0, |sum, (c, r)| sum + c * r);
                        if !sum.is_finite() {
                            return Err(Stop::Domain(crate::primitive::Undefined::new("a contraction")));
                        }
                        self.terms.real(sum)
                    }
                    _ => return Ok(Control::Return(before)),
                }
            }
        };
        self.rewrite("+", before, after)
    }

    /// `sharp V`.
    pub(super) fn sharp(&mut self, value: TermId) -> Result<Control, Stop> {
        let before = self.terms.sharp(value);
        let ty = self.terms.ty(before);
        let after = match self.terms.term(value) {
            // sharp (flat V) → V
            Term::Flat(of) => of,
            Term::Zero => self.terms.zero(ty),
            // sharp φ → ⟨φ@ε_1, …⟩
            _ => {
                let n = self.terms.types.components(ty);
                let leaves: Vec<TermId> = (0..n)
                    .map(|leaf| {
                        let basis = self.terms.basis(ty, leaf);
                        self.terms.contract(value, basis)
                    })
                    .collect();
                self.terms.tuple(ty, leaves)
            }
        };
        self.rewrite("+", before, after)
    }

    /// (C2)   `J V · U`.
    pub(super) fn jacobian(&mut self, function: TermId, direction: TermId) -> Result<Control, Stop> {
        let before = self.terms.jacobian(function, direction);
        let ty = self.terms.ty(before);
        let after = match (self.terms.term(function), self.terms.term(direction)) {
            (Term::Zero, _) | (_, Term::Zero) => self.terms.zero(ty),
            // J of a sum distributes
            (Term::Add(a, b), _) => {
                let (a, b) = (self.terms.jacobian(a, direction), self.terms.jacobian(b, direction));
                self.terms.add(a, b)
            }
            // J(λz.P)·U → λa.S'[U/v'], where λv'.S' is the Jacobian of λz.P at a
            (Term::Lambda(..), _) => {
                let (a, point) = self.terms.fresh_term("a", self.terms.param(function));
                return Ok(self.prove(Premise::Jacobian { before, direction, a }, Goal { function, point }));
            }
            _ if literal::is_zero(&self.terms, direction) => self.terms.zero(ty),
            (Term::Pullback(..), _) => {
                return Ok(self.expand_pullback(function, Premise::ExpandedInJacobian(direction)));
            }
            _ => return Ok(Control::Return(before)),
        };
        self.rewrite("C2", before, after)
    }
}
