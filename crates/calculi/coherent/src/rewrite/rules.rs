//! The rules of reduction at the root of a term (section 5.2, Figures 5 and 6). Each is named as in the
//! specification.
//!
//! The last two projection rules are inverse to each other, so the system does not terminate and is never run
//! to a normal form. The laws make single steps.

use crate::differential::derived_abstraction;
use crate::substitute::instantiate;
use crate::syntax::{Bit, Op, Term, TermId, Terms};
use crate::types::Type;

/// The reduct of a term at its root, with the name of the rule; `None` if no rule applies. The type is that
/// of the term, for zeros.
pub fn reduce(terms: &mut Terms, m: TermId, ty: Type) -> Option<(&'static str, TermId)> {
    match terms.get(m) {
        // (\x.M) N → M[N/x]
        Term::Apply(function, argument) => match terms.get(function) {
            Term::Lambda(_, body) => Some(("beta", instantiate(terms, body, argument))),
            _ => None,
        },
        // D(\x:A.M) → \x:D A. ∂(x,M)
        Term::Derive(function) => match terms.get(function) {
            Term::Lambda(ty, body) => Some(("D", derived_abstraction(terms, function, ty, body))),
            _ => None,
        },
        // fix M → M (fix M)
        Term::Fix(function) => Some(("fix", terms.add(Term::Apply(function, m)))),
        // succ^0 n → n+1      pred^0 0 → 0      pred^0 (n+1) → n
        Term::Op(Op::Succ, 0, part) => number(terms, part, |n| n.checked_add(1)).map(|n| ("succ", n)),
        Term::Op(Op::Pred, 0, part) => {
            number(terms, part, |n| Some(n.saturating_sub(1))).map(|n| ("pred", n))
        }
        // if^0(0,P,Q) → P     if^0(n+1,P,Q) → Q
        Term::If(0, condition, p, q) => match terms.get(condition) {
            Term::Num(n) => Some(("if", if n == 0 { p } else { q })),
            _ => None,
        },
        // let^0(x,n,P) → P[n/x]
        Term::Let(0, bound, body) => match terms.get(bound) {
            Term::Num(_) => Some(("let", instantiate(terms, body, bound))),
            _ => None,
        },
        // tick M → M
        Term::Tick(part) => Some(("tick", part)),
        Term::Op(Op::Pi(bit), depth, part) => project(terms, bit, depth, part, ty),
        _ => None,
    }
}

fn number(terms: &mut Terms, m: TermId, f: impl FnOnce(u64) -> Option<u64>) -> Option<TermId> {
    let Term::Num(n) = terms.get(m) else { return None };
    f(n).map(|n| terms.add(Term::Num(n)))
}

/// The rules for `pi_i^d M`, by the form of M.
fn project(terms: &mut Terms, bit: Bit, d: u32, m: TermId, ty: Type) -> Option<(&'static str, TermId)> {
    let pi = |terms: &mut Terms, depth: u32, n: TermId| terms.op(Op::Pi(bit), depth, n);
    let result = match terms.get(m) {
        // pi_i^d (\x.M) → \x. pi_i^d M
        Term::Lambda(from, body) => {
            let inside = pi(terms, d, body);
            ("pi-lambda", terms.add_like(Term::Lambda(from, inside), m))
        }
        // pi_i^d (M N) → (pi_i^d M) N
        Term::Apply(function, argument) => {
            let function = pi(terms, d, function);
            ("pi-app", terms.add(Term::Apply(function, argument)))
        }
        // pi_i^(d+1) (D M) → D (pi_i^d M)
        Term::Derive(function) if d > 0 => {
            let inside = pi(terms, d - 1, function);
            ("pi-D", terms.add(Term::Derive(inside)))
        }
        // pi_i^d (succ^e M) → succ^(e-1) (pi_i^d M)  d < e, and likewise for pred
        Term::Op(op @ (Op::Succ | Op::Pred), e, n) if d < e => {
            let inside = pi(terms, d, n);
            ("pi-succ", terms.op(op, e - 1, inside))
        }
        // pi_i^d (if^e(M,P,Q)) → if^(e-1)(pi_i^d M,P,Q)  d < e
        Term::If(e, condition, p, q) if d < e => {
            let condition = pi(terms, d, condition);
            ("pi-if", terms.add(Term::If(e - 1, condition, p, q)))
        }
        // pi_i^d (if^e(M,P,Q)) → if^e(M, pi_i^(d-e) P, pi_i^(d-e) Q)  e ≤ d
        Term::If(e, condition, p, q) => {
            let (p, q) = (pi(terms, d - e, p), pi(terms, d - e, q));
            ("pi-if", terms.add(Term::If(e, condition, p, q)))
        }
        Term::Let(e, bound, body) if d < e => {
            let bound = pi(terms, d, bound);
            ("pi-let", terms.add_like(Term::Let(e - 1, bound, body), m))
        }
        Term::Let(e, bound, body) => {
            let body = pi(terms, d - e, body);
            ("pi-let", terms.add_like(Term::Let(e, bound, body), m))
        }
        Term::Op(Op::Theta, e, n) => ("pi-theta", theta(terms, bit, d, e, n)),
        Term::Op(Op::Inj(j), e, n) => {
            let result = match d.cmp(&e) {
                // pi_i^d (inj_i^d M) → M       pi_i^d (inj_j^d M) → 0
                std::cmp::Ordering::Equal if bit == j => n,
                std::cmp::Ordering::Equal => terms.add(Term::Zero(ty)),
                // pi_i^d (inj_j^e M) → inj_j^(e-1) (pi_i^d M)  d < e
                std::cmp::Ordering::Less => {
                    let inside = pi(terms, d, n);
                    terms.op(Op::Inj(j), e - 1, inside)
                }
                // pi_i^d (inj_j^e M) → inj_j^e (pi_i^(d-1) M)  e < d
                std::cmp::Ordering::Greater => {
                    let inside = pi(terms, d - 1, n);
                    terms.op(Op::Inj(j), e, inside)
                }
            };
            ("pi-inj", result)
        }
        // pi_i^d (pi_j^e M) → pi_j^(e-1) (pi_i^d M)  d < e
        Term::Op(Op::Pi(j), e, n) if d < e => {
            let inside = pi(terms, d, n);
            ("pi-pi", terms.op(Op::Pi(j), e - 1, inside))
        }
        // The flip rule, if the projections cover all levels of a flip; otherwise the two projections are
        // exchanged.
        Term::Op(Op::Pi(j), e, n) => {
            if let Some(result) = flip(terms, bit, d, m) {
                return Some(("pi-flip", result));
            }
            // pi_i^d (pi_j^e M) → pi_j^e (pi_i^(d+1) M)  e ≤ d
            let inside = pi(terms, d + 1, n);
            ("pi-pi", terms.op(Op::Pi(j), e, inside))
        }
        // pi_i^d (flip_l^e M) → flip_l^(e-1) (pi_i^d M)  d < e
        Term::Op(op @ Op::Flip(_), e, n) if d < e => {
            let inside = pi(terms, d, n);
            ("pi-flip", terms.op(op, e - 1, inside))
        }
        // pi_i^d (flip_l^e M) → flip_l^e (pi_i^d M)  e+l+2 ≤ d
        Term::Op(op @ Op::Flip(levels), e, n) if e + levels + 2 <= d => {
            let inside = pi(terms, d, n);
            ("pi-flip", terms.op(op, e, inside))
        }
        _ => return None,
    };
    Some(result)
}

/// The rules for `pi_i^d (theta^e M)`.
fn theta(terms: &mut Terms, bit: Bit, d: u32, e: u32, n: TermId) -> TermId {
    let twice = |terms: &mut Terms, outer: Bit, inner: Bit| {
        let inside = terms.op(Op::Pi(inner), d, n);
        terms.op(Op::Pi(outer), d, inside)
    };
    match d.cmp(&e) {
        // pi_0^d (theta^d M) → pi_0^d (pi_0^d M)
        std::cmp::Ordering::Equal if bit == Bit::Zero => twice(terms, Bit::Zero, Bit::Zero),
        // pi_1^d (theta^d M) → pi_1^d (pi_0^d M) + pi_0^d (pi_1^d M)
        std::cmp::Ordering::Equal => {
            let (first, second) = (twice(terms, Bit::One, Bit::Zero), twice(terms, Bit::Zero, Bit::One));
            terms.add(Term::Sum(first, second))
        }
        // pi_i^d (theta^e M) → theta^(e-1) (pi_i^d M)  d < e
        std::cmp::Ordering::Less => {
            let inside = terms.op(Op::Pi(bit), d, n);
            terms.op(Op::Theta, e - 1, inside)
        }
        // pi_i^d (theta^e M) → theta^e (pi_i^(d+1) M)  e < d
        std::cmp::Ordering::Greater => {
            let inside = terms.op(Op::Pi(bit), d + 1, n);
            terms.op(Op::Theta, e, inside)
        }
    }
}

/// `pi_{i_(l+1)}^d(… pi_{i_0}^d (flip_l^d M)) → pi_{i_0}^d (pi_{i_(l+1)}^d (… pi_{i_1}^d M))`, with l+2
/// projections.
fn flip(terms: &mut Terms, outermost: Bit, d: u32, m: TermId) -> Option<TermId> {
    let mut bits = vec![outermost];
    let mut inside = m;
    while let Term::Op(Op::Pi(bit), depth, n) = terms.get(inside)
        && depth == d
    {
        bits.push(bit);
        inside = n;
    }
    let Term::Op(Op::Flip(levels), depth, n) = terms.get(inside) else { return None };
    if depth != d || bits.len() != levels as usize + 2 {
        return None;
    }
    // `bits` is i_(l+1) … i_0; the innermost becomes the outermost.
    bits.rotate_right(1);
    Some(bits.into_iter().rev().fold(n, |inside, bit| terms.op(Op::Pi(bit), d, inside)))
}
