//! Programs that are well typed and well clocked by construction, for laws to be tried on (section 12).
//!
//! A list of numbers is read as a list of decisions: how many inputs there are, which form an expression has, which stream a
//! leaf is, and so on. The decision 0 is always the simplest one, and when the list is used up the rest of the decisions are 0.
//! So every list of numbers is a program, and a shorter list of smaller numbers is a simpler program: whatever shrinks lists
//! shrinks programs, and a counterexample is a text that can be pasted into a file.
//!
//! The streams of a node are declared first, each with a type and a clock; then each gets its equation. An expression may
//! mention all streams of its clock that have their equation already. It mentions those that come later, or the one that it
//! defines, only where the way to them leads into the past, or into the future by a branch that can break it: so few
//! programs wait for themselves, and recurrences of both directions are common.
//!
//! * [`choices`]: lists of numbers as decisions.
//! * [`text`](text), [`scope`](scope): texts that know when they need parentheses; streams and clocks.
//! * [`expressions`](expressions): one production per form; [`operations`](operations) has the pointwise ones,
//!   [`smooth`](smooth) those of programs that are differentiated.
//! * [`equations`](equations): recurrences as people write them; [`nodes`](nodes), [`instances`](instances) and
//!   [`program`](program): what equations make up.

mod equations;
mod expressions;
mod instances;
mod nodes;
mod operations;
mod program;
mod scope;
mod smooth;
mod text;

pub use eddy_tests::choices::Choices;
pub use program::{NodeText, ProgramText};

use instances::Interface;
use program::{FEATURES, Feature};
use scope::Scope;

/// Reads decisions as programs.
pub struct Generator<'a> {
    pub choices: Choices<'a>,
    scope: Scope,
    /// The nodes that can be instantiated.
    callees: Vec<Interface>,
    features: Vec<Feature>,
    /// Whether the node has its random initialiser.
    has_random: bool,
    /// Whether the node makes numbers of vectors.
    has_parts: bool,
}

impl<'a> Generator<'a> {
    /// A generator that has made nothing yet.
    pub fn new(choices: &'a [u16]) -> Self {
        Generator {
            choices: Choices::new(choices),
            scope: Scope::default(),
            callees: Vec::new(),
            features: FEATURES.to_vec(),
            has_random: false,
            has_parts: false,
        }
    }
}
