//! The parts that all languages of Eddy share: source text, diagnostics and tokens.
//!
//! * [`source`]: files, spans and positions.
//! * [`diagnostic`]: the one type of messages about a program.
//! * [`render`]: prints a diagnostic with its source excerpt, or as one short line.
//! * [`codes`](mod@codes): the registry of codes, with the phase that reports each and its page.
//! * [`lex`]: comments, names, numbers and symbols, with Unicode and ASCII twins.
//! * [`cursor`]: the position of a parser in its tokens.
//! * [`skipped`]: text that a parser skips after an error.
//! * [`names`]: names as numbers.
//! * [`mod@format`]: the formatter that all languages share, and [`layout`], its line breaker.
//! * [`real`]: how a real number prints.
//! * [`suggest`]: the known word that a misspelt one was meant to be.
//!
//! Invariants: this crate reads no file, clock or terminal, and depends on no language; no function recurses
//! over its input, so no text, however deep, can exhaust the stack.

pub mod codes;
pub mod cursor;
pub mod diagnostic;
pub mod format;
pub mod layout;
pub mod lex;
pub mod names;
pub mod real;
pub mod render;
pub mod skipped;
pub mod source;
pub mod suggest;

pub use codes::{Code, Phase};
pub use diagnostic::{Confidence, Diagnostic, Diagnostics, Edit, Help, Label, Severity};
pub use source::{Position, Reader, SourceFile, Sources, Span};
