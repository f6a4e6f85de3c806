//! `jacobian f at v`: its type depends on the solved type of `f`, so it is found after all other types.

use super::errors::{self, Situation};
use super::infer::{Euclidean, Inference};
use super::unify::{KnownForm, Ty};
use crate::surface::ExprId;
use crate::types::Types;

/// The types of the point, the value and the whole.
pub(super) struct Postponed {
    pub(super) at: ExprId,
    pub(super) point: Ty,
    pub(super) value: Ty,
    pub(super) result: Ty,
}

impl Inference<'_> {
    /// Finds the type of each `jacobian f at v`, when the type of the value of `f` is known; types that are
    /// unknown at the end become `R`.
    pub(super) fn postponed(&mut self) {
        if self.postponed.is_empty() || self.out.unknowns.cycle().is_some() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.postponed);
        while !waiting.is_empty() {
            let unknowns = &mut self.out.unknowns;
            let ready = waiting.iter().position(|postponed| unknowns.is_ground(postponed.value));
            let postponed = waiting.remove(ready.unwrap_or(0));
            self.out.unknowns.default_to_real(postponed.value);
            let result = self.rows(&postponed);
            self.equal(result, postponed.result, self.span(postponed.at), Situation::Rows);
            if self.out.unknowns.cycle().is_some() {
                return;
            }
        }
    }

    /// The type of the value with every leaf `R` replaced by the dual of the type of the point.
    fn rows(&mut self, postponed: &Postponed) -> Ty {
        enum Step {
            Visit(Ty),
            Join,
        }
        self.out.euclidean.push(Euclidean { ty: postponed.value, at: postponed.at });
        let (mut work, mut done) = (vec![Step::Visit(postponed.value)], Vec::new());
        while let Some(step) = work.pop() {
            if done.len() as u64 > Types::MAX_COMPONENTS {
                self.diagnostics.push(errors::too_large(self.span(postponed.at)));
                return self.out.unknowns.poison();
            }
            match step {
                Step::Visit(ty) => match self.out.unknowns.known(ty) {
                    KnownForm::Product(left, right) => {
                        work.extend([Step::Join, Step::Visit(right), Step::Visit(left)]);
                    }
                    KnownForm::Real => done.push(self.out.unknowns.dual(postponed.point)),
                    _ => done.push(self.out.unknowns.poison()),
                },
                Step::Join => {
                    let right = done.pop().expect("both parts are done");
                    let left = done.pop().expect("both parts are done");
                    done.push(self.out.unknowns.product(left, right));
                }
            }
        }
        done.pop().expect("one type is made")
    }
}
