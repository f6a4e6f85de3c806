//! Scalar types by unification (section 3).
//!
//! Streams of one type are one class. A class is `bool`, `int`, `num`, or still *numeric*, as `2` and `zeros([3])` are; what is
//! numeric to the end becomes `int`, an input about which nothing more is known becomes `num`.

use std::fmt;

use eddy_syntax::{Diagnostic, Diagnostics};
use eddy_tensor::{Class, Op, Scalar, Slot};

use super::Hints;
use super::classes::{Classes, Property};
use super::type_errors::TypeErrors;
use crate::draft::{Alike, Draft, TypeAnnotation};
use crate::flow::{Constant, Equation, Kind, Labels, VarId, in_instances};

/// What is known about a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It is `int` or `num`.
    Numeric,
    /// It is this one.
    Is(Scalar),
}

impl Property for Known {
    fn join(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(*a),
            (Known::Numeric, Known::Is(Scalar::Bool)) | (Known::Is(Scalar::Bool), Known::Numeric) => None,
            (Known::Numeric, known) | (known, Known::Numeric) => Some(*known),
            _ => None,
        }
    }
}

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Known::Numeric => f.write_str("a number"),
            Known::Is(scalar) => write!(f, "{scalar}"),
        }
    }
}

/// The scalar type of each stream.
pub(super) fn infer(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
) -> Result<Vec<Scalar>, Vec<Diagnostic>> {
    let inference = unified(draft, hints, labels);
    if inference.diagnostics.is_empty() { Ok(inference.finish(draft)) } else { Err(inference.diagnostics) }
}

/// The inputs about whose types nothing is known.
pub(super) fn open_inputs(draft: &Draft, hints: &Hints, labels: &Labels<'_>) -> Vec<VarId> {
    let mut inference = unified(draft, hints, labels);
    if !inference.diagnostics.is_empty() {
        return Vec::new();
    }
    draft.inputs.iter().copied().filter(|input| inference.classes.get(*input).is_none()).collect()
}

/// What follows from the equations.
fn unified<'a>(draft: &'a Draft, hints: &Hints, labels: &'a Labels<'a>) -> Inference<'a> {
    let mut inference = Inference {
        errors: TypeErrors { draft, labels },
        classes: Classes::new(draft.vars.len()),
        diagnostics: Vec::new(),
    };
    for annotation in &draft.types {
        inference.written(annotation);
    }
    for hint in &hints.scalars {
        // Data that contradict what is written are reported where they are read.
        let _ = inference.classes.set(hint.input, Known::Is(hint.says), hint.span);
    }
    for (number, equation) in draft.equations.iter().enumerate() {
        let n_before = inference.diagnostics.len();
        if n_before >= Diagnostics::MAX {
            break;
        }
        inference.equation(number, equation);
        if inference.diagnostics.len() > n_before {
            let call = equation.call;
            for diagnostic in inference.diagnostics.split_off(n_before) {
                inference.diagnostics.push(in_instances(&draft.calls, call, diagnostic));
            }
        }
    }
    for alike in &draft.alike {
        inference.alike(alike);
    }
    inference
}

struct Inference<'a> {
    errors: TypeErrors<'a>,
    classes: Classes<Known>,
    diagnostics: Vec<Diagnostic>,
}

impl Inference<'_> {
    fn written(&mut self, annotation: &TypeAnnotation) {
        let is = Known::Is(annotation.scalar);
        if let Err(conflict) = self.classes.set(annotation.var, is, annotation.span) {
            let calls = &self.errors.draft.calls;
            let outer = annotation.formal.as_ref().and_then(|formal| calls[formal.call].within);
            let diagnostic = self.errors.written(annotation, &conflict);
            self.diagnostics.push(in_instances(calls, outer, diagnostic));
        }
    }

    /// A stream and its derivative have one type.
    fn alike(&mut self, alike: &Alike) {
        if let Err(conflict) = self.classes.unite(alike.left, alike.right) {
            self.diagnostics.push(self.errors.alike(alike, &conflict));
        }
    }

    fn equation(&mut self, number: usize, equation: &Equation) {
        match &equation.kind {
            Kind::Const(constant) => match constant {
                Constant::Bool(_) => self.gives(number, Known::Is(Scalar::Bool)),
                Constant::Num(_) => self.gives(number, Known::Is(Scalar::Num)),
                Constant::Initialiser(initialiser, ..) if initialiser.is_random() => {
                    self.gives(number, Known::Is(Scalar::Num));
                }
                Constant::Int(_) | Constant::Ints(_) | Constant::Initialiser(..) => {
                    self.gives(number, Known::Numeric);
                }
                Constant::Given(value) => self.gives(number, Known::Is(value.scalar())),
                Constant::Zero => {}
            },
            Kind::Apply(op, operands) => self.apply(number, op, operands),
            Kind::When { value, condition, .. } => {
                self.needs(number, *condition, Scalar::Bool);
                self.copies(number, *value);
            }
            Kind::Merge { condition, yes, no } => {
                self.needs(number, *condition, Scalar::Bool);
                if self.same(number, *yes, *no) {
                    self.copies(number, *yes);
                }
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                if self.same(number, *init, *next) {
                    self.copies(number, *next);
                }
            }
            Kind::Post(operand) => self.copies(number, *operand),
            Kind::Param(operand) => {
                self.needs(number, *operand, Scalar::Num);
                self.gives(number, Known::Is(Scalar::Num));
            }
        }
    }

    fn apply(&mut self, number: usize, op: &Op, operands: &[VarId]) {
        let signature = op.signature();
        let mut alphas = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            match signature.operand(index) {
                Slot::Is(scalar) => self.needs(number, *operand, scalar),
                Slot::Free => {}
                Slot::Alpha => alphas.push(*operand),
            }
        }
        let is_numeric = signature.alpha == Class::Numeric;
        if is_numeric && self.has_truths(number, &alphas) {
            return;
        }
        for alpha in alphas.iter().filter(|_| is_numeric) {
            // A truth value beside an `int` or a `num` is told when the two are compared.
            let _ = self.classes.set(*alpha, Known::Numeric, self.errors.span(number));
        }
        let are_alike = alphas.windows(2).all(|pair| self.same(number, pair[0], pair[1]));
        let alpha = alphas.first().filter(|_| are_alike);
        match (signature.result, alpha) {
            (Slot::Is(scalar), _) => self.gives(number, Known::Is(scalar)),
            (Slot::Alpha, Some(alpha)) => self.copies(number, *alpha),
            _ => {}
        }
    }

    /// Truth values among numbers are to blame, unless the others have a type that can be told beside theirs.
    fn has_truths(&mut self, number: usize, alphas: &[VarId]) -> bool {
        let known: Vec<_> = alphas.iter().map(|alpha| self.classes.known(*alpha).copied()).collect();
        let is = |scalar: Scalar| move |known: &Option<(Known, _)>| matches!(known, Some((Known::Is(is), _)) if *is == scalar);
        if known.iter().any(is(Scalar::Num)) || known.iter().any(is(Scalar::Int)) {
            return false;
        }
        let Some(truth) = known.iter().position(is(Scalar::Bool)) else { return false };
        let (_, origin) = known[truth].expect("something is known about a truth value");
        self.diagnostics.push(self.errors.truth(number, alphas[truth], origin));
        true
    }

    /// An operand has a certain type.
    fn needs(&mut self, number: usize, var: VarId, scalar: Scalar) {
        if let Err(conflict) = self.classes.set(var, Known::Is(scalar), self.errors.span(number)) {
            self.diagnostics.push(self.errors.needs(number, var, scalar, conflict.left));
        }
    }

    /// The result has a certain type.
    fn gives(&mut self, number: usize, known: Known) {
        let Equation { out, span, .. } = self.errors.draft.equations[number];
        if let Err(conflict) = self.classes.set(out, known, span) {
            self.diagnostics.push(self.errors.result(number, conflict.right, conflict.left));
        }
    }

    /// The result has the type of an operand.
    fn copies(&mut self, number: usize, value: VarId) {
        let out = self.errors.draft.equations[number].out;
        if let Err(conflict) = self.classes.unite(out, value) {
            self.diagnostics.push(self.errors.result(number, conflict.right, conflict.left));
        }
    }

    /// Two operands have one type; says whether that is so.
    fn same(&mut self, number: usize, left: VarId, right: VarId) -> bool {
        match self.classes.unite(left, right) {
            Ok(()) => true,
            Err(conflict) => {
                self.diagnostics.push(self.errors.same(number, left, right, &conflict));
                false
            }
        }
    }

    fn finish(mut self, draft: &Draft) -> Vec<Scalar> {
        for input in &draft.inputs {
            if !matches!(self.classes.get(*input), Some(Known::Is(_))) {
                let span = draft.vars[input.index()].span;
                let learnt = self.classes.set(*input, Known::Is(Scalar::Num), span);
                assert!(learnt.is_ok(), "nothing but that it is a number was known about it");
            }
        }
        let mut scalar = |var: usize| match self.classes.get(VarId::new(var)) {
            Some(Known::Is(scalar)) => scalar,
            Some(Known::Numeric) => Scalar::Int,
            // It has no relation to numbers, truths or inputs, as `x = post x` has none.
            None => Scalar::Num,
        };
        (0..draft.vars.len()).map(&mut scalar).collect()
    }
}
