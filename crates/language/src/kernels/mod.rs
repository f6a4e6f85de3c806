//! Programs of the kernels as functions (functions.md, section 10).
//!
//! A kernel is a small language with a published semantics. Its programs have a translation to `fn`s, rule by
//! rule; the laws in `tests/kernels` compare both on generated programs, so each kernel tests the
//! values and derivatives of functions.
//!
//! * [`rd`]: first-order functions, recursion, branches, derivatives.
//! * [`pullback`]: functions as arguments, derivatives at numbers.
//! * [`coherent`], [`lam`]: numbers, functions and recursion; [`pcf`] is their common part.
//! * [`writer`]: the text that a translation writes, with the source of each part. [`powers`]: integer
//!   powers, which `rd` and `pullback` use.
//!
//! A translation is text in the syntax of `.eddy` files, which people can read and the usual parser reads.
//! [`parse`](fn@parse) then replaces the positions in the tree by those in the kernel's file, so that
//! diagnostics and runtime failures point into that file.
//!
//! `import f from "f.rd";` reads a file this way. Programs of `rd` and `pullback` define functions and export
//! them; programs of `coherent` and `lam` are single expressions.

mod coherent;
mod lam;
mod pcf;
mod powers;
mod pullback;
mod rd;
mod writer;

use eddy_syntax::{Diagnostic, SourceFile, Span};
use rustc_hash::FxHashSet;

use crate::codes;
use crate::parse::{self, Parsed};

pub use writer::Translation;

/// A language whose programs can be functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    Rd,
    Pullback,
    Coherent,
    Lam,
}

impl Kernel {
    pub const ALL: [Kernel; 4] = [Kernel::Rd, Kernel::Pullback, Kernel::Coherent, Kernel::Lam];

    /// The language of a file with this name; `None` for `.eddy` and other extensions.
    pub fn of_file(name: &str) -> Option<Kernel> {
        let (_, extension) = name.rsplit_once('.')?;
        Kernel::ALL.into_iter().find(|kernel| kernel.extension() == extension)
    }

    /// The name of the language.
    pub fn name(self) -> &'static str {
        match self {
            Kernel::Rd => "rd",
            Kernel::Pullback => "pullback",
            Kernel::Coherent => "coherent",
            Kernel::Lam => "lam",
        }
    }

    pub fn extension(self) -> &'static str {
        match self {
            Kernel::Rd => "rd",
            Kernel::Pullback => "pb",
            Kernel::Coherent => "cd",
            Kernel::Lam => "lam",
        }
    }

    /// The program of a file as functions; otherwise its errors, or an error at the construct without
    /// translation.
    pub fn translate(self, file: &SourceFile) -> Result<Translation, Vec<Diagnostic>> {
        match self {
            Kernel::Rd => rd::translate(file),
            Kernel::Pullback => pullback::translate(file),
            Kernel::Coherent => coherent::translate(file),
            Kernel::Lam => lam::translate(file),
        }
    }
}

/// Translates a file of a kernel and parses the translation; places are those of the kernel's file.
/// Also returns the names that the file exports.
pub(crate) fn parse(kernel: Kernel, file: &SourceFile) -> (Parsed, Vec<String>) {
    let translation = match kernel.translate(file) {
        Ok(translation) => translation,
        Err(diagnostics) => return (refused(diagnostics), Vec::new()),
    };
    let text = SourceFile::new(file.name(), translation.text.as_str());
    let mut parsed = parse::parse(&text);
    assert!(
        parsed.diagnostics.is_empty(),
        "a translation parses: {:?}\n{}",
        parsed.diagnostics,
        translation.text
    );
    parsed.program.replace_places(&|span| translation.source(span.start as usize));
    // The tokens and comments of the translation have no use.
    let parsed = Parsed { tokens: Vec::new(), comments: Vec::new(), warnings: Vec::new(), ..parsed };
    (parsed, translation.exports)
}

/// Checks by its extension whether a file can be imported.
pub(crate) fn importable(path: &str, span: Span) -> Result<(), Box<Diagnostic>> {
    const SINGLE: [&str; 4] = ["cd", "lam", "sysf", "ref"];
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !SINGLE.contains(&extension) {
        return Ok(());
    }
    let title =
        format!("`{path}` cannot be imported: its programs define no functions of numbers with derivatives");
    let reason = "of the other languages, `.rd` and `.pb` files export the functions that they define";
    Err(Box::new(Diagnostic::error(codes::KERNEL, span, title).reason(reason)))
}

fn refused(diagnostics: Vec<Diagnostic>) -> Parsed {
    Parsed {
        program: crate::tree::Program::default(),
        names: crate::names::Names::default(),
        tokens: Vec::new(),
        comments: Vec::new(),
        poisoned: FxHashSet::default(),
        diagnostics,
        warnings: Vec::new(),
    }
}

/// The error about a construct that has no translation.
fn outside(span: Span, what: &str, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::KERNEL, span, format!("{what} cannot be translated to functions")).reason(reason)
}

/// The error about a translation that is longer than a file may be.
fn too_long(span: Span) -> Diagnostic {
    let title = "this program is too long to be translated to functions";
    Diagnostic::error(codes::KERNEL, span, title)
        .reason(format!("its translation would have more than {} bytes", SourceFile::MAX_BYTES))
}
