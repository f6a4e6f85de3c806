//! Records and enumerations of streams, before they are expanded to tensors.

use std::collections::BTreeMap;

use super::TypeDefId;

/// The structure of a stream of a node before records are expanded to their leaves (functions.md, section 6).
///
/// Records are nested at most [`Structure::MAX_DEPTH`] levels deep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    Tensor,
    /// A tensor of enumerators, which are represented by their numbers.
    Enumeration(TypeDefId),
    Record(Vec<(String, Structure)>),
}

impl Structure {
    pub const MAX_DEPTH: usize = 100;

    /// Its tensors in order, each with the labels on its path and its enumeration.
    pub fn leaves(&self) -> Vec<StructureLeaf> {
        let (mut leaves, mut work) = (Vec::new(), vec![(self, Vec::new())]);
        while let Some((structure, path)) = work.pop() {
            match structure {
                Structure::Tensor => leaves.push(StructureLeaf { path, enumeration: None }),
                Structure::Enumeration(id) => leaves.push(StructureLeaf { path, enumeration: Some(*id) }),
                Structure::Record(fields) => work.extend(fields.iter().rev().map(|(label, field)| {
                    (field, path.iter().cloned().chain([label.clone()]).collect::<Vec<String>>())
                })),
            }
        }
        leaves
    }

    pub fn n_leaves(&self) -> usize {
        match self {
            Structure::Tensor | Structure::Enumeration(_) => 1,
            Structure::Record(fields) => fields.iter().map(|(_, field)| field.n_leaves()).sum(),
        }
    }

    pub fn field(&self, label: &str) -> Option<&Structure> {
        match self {
            Structure::Record(fields) => {
                fields.iter().find(|(other, _)| other == label).map(|(_, field)| field)
            }
            _ => None,
        }
    }

    pub fn is_record(&self) -> bool {
        matches!(self, Structure::Record(_))
    }
}

/// The structures of the arguments and results of a function that a node applies.
#[derive(Clone, Debug, Default)]
pub struct StructuredCall {
    pub arguments: Vec<Structure>,
    pub results: Vec<Structure>,
}

/// The names of the streams that have an enumeration as their type, each with the names of its enumerators.
pub type Enumerations = BTreeMap<String, Vec<String>>;

/// A tensor in a structure.
#[derive(Clone, Debug)]
pub struct StructureLeaf {
    /// The labels on the path to it.
    pub path: Vec<String>,
    pub enumeration: Option<TypeDefId>,
}
