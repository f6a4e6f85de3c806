//! C names of locals.

use rustc_hash::FxHashMap;

/// Names that have a meaning in C or in the runtime.
const RESERVED: &[&str] = &[
    "a", "auto", "bool", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "linux", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "true", "typedef",
    "typeof", "union", "unix", "unsigned", "void", "volatile", "while", "asm", "main", "i386",
];

/// The names that a function has used so far, with the order of their first use.
#[derive(Default)]
pub(super) struct Names(FxHashMap<String, usize>);

impl Names {
    /// A new name that resembles this one.
    pub fn of(&mut self, like: &str) -> String {
        let mut name = c_word(like);
        if RESERVED.contains(&name.as_str()) || name.starts_with("eddy_") {
            name.push('_');
        }
        let mut unique = name.clone();
        let mut n = 1;
        while self.0.contains_key(&unique) {
            n += 1;
            unique = format!("{name}_{n}");
        }
        self.0.insert(unique.clone(), self.0.len());
        unique
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether a name is a literal or one of the first `count` names.
    pub fn is_among_first(&self, name: &str, count: usize) -> bool {
        self.0.get(name).is_none_or(|at| *at < count)
    }
}

/// Letters, digits and underscores, not beginning with a digit.
pub(super) fn c_word(name: &str) -> String {
    let mut word: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        word.insert(0, 'v');
    }
    word
}
