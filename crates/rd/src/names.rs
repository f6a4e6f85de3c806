//! Names, interned: a name is a number, its text is looked up when it is printed.

use rustc_hash::FxHashMap;

/// A name of an ordinary variable or of a function; the two live in separate name spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(u32);

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
        let name = Name(u32::try_from(self.texts.len()).expect("fewer names than source bytes"));
        self.texts.push(text.into());
        self.numbers.insert(text.into(), name);
        name
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}
