//! Contracts as equations (composition.md, section 10): `assert e "message";` stands for a stream with the
//! value of e, whose name is in no program.
//!
//! ```text
//! assert y < 5.0 "y stays small";        assert:1 : bool [] = y < 5.0;
//! ```
//!
//! So contracts are typed, sampled and differentiated like all equations. Elaboration adds the test of the
//! stream, for each instance.

use crate::tree::{Annotation, Contract, Decl, Equation, Ident, Item, Program, Scalar, Target};

/// Adds the equations of contracts to their nodes and states.
pub fn expand(tree: &mut Program) {
    let dims = tree.exprs.list([]);
    let equation = |contract: &Contract| {
        let ident = Ident { name: contract.stream, span: contract.word };
        let annotation = Annotation { scalar: Scalar::Bool, dims: Some(dims), span: contract.word };
        let decl = Decl {
            ident,
            annotation: Some(annotation),
            type_name: None,
            clock: Vec::new(),
            default: None,
            is_callable: false,
            span: contract.word,
        };
        let targets = vec![Target::Decl(decl)];
        Equation { targets, value: contract.condition, at: contract.word, span: contract.span }
    };
    for item in &mut tree.items {
        let Item::Node(node) = item else { continue };
        node.equations.extend(node.contracts.iter().map(equation));
        for state in node.automata.iter_mut().flat_map(|automaton| &mut automaton.states) {
            state.equations.extend(state.contracts.iter().map(equation));
        }
    }
}

/// Whether a stream with this name is that of a contract.
pub fn is_contract(name: &str) -> bool {
    name.starts_with("assert:") || name.starts_with("assume:")
}
