//! Checks types, scopes and parameters.

use rustc_hash::FxHashSet;

use super::Violation;
use super::bounds::Ranges;
use super::scope::{Declared, Scope};
use crate::application::Application;
use crate::expr::{Binary, Expr, Unary};
use crate::kernel::{Argument, KernelCall, Role};
use crate::layout::Struct;
use crate::name::Name;
use crate::place::{Base, Place};
use crate::program::{Linkage, Parameter, Procedure, Program};
use crate::stmt::{Block, Loop, Stmt};
use crate::types::Type;

/// The type of an expression; a literal count fits every count type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Found {
    Type(Type),
    Count,
}

impl Found {
    /// The common type.
    fn join(self, other: Found) -> Option<Found> {
        match (self, other) {
            (Found::Count, Found::Count) => Some(Found::Count),
            (Found::Count, Found::Type(ty)) | (Found::Type(ty), Found::Count) => {
                ty.is_count().then_some(Found::Type(ty))
            }
            (Found::Type(one), Found::Type(other)) => (one == other).then_some(self),
        }
    }

    fn fits(self, ty: Type) -> bool {
        self.join(Found::Type(ty)).is_some()
    }

    fn is_count(self) -> bool {
        matches!(self, Found::Count) || matches!(self, Found::Type(ty) if ty.is_count())
    }
}

pub(super) struct Checker<'p> {
    program: &'p Program,
    procedure: &'p Procedure,
    shared: &'p Struct,
    known: &'p FxHashSet<&'p Name>,
    scope: Scope,
    ranges: Ranges,
}

type Checked<T = ()> = Result<T, String>;

impl<'p> Checker<'p> {
    pub fn new(
        program: &'p Program,
        procedure: &'p Procedure,
        shared: &'p Struct,
        known: &'p FxHashSet<&'p Name>,
    ) -> Checker<'p> {
        Checker { program, procedure, shared, known, scope: Scope::default(), ranges: Ranges::default() }
    }

    pub fn check(mut self) -> Result<(), Violation> {
        self.scope.open();
        for parameter in &self.procedure.parameters {
            match parameter {
                Parameter::Value(name, ty) => self.scope.declare(name, Declared::Constant(*ty)),
                Parameter::Array(name, ty, is_written) => self
                    .scope
                    .declare(name, Declared::Array { ty: *ty, dimensions: None, is_written: *is_written }),
                Parameter::State | Parameter::In | Parameter::Out | Parameter::Shared => true,
            };
        }
        self.block(&self.procedure.body)
    }

    fn block(&mut self, block: &Block) -> Result<(), Violation> {
        self.scope.open();
        for stmt in &block.stmts {
            self.stmt(stmt)?;
        }
        self.scope.close();
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), Violation> {
        let checked = self.own(stmt);
        checked.map_err(|message| Violation {
            procedure: self.procedure.name.clone(),
            stmt: stmt.to_string().lines().next().unwrap_or_default().to_string(),
            message,
        })?;
        match stmt {
            Stmt::If(arms, otherwise) => {
                for (_, block) in arms {
                    self.block(block)?;
                }
                self.block(otherwise)
            }
            Stmt::For(this) => {
                self.scope.open();
                self.scope.declare(&this.index, Declared::Constant(this.ty));
                self.ranges.enter(this);
                self.block(&this.body)?;
                self.ranges.leave(this);
                self.scope.close();
                Ok(())
            }
            Stmt::While(_, block) | Stmt::Scope(block) => self.block(block),
            _ => Ok(()),
        }
    }

    /// Checks a statement without its inner blocks.
    fn own(&mut self, stmt: &Stmt) -> Checked {
        match stmt {
            Stmt::Let(name, ty, value, _) => {
                self.wants(value, *ty)?;
                self.declare(name, Declared::Constant(*ty))
            }
            Stmt::Var(name, ty, value) => {
                self.wants(value, *ty)?;
                self.declare(name, Declared::Variable(*ty))
            }
            Stmt::Array(name, ty, dimensions) => self.declare(
                name,
                Declared::Array { ty: *ty, dimensions: Some(dimensions.clone()), is_written: true },
            ),
            Stmt::Pointer(name, ty, to) => {
                self.wants(&to.condition, Type::Bool)?;
                for place in [&to.yes, &to.no] {
                    self.row(place, *ty)?;
                }
                self.declare(name, Declared::Array { ty: *ty, dimensions: None, is_written: false })
            }
            Stmt::Assign(name, value, _) => match self.scope.find(name) {
                Some(Declared::Variable(ty)) => {
                    let ty = *ty;
                    self.wants(value, ty)
                }
                Some(_) => Err(format!("`{name}` does not change")),
                None => Err(format!("`{name}` is not declared here")),
            },
            Stmt::Store(place, value, _) | Stmt::AddTo(place, value, _) => {
                let ty = self.element(place)?;
                self.may_be_written(place)?;
                if matches!(stmt, Stmt::AddTo(..)) && ty != Type::Num && !ty.is_count() {
                    return Err(format!("a store cannot add to {ty}"));
                }
                self.wants(value, ty)
            }
            Stmt::If(arms, _) => arms.iter().try_for_each(|(condition, _)| self.wants(condition, Type::Bool)),
            Stmt::For(this) => self.head(this),
            Stmt::While(condition, _) => self.wants(condition, Type::Bool),
            Stmt::Kernel(call) => self.kernel(call),
            Stmt::Apply(this) => self.application(this),
            Stmt::Run(result, name, arguments) => self.run(result.as_ref(), name, arguments),
            Stmt::Parallel(this) => {
                let called = self.called(&this.procedure)?;
                if called.linkage != Linkage::Range {
                    return Err(format!("`{}` does not run a part of a loop", this.procedure));
                }
                self.arguments(called.parameters.get(2..).unwrap_or_default(), &this.arguments)
            }
            Stmt::Check(value) => self.ty(value).map(|_| ()),
            Stmt::Return(value) => match (value, self.procedure.result) {
                (Some(value), Some(ty)) => self.wants(value, ty),
                (None, None) => Ok(()),
                (Some(_), None) => Err("the procedure returns nothing".to_string()),
                (None, Some(ty)) => Err(format!("the procedure returns {ty}")),
            },
            Stmt::LeaveIfFailed if self.procedure.result != Some(Type::Status) => {
                Err("a procedure without a status cannot report a failure".to_string())
            }
            Stmt::LeaveIfFailed | Stmt::Scope(_) | Stmt::Note(_) => Ok(()),
        }
    }

    fn declare(&mut self, name: &Name, declared: Declared) -> Checked {
        if self.scope.declare(name, declared) {
            self.ranges.forget(name);
            return Ok(());
        }
        Err(format!("`{name}` is declared twice in one block"))
    }

    fn head(&mut self, this: &Loop) -> Checked {
        if !this.ty.is_count() {
            return Err(format!("an index is a count, not {}", this.ty));
        }
        self.wants(&this.first, this.ty)?;
        self.wants(&this.step, this.ty)?;
        self.scope.open();
        self.scope.declare(&this.index, Declared::Constant(this.ty));
        let checked = self.wants(&this.condition, Type::Bool);
        self.scope.close();
        checked
    }

    fn kernel(&mut self, call: &KernelCall) -> Checked {
        if call.arguments.len() != call.kernel.roles().len() {
            let n = call.kernel.roles().len();
            return Err(format!("`{}` has {n} arguments, not {}", call.kernel.name(), call.arguments.len()));
        }
        if call.is_large && !call.kernel.can_be_large() {
            return Err(format!("threads do not share `{}`", call.kernel.name()));
        }
        for (role, argument) in call.with_roles() {
            match (role, argument) {
                (Role::Size | Role::Stride, Argument::Value(value)) => {
                    if !self.ty(value)?.is_count() {
                        return Err(format!("`{value}` is no count"));
                    }
                }
                (Role::Reads | Role::Writes | Role::Updates, Argument::Array(place)) => {
                    if self.element(place)? != Type::Num {
                        return Err(format!("`{place}` is no number"));
                    }
                    if role != Role::Reads {
                        self.may_be_written(place)?;
                    }
                }
                (role, argument) => return Err(format!("`{argument}` cannot have the role {role:?}")),
            }
        }
        Ok(())
    }

    fn application(&mut self, this: &Application) -> Checked {
        let function = self.program.function(this.function.as_str());
        let function = function.ok_or_else(|| format!("there is no function `{}`", this.function))?;
        if (this.operands.len(), this.results.len()) != (function.operands.len(), function.results.len()) {
            return Err(format!(
                "`{}` has {} operands and {} results",
                function.name,
                function.operands.len(),
                function.results.len()
            ));
        }
        for (tensor, operand) in function.operands.iter().zip(&this.operands) {
            match (tensor.size, operand) {
                (None, Argument::Value(value)) => self.wants(value, tensor.ty)?,
                (Some(_), Argument::Array(place)) => self.element_of(place, tensor.ty)?,
                _ => return Err(format!("`{operand}` for operand `{tensor}`")),
            }
        }
        for (tensor, place) in function.results.iter().zip(&this.results) {
            self.element_of(place, tensor.ty)?;
            self.may_be_written(place)?;
        }
        self.row(&this.memory, Type::Cycle)?;
        self.may_be_written(&this.memory)
    }

    fn element_of(&mut self, place: &Place, ty: Type) -> Checked {
        match self.element(place)? {
            own if own == ty => Ok(()),
            own => Err(format!("`{place}` is {own}, expected {ty}")),
        }
    }

    fn called(&self, name: &Name) -> Checked<&'p Procedure> {
        let is_known = self.known.contains(name) && *name != self.procedure.name;
        // Pieces come before the procedure of which they are pieces.
        let procedure = self.program.procedure(name.as_str()).filter(|_| is_known);
        procedure.ok_or_else(|| format!("`{name}` is not a procedure declared before this one"))
    }

    fn run(&mut self, result: Option<&Name>, name: &Name, arguments: &[Argument]) -> Checked {
        let called = self.called(name)?;
        self.arguments(&called.parameters, arguments)?;
        match (result, called.result) {
            (Some(result), Some(ty)) => self.declare(result, Declared::Constant(ty)),
            (Some(_), None) => Err(format!("`{name}` returns nothing")),
            (None, _) => Ok(()),
        }
    }

    fn arguments(&mut self, parameters: &[Parameter], arguments: &[Argument]) -> Checked {
        if parameters.len() != arguments.len() {
            return Err(format!("{} arguments for {} parameters", arguments.len(), parameters.len()));
        }
        for (parameter, argument) in parameters.iter().zip(arguments) {
            match (parameter, argument) {
                (Parameter::Value(_, ty), Argument::Value(value)) => self.wants(value, *ty)?,
                (Parameter::Array(_, ty, is_written), Argument::Array(place)) => {
                    self.row(place, *ty)?;
                    if *is_written {
                        self.may_be_written(place)?;
                    }
                }
                (Parameter::State, Argument::State) => self.has(&Parameter::State)?,
                (Parameter::In, Argument::In) => self.has(&Parameter::In)?,
                (Parameter::Shared, Argument::Shared) => {}
                (Parameter::Out, Argument::Out(row)) => {
                    self.has(&Parameter::Out)?;
                    if !self.ty(row)?.is_count() {
                        return Err(format!("`{row}` is no count"));
                    }
                }
                (parameter, argument) => return Err(format!("`{argument}` for parameter `{parameter}`")),
            }
        }
        Ok(())
    }

    fn has(&self, parameter: &Parameter) -> Checked {
        if self.procedure.parameters.contains(parameter) {
            return Ok(());
        }
        Err(format!("the procedure has no parameter `{parameter}`"))
    }

    /// The type of the elements of some memory, and its dimensions, if they are known.
    fn memory(&self, base: &Base) -> Checked<(Type, Option<Vec<usize>>)> {
        let of = |fields: &Struct, parameter: Option<&Parameter>, name: &Name| {
            parameter.map_or(Ok(()), |parameter| self.has(parameter))?;
            let field = fields.find(name.as_str()).ok_or_else(|| format!("there is no field `{name}`"))?;
            Ok((field.ty, Some(field.dimensions.clone())))
        };
        match base {
            Base::State(name) => of(&self.program.state, Some(&Parameter::State), name),
            Base::In(name) => of(&self.program.input, Some(&Parameter::In), name),
            Base::Out(name, _) => of(&self.program.output, Some(&Parameter::Out), name),
            Base::Shared(name) => of(self.shared, None, name),
            Base::Table(name) => match self.program.table(name.as_str()) {
                Some(table) => Ok((table.ty, Some(vec![table.elements.len()]))),
                None => Err(format!("there is no table `{name}`")),
            },
            Base::Local(name) => match self.scope.find(name) {
                Some(Declared::Array { ty, dimensions, .. }) => Ok((*ty, dimensions.clone())),
                Some(_) => Err(format!("`{name}` is no array")),
                None => Err(format!("`{name}` is not declared here")),
            },
        }
    }

    /// The type of the elements of a place, and the number of its remaining dimensions.
    fn place(&mut self, place: &Place) -> Checked<(Type, usize)> {
        if let Base::Out(_, Some(row)) = &place.base
            && !self.ty(row)?.is_count()
        {
            return Err(format!("`{row}` is no count"));
        }
        let (ty, dimensions) = self.memory(&place.base)?;
        for index in &place.at {
            match self.ty(index)? {
                Found::Type(Type::Status) => return Err(format!("`{index}` is no index")),
                found if found.is_count() => {}
                _ => return Err(format!("`{index}` is no index")),
            }
        }
        // An array with unknown dimensions has one dimension.
        let dimensions = dimensions.unwrap_or_else(|| vec![usize::MAX]);
        let left = dimensions.len().checked_sub(place.at.len());
        let left = left.ok_or_else(|| format!("`{place}` has more indices than dimensions"))?;
        for (index, size) in place.at.iter().zip(&dimensions) {
            self.ranges.check(index, *size)?;
        }
        Ok((ty, left))
    }

    fn element(&mut self, place: &Place) -> Checked<Type> {
        match self.place(place)? {
            (ty, 0) => Ok(ty),
            _ => Err(format!("`{place}` is an array")),
        }
    }

    /// Checks that a place is a one-dimensional array of elements of a type.
    fn row(&mut self, place: &Place, ty: Type) -> Checked {
        match self.place(place)? {
            (own, 1) if own == ty => Ok(()),
            (own, 1) => Err(format!("`{place}` is an array of {own}, not of {ty}")),
            (_, left) => Err(format!("`{place}` has {left} dimensions left, not one")),
        }
    }

    fn may_be_written(&self, place: &Place) -> Checked {
        let is_written = match &place.base {
            Base::State(_) | Base::Out(..) | Base::Shared(_) => true,
            Base::In(_) | Base::Table(_) => false,
            Base::Local(name) => {
                matches!(self.scope.find(name), Some(Declared::Array { is_written: true, .. }))
            }
        };
        if is_written { Ok(()) } else { Err(format!("`{place}` is only read")) }
    }

    fn wants(&mut self, expr: &Expr, ty: Type) -> Checked {
        let found = self.ty(expr)?;
        if found.fits(ty) {
            return Ok(());
        }
        let found = match found {
            Found::Type(found) => found.to_string(),
            Found::Count => "a count".to_string(),
        };
        Err(format!("`{expr}` is {found}, expected {ty}"))
    }

    fn ty(&mut self, expr: &Expr) -> Checked<Found> {
        Ok(Found::Type(match expr {
            Expr::Count(_) => return Ok(Found::Count),
            Expr::Num(_) => Type::Num,
            Expr::Int(_) => Type::Int,
            Expr::Bool(_) => Type::Bool,
            Expr::Failure => Type::Status,
            Expr::Var(name) => match self.scope.find(name) {
                Some(Declared::Constant(ty) | Declared::Variable(ty)) => *ty,
                Some(Declared::Array { .. }) => return Err(format!("`{name}` is an array")),
                None => return Err(format!("`{name}` is not declared here")),
            },
            Expr::Load(place) => self.element(place)?,
            Expr::Unary(Unary::Not, operand) => {
                self.wants(operand, Type::Bool)?;
                Type::Bool
            }
            Expr::Unary(Unary::Neg, operand) => match self.ty(operand)? {
                found if found.is_count() || found == Found::Type(Type::Num) => return Ok(found),
                _ => return Err(format!("the negation of `{operand}` may fail")),
            },
            Expr::Binary(op, operands) => return self.binary(*op, operands),
            Expr::Choice(operands) => {
                let [condition, yes, no] = &**operands;
                self.wants(condition, Type::Bool)?;
                let (yes, no) = (self.ty(yes)?, self.ty(no)?);
                return yes.join(no).ok_or_else(|| format!("a choice between {yes:?} and {no:?}"));
            }
            Expr::Call(function, operands) => {
                if function.can_fail() {
                    return Err(format!("`{}` can fail, but names no equation", function.name()));
                }
                return self.function(*function, operands);
            }
            Expr::Checked(function, operands, _) => {
                if !function.can_fail() {
                    return Err(format!("`{}` cannot fail", function.name()));
                }
                return self.function(*function, operands);
            }
            Expr::Cast(ty, operand) => {
                let found = self.ty(operand)?;
                let is_allowed = found.is_count() && (ty.is_count() || *ty == Type::Int)
                    || found == Found::Type(Type::Int) && *ty == Type::Num;
                if !is_allowed {
                    return Err(format!("{found:?} does not convert to {ty}"));
                }
                *ty
            }
        }))
    }

    fn binary(&mut self, op: Binary, operands: &[Expr; 2]) -> Checked<Found> {
        if op.is_logical() {
            self.wants(&operands[0], Type::Bool)?;
            self.wants(&operands[1], Type::Bool)?;
            return Ok(Found::Type(Type::Bool));
        }
        let (left, right) = (self.ty(&operands[0])?, self.ty(&operands[1])?);
        let both = left.join(right);
        let both = both.ok_or_else(|| format!("`{}` of {left:?} and {right:?}", op.symbol()))?;
        if op.is_comparison() {
            return Ok(Found::Type(Type::Bool));
        }
        let is_allowed = both.is_count() || both == Found::Type(Type::Num) && op != Binary::Rem;
        if is_allowed { Ok(both) } else { Err(format!("`{}` of {both:?} may fail", op.symbol())) }
    }

    fn function(&mut self, function: crate::Intrinsic, operands: &[Expr]) -> Checked<Found> {
        let (types, result) = function.signature();
        if types.len() != operands.len() {
            return Err(format!("`{}` has {} arguments", function.name(), types.len()));
        }
        types.iter().zip(operands).try_for_each(|(ty, operand)| self.wants(operand, *ty))?;
        Ok(Found::Type(result))
    }
}
