//! Texts with precedence, so that parentheses are placed where the grammar needs them.

/// The levels of the grammar, loosest first: `if` and `fby` are open, names and calls are atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Open,
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Unary,
    Sampled,
    Atom,
}

/// A piece of a program.
#[derive(Clone, Debug)]
pub struct Text {
    text: String,
    level: Level,
}

impl Text {
    pub fn new(level: Level, text: impl Into<String>) -> Text {
        Text { text: text.into(), level }
    }

    pub fn atom(text: impl Into<String>) -> Text {
        Text::new(Level::Atom, text)
    }

    /// For a place that takes every level.
    pub fn loose(self) -> String {
        self.text
    }

    /// For a place that takes this level or tighter ones.
    pub fn at(self, level: Level) -> String {
        if self.level >= level { self.text } else { format!("({})", self.text) }
    }

    /// `left op right`; operators of one level associate to the left.
    pub fn infix(left: Text, op: &str, right: Text) -> Text {
        let level = match op {
            "or" => Level::Or,
            "and" => Level::And,
            "+" | "-" => Level::Sum,
            "*" | "/" | "div" | "mod" => Level::Product,
            _ => Level::Comparison,
        };
        let tighter = match level {
            Level::Or => Level::And,
            Level::And => Level::Comparison,
            Level::Comparison => Level::Sum,
            Level::Sum => Level::Product,
            _ => Level::Unary,
        };
        // A comparison takes no comparison on either side.
        let left_level = if level == Level::Comparison { tighter } else { level };
        Text::new(level, format!("{} {op} {}", left.at(left_level), right.at(tighter)))
    }

    /// `-M`, with a space where `--` would start a comment.
    pub fn negated(self) -> Text {
        let operand = self.at(Level::Unary);
        let space = if operand.starts_with('-') { " " } else { "" };
        Text::new(Level::Unary, format!("-{space}{operand}"))
    }

    /// `not M` or `post M`.
    pub fn prefixed(self, word: &str) -> Text {
        Text::new(Level::Unary, format!("{word} {}", self.at(Level::Unary)))
    }

    /// `M when c` or `M when not c`.
    pub fn sampled(self, condition: &str, polarity: bool) -> Text {
        let not = if polarity { "" } else { "not " };
        Text::new(Level::Sampled, format!("{} when {not}{condition}", self.at(Level::Sampled)))
    }

    /// `merge c M N`.
    pub fn merge(condition: Text, yes: Text, no: Text) -> Text {
        let [condition, yes, no] = [condition, yes, no].map(|operand| operand.at(Level::Atom));
        Text::new(Level::Unary, format!("merge {condition} {yes} {no}"))
    }

    /// `M fby N` or `M fby back N`.
    pub fn delayed(init: Text, word: &str, next: Text) -> Text {
        Text::new(Level::Open, format!("{} {word} {}", init.at(Level::Or), next.loose()))
    }

    /// `if c then M else N`.
    pub fn choice(condition: Text, yes: Text, no: Text) -> Text {
        let [condition, yes, no] = [condition, yes, no].map(Text::loose);
        Text::new(Level::Open, format!("if {condition} then {yes} else {no}"))
    }

    /// `f(M, N)`.
    pub fn call(name: &str, arguments: Vec<Text>) -> Text {
        let arguments: Vec<String> = arguments.into_iter().map(Text::loose).collect();
        Text::atom(format!("{name}({})", arguments.join(", ")))
    }
}
