//! The one format of `.rd` files.
//!
//! `plan` decides the gap before each token; [`eddy_syntax::format`] does the rest.
//!
//! # The style
//!
//! * Definitions (`let`, `letrec`, `const`) at the top of a file have a line each. Elsewhere a chain of
//!   definitions has a line each if the chain does not fit on one line. The term after `in` is not indented.
//! * A definition that does not fit on its line breaks after `=`; its body is indented by two, and `in`
//!   stays at the end.
//! * A conditional that does not fit breaks before each `else`; a branch that then does not fit goes below
//!   its `then` or `else`. `else if` stays together, so that a chain of cases is not indented further and
//!   further:
//!
//!   ```text
//!   if n < 0 then 0
//!   else if n < 1 then
//!     something(too, long, for, this, line)
//!   else n
//!   ```
//! * Arguments and tuples that do not fit have an item per line. If the only item of a bracket is another
//!   bracket, both open on one line and close on one line: `((`…`))`.
//! * Operators that do not fit have a line each, the operator first, indented by two.
//! * Comments keep the line breaks next to them: a comment on a line of its own stays on its own line, a
//!   comment at the end of a line stays there (two blanks after the code), and a comment between two words
//!   stays between them.
//! * An empty line between definitions, items or comments stays; several become one.

mod plan;

use eddy_syntax::format::print;
use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::{LEXICON, parse};

/// The formatted program, or the errors that prevent formatting.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let file = SourceFile::new("f.rd", "let x=1 in -- one\n x+( -x )");
/// assert_eq!(eddy_rd::format::format(&file).as_deref(), Ok("let x = 1 in  -- one\nx + (-x)\n"));
/// ```
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(file);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics.into_sorted());
    }
    let gaps = plan::plan(&parsed);
    Ok(print(file, &LEXICON, &parsed.tokens, &parsed.comments, &gaps))
}
