//! Code: a term whose variables know where their values are.
//!
//! The values that code can reach are in two rows, the *captured* ones, which a closure or a frame brought along, and the *local* ones, the
//! arguments of the abstractions since. Code that a closure or a frame holds is a [`Block`]: it knows which values to
//! capture, and only those, so that nothing else is kept alive. A closed term is compiled once, wherever it occurs.

use dashu_ratio::RBig;

use crate::syntax::Op;

/// A piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub(super) u32);

/// The variable of an abstraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binder(pub(super) u32);

/// Code that captures values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockId(pub(super) u32);

/// Where the value of a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Among the captured ones.
    Captured(u32),
    /// Among the local ones.
    Local(u32),
}

/// How the value of an argument is made.
#[derive(Clone, Copy, Debug)]
pub enum Make {
    /// It is a number.
    Number(u64),
    /// It is the value of a variable.
    Slot(Slot),
    /// It is a closed term.
    Closed,
    /// It is a closure of this block.
    Closure(BlockId),
}

/// The forms of code, one for each form of terms.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A variable.
    Var(Slot),
    /// An abstraction: its variable, the local slot of its argument, its body.
    Lambda(Binder, u32, NodeId),
    /// An application: the function, the argument and how to make its value.
    Apply(NodeId, NodeId, Make),
    /// `fix M` of a closed M.
    FixClosed(NodeId),
    /// `fix M`, whose M runs among what the block captures.
    Fix(NodeId, BlockId),
    /// A numeral.
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

/// Code that captures values, and where it starts; the second start is that of an `else`.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub(super) captures: (u32, u32),
    pub(super) starts: [NodeId; 2],
}

/// A compiled program.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub(super) forms: Vec<Form>,
    /// The occurrences of variables in each piece of code: they are numbered from left to right.
    pub(super) ranges: Vec<(u32, u32)>,
    pub(super) blocks: Vec<Block>,
    pub(super) captures: Vec<Slot>,
    /// For each binder the numbers of its occurrences, in order.
    pub(super) occurrences: Vec<Vec<u32>>,
    pub(super) probabilities: Vec<RBig>,
    /// How many bits the longest denominator of a probability has.
    pub(super) longest_denominator: u64,
    pub(super) start: Option<NodeId>,
    /// How many values a block captures at most.
    pub(super) largest_block: u32,
}

impl Code {
    /// Whether the variable occurs in this piece of code.
    pub fn occurs(&self, binder: Binder, node: NodeId) -> bool {
        let occurrences = &self.occurrences[binder.0 as usize];
        let (first, end) = self.ranges[node.0 as usize];
        let next = occurrences.partition_point(|occurrence| *occurrence < first);
        occurrences.get(next).is_some_and(|occurrence| *occurrence < end)
    }

    pub(super) fn form(&self, node: NodeId) -> Form {
        self.forms[node.0 as usize]
    }

    pub(super) fn block(&self, block: BlockId) -> Block {
        self.blocks[block.0 as usize]
    }

    pub(super) fn captures(&self, block: Block) -> &[Slot] {
        &self.captures[block.captures.0 as usize..block.captures.1 as usize]
    }
}
