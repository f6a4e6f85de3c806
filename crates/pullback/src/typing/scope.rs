//! What names stand for, and where the variables of patterns are found.

use rustc_hash::FxHashMap;

use super::unify::Ty;
use crate::names::Name;
use crate::primitive::PrimId;
use crate::syntax::{Path, VarId};

/// One λ, `let`, dual map or pullback of the program: what binds one variable of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BinderId(pub u32);

/// A place in the value of a binder: the path from another place, or the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaceId(pub u32);

/// A place in the value of a binder.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// All of it.
    Whole(BinderId),
    /// A component of another place.
    Part(PlaceId, Path),
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// A variable of a pattern.
    Local(PlaceId),
    /// A primitive.
    Prim(PrimId),
    /// A free variable.
    Free(VarId),
    /// Something that was reported.
    Poisoned,
}

/// A name in scope.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it stands for.
    pub meaning: Meaning,
    /// Its type.
    pub ty: Ty,
}

/// The names in scope, innermost last.
#[derive(Debug, Default)]
pub struct Scope {
    entries: FxHashMap<Name, Vec<Entry>>,
    order: Vec<Name>,
}

impl Scope {
    /// Brings a name into scope.
    pub fn bind(&mut self, name: Name, entry: Entry) {
        self.entries.entry(name).or_default().push(entry);
        self.order.push(name);
    }

    /// How many names are in scope, for [`Scope::leave`].
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets the names that came into scope since the mark.
    pub fn leave(&mut self, mark: usize) {
        for name in self.order.drain(mark..) {
            self.entries.get_mut(&name).expect("it was bound").pop();
        }
    }

    /// What a name stands for here.
    pub fn find(&self, name: Name) -> Option<Entry> {
        self.entries.get(&name)?.last().copied()
    }

    /// All names in scope, in the order in which they were bound.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.order.iter().copied()
    }
}
