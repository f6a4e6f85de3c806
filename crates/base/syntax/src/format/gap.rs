//! What stands between two tokens.
//!
//! A gap is printed in the order of its fields: groups end, a group begins, the tokens are joined (comments
//! stand here), a group begins. One group before and one after the joint are enough. The first kind belongs
//! to a bracket or a `=` on the left, or to an operator on the right, which never meet in one gap; the second
//! belongs to the form on the right that has an operand behind each of its words, such as an `if`.

use crate::layout::Line;
use crate::lex::Lexicon;

/// One step of indentation.
pub const INDENT: u8 = 2;

/// The indentation of what continues a line above an indented one, so that the two are told apart.
pub const CONTINUED: u8 = 4;

/// What stands between two tokens, comments aside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gap {
    /// How many groups end here.
    pub ends: u32,
    /// The indentation of the group that begins here and holds the joint.
    pub group: Option<u8>,
    /// How the tokens are joined.
    pub joint: Joint,
    /// How many blanks more stand here, to put cells in columns.
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
    /// Before a closing bracket: with a line break, back to the indentation of the bracket's line, or
    /// nothing.
    Close,
    /// Before a closing brace: with a line break, likewise, or a blank.
    CloseBrace,
    /// With a line break or a blank.
    Space,
    /// With a line break or a blank, between things that may be set apart by an empty line.
    Item,
    /// With a line break always, between things that may be set apart by an empty line.
    Line,
    /// With a line break always, before the first of several things that have a line each.
    Begin,
    /// As `Line`, between the indented body of a declaration and the next declaration.
    AfterBody,
    /// At the start or the end of the file, where there are not two tokens.
    Edge,
    /// Between the indented body of a declaration and the end of the file.
    EndOfBody,
}

impl Joint {
    /// The place where the line may end, if there is one.
    pub fn line(self) -> Option<Line> {
        match self {
            Joint::Tight | Joint::Blank | Joint::Edge | Joint::EndOfBody => None,
            Joint::Open | Joint::Close => Some(Line::Soft),
            Joint::Space | Joint::Item | Joint::CloseBrace => Some(Line::Space),
            Joint::Line | Joint::Begin | Joint::AfterBody => Some(Line::Hard),
        }
    }

    /// How far the token on the right is shifted when it starts a line. Where no line is meant to end, only a
    /// comment can end one, and what follows is a continuation.
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

    /// Whether a comment here goes with what is on its left.
    pub fn closes(self) -> bool {
        matches!(self, Joint::Close | Joint::CloseBrace)
    }

    /// Whether a blank stands between these tokens when they are on one line.
    pub fn parts(self, lexicon: &Lexicon, left: &str, right: &str) -> bool {
        match self {
            // The symbol `¬` holds its operand as tightly as a minus; the word `not` cannot.
            Joint::Blank => left != "¬",
            // A number never meets a point and a digit: a blank or a line break stands behind a point, and
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
