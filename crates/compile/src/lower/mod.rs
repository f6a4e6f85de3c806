//! From operations on tensors to loops over elements.
//!
//! Input is a list of statements, one operation each, in groups that run under the same conditions. Some things happen to them:
//!
//! * what is written twice is computed once ([`common`]),
//! * a product that is added to something is not stored before ([`mod@accumulate`]),
//! * what nobody reads is left out ([`mod@prune`]), and so are rows of products ([`extents`]),
//! * what moves no element becomes a [`View`] and costs nothing ([`mod@schedule`]),
//! * operations on elements with the same shape become one loop, in which most results are never stored, and sums of those are taken as
//!   they come ([`fusion`]),
//! * what must be stored gets memory, which is shared by what is not needed at the same time ([`memory`]).
//!
//! Then they are printed: [`map`] writes loops over elements, [`products`], [`reductions`], [`structure`] and
//! [`convolution`] all other operations, [`mod@each`] those that are applied to each stream of a batch, [`long_loops`] what several threads can run, and
//! [`print`](mod@print) what is around them. Each operation accumulates in the order that the tensor crate defines, so that the bits are
//! the same as those of the simulator.

mod accumulate;
mod common;
mod convolution;
mod each;
mod expression;
mod extents;
mod fusion;
pub(crate) mod long_loops;
mod map;
pub(crate) mod memory;
mod print;
mod products;
mod prune;
mod reductions;
mod schedule;
mod structure;
#[cfg(test)]
mod tests;

use eddy_flow::VarId;
use eddy_tensor::{Op, Type};
use rustc_hash::FxHashMap;

use crate::lines::Lines;
use crate::precision::Precision;
use crate::view::View;
use long_loops::LongLoops;
use memory::{Homes, Scratch};
pub(crate) use prune::can_fail;

/// One operation.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    /// The stream that it computes.
    pub var: VarId,
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub right: Right,
    /// What is told if it fails: the number of the equation, from 1.
    pub site: usize,
    /// What a reader is told about it.
    pub comment: String,
}

/// What a statement computes.
#[derive(Clone, Debug)]
pub(crate) enum Right {
    /// An operation.
    Apply(Op, Vec<Operand>),
    /// One of two values, by a scalar condition.
    Choice(Operand, Operand, Operand),
    /// The value itself.
    Copy(Operand),
    /// An array, and added to it the product of two matrices.
    Accumulate(Operand, Operand, Operand),
}

impl Right {
    fn operands(&self) -> Vec<&Operand> {
        match self {
            Right::Apply(_, operands) => operands.iter().collect(),
            Right::Choice(condition, yes, no) => vec![condition, yes, no],
            Right::Accumulate(to, left, right) => vec![to, left, right],
            Right::Copy(operand) => vec![operand],
        }
    }

    fn operands_mut(&mut self) -> Vec<&mut Operand> {
        match self {
            Right::Apply(_, operands) => operands.iter_mut().collect(),
            Right::Choice(condition, yes, no) => vec![condition, yes, no],
            Right::Accumulate(to, left, right) => vec![to, left, right],
            Right::Copy(operand) => vec![operand],
        }
    }
}

/// What a statement reads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A stream that a statement before it computes.
    Var(VarId),
    /// Something that is there already.
    Seen(View),
}

/// Statements that run if all conditions hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Scalars, and the values that they must have.
    pub conditions: Vec<(Operand, bool)>,
    pub statements: Vec<Statement>,
}

/// Code to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub groups: Vec<Group>,
    /// Where results must go: C expressions, arrays for tensors.
    pub exports: FxHashMap<VarId, Vec<String>>,
    /// Streams that are read when the code has run.
    pub live_out: Vec<VarId>,
    /// Streams whose last value may be overwritten by the new one, and where it is. It is not, if something still reads the old one.
    pub in_place: FxHashMap<VarId, String>,
    /// Pointers that are read, and the arrays that each may point to.
    pub pointers: FxHashMap<String, [String; 2]>,
}

impl Code {
    /// Adds statements that run if some conditions hold.
    pub fn add(&mut self, conditions: Vec<(Operand, bool)>, statements: Vec<Statement>) {
        match self.groups.last_mut() {
            _ if statements.is_empty() => {}
            Some(group) if group.conditions == conditions => group.statements.extend(statements),
            _ => self.groups.push(Group { conditions, statements }),
        }
    }
}

/// What became of the code.
pub(crate) struct Lowered {
    /// Declarations of scalars that more than one group uses, then the statements.
    pub lines: Lines,
    /// Where each stream that was not kept in a loop is now.
    pub homes: Homes,
}

/// Writes some code.
pub(crate) fn lower(
    code: &Code,
    names: &dyn Fn(VarId) -> String,
    precision: Precision,
    scratch: &mut Scratch,
    long_loops: &LongLoops,
) -> Lowered {
    let code = accumulate::accumulate(prune::prune(&common::share(code)));
    let scheduled = schedule::schedule(&code);
    let homes = memory::assign(&code, &scheduled, names, scratch);
    let lines = print::print(&code, &scheduled, &homes, precision, long_loops);
    Lowered { lines, homes }
}
