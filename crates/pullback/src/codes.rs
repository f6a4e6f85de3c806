//! The codes of diagnostics in `.pb` files, and their pages.

use eddy_syntax::Code;
use eddy_syntax::explain::Page;

/// Characters, comments or bytes that cannot be read.
pub const LEXICAL: Code = "PB001";
/// A word or symbol where the grammar has none.
pub const SYNTAX: Code = "PB002";
/// A variable or a type that nothing declares.
pub const UNBOUND: Code = "PB003";
/// An expression of another type than its place asks for.
pub const MISMATCH: Code = "PB004";
/// A type that would have to contain itself.
pub const INFINITE: Code = "PB005";
/// A dual map of something that is not linear.
pub const NOT_LINEAR: Code = "PB006";
/// A type that is not Euclidean where one is needed.
pub const NOT_EUCLIDEAN: Code = "PB007";
/// One name bound twice.
pub const DUPLICATE: Code = "PB008";
/// The body of a primitive that is not arithmetic.
pub const PRIMITIVE: Code = "PB009";
/// A function of arithmetic with too many or too few arguments.
pub const ARGUMENTS: Code = "PB010";
/// A reserved word as a name.
pub const RESERVED: Code = "PB011";
/// A numeral or a type beyond what it may be.
pub const OUT_OF_RANGE: Code = "PB012";
/// An operation outside of its domain, while running.
pub const DOMAIN: Code = "PB013";
/// Nothing to run.
pub const NO_MAIN: Code = "PB014";
/// More steps or memory than the run was given.
pub const FUEL: Code = "PB015";

macro_rules! page {
    ($code:literal) => {
        Page { code: $code, text: include_str!(concat!("../../../docs/errors/", $code, ".md")) }
    };
}

/// The pages, in the order of their codes.
pub const PAGES: &[Page] = &[
    page!("PB001"),
    page!("PB002"),
    page!("PB003"),
    page!("PB004"),
    page!("PB005"),
    page!("PB006"),
    page!("PB007"),
    page!("PB008"),
    page!("PB009"),
    page!("PB010"),
    page!("PB011"),
    page!("PB012"),
    page!("PB013"),
    page!("PB014"),
    page!("PB015"),
];
