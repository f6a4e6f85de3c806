//! The differentiated program, in one file: the nodes that N needs, under unique names, with resets woven in
//! where `M_end` is requested. All later printing derives from this text alone.

use rustc_hash::FxHashMap;

use super::Types;
use super::local::{Action, Local, Typed};
use super::nodes::{NodeText, Nodes};
use super::text::Text;
use super::weave::{self, Woven};
use crate::flow::Kind;
use crate::program::{Base, Callable, Callee, NodeId, Program, Reference};
use crate::static_value::postorder;
use crate::tree::{ExprId, Target};

/// A program in one file.
pub(super) struct Linked {
    /// The differentiated node.
    pub root: String,
    /// The nodes, callees first.
    pub nodes: Vec<LinkedNode>,
}

/// A node of the program.
pub(super) struct LinkedNode {
    pub name: String,
    pub text: NodeText,
    /// Whether resets were woven into it; then it is printed in any case.
    pub is_woven: bool,
}

impl Linked {
    /// The text of all nodes.
    pub fn source(&self) -> String {
        self.nodes.iter().map(|node| node.text.show(&node.name)).collect()
    }
}

/// Writes the nodes that an elaborated node needs.
pub(super) fn link(typed: &Typed<'_>, locals: &[Local], callable: &Callable, types: Types) -> Linked {
    let mut linker =
        Linker { typed, nodes: Nodes::default(), linked: Vec::new(), plain: FxHashMap::default() };
    let n_instances = locals.len();
    let woven = woven(typed, locals, callable);
    if woven.contains(&true) {
        linker.nodes.reserve(["fby_end", "post_end", "param_end"].map(ToString::to_string));
    }
    let mut names: Vec<Option<String>> = vec![None; n_instances];
    for instance in (0..n_instances).rev() {
        let node = typed.recorded(instance).node;
        let name = if woven[instance] {
            let text = weave::node(&Woven { typed, instance, names: &names, woven: &woven, types });
            linker.add(&format!("{}_end", typed.program.node(node).name), text, true)
        } else {
            let callee = |expr: ExprId| names[*typed.recorded(instance).calls.get(&expr)?].clone();
            linker.plain_node(node, &callee)
        };
        names[instance] = name.into();
    }
    linker.customs();
    let root = names[0].clone().expect("each instance has a name");
    Linked { root, nodes: linker.linked }
}

/// Which instances have resets: those inside an `M_end` that contain state to reset.
fn woven(typed: &Typed<'_>, locals: &[Local], callable: &Callable) -> Vec<bool> {
    let is_end = |callable: &Callable| matches!(callable.base, Base::Woven { end: true, .. });
    let mut woven = vec![false; locals.len()];
    // A node called as `M_end`, and the requested node, have the input `end` in any case.
    let mut is_requested = vec![false; locals.len()];
    (woven[0], is_requested[0]) = (is_end(callable), true);
    // Callers come before their callees.
    for instance in 0..locals.len() {
        for (expr, callee) in &typed.recorded(instance).calls {
            is_requested[*callee] = match &typed.module(instance).references[expr.index()] {
                Reference::Call { callee: Callee::Instance(callable), .. } => is_end(callable),
                _ => false,
            };
            woven[*callee] = woven[instance] || is_requested[*callee];
        }
    }
    let mut has_state = vec![false; locals.len()];
    for instance in (0..locals.len()).rev() {
        has_state[instance] = locals[instance].steps.iter().any(|step| match step.action {
            Action::Equation(ref kind) => kind.is_delay() || matches!(kind, Kind::Param(_)),
            Action::Call(callee) => has_state[callee],
        });
    }
    (0..locals.len())
        .map(|instance| woven[instance] && (is_requested[instance] || has_state[instance]))
        .collect()
}

struct Linker<'a> {
    typed: &'a Typed<'a>,
    nodes: Nodes,
    linked: Vec<LinkedNode>,
    /// The names of nodes that are printed unchanged.
    plain: FxHashMap<NodeId, String>,
}

impl Linker<'_> {
    fn add(&mut self, preferred: &str, text: NodeText, is_woven: bool) -> String {
        let name = self.nodes.add(preferred, text.clone());
        if !self.linked.iter().any(|linked| linked.name == name) {
            self.linked.push(LinkedNode { name: name.clone(), text, is_woven });
        }
        name
    }

    /// Adds a node as it is written and returns its name. Nodes of the prelude exist already; a node with the
    /// name and the text of one of them is not added.
    fn plain_node(&mut self, node: NodeId, callee: &dyn Fn(ExprId) -> Option<String>) -> String {
        let program = self.typed.program;
        let declared = program.node(node);
        if declared.module == Program::PRELUDE {
            return declared.name.clone();
        }
        let text = written(program, node, callee);
        let of_prelude = (0..program.nodes.len()).map(NodeId::new).find(|other| {
            let other = program.node(*other);
            other.module == Program::PRELUDE && other.name == declared.name
        });
        let name = match of_prelude {
            Some(other) if written(program, other, &|_| None) == text => declared.name.clone(),
            _ => self.add(&declared.name, text, false),
        };
        self.plain.insert(node, name.clone());
        name
    }

    /// Adds the custom derivatives of the plain nodes, and the nodes that these need.
    fn customs(&mut self) {
        let program = self.typed.program;
        let mut todo: Vec<NodeId> = self.plain.keys().copied().collect();
        todo.sort_unstable();
        while let Some(node) = todo.pop() {
            let mut needed: Vec<NodeId> = called(program, node);
            // The outermost node has no caller, so its custom derivatives are not called.
            let customs = program.customs.get(&node).filter(|_| node != self.typed.recorded(0).node);
            if let Some(customs) = customs {
                needed.extend(customs.adjoint.into_iter().chain(customs.tangent).chain(customs.diff));
            }
            for other in needed {
                if program.node(other).module != Program::PRELUDE && !self.plain.contains_key(&other) {
                    self.plain_node(other, &|_| None);
                    todo.push(other);
                }
            }
        }
    }
}

/// The nodes that a node calls.
pub(super) fn called(program: &Program, node: NodeId) -> Vec<NodeId> {
    calls(program, node).into_iter().map(|(callable, _)| program.origin(callable.base)).collect()
}

/// The callees of a node, with their calls.
pub(super) fn calls(program: &Program, node: NodeId) -> Vec<(&Callable, ExprId)> {
    let (module, declared) = (program.module_of(node), program.node(node));
    let exprs = declared.equations.iter().flat_map(|equation| postorder(&module.tree.exprs, equation.value));
    let callable = |expr: ExprId| match &module.references[expr.index()] {
        Reference::Call { callee: Callee::Instance(callable), .. } => Some((callable, expr)),
        _ => None,
    };
    exprs.filter_map(callable).collect()
}

/// A node as it is written, except for the names of its callees.
fn written(program: &Program, node: NodeId, callee: &dyn Fn(ExprId) -> Option<String>) -> NodeText {
    let (module, declared) = (program.module_of(node), program.node(node));
    let tree = program.tree_of(declared);
    let mut text = Text::default();
    let mut lines = Vec::new();
    for equation in &tree.equations {
        let targets = targets(&mut text, module, &equation.targets);
        let value = text.copy(module, equation.value, &FxHashMap::default(), callee);
        lines.push(text.equation(&targets, value));
    }
    NodeText {
        inputs: tree.inputs.iter().map(|decl| text.declaration(module, decl)).collect(),
        outputs: tree.outputs.iter().map(|decl| text.declaration(module, decl)).collect(),
        lines,
    }
}

/// The left side of an equation, as it is written.
pub(super) fn targets(text: &mut Text, module: &crate::program::Module, targets: &[Target]) -> Vec<String> {
    let target = |target: &Target| match target {
        Target::Decl(decl) => text.declaration(module, decl),
        Target::Discard(_) => "_".to_string(),
    };
    targets.iter().map(target).collect()
}
