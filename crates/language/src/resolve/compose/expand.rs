//! Makes the equations of one node: expands its `let`s and calls, and renumbers its streams if it is made
//! from a template.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::call::{Plan, too_deep};
use super::closure::{self, Closure, Given, Part};
use super::{Composer, Task};
use crate::codes;
use crate::program::{
    Callee, ComposedCallee, Equation, NodeId, Reference, Role, Sharing, Site, Slot, SlotId, TypeDefId,
};
use crate::tree::{Annotation, ExprId, ExprKind, TypeName};

/// A step of rewriting an expression; the top of the stack is next.
pub enum Work {
    Visit(ExprId),
    /// The operands of an expression are done: make it with these.
    Build(ExprId, usize),
    /// The written arguments of a call are done: make it.
    Call(Box<Plan>),
}

/// The state of a `let`.
#[derive(Clone)]
enum LetState {
    New,
    Open,
    Done(Option<Closure>),
}

/// The node that is being expanded.
pub struct Scope {
    pub template: NodeId,
    pub module: usize,
    pub env: Vec<Option<Closure>>,
    slots: Option<Vec<Option<SlotId>>>,
    lets: Vec<LetState>,
    /// Further streams and their equations, for the values of `let`s.
    pub new_slots: Vec<Slot>,
    pub new_equations: Vec<(usize, Equation)>,
    /// The number of the equation that is being expanded.
    pub at: usize,
    /// The streams that test the constructors of a stream.
    pub conditions: FxHashMap<(SlotId, TypeDefId), Vec<SlotId>>,
    pub depth: usize,
    /// How many callables are open that contain each other.
    nesting: usize,
}

impl Composer<'_> {
    pub fn expand(&mut self, task: Task) {
        let Task { id, template, env, slots, depth } = task;
        let source = self.program.node(template).clone();
        let mut scope = Scope {
            template,
            module: source.module,
            env,
            slots,
            lets: vec![LetState::New; source.lets.len()],
            new_slots: self.program.node(id).slots.clone(),
            new_equations: Vec::new(),
            at: 0,
            conditions: FxHashMap::default(),
            depth,
            nesting: 0,
        };
        let mut equations = Vec::with_capacity(source.equations.len());
        for (number, equation) in source.equations.iter().enumerate() {
            scope.at = number;
            let value = self.expanded(&mut scope, equation.value);
            let targets = equation.targets.iter().map(|target| target.map(|slot| scope.slot(slot)));
            equations.push(Equation {
                targets: targets.collect(),
                value: value.unwrap_or(equation.value),
                is_broken: equation.is_broken || value.is_none(),
            });
        }
        for number in 0..source.lets.len() {
            self.closure_of_let(&mut scope, number);
        }
        if scope.slots.is_some() {
            self.expand_types(&mut scope);
        }
        // The equation of a value stands where its `let` or its `reset` stands.
        let mut new_equations = std::mem::take(&mut scope.new_equations);
        new_equations.sort_by_key(|(at, _)| *at);
        for (at, equation) in new_equations.into_iter().rev() {
            equations.insert(at.min(equations.len()), equation);
        }
        let node = &mut self.program.nodes[id.index()];
        (node.slots, node.equations) = (scope.new_slots, equations);
        node.lets.clear();
        node.is_expanded = true;
    }

    /// Renumbers the streams in the sizes of types, and in defaults.
    fn expand_types(&mut self, scope: &mut Scope) {
        for number in 0..scope.new_slots.len() {
            let slot = scope.new_slots[number].clone();
            let annotations = slot.annotations.iter().map(|annotation| {
                let dims = annotation.dims.and_then(|dims| self.expand_list(scope, dims));
                Annotation { dims, ..*annotation }
            });
            let annotations = annotations.collect();
            let type_names = slot.type_names.iter().map(|name| {
                let sizes = name.sizes.and_then(|sizes| self.expand_list(scope, sizes));
                TypeName { sizes, ..*name }
            });
            let type_names = type_names.collect();
            let default = slot.default.and_then(|default| self.expanded(scope, default));
            scope.new_slots[number] = Slot { annotations, type_names, default, ..slot };
        }
    }

    fn expand_list(
        &mut self,
        scope: &mut Scope,
        list: crate::tree::ExprList,
    ) -> Option<crate::tree::ExprList> {
        let items = self.program.modules[scope.module].tree.exprs.items(list).to_vec();
        let new: Option<Vec<ExprId>> = items.into_iter().map(|item| self.expanded(scope, item)).collect();
        Some(self.program.modules[scope.module].tree.exprs.list(new?))
    }

    /// An expression with all calls expanded; `None` if that is not possible, which is reported.
    pub fn expanded(&mut self, scope: &mut Scope, root: ExprId) -> Option<ExprId> {
        let (mut work, mut done) = (vec![Work::Visit(root)], Vec::new());
        while let Some(step) = work.pop() {
            match step {
                Work::Visit(expr) => self.visit(scope, expr, &mut work, &mut done)?,
                Work::Build(expr, n) => {
                    let operands = done.split_off(done.len() - n);
                    let built = self.built(scope, expr, &operands)?;
                    done.push(built);
                }
                Work::Call(plan) => {
                    let written = done.split_off(done.len() - plan.written.len());
                    let call = self.make_call(scope, *plan, &written)?;
                    done.push(call);
                }
            }
        }
        done.pop()
    }

    fn visit(
        &mut self,
        scope: &mut Scope,
        expr: ExprId,
        work: &mut Vec<Work>,
        done: &mut Vec<ExprId>,
    ) -> Option<()> {
        let module = &self.program.modules[scope.module];
        match module.references[expr.index()].clone() {
            Reference::Composed(composed) => {
                let plan = self.plan(scope, expr, &composed)?;
                let written: Vec<Work> = plan.written.iter().map(|expr| Work::Visit(*expr)).collect();
                work.push(Work::Call(Box::new(plan)));
                work.extend(written.into_iter().rev());
            }
            Reference::Slot(slot) if scope.slots.is_some() => {
                let new = self.read(scope, scope.slot(slot), expr);
                done.push(new);
            }
            _ => {
                let children: Vec<ExprId> = module.tree.exprs.children(expr).collect();
                work.push(Work::Build(expr, children.len()));
                work.extend(children.into_iter().rev().map(Work::Visit));
            }
        }
        Some(())
    }

    /// A variable for a stream, in the place of an expression.
    pub fn read(&mut self, scope: &Scope, slot: SlotId, place: ExprId) -> ExprId {
        let name = scope.new_slots[slot.index()].name.clone();
        let module = &mut self.program.modules[scope.module];
        let (span, at) = (module.tree.exprs.span(place), module.tree.exprs.at(place));
        let name = module.names.intern(&name);
        module.add(ExprKind::Variable(name), span, at, Reference::Slot(slot))
    }

    /// The expression with these operands; itself if it has them already.
    pub fn rebuilt(&mut self, module: usize, expr: ExprId, operands: &[ExprId]) -> ExprId {
        let module = &mut self.program.modules[module];
        let exprs = &mut module.tree.exprs;
        if exprs.children(expr).eq(operands.iter().copied()) {
            return expr;
        }
        let kind = exprs.with_children(expr, operands);
        let (span, at) = (exprs.span(expr), exprs.at(expr));
        let reference = module.references[expr.index()].clone();
        module.add(kind, span, at, reference)
    }

    /// The callable that a `let` stands for. Its values become streams of the node.
    pub fn closure_of_let(&mut self, scope: &mut Scope, number: usize) -> Option<Closure> {
        let item = self.program.node(scope.template).lets[number].clone();
        match &scope.lets[number] {
            LetState::Done(closure) => return closure.clone(),
            LetState::Open => {
                let title = format!("`{}` instantiates itself", item.name);
                self.diagnostics.push(Diagnostic::error(codes::RECURSIVE, item.span, title));
                return None;
            }
            LetState::New => scope.lets[number] = LetState::Open,
        }
        let mut written = Vec::new();
        let closure = self.closure_of(scope, item.value, &mut written);
        let closure = closure.and_then(|closure| {
            let closure = self.kept(scope, closure, &written, &item.name, item.at)?;
            let sharing = closure.sharing.clone().or_else(|| Some(Sharing::Own(item.name.clone())));
            Some(Closure { sharing, ..closure })
        });
        scope.lets[number] = LetState::Done(closure.clone());
        closure
    }

    /// A callable whose values are streams of the node.
    fn kept(
        &mut self,
        scope: &mut Scope,
        closure: Closure,
        written: &[ExprId],
        name: &str,
        at: usize,
    ) -> Option<Closure> {
        let mut given = Vec::with_capacity(closure.given.len());
        for (input, value) in &closure.given {
            let value = match value {
                Given::Closure(inner) => {
                    Given::Closure(Box::new(self.kept(scope, (**inner).clone(), written, name, at)?))
                }
                Given::Value(Part::Written(number)) => {
                    let label = format!("{name}:{}", self.input_name(&closure, *input));
                    let slot = self.keep(scope, written[*number], label, at)?;
                    Given::Value(Part::Slot(slot))
                }
                Given::Value(part) => Given::Value(part.clone()),
            };
            given.push((*input, value));
        }
        Some(Closure { given, ..closure })
    }

    /// Gives an expression a stream, unless it is one.
    fn keep(&mut self, scope: &mut Scope, expr: ExprId, name: String, at: usize) -> Option<SlotId> {
        let value = self.expanded(scope, expr)?;
        let module = &self.program.modules[scope.module];
        if let Reference::Slot(slot) = module.references[value.index()] {
            return Some(slot);
        }
        let slot = SlotId::new(scope.new_slots.len());
        let span: Span = module.tree.exprs.span(expr);
        scope.new_slots.push(Slot::new(name, span, Role::Local));
        let equation = Equation { targets: vec![Some(slot)], value, is_broken: false };
        scope.new_equations.push((at, equation));
        Some(slot)
    }

    /// The callable that an argument or a `let` is. Its arguments are added to `written`.
    pub fn closure_of(
        &mut self,
        scope: &mut Scope,
        expr: ExprId,
        written: &mut Vec<ExprId>,
    ) -> Option<Closure> {
        let module = &self.program.modules[scope.module];
        let span = module.tree.exprs.at(expr);
        let Reference::Composed(composed) = module.references[expr.index()].clone() else {
            // Unresolved text was reported.
            if !matches!(module.references[expr.index()], Reference::Nothing) {
                self.diagnostics.push(super::super::refusals::not_callable(span));
            }
            return None;
        };
        if scope.nesting > closure::MAX_DEPTH {
            self.diagnostics.push(too_deep(span));
            return None;
        }
        scope.nesting += 1;
        let closure = self.callee(scope, &composed.callee, span);
        let applied =
            closure.and_then(|closure| self.applied(scope, closure, &composed.arguments, span, written));
        scope.nesting -= 1;
        applied
    }

    /// The callable that a name stands for.
    pub fn callee(&mut self, scope: &mut Scope, callee: &ComposedCallee, span: Span) -> Option<Closure> {
        match callee {
            ComposedCallee::Known(callee) => Some(Closure::of(callee.clone(), span)),
            ComposedCallee::Formal(slot) => scope.env[slot.index()].clone(),
            ComposedCallee::Let(number) => self.closure_of_let(scope, *number),
        }
    }

    /// The name by which a program calls a callee.
    pub fn name_of(&self, callee: &Callee) -> String {
        match callee {
            Callee::Instance(callable) => self.program.name_of(callable),
            Callee::Applied(function, modes) => {
                let (module, tree) = self.program.function(*function);
                let name = self.program.modules[module].names.text(tree.ident.name).to_string();
                modes.iter().fold(name, |name, mode| match mode {
                    eddy_body::ir::Mode::Adj => format!("adj_{name}"),
                    eddy_body::ir::Mode::Tan => format!("tan_{name}"),
                    eddy_body::ir::Mode::Plain => name,
                })
            }
            Callee::Function(builtin) => builtin.name().to_string(),
            Callee::Initialiser(initialiser) => initialiser.name().to_string(),
            Callee::Param => "param".to_string(),
            Callee::AllSum => "all_sum".to_string(),
        }
    }
}

impl Scope {
    /// Expressions that read these streams and are in no node.
    pub fn without_node(module: usize, slots: Vec<Slot>) -> Scope {
        Scope {
            template: NodeId::new(0),
            module,
            env: Vec::new(),
            slots: None,
            lets: Vec::new(),
            new_slots: slots,
            new_equations: Vec::new(),
            at: 0,
            conditions: FxHashMap::default(),
            depth: 0,
            nesting: 0,
        }
    }

    /// The stream for a stream of the template.
    fn slot(&self, slot: SlotId) -> SlotId {
        match &self.slots {
            Some(slots) => slots[slot.index()].expect("callable inputs are no streams"),
            None => slot,
        }
    }
}

/// A site, if it says anything.
pub fn site(site: Site) -> Option<std::sync::Arc<Site>> {
    let is_plain = site.label.is_none()
        && site.order.is_none()
        && site.sharing.is_none()
        && site.shares.is_empty()
        && site.copies.is_none()
        && site.every.is_none();
    (!is_plain).then(|| std::sync::Arc::new(site))
}
