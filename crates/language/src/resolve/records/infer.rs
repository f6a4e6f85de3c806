//! Finds the streams and expressions of a node that are records or enumerators.
//!
//! Structures propagate from named types, record literals, enumerators and callees through the equations,
//! until nothing changes; all other streams are tensors. Then each expression is checked once.

use std::collections::VecDeque;
use std::rc::Rc;

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::declared::{self, Size};
use super::interface::{Stream, StreamInterface};
use crate::codes;
use crate::functions::apply::StreamTypes;
use crate::program::{
    Callee, ConstantValue, Copies, Made, Module, Node, NodeId, Program, Reference, Role, SlotId, Structure,
    TypeDefId,
};
use crate::static_value::postorder;
use crate::tree::{BinaryOp, ExprId, ExprKind, Scalar, UnaryOp};

/// The largest number of tensors in a record.
pub(super) const MAX_LEAVES: usize = 1000;

/// The results of inference for a node with records.
pub(super) struct Found {
    pub slots: Vec<Rc<Structure>>,
    /// The structure of each expression of the equations.
    pub exprs: FxHashMap<ExprId, Rc<Structure>>,
    /// The written types of the leaves of each slot.
    pub written: Vec<Vec<LeafType>>,
    /// For each `match`, the numbers of the enumerators of its cases; `None` for `_`.
    pub cases: FxHashMap<ExprId, Vec<Option<u32>>>,
    /// The structures of the names on the left side of each equation, `_` included.
    pub targets: Vec<Vec<Rc<Structure>>>,
    /// The parts of record literals whose declared kind is `num`: an integer literal there becomes a `num`.
    pub num_parts: FxHashSet<ExprId>,
}

/// A written type of a leaf: its number, its elements and sizes, and its span.
pub(super) struct LeafType {
    pub leaf: usize,
    pub scalar: Scalar,
    pub sizes: Option<Vec<Size>>,
    pub span: Span,
}

impl Found {
    pub fn interface(&self, node: &Node) -> StreamInterface {
        let stream = |slot: usize| {
            let structure = (*self.slots[slot]).clone();
            if structure == Structure::Tensor && self.written[slot].is_empty() {
                return Stream::tensor(node, slot);
            }
            let mut is_num: Vec<bool> =
                structure.leaves().iter().map(|leaf| leaf.enumeration.is_none()).collect();
            for written in &self.written[slot] {
                is_num[written.leaf] &= written.scalar == Scalar::Num;
            }
            Stream { structure, is_num }
        };
        StreamInterface {
            inputs: (0..node.n_inputs).map(stream).collect(),
            outputs: node.outputs.iter().map(|slot| stream(slot.index())).collect(),
        }
    }
}

/// The structures that are found without any assumption, of the inputs and outputs and of expressions.
pub(super) fn searched(
    program: &Program,
    interfaces: &[StreamInterface],
    id: NodeId,
) -> (StreamInterface, FxHashMap<ExprId, Rc<Structure>>) {
    let mut inference = Inference::new(program, interfaces, id);
    inference.declarations();
    inference.search();
    let node = inference.node;
    let stream = |slot: usize| {
        let structure = inference.slots[slot].as_deref().cloned().unwrap_or(Structure::Tensor);
        Stream { is_num: vec![true; structure.n_leaves()], structure }
    };
    let interface = StreamInterface {
        inputs: (0..node.n_inputs).map(stream).collect(),
        outputs: node.outputs.iter().map(|slot| stream(slot.index())).collect(),
    };
    (interface, inference.exprs)
}

pub(super) fn infer(
    program: &Program,
    interfaces: &[StreamInterface],
    id: NodeId,
) -> Result<Found, Vec<Diagnostic>> {
    let node = program.node(id);
    let mut inference = Inference::new(program, interfaces, id);
    inference.declarations();
    if inference.errors.is_empty() {
        inference.search();
        inference.mode = Mode::Checking;
        for number in 0..node.equations.len() {
            inference.equation(number);
        }
        inference.clock_conditions();
    }
    if !inference.errors.is_empty() {
        return Err(inference.errors);
    }
    let targets = (0..node.equations.len()).map(|number| inference.targets(number)).collect();
    let tensor = Rc::new(Structure::Tensor);
    Ok(Found {
        slots: inference.slots.iter().map(|slot| slot.clone().unwrap_or_else(|| tensor.clone())).collect(),
        exprs: inference.exprs,
        written: inference.written,
        cases: inference.cases,
        targets,
        num_parts: inference.num_parts,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Unknown structures stay unknown.
    Searching,
    /// Unknown structures become tensors.
    Assuming,
    /// Unknown structures become tensors, and errors are reported.
    Checking,
}

pub(super) struct Inference<'a> {
    pub(super) program: &'a Program,
    interfaces: &'a [StreamInterface],
    pub(super) module: &'a Module,
    pub(super) node: &'a Node,
    slots: Vec<Option<Rc<Structure>>>,
    pub(super) exprs: FxHashMap<ExprId, Rc<Structure>>,
    written: Vec<Vec<LeafType>>,
    pub(super) cases: FxHashMap<ExprId, Vec<Option<u32>>>,
    pub(super) num_parts: FxHashSet<ExprId>,
    pub(super) mode: Mode,
    pub(super) errors: Vec<Diagnostic>,
}

pub(super) type Known = Option<Rc<Structure>>;

impl<'a> Inference<'a> {
    fn new(program: &'a Program, interfaces: &'a [StreamInterface], id: NodeId) -> Inference<'a> {
        let (module, node) = (program.module_of(id), program.node(id));
        // What a made node captures has no written type.
        let inputs = if node.made == Made::Written { &[] } else { &interfaces[id.index()].inputs[..] };
        let mut slots = vec![None; node.slots.len()];
        for (slot, input) in slots.iter_mut().zip(inputs) {
            if input.structure != Structure::Tensor {
                *slot = Some(Rc::new(input.structure.clone()));
            }
        }
        Inference {
            program,
            interfaces,
            module,
            node,
            slots,
            exprs: FxHashMap::default(),
            written: node.slots.iter().map(|_| Vec::new()).collect(),
            cases: FxHashMap::default(),
            num_parts: FxHashSet::default(),
            mode: Mode::Searching,
            errors: Vec::new(),
        }
    }

    /// Sets the structures of the streams whose types are written. An input without a written type is a
    /// tensor.
    fn declarations(&mut self) {
        let types = StreamTypes::new(self.program);
        for (number, slot) in self.node.slots.iter().enumerate() {
            for name in &slot.type_names {
                let read = types.read(self.node.module, name.ty);
                let read = match read {
                    Ok(read) if read.leaves.len() > MAX_LEAVES => Err(too_large(name.span)),
                    read => read,
                };
                let read = match read {
                    Ok(read) => read,
                    Err(error) => {
                        self.errors.push(*error);
                        continue;
                    }
                };
                for (leaf, (scalar, dims)) in read.leaves.iter().enumerate() {
                    match declared::sizes(&self.program.modules, self.node.module, dims) {
                        Ok(sizes) => {
                            let written = LeafType { leaf, scalar: *scalar, sizes, span: name.span };
                            self.written[number].push(written);
                        }
                        Err(error) => self.errors.push(*error),
                    }
                }
                let known = self.slots[number].get_or_insert_with(|| Rc::new(read.structure.clone()));
                if **known != read.structure {
                    let text = format!("`{}` has two types that differ", slot.name);
                    self.errors.push(type_error(name.span, text));
                }
            }
            let is_tensor = slot.role == Role::Input || !slot.annotations.is_empty();
            let known = match &self.slots[number] {
                None if is_tensor => Rc::new(Structure::Tensor),
                Some(known) if slot.annotations.is_empty() || **known == Structure::Tensor => continue,
                Some(_) => {
                    let text = format!("`{}` has two types that differ", slot.name);
                    self.errors.push(type_error(slot.annotations[0].span, text));
                    continue;
                }
                None => continue,
            };
            self.slots[number] = Some(known);
        }
    }

    /// Reports written clocks with conditions that are not tensors.
    fn clock_conditions(&mut self) {
        for slot in &self.node.slots {
            for (conditions, span) in &slot.clocks {
                let is_tensor = |(condition, _): &(SlotId, _)| {
                    self.slots[condition.index()].as_deref().is_none_or(|known| *known == Structure::Tensor)
                };
                if !conditions.iter().all(is_tensor) {
                    self.error(*span, "a clock is a truth value, not a record or an enumerator", None);
                }
            }
        }
    }

    /// Evaluates equations until no further stream gets a structure.
    fn search(&mut self) {
        let n_equations = self.node.equations.len();
        let exprs = &self.module.tree.exprs;
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.node.slots.len()];
        for (number, equation) in self.node.equations.iter().enumerate() {
            for expr in postorder(exprs, equation.value) {
                if let Reference::Slot(slot) = self.module.references[expr.index()] {
                    users[slot.index()].push(number);
                }
            }
        }
        let mut queue: VecDeque<usize> = (0..n_equations).collect();
        let mut next_assumed = 0;
        loop {
            while let Some(number) = queue.pop_front() {
                if self.is_open(number) {
                    for slot in self.equation(number) {
                        queue.extend(&users[slot.index()]);
                    }
                }
            }
            // What remains are cycles of streams with unknown structures, such as `p = {x = p.v, v = p.x}`.
            // One equation is evaluated with tensors in place of them; then the search continues.
            while next_assumed < n_equations && !self.is_open(next_assumed) {
                next_assumed += 1;
            }
            if next_assumed == n_equations {
                return;
            }
            self.mode = Mode::Assuming;
            for slot in self.equation(next_assumed) {
                queue.extend(&users[slot.index()]);
            }
            self.mode = Mode::Searching;
            next_assumed += 1;
        }
    }

    /// Whether a stream that an equation defines has no structure yet.
    fn is_open(&self, number: usize) -> bool {
        let targets = &self.node.equations[number].targets;
        targets.iter().flatten().any(|slot| self.slots[slot.index()].is_none())
    }

    /// Evaluates an equation. Returns the streams that got a structure.
    fn equation(&mut self, number: usize) -> Vec<SlotId> {
        let node = self.node;
        let equation = &node.equations[number];
        let exprs = &self.module.tree.exprs;
        let n_errors = self.errors.len();
        for expr in postorder(exprs, equation.value) {
            let structure = self.structure(expr);
            let structure = structure.or_else(|| (self.mode != Mode::Searching).then(tensor));
            match structure {
                Some(structure) => drop(self.exprs.insert(expr, structure)),
                None => drop(self.exprs.remove(&expr)),
            }
        }
        if self.errors.len() > n_errors {
            // Further errors of this equation probably follow from the first.
            self.errors.truncate(n_errors + 1);
            return Vec::new();
        }
        let found = self.components(equation.value, equation.targets.len());
        let mut changed = Vec::new();
        for (target, found) in equation.targets.iter().zip(found) {
            let (Some(slot), Some(found)) = (target, found) else { continue };
            match &self.slots[slot.index()] {
                None => {
                    self.slots[slot.index()] = Some(found);
                    changed.push(*slot);
                }
                Some(known) if self.mode == Mode::Checking && *known != found => {
                    let name = &node.slots[slot.index()].name;
                    let (known, found) = (self.shown(known), self.shown(&found));
                    let text = format!("`{name}` is {known}, but its definition is {found}");
                    let span = node.slots[slot.index()].span;
                    self.error(exprs.at(equation.value), text, Some((span, "declared here")));
                }
                Some(_) => {}
            }
        }
        changed
    }

    /// The structures of the names on a left side, including `_`.
    fn targets(&self, number: usize) -> Vec<Rc<Structure>> {
        let equation = &self.node.equations[number];
        let found = self.components(equation.value, equation.targets.len());
        let of_slot = |slot: &Option<SlotId>| slot.and_then(|slot| self.slots[slot.index()].clone());
        let both = equation.targets.iter().zip(found);
        both.map(|(slot, found)| of_slot(slot).or(found).unwrap_or_else(tensor)).collect()
    }

    /// The structures of the streams that the right side of an equation defines, for `n_names` names.
    fn components(&self, value: ExprId, n_names: usize) -> Vec<Known> {
        let exprs = &self.module.tree.exprs;
        let value = exprs.without_parentheses(value);
        let (mut found, mut todo) = (Vec::new(), vec![value]);
        while let Some(expr) = todo.pop() {
            let expr = exprs.without_parentheses(expr);
            match (exprs.kind(expr), &self.module.references[expr.index()]) {
                (ExprKind::Tuple(items), _) => todo.extend(exprs.items(items).iter().rev()),
                (_, Reference::Call { callee: Callee::Instance(callable), .. }) => {
                    let interface = StreamInterface::of_callable(self.program, self.interfaces, callable);
                    found.extend(interface.outputs.into_iter().map(|output| Some(Rc::new(output.structure))));
                    if expr == value {
                        // The cotangents of parameters.
                        found.resize(found.len().max(n_names), Some(tensor()));
                    }
                }
                (_, Reference::Call { callee: Callee::Applied(..), .. }) if expr == value => {
                    found.extend(self.results(expr, n_names).into_iter().map(|result| Some(Rc::new(result))));
                }
                _ => found.push(self.exprs.get(&expr).cloned()),
            }
        }
        found.resize(n_names, None);
        found
    }

    /// The structures of the results of a function with `n_names` names for them; unwritten types are
    /// tensors.
    fn results(&self, call: ExprId, n_names: usize) -> Vec<Structure> {
        let written = match &self.module.references[call.index()] {
            Reference::Call { callee: Callee::Applied(function, modes), .. } if modes.is_empty() => {
                self.program.interfaces.get(function.index()).map(|interface| &interface.result_structures)
            }
            _ => None,
        };
        match written {
            Some(written) if written.len() == n_names => {
                written.iter().map(|structure| structure.clone().unwrap_or(Structure::Tensor)).collect()
            }
            _ => vec![Structure::Tensor; n_names],
        }
    }

    /// The structure of an expression whose parts were evaluated.
    fn structure(&mut self, expr: ExprId) -> Known {
        let exprs = &self.module.tree.exprs;
        let of = |inference: &Self, part: ExprId| inference.exprs.get(&part).cloned();
        match exprs.kind(expr) {
            ExprKind::Error | ExprKind::Tuple(_) => None,
            ExprKind::Number(_) | ExprKind::Bool(_) => Some(tensor()),
            ExprKind::Variable(_) => self.variable(expr),
            ExprKind::Group(inner) | ExprKind::Named(_, inner) => of(self, inner),
            ExprKind::Unary(UnaryOp::Post, inner) => of(self, inner),
            ExprKind::Unary(op, inner) => Some(self.tensors(&format!("`{}`", op.symbol()), &[inner])),
            ExprKind::Binary(op, left, right) => Some(self.binary(expr, op, left, right)),
            ExprKind::If(condition, yes, no) => {
                self.tensors("a condition", &[condition]);
                self.same(expr, yes, no)
            }
            ExprKind::Fby(_, first, next) => self.same(expr, first, next),
            ExprKind::When(_, value, condition) => {
                self.tensors("a condition", &[condition]);
                of(self, value)
            }
            ExprKind::Merge(condition, yes, no) => {
                self.tensors("a condition", &[condition]);
                self.same(expr, yes, no)
            }
            ExprKind::List(items) => self.list(expr, exprs.items(items)),
            ExprKind::Index(value, index) => self.rows_of(expr, value, &[index]),
            ExprKind::Call(..) => self.call(expr),
            ExprKind::Form(form, parts) => {
                let (form, parts) = (exprs.form(form), exprs.items(parts));
                self.form(expr, form, parts)
            }
        }
    }

    fn variable(&self, expr: ExprId) -> Known {
        match self.module.references[expr.index()] {
            Reference::Slot(slot) => self.slots[slot.index()].clone(),
            Reference::Enumerator(of, _) => Some(Rc::new(Structure::Enumeration(of))),
            Reference::Constant(constant) => match self.program.constant_values.get(constant.index()) {
                Some(Ok(ConstantValue::Structure(structure, _))) => Some(Rc::new(structure.clone())),
                _ => Some(tensor()),
            },
            _ => Some(tensor()),
        }
    }

    /// The structure of both parts, which must be the same.
    fn same(&mut self, expr: ExprId, left: ExprId, right: ExprId) -> Known {
        let (a, b) = (self.exprs.get(&left).cloned(), self.exprs.get(&right).cloned());
        if let (Some(a), Some(b)) = (&a, &b)
            && a != b
        {
            let text = format!("{} meets {}", self.shown(a), self.shown(b));
            self.error(self.module.tree.exprs.at(expr), text, None);
        }
        a.or(b)
    }

    /// A tensor; reports parts that are not tensors.
    pub(super) fn tensors(&mut self, what: &str, parts: &[ExprId]) -> Rc<Structure> {
        for part in parts {
            let Some(structure) = self.exprs.get(part).cloned() else { continue };
            let at = self.module.tree.exprs.at(*part);
            match &*structure {
                Structure::Tensor => {}
                Structure::Enumeration(of) => {
                    let text = format!("{what} takes no enumerator of `{}`", self.type_name(*of));
                    let help = "enumerators are compared by `==` and `!=`, and distinguished by `match`";
                    self.error_with_help(at, text, help.to_string());
                }
                Structure::Record(fields) => {
                    let help = format!("select a field: `.{}`", fields[0].0);
                    self.error_with_help(at, format!("{what} takes no record"), help);
                }
            }
        }
        tensor()
    }

    fn binary(&mut self, expr: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Rc<Structure> {
        let (a, b) = (self.exprs.get(&left).cloned(), self.exprs.get(&right).cloned());
        if let (BinaryOp::Equal | BinaryOp::NotEqual, Some(a), Some(b)) = (op, &a, &b)
            && (matches!(**a, Structure::Enumeration(_)) || matches!(**b, Structure::Enumeration(_)))
        {
            if a != b {
                let text = format!("{} is compared with {}", self.shown(a), self.shown(b));
                self.error(self.module.tree.exprs.at(expr), text, None);
            }
            return tensor();
        }
        self.tensors(&format!("`{}`", op.symbol()), &[left, right])
    }

    /// A list of tensors, or of enumerators of one enumeration.
    fn list(&mut self, expr: ExprId, items: &[ExprId]) -> Known {
        let known: Vec<Rc<Structure>> =
            items.iter().filter_map(|item| self.exprs.get(item).cloned()).collect();
        let enumeration = known.iter().find(|known| matches!(***known, Structure::Enumeration(_)));
        let Some(enumeration) = enumeration.cloned() else {
            let is_open = known.len() < items.len() && self.mode == Mode::Searching;
            return if is_open { None } else { Some(self.tensors("a list", items)) };
        };
        if let Some(other) = known.iter().find(|other| **other != enumeration) {
            let text = format!("{} meets {}", self.shown(&enumeration), self.shown(other));
            self.error(self.module.tree.exprs.at(expr), text, None);
        }
        Some(enumeration)
    }

    fn call(&mut self, expr: ExprId) -> Known {
        let module = self.module;
        let ExprKind::Call(name, arguments) = module.tree.exprs.kind(expr) else { return None };
        let arguments = module.tree.exprs.items(arguments);
        let Reference::Call { callee, site, .. } = &module.references[expr.index()] else { return None };
        match callee {
            Callee::Instance(callable) => {
                let interface = StreamInterface::of_callable(self.program, self.interfaces, callable);
                if callable.modes.is_empty() {
                    // Copies begin with their number, and a fold with its first streams.
                    let copies = site.as_ref().and_then(|site| site.copies);
                    let (n_own, n_bound) = copies.map_or((0, 0), Copies::n_bound);
                    let inputs = &interface.inputs[n_bound..];
                    self.arguments(module.names.text(name), inputs, &arguments[n_own..]);
                }
                interface.outputs.first().map(|output| Rc::new(output.structure.clone()))
            }
            Callee::Applied(..) => self.results(expr, 1).into_iter().next().map(Rc::new),
            Callee::Function(_) | Callee::Initialiser(_) | Callee::Param | Callee::AllSum => {
                Some(self.tensors(&format!("`{}`", module.names.text(name)), arguments))
            }
        }
    }

    /// Reports arguments that do not have the structure of their input.
    fn arguments(&mut self, name: &str, inputs: &[Stream], arguments: &[ExprId]) {
        for (number, (input, argument)) in inputs.iter().zip(arguments).enumerate() {
            let Some(found) = self.exprs.get(argument).cloned() else { continue };
            if *found != input.structure {
                let expected = self.shown(&input.structure);
                let found = self.shown(&found);
                let text = format!("argument {} of `{name}` must be {expected}, but is {found}", number + 1);
                self.error(self.module.tree.exprs.at(*argument), text, None);
            }
        }
    }

    pub(super) fn error(&mut self, at: Span, text: impl AsRef<str>, cause: Option<(Span, &str)>) {
        if self.mode == Mode::Checking {
            let diagnostic = type_error(at, text.as_ref());
            self.errors.push(match cause {
                Some((span, text)) => diagnostic.cause(span, text),
                None => diagnostic,
            });
        }
    }

    pub(super) fn error_with_help(&mut self, at: Span, text: impl AsRef<str>, help: String) {
        if self.mode == Mode::Checking {
            self.errors.push(type_error(at, text.as_ref()).help(help));
        }
    }

    pub(super) fn type_name(&self, definition: TypeDefId) -> &'a str {
        let (module, tree) = self.program.type_def(definition);
        self.program.modules[module].names.text(tree.ident.name)
    }

    /// The description of a structure in messages.
    pub(super) fn shown(&self, structure: &Structure) -> String {
        match structure {
            Structure::Tensor => "a tensor".to_string(),
            Structure::Enumeration(of) => format!("an enumerator of `{}`", self.type_name(*of)),
            Structure::Record(fields) => {
                let labels: Vec<&str> = fields.iter().map(|(label, _)| label.as_str()).collect();
                format!("a record of `{}`", labels.join("`, `"))
            }
        }
    }
}

pub(super) fn tensor() -> Rc<Structure> {
    Rc::new(Structure::Tensor)
}

pub(super) fn type_error(at: Span, text: impl AsRef<str>) -> Diagnostic {
    Diagnostic::error(codes::TYPE, at, format!("type error: {}", text.as_ref()))
}

pub(super) fn too_large(at: Span) -> Box<Diagnostic> {
    let text = format!(
        "a record has more than {MAX_LEAVES} tensors, or is nested more than {} levels deep",
        Structure::MAX_DEPTH
    );
    Box::new(type_error(at, text))
}
