//! The wording of type errors.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};

use crate::codes;
use crate::types::Types;

/// Why two types must be equal; the span is the source of the expectation.
#[derive(Clone, Copy, Debug)]
pub enum Situation {
    /// An argument of this function.
    Argument(Span),
    /// A term that is applied to this argument.
    Applied(Span),
    /// The other side of this sum.
    Sum(Span, Span),
    /// An operand of this arithmetic operation.
    Arithmetic(Span),
    /// The value of this binder.
    Bound(Span),
    /// A term with this type annotation.
    Annotation(Span),
    /// The pair under this projection.
    Projection(Span),
    /// A pattern of a tuple.
    Pattern,
    /// The covector that is contracted with this vector.
    Contraction(Span),
    /// The operand of this `sharp`.
    Sharp(Span),
    /// The function that is differentiated here.
    Differentiated(Span),
    /// The point at which this function is differentiated.
    Point(Span),
    /// The covector on the values of this function.
    Covector(Span),
    /// The 1-form on the values of this function.
    Form(Span),
    /// The direction in which this function is differentiated.
    Direction(Span),
    /// A function under `grad`.
    Gradient,
    /// The rows of a Jacobian.
    Rows,
}

pub(super) fn mismatch(expected: &str, found: &str, span: Span, situation: Situation) -> Diagnostic {
    let title = format!("type mismatch: expected `{expected}`, found `{found}`");
    let diagnostic = Diagnostic::error(codes::MISMATCH, span, title);
    match situation {
        Situation::Argument(function) => {
            diagnostic.label("this argument").cause(function, "of this function")
        }
        Situation::Applied(argument) => diagnostic
            .label("this is not a function of such an argument")
            .cause(argument, "it is applied to this")
            .help("a product of numbers is written `*`"),
        Situation::Sum(op, left) => diagnostic
            .label("this side of the sum")
            .cause(left, "must have the type of this side")
            .cause(op, "in this sum"),
        Situation::Arithmetic(op) => diagnostic
            .label("arithmetic works on reals")
            .cause(op, "an operand of this operator")
            .help("only `+` works at every type"),
        Situation::Bound(binder) => diagnostic.label("this value").cause(binder, "is bound here"),
        Situation::Annotation(written) => {
            diagnostic.label("has another type").cause(written, "than is written here")
        }
        Situation::Projection(projection) => {
            diagnostic.label("this is not a pair").cause(projection, "projected here")
        }
        Situation::Pattern => diagnostic
            .label("a pattern of this form needs a tuple of as many items")
            .reason("tuples nest to the left: `R^3` is `(R * R) * R`, and `<x, y, z>` takes it apart"),
        Situation::Contraction(vector) => diagnostic
            .label("this should be a covector")
            .cause(vector, "on vectors such as this")
            .help("`φ @ v` is a covector `φ : T^*` applied to a vector `v : T`"),
        Situation::Sharp(sharp) => {
            diagnostic.label("this is not a covector").cause(sharp, "the operand of this `sharp`")
        }
        Situation::Differentiated(operator) => {
            diagnostic.label("only a function can be differentiated").cause(operator, "here")
        }
        Situation::Point(function) => {
            diagnostic.label("this point").cause(function, "is not in the domain of this function")
        }
        Situation::Covector(function) => {
            diagnostic.label("this should be a covector").cause(function, "on the values of this function")
        }
        Situation::Form(function) => diagnostic
            .label("this should be a 1-form")
            .cause(function, "on the values of this function")
            .reason("a 1-form on `T` is a function `T -> T^*`, such as `Ω [1]` on `R`"),
        Situation::Direction(function) => {
            diagnostic.label("this direction").cause(function, "is not in the domain of this function")
        }
        Situation::Gradient => diagnostic
            .label("its value is not a real number")
            .help("`jacobian f at v` has a row for each component of the value"),
        Situation::Rows => diagnostic.label("the Jacobian of this function is used at another type"),
    }
}

pub(super) fn unbound(what: &str, text: &str, span: Span, known: &[&str]) -> Diagnostic {
    let title = format!("unbound {what} `{text}`");
    let diagnostic = Diagnostic::error(codes::UNBOUND, span, title).label("not found in this scope");
    match nearest(text, known.iter().copied()) {
        Some(meant) => diagnostic.suggest(span, meant),
        None if what == "variable" => {
            diagnostic.help(format!("for a program with a free variable, declare it: `assume {text} : R;`"))
        }
        None => diagnostic.help(format!("declare it: `type {text} = R -> R;`")),
    }
}

pub(super) fn duplicate(text: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(codes::DUPLICATE, span, format!("duplicate name `{text}`"))
        .label("the same name again")
        .cause(first, "first bound here")
}

pub(super) fn infinite(span: Span) -> Diagnostic {
    Diagnostic::error(codes::INFINITE, span, "infinite type: this type would contain itself")
        .label("here a type would be a part of itself")
        .reason("every expression has one finite type; a function cannot be given itself")
}

pub(super) fn not_euclidean(ty: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::NOT_EUCLIDEAN, span, format!("`{ty}` is not Euclidean"))
        .label("this type has no standard basis")
        .reason("`flat`, `sharp`, `grad` and `jacobian` need products of `R`")
        .help("at other types use `vjp f at v with w` or `(Ω f) · w`, and contract the result with `@`")
}

pub(super) fn too_large(span: Span) -> Diagnostic {
    let title = format!("type out of range: `R` may stand in a type at most {} times", Types::MAX_COMPONENTS);
    Diagnostic::error(codes::OUT_OF_RANGE, span, title).label("its type is larger than that")
}
