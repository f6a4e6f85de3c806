//! Modules as text, one statement per line; [`parse`](mod@crate::parse) reads it back.

use std::fmt::{self, Display, Formatter};

use eddy_syntax::Span;
use eddy_tensor::Value;

use crate::ir::{
    At, Binding, Body, Control, Elem, Kind, Literal, Loop, Mode, Module, Region, Stmt, Type, Var,
};

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for enumeration in &self.enums {
            writeln!(f, "enum {} {{ {} }}", enumeration.name, enumeration.cases.join(", "))?;
        }
        for body in &self.bodies {
            write_body(f, self, body)?;
        }
        for custom in &self.customs {
            let mode = mode_word(custom.mode);
            let (of, derivative) = (self.body(custom.of), self.body(custom.derivative));
            writeln!(f, "custom {mode} {} = {}", of.name, derivative.name)?;
        }
        Ok(())
    }
}

impl Module {
    /// A body as text.
    pub fn show(&self, body: &Body) -> String {
        struct Shown<'a>(&'a Module, &'a Body);
        impl Display for Shown<'_> {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write_body(f, self.0, self.1)
            }
        }
        Shown(self, body).to_string()
    }

    /// A type as text.
    pub fn type_text(&self, ty: Type) -> String {
        let elem = match ty.elem {
            Elem::Bool => "bool",
            Elem::Int => "int",
            Elem::Num => "num",
            Elem::Tape => "tape",
            Elem::Enum(id) => self.enums.get(id.index()).map_or("?", |found| &found.name),
        };
        if ty.rank == 0 { elem.to_owned() } else { format!("{elem}[{}]", vec!["_"; ty.rank].join(",")) }
    }
}

fn write_body(f: &mut Formatter<'_>, module: &Module, body: &Body) -> fmt::Result {
    let params = body.params.iter().map(|param| {
        let acc = if param.is_acc { "acc " } else { "" };
        format!("{acc}{}: {}", body.name(param.var), module.type_text(param.ty))
    });
    let results = body.results.iter().map(|ty| module.type_text(*ty));
    write!(f, "body {}({}) -> ({}) ", body.name, join(params), join(results))?;
    let mut writer = Writer { f, module, body };
    writer.region(&body.region, &body.region.yields, 0)?;
    writeln!(f)
}

struct Writer<'a, 'f> {
    f: &'a mut Formatter<'f>,
    module: &'a Module,
    body: &'a Body,
}

impl Writer<'_, '_> {
    fn region(&mut self, region: &Region, yields: &[Var], depth: usize) -> fmt::Result {
        writeln!(self.f, "{{")?;
        for stmt in &region.stmts {
            self.indent(depth + 1)?;
            self.stmt(stmt, depth + 1)?;
            writeln!(self.f)?;
        }
        self.indent(depth + 1)?;
        write!(self.f, "yield")?;
        for var in yields {
            write!(self.f, " {}", self.body.name(*var))?;
        }
        writeln!(self.f)?;
        self.indent(depth)?;
        write!(self.f, "}}")
    }

    fn indent(&mut self, depth: usize) -> fmt::Result {
        write!(self.f, "{:1$}", "", 2 * depth)
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> fmt::Result {
        if !stmt.results.is_empty() {
            write!(self.f, "{} = ", self.vars(&stmt.results))?;
        }
        let span = span_text(stmt.span);
        let name = |var: Var| self.body.name(var);
        match &stmt.kind {
            Kind::Const(literal) => write!(self.f, "const {} (){span}", self.literal(literal)),
            Kind::Op(operation, operands) => {
                let (word, axis) = operation.word().unwrap_or(("?", None));
                let operands = self.vars(operands);
                match axis {
                    Some(axis) => write!(self.f, "{word} {axis} ({operands}){span}"),
                    None => write!(self.f, "{word}({operands}){span}"),
                }
            }
            Kind::Index(array, at) => write!(self.f, "index {} {}{span}", name(*array), self.places(at)),
            Kind::Update(array, at, value) => {
                write!(self.f, "update {} {} {}{span}", name(*array), self.places(at), name(*value))
            }
            Kind::Increase(array, at, value) => {
                write!(self.f, "increase {} {} {}{span}", name(*array), self.places(at), name(*value))
            }
            Kind::Add(acc, at, value) => {
                write!(self.f, "add {} {} {}{span}", name(*acc), self.places(at), name(*value))
            }
            Kind::Call(mode, callee, arguments) => {
                let callee = self.module.bodies.get(callee.index()).map_or("?", |body| &body.name);
                write!(self.f, "{} {callee}({}){span}", mode_word(*mode), self.vars(arguments))
            }
            Kind::Unpack(types, tape) => {
                let types = join(types.iter().map(|ty| self.module.type_text(*ty)));
                write!(self.f, "unpack ({types}) {}{span}", name(*tape))
            }
            Kind::If(condition, yes, no) => {
                write!(self.f, "if {}{span} ", name(*condition))?;
                self.region(yes, &yes.yields, depth)?;
                write!(self.f, " ")?;
                self.region(no, &no.yields, depth)
            }
            Kind::Loop(repeat) => self.repeat(repeat, &span, depth),
        }
    }

    fn repeat(&mut self, repeat: &Loop, span: &str, depth: usize) -> fmt::Result {
        let name = |var: Var| self.body.name(var);
        let is_each = matches!(repeat.control, Control::Each { .. });
        match &repeat.control {
            Control::For { index, count } => write!(self.f, "for {} < {}", name(*index), name(*count))?,
            Control::Each { index, count } => write!(self.f, "each {} < {}", name(*index), name(*count))?,
            Control::While(_) => write!(self.f, "while")?,
        }
        if !is_each {
            write!(self.f, " ({})", self.bindings(&repeat.states))?;
        }
        if !is_each && !repeat.collect.is_empty() {
            write!(self.f, " collect ({})", self.vars(&repeat.collect))?;
        }
        if !repeat.accs.is_empty() {
            write!(self.f, " acc ({})", self.bindings(&repeat.accs))?;
        }
        write!(self.f, "{span} ")?;
        if let Control::While(condition) = &repeat.control {
            self.region(condition, &condition.yields, depth)?;
            write!(self.f, " ")?;
        }
        let yields = if is_each { &repeat.collect } else { &repeat.body.yields };
        self.region(&repeat.body, yields, depth)
    }

    fn vars(&self, vars: &[Var]) -> String {
        join(vars.iter().map(|var| self.body.name(*var).to_owned()))
    }

    fn bindings(&self, bindings: &[Binding]) -> String {
        let show =
            |binding: &Binding| format!("{} = {}", self.body.name(binding.var), self.body.name(binding.init));
        join(bindings.iter().map(show))
    }

    fn places(&self, at: &[At]) -> String {
        let name = |var: Var| self.body.name(var);
        let show = |at: &At| match at {
            At::Int(at) => name(*at).to_owned(),
            At::Range(lo, hi) => format!("{}..{}", name(*lo), name(*hi)),
            At::All => "..".to_owned(),
        };
        format!("[{}]", join(at.iter().map(show)))
    }

    fn literal(&self, literal: &Literal) -> String {
        let enumeration = match literal.elem {
            Elem::Enum(id) => self.module.enums.get(id.index()),
            _ => None,
        };
        let element = |value: &Value| match (value, enumeration) {
            (Value::Int(case), Some(enumeration)) => {
                let case = usize::try_from(*case).ok().and_then(|case| enumeration.cases.get(case));
                case.map_or("?", String::as_str).to_owned()
            }
            (Value::Num(x), _) => format!("{x:?}"),
            (other, _) => other.to_string(),
        };
        if literal.value.shape().is_scalar() {
            let element = element(&literal.value);
            return enumeration.map_or(element.clone(), |found| format!("{}.{element}", found.name));
        }
        let ty = self.module.type_text(Type::scalar(literal.elem));
        let elements: Vec<String> = literal.value.elements().map(|value| element(&value)).collect();
        format!("{ty} {} {{ {} }}", literal.value.shape(), elements.join(" "))
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

pub(crate) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Plain => "call",
        Mode::Adj => "adj",
        Mode::Tan => "tan",
    }
}

/// ` @3..7`, or nothing.
fn span_text(span: Span) -> String {
    if span == Span::default() { String::new() } else { format!(" @{}..{}", span.start, span.end) }
}
