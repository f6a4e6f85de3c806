//! Diagnostics about functions, in the wording of functions.md, section 7.

use eddy_body::ir::Elem;
use eddy_syntax::{Diagnostic, Span};

use crate::codes;

pub type Refused = Box<Diagnostic>;

pub fn type_error(span: Span, text: impl Into<String>) -> Refused {
    Box::new(Diagnostic::error(codes::TYPE, span, format!("type error: {}", text.into())))
}

pub fn shape_error(span: Span, text: impl Into<String>) -> Refused {
    Box::new(Diagnostic::error(codes::SHAPE, span, format!("shape error: {}", text.into())))
}

pub fn size_error(span: Span, text: impl Into<String>) -> Refused {
    Box::new(Diagnostic::error(codes::SHAPE, span, format!("size error: {}", text.into())))
}

/// The error about a part of a function that could not be parsed. The parser has reported it, so it is never
/// shown; the parts of the program that use the function have no types.
pub fn unreadable(span: Span) -> Refused {
    Box::new(Diagnostic::error(codes::SYNTAX, span, "this part of the function could not be read"))
}

/// The error about choices and loops that are nested deeper than code for functions allows.
pub fn too_deep(span: Span, limit: usize) -> Refused {
    let title = format!("more than {limit} choices and loops are inside each other");
    let diagnostic = Diagnostic::error(codes::TOO_LARGE, span, title);
    Box::new(diagnostic.help("move the inner ones into a function of their own, and call it"))
}

pub fn names(span: Span, text: impl Into<String>) -> Refused {
    Box::new(Diagnostic::error(codes::UNKNOWN_VARIABLE, span, text.into()))
}

pub fn arity(span: Span, name: &str, expected: usize, found: usize) -> Refused {
    let plural = if expected == 1 { "" } else { "s" };
    let text = format!("`{name}` takes {expected} argument{plural}, found {found}");
    Box::new(Diagnostic::error(codes::ARITY, span, text))
}

pub fn function_value(span: Span, place: &str) -> Refused {
    let text = format!("a function value cannot be {place}");
    Box::new(
        Diagnostic::error(codes::FUNCTION_VALUE, span, text)
            .help("function values may be called, bound by `let`, and passed as arguments"),
    )
}

pub fn function(span: Span, text: impl Into<String>) -> Refused {
    Box::new(Diagnostic::error(codes::FUNCTION, span, text.into()))
}

/// The error about `found` in a place that requires `needed`.
pub fn kinds(span: Span, needed: &str, found: &str) -> Refused {
    type_error(span, format!("expected {needed}, found {found}"))
}

pub fn show(elem: Option<Elem>, names: &dyn Fn(Elem) -> String) -> String {
    elem.map_or_else(|| "a number".to_string(), names)
}
