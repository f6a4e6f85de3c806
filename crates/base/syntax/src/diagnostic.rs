//! The one type in which a program is told that it is wrong.
//!
//! A diagnostic is a value: phases collect diagnostics and go on, nothing is thrown. It says *what* is wrong
//! (title), *where* (primary label), *because of what* (causes: where the other type, clock or definition
//! came from), *why* that is not allowed (reason), and *what to do* (help, with an edit when one is known).

use crate::codes::Code;
use crate::source::Span;

/// How grave a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program is accepted, yet probably not what was meant.
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

/// A place and what to say about it there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// A few words; empty when the title says it all.
    pub text: String,
}

/// Whether an edit may be applied without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The edit gives the program that was clearly meant.
    Safe,
    /// The edit is a guess that a person should look at.
    Maybe,
}

/// A replacement of one span of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What to replace; an empty span inserts.
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// How sure we are.
    pub confidence: Confidence,
}

/// The likely way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Help {
    /// What to do, in words.
    pub text: String,
    /// The same as an edit, when it is one.
    pub edit: Option<Edit>,
}

/// One mistake, explained. Built with [`Diagnostic::error`] and the methods that add to it:
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
    /// The class of mistake.
    pub code: Code,
    /// Whether it refuses the program.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub title: String,
    /// Where it shows.
    pub primary: Label,
    /// Where it comes from.
    pub causes: Vec<Label>,
    /// Why it is not allowed.
    pub reason: Option<String>,
    /// What to do about it.
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

    /// Says something at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Points to a place where the mistake comes from.
    #[must_use]
    pub fn cause(mut self, span: Span, text: impl Into<String>) -> Self {
        self.causes.push(Label { span, text: text.into() });
        self
    }

    /// Says why it is not allowed.
    #[must_use]
    pub fn reason(mut self, text: impl Into<String>) -> Self {
        self.reason = Some(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(Help { text: text.into(), edit: None });
        self
    }

    /// Says what to do, and how to do it.
    #[must_use]
    pub fn help_with_edit(mut self, text: impl Into<String>, edit: Edit) -> Self {
        self.help = Some(Help { text: text.into(), edit: Some(edit) });
        self
    }

    /// Keeps what the help says, and not the edit: what is wrong does not stand in a file.
    #[must_use]
    pub fn without_edit(mut self) -> Self {
        if let Some(help) = &mut self.help {
            help.edit = None;
        }
        self
    }

    /// Suggests the word that was meant at `span`.
    #[must_use]
    pub fn suggest(self, span: Span, meant: &str) -> Self {
        let edit = Edit { span, replacement: meant.to_string(), confidence: Confidence::Maybe };
        self.help_with_edit(format!("did you mean `{meant}`?"), edit)
    }
}

/// The mistakes of a program as they are found. Only the first ones are kept: nobody reads thousands, and
/// making each takes its time.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    n_more: usize,
}

impl Diagnostics {
    /// So many are kept.
    pub const MAX: usize = 100;

    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_full() {
            self.n_more += 1;
        } else {
            self.kept.push(diagnostic);
        }
    }

    /// Adds one that takes long to make; it is made only if it is kept.
    pub fn push_with(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.is_full() {
            self.n_more += 1;
        } else {
            self.kept.push(make());
        }
    }

    /// Whether one more would not be kept; a hint that takes long to find can then be left out.
    pub fn is_full(&self) -> bool {
        self.kept.len() >= Self::MAX
    }

    /// How many were added, kept or not.
    pub fn n_added(&self) -> usize {
        self.kept.len() + self.n_more
    }

    /// The last one, to add to it; none if it was not kept.
    pub fn last_mut(&mut self) -> Option<&mut Diagnostic> {
        if self.n_more == 0 { self.kept.last_mut() } else { None }
    }

    /// Says what to do about the mistake at this place, if it was kept.
    pub fn explain_at(&mut self, span: Span, help: impl FnOnce() -> Help) {
        if let Some(diagnostic) = self.kept.iter_mut().find(|diagnostic| diagnostic.primary.span == span) {
            diagnostic.help = Some(help());
        }
    }

    /// Those that were kept, in the order of the source; the last one says how many more there were.
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
