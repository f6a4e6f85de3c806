//! Which nodes a file sees: its own, those that it imports, and the prelude, in this order.

use std::collections::{BTreeMap, BTreeSet};

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Builtin, builtin, builtins, initialiser};

use super::load::File;
use crate::codes;
use crate::program::{Callee, Module, Node, NodeId, Program, Reference};
use crate::tree::{Imported, Item};

/// The nodes that one file sees, by their names.
pub(super) type Nodes = BTreeMap<String, NodeId>;

/// What one file sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub nodes: Nodes,
    /// Names that an import should have brought and did not, which was reported.
    pub missing: BTreeSet<String>,
}

/// Numbers the nodes of all files and finds out what each file sees.
pub(super) fn scopes(files: Vec<File>, diagnostics: &mut Vec<Diagnostic>) -> (Program, Vec<Scope>) {
    let mut program = Program::default();
    let mut own: Vec<Nodes> = Vec::new();
    for (module, file) in files.iter().enumerate() {
        let mut scope = Nodes::new();
        for (item, node) in file.tree.items.iter().enumerate() {
            let Item::Node(node) = node else { continue };
            let id = NodeId(program.nodes.len());
            let name = file.names.text(node.ident.name).to_string();
            if let Some(earlier) = scope.get(&name) {
                diagnostics.push(twice(&name, node.ident.span, program.node(*earlier).span));
            }
            scope.insert(name.clone(), id);
            program.nodes.push(empty_node((module, item), name, node.ident.span, node.doc.clone()));
        }
        for train in file.tree.trains() {
            let name = file.names.text(train.ident.name);
            if let Some(earlier) = scope.get(name) {
                diagnostics.push(twice(name, train.ident.span, program.node(*earlier).span));
            }
        }
        own.push(scope);
    }
    let mut scopes: Vec<Scope> =
        own.iter().map(|nodes| Scope { nodes: nodes.clone(), missing: BTreeSet::new() }).collect();
    for (module, file) in files.iter().enumerate() {
        for (import, from) in file.tree.imports.iter().zip(&file.imports) {
            if *from == 0 {
                // The file could not be read, which was reported; its names are no mistakes later on.
                if let Imported::Names(idents) = &import.what {
                    let names = idents.iter().map(|ident| file.names.text(ident.name).to_string());
                    scopes[module].missing.extend(names);
                }
                continue;
            }
            let taken: Vec<(String, Span)> = match &import.what {
                Imported::All => own[*from].keys().map(|name| (name.clone(), import.span)).collect(),
                Imported::Names(idents) => {
                    idents.iter().map(|ident| (file.names.text(ident.name).to_string(), ident.span)).collect()
                }
            };
            for (name, span) in taken {
                let Some(node) = own[*from].get(&name) else {
                    diagnostics.push(not_there(&name, &import.path, span, &own[*from]));
                    scopes[module].missing.insert(name);
                    continue;
                };
                match scopes[module].nodes.insert(name.clone(), *node) {
                    Some(earlier) if earlier != *node => {
                        diagnostics.push(twice(&name, span, program.node(earlier).span));
                    }
                    _ => {}
                }
            }
        }
        let seen = &mut scopes[module].nodes;
        for (name, node) in &own[0] {
            seen.entry(name.clone()).or_insert(*node);
        }
    }
    program.modules = files
        .into_iter()
        .map(|file| Module {
            references: vec![Reference::Nothing; file.tree.exprs.len()],
            names: file.names,
            tree: file.tree,
        })
        .collect();
    (program, scopes)
}

fn empty_node((module, item): (usize, usize), name: String, span: Span, doc: Option<String>) -> Node {
    Node {
        module,
        item,
        name,
        span,
        doc,
        slots: Vec::new(),
        n_inputs: 0,
        outputs: Vec::new(),
        equations: Vec::new(),
        is_static: Vec::new(),
    }
}

/// What a name that is called stands for.
pub(super) fn callee(name: &str, scope: &Scope) -> Option<Callee> {
    if name == "param" {
        return Some(Callee::Param);
    }
    if let Some(node) = scope.nodes.get(name) {
        return Some(Callee::Node(*node));
    }
    initialiser(name).map(Callee::Initialiser).or_else(|| builtin(name).map(Callee::Function))
}

/// The message about a call of something that is not there.
pub(super) fn unknown_callee(name: &str, span: Span, scope: &Scope) -> Diagnostic {
    let functions =
        builtins().map(Builtin::name).chain(["zeros", "ones", "glorot_uniform", "orthogonal", "param"]);
    let mut known: Vec<&str> = functions.collect();
    known.extend(scope.nodes.keys().map(String::as_str));
    let diagnostic =
        Diagnostic::error(codes::UNKNOWN_CALLEE, span, format!("unknown node or function `{name}`"));
    match nearest(name, known) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic.help("nodes of other files are there after `import NAME from \"FILE\";`"),
    }
}

fn twice(name: &str, span: Span, earlier: Span) -> Diagnostic {
    Diagnostic::error(codes::DEFINED_TWICE, span, format!("the node `{name}` is defined twice"))
        .cause(earlier, "the first definition")
}

fn not_there(name: &str, path: &str, span: Span, there: &Nodes) -> Diagnostic {
    let title = format!("unknown node or function `{name}` in `{path}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_CALLEE, span, title);
    match nearest(name, there.keys().map(String::as_str)) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic,
    }
}
