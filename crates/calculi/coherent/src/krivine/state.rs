//! States and stacks.

use std::fmt;

use crate::syntax::{Bit, Term, TermId, Terms};
use crate::word::{Letter, Word};

/// One layer of the context of the term of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Frame {
    /// Applies the function to this argument.
    Arg(TermId),
    /// Takes the successor of the number.
    Succ,
    /// Takes the predecessor of the number.
    Pred,
    /// Selects a branch by the number; the word is the leaf of the branch to compute.
    If(Word, TermId, TermId),
    /// Binds the number to the variable of the term; the word is the leaf of the term to compute.
    Let(Word, TermId),
    /// Differentiates the function, and selects this component.
    Derive(Letter),
}

/// A state `(ζ, k, M, σ)`; the top of the stack is the last frame. Without cells it is a state of the nd
/// machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The leaf to compute.
    pub word: Word,
    /// Greater than every cell in the state.
    pub fresh: u32,
    pub term: TermId,
    /// The context of the term.
    pub stack: Vec<Frame>,
    pub ticks: u64,
}

impl State {
    /// The leaf of a closed term at the end of a path.
    pub fn start(term: TermId, path: &[Bit]) -> State {
        State { word: Word::along(path), fresh: 0, term, stack: Vec::new(), ticks: 0 }
    }

    /// Whether the state is `(⟨⟩, n, ())`, from which there is no step.
    pub fn is_value(&self, terms: &Terms) -> bool {
        self.stack.is_empty() && matches!(terms.get(self.term), Term::Num(_))
    }

    /// Every term of the state.
    pub fn terms_mut(&mut self) -> impl Iterator<Item = &mut TermId> {
        let frames = self.stack.iter_mut().flat_map(|frame| match frame {
            Frame::Arg(m) | Frame::Let(_, m) => [Some(m), None],
            Frame::If(_, p, q) => [Some(p), Some(q)],
            Frame::Succ | Frame::Pred | Frame::Derive(_) => [None, None],
        });
        std::iter::once(&mut self.term).chain(frames.flatten())
    }

    /// The approximate size of the state in bytes; the words of frames are short.
    pub fn bytes(&self) -> u64 {
        (size_of::<State>() + self.stack.len() * size_of::<Frame>() + self.word.len() * size_of::<Letter>())
            as u64
    }

    /// Whether a cell occurs in the word or in the stack.
    pub fn has_cell(&self, cell: u32) -> bool {
        let letter = Letter::Cell(cell);
        self.word.0.contains(&letter)
            || self.stack.iter().any(|frame| match frame {
                Frame::If(word, ..) | Frame::Let(word, _) => word.0.contains(&letter),
                Frame::Derive(other) => *other == letter,
                Frame::Arg(_) | Frame::Succ | Frame::Pred => false,
            })
    }

    /// `[0/{n}]`: every occurrence of the cell, in the word and in the stack, becomes 0.
    pub fn resolve(&mut self, cell: u32) {
        self.word.resolve(cell);
        for frame in &mut self.stack {
            match frame {
                Frame::If(word, ..) | Frame::Let(word, _) => word.resolve(cell),
                Frame::Derive(letter) if *letter == Letter::Cell(cell) => *letter = Letter::Zero,
                Frame::Derive(_) | Frame::Arg(_) | Frame::Succ | Frame::Pred => {}
            }
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frame::Arg(_) => f.write_str("arg"),
            Frame::Succ => f.write_str("succ"),
            Frame::Pred => f.write_str("pred"),
            Frame::If(word, ..) => write!(f, "if({})", dash(word)),
            Frame::Let(word, _) => write!(f, "let({})", dash(word)),
            Frame::Derive(letter) => write!(f, "D({letter})"),
        }
    }
}

/// The text of a state in traces (section 11), without its term.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w={} k={} s=", dash(&self.word), self.fresh)?;
        if self.stack.is_empty() {
            return f.write_str("()");
        }
        for (index, frame) in self.stack.iter().rev().enumerate() {
            let point = if index == 0 { "" } else { "." };
            write!(f, "{point}{frame}")?;
        }
        Ok(())
    }
}

/// A word, or `-` if it is empty.
fn dash(word: &Word) -> String {
    if word.is_empty() { "-".to_string() } else { word.to_string() }
}
