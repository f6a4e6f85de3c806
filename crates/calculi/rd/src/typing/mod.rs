//! Typing (section 4, Figure 1), and with it the removal of sugar (section 3.1), which needs types.
//!
//! Types are unique, so they are synthesised from the leaves upwards without guessing. The checker walks the
//! tree with a work list of [`Task`](elaborate::Task)s: visit a node, bind a name between two children,
//! finish a node whose children are done. An error is reported once; the term gets
//! [`Type::UNKNOWN`](crate::types::Type::UNKNOWN), which agrees with everything, and the walk continues.
//!
//! [`recheck`](fn@recheck) is the judgement `Φ|Γ ⊢ M : T` itself, on core terms; the laws use it on traces
//! and derivatives.

mod elaborate;
mod errors;
mod finish;
mod recheck;
mod scope;

pub use recheck::recheck;

use eddy_syntax::{Diagnostic, SourceFile};

use crate::parse::Parsed;
use crate::syntax::Program;

/// Reads and checks a program; the diagnostics come in the order of the source.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let program = eddy_rd::typing::check(&SourceFile::new("f.rd", "grad[3](x. x * x)")).unwrap();
/// let ty = program.terms.ty(program.main);
/// assert_eq!(program.terms.types.show(ty), "real");
/// ```
pub fn check(file: &SourceFile) -> Result<Program, Vec<Diagnostic>> {
    let parsed = crate::parse::parse(file);
    check_parsed(parsed)
}

fn check_parsed(parsed: Parsed) -> Result<Program, Vec<Diagnostic>> {
    let (program, diagnostics) = elaborate::elaborate(parsed);
    if diagnostics.is_empty() {
        return Ok(program);
    }
    Err(diagnostics.into_sorted())
}
