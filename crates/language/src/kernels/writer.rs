//! The text of a translation while it is written, with the source of each part; chooses unused names.

use eddy_syntax::{SourceFile, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::parse::{LEXICON, is_reserved_in_functions};

/// Names that a translation does not bind, since it uses them with their usual meaning.
const USED: [&str; 18] = [
    "bool", "cos", "eval", "exp", "fn", "const", "grad", "int", "jvp", "log", "num", "pow", "sigmoid", "sin",
    "sqrt", "tanh", "type", "vjp",
];

/// Words that start an item if a name follows; no function gets such a name.
const ITEMS: [&str; 3] = ["run", "train", "import"];

/// The largest length of a name; longer names of a kernel are shortened.
const MAX_NAME: usize = 40;

/// A text with the source of each of its parts.
#[derive(Debug, Default)]
pub(super) struct Writer {
    text: String,
    /// The first byte and the source of each part, which extends to the next one.
    places: Vec<(usize, Span)>,
    /// The names of items.
    items: FxHashSet<String>,
    /// The names that the current item binds.
    locals: FxHashSet<String>,
    /// The last number appended to each name of the current item, so that equal names need no search.
    numbers: FxHashMap<String, u32>,
    exports: Vec<String>,
}

/// The translation of a kernel's program to functions.
#[derive(Clone, Debug)]
pub struct Translation {
    /// Items of an `.eddy` file, and an `eval` of the program's result.
    pub text: String,
    /// The names of the items that the program itself defines; other items are helpers.
    pub exports: Vec<String>,
    places: Vec<(usize, Span)>,
}

/// The translation is longer than a source file may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooLong;

impl Writer {
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Sets the source of the text that follows.
    pub fn at(&mut self, span: Span) {
        match self.places.last_mut() {
            Some((start, last)) if *start == self.text.len() => *last = span,
            Some((_, last)) if *last == span => {}
            _ => self.places.push((self.text.len(), span)),
        }
    }

    /// The source of the text that is written now.
    pub fn place(&self) -> Span {
        self.places.last().map_or(Span::default(), |(_, source)| *source)
    }

    /// A number of kind `num`, which is finite.
    pub fn number(&mut self, value: f64) {
        let text = format!("{value:?}");
        if value.is_sign_negative() { self.push(&format!("({text})")) } else { self.push(&text) }
    }

    /// Begins an item, in which no local name is bound yet.
    pub fn item(&mut self, source: Span) {
        self.locals.clear();
        self.numbers.clear();
        self.at(source);
    }

    /// A new local name that resembles `like`, unique in its item.
    pub fn local(&mut self, like: &str) -> String {
        let name = self.free(like);
        self.locals.insert(name.clone());
        name
    }

    /// A new name for an item that resembles `like`, unique among the items and the local names of the
    /// current item.
    pub fn global(&mut self, like: &str) -> String {
        let name = self.free(like);
        self.items.insert(name.clone());
        name
    }

    /// Reserves exactly this name for an item; `None` if a function of this name cannot be imported, or if
    /// the name is taken.
    pub fn exported(&mut self, name: &str) -> Option<String> {
        if !is_exportable(name) || !self.items.insert(name.to_string()) {
            return None;
        }
        self.exports.push(name.to_string());
        Some(name.to_string())
    }

    fn free(&mut self, like: &str) -> String {
        let short: String = like.chars().take(MAX_NAME).collect();
        let stem = match &*short {
            "_" => "unused".to_string(),
            derivative if is_derivative(derivative) => format!("of_{derivative}"),
            other => other.replace('\'', "_"),
        };
        let (mut name, mut number) = (stem.clone(), self.numbers.get(&stem).copied().unwrap_or(1));
        while !is_free(&name) || self.items.contains(&name) || self.locals.contains(&name) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        self.numbers.insert(stem, number);
        name
    }

    /// Whether more can be written.
    pub fn has_room(&self) -> Result<(), TooLong> {
        if self.text.len() < SourceFile::MAX_BYTES { Ok(()) } else { Err(TooLong) }
    }

    pub fn finish(self) -> Translation {
        Translation { text: self.text, exports: self.exports, places: self.places }
    }
}

impl Translation {
    /// The source of a byte of the text.
    pub fn source(&self, byte: usize) -> Span {
        let after = self.places.partition_point(|(start, _)| *start <= byte);
        self.places[after.saturating_sub(1)].1
    }
}

/// Whether a function with this name can be imported: it is not a word of the language, nor a name of a
/// derivative.
pub(super) fn is_exportable(name: &str) -> bool {
    name.len() <= MAX_NAME && name != "_" && is_free(name) && !is_derivative(name)
}

/// Next to `f`, a function `adj_f` would be its derivative.
fn is_derivative(name: &str) -> bool {
    name.starts_with("adj_") || name.starts_with("tan_")
}

fn is_free(name: &str) -> bool {
    let is_word = LEXICON.reserved.contains(&name) || is_reserved_in_functions(name);
    !is_word && !USED.contains(&name) && !ITEMS.contains(&name)
}
