//! The codes of diagnostics in `.pb` files, and their pages.

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// Characters, comments or bytes that cannot be read.
    LEXICAL = "PB001", Lexical;
    /// A word or symbol that the grammar does not allow at this place.
    SYNTAX = "PB002", Syntax;
    /// An undeclared variable or type.
    UNBOUND = "PB003", Names;
    /// An expression whose type is not the type that its place requires.
    MISMATCH = "PB004", Types;
    /// A type that would have to contain itself.
    INFINITE = "PB005", Types;
    /// A dual map of a function that is not linear.
    NOT_LINEAR = "PB006", Types;
    /// A type that is not Euclidean where one is needed.
    NOT_EUCLIDEAN = "PB007", Types;
    /// One name bound twice.
    DUPLICATE = "PB008", Names;
    /// The body of a primitive that is not arithmetic.
    PRIMITIVE = "PB009", Types;
    /// A function of arithmetic with too many or too few arguments.
    ARGUMENTS = "PB010", Types;
    /// A reserved word as a name.
    RESERVED = "PB011", Syntax;
    /// A numeral or a type that is out of range.
    OUT_OF_RANGE = "PB012", Syntax;
    /// A run that applies an operation outside its domain.
    DOMAIN = "PB013", Run;
    /// A program without a main expression.
    NO_MAIN = "PB014", Run;
    /// A run that exceeds its limit of steps or memory.
    FUEL = "PB015", Run;
}
