//! The typing rules, one arm per form, and the core term of each form (section 3.1).

use eddy_syntax::Span;

use super::elaborate::{Done, Elaborator, Open};
use super::errors::{self, Situation};
use super::scope::Meaning;
use crate::names::Name;
use crate::operation::{Op, Pred, Primitive, Scalar};
use crate::surface::{BinaryOp, Callee, ExprId, ExprKind, Ident, Kinked, Mode};
use crate::syntax::{Term, TermId, Test, VarId};
use crate::types::{Type, Types};

impl Elaborator {
    /// Checks `id`, whose children are done, and pushes its core term.
    pub fn finish(&mut self, id: ExprId) {
        let kind = self.exprs.kind(id).clone();
        let term = match kind {
            ExprKind::Error => self.terms.poison(),
            ExprKind::Number(value) => self.terms.real(value),
            ExprKind::Unit => self.terms.push(Term::Unit),
            ExprKind::Name(name) => self.variable(id, name),
            ExprKind::Zero(annotation) => self.terms.zero(annotation.ty),
            ExprKind::Tuple(items) => {
                let items = self.pop_terms(items.len());
                self.terms.tuple(&items)
            }
            ExprKind::Call(callee, span, items) => {
                let argument = self.pop_argument(items.len());
                let argument_span = argument_span(&self.exprs, span, &items);
                self.call(callee, span, argument, argument_span)
            }
            ExprKind::ReverseCall(cotangent_id, callee, span, items) => {
                let cotangent = self.pop_term();
                let argument = self.pop_argument(items.len());
                let argument_span = argument_span(&self.exprs, span, &items);
                self.reverse_call(cotangent_id, cotangent, callee, argument, argument_span)
            }
            ExprKind::Binary(op, _, left, right) => self.binary(op, left, right),
            ExprKind::Power(base, exponent) => {
                let term = self.pop_term();
                self.expect(base, self.terms.ty(term), Type::REAL, Situation::Operand("^"));
                self.terms.scalar(Scalar::Powi(exponent), term)
            }
            // -M is neg(M) at real, scale_T(⟨-1,M⟩) elsewhere.
            ExprKind::Negate(_) => {
                let term = self.pop_term();
                self.negate(term)
            }
            ExprKind::Derivative(mode, cotangent, point, of) => {
                let body = of.body().map_or(self.exprs.span(id), |body| self.exprs.span(body));
                self.derivative(mode, cotangent, point, body)
            }
            ExprKind::Gradient(_, of) => {
                let body = of.body().map_or(self.exprs.span(id), |body| self.exprs.span(body));
                self.gradient(body)
            }
            ExprKind::Let(..) => {
                let body = self.pop_term();
                let Some(Open::Lets(lets, names)) = self.open.pop() else {
                    unreachable!("the pattern was bound")
                };
                self.unbind(&names);
                self.terms.bind_all(&lets, body)
            }
            ExprKind::Const(ident, _, _) => {
                self.scope.unbind(ident.name);
                self.pop_term()
            }
            ExprKind::Function(head, _, _) => {
                let body = self.pop_term();
                let function =
                    self.scope.function(head.ident.name).expect("the function is in scope here").meaning;
                self.scope.unbind_function(head.ident.name);
                self.terms.push(Term::Letrec { function, body })
            }
            ExprKind::If(_, yes, no) => self.conditional(yes, no),
            ExprKind::Compare(..)
            | ExprKind::Truth(_)
            | ExprKind::Not(_)
            | ExprKind::And(..)
            | ExprKind::Or(..) => {
                let (test, negated) = self.condition(&kind);
                self.done.push(Done::Condition { test, negated });
                return;
            }
            ExprKind::Group(_) => unreachable!("a group is its inner term"),
        };
        let too_large = self.terms.types.components(self.terms.ty(term)) > Types::MAX_COMPONENTS;
        let term = if too_large {
            self.diagnostics.push(errors::too_large(self.exprs.span(id)));
            self.terms.poison()
        } else {
            term
        };
        self.done.push(Done::Term(term));
    }

    fn unbind(&mut self, names: &[Name]) {
        for name in names {
            self.scope.unbind(*name);
        }
    }

    // (Var)   x:T ∈ Γ
    fn variable(&mut self, id: ExprId, name: Name) -> TermId {
        let span = self.exprs.span(id);
        let text = self.terms.names.text(name);
        let diagnostic = if let Some(bound) = self.scope.ordinary(name) {
            match bound.meaning {
                Meaning::Constant(value) => return value,
                Meaning::Variable(var, depth) if depth == self.scope.function_depth => {
                    return self.terms.variable(var);
                }
                Meaning::Variable(..) => errors::free_variable(text, span, bound.span),
            }
        } else if self.poisoned.contains(&name) {
            return self.terms.poison();
        } else {
            // If the diagnostics are full, this message is discarded, so it needs no suggestion.
            let n_candidates = if self.diagnostics.is_full() { 0 } else { usize::MAX };
            let visible = self.scope.visible().map(|name| self.terms.names.text(name)).take(n_candidates);
            errors::unbound(text, span, visible, self.scope.function(name).is_some())
        };
        self.diagnostics.push(diagnostic);
        self.terms.poison()
    }

    /// Several arguments are one left-nested tuple.
    fn pop_argument(&mut self, n: usize) -> TermId {
        let items = self.pop_terms(n);
        self.terms.tuple(&items)
    }

    fn call(&mut self, callee: Callee, span: Span, argument: TermId, argument_span: Span) -> TermId {
        let found = self.terms.ty(argument);
        match callee {
            Callee::Function(name) => self.call_function(Ident { name, span }, argument, argument_span),
            // (Pair)   Φ|Γ ⊢ M:T×U  gives  fst(M):T and snd(M):U
            Callee::Fst | Callee::Snd => {
                if found != Type::UNKNOWN && self.terms.types.factors(found).is_none() {
                    let word = if callee == Callee::Fst { "fst" } else { "snd" };
                    let diagnostic = errors::not_a_pair(&self.terms.types, argument_span, found, word);
                    self.diagnostics.push(diagnostic);
                    return self.terms.poison();
                }
                self.terms.push(if callee == Callee::Fst { Term::Fst(argument) } else { Term::Snd(argument) })
            }
            Callee::Kinked(kinked) => self.kinked(kinked, argument, argument_span),
            Callee::Scalar(_) | Callee::Dot | Callee::Scale => {
                match self.primitive(callee, argument, argument_span) {
                    Some(primitive) => self.terms.push(Term::Op(Op::Primal(primitive), argument)),
                    None => self.terms.poison(),
                }
            }
        }
    }

    /// (Op)   op:T→U   Φ|Γ ⊢ M:T   gives   op(M):U. The argument determines the type of `dot` and `scale`.
    fn primitive(&mut self, callee: Callee, argument: TermId, span: Span) -> Option<Primitive> {
        let found = self.terms.ty(argument);
        let factors = self.terms.types.factors(found);
        let primitive = match callee {
            Callee::Scalar(scalar) => Primitive::Scalar(scalar),
            Callee::Dot => Primitive::Dot(factors.map_or(Type::REAL, |(left, _)| left)),
            Callee::Scale => Primitive::Scale(factors.map_or(Type::REAL, |(_, right)| right)),
            _ => unreachable!("only operations have an arity"),
        };
        let expected = primitive.arity(&mut self.terms.types).0;
        let agrees = self.expect_at(span, found, expected, Situation::Argument(&primitive.name()));
        (agrees && found != Type::UNKNOWN).then_some(primitive)
    }

    // (Call)   f:T→U ∈ Φ   Φ|Γ ⊢ M:T   gives   f(M):U
    pub fn call_function(&mut self, callee: Ident, argument: TermId, argument_span: Span) -> TermId {
        let text = self.terms.names.text(callee.name).to_string();
        let Some(bound) = self.scope.function(callee.name) else {
            if self.poisoned.contains(&callee.name) {
                return self.terms.poison();
            }
            let n_candidates = if self.diagnostics.is_full() { 0 } else { usize::MAX };
            let callable = self.scope.callable().map(|name| self.terms.names.text(name)).take(n_candidates);
            let enclosing = self.defining.iter().rev().find(|(name, _)| *name == callee.name);
            let is_variable = self.scope.ordinary(callee.name).is_some();
            let diagnostic = errors::unknown_function(
                &text,
                callee.span,
                callable,
                enclosing.map(|(_, span)| *span),
                is_variable,
            );
            self.diagnostics.push(diagnostic);
            return self.terms.poison();
        };
        let function = bound.meaning;
        let expected = self.terms.var(self.terms.function(function).param).ty;
        self.expect_at(argument_span, self.terms.ty(argument), expected, Situation::Argument(&text));
        self.terms.push(Term::Call { function, argument })
    }

    /// `M.op_r(L)` is `op_r(⟨L,M⟩)`.
    fn reverse_call(
        &mut self,
        cotangent_id: ExprId,
        cotangent: TermId,
        callee: Callee,
        argument: TermId,
        argument_span: Span,
    ) -> TermId {
        let Some(primitive) = self.primitive(callee, argument, argument_span) else {
            return self.terms.poison();
        };
        let result = primitive.arity(&mut self.terms.types).1;
        let name = Op::Reverse(primitive).name();
        let found = self.terms.ty(cotangent);
        if !self.expect(cotangent_id, found, result, Situation::OperationCotangent(&name)) {
            return self.terms.poison();
        }
        let pair = self.terms.pair(argument, cotangent);
        self.terms.push(Term::Op(Op::Reverse(primitive), pair))
    }

    fn kinked(&mut self, kinked: Kinked, argument: TermId, span: Span) -> TermId {
        let (name, expected) = match kinked {
            Kinked::Relu => ("relu", Type::REAL),
            Kinked::Abs => ("abs", Type::REAL),
            Kinked::Max => ("max", self.terms.types.product(Type::REAL, Type::REAL)),
            Kinked::Min => ("min", self.terms.types.product(Type::REAL, Type::REAL)),
        };
        let found = self.terms.ty(argument);
        if !self.expect_at(span, found, expected, Situation::Argument(name)) || found == Type::UNKNOWN {
            return self.terms.poison();
        }
        let (lets, a, b) = match kinked {
            Kinked::Relu | Kinked::Abs => {
                let a = self.terms.fresh_named("a", Type::REAL);
                let zero = self.terms.real(0.0);
                (vec![(a, argument)], a, zero)
            }
            Kinked::Max | Kinked::Min => {
                let z = self.terms.fresh_named("z", expected);
                let (a, b) =
                    (self.terms.fresh_named("a", Type::REAL), self.terms.fresh_named("b", Type::REAL));
                let halves = [self.terms.variable(z), self.terms.variable(z)];
                let (fst, snd) =
                    (self.terms.push(Term::Fst(halves[0])), self.terms.push(Term::Snd(halves[1])));
                let b_term = self.terms.variable(b);
                (vec![(z, argument), (a, fst), (b, snd)], a, b_term)
            }
        };
        let conditional = self.kinked_body(kinked, a, b);
        self.terms.bind_all(&lets, conditional)
    }

    /// The conditional that `kinked` stands for, with the test `a < b`; `b` is 0 for `relu` and `abs`.
    fn kinked_body(&mut self, kinked: Kinked, a: VarId, b: TermId) -> TermId {
        let a_term = self.terms.variable(a);
        let test = Test::Pred(Pred::Lt, self.terms.pair(a_term, b));
        let (yes, no) = match kinked {
            Kinked::Relu => (self.terms.real(0.0), a_term),
            Kinked::Abs => (self.terms.scalar(Scalar::Neg, a_term), a_term),
            Kinked::Max => (b, a_term),
            Kinked::Min => (a_term, b),
        };
        self.terms.push(Term::If { test, yes, no })
    }

    fn binary(&mut self, op: BinaryOp, left_id: ExprId, right_id: ExprId) -> TermId {
        let right = self.pop_term();
        let left = self.pop_term();
        let (left_ty, right_ty) = (self.terms.ty(left), self.terms.ty(right));
        if left_ty == Type::UNKNOWN || right_ty == Type::UNKNOWN {
            return self.terms.poison();
        }
        match op {
            BinaryOp::Add | BinaryOp::Sub => {
                let symbol = if op == BinaryOp::Add { "+" } else { "-" };
                let situation = Situation::OtherOperand(symbol, self.exprs.span(left_id));
                if !self.expect(right_id, right_ty, left_ty, situation) {
                    return self.terms.poison();
                }
                if op == BinaryOp::Add {
                    self.terms.add_at(left_ty, left, right)
                } else if left_ty == Type::REAL {
                    self.terms.scalar2(Scalar::Sub, left, right)
                } else {
                    let negative = self.negate(right);
                    self.terms.add_at(left_ty, left, negative)
                }
            }
            BinaryOp::Mul => {
                if left_ty != Type::REAL {
                    let span = self.exprs.span(left_id);
                    let diagnostic = errors::not_a_factor(&self.terms.types, span, left_ty, right_ty);
                    self.diagnostics.push(diagnostic);
                    return self.terms.poison();
                }
                if right_ty == Type::REAL {
                    self.terms.scalar2(Scalar::Mul, left, right)
                } else {
                    self.terms.scale(left, right)
                }
            }
            BinaryOp::Div | BinaryOp::Pow => {
                let (symbol, scalar) =
                    if op == BinaryOp::Div { ("/", Scalar::Div) } else { ("^", Scalar::Pow) };
                let left_agrees = self.expect(left_id, left_ty, Type::REAL, Situation::Operand(symbol));
                let right_agrees = self.expect(right_id, right_ty, Type::REAL, Situation::Operand(symbol));
                if left_agrees && right_agrees {
                    self.terms.scalar2(scalar, left, right)
                } else {
                    self.terms.poison()
                }
            }
        }
    }

    fn negate(&mut self, term: TermId) -> TermId {
        match self.terms.ty(term) {
            Type::UNKNOWN => term,
            Type::REAL => self.terms.scalar(Scalar::Neg, term),
            _ => {
                let minus_one = self.terms.real(-1.0);
                self.terms.scale(minus_one, term)
            }
        }
    }

    // (Rd)   Φ|Γ ⊢ L:T   Φ|Γ[x:T] ⊢ N:U   Φ|Γ ⊢ M:U   gives   M.rd_L(x:T. N) : T
    fn derivative(&mut self, mode: Mode, cotangent_id: ExprId, point_id: ExprId, body_span: Span) -> TermId {
        let cotangent = self.pop_term();
        let body = self.pop_term();
        let point = self.pop_term();
        let var = self.pop_point();
        let (found, body_ty) = (self.terms.ty(cotangent), self.terms.ty(body));
        match mode {
            Mode::Reverse => {
                self.expect(cotangent_id, found, body_ty, Situation::Cotangent(body_span));
                self.terms.push(Term::Rd { cotangent, point, var, body })
            }
            // M.fd_L(x. N) = M.rd_{0_U}(y:U. y.rd_L(x. N)): forward mode from reverse mode (equation 6).
            Mode::Forward => {
                let point_ty = self.terms.var(var).ty;
                self.expect(cotangent_id, found, point_ty, Situation::Tangent(self.exprs.span(point_id)));
                let y = self.terms.fresh_named("y", body_ty);
                let inner_cotangent = self.terms.variable(y);
                let inner = self.terms.push(Term::Rd { cotangent: inner_cotangent, point, var, body });
                let zero = self.terms.zero(body_ty);
                self.terms.push(Term::Rd { cotangent, point: zero, var: y, body: inner })
            }
        }
    }

    /// `grad[L](x. N)` is `1.rd_L(x. N)`, and `N` is real.
    fn gradient(&mut self, body_span: Span) -> TermId {
        let body = self.pop_term();
        let point = self.pop_term();
        let var = self.pop_point();
        let found = self.terms.ty(body);
        if found != Type::REAL && found != Type::UNKNOWN {
            self.diagnostics.push(errors::gradient_of(&self.terms.types, body_span, found));
        }
        let cotangent = self.terms.real(1.0);
        self.terms.push(Term::Rd { cotangent, point, var, body })
    }

    fn pop_point(&mut self) -> VarId {
        match self.open.pop() {
            Some(Open::Point(var)) => var,
            _ => unreachable!("the point was bound"),
        }
    }

    // (If)   Φ|Γ ⊢ B   Φ|Γ ⊢ M:T   Φ|Γ ⊢ N:T   gives   if B then M else N : T
    fn conditional(&mut self, yes_id: ExprId, no_id: ExprId) -> TermId {
        let no = self.pop_term();
        let yes = self.pop_term();
        let (test, negated) = self.pop_condition();
        let (expected, found) = (self.terms.ty(yes), self.terms.ty(no));
        self.expect(no_id, found, expected, Situation::Branch(self.exprs.span(yes_id)));
        if expected == Type::UNKNOWN || found == Type::UNKNOWN {
            return self.terms.poison();
        }
        self.choose(test, negated, yes, no)
    }

    fn choose(&mut self, test: Test, negated: bool, yes: TermId, no: TermId) -> TermId {
        let (yes, no) = if negated { (no, yes) } else { (yes, no) };
        self.terms.push(Term::If { test, yes, no })
    }

    fn condition(&mut self, kind: &ExprKind) -> (Test, bool) {
        match kind {
            ExprKind::Truth(known) => (Test::Constant(*known), false),
            ExprKind::Not(_) => {
                let (test, negated) = self.pop_condition();
                (test, !negated)
            }
            // (Pred)   pred:T   Φ|Γ ⊢ M:T   gives   Φ|Γ ⊢ pred(M)
            ExprKind::Compare(pred, at, left_id, right_id) => {
                let right = self.pop_term();
                let left = self.pop_term();
                self.expect(*left_id, self.terms.ty(left), Type::REAL, Situation::Comparison);
                self.expect(*right_id, self.terms.ty(right), Type::REAL, Situation::Comparison);
                if !pred.is_continuous() && !self.clarke {
                    self.diagnostics.push(errors::not_continuous(*pred, *at));
                }
                (Test::Pred(*pred, self.terms.pair(left, right)), false)
            }
            // B1 && B2  =  lt(⟨0, if B1 then (if B2 then 1 else -1) else -1⟩): short-circuit, linear size.
            ExprKind::And(..) => {
                let (second, second_negated) = self.pop_condition();
                let (first, first_negated) = self.pop_condition();
                let (one, minus_one) = (self.terms.real(1.0), self.terms.real(-1.0));
                let inner = self.choose(second, second_negated, one, minus_one);
                let outer = self.choose(first, first_negated, inner, minus_one);
                (self.positive(outer), false)
            }
            // B1 || B2  =  lt(⟨0, if B1 then 1 else (if B2 then 1 else -1)⟩)
            ExprKind::Or(..) => {
                let (second, second_negated) = self.pop_condition();
                let (first, first_negated) = self.pop_condition();
                let (one, minus_one) = (self.terms.real(1.0), self.terms.real(-1.0));
                let inner = self.choose(second, second_negated, one, minus_one);
                let outer = self.choose(first, first_negated, one, inner);
                (self.positive(outer), false)
            }
            _ => unreachable!("the caller passes only conditions"),
        }
    }

    fn positive(&mut self, term: TermId) -> Test {
        let zero = self.terms.real(0.0);
        Test::Pred(Pred::Lt, self.terms.pair(zero, term))
    }
}

/// The place of the arguments of a call; the callee itself if there are none.
fn argument_span(exprs: &crate::surface::Exprs, callee: Span, items: &[ExprId]) -> Span {
    match items {
        [] => callee,
        [first, ..] => items.iter().fold(exprs.span(*first), |span, item| span.to(exprs.span(*item))),
    }
}
