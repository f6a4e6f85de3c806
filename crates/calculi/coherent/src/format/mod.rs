//! The canonical format of `.cd` files.
//!
//! `plan` decides the gap between each two tokens; [`eddy_syntax::format`] does the rest.
//!
//! # The style
//!
//! * Pragmas and definitions have a line each, and so has the term of the program. A definition that does not
//!   fit on its line breaks after `=`, and its body is indented by two.
//! * A chain of abstractions stays on one line; a body that does not fit after it goes below, indented by
//!   two:
//!
//!   ```text
//!   fix \F:(nat -> nat) -> nat -> nat. \f:nat -> nat. \x:nat.
//!     let y = x in
//!     if y then 0 else succ (F f (<f> y))
//!   ```
//! * A chain of `let` that does not fit on one line has a line for each `let`. The term after the last `in`
//!   is not indented.
//! * A conditional that does not fit breaks before each `else`; a branch that then does not fit goes below
//!   its `then` or `else`. `else if` stays together.
//! * Arguments that do not fit have a line each, indented by two; an abstraction as the last argument stays
//!   after the others.
//! * Comments keep the line breaks next to them. An empty line between definitions or comments stays; several
//!   become one.

mod plan;

use eddy_syntax::format::print;
use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::{LEXICON, parse};

/// The formatted program, or the errors that prevent formatting.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let file = SourceFile::new("f.cd", "def f=\\x:nat.succ   x;-- next\n f( 3 )");
/// let formatted = eddy_coherent::format::format(&file);
/// assert_eq!(formatted.as_deref(), Ok("def f = \\x:nat. succ x;  -- next\nf (3)\n"));
/// ```
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(file);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let gaps = plan::plan(&parsed);
    Ok(print(file, &LEXICON, &parsed.tokens, &parsed.comments, &gaps))
}
