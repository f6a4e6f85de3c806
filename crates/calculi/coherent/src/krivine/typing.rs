//! Typing of states (section 6, Figure 8): `(δ, M, s)` is well typed if M is closed of type `D^|δ| E` for a
//! sharp E, and `s : E ⊢ nat`.

use super::state::{Frame, State};
use crate::syntax::{TermId, Terms};
use crate::types::Type;
use crate::typing::{Checker, Scope};

/// Whether a state is well typed.
pub fn is_well_typed(terms: &mut Terms, checker: &mut Checker, state: &State) -> bool {
    let length = levels(state.word.len());
    let ty = checker.type_of(terms, state.term, Scope::EMPTY);
    let sharp = ty.and_then(|ty| ty.shallower(length)).filter(|ty| ty.depth == 0);
    sharp.is_some_and(|ty| takes(terms, checker, &state.stack, ty).is_some())
}

/// `s : E ⊢ nat`.
fn takes(terms: &mut Terms, checker: &mut Checker, stack: &[Frame], mut ty: Type) -> Option<()> {
    let type_of =
        |terms: &mut Terms, checker: &mut Checker, m: TermId| checker.type_of(terms, m, Scope::EMPTY);
    for frame in stack.iter().rev() {
        ty = match frame {
            // M : A    s : E ⊢ nat                s : D A -> E ⊢ nat
            // ─────────────────────────           ────────────────────────
            // arg(M)·s : A -> E ⊢ nat             D(i)·s : A -> E ⊢ nat
            Frame::Arg(m) => {
                let (from, to) = terms.types.sides(ty)?;
                (type_of(terms, checker, *m)? == from).then_some(to)?
            }
            Frame::Derive(_) => {
                let (from, to) = terms.types.sides(ty)?;
                terms.types.arrow(from.deeper(1), to)
            }
            Frame::Succ | Frame::Pred => (ty == Type::NAT).then_some(ty)?,
            // P, Q : D^|ε| E    s : E ⊢ nat        x:nat ⊢ P : D^|ε| E    s : E ⊢ nat
            // ─────────────────────────────        ──────────────────────────────────
            // if(ε,P,Q)·s : nat ⊢ nat              let(ε,x,P)·s : nat ⊢ nat
            Frame::If(word, p, q) if ty == Type::NAT => {
                let branch = type_of(terms, checker, *p)?;
                (type_of(terms, checker, *q)? == branch).then_some(())?;
                branch.shallower(levels(word.len()))?
            }
            Frame::Let(word, p) if ty == Type::NAT => {
                let scope = checker.bind(Scope::EMPTY, Type::NAT);
                checker.type_of(terms, *p, scope)?.shallower(levels(word.len()))?
            }
            Frame::If(..) | Frame::Let(..) => return None,
        };
        if ty.depth != 0 {
            return None;
        }
    }
    (ty == Type::NAT).then_some(())
}

fn levels(n: usize) -> u32 {
    u32::try_from(n).expect("a word is shorter than 2^32")
}
