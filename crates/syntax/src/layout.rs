//! The line breaker behind `eddy fmt`.
//!
//! A document is a flat stream of [`Piece`]s: texts, places where a line may break, and groups. A group that
//! fits on the rest of its line is printed flat, its breaks as blanks; one that does not has all its own
//! breaks taken, and its inner groups are asked again (Oppen, *Prettyprinting*, with consistent breaking). The
//! stream has no tree, so nothing here recurses and the depth of a program does not matter.
//!
//! ```
//! use eddy_syntax::layout::{Document, render};
//! let mut call = Document::new();
//! call.begin(2).text("f(").soft_break().text("x,").space().text("y").soft_break_outdented(2).text(")").end();
//! assert_eq!(render(&call, 80), "f(x, y)");
//! assert_eq!(render(&call, 4), "f(\n  x,\n  y\n)");
//! ```

/// One element of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// A place where the line may break; `blank` is what it is when it does not; `outdent` takes back
    /// indentation, for closing words.
    Break {
        blank: &'static str,
        outdent: usize,
    },
    /// A line break that is always taken, and breaks every group around it. `empty` adds an empty line.
    Hard {
        empty: bool,
    },
    /// Opens a group whose breaks indent by `indent` more.
    Begin {
        indent: usize,
    },
    End,
}

/// A document under construction; methods append and return it, so that they chain.
#[derive(Clone, Debug, Default)]
pub struct Document {
    pieces: Vec<Piece>,
}

impl Document {
    /// The empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends text, which holds no line break unless it is a comment over several lines.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    /// Appends a break that is a blank when not taken.
    pub fn space(&mut self) -> &mut Self {
        self.pieces.push(Piece::Break { blank: " ", outdent: 0 });
        self
    }

    /// Appends a break that is a blank when not taken, and takes back `outdent` columns when taken.
    pub fn space_outdented(&mut self, outdent: usize) -> &mut Self {
        self.pieces.push(Piece::Break { blank: " ", outdent });
        self
    }

    /// Appends a break that is nothing when not taken.
    pub fn soft_break(&mut self) -> &mut Self {
        self.pieces.push(Piece::Break { blank: "", outdent: 0 });
        self
    }

    /// Appends a break that is nothing when not taken, and takes back `outdent` columns when taken.
    pub fn soft_break_outdented(&mut self, outdent: usize) -> &mut Self {
        self.pieces.push(Piece::Break { blank: "", outdent });
        self
    }

    /// Appends a line break that is always taken. Directly after a break it takes that break's place.
    pub fn hard_break(&mut self) -> &mut Self {
        self.hard(false)
    }

    /// Appends a line break and an empty line. Directly after a break it takes that break's place.
    pub fn empty_line(&mut self) -> &mut Self {
        self.hard(true)
    }

    fn hard(&mut self, empty: bool) -> &mut Self {
        match self.pieces.last_mut() {
            Some(Piece::Hard { empty: already }) => *already |= empty,
            Some(last @ Piece::Break { .. }) => *last = Piece::Hard { empty },
            _ => self.pieces.push(Piece::Hard { empty }),
        }
        self
    }

    /// Whether the last piece is a place where the line may or will break.
    pub fn ends_in_break(&self) -> bool {
        matches!(self.pieces.last(), None | Some(Piece::Break { .. } | Piece::Hard { .. }))
    }

    /// Opens a group; its breaks, when taken, indent by `indent` more than the group around it.
    pub fn begin(&mut self, indent: usize) -> &mut Self {
        self.pieces.push(Piece::Begin { indent });
        self
    }

    /// Closes the innermost open group.
    pub fn end(&mut self) -> &mut Self {
        self.pieces.push(Piece::End);
        self
    }
}

/// Prints a document within `width` columns where that is possible. Lines have no trailing blanks.
pub fn render(document: &Document, width: usize) -> String {
    let widths = flat_widths(&document.pieces);
    let mut out = Output { text: String::new(), column: 0 };
    let mut groups = vec![OpenGroup { indent: 0, broken: true }];
    for (i, piece) in document.pieces.iter().enumerate() {
        let innermost = *groups.last().expect("every `end` closes a group that a `begin` opened");
        match piece {
            Piece::Text(text) => out.text(text),
            Piece::Begin { indent } => {
                let fits = out.column + widths[i] <= width;
                let indent = innermost.indent + indent;
                groups.push(OpenGroup { indent, broken: innermost.broken && !fits });
            }
            Piece::End => drop(groups.pop()),
            Piece::Hard { empty } => {
                if *empty {
                    out.line_break(0);
                }
                out.line_break(innermost.indent);
            }
            Piece::Break { outdent, .. } if innermost.broken => {
                out.line_break(innermost.indent.saturating_sub(*outdent));
            }
            Piece::Break { blank, .. } => out.text(blank),
        }
    }
    out.text.truncate(out.text.trim_end().len());
    out.text
}

#[derive(Clone, Copy)]
struct OpenGroup {
    indent: usize,
    broken: bool,
}

struct Output {
    text: String,
    column: usize,
}

impl Output {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
        let last_line = text.rsplit('\n').next().unwrap_or(text);
        let kept = if last_line.len() == text.len() { self.column } else { 0 };
        self.column = kept + last_line.chars().count();
    }

    fn line_break(&mut self, indent: usize) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }
}

/// A width that fits on no line.
const NEVER_FITS: usize = usize::MAX / 4;

/// For each `Begin`: the columns from there to the next place after the group where a line may break, if
/// the group is printed flat; [`NEVER_FITS`] if it holds a line break that is always taken.
fn flat_widths(pieces: &[Piece]) -> Vec<usize> {
    let mut widths = vec![0; pieces.len()];
    // The columns from here to the next break, and for each open group (seen from its end) the columns since.
    let mut after = 0_usize;
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (i, piece) in pieces.iter().enumerate().rev() {
        match piece {
            Piece::Text(text) => {
                let columns = if text.contains('\n') { NEVER_FITS } else { text.chars().count() };
                after = (after + columns).min(NEVER_FITS);
                if let Some((inside, _)) = open.last_mut() {
                    *inside = (*inside + columns).min(NEVER_FITS);
                }
            }
            Piece::Break { blank, .. } => {
                after = 0;
                if let Some((inside, _)) = open.last_mut() {
                    *inside = (*inside + blank.len()).min(NEVER_FITS);
                }
            }
            Piece::Hard { .. } => {
                after = 0;
                if let Some((inside, _)) = open.last_mut() {
                    *inside = NEVER_FITS;
                }
            }
            Piece::End => open.push((0, after)),
            Piece::Begin { .. } => {
                let (inside, following) = open.pop().expect("every group is closed");
                widths[i] = (inside + following).min(NEVER_FITS);
                if let Some((outer, _)) = open.last_mut() {
                    *outer = (*outer + inside).min(NEVER_FITS);
                }
            }
        }
    }
    widths
}
