//! Splits a text into tokens.

use std::fmt;

use super::ParseError;
use crate::name::Name;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(Name),
    /// With a point or an exponent.
    Num(f64),
    /// With the suffix `i`; includes the sign.
    Int(i64),
    Count(i64),
    Symbol(&'static str),
    Comment(String),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Num(x) => write!(f, "`{x:?}`"),
            Token::Int(x) => write!(f, "`{x}i`"),
            Token::Count(n) => write!(f, "`{n}`"),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::Comment(_) => f.write_str("a comment"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 31] = [
    "&&", "||", "==", "!=", "<=", ">=", "+=", "->", "(", ")", "[", "]", "{", "}", "<", ">", "+", "-", "*",
    "/", "%", "&", "|", "!", "?", ":", ";", ",", ".", "=", "@",
];

/// Keywords that are followed by an expression.
const BEFORE_EXPRESSIONS: [&str; 5] = ["by", "check", "if", "return", "while"];

pub(super) struct Tokens {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

impl Tokens {
    pub fn new(text: &str) -> Result<Tokens, ParseError> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            let mut rest = line.trim_start();
            while !rest.is_empty() {
                let previous = tokens.last().filter(|(_, line)| *line == number).map(|(token, _)| token);
                let (token, after) = token(rest, previous)
                    .ok_or_else(|| ParseError { line: number, message: format!("cannot read `{rest}`") })?;
                tokens.push((token, number));
                rest = after.trim_start();
            }
        }
        tokens.push((Token::End, text.lines().count().max(1)));
        Ok(Tokens { tokens, at: 0 })
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn error(&self, message: String) -> ParseError {
        ParseError { line: self.tokens[self.at].1, message }
    }

    /// Takes the next token if it is this symbol.
    pub fn takes(&mut self, symbol: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Symbol(other) if *other == symbol);
        if is_it {
            self.next();
        }
        is_it
    }

    pub fn takes_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Name(name) if *name == word);
        if is_it {
            self.next();
        }
        is_it
    }

    pub fn symbol(&mut self, symbol: &str) -> Result<(), ParseError> {
        if self.takes(symbol) {
            return Ok(());
        }
        Err(self.error(format!("expected `{symbol}`, found {}", self.peek())))
    }

    pub fn word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.takes_word(word) {
            return Ok(());
        }
        Err(self.error(format!("expected `{word}`, found {}", self.peek())))
    }

    pub fn name(&mut self) -> Result<Name, ParseError> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.next();
                Ok(name)
            }
            other => Err(self.error(format!("expected a name, found {other}"))),
        }
    }

    pub fn size(&mut self) -> Result<usize, ParseError> {
        match self.peek() {
            Token::Count(n) if *n >= 0 => {
                let n = usize::try_from(*n).map_err(|error| self.error(error.to_string()))?;
                self.next();
                Ok(n)
            }
            other => Err(self.error(format!("expected a size, found {other}"))),
        }
    }

    /// The comment after the last token, or an empty string.
    pub fn comment(&mut self) -> String {
        let line = self.tokens[self.at.saturating_sub(1)].1;
        match &self.tokens[self.at] {
            (Token::Comment(text), at) if *at == line => {
                let text = text.clone();
                self.next();
                text
            }
            _ => String::new(),
        }
    }
}

/// The first token of a line, and the rest. A sign belongs to a number unless the previous token ends an
/// operand.
fn token<'t>(text: &'t str, previous: Option<&Token>) -> Option<(Token, &'t str)> {
    if let Some(comment) = text.strip_prefix("--") {
        return Some((Token::Comment(comment.trim().to_string()), ""));
    }
    let has_value_before = match previous {
        Some(Token::Name(word)) => !BEFORE_EXPRESSIONS.contains(&word.as_str()),
        Some(Token::Num(_) | Token::Int(_) | Token::Count(_) | Token::Symbol(")" | "]")) => true,
        _ => false,
    };
    let unsigned = text.strip_prefix('-').filter(|_| !has_value_before).unwrap_or(text);
    if unsigned.starts_with(|c: char| c.is_ascii_digit()) || starts_with_word(unsigned, "inf") {
        return number(text, unsigned);
    }
    if starts_with_word(text, "NaN") {
        return Some((Token::Num(f64::NAN), &text[3..]));
    }
    if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let end = text.find(|c: char| !is_of_word(c)).unwrap_or(text.len());
        return Some((Token::Name(text[..end].into()), &text[end..]));
    }
    let symbol = SYMBOLS.into_iter().find(|symbol| text.starts_with(symbol))?;
    Some((Token::Symbol(symbol), &text[symbol.len()..]))
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_word))
}

/// A number; `unsigned` is the text after its sign.
fn number<'t>(text: &'t str, unsigned: &str) -> Option<(Token, &'t str)> {
    let sign = text.len() - unsigned.len();
    let bytes = unsigned.as_bytes();
    let mut end = if unsigned.starts_with("inf") { 3 } else { 0 };
    while let Some(byte) = bytes.get(end) {
        let is_sign = matches!(byte, b'+' | b'-') && matches!(bytes.get(end.wrapping_sub(1)), Some(b'e'));
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e') || is_sign) {
            break;
        }
        end += 1;
    }
    let digits = &text[..sign + end];
    let rest = &text[sign + end..];
    if let Some(rest) = rest.strip_prefix('i') {
        return Some((Token::Int(digits.parse().ok()?), rest));
    }
    match digits.parse() {
        Ok(count) => Some((Token::Count(count), rest)),
        Err(_) => Some((Token::Num(digits.parse().ok()?), rest)),
    }
}
