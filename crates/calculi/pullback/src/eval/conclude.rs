//! Rules with a premise (16 to 19 and C2): proves the premise, then applies the conclusion.

use super::conquer::Redex;
use super::{Control, Detail, Frame, Machine};
use crate::outcome::Stop;
use crate::syntax::{Hint, Term, TermId, VarId};

/// The function and the point of a premise: `((Ω function)·ω) point` with a fresh ω.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// A λ.
    pub function: TermId,
    /// A value.
    pub point: TermId,
}

/// A rule that waits for its premise.
#[derive(Clone, Debug)]
pub enum Premise {
    /// (18)   `E` is `λx.L`; `x` is free in the premise.
    Lambda(Redex, Hint, VarId),
    /// (16b), (16c)   `E` is `(λx.L)^*·z`.
    Dual(Redex, Hint, VarId),
    /// (17)   `E` is `(Ω λx.L)·z`: the value of `E a` with `y` and `a` free.
    Pullback(Redex, VarId, VarId),
    /// (19b)   `E` is `F y_j`, and `F` is a λ.
    Call(Redex),
    /// (19b)   `E` is `F y_j`, and `F` is a pullback: the value of `F a`.
    ExpandedInCall(Redex),
    /// (C2)   `J F·U`, and `F` is a λ.
    Jacobian {
        /// `J F·U`.
        before: TermId,
        /// `U`.
        direction: TermId,
        /// The variable `a` at which `F` is differentiated.
        a: VarId,
    },
    /// (C2)   `J F·U`, and `F` is a pullback: the value of `F a`.
    ExpandedInJacobian(TermId),
    /// A pullback `F` with the variable of its argument, and the premise that needs `λa.F a`.
    Expansion(VarId, Box<Premise>),
}

impl Machine<'_> {
    /// Evaluates `((Ω function)·ω) point` with a fresh ω, for a pending rule.
    pub(super) fn prove(&mut self, premise: Premise, Goal { function, point }: Goal) -> Control {
        let Term::Lambda(hint, body) = self.terms.term(function) else {
            unreachable!("the function of a goal is a λ")
        };
        let (param, value) = self.terms.types.function(self.terms.ty(function));
        let form_type = self.terms.types.omega(value);
        let (_, form) = self.terms.fresh_term("ω", form_type);
        let pullback = self.terms.pullback(hint, param, body, form);
        let applied = self.terms.apply(pullback, point);
        self.n_premises += 1;
        self.frames.push(Frame::Premise(Box::new(premise)));
        Control::Eval(applied)
    }

    /// Concludes a rule whose premise is proved: `(λv'.S')^*·(ω W)`, or `0`.
    pub(super) fn conclude(&mut self, premise: Premise, proved: TermId) -> Result<Control, Stop> {
        self.n_premises -= 1;
        match premise {
            Premise::Expansion(a, then) => {
                let ty = self.terms.var(a).ty;
                let body = self.terms.abstract_over(proved, &[a]);
                let hint = self.terms.hint("a");
                let function = self.terms.lambda(hint, ty, body);
                match *then {
                    Premise::ExpandedInCall(redex) => self.differentiate_call(redex, function),
                    Premise::ExpandedInJacobian(direction) => {
                        let after = self.terms.jacobian(function, direction);
                        self.contract_to("C2", Detail::Term(after), after)
                    }
                    other => unreachable!("{other:?} needs no expansion"),
                }
            }
            // (17)  replace E by λa.(λv'.S')^*·(z L[a/x])
            Premise::Pullback(redex, y, a) => {
                let ty = self.terms.var(a).ty;
                let body = self.terms.abstract_over(proved, &[y, a]);
                let hint = self.terms.hint("a");
                let elementary = self.terms.lambda(hint, ty, body);
                let after = self
                    .terms
                    .push(Term::Pullback(redex.hint, elementary, redex.form), self.terms.ty(redex.function));
                self.step(&redex.named("17"), Detail::Term(after))?;
                self.differentiate(Redex { elementary, ..redex })
            }
            Premise::Lambda(redex, hint, x) => {
                let body = self.jacobian_at(redex.v_term, proved).map(|(body, _)| {
                    let ty = self.terms.var(x).ty;
                    let body = self.terms.abstract_over(body, &[x]);
                    self.terms.lambda(hint, ty, body)
                });
                self.finish(redex, "18", body, None)
            }
            Premise::Dual(redex, hint, x) => self.conclude_dual(redex, hint, x, proved),
            // (19b) y_i y_j, V_i=λz.P': v_i V_j + S'[v_j/v']
            Premise::Call(redex) => {
                let Term::Apply(a, b) = self.terms.term(redex.elementary) else {
                    unreachable!("rule 19b applies to calls")
                };
                let left = self.call_of_direction(redex, a, b);
                let v_j = self.direction(redex, b);
                match self.jacobian_at(v_j, proved) {
                    None => self.finish(redex, "19c", left, None),
                    Some((right, value)) => {
                        let sum = self.sum(left, Some(right));
                        self.finish(redex, "19b", sum, Some(value))
                    }
                }
            }
            Premise::Jacobian { before, direction, a } => {
                let ty = self.terms.ty(before);
                let after = match self.jacobian_at(direction, proved) {
                    None => self.terms.zero(ty),
                    Some((body, _)) => {
                        let param = self.terms.var(a).ty;
                        let body = self.terms.abstract_over(body, &[a]);
                        let hint = self.terms.hint("a");
                        self.terms.lambda(hint, param, body)
                    }
                };
                self.rewrite("C2", before, after)
            }
            Premise::ExpandedInCall(_) | Premise::ExpandedInJacobian(_) => {
                unreachable!("these premises occur only inside an expansion")
            }
        }
    }

    /// (16b) `(λx.S')^*·z`      (16c) `(λx.L[V/y])^*·v_i + (λx.S')^*·V_i`
    fn conclude_dual(&mut self, redex: Redex, hint: Hint, x: VarId, proved: TermId) -> Result<Control, Stop> {
        let Term::Dual(_, body, operand) = self.terms.term(redex.elementary) else {
            unreachable!("rule 16 applies to dual maps")
        };
        let x_type = self.terms.var(x).ty;
        let is_y = self.terms.loose(operand) > 0;
        let left = is_y.then(|| {
            let x_term = self.terms.push(Term::Free(x), x_type);
            let fixed = self.terms.instantiate(body, &[redex.value, x_term]);
            let fixed = self.terms.abstract_over(fixed, &[x]);
            let v_i = self.direction(redex, operand);
            self.terms.dual_map(hint, x_type, fixed, v_i)
        });
        let right = self.jacobian_at(redex.v_term, proved).map(|(body, _)| {
            let body = self.terms.abstract_over(body, &[x]);
            let value = self.component(redex, operand);
            self.terms.dual_map(hint, x_type, body, value)
        });
        let sum = self.sum(left, right);
        self.finish(redex, if is_y { "16c" } else { "16b" }, sum, None)
    }

    /// `S'[direction/v']` and `W` of a proved premise; `None` if it is `0`.
    fn jacobian_at(&mut self, direction: TermId, proved: TermId) -> Option<(TermId, TermId)> {
        match self.terms.term(proved) {
            Term::Zero => None,
            Term::Dual(_, body, operand) => {
                let Term::Apply(_, value) = self.terms.term(operand) else {
                    unreachable!("the operand of a premise is ω applied to a value")
                };
                Some((self.terms.instantiate(body, &[direction]), value))
            }
            other => unreachable!("a premise is not proved by {other:?}"),
        }
    }
}
