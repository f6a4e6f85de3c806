//! Procedures, and the memory that they share.

use crate::application::Function;
use crate::layout::Struct;
use crate::name::Name;
use crate::stmt::Block;
use crate::types::{Precision, Type};

/// A program: procedures over a state, an input and outputs.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: Name,
    pub precision: Precision,
    /// Persists from call to call.
    pub state: Struct,
    /// The input of a cycle.
    pub input: Struct,
    /// The output of a cycle.
    pub output: Struct,
    pub tables: Vec<Table>,
    /// The functions that it applies and does not define.
    pub functions: Vec<Function>,
    /// Each comes before those that call it.
    pub procedures: Vec<Procedure>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub name: Name,
    pub ty: Type,
    /// Literals.
    pub elements: Vec<crate::Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Procedure {
    pub name: Name,
    pub linkage: Linkage,
    pub parameters: Vec<Parameter>,
    pub result: Option<Type>,
    /// The struct that it shares with its pieces, if it was cut.
    pub shared: Struct,
    pub body: Block,
}

/// The callers of a procedure.
#[derive(Clone, Debug, PartialEq)]
pub enum Linkage {
    /// The users of the program.
    Public,
    /// Other procedures of the program.
    Private,
    /// The procedure of this name, of which it is a piece.
    Piece(Name),
    /// [`Stmt::Parallel`](crate::Stmt::Parallel), for a part of a loop.
    Range,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    State,
    /// The input of a cycle.
    In,
    Out,
    /// The struct that the pieces of a procedure share.
    Shared,
    Value(Name, Type),
    /// An array; whether it is written.
    Array(Name, Type, bool),
}

impl Program {
    pub fn procedure(&self, name: &str) -> Option<&Procedure> {
        self.procedures.iter().find(|procedure| procedure.name == name)
    }

    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| function.name == name)
    }

    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl Parameter {
    /// The name, if it is a variable or an array.
    pub fn name(&self) -> Option<&Name> {
        match self {
            Parameter::Value(name, _) | Parameter::Array(name, ..) => Some(name),
            Parameter::State | Parameter::In | Parameter::Out | Parameter::Shared => None,
        }
    }
}
