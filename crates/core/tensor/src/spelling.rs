//! The syntax of operations in programs and in the text of flow.

/// The syntax of an operation; [`Op::name`](crate::Op::name) is its name or symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `name(x, ..)`.
    Call,
    /// `name(x, ..)` in functions; nodes do not have it.
    Function,
    /// `x + y`.
    Infix,
    /// `not x`.
    Prefix,
    /// The operand without any symbol: a copy.
    Itself,
    /// `if c then x else y`.
    Choice,
    /// `[x, y, ..]`.
    List,
    /// `x[i]`, with a static index.
    Row,
    /// `x[i]`, with an index that is an operand.
    Pick,
    /// `name(x, ..)` in the text of flow; no program has it.
    Hidden,
}
