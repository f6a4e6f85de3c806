//! The codes of diagnostics in `.cd` files, and their documentation pages (section 12). Each code is a word.

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// Characters, comments or bytes that cannot be read.
    LEXICAL = "lex", Lexical;
    /// A word or symbol that the grammar does not allow at this place, a name defined twice, an invalid
    /// numeral.
    SYNTAX = "parse", Syntax;
    /// A sum or a zero, which only the rewriting system has.
    SUM = "sum", Syntax;
    /// A number that is not a probability.
    PROBABILITY = "prob", Syntax;
    /// An unbound variable.
    UNBOUND = "unbound", Names;
    /// A term whose type is not the one that its context requires.
    TYPE = "type", Types;
    /// A term that is not deep enough.
    DEPTH = "depth", Types;
    /// A program that this command or engine cannot handle.
    RUN = "run", Run;
    /// A run that used up its steps or its memory.
    FUEL = "fuel", Run;
}
