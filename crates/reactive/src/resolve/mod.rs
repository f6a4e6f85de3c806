//! From trees to a program whose names are resolved (section 2, well-formedness).
//!
//! * [`library`]: the files that come with the binary.
//! * [`load`]: the files of a program: the prelude, the main file, and what is imported.
//! * [`scope`]: which nodes a file sees.
//! * [`node`]: the streams, equations and references of one node.
//! * [`unknown`]: messages about names that stand for nothing, with [`foreign`], what functions are called elsewhere.
//! * [`positions`]: the order of arguments, for messages about arguments with names.
//! * [`synthesis`]: names of nodes that are synthesised, such as `diff_N`.
//! * [`trains`]: `train` declarations, and the derivatives that the user wrote.
//! * [`calls`]: no node instantiates itself; an order in which callees come first.
//! * [`statics`]: which streams must be known at compile time.
//!
//! A program with mistakes is resolved as far as it goes, so that independent mistakes are reported together.

mod calls;
mod foreign;
pub(crate) mod library;
mod load;
mod node;
mod positions;
mod scope;
mod statics;
pub mod synthesis;
mod trains;
mod unknown;

use eddy_syntax::{Diagnostic, Diagnostics, Sources};

use crate::program::Program;

pub(crate) use calls::{callees, callees_first};
pub(crate) use unknown::listing;

/// Reads and resolves a program.
pub fn resolve(sources: &mut Sources) -> Result<Program, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let files = load::load(sources, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let warnings = files[Program::MAIN].warnings.clone();
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
        program.warnings = warnings;
        return Ok(program);
    }
    Err(diagnostics.into_sorted())
}
