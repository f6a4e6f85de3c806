//! The variables in scope, with their types: Γ of section 4.

use rustc_hash::FxHashMap;

use crate::names::Name;
use crate::surface::Ident;
use crate::types::{Type, Types};

/// For each name its type and the type depth at which it was bound, and the current type depth k.
#[derive(Default)]
pub(super) struct Scope {
    bindings: FxHashMap<Name, Vec<(Type, u32)>>,
    /// The number of type variables in scope.
    pub(super) type_depth: u32,
}

impl Scope {
    /// Γ, x : A.
    pub(super) fn bind(&mut self, ident: Ident, ty: Type) {
        self.bindings.entry(ident.name).or_default().push((ty, self.type_depth));
    }

    /// Ends the scope of the innermost variable with this name.
    pub(super) fn unbind(&mut self, name: Name) {
        let known = self.bindings.get_mut(&name).and_then(Vec::pop);
        debug_assert!(known.is_some(), "scopes end in the order in which they began");
    }

    /// `lookup(Γ,x)` = ↑_0^{k−j}(A) for Γ(x) = (A,j).
    pub(super) fn lookup(&self, name: Name, types: &mut Types) -> Option<Type> {
        let (ty, depth) = *self.bindings.get(&name)?.last()?;
        Some(types.shift(ty, self.type_depth - depth))
    }

    /// The names in scope.
    pub(super) fn names(&self) -> Vec<Name> {
        let bound = self.bindings.iter().filter(|(_, types)| !types.is_empty());
        let mut names: Vec<Name> = bound.map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    }
}
