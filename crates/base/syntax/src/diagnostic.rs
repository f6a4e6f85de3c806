//! The one type of messages about a program.
//!
//! A diagnostic is a value: phases collect diagnostics and continue, nothing is thrown. It says *what* is
//! wrong (title), *where* (primary label), *because of what* (causes: where the other type, clock or
//! definition came from), *why* that is not allowed (reason), and *what to do* (help, with an edit when one
//! is known).

use crate::codes::Code;
use crate::source::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program is accepted, but probably does not do what was intended.
    Warning,
}

impl Severity {
    /// The word in messages.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A place with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words; empty if the title suffices.
    pub text: String,
}

/// Whether an edit may be applied without confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The edit gives the program that was clearly intended.
    Safe,
    /// The edit is a guess that a person should check.
    Maybe,
}

/// A replacement of one span of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What to replace; an empty span inserts.
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// How reliable the edit is.
    pub confidence: Confidence,
}

/// The likely fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// The instruction, in words.
    pub text: String,
    /// The same as an edit, if it is one.
    pub edit: Option<Edit>,
}

/// One error with its explanation. Built with [`Diagnostic::error`] and the methods that add to it:
///
/// ```
/// use eddy_syntax::{Diagnostic, Span};
/// eddy_syntax::codes! {
///     pages "../../../../docs/errors/";
///     UNBOUND = "RD003", Names;
/// }
/// let diagnostic = Diagnostic::error(UNBOUND, Span::new(17, 19), "unbound variable `yy`")
///     .label("not found in this scope")
///     .cause(Span::new(4, 5), "`x` is bound here")
///     .help("did you mean `x`?");
/// assert_eq!(diagnostic.code, UNBOUND);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of error.
    pub code: Code,
    /// Whether the program is refused.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: String,
    /// Where it shows.
    pub primary: Label,
    /// Where it comes from.
    pub causes: Vec<Label>,
    /// Why it is not allowed.
    pub reason: Option<String>,
    /// How to fix it.
    pub help: Option<Help>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, title: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            title: title.into(),
            primary: Label { span, text: String::new() },
            causes: Vec::new(),
            reason: None,
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, title: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, span, title) }
    }

    /// Sets the text at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds a place that caused the error.
    #[must_use]
    pub fn cause(mut self, span: Span, text: impl Into<String>) -> Self {
        self.causes.push(Label { span, text: text.into() });
        self
    }

    /// Sets the reason why it is not allowed.
    #[must_use]
    pub fn reason(mut self, text: impl Into<String>) -> Self {
        self.reason = Some(text.into());
        self
    }

    /// Sets the instruction.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(Help { text: text.into(), edit: None });
        self
    }

    /// Sets the instruction, with an edit.
    #[must_use]
    pub fn help_with_edit(mut self, text: impl Into<String>, edit: Edit) -> Self {
        self.help = Some(Help { text: text.into(), edit: Some(edit) });
        self
    }

    /// Keeps the text of the help without its edit, because the error is not in a file.
    #[must_use]
    pub fn without_edit(mut self) -> Self {
        if let Some(help) = &mut self.help {
            help.edit = None;
        }
        self
    }

    /// Suggests the intended word at `span`.
    #[must_use]
    pub fn suggest(self, span: Span, meant: &str) -> Self {
        let edit = Edit { span, replacement: meant.to_string(), confidence: Confidence::Maybe };
        self.help_with_edit(format!("did you mean `{meant}`?"), edit)
    }
}

/// Collects the errors of a program. Only the first ones are kept: readers do not need thousands, and
/// building each takes time.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    n_more: usize,
}

impl Diagnostics {
    /// The number of errors that are kept.
    pub const MAX: usize = 100;

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.n_more += 1;
        } else {
            self.kept.push(diagnostic);
        }
    }

    /// Adds one, and builds it only if it is kept.
    pub fn push_with(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.is_full() {
            self.n_more += 1;
        } else {
            self.kept.push(make());
        }
    }

    /// Whether the next one would be dropped; a hint that takes long to find can then be omitted.
    pub fn is_full(&self) -> bool {
        self.kept.len() >= Self::MAX
    }

    /// The number of added errors, kept or not.
    pub fn n_added(&self) -> usize {
        self.kept.len() + self.n_more
    }

    /// The last one, for adding causes or help; `None` if it was not kept.
    pub fn last_mut(&mut self) -> Option<&mut Diagnostic> {
        if self.n_more == 0 { self.kept.last_mut() } else { None }
    }

    /// Adds help to the error at this place, if it was kept.
    pub fn explain_at(&mut self, span: Span, help: impl FnOnce() -> Help) {
        if let Some(diagnostic) = self.kept.iter_mut().find(|diagnostic| diagnostic.primary.span == span) {
            diagnostic.help = Some(help());
        }
    }

    /// The kept errors, in the order of the source; the last one gives the number of dropped ones.
    pub fn into_sorted(self) -> Vec<Diagnostic> {
        let Diagnostics { mut kept, n_more } = self;
        kept.sort_by_key(|diagnostic| diagnostic.primary.span);
        if n_more > 0
            && let Some(last) = kept.last_mut()
        {
            last.reason = Some(format!("{n_more} more mistakes are not shown"));
        }
        kept
    }
}

impl std::ops::Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.kept
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: T) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(diagnostics: T) -> Self {
        let mut all = Diagnostics::default();
        all.extend(diagnostics);
        all
    }
}
