//! The formatter that all languages share: from tokens and the gaps between them to text.
//!
//! Formatting moves tokens and never changes them. The space between two tokens is a [`Gap`]: the groups that
//! end and begin there, and how the two tokens are joined. A language plans its gaps from its tree with a
//! [`Planner`], which is its style; the rest is the same for all. `emit` makes a document of tokens, gaps and
//! comments, and [`layout`](crate::layout) breaks it into lines.
//!
//! ```text
//! tokens   f     (       a     ,       b       )          fits: f(a, b)     does not: f(
//! gaps       tight  open   tight  item   close                                          a,
//!                   └───────── a group ────────┘                                        b
//!                                                                                     )
//! ```

mod emit;
mod gap;
mod planner;

use crate::SourceFile;
use crate::layout::render;
use crate::lex::{Comment, Lexed, Lexicon, Token, lex};

pub use gap::{CONTINUED, Gap, INDENT, Joint};
pub use planner::{Forms, Place, Planner, Range};

/// The columns of a line. Code is longer only where no line break is possible, comments only where they were
/// longer.
pub const WIDTH: usize = 100;

/// The text of a program, given the gap before each of its tokens.
pub fn print(
    file: &SourceFile,
    lexicon: &Lexicon,
    tokens: &[Token],
    comments: &[Comment],
    gaps: &[Gap],
) -> String {
    let mut text = render(&emit::emit(file, lexicon, tokens, comments, gaps), WIDTH);
    if !text.is_empty() {
        text.push('\n');
    }
    debug_assert!(
        words(file, lexicon).eq(words(&SourceFile::new(file.name(), &text), lexicon)),
        "formatting moves tokens and comments and never changes them"
    );
    text
}

fn words<'a>(file: &'a SourceFile, lexicon: &Lexicon) -> impl Iterator<Item = &'a str> + use<'a> {
    let Lexed { tokens, comments, .. } = lex(file, lexicon);
    let comments = comments.into_iter().map(|comment| comment.span);
    tokens.into_iter().map(|token| token.span).chain(comments).map(|span| file.slice(span))
}
