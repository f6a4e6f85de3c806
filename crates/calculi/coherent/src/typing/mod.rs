//! Typing (section 3), and with it the removal of sugar and names.
//!
//! Types are unique, so they are synthesised from the leaves upwards without guessing. The checker walks the
//! tree with a work list: visit a node, bind a variable between two parts, finish a node whose parts are
//! done. An error is reported once; the term gets [`Type::UNKNOWN`](crate::types::Type::UNKNOWN), which
//! agrees with everything, and the walk continues.
//!
//! * [`rules`]: the table of section 3, from the types of the parts to the type of the whole.
//! * [`elaborate`]: the walk, from tree to core terms.
//! * [`errors`]: the wording.
//! * [`recheck`](fn@recheck): the judgement `Γ ⊢ M : A` on core terms, with sums, for the laws.

mod elaborate;
mod errors;
mod recheck;
pub mod rules;

pub use recheck::{Checker, Scope, recheck, recheck_open};

use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::parse;
use crate::syntax::Program;

/// Reads and checks a program; the diagnostics come in the order of the source.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let program = eddy_coherent::typing::check(&SourceFile::new("f.cd", "D \\x:nat. succ x")).unwrap();
/// assert_eq!(program.terms.types.show(program.ty), "D nat -> D nat");
/// ```
pub fn check(file: &SourceFile) -> Result<Program, Vec<Diagnostic>> {
    let parsed = parse(file);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    elaborate::elaborate(parsed)
}
