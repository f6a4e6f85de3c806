//! Keeps the leaves of a record on one clock (functions.md, section 6).
//!
//! No equation of the program relates the leaves of `{x = 0.0, v = y when c}`. So this adds equations whose
//! results are not used: for each other leaf an `if` whose branches are that leaf and whose condition is
//! computed from the smallest leaf. The operands of an `if` are on one clock.

use eddy_tensor::{Op, Scalar, Shape, Type};

use crate::draft::Bundle;
use crate::flow::{Equation, Flow, Kind, Var, VarId};

pub(super) fn synchronise(flow: &mut Flow, bundles: &[Bundle]) {
    for bundle in bundles {
        let size = |var: &VarId| flow.var(*var).ty.shape.iter().product::<usize>();
        let Some(anchor) = bundle.vars.iter().copied().filter(|var| size(var) > 0).min_by_key(size) else {
            continue;
        };
        let tick = tick(flow, bundle, anchor);
        for other in bundle.vars.iter().copied().filter(|var| *var != anchor) {
            let ty = flow.var(other).ty.clone();
            define(flow, bundle, ty, Op::If, &[tick, other, other]);
        }
    }
}

/// A truth value that is present exactly where this stream is present.
fn tick(flow: &mut Flow, bundle: &Bundle, of: VarId) -> VarId {
    let mut element = of;
    while let Type { scalar, shape } = flow.var(element).ty.clone()
        && !shape.is_scalar()
    {
        let ty = Type { scalar, shape: Shape::new(&shape[1..]) };
        element = define(flow, bundle, ty, Op::Index(0), &[element]);
    }
    if flow.var(element).ty.scalar == Scalar::Bool {
        return element;
    }
    let ty = Type { scalar: Scalar::Bool, shape: Shape::scalar() };
    define(flow, bundle, ty, Op::Eq, &[element, element])
}

fn define(flow: &mut Flow, bundle: &Bundle, ty: Type, op: Op, operands: &[VarId]) -> VarId {
    let out = VarId::new(flow.vars.len());
    flow.vars.push(Var { name: None, span: bundle.span, ty, purpose: None });
    let kind = Kind::Apply(op, operands.into());
    flow.equations.push(Equation { out, kind, span: bundle.span, call: bundle.call });
    out
}
