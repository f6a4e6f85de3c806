//! Shapes by propagation (section 3).
//!
//! Streams that must have equal shapes, as the operands of `fby` do, are one class. What is known spreads through the
//! operations until nothing changes. Where that ends before all is known, something is assumed, one thing at a time:
//!
//! 1. an operation that broadcasts and has an operand that depends on its own result, such as `h = (0.0 fby h) + v`, has the
//!    shape of its first known operand that is no literal; if that turns out wrong, the shape that all of them on its cycle
//!    broadcast to;
//! 2. a literal is a scalar;
//! 3. an input is a scalar. [`Failure::defaulted`] tells these: a run may give them another shape.
//!
//! In the end every rule is checked.

use std::collections::BTreeSet;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Shape, ShapeRule};

use super::classes::{Classes, Conflict};
use super::{Failure, Hints};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::draft::Draft;
use crate::flow::components::components;
use crate::flow::{Equation, Kind, Labels, VarId, definitions};

/// A tensor has at most so many axes, as in other systems. Lists nested without bound would take the square of their depth.
const MAX_AXES: usize = 32;

/// The shape of each stream.
pub(super) fn infer(draft: &Draft, hints: &Hints, labels: &Labels<'_>) -> Result<Vec<Shape>, Failure> {
    let first = attempt(draft, hints, labels, Assumption::FirstOperand);
    // What was assumed may be wrong; the message is about the first attempt all the same.
    first.or_else(|failure| attempt(draft, hints, labels, Assumption::AllOperands).map_err(|_| failure))
}

/// What the shape of a recurrence is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Assumption {
    /// From the first operand of its first operation that is known and no literal.
    FirstOperand,
    /// From all operands of its operations that are: the first alone may be a scalar, as the factor in
    /// `h = factor * (0.0 fby h) + v` is.
    AllOperands,
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

struct Inference<'a> {
    draft: &'a Draft,
    labels: &'a Labels<'a>,
    assumption: Assumption,
    classes: Classes<Shape>,
    /// Streams that are literals.
    is_literal: Vec<bool>,
    /// For each class, the equations that mention it.
    uses: Vec<Vec<usize>>,
    /// Equations to look at again.
    todo: Vec<usize>,
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
    fn new(draft: &'a Draft, labels: &'a Labels<'a>, assumption: Assumption) -> Self {
        let n_vars = draft.vars.len();
        let mut is_literal = vec![false; n_vars];
        for equation in &draft.equations {
            if let Kind::Const(constant) = &equation.kind {
                is_literal[equation.out.index()] = constant.stretches();
            }
        }
        Inference {
            draft,
            labels,
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
    fn given(&mut self, hints: &Hints) -> Step {
        let draft = self.draft;
        for annotation in &draft.types {
            if let Some(shape) = &annotation.shape {
                self.set(annotation.var, shape.clone(), annotation.span)?;
            }
        }
        for (input, shape) in &hints.shapes {
            // Data that contradict what is written are reported where they are read.
            let _ = self.classes.set(*input, shape.clone(), draft.vars[input.index()].span);
        }
        for equation in &draft.equations {
            self.equalities(equation)?;
        }
        for alike in &draft.alike {
            self.same(alike.left, alike.right, alike.span)?;
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

    fn equalities(&mut self, equation: &Equation) -> Step {
        let (out, span) = (equation.out, equation.span);
        match &equation.kind {
            Kind::Const(constant) => match constant.shape() {
                Some(shape) => self.set(out, shape, span),
                None => Ok(()),
            },
            Kind::Apply(op, operands) => self.operation_equalities(op, operands, out, span),
            Kind::When { value, condition, .. } => {
                self.set(*condition, Shape::scalar(), span)?;
                self.same(out, *value, span)
            }
            Kind::Merge { condition, yes, no } => {
                self.set(*condition, Shape::scalar(), span)?;
                self.same(*yes, *no, span)?;
                self.same(out, *yes, span)
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                self.same(*init, *next, span)?;
                self.same(out, *next, span)
            }
            Kind::Post(operand) | Kind::Param(operand) => self.same(out, *operand, span),
        }
    }

    fn operation_equalities(&mut self, op: &Op, operands: &[VarId], out: VarId, span: Span) -> Step {
        // A literal takes the shape of its place only as a branch of `if`.
        for operand in operands {
            if self.is_literal[operand.index()] && *op != Op::If {
                self.set(*operand, Shape::scalar(), span)?;
            }
        }
        match op.shape_rule() {
            ShapeRule::Equal => operands.iter().try_for_each(|operand| self.same(out, *operand, span)),
            ShapeRule::If => {
                self.set(operands[0], Shape::scalar(), span)?;
                self.same(operands[1], operands[2], span)?;
                self.same(out, operands[1], span)
            }
            ShapeRule::Like(index) => self.same(out, operands[index], span),
            ShapeRule::Fixed(shape) => self.set(out, shape, span),
            ShapeRule::Stack => {
                operands.windows(2).try_for_each(|pair| self.same(pair[0], pair[1], span))?;
                // A list of numbers has its shape from the start, like a literal: messages then speak of it as it is.
                match self.classes.get(operands[0]) {
                    Some(item) => match op.shape(&vec![&item; operands.len()]) {
                        Ok(shape) => self.set(out, shape, span),
                        Err(error) => Err(self.broken(operands, span, &error.to_string())),
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
        // From here on something is assumed; with another shape of these inputs the program may be right.
        let inputs = self.draft.inputs.iter().copied();
        self.defaulted = inputs.filter(|input| self.classes.get(*input).is_none()).collect();
        self.recurrences = self.find_recurrences();
        self.ready = self.recurrences.clone();
        self.assume_recurrences()?;
        for var in (0..self.draft.vars.len()).map(VarId::new) {
            if self.is_literal[var.index()] && self.classes.get(var).is_none() {
                self.set(var, Shape::scalar(), self.draft.vars[var.index()].span)?;
                self.spread()?;
                self.assume_recurrences()?;
            }
        }
        for input in &self.draft.inputs {
            if self.classes.get(*input).is_none() {
                self.set(*input, Shape::scalar(), self.draft.vars[input.index()].span)?;
                self.spread()?;
                self.assume_recurrences()?;
            }
        }
        // What is left has no relation to anything of a known shape, as `x = post x` has none.
        for var in (0..self.draft.vars.len()).map(VarId::new) {
            if self.classes.get(var).is_none() {
                self.set(var, Shape::scalar(), self.draft.vars[var.index()].span)?;
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
                ShapeRule::Broadcast | ShapeRule::Function => self.forwards(op, operands, equation)?,
                ShapeRule::Stack => {
                    self.forwards(op, operands, equation)?;
                    if let Some(shape) = self.classes.get(equation.out)
                        && let Some((_, item)) = shape.split_first()
                    {
                        self.learn(operands[0], Shape::new(item), equation.span)?;
                    }
                }
                ShapeRule::Equal | ShapeRule::If | ShapeRule::Like(_) | ShapeRule::Fixed(_) => {}
            }
        }
        Ok(())
    }

    fn forwards(&mut self, op: &Op, operands: &[VarId], equation: &Equation) -> Step {
        let shapes: Option<Vec<Shape>> = operands.iter().map(|operand| self.classes.get(*operand)).collect();
        let Some(shapes) = shapes else { return Ok(()) };
        let shapes: Vec<&Shape> = shapes.iter().collect();
        let shape =
            op.shape(&shapes).map_err(|error| self.broken(operands, equation.span, &error.to_string()))?;
        self.learn(equation.out, shape, equation.span)
    }

    /// The shape of a stream is news, or known already.
    fn learn(&mut self, var: VarId, shape: Shape, span: Span) -> Step {
        if shape.len() > MAX_AXES {
            let title = format!("a shape has at most {MAX_AXES} axes, and this one has {}", shape.len());
            return Err(Box::new(Diagnostic::error(codes::SHAPE, span, title)));
        }
        match self.classes.set(var, shape, span) {
            Ok(true) => {
                let class = self.classes.find(var);
                self.todo.extend(&self.uses[class]);
                self.ready.extend(self.uses[class].iter().filter(|number| self.recurrences.contains(number)));
                Ok(())
            }
            Ok(false) => Ok(()),
            Err(conflict) => Err(different(&self.labels.label(var), None, conflict, span)),
        }
    }

    fn set(&mut self, var: VarId, shape: Shape, span: Span) -> Step {
        if self.uses.is_empty() && shape.len() <= MAX_AXES {
            return match self.classes.set(var, shape, span) {
                Ok(_) => Ok(()),
                Err(conflict) => Err(different(&self.labels.label(var), None, conflict, span)),
            };
        }
        self.learn(var, shape, span)
    }

    fn same(&mut self, left: VarId, right: VarId, span: Span) -> Step {
        self.classes.unite(left, right).map_err(|conflict| {
            let (left, right) = (self.labels.label(left), self.labels.label(right));
            different(&left, Some(&right), conflict, span)
        })
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
                    Assumption::AllOperands => self.joined(number).unwrap_or(first),
                };
                self.learn(equation.out, shape, equation.span)?;
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
        for equation in &self.draft.equations {
            if let Kind::Apply(op, operands) = &equation.kind {
                self.forwards(op, operands, equation)?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<Shape> {
        let shape = |var| self.classes.get(VarId::new(var)).expect("all shapes are known");
        (0..self.draft.vars.len()).map(shape).collect()
    }

    /// An operation does not go with the shapes of its operands.
    fn broken(&mut self, operands: &[VarId], span: Span, message: &str) -> Box<Diagnostic> {
        let mut diagnostic = Diagnostic::error(codes::SHAPE, span, message);
        for operand in operands {
            let label = self.labels.label(*operand);
            if let Some((shape, from)) = self.classes.known(*operand)
                && *from != span
            {
                diagnostic = diagnostic.cause(*from, format!("`{label}` has shape {shape} because of this"));
            }
        }
        Box::new(diagnostic)
    }
}

/// Two shapes that should be one.
fn different(left: &str, right: Option<&str>, conflict: Conflict<Shape>, span: Span) -> Box<Diagnostic> {
    let Conflict { left: (a, from_a), right: (b, from_b) } = conflict;
    let title = match right {
        Some(right) => format!("`{left}` has shape {a} but `{right}` has shape {b}"),
        None => format!("`{left}` has shape {a} but shape {b} is needed here"),
    };
    let mut diagnostic = Diagnostic::error(codes::SHAPE, span, title);
    for (shape, from) in [(a, from_a), (b, from_b)] {
        if from != span {
            diagnostic = diagnostic.cause(from, format!("shape {shape} comes from here"));
        }
    }
    Box::new(diagnostic)
}
