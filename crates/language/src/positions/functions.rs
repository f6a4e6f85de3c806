//! Finds the symbols that functions, constants, types and evaluations name. [`body`](super::body) has what is
//! different in nodes.
//!
//! Names are looked up as in lowering: first bound names, then names of the file, then functions of the
//! operation table. Fields of records have one symbol per label: records are structural.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::body::NodeScope;
use super::names::{Collector, blank_symbol};
use super::operators::operator;
use super::{Purpose, Symbol, SymbolId, SymbolKind};
use crate::automata;
use crate::functions::calls::function_named;
use crate::functions::{Code, operators};
use crate::names::Name;
use crate::program::{ConstantId, Entity, FunctionId, Module, Reference, TypeDefId};
use crate::tree::{
    self, Case, Control, Definition, ExprId, ExprKind, Form, Ident, Param, PatternId, PatternKind, TypeId,
    TypeKind,
};

/// The symbols in functions.
#[derive(Default)]
pub(super) struct FunctionSymbols {
    pub entities: FxHashMap<Entity, SymbolId>,
    pub fields: FxHashMap<String, SymbolId>,
    /// The types of bound names, by the spans where they are bound.
    pub types: FxHashMap<Span, String>,
}

/// The work list; the next item is the last.
pub(super) enum Step {
    Expr(ExprId),
    Type(TypeId),
    Pattern(PatternId),
    Bind(Ident),
    /// Ends scopes: only this many of the bound names stay bound.
    Leave(usize),
}

impl<'a> Collector<'a> {
    /// Declares functions, constants, types and enumerators of all files.
    pub(super) fn declare_entities(&mut self) {
        let program = self.program;
        for id in (0..program.functions.len()).map(FunctionId::new) {
            let (module, tree) = program.function(id);
            self.entity(module, tree.ident, Entity::Function(id), tree.doc.clone());
        }
        for id in (0..program.constants.len()).map(ConstantId::new) {
            let (module, tree) = program.constant(id);
            self.entity(module, tree.ident, Entity::Constant(id), tree.doc.clone());
        }
        for id in (0..program.types.len()).map(TypeDefId::new) {
            let (module, tree) = program.type_def(id);
            self.entity(module, tree.ident, Entity::Type(id), tree.doc.clone());
            match &tree.definition {
                Definition::Enumeration(cases, _) => {
                    for (number, case) in (0..).zip(cases) {
                        self.entity(module, *case, Entity::Enumerator(id, number), None);
                    }
                }
                Definition::Alias(ty) => {
                    if let TypeKind::Record(fields) = program.modules[module].tree.written.ty(*ty) {
                        for (label, _) in fields {
                            self.field_symbol(module, *label, true);
                        }
                    }
                }
            }
        }
    }

    fn entity(&mut self, module: usize, ident: Ident, entity: Entity, doc: Option<String>) {
        let file = &self.program.modules[module];
        let symbol = self.declare(Symbol {
            name: file.names.text(ident.name).to_string(),
            definition: Some(ident.span),
            doc,
            is_library: file.is_library,
            ty: self.functions.types.get(&ident.span).cloned(),
            ..blank_symbol(SymbolKind::Entity(entity))
        });
        self.functions.entities.insert(entity, symbol);
        // The states of a machine have a type that is not written.
        if automata::is_state(file.names.text(ident.name)) {
            return;
        }
        self.name(symbol, ident.span, Purpose::Definition);
    }

    /// The symbol of a label; a declared type defines it.
    fn field_symbol(&mut self, module: usize, label: Ident, is_definition: bool) -> SymbolId {
        let name = self.program.modules[module].names.text(label.name).to_string();
        if let Some(symbol) = self.functions.fields.get(&name) {
            return *symbol;
        }
        let definition = is_definition.then_some(label.span);
        let symbol =
            self.declare(Symbol { name: name.clone(), definition, ..blank_symbol(SymbolKind::Field) });
        self.functions.fields.insert(name, symbol);
        symbol
    }

    /// Adds an occurrence of the name of an expression of a function that could not be parsed, without its
    /// parts.
    pub(super) fn orphan(&mut self, module: usize, expr: ExprId) {
        let mut walk = self.walk(module);
        walk.named(expr);
    }

    /// Adds an occurrence of a field of a record in a node.
    pub(super) fn field_name(&mut self, module: usize, label: Ident) {
        self.walk(module).field(label);
    }

    pub(super) fn walk(&mut self, module: usize) -> Walk<'a, '_> {
        let file = &self.program.modules[module];
        Walk { collector: self, file, module, node: None, env: Vec::new(), steps: Vec::new() }
    }

    /// Visits a function, a constant, a type or an evaluation.
    pub(super) fn function_item(&mut self, module: usize, item: &'a tree::Item) {
        let mut walk = self.walk(module);
        match item {
            tree::Item::Function(function) => {
                function.sizes.iter().for_each(|size| walk.bind(*size));
                let steps = of_params(&function.params, function.result);
                walk.then(steps);
                walk.finish();
                walk.then(vec![Step::Expr(function.body)]);
            }
            tree::Item::Constant(constant) => {
                let annotation = constant.annotation.map(Step::Type);
                walk.then(annotation.into_iter().chain([Step::Expr(constant.value)]).collect());
            }
            tree::Item::Type(definition) => {
                definition.sizes.iter().for_each(|size| walk.bind(*size));
                if let Definition::Alias(ty) = definition.definition {
                    walk.then(vec![Step::Type(ty)]);
                }
            }
            tree::Item::Eval(eval) => walk.then(vec![Step::Expr(eval.value)]),
            tree::Item::Node(_) | tree::Item::Run(_) | tree::Item::Train(_) => {}
        }
        walk.finish();
    }
}

/// Visits the text of a function or of a node.
pub(super) struct Walk<'a, 'c> {
    pub collector: &'c mut Collector<'a>,
    pub file: &'a Module,
    pub module: usize,
    /// The node, if the text is in one.
    pub node: Option<NodeScope<'a>>,
    /// The names that are bound here.
    pub env: Vec<(Name, SymbolId)>,
    pub steps: Vec<Step>,
}

impl Walk<'_, '_> {
    pub(super) fn then(&mut self, steps: Vec<Step>) {
        self.steps.extend(steps.into_iter().rev());
    }

    pub(super) fn finish(&mut self) {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Expr(expr) => self.expr(expr),
                Step::Type(ty) => self.ty(ty),
                Step::Pattern(pattern) => self.pattern(pattern),
                Step::Bind(ident) => self.bind(ident),
                Step::Leave(n_names) => self.env.truncate(n_names),
            }
        }
    }

    pub(super) fn bind(&mut self, ident: Ident) {
        let symbol = self.collector.declare(Symbol {
            name: self.file.names.text(ident.name).to_string(),
            definition: Some(ident.span),
            is_library: self.file.is_library,
            ty: self.collector.functions.types.get(&ident.span).cloned(),
            ..blank_symbol(SymbolKind::Local)
        });
        self.collector.name(symbol, ident.span, Purpose::Definition);
        self.env.push((ident.name, symbol));
    }

    fn pattern(&mut self, pattern: PatternId) {
        let written = &self.file.tree.written;
        match written.pattern(pattern) {
            PatternKind::Discard => {}
            PatternKind::Name(ident) => self.bind(*ident),
            PatternKind::Tuple(parts) => self.then(parts.iter().map(|part| Step::Pattern(*part)).collect()),
            PatternKind::Record(fields) => {
                let mut steps = Vec::new();
                for (label, inner) in fields {
                    match inner {
                        Some(inner) => {
                            self.field(*label);
                            steps.push(Step::Pattern(*inner));
                        }
                        None => steps.push(Step::Bind(*label)),
                    }
                }
                self.then(steps);
            }
        }
    }

    fn field(&mut self, label: Ident) {
        let symbol = self.collector.field_symbol(self.module, label, false);
        let is_definition = self.collector.symbols[symbol.index()].definition == Some(label.span);
        let purpose = if is_definition { Purpose::Definition } else { Purpose::Use };
        self.collector.name(symbol, label.span, purpose);
    }

    fn ty(&mut self, ty: TypeId) {
        let tree = &self.file.tree;
        let mut steps = Vec::new();
        let sizes = |list: Option<tree::ExprList>| {
            let sizes = list.map_or(&[][..], |list| tree.exprs.items(list));
            sizes.iter().map(|size| Step::Expr(*size)).collect::<Vec<_>>()
        };
        match tree.written.ty(ty) {
            TypeKind::Error => {}
            TypeKind::Scalar(_, dims) => steps.extend(sizes(*dims)),
            TypeKind::Named(ident, dims) => {
                self.global(*ident);
                steps.extend(sizes(*dims));
            }
            TypeKind::Tuple(parts) => steps.extend(parts.iter().map(|part| Step::Type(*part))),
            TypeKind::Function(params, result) => {
                steps.extend(params.iter().chain([result]).map(|part| Step::Type(*part)));
            }
            TypeKind::Record(fields) => {
                for (label, ty) in fields {
                    self.field(*label);
                    steps.push(Step::Type(*ty));
                }
            }
        }
        self.then(steps);
    }

    fn expr(&mut self, expr: ExprId) {
        let exprs = &self.file.tree.exprs;
        self.collector.visited[self.module][expr.index()] = true;
        let span = exprs.at(expr);
        match exprs.kind(expr) {
            ExprKind::Form(form, parts) => self.form(exprs.form(form), exprs.items(parts), span),
            _ => {
                self.named(expr);
                self.then(exprs.children(expr).map(Step::Expr).collect());
            }
        }
    }

    /// Adds an occurrence of the name or the operator of an expression.
    pub(super) fn named(&mut self, expr: ExprId) {
        // Test benches and optimisers are given nodes, too.
        let is_callable = matches!(self.file.references[expr.index()], Reference::Composed(_));
        if self.node.is_some() || is_callable {
            return self.named_in_node(expr);
        }
        let exprs = &self.file.tree.exprs;
        let (kind, span) = (exprs.kind(expr), exprs.at(expr));
        if let ExprKind::Variable(name) | ExprKind::Call(name, _) = kind {
            self.used(Ident { name, span });
        } else if let Some((name, doc)) = operator(kind) {
            self.collector.operation((SymbolKind::Operator, name, doc), span);
        }
    }

    /// Adds an occurrence of a name in an expression.
    pub(super) fn used(&mut self, ident: Ident) {
        if !self.bound(ident) {
            self.global(ident);
        }
    }

    /// Adds an occurrence of a name that an enclosing form binds; returns whether there is one.
    pub(super) fn bound(&mut self, ident: Ident) -> bool {
        let found = self.env.iter().rev().find(|(name, _)| *name == ident.name);
        if let Some((_, symbol)) = found {
            self.collector.name(*symbol, ident.span, Purpose::Use);
        }
        found.is_some()
    }

    /// Adds an occurrence of a name that no enclosing form binds.
    pub(super) fn global(&mut self, ident: Ident) {
        let text = self.file.names.text(ident.name);
        if let Some(entity) = self.file.entities.get(text) {
            let symbol = self.collector.functions.entities[entity];
            self.collector.name(symbol, ident.span, Purpose::Use);
            return;
        }
        let operation = |collector: &mut Collector<'_>, name, doc| {
            collector.operation((SymbolKind::Function, name, doc), ident.span);
        };
        match function_named(self.collector.program, self.module, text) {
            Some(Code::Declared(id, _)) => {
                let symbol = self.collector.functions.entities[&Entity::Function(id)];
                self.collector.name(symbol, ident.span, Purpose::Use).is_derived = true;
            }
            Some(Code::Builtin(name)) => match eddy_tensor::builtin(name) {
                Some(builtin) => operation(self.collector, name, builtin.doc()),
                None => operation(self.collector, name, operators::own(name)),
            },
            _ => {
                if let Some((name, doc)) = operators::derivative(text) {
                    operation(self.collector, name, doc);
                } else if let Some(initialiser) = eddy_tensor::initialiser(text) {
                    operation(self.collector, initialiser.name(), initialiser.doc());
                }
            }
        }
    }

    fn form(&mut self, form: &Form, parts: &[ExprId], span: Span) {
        let leave = Step::Leave(self.env.len());
        let all = |parts: &[ExprId]| parts.iter().map(|part| Step::Expr(*part)).collect::<Vec<_>>();
        let steps = match form {
            Form::Let { pattern, annotation } => {
                let mut steps = vec![Step::Expr(parts[0])];
                steps.extend(annotation.map(Step::Type));
                steps.extend([Step::Pattern(*pattern), Step::Expr(parts[1]), leave]);
                steps
            }
            Form::LetFunction { ident, params, result } => {
                self.bind(*ident);
                let mut steps = of_params(params, *result);
                steps.extend([
                    Step::Expr(parts[0]),
                    Step::Leave(self.env.len()),
                    Step::Expr(parts[1]),
                    leave,
                ]);
                steps
            }
            Form::Lambda { params } => {
                let mut steps = Vec::new();
                for param in params {
                    steps.extend(param.annotation.map(Step::Type));
                    steps.push(Step::Pattern(param.pattern));
                }
                steps.extend([Step::Expr(parts[0]), leave]);
                steps
            }
            Form::Loop { state, control, .. } => {
                let mut steps = vec![Step::Expr(parts[0])];
                match control {
                    Control::For(binders) => {
                        let rest = binder_steps(binders, &parts[1..], Some(*state));
                        steps.extend(rest);
                    }
                    Control::While => steps.extend([Step::Pattern(*state), Step::Expr(parts[1])]),
                }
                steps.extend([Step::Expr(parts[parts.len() - 1]), leave]);
                steps
            }
            Form::Comprehension(binders) => {
                let mut steps = binder_steps(binders, parts, None);
                steps.extend([Step::Expr(parts[parts.len() - 1]), leave]);
                steps
            }
            Form::Reduction { kind, binders } => {
                let doc = operators::reduction(*kind);
                self.collector.operation((SymbolKind::Function, kind.word(), doc), span);
                let mut steps = binder_steps(binders, parts, None);
                steps.extend([Step::Expr(parts[parts.len() - 1]), leave]);
                steps
            }
            Form::Record(labels) | Form::RecordUpdate(labels) => {
                for label in labels {
                    self.field(*label);
                }
                all(parts)
            }
            Form::Field(label) => {
                self.field(*label);
                all(parts)
            }
            Form::Match(cases) | Form::Merge(cases) => {
                for case in cases {
                    if let Case::Enumerator(ident) = case {
                        self.global(*ident);
                    }
                }
                all(parts)
            }
            Form::Last(ident) => {
                self.used(*ident);
                Vec::new()
            }
            Form::WhenIs(constructor) => {
                self.global(*constructor);
                all(parts)
            }
            Form::Unit | Form::Place(_) | Form::Update { .. } | Form::Component { .. } | Form::Reset => {
                all(parts)
            }
        };
        self.then(steps);
    }
}

/// The bounds and names of binders, in order; then the state, which is not in scope in the bounds, and the
/// filter.
fn binder_steps(binders: &tree::Binders, parts: &[ExprId], state: Option<PatternId>) -> Vec<Step> {
    let (mut steps, mut at) = (Vec::new(), 0);
    for binder in &binders.binders {
        for _ in 0..=usize::from(binder.has_lower) {
            steps.push(Step::Expr(parts[at]));
            at += 1;
        }
        steps.push(Step::Bind(binder.ident));
    }
    steps.extend(state.map(Step::Pattern));
    if binders.has_filter {
        steps.push(Step::Expr(parts[at]));
    }
    steps
}

/// The names of parameters, then their types, in which int parameters are in scope.
fn of_params(params: &[Param], result: Option<TypeId>) -> Vec<Step> {
    let names = params.iter().map(|param| Step::Bind(param.ident));
    let types = params.iter().filter_map(|param| param.annotation).chain(result).map(Step::Type);
    names.chain(types).collect()
}
