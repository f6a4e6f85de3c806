//! The words, numbers and symbols of a text.

use std::fmt;

use super::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(i64),
    Num(f64),
    Symbol(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Int(n) => write!(f, "`{n}`"),
            Token::Num(x) => write!(f, "`{x:?}`"),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Longer ones first.
const SYMBOLS: [&str; 15] = ["->", "..", "{", "}", "(", ")", "[", "]", "<", "=", ":", ",", ".", "@", "_"];

pub(super) struct Tokens {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

impl Tokens {
    pub fn new(text: &str) -> Result<Tokens, ParseError> {
        let mut tokens = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let mut rest = line.trim_start();
            while !rest.is_empty() && !rest.starts_with("--") {
                let (token, after) = token(rest).ok_or_else(|| ParseError {
                    line: number + 1,
                    message: format!("cannot read `{}`", rest.chars().take(20).collect::<String>()),
                })?;
                tokens.push((token, number + 1));
                rest = after.trim_start();
            }
        }
        tokens.push((Token::End, text.lines().count().max(1)));
        Ok(Tokens { tokens, at: 0 })
    }

    /// The names that follow this word.
    pub fn names_behind(&self, word: &str) -> Vec<String> {
        let pairs = self.tokens.windows(2);
        let behind = pairs.filter_map(|pair| match (&pair[0].0, &pair[1].0) {
            (Token::Name(first), Token::Name(second)) if first == word => Some(second.clone()),
            _ => None,
        });
        behind.collect()
    }

    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next one.
    pub fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { line: self.tokens[self.at].1, message: message.into() }
    }

    pub fn expected(&self, what: &str) -> ParseError {
        self.error(format!("expected {what}, found {}", self.peek()))
    }

    /// Whether the next token is this symbol, which is then taken.
    pub fn takes(&mut self, symbol: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Symbol(found) if *found == symbol);
        if is_it {
            self.next();
        }
        is_it
    }

    pub fn takes_word(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), Token::Name(found) if found == word);
        if is_it {
            self.next();
        }
        is_it
    }

    pub fn symbol(&mut self, symbol: &str) -> Result<(), ParseError> {
        if self.takes(symbol) { Ok(()) } else { Err(self.expected(&format!("`{symbol}`"))) }
    }

    pub fn name(&mut self) -> Result<String, ParseError> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.next();
                Ok(name)
            }
            _ => Err(self.expected("a name")),
        }
    }

    pub fn number<T: TryFrom<i64>>(&mut self) -> Result<T, ParseError> {
        let Token::Int(n) = *self.peek() else { return Err(self.expected("a number")) };
        let n = T::try_from(n).map_err(|_| self.expected("another number"))?;
        self.next();
        Ok(n)
    }

    /// Parses items between two symbols, separated by commas.
    pub fn list<T>(
        &mut self,
        [open, close]: [&str; 2],
        mut item: impl FnMut(&mut Tokens) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.symbol(open)?;
        let mut items = Vec::new();
        while !self.takes(close) {
            if !items.is_empty() {
                self.symbol(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// The first token of a line, and the rest of the line.
fn token(text: &str) -> Option<(Token, &str)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let word_end = unsigned.find(|c: char| !is_of_word(c)).unwrap_or(unsigned.len());
    let (word, behind) = unsigned.split_at(word_end);
    let sign = if unsigned.len() == text.len() { 1.0 } else { -1.0 };
    match word {
        "inf" => return Some((Token::Num(sign * f64::INFINITY), behind)),
        "NaN" => return Some((Token::Num(f64::NAN), behind)),
        _ if unsigned.starts_with(|c: char| c.is_ascii_digit()) => return number(text),
        _ => {}
    }
    if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word != "_" {
        return Some((Token::Name(word.to_owned()), behind));
    }
    let symbol = SYMBOLS.into_iter().find(|symbol| text.starts_with(symbol))?;
    Some((Token::Symbol(symbol), &text[symbol.len()..]))
}

pub(crate) fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// A number with its sign. A point belongs to it only if a digit follows, so that `3..7` is a range.
fn number(text: &str) -> Option<(Token, &str)> {
    let bytes = text.as_bytes();
    let mut end = 1;
    let mut is_int = true;
    while let Some(byte) = bytes.get(end) {
        let next_is_digit = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        let is_exponent = *byte == b'e'
            && (next_is_digit
                || bytes.get(end + 1) == Some(&b'-') && bytes.get(end + 2).is_some_and(u8::is_ascii_digit));
        let is_point = *byte == b'.' && next_is_digit;
        let is_minus = *byte == b'-' && bytes[end - 1] == b'e';
        if !(byte.is_ascii_digit() || is_exponent || is_point || is_minus) {
            break;
        }
        is_int &= byte.is_ascii_digit();
        end += 1;
    }
    let (digits, behind) = text.split_at(end);
    let token = if is_int { Token::Int(digits.parse().ok()?) } else { Token::Num(digits.parse().ok()?) };
    Some((token, behind))
}
