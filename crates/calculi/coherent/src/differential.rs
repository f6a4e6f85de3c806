//! The differential ∂(x, M) (section 4, Figure 3).
//!
//! If `Γ, x:A ⊢ M : B` then `Γ, x:D A ⊢ ∂(x,M) : D B`: a term in which x is a summable pair, and whose value
//! is the pair of M and its derivative. No case creates a sum; `theta` expresses the Leibniz rule.
//!
//! The definition is used literally. A term without x is differentiated like any other, also where `inj_0 M`
//! would do: traces show these steps and laws count them. A recursion differentiates the same terms
//! repeatedly; results are memoised with the terms.

use crate::syntax::{Bit, Op, Term, TermId, Terms};
use crate::types::Type;

/// ∂(x, M), where x is the free variable of this index.
pub fn differential(terms: &mut Terms, x: u32, m: TermId) -> TermId {
    let mut done = std::mem::take(&mut terms.differentials);
    let mut work = vec![(m, x)];
    while let Some((id, x)) = work.last().copied() {
        if done.contains_key(&(id, x)) {
            work.pop();
            continue;
        }
        let term = terms.get(id);
        let before = work.len();
        work.extend(
            term.parts().map(|(part, under)| (part, x + under)).filter(|place| !done.contains_key(place)),
        );
        if work.len() > before {
            continue;
        }
        let parts: Vec<TermId> = term.parts().map(|(part, under)| done[&(part, x + under)]).collect();
        let result = rule(terms, x, id, &parts);
        done.insert((id, x), result);
    }
    terms.differentials = done;
    terms.differentials[&(m, x)]
}

/// `\x:A. M` becomes `\x:D A. ∂(x,M)`: the rule for `D` of an abstraction.
pub fn derived_abstraction(terms: &mut Terms, lambda: TermId, ty: Type, body: TermId) -> TermId {
    let body = differential(terms, 0, body);
    terms.add_like(Term::Lambda(ty.deeper(1), body), lambda)
}

/// One case of the definition, given the differentials of the parts.
fn rule(terms: &mut Terms, x: u32, id: TermId, parts: &[TermId]) -> TermId {
    let theta = |terms: &mut Terms, m| terms.op(Op::Theta, 0, m);
    match (terms.get(id), parts) {
        // ∂(x,x) = x
        (Term::Var(index), _) if index == x => id,
        // ∂(x,y) = inj_0 y    ∂(x,n) = inj_0 n    ∂(x,coin p) = inj_0 (coin p)
        (Term::Var(_) | Term::Num(_) | Term::Coin(_), _) => terms.op(Op::Inj(Bit::Zero), 0, id),
        // ∂(x,0) = 0
        (Term::Zero(ty), _) => terms.add(Term::Zero(ty.deeper(1))),
        // ∂(x,\y:C.M) = \y:C. ∂(x,M)
        (Term::Lambda(ty, _), [m]) => terms.add_like(Term::Lambda(ty, *m), id),
        // ∂(x,M N) = (theta^0 (D ∂(x,M))) ∂(x,N)
        (Term::Apply(..), [m, n]) => {
            let derived = terms.add(Term::Derive(*m));
            let function = theta(terms, derived);
            terms.add(Term::Apply(function, *n))
        }
        // ∂(x,fix M) = fix (theta^0 (D ∂(x,M)))
        (Term::Fix(_), [m]) => {
            let derived = terms.add(Term::Derive(*m));
            let function = theta(terms, derived);
            terms.add(Term::Fix(function))
        }
        // ∂(x,D M) = flip_0^0 (D ∂(x,M))
        (Term::Derive(_), [m]) => {
            let derived = terms.add(Term::Derive(*m));
            terms.op(Op::Flip(0), 0, derived)
        }
        // ∂(x,op^d M) = op^(d+1) ∂(x,M)
        (Term::Op(op, depth, _), [m]) => terms.op(op, depth + 1, *m),
        // ∂(x,tick M) = tick ∂(x,M)
        (Term::Tick(_), [m]) => terms.add(Term::Tick(*m)),
        // ∂(x,if^d(M,P,Q)) = theta^0 (flip_d^0 (if^(d+1)(∂(x,M),∂(x,P),∂(x,Q))))
        (Term::If(depth, ..), [m, p, q]) => {
            let inner = terms.add(Term::If(depth + 1, *m, *p, *q));
            let flipped = terms.op(Op::Flip(depth), 0, inner);
            theta(terms, flipped)
        }
        // ∂(x,let^d(y,M,P)) = theta^0 (flip_d^0 (let^(d+1)(y,∂(x,M),∂(x,P))))
        (Term::Let(depth, ..), [m, p]) => {
            let inner = terms.add_like(Term::Let(depth + 1, *m, *p), id);
            let flipped = terms.op(Op::Flip(depth), 0, inner);
            theta(terms, flipped)
        }
        // ∂(x,M+N) = ∂(x,M) + ∂(x,N)
        (Term::Sum(..), [m, n]) => terms.add(Term::Sum(*m, *n)),
        (term, _) => unreachable!("{term:?} has as many differentials as parts"),
    }
}
