//! Figure 2 on kernel terms: whether a term has its stored type, linearity included.
//!
//! No run needs this; the laws use it to check that each step keeps types (Corollary 4.7).

use super::linear;
use crate::syntax::{Term, TermId, Terms};
use crate::types::{Shape, Type};

/// A term that is not well typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IllTyped(pub TermId);

/// Checks a term without loose indices.
pub fn recheck(terms: &Terms, id: TermId) -> Result<(), IllTyped> {
    // The types of enclosing binders by level. Checking a part overwrites only levels above the level of the
    // part, and parts are checked last in, first out.
    let mut binders: Vec<Type> = Vec::new();
    let mut work = vec![(id, 0, None)];
    while let Some((id, depth, binder)) = work.pop() {
        if let Some(ty) = binder {
            binders.truncate(depth - 1);
            binders.push(ty);
        }
        if let Term::Bound(index) = terms.term(id) {
            let level = depth.checked_sub(index as usize + 1).ok_or(IllTyped(id))?;
            if binders[level] != terms.ty(id) {
                return Err(IllTyped(id));
            }
            continue;
        }
        if !rule(terms, id) {
            return Err(IllTyped(id));
        }
        if let Term::Dual(_, body, _) = terms.term(id)
            && linear::check(terms, body).is_err()
        {
            return Err(IllTyped(id));
        }
        for (child, inner) in terms.term(id).children().rev() {
            // The innermost binder is entered again for each part, since an earlier part may have overwritten
            // it.
            let entered =
                if inner == 1 { Some(terms.param(id)) } else { binders.get(depth.wrapping_sub(1)).copied() };
            work.push((child, depth + inner as usize, entered));
        }
    }
    Ok(())
}

/// The rule for one form, given the types of its parts.
fn rule(terms: &Terms, id: TermId) -> bool {
    let types = &terms.types;
    let own = terms.ty(id);
    let ty = |id: TermId| terms.ty(id);
    let function = |id: TermId| match types.shape(ty(id)) {
        Shape::Arrow(from, to) => Some((from, to)),
        _ => None,
    };
    let dual = |of: Type, at: Type| types.shape(at) == Shape::Dual(of);
    match terms.term(id) {
        Term::Bound(_) => true,
        Term::Free(var) => terms.var(var).ty == own,
        Term::Real(_) => own == Type::REAL,
        Term::Zero => true,
        Term::Lambda(_, body) => matches!(types.shape(own), Shape::Arrow(_, to) if to == ty(body)),
        Term::Apply(f, a) => function(f) == Some((ty(a), own)),
        Term::Pair(a, b) => types.shape(own) == Shape::Product(ty(a), ty(b)),
        Term::Project(path, of) => {
            let mut at = Some(ty(of));
            for _ in 0..path.lefts {
                at = at.and_then(|at| types.factors(at)).map(|(left, _)| left);
            }
            if path.right {
                at = at.and_then(|at| types.factors(at)).map(|(_, right)| right);
            }
            at == Some(own)
        }
        Term::Prim(f, a) => is_argument(terms, f, ty(a)) && is_result(terms, f, own),
        Term::PrimJacobian(f, a) => {
            matches!(types.shape(own), Shape::Arrow(from, to)
                if from == ty(a) && is_argument(terms, f, from) && is_result(terms, f, to))
        }
        Term::Dual(_, body, operand) => {
            matches!(types.shape(own), Shape::Dual(_)) && dual(ty(body), ty(operand))
        }
        Term::Pullback(_, body, form) => {
            let is_form = |at: Type, of: Type| matches!(types.shape(at), Shape::Arrow(from, to) if from == of && dual(of, to));
            matches!(types.shape(own), Shape::Arrow(from, _) if is_form(own, from))
                && is_form(ty(form), ty(body))
        }
        Term::Add(a, b) => ty(a) == own && ty(b) == own,
        Term::Jacobian(f, t) => ty(f) == own && function(f).is_some_and(|(from, _)| from == ty(t)),
        Term::Contract(a, b) => own == Type::REAL && dual(ty(b), ty(a)),
        Term::Flat(a) => types.is_euclidean(ty(a)) && dual(ty(a), own),
        Term::Sharp(a) => types.is_euclidean(own) && dual(own, ty(a)),
    }
}

/// `R^n`, or for `f'` a pair of arguments of `f`: one real per parameter.
fn is_argument(terms: &Terms, f: crate::primitive::PrimId, ty: Type) -> bool {
    terms.types.is_euclidean(ty) && terms.types.components(ty) == terms.primitives.get(f).n_params as u64
}

fn is_result(terms: &Terms, f: crate::primitive::PrimId, ty: Type) -> bool {
    terms.types.is_euclidean(ty) && terms.types.components(ty) == terms.primitives.get(f).outputs.len() as u64
}
