//! The streams and equations of a node without records.
//!
//! The value of an equation is rewritten once for each leaf of its stream, by a path of labels: `(a fby b).x`
//! is `a.x fby b.x`, `{x = e, v = f}.x` is `e`. An expression that all leaves share (a condition, a call)
//! gets a stream, so that it is computed once; so does a record of which only some fields are read.

use std::rc::Rc;

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::infer::Found;
use super::interface::StreamInterface;
use crate::names::Name;
use crate::program::{
    Callee, Equation, Module, Node, NodeId, Program, Reference, Role, Site, Slot, SlotId, Structure,
    StructuredCall,
};
use crate::static_value::postorder;
use crate::tree::{BinaryOp, ExprId, ExprKind, Form, Number, NumberValue, UnaryOp};

pub(super) fn rewrite(program: &mut Program, interfaces: &[StreamInterface], id: NodeId, found: &Found) {
    let n_outputs = output_counts(program, interfaces, id);
    let mut node = program.nodes[id.index()].clone();
    let number = node.module;
    let module = &mut program.modules[number];
    let mut rewriter = Rewriter {
        module,
        found,
        n_outputs,
        slots: Vec::new(),
        bundles: Vec::new(),
        first: Vec::new(),
        records: FxHashMap::default(),
        hoisted: FxHashMap::default(),
        pending: Vec::new(),
        calls: Vec::new(),
    };
    rewriter.streams(&node);
    rewriter.renumber(&node);
    let equations = rewriter.equations(&node);
    let Rewriter { slots, bundles, first, calls, .. } = rewriter;
    let leaves = |slot: usize| first[slot]..first[slot] + found.slots[slot].n_leaves();
    node.outputs = node.outputs.iter().flat_map(|slot| leaves(slot.index())).map(SlotId::new).collect();
    node.n_inputs = (0..node.n_inputs).map(|slot| found.slots[slot].n_leaves()).sum();
    (node.slots, node.bundles, node.equations) = (slots, bundles, equations);
    node.is_expanded = true;
    program.nodes[id.index()] = node;
    program.structured_calls.extend(calls.into_iter().map(|(expr, call)| ((number, expr), call)));
}

/// For each instance in the equations of a node, the number of its outputs before the expansion.
fn output_counts(program: &Program, interfaces: &[StreamInterface], id: NodeId) -> FxHashMap<ExprId, usize> {
    let (module, node) = (program.module_of(id), program.node(id));
    let mut counts = FxHashMap::default();
    for equation in &node.equations {
        for expr in postorder(&module.tree.exprs, equation.value) {
            if let Reference::Call { callee: Callee::Instance(callable), .. } =
                &module.references[expr.index()]
            {
                let interface = StreamInterface::of_callable(program, interfaces, callable);
                counts.insert(expr, interface.outputs.len());
            }
        }
    }
    counts
}

type Path = Rc<[String]>;

/// A step of rewriting an expression; the top of the stack is next.
enum Work {
    /// Rewrite the leaf of an expression at this path, and push it.
    Visit(ExprId, Path),
    /// The operands of an expression are on the stack: push it with these.
    Build(ExprId, usize),
    /// The values of the cases of a `match` are on the stack: push the choice between them.
    Choose(ExprId),
}

/// An equation on the work list, with the numbers of the first leaf of each target.
struct Pending {
    targets: Vec<(Option<usize>, Rc<Structure>)>,
    value: ExprId,
}

/// Rewritten equations, and the entries whose equations come before them.
#[derive(Default)]
struct Entry {
    equations: Vec<Equation>,
    before: Vec<usize>,
}

pub(super) struct Rewriter<'a> {
    pub(super) module: &'a mut Module,
    pub(super) found: &'a Found,
    n_outputs: FxHashMap<ExprId, usize>,
    pub(super) slots: Vec<Slot>,
    pub(super) bundles: Vec<Vec<SlotId>>,
    /// For each old slot, the number of its first leaf.
    pub(super) first: Vec<usize>,
    /// The variables that are records, with their old slots.
    records: FxHashMap<ExprId, usize>,
    /// The expressions that have streams of their own, with the numbers of their first leaves.
    hoisted: FxHashMap<ExprId, usize>,
    pending: Vec<Pending>,
    calls: Vec<(ExprId, StructuredCall)>,
}

impl Rewriter<'_> {
    pub(super) fn push(&mut self, kind: ExprKind, span: Span, at: Span, reference: Reference) -> ExprId {
        self.module.references.push(reference);
        self.module.tree.exprs.push(kind, span, at)
    }

    /// Makes variables refer to the new streams, and collects the variables that are records.
    fn renumber(&mut self, node: &Node) {
        let exprs = &self.module.tree.exprs;
        let slots = node.slots.iter();
        let dims = slots.flat_map(|slot| {
            let sizes = slot.type_names.iter().filter_map(|name| name.sizes);
            slot.annotations.iter().filter_map(|annotation| annotation.dims).chain(sizes)
        });
        let dims = dims.flat_map(|dims| exprs.items(dims).iter().copied());
        let roots: Vec<ExprId> = dims.chain(node.equations.iter().map(|equation| equation.value)).collect();
        for root in roots {
            for expr in postorder(&self.module.tree.exprs, root) {
                if let Reference::Call { site: Some(site), .. } = &mut self.module.references[expr.index()]
                    && let Some(every) = site.every
                {
                    let every = Some(SlotId::new(self.first[every.index()]));
                    *site = std::sync::Arc::new(Site { every, ..(**site).clone() });
                }
                let Reference::Slot(slot) = self.module.references[expr.index()] else { continue };
                if self.found.slots[slot.index()].is_record() {
                    self.records.insert(expr, slot.index());
                } else {
                    self.module.references[expr.index()] =
                        Reference::Slot(SlotId::new(self.first[slot.index()]));
                }
            }
        }
    }

    /// All equations; an equation of an added stream comes before the equation that reads it.
    fn equations(&mut self, node: &Node) -> Vec<Equation> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut todo: Vec<(usize, Pending)> = Vec::new();
        for (number, equation) in node.equations.iter().enumerate() {
            let structures = self.found.targets[number].iter().cloned();
            let targets = equation.targets.iter().map(|slot| slot.map(|slot| self.first[slot.index()]));
            let pending = Pending { targets: targets.zip(structures).collect(), value: equation.value };
            todo.push((entries.len(), pending));
            entries.push(Entry::default());
        }
        let n_written = entries.len();
        while let Some((number, pending)) = todo.pop() {
            entries[number].equations = self.equation(&pending);
            for pending in std::mem::take(&mut self.pending) {
                let before = entries.len();
                entries[number].before.push(before);
                todo.push((before, pending));
                entries.push(Entry::default());
            }
        }
        let mut ordered = Vec::new();
        let mut work: Vec<(usize, bool)> = (0..n_written).rev().map(|number| (number, false)).collect();
        while let Some((number, is_due)) = work.pop() {
            if is_due {
                ordered.append(&mut entries[number].equations);
                continue;
            }
            work.push((number, true));
            work.extend(entries[number].before.iter().rev().map(|before| (*before, false)));
        }
        ordered
    }

    fn equation(&mut self, pending: &Pending) -> Vec<Equation> {
        let value = self.module.tree.exprs.without_parentheses(pending.value);
        if let ExprKind::Tuple(_) = self.module.tree.exprs.kind(value) {
            return self.tuple(pending, value);
        }
        let leaves = pending.targets.iter().flat_map(|(first, structure)| {
            (0..structure.n_leaves()).map(move |leaf| first.map(|first| SlotId::new(first + leaf)))
        });
        let targets: Vec<Option<SlotId>> = leaves.collect();
        let define = |targets, value| Equation { targets, value, is_broken: false };
        if let Some(Callee::Instance(_) | Callee::Applied(..)) = self.callee(value) {
            let results = pending.targets.iter().map(|(_, structure)| (**structure).clone()).collect();
            let call = self.rewrite_call(value, results);
            return vec![define(targets, call)];
        }
        let structure = Rc::clone(&pending.targets[0].1);
        let leaves = structure.leaves().into_iter().zip(targets);
        leaves.map(|(leaf, target)| define(vec![target], self.definition(value, &leaf.path.into()))).collect()
    }

    /// `a, b = (e, f)`: each part becomes an equation.
    fn tuple(&mut self, pending: &Pending, value: ExprId) -> Vec<Equation> {
        let exprs = &self.module.tree.exprs;
        let (mut parts, mut todo) = (Vec::new(), vec![value]);
        while let Some(expr) = todo.pop() {
            let expr = exprs.without_parentheses(expr);
            match exprs.kind(expr) {
                ExprKind::Tuple(items) => todo.extend(exprs.items(items).iter().rev()),
                _ => parts.push((expr, self.n_outputs.get(&expr).copied().unwrap_or(1))),
            }
        }
        let (mut equations, mut rest) = (Vec::new(), pending.targets.as_slice());
        for (value, n_targets) in parts {
            let (own, others) = rest.split_at(n_targets.min(rest.len()));
            rest = others;
            if !own.is_empty() {
                equations.extend(self.equation(&Pending { targets: own.to_vec(), value }));
            }
        }
        equations
    }

    fn callee(&self, expr: ExprId) -> Option<&Callee> {
        match &self.module.references[expr.index()] {
            Reference::Call { callee, .. } => Some(callee),
            _ => None,
        }
    }

    fn structure(&self, expr: ExprId) -> Rc<Structure> {
        self.found.exprs.get(&expr).cloned().unwrap_or_else(|| Rc::new(Structure::Tensor))
    }

    /// Expands the arguments of a call to their leaves; `results` are the structures of its results.
    fn rewrite_call(&mut self, call: ExprId, results: Vec<Structure>) -> ExprId {
        let arguments = self.arguments_of(call);
        let structures: Vec<Rc<Structure>> =
            arguments.iter().map(|argument| self.structure(*argument)).collect();
        let mut leaves = Vec::new();
        for (argument, structure) in arguments.iter().zip(&structures) {
            for leaf in structure.leaves() {
                leaves.push(self.leaf(*argument, leaf.path.into()));
            }
        }
        let new = self.rebuilt(call, &leaves);
        let n_leaves: Vec<usize> = structures.iter().map(|structure| structure.n_leaves()).collect();
        self.order_leaves(new, &n_leaves);
        let arguments: Vec<Structure> = structures.iter().map(|structure| (**structure).clone()).collect();
        let has_structures =
            arguments.iter().chain(&results).any(|structure| *structure != Structure::Tensor);
        if has_structures && matches!(self.callee(new), Some(Callee::Applied(..))) {
            self.calls.push((new, StructuredCall { arguments, results }));
        }
        new
    }

    /// The leaves of an argument are elaborated where the argument is.
    fn order_leaves(&mut self, call: ExprId, n_leaves: &[usize]) {
        let Reference::Call { site: Some(site), .. } = &mut self.module.references[call.index()] else {
            return;
        };
        let Some(order) = &site.order else { return };
        let first = |argument: usize| n_leaves[..argument].iter().sum::<usize>();
        let leaves = order.iter().flat_map(|argument| {
            let first = first(*argument);
            first..first + n_leaves[*argument]
        });
        let order = Some(leaves.collect());
        *site = std::sync::Arc::new(Site { order, ..(**site).clone() });
    }

    fn arguments_of(&self, call: ExprId) -> Vec<ExprId> {
        match self.module.tree.exprs.kind(call) {
            ExprKind::Call(_, arguments) => self.module.tree.exprs.items(arguments).to_vec(),
            _ => Vec::new(),
        }
    }

    /// The leaf of an expression at a path.
    fn leaf(&mut self, root: ExprId, path: Path) -> ExprId {
        let (mut work, mut done) = (vec![Work::Visit(root, path)], Vec::new());
        self.run(&mut work, &mut done);
        done.pop().expect("each visit pushes one expression")
    }

    /// As [`leaf`](Self::leaf), for the right side of an equation. If the expression has streams, this
    /// defines them.
    fn definition(&mut self, root: ExprId, path: &Path) -> ExprId {
        let (mut work, mut done) = (Vec::new(), Vec::new());
        self.visit_parts(root, path, &mut work, &mut done);
        self.run(&mut work, &mut done);
        done.pop().expect("each visit pushes one expression")
    }

    fn run(&mut self, work: &mut Vec<Work>, done: &mut Vec<ExprId>) {
        while let Some(step) = work.pop() {
            match step {
                Work::Visit(expr, path) => self.visit(expr, &path, work, done),
                Work::Build(expr, n_operands) => {
                    let operands: Vec<ExprId> = done.drain(done.len() - n_operands..).collect();
                    let built = self.rebuilt(expr, &operands);
                    done.push(built);
                }
                Work::Choose(expr) => {
                    let n_cases = self.found.cases[&expr].len();
                    let values: Vec<ExprId> = done.drain(done.len() - n_cases - 1..).collect();
                    let chosen = self.choice(expr, &values);
                    done.push(chosen);
                }
            }
        }
    }

    fn visit(&mut self, expr: ExprId, path: &Path, work: &mut Vec<Work>, done: &mut Vec<ExprId>) {
        let expr = self.module.tree.exprs.without_parentheses(expr);
        match self.hoisted.get(&expr).copied() {
            Some(first) => {
                let leaf = self.stream(expr, first, path);
                done.push(leaf);
            }
            None => self.visit_parts(expr, path, work, done),
        }
    }

    fn visit_parts(&mut self, expr: ExprId, path: &Path, work: &mut Vec<Work>, done: &mut Vec<ExprId>) {
        let none: Path = Path::default();
        // Operands with their paths; conditions that several leaves share become streams.
        let operands: Vec<(ExprId, Path)> = match self.module.tree.exprs.kind(expr) {
            ExprKind::Variable(_) => {
                let leaf = self.variable(expr, path);
                return done.push(leaf);
            }
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Error | ExprKind::Tuple(_) => {
                return done.push(expr);
            }
            ExprKind::Unary(UnaryOp::Post, value) => vec![(value, Rc::clone(path))],
            ExprKind::If(condition, yes, no) | ExprKind::Merge(condition, yes, no) => {
                self.share(condition, &self.structure(expr));
                vec![(condition, none), (yes, Rc::clone(path)), (no, Rc::clone(path))]
            }
            ExprKind::Fby(_, first, next) => vec![(first, Rc::clone(path)), (next, Rc::clone(path))],
            ExprKind::When(_, value, condition) => {
                self.share(condition, &self.structure(expr));
                vec![(value, Rc::clone(path)), (condition, none)]
            }
            ExprKind::Call(..) => return self.visit_call(expr, path, done),
            ExprKind::Form(form, parts) => {
                let form = self.module.tree.exprs.form(form).clone();
                let parts = self.module.tree.exprs.items(parts).to_vec();
                return self.visit_form(expr, &form, &parts, path, work, done);
            }
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::List(_)
            | ExprKind::Index(..)
            | ExprKind::Named(..)
            | ExprKind::Group(_) => {
                self.module.tree.exprs.children(expr).map(|part| (part, Rc::clone(&none))).collect()
            }
        };
        work.push(Work::Build(expr, operands.len()));
        work.extend(operands.into_iter().rev().map(|(operand, path)| Work::Visit(operand, path)));
    }

    fn visit_form(
        &mut self,
        expr: ExprId,
        form: &Form,
        parts: &[ExprId],
        path: &Path,
        work: &mut Vec<Work>,
        done: &mut Vec<ExprId>,
    ) {
        let position = |fields: &[crate::tree::Ident], label: &str, names: &crate::names::Names| {
            fields.iter().position(|ident| names.text(ident.name) == label)
        };
        match form {
            Form::Record(fields) => {
                let at = position(fields, &path[0], &self.module.names).expect("structures were checked");
                match self.as_num(parts[at]) {
                    Some(number) => done.push(number),
                    None => work.push(Work::Visit(parts[at], path[1..].into())),
                }
            }
            Form::RecordUpdate(fields) => match position(fields, &path[0], &self.module.names) {
                Some(at) => work.push(Work::Visit(parts[at + 1], path[1..].into())),
                None => {
                    self.name_record(parts[0]);
                    work.push(Work::Visit(parts[0], Rc::clone(path)));
                }
            },
            Form::Field(field) => {
                self.name_record(parts[0]);
                let label = self.module.names.text(field.name).to_string();
                work.push(Work::Visit(parts[0], [label].into_iter().chain(path.iter().cloned()).collect()));
            }
            Form::Match(_) => {
                self.name_scrutinee(parts[0]);
                work.push(Work::Choose(expr));
                work.extend(parts[1..].iter().rev().map(|part| Work::Visit(*part, Rc::clone(path))));
                work.push(Work::Visit(parts[0], Path::default()));
            }
            Form::Place(_) => {
                work.push(Work::Build(expr, parts.len()));
                work.extend(parts.iter().rev().map(|part| Work::Visit(*part, Path::default())));
            }
            _ => unreachable!("other forms were refused"),
        }
    }

    /// A call inside of an expression. A call whose result is a record gets streams.
    fn visit_call(&mut self, expr: ExprId, path: &Path, done: &mut Vec<ExprId>) {
        let structure = self.structure(expr);
        let leaf = if structure.is_record() {
            let first = self.hoist(expr);
            self.stream(expr, first, path)
        } else {
            self.rewrite_call(expr, vec![(*structure).clone()])
        };
        done.push(leaf);
    }

    /// The `if`s that replace a `match`; `values` has the scrutinee and then the value of each case.
    fn choice(&mut self, expr: ExprId, values: &[ExprId]) -> ExprId {
        let (scrutinee, values) = (values[0], &values[1..]);
        let (span, at) = (self.module.tree.exprs.span(expr), self.module.tree.exprs.at(expr));
        let cases = self.found.cases[&expr].clone();
        let mut chosen = *values.last().expect("a `match` has cases");
        for (case, value) in cases.iter().zip(values).rev().skip(1) {
            let number = case.expect("only the last case is `_`");
            let number = self.number(NumberValue::Int(i64::from(number)), span, at);
            let test = ExprKind::Binary(BinaryOp::Equal, scrutinee, number);
            let test = self.push(test, span, at, Reference::Nothing);
            chosen = self.push(ExprKind::If(test, *value, chosen), span, at, Reference::Nothing);
        }
        chosen
    }

    fn number(&mut self, value: NumberValue, span: Span, at: Span) -> ExprId {
        let text = match value {
            NumberValue::Int(number) => number.to_string(),
            NumberValue::Num(number) => format!("{number:?}"),
        };
        let text = self.module.names.intern(&text);
        self.push(ExprKind::Number(Number { value, text }), span, at, Reference::Nothing)
    }

    /// An integer literal in a field that is declared as a `num`.
    fn as_num(&mut self, part: ExprId) -> Option<ExprId> {
        let exprs = &self.module.tree.exprs;
        let inner = exprs.without_parentheses(part);
        match exprs.kind(inner) {
            ExprKind::Number(Number { value: NumberValue::Int(number), .. })
                if self.found.num_parts.contains(&part) =>
            {
                let (span, at) = (exprs.span(inner), exprs.at(inner));
                #[allow(clippy::cast_precision_loss)] // an integer literal used as `num` is rounded
                let value = NumberValue::Num(number as f64);
                Some(self.number(value, span, at))
            }
            _ => None,
        }
    }

    fn variable(&mut self, expr: ExprId, path: &Path) -> ExprId {
        let (span, at) = (self.module.tree.exprs.span(expr), self.module.tree.exprs.at(expr));
        match self.module.references[expr.index()] {
            Reference::Enumerator(_, number) => self.number(NumberValue::Int(i64::from(number)), span, at),
            Reference::Constant(constant) if *self.structure(expr) != Structure::Tensor => {
                let leaf = leaf_at(&self.structure(expr), path);
                let kind = self.module.tree.exprs.kind(expr);
                self.push(kind, span, at, Reference::ConstantLeaf(constant, leaf))
            }
            _ => match self.records.get(&expr).copied() {
                Some(slot) => self.stream(expr, self.first[slot], path),
                None => expr,
            },
        }
    }

    /// A variable for the leaf at `path` of an expression; `first` is the stream of the first leaf.
    fn stream(&mut self, expr: ExprId, first: usize, path: &Path) -> ExprId {
        let structure = self.structure(expr);
        let number = first + leaf_at(&structure, path);
        let (span, at) = (self.module.tree.exprs.span(expr), self.module.tree.exprs.at(expr));
        let name: Name = self.module.names.intern(&self.slots[number].name);
        self.push(ExprKind::Variable(name), span, at, Reference::Slot(SlotId::new(number)))
    }

    /// Gives streams to a record of which some fields are read, unless it is a stream or a field of a stream.
    fn name_record(&mut self, record: ExprId) {
        let exprs = &self.module.tree.exprs;
        let mut inner = exprs.without_parentheses(record);
        while let ExprKind::Form(form, parts) = exprs.kind(inner)
            && let Form::Field(_) = exprs.form(form)
        {
            inner = exprs.without_parentheses(exprs.items(parts)[0]);
        }
        if !matches!(exprs.kind(inner), ExprKind::Variable(_)) {
            self.hoist(exprs.without_parentheses(record));
        }
    }

    /// Gives a stream to the scrutinee of a `match`, because it is compared several times.
    fn name_scrutinee(&mut self, scrutinee: ExprId) {
        if !self.is_shareable(scrutinee) {
            let scrutinee = self.module.tree.exprs.without_parentheses(scrutinee);
            self.hoist(scrutinee);
        }
    }

    /// Gives a stream to a condition that several leaves need.
    fn share(&mut self, condition: ExprId, of: &Structure) {
        if of.n_leaves() > 1 {
            self.name_scrutinee(condition);
        }
    }

    /// Whether duplicating an expression costs nothing: it is a stream, a literal, or `not` of either.
    fn is_shareable(&self, expr: ExprId) -> bool {
        let exprs = &self.module.tree.exprs;
        let mut expr = exprs.without_parentheses(expr);
        while let ExprKind::Unary(UnaryOp::Not, inner) = exprs.kind(expr) {
            expr = exprs.without_parentheses(inner);
        }
        matches!(exprs.kind(expr), ExprKind::Variable(_) | ExprKind::Bool(_) | ExprKind::Number(_))
    }

    /// Gives an expression streams; returns the first.
    fn hoist(&mut self, expr: ExprId) -> usize {
        if let Some(first) = self.hoisted.get(&expr) {
            return *first;
        }
        let structure = self.structure(expr);
        let first = self.slots.len();
        let exprs = &self.module.tree.exprs;
        let name = match (exprs.kind(expr), &self.module.references[expr.index()]) {
            (ExprKind::Call(name, _), Reference::Call { ordinal, .. }) => {
                format!("{}#{ordinal}", self.module.names.text(name))
            }
            _ => format!("part#{}", self.hoisted.len() + 1),
        };
        let slot = Slot::new(name, exprs.span(expr), Role::Local);
        self.add(&slot, &structure, &[]);
        self.pending.push(Pending { targets: vec![(Some(first), structure)], value: expr });
        self.hoisted.insert(expr, first);
        first
    }

    /// The expression with these operands; `expr` itself if it has these operands already.
    fn rebuilt(&mut self, expr: ExprId, operands: &[ExprId]) -> ExprId {
        let exprs = &mut self.module.tree.exprs;
        if exprs.children(expr).eq(operands.iter().copied()) {
            return expr;
        }
        let kind = exprs.with_children(expr, operands);
        let (span, at) = (exprs.span(expr), exprs.at(expr));
        let reference = self.module.references[expr.index()].clone();
        self.push(kind, span, at, reference)
    }
}

/// The number of the leaf at a path.
fn leaf_at(structure: &Structure, path: &[String]) -> usize {
    let leaves = structure.leaves();
    leaves.iter().position(|leaf| leaf.path == path).expect("structures were checked")
}
