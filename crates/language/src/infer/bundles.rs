//! Keeps the leaves of a record on one clock (functions.md, section 6).
//!
//! Nothing else relates the leaves of `{x = 0.0, v = y when c}`. So equations between them are added, whose
//! results are not used: an `if` that takes a leaf at the condition of another one.

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

/// A truth value at each cycle of a stream.
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
