//! Adds the order of the inputs to errors about named arguments, because arguments go by position.
//!
//! The parser reports `adam(lr = 0.01)` before the other files are read. So the order of the inputs is added
//! here, once all files are read: from the file itself, the library, or a file that it imports.

use eddy_syntax::{Diagnostics, Help};
use eddy_tensor::{Arity, Builtin, StaticKind, builtin};

use super::library;
use super::load::File;
use crate::tree::Item;

/// The inputs of an optimiser that `train` supplies: the initial value, the step and the gradient.
const N_GIVEN_TO_OPTIMISERS: usize = 3;

pub(super) fn add_argument_order(files: &[File], diagnostics: &mut Diagnostics) {
    for (number, file) in files.iter().enumerate() {
        for argument in &file.named_arguments {
            let name = file.names.text(argument.callee.name);
            let Some(order) = order(files, number, name, argument.is_optimiser) else { continue };
            let text = format!("arguments have no names and go by position: `{name}({order})`");
            diagnostics.explain_at(argument.span, || Help { text, edit: None });
        }
    }
}

/// The inputs that a call of this name takes, in order, separated by commas.
fn order(files: &[File], number: usize, name: &str, is_optimiser: bool) -> Option<String> {
    let n_given = if is_optimiser { N_GIVEN_TO_OPTIMISERS } else { 0 };
    let own = inputs_in(&files[number], name);
    let node = own.or_else(|| {
        let known = library::nodes().iter().find(|node| node.name == name);
        known.map(|node| node.inputs.clone())
    });
    let imported = || files[number].imports.iter().find_map(|file| inputs_in(&files[*file], name));
    match node.or_else(imported) {
        Some(inputs) => inputs.get(n_given..).map(|inputs| inputs.join(", ")),
        None => builtin(name).map(parameters),
    }
}

fn inputs_in(file: &File, name: &str) -> Option<Vec<String>> {
    file.tree.items.iter().find_map(|item| match item {
        Item::Node(node) if file.names.text(node.ident.name) == name => {
            Some(node.inputs.iter().map(|decl| file.names.text(decl.ident.name).to_string()).collect())
        }
        _ => None,
    })
}

/// The parameters of a function, such as `n, m, x` for `slice`: constants, operands, and an axis if it has
/// one.
fn parameters(builtin: Builtin) -> String {
    let sizes = builtin.statics().iter().filter(|kind| **kind == StaticKind::Size).count();
    let mut names: Vec<&str> = ["n", "m", "k"].into_iter().take(sizes).collect();
    names.extend(builtin.statics().contains(&StaticKind::Shape).then_some("shape"));
    let n_operands = match builtin.arity() {
        Arity::Exactly(n) => n,
        Arity::AtLeast(n) => n + 1,
    };
    names.extend(["x", "y", "z"].into_iter().take(n_operands));
    names.extend(matches!(builtin.arity(), Arity::AtLeast(_)).then_some("…"));
    names.extend(builtin.has_axis().then_some("axis"));
    names.join(", ")
}
