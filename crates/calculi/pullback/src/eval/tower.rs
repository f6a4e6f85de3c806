//! Derivatives of derivatives of primitives: `J (J f·u1)·u2`, and so on.
//!
//! Decision: the specification expands `J f·U` to `λa.f'(⟨a,U⟩)` before it differentiates it. The Jacobian of
//! the expansion, `(J f'·⟨v,0⟩)⟨a,U⟩`, has `U` in the place of a point, so its linearity in `U` is no longer
//! syntactic: a step would lose the type, and rule 5 would get stuck. The tower `(J (J f·U)·v) a` has the
//! same meaning, `J²(f)(a)(U,v)`, and is linear in `U` and in `v` by the rules of section 4.2. `f'` computes
//! its value.

use crate::primitive::calculus::Reals;
use crate::primitive::{PrimId, Primitives, Undefined};
use crate::syntax::{Term, TermId, Terms};

/// `J (… J (J f·u1)·u2 …)·uk`.
#[derive(Clone, Debug)]
pub struct Tower {
    /// `f`.
    pub prim: PrimId,
    /// `u1 … uk`, one or more.
    pub directions: Vec<TermId>,
}

impl Tower {
    pub fn of(terms: &Terms, mut id: TermId) -> Option<Tower> {
        let mut directions = Vec::new();
        while let Term::Jacobian(function, direction) = terms.term(id) {
            directions.push(direction);
            id = function;
        }
        let Term::PrimJacobian(prim, direction) = terms.term(id) else { return None };
        directions.push(direction);
        directions.reverse();
        Some(Tower { prim, directions })
    }
}

/// The k-th derivative of `f`, and the point at which it is `J^k(f)(a)(u1, …, uk)`. Each derivative takes a
/// point and a direction; the i-th direction is `u_i` for the point of `f` and 0 for the earlier directions.
fn iterate(
    primitives: &mut Primitives,
    mut f: PrimId,
    mut point: Vec<f64>,
    directions: &[Vec<f64>],
) -> (PrimId, Vec<f64>) {
    for direction in directions {
        f = primitives.derivative(f);
        let n = point.len();
        point.extend(direction);
        point.resize(2 * n, 0.0);
    }
    (f, point)
}

/// `J^k(f)(a)(u1, …, uk)`.
pub fn value(
    primitives: &mut Primitives,
    f: PrimId,
    point: Vec<f64>,
    directions: &[Vec<f64>],
) -> Result<Vec<f64>, Undefined> {
    // The last derivative is a tangent: zero directions do not contribute.
    let (last, before) = directions.split_last().expect("a tower has directions");
    let (f, point) = iterate(primitives, f, point, before);
    let mut tangents: Vec<Option<f64>> = last.iter().map(|u| (*u != 0.0).then_some(*u)).collect();
    tangents.resize(point.len(), None);
    let tangent = primitives.get(f).tangent(&mut Reals, &point, &tangents)?;
    Ok(tangent.into_iter().map(Option::unwrap_or_default).collect())
}

/// The transpose of `u ↦ J^k(f)(a)(…, u, …)` applied to a covector, given the other directions. Derivatives
/// are symmetric, so the position of `u` does not matter.
pub fn transposed(
    primitives: &mut Primitives,
    f: PrimId,
    point: Vec<f64>,
    others: &[Vec<f64>],
    covector: &[f64],
) -> Result<Vec<f64>, Undefined> {
    let n = point.len();
    let (f, point) = iterate(primitives, f, point, others);
    let covector: Vec<Option<f64>> = covector.iter().map(|c| (*c != 0.0).then_some(*c)).collect();
    let pulled = primitives.get(f).cotangent(&mut Reals, &point, &covector)?;
    Ok(pulled.into_iter().take(n).map(Option::unwrap_or_default).collect())
}
