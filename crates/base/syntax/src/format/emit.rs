//! Converts tokens, gaps and comments to a document.
//!
//! A gap without comments is its joint. A gap with comments has a seam before each of them and one before the
//! token. A seam that was a line break in the source stays one. If none was, the joint is put at the first
//! seam, so that a comment stays with the token on its right; before a closing bracket it is put at the last,
//! and the comment stays with the item on its left:
//!
//! ```text
//! f(a, (* of b *) b (* and c *))           f(
//!                                            a,
//!                                            (* of b *) b (* and c *)
//!                                          )
//! ```
//!
//! This is also why formatting twice changes nothing. The line breaks of the first pass are those that the
//! second would choose, or are at a seam, where they are kept.

use super::gap::{Gap, INDENT, Joint};
use crate::layout::{Document, Line};
use crate::lex::{Comment, CommentKind, Lexicon, Token};
use crate::{SourceFile, Span};

/// The space between code and a comment at the end of the line.
const MARGIN: &str = "  ";

/// The longest padding.
const BLANKS: &str = match str::from_utf8(&[b' '; u8::MAX as usize]) {
    Ok(blanks) => blanks,
    Err(_) => "",
};

/// The document of a program, given the gap before each of its tokens.
pub(super) fn emit<'a>(
    file: &'a SourceFile,
    lexicon: &'a Lexicon,
    tokens: &[Token],
    mut comments: &[Comment],
    gaps: &[Gap],
) -> Document<'a> {
    let mut emitter = Emitter { file, lexicon, document: Document::new(), before: None };
    for (token, gap) in tokens.iter().zip(gaps) {
        for _ in 0..gap.ends {
            emitter.document.end();
        }
        if let Some(indent) = gap.group {
            emitter.document.begin(indent.into());
        }
        let n_comments = comments.iter().take_while(|comment| comment.span.start < token.span.start).count();
        let (in_gap, later) = comments.split_at(n_comments);
        comments = later;
        if in_gap.is_empty() {
            emitter.join(gap.joint, token.span);
        } else {
            emitter.join_around(gap.joint, in_gap, token.span);
        }
        if gap.padding > 0 {
            emitter.document.text(&BLANKS[..gap.padding.into()]);
        }
        if let Some(indent) = gap.inner_group {
            emitter.document.begin(indent.into());
        }
        emitter.document.text(file.slice(token.span));
        emitter.before = Some(token.span);
    }
    emitter.document
}

struct Emitter<'a> {
    file: &'a SourceFile,
    lexicon: &'a Lexicon,
    document: Document<'a>,
    /// The last printed token or comment.
    before: Option<Span>,
}

impl<'a> Emitter<'a> {
    /// A gap without comments.
    fn join(&mut self, joint: Joint, next: Span) {
        let is_parted = joint.parts(self.lexicon, self.text(self.before), self.file.slice(next));
        let is_set_apart = joint.keeps_empty_line() && self.line_breaks(self.before, next) > 1;
        let line = match joint.line() {
            Some(_) if is_set_apart => Some(Line::Empty),
            Some(Line::Soft) if is_parted => Some(Line::Space),
            line => line,
        };
        if let Some(line) = line {
            self.document.line(line, joint.shift());
        } else if is_parted {
            self.document.text(" ");
        }
    }

    /// A gap with comments.
    fn join_around(&mut self, joint: Joint, comments: &[Comment], next: Span) {
        let seams = self.seams(comments, next);
        let last = comments.len();
        let home = match joint {
            _ if joint.closes() => Some(last),
            _ if seams.iter().all(|line_breaks| *line_breaks == 0) => Some(0),
            _ => None,
        };
        let clings_left = joint.line().is_none() && matches!(self.text(self.before), "" | "(" | "[");
        let clings_right = joint.line().is_none() && matches!(self.file.slice(next), "," | ")" | "]" | ";");
        let n_in_body = self.n_in_body(joint, comments, &seams);
        for (i, line_breaks) in seams.into_iter().enumerate() {
            let line = match line_breaks {
                0 => joint.line().filter(|_| home == Some(i)),
                1 => Some(Line::Hard),
                _ => Some(Line::Empty),
            };
            let shift = match joint.shift() {
                _ if i < n_in_body => INDENT.into(),
                // A comment before a closing bracket is indented like the items.
                shift if i < last => shift.max(0),
                shift => shift,
            };
            let clings = (i == 0 && clings_left) || (i == last && clings_right);
            let comment = comments.get(i);
            match (line, comment.map(|comment| comment.kind)) {
                (Some(line), _) => self.document.line(line, shift),
                (None, _) if clings => &mut self.document,
                (None, Some(CommentKind::Line)) => self.document.margin(MARGIN),
                (None, _) => self.document.text(" "),
            };
            if let Some(comment) = comment {
                self.comment(comment);
            }
        }
    }

    /// The number of comments after the body of a declaration that belong to it: those that are indented, up
    /// to the last empty line. The comments after it document the next declaration.
    fn n_in_body(&self, joint: Joint, comments: &[Comment], seams: &[usize]) -> usize {
        let limit = match joint {
            Joint::AfterBody => seams.iter().rposition(|line_breaks| *line_breaks > 1).unwrap_or(0),
            Joint::EndOfBody => comments.len(),
            _ => 0,
        };
        let is_indented = |(comment, line_breaks): &(&Comment, &usize)| {
            **line_breaks == 0 || !self.starts_at_margin(comment.span)
        };
        comments.iter().zip(seams).take(limit).take_while(is_indented).count()
    }

    fn starts_at_margin(&self, span: Span) -> bool {
        let before = self.file.slice(Span::new(self.file.base(), span.start));
        before.is_empty() || before.ends_with('\n')
    }

    /// The number of line breaks at each seam.
    fn seams(&self, comments: &[Comment], next: Span) -> Vec<usize> {
        let mut before = self.before;
        let spans = comments.iter().map(|comment| comment.span).chain([next]);
        spans.map(|span| self.line_breaks(before.replace(span), span)).collect()
    }

    fn comment(&mut self, comment: &Comment) {
        let text = self.file.slice(comment.span);
        match comment.kind {
            CommentKind::Line => self.document.margin(text),
            CommentKind::Block => self.document.text(text),
        };
    }

    /// The line breaks between a token or comment and the next; those at the start of the file do not count.
    fn line_breaks(&self, before: Option<Span>, next: Span) -> usize {
        let between = before.map_or("", |before| self.file.slice(Span::new(before.end, next.start)));
        between.bytes().filter(|byte| *byte == b'\n').count()
    }

    fn text(&self, span: Option<Span>) -> &'a str {
        span.map_or("", |span| self.file.slice(span))
    }
}
