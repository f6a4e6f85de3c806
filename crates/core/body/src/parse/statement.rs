//! Statements and regions.

use std::sync::Arc;

use eddy_syntax::Span;
use eddy_tensor::{Data, Shape, Value};

use super::lexer::Token;
use super::{MAX_DEPTH, ParseError, Parser};
use crate::ir::{At, Binding, Control, Elem, EnumId, Kind, Literal, Loop, Mode, Region, Stmt, Var};
use crate::operation::Operation;

impl Parser {
    /// Statements in braces; reports regions that are nested too deep before the native stack overflows.
    pub(super) fn region(&mut self) -> Result<Region, ParseError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.tokens.error(format!("more than {MAX_DEPTH} regions inside each other")));
        }
        self.depth += 1;
        self.tokens.symbol("{")?;
        let mut stmts = Vec::new();
        while !self.tokens.takes_word("yield") {
            stmts.push(self.stmt()?);
        }
        let mut yields = Vec::new();
        while !self.tokens.takes("}") {
            yields.push(self.var()?);
        }
        self.depth -= 1;
        Ok(Region { stmts, yields })
    }

    fn stmt(&mut self) -> Result<Stmt, ParseError> {
        // `add(x, y)` is the operation.
        if *self.tokens.peek_second() != Token::Symbol("(") && self.tokens.takes_word("add") {
            let (acc, at) = (self.var()?, self.places()?);
            let kind = Kind::Add(acc, at, self.var()?);
            return Ok(Stmt { results: Vec::new(), kind, span: self.span()? });
        }
        let mut results = Vec::new();
        if !self.is_operation() {
            results.push(self.var()?);
            while self.tokens.takes(",") {
                results.push(self.var()?);
            }
            self.tokens.symbol("=")?;
        }
        let (kind, span) = self.kind()?;
        Ok(Stmt { results, kind, span })
    }

    /// Whether a statement without results begins here. It begins with a reserved word or the name of an
    /// operation; since a variable may have the name of an operation, no `=` or `,` may follow.
    fn is_operation(&self) -> bool {
        let Token::Name(name) = self.tokens.peek() else { return false };
        let is_name = matches!(self.tokens.peek_second(), Token::Symbol("=" | ","));
        !is_name && (super::RESERVED.contains(&name.as_str()) || is_word(name))
    }

    fn kind(&mut self) -> Result<(Kind, Span), ParseError> {
        let word = self.tokens.name()?;
        let kind = match word.as_str() {
            "const" => {
                let literal = self.literal()?;
                self.tokens.symbol("(")?;
                self.tokens.symbol(")")?;
                Kind::Const(literal)
            }
            "index" => Kind::Index(self.var()?, self.places()?),
            "update" => Kind::Update(self.var()?, self.places()?, self.var()?),
            "increase" => Kind::Increase(self.var()?, self.places()?, self.var()?),
            "call" | "adj" | "tan" => {
                let mode = match word.as_str() {
                    "call" => Mode::Plain,
                    "adj" => Mode::Adj,
                    _ => Mode::Tan,
                };
                Kind::Call(mode, self.callee()?, self.operands()?)
            }
            "unpack" => Kind::Unpack(self.types()?, self.var()?),
            "if" => {
                let condition = self.var()?;
                let span = self.span()?;
                return Ok((Kind::If(condition, self.region()?, self.region()?), span));
            }
            "for" | "each" | "while" => return self.repeat(&word),
            _ => {
                let axis =
                    if let Token::Int(_) = self.tokens.peek() { Some(self.tokens.number()?) } else { None };
                let operation = Operation::from_word(&word, axis);
                let operation =
                    operation.ok_or_else(|| self.tokens.error(format!("`{word}` is no operation")))?;
                Kind::Op(operation, self.operands()?)
            }
        };
        Ok((kind, self.span()?))
    }

    fn repeat(&mut self, word: &str) -> Result<(Kind, Span), ParseError> {
        let mut counter = || -> Result<(Var, Var), ParseError> {
            let index = self.var()?;
            self.tokens.symbol("<")?;
            Ok((index, self.var()?))
        };
        let control = match word {
            "for" => counter().map(|(index, count)| Control::For { index, count })?,
            "each" => counter().map(|(index, count)| Control::Each { index, count })?,
            _ => Control::While(Region::default()),
        };
        let is_each = word == "each";
        let states = if is_each { Vec::new() } else { self.bindings()? };
        let mut collect =
            if !is_each && self.tokens.takes_word("collect") { self.operands()? } else { Vec::new() };
        let accs = if self.tokens.takes_word("acc") { self.bindings()? } else { Vec::new() };
        let span = self.span()?;
        let control = match control {
            Control::While(_) => Control::While(self.region()?),
            other => other,
        };
        let mut body = self.region()?;
        if is_each {
            collect = std::mem::take(&mut body.yields);
        }
        Ok((Kind::Loop(Box::new(Loop { control, states, accs, collect, body })), span))
    }

    fn bindings(&mut self) -> Result<Vec<Binding>, ParseError> {
        self.separated("(", ")", |parser| {
            let var = parser.var()?;
            parser.tokens.symbol("=")?;
            Ok(Binding { var, init: parser.var()? })
        })
    }

    fn operands(&mut self) -> Result<Vec<Var>, ParseError> {
        self.separated("(", ")", Parser::var)
    }

    fn places(&mut self) -> Result<Vec<At>, ParseError> {
        self.separated("[", "]", |parser| {
            if parser.tokens.takes("..") {
                return Ok(At::All);
            }
            let first = parser.var()?;
            if parser.tokens.takes("..") { Ok(At::Range(first, parser.var()?)) } else { Ok(At::Int(first)) }
        })
    }

    fn separated<T>(
        &mut self,
        open: &str,
        close: &str,
        item: impl Fn(&mut Parser) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.tokens.symbol(open)?;
        let mut items = Vec::new();
        while !self.tokens.takes(close) {
            if !items.is_empty() {
                self.tokens.symbol(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `@3..7`, or nothing.
    fn span(&mut self) -> Result<Span, ParseError> {
        if !self.tokens.takes("@") {
            return Ok(Span::default());
        }
        let start = self.tokens.number()?;
        self.tokens.symbol("..")?;
        Ok(Span::new(start, self.tokens.number()?))
    }

    fn literal(&mut self) -> Result<Literal, ParseError> {
        let Token::Name(name) = self.tokens.peek().clone() else {
            let value = self.element(None)?;
            return Ok(Literal { elem: elem_of(&value), value: Arc::new(value) });
        };
        if name == "true" || name == "false" {
            return Ok(Literal::bool(self.tokens.takes_word("true") || !self.tokens.takes_word("false")));
        }
        let elem = self.elem()?;
        let enumeration = if let Elem::Enum(id) = elem { Some(id) } else { None };
        if self.tokens.takes(".") {
            let value = self.element(enumeration)?;
            return Ok(Literal { elem, value: Arc::new(value) });
        }
        let sizes = self.separated("[", "]", |parser| parser.tokens.number::<usize>())?;
        self.tokens.symbol("{")?;
        let mut elements = Vec::new();
        while !self.tokens.takes("}") {
            elements.push(self.element(enumeration)?);
        }
        let data = data(elem, &elements).ok_or_else(|| self.tokens.error("elements of another type"))?;
        let value =
            Value::new(Shape::from(sizes), data).map_err(|error| self.tokens.error(error.to_string()))?;
        Ok(Literal { elem, value: Arc::new(value) })
    }

    fn element(&mut self, enumeration: Option<EnumId>) -> Result<Value, ParseError> {
        let value = match (self.tokens.peek().clone(), enumeration) {
            (Token::Int(n), None) => Value::Int(n),
            (Token::Num(x), None) => Value::Num(x),
            (Token::Name(word), None) if word == "true" || word == "false" => Value::Bool(word == "true"),
            (Token::Name(case), Some(id)) => {
                let cases = &self.module.enums[id.index()].cases;
                let place = cases.iter().position(|known| *known == case);
                let place = place.ok_or_else(|| self.tokens.error(format!("`{case}` is no enumerator")))?;
                Value::Int(i64::try_from(place).expect("a text has less than 2^63 names"))
            }
            _ => return Err(self.tokens.expected("a constant")),
        };
        self.tokens.next();
        Ok(value)
    }
}

fn elem_of(value: &Value) -> Elem {
    match value {
        Value::Bool(_) => Elem::Bool,
        Value::Int(_) => Elem::Int,
        _ => Elem::Num,
    }
}

fn data(elem: Elem, elements: &[Value]) -> Option<Data> {
    let elements = elements.iter();
    match elem {
        Elem::Bool => elements.map(Value::as_bool).collect::<Option<_>>().map(Data::Bool),
        Elem::Num => {
            let nums = elements.map(|value| if let Value::Num(x) = value { Some(*x) } else { None });
            nums.collect::<Option<_>>().map(Data::Num)
        }
        _ => {
            let ints = elements.map(|value| if let Value::Int(n) = value { Some(*n) } else { None });
            ints.collect::<Option<_>>().map(Data::Int)
        }
    }
}

fn is_word(name: &str) -> bool {
    Operation::from_word(name, None).or_else(|| Operation::from_word(name, Some(0))).is_some()
}
