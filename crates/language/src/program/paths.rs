//! The declarations of streams that are named by their instance paths, such as `f#1/m`.
//!
//! Many streams are looked up for one node, so the streams of each node on the way are indexed by name once.

use rustc_hash::FxHashMap;

use super::{Callable, Enumerations, Node, NodeId, Program, Slot};
use crate::resolve::synthesis;

/// Finds the declarations of streams of one node and of the instances in it.
pub(crate) struct StreamPaths<'a> {
    program: &'a Program,
    callable: &'a Callable,
    slots: FxHashMap<NodeId, FxHashMap<&'a str, &'a Slot>>,
}

impl<'a> StreamPaths<'a> {
    pub fn new(program: &'a Program, callable: &'a Callable) -> Self {
        StreamPaths { program, callable, slots: FxHashMap::default() }
    }

    /// The name of the enumeration that a stream has.
    pub fn enumeration_name(&mut self, stream: &str) -> Option<&'a str> {
        let (module, tree) = self.program.type_def(self.slot(stream)?.enumeration?);
        Some(self.program.modules[module].names.text(tree.ident.name))
    }

    /// The constructors of a stream that has an enumeration.
    fn enumerators(&mut self, stream: &str) -> Option<Vec<String>> {
        Some(self.program.enumerators(self.slot(stream)?.enumeration?))
    }

    fn slot(&mut self, stream: &str) -> Option<&'a Slot> {
        let (node, name) = self.declaring_node(stream)?;
        self.slots_of(node).get(name).copied()
    }

    /// The node that declares a stream, and the name of the stream in it.
    fn declaring_node<'s>(&mut self, stream: &'s str) -> Option<(NodeId, &'s str)> {
        let program = self.program;
        let mut node = program.origin(self.callable.base);
        let mut rest = stream;
        // The state of a machine has a path in its node: `automaton#1/state`.
        while !self.slots_of(node).contains_key(rest)
            && let Some((segment, inner)) = rest.split_once('/')
        {
            let (callee, _) = segment.split_once('#')?;
            let callee = synthesis::callable(callee, &program.modules[program.node(node).module].visible)?;
            node = program.origin(callee.base);
            rest = inner;
        }
        Some((node, rest))
    }

    fn slots_of(&mut self, node: NodeId) -> &FxHashMap<&'a str, &'a Slot> {
        let declared: &'a Node = self.program.node(node);
        self.slots.entry(node).or_insert_with(|| {
            // Where a stream has two declarations, which is an error, the first counts.
            declared.slots.iter().rev().map(|slot| (slot.name.as_str(), slot)).collect()
        })
    }
}

impl Program {
    /// The enumerations among these streams of a node.
    pub fn enumerations<'s>(
        &self,
        callable: &Callable,
        streams: impl IntoIterator<Item = &'s str>,
    ) -> Enumerations {
        let mut paths = StreamPaths::new(self, callable);
        let of = |stream: &'s str| Some((stream.to_string(), paths.enumerators(stream)?));
        streams.into_iter().filter_map(of).collect()
    }

    /// The leaves of a stream that is a record; for any other stream, the stream itself.
    pub fn leaves_of(&self, callable: &Callable, stream: &str) -> Vec<String> {
        let itself = vec![stream.to_string()];
        let Some((node, name)) = StreamPaths::new(self, callable).declaring_node(stream) else {
            return itself;
        };
        let prefix = &stream[..stream.len() - name.len()];
        let is_leaf = |slot: &&Slot| slot.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let slots = self.node(node).slots.iter();
        let leaves: Vec<String> =
            slots.filter(is_leaf).map(|slot| format!("{prefix}{}", slot.name)).collect();
        if leaves.is_empty() { itself } else { leaves }
    }
}
