//! What every language of Eddy shares before it has a meaning: source text, diagnostics and tokens.
//!
//! * [`source`]: files, spans and positions.
//! * [`diagnostic`]: the one type in which a program is told that it is wrong.
//! * [`render`]: a diagnostic as a person reads it, with its source excerpt, and as one short line.
//! * [`codes`](mod@codes): the registry of codes, with the phase that reports each and its page.
//! * [`lex`]: comments, names, numbers and symbols, with Unicode and ASCII twins.
//! * [`cursor`]: where a parser stands in its tokens.
//! * [`names`]: names as numbers.
//! * [`mod@format`]: what the formatters of all languages share, and [`layout`], their line breaker.
//! * [`real`]: how a real number prints.
//! * [`suggest`]: which known word a misspelt one was meant to be.
//!
//! Invariants: nothing here reads a file, a clock or a terminal; nothing here knows a language; no function
//! recurses over its input, so no text, however deep, can exhaust the stack.

pub mod codes;
pub mod cursor;
pub mod diagnostic;
pub mod format;
pub mod layout;
pub mod lex;
pub mod names;
pub mod real;
pub mod render;
pub mod source;
pub mod suggest;

pub use codes::{Code, Phase};
pub use diagnostic::{Confidence, Diagnostic, Diagnostics, Edit, Help, Label, Severity};
pub use source::{Position, Reader, SourceFile, Sources, Span};
