//! Which nodes a file sees: its own, those that it imports, and the prelude, in this order.

use std::collections::{BTreeMap, BTreeSet};

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use eddy_tensor::{builtin, initialiser};

use super::load::File;
use super::synthesis::callable;
use super::unknown::not_exported;
use crate::codes;
use crate::program::{Base, Callee, Module, Node, NodeId, Program, Reference, TrainId};
use crate::tree::{Imported, Item};

/// The nodes that one file sees, by their names.
pub(super) type Nodes = BTreeMap<String, Base>;

/// What one file sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub nodes: Nodes,
    /// Names that an import should have brought and did not, which was reported.
    pub missing: BTreeSet<String>,
    /// Where a further import would stand: behind the last one, or at the start of the file.
    pub next_import: Span,
    pub has_imports: bool,
}

/// Numbers the nodes of all files and finds out what each file sees.
pub(super) fn scopes(files: Vec<File>, diagnostics: &mut Diagnostics) -> (Program, Vec<Scope>) {
    let mut program = Program::default();
    let mut own: Vec<Nodes> = Vec::new();
    let mut n_trains = 0;
    // Where each name of each file is defined.
    let mut places: BTreeMap<(usize, String), Span> = BTreeMap::new();
    for (module, file) in files.iter().enumerate() {
        let mut scope = Nodes::new();
        let mut define = |name: &str, base: Base, span: Span, diagnostics: &mut Diagnostics| {
            if scope.insert(name.to_string(), base).is_some() {
                diagnostics.push(twice(name, span, places[&(module, name.to_string())]));
            }
            places.insert((module, name.to_string()), span);
        };
        for (item, declared) in file.tree.items.iter().enumerate() {
            match declared {
                Item::Node(node) => {
                    let id = NodeId(program.nodes.len());
                    let name = file.names.text(node.ident.name).to_string();
                    define(&name, Base::Node(id), node.ident.span, diagnostics);
                    program.nodes.push(empty_node((module, item), name, node.ident.span, node.doc.clone()));
                }
                Item::Train(train) => {
                    let name = file.names.text(train.ident.name);
                    define(name, Base::Train(TrainId(n_trains)), train.ident.span, diagnostics);
                    n_trains += 1;
                }
                Item::Run(_) => {}
            }
        }
        own.push(scope);
    }
    let mut scopes: Vec<Scope> = own
        .iter()
        .zip(&files)
        .map(|(nodes, file)| Scope {
            nodes: nodes.clone(),
            missing: BTreeSet::new(),
            next_import: file.tree.imports.last().map_or(file.start, |import| import.span.after()),
            has_imports: !file.tree.imports.is_empty(),
        })
        .collect();
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
                    diagnostics.push(not_exported(&name, &import.path, span, &own[*from], &own[0]));
                    scopes[module].missing.insert(name);
                    continue;
                };
                match scopes[module].nodes.insert(name.clone(), *node) {
                    Some(earlier) if earlier != *node => {
                        let place = |at: &usize| places.get(&(*at, name.clone())).copied();
                        let place = place(&module).or_else(|| file.imports.iter().find_map(place));
                        diagnostics.push(twice(&name, span, place.unwrap_or(span)));
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
            is_library: file.is_library,
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
    if let Some(base) = scope.nodes.get(name) {
        return Some(Callee::Instance((*base).into()));
    }
    let function = initialiser(name).map(Callee::Initialiser).or_else(|| builtin(name).map(Callee::Function));
    function.or_else(|| callable(name, &scope.nodes).map(Callee::Instance))
}

fn twice(name: &str, span: Span, earlier: Span) -> Diagnostic {
    Diagnostic::error(codes::DEFINED_TWICE, span, format!("the node `{name}` is defined twice"))
        .cause(earlier, "the first definition")
}
