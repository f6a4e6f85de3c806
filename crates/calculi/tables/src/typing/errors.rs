//! The wording of type errors, in one place.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};

use super::Checker;
use crate::codes;
use crate::names::Name;
use crate::surface::Annotation;
use crate::types::{Type, Types};

/// A part that does not have the type that its form requires.
pub(super) struct Mismatch {
    pub(super) expected: String,
    pub(super) found: Type,
    /// The name of the form or the part.
    pub(super) of: String,
}

impl Checker<'_> {
    /// Reports an unbound variable; its type agrees with every type.
    pub(super) fn unbound(&mut self, name: Name, span: Span) -> Type {
        let text = self.terms.names.text(name);
        let title = format!("unbound variable `{text}`");
        let mut diagnostic = Diagnostic::error(codes::UNBOUND, span, title).label("nothing binds this");
        if !self.diagnostics.is_full() {
            let known = self.scope.names();
            let mut known = known.iter().map(|name| self.terms.names.text(*name));
            // `let rec f = e in f` defines a function `rec` with a variable `f`.
            let is_recursion =
                matches!(text, "letrec" | "rec" | "fix" | "fun") || known.clone().any(|name| name == "rec");
            if is_recursion {
                diagnostic = diagnostic.help(self.dialect.recursion());
            } else if let Some(meant) = nearest(text, &mut known) {
                diagnostic = diagnostic.suggest(span, meant);
            }
        }
        self.diagnostics.push(diagnostic);
        Type::UNKNOWN
    }
}

fn show(types: &Types, ty: Type) -> String {
    format!("`{}`", types.show_briefly(ty))
}

pub(super) fn mismatch(types: &Types, mismatch: &Mismatch, part: Span, form: Span) -> Diagnostic {
    let Mismatch { expected, found, of } = mismatch;
    let found = show(types, *found);
    let title = format!("type error: {of} takes {expected}, found {found}");
    let title = if of.starts_with("the ") {
        format!("type error: {of} must be {expected}, found {found}")
    } else {
        title
    };
    let diagnostic = Diagnostic::error(codes::TYPE, part, title).label(format!("this is {found}"));
    if form == part { diagnostic } else { diagnostic.cause(form, "in this term") }
}

pub(super) fn argument(types: &Types, [expected, found]: [Type; 2], part: Span, callee: Span) -> Diagnostic {
    let (expected, found) = (show(types, expected), show(types, found));
    let title = format!("type error: the function takes {expected}, and its argument is {found}");
    Diagnostic::error(codes::TYPE, part, title)
        .label(format!("this is {found}"))
        .cause(callee, format!("this takes {expected}"))
}

pub(super) fn not_a_function(types: &Types, found: Type, callee: Span, argument: Span) -> Diagnostic {
    let found = show(types, found);
    Diagnostic::error(
        codes::TYPE,
        callee,
        format!("type error: only functions are applied, and this is {found}"),
    )
    .label(format!("this is {found}"))
    .cause(argument, "it is applied to this")
    .help("is there an argument too many, or an operator missing?")
}

pub(super) fn not_polymorphic(types: &Types, found: Type, callee: Span, argument: Span) -> Diagnostic {
    let found = show(types, found);
    let title =
        format!("type error: only a term of type `forall a. A` is applied to a type, and this is {found}");
    Diagnostic::error(codes::TYPE, callee, title)
        .label(format!("this is {found}"))
        .cause(argument, "it is applied to this type")
}

pub(super) fn branches(types: &Types, found: [Type; 2], places: [Span; 2], form: Span) -> Diagnostic {
    let [yes, no] = found.map(|ty| show(types, ty));
    let title = format!("type error: the branches of an `if` have one type, and these are {yes} and {no}");
    Diagnostic::error(codes::TYPE, form, title)
        .label("in this `if`")
        .cause(places[0], format!("this is {yes}"))
        .cause(places[1], format!("this is {no}"))
}

pub(super) fn too_large(span: Span, limit: u64) -> Diagnostic {
    let title = format!("type error: the type of this term has more than {limit} parts");
    Diagnostic::error(codes::TYPE, span, title)
        .label("it grows with each type that it is applied to")
        .help("apply it to smaller types")
}

pub(super) fn fix_of_no_function(types: &Types, annotation: Annotation) -> Diagnostic {
    let found = show(types, annotation.ty);
    let title = format!("type error: `fix` defines functions, and this type is {found}");
    Diagnostic::error(codes::FIX, annotation.span, title)
        .label("not a type of functions")
        .help("write a type such as `int -> int`")
}

pub(super) fn fix_of_no_lambda(body: Span) -> Diagnostic {
    Diagnostic::error(codes::FIX, body, "type error: the body of `fix` must be a lambda")
        .label("this is not a lambda")
        .reason("a recursion without a lambda would unfold forever")
        .help("write `fix f : A -> B. \\x:A. e`")
}

pub(super) fn fix(types: &Types, [declared, found]: [Type; 2], body: Span, annotation: Span) -> Diagnostic {
    let (declared, found) = (show(types, declared), show(types, found));
    let title = format!("type error: `fix` declares {declared}, and its body is {found}");
    Diagnostic::error(codes::FIX, body, title)
        .label(format!("this is {found}"))
        .cause(annotation, format!("declared as {declared}"))
}
