//! Finds the symbol that each token of a program names.
//!
//! Resolution has already resolved variables and calls. Calls with errors, such as one with too few
//! arguments, are looked up again by name; so are the names in imports, `train`s and test benches.

use eddy_syntax::Span;
use eddy_tensor::Static;
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::CollectedFacts;
use super::functions::FunctionSymbols;
use super::{Occurrence, Purpose, Symbol, SymbolId, SymbolKind};
use crate::elaborate::{constant_expression, interface};
use crate::program::{
    Base, Callable, Callee, Equation, Made, Module, Node, NodeId, Program, Reference, SlotId, TrainId,
};
use crate::resolve::synthesis;
use crate::tree::{self, ExprId, Ident, Imported, Item, RowValue, RunOptionKind, StreamPath};

/// The symbols of a program, and all tokens that name them.
pub(super) fn collect(
    program: &Program,
    known: CollectedFacts,
    types: FxHashMap<Span, String>,
) -> (Vec<Symbol>, Vec<Occurrence>) {
    let mut collector = Collector {
        program,
        known,
        symbols: Vec::new(),
        files: Vec::new(),
        nodes: Vec::new(),
        trains: Vec::new(),
        streams: Vec::new(),
        defaulted: FxHashMap::default(),
        operations: FxHashMap::default(),
        functions: FunctionSymbols { types, ..FunctionSymbols::default() },
        visited: program.modules.iter().map(|module| vec![false; module.tree.exprs.len()]).collect(),
        occurrences: Vec::new(),
    };
    collector.declare_all();
    collector.declare_entities();
    for (module, file) in program.modules.iter().enumerate() {
        file.tree.items.iter().for_each(|item| collector.function_item(module, item));
    }
    for node in (0..program.nodes.len()).map(NodeId::new) {
        collector.node(node);
    }
    for module in 0..program.modules.len() {
        collector.orphans(module);
        collector.imports(module);
        for item in &program.modules[module].tree.items {
            match item {
                Item::Node(_) => {} // visited above
                Item::Run(run) => collector.run(module, run),
                Item::Train(train) => collector.train(module, train),
                Item::Function(_) | Item::Constant(_) | Item::Type(_) | Item::Eval(_) => {} // visited above
            }
        }
    }
    (collector.symbols, collector.occurrences)
}

pub(super) struct Collector<'a> {
    pub program: &'a Program,
    pub known: CollectedFacts,
    pub symbols: Vec<Symbol>,
    /// The symbols of modules, nodes and `train`s, by index.
    files: Vec<SymbolId>,
    nodes: Vec<SymbolId>,
    trains: Vec<SymbolId>,
    /// The symbols of the streams of each node.
    pub streams: Vec<Vec<SymbolId>>,
    /// The symbols of inputs whose default is a node, which have no stream, by their declarations.
    defaulted: FxHashMap<Span, SymbolId>,
    /// The operations that occur, by name.
    operations: FxHashMap<&'static str, SymbolId>,
    pub functions: FunctionSymbols,
    /// For each module, which expressions belong to a node or a function.
    pub visited: Vec<Vec<bool>>,
    occurrences: Vec<Occurrence>,
}

impl Collector<'_> {
    fn declare_all(&mut self) {
        let program = self.program;
        for (number, module) in program.modules.iter().enumerate() {
            let file = self.declare(Symbol {
                definition: Some(module.start),
                is_library: module.is_library,
                ..blank_symbol(SymbolKind::File(number))
            });
            self.files.push(file);
        }
        for (number, node) in program.nodes.iter().enumerate() {
            let (id, is_library) = (NodeId::new(number), program.modules[node.module].is_library);
            let symbol = self.declare(Symbol {
                name: node.name.clone(),
                definition: Some(node.span),
                doc: node.doc.clone(),
                is_library,
                look_ahead: self.known.of_node(id),
                ..blank_symbol(SymbolKind::Node(id))
            });
            self.nodes.push(symbol);
            let parameters = parameters(program.module_of(id), node);
            let streams = (0..node.slots.len()).map(SlotId::new).map(|slot| Symbol {
                name: written_name(&node.slots[slot.index()].name).to_string(),
                role: Some(node.slots[slot.index()].role),
                is_parameter: parameters.contains(&slot),
                definition: Some(node.slots[slot.index()].span),
                is_library,
                facts: self.known.of_slot(id, slot),
                ..blank_symbol(SymbolKind::Stream { node: id, slot })
            });
            let streams: Vec<Symbol> = streams.collect();
            let streams = streams.into_iter().map(|stream| self.declare(stream)).collect();
            self.streams.push(streams);
        }
        // `train`s are numbered in this order.
        let places = program.modules.iter().flat_map(|module| module.tree.trains());
        for (number, (train, place)) in program.trains.iter().zip(places).enumerate() {
            let symbol = self.declare(Symbol {
                name: train.name.clone(),
                definition: Some(place.ident.span),
                is_library: program.modules[train.module].is_library,
                ..blank_symbol(SymbolKind::Train(TrainId::new(number)))
            });
            self.trains.push(symbol);
        }
    }

    /// Adds a symbol.
    pub fn declare(&mut self, symbol: Symbol) -> SymbolId {
        let id = SymbolId::new(self.symbols.len());
        self.symbols.push(symbol);
        id
    }

    /// The symbol of an input of a node that has no stream; `None` if there is no input of this name.
    pub fn defaulted_input(&mut self, node: NodeId, name: &str) -> Option<SymbolId> {
        let declared = self.program.node(node);
        let module = self.program.module_of(node);
        let mut inputs = self.program.tree_of(declared).inputs.iter();
        let ident = inputs.find(|input| module.names.text(input.ident.name) == name)?.ident;
        if let Some(symbol) = self.defaulted.get(&ident.span) {
            return Some(*symbol);
        }
        let symbol = self.declare(Symbol {
            name: name.to_string(),
            definition: Some(ident.span),
            is_library: module.is_library,
            ..blank_symbol(SymbolKind::Local)
        });
        self.defaulted.insert(ident.span, symbol);
        Some(symbol)
    }

    /// Adds an occurrence of an operation.
    pub fn operation(
        &mut self,
        (kind, name, doc): (SymbolKind, &'static str, &str),
        span: Span,
    ) -> &mut Occurrence {
        let symbol = match self.operations.get(name) {
            Some(symbol) => *symbol,
            None => {
                let doc = Some(doc.to_string());
                let name = name.to_string();
                self.declare(Symbol { name, doc, is_library: true, ..blank_symbol(kind) })
            }
        };
        self.operations.insert(name, symbol);
        self.name(symbol, span, Purpose::Use)
    }

    /// Adds an occurrence of a symbol.
    pub fn name(&mut self, symbol: SymbolId, span: Span, purpose: Purpose) -> &mut Occurrence {
        let number = self.occurrences.len();
        self.occurrences.push(Occurrence { span, symbol, purpose, is_derived: false, facts: Vec::new() });
        &mut self.occurrences[number]
    }

    /// Adds an occurrence of a node or of a node synthesised from it.
    pub fn callable(&mut self, callable: &Callable, span: Span) -> &mut Occurrence {
        let (symbol, is_woven) = match callable.base {
            Base::Node(node) => (self.nodes[node.index()], false),
            Base::Woven { node, .. } => (self.nodes[node.index()], true),
            Base::Train(train) | Base::Test(train) => (self.trains[train.index()], false),
        };
        let occurrence = self.name(symbol, span, Purpose::Use);
        occurrence.is_derived = is_woven || !callable.modes.is_empty();
        occurrence
    }

    /// Visits a node, including the equations that resolution removed.
    fn node(&mut self, id: NodeId) {
        let node = self.program.node(id);
        // A node that composition makes has the text of another one.
        if node.made != Made::Written {
            return;
        }
        self.name(self.nodes[id.index()], node.span, Purpose::Definition);
        let tree = self.program.tree_of(node);
        self.walk_node(id).whole(tree);
    }

    /// Visits expressions outside of any tree, because the text around them could not be parsed. They belong
    /// to the node before them; without such a node, to a function whose local names are unknown.
    fn orphans(&mut self, number: usize) {
        let exprs = &self.program.modules[number].tree.exprs;
        let written = exprs.ids().take(self.program.modules[number].n_written);
        let mut orphans: Vec<ExprId> = written.filter(|expr| !self.visited[number][expr.index()]).collect();
        orphans.sort_by_key(|expr| exprs.at(*expr));
        let is_here = |node: &NodeId| {
            let node = self.program.node(*node);
            node.module == number && node.made == Made::Written
        };
        let mut nodes = (0..self.program.nodes.len()).map(NodeId::new).filter(is_here).peekable();
        let starts_before =
            |node: &NodeId, expr: ExprId| self.program.node(*node).span.start < exprs.at(expr).start;
        let mut at: Option<NodeId> = None;
        let mut parts: Vec<(NodeId, ExprId)> = Vec::new();
        for expr in orphans {
            while let Some(node) = nodes.next_if(|node| starts_before(node, expr)) {
                at = Some(node);
            }
            match at {
                Some(node) => parts.push((node, expr)),
                None => self.orphan(number, expr),
            }
        }
        for of_node in parts.chunk_by(|left, right| left.0 == right.0) {
            let mut walk = self.walk_node(of_node[0].0);
            for (_, expr) in of_node {
                walk.named(*expr);
            }
        }
    }

    fn imports(&mut self, number: usize) {
        let module = &self.program.modules[number];
        for (import, file) in module.tree.imports.iter().zip(&module.imports) {
            let Some(file) = *file else { continue };
            self.name(self.files[file], import.path_span, Purpose::Use);
            if let Imported::Names(idents) = &import.what {
                for ident in idents {
                    let entity = module.entities.get(module.names.text(ident.name));
                    if let Some(symbol) = entity.and_then(|entity| self.functions.entities.get(entity)) {
                        self.name(*symbol, ident.span, Purpose::Use);
                    } else {
                        self.visible(number, *ident);
                    }
                }
            }
        }
    }

    /// Adds an occurrence of a node or of a node synthesised from it, if the name is visible.
    fn visible(&mut self, module: usize, ident: Ident) -> Option<Callable> {
        let module = &self.program.modules[module];
        let callable = synthesis::callable(module.names.text(ident.name), &module.visible)?;
        self.callable(&callable, ident.span);
        Some(callable)
    }

    fn train(&mut self, module: usize, train: &tree::Train) {
        let names = &self.program.modules[module].names;
        if let Some(Base::Train(id)) = self.program.modules[module].visible.get(names.text(train.ident.name))
        {
            self.name(self.trains[id.index()], train.ident.span, Purpose::Definition);
        }
        self.visible(module, train.node);
        self.visible(module, train.loss);
        for rule in &train.rules {
            let optimiser = self.visible(module, rule.optimiser);
            self.arguments(module, optimiser.as_ref(), rule.arguments);
        }
    }

    fn run(&mut self, number: usize, run: &tree::Run) {
        let Some(callable) = self.visible(number, run.node) else { return };
        if self.program.is_broken(callable.base) {
            return;
        }
        let module = &self.program.modules[number];
        for row in &run.rows {
            if !self.stream_of_origin(module, row.ident, &callable) {
                self.port(module, run, row.ident, &callable);
            }
            self.labels(number, row.ident);
            if let RowValue::Constant(value) = row.value {
                self.expression(number, value);
            }
        }
        let shown = run.options.iter().filter_map(|option| match &option.kind {
            RunOptionKind::Show(paths) => Some(paths),
            _ => None,
        });
        for path in shown.flatten() {
            path.segments.iter().for_each(|segment| self.labels(number, segment.ident));
            match path.segments.as_slice() {
                [only] if !self.stream_of_origin(module, only.ident, &callable) => {
                    self.port(module, run, only.ident, &callable);
                }
                [_] => {}
                _ => self.path(module, path, &callable),
            }
        }
    }

    /// Adds occurrences of the fields in the name of a leaf, `p.x`.
    fn labels(&mut self, number: usize, ident: Ident) {
        let names = &self.program.modules[number].names;
        let text = names.text(ident.name);
        let mut at = 0;
        for (n, label) in text.split('.').enumerate() {
            let start = ident.span.start + u32::try_from(at).unwrap_or(u32::MAX);
            let end = start + u32::try_from(label.len()).unwrap_or(u32::MAX);
            if n > 0
                && let Some(name) = names.find(label)
            {
                self.field_name(number, Ident { name, span: Span { start, end } });
            }
            at += label.len() + 1;
        }
    }

    /// Adds an occurrence of a stream of the node that is run; returns whether it has a stream of this name.
    fn stream_of_origin(&mut self, module: &Module, ident: Ident, callable: &Callable) -> bool {
        let origin = self.program.origin(callable.base);
        let name = module.names.text(ident.name);
        let slot = self.program.node(origin).slots.iter().position(|slot| is_part_of(&slot.name, name));
        let symbol = match slot {
            Some(slot) => Some(self.streams[origin.index()][slot]),
            None => self.defaulted_input(origin, name),
        };
        if let Some(symbol) = symbol {
            self.name(symbol, record_span(name, ident.span), Purpose::Use);
        }
        symbol.is_some()
    }

    /// Adds an occurrence of an input or output that a derivative adds. Its symbol is the stream that is
    /// differentiated, which has the same span.
    fn port(&mut self, module: &Module, run: &tree::Run, ident: Ident, callable: &Callable) {
        let name = module.names.text(ident.name);
        let origin = self.program.origin(callable.base);
        let constants = run.rows.iter().filter_map(|row| match row.value {
            RowValue::Constant(expr) => {
                let value = constant_expression(&module.tree.exprs, expr).ok()?;
                Some((module.names.text(row.ident.name).to_string(), value))
            }
            RowValue::Cells(_) => None,
        });
        let mut constants: FxHashMap<String, Static> = constants.collect();
        let mut run_as = callable.clone();
        if let Some(bench) = self.program.benches.get(&run.span) {
            constants.extend(bench.constants.iter().cloned());
            run_as.base = bench.base_of(callable.base);
        }
        let Ok(interface) = interface(self.program, &run_as, &constants) else { return };
        let mut ports = interface.inputs.iter().chain(&interface.outputs);
        let Some(port) = ports.find(|port| port.name == name) else { return };
        let slots = &self.program.node(origin).slots;
        let symbol = match slots.iter().position(|slot| slot.span == port.span) {
            Some(slot) => self.streams[origin.index()][slot],
            None => self.nodes[origin.index()],
        };
        self.name(symbol, record_span(name, ident.span), Purpose::Use).is_derived = true;
    }

    /// `f#1/x`: instances, outermost first, then a stream.
    fn path(&mut self, module: &Module, path: &StreamPath, callable: &Callable) {
        let mut at = self.program.origin(callable.base);
        for segment in &path.segments {
            let name = module.names.text(segment.ident.name);
            if let Some(ordinal) = segment.instance {
                let Some(callee) = self.instance(at, name, ordinal) else { return };
                self.callable(&callee, segment.ident.span);
                at = self.program.origin(callee.base);
            } else {
                let slots = &self.program.node(at).slots;
                let Some(slot) = slots.iter().position(|slot| is_part_of(&slot.name, name)) else { return };
                let span = record_span(name, segment.ident.span);
                self.name(self.streams[at.index()][slot], span, Purpose::Use);
            }
        }
    }

    /// The call with this name and ordinal in a node.
    fn instance(&self, node: NodeId, name: &str, ordinal: u32) -> Option<Callable> {
        let module = self.program.module_of(node);
        let exprs = &module.tree.exprs;
        let mut todo: Vec<ExprId> =
            self.program.node(node).equations.iter().map(|equation| equation.value).collect();
        while let Some(expr) = todo.pop() {
            if let Reference::Call { callee: Callee::Instance(callable), ordinal: number, site } =
                &module.references[expr.index()]
                && *number == ordinal
                && match site.as_ref().and_then(|site| site.label.as_ref()) {
                    Some(label) => label == name,
                    None => self.program.name_of(callable) == name,
                }
            {
                return Some(callable.clone());
            }
            todo.extend(exprs.children(expr));
        }
        None
    }
}

/// Whether a stream has this name, or is a leaf of the record that has it.
fn is_part_of(stream: &str, name: &str) -> bool {
    stream.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The place of the record in the name of a leaf.
fn record_span(name: &str, span: Span) -> Span {
    let length = u32::try_from(written_name(name).len()).unwrap_or(u32::MAX);
    Span { start: span.start, end: span.start.saturating_add(length) }
}

/// The name of the stream that a leaf of a record, or the last value of a state machine, belongs to.
pub(super) fn written_name(name: &str) -> &str {
    let name = name.strip_suffix(":last").unwrap_or(name);
    name.split('.').next().unwrap_or(name)
}

/// The streams of a node that are defined by `param`.
fn parameters(module: &Module, node: &Node) -> FxHashSet<SlotId> {
    let is_parameter = |equation: &&Equation| {
        let value = module.tree.exprs.without_parentheses(equation.value);
        matches!(module.references[value.index()], Reference::Call { callee: Callee::Param, .. })
    };
    let equations = node.equations.iter().filter(is_parameter);
    equations.flat_map(|equation| equation.targets.iter().copied().flatten()).collect()
}

/// A symbol of this kind with all other fields empty.
pub(super) fn blank_symbol(kind: SymbolKind) -> Symbol {
    Symbol {
        name: String::new(),
        kind,
        role: None,
        is_parameter: false,
        definition: None,
        doc: None,
        is_library: false,
        facts: Vec::new(),
        ty: None,
        look_ahead: None,
    }
}
