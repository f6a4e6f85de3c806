//! Parses the text of programs, the inverse of printing: for tests of passes and for inspection.

mod expression;
mod lexer;
mod statement;

use std::error::Error;
use std::fmt;

use crate::application::{Function, Tensor};
use crate::layout::Struct;
use crate::name::Name;
use crate::program::{Linkage, Parameter, Procedure, Program, Table};
use crate::types::{Precision, Type};
use lexer::{Token, Tokens};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Starts at 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Error for ParseError {}

/// The deepest nesting of blocks and expressions.
const MAX_DEPTH: usize = 200;

pub fn parse(text: &str) -> Result<Program, ParseError> {
    let mut parser = Parser { tokens: Tokens::new(text)?, precision: Precision::Double, depth: 0 };
    parser.program()
}

/// Parses statements, for tests of passes.
pub fn parse_block(text: &str) -> Result<crate::Block, ParseError> {
    let mut parser = Parser { tokens: Tokens::new(text)?, precision: Precision::Double, depth: 0 };
    let block = parser.statements()?;
    match parser.tokens.peek() {
        Token::End => Ok(block),
        other => Err(parser.tokens.error(format!("expected a statement, found {other}"))),
    }
}

struct Parser {
    tokens: Tokens,
    precision: Precision,
    depth: usize,
}

impl Parser {
    fn program(&mut self) -> Result<Program, ParseError> {
        self.tokens.word("program")?;
        let name = self.tokens.name()?;
        self.precision = match self.tokens.name()?.as_str() {
            "f64" => Precision::Double,
            "f32" => Precision::Single,
            other => return Err(self.tokens.error(format!("expected `f64` or `f32`, found `{other}`"))),
        };
        let [state, input, output] = ["state", "in", "out"].map(|word| {
            self.tokens.word(word)?;
            self.fields()
        });
        let mut program = Program {
            name,
            precision: self.precision,
            state: state?,
            input: input?,
            output: output?,
            tables: Vec::new(),
            functions: Vec::new(),
            procedures: Vec::new(),
        };
        loop {
            match self.tokens.peek() {
                Token::End => return Ok(program),
                Token::Name(word) if *word == "table" => program.tables.push(self.table()?),
                Token::Name(word) if *word == "function" => program.functions.push(self.function()?),
                _ => program.procedures.push(self.procedure()?),
            }
        }
    }

    fn fields(&mut self) -> Result<Struct, ParseError> {
        let mut fields = Struct::default();
        self.tokens.symbol("{")?;
        while !self.tokens.takes("}") {
            let name = self.tokens.name()?;
            self.tokens.symbol(":")?;
            let (ty, dimensions) = (self.ty()?, self.dimensions()?);
            let comment = self.tokens.comment();
            if fields.find(name.as_str()).is_some() {
                return Err(self.tokens.error(format!("`{name}` is declared twice")));
            }
            fields.field(name, ty, dimensions, comment, self.precision);
        }
        Ok(fields)
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        let word = self.tokens.name()?;
        let ty = Type::ALL.into_iter().find(|ty| ty.word() == word.as_str());
        ty.ok_or_else(|| self.tokens.error(format!("`{word}` is no type")))
    }

    /// `[3, 4]`, or nothing.
    fn dimensions(&mut self) -> Result<Vec<usize>, ParseError> {
        let mut dimensions = Vec::new();
        if self.tokens.takes("[") {
            while !self.tokens.takes("]") {
                dimensions.push(self.tokens.size()?);
                self.tokens.takes(",");
            }
        }
        Ok(dimensions)
    }

    fn table(&mut self) -> Result<Table, ParseError> {
        self.tokens.word("table")?;
        let name = self.tokens.name()?;
        self.tokens.symbol(":")?;
        let ty = self.ty()?;
        self.tokens.symbol("=")?;
        self.tokens.symbol("[")?;
        let mut elements = Vec::new();
        while !self.tokens.takes("]") {
            elements.push(self.expression()?);
            self.tokens.takes(",");
        }
        Ok(Table { name, ty, elements })
    }

    fn function(&mut self) -> Result<Function, ParseError> {
        self.tokens.word("function")?;
        let name = self.tokens.name()?;
        let operands = self.tensors()?;
        self.tokens.symbol("->")?;
        Ok(Function { name, operands, results: self.tensors()? })
    }

    /// `(num, num [3] by 2)`
    fn tensors(&mut self) -> Result<Vec<Tensor>, ParseError> {
        let mut tensors = Vec::new();
        self.tokens.symbol("(")?;
        while !self.tokens.takes(")") {
            let (ty, size) = (self.ty()?, self.dimensions()?.first().copied());
            let step = if self.tokens.takes_word("by") { self.tokens.size()? } else { 1 };
            tensors.push(Tensor { ty, size, step });
            self.tokens.takes(",");
        }
        Ok(tensors)
    }

    fn procedure(&mut self) -> Result<Procedure, ParseError> {
        let shared = if self.tokens.takes_word("shared") { self.fields()? } else { Struct::default() };
        let linkage = self.linkage()?;
        self.tokens.word("procedure")?;
        let name = self.tokens.name()?;
        self.tokens.symbol("(")?;
        let mut parameters = Vec::new();
        while !self.tokens.takes(")") {
            parameters.push(self.parameter()?);
            self.tokens.takes(",");
        }
        let result = if self.tokens.takes("->") { Some(self.ty()?) } else { None };
        let body = self.block()?;
        Ok(Procedure { name, linkage, parameters, result, shared, body })
    }

    fn linkage(&mut self) -> Result<Linkage, ParseError> {
        let Token::Name(word) = self.tokens.peek().clone() else {
            return Err(self.tokens.error("expected a procedure".to_string()));
        };
        match word.as_str() {
            "private" => {
                self.tokens.next();
                Ok(Linkage::Private)
            }
            "range" => {
                self.tokens.next();
                Ok(Linkage::Range)
            }
            "piece" => {
                self.tokens.next();
                self.tokens.word("of")?;
                Ok(Linkage::Piece(self.tokens.name()?))
            }
            _ => Ok(Linkage::Public),
        }
    }

    fn parameter(&mut self) -> Result<Parameter, ParseError> {
        let is_written = self.tokens.takes_word("mut");
        let name: Name = self.tokens.name()?;
        match name.as_str() {
            "self" => return Ok(Parameter::State),
            "in" => return Ok(Parameter::In),
            "out" => return Ok(Parameter::Out),
            "shared" => return Ok(Parameter::Shared),
            _ => self.tokens.symbol(":")?,
        }
        let ty = self.ty()?;
        if self.tokens.takes("[") {
            self.tokens.symbol("]")?;
            return Ok(Parameter::Array(name, ty, is_written));
        }
        Ok(Parameter::Value(name, ty))
    }

    /// Runs a rule one level deeper; reports an error before the native stack overflows.
    fn nested<T>(
        &mut self,
        rule: impl FnOnce(&mut Parser) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.tokens.error(format!("more than {MAX_DEPTH} levels of nesting")));
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }
}
