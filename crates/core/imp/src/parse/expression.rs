//! Expressions and places.

use super::lexer::Token;
use super::{ParseError, Parser};
use crate::expr::{Binary, Expr};
use crate::intrinsic::Intrinsic;
use crate::name::Name;
use crate::place::{Base, Place};
use crate::types::Type;

impl Parser {
    pub(super) fn expression(&mut self) -> Result<Expr, ParseError> {
        self.nested(Parser::operand)
    }

    fn operand(&mut self) -> Result<Expr, ParseError> {
        let token = self.tokens.next();
        match token {
            Token::Num(x) => Ok(Expr::num(x)),
            Token::Int(x) => Ok(Expr::Int(x)),
            Token::Count(n) => Ok(Expr::Count(n)),
            Token::Symbol("-") => Ok(-self.in_parentheses()?),
            Token::Symbol("!") => Ok(Expr::Unary(crate::Unary::Not, Box::new(self.in_parentheses()?))),
            Token::Symbol("(") => self.operation(),
            Token::Name(name) => self.named(name),
            other => Err(self.tokens.error(format!("expected an expression, found {other}"))),
        }
    }

    fn in_parentheses(&mut self) -> Result<Expr, ParseError> {
        self.tokens.symbol("(")?;
        let inner = self.expression()?;
        self.tokens.symbol(")")?;
        Ok(inner)
    }

    /// After `(`: an operation on two values, or a choice.
    fn operation(&mut self) -> Result<Expr, ParseError> {
        let left = self.expression()?;
        let expr = match self.tokens.next() {
            Token::Symbol("?") => {
                let yes = self.expression()?;
                self.tokens.symbol(":")?;
                Expr::choice(left, yes, self.expression()?)
            }
            Token::Symbol(symbol) => match Binary::ALL.into_iter().find(|op| op.symbol() == symbol) {
                Some(op) => Expr::binary(op, left, self.expression()?),
                None => return Err(self.tokens.error(format!("`{symbol}` is no operation"))),
            },
            other => return Err(self.tokens.error(format!("expected an operation, found {other}"))),
        };
        self.tokens.symbol(")")?;
        Ok(expr)
    }

    fn named(&mut self, name: Name) -> Result<Expr, ParseError> {
        match name.as_str() {
            "true" => return Ok(Expr::Bool(true)),
            "false" => return Ok(Expr::Bool(false)),
            "failure" => return Ok(Expr::Failure),
            _ => {}
        }
        if !matches!(self.tokens.peek(), Token::Symbol("(")) {
            return Ok(match self.place_from(name)? {
                Place { base: Base::Local(name), at } if at.is_empty() => Expr::Var(name),
                place => Expr::Load(place),
            });
        }
        if let Some(ty) = Type::ALL.into_iter().find(|ty| ty.word() == name.as_str()) {
            return Ok(self.in_parentheses()?.cast(ty));
        }
        let function = Intrinsic::ALL.into_iter().find(|one| one.name() == name.as_str());
        let function = function.ok_or_else(|| self.tokens.error(format!("`{name}` is no function")))?;
        self.tokens.symbol("(")?;
        let mut operands = Vec::new();
        while !self.tokens.takes(")") {
            operands.push(self.expression()?);
            self.tokens.takes(",");
        }
        if self.tokens.takes("@") {
            return Ok(Expr::Checked(function, operands, self.tokens.size()?));
        }
        Ok(Expr::Call(function, operands))
    }

    pub(super) fn place(&mut self) -> Result<Place, ParseError> {
        let name = self.tokens.name()?;
        self.place_from(name)
    }

    fn place_from(&mut self, name: Name) -> Result<Place, ParseError> {
        let base = match name.as_str() {
            "self" => Base::State(self.field()?),
            "in" => Base::In(self.field()?),
            "table" => Base::Table(self.field()?),
            "shared" => Base::Shared(self.field()?),
            "out" if self.tokens.takes("[") => {
                let row = self.expression()?;
                self.tokens.symbol("]")?;
                return self.place_in_row(row);
            }
            "out" => Base::Out(self.field()?, None),
            _ => Base::Local(name),
        };
        self.place_at(base)
    }

    /// After `out[row]`.
    pub(super) fn place_in_row(&mut self, row: Expr) -> Result<Place, ParseError> {
        let base = Base::Out(self.field()?, Some(Box::new(row)));
        self.place_at(base)
    }

    /// The indices after a base.
    fn place_at(&mut self, base: Base) -> Result<Place, ParseError> {
        let mut at = Vec::new();
        if self.tokens.takes("[") {
            while !self.tokens.takes("]") {
                at.push(self.expression()?);
                self.tokens.takes(",");
            }
        }
        Ok(Place { base, at })
    }

    fn field(&mut self) -> Result<Name, ParseError> {
        self.tokens.symbol(".")?;
        self.tokens.name()
    }
}
