//! The library: Eddy files that are built into the binary. A program imports them as `eddy:NAME`.

use std::sync::OnceLock;

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Confidence, Diagnostic, Edit, SourceFile, Span};

use crate::codes;
use crate::parse::parse;
use crate::tree;

/// The prelude: nodes that are visible in every program.
pub(super) const PRELUDE: &str = include_str!("../../../../library/prelude.eddy");

/// The prefix of library paths in imports. A file in a folder called `eddy:` can be imported as `./eddy:…`.
const PREFIX: &str = "eddy:";

/// The files of the library and their names in imports, in alphabetical order.
const FILES: &[(&str, &str)] = &[
    ("attention", include_str!("../../../../library/attention.eddy")),
    ("distributions", include_str!("../../../../library/distributions.eddy")),
    ("experts", include_str!("../../../../library/experts.eddy")),
    ("filters", include_str!("../../../../library/filters.eddy")),
    ("fourier", include_str!("../../../../library/fourier.eddy")),
    ("layers", include_str!("../../../../library/layers.eddy")),
    ("linear", include_str!("../../../../library/linear.eddy")),
    ("losses", include_str!("../../../../library/losses.eddy")),
    ("minimise", include_str!("../../../../library/minimise.eddy")),
    ("numerics", include_str!("../../../../library/numerics.eddy")),
    ("odes", include_str!("../../../../library/odes.eddy")),
    ("optimisers", include_str!("../../../../library/optimisers.eddy")),
    ("random", include_str!("../../../../library/random.eddy")),
    ("recurrent", include_str!("../../../../library/recurrent.eddy")),
    ("resets", include_str!("../../../../library/resets.eddy")),
    ("roots", include_str!("../../../../library/roots.eddy")),
    ("schedules", include_str!("../../../../library/schedules.eddy")),
];

/// Whether an import path refers to the library.
pub(super) fn is_library(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// The text of a library file.
pub(super) fn text(path: &str) -> Option<&'static str> {
    let name = path.strip_prefix(PREFIX)?;
    FILES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// A node of the library or the prelude, as diagnostics describe it.
#[derive(Debug)]
pub(crate) struct LibraryNode {
    /// The import path, such as `eddy:layers`; `None` if it is in the prelude.
    pub path: Option<String>,
    pub name: String,
    pub inputs: Vec<String>,
    pub n_outputs: usize,
}

/// All nodes of the prelude and the library. Only diagnostics need them, so they are parsed at the first
/// call.
pub(crate) fn nodes() -> &'static [LibraryNode] {
    static NODES: OnceLock<Vec<LibraryNode>> = OnceLock::new();
    NODES.get_or_init(|| {
        let files = FILES.iter().map(|(name, text)| (Some(format!("{PREFIX}{name}")), *text));
        files.chain([(None, PRELUDE)]).flat_map(|(path, text)| nodes_of(path, text)).collect()
    })
}

fn nodes_of(path: Option<String>, text: &str) -> Vec<LibraryNode> {
    let parsed = parse(&SourceFile::new("library", text));
    let name_of = |ident: &tree::Ident| parsed.names.text(ident.name).to_string();
    let nodes = parsed.program.items.iter().filter_map(|item| match item {
        tree::Item::Node(node) => Some(LibraryNode {
            path: path.clone(),
            name: name_of(&node.ident),
            inputs: node.inputs.iter().map(|decl| name_of(&decl.ident)).collect(),
            n_outputs: node.outputs.len(),
        }),
        _ => None,
    });
    nodes.collect()
}

/// The library file with the name of an unreadable path: `layers` or `layers.eddy`.
pub(super) fn file_named(path: &str) -> Option<String> {
    let name = path.trim_end_matches(".eddy");
    FILES.iter().find(|(known, _)| *known == name).map(|(known, _)| format!("{PREFIX}{known}"))
}

/// The error about an import of a library file that does not exist.
pub(super) fn unknown_file(path: &str, span: Span) -> Diagnostic {
    let names: Vec<String> = FILES.iter().map(|(name, _)| format!("{PREFIX}{name}")).collect();
    let diagnostic = Diagnostic::error(codes::IMPORT, span, format!("there is no `{path}` in the library"))
        .reason(format!("the library has {}", names.join(", ")));
    // Users may write the extension, because other files have it.
    match nearest(path.trim_end_matches(".eddy"), names.iter().map(String::as_str)) {
        Some(meant) => {
            let edit = Edit { span, replacement: format!("\"{meant}\""), confidence: Confidence::Maybe };
            diagnostic.help_with_edit(format!("did you mean `{meant}`?"), edit)
        }
        None => diagnostic,
    }
}
