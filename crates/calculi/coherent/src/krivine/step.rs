//! The rules of both machines (sections 6 and 7, Figures 9, 11 and 13), one arm each, with the names that
//! traces show.

use crate::differential::derived_abstraction;
use crate::krivine::state::{Frame, State};
use crate::substitute::instantiate;
use crate::syntax::{Bit, Op, ProbId, Term, Terms};
use crate::word::Letter;

/// How to handle `theta` with the letter 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// Continue with both summands: the nd machine.
    Both,
    /// Put a cell into both places: the det machine.
    Cells,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    State(State),
    /// A sum of two states.
    Sum(State, State),
    /// 0: the leaf is empty.
    Zero,
    /// This state waits for a coin.
    Coin(ProbId, State),
    /// The state is `(⟨⟩, n, ())`, which is normal.
    Value(u64),
    /// The successor of the largest number that fits.
    Overflow,
}

/// A step, and the name of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub rule: &'static str,
    pub next: Next,
}

/// Every rule, in the order of the specification.
pub const RULES: [&str; 19] = [
    "app", "beta", "D", "dbeta", "fix", "succ", "pred", "num-succ", "num-pred", "if", "num-if", "let",
    "num-let", "pi", "inj", "theta", "flip", "tick", "coin",
];

/// One step of a well-typed state. The rule is chosen by the head of the term.
pub fn step(terms: &mut Terms, mut state: State, sums: Sums) -> Step {
    let rule = match terms.get(state.term) {
        // (δ, M N, s) → (δ, M, arg(N)·s)
        Term::Apply(m, n) => {
            state.stack.push(Frame::Arg(n));
            state.term = m;
            "app"
        }
        Term::Lambda(ty, body) => match state.stack.pop() {
            // (δ, \x.M, arg(N)·s) → (δ, M[N/x], s)
            Some(Frame::Arg(n)) => {
                state.term = instantiate(terms, body, n);
                "beta"
            }
            // (δ, \x:A.M, D(i)·s) → (δ i, \x:D A. ∂(x,M), s)
            Some(Frame::Derive(letter)) => {
                state.word.insert(0, letter);
                state.term = derived_abstraction(terms, state.term, ty, body);
                "dbeta"
            }
            frame => unreachable!("a function meets an argument or a D, not {frame:?}"),
        },
        // (δ i, D M, s) → (δ, M, D(i)·s)
        Term::Derive(m) => {
            let letter = state.word.remove(0);
            state.stack.push(Frame::Derive(letter));
            state.term = m;
            "D"
        }
        // (δ, fix M, s) → (δ, M, arg(fix M)·s)
        Term::Fix(m) => {
            state.stack.push(Frame::Arg(state.term));
            state.term = m;
            "fix"
        }
        // (δ, succ^d M, s) → (δ, M, succ·s)
        Term::Op(Op::Succ, _, m) => {
            state.stack.push(Frame::Succ);
            state.term = m;
            "succ"
        }
        Term::Op(Op::Pred, _, m) => {
            state.stack.push(Frame::Pred);
            state.term = m;
            "pred"
        }
        // (ε δ, if^d(M,P,Q), s) → (δ, M, if(ε,P,Q)·s)
        Term::If(depth, m, p, q) => {
            let outer = state.word.take_outer(depth);
            state.stack.push(Frame::If(outer, p, q));
            state.term = m;
            "if"
        }
        // (ε δ, let^d(x,N,P), s) → (δ, N, let(ε,x,P)·s)
        Term::Let(depth, n, p) => {
            let outer = state.word.take_outer(depth);
            state.stack.push(Frame::Let(outer, p));
            state.term = n;
            "let"
        }
        Term::Num(n) => return number(terms, state, n),
        // (ε δ, pi_i^d M, s) → (ε i δ, M, s)
        Term::Op(Op::Pi(bit), depth, m) => {
            state.word.insert(depth, bit.into());
            state.term = m;
            "pi"
        }
        Term::Op(Op::Inj(bit), depth, m) => {
            state.term = m;
            return inject(state, bit, depth);
        }
        Term::Op(Op::Theta, depth, m) => {
            state.term = m;
            return theta(state, depth, sums);
        }
        // (ε α δ, flip_l^d M, s) → (ε α' δ, M, s)
        Term::Op(Op::Flip(levels), depth, m) => {
            state.word.rotate(levels, depth);
            state.term = m;
            "flip"
        }
        // (δ, tick M, s) → (δ, M, s)
        Term::Tick(m) => {
            state.ticks += 1;
            state.term = m;
            "tick"
        }
        Term::Coin(probability) => return Step { rule: "coin", next: Next::Coin(probability, state) },
        Term::Var(_) | Term::Zero(_) | Term::Sum(..) => {
            unreachable!("the term of a state is closed and free of sums")
        }
    };
    Step { rule, next: Next::State(state) }
}

/// The rules for `(⟨⟩, n, s)`.
fn number(terms: &mut Terms, mut state: State, n: u64) -> Step {
    debug_assert!(state.word.is_empty(), "a number has no levels");
    let rule = match state.stack.pop() {
        None => return Step { rule: "value", next: Next::Value(n) },
        // (⟨⟩, n, succ·s) → (⟨⟩, n+1, s)
        Some(Frame::Succ) => {
            let Some(next) = n.checked_add(1) else { return Step { rule: "num-succ", next: Next::Overflow } };
            state.term = terms.add(Term::Num(next));
            "num-succ"
        }
        // (⟨⟩, n, pred·s) → (⟨⟩, max(n-1,0), s)
        Some(Frame::Pred) => {
            state.term = terms.add(Term::Num(n.saturating_sub(1)));
            "num-pred"
        }
        // (⟨⟩, n, if(ε,P,Q)·s) → (ε, P, s) if n = 0, (ε, Q, s) otherwise
        Some(Frame::If(word, p, q)) => {
            state.word = word;
            state.term = if n == 0 { p } else { q };
            "num-if"
        }
        // (⟨⟩, n, let(ε,x,P)·s) → (ε, P[n/x], s)
        Some(Frame::Let(word, p)) => {
            state.word = word;
            state.term = instantiate(terms, p, state.term);
            "num-let"
        }
        Some(frame @ (Frame::Arg(_) | Frame::Derive(_))) => {
            unreachable!("a number is not a function, but the top frame is {frame:?}")
        }
    };
    Step { rule, next: Next::State(state) }
}

fn inject(mut state: State, bit: Bit, depth: u32) -> Step {
    let letter = state.word.remove(depth);
    let is_zero = match (letter, bit) {
        // (ε i δ, inj_i^d M, s) → (ε δ, M, s)          (ε i δ, inj_(1-i)^d M, s) → 0
        (Letter::Zero, _) => bit == Bit::One,
        (Letter::One, _) => bit == Bit::Zero,
        // (η {n} ζ, k, inj_0^d M, σ) → (η ζ, k, M, σ) if {n} still occurs, otherwise 0
        (Letter::Cell(cell), Bit::Zero) => !state.has_cell(cell),
        // (η {n} ζ, k, inj_1^d M, σ) → (η ζ, k, M, σ)[0/{n}]
        (Letter::Cell(cell), Bit::One) => {
            state.resolve(cell);
            false
        }
    };
    Step { rule: "inj", next: if is_zero { Next::Zero } else { Next::State(state) } }
}

fn theta(mut state: State, depth: u32, sums: Sums) -> Step {
    let letter = state.word.remove(depth);
    let pair = |mut state: State, outer: Letter, inner: Letter| {
        // The result is `ε outer inner δ`: `inner` is inserted before δ, after `outer`.
        state.word.insert(depth, outer);
        state.word.insert(depth, inner);
        state
    };
    let next = match (letter, sums) {
        // (ε 0 δ, theta^d M, s) → (ε 0 0 δ, M, s)      (η {n} ζ, k, theta^d M, σ) → (η {n}{n} ζ, k, M, σ)
        (Letter::Zero | Letter::Cell(_), _) => Next::State(pair(state, letter, letter)),
        // (ε 1 δ, theta^d M, s) → (ε 1 0 δ, M, s) + (ε 0 1 δ, M, s)
        (Letter::One, Sums::Both) => {
            let first = pair(state.clone(), Letter::One, Letter::Zero);
            Next::Sum(first, pair(state, Letter::Zero, Letter::One))
        }
        // (η 1 ζ, k, theta^d M, σ) → (η {k}{k} ζ, k+1, M, σ)
        (Letter::One, Sums::Cells) => {
            let cell = Letter::Cell(state.fresh);
            state.fresh += 1;
            Next::State(pair(state, cell, cell))
        }
    };
    Step { rule: "theta", next }
}
