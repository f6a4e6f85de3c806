//! Statements.

use crate::application::Application;
use crate::expr::Expr;
use crate::kernel::{Argument, Kernel, KernelCall};
use crate::name::Name;
use crate::place::{Base, Place};
use crate::types::Type;

/// Statements that run in order; their declarations end with the block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// A variable that never changes.
    Let(Name, Type, Expr, Comment),
    /// A variable that may change, with its initial value.
    Var(Name, Type, Expr),
    /// A local array, uninitialised.
    Array(Name, Type, Vec<usize>),
    /// A pointer to one of two arrays, chosen by a condition. It is read-only.
    Pointer(Name, Type, Box<PointsTo>),
    /// Assigns a variable.
    Assign(Name, Expr, Comment),
    /// Stores into an element of memory.
    Store(Place, Expr, Comment),
    /// Adds to an element of memory.
    AddTo(Place, Expr, Comment),
    /// Runs the first block whose condition holds, or the last one if none does.
    If(Vec<(Expr, Block)>, Block),
    /// A loop with an index.
    For(Box<Loop>),
    /// A loop without an index.
    While(Expr, Block),
    /// A nested block.
    Scope(Block),
    Kernel(KernelCall),
    /// Applies a function that the program does not define.
    Apply(Box<Application>),
    /// Calls another procedure of the program; its result is the value of a new variable, if there is a name.
    Run(Option<Name>, Name, Vec<Argument>),
    /// Calls a procedure that runs a loop whose iterations threads may share.
    Parallel(Box<Parallel>),
    /// Evaluates an expression that can fail, and discards its value.
    Check(Expr),
    /// Leaves the procedure if an operation has failed.
    LeaveIfFailed,
    /// Leaves the procedure.
    Return(Option<Expr>),
    /// A comment line.
    Note(String),
}

/// A comment on a statement; may be empty.
pub type Comment = String;

/// One of two arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PointsTo {
    pub condition: Expr,
    /// The array if the condition holds.
    pub yes: Place,
    /// The array if it does not.
    pub no: Place,
}

/// `for index: ty = first while condition by step { … }`
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loop {
    pub index: Name,
    /// A size in a loop over elements, a cycle in a loop over time.
    pub ty: Type,
    pub first: Expr,
    /// Whether there is another iteration.
    pub condition: Expr,
    /// The increment of the index.
    pub step: Expr,
    /// A request to unroll this many iterations.
    pub unroll: Option<usize>,
    pub body: Block,
}

/// A loop in a separate procedure, over a range of elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parallel {
    /// Its first two parameters are sizes: the start and the end of a part.
    pub procedure: Name,
    /// The other arguments.
    pub arguments: Vec<Argument>,
    /// The number of elements.
    pub size: usize,
    /// Parts are multiples of this size.
    pub unit: usize,
    /// The cost of the whole loop, in terms of a product.
    pub n_terms: usize,
}

impl Loop {
    /// Whether it is a loop over elements, not over time.
    pub fn is_over_elements(&self) -> bool {
        matches!(self.ty, Type::Size | Type::Offset)
    }

    /// The number of iterations, if it counts between two literals.
    pub fn n_iterations(&self) -> Option<usize> {
        let (Expr::Count(first), Expr::Count(1), Expr::Binary(crate::Binary::Lt, sides)) =
            (&self.first, &self.step, &self.condition)
        else {
            return None;
        };
        match &**sides {
            [Expr::Var(index), Expr::Count(end)] if *index == self.index => {
                usize::try_from((end - first).max(0)).ok()
            }
            _ => None,
        }
    }
}

impl Block {
    pub fn new() -> Block {
        Block::default()
    }

    pub fn is_empty(&self) -> bool {
        self.stmts.is_empty()
    }

    pub fn push(&mut self, stmt: Stmt) {
        self.stmts.push(stmt);
    }

    /// Adds the statements of another block.
    pub fn append(&mut self, other: Block) {
        self.stmts.extend(other.stmts);
    }

    /// Declares a variable that never changes.
    pub fn constant(&mut self, name: impl Into<Name>, ty: Type, value: impl Into<Expr>) {
        self.push(Stmt::Let(name.into(), ty, value.into(), Comment::new()));
    }

    /// Declares a variable that may change.
    pub fn variable(&mut self, name: impl Into<Name>, ty: Type, value: impl Into<Expr>) {
        self.push(Stmt::Var(name.into(), ty, value.into()));
    }

    pub fn assign(&mut self, name: impl Into<Name>, value: impl Into<Expr>) {
        self.push(Stmt::Assign(name.into(), value.into(), Comment::new()));
    }

    /// Stores into an element of memory.
    pub fn store(&mut self, place: impl Into<Place>, value: impl Into<Expr>) {
        self.push(Stmt::Store(place.into(), value.into(), Comment::new()));
    }

    /// Assigns memory or a variable.
    pub fn set(&mut self, target: &Expr, value: impl Into<Expr>, comment: Comment) {
        self.push(match target {
            Expr::Load(place) => Stmt::Store(place.clone(), value.into(), comment),
            Expr::Var(name) => Stmt::Assign(name.clone(), value.into(), comment),
            other => unreachable!("only memory and variables have values that change, not {other:?}"),
        });
    }

    /// Runs a block if a condition holds; inlines it if the condition is literally true.
    pub fn when(&mut self, condition: Expr, inner: impl FnOnce(&mut Block)) {
        if condition == Expr::Bool(true) {
            return inner(self);
        }
        let mut block = Block::new();
        inner(&mut block);
        self.push(Stmt::If(vec![(condition, block)], Block::new()));
    }

    /// Runs one of two blocks.
    pub fn either(&mut self, condition: Expr, yes: Block, no: Block) {
        self.push(Stmt::If(vec![(condition, yes)], no));
    }

    /// A loop over elements, from 0 to a size.
    pub fn each(&mut self, index: impl Into<Name>, size: impl Into<Expr>, inner: impl FnOnce(&mut Block)) {
        self.count(index, Type::Size, 0, size, inner);
    }

    /// A loop that counts from a first value up to an end.
    pub fn count(
        &mut self,
        index: impl Into<Name>,
        ty: Type,
        first: impl Into<Expr>,
        end: impl Into<Expr>,
        inner: impl FnOnce(&mut Block),
    ) {
        let index = index.into();
        let condition = Expr::from(&index).lt(end);
        self.repeat(index, ty, first, condition, 1, inner);
    }

    /// A loop with an index.
    pub fn repeat(
        &mut self,
        index: impl Into<Name>,
        ty: Type,
        first: impl Into<Expr>,
        condition: Expr,
        step: impl Into<Expr>,
        inner: impl FnOnce(&mut Block),
    ) {
        let mut body = Block::new();
        inner(&mut body);
        let (index, first, step) = (index.into(), first.into(), step.into());
        self.push(Stmt::For(Box::new(Loop { index, ty, first, condition, step, unroll: None, body })));
    }

    /// A nested block.
    pub fn scope(&mut self, inner: impl FnOnce(&mut Block)) {
        let mut block = Block::new();
        inner(&mut block);
        self.push(Stmt::Scope(block));
    }

    pub fn kernel(&mut self, kernel: Kernel, is_large: bool, arguments: Vec<Argument>) {
        self.push(Stmt::Kernel(KernelCall { kernel, is_large, arguments }));
    }

    /// Leaves the procedure with a value.
    pub fn leave(&mut self, value: impl Into<Expr>) {
        self.push(Stmt::Return(Some(value.into())));
    }

    /// Adds a comment line.
    pub fn note(&mut self, text: impl Into<String>) {
        self.push(Stmt::Note(text.into()));
    }
}

impl From<Vec<Stmt>> for Block {
    fn from(stmts: Vec<Stmt>) -> Block {
        Block { stmts }
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Place {
        place.clone()
    }
}

impl From<Place> for Argument {
    fn from(place: Place) -> Argument {
        Argument::Array(place)
    }
}

impl<T: Into<Expr>> From<T> for Argument
where
    T: IsCount,
{
    fn from(value: T) -> Argument {
        Argument::Value(value.into())
    }
}

/// Types that convert to an argument that is not an array.
pub trait IsCount {}
impl IsCount for Expr {}
impl IsCount for usize {}
impl IsCount for i64 {}
impl IsCount for i32 {}

impl Stmt {
    /// The name that it declares for the statements after it.
    pub fn declares(&self) -> Option<&Name> {
        match self {
            Stmt::Let(name, ..)
            | Stmt::Var(name, ..)
            | Stmt::Array(name, ..)
            | Stmt::Pointer(name, ..)
            | Stmt::Run(Some(name), ..) => Some(name),
            Stmt::Assign(..)
            | Stmt::Store(..)
            | Stmt::AddTo(..)
            | Stmt::If(..)
            | Stmt::For(_)
            | Stmt::While(..)
            | Stmt::Scope(_)
            | Stmt::Kernel(_)
            | Stmt::Apply(_)
            | Stmt::Run(None, ..)
            | Stmt::Parallel(_)
            | Stmt::Check(_)
            | Stmt::LeaveIfFailed
            | Stmt::Return(_)
            | Stmt::Note(_) => None,
        }
    }
}

impl Base {
    pub fn name(&self) -> &Name {
        match self {
            Base::State(name)
            | Base::In(name)
            | Base::Out(name, _)
            | Base::Table(name)
            | Base::Shared(name)
            | Base::Local(name) => name,
        }
    }
}
