//! The one format of `.eddy` files.
//!
//! * `plan`: the tree says, gap by gap, what it would like between its tokens (`declarations` for what is no
//!   expression, `forms` and `functions` for what only functions have);
//! * `fit`: with the widths of all tokens known, long right sides and chronograms are laid out;
//! * [`eddy_syntax::format`] does the rest.
//!
//! # The style
//!
//! * A declaration starts at the margin; the equations of a node have a line each, indented by two.
//! * An equation that does not fit on its line breaks after `=`. If its right side does not fit on a line
//!   either, and is a call, a list or a `merge`, it starts behind the `=` all the same:
//!
//!   ```text
//!   p1 = merge step
//!     ((p - rate * something_long) when step)
//!     (p when not step);
//!   ```
//! * `if` breaks before each `else`; operators, `fby` and `when` break before the operator; arguments have a
//!   line each, numbers in a list as many lines as they need.
//! * A head that does not fit breaks before `->`, or has a line for each input.
//! * A `run` on one line stays there if it fits. Otherwise its rows have a line each, and their cells stand
//!   in columns:
//!
//!   ```text
//!   run f {
//!     x:   1 2.5 . 4;
//!     end: t f   . t;
//!   }
//!   ```
//! * A function that does not fit on its line breaks after `=`, and so do the parts of its body: `let` before
//!   what follows `in`, a loop before its `do`, a comprehension after its `:`, records and alternatives with
//!   a line each:
//!
//!   ```text
//!   fn det[n](A: num [n, n]) -> num =
//!     if n == 0 then 1.0
//!     else sum(j < n: (if j mod 2 == 0 then 1.0 else -1.0) * A[0, j] * det(minor(A, j)));
//!   ```
//! * Comments keep the line breaks next to them: a comment on a line of its own stays there, one that ends a
//!   line still ends it (two blanks after the code), one between two words stays between them. At the end of
//!   a node, an indented comment before an empty line belongs to the node, and one at the margin does not.
//! * An empty line between declarations, equations, rows, arguments or comments stays; several become one.
//!
//! Calls and indices stay glued, and nothing is glued that would become one: the blanks of `merge c (x) (y)`
//! stay.

mod declarations;
mod fit;
mod forms;
mod functions;
mod plan;

use eddy_syntax::format::print;
use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::{LEXICON, parse};

/// The text of a program in the one format, or what keeps it from being read.
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
