//! Effects of code: what it reads, writes and declares, and whether it can fail.
//!
//! Every analysis is a walk over the tree: [`Visit`] is called with each expression, place and statement,
//! outer before inner, in textual order.

use rustc_hash::FxHashSet;

use crate::expr::Expr;
use crate::kernel::{Argument, Role};
use crate::name::Name;
use crate::place::{Base, Place};
use crate::program::Parameter;
use crate::stmt::{Block, Stmt};

/// A visitor. All methods are optional.
pub trait Visit {
    /// Called with a statement before its children.
    fn stmt(&mut self, _: &Stmt) {}
    /// Called with an expression before its children.
    fn expr(&mut self, _: &Expr) {}
    /// Called with memory and how it is accessed.
    fn place(&mut self, _: &Place, _: Access) {}
    /// Called with a variable that is assigned.
    fn assigned(&mut self, _: &Name) {}
    /// Called with an argument of a kernel or a procedure before its children.
    fn argument(&mut self, _: &Argument) {}
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    Update,
}

impl Access {
    /// Whether the contents may change.
    pub fn writes(self) -> bool {
        self != Access::Read
    }

    /// Whether the old contents matter.
    pub fn reads(self) -> bool {
        self != Access::Write
    }
}

pub fn walk(block: &Block, visit: &mut impl Visit) {
    for stmt in &block.stmts {
        walk_stmt(stmt, visit);
    }
}

pub fn walk_stmt(stmt: &Stmt, visit: &mut impl Visit) {
    visit.stmt(stmt);
    match stmt {
        Stmt::Let(_, _, value, _)
        | Stmt::Var(_, _, value)
        | Stmt::Check(value)
        | Stmt::Return(Some(value)) => {
            walk_expr(value, visit);
        }
        Stmt::Array(..) | Stmt::LeaveIfFailed | Stmt::Return(None) | Stmt::Note(_) => {}
        Stmt::Pointer(_, _, points) => {
            walk_expr(&points.condition, visit);
            walk_place(&points.yes, Access::Read, visit);
            walk_place(&points.no, Access::Read, visit);
        }
        Stmt::Assign(name, value, _) => {
            walk_expr(value, visit);
            visit.assigned(name);
        }
        Stmt::Store(place, value, _) => {
            walk_expr(value, visit);
            walk_place(place, Access::Write, visit);
        }
        Stmt::AddTo(place, value, _) => {
            walk_expr(value, visit);
            walk_place(place, Access::Update, visit);
        }
        Stmt::If(arms, otherwise) => {
            for (condition, block) in arms {
                walk_expr(condition, visit);
                walk(block, visit);
            }
            walk(otherwise, visit);
        }
        Stmt::For(this) => {
            for expr in [&this.first, &this.condition, &this.step] {
                walk_expr(expr, visit);
            }
            walk(&this.body, visit);
        }
        Stmt::While(condition, block) => {
            walk_expr(condition, visit);
            walk(block, visit);
        }
        Stmt::Scope(block) => walk(block, visit),
        Stmt::Kernel(call) => {
            for (role, argument) in call.with_roles() {
                let access = match role {
                    Role::Size | Role::Stride | Role::Reads => Access::Read,
                    Role::Writes => Access::Write,
                    Role::Updates => Access::Update,
                };
                walk_argument(argument, access, visit);
            }
        }
        Stmt::Apply(this) => {
            for operand in &this.operands {
                walk_argument(operand, Access::Read, visit);
            }
            walk_place(&this.memory, Access::Update, visit);
            for result in &this.results {
                walk_place(result, Access::Write, visit);
            }
        }
        // The callee is not inspected: it may do anything with its arrays.
        Stmt::Run(_, _, arguments) => walk_arguments(arguments, visit),
        Stmt::Parallel(this) => walk_arguments(&this.arguments, visit),
    }
}

fn walk_arguments(arguments: &[Argument], visit: &mut impl Visit) {
    for argument in arguments {
        walk_argument(argument, Access::Update, visit);
    }
}

fn walk_argument(argument: &Argument, access: Access, visit: &mut impl Visit) {
    visit.argument(argument);
    match argument {
        Argument::Value(expr) | Argument::Out(expr) => walk_expr(expr, visit),
        Argument::State | Argument::In | Argument::Shared => {}
        Argument::Array(place) => walk_place(place, access, visit),
    }
}

pub fn walk_expr(expr: &Expr, visit: &mut impl Visit) {
    visit.expr(expr);
    match expr {
        Expr::Num(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Count(_) | Expr::Var(_) | Expr::Failure => {}
        Expr::Load(place) => walk_place(place, Access::Read, visit),
        Expr::Unary(_, operand) | Expr::Cast(_, operand) => walk_expr(operand, visit),
        Expr::Binary(_, operands) => operands.iter().for_each(|operand| walk_expr(operand, visit)),
        Expr::Choice(operands) => operands.iter().for_each(|operand| walk_expr(operand, visit)),
        Expr::Call(_, operands) | Expr::Checked(_, operands, _) => {
            for operand in operands {
                walk_expr(operand, visit);
            }
        }
    }
}

fn walk_place(place: &Place, access: Access, visit: &mut impl Visit) {
    visit.place(place, access);
    if let Base::Out(_, Some(row)) = &place.base {
        walk_expr(row, visit);
    }
    place.at.iter().for_each(|index| walk_expr(index, visit));
}

/// Whether an operation in a block can fail. Called procedures are not inspected.
pub fn can_fail(block: &Block) -> bool {
    struct Fails(bool);
    impl Visit for Fails {
        fn expr(&mut self, expr: &Expr) {
            self.0 |= matches!(expr, Expr::Checked(..));
        }
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::Apply(_));
        }
    }
    let mut fails = Fails(false);
    walk(block, &mut fails);
    fails.0
}

/// Whether a block needs the number of the first failed equation: because something in it can fail, or
/// because it reads that number.
pub fn mentions_failure(block: &Block) -> bool {
    struct Mentions(bool);
    impl Visit for Mentions {
        fn expr(&mut self, expr: &Expr) {
            self.0 |= matches!(expr, Expr::Checked(..) | Expr::Failure);
        }
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::LeaveIfFailed | Stmt::Apply(_));
        }
    }
    let mut mentions = Mentions(false);
    walk(block, &mut mentions);
    mentions.0
}

/// Whether a block contains work that threads may share.
pub fn is_large(block: &Block) -> bool {
    struct Large(bool);
    impl Visit for Large {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= match stmt {
                Stmt::Kernel(call) => call.is_large,
                Stmt::Parallel(_) => true,
                _ => false,
            };
        }
    }
    let mut large = Large(false);
    walk(block, &mut large);
    large.0
}

/// The memory that a block accesses.
pub fn accesses(block: &Block) -> Vec<(Place, Access)> {
    struct Accesses(Vec<(Place, Access)>);
    impl Visit for Accesses {
        fn place(&mut self, place: &Place, access: Access) {
            self.0.push((place.clone(), access));
        }
    }
    let mut found = Accesses(Vec::new());
    walk(block, &mut found);
    found.0
}

/// The structs that a block mentions, as parameters. Includes the shared struct if something in the block can
/// fail, because pieces record failures there.
pub fn structs(block: &Block) -> Vec<Parameter> {
    struct Structs(Vec<Parameter>);
    impl Structs {
        fn add(&mut self, parameter: Parameter) {
            if !self.0.contains(&parameter) {
                self.0.push(parameter);
            }
        }
    }
    impl Visit for Structs {
        fn place(&mut self, place: &Place, _: Access) {
            match &place.base {
                Base::State(_) => self.add(Parameter::State),
                Base::In(_) => self.add(Parameter::In),
                Base::Out(..) => self.add(Parameter::Out),
                Base::Shared(_) => self.add(Parameter::Shared),
                Base::Table(_) | Base::Local(_) => {}
            }
        }
        fn argument(&mut self, argument: &Argument) {
            match argument {
                Argument::State => self.add(Parameter::State),
                Argument::In => self.add(Parameter::In),
                Argument::Out(_) => self.add(Parameter::Out),
                Argument::Shared => self.add(Parameter::Shared),
                Argument::Value(_) | Argument::Array(_) => {}
            }
        }
    }
    let mut found = Structs(Vec::new());
    walk(block, &mut found);
    if mentions_failure(block) {
        found.add(Parameter::Shared);
    }
    found.0
}

/// The free names of a block: variables, local arrays and pointers that it mentions and does not declare.
pub fn free(block: &Block) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    free_of_block(block, Mentions::All, &mut found);
    found
}

/// The free names of a statement.
pub fn free_of_stmt(stmt: &Stmt) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    free_in(stmt, Mentions::All, &mut found);
    found
}

/// The free names that a block reads; variables that are only assigned are not read.
pub fn read(block: &Block) -> FxHashSet<Name> {
    let mut found = FxHashSet::default();
    free_of_block(block, Mentions::Reads, &mut found);
    found
}

/// For each statement of a block whether a later one reads the name that it declares; true if it declares
/// none.
pub fn declared_and_read(block: &Block) -> Vec<bool> {
    let mut behind: FxHashSet<Name> = FxHashSet::default();
    let mut found = Vec::with_capacity(block.stmts.len());
    for stmt in block.stmts.iter().rev() {
        found.push(stmt.declares().is_none_or(|name| behind.remove(name)));
        free_in(stmt, Mentions::Reads, &mut behind);
    }
    found.reverse();
    found
}

/// Which mentions of a variable count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mentions {
    /// All of them.
    All,
    /// All but assignments.
    Reads,
}

/// Goes from the last statement to the first: a declaration removes its name from the free names of the
/// statements after it.
fn free_of_block(block: &Block, which: Mentions, found: &mut FxHashSet<Name>) {
    let mut own = FxHashSet::default();
    for stmt in block.stmts.iter().rev() {
        if let Some(name) = stmt.declares() {
            own.remove(name);
        }
        free_in(stmt, which, &mut own);
    }
    found.extend(own);
}

fn free_in(stmt: &Stmt, which: Mentions, found: &mut FxHashSet<Name>) {
    struct Mentioned<'a>(Mentions, &'a mut FxHashSet<Name>);
    impl Visit for Mentioned<'_> {
        fn expr(&mut self, expr: &Expr) {
            if let Expr::Var(name) = expr {
                self.1.insert(name.clone());
            }
        }
        fn place(&mut self, place: &Place, _: Access) {
            if let Base::Local(name) = &place.base {
                self.1.insert(name.clone());
            }
        }
        fn assigned(&mut self, name: &Name) {
            if self.0 == Mentions::All {
                self.1.insert(name.clone());
            }
        }
    }
    match stmt {
        Stmt::If(arms, otherwise) => {
            for (condition, block) in arms {
                walk_expr(condition, &mut Mentioned(which, found));
                free_of_block(block, which, found);
            }
            free_of_block(otherwise, which, found);
        }
        Stmt::For(this) => {
            let mut inside = FxHashSet::default();
            free_of_block(&this.body, which, &mut inside);
            walk_expr(&this.condition, &mut Mentioned(which, &mut inside));
            walk_expr(&this.step, &mut Mentioned(which, &mut inside));
            inside.remove(&this.index);
            walk_expr(&this.first, &mut Mentioned(which, &mut inside));
            found.extend(inside);
        }
        Stmt::While(condition, block) => {
            walk_expr(condition, &mut Mentioned(which, found));
            free_of_block(block, which, found);
        }
        Stmt::Scope(block) => free_of_block(block, which, found),
        other => walk_stmt(other, &mut Mentioned(which, found)),
    }
}
