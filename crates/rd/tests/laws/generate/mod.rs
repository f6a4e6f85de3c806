//! Programs that are well typed by construction, for laws to be tried on (section 11).
//!
//! A list of numbers is read as a list of decisions: which form a term has, which variable a leaf is, and so
//! on. The decision 0 is always the simplest one, and when the list is used up the rest of the decisions are 0. So
//! every list of numbers is a program, and a shorter list of smaller numbers is a simpler program: whatever shrinks
//! lists shrinks programs, and a counterexample is a text that can be pasted into a file.
//!
//! Terms are at most [`DEPTH`] deep, reals mostly, and use all constructs; at most [`NESTING`] derivatives are
//! inside one another, counting those in functions that are called. Recursion is of the form
//! `if x < 0.3 then … else … f(x - 1) …` with one such call, so that it ends for arguments that are not large, and so
//! that the depth of a recursion bounds the number of its calls.
//!
//! * [`choices`]: lists of numbers as decisions.
//! * [`types`](types), [`scope`](scope), [`text`](text): types, names in scope, and texts that know when they need
//!   parentheses.
//! * [`terms`](terms): one production per form; [`arithmetic`](arithmetic), [`functions`](functions) and
//!   [`derivatives`](derivatives) have files of their own.

mod arithmetic;
mod derivatives;
mod functions;
mod scope;
mod terms;
mod text;
mod types;

pub use arithmetic::{BINARY, EXPONENTS, UNARY};
pub use eddy_tests::choices::Choices;
pub use types::Ty;

use scope::Scope;

/// How deep a term is at most.
pub const DEPTH: u32 = 5;

/// How many derivatives are at most inside one another.
pub const NESTING: u32 = 3;

/// Reads decisions as programs.
pub struct Generator<'a> {
    pub choices: Choices<'a>,
    scope: Scope,
    /// How many derivatives are around the current place, in the current function.
    nesting: u32,
    /// The largest nesting that the current function has reached, called functions included.
    height: u32,
    /// How deep terms are at most.
    pub depth: u32,
    /// Whether conditions may ask for equality, as `use clarke` allows.
    pub clarke: bool,
}

impl<'a> Generator<'a> {
    /// A generator with nothing in scope.
    pub fn new(choices: &'a [u16]) -> Self {
        let choices = Choices::new(choices);
        Generator { choices, scope: Scope::default(), nesting: 0, height: 0, depth: DEPTH, clarke: false }
    }

    /// A whole program and its type.
    pub fn program(&mut self) -> (String, Ty) {
        let ty = self.any_type();
        (self.term(&ty, self.depth).loose(), ty)
    }

    /// A term with these variables free, inside of `nesting` derivatives.
    pub fn open_term(&mut self, free: &[(&'static str, &Ty)], nesting: u32, ty: &Ty) -> String {
        let mark = self.scope.enter_function();
        for (name, ty) in free {
            self.scope.bind(name, (*ty).clone());
        }
        self.nesting = nesting;
        let term = self.term(ty, self.depth - 1).loose();
        self.nesting = 0;
        self.scope.leave_function(mark);
        term
    }

    /// A closed value, written out; in parentheses where it needs them.
    pub fn value(&mut self, ty: &Ty) -> String {
        self.literal(ty).atom()
    }

    /// One of the numerals that the programs are made of.
    pub fn numeral(&mut self) -> &'static str {
        // 1 is the simplest: zeros everywhere would make most programs undefined.
        const NUMERALS: [&str; 9] = ["1", "0", "2", "-1", "3", "0.5", "-2", "0.25", "1.5"];
        self.choices.among(&NUMERALS)
    }
}
