//! Why the answer is yes: derivations and demanded tables, in `.lam` (section 7.1; Figure 2 of the paper).
//!
//! The search finds that some branch has the value. That branch is repeated and recorded ([`record`]) with
//! its closures. Then demands flow backward ([`demand`]): the result must be `v`, so the body must give `v`,
//! so the argument must be at least this table, so the function at least that one. All demands on a function
//! together are its table: finite, and just large enough.
//!
//! ```text
//! (\x. x 1 + x 2) (\y. …)      the demands {1 -> 7} and {2 -> 0} on x give the table {1 -> 7, 2 -> 0}
//! ```
//!
//! [`write`](mod@write) prints the tree, with values or with types, and [`tables`] the demanded table of each
//! λ of the source.

mod demand;
mod record;
pub mod tables;
pub mod write;

use crate::ask::{Answer, Limits, Machine, NIL};
use crate::names::Name;
use crate::syntax::{Program, TermId};
use crate::value::parse::Goal;
use crate::value::{Value, Values};

pub type NodeId = usize;

/// A derivation of `∅ ⊢ e ⇒ v`. Nodes share common subtrees.
#[derive(Clone, Debug)]
pub struct Derivation {
    nodes: Vec<Node>,
    root: NodeId,
}

/// A conclusion `ρ ⊢ e ⇒ v` and its rule. ρ is not stored; the path from the root determines it.
#[derive(Clone, Debug)]
pub struct Node {
    /// e.
    pub term: TermId,
    /// v.
    pub value: Value,
    /// The rule and its premises.
    pub rule: Rule,
}

/// The rules of Figure 2, with subsumption in variables and applications.
#[derive(Clone, Debug)]
pub enum Rule {
    /// ρ ⊢ n ⇒ n.
    Int,
    /// v ⊑ ρ(x) ⟹ ρ ⊢ x ⇒ v.
    Variable,
    /// The operands.
    Op([NodeId; 2]),
    /// The condition, and the branch that was taken.
    If([NodeId; 2]),
    /// ∀(v↦v')∈t. ρ(x:=v) ⊢ e ⇒ v' ⟹ ρ ⊢ λx.e ⇒ t: each input, and its premise.
    Lambda(Name, Vec<(Value, NodeId)>),
    /// The function and the argument.
    Apply([NodeId; 2]),
}

impl Derivation {
    /// The conclusion of the whole.
    pub fn root(&self) -> NodeId {
        self.root
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    /// All nodes, in no particular order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Asks, and explains a yes.
pub fn explain(
    program: &Program,
    goal: Goal,
    values: &mut Values,
    limits: Limits,
) -> (Answer, Option<Derivation>, u64) {
    let mut machine = Machine::new(program, values, limits);
    machine.prepare(goal);
    let (answer, found) = machine.ask_of(program.main, NIL, goal.value, goal.store);
    let steps = machine.steps();
    let derivation = found.map(|found| {
        machine.lift_limits();
        let mut recorder = record::Recorder::new(machine);
        let root = recorder.record(program.main, NIL, &found);
        demand::derive(recorder, root, goal.value)
    });
    (answer, derivation, steps)
}
