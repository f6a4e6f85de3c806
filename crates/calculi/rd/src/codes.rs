//! The codes of diagnostics in `.rd` files, and their pages.

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// Characters, comments or bytes that cannot be read.
    LEXICAL = "RD001", Lexical;
    /// A word or symbol that the grammar does not allow at this place.
    SYNTAX = "RD002", Syntax;
    /// An unbound variable.
    UNBOUND_VARIABLE = "RD003", Names;
    /// A call of an undefined function.
    UNKNOWN_FUNCTION = "RD004", Names;
    /// A term whose type is not the type that its place requires.
    TYPE_MISMATCH = "RD005", Types;
    /// A variable of the surrounding term in the body of a function.
    FREE_VARIABLE = "RD006", Names;
    /// A predicate whose pre-images are not open.
    NOT_CONTINUOUS = "RD007", Types;
    /// One name bound twice by one binder.
    DUPLICATE = "RD008", Names;
    /// A reserved word as a name.
    RESERVED = "RD009", Syntax;
    /// A condition used as a term, or the reverse.
    BOOLEAN = "RD010", Types;
    /// A numeral that is out of range.
    OUT_OF_RANGE = "RD011", Syntax;
    /// `grad` of a body that is not a real.
    GRADIENT = "RD012", Types;
    /// An unknown directive.
    DIRECTIVE = "RD013", Syntax;
    /// A program that the source transformation cannot handle.
    TRANSFORM = "RD014", Differentiation;
}
