//! The wording of type errors, in one place.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Confidence, Diagnostic, Edit, Span};

use crate::codes;
use crate::operation::Pred;
use crate::types::{Type, Types};

/// The place of a mismatch, which selects the words of its message.
#[derive(Clone, Copy, Debug)]
pub enum Situation<'a> {
    /// The argument of an operation or function.
    Argument(&'a str),
    /// An operand of an operator.
    Operand(&'a str),
    /// The second operand, which must have the type of the first.
    OtherOperand(&'a str, Span),
    /// A side of a comparison.
    Comparison,
    /// The term after `=` in an annotated `let`; the span is that of the annotation.
    Annotated(Span),
    /// A component of a tuple pattern with an annotation of its own.
    Component(Span),
    /// The body of a function; the span is that of its result type.
    Result(Span),
    /// The branch after `else`; the span is that of the branch after `then`.
    Branch(Span),
    /// The point of a derivative; the span is that of the binder's annotation.
    Point(Span),
    /// The cotangent; the span is that of the body.
    Cotangent(Span),
    /// The tangent of `fd`; the span is that of the point.
    Tangent(Span),
    /// The cotangent of a reverse operation.
    OperationCotangent(&'a str),
}

/// A term of another type than its place requires.
pub fn mismatch(
    types: &Types,
    span: Span,
    expected: Type,
    found: Type,
    situation: Situation<'_>,
) -> Diagnostic {
    let (wanted, got) = (types.show_briefly(expected), types.show_briefly(found));
    let what = match situation {
        Situation::Argument(name) => format!("the argument of `{name}`"),
        Situation::Operand(symbol) => format!("an operand of `{symbol}`"),
        Situation::OtherOperand(symbol, _) => format!("the operands of `{symbol}` have one type"),
        Situation::Comparison => "a side of a comparison".to_string(),
        Situation::Annotated(_) => "the bound term".to_string(),
        Situation::Component(_) => "a component".to_string(),
        Situation::Result(_) => "the body of the function".to_string(),
        Situation::Branch(_) => "the branches have one type".to_string(),
        Situation::Point(_) => "the point".to_string(),
        Situation::Cotangent(_) => "the cotangent has the type of the body".to_string(),
        Situation::Tangent(_) => "the tangent has the type of the point".to_string(),
        Situation::OperationCotangent(name) => format!("the cotangent of `{name}`"),
    };
    let title = format!("type mismatch: {what}: expected {wanted}, found {got}");
    let diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, span, title).label(format!("this is {got}"));
    match situation {
        Situation::OtherOperand(_, cause) | Situation::Branch(cause) => {
            diagnostic.cause(cause, format!("this is {wanted}"))
        }
        Situation::Annotated(cause)
        | Situation::Component(cause)
        | Situation::Result(cause)
        | Situation::Point(cause) => diagnostic.cause(cause, format!("{wanted} is required here")),
        Situation::Cotangent(cause) => diagnostic.cause(cause, format!("the body is {wanted}")),
        Situation::Tangent(cause) => diagnostic.cause(cause, format!("the point is {wanted}")),
        _ => diagnostic,
    }
}

/// A term that must be a pair but is not.
pub fn not_a_pair(types: &Types, span: Span, found: Type, of: &str) -> Diagnostic {
    let got = types.show_briefly(found);
    let title = format!("type mismatch: the argument of `{of}`: expected a pair, found {got}");
    Diagnostic::error(codes::TYPE_MISMATCH, span, title).label(format!("this is {got}"))
}

/// A tuple pattern with more names than the term has components.
pub fn too_few_components(
    types: &Types,
    span: Span,
    pattern: Span,
    n_names: usize,
    found: Type,
) -> Diagnostic {
    let got = types.show_briefly(found);
    let title = format!("type mismatch: expected a tuple of {n_names}, found {got}");
    Diagnostic::error(codes::TYPE_MISMATCH, span, title)
        .label(format!("this is {got}"))
        .cause(pattern, format!("this pattern has {n_names} names"))
        .reason("tuples nest to the left: `(a, b, c)` is `((a, b), c)`")
}

/// `M * N` where `M` is not a real.
pub fn not_a_factor(types: &Types, left: Span, found: Type, right: Type) -> Diagnostic {
    let got = types.show_briefly(found);
    let title = format!("type mismatch: the left operand of `*`: expected real, found {got}");
    let diagnostic = Diagnostic::error(codes::TYPE_MISMATCH, left, title).label(format!("this is {got}"));
    if right == Type::REAL {
        diagnostic.help("write the real on the left: `2 * v` scales the vector `v`")
    } else {
        diagnostic.help("for the inner product of two vectors write `dot(v, w)`")
    }
}

/// An unbound variable.
pub fn unbound<'a>(
    text: &str,
    span: Span,
    visible: impl Iterator<Item = &'a str>,
    is_function: bool,
) -> Diagnostic {
    let title = format!("unbound variable `{text}`");
    let diagnostic =
        Diagnostic::error(codes::UNBOUND_VARIABLE, span, title).label("nothing binds this name here");
    if is_function {
        return diagnostic
            .reason(format!("`{text}` is a function, and functions are not values"))
            .help(format!("call it: `{text}(…)`; a derivative takes it as `grad[x]({text})`"));
    }
    suggest_name(diagnostic, text, span, visible)
}

/// A call of an undefined function.
pub fn unknown_function<'a>(
    text: &str,
    span: Span,
    callable: impl Iterator<Item = &'a str>,
    enclosing: Option<Span>,
    is_variable: bool,
) -> Diagnostic {
    let title = format!("unknown function `{text}`");
    let diagnostic =
        Diagnostic::error(codes::UNKNOWN_FUNCTION, span, title).label("no function of this name is in scope");
    if let Some(definition) = enclosing {
        let edit =
            Edit { span: definition.after(), replacement: "rec".to_string(), confidence: Confidence::Safe };
        return diagnostic
            .reason("a function defined by `let` does not see itself")
            .help_with_edit(format!("to let `{text}` call itself, define it with `letrec`"), edit);
    }
    if is_variable {
        return diagnostic.reason(format!("`{text}` is a variable, and only functions are called"));
    }
    suggest_name(diagnostic, text, span, callable)
}

fn suggest_name<'a>(
    diagnostic: Diagnostic,
    text: &str,
    span: Span,
    names: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    // Sorted, so that a tie does not depend on the order of a hash table.
    let mut names: Vec<&str> = names.filter(|name| *name != "_").collect();
    names.sort_unstable();
    match nearest(text, names) {
        Some(name) => {
            let edit = Edit { span, replacement: name.to_string(), confidence: Confidence::Maybe };
            diagnostic.help_with_edit(format!("did you mean `{name}`?"), edit)
        }
        None => diagnostic,
    }
}

/// A variable of the surrounding term in the body of a function.
pub fn free_variable(text: &str, span: Span, bound: Span) -> Diagnostic {
    Diagnostic::error(codes::FREE_VARIABLE, span, format!("free variable `{text}` in the body of a function"))
        .label("this variable belongs to the surrounding term")
        .cause(bound, "it is bound here")
        .reason("the body of a function sees only its parameters, constants and functions")
        .help(format!("pass `{text}` as a parameter, or define it with `const`"))
}

/// `<=`, `>=`, `==` or `!=` without `use clarke`.
pub fn not_continuous(pred: Pred, at: Span) -> Diagnostic {
    let (symbol, instead) = match pred {
        Pred::Le => ("<=", Some("<")),
        Pred::Ge => (">=", Some(">")),
        Pred::Eq => ("==", None),
        _ => ("!=", None),
    };
    let diagnostic = Diagnostic::error(codes::NOT_CONTINUOUS, at, format!("`{symbol}` is not continuous"))
        .label("its answer jumps where both sides are equal")
        .reason("a derivative taken through a jump would be wrong, so predicates are undefined there");
    match instead {
        Some(instead) => {
            let edit = Edit { span: at, replacement: instead.to_string(), confidence: Confidence::Maybe };
            diagnostic.help_with_edit(
                format!("use `{instead}`, which is undefined on equal arguments, or start the file with `use clarke`"),
                edit,
            )
        }
        None => diagnostic.help("compare with `<` or `>`, or start the file with `use clarke`"),
    }
}

/// One name twice in a pattern or parameter list.
pub fn duplicate(text: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error(codes::DUPLICATE, span, format!("duplicate name `{text}`"))
        .label("bound again here")
        .cause(first, "first bound here")
        .help("give each component a name of its own; `_` may occur once")
}

/// `grad` of a body that is not a real.
pub fn gradient_of(types: &Types, body: Span, found: Type) -> Diagnostic {
    let got = types.show_briefly(found);
    Diagnostic::error(codes::GRADIENT, body, format!("`grad` of a body that is not real, but {got}"))
        .label(format!("this is {got}"))
        .reason("a gradient is the derivative of one real")
        .help("say with which cotangent: `(1, 0).rd[L](x. N)`")
}

/// A directive that is not known.
pub fn unknown_directive(text: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::DIRECTIVE, span, format!("unknown directive `{text}`"));
    let edit = Edit { span, replacement: "clarke".to_string(), confidence: Confidence::Maybe };
    diagnostic.label("not a directive").help_with_edit("the only directive is `use clarke`", edit)
}

/// A `const` whose value is not a constant.
pub fn not_a_constant(span: Span) -> Diagnostic {
    let title = "syntax error: expected a constant, found a term";
    Diagnostic::error(codes::SYNTAX, span, title)
        .label("this has to be computed")
        .reason("a constant is a numeral, unit, or a tuple of constants")
        .help("use `let` for a term, and pass it to functions as a parameter")
}

/// A type with too many components.
pub fn too_large(span: Span) -> Diagnostic {
    let title = format!("type out of range: more than {} components", Types::MAX_COMPONENTS);
    Diagnostic::error(codes::OUT_OF_RANGE, span, title).label("the type of this term has too many components")
}
