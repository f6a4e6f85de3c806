//! Translates operations on tensors to loops over elements.
//!
//! The input is a list of statements, one operation each, in groups that run under the same conditions. These
//! passes run:
//!
//! * [`common`] eliminates common subexpressions,
//! * [`mod@accumulate`] merges products into sums,
//! * [`mod@prune`] removes dead statements, and [`extents`] dead rows of products,
//! * [`mod@schedule`] turns operations that move no elements into [`View`]s, which cost nothing,
//! * [`fusion`] puts elementwise operations of the same shape into one loop, in which most results are never
//!   stored, together with sums of these,
//! * [`memory`] assigns memory to the rest, shared between values with disjoint lifetimes.
//!
//! Then the code is written in `imp`: [`map`] writes loops over elements, [`products`], [`reductions`],
//! [`structure`] and [`convolution`] the other operations, [`mod@each`] those that are applied to each stream
//! of a batch, [`calls`] functions of the program, and [`mod@write`] the surrounding code. Each operation
//! accumulates in the order that the tensor crate defines, so that the bits are the same as in the simulator.

mod accumulate;
pub(crate) mod calls;
mod common;
mod convolution;
mod each;
mod expression;
mod extents;
mod fusion;
mod map;
pub(crate) mod memory;
mod products;
mod prune;
mod reductions;
mod rows;
mod schedule;
mod structure;
#[cfg(test)]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "a test compiles and runs C")]
mod tests;
mod write;

use eddy_flow::VarId;
use eddy_imp::{Block, Name, Place};
use eddy_tensor::{Op, Type};
use rustc_hash::FxHashMap;

use crate::view::View;
use memory::{Homes, Scratch};
pub(crate) use prune::can_fail;

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub var: VarId,
    pub ty: Type,
    pub right: Right,
    /// The number of the equation, from 1, which is reported on failure.
    pub site: usize,
    pub comment: String,
}

/// The right-hand side of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Right {
    Apply(Op, Vec<Operand>),
    /// One of two values, chosen by a scalar condition.
    Choice(Operand, Operand, Operand),
    Copy(Operand),
    /// The sum of an array and the product of two matrices.
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

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operand {
    /// A stream that an earlier statement computes.
    Var(VarId),
    /// An existing value.
    Seen(View),
}

/// Statements that run if all conditions hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    /// Scalars with their required values.
    pub conditions: Vec<(Operand, bool)>,
    pub statements: Vec<Statement>,
}

/// Code to be written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub groups: Vec<Group>,
    /// Where results must be stored: elements for scalars, arrays for tensors.
    pub exports: FxHashMap<VarId, Vec<Place>>,
    /// Streams that are read after the code has run.
    pub live_out: Vec<VarId>,
    /// Streams whose previous value may be overwritten, and where it is. It is not overwritten while
    /// something still reads it.
    pub in_place: FxHashMap<VarId, Place>,
    /// Pointers that are read, and the arrays that each may point to.
    pub pointers: FxHashMap<Name, [Place; 2]>,
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

/// The result of lowering.
pub(crate) struct Lowered {
    /// Declarations of scalars that more than one group uses, then the statements.
    pub block: Block,
    /// Where each stream is that was not confined to a loop.
    pub homes: Homes,
}

pub(crate) fn lower(code: &Code, names: &dyn Fn(VarId) -> String, scratch: &mut Scratch) -> Lowered {
    let code = accumulate::accumulate(prune::prune(&common::share(code)));
    let scheduled = schedule::schedule(&code);
    let homes = memory::assign(&code, &scheduled, names, scratch);
    let block = write::write(&code, &scheduled, &homes);
    Lowered { block, homes }
}
