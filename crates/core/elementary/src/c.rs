//! The functions in C: the files of this crate, translated token by token.
//!
//! `c/` has the parts written by hand: a head, and the few primitives that are also written by hand in Rust.

mod translate;

use translate::{instantiate, translate};

/// The precision of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// `f64`, in C `double`.
    Double,
    /// `f32`, in C `float`.
    Single,
}

/// The functions as C99, to be placed before the code that calls them.
///
/// The text begins with a part that both widths need; an include guard prevents a second definition. So both
/// widths may be in one file, in any order.
pub fn c_source(width: Width) -> String {
    let (guard, parts) = match width {
        Width::Double => ("EDDY_ELEMENTARY_DOUBLE", DOUBLE),
        Width::Single => ("EDDY_ELEMENTARY_SINGLE", SINGLE),
    };
    let head = format!("{}\n#endif\n", include_str!("c/head.h"));
    let common = guarded("EDDY_ELEMENTARY", &texts(COMMON, Width::Double));
    head + &common + &guarded(guard, &(texts(parts, width) + &texts(FUNCTIONS, width)))
}

enum Part {
    /// Rust in the common subset.
    Shared(&'static str),
    /// C.
    ByHand(&'static str),
}

use Part::{ByHand, Shared};

/// The part that both widths need: angles of large numbers are computed in double precision.
const COMMON: &[Part] = &[
    ByHand(include_str!("c/primitives.h")),
    Shared(include_str!("double/constants.rs")),
    ByHand(include_str!("c/double.h")),
    Shared(include_str!("shared/pairs.rs")),
    Shared(include_str!("double/far.rs")),
];

const DOUBLE: &[Part] =
    &[Shared(include_str!("shared/numbers.rs")), Shared(include_str!("double/polynomials.rs"))];

const SINGLE: &[Part] = &[
    ByHand(include_str!("c/primitives.h")),
    Shared(include_str!("single/constants.rs")),
    ByHand(include_str!("c/single.h")),
    Shared(include_str!("shared/numbers.rs")),
    Shared(include_str!("shared/pairs.rs")),
    Shared(include_str!("single/polynomials.rs")),
];

/// Ordered such that each is defined before it is used.
const FUNCTIONS: &[Part] = &[
    Shared(include_str!("shared/exp.rs")),
    Shared(include_str!("shared/sigmoid.rs")),
    Shared(include_str!("shared/log.rs")),
    Shared(include_str!("shared/pow.rs")),
    Shared(include_str!("shared/trigonometry.rs")),
    Shared(include_str!("shared/gamma.rs")),
];

fn texts(parts: &[Part], width: Width) -> String {
    let text = |part: &Part| match part {
        Shared(text) => translate(text, width),
        ByHand(text) => instantiate(text, width),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

fn guarded(name: &str, text: &str) -> String {
    format!("#ifndef {name}\n#define {name}\n\n{text}\n#endif // {name}\n\n")
}
