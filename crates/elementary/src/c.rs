//! The C text of the functions: the files of this crate, translated word by word.
//!
//! What is written by hand is in `c/`: a head, and the few primitives that are also written by hand in Rust.

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

/// The functions in C99, to be put in front of what calls them.
///
/// The text begins with a part that both widths need, which a guard keeps from being read twice; so both may stand in
/// one file, in any order.
pub fn c_source(width: Width) -> String {
    let (guard, parts) = match width {
        Width::Double => ("EDDY_ELEMENTARY_DOUBLE", DOUBLE),
        Width::Single => ("EDDY_ELEMENTARY_SINGLE", SINGLE),
    };
    let head = format!("{}\n#endif\n", include_str!("c/head.h"));
    let common = guarded("EDDY_ELEMENTARY", &texts(COMMON, Width::Double));
    head + &common + &guarded(guard, &(texts(parts, width) + &texts(FUNCTIONS, width)))
}

/// A file that is part of the C text.
enum Part {
    /// In the common language.
    Shared(&'static str),
    /// In C.
    ByHand(&'static str),
}

use Part::{ByHand, Shared};

/// What functions of both widths need: in the end, the angles of large numbers.
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

/// In an order in which each is defined before it is used.
const FUNCTIONS: &[Part] = &[
    Shared(include_str!("shared/exp.rs")),
    Shared(include_str!("shared/sigmoid.rs")),
    Shared(include_str!("shared/log.rs")),
    Shared(include_str!("shared/pow.rs")),
    Shared(include_str!("shared/trigonometry.rs")),
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
