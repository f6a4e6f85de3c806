//! Renders a diagnostic: with its source excerpt ([`full`]) or as one line ([`short`]).
//!
//! Only this file uses the renderer; the command line makes the machine-readable form.

use annotate_snippets::{AnnotationKind, Level, Origin, Patch, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Label, Severity};
use crate::source::{SourceFile, Sources, Span};

/// Whether the text contains terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Plain text.
    Plain,
    /// ANSI colours.
    Coloured,
}

/// The largest number of lines of an excerpt before the renderer folds it; otherwise a span over a whole file
/// would print the file.
const MAX_EXCERPT_LINES: usize = 12;

/// A longer line is not shown with its edit.
const MAX_EDITED_BYTES: u32 = 500;

/// `FILE:LINE:COL: error[CODE]: title`, without a line break.
pub fn short(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let file = sources.file(diagnostic.primary.span);
    let at = file.position(diagnostic.primary.span.start);
    let (word, code, title) = (diagnostic.severity.word(), diagnostic.code, &diagnostic.title);
    format!("{}:{}:{}: {word}[{code}]: {title}", file.name(), at.line, at.column)
}

/// The whole message: title, source excerpt with causes, reason and help. No line break at the end.
pub fn full(diagnostic: &Diagnostic, sources: &Sources, style: Style) -> String {
    let file = sources.file(diagnostic.primary.span);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let (here, elsewhere): (Vec<&Label>, Vec<&Label>) =
        diagnostic.causes.iter().partition(|cause| sources.file(cause.span).base() == file.base());
    let shown = here.iter().map(|cause| cause.span).fold(diagnostic.primary.span, Span::to);
    let excerpt = Excerpt::new(file, shown);

    let mut snippet = excerpt.snippet(file).annotation(
        AnnotationKind::Primary
            .span(excerpt.locate(clip(file, diagnostic.primary.span)))
            .label(label(&diagnostic.primary.text)),
    );
    for cause in here {
        let span = excerpt.locate(clip(file, cause.span));
        snippet = snippet.annotation(AnnotationKind::Context.span(span).label(label(&cause.text)));
    }
    let title = level.primary_title(&diagnostic.title).id(diagnostic.code.name());
    let mut group = if file.text().is_empty() {
        // A file that is empty or unreadable has no excerpt.
        let line = file.position(diagnostic.primary.span.start).line;
        title.element(Origin::path(file.name()).line(line as usize).char_column(1))
    } else {
        title.element(snippet)
    };
    for cause in elsewhere {
        let file = sources.file(cause.span);
        let excerpt = Excerpt::new(file, cause.span);
        let span = excerpt.locate(clip(file, cause.span));
        let annotation = AnnotationKind::Context.span(span).label(label(&cause.text));
        group = group.element(excerpt.snippet(file).annotation(annotation));
    }
    if let Some(reason) = &diagnostic.reason {
        group = group.element(Level::NOTE.message(reason));
    }
    let mut report = vec![group];
    if let Some(help) = &diagnostic.help {
        match &help.edit {
            None => {
                let last = report.pop().expect("the report has its first group");
                report.push(last.element(Level::HELP.message(&help.text)));
            }
            // An edit is shown as the whole line before and after, unless the line is too long.
            Some(edit) if Excerpt::new(file, edit.span).len() > MAX_EDITED_BYTES => {
                let last = report.pop().expect("the report has its first group");
                report.push(last.element(Level::HELP.message(&help.text)));
            }
            Some(edit) => {
                let file = sources.file(edit.span);
                let excerpt = Excerpt::new(file, edit.span);
                let patch = Patch::new(excerpt.locate(edit.span), &edit.replacement);
                let snippet = excerpt.snippet(file).patch(patch);
                report.push(Level::HELP.secondary_title(&help.text).element(snippet));
            }
        }
    }
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    renderer.render(&report)
}

fn label(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A span over many lines is reduced to its first line, so that messages fit on one screen.
fn clip(file: &SourceFile, span: Span) -> Span {
    if file.slice(span).lines().count() <= MAX_EXCERPT_LINES {
        return span;
    }
    let (_, line) = file.lines_around(span.before());
    Span::new(span.start, line.end.max(span.start))
}

/// The lines of a file that a message shows; passing a whole large file to the renderer would cost more than
/// the check that found the error.
struct Excerpt {
    first_line: u32,
    lines: Span,
}

impl Excerpt {
    fn new(file: &SourceFile, span: Span) -> Self {
        let (first_line, lines) = file.lines_around(span);
        Excerpt { first_line, lines }
    }

    fn len(&self) -> u32 {
        self.lines.end - self.lines.start
    }

    fn snippet<'a, T: Clone>(&self, file: &'a SourceFile) -> Snippet<'a, T> {
        Snippet::source(file.slice(self.lines)).line_start(self.first_line as usize).path(file.name())
    }

    fn locate(&self, span: Span) -> std::ops::Range<usize> {
        let start = span.start - self.lines.start;
        let end = span.end.min(self.lines.end).max(span.start) - self.lines.start;
        start as usize..end as usize
    }
}
