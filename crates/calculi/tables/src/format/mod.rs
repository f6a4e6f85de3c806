//! The canonical format of `.lam`, `.sysf` and `.ref` files.
//!
//! `plan` decides the gap between each two tokens; [`eddy_syntax::format`] does the rest.
//!
//! # The style
//!
//! * A chain of abstractions stays on one line; a body that does not fit after it goes below, indented by
//!   two.
//! * A chain of `let` and of `;` that does not fit on one line has a line for each part. The term after the
//!   last `in` is not indented.
//! * A conditional that does not fit breaks before each `else`; a branch that then does not fit goes below
//!   its `then` or `else`. `else if` stays together.
//! * Arguments that do not fit have a line each, indented by two, and so have the operands of a chain of
//!   operators.
//! * Comments keep the line breaks next to them. An empty line between bindings stays; several become one.

mod plan;

use eddy_syntax::format::print;
use eddy_syntax::{Diagnostic, SourceFile};

use crate::dialect::Dialect;
use crate::parse::{LEXICON, parse};

/// The formatted program, or the errors that prevent formatting.
///
/// ```
/// use eddy_syntax::SourceFile;
/// use eddy_tables::dialect::Dialect;
/// let file = SourceFile::new("f.lam", "let f=\\x.x*-2 in-- next\n f( 3 ) -1");
/// let formatted = eddy_tables::format::format(&file, Dialect::Lambda);
/// assert_eq!(formatted.as_deref(), Ok("let f = \\x. x * -2 in  -- next\nf (3) - 1\n"));
/// ```
pub fn format(file: &SourceFile, dialect: Dialect) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(file, dialect);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let gaps = plan::plan(&parsed);
    Ok(print(file, &LEXICON, &parsed.tokens, &parsed.comments, &gaps))
}
