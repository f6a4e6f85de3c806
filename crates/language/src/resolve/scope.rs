//! The nodes that are visible in a file: its own, those that it imports, and the prelude; the first takes
//! precedence.

use std::collections::{BTreeMap, BTreeSet};

use eddy_body::ir::Mode;
use eddy_syntax::{Diagnostic, Diagnostics, Span};
use eddy_tensor::{builtin, initialiser};

use super::load::File;
use super::synthesis::callable;
use super::unknown::not_exported;
use crate::automata;
use crate::codes;
use crate::program::{
    Base, Callee, ConstantId, Declared, Entity, FunctionId, Made, Module, Node, NodeId, Program, Reference,
    TrainId, TypeDefId,
};
use crate::tree::{Definition, Ident, Imported, Item};

/// The nodes that are visible in one file, by name.
pub(crate) type Nodes = BTreeMap<String, Base>;

/// The functions, constants, types and enumerators that one file sees, by their names.
pub(crate) type Entities = BTreeMap<String, Entity>;

/// What a declaration defines. All names of a file share one name space.
enum Defined {
    Node(Base),
    Entity(Entity),
}

/// The names that are visible in one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub nodes: Nodes,
    pub entities: Entities,
    /// Names that failed imports would have brought into scope; the imports were reported.
    pub missing: BTreeSet<String>,
    /// Where to insert a further import: after the last one, or at the start of the file.
    pub next_import: Span,
    pub has_imports: bool,
}

/// Numbers the nodes of all files and determines the scope of each file.
pub(super) fn scopes(files: Vec<File>, diagnostics: &mut Diagnostics) -> (Program, Vec<Scope>) {
    let mut program = Program::default();
    let mut own: Vec<Nodes> = Vec::new();
    let mut own_entities: Vec<Entities> = Vec::new();
    let mut n_trains = 0;
    // The span of each name's definition, by file.
    let mut places: BTreeMap<(usize, String), Span> = BTreeMap::new();
    for (module, file) in files.iter().enumerate() {
        let (mut scope, mut entities) = (Nodes::new(), Entities::new());
        let mut define = |name: &str, defined: Defined, span: Span, diagnostics: &mut Diagnostics| {
            if let Some(earlier) = places.insert((module, name.to_string()), span) {
                let is_node = matches!(defined, Defined::Node(_)) && scope.contains_key(name);
                diagnostics.push(defined_twice_error(name, is_node, span, earlier));
            }
            match defined {
                Defined::Node(base) => drop(scope.insert(name.to_string(), base)),
                Defined::Entity(entity) => drop(entities.insert(name.to_string(), entity)),
            }
        };
        for (item, declared) in file.tree.items.iter().enumerate() {
            match declared {
                Item::Node(node) => {
                    let id = NodeId::new(program.nodes.len());
                    let name = file.names.text(node.ident.name).to_string();
                    define(&name, Defined::Node(Base::Node(id)), node.ident.span, diagnostics);
                    let mut declared = empty_node((module, item), name, node.ident.span, node.doc.clone());
                    if automata::is_state(&declared.name) {
                        declared.made = Made::State;
                    }
                    program.nodes.push(declared);
                }
                Item::Train(train) => {
                    let name = file.names.text(train.ident.name);
                    let base = Base::Train(TrainId::new(n_trains));
                    define(name, Defined::Node(base), train.ident.span, diagnostics);
                    n_trains += 1;
                }
                Item::Function(_) | Item::Constant(_) | Item::Type(_) => {
                    for (ident, entity) in entities_of(&mut program, (module, item), declared) {
                        let name = file.names.text(ident.name);
                        define(name, Defined::Entity(entity), ident.span, diagnostics);
                    }
                }
                Item::Run(_) | Item::Eval(_) => {}
            }
        }
        own.push(scope);
        own_entities.push(entities);
    }
    let mut scopes: Vec<Scope> = own
        .iter()
        .zip(&files)
        .zip(&own_entities)
        .map(|((nodes, file), entities)| Scope {
            nodes: nodes.clone(),
            entities: entities.clone(),
            missing: BTreeSet::new(),
            next_import: file.tree.imports.last().map_or(file.start, |import| import.span.after()),
            has_imports: !file.tree.imports.is_empty(),
        })
        .collect();
    let exported: Vec<Entities> = own_entities
        .into_iter()
        .zip(&files)
        .map(|(mut entities, file)| {
            entities.retain(|name, _| file.exports.as_ref().is_none_or(|exports| exports.contains(name)));
            entities
        })
        .collect();
    for (module, file) in files.iter().enumerate() {
        for (import, from) in file.tree.imports.iter().zip(&file.imports) {
            if *from == 0 {
                // The file could not be read, which is reported. Uses of its names must not cause further
                // errors.
                if let Imported::Names(idents) = &import.what {
                    let names = idents.iter().map(|ident| file.names.text(ident.name).to_string());
                    scopes[module].missing.extend(names);
                }
                continue;
            }
            let taken: Vec<(String, Span)> = match &import.what {
                Imported::All => {
                    let entities = exported[*from].iter();
                    scopes[module].entities.extend(entities.map(|(name, entity)| (name.clone(), *entity)));
                    own[*from].keys().map(|name| (name.clone(), import.span)).collect()
                }
                Imported::Names(idents) => {
                    idents.iter().map(|ident| (file.names.text(ident.name).to_string(), ident.span)).collect()
                }
            };
            for (name, span) in taken {
                if let Some(entity) = exported[*from].get(&name) {
                    // Enumerators come with their type.
                    let is_taken = |other: &Entity| {
                        other == entity
                            || matches!((other, entity), (Entity::Enumerator(of, _), Entity::Type(ty)) if of == ty)
                    };
                    let entities = exported[*from].iter().filter(|(_, other)| is_taken(other));
                    scopes[module].entities.extend(entities.map(|(name, entity)| (name.clone(), *entity)));
                    continue;
                }
                let Some(node) = own[*from].get(&name) else {
                    let there = own[*from].keys().chain(exported[*from].keys()).map(String::as_str);
                    diagnostics.push(not_exported(&name, &import.path, span, there, &own[0]));
                    scopes[module].missing.insert(name);
                    continue;
                };
                match scopes[module].nodes.insert(name.clone(), *node) {
                    Some(earlier) if earlier != *node => {
                        let place = |at: &usize| places.get(&(*at, name.clone())).copied();
                        let place = place(&module).or_else(|| file.imports.iter().find_map(place));
                        diagnostics.push(defined_twice_error(&name, true, span, place.unwrap_or(span)));
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
        .zip(&scopes)
        .map(|(file, scope)| Module {
            references: vec![Reference::Nothing; file.tree.exprs.len()],
            n_written: file.n_written,
            names: file.names,
            tree: file.tree,
            visible: scope.nodes.clone(),
            entities: scope.entities.clone(),
            // An import that could not be read has the number of the prelude, which no import names.
            imports: file.imports.iter().map(|number| (*number != 0).then_some(*number)).collect(),
            exports: file.exports,
            start: file.start,
            is_library: file.is_library,
        })
        .collect();
    (program, scopes)
}

/// The names that a `fn`, `const` or `type` defines: its own, and the enumerators of an enumeration.
fn entities_of(program: &mut Program, (module, item): (usize, usize), tree: &Item) -> Vec<(Ident, Entity)> {
    let declared = Declared { module, item };
    match tree {
        Item::Function(function) => {
            program.functions.push(declared);
            vec![(function.ident, Entity::Function(FunctionId::new(program.functions.len() - 1)))]
        }
        Item::Constant(constant) => {
            program.constants.push(declared);
            vec![(constant.ident, Entity::Constant(ConstantId::new(program.constants.len() - 1)))]
        }
        Item::Type(definition) => {
            program.types.push(declared);
            let id = TypeDefId::new(program.types.len() - 1);
            let mut entities = vec![(definition.ident, Entity::Type(id))];
            if let Definition::Enumeration(enumerators, _) = &definition.definition {
                entities.extend(
                    enumerators.iter().zip(0..).map(|(ident, at)| (*ident, Entity::Enumerator(id, at))),
                );
            }
            entities
        }
        Item::Node(_) | Item::Run(_) | Item::Train(_) | Item::Eval(_) => Vec::new(),
    }
}

pub(super) fn empty_node(
    (module, item): (usize, usize),
    name: String,
    span: Span,
    doc: Option<String>,
) -> Node {
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
        is_expanded: false,
        bundles: Vec::new(),
        is_static: Vec::new(),
        is_broken: false,
        lets: Vec::new(),
        made: Made::Written,
        is_template: false,
    }
}

/// Resolves the name of a call in a node, where functions of the program hide those of the table.
pub(super) fn callee_in(name: &str, scope: &Scope) -> Option<Callee> {
    let function = |name: &str| match scope.entities.get(name) {
        Some(Entity::Function(id)) => Some(*id),
        _ => None,
    };
    if let Some(function) = function(name) {
        return Some(Callee::Applied(function, Vec::new()));
    }
    callee_of(name, &scope.nodes).or_else(|| {
        let (mut rest, mut modes) = (name, Vec::new());
        loop {
            let (mode, inner) = match rest.strip_prefix("adj_") {
                Some(inner) => (Mode::Adj, inner),
                None => (Mode::Tan, rest.strip_prefix("tan_")?),
            };
            modes.insert(0, mode);
            rest = inner;
            if let Some(function) = function(rest) {
                return Some(Callee::Applied(function, modes));
            }
        }
    })
}

/// Resolves the name of a node, of a synthesised one, or of a function of the table.
pub(crate) fn callee_of(name: &str, nodes: &Nodes) -> Option<Callee> {
    if name == "param" {
        return Some(Callee::Param);
    }
    if let Some(base) = nodes.get(name) {
        return Some(Callee::Instance((*base).into()));
    }
    if name == "all_sum" {
        return Some(Callee::AllSum);
    }
    let function = initialiser(name).map(Callee::Initialiser).or_else(|| builtin(name).map(Callee::Function));
    function.or_else(|| callable(name, nodes).map(Callee::Instance))
}

fn defined_twice_error(name: &str, is_node: bool, span: Span, earlier: Span) -> Diagnostic {
    let what = if is_node { "the node " } else { "" };
    Diagnostic::error(codes::DEFINED_TWICE, span, format!("{what}`{name}` is defined twice"))
        .cause(earlier, "the first definition")
}
