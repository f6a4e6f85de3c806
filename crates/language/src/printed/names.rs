//! Names that are not taken.

use std::collections::BTreeSet;

/// The names of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Fresh {
    taken: BTreeSet<String>,
}

impl Fresh {
    /// These are taken.
    pub fn new(taken: impl IntoIterator<Item = String>) -> Fresh {
        Fresh { taken: taken.into_iter().collect() }
    }

    /// A name that is not taken: `'` is appended until it is not (section 9.1).
    pub fn name(&mut self, name: &str) -> String {
        let mut name = name.to_string();
        while !self.taken.insert(name.clone()) {
            name.push('\'');
        }
        name
    }
}
