//! The registry of codes: each kind of diagnostic has a stable code, the phase that reports it, and a page
//! that explains it.
//!
//! A crate that reports diagnostics declares its codes with [`codes!`](crate::codes!), which is the only way
//! to create one: a code without a phase, without a page, or with a page that has another heading, does not
//! compile. Pages are Markdown files under `docs/errors`, so that the terminal and the book show the same
//! text; a test runs the programs that they show.
//!
//! ```
//! eddy_syntax::codes! {
//!     pages "../../../../docs/errors/";
//!     /// An unbound variable.
//!     UNBOUND = "RD003", Names;
//! }
//!
//! assert_eq!(UNBOUND.to_string(), "RD003");
//! assert_eq!(UNBOUND.phase().name(), "names");
//! assert_eq!(UNBOUND.title(), "unbound variable");
//! assert_eq!(CODES, [UNBOUND]);
//! ```
//!
//! ```compile_fail
//! eddy_syntax::codes! {
//!     pages "../../../../docs/errors/";
//!     /// There is no such page.
//!     UNBOUND = "RD999", Names;
//! }
//! ```
//!
//! ```compile_fail
//! eddy_syntax::codes! {
//!     pages "../../../../docs/errors/";
//!     /// It has no phase.
//!     UNBOUND = "RD003";
//! }
//! ```

use std::fmt;

/// The phase that reports a diagnostic, in the order of the codes of `.eddy` files: errors of an earlier
/// phase hide those of later ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Bytes become tokens.
    Lexical,
    /// Tokens become a tree.
    Syntax,
    /// Names are resolved to their definitions.
    Names,
    /// Instances are inlined, compile-time constants computed.
    Elaboration,
    /// Types are inferred.
    Types,
    /// Shapes of tensors are inferred.
    Shapes,
    /// Clocks are inferred.
    Clocks,
    /// Cycles of dependencies are rejected.
    Causality,
    /// A program runs.
    Run,
    /// Data and parameters are read.
    Data,
    /// Derivatives are built, printed or measured.
    Differentiation,
    /// Parameters are learnt.
    Training,
    /// Equations become loops.
    Plan,
    /// Several streams go through one program.
    Batch,
    /// Loops become C, and C an object.
    Build,
}

impl Phase {
    /// The name in lists and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Lexical => "lexical",
            Phase::Syntax => "syntax",
            Phase::Names => "names",
            Phase::Elaboration => "elaboration",
            Phase::Types => "types",
            Phase::Shapes => "shapes",
            Phase::Clocks => "clocks",
            Phase::Causality => "causality",
            Phase::Run => "run",
            Phase::Data => "data",
            Phase::Differentiation => "differentiation",
            Phase::Training => "training",
            Phase::Plan => "plan",
            Phase::Batch => "batch",
            Phase::Build => "build",
        }
    }
}

/// The stable code of a kind of diagnostic, such as `RD005`, with its entry in the registry.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    name: &'static str,
    phase: Phase,
    page: &'static str,
}

impl Code {
    /// For [`codes!`](crate::codes!): an entry of the registry, whose page must begin with `# NAME: title`.
    #[doc(hidden)]
    pub const fn declared(name: &'static str, phase: Phase, page: &'static str) -> Code {
        assert!(has_heading(page.as_bytes(), name.as_bytes()), "the first line of a page is `# CODE: title`");
        Code { name, phase, page }
    }

    /// The code as messages show it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The phase that reports it.
    pub fn phase(self) -> Phase {
        self.phase
    }

    /// The page of `eddy explain`, in Markdown: the meaning of the code, the reason, a wrong program and a
    /// right one.
    pub fn page(self) -> &'static str {
        self.page
    }

    /// The heading of the page, without the code.
    pub fn title(self) -> &'static str {
        let heading = self.page.lines().next().unwrap_or_default();
        heading.split_once(": ").map_or(heading, |(_, title)| title)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.name, f)
    }
}

const fn has_heading(page: &[u8], name: &[u8]) -> bool {
    let (Some((b"# ", rest)), true) = (page.split_first_chunk(), page.len() > name.len() + 4) else {
        return false;
    };
    let mut at = 0;
    while at < name.len() {
        if rest[at] != name[at] {
            return false;
        }
        at += 1;
    }
    rest[at] == b':' && rest[at + 1] == b' '
}

/// Declares codes: the folder of their pages, relative to the file, then for each code a constant, its name
/// and its phase. `CODES` lists them in this order.
#[macro_export]
macro_rules! codes {
    (pages $folder:literal; $($(#[$attribute:meta])* $constant:ident = $name:literal, $phase:ident;)+) => {
        $(
            $(#[$attribute])*
            pub const $constant: $crate::Code = $crate::Code::declared(
                $name,
                $crate::codes::Phase::$phase,
                include_str!(concat!($folder, $name, ".md")),
            );
        )+

        /// The codes above, in the order of their declarations.
        pub const CODES: &[$crate::Code] = &[$($constant),+];
    };
}

#[cfg(test)]
mod tests {
    use super::{Code, Phase, has_heading};

    #[test]
    fn a_page_begins_with_its_code() {
        let has = |page: &str, name: &str| has_heading(page.as_bytes(), name.as_bytes());
        assert!(has("# RD003: unbound variable\n", "RD003"));
        for page in
            ["", "#", "# ", "# RD003", "# RD003:", "# RD003: ", "# RD004: x", "RD003: x", "# RD0033: x"]
        {
            assert!(!has(page, "RD003"), "{page:?}");
        }
    }

    #[test]
    fn a_code_prints_as_its_name() {
        let code = Code::declared("lex", Phase::Lexical, "# lex: unreadable text\n\nA page.\n");
        assert_eq!(
            (format!("{code:5}|"), format!("{code:?}")),
            ("lex  |".to_string(), "\"lex\"".to_string())
        );
        assert_eq!((code.title(), code.phase().name()), ("unreadable text", "lexical"));
    }
}
