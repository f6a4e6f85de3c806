//! Parsing of the start of an operand.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Confidence, Diagnostic, Edit, Span};

use super::head::Definition;
use super::{Applied, Derivative, Frame, Parser, State, Tightness, lexicon};
use crate::codes;
use crate::operation::Scalar;
use crate::surface::{Abstraction, Callee, ExprKind, Item};

impl Parser<'_> {
    pub(super) fn operand(&mut self) -> State {
        let token = self.cursor.token();
        let start = token.span;
        let TokenKind::Symbol(symbol) = token.kind else {
            return match token.kind {
                TokenKind::Number => self.number(),
                TokenKind::Name => self.name(),
                _ => self.fail("a term"),
            };
        };
        let is_applied = matches!(self.cursor.ahead(1).kind, TokenKind::Symbol("(" | "["));
        if self.misused.contains(symbol) && !is_applied {
            return self.atom(ExprKind::Error, start);
        }
        // Words for functions take their arguments here.
        if let Some(callee) = lexicon::callee(symbol) {
            self.cursor.advance();
            return self.call(start, callee, start);
        }
        match symbol {
            "-" => self.open(Frame::Negate { minus: start }),
            "not" => self.open(Frame::Not { at: start }),
            "if" => self.open(Frame::IfCondition { start }),
            "<" if self.cursor.ahead(1).kind == TokenKind::Symbol(">") => {
                self.cursor.advance();
                self.atom(ExprKind::Unit, start)
            }
            "<" => self.open(Frame::Angle { open: start, items: Vec::new() }),
            "(" if self.cursor.ahead(1).kind == TokenKind::Symbol(")") => {
                self.cursor.advance();
                // Unreadable text between the parentheses was reported before.
                let kind = if self.cursor.follows_unreadable() { ExprKind::Error } else { ExprKind::Unit };
                self.atom(kind, start)
            }
            "(" => self.open(Frame::Paren { open: start, items: Vec::new() }),
            "*" => self.atom(ExprKind::Unit, start),
            "true" | "false" => self.atom(ExprKind::Truth(symbol == "true"), start),
            "let" | "letrec" => self.definition(start, symbol),
            "const" => self.constant(start),
            "grad" => {
                self.cursor.advance();
                if self.expect("[") {
                    self.wait(Frame::Point { start, kind: Derivative::Gradient })
                } else {
                    self.recover()
                }
            }
            "zero" => self.zero(start),
            _ if lexicon::reversed(symbol).is_some() => self.reverse_without_cotangent(symbol),
            _ => self.fail("a term"),
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
        State::Have(self.push(kind, start), Tightness::Atom)
    }

    fn number(&mut self) -> State {
        let span = self.cursor.token().span;
        let value: f64 =
            self.cursor.slice(span).parse().expect("the lexer reads only numbers that Rust reads");
        if value.is_finite() {
            return self.atom(ExprKind::Number(value), span);
        }
        let diagnostic = Diagnostic::error(codes::OUT_OF_RANGE, span, "numeral out of range")
            .label("too large for a real")
            .reason(format!("reals are finite 64-bit floating-point numbers, up to {:e}", f64::MAX));
        self.cursor.diagnostics.push(diagnostic);
        self.atom(ExprKind::Error, span)
    }

    fn name(&mut self) -> State {
        let span = self.cursor.token().span;
        let name = self.names.intern(self.cursor.slice(span));
        if self.cursor.ahead(1).kind == TokenKind::Symbol("(") {
            self.cursor.advance();
            return self.call(span, Callee::Function(name), span);
        }
        self.cursor.advance();
        // `f(*` opens a comment that does not end, so the name may be a function or a variable.
        let is_cut_off = self.cursor.token().kind == TokenKind::End && self.cursor.follows_unreadable();
        let kind = if is_cut_off { ExprKind::Error } else { ExprKind::Name(name) };
        State::Have(self.push(kind, span), Tightness::Atom)
    }

    /// The arguments of a call whose callee was just read.
    fn call(&mut self, start: Span, callee: Callee, callee_span: Span) -> State {
        let Some(callee) = self.exponent_of_powi(callee) else { return self.recover() };
        self.arguments(Applied { start, callee, callee_span, cotangent: None })
    }

    /// `powi[k]` carries its exponent in brackets; no other callee has brackets.
    pub(super) fn exponent_of_powi(&mut self, callee: Callee) -> Option<Callee> {
        if !matches!(callee, Callee::Scalar(Scalar::Powi(_))) {
            return Some(callee);
        }
        if !self.expect("[") {
            return None;
        }
        let exponent = self.integer("an integer exponent")?;
        self.expect("]").then_some(Callee::Scalar(Scalar::Powi(exponent)))
    }

    pub(super) fn arguments(&mut self, applied: Applied) -> State {
        if !self.expect("(") {
            return self.recover();
        }
        if self.cursor.sees(")") {
            if self.cursor.follows_unreadable() {
                return self.atom(ExprKind::Error, applied.start);
            }
            self.cursor.advance();
            return self.finish_call(applied, Vec::new());
        }
        self.wait(Frame::Arguments { applied, items: Vec::new() })
    }

    pub(super) fn finish_call(&mut self, applied: Applied, items: Vec<crate::surface::ExprId>) -> State {
        let Applied { start, callee, callee_span, cotangent } = applied;
        let kind = match cotangent {
            None => ExprKind::Call(callee, callee_span, items),
            Some(cotangent) => ExprKind::ReverseCall(cotangent, callee, callee_span, items),
        };
        State::Have(self.push(kind, start), Tightness::Atom)
    }

    fn definition(&mut self, start: Span, word: &str) -> State {
        self.cursor.advance();
        let head_at = self.cursor.at;
        let definition = if word == "let" { self.let_head() } else { self.letrec_head() };
        match definition {
            Some(Definition::Value(pattern)) => self.wait(Frame::LetBound { start, pattern }),
            Some(Definition::Function(head)) => self.wait(Frame::FunctionBody { start, head }),
            None => self.recover_definition(head_at),
        }
    }

    fn constant(&mut self, start: Span) -> State {
        self.cursor.advance();
        let head_at = self.cursor.at;
        let ident = self.ident("the name of a constant");
        match ident {
            Some(ident) if self.expect("=") => self.wait(Frame::ConstValue { start, ident }),
            _ => self.recover_definition(head_at),
        }
    }

    fn zero(&mut self, start: Span) -> State {
        self.cursor.advance();
        if !self.expect("[") {
            return self.recover();
        }
        let Some(annotation) = self.annotation() else { return self.recover() };
        if !self.expect("]") {
            return self.recover();
        }
        State::Have(self.push(ExprKind::Zero(annotation), start), Tightness::Atom)
    }

    /// `(x:T. N)` or `(f)`, after the `]` of a derivative.
    pub(super) fn abstraction(
        &mut self,
        start: Span,
        kind: Derivative,
        point: crate::surface::ExprId,
    ) -> State {
        if !self.expect("(") {
            return self.recover();
        }
        self.explain_operation_as_function();
        let Some(ident) = self.ident("a variable or the name of a function") else { return self.recover() };
        if self.cursor.eat(")") {
            return self.finish_derivative(start, kind, point, Abstraction::Function(ident));
        }
        let annotation = if self.cursor.eat(":") {
            match self.annotation() {
                Some(annotation) => Some(annotation),
                None => return self.recover(),
            }
        } else {
            None
        };
        if !self.expect(".") {
            return self.recover();
        }
        self.wait(Frame::Body { start, kind, point, item: Item { ident, annotation } })
    }

    /// `grad[2](sin)`: an operation is not a function variable; suggests the right form.
    fn explain_operation_as_function(&mut self) {
        let token = self.cursor.token();
        let TokenKind::Symbol(word) = token.kind else { return };
        if lexicon::callee(word).is_none() || self.cursor.ahead(1).kind != TokenKind::Symbol(")") {
            return;
        }
        let replacement = format!("x. {word}(x)");
        let edit = Edit { span: token.span, replacement, confidence: Confidence::Safe };
        let diagnostic = Diagnostic::error(codes::RESERVED, token.span, format!("`{word}` is reserved"))
            .label("an operation, not a function of the program")
            .help_with_edit("write the function that applies it", edit);
        self.cursor.diagnostics.push(diagnostic);
        self.misused.insert(word);
    }

    fn reverse_without_cotangent(&mut self, word: &str) -> State {
        self.syntax_error("a term");
        self.cursor.help(&format!("a reverse operation follows its cotangent: `w.{word}(x)`"));
        self.recover()
    }
}
