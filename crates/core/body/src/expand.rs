//! Replaces derivative marks by calls of derived bodies, which it adds to the module.

use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;

use eddy_syntax::Span;

use crate::derive::Deriver;
use crate::ir::{Kind, Module, Region};
use crate::verify::{VerifyError, verify};

/// Why a module cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExpandError {
    /// The module is not well formed.
    Verify(VerifyError),
    /// A body with tapes cannot be differentiated.
    Tape(String),
    /// An operation without derivative depends on the point of one.
    NoDerivative { operation: &'static str, span: Span },
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpandError::Verify(error) => error.fmt(f),
            ExpandError::NoDerivative { operation, .. } => write!(f, "`{operation}` has no derivative"),
            ExpandError::Tape(body) => write!(f, "body `{body}` uses tapes, which have no derivatives"),
        }
    }
}

impl Error for ExpandError {}

/// The number of states of a loop that are kept for its reverse sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Checkpoints {
    /// The state before each iteration.
    #[default]
    All,
    /// This many, and those of one segment of the loop at a time, which runs again. The values have the same
    /// bits.
    Keep(NonZeroUsize),
}

/// The module with all `adj` and `tan` marks replaced by calls.
///
/// A body that reaches its own derivative has derivatives of every order; those of an order beyond
/// `max_order` fail when they are called.
pub fn expand(module: &Module, max_order: usize) -> Result<Module, ExpandError> {
    expand_with(module, max_order, Checkpoints::All)
}

/// As [`expand`], with these checkpoints of loops.
pub fn expand_with(
    module: &Module,
    max_order: usize,
    checkpoints: Checkpoints,
) -> Result<Module, ExpandError> {
    verify(module).map_err(ExpandError::Verify)?;
    if let Some(body) = module.bodies.iter().find(|body| has_tapes(&body.region)) {
        return Err(ExpandError::Tape(body.name.clone()));
    }
    let mut deriver = Deriver::new(module.clone(), max_order, checkpoints);
    for at in 0..module.bodies.len() {
        // Bodies are differentiated with their marks, so marks are replaced in copies.
        let mut region = module.bodies[at].region.clone();
        deriver.replace_marks(&mut region, false);
        deriver.schedule(at, region);
    }
    deriver.finish()
}

fn has_tapes(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| match &stmt.kind {
        Kind::Unpack(..) => true,
        kind => kind.regions().iter().any(|region| has_tapes(region)),
    })
}
