//! Parsing of the start of an operand.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};

use super::{Bracket, Frame, Parser, Prefix, State, Sugar, Tightness};
use crate::codes;
use crate::surface::{Derivative, ExprKind, Former, Side};

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> State {
        let token = self.cursor.token();
        let start = token.span;
        let symbol = match token.kind {
            TokenKind::Number => return self.number(),
            TokenKind::Name => {
                let text = self.cursor.slice(start);
                if self.starts_choice(text) {
                    return self.no_choice();
                }
                let name = self.names.intern(text);
                return self.atom(ExprKind::Name(name), start);
            }
            TokenKind::Symbol(symbol) => symbol,
            TokenKind::String | TokenKind::End => return self.fail("an expression"),
        };
        if let Some(bracket) = Bracket::of(symbol) {
            return self.open(Frame::Tuple { open: start, bracket, items: Vec::new() });
        }
        match symbol {
            "-" => self.open(Frame::Negate { minus: start }),
            "zero" => self.atom(ExprKind::Zero, start),
            "\\" => self.lambda(),
            "let" => self.let_binder(),
            "fst" | "pi1" => self.prefix(Prefix::Project(Side::First)),
            "snd" | "pi2" => self.prefix(Prefix::Project(Side::Second)),
            "sharp" => self.prefix(Prefix::Sharp),
            "flat" => self.prefix(Prefix::Flat),
            "Omega" => self.prefix(Prefix::Omega),
            "J" => self.prefix(Prefix::Jay),
            "pull" => self.former(Former::Pullback),
            "dmap" => self.former(Former::DualMap),
            "jac" => self.former(Former::Jacobian),
            "jacobian" => {
                self.open(Frame::SugarFunction { start, sugar: Sugar::Derivative(Derivative::Jacobian) })
            }
            "grad" => {
                self.open(Frame::SugarFunction { start, sugar: Sugar::Derivative(Derivative::Gradient) })
            }
            "vjp" => self.open(Frame::SugarFunction { start, sugar: Sugar::Vjp }),
            _ => self.fail("an expression"),
        }
    }

    /// Whether an `if` with a `then` follows. These words are not reserved, so `if c then a` would be read as
    /// an application of names.
    fn starts_choice(&self, text: &str) -> bool {
        // A condition is short, and this bounds the search at each `if`.
        const MAX_TOKENS: usize = 64;
        let is_then = |ahead| {
            let token = self.cursor.ahead(ahead);
            token.kind == TokenKind::Name && self.cursor.slice(token.span) == "then"
        };
        text == "if" && (1..MAX_TOKENS).any(is_then)
    }

    fn no_choice(&mut self) -> State {
        self.syntax_error("an expression");
        self.cursor.help(
            "there is no `if`: every function of this language has derivatives everywhere; a smooth choice is \
             `sigmoid(k * c) * a + (1 - sigmoid(k * c)) * b`",
        );
        self.recover()
    }

    /// Whether the next token starts an argument.
    pub(super) fn starts_argument(&self) -> bool {
        match self.cursor.token().kind {
            TokenKind::Number | TokenKind::Name => true,
            TokenKind::Symbol(symbol) => {
                matches!(symbol, "zero" | "pull" | "dmap" | "jac" | "(" | "<" | "[" | "\\")
            }
            TokenKind::String | TokenKind::End => false,
        }
    }

    /// Reads one token, pushes the frame that it opens, and expects an operand.
    fn open(&mut self, frame: Frame) -> State {
        self.cursor.advance();
        self.wait(frame)
    }

    /// Pushes a frame and expects an operand.
    pub(super) fn wait(&mut self, frame: Frame) -> State {
        self.frames.push(frame);
        State::Operand
    }

    /// Reads the last token of an atom.
    fn atom(&mut self, kind: ExprKind, start: Span) -> State {
        self.cursor.advance();
        State::Have(self.push(kind, start), Tightness::Post)
    }

    fn number(&mut self) -> State {
        let span = self.cursor.token().span;
        let value: f64 =
            self.cursor.slice(span).parse().expect("the lexer reads only numbers that Rust reads");
        if value.is_finite() {
            return self.atom(ExprKind::Number(value), span);
        }
        let diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, span, "parse error: numeral out of range")
            .label("too large for a real")
            .reason(format!("reals are finite 64-bit floating-point numbers, up to {:e}", f64::MAX));
        self.cursor.diagnostics.push(diagnostic);
        self.atom(ExprKind::Error, span)
    }

    /// `fst`, `J`, … take an atom with its exponents; `Omega` and `J` also an unparenthesised λ.
    fn prefix(&mut self, prefix: Prefix) -> State {
        let start = self.cursor.advance().span;
        let takes_lambda = matches!(prefix, Prefix::Omega | Prefix::Jay);
        if !self.starts_argument() || (self.cursor.sees("\\") && !takes_lambda) {
            return self.fail("an operand, in parentheses if it is more than a name");
        }
        self.wait(Frame::Prefix { start, prefix })
    }

    fn former(&mut self, former: Former) -> State {
        let start = self.cursor.advance().span;
        if !self.expect("(") {
            return self.recover();
        }
        self.wait(Frame::Former { start, former, first: None })
    }

    /// Parses a λ from `\` to the `.` before its body.
    fn lambda(&mut self) -> State {
        let start = self.cursor.advance().span;
        let mut binders = Vec::new();
        loop {
            let Some(mut binder) = self.binder() else { return self.recover() };
            if binders.is_empty() && binder.written.is_none() && self.cursor.eat(":") {
                let Some(written) = self.written() else { return self.recover() };
                binder.written = Some(written);
                binder.span = binder.span.to(self.cursor.previous());
                binders.push(binder);
                if !self.expect(".") {
                    return self.recover();
                }
                break;
            }
            binders.push(binder);
            if self.cursor.eat(".") {
                break;
            }
        }
        self.wait(Frame::LambdaBody { start, binders })
    }

    /// Parses a `let` from the keyword to its `=`.
    fn let_binder(&mut self) -> State {
        let start = self.cursor.advance().span;
        let head_at = self.cursor.at;
        let Some(mut binder) = self.binder() else { return self.recover_let(start, head_at) };
        if self.cursor.eat(":") {
            let Some(written) = self.written() else { return self.recover_let(start, head_at) };
            binder.written = Some(written);
            binder.span = binder.span.to(self.cursor.previous());
        }
        if !self.expect("=") {
            if self.cursor.slice(self.cursor.previous()) == "rec" {
                self.cursor.help("there is no `let rec`: programs of this language have no recursion");
            }
            return self.recover_let(start, head_at);
        }
        self.wait(Frame::LetBound { start, binder })
    }
}
