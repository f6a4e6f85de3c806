//! An oracle for rewrites of pure functions: a rewrite is right if and only if it keeps the function's tables
//! (section 12).
//!
//! The values are those of compilers: integers, truth values, reals, tensors and tuples; a function value is
//! a finite table over them. A function is anything that gives an [`Outcome`] for a [`Datum`]. [`table_of`]
//! samples its table, [`agree`] compares the tables of two functions within a [`Tolerance`], and for a
//! difference returns a [`Witness`]: the one entry that differs, shrunk.
//!
//! ```
//! use eddy_tables::oracle::{Datum, Outcome, Sort, Tolerance, agree, inputs};
//! let real = |x: &Datum| match x { Datum::Real(x) => *x, _ => unreachable!("the inputs are reals") };
//! let before = |x: &Datum, _: u64| Outcome::Value(Datum::Real(real(x) - real(x)));
//! let after = |_: &Datum, _: u64| Outcome::Value(Datum::Real(0.0));
//! let inputs = inputs(&Sort::Real, 1);
//! let verdict = agree("x - x to 0", &before, &after, &inputs, Tolerance::Exact);
//! let witness = verdict.expect_err("the rewrite is wrong");
//! assert_eq!(witness.input, Datum::Real(f64::INFINITY));
//! ```
//!
//! * [`datum`]: values and finite tables. [`sample`]: inputs, the hard ones first. [`compare`]: agreement of
//!   outputs. [`shrink`]: smaller inputs.
//!
//! *Undefined* is an empty meaning: a function that traps on one side only has changed. A function that runs
//! out of fuel on either side gives no information about that input; if that happens too often, nothing was
//! tested, and the comparison fails.

pub mod compare;
pub mod datum;
pub mod sample;
pub mod shrink;

use std::fmt;

pub use compare::Tolerance;
pub use datum::{Datum, FiniteTable};
pub use sample::{Sort, inputs};

/// The outcome of a function for an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Value(Datum),
    /// No value, and the reason.
    Undefined(Reason),
}

/// Why a function has no value for an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// An operation without a value.
    Trap,
    /// Shapes that do not fit.
    Shape,
    /// A lookup outside of the table of an argument function.
    Outside,
    /// Out of fuel: the value is unknown.
    Fuel,
}

/// A pure function, with a budget.
pub type Function<'a> = dyn Fn(&Datum, u64) -> Outcome + 'a;

/// The fuel of a function for one input.
pub const FUEL: u64 = 1_000_000;

/// The maximal share of discarded samples; beyond it a comparison is vacuous.
const MAX_DISCARDED: f64 = 0.2;

pub fn table_of(f: &Function<'_>, inputs: &[Datum], fuel: u64) -> Vec<(Datum, Outcome)> {
    inputs.iter().map(|input| (input.clone(), f(input, fuel))).collect()
}

/// An input on which two functions differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The name of the rewrite.
    pub pass: String,
    /// The input, shrunk.
    pub input: Datum,
    /// The outcome before the rewrite.
    pub before: Outcome,
    /// The outcome after the rewrite.
    pub after: Outcome,
    /// The numbers of discarded samples and of all samples.
    pub discarded: (usize, usize),
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Witness { pass, input, before, after, discarded: (discarded, of) } = self;
        if *before == Outcome::Undefined(Reason::Fuel) {
            return write!(f, "{pass}: {discarded} of {of} samples ran out of fuel, so nothing was tested");
        }
        write!(f, "{pass}: {input} -> {before} becomes {input} -> {after}")
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Value(value) => value.fmt(f),
            Outcome::Undefined(reason) => write!(f, "undefined ({reason:?})"),
        }
    }
}

/// Whether two functions have the same table at some inputs; if not, where they differ.
pub fn agree(
    pass: &str,
    before: &Function<'_>,
    after: &Function<'_>,
    inputs: &[Datum],
    tolerance: Tolerance,
) -> Result<(), Box<Witness>> {
    let differs = |input: &Datum| {
        let (a, b) = (before(input, FUEL), after(input, FUEL));
        (compare::outcomes(&a, &b, tolerance) == Some(false)).then_some((a, b))
    };
    let mut discarded = 0;
    for input in inputs {
        let (a, b) = (before(input, FUEL), after(input, FUEL));
        match compare::outcomes(&a, &b, tolerance) {
            Some(true) => {}
            None => discarded += 1,
            Some(false) => {
                let input = shrink::shrink(input, &|input| differs(input).is_some());
                let (before, after) = differs(&input).unwrap_or((a, b));
                let pass = pass.to_string();
                let discarded = (discarded, inputs.len());
                return Err(Box::new(Witness { pass, input, before, after, discarded }));
            }
        }
    }
    #[allow(clippy::cast_precision_loss)] // a ratio of small numbers
    let share = discarded as f64 / inputs.len().max(1) as f64;
    if share > MAX_DISCARDED || inputs.is_empty() {
        let nothing = Outcome::Undefined(Reason::Fuel);
        return Err(Box::new(Witness {
            pass: pass.to_string(),
            input: inputs.first().cloned().unwrap_or(Datum::Tuple(Vec::new())),
            before: nothing.clone(),
            after: nothing,
            discarded: (discarded, inputs.len()),
        }));
    }
    Ok(())
}
