//! The judgement `Φ|Γ ⊢ M : T` of Figure 1, on core terms, with one arm per rule.
//!
//! The checker types the source tree and builds core terms; the evaluators build more of them: traces,
//! derivatives of traces, transformed programs. [`recheck`] applies the figure to the finished term and does
//! not rely on stored types: it computes each type again and compares it with the type in the table of terms,
//! which stands for the subscripts `T,U` of pairs and projections. In
//!
//! ```text
//! let x:real = ⟨1,2⟩ in x + 1
//! ```
//!
//! it reports the premise `M:T` of the rule Let: expected `real`, found `real * real`.
//!
//! It also checks invariants of all engines: a variable is used only where its binder, or `Γ`, puts it in
//! scope; a function body sees only its parameter; no two binders are the same. The walk is a work list, so a
//! term may be arbitrarily deep.

use rustc_hash::FxHashSet;

use crate::operation::{Op, Primitive};
use crate::syntax::{FnId, Term, TermId, Terms, Test, VarId};
use crate::types::{Type, Types};

/// Where a term breaks the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// `x ∉ Γ`.
    Unbound(VarId),
    /// `FV(M) ⊄ {x}`: the body of a function uses a variable from outside.
    NotClosed(FnId, VarId),
    /// `f ∉ Φ`.
    UnknownFunction(FnId),
    /// A function that was declared but never defined.
    NoBody(FnId),
    /// Two binders share one variable, or a binder has a variable of `Γ`.
    BoundTwice(VarId),
    /// Two definitions share one function.
    DefinedTwice(FnId),
    /// A premise has another type than the rule requires.
    Premise { rule: &'static str, expected: String, found: String },
    /// The rule gives another type than the stored one.
    Subscript {
        term: TermId,
        stored: String,
        /// The type that the rule gives.
        found: String,
    },
}

/// `Φ|Γ ⊢ M : T` with an empty `Φ`: the type `T`, or the first violation in the order of evaluation. `Γ`
/// lists the variables that may be free in `M`, at the types that they have in the table.
///
/// ```
/// use eddy_rd::typing::recheck;
/// use eddy_syntax::SourceFile;
///
/// let file = SourceFile::new("f.rd", "grad[(1, 2)](p. fst(p) * snd(p))");
/// let program = eddy_rd::typing::check(&file).unwrap();
/// let ty = recheck(&program.terms, &[], program.main).unwrap();
/// assert_eq!(program.terms.types.show(ty), "real * real");
/// ```
pub fn recheck(terms: &Terms, gamma: &[VarId], term: TermId) -> Result<Type, Violation> {
    let mut checker = Checker {
        terms,
        types: terms.types.clone(),
        gammas: vec![Gamma { of: None, vars: gamma.iter().copied().collect() }],
        phi: FxHashSet::default(),
        bound: gamma.iter().copied().collect(),
        defined: FxHashSet::default(),
        tasks: vec![Task::Visit(term)],
        done: Vec::new(),
    };
    while let Some(task) = checker.tasks.pop() {
        checker.step(task)?;
    }
    Ok(checker.pop())
}

/// Pending work, innermost last.
enum Task {
    /// Find the type of a term.
    Visit(TermId),
    /// The types of the premises are known: apply the rule.
    Conclude(TermId),
    /// From `Γ` to `Γ[x:T]`.
    Bind(VarId),
    /// Back to `Γ`.
    Unbind(VarId),
    /// From `Φ|Γ` to `Φ[f:T→U]|x:T`.
    EnterBody(FnId),
    /// Back to `Γ`, still with `f` in `Φ`.
    LeaveBody,
}

/// `Γ`: of the whole term, or of the body of a function.
struct Gamma {
    of: Option<FnId>,
    vars: FxHashSet<VarId>,
}

struct Checker<'a> {
    terms: &'a Terms,
    /// A copy in which products can be formed.
    types: Types,
    /// The current `Γ` last; below it those of the enclosing functions, which are not in scope.
    gammas: Vec<Gamma>,
    phi: FxHashSet<FnId>,
    bound: FxHashSet<VarId>,
    defined: FxHashSet<FnId>,
    tasks: Vec<Task>,
    done: Vec<Type>,
}

impl Checker<'_> {
    fn step(&mut self, task: Task) -> Result<(), Violation> {
        match task {
            Task::Visit(term) => self.visit(term)?,
            Task::Conclude(term) => {
                let found = self.conclude(term)?;
                self.finish(term, found)?;
            }
            Task::Bind(var) => {
                if !self.bound.insert(var) {
                    return Err(Violation::BoundTwice(var));
                }
                self.gamma().vars.insert(var);
            }
            Task::Unbind(var) => drop(self.gamma().vars.remove(&var)),
            Task::EnterBody(function) => {
                if !self.defined.insert(function) {
                    return Err(Violation::DefinedTwice(function));
                }
                self.phi.insert(function);
                self.gammas.push(Gamma { of: Some(function), vars: FxHashSet::default() });
                self.step(Task::Bind(self.terms.function(function).param))?;
            }
            Task::LeaveBody => drop(self.gammas.pop()),
        }
        Ok(())
    }

    /// Schedules the premises of the rule for a term, in the order of evaluation, and then the rule.
    fn visit(&mut self, id: TermId) -> Result<(), Violation> {
        use Task::{Bind, Conclude, EnterBody, LeaveBody, Unbind, Visit};
        let schedule = match self.terms.term(id) {
            Term::Var(_) | Term::Real(_) | Term::Unit => vec![Conclude(id)],
            Term::Add(left, right) | Term::Pair(left, right) => {
                vec![Visit(left), Visit(right), Conclude(id)]
            }
            Term::Op(_, operand) | Term::Fst(operand) | Term::Snd(operand) => {
                vec![Visit(operand), Conclude(id)]
            }
            Term::Let { var, bound, body } => {
                vec![Visit(bound), Bind(var), Visit(body), Unbind(var), Conclude(id)]
            }
            Term::If { test: Test::Constant(_), yes, no } => vec![Visit(yes), Visit(no), Conclude(id)],
            Term::If { test: Test::Pred(_, operand), yes, no } => {
                vec![Visit(operand), Visit(yes), Visit(no), Conclude(id)]
            }
            Term::Letrec { function, body } => {
                let inner = self.terms.function(function).body.ok_or(Violation::NoBody(function))?;
                let (enter, leave) = (EnterBody(function), LeaveBody);
                vec![enter, Visit(inner), leave, Visit(body), Conclude(id)]
            }
            Term::Call { argument, .. } => vec![Visit(argument), Conclude(id)],
            Term::Rd { cotangent, point, var, body } => {
                vec![Visit(point), Visit(cotangent), Bind(var), Visit(body), Unbind(var), Conclude(id)]
            }
        };
        self.tasks.extend(schedule.into_iter().rev());
        Ok(())
    }

    /// The type that the rule for a term gives; the types of its premises are the last results.
    fn conclude(&mut self, id: TermId) -> Result<Type, Violation> {
        match self.terms.term(id) {
            // (Var)   x:T ∈ Γ
            //         ─────────
            //         Φ|Γ ⊢ x:T
            Term::Var(var) => self.variable(var),
            // (Real)   Φ|Γ ⊢ r : real
            Term::Real(_) => Ok(Type::REAL),
            // (Add)   Φ|Γ ⊢ M:real   Φ|Γ ⊢ N:real
            //         ───────────────────────────
            //         Φ|Γ ⊢ M+N : real
            Term::Add(..) => {
                let (left, right) = self.pop_two();
                self.premise("Add", Type::REAL, left)?;
                self.premise("Add", Type::REAL, right)?;
                Ok(Type::REAL)
            }
            // (Op)   op:T→U   Φ|Γ ⊢ M:T
            //        ──────────────────
            //        Φ|Γ ⊢ op(M) : U
            Term::Op(op, _) => {
                let found = self.pop();
                let (argument, result) = self.arity(op);
                self.premise("Op", argument, found)?;
                Ok(result)
            }
            // (Let)   Φ|Γ ⊢ M:T   Φ|Γ[x:T] ⊢ N:U
            //         ──────────────────────────────
            //         Φ|Γ ⊢ let x:T = M in N : U
            Term::Let { var, .. } => {
                let (bound, body) = self.pop_two();
                self.premise("Let", self.terms.var(var).ty, bound)?;
                Ok(body)
            }
            // (Unit)   Φ|Γ ⊢ * : unit
            Term::Unit => Ok(Type::UNIT),
            // (Pair)   Φ|Γ ⊢ M:T   Φ|Γ ⊢ N:U
            //          ────────────────────────
            //          Φ|Γ ⊢ ⟨M,N⟩_{T,U} : T×U
            Term::Pair(..) => {
                let (left, right) = self.pop_two();
                Ok(self.types.product(left, right))
            }
            // (Fst)   Φ|Γ ⊢ M:T×U                  (Snd)   Φ|Γ ⊢ M:T×U
            //         ──────────────────────               ──────────────────────
            //         Φ|Γ ⊢ fst_{T,U}(M) : T               Φ|Γ ⊢ snd_{T,U}(M) : U
            Term::Fst(_) => Ok(self.factors("Fst")?.0),
            Term::Snd(_) => Ok(self.factors("Snd")?.1),
            // (If)   Φ|Γ ⊢ B   Φ|Γ ⊢ M:T   Φ|Γ ⊢ N:T
            //        ────────────────────────────────
            //        Φ|Γ ⊢ if B then M else N : T
            Term::If { test, .. } => {
                let (yes, no) = self.pop_two();
                self.boolean(test)?;
                self.premise("If", yes, no)?;
                Ok(yes)
            }
            // (Letrec)   Φ[f:T→U] | x:T ⊢ M:U   Φ[f:T→U] | Γ ⊢ N:S
            //            ──────────────────────────────────────────   FV(M) ⊆ {x}, same for letrec_n
            //            Φ|Γ ⊢ letrec f(x:T):U = M in N : S
            Term::Letrec { function, .. } => {
                let (body, rest) = self.pop_two();
                self.phi.remove(&function);
                self.premise("Letrec", self.terms.function(function).result, body)?;
                Ok(rest)
            }
            // (Call)   f:T→U ∈ Φ   Φ|Γ ⊢ M:T
            //          ─────────────────────
            //          Φ|Γ ⊢ f(M) : U
            Term::Call { function, .. } => {
                let argument = self.pop();
                if !self.phi.contains(&function) {
                    return Err(Violation::UnknownFunction(function));
                }
                let definition = self.terms.function(function);
                self.premise("Call", self.terms.var(definition.param).ty, argument)?;
                Ok(definition.result)
            }
            // (Rd)   Φ|Γ ⊢ L:T   Φ|Γ[x:T] ⊢ N:U   Φ|Γ ⊢ M:U
            //        ────────────────────────────────────────
            //        Φ|Γ ⊢ M.rd_L(x:T. N) : T
            Term::Rd { var, .. } => {
                let (cotangent, body) = self.pop_two();
                let point = self.pop();
                let ty = self.terms.var(var).ty;
                self.premise("Rd", ty, point)?;
                self.premise("Rd", body, cotangent)?;
                Ok(ty)
            }
        }
    }

    // (Pred)   pred:T   Φ|Γ ⊢ M:T
    //          ──────────────────      Φ|Γ ⊢ true      Φ|Γ ⊢ false
    //          Φ|Γ ⊢ pred(M)
    fn boolean(&mut self, test: Test) -> Result<(), Violation> {
        let Test::Pred(..) = test else { return Ok(()) };
        let found = self.pop();
        let two_reals = self.types.product(Type::REAL, Type::REAL);
        self.premise("Pred", two_reals, found)
    }

    fn variable(&self, var: VarId) -> Result<Type, Violation> {
        let (gamma, outer) = self.gammas.split_last().expect("the term has a Γ");
        if gamma.vars.contains(&var) {
            return Ok(self.terms.var(var).ty);
        }
        match gamma.of {
            Some(function) if outer.iter().any(|gamma| gamma.vars.contains(&var)) => {
                Err(Violation::NotClosed(function, var))
            }
            _ => Err(Violation::Unbound(var)),
        }
    }

    /// `op : T → U`, and `op_r : T × U → T` (section 5).
    fn arity(&mut self, op: Op) -> (Type, Type) {
        let (Op::Primal(primitive) | Op::Reverse(primitive)) = op;
        let (argument, result) = match primitive {
            Primitive::Scalar(scalar) if scalar.is_binary() => {
                (self.types.product(Type::REAL, Type::REAL), Type::REAL)
            }
            Primitive::Scalar(_) => (Type::REAL, Type::REAL),
            Primitive::Dot(ty) => (self.types.product(ty, ty), Type::REAL),
            Primitive::Scale(ty) => (self.types.product(Type::REAL, ty), ty),
        };
        match op {
            Op::Primal(_) => (argument, result),
            Op::Reverse(_) => (self.types.product(argument, result), argument),
        }
    }

    /// Records the type that a rule gave; it must equal the stored type.
    fn finish(&mut self, term: TermId, found: Type) -> Result<(), Violation> {
        let stored = self.terms.ty(term);
        if stored != found {
            let (stored, found) = (self.types.show(stored), self.types.show(found));
            return Err(Violation::Subscript { term, stored, found });
        }
        self.done.push(found);
        Ok(())
    }

    fn premise(&self, rule: &'static str, expected: Type, found: Type) -> Result<(), Violation> {
        if expected == found {
            return Ok(());
        }
        Err(Violation::Premise { rule, expected: self.types.show(expected), found: self.types.show(found) })
    }

    fn factors(&mut self, rule: &'static str) -> Result<(Type, Type), Violation> {
        let found = self.pop();
        self.types.factors(found).ok_or_else(|| Violation::Premise {
            rule,
            expected: "T * U".to_string(),
            found: self.types.show(found),
        })
    }

    fn gamma(&mut self) -> &mut Gamma {
        self.gammas.last_mut().expect("the term has a Γ")
    }

    fn pop(&mut self) -> Type {
        self.done.pop().expect("the premise was visited")
    }

    fn pop_two(&mut self) -> (Type, Type) {
        let second = self.pop();
        (self.pop(), second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Scalar;

    /// Builds a term and checks it.
    fn check(build: impl FnOnce(&mut Terms) -> TermId) -> Result<String, Violation> {
        let mut terms = Terms::default();
        let term = build(&mut terms);
        recheck(&terms, &[], term).map(|ty| terms.types.show(ty))
    }

    fn premise(rule: &'static str, expected: &str, found: &str) -> Result<String, Violation> {
        Err(Violation::Premise { rule, expected: expected.to_string(), found: found.to_string() })
    }

    #[test]
    fn a_let_binds_its_variable_in_its_body_only() {
        let mut x = None;
        let outcome = check(|terms| {
            let var = terms.fresh_named("x", Type::REAL);
            x = Some(var);
            let (one, inside, outside) = (terms.real(1.0), terms.variable(var), terms.variable(var));
            let inner = terms.bind(var, one, inside);
            terms.pair(inner, outside)
        });
        assert_eq!(outcome, Err(Violation::Unbound(x.expect("the variable was made"))));
    }

    #[test]
    fn a_let_has_its_stated_type() {
        let outcome = check(|terms| {
            let var = terms.fresh_named("x", Type::REAL);
            let (unit, body) = (terms.push(Term::Unit), terms.variable(var));
            terms.bind(var, unit, body)
        });
        assert_eq!(outcome, premise("Let", "real", "unit"));
    }

    #[test]
    fn one_variable_has_one_binder() {
        let mut x = None;
        let outcome = check(|terms| {
            let var = terms.fresh_named("x", Type::REAL);
            x = Some(var);
            let one = terms.real(1.0);
            let body = terms.variable(var);
            let once = terms.bind(var, one, body);
            terms.push(Term::Add(once, once))
        });
        assert_eq!(outcome, Err(Violation::BoundTwice(x.expect("the variable was made"))));
    }

    #[test]
    fn a_function_body_sees_its_parameter_and_itself() {
        let define = |outside: bool| {
            let mut violation = None;
            let outcome = check(|terms| {
                let (x, y) = (terms.fresh_named("x", Type::REAL), terms.fresh_named("y", Type::REAL));
                let name = terms.names.intern("f");
                let function = terms.declare(name, x, Type::REAL, None);
                let argument = terms.variable(if outside { y } else { x });
                let body = terms.push(Term::Call { function, argument });
                terms.define(function, body);
                let argument = terms.variable(y);
                let call = terms.push(Term::Call { function, argument });
                let rest = terms.push(Term::Letrec { function, body: call });
                let one = terms.real(1.0);
                violation = Some(Violation::NotClosed(function, y));
                terms.bind(y, one, rest)
            });
            (outcome, violation.expect("the term was built"))
        };
        assert_eq!(define(false).0, Ok("real".to_string()));
        let (outcome, violation) = define(true);
        assert_eq!(outcome, Err(violation));
    }

    #[test]
    fn an_operation_gets_the_argument_of_its_arity() {
        let outcome = check(|terms| {
            let one = terms.real(1.0);
            terms.scalar(Scalar::Mul, one)
        });
        assert_eq!(outcome, premise("Op", "real * real", "real"));
    }

    #[test]
    fn the_cotangent_has_the_type_of_the_body() {
        let outcome = check(|terms| {
            let var = terms.fresh_named("x", Type::REAL);
            let (point, cotangent) = (terms.real(1.0), terms.push(Term::Unit));
            let body = terms.variable(var);
            terms.push(Term::Rd { cotangent, point, var, body })
        });
        assert_eq!(outcome, premise("Rd", "real", "unit"));
    }

    #[test]
    fn a_term_that_was_found_wrong_stays_wrong() {
        assert!(matches!(check(Terms::poison), Err(Violation::Subscript { .. })));
    }
}
