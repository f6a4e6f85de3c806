//! Shapes by propagation (section 3).
//!
//! Streams that must have equal shapes, as the operands of `fby` do, are one class. What is known spreads through the
//! operations until nothing changes. Where that ends before all is known, something is assumed, one thing at a time:
//!
//! 1. an operation that broadcasts and has an operand that depends on its own result, such as `h = (0.0 fby h) + v`, has the
//!    shape of its first known operand that is no literal; if that turns out wrong, the shape that all of them on its cycle
//!    broadcast to; and if that does, all that is unknown has the smallest shapes that fit ([`least`](super::least));
//! 2. a literal is a scalar;
//! 3. an input is a scalar. [`Failure::defaulted`] tells these: a run may give them another shape.
//!
//! In the end every rule is checked.

use std::collections::BTreeSet;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Shape, ShapeRule};
use rustc_hash::FxHashMap;

use super::classes::{Classes, Origin, Property};
use super::shape_errors::ShapeErrors;
use super::{Failure, Hints};

use crate::codes;
use crate::draft::Draft;
use crate::flow::components::components;
use crate::flow::{Equation, Kind, Labels, VarId, definitions};

/// A tensor has at most so many axes, as in other systems. Lists nested without bound would take the square of their depth.
pub(super) const MAX_AXES: usize = 32;

impl Property for Shape {
    fn join(&self, other: &Self) -> Option<Self> {
        (self == other).then(|| self.clone())
    }
}

/// The shape of each stream.
pub(super) fn infer(draft: &Draft, hints: &Hints, labels: &Labels<'_>) -> Result<Vec<Shape>, Failure> {
    let first = attempt(draft, hints, labels, Assumption::FirstOperand);
    // What was assumed may be wrong; the message is about the first attempt all the same.
    first.or_else(|failure| {
        let others = [Assumption::AllOperands, Assumption::Least];
        let found = others.into_iter().find_map(|assumption| attempt(draft, hints, labels, assumption).ok());
        found.ok_or(failure)
    })
}

/// The inputs whose shapes do not follow from the equations.
pub(super) fn open_inputs(draft: &Draft, hints: &Hints, labels: &Labels<'_>) -> Vec<VarId> {
    let mut inference = Inference::new(draft, labels, Assumption::FirstOperand);
    // What is wrong is told by [`infer`].
    let _ = inference.given(hints).and_then(|()| inference.solve());
    inference.defaulted
}

/// What the shape of a recurrence is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assumption {
    /// From the first operand of its first operation that is known and no literal.
    FirstOperand,
    /// From all operands of its operations that are: the first alone may be a scalar, as the factor in
    /// `h = factor * (0.0 fby h) + v` is.
    AllOperands,
    /// All that is unknown grows from scalars.
    Least,
}

fn attempt(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
    assumption: Assumption,
) -> Result<Vec<Shape>, Failure> {
    let mut inference = Inference::new(draft, labels, assumption);
    let solved = inference.given(hints).and_then(|()| inference.solve()).and_then(|()| inference.check());
    match solved {
        Ok(()) => Ok(inference.finish()),
        Err(diagnostic) => Err(Failure { diagnostics: vec![*diagnostic], defaulted: inference.defaulted }),
    }
}

pub(super) struct Inference<'a> {
    pub(super) draft: &'a Draft,
    errors: ShapeErrors<'a>,
    assumption: Assumption,
    pub(super) classes: Classes<Shape>,
    /// Streams that are literals.
    is_literal: Vec<bool>,
    /// For each class, the equations that mention it.
    pub(super) uses: Vec<Vec<usize>>,
    /// Equations to look at again.
    pub(super) todo: Vec<usize>,
    /// Operations that broadcast and depend on themselves.
    recurrences: BTreeSet<usize>,
    /// Those of them about which something was learnt.
    ready: BTreeSet<usize>,
    /// The cycle that each stream is on, and the operations of each.
    component: Vec<usize>,
    members: FxHashMap<usize, Vec<usize>>,
    defaulted: Vec<VarId>,
}

type Step = Result<(), Box<Diagnostic>>;

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
            classes: Classes::new(n_vars),
            is_literal,
            uses: Vec::new(),
            todo: (0..draft.equations.len()).rev().collect(),
            recurrences: BTreeSet::new(),
            ready: BTreeSet::new(),
            component: Vec::new(),
            members: FxHashMap::default(),
            defaulted: Vec::new(),
        }
    }

    /// Everything that is known from the start, and which shapes are equal.
    pub(super) fn given(&mut self, hints: &Hints) -> Step {
        let draft = self.draft;
        for annotation in &draft.types {
            if let Some(shape) = &annotation.shape {
                few_axes(shape, annotation.span)?;
                let learnt = self.classes.set(annotation.var, shape.clone(), annotation.span);
                learnt.map_err(|conflict| self.errors.written(annotation, *conflict))?;
            }
        }
        for hint in &hints.shapes {
            // Data that contradict what is written are reported where they are read.
            let _ = self.classes.set(hint.input, hint.says.clone(), hint.span);
        }
        for (number, equation) in draft.equations.iter().enumerate() {
            self.equalities(number, equation)?;
        }
        for alike in &draft.alike {
            let united = self.classes.unite(alike.left, alike.right);
            united.map_err(|conflict| self.errors.alike(alike, *conflict))?;
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

    fn equalities(&mut self, number: usize, equation: &Equation) -> Step {
        match &equation.kind {
            Kind::Const(constant) => match constant.shape() {
                Some(shape) => self.gives(number, shape),
                None => Ok(()),
            },
            Kind::Apply(op, operands) => self.operation_equalities(number, op, operands),
            Kind::When { value, condition, .. } => {
                self.is_scalar(number, *condition)?;
                self.copies(number, *value)
            }
            Kind::Merge { condition, yes, no } => {
                self.is_scalar(number, *condition)?;
                self.same(number, *yes, *no)?;
                self.copies(number, *yes)
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                self.same(number, *init, *next)?;
                self.copies(number, *next)
            }
            Kind::Post(operand) | Kind::Param(operand) => self.copies(number, *operand),
        }
    }

    fn operation_equalities(&mut self, number: usize, op: &Op, operands: &[VarId]) -> Step {
        // A literal takes the shape of its place only as a branch of `if`.
        for operand in operands {
            if self.is_literal[operand.index()] && *op != Op::If {
                self.is_scalar(number, *operand)?;
            }
        }
        match op.shape_rule() {
            ShapeRule::Equal => operands.iter().try_for_each(|operand| self.copies(number, *operand)),
            ShapeRule::If => {
                self.is_scalar(number, operands[0])?;
                self.same(number, operands[1], operands[2])?;
                self.copies(number, operands[1])
            }
            ShapeRule::Like(index) => self.copies(number, operands[index]),
            ShapeRule::Fixed(shape) => self.gives(number, shape),
            ShapeRule::Stack => {
                operands.windows(2).try_for_each(|pair| self.same(number, pair[0], pair[1]))?;
                // A list of numbers has its shape from the start, like a literal: messages then speak of it as it is.
                match self.classes.get(operands[0]) {
                    Some(item) => match op.shape(&vec![&item; operands.len()]) {
                        Ok(shape) => self.gives(number, shape),
                        Err(error) => Err(self.broken(number, operands, &error.to_string())),
                    },
                    None => Ok(()),
                }
            }

            ShapeRule::Broadcast | ShapeRule::Function => Ok(()),
        }
    }

    /// Spreads and assumes until all is known.
    fn solve(&mut self) -> Step {
        self.spread()?;
        self.meet_losses()?;
        // From here on something is assumed; with another shape of these inputs the program may be right.
        let inputs = self.draft.inputs.iter().copied();
        self.defaulted = inputs.filter(|input| self.classes.get(*input).is_none()).collect();
        if self.assumption == Assumption::Least && self.assume_least().is_some() {
            return Ok(());
        }
        self.recurrences = self.find_recurrences();
        self.ready = self.recurrences.clone();
        self.assume_recurrences()?;
        for var in (0..self.draft.vars.len()).map(VarId::new) {
            if self.is_literal[var.index()] && self.classes.get(var).is_none() {
                self.assume_scalar(var);
                self.spread()?;
                self.assume_recurrences()?;
            }
        }
        for input in &self.draft.inputs {
            self.meet_losses()?;
            if self.classes.get(*input).is_none() {
                self.assume_scalar(*input);
                self.spread()?;
                self.assume_recurrences()?;
            }
        }
        // What is left has no relation to anything of a known shape, as `x = post x` has none.
        for var in (0..self.draft.vars.len()).map(VarId::new) {
            if self.classes.get(var).is_none() {
                self.assume_scalar(var);
                self.spread()?;
            }
        }
        Ok(())
    }

    /// What an answer should be has the shape of the answer, unless it has one of its own.
    fn meet_losses(&mut self) -> Step {
        let draft = self.draft;
        for loss in &draft.losses {
            if let (Some(shape), None) = (self.classes.get(loss.answer), self.classes.get(loss.wanted)) {
                let learnt = self.classes.set(loss.wanted, shape, loss.span);
                assert!(learnt.is_ok(), "nothing was known about it");
                self.tell(loss.wanted, true);
                self.spread()?;
            }
        }
        Ok(())
    }

    fn spread(&mut self) -> Step {
        while let Some(number) = self.todo.pop() {
            let equation = &self.draft.equations[number];
            let Kind::Apply(op, operands) = &equation.kind else { continue };
            match op.shape_rule() {
                ShapeRule::Broadcast | ShapeRule::Function => self.forwards(number, op, operands)?,
                ShapeRule::Stack => {
                    self.forwards(number, op, operands)?;
                    if let Some(shape) = self.classes.get(equation.out)
                        && let Some((_, item)) = shape.split_first()
                    {
                        self.learn_item(number, operands[0], Shape::new(item))?;
                    }
                }
                ShapeRule::Equal | ShapeRule::If | ShapeRule::Like(_) | ShapeRule::Fixed(_) => {}
            }
        }
        Ok(())
    }

    fn forwards(&mut self, number: usize, op: &Op, operands: &[VarId]) -> Step {
        let shapes: Option<Vec<Shape>> = operands.iter().map(|operand| self.classes.get(*operand)).collect();
        let Some(shapes) = shapes else { return Ok(()) };
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let shape = op.shape(&shapes).map_err(|error| self.broken(number, operands, &error.to_string()))?;
        self.gives(number, shape)
    }

    /// The result of an equation has this shape.
    fn gives(&mut self, number: usize, shape: Shape) -> Step {
        let Equation { out, span, .. } = self.draft.equations[number];
        few_axes(&shape, span)?;
        match self.classes.set(out, shape, span) {
            Ok(is_news) => {
                self.tell(out, is_news);
                Ok(())
            }
            Err(conflict) => {
                let operands = self.draft.equations[number].kind.operands();
                let operands = self.known_shapes(operands);
                Err(self.errors.result(number, operands, conflict.right.0, conflict.left))
            }
        }
    }

    /// The items of a list have this shape.
    fn learn_item(&mut self, number: usize, item: VarId, shape: Shape) -> Step {
        match self.classes.set(item, shape, self.draft.equations[number].span) {
            Ok(is_news) => {
                self.tell(item, is_news);
                Ok(())
            }
            Err(conflict) => Err(self.errors.needs(number, item, *conflict)),
        }
    }

    /// An operand is a scalar.
    fn is_scalar(&mut self, number: usize, var: VarId) -> Step {
        let learnt = self.classes.set(var, Shape::scalar(), self.draft.equations[number].span);
        learnt.map(drop).map_err(|conflict| self.errors.needs(number, var, *conflict))
    }

    /// A stream of unknown shape is a scalar.
    fn assume_scalar(&mut self, var: VarId) {
        let learnt = self.classes.set(var, Shape::scalar(), self.draft.vars[var.index()].span);
        assert!(learnt.is_ok(), "nothing was known about it");
        self.tell(var, true);
    }

    /// Equations look again at a stream about which there is news.
    fn tell(&mut self, var: VarId, is_news: bool) {
        if is_news && !self.uses.is_empty() {
            let class = self.classes.find(var);
            self.todo.extend(&self.uses[class]);
            self.ready.extend(self.uses[class].iter().filter(|number| self.recurrences.contains(number)));
        }
    }

    /// The result has the shape of an operand.
    fn copies(&mut self, number: usize, value: VarId) -> Step {
        let out = self.draft.equations[number].out;
        self.classes.unite(out, value).map_err(|conflict| self.errors.copy(number, *conflict))
    }

    /// Two operands have one shape.
    fn same(&mut self, number: usize, left: VarId, right: VarId) -> Step {
        let united = self.classes.unite(left, right);
        united.map_err(|conflict| self.errors.same(number, left, right, *conflict))
    }

    /// Operations that broadcast and depend on themselves, in flattening order.
    fn assume_recurrences(&mut self) -> Step {
        while let Some(number) = self.ready.pop_first() {
            let equation = &self.draft.equations[number];
            let Kind::Apply(_, operands) = &equation.kind else {
                unreachable!("only operations are candidates")
            };
            if self.classes.get(equation.out).is_some() {
                continue;
            }
            if let Some(first) = operands.iter().find_map(|operand| self.known_operand(*operand)) {
                let shape = match self.assumption {
                    Assumption::FirstOperand => first,
                    Assumption::AllOperands | Assumption::Least => self.joined(number).unwrap_or(first),
                };
                self.gives(number, shape)?;
                self.spread()?;
            }
        }
        Ok(())
    }

    /// The shape of an operand, if it is known and no literal.
    fn known_operand(&mut self, operand: VarId) -> Option<Shape> {
        if self.is_literal[operand.index()] { None } else { self.classes.get(operand) }
    }

    /// What all operands that enter a recurrence broadcast to.
    fn joined(&mut self, number: usize) -> Option<Shape> {
        let component = self.component[self.draft.equations[number].out.index()];
        let mut joined = Shape::scalar();
        for other in self.members.get(&component).cloned().unwrap_or_default() {
            let equation = &self.draft.equations[other];
            let Kind::Apply(_, operands) = &equation.kind else {
                unreachable!("only operations are candidates")
            };
            if self.classes.get(equation.out).is_some() {
                continue;
            }
            for operand in operands {
                if let Some(shape) = self.known_operand(*operand) {
                    joined = joined.broadcast(&shape).ok()?;
                }
            }
        }
        Some(joined)
    }

    /// Operations that broadcast and have an operand of unknown shape that depends on their own result.
    fn find_recurrences(&mut self) -> BTreeSet<usize> {
        let n_vars = self.draft.vars.len();
        let definitions = definitions(n_vars, &self.draft.equations);
        let is_unknown: Vec<bool> =
            (0..n_vars).map(|var| self.classes.get(VarId::new(var)).is_none()).collect();
        if !is_unknown.contains(&true) {
            return BTreeSet::new();
        }
        let component = components(n_vars, |var| {
            let equation =
                definitions[var].filter(|_| is_unknown[var]).map(|number| &self.draft.equations[number]);
            let operands = equation.into_iter().flat_map(|equation| equation.kind.operands());
            operands.map(VarId::index).filter(|operand| is_unknown[*operand]).collect()
        });
        let depends = |equation: &Equation| match &equation.kind {
            Kind::Apply(op, operands) if op.shape_rule() == ShapeRule::Broadcast => {
                operands.iter().any(|operand| {
                    is_unknown[operand.index()]
                        && component[operand.index()] == component[equation.out.index()]
                })
            }
            _ => false,
        };
        let equations = self.draft.equations.iter().enumerate();
        let found: BTreeSet<usize> =
            equations.filter(|(_, equation)| depends(equation)).map(|(number, _)| number).collect();
        for number in &found {
            let home = component[self.draft.equations[*number].out.index()];
            self.members.entry(home).or_default().push(*number);
        }
        self.component = component;
        found
    }

    /// Every rule holds; what was assumed may turn out wrong.
    fn check(&mut self) -> Step {
        let draft = self.draft;
        for loss in &draft.losses {
            let (answer, wanted) = (self.classes.get(loss.answer), self.classes.get(loss.wanted));
            if answer != wanted {
                let found = self.known_shapes([loss.answer, loss.wanted].into_iter());
                return Err(self.errors.loss(loss, found));
            }
        }
        for (number, equation) in self.draft.equations.iter().enumerate() {
            if let Kind::Apply(op, operands) = &equation.kind {
                self.forwards(number, op, operands)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<Shape> {
        let shape = |var| self.classes.get(VarId::new(var)).expect("all shapes are known");
        (0..self.draft.vars.len()).map(shape).collect()
    }

    /// An operation does not go with the shapes of its operands.
    fn broken(&mut self, number: usize, operands: &[VarId], message: &str) -> Box<Diagnostic> {
        let operands = self.known_shapes(operands.iter().copied());
        self.errors.broken(number, operands, message)
    }

    /// The shapes of operands, as far as they are known, each told as that of the operand itself.
    fn known_shapes(&mut self, operands: impl Iterator<Item = VarId>) -> Vec<(Shape, Origin)> {
        let known = |var: VarId| {
            let (shape, origin) = self.classes.known(var)?;
            Some((shape.clone(), Origin { var, ..*origin }))
        };
        operands.filter_map(known).collect()
    }
}

fn few_axes(shape: &Shape, span: Span) -> Step {
    if shape.len() <= MAX_AXES {
        return Ok(());
    }
    let title = format!("a shape has at most {MAX_AXES} axes, and this one has {}", shape.len());
    Err(Box::new(Diagnostic::error(codes::SHAPE, span, title)))
}
