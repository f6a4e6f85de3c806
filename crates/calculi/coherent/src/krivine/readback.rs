//! The term of a state of the nd machine, `⟨s⟩[pi_δ(M)]` (section 13, Figure 10).

use super::state::{Frame, State};
use crate::syntax::{Bit, Op, Term, TermId, Terms};
use crate::word::{Letter, Word};

/// The term of a state without cells.
pub fn read_back(terms: &mut Terms, state: &State) -> TermId {
    let mut term = project(terms, &state.word, state.term);
    for frame in state.stack.iter().rev() {
        term = match frame {
            // ⟨arg(N)·s⟩ = ⟨s⟩[[] N]
            Frame::Arg(n) => terms.add(Term::Apply(term, *n)),
            // ⟨succ·s⟩ = ⟨s⟩[succ []], and likewise for pred
            Frame::Succ => terms.op(Op::Succ, 0, term),
            Frame::Pred => terms.op(Op::Pred, 0, term),
            // ⟨if(ε,P,Q)·s⟩ = ⟨s⟩[pi_ε(if^0([],P,Q))], and likewise for let
            Frame::If(word, p, q) => {
                let conditional = terms.add(Term::If(0, term, *p, *q));
                project(terms, word, conditional)
            }
            Frame::Let(word, p) => {
                let binding = terms.add(Term::Let(0, term, *p));
                project(terms, word, binding)
            }
            // ⟨D(i)·s⟩ = ⟨s⟩[pi_i(D [])]
            Frame::Derive(letter) => {
                let derived = terms.add(Term::Derive(term));
                project(terms, &Word(vec![*letter]), derived)
            }
        };
    }
    term
}

/// `pi_δ(M)`: the last letter is that of the innermost projection.
fn project(terms: &mut Terms, word: &Word, m: TermId) -> TermId {
    word.0.iter().rev().fold(m, |inside, letter| {
        let bit = match letter {
            Letter::Zero => Bit::Zero,
            Letter::One => Bit::One,
            Letter::Cell(name) => unreachable!("a state of the nd machine has no cell {name}"),
        };
        terms.op(Op::Pi(bit), 0, inside)
    })
}
