//! The three languages: what they share is most, and here is what tells them apart.

/// One of the three languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// `.lam`: the untyped λ-calculus with integers (section 2 of the paper).
    Lambda,
    /// `.sysf`: System F with recursive functions (section 5).
    SystemF,
    /// `.ref`: the simply typed λ-calculus with pairs and mutable references (section 6).
    References,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Dialect; 3] = [Dialect::Lambda, Dialect::SystemF, Dialect::References];

    /// Its name, which is also its file extension.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Lambda => "lam",
            Dialect::SystemF => "sysf",
            Dialect::References => "ref",
        }
    }

    /// Whether variables are written with their types, and run-time type errors are the value `wrong`.
    pub fn is_typed(self) -> bool {
        self != Dialect::Lambda
    }
}
