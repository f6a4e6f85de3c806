//! Diagnostics about types that contradict each other.
//!
//! An error states what was found and what was expected, in the user's names, and shows where each type comes
//! from. An error inside of a library node is described in terms of the arguments of its call.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Class, Scalar, Slot};

use super::classes::{Conflict, Origin};
use super::scalars::KnownType;
use crate::codes;
use crate::contracts::is_contract;
use crate::draft::{Draft, SameType, TypeAnnotation};
use crate::flow::{Call, Equation, Kind, Labels, VarId};

pub(super) struct TypeErrors<'a> {
    pub draft: &'a Draft,
    pub labels: &'a Labels<'a>,
}

type TypeWithOrigin = (KnownType, Origin);

impl<'a> TypeErrors<'a> {
    /// Where errors about an equation point.
    pub fn span(&self, number: usize) -> Span {
        self.draft.equations[number].span
    }

    /// A derivative whose type differs from that of its stream.
    pub fn same_type(&self, same_type: &SameType, conflict: &Conflict<KnownType>) -> Diagnostic {
        let (stream, derivative) = (self.labels.label(same_type.left), self.labels.label(same_type.right));
        let (known, new) = (conflict.left, conflict.right);
        let title = format!(
            "type error: '{stream}' is {} but '{derivative}', which is its derivative, is {}",
            known.0, new.0
        );
        self.with_origins(Diagnostic::error(codes::TYPE, same_type.span, title), [known, new])
    }

    /// A type annotation that contradicts another one: of the same stream, or of an argument or a result.
    pub fn written(&self, annotation: &TypeAnnotation, conflict: &Conflict<KnownType>) -> Diagnostic {
        let (known, new) = (conflict.left, conflict.right);
        let label = self.labels.label(annotation.var);
        let Some(formal) = &annotation.formal else {
            let title = format!("type error: '{label}' is {} but is declared as {} here", known.0, new.0);
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

    /// A `bool` operand of a numeric operator.
    pub fn bool_operand(&self, number: usize, var: VarId, origin: Origin) -> Diagnostic {
        let title = format!(
            "type error: '{}' is bool but {} is for numbers",
            self.labels.label(var),
            self.operation(number)
        );
        let operand = self.labels.operand(var);
        let diagnostic = Diagnostic::error(codes::TYPE, self.span(number), title)
            .help(format!("a bool is not a number: convert it with `if {operand} then 1.0 else 0.0`"));
        self.with_origins(diagnostic, [(KnownType::Is(Scalar::Bool), origin)])
    }

    /// An operand has a different type than its operation requires.
    pub fn needs(&self, number: usize, var: VarId, scalar: Scalar, found: TypeWithOrigin) -> Diagnostic {
        let needed = (KnownType::Is(scalar), Origin { var, span: self.span(number) });
        if (scalar, found.0) == (Scalar::Bool, KnownType::Numeric)
            && let Some(other) = self.operator_for_numbers(var)
        {
            // Two operations disagree about one stream; the numeric one is probably wrong.
            return self.bool_operand(other, var, needed.1);
        }
        let label = self.labels.label(var);
        let title =
            format!("type error: '{label}' is {} but {} needs {scalar}", found.0, self.operation(number));
        let diagnostic = Diagnostic::error(codes::TYPE, self.span(number), title);
        let diagnostic = match scalar {
            Scalar::Bool => {
                let operand = self.labels.operand(var);
                diagnostic.help(format!("a number is not a bool: compare it, `{operand} != 0`"))
            }
            _ if found.0 == KnownType::Is(Scalar::Int) && self.operation(number) == "`/`" => {
                diagnostic.help(format!(
                    "there is no implicit conversion: write `num({label})`, or divide integers with `div`"
                ))
            }
            _ => with_conversion(diagnostic, found.0, needed.0, &label),
        };
        self.with_origins(diagnostic, [found])
    }

    /// An operator that makes an input numeric. Only inputs are considered, because equations determine the
    /// types of other streams.
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

    /// The right side of an equation has a different type than its left side.
    pub fn result(&self, number: usize, found: TypeWithOrigin, expected: TypeWithOrigin) -> Diagnostic {
        let Equation { out, span, .. } = self.draft.equations[number];
        let right = match self.opaque_call(number) {
            Some(call) => format!("{}(…)", call.node),
            None => self.labels.definition(out),
        };
        let left = self.labels.label(out);
        let what = match left.rsplit('/').next() {
            Some(name) if is_contract(name) => Some("a contract"),
            Some(name) if name.ends_with(":every") => Some("the condition of `reset`"),
            _ => None,
        };
        if let Some(what) = what {
            let title = format!("type error: '{right}' is {}, but {what} is bool", found.0);
            return self.with_origins(Diagnostic::error(codes::TYPE, span, title), [found]);
        }
        let title = format!("type error: '{right}' is {} but '{left}' is {}", found.0, expected.0);
        let diagnostic = Diagnostic::error(codes::TYPE, span, title);
        self.with_origins(with_conversion(diagnostic, found.0, expected.0, &right), [found, expected])
    }

    /// Two operands have different types.
    pub fn same(
        &self,
        number: usize,
        left: VarId,
        right: VarId,
        conflict: &Conflict<KnownType>,
    ) -> Diagnostic {
        let (a, b) = (conflict.left, conflict.right);
        let call = self.opaque_call(number);
        // The caller of a library node does not know its streams, only where their types come from.
        let name = |operand: VarId, origin: Origin| if call.is_some() { origin.var } else { operand };
        let (left, right) = (name(left, a.1), name(right, b.1));
        let (left_label, right_label) = (self.labels.label(left), self.labels.label(right));
        let title = format!("type error: '{left_label}' is {} but '{right_label}' is {}", a.0, b.0);
        let diagnostic = Diagnostic::error(codes::TYPE, self.span(number), title);
        let int = KnownType::Is(Scalar::Int);
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

    /// The call of a library node that an equation comes from.
    fn opaque_call(&self, number: usize) -> Option<&'a Call> {
        let call = self.draft.equations[number].call?;
        Some(&self.draft.calls[call]).filter(|call| call.is_opaque)
    }

    /// Adds the origins of types, except those at the place of the error itself.
    fn with_origins(
        &self,
        mut diagnostic: Diagnostic,
        origins: impl IntoIterator<Item = TypeWithOrigin>,
    ) -> Diagnostic {
        for (known, Origin { var, span }) in origins {
            if span != diagnostic.primary.span {
                let label = self.labels.label(var);
                diagnostic = diagnostic.cause(span, format!("`{label}` is {known} because of this"));
            }
        }
        diagnostic
    }
}

/// Adds a help on how to convert between `int` and `num`.
fn with_conversion(diagnostic: Diagnostic, found: KnownType, expected: KnownType, label: &str) -> Diagnostic {
    match (found, expected) {
        (KnownType::Is(Scalar::Int), KnownType::Is(Scalar::Num)) => {
            diagnostic.help(format!("there is no implicit conversion: write `num({label})`"))
        }
        (KnownType::Is(Scalar::Num), KnownType::Is(Scalar::Int)) => diagnostic.help(format!(
            "there is no implicit conversion: write `int({label})`, which drops the fractional part"
        )),
        _ => diagnostic,
    }
}
