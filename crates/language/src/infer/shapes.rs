//! Infers shapes by propagation (section 3).
//!
//! Streams that must have equal shapes, such as the operands of `fby`, form a class. Known shapes propagate
//! through the operations until nothing changes. If some shapes are still unknown, assumptions are made one
//! at a time:
//!
//! 1. A broadcasting operation with an operand that depends on its own result, such as `h = (0.0 fby h) + v`,
//!    has the shape of its first known operand that is not a literal. If this fails, it has the shape to
//!    which all such operands on its cycle broadcast. If this fails too, all unknown shapes are the smallest
//!    that fit ([`least`](super::least)).
//! 2. A literal is a scalar.
//! 3. An input is a scalar. [`InferenceError::defaulted`] lists these inputs, because a run may give them
//!    another shape.
//!
//! At the end every rule is checked.

use std::collections::BTreeSet;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Shape, ShapeRule};

use super::applications::ResultTypes;
use super::classes::{Classes, Origin, Property};
use super::recurrences::Recurrences;
use super::shape_errors::ShapeErrors;
use super::{Hints, InferenceError, PartialTypes};

use crate::codes;
use crate::draft::{Draft, TypeAnnotation};
use crate::flow::{Equation, Kind, Labels, VarId};

/// The largest number of axes, as in other systems. Without it, the shapes of nested lists would take space
/// quadratic in their depth.
pub(super) const MAX_AXES: usize = 32;

impl Property for Shape {
    fn join(&self, other: &Self) -> Option<Self> {
        (self == other).then(|| self.clone())
    }
}

pub(super) fn infer(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
    applications: Option<&dyn ResultTypes>,
) -> Result<Vec<Shape>, InferenceError> {
    let attempt = |assumption| attempt(draft, hints, labels, assumption, applications);
    let first = attempt(Assumption::FirstOperand);
    // An assumption may be wrong; if all attempts fail, the error of the first one is reported.
    first.or_else(|failure| {
        let others = [Assumption::AllOperands, Assumption::Least];
        let found = others.into_iter().find_map(|assumption| attempt(assumption).ok());
        found.ok_or(failure)
    })
}

/// The shapes that follow from the equations, even if there are contradictions.
pub(super) fn found(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
    applications: Option<&dyn ResultTypes>,
) -> Vec<Option<Shape>> {
    let mut inference = Inference::new(draft, labels, Assumption::FirstOperand);
    inference.applications = applications;
    inference.on_error = OnError::Continue;
    let solved = inference.given(hints).and_then(|()| inference.propagate());
    assert!(solved.is_ok(), "errors are ignored");
    (0..draft.vars.len()).map(|var| inference.classes.get(VarId::new(var))).collect()
}

/// The inputs whose shapes do not follow from the equations.
pub(super) fn open_inputs(draft: &Draft, hints: &Hints, labels: &Labels<'_>) -> Vec<VarId> {
    let mut inference = Inference::new(draft, labels, Assumption::FirstOperand);
    // [`infer`] reports the errors.
    let _ = inference.given(hints).and_then(|()| inference.solve());
    inference.defaulted
}

/// How the shape of a recurrence is assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assumption {
    /// From the first operand of its first operation that is known and not a literal.
    FirstOperand,
    /// From all such operands of its operations: the first alone may be a scalar, such as the factor in
    /// `h = factor * (0.0 fby h) + v`.
    AllOperands,
    /// All unknown shapes grow from scalars.
    Least,
}

fn attempt(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
    assumption: Assumption,
    applications: Option<&dyn ResultTypes>,
) -> Result<Vec<Shape>, InferenceError> {
    let mut inference = Inference::new(draft, labels, assumption);
    inference.applications = applications;
    let solved = inference.given(hints).and_then(|()| inference.solve()).and_then(|()| inference.check());
    match solved {
        Ok(()) => Ok(inference.finish()),
        Err(diagnostic) => {
            let defaulted = inference.defaulted;
            Err(InferenceError { diagnostics: vec![*diagnostic], defaulted, found: PartialTypes::default() })
        }
    }
}

/// The reaction if an equation contradicts known shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnError {
    Stop,
    /// Ignore the equation.
    Continue,
}

pub(super) struct Inference<'a> {
    pub(super) draft: &'a Draft,
    errors: ShapeErrors<'a>,
    pub(super) assumption: Assumption,
    on_error: OnError,
    /// Types of functions; without them, the shapes of their results are unknown.
    applications: Option<&'a dyn ResultTypes>,
    pub(super) classes: Classes<Shape>,
    pub(super) is_literal: Vec<bool>,
    /// For each class, the equations that mention it.
    pub(super) uses: Vec<Vec<usize>>,
    /// Equations to process again.
    pub(super) todo: Vec<usize>,
    /// Broadcasting operations that depend on themselves.
    pub(super) recurrences: Recurrences,
    /// The members of `recurrences` whose operands may have changed.
    pub(super) ready: BTreeSet<usize>,
    defaulted: Vec<VarId>,
}

/// Why an operation has no result at some shapes.
pub(super) enum NoShape {
    Broken(String),
    Function(Box<Diagnostic>),
}

pub(super) type Step = Result<(), Box<Diagnostic>>;

impl<'a> Inference<'a> {
    pub(super) fn new(draft: &'a Draft, labels: &'a Labels<'a>, assumption: Assumption) -> Self {
        let n_vars = draft.vars.len();
        let mut is_literal = vec![false; n_vars];
        for equation in &draft.equations {
            if let Kind::Const(constant) = &equation.kind {
                is_literal[equation.out.index()] = constant.stretches();
            }
        }
        Inference {
            draft,
            errors: ShapeErrors { draft, labels },
            assumption,
            on_error: OnError::Stop,
            applications: None,
            classes: Classes::new(n_vars),
            is_literal,
            uses: Vec::new(),
            todo: (0..draft.equations.len()).rev().collect(),
            recurrences: Recurrences::default(),
            ready: BTreeSet::new(),
            defaulted: Vec::new(),
        }
    }

    /// Sets the shapes that are known from the start, and unites classes of equal shapes.
    pub(super) fn given(&mut self, hints: &Hints) -> Step {
        let draft = self.draft;
        for annotation in &draft.types {
            if let Some(shape) = &annotation.shape {
                let step = self.written(annotation, shape);
                self.unless_ignored(step)?;
            }
        }
        for hint in &hints.shapes {
            // Data that contradict annotations are reported where they are read.
            let _ = self.classes.set(hint.input, hint.says.clone(), hint.span);
        }
        for (number, equation) in draft.equations.iter().enumerate() {
            let step = self.equalities(number, equation);
            self.unless_ignored(step)?;
        }
        for same_type in &draft.same_types {
            let united = self.classes.unite(same_type.left, same_type.right);
            let step = united.map_err(|conflict| self.errors.same_type(same_type, *conflict));
            self.unless_ignored(step)?;
        }
        self.uses = vec![Vec::new(); draft.vars.len()];
        for (number, equation) in draft.equations.iter().enumerate() {
            for var in equation.kind.operands().chain([equation.out]) {
                let class = self.classes.find(var);
                if self.uses[class].last() != Some(&number) {
                    self.uses[class].push(number);
                }
            }
        }
        Ok(())
    }

    /// Drops the error if `on_error` is [`OnError::Continue`].
    fn unless_ignored(&self, step: Step) -> Step {
        match self.on_error {
            OnError::Stop => step,
            OnError::Continue => Ok(()),
        }
    }

    fn written(&mut self, annotation: &TypeAnnotation, shape: &Shape) -> Step {
        check_axis_count(shape, annotation.span)?;
        let result = self.classes.set(annotation.var, shape.clone(), annotation.span);
        result.map(drop).map_err(|conflict| self.errors.written(annotation, *conflict))
    }

    fn equalities(&mut self, number: usize, equation: &Equation) -> Step {
        match &equation.kind {
            Kind::Const(constant) => match constant.shape() {
                Some(shape) => self.set_result(number, shape),
                None => Ok(()),
            },
            Kind::Apply(op, operands) => self.operation_equalities(number, op, operands),
            Kind::When { value, condition, .. } => {
                self.require_scalar(number, *condition)?;
                self.unite_with_result(number, *value)
            }
            Kind::Merge { condition, yes, no } => {
                self.require_scalar(number, *condition)?;
                self.unite_operands(number, *yes, *no)?;
                self.unite_with_result(number, *yes)
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                self.unite_operands(number, *init, *next)?;
                self.unite_with_result(number, *next)
            }
            Kind::Post(operand) | Kind::Param(operand) => self.unite_with_result(number, *operand),
        }
    }

    fn operation_equalities(&mut self, number: usize, op: &Op, operands: &[VarId]) -> Step {
        // A literal takes the shape of its place only as a branch of `if`.
        for operand in operands {
            if self.is_literal[operand.index()] && *op != Op::If {
                self.require_scalar(number, *operand)?;
            }
        }
        match op.shape_rule() {
            ShapeRule::Equal => {
                operands.iter().try_for_each(|operand| self.unite_with_result(number, *operand))
            }
            ShapeRule::If => {
                self.require_scalar(number, operands[0])?;
                self.unite_operands(number, operands[1], operands[2])?;
                self.unite_with_result(number, operands[1])
            }
            ShapeRule::Like(index) => self.unite_with_result(number, operands[index]),
            ShapeRule::Fixed(shape) => self.set_result(number, shape),
            ShapeRule::Stack => {
                operands.windows(2).try_for_each(|pair| self.unite_operands(number, pair[0], pair[1]))?;
                // A list of numbers has its shape from the start, like a literal, so that errors show it.
                match self.classes.get(operands[0]) {
                    Some(item) => match op.shape(&vec![&item; operands.len()]) {
                        Ok(shape) => self.set_result(number, shape),
                        Err(error) => Err(self.broken(number, operands, &error.to_string())),
                    },
                    None => Ok(()),
                }
            }

            ShapeRule::Function if *op == Op::Row => self.require_scalar(number, operands[1]),
            ShapeRule::Broadcast | ShapeRule::Function => Ok(()),
        }
    }

    /// Propagates and assumes until all shapes are known.
    fn solve(&mut self) -> Step {
        self.propagate()?;
        self.propagate_losses()?;
        // From here on shapes are assumed; with other shapes of these inputs the program may be correct.
        let inputs = self.draft.inputs.iter().copied();
        self.defaulted = inputs.filter(|input| self.classes.get(*input).is_none()).collect();
        if self.assumption == Assumption::Least && self.assume_least().is_some() {
            return Ok(());
        }
        self.find_recurrences();
        self.assume_recurrences()?;
        for var in (0..self.draft.vars.len()).map(VarId::new) {
            if self.is_literal[var.index()] && self.classes.get(var).is_none() {
                self.assume_scalar(var);
                self.propagate()?;
                self.assume_recurrences()?;
            }
        }
        for input in &self.draft.inputs {
            self.propagate_losses()?;
            if self.classes.get(*input).is_none() {
                self.assume_scalar(*input);
                self.propagate()?;
                self.assume_recurrences()?;
            }
        }
        // The remaining streams are not related to any stream of known shape, as in `x = post x`.
        for var in (0..self.draft.vars.len()).map(VarId::new) {
            if self.classes.get(var).is_none() {
                self.assume_scalar(var);
                self.propagate()?;
            }
        }
        Ok(())
    }

    /// Gives the target of a loss the shape of the output, unless the shape of the target is known.
    fn propagate_losses(&mut self) -> Step {
        let draft = self.draft;
        for loss in &draft.losses {
            if let (Some(shape), None) = (self.classes.get(loss.output), self.classes.get(loss.target)) {
                let result = self.classes.set(loss.target, shape, loss.span);
                assert!(result.is_ok(), "the shape was unknown");
                self.requeue_users(loss.target, true);
                self.propagate()?;
            }
        }
        Ok(())
    }

    pub(super) fn propagate(&mut self) -> Step {
        while let Some(number) = self.todo.pop() {
            let step = self.propagate_through(number);
            self.unless_ignored(step)?;
        }
        Ok(())
    }

    /// Propagates shapes from the operands of an equation to its result, and for lists also backwards.
    fn propagate_through(&mut self, number: usize) -> Step {
        let equation = &self.draft.equations[number];
        let Kind::Apply(op, operands) = &equation.kind else { return Ok(()) };
        match op.shape_rule() {
            ShapeRule::Broadcast | ShapeRule::Function => self.propagate_forward(number, op, operands),
            ShapeRule::Stack => {
                self.propagate_forward(number, op, operands)?;
                match self.classes.get(equation.out).as_deref().and_then(<[usize]>::split_first) {
                    Some((_, item)) => self.learn_item(number, operands[0], Shape::new(item)),
                    None => Ok(()),
                }
            }
            ShapeRule::Equal | ShapeRule::If | ShapeRule::Like(_) | ShapeRule::Fixed(_) => Ok(()),
        }
    }

    fn propagate_forward(&mut self, number: usize, op: &Op, operands: &[VarId]) -> Step {
        let shapes: Option<Vec<Shape>> = operands.iter().map(|operand| self.classes.get(*operand)).collect();
        let Some(shapes) = shapes else { return Ok(()) };
        let shapes: Vec<&Shape> = shapes.iter().collect();
        match self.shape(number, op, &shapes) {
            Some(Ok(shape)) => self.set_result(number, shape),
            Some(Err(NoShape::Broken(message))) => Err(self.broken(number, operands, &message)),
            Some(Err(NoShape::Function(diagnostic))) => Err(diagnostic),
            None => Ok(()),
        }
    }

    /// The shape of the result of an operation; `None` for a function of unknown type.
    pub(super) fn shape(&self, number: usize, op: &Op, shapes: &[&Shape]) -> Option<Result<Shape, NoShape>> {
        let equation = &self.draft.equations[number];
        if !self.draft.applications.contains_key(&equation.out) {
            return Some(op.shape(shapes).map_err(|error| NoShape::Broken(error.to_string())));
        }
        let result = self.applications?.result(equation, shapes)?;
        Some(result.map(|ty| ty.shape).map_err(NoShape::Function))
    }

    /// Sets the shape of the result of an equation.
    pub(super) fn set_result(&mut self, number: usize, shape: Shape) -> Step {
        let Equation { out, span, .. } = self.draft.equations[number];
        check_axis_count(&shape, span)?;
        match self.classes.set(out, shape, span) {
            Ok(is_changed) => {
                self.requeue_users(out, is_changed);
                Ok(())
            }
            Err(conflict) => {
                let operands = self.draft.equations[number].kind.operands();
                let operands = self.known_shapes(operands);
                Err(self.errors.result(number, operands, conflict.right.0, conflict.left))
            }
        }
    }

    /// Sets the shape of the items of a list.
    fn learn_item(&mut self, number: usize, item: VarId, shape: Shape) -> Step {
        match self.classes.set(item, shape, self.draft.equations[number].span) {
            Ok(is_changed) => {
                self.requeue_users(item, is_changed);
                Ok(())
            }
            Err(conflict) => Err(self.errors.needs(number, item, *conflict)),
        }
    }

    /// Requires an operand to be a scalar.
    fn require_scalar(&mut self, number: usize, var: VarId) -> Step {
        let result = self.classes.set(var, Shape::scalar(), self.draft.equations[number].span);
        result.map(drop).map_err(|conflict| self.errors.needs(number, var, *conflict))
    }

    /// Assumes that a stream of unknown shape is a scalar.
    fn assume_scalar(&mut self, var: VarId) {
        let result = self.classes.set(var, Shape::scalar(), self.draft.vars[var.index()].span);
        assert!(result.is_ok(), "the shape was unknown");
        self.requeue_users(var, true);
    }

    /// Schedules the equations that mention a stream whose shape has changed.
    fn requeue_users(&mut self, var: VarId, is_changed: bool) {
        if is_changed && !self.uses.is_empty() {
            let class = self.classes.find(var);
            self.todo.extend(&self.uses[class]);
            let recurrent: Vec<usize> = self.recurrences.among(&self.uses[class]).collect();
            for number in recurrent {
                self.count_operands(number);
                self.ready.insert(number);
            }
        }
    }

    /// Requires the result to have the shape of an operand.
    fn unite_with_result(&mut self, number: usize, value: VarId) -> Step {
        let out = self.draft.equations[number].out;
        self.classes.unite(out, value).map_err(|conflict| self.errors.copy(number, *conflict))
    }

    /// Requires two operands to have the same shape.
    fn unite_operands(&mut self, number: usize, left: VarId, right: VarId) -> Step {
        let united = self.classes.unite(left, right);
        united.map_err(|conflict| self.errors.same(number, left, right, *conflict))
    }

    /// Checks every rule, because an assumption may be wrong.
    fn check(&mut self) -> Step {
        let draft = self.draft;
        for loss in &draft.losses {
            let (output, target) = (self.classes.get(loss.output), self.classes.get(loss.target));
            if output != target {
                let found = self.known_shapes([loss.output, loss.target].into_iter());
                return Err(self.errors.loss(loss, found));
            }
        }
        for (number, equation) in self.draft.equations.iter().enumerate() {
            if let Kind::Apply(op, operands) = &equation.kind {
                self.propagate_forward(number, op, operands)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<Shape> {
        let shape = |var| self.classes.get(VarId::new(var)).expect("all shapes are known");
        (0..self.draft.vars.len()).map(shape).collect()
    }

    /// The error about an operation that does not fit the shapes of its operands.
    fn broken(&mut self, number: usize, operands: &[VarId], message: &str) -> Box<Diagnostic> {
        let operands = self.known_shapes(operands.iter().copied());
        self.errors.broken(number, operands, message)
    }

    /// The known shapes of operands, each with the operand itself as its origin's stream.
    fn known_shapes(&mut self, operands: impl Iterator<Item = VarId>) -> Vec<(Shape, Origin)> {
        let known = |var: VarId| {
            let (shape, origin) = self.classes.known(var)?;
            Some((shape.clone(), Origin { var, ..*origin }))
        };
        operands.filter_map(known).collect()
    }
}

fn check_axis_count(shape: &Shape, span: Span) -> Step {
    if shape.len() <= MAX_AXES {
        return Ok(());
    }
    let title = format!("a shape has at most {MAX_AXES} axes, but this one has {}", shape.len());
    Err(Box::new(Diagnostic::error(codes::SHAPE, span, title)))
}
