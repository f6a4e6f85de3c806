//! A whole program: its files, their nodes, and what each name in them stands for.
//!
//! Names are resolved once per node, before anything is inlined: a variable becomes a [`SlotId`], the number of a stream of
//! its node, and a call knows its [`Callee`]. So elaboration, which visits a node once per instance, never looks at a name.

use std::collections::BTreeMap;

use eddy_autodiff::section::Mode;
use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Builtin, Initialiser, Static};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::limits::Limits;
use crate::names::Names;
use crate::resolve::{listing, synthesis};
use crate::tree::{self, Annotation, ExprId, Polarity};

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// A stream of a node: an input, an output or a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(pub usize);

/// A `train` declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrainId(pub usize);

/// What can be instantiated or run: a node of the program, or one that is synthesised from it (section 9.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callable {
    /// What is differentiated.
    pub base: Base,
    /// The derivatives that are taken of it, the first one first: `tan_adj_N` is `[Adjoint, Tangent]`.
    pub modes: Vec<Mode>,
}

/// What a derivative is taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A node.
    Node(NodeId),
    /// `N_end`, `N_cut` or `N_end_cut`.
    Woven {
        /// N.
        node: NodeId,
        /// Whether `end` resets it.
        end: bool,
        /// Whether `cut` cuts its gradients.
        cut: bool,
    },
    /// A node that a `train` declares.
    Train(TrainId),
    /// The same without its optimisers: the loss at fixed parameters.
    Test(TrainId),
}

impl From<NodeId> for Callable {
    fn from(node: NodeId) -> Callable {
        Base::Node(node).into()
    }
}

impl From<Base> for Callable {
    fn from(base: Base) -> Callable {
        Callable { base, modes: Vec::new() }
    }
}

/// The derivatives of a node that the user wrote.
#[derive(Clone, Copy, Debug, Default)]
pub struct Customs {
    /// `adj_M`.
    pub adjoint: Option<NodeId>,
    /// `tan_M`.
    pub tangent: Option<NodeId>,
    /// `diff_M`.
    pub diff: Option<NodeId>,
}

/// `train N as M loss L optim O(args) …;`, resolved.
#[derive(Clone, Debug)]
pub struct Train {
    /// The file that it is in.
    pub module: usize,
    /// M.
    pub name: String,
    /// The word `train`.
    pub span: Span,
    /// N.
    pub node: NodeId,
    /// L.
    pub loss: NodeId,
    /// O.
    pub optimiser: NodeId,
    /// What the optimiser is given besides the parameter, the step and the gradient.
    pub arguments: Vec<Static>,
    /// Whether `end` resets N.
    pub segment: bool,
    /// Whether the gradient of a sequence is the mean over its rows, not the sum.
    pub mean: bool,
    /// Whether `cut` cuts its gradients.
    pub truncate: bool,
}

/// The files and nodes of a program.
#[derive(Debug, Default)]
pub struct Program {
    /// The files: the prelude, the main file, and what that imports.
    pub modules: Vec<Module>,
    /// The nodes of all files.
    pub nodes: Vec<Node>,
    /// The `train` declarations of all files.
    pub trains: Vec<Train>,
    /// The derivatives that the user wrote, by the node that they are of.
    pub customs: FxHashMap<NodeId, Customs>,
    /// The nodes that the main file sees.
    pub visible: BTreeMap<String, Base>,
    /// What looks wrong in the main file and is accepted.
    pub warnings: Vec<Diagnostic>,
    /// How large it may become.
    pub limits: Limits,
}

/// A file.
#[derive(Debug)]
pub struct Module {
    /// Its names.
    pub names: Names,
    /// Its tree.
    pub tree: tree::Program,
    /// What each expression refers to; parallel to the expressions of the tree.
    pub references: Vec<Reference>,
    /// Whether it came with the binary: the prelude, or a file of the library.
    pub is_library: bool,
}

impl Module {
    /// The tree of the node that is declaration number `item`.
    pub fn node_tree(&self, item: usize) -> &tree::Node {
        match &self.tree.items[item] {
            tree::Item::Node(node) => node,
            _ => unreachable!("a node knows its declaration"),
        }
    }
}

/// What a variable or a call refers to.
#[derive(Clone, Debug, Default)]
pub enum Reference {
    /// Other expressions refer to nothing.
    #[default]
    Nothing,
    /// A stream of the node that the expression is in.
    Slot(SlotId),
    /// `f(…)`, the `ordinal`-th call of that name in the text of its node, from 1.
    Call {
        /// What is called.
        callee: Callee,
        /// Which of the calls of that name.
        ordinal: u32,
    },
}

/// What can be called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// An instance of a node.
    Instance(Callable),
    /// A function of the operation table.
    Function(Builtin),
    /// `zeros` and its like.
    Initialiser(Initialiser),
    /// `param`.
    Param,
}

/// The arguments of a function that must be known at compile time: some in front, perhaps an axis at the end.
pub fn static_positions(builtin: Builtin, n_arguments: usize) -> impl Iterator<Item = usize> {
    let n_leading = builtin.n_leading();
    let is_with_axis = !builtin.arity().accepts(n_arguments.saturating_sub(n_leading));
    (0..n_leading).chain(is_with_axis.then(|| n_arguments - 1))
}

/// What a stream of a node is to its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The caller gives it.
    Input,
    /// The caller gets it.
    Output,
    /// Neither.
    Local,
}

/// A stream of a node.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// Where it is declared: in the head of the node, or on the left of its equation.
    pub span: Span,
    /// What it is to its surroundings.
    pub role: Role,
    /// The types that are written for it.
    pub annotations: Vec<Annotation>,
    /// The clocks that are written for it, each with its place.
    pub clocks: Vec<(Vec<(SlotId, Polarity)>, Span)>,
}

/// An equation of a node.
#[derive(Clone, Debug)]
pub struct Equation {
    /// What it defines; `_` is none.
    pub targets: Vec<Option<SlotId>>,
    /// The right side.
    pub value: ExprId,
}

/// A node, resolved.
#[derive(Clone, Debug)]
pub struct Node {
    /// The file that it is in.
    pub module: usize,
    /// Which declaration of that file it is.
    pub item: usize,
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// The comment above it.
    pub doc: Option<String>,
    /// Its streams; the inputs come first, in order.
    pub slots: Vec<Slot>,
    /// How many inputs it has.
    pub n_inputs: usize,
    /// Its outputs, in order.
    pub outputs: Vec<SlotId>,
    /// Its equations, in order.
    pub equations: Vec<Equation>,
    /// For each slot whether it must be known at compile time.
    pub is_static: Vec<bool>,
}

impl Node {
    /// The inputs.
    pub fn inputs(&self) -> &[Slot] {
        &self.slots[..self.n_inputs]
    }

    /// Whether it is only declared: it has outputs and nothing that defines them.
    pub fn is_external(&self) -> bool {
        self.equations.is_empty() && !self.outputs.is_empty()
    }

    /// The inputs that must be known at compile time.
    pub fn static_inputs(&self) -> impl Iterator<Item = &Slot> {
        self.inputs().iter().zip(&self.is_static).filter(|(_, is_static)| **is_static).map(|(slot, _)| slot)
    }
}

impl Program {
    /// The prelude.
    pub const PRELUDE: usize = 0;
    /// The main file.
    pub const MAIN: usize = 1;

    /// As [`find`](Self::find), for a name from the command line: there is no place to point at but the end of the file.
    pub fn find_named(&self, name: &str) -> Result<Callable, Box<Diagnostic>> {
        self.find(name, Span::default())
            .map_err(|mut found| Box::new(found.pop().expect("what is not found is told").without_edit()))
    }

    /// The node of this name that the main file sees.
    pub fn find(&self, name: &str, span: Span) -> Result<Callable, Vec<Diagnostic>> {
        match synthesis::callable(name, &self.visible) {
            Some(callable) => Ok(callable),
            None => {
                let title = format!("unknown node or function `{name}`");
                let diagnostic = Diagnostic::error(codes::UNKNOWN_CALLEE, span, title);
                if synthesis::order(name) > synthesis::MAX_ORDER {
                    let reason =
                        format!("derivatives of derivatives are taken at most {} deep", synthesis::MAX_ORDER);
                    return Err(vec![diagnostic.reason(reason)]);
                }
                Err(vec![match nearest(name, self.visible.keys().map(String::as_str)) {
                    Some(meant) => diagnostic.suggest(span, meant),
                    None => listing(diagnostic, &self.declared_names()),
                }])
            }
        }
    }

    /// The names of the nodes of the main file, in their order.
    fn declared_names(&self) -> Vec<&str> {
        let nodes = self.nodes.iter().filter(|node| node.module == Program::MAIN);
        let trains = self.trains.iter().filter(|train| train.module == Program::MAIN);
        nodes.map(|node| node.name.as_str()).chain(trains.map(|train| train.name.as_str())).collect()
    }

    /// A `train` declaration.
    pub fn train(&self, train: TrainId) -> &Train {
        &self.trains[train.0]
    }

    /// The node that a derivative is taken of in the end, and what is woven into it.
    pub fn origin(&self, base: Base) -> NodeId {
        match base {
            Base::Node(node) | Base::Woven { node, .. } => node,
            Base::Train(train) | Base::Test(train) => self.train(train).node,
        }
    }

    /// The name by which a program calls it.
    pub fn name_of(&self, callable: &Callable) -> String {
        let base = match callable.base {
            Base::Node(node) => self.node(node).name.clone(),
            Base::Woven { node, end, cut } => {
                let (end, cut) = (if end { "_end" } else { "" }, if cut { "_cut" } else { "" });
                format!("{}{end}{cut}", self.node(node).name)
            }
            Base::Train(train) | Base::Test(train) => self.train(train).name.clone(),
        };
        callable.modes.iter().fold(base, |name, mode| format!("{}{name}", mode.prefix()))
    }

    /// Where its declaration stands, or that of what it is synthesised from.
    pub fn span_of(&self, callable: &Callable) -> Span {
        match callable.base {
            Base::Node(node) | Base::Woven { node, .. } => self.node(node).span,
            Base::Train(train) | Base::Test(train) => self.train(train).span,
        }
    }

    /// A node.
    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0]
    }

    /// The tree of a node.
    pub fn tree_of(&self, node: &Node) -> &tree::Node {
        self.modules[node.module].node_tree(node.item)
    }

    /// The file of a node.
    pub fn module_of(&self, node: NodeId) -> &Module {
        &self.modules[self.node(node).module]
    }
}
