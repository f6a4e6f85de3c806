//! The invariants of a program, which backends and passes rely on.
//!
//! * Every variable is declared before it is used, in an open block, and has the expected type; a constant is
//!   assigned only by its declaration.
//! * Memory has as many indices as dimensions, or fewer where an array is expected; within loops with literal
//!   bounds, no index is out of range ([`bounds`]).
//! * An operation names its equation if and only if it can fail.
//! * A procedure has the parameters that it mentions, is declared before it is called, and is called with
//!   matching arguments.

mod bounds;
mod scope;
mod typing;

use std::error::Error;
use std::fmt;

use rustc_hash::FxHashSet;

use crate::name::Name;
use crate::program::{Linkage, Procedure, Program};
use typing::Checker;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    pub procedure: Name,
    /// The statement as text; empty if the violation concerns the whole procedure.
    pub stmt: String,
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in procedure `{}`: {}", self.procedure, self.message)?;
        if self.stmt.is_empty() { Ok(()) } else { write!(f, "\n  {}", self.stmt.trim_end()) }
    }
}

impl Error for Violation {}

/// Checks all invariants.
pub fn verify(program: &Program) -> Result<(), Violation> {
    let mut known: FxHashSet<&Name> = FxHashSet::default();
    for procedure in &program.procedures {
        let of_procedure =
            |message: String| Violation { procedure: procedure.name.clone(), stmt: String::new(), message };
        if !known.insert(&procedure.name) {
            return Err(of_procedure("it is declared twice".to_string()));
        }
        let shared = shared_fields(program, procedure).map_err(of_procedure)?;
        Checker::new(program, procedure, shared, &known).check()?;
    }
    Ok(())
}

/// The fields that a procedure shares with the other pieces of the procedure that was cut.
fn shared_fields<'p>(program: &'p Program, procedure: &'p Procedure) -> Result<&'p crate::Struct, String> {
    let Linkage::Piece(cut) = &procedure.linkage else { return Ok(&procedure.shared) };
    match program.procedure(cut.as_str()) {
        Some(whole) => Ok(&whole.shared),
        None => Err(format!("there is no `{cut}`, of which it is a piece")),
    }
}
