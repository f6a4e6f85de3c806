//! Parsing of the start of an argument.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Diagnostic, Span};

use super::lexicon::prefix;
use super::{Frame, Parser, State};
use crate::codes;
use crate::surface::{Binders, ExprKind, Prefix};
use crate::syntax::Op;

impl Parser<'_> {
    /// `arg = block | op arg | atom`.
    pub(super) fn argument(&mut self) -> State {
        let token = self.cursor.token();
        let start = token.span;
        let wants_atom = matches!(self.frames.last(), Some(Frame::Switch { .. }));
        let symbol = match token.kind {
            TokenKind::Name => {
                let name = self.names.intern(self.cursor.slice(start));
                self.cursor.advance();
                return State::Have(self.push(ExprKind::Name(name), start));
            }
            TokenKind::Number => return self.numeral(),
            TokenKind::Symbol(symbol) => symbol,
            _ => return self.fail("a term"),
        };
        if wants_atom && (prefix(symbol).is_some() || matches!(symbol, "\\" | "let" | "if" | "ifz")) {
            self.syntax_error("a name, a number or a parenthesis");
            self.cursor.help("put the test in parentheses: `<M0, M1>^(…)`");
            return self.recover();
        }
        if let Some(operator) = prefix(symbol) {
            return self.operator(operator);
        }
        match symbol {
            "(" => self.open(Frame::Paren { open: start }),
            "<" => self.open(Frame::Angle { open: start }),
            "\\" => self.lambda(start),
            "let" => self.let_head(start),
            "if" | "ifz" => {
                self.cursor.advance();
                let Some(depth) = self.depth() else { return self.recover() };
                self.frames.push(Frame::IfCondition { start, depth });
                State::Term
            }
            "coin" => self.coin(start),
            "choice" => self.choice(start),
            "omega" => self.omega(start),
            "+" => {
                self.cursor.advance();
                self.no_sums(start, "`+` is not written in programs");
                State::Argument
            }
            "zero" => {
                self.cursor.advance();
                self.no_sums(start, "`zero` is not written in programs");
                State::Have(self.push(ExprKind::Error, start))
            }
            _ => self.fail("a term"),
        }
    }

    /// Sums and zeros are internal: programs have none (section 1).
    pub(super) fn no_sums(&mut self, span: Span, title: &str) {
        let diagnostic = Diagnostic::error(codes::SUM, span, title)
            .label("no sums of terms here")
            .reason(
                "sums appear only inside summable pairs, as `theta` makes them; terms cannot be added freely",
            )
            .help(
                "to add numbers, write a recursive `add`; for an empty pair component use `inj0` or `inj1`",
            );
        self.cursor.diagnostics.push(diagnostic);
    }

    fn open(&mut self, frame: Frame) -> State {
        self.cursor.advance();
        self.frames.push(frame);
        State::Term
    }

    /// An operator with its index and its depth; its argument follows.
    fn operator(&mut self, operator: Prefix) -> State {
        let start = self.cursor.advance().span;
        let word = self.cursor.slice(start);
        let prefix = match operator {
            Prefix::Op(op, _) => {
                let op = match op {
                    Op::Flip(_) if self.cursor.eat("[") => {
                        let Some(levels) = self.small("the number of levels between the outer two") else {
                            return self.recover();
                        };
                        if !self.expect("]") {
                            return self.recover();
                        }
                        Op::Flip(levels)
                    }
                    op => op,
                };
                let Some(depth) = self.depth() else { return self.recover() };
                Prefix::Op(op, depth)
            }
            Prefix::Derive(_) => {
                let times =
                    if self.cursor.eat("^") { self.small("how often to differentiate") } else { Some(1) };
                let Some(times) = times else { return self.recover() };
                Prefix::Derive(times)
            }
            other => {
                if self.cursor.sees("^") {
                    self.syntax_error("a term");
                    self.cursor.help(&format!("`{word}` has no depth"));
                    return self.recover();
                }
                other
            }
        };
        self.frames.push(Frame::Prefix { start, prefix });
        State::Argument
    }

    /// `\x:A.` or `\(x y:A)(z:B).`.
    fn lambda(&mut self, start: Span) -> State {
        self.cursor.advance();
        match self.binders() {
            Some(binders) => {
                self.frames.push(Frame::Lambda { start, binders });
                State::Term
            }
            None => {
                // The body follows the point in any case.
                let frame = Frame::Lambda { start, binders: Vec::new() };
                self.frames.push(frame);
                self.recover_to_body()
            }
        }
    }

    fn binders(&mut self) -> Option<Vec<Binders>> {
        let mut all = Vec::new();
        if self.cursor.sees("(") {
            while self.cursor.sees("(") {
                all.push(self.binder_group()?);
            }
        } else {
            let ident = self.ident("a variable")?;
            let annotation = self.typed()?;
            let span = ident.span.to(annotation.span);
            all.push(Binders { idents: vec![ident], annotation, span });
        }
        self.expect(".").then_some(all)
    }

    /// `(x y : A)`.
    fn binder_group(&mut self) -> Option<Binders> {
        let open = self.cursor.advance().span;
        let mut idents = vec![self.ident("a variable")?];
        while self.cursor.token().kind == TokenKind::Name {
            idents.push(self.ident("a variable")?);
        }
        let annotation = self.typed()?;
        self.expect(")").then(|| Binders { idents, annotation, span: open.to(self.cursor.previous()) })
    }

    fn typed(&mut self) -> Option<crate::surface::Annotation> {
        if !self.expect(":") {
            self.cursor.help("each variable has its type: `\\x:nat. M`");
            return None;
        }
        self.annotation()
    }

    /// From `let` to after `=`.
    fn let_head(&mut self, start: Span) -> State {
        self.cursor.advance();
        let head = self.depth().and_then(|depth| {
            let ident = self.ident("a variable")?;
            self.expect("=").then_some((depth, ident))
        });
        let Some((depth, ident)) = head else { return self.recover() };
        self.frames.push(Frame::LetBound { start, depth, ident });
        State::Term
    }

    fn coin(&mut self, start: Span) -> State {
        self.cursor.advance();
        if !self.expect("(") {
            return self.recover();
        }
        let Some(probability) = self.probability() else { return self.recover() };
        if !self.expect(")") {
            return self.recover();
        }
        State::Have(self.push(ExprKind::Coin(probability), start))
    }

    fn choice(&mut self, start: Span) -> State {
        self.cursor.advance();
        if !self.expect("(") {
            return self.recover();
        }
        let Some(probability) = self.probability() else { return self.recover() };
        if !self.expect(",") {
            return self.recover();
        }
        self.frames.push(Frame::ChoiceFirst { start, probability });
        State::Term
    }

    fn omega(&mut self, start: Span) -> State {
        self.cursor.advance();
        if !self.expect("[") {
            return self.recover();
        }
        let Some(annotation) = self.annotation() else { return self.recover() };
        if !self.expect("]") {
            return self.recover();
        }
        State::Have(self.push(ExprKind::Omega(annotation), start))
    }
}
