//! Pending questions of the search, and their memory.

use super::machine::Branch;
use super::mixed::{EnvId, Mark, Mixed};
use crate::syntax::TermId;
use crate::value::{Entry, Store, Value};

/// A pending question.
pub(super) enum Pending {
    /// Does some branch have a result that contains the goal?
    Some {
        later: Vec<(Branch, Mark)>,
        goal: Purpose,
        is_unknown: bool,
        mark: Mark,
        /// The choices of the branch whose result is compared.
        choices: u32,
    },
    /// Do all of these obligations hold?
    All { left: Vec<Obligation>, is_unknown: bool, fuel: u64 },
    /// May this branch use this entry?
    Lookup { branch: Branch, table: Value, at: usize, argument: Mixed },
}

impl Pending {
    /// Its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let inside = match self {
            Pending::Some { later, .. } => later.iter().map(|(branch, _)| waiting_bytes(branch)).sum(),
            Pending::All { left, .. } => left.capacity() * size_of::<Obligation>(),
            Pending::Lookup { branch, argument, .. } => waiting_bytes(branch) + argument.extra_bytes(),
        };
        size_of::<Pending>() + inside
    }
}

/// The size of a queued branch, with its own heap.
pub(super) fn waiting_bytes(branch: &Branch) -> usize {
    size_of::<(Branch, Mark)>() + branch.heap.bytes() + branch.heap.extra_bytes()
}

/// What to do with the results of branches.
pub(super) enum Purpose {
    /// Find a result that contains this value, in a heap that matches this store.
    Value(Value, Option<Store>),
    All(Vec<Mixed>),
}

/// A proof obligation.
pub(super) enum Obligation {
    /// v ∈ ⟦w⟧.
    Member(Value, Mixed),
    /// The entry is in the table of the closure.
    Entry(Entry, TermId, EnvId),
    /// The value is a content of the thunk.
    Content(Value, TermId, EnvId),
}
