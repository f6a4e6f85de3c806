//! The lexical layer that all languages share.
//!
//! Comments are `-- to the end of the line` and `(* nested *)`; names are `[A-Za-z_][A-Za-z0-9_']*`; numbers
//! are `digits [. digits] [e [+-] digits]`, without a sign and with a digit on both sides of the point, so
//! that `1.rd` is the number `1`, a point and a name. A [`Lexicon`] contains what differs between languages:
//! reserved words, symbols and Unicode twins. A language with strings has [`QUOTE`] among its symbols: a
//! string then extends from one quote to the next, or to the end of its line, and has no escapes.
//!
//! Lexing cannot fail: it returns tokens *and* errors. A run of characters that no token starts with is one
//! error and no token.

use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::source::{SourceFile, Span};

/// The symbol that opens and closes a string, in languages with strings.
pub const QUOTE: &str = "\"";

/// The words and symbols of one language.
#[derive(Clone, Copy, Debug)]
pub struct Lexicon {
    /// Reserved names, in ascending order.
    pub reserved: &'static [&'static str],
    /// Punctuation; if several match, the longest is used.
    pub symbols: &'static [&'static str],
    /// Alternative spellings, with the reserved word or symbol that each stands for.
    pub twins: &'static [(&'static str, &'static str)],
}

impl Lexicon {
    /// Whether two tokens without a blank between them would be read differently, as in `- -1`. The language
    /// handles numbers and points, since it knows where they can meet.
    pub fn would_merge(&self, left: &str, right: &str) -> bool {
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
        let makes = |symbol: &str| symbol.strip_prefix(left).is_some_and(|rest| right.starts_with(rest));
        let is_longer = |symbol: &&str| symbol.len() > left.len();
        let symbols = self.symbols.iter().copied().chain(["--", "(*"]);
        left.ends_with(in_name) && right.starts_with(in_name)
            || !left.is_empty() && symbols.filter(is_longer).any(makes)
    }
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name that is not reserved.
    Name,
    /// A number.
    Number,
    /// A string with its quotes; the closing one is missing if the line ends before it.
    String,
    /// A reserved word or a symbol, in its ASCII spelling.
    Symbol(&'static str),
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
}

/// The two forms of comments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `-- to the end of the line`.
    Line,
    /// `(* nested *)`.
    Block,
}

/// A comment and its place, without the line break that ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    pub kind: CommentKind,
    pub span: Span,
}

/// Text that the lexer could not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexError {
    /// Characters that start no token.
    UnexpectedCharacters(Span),
    /// A `(*` without its `*)`; the span is that of the opening.
    UnterminatedComment(Span),
    /// Bytes that are not UTF-8.
    InvalidUtf8(Span),
}

impl LexError {
    /// Its span.
    pub fn span(self) -> Span {
        match self {
            LexError::UnexpectedCharacters(span)
            | LexError::UnterminatedComment(span)
            | LexError::InvalidUtf8(span) => span,
        }
    }

    /// The diagnostic, which begins with `kind` unless that is empty; `help` is for a comment without end.
    pub fn diagnostic(self, file: &SourceFile, code: Code, kind: &str, help: &str) -> Diagnostic {
        let error = |title: String| Diagnostic::error(code, self.span(), format!("{kind}{title}"));
        match self {
            LexError::UnexpectedCharacters(span) => {
                let text = file.slice(span);
                let plural = if text.chars().count() == 1 { "" } else { "s" };
                error(format!("unexpected character{plural} `{}`", visible(text)))
                    .label("nothing in the language is written with this")
            }
            LexError::UnterminatedComment(_) => {
                error("unterminated comment".to_string()).label("this `(*` has no `*)`").help(help)
            }
            LexError::InvalidUtf8(_) => {
                error("unexpected character: the file is not valid UTF-8".to_string())
                    .label("these bytes are not text")
                    .help("save the file as UTF-8")
            }
        }
    }
}

/// The characters; escapes for those that are invisible.
fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() }).collect()
}

/// The outcome of lexing: the tokens and comments, and the errors.
#[derive(Clone, Debug)]
pub struct Lexed {
    /// The tokens; the last one is [`TokenKind::End`].
    pub tokens: Vec<Token>,
    /// The comments, in order.
    pub comments: Vec<Comment>,
    /// The unreadable parts, in order.
    pub errors: Vec<LexError>,
}

/// Splits a file into tokens.
pub fn lex(file: &SourceFile, lexicon: &Lexicon) -> Lexed {
    debug_assert!(lexicon.reserved.is_sorted(), "reserved words are searched by bisection");
    let out = Lexed { tokens: Vec::new(), comments: Vec::new(), errors: Vec::new() };
    let has_strings = lexicon.symbols.contains(&QUOTE);
    let symbols = Symbols::new(lexicon);
    let mut lexer = Lexer { text: file.text(), base: file.base(), at: 0, lexicon, symbols, out };
    if let Some(span) = file.invalid_utf8() {
        lexer.out.errors.push(LexError::InvalidUtf8(span));
    }
    while lexer.at < lexer.text.len() {
        lexer.next(has_strings);
    }
    lexer.out.tokens.push(Token { kind: TokenKind::End, span: file.end() });
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    base: u32,
    at: usize,
    lexicon: &'a Lexicon,
    symbols: Symbols,
    out: Lexed,
}

/// The spellings of symbols, grouped by their first byte, the longest of each group first: only symbols with
/// the right first byte are compared.
struct Symbols {
    spellings: Vec<(&'static str, &'static str)>,
    /// For each byte, where its group starts; the next group starts where it ends.
    starts: [usize; 257],
}

impl Symbols {
    fn new(lexicon: &Lexicon) -> Self {
        let symbols = lexicon.symbols.iter().map(|symbol| (*symbol, *symbol));
        let mut spellings: Vec<_> = symbols.chain(lexicon.twins.iter().copied()).collect();
        spellings.sort_by_key(|(spelling, _)| (spelling.as_bytes()[0], std::cmp::Reverse(spelling.len())));
        let mut starts = [0; 257];
        for (byte, start) in starts.iter_mut().enumerate() {
            *start = spellings.partition_point(|(spelling, _)| usize::from(spelling.as_bytes()[0]) < byte);
        }
        Symbols { spellings, starts }
    }

    /// The longest symbol at the start of `text`: its meaning, and its length.
    fn find(&self, text: &str) -> Option<(&'static str, usize)> {
        let first = usize::from(*text.as_bytes().first()?);
        let group = &self.spellings[self.starts[first]..self.starts[first + 1]];
        let (spelling, symbol) = group.iter().find(|(spelling, _)| text.starts_with(spelling))?;
        Some((symbol, spelling.len()))
    }
}

impl Lexer<'_> {
    fn next(&mut self, has_strings: bool) {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return };
        if first.is_whitespace() || first == '\u{FEFF}' {
            self.at += first.len_utf8();
        } else if rest.starts_with("--") {
            let line = rest.find('\n').unwrap_or(rest.len());
            self.comment(CommentKind::Line, rest[..line].trim_end().len());
            self.at = self.at.max(self.text.len() - rest.len() + line);
        } else if rest.starts_with("(*") {
            self.block_comment(rest);
        } else if first.is_ascii_alphabetic() || first == '_' {
            self.word(rest);
        } else if first.is_ascii_digit() {
            self.token(TokenKind::Number, number_length(rest.as_bytes()));
        } else if has_strings && rest.starts_with(QUOTE) {
            self.token(TokenKind::String, string_length(rest));
        } else if let Some((symbol, length)) = self.symbols.find(rest) {
            self.token(TokenKind::Symbol(symbol), length);
        } else {
            self.unexpected(first);
        }
    }

    fn span(&self, length: usize) -> Span {
        let offset = |at: usize| self.base + u32::try_from(at).expect("a source file is at most 64 MiB");
        Span::new(offset(self.at), offset(self.at + length))
    }

    fn token(&mut self, kind: TokenKind, length: usize) {
        let span = self.span(length);
        self.out.tokens.push(Token { kind, span });
        self.at += length;
    }

    fn comment(&mut self, kind: CommentKind, length: usize) {
        let span = self.span(length);
        self.out.comments.push(Comment { kind, span });
        self.at += length;
    }

    fn block_comment(&mut self, rest: &str) {
        let bytes = rest.as_bytes();
        let (mut depth, mut i) = (0_usize, 0);
        while i < bytes.len() {
            match bytes.get(i..i + 2) {
                Some(b"(*") => (depth, i) = (depth + 1, i + 2),
                Some(b"*)") => (depth, i) = (depth - 1, i + 2),
                _ => i += 1,
            }
            if depth == 0 {
                return self.comment(CommentKind::Block, i);
            }
        }
        let opening = self.span(2);
        self.out.errors.push(LexError::UnterminatedComment(opening));
        self.at = self.text.len();
    }

    fn word(&mut self, rest: &str) {
        let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'\'';
        let length = rest.bytes().take_while(in_name).count();
        let kind = match self.lexicon.reserved.binary_search(&&rest[..length]) {
            Ok(index) => TokenKind::Symbol(self.lexicon.reserved[index]),
            Err(_) => TokenKind::Name,
        };
        self.token(kind, length);
    }

    fn unexpected(&mut self, first: char) {
        let span = self.span(first.len_utf8());
        self.at += first.len_utf8();
        match self.out.errors.last_mut() {
            // The replacement character stands for bytes that were reported already.
            Some(LexError::InvalidUtf8(_)) if first == '\u{FFFD}' => {}
            Some(LexError::UnexpectedCharacters(last)) if last.end == span.start => last.end = span.end,
            _ => self.out.errors.push(LexError::UnexpectedCharacters(span)),
        }
    }
}

/// The length of the string at the start of `text`, which starts with a quote.
fn string_length(text: &str) -> usize {
    match text[1..].find(['"', '\n']) {
        Some(end) if text[1 + end..].starts_with(QUOTE) => end + 2,
        Some(end) => text[..=end].trim_end().len(),
        None => text.trim_end().len(),
    }
}

/// The length of the number at the start of `text`, which starts with a digit. A point or an exponent
/// belongs to the number only if a digit follows.
fn number_length(text: &[u8]) -> usize {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if text.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = text.get(length + 1 + sign).map_or(0, |_| digits(length + 1 + sign));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    const LEXICON: Lexicon = Lexicon {
        reserved: &["in", "let"],
        symbols: &["(", ")", "*", "+", ".", "<", "<=", "="],
        twins: &[("≤", "<="), ("×", "*")],
    };

    fn check(text: &str, expected: &Expect) {
        check_with(&LEXICON, text, expected);
    }

    fn check_with(lexicon: &Lexicon, text: &str, expected: &Expect) {
        let file = SourceFile::new("test", text);
        let lexed = lex(&file, lexicon);
        let mut shown = Vec::new();
        for token in &lexed.tokens {
            shown.push(match token.kind {
                TokenKind::Name => format!("name {}", file.slice(token.span)),
                TokenKind::Number => format!("number {}", file.slice(token.span)),
                TokenKind::String => format!("string {}", file.slice(token.span)),
                TokenKind::Symbol(symbol) => symbol.to_string(),
                TokenKind::End => "end".to_string(),
            });
        }
        let comments = lexed.comments.iter().map(|c| format!("comment {:?}", file.slice(c.span)));
        shown.extend(comments);
        shown.extend(lexed.errors.iter().map(|error| format!("{error:?}")));
        expected.assert_eq(&shown.join(" | "));
    }

    #[test]
    fn a_point_without_digits_is_not_part_of_a_number() {
        check("1.rd 2.5 3. x", &expect!["number 1 | . | name rd | number 2.5 | number 3 | . | name x | end"]);
    }

    #[test]
    fn an_exponent_needs_digits() {
        check(
            "1e5 1e-5 1e 2e+",
            &expect!["number 1e5 | number 1e-5 | number 1 | name e | number 2 | name e | + | end"],
        );
    }

    #[test]
    fn twins_become_their_ascii_symbol() {
        check("a ≤ b×c <= d", &expect!["name a | <= | name b | * | name c | <= | name d | end"]);
    }

    #[test]
    fn comments_nest_and_run_to_the_end_of_the_line() {
        check(
            "(* a (* b *) *) x -- y \nlet",
            &expect![[r#"name x | let | end | comment "(* a (* b *) *)" | comment "-- y""#]],
        );
    }

    #[test]
    fn strings_end_with_their_line_and_hold_no_comments() {
        let lexicon = Lexicon { symbols: &[QUOTE, "="], ..LEXICON };
        check_with(
            &lexicon,
            "in \"a -- (* b\" = \"c \nd\" \"",
            &expect![[r#"in | string "a -- (* b" | = | string "c | name d | string " " | end"#]],
        );
        check(
            "\"a\"",
            &expect![[
                r"name a | end | UnexpectedCharacters(Span { start: 0, end: 1 }) | UnexpectedCharacters(Span { start: 2, end: 3 })"
            ]],
        );
    }

    #[test]
    fn a_run_of_strange_characters_is_one_error() {
        check("x ££ y", &expect!["name x | name y | end | UnexpectedCharacters(Span { start: 2, end: 6 })"]);
    }

    #[test]
    fn an_open_comment_is_reported_where_it_opens() {
        check("x (* (* *)", &expect!["name x | end | UnterminatedComment(Span { start: 2, end: 4 })"]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_one_error() {
        let file = SourceFile::from_bytes("test", b"x \xff\xfe y".to_vec());
        let lexed = lex(&file, &LEXICON);
        assert_eq!(lexed.errors, [LexError::InvalidUtf8(Span::new(2, 5))]);
        assert_eq!(lexed.tokens.len(), 3);
    }
}
