//! Conquer (sections 6.2, 6.3 and 6.6): pullbacks of let series and of elementary terms, rules 7 to 21 and
//! C1.
//!
//! `((Ω λy.E)·ω) V → (λv.S)^*·(ω (E[V/y]))`, where `S` is the Jacobian of `λy.E` at `V`, in the direction
//! `v`. The table of section 6.3 gives `S` for each form of `E`. If it needs the Jacobian of a part of `E`,
//! the machine first proves a premise about this part: [`conclude`](super::conclude). `y_i` is a chain of
//! projections on `y`, `v_i` the same chain on `v`, `V_i` the component of `V` at that chain.

use super::conclude::{Goal, Premise};
use super::divide::{self, Body};
use super::tower::Tower;
use super::{Control, Detail, Frame, Machine};
use crate::outcome::Stop;
use crate::syntax::{Hint, Path, Term, TermId, VarId};

/// `((Ω λy.E)·ω) V` or `((Ω λy.⟨y,E⟩)·ω) V`.
#[derive(Clone, Copy, Debug)]
pub struct Redex {
    /// The pullback.
    pub(super) function: TermId,
    pub(super) hint: Hint,
    /// `E`, with `y` as index 0.
    pub(super) elementary: TermId,
    /// Whether the body is `⟨y,E⟩`.
    pub(super) is_extended: bool,
    /// `ω`.
    pub(super) form: TermId,
    /// `V`.
    pub(super) value: TermId,
    /// `v`.
    pub(super) v: VarId,
    pub(super) v_term: TermId,
}

impl Redex {
    /// The name of a rule on this redex: rules for `⟨y,E⟩` are 20a and 20b.
    pub(super) fn named(self, rule: &str) -> String {
        match (self.is_extended, rule) {
            (true, "9") => "20b".to_string(),
            (true, rule) => format!("20a/{rule}"),
            (false, rule) => rule.to_string(),
        }
    }
}

impl Machine<'_> {
    /// Cuts the body of `(Ω λy.P)·ω` into a let series, and the pullback of a let series into pullbacks of
    /// elementary terms; then evaluates the 1-form.
    pub(super) fn pullback(
        &mut self,
        id: TermId,
        hint: Hint,
        body: TermId,
        form: TermId,
    ) -> Result<Control, Stop> {
        let param = self.terms.param(id);
        match divide::classify(&self.terms, body) {
            // (A)
            Body::Whole => {
                let series = divide::normalise(&mut self.terms, body, param);
                let after = self.terms.pullback(hint, param, series, form);
                self.contract_to("A", Detail::Term(after), after)
            }
            // (7)   (Ω λy. let x=E in x)·ω → (Ω λy.E)·ω
            Body::Last { bound } => {
                let after = self.terms.pullback(hint, param, bound, form);
                self.rewrite("7", id, after)
            }
            // (8)   (Ω λy. let x=E in L)·ω → (Ω λy.⟨y,E⟩)·((Ω λz.L[π1 z/y][π2 z/x])·ω)
            Body::Series { bound, rest } => {
                let y = self.terms.bound(0, param);
                let extended = self.terms.pair(y, bound);
                let pair = self.terms.ty(extended);
                let (z, z_term) = self.terms.fresh_term("e", pair);
                let first = self.terms.project(Path { lefts: 1, right: false }, z_term);
                let second = self.terms.project(Path { lefts: 0, right: true }, z_term);
                let rest = self.terms.instantiate(rest, &[first, second]);
                let rest = self.terms.abstract_over(rest, &[z]);
                let z_hint = self.terms.hint("e");
                let inner = self.terms.pullback(z_hint, pair, rest, form);
                let after = self.terms.pullback(hint, param, extended, inner);
                self.rewrite("8", id, after)
            }
            Body::Elementary | Body::Extended { .. } => {
                self.frames.push(Frame::Form(hint, param, body));
                Ok(Control::Eval(form))
            }
        }
    }

    /// `((Ω λy.E)·ω) V` or `((Ω λy.⟨y,E⟩)·ω) V`, all of them values.
    pub(super) fn pull(
        &mut self,
        function: TermId,
        hint: Hint,
        body: TermId,
        form: TermId,
        value: TermId,
    ) -> Result<Control, Stop> {
        let (elementary, is_extended) = match divide::classify(&self.terms, body) {
            Body::Extended { elementary } => (elementary, true),
            _ => (body, false),
        };
        let (v, v_term) = self.terms.fresh_term("v", self.terms.ty(value));
        let redex = Redex { function, hint, elementary, is_extended, form, value, v, v_term };
        self.differentiate(redex)
    }

    /// The table of section 6.3.
    pub(super) fn differentiate(&mut self, redex: Redex) -> Result<Control, Stop> {
        let elementary = redex.elementary;
        let is_y = |machine: &Self, id| machine.terms.loose(id) > 0;
        // (9)   y∉FV(E): whole redex → 0
        if !is_y(self, elementary) {
            return self.finish(redex, "9", None, None);
        }
        // The same form with v in the place of y.
        let with_v = self.terms.instantiate(elementary, &[redex.v_term]);
        let (rule, direction) = match self.terms.term(elementary) {
            // (10a) y_i+z or z+y_i: v_i      (10b) y_i+y_j: v_i+v_j
            Term::Add(a, b) if is_y(self, a) && is_y(self, b) => ("10b", with_v),
            Term::Add(a, b) => {
                let atom = if is_y(self, a) { a } else { b };
                ("10a", self.terms.instantiate(atom, &[redex.v_term]))
            }
            // (11) y: v                      (12) y_i: v_i
            Term::Bound(_) => ("11", with_v),
            Term::Project(..) => ("12", with_v),
            // (13a) ⟨y_i,z⟩: ⟨v_i,0⟩         (13b) ⟨z,y_j⟩: ⟨0,v_j⟩         (13c) ⟨y_i,y_j⟩: ⟨v_i,v_j⟩
            Term::Pair(a, b) => {
                let rule = match (is_y(self, a), is_y(self, b)) {
                    (true, false) => "13a",
                    (false, _) => "13b",
                    (true, true) => "13c",
                };
                let (first, second) = (self.direction(redex, a), self.direction(redex, b));
                (rule, self.terms.pair(first, second))
            }
            // (14)  J f·y_i: J f·v_i
            Term::PrimJacobian(..) => ("14", with_v),
            // (15)  f(y_i): (J f·v_i) V_i
            Term::Prim(f, a) => {
                let (v_i, value) = (self.direction(redex, a), self.component(redex, a));
                let jacobian = self.terms.prim_jacobian(f, v_i);
                ("15", self.terms.apply(jacobian, value))
            }
            // (16a) (λx.L)^*·y_i, y∉L: (λx.L)^*·v_i
            Term::Dual(_, body, _) if !self.terms.mentions(body, 1) => ("16a", with_v),
            Term::Dual(hint, body, _) => {
                return Ok(self.differentiate_body(redex, hint, body, Premise::Dual));
            }
            // (17)
            Term::Pullback(..) => return Ok(self.expand_elementary(redex)),
            // (18)  λx.L: λx.S'
            Term::Lambda(hint, body) => {
                return Ok(self.differentiate_body(redex, hint, body, Premise::Lambda));
            }
            // (19a) y_i z: v_i z
            Term::Apply(_, b) if !is_y(self, b) => ("19a", with_v),
            Term::Apply(a, _) => {
                let function = self.component(redex, a);
                return self.differentiate_call(redex, function);
            }
            // (21)  flat and sharp as 14; z1@z2 and J z1·z2 are bilinear
            Term::Flat(_) | Term::Sharp(_) => ("21", with_v),
            Term::Contract(a, b) => {
                ("21", self.bilinear(redex, a, b, |machine, a, b| machine.terms.contract(a, b)))
            }
            Term::Jacobian(a, b) => {
                ("21", self.bilinear(redex, a, b, |machine, a, b| machine.terms.jacobian(a, b)))
            }
            other => unreachable!("{other:?} is not elementary"),
        };
        self.finish(redex, rule, Some(direction), None)
    }

    /// `v_i` for an atom `y_i`, `0` for one without `y`.
    pub(super) fn direction(&mut self, redex: Redex, atom: TermId) -> TermId {
        if self.terms.loose(atom) > 0 {
            self.terms.instantiate(atom, &[redex.v_term])
        } else {
            self.terms.zero(self.terms.ty(atom))
        }
    }

    /// `V_i` for an atom `y_i`; the atom itself if it is without `y`.
    pub(super) fn component(&mut self, redex: Redex, atom: TermId) -> TermId {
        let (mut paths, mut at) = (Vec::new(), atom);
        while let Term::Project(path, of) = self.terms.term(at) {
            paths.push(path);
            at = of;
        }
        if self.terms.loose(at) == 0 {
            return atom;
        }
        paths.into_iter().rev().fold(redex.value, |value, path| self.select(path, value))
    }

    /// The sum over the operands in which `y` occurs: this operand in the direction, the other at its value.
    fn bilinear(
        &mut self,
        redex: Redex,
        a: TermId,
        b: TermId,
        make: impl Fn(&mut Self, TermId, TermId) -> TermId,
    ) -> TermId {
        let mut parts = Vec::new();
        if self.terms.loose(a) > 0 {
            let (direction, fixed) = (self.direction(redex, a), self.component(redex, b));
            parts.push(make(self, direction, fixed));
        }
        if self.terms.loose(b) > 0 {
            let (fixed, direction) = (self.component(redex, a), self.direction(redex, b));
            parts.push(make(self, fixed, direction));
        }
        parts.into_iter().reduce(|a, b| self.terms.add(a, b)).expect("`y` occurs in an operand")
    }

    /// (16b), (16c), (18): `((Ω λy.L)·ω) V` with the variable `x` of the body kept free.
    fn differentiate_body(
        &mut self,
        redex: Redex,
        hint: Hint,
        body: TermId,
        premise: impl FnOnce(Redex, Hint, VarId) -> Premise,
    ) -> Control {
        let x_type = self.terms.param(redex.elementary);
        let x = self.terms.fresh(hint.0, x_type);
        let x_term = self.terms.push(Term::Free(x), x_type);
        let (y, y_term) = self.terms.fresh_term("y", self.terms.ty(redex.value));
        let open = self.terms.instantiate(body, &[y_term, x_term]);
        let closed = self.terms.abstract_over(open, &[y]);
        let function = self.terms.lambda(redex.hint, self.terms.ty(redex.value), closed);
        self.prove(premise(redex, hint, x), Goal { function, point: redex.value })
    }

    /// (17): `((Ω λx.L)·z) a` with `y` and `a` free.
    fn expand_elementary(&mut self, redex: Redex) -> Control {
        let (y, y_term) = self.terms.fresh_term("y", self.terms.ty(redex.value));
        let (a, a_term) = self.terms.fresh_term("a", self.terms.param(redex.elementary));
        let open = self.terms.instantiate(redex.elementary, &[y_term]);
        let applied = self.terms.apply(open, a_term);
        self.n_premises += 1;
        self.frames.push(Frame::Premise(Box::new(Premise::Pullback(redex, y, a))));
        Control::Eval(applied)
    }

    /// Evaluates `F a` for a pullback `F` and a fresh `a`; the premise that needs a λ continues with the
    /// value.
    pub(super) fn expand_pullback(&mut self, function: TermId, premise: Premise) -> Control {
        let (a, a_term) = self.terms.fresh_term("a", self.terms.param(function));
        let applied = self.terms.apply(function, a_term);
        self.n_premises += 1;
        self.frames.push(Frame::Premise(Box::new(Premise::Expansion(a, Box::new(premise)))));
        Control::Eval(applied)
    }

    /// (19b), (19b'), (19c), (C1): `F y_j`.
    pub(super) fn differentiate_call(&mut self, redex: Redex, function: TermId) -> Result<Control, Stop> {
        let Term::Apply(a, b) = self.terms.term(redex.elementary) else {
            unreachable!("rule 19 applies to calls")
        };
        match self.terms.term(function) {
            Term::Lambda(..) => {
                let point = self.component(redex, b);
                Ok(self.prove(Premise::Call(redex), Goal { function, point }))
            }
            Term::Pullback(..) => Ok(self.expand_pullback(function, Premise::ExpandedInCall(redex))),
            Term::Add(left, right) => {
                let x = self.terms.bound(0, self.terms.param(function));
                let (left, right) = (self.terms.apply(left, x), self.terms.apply(right, x));
                let sum = self.terms.add(left, right);
                let hint = self.terms.hint("a");
                let lambda = self.terms.lambda(hint, self.terms.param(function), sum);
                self.differentiate_call(redex, lambda)
            }
            // (19c)
            Term::Zero => {
                let left = self.call_of_direction(redex, a, b);
                self.finish(redex, "19c", left, None)
            }
            // (value 1), (value 2) of the paper
            _ if self.paper && Tower::of(&self.terms, function).is_none() => {
                Ok(Control::Return(self.terms.apply(redex.function, redex.value)))
            }
            // (C1)  F neutral: [v_i V_j +] (J F·v_j) V_j;   (C2) the same where F is J f·U
            _ => {
                let rule = if Tower::of(&self.terms, function).is_some() { "C2" } else { "C1" };
                let left = self.call_of_direction(redex, a, b);
                let (v_j, value) = (self.direction(redex, b), self.component(redex, b));
                let jacobian = self.terms.jacobian(function, v_j);
                let right = self.terms.apply(jacobian, value);
                let sum = self.sum(left, Some(right));
                self.finish(redex, rule, sum, None)
            }
        }
    }

    /// `v_i V_j`, if the function is some `y_i`.
    pub(super) fn call_of_direction(&mut self, redex: Redex, a: TermId, b: TermId) -> Option<TermId> {
        (self.terms.loose(a) > 0).then(|| {
            let (v_i, value) = (self.direction(redex, a), self.component(redex, b));
            self.terms.apply(v_i, value)
        })
    }

    pub(super) fn sum(&mut self, left: Option<TermId>, right: Option<TermId>) -> Option<TermId> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.terms.add(left, right)),
            (left, right) => left.or(right),
        }
    }

    /// `E[V/y]`, with the components of `V` in the place of the `y_i`.
    fn at_value(&mut self, redex: Redex) -> TermId {
        let id = redex.elementary;
        let term = self.terms.term(id);
        if divide::is_atom(&self.terms, id) {
            return self.component(redex, id);
        }
        if term.children().any(|(child, depth)| depth > 0 || !divide::is_atom(&self.terms, child)) {
            return self.terms.instantiate(id, &[redex.value]);
        }
        let parts: Vec<TermId> = term.children().map(|(child, _)| child).collect();
        let mut parts =
            parts.into_iter().map(|part| self.component(redex, part)).collect::<Vec<_>>().into_iter();
        let new = term.with_children(|| parts.next().expect("as many parts as before"));
        self.terms.push(new, self.terms.ty(id))
    }

    /// `(λv.S)^*·(ω (E[V/y]))`; (20a) `(λv.⟨v,S⟩)^*·(ω ⟨V,E[V/y]⟩)`; (20b) with `0` for `S`.
    pub(super) fn finish(
        &mut self,
        redex: Redex,
        rule: &str,
        direction: Option<TermId>,
        forward: Option<TermId>,
    ) -> Result<Control, Stop> {
        let Redex { function, is_extended, form, value, v, v_term, .. } = redex;
        let rule = redex.named(rule);
        let forward = forward.unwrap_or_else(|| self.at_value(redex));
        let argument = if is_extended { self.terms.pair(value, forward) } else { forward };
        let body = match (direction, is_extended) {
            (None, false) => {
                let dual = self.terms.types.dual(self.terms.ty(value));
                let zero = self.terms.zero(dual);
                return self.contract_to(&rule, Detail::Forward(forward), zero);
            }
            (None, true) => {
                let zero = self.terms.zero(self.terms.ty(forward));
                self.terms.pair(v_term, zero)
            }
            (Some(direction), false) => direction,
            (Some(direction), true) => self.terms.pair(v_term, direction),
        };
        let body = self.terms.abstract_over(body, &[v]);
        let operand = self.terms.apply(form, argument);
        let hint = self.terms.hint("v");
        let after = self.terms.dual_map(hint, self.terms.param(function), body, operand);
        self.contract_to(&rule, Detail::Forward(forward), after)
    }
}
