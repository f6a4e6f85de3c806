//! The line breaker behind `eddy fmt`.
//!
//! A document is a flat stream of pieces: texts, optional line breaks ([`Line`]), and groups. A group that
//! fits on the rest of its line is printed flat, with its line breaks as blanks or nothing; in any other
//! group all direct line breaks are taken, and its inner groups are decided separately (Oppen,
//! *Prettyprinting*, with consistent breaking). The stream has no tree, so nothing here recurses and the
//! depth of a program does not matter.
//!
//! ```
//! use eddy_syntax::layout::{Document, Line, render};
//! let mut call = Document::new();
//! call.text("f(").begin(2).line(Line::Soft, 0).text("x,").line(Line::Space, 0).text("y");
//! call.line(Line::Soft, -2).text(")").end();
//! assert_eq!(render(&call, 80), "f(x, y)");
//! assert_eq!(render(&call, 6), "f(\n  x,\n  y\n)");
//! ```
//!
//! Texts are borrowed: a formatter rearranges the user's text and adds only blanks.
//!
//! Invariants: every `begin` has its `end`; no line ends in blanks, except inside a text of several lines,
//! which is printed as it is; indentation takes at most half of the width, so that the output of a program
//! nested a hundred thousand deep is proportional to its size, and text has some room.

/// A line break, optional or mandatory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Nothing when not taken.
    Soft,
    /// A blank when not taken.
    Space,
    /// Always taken; breaks every group around it.
    Hard,
    /// Always taken, and followed by an empty line.
    Empty,
}

/// One element of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece<'a> {
    Text(&'a str),
    Margin(&'a str),
    Line(Line, isize),
    Begin(usize),
    End,
}

/// A document under construction; methods append and return it for chaining.
#[derive(Clone, Debug, Default)]
pub struct Document<'a> {
    pieces: Vec<Piece<'a>>,
}

impl<'a> Document<'a> {
    /// The empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends text. Only a comment has several lines; like [`Line::Hard`] they break every group around
    /// them.
    pub fn text(&mut self, text: &'a str) -> &mut Self {
        self.push(Piece::Text(text))
    }

    /// Appends text that may exceed the width: a comment at the end of a line should not break the code
    /// before it. A mandatory line break must follow.
    pub fn margin(&mut self, text: &'a str) -> &mut Self {
        self.push(Piece::Margin(text))
    }

    /// Appends a line break. When it is taken, the next line is indented like the innermost group, shifted by
    /// `shift` columns.
    pub fn line(&mut self, line: Line, shift: isize) -> &mut Self {
        self.push(Piece::Line(line, shift))
    }

    /// Opens a group, whose lines are indented by `indent` more than those of the group around it.
    pub fn begin(&mut self, indent: usize) -> &mut Self {
        self.push(Piece::Begin(indent))
    }

    /// Closes the innermost open group.
    pub fn end(&mut self) -> &mut Self {
        self.push(Piece::End)
    }

    fn push(&mut self, piece: Piece<'a>) -> &mut Self {
        self.pieces.push(piece);
        self
    }
}

/// Prints a document within `width` columns where possible, without a line break at its end.
pub fn render(document: &Document<'_>, width: usize) -> String {
    let widths = flat_widths(&document.pieces);
    let mut widths = widths.iter().rev();
    let mut out = Output { text: String::new(), column: 0, max_indent: width / 2 };
    let mut groups = vec![Group { indent: 0, broken: true }];
    for piece in &document.pieces {
        let innermost = *groups.last().expect("every `end` closes a group that a `begin` opened");
        match *piece {
            Piece::Text(text) | Piece::Margin(text) => out.text(text),
            Piece::Begin(indent) => {
                let flat_width = widths.next().expect("every group was measured");
                let fits = out.column + flat_width <= width;
                let indent = innermost.indent + indent;
                groups.push(Group { indent, broken: innermost.broken && !fits });
            }
            Piece::End => drop(groups.pop()),
            Piece::Line(Line::Soft, _) if !innermost.broken => {}
            Piece::Line(Line::Space, _) if !innermost.broken => out.text(" "),
            Piece::Line(line, shift) => {
                if line == Line::Empty {
                    out.line_break(0);
                }
                out.line_break(innermost.indent.saturating_add_signed(shift));
            }
        }
    }
    out.text.truncate(out.text.trim_end().len());
    out.text
}

/// A group in progress.
#[derive(Clone, Copy)]
struct Group {
    indent: usize,
    broken: bool,
}

struct Output {
    text: String,
    column: usize,
    max_indent: usize,
}

impl Output {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
        match text.rfind('\n') {
            None => self.column += columns(text),
            Some(last_break) => self.column = columns(&text[last_break + 1..]),
        }
    }

    fn line_break(&mut self, indent: usize) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self.column = indent.min(self.max_indent);
        self.text.extend(std::iter::repeat_n(' ', self.column));
    }
}

/// Columns are characters, as in positions.
fn columns(text: &str) -> usize {
    text.chars().count()
}

/// A width that fits on no line, small enough that the sum of two does not overflow.
const NEVER_FITS: usize = usize::MAX / 4;

/// For each `Begin`, last one first: the columns from there to the first possible line break after the group,
/// if the group is printed flat; [`NEVER_FITS`] if it cannot be.
///
/// One pass from the end: the text after a group is known when its `End` is reached.
fn flat_widths(pieces: &[Piece<'_>]) -> Vec<usize> {
    let mut widths = Vec::new();
    let mut measure = Measure { until_line: 0, open: Vec::new() };
    for piece in pieces.iter().rev() {
        match *piece {
            Piece::Text(text) => match text.find('\n') {
                None => {
                    let columns = columns(text);
                    measure.until_line += columns;
                    measure.inside(columns);
                }
                Some(first_break) => {
                    measure.until_line = columns(&text[..first_break]);
                    measure.inside(NEVER_FITS);
                }
            },
            Piece::Margin(_) => {}
            Piece::Line(line, _) => {
                measure.until_line = 0;
                measure.inside(match line {
                    Line::Soft => 0,
                    Line::Space => 1,
                    Line::Hard | Line::Empty => NEVER_FITS,
                });
            }
            Piece::End => measure.open.push((0, measure.until_line)),
            Piece::Begin(_) => {
                let (inside, following) = measure.open.pop().expect("every group is closed");
                widths.push(inside + following);
                measure.inside(inside);
            }
        }
    }
    widths
}

/// The state of [`flat_widths`] on its way to the start.
struct Measure {
    /// The columns from here to the next possible line break.
    until_line: usize,
    /// For each open group, seen from its end: its columns so far, and those after it.
    open: Vec<(usize, usize)>,
}

impl Measure {
    fn inside(&mut self, columns: usize) {
        if let Some((inside, _)) = self.open.last_mut() {
            *inside = (*inside + columns).min(NEVER_FITS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(document: &Document<'_>, width: usize, expected: &Expect) {
        let rendered = render(document, width);
        let ruler = "-".repeat(width);
        expected.assert_eq(&format!("{ruler}\n{rendered}\n"));
    }

    fn call<'a>(document: &mut Document<'a>, callee: &'a str, arguments: &[&'a str]) {
        document.text(callee).text("(").begin(2).line(Line::Soft, 0);
        for (i, argument) in arguments.iter().enumerate() {
            if i > 0 {
                document.text(",").line(Line::Space, 0);
            }
            document.text(argument);
        }
        document.line(Line::Soft, -2).text(")").end();
    }

    #[test]
    fn what_follows_a_group_must_fit_too() {
        let mut document = Document::new();
        call(&mut document, "f", &["x", "y"]);
        document.text(" in");
        check(
            &document,
            10,
            &expect![[r"
                ----------
                f(x, y) in
            "]],
        );
        check(
            &document,
            9,
            &expect![[r"
                ---------
                f(
                  x,
                  y
                ) in
            "]],
        );
    }

    #[test]
    fn an_inner_group_is_asked_again_on_its_own_line() {
        let mut document = Document::new();
        document.text("let v =").begin(2).line(Line::Space, 0);
        call(&mut document, "f", &["x", "y"]);
        document.end().text(" in");
        check(
            &document,
            12,
            &expect![[r"
                ------------
                let v =
                  f(x, y) in
            "]],
        );
    }

    #[test]
    fn a_line_that_is_always_taken_breaks_the_groups_around_it_and_no_other() {
        let mut document = Document::new();
        document.begin(0);
        call(&mut document, "f", &["x", "y"]);
        document.line(Line::Space, 0).begin(2).text("g").line(Line::Hard, 0).text("h").end();
        document.line(Line::Empty, 0).text("i").end();
        check(
            &document,
            40,
            &expect![[r"
                ----------------------------------------
                f(x, y)
                g
                  h

                i
            "]],
        );
    }

    #[test]
    fn a_comment_in_the_margin_does_not_count() {
        let mut document = Document::new();
        call(&mut document, "f", &["x", "y"]);
        document.text(" ").margin("-- as long as it likes").line(Line::Hard, 0).text("z");
        check(
            &document,
            10,
            &expect![[r"
                ----------
                f(x, y) -- as long as it likes
                z
            "]],
        );
    }

    #[test]
    fn a_text_of_several_lines_counts_up_to_its_first_line_break() {
        let mut document = Document::new();
        document.begin(2);
        call(&mut document, "f", &["x", "y"]);
        document.text(" ").text("(* a\n   long comment *)").line(Line::Space, 0).text("z").end();
        check(
            &document,
            12,
            &expect![[r"
                ------------
                f(x, y) (* a
                   long comment *)
                  z
            "]],
        );
    }

    #[test]
    fn indentation_stops_at_half_of_the_width() {
        let mut document = Document::new();
        for _ in 0..4 {
            document.text("(").begin(2).line(Line::Soft, 0);
        }
        document.text("abcdefgh");
        for _ in 0..4 {
            document.line(Line::Soft, -2).text(")").end();
        }
        check(
            &document,
            10,
            &expect![[r"
                ----------
                (
                  (
                    (
                     (
                     abcdefgh
                     )
                    )
                  )
                )
            "]],
        );
    }

    #[test]
    fn lines_do_not_end_in_blanks() {
        let mut document = Document::new();
        document.text("a").text(" ").line(Line::Hard, 4).line(Line::Hard, 0).text("b").line(Line::Hard, 2);
        check(
            &document,
            10,
            &expect![[r"
                ----------
                a

                b
            "]],
        );
    }
}
