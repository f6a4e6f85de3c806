//! Texts with their precedence, so that parentheses are written where the grammar needs them.

/// The levels of the grammar, loosest first. An open text ends in the body of a `let` or the like and extends
/// over everything that follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Open,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Unary,
    Power,
    Atom,
}

/// A piece of a program.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    pub level: Level,
}

impl Text {
    pub fn new(level: Level, text: impl Into<String>) -> Text {
        Text { text: text.into(), level }
    }

    pub fn atom_of(text: impl Into<String>) -> Text {
        Text::new(Level::Atom, text)
    }

    /// The text at a place that accepts everything.
    pub fn loose(self) -> String {
        self.text
    }

    pub fn atom(self) -> String {
        self.at(Level::Atom)
    }

    /// The text at a place that accepts this level or tighter ones.
    pub fn at(self, level: Level) -> String {
        if self.level >= level { self.text } else { parenthesised(&self.text) }
    }

    /// `left op right` at a level, with the levels that its operands need. An open right operand needs no
    /// parentheses, but makes the whole open.
    pub fn infix(level: Level, (left, left_level): (Text, Level), op: &str, right: (Text, Level)) -> Text {
        let (right, right_level) = right;
        let is_open = right.level == Level::Open;
        let right = if is_open { right.text } else { right.at(right_level) };
        let text = format!("{} {op} {right}", left.at(left_level));
        Text::new(if is_open { Level::Open } else { level }, text)
    }

    /// `-M`, with a space where `--` would start a comment.
    pub fn negated(self) -> Text {
        let level = if self.level == Level::Open { Level::Open } else { Level::Unary };
        let operand = if level == Level::Open { self.text } else { self.at(Level::Unary) };
        let space = if operand.starts_with('-') { " " } else { "" };
        Text::new(level, format!("-{space}{operand}"))
    }
}

/// In parentheses, with a space where `(*` would start a comment.
pub fn parenthesised(text: &str) -> String {
    let space = if text.starts_with(['*', '·', '×']) { " " } else { "" };
    format!("({space}{text})")
}
