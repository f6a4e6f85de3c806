//! The three languages, and the differences between them.

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
    pub const ALL: [Dialect; 3] = [Dialect::Lambda, Dialect::SystemF, Dialect::References];

    /// Its name, which is also its file extension.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Lambda => "lam",
            Dialect::SystemF => "sysf",
            Dialect::References => "ref",
        }
    }

    /// How a recursive function is written, for messages: there is no `let rec`.
    pub fn recursion(self) -> &'static str {
        match self {
            Dialect::Lambda => {
                "there is no `let rec`: a recursive function is a fixed point, `let Z = \\f. (\\x. f (\\v. x x v)) (\\x. f (\\v. x x v)) in Z (\\f. \\n. …)`"
            }
            Dialect::SystemF => {
                "there is no `let rec`: a recursive function is written `fix f : int -> int. \\n:int. …`"
            }
            Dialect::References => {
                "there is no `let rec`: a recursive function is read from a reference, `let r = ref (\\n:int. n) in let u = r := \\n:int. … (!r) … in !r`"
            }
        }
    }

    /// Whether variables are written with their types, and run-time type errors are the value `wrong`.
    pub fn is_typed(self) -> bool {
        self != Dialect::Lambda
    }
}
