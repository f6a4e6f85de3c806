//! From trees to a program whose names are resolved (section 2, well-formedness).
//!
//! * [`library`]: the files that come with the binary.
//! * [`load`]: the files of a program: the prelude, the main file, and what is imported.
//! * [`scope`]: which nodes a file sees.
//! * [`node`]: the streams, equations and references of one node.
//! * [`synthesis`]: names of nodes that are synthesised, such as `diff_N`.
//! * [`trains`]: `train` declarations, and the derivatives that the user wrote.
//! * [`calls`]: no node instantiates itself; an order in which callees come first.
//! * [`statics`]: which streams must be known at compile time.
//!
//! A program with mistakes is resolved as far as it goes, so that independent mistakes are reported together.

mod calls;
mod library;
mod load;
mod node;
mod scope;
mod statics;
pub mod synthesis;
mod trains;

use eddy_syntax::{Diagnostic, Sources};

use crate::program::Program;

pub(crate) use calls::{callees, callees_first};

/// Reads and resolves a program.
pub fn resolve(sources: &mut Sources) -> Result<Program, Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    let files = load::load(sources, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let (mut program, scopes) = scope::scopes(files, &mut diagnostics);
    program.visible.clone_from(&scopes[Program::MAIN].nodes);
    node::resolve_nodes(&mut program, &scopes, &mut diagnostics);
    trains::resolve_trains(&mut program, &scopes, &mut diagnostics);
    trains::find_customs(&mut program, &scopes);
    if diagnostics.is_empty()
        && let Some(order) = callees_first(&program, &mut diagnostics)
    {
        statics::mark_statics(&mut program, &order, &mut diagnostics);
    }
    if diagnostics.is_empty() {
        return Ok(program);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
    Err(diagnostics)
}
