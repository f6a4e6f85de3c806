//! Changes all places that code mentions.

use crate::expr::Expr;
use crate::kernel::Argument;
use crate::place::{Base, Place};
use crate::stmt::{Block, Stmt};

/// Changes all places of a block, inner ones first.
pub fn places(block: &mut Block, change: &mut dyn FnMut(&mut Place)) {
    for stmt in &mut block.stmts {
        places_of_stmt(stmt, change);
    }
}

pub fn places_of_stmt(stmt: &mut Stmt, change: &mut dyn FnMut(&mut Place)) {
    match stmt {
        Stmt::Let(_, _, value, _)
        | Stmt::Var(_, _, value)
        | Stmt::Assign(_, value, _)
        | Stmt::Check(value)
        | Stmt::Return(Some(value)) => in_expr(value, change),
        Stmt::Array(..) | Stmt::LeaveIfFailed | Stmt::Return(None) | Stmt::Note(_) => {}
        Stmt::Pointer(_, _, to) => {
            in_expr(&mut to.condition, change);
            in_place(&mut to.yes, change);
            in_place(&mut to.no, change);
        }
        Stmt::Store(place, value, _) | Stmt::AddTo(place, value, _) => {
            in_expr(value, change);
            in_place(place, change);
        }
        Stmt::If(arms, otherwise) => {
            for (condition, block) in arms {
                in_expr(condition, change);
                places(block, change);
            }
            places(otherwise, change);
        }
        Stmt::For(this) => {
            for expr in [&mut this.first, &mut this.condition, &mut this.step] {
                in_expr(expr, change);
            }
            places(&mut this.body, change);
        }
        Stmt::While(condition, block) => {
            in_expr(condition, change);
            places(block, change);
        }
        Stmt::Scope(block) => places(block, change),
        Stmt::Kernel(call) => in_arguments(&mut call.arguments, change),
        Stmt::Apply(this) => {
            in_arguments(&mut this.operands, change);
            in_place(&mut this.memory, change);
            this.results.iter_mut().for_each(|place| in_place(place, change));
        }
        Stmt::Run(_, _, arguments) => in_arguments(arguments, change),
        Stmt::Parallel(this) => in_arguments(&mut this.arguments, change),
    }
}

fn in_arguments(arguments: &mut [Argument], change: &mut dyn FnMut(&mut Place)) {
    for argument in arguments {
        match argument {
            Argument::Value(value) | Argument::Out(value) => in_expr(value, change),
            Argument::Array(place) => in_place(place, change),
            Argument::State | Argument::In | Argument::Shared => {}
        }
    }
}

fn in_place(place: &mut Place, change: &mut dyn FnMut(&mut Place)) {
    if let Base::Out(_, Some(row)) = &mut place.base {
        in_expr(row, change);
    }
    for index in &mut place.at {
        in_expr(index, change);
    }
    change(place);
}

fn in_expr(expr: &mut Expr, change: &mut dyn FnMut(&mut Place)) {
    match expr {
        Expr::Load(place) => in_place(place, change),
        Expr::Unary(_, operand) | Expr::Cast(_, operand) => in_expr(operand, change),
        Expr::Binary(_, operands) => {
            for operand in operands.iter_mut() {
                in_expr(operand, change);
            }
        }
        Expr::Choice(operands) => {
            for operand in operands.iter_mut() {
                in_expr(operand, change);
            }
        }
        Expr::Call(_, operands) | Expr::Checked(_, operands, _) => {
            for operand in operands {
                in_expr(operand, change);
            }
        }
        Expr::Num(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Count(_) | Expr::Var(_) | Expr::Failure => {}
    }
}
