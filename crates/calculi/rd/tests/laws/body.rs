//! Open terms, and values for their variables: the samples of the laws of traces and derivatives.

use std::fmt;

use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::Outcome;
use eddy_rd::syntax::{Program, Term, TermId, VarId};
use eddy_rd::value::Value;

use crate::generate::{Generator, Ty};
use crate::harness::{LIMITS, accepted};

/// A term `N:U` with two free variables: `y:S`, which has a value, and `x:T`, with respect to which the term
/// is differentiated; a point `V:T` and a cotangent `W:U`. The value of `y`, `V` and `W` are closed.
pub struct Body {
    pub outer_ty: Ty,
    pub outer: String,
    pub ty: Ty,
    pub point: String,
    pub result: Ty,
    pub cotangent: String,
    pub text: String,
}

impl Body {
    /// A body inside `nesting` derivatives.
    pub fn sample(generator: &mut Generator<'_>, nesting: u32) -> Body {
        let ty = generator.smooth_type();
        Body::sample_at(generator, nesting, ty)
    }

    /// A body with a variable of this type.
    pub fn sample_at(generator: &mut Generator<'_>, nesting: u32, ty: Ty) -> Body {
        let (outer_ty, result) = (generator.any_type(), generator.smooth_type());
        let (outer, point, cotangent) =
            (generator.value(&outer_ty), generator.value(&ty), generator.value(&result));
        let text = generator.open_term(&[("y", &outer_ty), ("x", &ty)], nesting, &result);
        Body { outer_ty, outer, ty, point, result, cotangent, text }
    }

    /// `let y:S = … in M`.
    pub fn within(&self, term: &str) -> String {
        format!("let y:{} = {} in {term}", self.outer_ty.show(), self.outer)
    }

    /// `let y:S = … in W.rd[V](x:T. N)`.
    pub fn derivative(&self) -> String {
        self.within(&self.rd(&self.cotangent, &self.text))
    }

    /// `W.rd[V](x:T. N)` with another cotangent and body.
    pub fn rd(&self, cotangent: &str, body: &str) -> String {
        format!("{cotangent}.rd[{}](x:{}. {body})", self.point, self.ty.show())
    }

    /// `let y:S = … in let x:T = V in N`.
    pub fn evaluation(&self) -> String {
        self.within(&format!("let x:{} = {} in {}", self.ty.show(), self.point, self.text))
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.derivative())
    }
}

/// The parts of a program `let y = … in let x = V in N` or `let y = … in W.rd[V](x. N)`.
pub struct Parts {
    pub y: VarId,
    pub outer: TermId,
    pub x: VarId,
    pub body: TermId,
}

pub fn parts(program: &Program) -> Parts {
    let Term::Let { var: y, bound: outer, body: rest } = program.terms.term(program.main) else {
        unreachable!("the program is a `let`")
    };
    match program.terms.term(rest) {
        Term::Let { var: x, body, .. } | Term::Rd { var: x, body, .. } => Parts { y, outer, x, body },
        _ => unreachable!("the program is a `let` and a `let` or a derivative"),
    }
}

/// The value of a text such as `(1, -2)`.
pub fn value(text: &str) -> Result<Value, String> {
    match run(&accepted(text)?, Engine::Reference, LIMITS).outcome {
        Outcome::Value(value) => Ok(value),
        _ => unreachable!("a closed value evaluates to itself"),
    }
}
