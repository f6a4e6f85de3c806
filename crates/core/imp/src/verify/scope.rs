//! The names that are visible at a statement.

use rustc_hash::FxHashMap;

use crate::name::Name;
use crate::types::Type;

/// What a name refers to.
#[derive(Clone, Debug)]
pub(super) enum Declared {
    /// A variable that never changes.
    Constant(Type),
    /// A variable that may change.
    Variable(Type),
    /// An array; whether it may be written.
    Array { ty: Type, dimensions: Option<Vec<usize>>, is_written: bool },
}

/// The open blocks, innermost last.
#[derive(Default)]
pub(super) struct Scope {
    blocks: Vec<Vec<Name>>,
    /// What each name refers to, innermost last.
    known: FxHashMap<Name, Vec<Declared>>,
}

impl Scope {
    pub fn open(&mut self) {
        self.blocks.push(Vec::new());
    }

    pub fn close(&mut self) {
        for name in self.blocks.pop().unwrap_or_default() {
            if let Some(declared) = self.known.get_mut(&name) {
                declared.pop();
            }
        }
    }

    /// Declares a name in the innermost block; returns whether it was declared there before.
    pub fn declare(&mut self, name: &Name, declared: Declared) -> bool {
        let block = self.blocks.last_mut().expect("a block is open");
        let is_new = !block.contains(name);
        block.push(name.clone());
        self.known.entry(name.clone()).or_default().push(declared);
        is_new
    }

    pub fn find(&self, name: &Name) -> Option<&Declared> {
        self.known.get(name)?.last()
    }
}
