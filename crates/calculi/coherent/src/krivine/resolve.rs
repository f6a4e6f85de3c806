//! The nd states that a det state represents, `w(γ)` (section 7, Figure 14).
//!
//! In each cell one occurrence is 1 and the others are 0. Each choice of these occurrences gives a state.

use std::collections::BTreeSet;

use super::state::{Frame, State};
use crate::word::Letter;

/// All nd states that a state with cells represents.
pub fn resolve(state: &State) -> Vec<State> {
    let mut done = Vec::new();
    let mut work = vec![State { fresh: 0, ..state.clone() }];
    while let Some(state) = work.pop() {
        let Some(cell) = cells(&state).into_iter().next() else {
            done.push(state);
            continue;
        };
        let mut all = state.clone();
        let n_occurrences = letters(&mut all).filter(|letter| **letter == Letter::Cell(cell)).count();
        for chosen in 0..n_occurrences {
            let mut resolved = state.clone();
            let occurrences = letters(&mut resolved).filter(|letter| **letter == Letter::Cell(cell));
            for (index, letter) in occurrences.enumerate() {
                *letter = if index == chosen { Letter::One } else { Letter::Zero };
            }
            work.push(resolved);
        }
    }
    done
}

pub fn cells(state: &State) -> BTreeSet<u32> {
    let mut copy = state.clone();
    letters(&mut copy)
        .filter_map(|letter| match letter {
            Letter::Cell(name) => Some(*name),
            _ => None,
        })
        .collect()
}

/// Every letter of a state, in the word and in the stack; arguments have none.
fn letters(state: &mut State) -> impl Iterator<Item = &mut Letter> {
    state.word.0.iter_mut().chain(state.stack.iter_mut().flat_map(letters_of))
}

fn letters_of(frame: &mut Frame) -> std::slice::IterMut<'_, Letter> {
    match frame {
        Frame::If(word, ..) | Frame::Let(word, _) => word.0.iter_mut(),
        Frame::Derive(letter) => std::slice::from_mut(letter).iter_mut(),
        Frame::Arg(_) | Frame::Succ | Frame::Pred => [].iter_mut(),
    }
}
