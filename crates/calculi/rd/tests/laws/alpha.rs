//! Equality of terms up to the names of their binders.

use eddy_rd::operation::{Op, Primitive};
use eddy_rd::syntax::{FnId, Term, TermId, Terms, Test, VarId};
use eddy_rd::types::Type;
use rustc_hash::FxHashMap;

/// Whether two terms, possibly of two tables, differ only in the numbers of their binders. `free` relates
/// free variables; free functions must have the same number.
pub fn same_term(left: (&Terms, TermId), right: (&Terms, TermId), free: &[(VarId, VarId)]) -> bool {
    let mut comparison = Comparison {
        left: left.0,
        right: right.0,
        vars: free.iter().copied().collect(),
        functions: FxHashMap::default(),
    };
    comparison.terms(left.1, right.1)
}

struct Comparison<'a> {
    left: &'a Terms,
    right: &'a Terms,
    vars: FxHashMap<VarId, VarId>,
    functions: FxHashMap<FnId, FnId>,
}

impl Comparison<'_> {
    fn terms(&mut self, left: TermId, right: TermId) -> bool {
        if !self.types(self.left.ty(left), self.right.ty(right)) {
            return false;
        }
        match (self.left.term(left), self.right.term(right)) {
            (Term::Var(x), Term::Var(y)) => self.vars.get(&x) == Some(&y),
            (Term::Real(x), Term::Real(y)) => x == y,
            (Term::Unit, Term::Unit) => true,
            (Term::Add(a, b), Term::Add(c, d)) | (Term::Pair(a, b), Term::Pair(c, d)) => {
                self.terms(a, c) && self.terms(b, d)
            }
            (Term::Op(op, a), Term::Op(other, b)) => self.operations(op, other) && self.terms(a, b),
            (Term::Fst(a), Term::Fst(b)) | (Term::Snd(a), Term::Snd(b)) => self.terms(a, b),
            (
                Term::Let { var, bound, body },
                Term::Let { var: other, bound: other_bound, body: other_body },
            ) => self.terms(bound, other_bound) && self.bind(var, other) && self.terms(body, other_body),
            (Term::If { test, yes, no }, Term::If { test: other, yes: other_yes, no: other_no }) => {
                self.tests(test, other) && self.terms(yes, other_yes) && self.terms(no, other_no)
            }
            (Term::Letrec { function, body }, Term::Letrec { function: other, body: other_body }) => {
                self.definitions(function, other) && self.terms(body, other_body)
            }
            (Term::Call { function, argument }, Term::Call { function: other, argument: other_argument }) => {
                *self.functions.get(&function).unwrap_or(&function) == other
                    && self.terms(argument, other_argument)
            }
            (
                Term::Rd { cotangent: m, point: l, var, body },
                Term::Rd { cotangent: other_m, point: other_l, var: other, body: other_body },
            ) => {
                self.terms(l, other_l)
                    && self.terms(m, other_m)
                    && self.bind(var, other)
                    && self.terms(body, other_body)
            }
            _ => false,
        }
    }

    fn bind(&mut self, var: VarId, other: VarId) -> bool {
        self.vars.insert(var, other);
        self.types(self.left.var(var).ty, self.right.var(other).ty)
    }

    fn definitions(&mut self, function: FnId, other: FnId) -> bool {
        self.functions.insert(function, other);
        let (definition, other_definition) = (self.left.function(function), self.right.function(other));
        definition.limit == other_definition.limit
            && self.types(definition.result, other_definition.result)
            && self.bind(definition.param, other_definition.param)
            && self.terms(self.left.body(function), self.right.body(other))
    }

    fn tests(&mut self, test: Test, other: Test) -> bool {
        match (test, other) {
            (Test::Constant(known), Test::Constant(other)) => known == other,
            (Test::Pred(pred, a), Test::Pred(other, b)) => pred == other && self.terms(a, b),
            _ => false,
        }
    }

    fn operations(&self, op: Op, other: Op) -> bool {
        let primitives = |left: Primitive, right: Primitive| match (left, right) {
            (Primitive::Dot(ty), Primitive::Dot(other)) | (Primitive::Scale(ty), Primitive::Scale(other)) => {
                self.types(ty, other)
            }
            _ => left == right,
        };
        match (op, other) {
            (Op::Primal(left), Op::Primal(right)) | (Op::Reverse(left), Op::Reverse(right)) => {
                primitives(left, right)
            }
            _ => false,
        }
    }

    /// Types are indices into their tables, so their texts are compared.
    fn types(&self, left: Type, right: Type) -> bool {
        self.left.types.show(left) == self.right.types.show(right)
    }
}

/// All terms inside a term, itself and the bodies of functions included.
pub fn subterms(terms: &Terms, term: TermId) -> Vec<TermId> {
    let mut found = Vec::new();
    let mut todo = vec![term];
    while let Some(id) = todo.pop() {
        found.push(id);
        match terms.term(id) {
            Term::Var(_) | Term::Real(_) | Term::Unit => {}
            Term::Add(a, b) | Term::Pair(a, b) | Term::Let { bound: a, body: b, .. } => todo.extend([a, b]),
            Term::Op(_, a) | Term::Fst(a) | Term::Snd(a) | Term::Call { argument: a, .. } => todo.push(a),
            Term::If { test, yes, no } => {
                todo.extend([yes, no]);
                if let Test::Pred(_, operand) = test {
                    todo.push(operand);
                }
            }
            Term::Letrec { function, body } => todo.extend([terms.body(function), body]),
            Term::Rd { cotangent, point, body, .. } => todo.extend([cotangent, point, body]),
        }
    }
    found
}
