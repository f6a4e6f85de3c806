//! From trees to a program whose names are resolved (section 2, well-formedness).
//!
//! * [`library`]: the files that are built into the binary.
//! * [`load`]: reads the files of a program.
//! * [`scope`]: the nodes that are visible in each file.
//! * [`node`]: the streams of one node. [`body`]: the names in its equations, and [`application`]: in calls;
//!   [`layers`]: in the bodies of copies and in lambdas; [`widths`]: how many streams equations have;
//!   [`refusals`]: errors.
//! * [`cases`]: constructors. [`callables`]: inputs that are nodes. [`inputs`] and
//!   [`arguments`](mod@arguments): what calls are given.
//! * [`compose`](mod@compose): expands `let`s, nodes as arguments, names and defaults.
//! * [`unknown`]: errors about unknown names, with suggestions; [`foreign`] has names from other languages.
//! * [`synthesis`]: names of synthesised nodes, such as `diff_N`.
//! * [`trains`]: `train` declarations, and the derivatives that the user wrote.
//! * [`calls`]: rejects recursion, and orders callees before callers.
//! * [`records`]: expands records and enumerations.
//! * [`statics`]: which streams must be known at compile time.
//! * [`broken`]: removes the invalid parts of a program with errors.
//!
//! Resolution continues after errors, so that independent errors are reported together and an editor can use
//! the valid parts.

mod application;
pub(crate) mod arguments;
mod body;
mod broken;
mod callables;
mod calls;
mod cases;
mod compose;
mod foreign;
pub(crate) mod inputs;
mod layers;
pub(crate) mod library;
mod load;
mod node;
mod records;
pub(crate) mod refusals;
mod scope;
mod statics;
pub(crate) mod synthesis;
mod trains;
mod unknown;
mod widths;

use eddy_syntax::{Diagnostic, Diagnostics, Sources};

use crate::functions;
use crate::kernels::Kernel;
use crate::program::Program;

pub(crate) use calls::{callees, callees_first};
pub(crate) use scope::callee_of;
pub(crate) use unknown::listing;

/// The resolved parts of a program, and its errors.
#[derive(Debug)]
pub struct Resolved {
    /// All files and nodes. Invalid equations are removed, and their nodes are marked as broken.
    pub program: Program,
    /// The errors in source order; empty if the program is correct.
    pub diagnostics: Vec<Diagnostic>,
}

impl Resolved {
    /// The program if it has no errors, otherwise the errors.
    pub fn accepted(self) -> Result<Program, Vec<Diagnostic>> {
        if self.diagnostics.is_empty() { Ok(self.program) } else { Err(self.diagnostics) }
    }
}

/// Reads and resolves a program of this language.
pub fn resolve(sources: &mut Sources) -> Resolved {
    resolve_as(sources, None)
}

/// As [`resolve`]; with `kernel`, the main file is a program of that kernel.
///
/// A file that cannot be read or parsed suppresses all errors about names, because each use of a declaration
/// that was not read would cause one.
pub fn resolve_as(sources: &mut Sources, kernel: Option<Kernel>) -> Resolved {
    let mut unreadable = Diagnostics::default();
    let files = load::load(sources, kernel, &mut unreadable);
    let warnings = files[Program::MAIN].warnings.clone();
    let mut diagnostics = Diagnostics::default();
    let (mut program, scopes) = scope::scopes(files, &mut diagnostics);
    let calls = node::resolve_nodes(&mut program, &scopes, &mut diagnostics);
    trains::resolve_trains(&mut program, &scopes, &calls, &mut diagnostics);
    broken::mark_unresolved(&mut program);
    broken::remove_marked(&mut program);
    compose::compose(&mut program, &mut diagnostics);
    trains::find_customs(&mut program, &scopes);
    broken::mark_unresolved(&mut program);
    broken::remove_marked(&mut program);
    let order = callees_first(&program);
    if diagnostics.is_empty() {
        diagnostics.extend(order.recursion);
    }
    broken::mark_recursive(&mut program, &order.recursive);
    broken::remove_marked(&mut program);
    if unreadable.is_empty() && diagnostics.is_empty() {
        program.constant_values = functions::constant_values(&program);
        program.interfaces = functions::apply::written_interfaces(&program);
        records::expand_records(&mut program, &order.nodes, &mut diagnostics);
    } else {
        records::discard_unexpanded(&mut program);
    }
    let mut compile_time = Diagnostics::default();
    statics::mark_statics(&mut program, &order.nodes, &mut compile_time);
    broken::remove_marked(&mut program);
    if diagnostics.is_empty() {
        diagnostics = compile_time;
    }
    program.warnings = warnings;
    let reported = if unreadable.is_empty() { diagnostics } else { unreadable };
    Resolved { program, diagnostics: reported.into_sorted() }
}
