//! Expands state machines before names are resolved (composition.md, section 7).
//!
//! Each state becomes a node, which is restarted by transitions; the machine becomes equations of the node
//! around it. Names with a `:` or a `/` are in no program.
//!
//! ```text
//! automaton { last o = 0.0;                  m = grow fby m:next;         the state
//!   state grow {                             m:restart = false fby m:next_restart;
//!     k = 1.0 fby (2.0 * k);                 o:in:m:grow, … = reset n/m/grow(x when m is grow)
//!     o = k * x;                               every (m:restart when m is grow);
//!     until o > 3.0 then drain; }            o = merge m { grow: o:in:m:grow, drain: o:in:m:drain };
//!   state drain { … }                        o:last = 0.0 fby o;
//! }
//! ```
//!
//! What a state reads from around it is sampled where the machine is in that state. So local streams, paths,
//! parameters and the numbers of instances of a state are those of a node.
//!
//! * [`names`]: which streams a machine shares, and what a state reads. [`translate`]: the nodes and
//!   equations. [`build`]: trees.

mod build;
mod names;
mod translate;

use eddy_syntax::Diagnostic;

use crate::names::Names;
use crate::tree::{Item, Program};
use names::Owner;

/// Adds the nodes of states to a file, and the equations of machines to their nodes.
pub fn expand(tree: &mut Program, texts: &mut Names, warnings: &mut Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for number in 0..tree.items.len() {
        let Item::Node(node) = &tree.items[number] else { continue };
        if node.automata.is_empty() {
            continue;
        }
        let node = node.clone();
        // The equations of a machine stand where the machine stands.
        let mut equations = node.equations.clone();
        let owner = Owner::new(tree, &node);
        for (machine, automaton) in node.automata.iter().enumerate().rev() {
            warnings.extend(translate::unreached(texts, automaton));
            match translate::machine(tree, texts, &node, &owner, machine) {
                Ok(new) => {
                    let at = automaton.at.min(equations.len());
                    equations.splice(at..at, new);
                }
                Err(found) => diagnostics.extend(found),
            }
        }
        if let Item::Node(node) = &mut tree.items[number] {
            node.equations = equations;
        }
    }
    diagnostics
}

/// Whether a node with this name is a state of a machine.
pub fn is_state(name: &str) -> bool {
    name.contains('/')
}

/// The path of the instance of a state, in the node of its machine: `automaton#1/grow`.
pub fn path_of_state(name: &str) -> Option<&str> {
    name.split_once('/').map(|(_, path)| path)
}
