//! The codes of diagnostics in `.cd` files, and their pages (section 12). They are words.

use eddy_syntax::Code;
use eddy_syntax::explain::Page;

/// Characters, comments or bytes that cannot be read.
pub const LEXICAL: Code = "lex";
/// A word or symbol where the grammar has none, a name defined twice, a numeral that is none.
pub const SYNTAX: Code = "parse";
/// A sum or a zero, which only the rewriting system has.
pub const SUM: Code = "sum";
/// A number that is no probability.
pub const PROBABILITY: Code = "prob";
/// A variable that nothing binds.
pub const UNBOUND: Code = "unbound";
/// A term of another type than its place asks for.
pub const TYPE: Code = "type";
/// A term that is not deep enough.
pub const DEPTH: Code = "depth";
/// A program that cannot be run, traced or asked about in this way.
pub const RUN: Code = "run";
/// A run that used up its steps or its memory.
pub const FUEL: Code = "fuel";

macro_rules! page {
    ($code:literal) => {
        Page { code: $code, text: include_str!(concat!("../../../docs/errors/", $code, ".md")) }
    };
}

/// The pages, in the order of the phases.
pub const PAGES: &[Page] = &[
    page!("lex"),
    page!("parse"),
    page!("sum"),
    page!("prob"),
    page!("unbound"),
    page!("type"),
    page!("depth"),
    page!("run"),
    page!("fuel"),
];
