//! Programs that are well typed by construction, as samples of laws (section 11).
//!
//! A list of numbers is read as a list of choices: the form of a term, the variable of a leaf, and so on. The
//! choice 0 is always the simplest one, and after the end of the list all choices are 0. So every list of
//! numbers is a program, and a shorter list of smaller numbers is a simpler program: shrinking lists shrinks
//! programs, and a counterexample is a text that can be pasted into a file.
//!
//! Terms are at most [`DEPTH`] deep, mostly real, and use all constructs; at most [`NESTING`] derivatives are
//! nested, including those in called functions. Recursion has the form `if x < 0.3 then … else … f(x - 1) …`
//! with one such call, so it ends for small arguments, and the depth of a recursion bounds the number of its
//! calls.
//!
//! * [`choices`]: lists of numbers as decisions.
//! * [`types`](types), [`scope`](scope), [`text`](text): types, names in scope, and texts with their
//!   precedence.
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

/// The maximal depth of a term.
pub const DEPTH: u32 = 5;

/// The maximal nesting of derivatives.
pub const NESTING: u32 = 3;

/// Generates programs from a sequence of choices.
pub struct Generator<'a> {
    pub choices: Choices<'a>,
    scope: Scope,
    /// The number of derivatives around the current place, in the current function.
    nesting: u32,
    /// The largest nesting that the current function has reached, called functions included.
    height: u32,
    pub depth: u32,
    /// Whether conditions may test equality, as `use clarke` allows.
    pub clarke: bool,
}

impl<'a> Generator<'a> {
    /// A generator with nothing in scope.
    pub fn new(choices: &'a [u16]) -> Self {
        let choices = Choices::new(choices);
        Generator { choices, scope: Scope::default(), nesting: 0, height: 0, depth: DEPTH, clarke: false }
    }

    pub fn program(&mut self) -> (String, Ty) {
        let ty = self.any_type();
        (self.term(&ty, self.depth).loose(), ty)
    }

    /// A term with these variables free, inside `nesting` derivatives.
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

    pub fn numeral(&mut self) -> &'static str {
        // 1 is the simplest: zeros everywhere would make most programs undefined.
        const NUMERALS: [&str; 9] = ["1", "0", "2", "-1", "3", "0.5", "-2", "0.25", "1.5"];
        self.choices.among(&NUMERALS)
    }
}
