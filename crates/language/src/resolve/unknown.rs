//! Errors about unknown names, with suggestions.
//!
//! A suggestion fits the place: for a variable a stream of the node, for a call a function or a node, for the
//! loss of a `train` a node with two inputs. A suggested library node comes with its import line.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Confidence, Diagnostic, Edit, Span};
use eddy_tensor::{Builtin, Initialiser, builtins};
use rustc_hash::FxHashMap;

use super::foreign::{self, Replacement};
use super::library::{self, LibraryNode};
use super::scope::{Nodes, Scope};
use super::synthesis::{MAX_ORDER, order};
use crate::codes;
use crate::names::Name;
use crate::program::{Base, Module, Node, SlotId};
use crate::tree::Ident;

/// The error about a call of an unknown name.
pub(super) fn unknown_callee(name: &str, n_arguments: usize, span: Span, scope: &Scope) -> Diagnostic {
    let diagnostic = unknown(name, span);
    if order(name) > MAX_ORDER {
        return diagnostic.reason(format!("derivatives of derivatives are taken at most {MAX_ORDER} deep"));
    }
    let fits = |node: &LibraryNode| node.inputs.len() == n_arguments;
    let library = library_node(name).filter(|node| fits(node) || foreign::replacement(name).is_none());
    if let Some(node) = library {
        return suggest_import(diagnostic, name, node, scope);
    }
    match foreign::replacement(name) {
        Some(Replacement::Words(words)) => return diagnostic.help(words),
        Some(Replacement::Name(meant)) => return suggest_name(diagnostic, name, meant, scope),
        None => {}
    }
    let mut callable: Vec<&str> = builtins().map(Builtin::name).collect();
    callable.extend(Initialiser::ALL.map(Initialiser::name));
    callable.push("param");
    callable.extend(scope.nodes.keys().map(String::as_str));
    callable.extend(library::nodes().iter().map(|node| node.name.as_str()));
    match nearest(name, callable) {
        Some(meant) => suggest_name(diagnostic, name, meant, scope),
        None => diagnostic.help("nodes of other files are available after `import NAME from \"FILE\";`"),
    }
}

/// The role of a node in a `train`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Trained,
    Loss,
    Optimiser,
}

impl Part {
    /// Whether a node with this many inputs and outputs can have this role.
    fn fits(self, n_inputs: usize, n_outputs: usize) -> bool {
        let is_wide_enough = match self {
            Part::Trained => true,
            Part::Loss => n_inputs == 2,
            Part::Optimiser => n_inputs >= 3,
        };
        is_wide_enough && n_outputs == 1
    }
}

/// The error about a name in a `train` that is not a node.
pub(super) fn unknown_part(part: Part, name: &str, span: Span, scope: &Scope, nodes: &[Node]) -> Diagnostic {
    let title = match part {
        Part::Trained => format!("unknown node `{name}`"),
        Part::Loss => format!("unknown loss `{name}`"),
        Part::Optimiser => format!("unknown optimiser `{name}`"),
    };
    let diagnostic = Diagnostic::error(codes::UNKNOWN_CALLEE, span, title);
    let fits = |base: &Base| match base {
        Base::Node(node) => part.fits(nodes[node.index()].n_inputs, nodes[node.index()].outputs.len()),
        _ => false,
    };
    let here: Vec<&str> =
        scope.nodes.iter().filter(|(_, base)| fits(base)).map(|(name, _)| name.as_str()).collect();
    let from_library =
        |node: &&LibraryNode| part != Part::Trained && part.fits(node.inputs.len(), node.n_outputs);
    let meant = match foreign::replacement(name) {
        Some(Replacement::Name(meant)) => Some(meant),
        _ => {
            let others = library::nodes().iter().filter(from_library).map(|node| node.name.as_str());
            nearest(name, here.iter().copied().chain(others))
        }
    };
    let exact = library_node(name).filter(|node| from_library(node));
    match (exact, meant) {
        (Some(node), _) => suggest_import(diagnostic, name, node, scope),
        (None, Some(meant)) => suggest_name(diagnostic, name, meant, scope),
        (None, None) => match part {
            Part::Loss => diagnostic
                .help("losses are in `eddy:losses`; a node with two inputs and one output is one too"),
            Part::Optimiser => diagnostic
                .help("`sgd`, `momentum` and `adam` need no import; others are in `eddy:optimisers`"),
            Part::Trained => listing(diagnostic, &here),
        },
    }
}

/// Lists the nodes of the file, for names that resemble none of them.
pub(crate) fn listing(diagnostic: Diagnostic, nodes: &[&str]) -> Diagnostic {
    // As many names as fit on two lines.
    const MAX_NAMED: usize = 12;
    if nodes.is_empty() {
        return diagnostic.help("the file has no nodes");
    }
    let named: Vec<String> = nodes.iter().take(MAX_NAMED).map(|name| format!("`{name}`")).collect();
    let rest = match nodes.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    diagnostic.help(format!("the file has {}{rest}", named.join(", ")))
}

/// The error about an unknown variable.
pub(super) fn unknown_variable(module: &Module, ident: Ident, slots: &FxHashMap<Name, SlotId>) -> Diagnostic {
    let text = module.names.text(ident.name);
    let diagnostic =
        Diagnostic::error(codes::UNKNOWN_VARIABLE, ident.span, format!("unknown variable `{text}`"));
    let known = slots.keys().map(|name| module.names.text(*name)).filter(|known| *known != text);
    // A hash map has no stable order, so the names are sorted: the first of several equally near names is
    // suggested.
    let near = {
        let mut known: Vec<&str> = known.collect();
        known.sort_unstable();
        nearest(text, known)
    };
    let case = near.filter(|near| near.eq_ignore_ascii_case(text));
    match (case.is_some(), text.to_lowercase().as_str()) {
        (false, "true" | "false") => diagnostic.suggest(ident.span, &text.to_lowercase()),
        (false, "pi") => diagnostic.help("write the number: `3.141592653589793`"),
        (false, "nan" | "inf" | "infinity" | "null" | "nil" | "none") => diagnostic.help(
            "there is no such constant; a value that may be missing is a stream on a clock, `x when c`",
        ),
        _ => match near {
            Some(meant) => diagnostic.suggest(ident.span, meant),
            None => diagnostic.label("no input or equation of this node defines it"),
        },
    }
}

/// The error about an imported name that the file does not define.
pub(super) fn not_exported<'a>(
    name: &str,
    path: &str,
    span: Span,
    there: impl Iterator<Item = &'a str>,
    prelude: &Nodes,
) -> Diagnostic {
    let title = format!("unknown node or function `{name}` in `{path}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_CALLEE, span, title);
    if prelude.contains_key(name) {
        return diagnostic.help(format!("`{name}` is in the prelude, which needs no import"));
    }
    if eddy_tensor::builtin(name).is_some() {
        return diagnostic.help(format!("`{name}` is a function, which needs no import"));
    }
    if let Some(LibraryNode { path: Some(other), .. }) = library_node(name) {
        return diagnostic.help(format!("`{name}` is in `{other}`: `import {name} from \"{other}\";`"));
    }
    match nearest(name, there) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic,
    }
}

fn unknown(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_CALLEE, span, format!("unknown node or function `{name}`"))
}

/// The library node with this name; nodes of the prelude do not count.
fn library_node(name: &str) -> Option<&'static LibraryNode> {
    library::nodes().iter().find(|node| node.path.is_some() && node.name == name)
}

/// Suggests a name in place of the `written` one, with its import if it needs one.
fn suggest_name(diagnostic: Diagnostic, written: &str, meant: &str, scope: &Scope) -> Diagnostic {
    let is_here = scope.nodes.contains_key(meant) || eddy_tensor::builtin(meant).is_some();
    let span = diagnostic.primary.span;
    match library_node(meant) {
        Some(node) if !is_here => suggest_import(diagnostic, written, node, scope),
        _ => diagnostic.suggest(span, meant),
    }
}

/// Suggests to import a library node.
fn suggest_import(diagnostic: Diagnostic, written: &str, node: &LibraryNode, scope: &Scope) -> Diagnostic {
    let LibraryNode { path: Some(path), name, inputs, .. } = node else { return diagnostic };
    let line = format!("import {name} from \"{path}\";");
    if name != written {
        let inputs = inputs.join(", ");
        return diagnostic.help(format!("did you mean `{name}({inputs})` of the library? It needs `{line}`"));
    }
    let replacement = if scope.has_imports { format!("\n{line}") } else { format!("{line}\n") };
    let edit = Edit { span: scope.next_import, replacement, confidence: Confidence::Maybe };
    diagnostic.help_with_edit(format!("`{name}` is in the library: add `{line}`"), edit)
}
