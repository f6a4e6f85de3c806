//! The one format of `.pb` files.
//!
//! `plan` decides the gap before each token; [`eddy_syntax::format`] does the rest.
//!
//! # The style
//!
//! * Declarations have a line each, and so has the main expression. A body that does not fit on the line of
//!   its `=` goes below, indented by two.
//! * A chain of `let`s has a line each if the chain does not fit on one line, and always at the top of the
//!   main expression. The term after `in` is not indented.
//! * The body of a `λ` that does not fit goes below, indented by two.
//! * Tuples and operands in brackets that do not fit have an item per line. If the only item of a bracket is
//!   another bracket, both open on one line and close on one line.
//! * Arguments that do not fit have a line each, indented by two; operators that do not fit have a line each,
//!   the operator first.
//! * `λx:R.` is tight; other colons stand between blanks.
//! * Comments keep the line breaks next to them. An empty line between declarations, `let`s, items or
//!   comments stays; several become one.

mod plan;

use eddy_syntax::format::print;
use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::{LEXICON, parse};

/// The formatted program, or the errors that prevent formatting.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let file = SourceFile::new("f.pb", "def f=\\x:R.x*x; -- square\n f  3");
/// let formatted = eddy_pullback::format::format(&file);
/// assert_eq!(formatted.as_deref(), Ok("def f = \\x:R. x * x;  -- square\nf 3\n"));
/// ```
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(file);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics.into_sorted());
    }
    let gaps = plan::plan(&parsed);
    Ok(print(file, &LEXICON, &parsed.tokens, &parsed.comments, &gaps))
}
