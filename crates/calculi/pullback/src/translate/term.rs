//! The terms of 𝓛.
//!
//! Variables are numbers; each binder of the translation has its own. Terms are shared freely: the derivative
//! of a term refers to the parts of the term itself.

use crate::primitive::{PrimId, Primitives};
use crate::syntax::Path;

eddy_index::id! {
    pub struct LTerm, "the memory limit ends a run before 2^32 terms";
    pub struct LVar, "the memory limit ends a run before 2^32 variables";
}

#[derive(Clone, Debug)]
pub enum Form {
    /// `x`.
    Var(LVar),
    /// `λx.t`.
    Lambda(LVar, LTerm),
    /// `s t`.
    Apply(LTerm, LTerm),
    /// `let x = s in t`.
    Let(LVar, LTerm, LTerm),
    /// `⟨s,t⟩`.
    Pair(LTerm, LTerm),
    /// A chain of projections.
    Project(Path, LTerm),
    /// `r`.
    Real(f64),
    /// `f(t)`.
    Prim(PrimId, LTerm),
    /// `0` at every type.
    Zero,
    /// `s + t`.
    Add(LTerm, LTerm),
    /// `D^k(s; a; v1 … vk)`, k at least 1.
    Derive(LTerm, LTerm, Vec<LTerm>),
}

#[derive(Clone, Debug)]
pub struct LTerms {
    /// The primitives, which grow: `f'` is added when `f` is differentiated.
    pub primitives: Primitives,
    forms: Vec<Form>,
    n_vars: u32,
}

impl LTerms {
    /// An empty table.
    pub fn new(primitives: Primitives) -> Self {
        LTerms { primitives, forms: Vec::new(), n_vars: 0 }
    }

    pub fn push(&mut self, form: Form) -> LTerm {
        self.forms.push(form);
        LTerm::new(self.forms.len() - 1)
    }

    pub fn form(&self, id: LTerm) -> &Form {
        &self.forms[id.index()]
    }

    pub fn fresh(&mut self) -> LVar {
        self.n_vars += 1;
        LVar(self.n_vars - 1)
    }

    /// A variable as a term.
    pub fn var(&mut self, var: LVar) -> LTerm {
        self.push(Form::Var(var))
    }

    /// `let x = bound in body(x)`, with a new `x`.
    pub fn with(&mut self, bound: LTerm, body: impl FnOnce(&mut Self, LTerm) -> LTerm) -> LTerm {
        let x = self.fresh();
        let x_term = self.var(x);
        let body = body(self, x_term);
        self.push(Form::Let(x, bound, body))
    }

    /// `λx.body(x)`, with a new `x`.
    pub fn lambda(&mut self, body: impl FnOnce(&mut Self, LTerm) -> LTerm) -> LTerm {
        let x = self.fresh();
        let x_term = self.var(x);
        let body = body(self, x_term);
        self.push(Form::Lambda(x, body))
    }

    /// `s t`.
    pub fn apply(&mut self, function: LTerm, argument: LTerm) -> LTerm {
        self.push(Form::Apply(function, argument))
    }

    /// The parts of a term.
    pub fn children(&self, id: LTerm) -> Vec<LTerm> {
        match self.form(id) {
            Form::Var(_) | Form::Real(_) | Form::Zero => Vec::new(),
            Form::Lambda(_, a) | Form::Project(_, a) | Form::Prim(_, a) => vec![*a],
            Form::Apply(a, b) | Form::Let(_, a, b) | Form::Pair(a, b) | Form::Add(a, b) => vec![*a, *b],
            Form::Derive(s, a, directions) => {
                [*s, *a].into_iter().chain(directions.iter().copied()).collect()
            }
        }
    }

    /// The approximate size of the table in bytes.
    pub fn bytes(&self) -> usize {
        self.forms.capacity() * size_of::<Form>()
    }
}
