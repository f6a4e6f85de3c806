//! Outcomes and limits of runs.

use crate::primitive::Undefined;
use crate::syntax::TermId;
use crate::types::{Shape, Type, Types};
use eddy_syntax::real::Real;

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub fuel: u64,
    /// Bytes for terms, values and tapes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 1_000_000_000, memory: 2 << 30 }
    }
}

/// Why a run stops without a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// An operation, or its derivative, is not a finite number.
    Domain(Undefined),
    OutOfFuel,
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
    Value(Answer),
    /// The normal form of an open program, in the tables of the run.
    Open(TermId),
    Stopped(Stop),
}

/// A leaf of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Leaf {
    Real(f64),
    Function,
    /// An element of a dual space without basis.
    Dual,
}

/// A value for output: its leaves from left to right. The type determines their arrangement.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub ty: Type,
    pub leaves: Vec<Leaf>,
}

impl Answer {
    /// The text of a value (section 10).
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

/// The counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Steps of the machine.
    pub steps: u64,
    /// Scalar operations of the program itself.
    pub primal_ops: u64,
    /// All scalar operations, including those of backward sweeps.
    pub total_ops: u64,
    /// The approximate maximum of memory in use.
    pub bytes: u64,
}
