//! Modules from text: the inverse of printing, for tests of passes and for debugging.
//!
//! Names that a statement mentions need not be defined; [`verify`](crate::verify::verify) checks that. Calls
//! name bodies of the text, before or after them.

mod lexer;
mod statement;

use std::error::Error;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::ir::{Body, BodyId, Custom, Elem, EnumId, Enumeration, Mode, Module, Param, Type, Var};
use lexer::{Token, Tokens};

pub(crate) use lexer::is_of_word;

/// An error in the text of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The message.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl Error for ParseError {}

/// The maximal nesting of regions, in texts and in modules that verify.
pub const MAX_DEPTH: usize = 200;

/// Words that cannot be names of variables.
pub const RESERVED: [&str; 26] = [
    "acc", "add", "adj", "body", "bool", "call", "collect", "const", "custom", "each", "enum", "for", "if",
    "inf", "increase", "index", "int", "NaN", "num", "tan", "tape", "true", "false", "unpack", "update",
    "while",
];

/// Parses a module.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let tokens = Tokens::new(text)?;
    let bodies = tokens.names_behind("body");
    let mut parser = Parser { tokens, bodies, module: Module::default(), names: Names::default(), depth: 0 };
    parser.module()?;
    Ok(parser.module)
}

struct Parser {
    tokens: Tokens,
    /// The names of all bodies of the text.
    bodies: Vec<String>,
    module: Module,
    names: Names,
    depth: usize,
}

/// The names of the current body.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    vars: FxHashMap<String, Var>,
}

impl Names {
    fn var(&mut self, name: String) -> Var {
        *self.vars.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            Var::new(self.names.len() - 1)
        })
    }
}

impl Parser {
    fn module(&mut self) -> Result<(), ParseError> {
        loop {
            if *self.tokens.peek() == Token::End {
                return Ok(());
            } else if self.tokens.takes_word("enum") {
                let name = self.tokens.name()?;
                let cases = self.tokens.list(["{", "}"], Tokens::name)?;
                self.module.enums.push(Enumeration { name, cases });
            } else if self.tokens.takes_word("body") {
                let body = self.body()?;
                self.module.bodies.push(body);
            } else if self.tokens.takes_word("custom") {
                let mode = if self.tokens.takes_word("adj") { Mode::Adj } else { Mode::Tan };
                if mode == Mode::Tan && !self.tokens.takes_word("tan") {
                    return Err(self.tokens.expected("`adj` or `tan`"));
                }
                let of = self.callee()?;
                self.tokens.symbol("=")?;
                let derivative = self.callee()?;
                self.module.customs.push(Custom { of, mode, derivative });
            } else {
                return Err(self.tokens.expected("`body`, `enum` or `custom`"));
            }
        }
    }

    fn body(&mut self) -> Result<Body, ParseError> {
        self.names = Names::default();
        let name = self.tokens.name()?;
        if self.module.find(&name).is_some() {
            return Err(self.tokens.error(format!("`{name}` is there twice")));
        }
        let mut params = Vec::new();
        self.tokens.symbol("(")?;
        while !self.tokens.takes(")") {
            if !params.is_empty() {
                self.tokens.symbol(",")?;
            }
            let is_acc = self.tokens.takes_word("acc");
            let var = self.var()?;
            self.tokens.symbol(":")?;
            params.push(Param { var, ty: self.ty()?, is_acc });
        }
        self.tokens.symbol("->")?;
        let results = self.types()?;
        let region = self.region()?;
        Ok(Body { name, params, results, region, names: std::mem::take(&mut self.names.names) })
    }

    fn var(&mut self) -> Result<Var, ParseError> {
        if let Token::Name(name) = self.tokens.peek()
            && (RESERVED.contains(&name.as_str()) || name == "yield")
        {
            return Err(self.tokens.expected("a name"));
        }
        let name = self.tokens.name()?;
        Ok(self.names.var(name))
    }

    fn callee(&mut self) -> Result<BodyId, ParseError> {
        let Token::Name(name) = self.tokens.peek() else { return Err(self.tokens.expected("a name")) };
        let place = self.bodies.iter().position(|body| body == name);
        let id = place.ok_or_else(|| self.tokens.error(format!("there is no body `{name}`")))?;
        self.tokens.next();
        Ok(BodyId::new(id))
    }

    fn types(&mut self) -> Result<Vec<Type>, ParseError> {
        let mut types = Vec::new();
        self.tokens.symbol("(")?;
        while !self.tokens.takes(")") {
            if !types.is_empty() {
                self.tokens.symbol(",")?;
            }
            types.push(self.ty()?);
        }
        Ok(types)
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        let elem = self.elem()?;
        let mut rank = 0;
        if self.tokens.takes("[") {
            loop {
                self.tokens.symbol("_")?;
                rank += 1;
                if self.tokens.takes("]") {
                    break;
                }
                self.tokens.symbol(",")?;
            }
        }
        Ok(Type { elem, rank })
    }

    fn elem(&mut self) -> Result<Elem, ParseError> {
        let name = self.tokens.name()?;
        Ok(match name.as_str() {
            "bool" => Elem::Bool,
            "int" => Elem::Int,
            "num" => Elem::Num,
            "tape" => Elem::Tape,
            other => Elem::Enum(self.enumeration(other)?),
        })
    }

    fn enumeration(&self, name: &str) -> Result<EnumId, ParseError> {
        let place = self.module.enums.iter().position(|found| found.name == name);
        place.map(EnumId::new).ok_or_else(|| self.tokens.error(format!("`{name}` is no type")))
    }
}
