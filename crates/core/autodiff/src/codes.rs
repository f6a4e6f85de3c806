//! The codes of diagnostics about differentiation; the other codes of `.eddy` files are in `language::codes`.

pub use eddy_flow::codes::{BATCH, CLOCK};

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// A program has too many equations.
    TOO_LARGE = "E0213", Elaboration;
    /// A recurrence whose backward pass never ends.
    RECURRENCE = "E0801", Differentiation;
    /// A reset of a stream that is not always present.
    SAMPLED = "E0802", Differentiation;
    /// A derivative written by the user that does not match its node.
    CUSTOM = "E0803", Differentiation;
    /// A parameter that no gradient reaches.
    UNREACHED = "E0806", Differentiation;
}
