//! Errors about operations that fit no shape of their unknown operands.

use eddy_syntax::Diagnostic;
use eddy_tensor::{Op, ShapeRule};

use super::feasible::{self, Misfit, Sizes};
use super::together::{self, Contradiction};
use crate::codes;
use crate::draft::Draft;
use crate::flow::{Kind, Labels, in_instances};

/// An error, and the innermost call that it is about.
pub struct NeverFits {
    pub diagnostic: Box<Diagnostic>,
    /// The index of the call in the draft; `None` if the operation is in the node itself.
    pub call: Option<usize>,
}

/// Finds an operation that fits no shape of its unknown operands.
pub fn never_fits(draft: &Draft, sizes: Sizes) -> Option<NeverFits> {
    let labels = labels(draft);
    let misfit = feasible::misfit(draft, &labels, sizes)?;
    let equation = &draft.equations[misfit.equation];
    let op = operation(draft, misfit.equation);
    // With open sizes, constants in the text of the operation may be placeholders.
    let operation = match sizes {
        Sizes::Open => op.name().to_string(),
        Sizes::Known => labels.definition(equation.out),
    };
    let unknown: Vec<String> = misfit.unknown.iter().map(|var| format!("`{}`", labels.label(*var))).collect();
    let whatever = if unknown.is_empty() {
        "whatever the sizes are".to_string()
    } else {
        format!("whatever the shape of {} is", unknown.join(" and "))
    };
    let title = format!("`{operation}` has no shape, {whatever}");
    let diagnostic = Diagnostic::error(codes::SHAPE, equation.span, title)
        .reason(known_operands(draft, &labels, &misfit, sizes))
        .help(requirement(op));
    Some(in_call(draft, misfit.equation, diagnostic))
}

/// Finds operations that each fit some shape, but no common shape.
pub fn never_fit_together(draft: &Draft) -> Option<NeverFits> {
    const SHOWN: usize = 3;
    let labels = labels(draft);
    let Contradiction { equation: number, operand, shapes, because } =
        together::contradiction(draft, &labels)?;
    let equation = &draft.equations[number];
    let opaque = equation.call.map(|call| &draft.calls[call]).filter(|call| call.is_opaque);
    let definition =
        opaque.map_or_else(|| labels.definition(equation.out), |call| format!("{}(…)", call.node));
    let operand = labels.label(operand);
    let title = format!("`{definition}` fits no shape that `{operand}` can have");
    let mut diagnostic =
        Diagnostic::error(codes::SHAPE, equation.span, title).help(requirement(operation(draft, number)));
    if let Some(because) = because {
        let more = if shapes.len() > SHOWN { ", …" } else { "" };
        let shapes: Vec<String> = shapes.iter().take(SHOWN).map(ToString::to_string).collect();
        let shapes = format!("{}{more}", shapes.join(", "));
        let from = draft.equations[because].span;
        diagnostic = if from == equation.span {
            diagnostic.reason(format!("`{operand}` can have the shapes {shapes}"))
        } else {
            diagnostic.cause(from, format!("this restricts `{operand}` to the shapes {shapes}"))
        };
    }
    Some(in_call(draft, number, diagnostic))
}

fn labels(draft: &Draft) -> Labels<'_> {
    Labels::new(draft.vars.iter().map(|var| var.name.as_ref()), &draft.equations).with_points()
}

fn operation(draft: &Draft, equation: usize) -> &Op {
    match &draft.equations[equation].kind {
        Kind::Apply(op, _) => op,
        _ => unreachable!("only operations are checked"),
    }
}

fn in_call(draft: &Draft, equation: usize, diagnostic: Diagnostic) -> NeverFits {
    let call = draft.equations[equation].call;
    NeverFits { diagnostic: Box::new(in_instances(&draft.calls, call, diagnostic)), call }
}

/// "`k` has 2 axes, the second operand is a single number".
fn known_operands(draft: &Draft, labels: &Labels<'_>, misfit: &Misfit, sizes: Sizes) -> String {
    let operands: Vec<_> = draft.equations[misfit.equation].kind.operands().collect();
    let known = misfit.known.iter().map(|(var, shape)| {
        let subject = match (&draft.vars[var.index()].name, sizes) {
            (None, Sizes::Open) => place(operands.iter().position(|operand| operand == var), operands.len()),
            _ => format!("`{}`", labels.label(*var)),
        };
        match (sizes, shape.len()) {
            (Sizes::Known, _) => format!("{subject} has shape {shape}"),
            (Sizes::Open, 0) => format!("{subject} is a single number"),
            (Sizes::Open, 1) => format!("{subject} has 1 axis"),
            (Sizes::Open, n) => format!("{subject} has {n} axes"),
        }
    });
    known.collect::<Vec<_>>().join(", ")
}

fn place(position: Option<usize>, n_operands: usize) -> String {
    match (position, n_operands) {
        (_, 1) => "the operand".to_string(),
        (Some(0), _) => "the first operand".to_string(),
        (Some(1), _) => "the second operand".to_string(),
        (Some(n), _) => format!("operand {}", n + 1),
        (None, _) => "an operand".to_string(),
    }
}

/// The requirement of an operation on its operands, or the operation that was probably intended.
fn requirement(op: &Op) -> String {
    let text = match op {
        Op::Matmul => {
            "`matmul(a, b)` multiplies matrices and vectors: each has 1 or 2 axes, and the inner sizes are equal"
        }
        Op::Transpose => "`transpose(x)` exchanges the axes of a matrix",
        Op::Index(_) => "`x[i]` is a row of a tensor: `x` has at least 1 axis and more than `i` rows",
        Op::Slice(..) => {
            "`slice(lo, hi, x)` has the bounds first; `x` has at least 1 axis and at least `hi` rows"
        }
        Op::Max(_) => {
            "`max(x, axis)` is the largest element along an axis of `x`, counted from 0; the larger of two values is `maximum(x, y)`"
        }
        Op::Sum(_) => {
            "`sum(x, axis)` adds along an axis of `x`, counted from 0; the sum of two values is `x + y`"
        }
        Op::Mean(_) => "`mean(x, axis)` is the mean along an axis of `x`, counted from 0",
        Op::Concat => "the parts of `concat` have at least 1 axis, and only their first sizes may differ",
        Op::Reshape(_) => "`reshape(x, sizes)` keeps the number of elements",
        op if op.shape_rule() == ShapeRule::Broadcast => {
            "operands broadcast: shapes are aligned at the right, and sizes are equal or one of them is 1"
        }
        op => return format!("`{}` is {}", op.name(), op.doc()),
    };
    text.to_string()
}
