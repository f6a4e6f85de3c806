//! The space between two tokens.
//!
//! A gap is printed in the order of its fields: groups end, a group begins, the tokens are joined (with
//! comments, if any), a group begins. One group before and one after the joint are enough. The first kind
//! belongs to a bracket or a `=` on the left, or to an operator on the right, which never meet in one gap;
//! the second belongs to a form on the right with an operand after each of its keywords, such as `if`.

use crate::layout::Line;
use crate::lex::Lexicon;

/// One step of indentation.
pub const INDENT: u8 = 2;

/// The indentation of a line that continues the one above an indented line, to distinguish the two.
pub const CONTINUED: u8 = 4;

/// The space between two tokens, without comments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gap {
    /// The number of groups that end here.
    pub ends: u32,
    /// The indentation of the group that begins here and contains the joint.
    pub group: Option<u8>,
    /// How the tokens are joined.
    pub joint: Joint,
    /// The number of additional blanks, which align cells in columns.
    pub padding: u8,
    /// The indentation of the group that begins after the joint.
    pub inner_group: Option<u8>,
}

/// How two tokens are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joint {
    /// With nothing between them.
    #[default]
    Tight,
    /// With a blank.
    Blank,
    /// After an opening bracket: with a line break or nothing.
    Open,
    /// Before a closing bracket: with a line break, back to the indentation of the bracket's line, or with
    /// nothing.
    Close,
    /// Before a closing brace: with a line break, likewise, or a blank.
    CloseBrace,
    /// With a line break or a blank.
    Space,
    /// With a line break or a blank, between items that an empty line may separate.
    Item,
    /// Always with a line break, between items that an empty line may separate.
    Line,
    /// Always with a line break, before the first of several items with a line each.
    Begin,
    /// As `Line`, between the indented body of a declaration and the next declaration.
    AfterBody,
    /// At the start or the end of the file, where there are not two tokens.
    Edge,
    /// Between the indented body of a declaration and the end of the file.
    EndOfBody,
}

impl Joint {
    /// The line break here, if there may be one.
    pub fn line(self) -> Option<Line> {
        match self {
            Joint::Tight | Joint::Blank | Joint::Edge | Joint::EndOfBody => None,
            Joint::Open | Joint::Close => Some(Line::Soft),
            Joint::Space | Joint::Item | Joint::CloseBrace => Some(Line::Space),
            Joint::Line | Joint::Begin | Joint::AfterBody => Some(Line::Hard),
        }
    }

    /// The shift of the token on the right when it starts a line. Where no line break is intended, only a
    /// comment can end the line, and the next line is a continuation.
    pub fn shift(self) -> isize {
        match self {
            Joint::Tight | Joint::Blank => isize::from(INDENT),
            Joint::Close | Joint::CloseBrace => -isize::from(INDENT),
            _ => 0,
        }
    }

    /// Whether an empty line is kept here.
    pub fn keeps_empty_line(self) -> bool {
        matches!(self, Joint::Item | Joint::Line | Joint::AfterBody)
    }

    /// Whether a comment here belongs to the token on its left.
    pub fn closes(self) -> bool {
        matches!(self, Joint::Close | Joint::CloseBrace)
    }

    /// Whether a blank separates these tokens when they are on one line.
    pub fn parts(self, lexicon: &Lexicon, left: &str, right: &str) -> bool {
        match self {
            // The symbol `¬` is next to its operand like a minus; the word `not` needs a blank.
            Joint::Blank => left != "¬",
            // A number is never next to a point and a digit: a blank or a line break comes after a point, and
            // between cells.
            Joint::Tight | Joint::Open | Joint::Close => lexicon.would_merge(left, right),
            Joint::Edge | Joint::EndOfBody => false,
            Joint::Space
            | Joint::Item
            | Joint::CloseBrace
            | Joint::Line
            | Joint::Begin
            | Joint::AfterBody => true,
        }
    }
}
