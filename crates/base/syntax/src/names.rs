//! Names, interned: a name is a number, its text is looked up when it is printed.

use rustc_hash::FxHashMap;

eddy_index::id! {
    /// A name of something in a program, or the text of a number.
    pub struct Name, "fewer names than source bytes";
}

/// The texts of all names of one program.
#[derive(Clone, Debug, Default)]
pub struct Names {
    texts: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, Name>,
}

impl Names {
    /// The name with this text.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.numbers.get(text) {
            return *name;
        }
        let name = Name::new(self.texts.len());
        self.texts.push(text.into());
        self.numbers.insert(text.into(), name);
        name
    }

    /// The name with this text, if there is one.
    pub fn find(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied()
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.index()]
    }
}
