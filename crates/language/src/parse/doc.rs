//! The comment that documents a node.
//!
//! It is the block of comments right above the word `node`, without an empty line between them. A comment at
//! the end of a line of code belongs to that line:
//!
//! ```text
//! x = 1;   -- no
//! -- no
//!
//! -- yes
//! (* yes *)
//! node f(x)->(o)
//! ```

use eddy_syntax::Span;
use eddy_syntax::lex::{Comment, CommentKind};

use super::Parser;

impl Parser<'_> {
    /// The text of the comments above the token at this index.
    pub(super) fn doc_above(&self, index: usize) -> Option<String> {
        let start = self.tokens[index].span.start;
        let end_of_code =
            index.checked_sub(1).map_or(self.file.base(), |before| self.tokens[before].span.end);
        let line_break = self.file.slice(Span::new(end_of_code, start)).find('\n');
        // At the start of the file there is no code before a comment.
        let end_of_line = match line_break {
            _ if index == 0 => self.file.base(),
            None => start,
            Some(length) => end_of_code + u32::try_from(length).expect("a source file is at most 64 MiB"),
        };
        let after = self.comments.partition_point(|comment| comment.span.start < start);
        let mut first = after;
        let mut below = start;
        let mut is_above = false;
        for comment in self.comments[..after].iter().rev() {
            if comment.span.start < end_of_code {
                break;
            }
            let line_breaks = self.line_breaks(comment.span.end, below);
            is_above |= line_breaks > 0;
            let ends_line = comment.span.start < end_of_line;
            if line_breaks > 1 || (is_above && ends_line) {
                break;
            }
            below = comment.span.start;
            first -= 1;
        }
        let lines: Vec<String> = self.comments[first..after]
            .iter()
            .flat_map(|comment| lines(self.file.slice(comment.span), comment))
            .collect();
        let is_empty = |line: &String| line.is_empty();
        let n_leading = lines.iter().take_while(|line| is_empty(line)).count();
        let n_trailing = lines[n_leading..].iter().rev().take_while(|line| is_empty(line)).count();
        let lines = &lines[n_leading..lines.len() - n_trailing];
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn line_breaks(&self, from: u32, to: u32) -> usize {
        self.file.slice(Span::new(from, to)).bytes().filter(|byte| *byte == b'\n').count()
    }
}

/// The lines of a comment without its marks and its indentation.
fn lines(text: &str, comment: &Comment) -> Vec<String> {
    if comment.kind == CommentKind::Line {
        let text = text.trim_start_matches('-');
        return vec![text.strip_prefix(' ').unwrap_or(text).trim_end().to_string()];
    }
    let inside = text.strip_prefix("(*").and_then(|text| text.strip_suffix("*)")).unwrap_or(text);
    let mut lines = inside.lines();
    let first = lines.next().unwrap_or_default().trim();
    let others: Vec<&str> = lines.map(str::trim_end).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let margin = others.iter().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let others = others.iter().map(|line| line.get(margin..).unwrap_or_default().to_string());
    std::iter::once(first.to_string()).chain(others).collect()
}
