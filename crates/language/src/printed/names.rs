//! Fresh names.

use std::collections::BTreeSet;

/// The names of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Fresh {
    taken: BTreeSet<String>,
}

impl Fresh {
    /// A generator that avoids these names.
    pub fn new(taken: impl IntoIterator<Item = String>) -> Fresh {
        Fresh { taken: taken.into_iter().collect() }
    }

    /// A fresh name: `'` is appended until it is unused (section 9.1).
    pub fn name(&mut self, name: &str) -> String {
        let mut name = name.to_string();
        while !self.taken.insert(name.clone()) {
            name.push('\'');
        }
        name
    }
}
