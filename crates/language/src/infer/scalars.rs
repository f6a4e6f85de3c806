//! Scalar types by unification (section 3).
//!
//! Streams of equal type form a class. A class is `bool`, `int`, `num`, or still *numeric*, as `2` and
//! `zeros([3])` are. At the end, a numeric class becomes `int`, and an input of unknown type `num`.

use std::fmt;

use eddy_syntax::{Diagnostic, Diagnostics};
use eddy_tensor::{Class, Op, Scalar, Slot};

use super::Hints;
use super::applications::{ResultKinds, written_kinds};
use super::classes::{Classes, Property};
use super::type_errors::TypeErrors;
use crate::draft::{Draft, Part, SameType, TypeAnnotation};
use crate::flow::{Constant, Equation, Kind, Labels, VarId, in_instances};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownType {
    /// `int` or `num`.
    Numeric,
    Is(Scalar),
}

impl Property for KnownType {
    fn join(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (a, b) if a == b => Some(*a),
            (KnownType::Numeric, KnownType::Is(Scalar::Bool))
            | (KnownType::Is(Scalar::Bool), KnownType::Numeric) => None,
            (KnownType::Numeric, known) | (known, KnownType::Numeric) => Some(*known),
            _ => None,
        }
    }
}

impl fmt::Display for KnownType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KnownType::Numeric => f.write_str("a number"),
            KnownType::Is(scalar) => write!(f, "{scalar}"),
        }
    }
}

pub(super) fn infer(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
    kinds: &ResultKinds,
) -> Result<Vec<Scalar>, Vec<Diagnostic>> {
    let inference = unified(draft, hints, labels, kinds);
    if inference.diagnostics.is_empty() { Ok(inference.finish(draft)) } else { Err(inference.diagnostics) }
}

/// The scalar types that follow from the equations, even if there are contradictions.
pub(super) fn found(
    draft: &Draft,
    hints: &Hints,
    labels: &Labels<'_>,
    kinds: &ResultKinds,
) -> Vec<Option<Scalar>> {
    let mut inference = unified(draft, hints, labels, kinds);
    let scalar = |var: usize| match inference.classes.get(VarId::new(var)) {
        Some(KnownType::Is(scalar)) => Some(scalar),
        Some(KnownType::Numeric) | None => None,
    };
    (0..draft.vars.len()).map(scalar).collect()
}

/// The inputs of unknown type.
pub(super) fn open_inputs(draft: &Draft, hints: &Hints, labels: &Labels<'_>) -> Vec<VarId> {
    let mut inference = unified(draft, hints, labels, &written_kinds(draft));
    if !inference.diagnostics.is_empty() {
        return Vec::new();
    }
    draft.inputs.iter().copied().filter(|input| inference.classes.get(*input).is_none()).collect()
}

/// Unifies the types of all equations and annotations.
fn unified<'a>(
    draft: &'a Draft,
    hints: &Hints,
    labels: &'a Labels<'a>,
    kinds: &ResultKinds,
) -> Inference<'a> {
    let mut inference = Inference {
        errors: TypeErrors { draft, labels },
        classes: Classes::new(draft.vars.len()),
        diagnostics: Vec::new(),
    };
    for annotation in &draft.types {
        inference.written(annotation);
    }
    for hint in &hints.scalars {
        // Data that contradict annotations are reported where they are read.
        let _ = inference.classes.set(hint.input, KnownType::Is(hint.says), hint.span);
    }
    for (number, equation) in draft.equations.iter().enumerate() {
        let n_before = inference.diagnostics.len();
        if n_before >= Diagnostics::MAX {
            break;
        }
        match draft.applications.get(&equation.out) {
            Some(part) => inference.application(number, part, kinds.get(&equation.out).copied()),
            None => inference.equation(number, equation),
        }
        if inference.diagnostics.len() > n_before {
            let call = equation.call;
            for diagnostic in inference.diagnostics.split_off(n_before) {
                inference.diagnostics.push(in_instances(&draft.calls, call, diagnostic));
            }
        }
    }
    for same_type in &draft.same_types {
        inference.same_type(same_type);
    }
    inference
}

struct Inference<'a> {
    errors: TypeErrors<'a>,
    classes: Classes<KnownType>,
    diagnostics: Vec<Diagnostic>,
}

impl Inference<'_> {
    fn written(&mut self, annotation: &TypeAnnotation) {
        let is = KnownType::Is(annotation.scalar);
        if let Err(conflict) = self.classes.set(annotation.var, is, annotation.span) {
            let calls = &self.errors.draft.calls;
            let outer = annotation.formal.as_ref().and_then(|formal| calls[formal.call].within);
            let diagnostic = self.errors.written(annotation, &conflict);
            self.diagnostics.push(in_instances(calls, outer, diagnostic));
        }
    }

    /// Requires a stream and its derivative to have the same type.
    fn same_type(&mut self, same_type: &SameType) {
        if let Err(conflict) = self.classes.unite(same_type.left, same_type.right) {
            self.diagnostics.push(self.errors.same_type(same_type, &conflict));
        }
    }

    fn equation(&mut self, number: usize, equation: &Equation) {
        match &equation.kind {
            Kind::Const(constant) => match constant {
                Constant::Bool(_) => self.set_result(number, KnownType::Is(Scalar::Bool)),
                Constant::Num(_) => self.set_result(number, KnownType::Is(Scalar::Num)),
                Constant::Initialiser(initialiser, ..) if initialiser.is_random() => {
                    self.set_result(number, KnownType::Is(Scalar::Num));
                }
                Constant::Int(_) | Constant::Ints(_) | Constant::Initialiser(..) => {
                    self.set_result(number, KnownType::Numeric);
                }
                Constant::Value(value) => self.set_result(number, KnownType::Is(value.scalar())),
                Constant::Zero => {}
            },
            Kind::Apply(op, operands) => self.apply(number, op, operands),
            Kind::When { value, condition, .. } => {
                self.require(number, *condition, Scalar::Bool);
                self.unite_with_result(number, *value);
            }
            Kind::Merge { condition, yes, no } => {
                self.require(number, *condition, Scalar::Bool);
                if self.unite_operands(number, *yes, *no) {
                    self.unite_with_result(number, *yes);
                }
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                if self.unite_operands(number, *init, *next) {
                    self.unite_with_result(number, *next);
                }
            }
            Kind::Post(operand) => self.unite_with_result(number, *operand),
            Kind::Param(operand) => {
                self.require(number, *operand, Scalar::Num);
                self.set_result(number, KnownType::Is(Scalar::Num));
            }
        }
    }

    /// Requires the written types of a function's parameters.
    fn application(&mut self, number: usize, part: &Part, result: Option<Scalar>) {
        let operands: Vec<VarId> = self.errors.draft.equations[number].kind.operands().collect();
        for (operand, written) in operands.into_iter().zip(&part.application.operands) {
            if let Some(written) = written {
                self.require(number, operand, written.scalar);
            }
        }
        if let Some(scalar) = result {
            self.set_result(number, KnownType::Is(scalar));
        }
    }

    fn apply(&mut self, number: usize, op: &Op, operands: &[VarId]) {
        let signature = op.signature();
        let mut alphas = Vec::new();
        for (index, operand) in operands.iter().enumerate() {
            match signature.operand(index) {
                Slot::Is(scalar) => self.require(number, *operand, scalar),
                Slot::Free => {}
                Slot::Alpha => alphas.push(*operand),
            }
        }
        let is_numeric = signature.alpha == Class::Numeric;
        if is_numeric && self.reports_bool_operand(number, &alphas) {
            return;
        }
        for alpha in alphas.iter().filter(|_| is_numeric) {
            // A `bool` next to an `int` or a `num` is reported when the two are compared.
            let _ = self.classes.set(*alpha, KnownType::Numeric, self.errors.span(number));
        }
        let are_same = alphas.windows(2).all(|pair| self.unite_operands(number, pair[0], pair[1]));
        let alpha = alphas.first().filter(|_| are_same);
        match (signature.result, alpha) {
            (Slot::Is(scalar), _) => self.set_result(number, KnownType::Is(scalar)),
            (Slot::Alpha, Some(alpha)) => self.unite_with_result(number, *alpha),
            _ => {}
        }
    }

    /// Reports a `bool` operand of a numeric operation, unless another operand is known to be `int` or `num`:
    /// then the error about different operands is more specific.
    fn reports_bool_operand(&mut self, number: usize, alphas: &[VarId]) -> bool {
        let known: Vec<_> = alphas.iter().map(|alpha| self.classes.known(*alpha).copied()).collect();
        let is = |scalar: Scalar| move |known: &Option<(KnownType, _)>| matches!(known, Some((KnownType::Is(is), _)) if *is == scalar);
        if known.iter().any(is(Scalar::Num)) || known.iter().any(is(Scalar::Int)) {
            return false;
        }
        let Some(bool_index) = known.iter().position(is(Scalar::Bool)) else { return false };
        let (_, origin) = known[bool_index].expect("`position` found a known type");
        self.diagnostics.push(self.errors.bool_operand(number, alphas[bool_index], origin));
        true
    }

    /// Requires an operand to have this type.
    fn require(&mut self, number: usize, var: VarId, scalar: Scalar) {
        if let Err(conflict) = self.classes.set(var, KnownType::Is(scalar), self.errors.span(number)) {
            self.diagnostics.push(self.errors.needs(number, var, scalar, conflict.left));
        }
    }

    /// Sets the type of the result.
    fn set_result(&mut self, number: usize, known: KnownType) {
        let Equation { out, span, .. } = self.errors.draft.equations[number];
        if let Err(conflict) = self.classes.set(out, known, span) {
            self.diagnostics.push(self.errors.result(number, conflict.right, conflict.left));
        }
    }

    /// Requires the result to have the type of an operand.
    fn unite_with_result(&mut self, number: usize, value: VarId) {
        let out = self.errors.draft.equations[number].out;
        if let Err(conflict) = self.classes.unite(out, value) {
            self.diagnostics.push(self.errors.result(number, conflict.right, conflict.left));
        }
    }

    /// Requires two operands to have the same type; returns whether they do.
    fn unite_operands(&mut self, number: usize, left: VarId, right: VarId) -> bool {
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
            if !matches!(self.classes.get(*input), Some(KnownType::Is(_))) {
                let span = draft.vars[input.index()].span;
                let result = self.classes.set(*input, KnownType::Is(Scalar::Num), span);
                assert!(result.is_ok(), "the type is unknown or numeric, so it can become `num`");
            }
        }
        let mut scalar = |var: usize| match self.classes.get(VarId::new(var)) {
            Some(KnownType::Is(scalar)) => scalar,
            Some(KnownType::Numeric) => Scalar::Int,
            // No number, Boolean or input determines the type, as in `x = post x`.
            None => Scalar::Num,
        };
        (0..draft.vars.len()).map(&mut scalar).collect()
    }
}
