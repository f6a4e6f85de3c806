//! Parses the text of flow.

use std::fmt;
use std::str::FromStr;

use eddy_syntax::Span;
use eddy_tensor::{Data, Scalar, Shape, Type, Value, initialiser};
use rustc_hash::FxHashMap;

use super::expression;
use crate::constant::Constant;
use crate::{ClockAnnotation, Equation, Flow, Kind, Name, Named, Polarity, Var, VarId};

/// A syntax error in the text of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Starts at 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}

pub fn parse(text: &str) -> Result<Flow, TextError> {
    let mut reader = Reader { flow: Flow::default(), vars: FxHashMap::default(), line: 0 };
    let lines: Vec<&str> = text.lines().map(|line| line.split("--").next().unwrap_or("").trim()).collect();
    // Equations may use streams that are defined below them.
    for (index, line) in lines.iter().enumerate() {
        reader.line = index + 1;
        reader.declare(line)?;
    }
    for (index, line) in lines.iter().enumerate() {
        reader.line = index + 1;
        reader.define(line)?;
    }
    Ok(reader.flow)
}

struct Reader<'a> {
    flow: Flow,
    vars: FxHashMap<&'a str, VarId>,
    line: usize,
}

impl<'a> Reader<'a> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, TextError> {
        Err(TextError { line: self.line, message: message.into() })
    }

    /// Adds the stream that a line declares, if any.
    fn declare(&mut self, line: &'a str) -> Result<(), TextError> {
        let declaration =
            line.strip_prefix("input ").unwrap_or_else(|| line.split(" = ").next().unwrap_or(""));
        let is_other = |word: &&str| line.strip_prefix(*word).is_some_and(|rest| rest.starts_with(' '));
        if line.is_empty() || ["output", "clock", "parameter", "memory"].iter().any(is_other) {
            return Ok(());
        }
        let Some((name, ty)) = declaration.split_once(" : ") else {
            return self.error("expected `NAME : TYPE`");
        };
        let Some(ty) = self::ty(ty.trim()) else { return self.error(format!("`{ty}` is not a type")) };
        let var = VarId::new(self.flow.vars.len());
        if self.vars.insert(name, var).is_some() {
            return self.error(format!("`{name}` is defined twice"));
        }
        let is_nameless = name.strip_prefix('_').is_some_and(|rest| rest.parse::<u32>().is_ok());
        let name = (!is_nameless).then(|| Name::from(name));
        self.flow.vars.push(Var { name, span: Span::default(), ty, purpose: None });
        if line.starts_with("input ") {
            self.flow.inputs.push(var);
        }
        Ok(())
    }

    fn var(&self, name: &str) -> Result<VarId, TextError> {
        match self.vars.get(name) {
            Some(var) => Ok(*var),
            None => self.error(format!("unknown variable `{name}`")),
        }
    }

    /// Adds the rest of a line: an equation, an output, a clock or a saved name.
    fn define(&mut self, line: &str) -> Result<(), TextError> {
        if let Some(output) = line.strip_prefix("output ") {
            let output = self.var(output.trim())?;
            self.flow.outputs.push(output);
            return Ok(());
        }
        if let Some(clock) = line.strip_prefix("clock ") {
            return self.clock(clock);
        }
        if let Some(saved) = line.strip_prefix("parameter ") {
            let saved = self.named(saved)?;
            self.flow.parameters.push(saved);
            return Ok(());
        }
        if let Some(saved) = line.strip_prefix("memory ") {
            let saved = self.named(saved)?;
            self.flow.persistent_state.push(saved);
            return Ok(());
        }
        let Some((declaration, right)) = line.split_once(" = ") else { return Ok(()) };
        let out = self.var(declaration.split(" : ").next().unwrap_or(""))?;
        let words: Vec<&str> = right.split_whitespace().collect();
        let kind = self.kind(&words)?;
        self.flow.equations.push(Equation { out, kind, span: Span::default(), call: None });
        Ok(())
    }

    /// `NAME x`
    fn named(&self, text: &str) -> Result<Named, TextError> {
        match text.trim().split_once(' ') {
            Some((name, var)) => Ok(Named { name: Name::from(name), var: self.var(var.trim())? }),
            None => self.error("expected a name and a stream"),
        }
    }

    /// `x when c when not d`
    fn clock(&mut self, text: &str) -> Result<(), TextError> {
        let mut parts = text.split(" when ").map(str::trim);
        let var = self.var(parts.next().unwrap_or(""))?;
        let mut conditions = Vec::new();
        for part in parts {
            let (name, polarity) = match part.strip_prefix("not ") {
                Some(name) => (name, Polarity::OnNot),
                None => (part, Polarity::On),
            };
            conditions.push((self.var(name)?, polarity));
        }
        if conditions.is_empty() {
            return self.error("expected `clock NAME when CONDITION`");
        }
        self.flow.clocks.push(ClockAnnotation { var, conditions, span: Span::default(), call: None });
        Ok(())
    }

    fn kind(&self, words: &[&str]) -> Result<Kind, TextError> {
        Ok(match words {
            ["const", constant @ ..] => match self::constant(constant) {
                Some(constant) => Kind::Const(constant),
                None => return self.error(format!("`{}` is not a constant", constant.join(" "))),
            },
            [value, "when", "not", condition] => Kind::When {
                value: self.var(value)?,
                condition: self.var(condition)?,
                polarity: Polarity::OnNot,
            },
            [value, "when", condition] => Kind::When {
                value: self.var(value)?,
                condition: self.var(condition)?,
                polarity: Polarity::On,
            },
            ["merge", condition, yes, no] => {
                Kind::Merge { condition: self.var(condition)?, yes: self.var(yes)?, no: self.var(no)? }
            }
            [init, "fby", "back", next] => Kind::FbyBack { init: self.var(init)?, next: self.var(next)? },
            [init, "fby", next] => Kind::Fby { init: self.var(init)?, next: self.var(next)? },
            ["post", operand] => Kind::Post(self.var(operand)?),
            ["param", operand] => Kind::Param(self.var(operand)?),
            _ => match expression::parse(words) {
                Some((op, operands)) => {
                    let operands: Result<Box<[VarId]>, _> =
                        operands.iter().map(|name| self.var(name)).collect();
                    Kind::Apply(op, operands?)
                }
                None => return self.error(format!("`{}` is not an equation", words.join(" "))),
            },
        })
    }
}

/// `num [2,3]`
fn ty(text: &str) -> Option<Type> {
    let (scalar, shape) = text.split_once(' ')?;
    let scalar = match scalar {
        "num" => Scalar::Num,
        "int" => Scalar::Int,
        "bool" => Scalar::Bool,
        _ => return None,
    };
    Some(Type { scalar, shape: self::shape(shape.trim())? })
}

fn shape(text: &str) -> Option<Shape> {
    let sizes = expression::integers(text.strip_prefix('[')?.strip_suffix(']')?)?;
    let sizes: Vec<usize> =
        sizes.into_iter().map(|size| usize::try_from(size).ok()).collect::<Option<_>>()?;
    Some(Shape::new(&sizes))
}

fn constant(words: &[&str]) -> Option<Constant> {
    Some(match words {
        ["true"] => Constant::Bool(true),
        ["false"] => Constant::Bool(false),
        ["zero"] => Constant::Zero,
        [word] if word.starts_with('[') => {
            Constant::Ints(expression::integers(word.strip_prefix('[')?.strip_suffix(']')?)?)
        }
        [word] => match word.parse() {
            Ok(n) => Constant::Int(n),
            Err(_) => Constant::Num(word.parse().ok()?),
        },
        ["given", scalar, shape, elements @ ..] => {
            let ty = ty(&format!("{scalar} {shape}"))?;
            Constant::Value(given(&ty, elements)?)
        }
        [name, shape] => Constant::Initialiser(initialiser(name)?, self::shape(shape)?, Name::from("")),
        [name, shape, path] => {
            Constant::Initialiser(initialiser(name)?, self::shape(shape)?, Name::from(*path))
        }
        _ => return None,
    })
}

fn given(ty: &Type, elements: &[&str]) -> Option<Value> {
    fn all<T: FromStr>(elements: &[&str]) -> Option<Vec<T>> {
        elements.iter().map(|element| element.parse().ok()).collect()
    }
    let data = match ty.scalar {
        Scalar::Num => Data::Num(all(elements)?),
        Scalar::Int => Data::Int(all(elements)?),
        Scalar::Bool => Data::Bool(all(elements)?),
    };
    Value::new(ty.shape.clone(), data).ok()
}
