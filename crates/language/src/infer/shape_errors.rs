//! Diagnostics about shapes that contradict each other.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Shape};

use super::classes::{Conflict, Origin};
use crate::codes;
use crate::draft::{Draft, Loss, SameType, TypeAnnotation};
use crate::flow::{Equation, Kind, Labels, VarId, in_instances};

pub(super) struct ShapeErrors<'a> {
    pub draft: &'a Draft,
    pub labels: &'a Labels<'a>,
}

type ShapeWithOrigin = (Shape, Origin);

impl ShapeErrors<'_> {
    /// A derivative whose shape differs from that of its stream.
    pub fn same_type(&self, same_type: &SameType, conflict: Conflict<Shape>) -> Box<Diagnostic> {
        let (stream, derivative) = (self.labels.label(same_type.left), self.labels.label(same_type.right));
        let (known, new) = (conflict.left, conflict.right);
        let title = format!(
            "`{stream}` has shape {} but `{derivative}`, which is its derivative, has shape {}",
            known.0, new.0
        );
        Box::new(self.with_origins(same_type.span, &title, [known, new]))
    }

    /// A loss that compares streams of different shapes.
    pub fn loss(&self, loss: &Loss, found: Vec<ShapeWithOrigin>) -> Box<Diagnostic> {
        let shapes: Vec<String> = found.iter().map(|(shape, _)| shape.to_string()).collect();
        let (output, target) = (self.labels.label(loss.output), self.labels.label(loss.target));
        let title = match shapes.as_slice() {
            [found, expected] => format!(
                "the loss `{}` compares `{output}` of shape {found} with `{target}` of shape {expected}",
                loss.name
            ),
            _ => format!(
                "the loss `{}` compares `{output}` and `{target}`, which have different shapes",
                loss.name
            ),
        };
        let diagnostic = self.with_origins(loss.span, &title, found);
        let reason = "an elementwise loss does not broadcast its operands: an element would be compared with other elements than its own";
        let help = format!("give both the same shape, or compare only a part, such as `{output}[0]`");
        Box::new(diagnostic.reason(reason).help(help))
    }

    /// An annotated shape that contradicts another one: of the same stream, or of an argument or a result.
    pub fn written(&self, annotation: &TypeAnnotation, conflict: Conflict<Shape>) -> Box<Diagnostic> {
        let Conflict { left: (known, from), right: (new, _) } = conflict;
        let label = self.labels.label(annotation.var);
        let Some(formal) = &annotation.formal else {
            let title = format!("`{label}` has shape {known} but is declared with shape {new} here");
            return Box::new(self.with_origins(annotation.span, &title, [(known, from)]));
        };
        let call = &self.draft.calls[formal.call];
        let (name, node) = (&formal.name, &call.node);
        let (span, title) = match formal.input {
            Some(input) => {
                let title =
                    format!("`{label}` has shape {known} but the input `{name}` of `{node}` has shape {new}");
                (call.arguments[input].span, title)
            }
            None => {
                let title = format!(
                    "the output `{name}` of `{node}` has shape {new} but `{label}` has shape {known}"
                );
                (call.span, title)
            }
        };
        let text = format!("`{name}` of `{node}` has shape {new} because of this");
        let diagnostic = self.with_origins(span, &title, [(known, from)]).cause(annotation.span, text);
        Box::new(in_instances(&self.draft.calls, call.within, diagnostic))
    }

    /// An operation that does not fit the shapes of its operands.
    pub fn broken(&self, number: usize, operands: Vec<ShapeWithOrigin>, message: &str) -> Box<Diagnostic> {
        let diagnostic = self.with_origins(self.draft.equations[number].span, message, operands);
        self.in_instances(number, diagnostic)
    }

    /// The right side of an equation has a different shape than its left side, or than its place requires.
    pub fn result(
        &self,
        number: usize,
        operands: Vec<ShapeWithOrigin>,
        found: Shape,
        expected: ShapeWithOrigin,
    ) -> Box<Diagnostic> {
        let Equation { out, span, .. } = self.draft.equations[number];
        let (right, shape) = (self.right_side(number), &expected.0);
        let left = self.draft.vars[out.index()].name.as_deref();
        let title = match left {
            Some(left) => format!("`{right}` has shape {found} but `{left}` has shape {shape}"),
            None => format!("`{right}` has shape {found} but shape {shape} is needed"),
        };
        let diagnostic = match left {
            Some(_) => self.with_origins(span, &title, operands.into_iter().chain([expected])),
            None => {
                let text = format!("shape {shape} is needed here");
                self.with_origins(span, &title, operands).cause(expected.1.span, text)
            }
        };
        self.in_instances(number, diagnostic)
    }

    /// As [`result`](Self::result), for a right side with the shape of an operand.
    pub fn copy(&self, number: usize, conflict: Conflict<Shape>) -> Box<Diagnostic> {
        let Equation { out, span, .. } = self.draft.equations[number];
        let (left, right) = (self.labels.label(out), self.right_side(number));
        let (expected, found) = (conflict.left, conflict.right);
        let title = format!("`{right}` has shape {} but `{left}` has shape {}", found.0, expected.0);
        self.in_instances(number, self.with_origins(span, &title, [found, expected]))
    }

    /// An operand has a different shape than its place requires.
    pub fn needs(&self, number: usize, var: VarId, conflict: Conflict<Shape>) -> Box<Diagnostic> {
        let (found, needed) = (conflict.left, conflict.right.0);
        let Equation { span, ref kind, .. } = self.draft.equations[number];
        let label = self.labels.label(var);
        let title = format!("`{label}` has shape {} but shape {needed} is needed here", found.0);
        let diagnostic = self.with_origins(span, &title, [found]);
        let diagnostic = match kind {
            Kind::Apply(Op::If, _) => diagnostic
                .help("the condition of `if` is a scalar; `where(c, a, b)` selects element by element"),
            Kind::When { .. } | Kind::Merge { .. } => {
                diagnostic.help("a stream is present or absent as a whole: its condition is a scalar")
            }
            _ => diagnostic,
        };
        self.in_instances(number, diagnostic)
    }

    /// Two operands have different shapes.
    pub fn same(
        &self,
        number: usize,
        left: VarId,
        right: VarId,
        conflict: Conflict<Shape>,
    ) -> Box<Diagnostic> {
        let (left, right) = (self.labels.label(left), self.labels.label(right));
        let (a, b) = (conflict.left, conflict.right);
        let title = format!("`{left}` has shape {} but `{right}` has shape {}", a.0, b.0);
        let span = self.draft.equations[number].span;
        self.in_instances(number, self.with_origins(span, &title, [a, b]))
    }

    /// The right side of an equation; for library nodes the call, because their equations are not shown.
    fn right_side(&self, number: usize) -> String {
        let calls = &self.draft.calls;
        match self.draft.equations[number].call.map(|call| &calls[call]).filter(|call| call.is_opaque) {
            Some(call) => format!("{}(…)", call.node),
            None => self.labels.definition(self.draft.equations[number].out),
        }
    }

    /// Adds the origins of shapes, except those at the place of the error itself.
    fn with_origins(
        &self,
        span: Span,
        title: &str,
        origins: impl IntoIterator<Item = ShapeWithOrigin>,
    ) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(codes::SHAPE, span, title);
        for (shape, Origin { var, span: from }) in origins {
            if from != span {
                let label = self.labels.label(var);
                diagnostic = diagnostic.cause(from, format!("`{label}` has shape {shape} because of this"));
            }
        }
        diagnostic
    }

    fn in_instances(&self, number: usize, diagnostic: Diagnostic) -> Box<Diagnostic> {
        let calls = &self.draft.calls;
        Box::new(in_instances(calls, self.draft.equations[number].call, diagnostic))
    }
}
