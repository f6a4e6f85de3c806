//! The codes of diagnostics in `.rd` files, and their pages.

use eddy_syntax::Code;
use eddy_syntax::explain::Page;

/// Characters, comments or bytes that cannot be read.
pub const LEXICAL: Code = "RD001";
/// A word or symbol where the grammar has none.
pub const SYNTAX: Code = "RD002";
/// A variable that nothing binds.
pub const UNBOUND_VARIABLE: Code = "RD003";
/// A call of a function that nothing defines.
pub const UNKNOWN_FUNCTION: Code = "RD004";
/// A term of another type than its place asks for.
pub const TYPE_MISMATCH: Code = "RD005";
/// A variable from outside in the body of a function.
pub const FREE_VARIABLE: Code = "RD006";
/// A predicate whose pre-images are not open.
pub const NOT_CONTINUOUS: Code = "RD007";
/// One name bound twice by one binder.
pub const DUPLICATE: Code = "RD008";
/// A reserved word as a name.
pub const RESERVED: Code = "RD009";
/// A condition used as a term, or the reverse.
pub const BOOLEAN: Code = "RD010";
/// A numeral beyond what it may be.
pub const OUT_OF_RANGE: Code = "RD011";
/// The gradient of something that is not a real.
pub const GRADIENT: Code = "RD012";
/// An unknown directive.
pub const DIRECTIVE: Code = "RD013";
/// A program that the source transformation cannot handle.
pub const TRANSFORM: Code = "RD014";

macro_rules! page {
    ($code:literal) => {
        Page { code: $code, text: include_str!(concat!("../../../docs/errors/", $code, ".md")) }
    };
}

/// The pages, in the order of their codes.
pub const PAGES: &[Page] = &[
    page!("RD001"),
    page!("RD002"),
    page!("RD003"),
    page!("RD004"),
    page!("RD005"),
    page!("RD006"),
    page!("RD007"),
    page!("RD008"),
    page!("RD009"),
    page!("RD010"),
    page!("RD011"),
    page!("RD012"),
    page!("RD013"),
    page!("RD014"),
];
