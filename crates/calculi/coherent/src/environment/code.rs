//! Code: a term whose variables are slots.
//!
//! Code accesses values in two rows: the *captured* ones, which come from a closure or a frame, and the
//! *local* ones, the arguments of the abstractions entered since then. The code of a closure or a frame is a
//! [`Block`]: it lists the values to capture, so no other value is kept alive. A closed term is compiled once
//! for all its occurrences.

use dashu_ratio::RBig;

use crate::syntax::Op;

eddy_index::id! {
    /// A piece of code.
    pub struct NodeId, "code is smaller than 2^32";
    /// The variable of an abstraction.
    pub struct Binder, "code is smaller than 2^32";
    /// Code that captures values.
    pub struct BlockId, "code is smaller than 2^32";
}

/// The place of the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Captured(u32),
    Local(u32),
}

/// How the value of an argument is made.
#[derive(Clone, Copy, Debug)]
pub enum Make {
    Number(u64),
    /// The value of a variable.
    Slot(Slot),
    /// A closed term.
    Closed,
    Closure(BlockId),
}

#[derive(Clone, Copy, Debug)]
pub enum Form {
    Var(Slot),
    /// An abstraction: its variable, the local slot of its argument, its body.
    Lambda(Binder, u32, NodeId),
    /// An application: the function, the argument and how to make its value.
    Apply(NodeId, NodeId, Make),
    /// `fix M` of a closed M.
    FixClosed(NodeId),
    /// `fix M`, whose M runs with the captures of the block.
    Fix(NodeId, BlockId),
    Num(u64),
    /// `op^d M`.
    Op(Op, u32, NodeId),
    /// `if^d(M,P,Q)`, where P and Q are in the block.
    If(u32, NodeId, BlockId),
    /// `let^d(x,M,P)`, where P is in the block.
    Let(u32, NodeId, BlockId),
    /// `D M`.
    Derive(NodeId),
    /// `coin(p)`.
    Coin(u32),
    /// `tick M`.
    Tick(NodeId),
}

/// Code that captures values, and its two entry points; the second one is for the `else` branch of an `if`.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub(super) captures: (u32, u32),
    pub(super) starts: [NodeId; 2],
}

/// A compiled program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub(super) forms: Vec<Form>,
    /// For each piece of code the range of variable occurrences in it; occurrences are numbered from left to
    /// right.
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) blocks: Vec<Block>,
    pub(super) captures: Vec<Slot>,
    /// For each binder the numbers of its occurrences, in order.
    pub(super) occurrences: Vec<Vec<u32>>,
    pub(super) probabilities: Vec<RBig>,
    /// The number of bits of the longest denominator of a probability.
    pub(super) longest_denominator: u64,
    pub(super) start: Option<NodeId>,
    /// The maximal number of captures of a block.
    pub(super) largest_block: u32,
}

impl Code {
    /// Whether the variable occurs in this piece of code.
    pub fn occurs(&self, binder: Binder, node: NodeId) -> bool {
        let occurrences = &self.occurrences[binder.index()];
        let (first, end) = self.ranges[node.index()];
        let next = occurrences.partition_point(|occurrence| *occurrence < first);
        occurrences.get(next).is_some_and(|occurrence| *occurrence < end)
    }

    pub(super) fn form(&self, node: NodeId) -> Form {
        self.forms[node.index()]
    }

    pub(super) fn block(&self, block: BlockId) -> Block {
        self.blocks[block.index()]
    }

    pub(super) fn captures(&self, block: Block) -> &[Slot] {
        &self.captures[block.captures.0 as usize..block.captures.1 as usize]
    }
}
