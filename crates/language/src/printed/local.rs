//! One instance of a node as steps between its own streams: equations of flow, except that calls stay calls.
//!
//! ```text
//! h = tanh(w * x + reg(h));        x1 = w * x      x2 = reg(h)      x3 = x1 + x2      h = tanh(x3)
//! ```
//!
//! A stream refers to the expression that it comes from, so that it can be printed as the user wrote it.
//! Operations and types are looked up in the flow of the whole program.

use eddy_autodiff::{Node as Differentiated, NodeCall, NodeStep};
use eddy_syntax::Span;
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::FxHashMap;

use super::activity::{Summary, summary};
use crate::elaborate::{Record, Recorded};
use crate::flow::{Equation, Flow, Kind, Var, VarId};
use crate::program::{Callee, Module, Node, Program, Reference, SlotId, static_positions};
use crate::static_value::postorder;
use crate::tree::{ExprId, ExprKind, UnaryOp};

/// An elaborated program with types, and the stream of each of its expressions.
pub(super) struct Typed<'a> {
    pub program: &'a Program,
    pub flow: Flow,
    pub definitions: Vec<Option<usize>>,
    pub record: Record,
}

impl Typed<'_> {
    pub fn recorded(&self, instance: usize) -> &Recorded {
        &self.record.instances[instance]
    }

    pub fn node(&self, instance: usize) -> &Node {
        self.program.node(self.recorded(instance).node)
    }

    pub fn module(&self, instance: usize) -> &Module {
        self.program.module_of(self.recorded(instance).node)
    }

    fn kind(&self, var: VarId) -> Option<&Kind> {
        self.definitions[var.index()].map(|number| &self.flow.equations[number].kind)
    }
}

/// A stream of an instance: an index into the streams of the instance, not into those of the whole flow.
pub(super) type StreamId = VarId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    /// A stream with a name.
    Slot(SlotId),
    /// The value of an expression.
    Expr(ExprId),
    /// An unnamed output of a call.
    Discarded,
}

#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub origin: Origin,
    /// Its type; `None` for compile-time constants that are not streams.
    pub ty: Option<Type>,
    pub var: Option<VarId>,
    /// Whether it is known at compile time in this instance.
    pub is_constant: bool,
    /// Whether it is known at compile time in every instance, so that it has no clock of its own. An input
    /// that is constant only in this instance is a stream when the node is checked separately.
    pub is_literal: bool,
}

impl Stream {
    pub fn is_num(&self) -> bool {
        !self.is_constant && self.ty.as_ref().is_some_and(|ty| ty.scalar == Scalar::Num)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// An equation between streams of the instance.
    Equation(Kind),
    /// A call of the instance with this index in the record. Its operands are all arguments.
    Call(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub action: Action,
    pub operands: Vec<StreamId>,
    /// One result, unless the step is a call.
    pub results: Vec<StreamId>,
    pub expr: ExprId,
    /// Whether the expression is the whole right side of an equation.
    pub is_whole: bool,
}

/// One equation, or one part of an equation between tuples.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub targets: Vec<Option<SlotId>>,
    pub value: ExprId,
    /// The steps of its right side.
    pub steps: std::ops::Range<usize>,
}

/// An instance as steps.
pub(super) struct Local {
    pub streams: Vec<Stream>,
    pub steps: Vec<Step>,
    pub items: Vec<Item>,
    slots: Vec<StreamId>,
}

impl Local {
    pub fn slot(&self, slot: SlotId) -> StreamId {
        self.slots[slot.index()]
    }

    pub fn stream(&self, stream: StreamId) -> &Stream {
        &self.streams[stream.index()]
    }

    /// The type of a stream that is not a compile-time constant.
    pub fn ty(&self, stream: StreamId) -> &Type {
        self.stream(stream).ty.as_ref().expect("a stream has a type")
    }

    pub fn is_num(&self, stream: StreamId) -> bool {
        self.stream(stream).is_num()
    }

    /// The instance in the form that differentiation takes.
    pub fn differentiated(&self, callees: &[Option<Summary>]) -> Differentiated {
        // No derivative passes through a compile-time constant, whatever its type.
        let constant = Type { scalar: Scalar::Bool, shape: Shape::scalar() };
        let var = |stream: &Stream| {
            let ty = stream.ty.clone().unwrap_or_else(|| constant.clone());
            Var { name: None, span: Span::default(), ty, purpose: None }
        };
        let step = |step: &Step| match &step.action {
            Action::Equation(kind) => NodeStep::Equation(Equation {
                out: step.results[0],
                kind: kind.clone(),
                span: Span::default(),
                call: None,
            }),
            Action::Call(callee) => NodeStep::Call(NodeCall {
                inputs: step.operands.clone(),
                outputs: step.results.clone(),
                passes: summary(callees, *callee).passes.clone(),
            }),
        };
        Differentiated {
            vars: self.streams.iter().map(var).collect(),
            steps: self.steps.iter().map(step).collect(),
        }
    }

    /// The steps of an instance of a typed program.
    pub fn new(typed: &Typed<'_>, instance: usize) -> Local {
        let recorded = typed.recorded(instance);
        let mut flattener = Flattener {
            typed,
            recorded,
            module: typed.module(instance),
            local: Local { streams: Vec::new(), steps: Vec::new(), items: Vec::new(), slots: Vec::new() },
            of: FxHashMap::default(),
        };
        let node = typed.node(instance);
        for number in 0..node.slots.len() {
            let stream = flattener.stream(Origin::Slot(SlotId::new(number)), recorded.slots[number]);
            flattener.local.slots.push(stream);
        }
        for equation in &node.equations {
            flattener.equation(&equation.targets, equation.value);
        }
        flattener.local
    }
}

struct Flattener<'a> {
    typed: &'a Typed<'a>,
    recorded: &'a Recorded,
    module: &'a Module,
    local: Local,
    /// The streams of visited expressions.
    of: FxHashMap<ExprId, StreamId>,
}

enum Work {
    /// Find the stream of an expression.
    Visit(ExprId),
    /// Add the step of an expression, whose operands have streams.
    Build(ExprId),
}

impl Flattener<'_> {
    fn stream(&mut self, origin: Origin, var: Option<VarId>) -> StreamId {
        let ty = var.map(|var| self.typed.flow.var(var).ty.clone());
        let is_constant = var.is_none();
        self.local.streams.push(Stream { origin, ty, var, is_constant, is_literal: false });
        StreamId::new(self.local.streams.len() - 1)
    }

    fn equation(&mut self, targets: &[Option<SlotId>], value: ExprId) {
        let exprs = &self.module.tree.exprs;
        let (mut at, mut todo) = (0, vec![value]);
        while let Some(expr) = todo.pop() {
            let expr = exprs.without_parentheses(expr);
            if let ExprKind::Tuple(items) = exprs.kind(expr) {
                todo.extend(exprs.items(items).iter().rev());
                continue;
            }
            let n = self.callee_outputs(expr).map_or(1, <[SlotId]>::len);
            let start = self.local.steps.len();
            let targets = targets[at..at + n].to_vec();
            self.item(&targets, expr);
            let steps = start..self.local.steps.len();
            self.local.items.push(Item { targets, value: expr, steps });
            at += n;
        }
    }

    /// The right side of an equation: its last step defines the targets.
    fn item(&mut self, targets: &[Option<SlotId>], expr: ExprId) {
        if self.recorded.statics.contains_key(&expr) {
            return;
        }
        let results: Vec<Option<StreamId>> =
            targets.iter().map(|slot| slot.map(|slot| self.local.slot(slot))).collect();
        if let (ExprKind::Variable(_), [Some(result)]) =
            (self.module.tree.exprs.kind(expr), results.as_slice())
        {
            let operand = self.variable(expr);
            let step = Step {
                action: Action::Equation(Kind::Apply(Op::Copy, Box::new([operand]))),
                operands: vec![operand],
                results: vec![*result],
                expr,
                is_whole: true,
            };
            self.local.steps.push(step);
            return;
        }
        self.visit(expr);
        // The step of the whole right side defines the targets.
        let Some(step) = self.local.steps.last_mut().filter(|step| step.expr == expr) else { return };
        step.is_whole = true;
        for (result, target) in step.results.iter_mut().zip(results) {
            match target {
                Some(target) => *result = target,
                None => self.local.streams[result.index()].origin = Origin::Discarded,
            }
        }
    }

    fn visit(&mut self, root: ExprId) {
        let exprs = &self.module.tree.exprs;
        let mut todo = vec![Work::Visit(root)];
        while let Some(work) = todo.pop() {
            match work {
                Work::Visit(expr) => {
                    let expr = exprs.without_parentheses(expr);
                    let is_leaf = self.recorded.statics.contains_key(&expr)
                        || matches!(exprs.kind(expr), ExprKind::Variable(_) | ExprKind::Bool(_));
                    if is_leaf {
                        let stream = self.leaf(expr);
                        self.of.insert(expr, stream);
                        continue;
                    }
                    todo.push(Work::Build(expr));
                    todo.extend(self.operands(expr).into_iter().rev().map(Work::Visit));
                }
                Work::Build(expr) => self.build(expr),
            }
        }
    }

    fn leaf(&mut self, expr: ExprId) -> StreamId {
        let is_constant = self.recorded.statics.contains_key(&expr)
            || matches!(self.module.tree.exprs.kind(expr), ExprKind::Bool(_));
        if !is_constant {
            return self.variable(expr);
        }
        let stream = self.stream(Origin::Expr(expr), self.recorded.streams.get(&expr).copied());
        let is_literal = self.is_literal(expr);
        let constant = &mut self.local.streams[stream.index()];
        (constant.is_constant, constant.is_literal) = (true, is_literal);
        stream
    }

    /// Whether all variables of an expression must be known at compile time.
    fn is_literal(&self, expr: ExprId) -> bool {
        let is_static = |part: ExprId| match self.module.references[part.index()] {
            Reference::Slot(slot) => self.typed.program.node(self.recorded.node).is_static[slot.index()],
            _ => true,
        };
        postorder(&self.module.tree.exprs, expr).into_iter().all(is_static)
    }

    fn variable(&self, expr: ExprId) -> StreamId {
        match self.module.references[expr.index()] {
            Reference::Slot(slot) => self.local.slot(slot),
            _ => unreachable!("variables are resolved"),
        }
    }

    fn callee(&self, expr: ExprId) -> Option<&Callee> {
        match &self.module.references[expr.index()] {
            Reference::Call { callee, .. } => Some(callee),
            _ => None,
        }
    }

    /// The outputs of the node that a call instantiates.
    fn callee_outputs(&self, expr: ExprId) -> Option<&[SlotId]> {
        match self.callee(expr) {
            Some(Callee::Instance(callable)) => {
                let origin = self.typed.program.origin(callable.base);
                Some(&self.typed.program.node(origin).outputs)
            }
            _ => None,
        }
    }

    /// The operands that are streams, in the order of flow, and all arguments of a call.
    fn operands(&self, expr: ExprId) -> Vec<ExprId> {
        let exprs = &self.module.tree.exprs;
        match exprs.kind(expr) {
            ExprKind::When(_, value, condition) => vec![value, stripped(self.module, condition)],
            ExprKind::Index(value, _) => vec![value],
            ExprKind::Call(_, arguments) => {
                let arguments = exprs.items(arguments);
                match self.callee(expr) {
                    Some(Callee::Function(builtin)) => {
                        let skipped: Vec<usize> = static_positions(*builtin, arguments.len()).collect();
                        let kept = (0..arguments.len()).filter(|position| !skipped.contains(position));
                        kept.map(|position| arguments[position]).collect()
                    }
                    Some(Callee::Initialiser(_)) => Vec::new(),
                    _ => arguments.to_vec(),
                }
            }
            _ => exprs.children(expr).collect(),
        }
    }

    fn build(&mut self, expr: ExprId) {
        let exprs = &self.module.tree.exprs;
        let operands: Vec<StreamId> = self
            .operands(expr)
            .into_iter()
            .map(|operand| self.of[&exprs.without_parentheses(operand)])
            .collect();
        if let Some(instance) = self.recorded.calls.get(&expr).copied() {
            let callee = self.typed.recorded(instance);
            let outputs = self.typed.node(instance).outputs.clone();
            let results: Vec<StreamId> = outputs
                .iter()
                .map(|output| self.stream(Origin::Expr(expr), callee.stream_of(*output)))
                .collect();
            self.of.insert(expr, results[0]);
            self.push(Action::Call(instance), operands, results, expr);
            return;
        }
        let var = self.recorded.streams[&expr];
        let result = self.stream(Origin::Expr(expr), Some(var));
        self.of.insert(expr, result);
        let kind = match (self.typed.kind(var).expect("an expression has an equation"), operands.as_slice()) {
            (Kind::Const(_), _) => {
                let constant = &mut self.local.streams[result.index()];
                (constant.is_constant, constant.is_literal) = (true, true);
                return;
            }
            (Kind::Apply(op, _), operands) => Kind::Apply(op.clone(), operands.into()),
            (Kind::When { polarity, .. }, &[value, condition]) => {
                Kind::When { value, condition, polarity: *polarity }
            }
            (Kind::Merge { .. }, &[condition, yes, no]) => Kind::Merge { condition, yes, no },
            (Kind::Fby { .. }, &[init, next]) => Kind::Fby { init, next },
            (Kind::FbyBack { .. }, &[init, next]) => Kind::FbyBack { init, next },
            (Kind::Post(_), &[next]) => Kind::Post(next),
            (Kind::Param(_), &[init]) => Kind::Param(init),
            (kind, operands) => unreachable!("{kind:?} has other operands than {operands:?}"),
        };
        self.push(Action::Equation(kind), operands, vec![result], expr);
    }

    fn push(&mut self, action: Action, operands: Vec<StreamId>, results: Vec<StreamId>, expr: ExprId) {
        self.local.steps.push(Step { action, operands, results, expr, is_whole: false });
    }
}

/// A condition without the `not`s in front of it, which are part of the polarity (section 2).
pub(super) fn stripped(module: &Module, condition: ExprId) -> ExprId {
    let exprs = &module.tree.exprs;
    let mut condition = exprs.without_parentheses(condition);
    while let ExprKind::Unary(UnaryOp::Not, operand) = exprs.kind(condition) {
        condition = exprs.without_parentheses(operand);
    }
    condition
}
