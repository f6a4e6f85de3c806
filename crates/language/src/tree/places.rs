//! Replaces the spans of the tree of a program that was translated to functions by spans of its source.

use eddy_syntax::Span;

use super::form::{Binders, Case, Control};
use super::{Form, Ident, Imported, Item, Program};

impl Program {
    /// Replaces every span in the items of functions, and in their expressions, types and patterns. A
    /// translated program has no nodes, test benches or imports.
    pub(crate) fn replace_places(&mut self, new: &impl Fn(Span) -> Span) {
        debug_assert!(self.imports.iter().all(|import| matches!(import.what, Imported::All)));
        for item in &mut self.items {
            item.replace_places(new);
        }
        self.exprs.replace_places(new);
        self.written.replace_places(new);
    }
}

impl Item {
    fn replace_places(&mut self, new: &impl Fn(Span) -> Span) {
        match self {
            Item::Function(function) => {
                let places = [&mut function.params_span, &mut function.at, &mut function.span];
                places.into_iter().chain(&mut function.sizes_span).for_each(|span| *span = new(*span));
                let params = function.params.iter_mut().map(|param| &mut param.ident);
                params
                    .chain(&mut function.sizes)
                    .chain([&mut function.ident])
                    .for_each(|ident| ident.replace_place(new));
            }
            Item::Constant(constant) => {
                constant.ident.replace_place(new);
                constant.at = new(constant.at);
                constant.span = new(constant.span);
            }
            Item::Eval(eval) => {
                eval.at = new(eval.at);
                eval.span = new(eval.span);
            }
            Item::Node(_) | Item::Run(_) | Item::Train(_) | Item::Type(_) => {
                unreachable!("a translation has functions, constants and evaluations")
            }
        }
    }
}

impl Ident {
    pub(super) fn replace_place(&mut self, new: &impl Fn(Span) -> Span) {
        self.span = new(self.span);
    }
}

impl Form {
    pub(super) fn replace_places(&mut self, new: &impl Fn(Span) -> Span) {
        match self {
            Form::LetFunction { ident, params, .. } => {
                let params = params.iter_mut().map(|param| &mut param.ident);
                params.chain([ident]).for_each(|ident| ident.replace_place(new));
            }
            Form::Loop { control: Control::For(binders), .. }
            | Form::Comprehension(binders)
            | Form::Reduction { binders, .. } => binders.replace_places(new),
            Form::Record(fields) | Form::RecordUpdate(fields) => {
                for field in fields {
                    field.replace_place(new);
                }
            }
            Form::Match(cases) | Form::Merge(cases) => cases.iter_mut().for_each(|case| match case {
                Case::Enumerator(ident) => ident.replace_place(new),
                Case::Otherwise(span) => *span = new(*span),
            }),
            Form::Field(ident) | Form::WhenIs(ident) | Form::Last(ident) => ident.replace_place(new),
            Form::Component { span, .. } => *span = new(*span),
            Form::Unit
            | Form::Reset
            | Form::Let { .. }
            | Form::Lambda { .. }
            | Form::Loop { control: Control::While, .. }
            | Form::Place(_)
            | Form::Update { .. } => {}
        }
    }
}

impl Binders {
    fn replace_places(&mut self, new: &impl Fn(Span) -> Span) {
        self.binders.iter_mut().for_each(|binder| binder.ident.replace_place(new));
    }
}
