//! What a program says about itself: its comments, the types and clocks of its nodes, and its test benches.

use eddy_language::tree::Item;

use crate::benches::{BenchRequest, ItemResult};
use crate::program::{Answer, MemoryReport, Program};
use crate::refusal::Refusal;

/// The documentation of a program.
#[derive(Clone, Debug)]
pub struct Documentation {
    /// Its nodes and functions, in the order of the text.
    pub items: Vec<Documented>,
    /// The results of its benches and evaluations.
    pub results: Vec<ItemResult>,
}

/// A node or a function.
#[derive(Clone, Debug)]
pub struct Documented {
    /// Its name.
    pub name: String,
    /// The comment right above it.
    pub doc: Option<String>,
    /// What `check` says about it: types, clocks and look-ahead.
    pub report: String,
}

impl Program {
    /// The documentation of the program.
    pub fn documentation(&self) -> Result<Answer<Documentation>, Refusal> {
        let report = self.check(MemoryReport::LeftOut)?;
        let benches = self.benches(&BenchRequest::default())?;
        let names = &self.resolved().modules[eddy_language::program::Program::MAIN].names;
        let reported = |name: &str| {
            let nodes = report.value.nodes.iter().map(|node| (&node.name, &node.text));
            let functions = report.value.functions.iter().map(|function| (&function.name, &function.text));
            nodes.chain(functions).find(|(other, _)| *other == name).map(|(_, text)| text.clone())
        };
        let item = |item: &Item| {
            let (ident, doc) = match item {
                Item::Node(node) => (node.ident, node.doc.clone()),
                Item::Function(function) => (function.ident, function.doc.clone()),
                Item::Train(train) => (train.ident, None),
                _ => return None,
            };
            let name = names.text(ident.name).to_string();
            let report = reported(&name).unwrap_or_default();
            Some(Documented { name, doc, report })
        };
        let items = self.tree().items.iter().filter_map(item).collect();
        let warnings = report.warnings.into_iter().chain(benches.warnings).collect();
        Ok(self.answer(Documentation { items, results: benches.value.results }, warnings))
    }
}
