//! Statements and blocks.

use super::lexer::Token;
use super::{ParseError, Parser};
use crate::application::Application;
use crate::expr::Expr;
use crate::kernel::{Argument, Kernel, KernelCall};
use crate::name::Name;
use crate::place::Base;
use crate::stmt::{Block, Loop, Parallel, PointsTo, Stmt};

impl Parser {
    /// `{ … }`
    pub(super) fn block(&mut self) -> Result<Block, ParseError> {
        self.tokens.symbol("{")?;
        let block = self.nested(Parser::statements)?;
        self.tokens.symbol("}")?;
        Ok(block)
    }

    /// Statements up to `}` or the end.
    pub(super) fn statements(&mut self) -> Result<Block, ParseError> {
        let mut block = Block::new();
        loop {
            match self.tokens.peek() {
                Token::Symbol("}") | Token::End => return Ok(block),
                Token::Comment(text) => {
                    let note = Stmt::Note(text.clone());
                    self.tokens.next();
                    block.push(note);
                }
                _ => block.push(self.statement()?),
            }
        }
    }

    fn statement(&mut self) -> Result<Stmt, ParseError> {
        let Token::Name(word) = self.tokens.peek().clone() else {
            return Err(self.tokens.error(format!("expected a statement, found {}", self.tokens.peek())));
        };
        let is_place = matches!(self.tokens.peek_second(), Token::Symbol("." | "[" | "=" | "+="));
        if is_place {
            return self.assignment();
        }
        self.tokens.next();
        match word.as_str() {
            "let" => self.constant(),
            "var" => {
                let (name, ty, value) = self.declared()?;
                self.tokens.symbol(";")?;
                Ok(Stmt::Var(name, ty, value))
            }
            "array" => {
                let name = self.tokens.name()?;
                self.tokens.symbol(":")?;
                let (ty, dimensions) = (self.ty()?, self.dimensions()?);
                self.tokens.symbol(";")?;
                Ok(Stmt::Array(name, ty, dimensions))
            }
            "pointer" => self.pointer(),
            "if" => self.condition(),
            "unroll" => {
                let n = self.tokens.size()?;
                self.tokens.word("for")?;
                self.repeat(Some(n))
            }
            "for" => self.repeat(None),
            "while" => Ok(Stmt::While(self.expression()?, self.block()?)),
            "scope" => Ok(Stmt::Scope(self.block()?)),
            "run" => {
                let procedure = self.tokens.name()?;
                Ok(Stmt::Run(None, procedure, self.arguments()?))
            }
            "apply" => self.application(),
            "parallel" => self.parallel(),
            "check" => {
                let value = self.expression()?;
                self.tokens.symbol(";")?;
                Ok(Stmt::Check(value))
            }
            "leave" => {
                self.tokens.word("if")?;
                self.tokens.word("failed")?;
                self.tokens.symbol(";")?;
                Ok(Stmt::LeaveIfFailed)
            }
            "return" => {
                let value =
                    if self.tokens.takes(";") { return Ok(Stmt::Return(None)) } else { self.expression()? };
                self.tokens.symbol(";")?;
                Ok(Stmt::Return(Some(value)))
            }
            "large" => {
                let name = self.tokens.name()?;
                self.kernel(&name, true)
            }
            _ => self.kernel(&word, false),
        }
    }

    /// `NAME: TYPE = VALUE`
    fn declared(&mut self) -> Result<(Name, crate::Type, Expr), ParseError> {
        let name = self.tokens.name()?;
        self.tokens.symbol(":")?;
        let ty = self.ty()?;
        self.tokens.symbol("=")?;
        Ok((name, ty, self.expression()?))
    }

    /// After `let`.
    fn constant(&mut self) -> Result<Stmt, ParseError> {
        if matches!(self.tokens.peek_second(), Token::Symbol("=")) {
            let name = self.tokens.name()?;
            self.tokens.symbol("=")?;
            self.tokens.word("run")?;
            let procedure = self.tokens.name()?;
            return Ok(Stmt::Run(Some(name), procedure, self.arguments()?));
        }
        let (name, ty, value) = self.declared()?;
        self.tokens.symbol(";")?;
        Ok(Stmt::Let(name, ty, value, self.tokens.comment()))
    }

    fn pointer(&mut self) -> Result<Stmt, ParseError> {
        let (name, ty, condition) = self.declared()?;
        self.tokens.symbol("?")?;
        self.tokens.symbol("&")?;
        let yes = self.place()?;
        self.tokens.symbol(":")?;
        self.tokens.symbol("&")?;
        let no = self.place()?;
        self.tokens.symbol(";")?;
        Ok(Stmt::Pointer(name, ty, Box::new(PointsTo { condition, yes, no })))
    }

    fn assignment(&mut self) -> Result<Stmt, ParseError> {
        let place = self.place()?;
        let adds = self.tokens.takes("+=");
        if !adds {
            self.tokens.symbol("=")?;
        }
        let value = self.expression()?;
        self.tokens.symbol(";")?;
        let comment = self.tokens.comment();
        Ok(match place.base {
            Base::Local(name) if place.at.is_empty() && !adds => Stmt::Assign(name, value, comment),
            _ if adds => Stmt::AddTo(place, value, comment),
            _ => Stmt::Store(place, value, comment),
        })
    }

    fn condition(&mut self) -> Result<Stmt, ParseError> {
        let mut arms = vec![(self.expression()?, self.block()?)];
        while self.tokens.takes_word("else") {
            if self.tokens.takes_word("if") {
                arms.push((self.expression()?, self.block()?));
            } else {
                return Ok(Stmt::If(arms, self.block()?));
            }
        }
        Ok(Stmt::If(arms, Block::new()))
    }

    fn repeat(&mut self, unroll: Option<usize>) -> Result<Stmt, ParseError> {
        let (index, ty, first) = self.declared()?;
        self.tokens.word("while")?;
        let condition = self.expression()?;
        self.tokens.word("by")?;
        let step = self.expression()?;
        let body = self.block()?;
        Ok(Stmt::For(Box::new(Loop { index, ty, first, condition, step, unroll, body })))
    }

    fn kernel(&mut self, name: &Name, is_large: bool) -> Result<Stmt, ParseError> {
        let kernel = Kernel::ALL.into_iter().find(|kernel| kernel.name() == name.as_str());
        let kernel = kernel.ok_or_else(|| self.tokens.error(format!("`{name}` is no statement")))?;
        Ok(Stmt::Kernel(KernelCall { kernel, is_large, arguments: self.arguments()? }))
    }

    fn parallel(&mut self) -> Result<Stmt, ParseError> {
        let size = self.tokens.size()?;
        self.tokens.word("by")?;
        let unit = self.tokens.size()?;
        self.tokens.word("terms")?;
        let n_terms = self.tokens.size()?;
        let procedure = self.tokens.name()?;
        let arguments = self.arguments()?;
        Ok(Stmt::Parallel(Box::new(Parallel { procedure, arguments, size, unit, n_terms })))
    }

    /// After `apply`.
    fn application(&mut self) -> Result<Stmt, ParseError> {
        let (function, operands) = (self.tokens.name()?, self.listed()?);
        self.tokens.symbol("->")?;
        let mut results = Vec::new();
        self.tokens.symbol("(")?;
        while !self.tokens.takes(")") {
            self.tokens.symbol("&")?;
            results.push(self.place()?);
            self.tokens.takes(",");
        }
        self.tokens.word("in")?;
        let memory = self.place()?;
        self.tokens.symbol("@")?;
        let site = self.tokens.size()?;
        self.tokens.symbol(";")?;
        Ok(Stmt::Apply(Box::new(Application { function, operands, results, memory, site })))
    }

    /// `(…);`
    fn arguments(&mut self) -> Result<Vec<Argument>, ParseError> {
        let arguments = self.listed()?;
        self.tokens.symbol(";")?;
        Ok(arguments)
    }

    /// `(…)`
    fn listed(&mut self) -> Result<Vec<Argument>, ParseError> {
        let mut arguments = Vec::new();
        self.tokens.symbol("(")?;
        while !self.tokens.takes(")") {
            arguments.push(self.argument()?);
            self.tokens.takes(",");
        }
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Argument, ParseError> {
        if self.tokens.takes("&") {
            return Ok(Argument::Array(self.place()?));
        }
        let whole = match (self.tokens.peek(), self.tokens.peek_second()) {
            (Token::Name(name), Token::Symbol("," | ")")) => match name.as_str() {
                "self" => Some(Argument::State),
                "in" => Some(Argument::In),
                "out" => Some(Argument::Out(0.into())),
                "shared" => Some(Argument::Shared),
                _ => None,
            },
            (Token::Name(name), Token::Symbol("[")) if *name == "out" => {
                self.tokens.next();
                self.tokens.next();
                let row = self.expression()?;
                self.tokens.symbol("]")?;
                return Ok(match self.tokens.peek() {
                    Token::Symbol(".") => Argument::Value(Expr::Load(self.place_in_row(row)?)),
                    _ => Argument::Out(row),
                });
            }
            _ => None,
        };
        match whole {
            Some(argument) => {
                self.tokens.next();
                Ok(argument)
            }
            None => Ok(Argument::Value(self.expression()?)),
        }
    }
}
