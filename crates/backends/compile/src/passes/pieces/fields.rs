//! Turns variables that change into fields.

use eddy_imp::stmt::Comment;
use eddy_imp::{Argument, Base, Block, Expr, Name, Place, Stmt};
use rustc_hash::FxHashMap;

use super::scopes::Scopes;

/// Turns the variables of a block that may change, and its arrays, into fields.
pub(super) fn variables_as_fields(block: Block, scopes: &mut Scopes) -> Block {
    let (mut renamed, mut made) = (Renamed::default(), Block::new());
    for mut stmt in block.stmts {
        match stmt {
            Stmt::Var(name, ty, mut value) => {
                renamed.in_expr(&mut value);
                let field = scopes.replace(&name, ty, Vec::new());
                made.push(Stmt::Store(place(&field), value, Comment::new()));
                renamed.0.insert(name, field);
            }
            Stmt::Array(name, ty, dimensions) => {
                let field = scopes.replace(&name, ty, dimensions);
                renamed.0.insert(name, field);
            }
            _ => {
                renamed.in_stmt(&mut stmt);
                if let Some(name) = stmt.declares() {
                    renamed.0.remove(name);
                }
                made.push(stmt);
            }
        }
    }
    made
}

fn place(field: &Name) -> Place {
    Place { base: Base::Shared(field.clone()), at: Vec::new() }
}

/// Variables, and their fields.
#[derive(Clone, Default)]
struct Renamed(FxHashMap<Name, Name>);

impl Renamed {
    fn in_block(&self, block: &mut Block) {
        let mut own = self.clone();
        for stmt in &mut block.stmts {
            own.in_stmt(stmt);
            if let Some(name) = stmt.declares() {
                own.0.remove(name);
            }
        }
    }

    fn in_stmt(&self, stmt: &mut Stmt) {
        if self.0.is_empty() {
            return;
        }
        match stmt {
            Stmt::Let(_, _, value, _) | Stmt::Var(_, _, value) | Stmt::Check(value) => self.in_expr(value),
            Stmt::Return(value) => value.iter_mut().for_each(|value| self.in_expr(value)),
            Stmt::Pointer(_, _, to) => {
                self.in_expr(&mut to.condition);
                self.in_place(&mut to.yes);
                self.in_place(&mut to.no);
            }
            Stmt::Assign(name, value, comment) => {
                self.in_expr(value);
                if let Some(field) = self.0.get(name) {
                    let value = std::mem::replace(value, Expr::Failure);
                    *stmt = Stmt::Store(place(field), value, std::mem::take(comment));
                }
            }
            Stmt::Store(place, value, _) | Stmt::AddTo(place, value, _) => {
                self.in_expr(value);
                self.in_place(place);
            }
            Stmt::If(arms, otherwise) => {
                for (condition, block) in arms {
                    self.in_expr(condition);
                    self.in_block(block);
                }
                self.in_block(otherwise);
            }
            Stmt::For(this) => {
                self.in_expr(&mut this.first);
                let mut inner = self.clone();
                inner.0.remove(&this.index);
                inner.in_expr(&mut this.condition);
                inner.in_expr(&mut this.step);
                inner.in_block(&mut this.body);
            }
            Stmt::While(condition, block) => {
                self.in_expr(condition);
                self.in_block(block);
            }
            Stmt::Scope(block) => self.in_block(block),
            Stmt::Kernel(call) => self.in_arguments(&mut call.arguments),
            Stmt::Apply(this) => {
                self.in_arguments(&mut this.operands);
                self.in_place(&mut this.memory);
                this.results.iter_mut().for_each(|place| self.in_place(place));
            }
            Stmt::Run(_, _, arguments) => self.in_arguments(arguments),
            Stmt::Parallel(this) => self.in_arguments(&mut this.arguments),
            Stmt::Array(..) | Stmt::LeaveIfFailed | Stmt::Note(_) => {}
        }
    }

    fn in_arguments(&self, arguments: &mut [Argument]) {
        for argument in arguments {
            match argument {
                Argument::Value(value) | Argument::Out(value) => self.in_expr(value),
                Argument::Array(place) => self.in_place(place),
                Argument::State | Argument::In | Argument::Shared => {}
            }
        }
    }

    fn in_place(&self, place: &mut Place) {
        match &mut place.base {
            Base::Local(name) => {
                if let Some(field) = self.0.get(name) {
                    place.base = Base::Shared(field.clone());
                }
            }
            Base::Out(_, Some(row)) => self.in_expr(row),
            Base::State(_) | Base::In(_) | Base::Out(_, None) | Base::Table(_) | Base::Shared(_) => {}
        }
        place.at.iter_mut().for_each(|index| self.in_expr(index));
    }

    fn in_expr(&self, expr: &mut Expr) {
        match expr {
            Expr::Var(name) => {
                if let Some(field) = self.0.get(name) {
                    *expr = place(field).into();
                }
            }
            Expr::Load(place) => self.in_place(place),
            Expr::Unary(_, operand) | Expr::Cast(_, operand) => self.in_expr(operand),
            Expr::Binary(_, operands) => operands.iter_mut().for_each(|operand| self.in_expr(operand)),
            Expr::Choice(operands) => operands.iter_mut().for_each(|operand| self.in_expr(operand)),
            Expr::Call(_, operands) | Expr::Checked(_, operands, _) => {
                for operand in operands {
                    self.in_expr(operand);
                }
            }
            Expr::Num(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Count(_) | Expr::Failure => {}
        }
    }
}
