//! The abstract syntax of section 2: core terms, without sugar and with types.
//!
//! ```text
//! terms   M,N,L ::= x | r | M + N | op(M) | let x:T = M in N | * | ⟨M,N⟩ | fst(M) | snd(M)
//!                 | if B then M else N | letrec f(x:T):U = M in N | f(M) | M.rd_L(x:T. N)
//! booleans    B ::= pred(M) | true | false
//! values    V,W ::= x | r | * | ⟨V,W⟩
//! traces    C,D ::= the terms without conditionals, functions and derivatives
//! ```
//!
//! Terms live in one growing table, [`Terms`], and refer to each other by number. Each term has its type,
//! which is unique (Figure 1); the subscripts that the paper writes on pairs and projections follow from it.
//! Each binder has its own number, so no two binders share a variable and nothing can be captured; a copy of
//! a term with binders must rename them. Closed values have no binders and may be shared.

use crate::names::{Name, Names};
use crate::operation::{Op, Pred};
use crate::types::{Type, Types};
use crate::value::Value;

eddy_index::id! {
    pub struct TermId, "the memory limit ends a run long before 2^32 terms";
    /// An ordinary variable: the number of its binder.
    pub struct VarId, "the memory limit ends a run long before 2^32 terms";
    /// A function variable: the number of its definition.
    pub struct FnId, "the memory limit ends a run long before 2^32 terms";
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// `x`.
    Var(VarId),
    /// `r`.
    Real(f64),
    /// `M + N`, at `real` only.
    Add(TermId, TermId),
    /// `op(M)`.
    Op(Op, TermId),
    /// `let x:T = M in N`.
    Let {
        /// `x`.
        var: VarId,
        /// `M`.
        bound: TermId,
        /// `N`.
        body: TermId,
    },
    /// `*`.
    Unit,
    /// `⟨M,N⟩`.
    Pair(TermId, TermId),
    /// `fst(M)`.
    Fst(TermId),
    /// `snd(M)`.
    Snd(TermId),
    /// `if B then M else N`.
    If {
        /// `B`.
        test: Test,
        /// `M`.
        yes: TermId,
        /// `N`.
        no: TermId,
    },
    /// `letrec f(x:T):U = M in N`; everything but `N` is in the table of functions.
    Letrec {
        /// `f`.
        function: FnId,
        /// `N`.
        body: TermId,
    },
    /// `f(M)`.
    Call {
        /// `f`.
        function: FnId,
        /// `M`.
        argument: TermId,
    },
    /// `M.rd_L(x:T. N)`.
    Rd {
        /// `M`.
        cotangent: TermId,
        /// `L`.
        point: TermId,
        /// `x`.
        var: VarId,
        /// `N`.
        body: TermId,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Test {
    /// `pred(M)`.
    Pred(Pred, TermId),
    /// `true` or `false`.
    Constant(bool),
}

#[derive(Clone, Copy, Debug)]
pub struct Var {
    /// The user's name, or a fitting one for a generated variable.
    pub name: Name,
    pub ty: Type,
}

/// A function definition `letrec f(x:T):U = M`.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// `f`, as the user wrote it.
    pub name: Name,
    /// `x`.
    pub param: VarId,
    /// `U`.
    pub result: Type,
    /// `M`; `None` while the body is being built.
    pub body: Option<TermId>,
    /// The limit `n` of `letrec_n` (section 9).
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub struct Terms {
    pub types: Types,
    pub names: Names,
    terms: Vec<Term>,
    term_types: Vec<Type>,
    vars: Vec<Var>,
    functions: Vec<Function>,
}

/// The sizes of the tables at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    terms: usize,
    vars: usize,
}

/// A checked program.
#[derive(Clone, Debug)]
pub struct Program {
    pub terms: Terms,
    pub main: TermId,
    /// Whether the program says `use clarke` (section 14).
    pub clarke: bool,
}

impl Terms {
    /// Empty tables that share the names and types of a parsed program.
    pub fn new(types: Types, names: Names) -> Self {
        Terms { types, names, ..Terms::default() }
    }

    pub fn term(&self, id: TermId) -> Term {
        self.terms[id.index()]
    }

    pub fn ty(&self, id: TermId) -> Type {
        self.term_types[id.index()]
    }

    pub fn var(&self, id: VarId) -> Var {
        self.vars[id.index()]
    }

    pub fn function(&self, id: FnId) -> Function {
        self.functions[id.index()]
    }

    /// The body of a defined function.
    pub fn body(&self, id: FnId) -> TermId {
        self.function(id).body.expect("a function that is called has a body")
    }

    /// The text of a function's name.
    pub fn function_name(&self, id: FnId) -> &str {
        self.names.text(self.function(id).name)
    }

    pub fn n_functions(&self) -> usize {
        self.functions.len()
    }

    pub fn n_vars(&self) -> usize {
        self.vars.len()
    }

    /// The approximate size of the tables in bytes.
    pub fn bytes(&self) -> usize {
        self.terms.capacity() * size_of::<Term>()
            + self.term_types.capacity() * size_of::<Type>()
            + self.vars.capacity() * size_of::<Var>()
    }

    pub fn mark(&self) -> Mark {
        Mark { terms: self.terms.len(), vars: self.vars.len() }
    }

    /// Removes the terms and variables made since `mark`; no remaining term may refer to them.
    pub fn release(&mut self, mark: Mark) {
        self.terms.truncate(mark.terms);
        self.term_types.truncate(mark.terms);
        self.vars.truncate(mark.vars);
    }

    /// A closed value as a term.
    pub fn value_term(&mut self, value: &Value) -> TermId {
        enum Task<'a> {
            Build(&'a Value),
            Join,
        }
        let mut done = Vec::new();
        let mut tasks = vec![Task::Build(value)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Build(Value::Real(value)) => done.push(self.real(*value)),
                Task::Build(Value::Unit) => done.push(self.push(Term::Unit)),
                Task::Build(pair @ Value::Pair(_)) => {
                    let (first, second) = pair.halves();
                    tasks.extend([Task::Join, Task::Build(second), Task::Build(first)]);
                }
                Task::Join => {
                    let second = done.pop().expect("both halves are built");
                    let first = done.pop().expect("both halves are built");
                    done.push(self.pair(first, second));
                }
            }
        }
        done.pop().expect("one term is built")
    }

    pub fn fresh(&mut self, name: Name, ty: Type) -> VarId {
        self.vars.push(Var { name, ty });
        VarId::new(self.vars.len() - 1)
    }

    pub fn fresh_named(&mut self, name: &str, ty: Type) -> VarId {
        let name = self.names.intern(name);
        self.fresh(name, ty)
    }

    /// A new function without a body; [`Terms::define`] adds the body.
    pub fn declare(&mut self, name: Name, param: VarId, result: Type, limit: Option<u32>) -> FnId {
        self.functions.push(Function { name, param, result, body: None, limit });
        FnId::new(self.functions.len() - 1)
    }

    pub fn define(&mut self, function: FnId, body: TermId) {
        self.functions[function.index()].body = Some(body);
    }

    pub fn has_limits(&self) -> bool {
        self.functions.iter().any(|function| function.limit.is_some())
    }

    /// Limits the recursion of every function that has no limit of its own: `M^(n)` of section 9.
    pub fn approximate(&mut self, limit: u32) {
        for function in &mut self.functions {
            function.limit.get_or_insert(limit);
        }
    }

    /// Adds a term. Its type follows from its parts (Figure 1), which the caller has checked.
    pub fn push(&mut self, term: Term) -> TermId {
        let ty = match term {
            Term::Var(var) | Term::Rd { var, .. } => self.var(var).ty,
            Term::Real(_) | Term::Add(..) => Type::REAL,
            Term::Op(op, _) => op.arity(&mut self.types).1,
            Term::Let { body, .. } | Term::Letrec { body, .. } => self.ty(body),
            Term::Unit => Type::UNIT,
            Term::Pair(left, right) => match (self.ty(left), self.ty(right)) {
                (Type::UNKNOWN, _) | (_, Type::UNKNOWN) => Type::UNKNOWN,
                (left, right) => self.types.product(left, right),
            },
            Term::Fst(pair) => self.types.factors(self.ty(pair)).map_or(Type::UNKNOWN, |(left, _)| left),
            Term::Snd(pair) => self.types.factors(self.ty(pair)).map_or(Type::UNKNOWN, |(_, right)| right),
            Term::If { yes, .. } => self.ty(yes),
            Term::Call { function, .. } => self.function(function).result,
        };
        self.push_typed(term, ty)
    }

    /// A placeholder for a wrong term.
    pub fn poison(&mut self) -> TermId {
        self.push_typed(Term::Unit, Type::UNKNOWN)
    }

    fn push_typed(&mut self, term: Term, ty: Type) -> TermId {
        self.terms.push(term);
        self.term_types.push(ty);
        TermId::new(self.terms.len() - 1)
    }

    /// Appends the direct parts of a term, without the bodies of the functions that it defines.
    pub fn push_children(&self, id: TermId, children: &mut Vec<TermId>) {
        match self.term(id) {
            Term::Var(_) | Term::Real(_) | Term::Unit => {}
            Term::Add(left, right) | Term::Pair(left, right) => children.extend([left, right]),
            Term::Op(_, part)
            | Term::Fst(part)
            | Term::Snd(part)
            | Term::Letrec { body: part, .. }
            | Term::Call { argument: part, .. } => children.push(part),
            Term::Let { bound, body, .. } => children.extend([bound, body]),
            Term::If { test, yes, no } => {
                if let Test::Pred(_, operand) = test {
                    children.push(operand);
                }
                children.extend([yes, no]);
            }
            Term::Rd { cotangent, point, body, .. } => children.extend([point, cotangent, body]),
        }
    }

    /// The term `x`.
    pub fn variable(&mut self, var: VarId) -> TermId {
        self.push(Term::Var(var))
    }

    /// The term `r`.
    pub fn real(&mut self, value: f64) -> TermId {
        self.push(Term::Real(value))
    }

    /// The term `⟨M,N⟩`.
    pub fn pair(&mut self, left: TermId, right: TermId) -> TermId {
        self.push(Term::Pair(left, right))
    }

    /// The term `let x = M in N`.
    pub fn bind(&mut self, var: VarId, bound: TermId, body: TermId) -> TermId {
        self.push(Term::Let { var, bound, body })
    }
}
