//! Syntax errors: reports the expected token, and finds a position to continue.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Confidence, Diagnostic, Edit, Help, Span};

use super::Parser;
use super::frame::Frame;
use crate::codes;
use crate::tree::{ExprId, ExprKind, Ident};

/// The context of the parser, which decides where it continues after an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among the equations of a node.
    Node,
    /// Among the rows of a run.
    Run,
    /// In a function, a constant, a type or an evaluation.
    Function,
    /// Between declarations.
    File,
}

/// A reported error, to which help and a cause can be added; additions to a dropped error are ignored.
pub(super) struct Complaint<'p>(Option<&'p mut Diagnostic>);

impl Complaint<'_> {
    /// Sets the help.
    pub fn help(self, text: impl Into<String>) -> Self {
        self.add_help(text.into(), None)
    }

    /// Sets the help with an edit.
    pub fn edit(
        self,
        text: impl Into<String>,
        span: Span,
        replacement: &str,
        confidence: Confidence,
    ) -> Self {
        let edit = Edit { span, replacement: replacement.to_string(), confidence };
        self.add_help(text.into(), Some(edit))
    }

    /// Sets the cause, and removes earlier ones.
    pub fn cause(mut self, span: Span, text: &str) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.causes.clear();
            diagnostic.causes.push(eddy_syntax::Label { span, text: text.to_string() });
        }
        self
    }

    fn add_help(mut self, text: String, edit: Option<Edit>) -> Self {
        if let Some(diagnostic) = &mut self.0 {
            diagnostic.help = Some(Help { text, edit });
        }
        self
    }
}

impl Parser<'_> {
    /// Reports that something else was expected here. A second error at the same token is dropped, and so is
    /// one that follows from text that the lexer could not read.
    pub(super) fn complain(&mut self, expected: &str) -> Complaint<'_> {
        let found = match self.token().kind {
            TokenKind::End => "the end of the file".to_string(),
            _ => format!("`{}`", shortened(self.text())),
        };
        self.complain_about(expected, &found)
    }

    /// As [`Parser::complain`], and continues to parse the expression as it was probably intended.
    pub(super) fn complain_and_guess(&mut self, expected: &str) -> Complaint<'_> {
        self.has_guessed = true;
        self.complain(expected)
    }

    /// As [`Parser::complain`], with another description of the token that was found.
    pub(super) fn complain_about(&mut self, expected: &str, found: &str) -> Complaint<'_> {
        if self.last_complaint.replace(self.at) == Some(self.at) || self.follows_unreadable() {
            return Complaint(None);
        }
        let title = format!("expected {expected}, found {found}");
        let mut diagnostic = Diagnostic::error(codes::SYNTAX, self.token().span, title);
        if let Some((span, text)) = self.innermost().find_map(Frame::opening) {
            diagnostic = diagnostic.cause(span, text);
        }
        self.diagnostics.push(diagnostic);
        Complaint(self.diagnostics.last_mut())
    }

    /// The innermost open forms. Error messages examine only these: with all of them, a program with a
    /// hundred thousand nested errors would take hours.
    pub(super) fn innermost(&self) -> impl Iterator<Item = &Frame> {
        self.frames.iter().rev().take(16)
    }

    /// Whether text that the lexer could not read, and reported, is right before the next token.
    fn follows_unreadable(&self) -> bool {
        let before = if self.at == 0 { self.file.base() } else { self.previous().span.end };
        let next = self.unreadable.partition_point(|start| *start < before);
        self.unreadable.get(next).is_some_and(|start| *start <= self.token().span.start)
    }

    /// Reports a token that cannot follow an operand.
    pub(super) fn complain_after_operand(&mut self, expected: &str, operand: ExprId) {
        if self.has_guessed {
            return;
        }
        let help = self.help_after_operand(operand);
        let complaint = self.complain(expected);
        if let Some(help) = help {
            complaint.help(help);
        }
    }

    pub(super) fn complain_about_chained_comparison(&mut self) {
        self.complain_and_guess("`and`, `or` or the end of the comparison")
            .help("comparisons do not chain: write `a < b and b < c`");
    }

    /// `merge c x y when d`.
    pub(super) fn complain_about_when(&mut self, value: ExprId) {
        let what = if let ExprKind::Merge(..) = self.exprs().kind(value) { "merge …" } else { "…" };
        let help = format!("`when` binds tighter than what stands before it: write `({what}) when …`");
        self.complain_and_guess("an operator").help(help);
    }

    /// `f (x)` or `x [0]`, where `left` ends before the blank.
    pub(super) fn complain_about_blank(&mut self, left: Span, help: &str) {
        let blank = Span::new(left.end, self.token().span.start);
        // A blank that contains a comment is not removed.
        let is_blank = self.file.slice(blank).trim().is_empty();
        let complaint = self.complain_and_guess("an operator");
        if is_blank {
            complaint.edit(help, blank, "", Confidence::Safe);
        } else {
            complaint.help(help);
        }
    }

    /// Reads a name to bind; a reserved word is reported and read as a name.
    pub(super) fn ident(&mut self, what: &str) -> Option<Ident> {
        match self.token().kind {
            TokenKind::Name if self.text() == "_" => {
                self.complain(what)
                    .help("`_` stands only on the left side of `=`, for a value that is not used");
            }
            TokenKind::Name => {}
            // `node f(x, node g(…`: the first declaration is incomplete.
            TokenKind::Symbol("node") if self.peek(1) == TokenKind::Name => {
                self.complain(what);
                return None;
            }
            TokenKind::Symbol(word) if word.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                let text = self.text();
                if self.misused.insert(word) {
                    self.complain_about(what, &format!("the reserved word `{text}`"))
                        .help(format!("choose another name, for instance `{word}1`"));
                }
                let name = self.names.intern(text);
                self.poisoned.insert(name);
            }
            _ => {
                self.complain(what);
                return None;
            }
        }
        Some(self.ident_here())
    }

    /// An expression and its `;`.
    pub(super) fn line(&mut self, place: Place) -> ExprId {
        if let Some(value) = self.expression() {
            self.end_of_line(Some(value), place);
            return value;
        }
        let value = self.error_expr();
        self.skip(place);
        value
    }

    /// The `;` after an expression or a row. If it is missing and a new construct clearly begins, parsing
    /// continues there, otherwise at the next position to continue.
    pub(super) fn end_of_line(&mut self, value: Option<ExprId>, place: Place) {
        if self.eat(";") {
            return;
        }
        if self.begins_something(place) && !self.follows_foreign_word() {
            let after = self.previous().span.after();
            let what = match place {
                Place::Run => "a row",
                Place::Function => "a declaration",
                Place::Node | Place::File => "an equation",
            };
            let swallowed = self.help_after_comment();
            let complaint = self.complain("`;`");
            match swallowed {
                Some(help) => complaint.help(help),
                None => complaint.edit(format!("{what} ends with `;`"), after, ";", Confidence::Maybe),
            };
            return;
        }
        if let Some(value) = value {
            self.complain_after_operand("an operator or `;`", value);
        } else {
            self.complain("a cell or `;`");
        }
        self.skip(place);
    }

    /// Whether the next token begins an equation, a row or a declaration, or is the end of the text.
    fn begins_something(&self, place: Place) -> bool {
        if place == Place::Function {
            return self.token().kind == TokenKind::End || self.begins_item();
        }
        match self.token().kind {
            TokenKind::End => true,
            TokenKind::Symbol("}") => place == Place::Run,
            TokenKind::Symbol("(") => {
                self.starts_line()
                    && self.peek(1) == TokenKind::Name
                    && matches!(self.peek(2), TokenKind::Symbol("," | ")" | ":"))
            }
            TokenKind::Name => match self.peek(1) {
                TokenKind::Symbol("=" | ":=" | ":") => true,
                TokenKind::Symbol("==" | "," | "when") => self.starts_line(),
                _ => self.begins_item(),
            },
            _ => self.begins_item(),
        }
    }

    /// Whether the next token begins a declaration.
    pub(super) fn begins_item(&self) -> bool {
        match self.token().kind {
            TokenKind::Symbol("node") => true,
            TokenKind::Name => match self.text() {
                "run" | "train" | "fn" | "const" | "type" => self.peek(1) == TokenKind::Name,
                "import" => matches!(self.peek(1), TokenKind::Name | TokenKind::String),
                // The name of a stream is on the left side of an equation.
                "eval" => !matches!(self.peek(1), TokenKind::Symbol("=" | "," | ":") | TokenKind::End),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the next token starts a line and is a name before `=`. In any context this is the start of an
    /// equation.
    pub(super) fn begins_equation(&self) -> bool {
        matches!(self.peek(1), TokenKind::Symbol("=" | ":="))
            && self.token().kind == TokenKind::Name
            && self.starts_line()
    }

    /// Skips past the next `;`, or to where a new construct begins.
    pub(super) fn skip(&mut self, place: Place) {
        loop {
            match self.token().kind {
                TokenKind::End => return,
                TokenKind::Symbol(";") if place != Place::File => {
                    self.advance();
                    return;
                }
                TokenKind::Symbol("}") if place == Place::Run => return,
                TokenKind::Symbol("{") if place == Place::Node => return self.skip_braces(),
                TokenKind::Symbol("{") if place == Place::File => {
                    self.skip_braces();
                    if matches!(self.token().kind, TokenKind::Symbol(_)) {
                        continue;
                    }
                    return;
                }
                _ if self.begins_item() => return,
                _ if matches!(place, Place::Node | Place::Run) && self.begins_equation() => return,
                TokenKind::Name => {
                    let span = self.token().span;
                    let name = self.intern(span);
                    self.poisoned.insert(name);
                    let begins_row = self.peek(1) == TokenKind::Symbol(":") && self.starts_line();
                    if place == Place::Run && begins_row {
                        return;
                    }
                }
                _ => {}
            }
            self.advance();
        }
    }

    /// Skips the rows of a run whose head could not be read.
    pub(super) fn skip_braces(&mut self) {
        while self.token().kind != TokenKind::End && !self.begins_item() {
            if self.advance().kind == TokenKind::Symbol("}") {
                self.eat(";");
                return;
            }
        }
    }

    /// Marks the names from this token on as parts of unreadable text.
    pub(super) fn poison_since(&mut self, start: usize) {
        for token in &self.tokens[start..self.at] {
            if token.kind == TokenKind::Name {
                let name = self.names.intern(self.file.slice(token.span));
                self.poisoned.insert(name);
            }
        }
    }
}

/// A text for a message, shortened if it is long.
pub(super) fn shortened(text: &str) -> String {
    // Longer than nearly all names, shorter than a line.
    const MAX_CHARS: usize = 40;
    // These characters take at most four times as many bytes; the rest of a long text is not examined.
    let start = &text[..text.floor_char_boundary(4 * MAX_CHARS + 4)];
    let line = start.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_CHARS) {
        None if line.len() == text.len() => text.to_string(),
        None => format!("{line}…"),
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}
