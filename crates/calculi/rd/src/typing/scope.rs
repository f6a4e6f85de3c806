//! Scopes: the variable, constant or function of a name.
//!
//! Ordinary names and function names are two separate name spaces. A name may be bound again inside; the
//! inner binding hides the outer one until it ends. Functions are closed: an ordinary variable is visible
//! only in the function that binds it, while constants and functions are visible everywhere inside.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use crate::names::Name;
use crate::syntax::{FnId, TermId, VarId};

/// The meaning of an ordinary name.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// A variable, and how many function bodies enclose its binder.
    Variable(VarId, usize),
    /// A constant, which is a closed value.
    Constant(TermId),
}

/// A binding and the place where it was made.
#[derive(Clone, Copy, Debug)]
pub struct Bound<T> {
    pub meaning: T,
    pub span: Span,
}

/// The names in scope.
#[derive(Debug, Default)]
pub struct Scope {
    ordinary: FxHashMap<Name, Vec<Bound<Meaning>>>,
    functions: FxHashMap<Name, Vec<Bound<FnId>>>,
    /// How many function bodies enclose the current place.
    pub function_depth: usize,
}

impl Scope {
    pub fn ordinary(&self, name: Name) -> Option<Bound<Meaning>> {
        self.ordinary.get(&name)?.last().copied()
    }

    pub fn function(&self, name: Name) -> Option<Bound<FnId>> {
        self.functions.get(&name)?.last().copied()
    }

    /// Binds an ordinary name.
    pub fn bind(&mut self, name: Name, meaning: Meaning, span: Span) {
        self.ordinary.entry(name).or_default().push(Bound { meaning, span });
    }

    /// Ends the innermost binding of an ordinary name.
    pub fn unbind(&mut self, name: Name) {
        self.ordinary.get_mut(&name).and_then(Vec::pop).expect("every binding ends once");
    }

    /// Binds a function name.
    pub fn bind_function(&mut self, name: Name, function: FnId, span: Span) {
        self.functions.entry(name).or_default().push(Bound { meaning: function, span });
    }

    /// Ends the innermost binding of a function name.
    pub fn unbind_function(&mut self, name: Name) {
        self.functions.get_mut(&name).and_then(Vec::pop).expect("every binding ends once");
    }

    /// The ordinary names that can be used here, for suggestions.
    pub fn visible(&self) -> impl Iterator<Item = Name> {
        let here = self.function_depth;
        self.ordinary.iter().filter_map(move |(name, bindings)| match bindings.last()?.meaning {
            Meaning::Variable(_, depth) if depth != here => None,
            _ => Some(*name),
        })
    }

    /// The functions that can be called here, for suggestions.
    pub fn callable(&self) -> impl Iterator<Item = Name> {
        self.functions.iter().filter(|(_, bindings)| !bindings.is_empty()).map(|(name, _)| *name)
    }
}
