//! The codes of diagnostics about differentiation; the other codes of `.eddy` files are in `reactive`.

use eddy_syntax::Code;

/// A program has too many equations.
pub const TOO_LARGE: Code = "E0213";
/// A recurrence whose backward pass never ends.
pub const RECURRENCE: Code = "E0801";
/// A reset that cannot be woven into a stream that is not always there.
pub const SAMPLED: Code = "E0802";
/// A parameter that no gradient reaches.
pub const UNREACHED: Code = "E0806";
/// A derivative that the user wrote and that does not go with its node.
pub const CUSTOM: Code = "E0803";
/// A derivative of code in which several streams learn together.
pub const COUPLED: Code = "E0905";
