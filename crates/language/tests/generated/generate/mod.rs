//! Programs that are well typed and well clocked by construction, to test laws on (section 12).
//!
//! A list of numbers is read as a list of decisions: the number of inputs, the form of an expression, the
//! stream of a leaf, and so on. The decision 0 is always the simplest one, and after the end of the list all
//! decisions are 0. So every list of numbers is a program, and a shorter list of smaller numbers is a simpler
//! program: shrinking lists shrinks programs, and a counterexample is a text that can be pasted into a file.
//!
//! The streams of a node are declared first, each with a type and a clock; then each gets its equation. An
//! expression may mention all streams of its clock that already have an equation. It mentions later streams,
//! or the one that it defines, only through a path into the past, or into the future by a branch that can
//! break it. So few programs wait for themselves, and recurrences in both directions are common.
//!
//! * [`choices`]: lists of numbers as decisions.
//! * [`text`](text): texts with precedence, for parentheses; [`scope`](scope): streams and clocks.
//! * [`expressions`](expressions): one production per form; [`operations`](operations): pointwise operations;
//!   [`smooth`](smooth): operations of programs to differentiate.
//! * [`functions`](functions): functions that nodes apply.
//! * [`equations`](equations): typical recurrences; [`nodes`](nodes): nodes; [`instances`](instances): calls
//!   of nodes; [`program`](program): whole programs.

mod equations;
mod expressions;
mod functions;
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
    /// Whether the node already has its random initialiser.
    has_random: bool,
    /// Whether the node computes numbers from vectors.
    has_parts: bool,
}

impl<'a> Generator<'a> {
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
