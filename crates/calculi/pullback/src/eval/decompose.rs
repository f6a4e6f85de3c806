//! Whole states from the focus and the stack of the machine.

use super::Frame;
use crate::syntax::{TermId, Terms};

/// The whole state: a term in the contexts of a stack, which holds no premise.
pub fn plug(terms: &mut Terms, frames: &[Frame], hole: TermId) -> TermId {
    let mut term = hole;
    for frame in frames.iter().rev() {
        term = match frame {
            Frame::AddLeft(right) => terms.add(term, *right),
            Frame::AddRight(left) => terms.add(*left, term),
            Frame::Function(argument) => terms.apply(term, *argument),
            Frame::Argument(function) => terms.apply(*function, term),
            Frame::Project(path) => terms.project(*path, term),
            Frame::PairLeft(right) => terms.pair(term, *right),
            Frame::PairRight(left) => terms.pair(*left, term),
            Frame::Prim(f) => terms.prim(*f, term),
            Frame::PrimJacobian(f) => terms.prim_jacobian(*f, term),
            Frame::DualOperand(hint, param, body) => terms.dual_map(*hint, *param, *body, term),
            Frame::DualBody(hint, var, operand) => {
                let body = terms.abstract_over(term, &[*var]);
                let param = terms.var(*var).ty;
                terms.dual_map(*hint, param, body, *operand)
            }
            Frame::Form(hint, param, body) => terms.pullback(*hint, *param, *body, term),
            Frame::JacobianFunction(direction) => terms.jacobian(term, *direction),
            Frame::JacobianDirection(function) => terms.jacobian(*function, term),
            Frame::ContractLeft(right) => terms.contract(term, *right),
            Frame::ContractRight(left) => terms.contract(*left, term),
            Frame::Flat => terms.flat(term),
            Frame::Sharp => terms.sharp(term),
            Frame::Shared(_) => term,
            Frame::Premise(_) => unreachable!("states are shown outside of premises"),
        };
    }
    term
}
