//! Meanings of names, and places of pattern variables.

use rustc_hash::FxHashMap;

use super::unify::Ty;
use crate::names::Name;
use crate::primitive::PrimId;
use crate::syntax::{Path, VarId};

eddy_index::id! {
    /// A λ, `let`, dual map or pullback of the program, which binds one variable of the kernel.
    pub struct BinderId, "fewer binders than source bytes";
    /// A place in the value of a binder: the path from another place, or the whole.
    pub struct PlaceId, "fewer places than source bytes";
}

/// A place in the value of a binder.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Whole(BinderId),
    /// A component of another place.
    Part(PlaceId, Path),
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// A variable of a pattern.
    Local(PlaceId),
    Prim(PrimId),
    Free(VarId),
    /// A name whose error was reported.
    Poisoned,
}

/// A name in scope.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub meaning: Meaning,
    pub ty: Ty,
}

/// The names in scope, innermost last.
#[derive(Debug, Default)]
pub struct Scope {
    entries: FxHashMap<Name, Vec<Entry>>,
    order: Vec<Name>,
}

impl Scope {
    pub fn bind(&mut self, name: Name, entry: Entry) {
        self.entries.entry(name).or_default().push(entry);
        self.order.push(name);
    }

    /// The number of names in scope, for [`Scope::leave`].
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Removes the names that came into scope since the mark.
    pub fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            self.entries.get_mut(&name).expect("it was bound").pop();
        }
    }

    pub fn find(&self, name: Name) -> Option<Entry> {
        self.entries.get(&name)?.last().copied()
    }

    /// All names in scope, in the order in which they were bound.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.order.iter().copied()
    }
}
