//! How a run ends, and what bounds it.

use crate::primitive::Undefined;
use crate::syntax::TermId;
use crate::types::{Shape, Type, Types};
use eddy_syntax::real::Real;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many steps.
    pub fuel: u64,
    /// How many bytes for terms, values and tapes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 1_000_000_000, memory: 2 << 30 }
    }
}

/// Why a run stops before it has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// An operation, or its derivative, is not a finite number.
    Domain(Undefined),
    /// No fuel is left.
    OutOfFuel,
    /// No memory is left.
    OutOfMemory,
}

impl From<Undefined> for Stop {
    fn from(undefined: Undefined) -> Stop {
        Stop::Domain(undefined)
    }
}

/// The answer of a program.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A value.
    Value(Answer),
    /// The normal form of an open program, in the tables of the run.
    Open(TermId),
    /// None.
    Stopped(Stop),
}

/// A part of an answer that has no parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf {
    /// A number.
    Real(f64),
    /// A function.
    Function,
    /// An element of a dual space without basis.
    Dual,
}

/// A value as it is seen from outside: its leaves from left to right. The type says how they are arranged.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its type.
    pub ty: Type,
    /// Its leaves.
    pub leaves: Vec<Leaf>,
}

impl Answer {
    /// As section 10 prints it.
    pub fn show(&self, types: &Types) -> String {
        enum Task {
            Word(&'static str),
            Type(Type),
        }
        let (mut out, mut tasks) = (String::new(), vec![Task::Type(self.ty)]);
        let mut leaves = self.leaves.iter();
        while let Some(task) = tasks.pop() {
            let ty = match task {
                Task::Word(word) => {
                    out.push_str(word);
                    continue;
                }
                Task::Type(ty) => ty,
            };
            let (open, items, close) = match types.shape(ty) {
                Shape::Product(..) => ("<", types.spine(ty), ">"),
                Shape::Dual(of) if types.is_euclidean(of) => ("[", types.spine(of), "]^*"),
                Shape::Real | Shape::Arrow(..) | Shape::Dual(_) => {
                    match leaves.next().expect("an answer has all its leaves") {
                        Leaf::Real(value) => out.push_str(&Real(*value).to_string()),
                        Leaf::Function => out.push_str("<fun>"),
                        Leaf::Dual => out.push_str("<dual>"),
                    }
                    continue;
                }
            };
            tasks.push(Task::Word(close));
            for (i, item) in items.into_iter().enumerate().rev() {
                tasks.push(Task::Type(item));
                tasks.push(Task::Word(if i == 0 { open } else { ", " }));
            }
        }
        out
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Steps of the machine.
    pub steps: u64,
    /// Scalar operations that the program asked for.
    pub primal_ops: u64,
    /// These, and those of backward sweeps.
    pub total_ops: u64,
    /// The most memory at one time, about.
    pub bytes: u64,
}
