//! What is said about types that do not go together.
//!
//! A message names what was found and what was expected, in the program's own names, and shows where each comes from.
//! What happens inside of a node of the prelude is told by the arguments of its call.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Class, Scalar, Slot};

use super::classes::{Conflict, Origin};
use super::scalars::Known;
use crate::codes;
use crate::draft::{Alike, Draft, TypeAnnotation};
use crate::flow::{Call, Equation, Kind, Labels, VarId};

pub(super) struct TypeErrors<'a> {
    pub draft: &'a Draft,
    pub labels: &'a Labels<'a>,
}

type Learnt = (Known, Origin);

impl<'a> TypeErrors<'a> {
    /// Where messages about an equation point.
    pub fn span(&self, number: usize) -> Span {
        self.draft.equations[number].span
    }

    /// A derivative has another type than its stream.
    pub fn alike(&self, alike: &Alike, conflict: &Conflict<Known>) -> Diagnostic {
        let (stream, derivative) = (self.labels.label(alike.left), self.labels.label(alike.right));
        let (known, new) = (conflict.left, conflict.right);
        let title = format!(
            "type error: '{stream}' is {} but '{derivative}', which is its derivative, is {}",
            known.0, new.0
        );
        self.with_origins(Diagnostic::error(codes::TYPE, alike.span, title), [known, new])
    }

    /// A written type contradicts one that is written elsewhere: for the same stream, or for an argument or a result.
    pub fn written(&self, annotation: &TypeAnnotation, conflict: &Conflict<Known>) -> Diagnostic {
        let (known, new) = (conflict.left, conflict.right);
        let label = self.labels.label(annotation.var);
        let Some(formal) = &annotation.formal else {
            let title = format!("type error: '{label}' is {} but {} is written here", known.0, new.0);
            return self.with_origins(Diagnostic::error(codes::TYPE, annotation.span, title), [known]);
        };
        let call = &self.draft.calls[formal.call];
        let (name, node) = (&formal.name, &call.node);
        let diagnostic = match formal.input {
            Some(input) => {
                let title = format!(
                    "type error: '{label}' is {} but the input `{name}` of `{node}` is {}",
                    known.0, new.0
                );
                let diagnostic = Diagnostic::error(codes::TYPE, call.arguments[input].span, title);
                with_conversion(diagnostic, known.0, new.0, &label)
            }
            None => {
                let title = format!(
                    "type error: the output `{name}` of `{node}` is {} but '{label}' is {}",
                    new.0, known.0
                );
                let diagnostic = Diagnostic::error(codes::TYPE, call.span, title);
                with_conversion(diagnostic, new.0, known.0, &format!("{node}(…)"))
            }
        };
        let text = format!("`{name}` of `{node}` is {} because of this", new.0);
        self.with_origins(diagnostic, [known]).cause(annotation.span, text)
    }

    /// A truth value where an operator wants numbers.
    pub fn truth(&self, number: usize, var: VarId, origin: Origin) -> Diagnostic {
        let title = format!(
            "type error: '{}' is bool but {} is for numbers",
            self.labels.label(var),
            self.operation(number)
        );
        let operand = self.labels.operand(var);
        let diagnostic = Diagnostic::error(codes::TYPE, self.span(number), title)
            .help(format!("a truth value is no number: choose one with `if {operand} then 1.0 else 0.0`"));
        self.with_origins(diagnostic, [(Known::Is(Scalar::Bool), origin)])
    }

    /// An operand has another type than its operation needs.
    pub fn needs(&self, number: usize, var: VarId, scalar: Scalar, found: Learnt) -> Diagnostic {
        let needed = (Known::Is(scalar), Origin { var, span: self.span(number) });
        if (scalar, found.0) == (Scalar::Bool, Known::Numeric)
            && let Some(other) = self.operator_for_numbers(var)
        {
            // Two operations disagree about one stream, and that with numbers is probably wrong.
            return self.truth(other, var, needed.1);
        }
        let label = self.labels.label(var);
        let title =
            format!("type error: '{label}' is {} but {} needs {scalar}", found.0, self.operation(number));
        let diagnostic = Diagnostic::error(codes::TYPE, self.span(number), title);
        let diagnostic = match scalar {
            Scalar::Bool => {
                let operand = self.labels.operand(var);
                diagnostic.help(format!("a number is no truth value: compare it, `{operand} != 0`"))
            }
            _ if found.0 == Known::Is(Scalar::Int) && self.operation(number) == "`/`" => {
                diagnostic.help(format!(
                    "nothing converts by itself: write `num({label})`, or divide whole numbers with `div`"
                ))
            }
            _ => with_conversion(diagnostic, found.0, needed.0, &label),
        };
        self.with_origins(diagnostic, [found])
    }

    /// An operator that says that an input is a number; other streams are what their equations make them.
    fn operator_for_numbers(&self, var: VarId) -> Option<usize> {
        if !self.draft.inputs.contains(&var) {
            return None;
        }
        self.draft.equations.iter().position(|equation| match &equation.kind {
            Kind::Apply(op, operands) => {
                let signature = op.signature();
                let is_alpha = |index: usize| signature.operand(index) == Slot::Alpha;
                signature.alpha == Class::Numeric
                    && operands.iter().enumerate().any(|(index, operand)| *operand == var && is_alpha(index))
            }
            _ => false,
        })
    }

    /// The right side of an equation has another type than its left side.
    pub fn result(&self, number: usize, found: Learnt, expected: Learnt) -> Diagnostic {
        let Equation { out, span, .. } = self.draft.equations[number];
        let right = match self.opaque_call(number) {
            Some(call) => format!("{}(…)", call.node),
            None => self.labels.definition(out),
        };
        let left = self.labels.label(out);
        let title = format!("type error: '{right}' is {} but '{left}' is {}", found.0, expected.0);
        let diagnostic = Diagnostic::error(codes::TYPE, span, title);
        self.with_origins(with_conversion(diagnostic, found.0, expected.0, &right), [found, expected])
    }

    /// Two operands have different types.
    pub fn same(&self, number: usize, left: VarId, right: VarId, conflict: &Conflict<Known>) -> Diagnostic {
        let (a, b) = (conflict.left, conflict.right);
        let call = self.opaque_call(number);
        // Who calls a node of the prelude does not know its streams, but what they come from.
        let name = |operand: VarId, origin: Origin| if call.is_some() { origin.var } else { operand };
        let (left, right) = (name(left, a.1), name(right, b.1));
        let (left_label, right_label) = (self.labels.label(left), self.labels.label(right));
        let title = format!("type error: '{left_label}' is {} but '{right_label}' is {}", a.0, b.0);
        let diagnostic = Diagnostic::error(codes::TYPE, self.span(number), title);
        let int = Known::Is(Scalar::Int);
        let integer = if a.0 == int { Some((left, left_label)) } else { Some((right, right_label)) };
        let is_operand = |var: VarId| match call {
            Some(call) => call.arguments.iter().any(|argument| argument.var == Some(var)),
            None => true,
        };
        let diagnostic = match integer.filter(|(var, _)| is_operand(*var)) {
            Some((_, label)) if a.0 == int => with_conversion(diagnostic, a.0, b.0, &label),
            Some((_, label)) if b.0 == int => with_conversion(diagnostic, b.0, a.0, &label),
            _ => diagnostic,
        };
        self.with_origins(diagnostic, [a, b])
    }

    /// The operation of an equation, as the subject of a sentence.
    fn operation(&self, number: usize) -> String {
        match &self.draft.equations[number].kind {
            Kind::Apply(op, _) => format!("`{}`", op.name()),
            Kind::When { .. } => "the condition of `when`".to_string(),
            Kind::Merge { .. } => "the condition of `merge`".to_string(),
            Kind::Param(_) => "a parameter".to_string(),
            Kind::Const(_) | Kind::Fby { .. } | Kind::FbyBack { .. } | Kind::Post(_) => {
                unreachable!("these take operands of any type")
            }
        }
    }

    /// The call of a node of the prelude that an equation comes from.
    fn opaque_call(&self, number: usize) -> Option<&'a Call> {
        let call = self.draft.equations[number].call?;
        Some(&self.draft.calls[call]).filter(|call| call.is_opaque)
    }

    /// Says where types come from, unless that is the place of the message itself.
    fn with_origins(
        &self,
        mut diagnostic: Diagnostic,
        learnt: impl IntoIterator<Item = Learnt>,
    ) -> Diagnostic {
        for (known, Origin { var, span }) in learnt {
            if span != diagnostic.primary.span {
                let label = self.labels.label(var);
                diagnostic = diagnostic.cause(span, format!("`{label}` is {known} because of this"));
            }
        }
        diagnostic
    }
}

/// How a number becomes one of the other type.
fn with_conversion(diagnostic: Diagnostic, found: Known, expected: Known, label: &str) -> Diagnostic {
    match (found, expected) {
        (Known::Is(Scalar::Int), Known::Is(Scalar::Num)) => {
            diagnostic.help(format!("nothing converts by itself: write `num({label})`"))
        }
        (Known::Is(Scalar::Num), Known::Is(Scalar::Int)) => diagnostic
            .help(format!("nothing converts by itself: write `int({label})`, which cuts off the fraction")),
        _ => diagnostic,
    }
}
