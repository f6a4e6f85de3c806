//! What stands between two tokens.
//!
//! A gap is printed in the order of its fields: groups end, a group begins, the tokens are joined (comments
//! stand here), a group begins. One group before and one after the joint are enough. The first kind belongs
//! to a bracket or a `=` on the left, or to an operator on the right, which never meet in one gap; the second
//! belongs to the `let` or `if` on the right.

use eddy_syntax::layout::Line;

/// One step of indentation.
pub(super) const INDENT: u8 = 2;

/// What stands between two tokens, comments aside.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// How many groups end here.
    pub ends: u32,
    /// The indentation of the group that begins here and holds the joint.
    pub group: Option<u8>,
    /// How the tokens are joined.
    pub joint: Joint,
    /// The indentation of the group that begins after the joint.
    pub inner_group: Option<u8>,
}

/// How two tokens are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Joint {
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
    /// With a line break or a blank.
    Space,
    /// With a line break or a blank, between things that may be set apart by an empty line.
    Item,
    /// With a line break always, between things that may be set apart by an empty line.
    Line,
    /// At the start or the end of the file, where there are not two tokens.
    Edge,
}

impl Joint {
    /// The place where the line may end, if there is one.
    pub fn line(self) -> Option<Line> {
        match self {
            Joint::Tight | Joint::Blank | Joint::Edge => None,
            Joint::Open | Joint::Close => Some(Line::Soft),
            Joint::Space | Joint::Item => Some(Line::Space),
            Joint::Line => Some(Line::Hard),
        }
    }

    /// How far the token on the right is shifted when it starts a line. Where no line is meant to end, only a
    /// comment can end one, and what follows is a continuation.
    pub fn shift(self) -> isize {
        match self {
            Joint::Tight | Joint::Blank => isize::from(INDENT),
            Joint::Close => -isize::from(INDENT),
            Joint::Open | Joint::Space | Joint::Item | Joint::Line | Joint::Edge => 0,
        }
    }

    /// Whether an empty line is kept here.
    pub fn keeps_empty_line(self) -> bool {
        matches!(self, Joint::Item | Joint::Line)
    }
}
