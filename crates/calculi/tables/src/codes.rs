//! The codes of diagnostics in `.lam`, `.sysf` and `.ref` files, and their documentation pages (section 14).
//! The titles of diagnostics contain the words that this section requires, such as `parse` or `stuck`.

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// Characters, comments or bytes that cannot be read.
    LEXICAL = "TB001", Lexical;
    /// A word or symbol that the grammar does not allow at this place, in a program, a value or a type.
    SYNTAX = "TB002", Syntax;
    /// An unbound variable or type variable.
    UNBOUND = "TB003", Names;
    /// A term whose type is not the one that its context requires.
    TYPE = "TB004", Types;
    /// A recursion that is not of a function.
    FIX = "TB005", Types;
    /// A run that reaches a term to which no rule applies.
    STUCK = "TB006", Run;
    /// A run, or an answer, that needs more than its limits.
    FUEL = "TB007", Run;
    /// An address that occurs twice in a store.
    DUPLICATE = "TB008", Names;
    /// A question that this language does not support.
    QUESTION = "TB009", Run;
}
