//! The one format of `.eddy` files.
//!
//! * `plan`: from the tree, plans each gap between two tokens (`declarations` for declarations and equations,
//!   `forms` and `functions` for functions);
//! * `fit`: lays out long right sides and chronograms, given the widths of all tokens;
//! * [`eddy_syntax::format`] does the rest.
//!
//! # The style
//!
//! * A declaration starts at the margin; each equation of a node has a line, indented by two.
//! * An equation that does not fit on its line breaks after `=`. If its right side is a call, a list or a
//!   `merge` that does not fit on a line either, it starts on the line of the `=`:
//!
//!   ```text
//!   p1 = merge step
//!     ((p - rate * something_long) when step)
//!     (p when not step);
//!   ```
//! * `if` breaks before each `else`; operators, `fby` and `when` break before the operator; each argument has
//!   a line, numbers in a list fill as many lines as they need.
//! * A head that does not fit breaks before `->`, or has a line for each input.
//! * A `run` on one line stays there if it fits. Otherwise each row has a line, with its cells in columns:
//!
//!   ```text
//!   run f {
//!     x:   1 2.5 . 4;
//!     end: t f   . t;
//!   }
//!   ```
//! * A function that does not fit on its line breaks after `=`, and so do the parts of its body: `let` after
//!   `in`, a loop before its `do`, a comprehension after its `:`, records and alternatives with a line each:
//!
//!   ```text
//!   fn det[n](A: num [n, n]) -> num =
//!     if n == 0 then 1.0
//!     else sum(j < n: (if j mod 2 == 0 then 1.0 else -1.0) * A[0, j] * det(minor(A, j)));
//!   ```
//! * Comments keep the line breaks next to them: a comment on a line of its own stays there, one at the end
//!   of a line stays there (two blanks after the code), one between two words stays between them. At the end
//!   of a node, an indented comment before an empty line belongs to the node, and one at the margin does not.
//! * An empty line between declarations, equations, rows, arguments or comments stays; several become one.
//!
//! The bracket of a call or an index stays next to its left operand, and a blank stays if removing it would
//! create a call or an index: the blanks of `merge c (x) (y)` stay.

mod automaton;
mod declarations;
mod fit;
mod forms;
mod functions;
mod plan;

use eddy_syntax::format::print;
use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::{LEXICON, parse};

/// The program in the one format, or the errors that prevent parsing.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let file = SourceFile::new("f.eddy", "node f(x,c)->(o) o=merge c (x) (0.0 ); -- padded");
/// let formatted = "node f(x, c) -> (o)\n  o = merge c (x) (0.0);  -- padded\n";
/// assert_eq!(eddy_language::format(&file).as_deref(), Ok(formatted));
/// ```
pub fn format(file: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(file);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let gaps = plan::plan(file, &parsed);
    Ok(print(file, &LEXICON, &parsed.tokens, &parsed.comments, &gaps))
}
