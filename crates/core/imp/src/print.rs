//! Programs as text.

use std::fmt;

use crate::application::{Application, Function, Tensor};
use crate::expr::{Expr, Unary};
use crate::kernel::Argument;
use crate::layout::Struct;
use crate::place::{Base, Place};
use crate::program::{Linkage, Parameter, Procedure, Program, Table};
use crate::stmt::{Block, Stmt};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {} {}", self.name, self.precision)?;
        for (word, fields) in [("state", &self.state), ("in", &self.input), ("out", &self.output)] {
            writeln!(f, "{word} {{")?;
            write_fields(fields, f)?;
            writeln!(f, "}}")?;
        }
        for table in &self.tables {
            write!(f, "{table}")?;
        }
        for function in &self.functions {
            write!(f, "{function}")?;
        }
        for procedure in &self.procedures {
            write!(f, "{procedure}")?;
        }
        Ok(())
    }
}

fn write_fields(fields: &Struct, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for field in &fields.fields {
        write!(f, "  {}: {}", field.name, field.ty)?;
        write_dimensions(&field.dimensions, f)?;
        write_comment(&field.comment, f)?;
        writeln!(f)?;
    }
    Ok(())
}

fn write_dimensions(dimensions: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match dimensions {
        [] => Ok(()),
        _ => {
            write!(f, " [")?;
            separated(dimensions, f)?;
            write!(f, "]")
        }
    }
}

fn separated<T: fmt::Display>(items: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

fn write_comment(comment: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if comment.is_empty() { Ok(()) } else { write!(f, "  -- {}", comment.replace('\n', " ")) }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table {}: {} = [", self.name, self.ty)?;
        separated(&self.elements, f)?;
        writeln!(f, "]")
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {}(", self.name)?;
        separated(&self.operands, f)?;
        f.write_str(") -> (")?;
        separated(&self.results, f)?;
        writeln!(f, ")")
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty)?;
        let Some(size) = self.size else { return Ok(()) };
        write!(f, " [{size}]")?;
        if self.step == 1 { Ok(()) } else { write!(f, " by {}", self.step) }
    }
}

impl fmt::Display for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "apply {}(", self.function)?;
        separated(&self.operands, f)?;
        f.write_str(") -> (")?;
        for (number, place) in self.results.iter().enumerate() {
            write!(f, "{}&{place}", if number == 0 { "" } else { ", " })?;
        }
        write!(f, ") in {} @{};", self.memory, self.site)
    }
}

impl fmt::Display for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.shared.fields.is_empty() {
            writeln!(f, "shared {{")?;
            write_fields(&self.shared, f)?;
            writeln!(f, "}}")?;
        }
        match &self.linkage {
            Linkage::Public => {}
            Linkage::Private => f.write_str("private ")?,
            Linkage::Piece(of) => write!(f, "piece of {of} ")?,
            Linkage::Range => f.write_str("range ")?,
        }
        write!(f, "procedure {}(", self.name)?;
        separated(&self.parameters, f)?;
        f.write_str(")")?;
        if let Some(ty) = self.result {
            write!(f, " -> {ty}")?;
        }
        writeln!(f, " {{")?;
        write_block(&self.body, 1, f)?;
        writeln!(f, "}}")
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameter::State => f.write_str("self"),
            Parameter::In => f.write_str("in"),
            Parameter::Out => f.write_str("out"),
            Parameter::Shared => f.write_str("shared"),
            Parameter::Value(name, ty) => write!(f, "{name}: {ty}"),
            Parameter::Array(name, ty, false) => write!(f, "{name}: {ty} []"),
            Parameter::Array(name, ty, true) => write!(f, "mut {name}: {ty} []"),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_block(self, 0, f)
    }
}

impl fmt::Display for Stmt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_stmt(self, 0, f)
    }
}

fn write_block(block: &Block, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    block.stmts.iter().try_for_each(|stmt| write_stmt(stmt, depth, f))
}

/// Writes ` {`, the statements, and `}` without a newline after it.
fn write_inner(block: &Block, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, " {{")?;
    write_block(block, depth + 1, f)?;
    write!(f, "{:width$}}}", "", width = 2 * depth)
}

fn write_stmt(stmt: &Stmt, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{:width$}", "", width = 2 * depth)?;
    match stmt {
        Stmt::Let(name, ty, value, comment) => {
            write!(f, "let {name}: {ty} = {value};")?;
            write_comment(comment, f)?;
        }
        Stmt::Var(name, ty, value) => write!(f, "var {name}: {ty} = {value};")?,
        Stmt::Array(name, ty, dimensions) => {
            write!(f, "array {name}: {ty}")?;
            write_dimensions(dimensions, f)?;
            f.write_str(";")?;
        }
        Stmt::Pointer(name, ty, to) => {
            write!(f, "pointer {name}: {ty} = {} ? &{} : &{};", to.condition, to.yes, to.no)?;
        }
        Stmt::Assign(name, value, comment) => {
            write!(f, "{name} = {value};")?;
            write_comment(comment, f)?;
        }
        Stmt::Store(place, value, comment) => {
            write!(f, "{place} = {value};")?;
            write_comment(comment, f)?;
        }
        Stmt::AddTo(place, value, comment) => {
            write!(f, "{place} += {value};")?;
            write_comment(comment, f)?;
        }
        Stmt::If(arms, otherwise) => {
            for (number, (condition, block)) in arms.iter().enumerate() {
                write!(f, "{}if {condition}", if number == 0 { "" } else { " else " })?;
                write_inner(block, depth, f)?;
            }
            if !otherwise.is_empty() {
                f.write_str(" else")?;
                write_inner(otherwise, depth, f)?;
            }
        }
        Stmt::For(this) => {
            let unroll = this.unroll.map_or(String::new(), |n| format!("unroll {n} "));
            write!(f, "{unroll}for {}: {} = {}", this.index, this.ty, this.first)?;
            write!(f, " while {} by {}", this.condition, this.step)?;
            write_inner(&this.body, depth, f)?;
        }
        Stmt::While(condition, block) => {
            write!(f, "while {condition}")?;
            write_inner(block, depth, f)?;
        }
        Stmt::Scope(block) => {
            f.write_str("scope")?;
            write_inner(block, depth, f)?;
        }
        Stmt::Kernel(call) => {
            let large = if call.is_large { "large " } else { "" };
            write!(f, "{large}{}(", call.kernel.name())?;
            separated(&call.arguments, f)?;
            f.write_str(");")?;
        }
        Stmt::Apply(this) => write!(f, "{this}")?,
        Stmt::Run(result, procedure, arguments) => {
            if let Some(name) = result {
                write!(f, "let {name} = ")?;
            }
            write!(f, "run {procedure}(")?;
            separated(arguments, f)?;
            f.write_str(");")?;
        }
        Stmt::Parallel(this) => {
            write!(f, "parallel {} by {} terms {} ", this.size, this.unit, this.n_terms)?;
            write!(f, "{}(", this.procedure)?;
            separated(&this.arguments, f)?;
            f.write_str(");")?;
        }
        Stmt::Check(value) => write!(f, "check {value};")?,
        Stmt::LeaveIfFailed => f.write_str("leave if failed;")?,
        Stmt::Return(None) => f.write_str("return;")?,
        Stmt::Return(Some(value)) => write!(f, "return {value};")?,
        Stmt::Note(text) => write!(f, "-- {}", text.replace('\n', " "))?,
    }
    writeln!(f)
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Value(expr) => write!(f, "{expr}"),
            Argument::Array(place) => write!(f, "&{place}"),
            Argument::State => f.write_str("self"),
            Argument::In => f.write_str("in"),
            Argument::Out(Expr::Count(0)) => f.write_str("out"),
            Argument::Out(row) => write!(f, "out[{row}]"),
            Argument::Shared => f.write_str("shared"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::State(name) => write!(f, "self.{name}")?,
            Base::In(name) => write!(f, "in.{name}")?,
            Base::Out(name, None) => write!(f, "out.{name}")?,
            Base::Out(name, Some(row)) => write!(f, "out[{row}].{name}")?,
            Base::Table(name) => write!(f, "table.{name}")?,
            Base::Shared(name) => write!(f, "shared.{name}")?,
            Base::Local(name) => write!(f, "{name}")?,
        }
        if self.at.is_empty() {
            return Ok(());
        }
        f.write_str("[")?;
        separated(&self.at, f)?;
        f.write_str("]")
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Num(x) => write!(f, "{x:?}"),
            Expr::Int(x) => write!(f, "{x}i"),
            Expr::Bool(truth) => write!(f, "{truth}"),
            Expr::Count(n) => write!(f, "{n}"),
            Expr::Var(name) => write!(f, "{name}"),
            Expr::Load(place) => write!(f, "{place}"),
            Expr::Unary(Unary::Neg, operand) => write!(f, "-({operand})"),
            Expr::Unary(Unary::Not, operand) => write!(f, "!({operand})"),
            Expr::Binary(op, operands) => write!(f, "({} {} {})", operands[0], op.symbol(), operands[1]),
            Expr::Choice(operands) => write!(f, "({} ? {} : {})", operands[0], operands[1], operands[2]),
            Expr::Call(function, operands) => {
                write!(f, "{}(", function.name())?;
                separated(operands, f)?;
                f.write_str(")")
            }
            Expr::Checked(function, operands, equation) => {
                write!(f, "{}(", function.name())?;
                separated(operands, f)?;
                write!(f, ")@{equation}")
            }
            Expr::Cast(ty, operand) => write!(f, "{ty}({operand})"),
            Expr::Failure => f.write_str("failure"),
        }
    }
}
