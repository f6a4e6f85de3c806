//! Parsing of the start of a block or an atom.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::lexicon::starts_block;
use super::{Frame, Parser, State};
use crate::dialect::Dialect;
use crate::surface::{Binder, ExprKind, Prefix};

impl Parser<'_> {
    /// `block ::= lam | let | cond | tylam | fix | cmp [ ':=' block ]`.
    pub(super) fn block(&mut self) -> State {
        let token = self.reader.token();
        let TokenKind::Symbol(symbol) = token.kind else { return State::Operand };
        match symbol {
            "\\" => self.lambda(token.span),
            "let" => self.let_head(token.span),
            "if" => {
                self.reader.advance();
                self.frames.push(Frame::IfCondition { start: token.span });
                State::Block
            }
            "/\\" if self.dialect == Dialect::SystemF => self.type_lambda(token.span),
            "fix" if self.dialect == Dialect::SystemF => self.fix(token.span),
            "/\\" | "fix" => {
                self.reader.syntax_error("a term");
                self.reader.help(&format!("`{symbol}` is only in `.sysf` files"));
                self.recover()
            }
            _ => State::Operand,
        }
    }

    /// An operand starts: a function, whose arguments may follow.
    pub(super) fn operand(&mut self) -> State {
        self.frames.push(Frame::Words { function: None, arguments: Vec::new() });
        let token = self.reader.token();
        let prefix = match token.kind {
            TokenKind::Symbol("ref") => Prefix::Ref,
            TokenKind::Symbol("fst") => Prefix::First,
            TokenKind::Symbol("snd") => Prefix::Second,
            _ => return State::Atom,
        };
        if self.dialect != Dialect::References {
            return State::Atom;
        }
        self.reader.advance();
        self.frames.push(Frame::Prefix { start: token.span, prefix });
        State::Atom
    }

    /// `atom ::= INT | IDENT | '(' expr ')' | '(' expr (',' expr)+ ')' | '!' atom`.
    pub(super) fn atom(&mut self) -> State {
        let token = self.reader.token();
        if self.reader.sees_literal() {
            let start = token.span;
            let Some(int) = self.reader.literal() else {
                return State::HaveAtom(self.push(ExprKind::Error, start));
            };
            return State::HaveAtom(self.push(ExprKind::Int(int), start));
        }
        match token.kind {
            TokenKind::Name => {
                self.reader.advance();
                let name = self.names.intern(self.reader.slice(token.span));
                State::HaveAtom(self.push(ExprKind::Name(name), token.span))
            }
            TokenKind::Symbol("(") => self.bracket(token.span, ")"),
            TokenKind::Symbol("⟨") if self.dialect == Dialect::References => self.bracket(token.span, "⟩"),
            TokenKind::Symbol("!") if self.dialect == Dialect::References => {
                self.reader.advance();
                self.frames.push(Frame::Prefix { start: token.span, prefix: Prefix::Read });
                State::Atom
            }
            _ => self.no_atom(),
        }
    }

    fn no_atom(&mut self) -> State {
        self.reader.syntax_error("a term");
        if let TokenKind::Symbol(symbol) = self.reader.token().kind {
            let help = match symbol {
                _ if starts_block(symbol) => {
                    "put it in parentheses: it extends as far to the right as it can"
                }
                "-" => "there is no unary minus; a minus directly in front of a digit is part of the number",
                "ref" | "fst" | "snd" if self.dialect == Dialect::References => "put it in parentheses",
                "ref" | "fst" | "snd" | "!" | "⟨" => "references and pairs are only in `.ref` files",
                "{" | "∅" | "@" => "tables and addresses are values to ask about, not terms",
                _ => "",
            };
            if !help.is_empty() {
                self.reader.help(help);
            }
        }
        self.recover()
    }

    fn bracket(&mut self, open: Span, close: &'static str) -> State {
        self.reader.advance();
        self.frames.push(Frame::Bracket { open, close, items: Vec::new() });
        State::Block
    }

    /// `λ binders .`.
    fn lambda(&mut self, start: Span) -> State {
        self.reader.advance();
        let binders = self.binders();
        if binders.as_ref().is_some_and(|_| self.reader.expect(".")) {
            self.frames.push(Frame::Lambda { start, binders: binders.unwrap_or_default() });
            return State::Block;
        }
        self.frames.push(Frame::Lambda { start, binders: binders.unwrap_or_default() });
        self.recover_to_body()
    }

    /// `binders ::= IDENT+`, or `IDENT ':' type | ( '(' IDENT ':' type ')' )+` where variables have types.
    fn binders(&mut self) -> Option<Vec<Binder>> {
        if self.dialect.is_typed() && !self.reader.sees("(") {
            return Some(vec![self.typed_binder()?]);
        }
        let binders = self.params()?;
        if binders.is_empty() {
            // Reports the error at this token.
            self.ident("a variable");
            return None;
        }
        if !self.dialect.is_typed() && self.reader.sees(":") {
            self.reader.syntax_error("`.`");
            self.reader.help("there are no types in `.lam` files");
            return None;
        }
        Some(binders)
    }

    /// `params ::= IDENT*`, or `( '(' IDENT ':' type ')' )*` where variables have types.
    fn params(&mut self) -> Option<Vec<Binder>> {
        let mut params = Vec::new();
        if self.dialect.is_typed() {
            while self.reader.eat("(") {
                params.push(self.typed_binder()?);
                if !self.reader.expect(")") {
                    return None;
                }
            }
        } else {
            while self.reader.token().kind == TokenKind::Name {
                params.push(Binder { ident: self.ident("a variable")?, annotation: None });
            }
        }
        Some(params)
    }

    /// `x : A`.
    fn typed_binder(&mut self) -> Option<Binder> {
        let ident = self.ident("a variable")?;
        if !self.reader.expect(":") {
            self.reader.help("each variable has its type: `\\x:int. e`");
            return None;
        }
        let annotation = Some(self.annotation()?);
        Some(Binder { ident, annotation })
    }

    /// From `let` to after `=`.
    fn let_head(&mut self, start: Span) -> State {
        self.reader.advance();
        let head = self.ident("a variable").and_then(|ident| {
            let params = self.params()?;
            let is_recursion = self.reader.slice(ident.span) == "rec";
            let is_complete = self.reader.expect("=");
            if !is_complete && is_recursion {
                self.reader.help(self.dialect.recursion());
            }
            is_complete.then_some((ident, params))
        });
        let Some((ident, params)) = head else { return self.recover() };
        self.frames.push(Frame::LetBound { start, ident, params });
        State::Block
    }

    /// `Λ a b .`.
    fn type_lambda(&mut self, start: Span) -> State {
        self.reader.advance();
        let mut idents = Vec::new();
        while idents.is_empty() || self.reader.token().kind == TokenKind::Name {
            let Some(ident) = self.ident("a type variable") else { return self.recover() };
            idents.push(ident);
        }
        if !self.reader.expect(".") {
            return self.recover();
        }
        self.type_names.extend(idents.iter().map(|ident| ident.name));
        self.frames.push(Frame::TypeLambda { start, idents });
        State::Block
    }

    /// `fix f : A .`.
    fn fix(&mut self, start: Span) -> State {
        self.reader.advance();
        let head = self.ident("a variable").and_then(|ident| {
            if !self.reader.expect(":") {
                return None;
            }
            let annotation = self.annotation()?;
            self.reader.expect(".").then_some((ident, annotation))
        });
        let Some((ident, annotation)) = head else { return self.recover() };
        self.frames.push(Frame::Fix { start, ident, annotation });
        State::Block
    }
}
