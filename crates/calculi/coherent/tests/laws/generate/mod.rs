//! Well-typed closed programs from random numbers (section 13).
//!
//! * [`terms`]: terms of any type, biased towards derivatives.
//! * [`cells`]: derivatives of functions that call their argument, whose runs make cells.

pub mod cells;
pub mod terms;

use eddy_coherent::print;
use eddy_coherent::syntax::{Program, Term, TermId, Terms};
use eddy_coherent::types::Type;
use eddy_tests::choices::Choices;

/// A program that is shown as text.
#[derive(Clone)]
pub struct Sample {
    pub program: Program,
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let types = &self.program.terms.types;
        write!(
            f,
            "{}\n  : {}",
            print::show(&self.program.terms, self.program.main),
            types.show(self.program.ty)
        )
    }
}

pub struct Generator<'a> {
    pub choices: Choices<'a>,
    pub terms: Terms,
    /// The types of the variables in scope, the innermost last.
    pub scope: Vec<Type>,
    /// The remaining number of forms.
    pub size: usize,
    /// The extra forms.
    pub with: With,
}

/// Extra forms of a generated term.
#[expect(clippy::struct_excessive_bools, reason = "each is a feature that programs may have")]
#[derive(Clone, Copy, Default)]
pub struct With {
    pub fix: bool,
    pub coins: bool,
    pub ticks: bool,
    /// Only numbers and functions of them: no depths and no derivatives.
    pub only_numerals: bool,
}

impl<'a> Generator<'a> {
    pub fn new(choices: &'a [u16]) -> Self {
        Generator {
            choices: Choices::new(choices),
            terms: Terms::default(),
            scope: Vec::new(),
            size: 22,
            with: With { fix: true, ..With::default() },
        }
    }

    pub fn add(&mut self, term: Term) -> TermId {
        self.terms.add(term)
    }

    pub fn finish(self, main: TermId, ty: Type) -> Sample {
        let program =
            Program { terms: self.terms, definitions: Vec::new(), main, ty, fuel: None, coins: None };
        Sample { program }
    }
}

/// Half of the programs of one kind, half of the other.
pub fn program(generator: Generator<'_>) -> Sample {
    let mut generator = generator;
    if generator.choices.below(2) == 0 { cells::program(generator) } else { terms::program(generator) }
}
