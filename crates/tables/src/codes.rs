//! The codes of diagnostics in `.lam`, `.sysf` and `.ref` files, and their pages (section 14). The titles of diagnostics hold the words that
//! the section asks for, such as `parse` or `stuck`.

use eddy_syntax::Code;
use eddy_syntax::explain::Page;

/// Characters, comments or bytes that cannot be read.
pub const LEXICAL: Code = "TB001";
/// A word or symbol where the grammar has none, in a program, a value or a type.
pub const SYNTAX: Code = "TB002";
/// A variable or type variable that nothing binds.
pub const UNBOUND: Code = "TB003";
/// A term of another type than its place asks for.
pub const TYPE: Code = "TB004";
/// A recursion that is not of a function.
pub const FIX: Code = "TB005";
/// A run that comes to a term that has no rule.
pub const STUCK: Code = "TB006";
/// A run, or an answer, that needs more than its limits.
pub const FUEL: Code = "TB007";
/// An address that a store has twice.
pub const DUPLICATE: Code = "TB008";
/// A question that this language does not answer.
pub const QUESTION: Code = "TB009";

macro_rules! page {
    ($code:literal) => {
        Page { code: $code, text: include_str!(concat!("../../../docs/errors/", $code, ".md")) }
    };
}

/// The pages, in the order of the phases.
pub static PAGES: &[Page] = &[
    page!("TB001"),
    page!("TB002"),
    page!("TB003"),
    page!("TB004"),
    page!("TB005"),
    page!("TB006"),
    page!("TB007"),
    page!("TB008"),
    page!("TB009"),
];
