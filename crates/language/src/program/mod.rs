//! A whole program: its files, their nodes, and the meaning of each name.
//!
//! Names are resolved once per node, before inlining: a variable becomes a [`SlotId`], the number of a stream
//! of its node, and a call stores its [`Callee`]. Elaboration visits a node once per instance and never looks
//! up a name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eddy_autodiff::section::Mode;
use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Builtin, Initialiser, Static, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes;
use crate::functions::apply::WrittenInterface;
use crate::names::Names;
use crate::resolve::{listing, synthesis};
use crate::tree::{self, Annotation, ExprId, ExprKind, Polarity, TypeName};

mod composition;
mod paths;
mod structure;

pub use crate::limits::Limits;
pub(crate) use composition::ComposedCallee;
pub use composition::{Composed, ComposedBench, Copies, Let, Made, Rule, Sharing, Site};
pub(crate) use paths::StreamPaths;
pub use structure::{Enumerations, Structure, StructureLeaf, StructuredCall};

eddy_index::id! {
    /// A node of a program.
    pub struct NodeId, "fewer nodes than source bytes";
    /// A stream of a node: an input, an output or a local.
    pub struct SlotId, "fewer streams than source bytes";
    /// A `train` declaration.
    pub struct TrainId, "fewer declarations than source bytes";
}

eddy_index::id! {
    /// A `fn`.
    pub struct FunctionId, "fewer functions than source bytes";
    /// A `const`.
    pub struct ConstantId, "fewer constants than source bytes";
    /// A `type`.
    pub struct TypeDefId, "fewer types than source bytes";
}

/// The meaning of a name in functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Entity {
    Function(FunctionId),
    Constant(ConstantId),
    Type(TypeDefId),
    /// One of the names of an enumeration, counted from 0.
    Enumerator(TypeDefId, u32),
}

/// The value of a constant in a node.
#[derive(Clone, Debug)]
pub enum ConstantValue {
    /// A number or a list of integers, which may be a size.
    Static(Static),
    Tensor(Value),
    /// A record or an enumerator, with the values of its leaves.
    Structure(Structure, Vec<Value>),
    /// A tuple, which only functions read.
    Tuple,
}

/// The place where a function, a constant or a type is declared.
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    /// The file.
    pub module: usize,
    /// The index of the declaration in that file.
    pub item: usize,
}

/// A node of the program, or a node that is synthesised from such a node (section 9.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callable {
    /// The node that is differentiated.
    pub base: Base,
    /// The derivatives taken of it, innermost first: `tan_adj_N` is `[Adjoint, Tangent]`.
    pub modes: Vec<Mode>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    Node(NodeId),
    /// `N_end`, `N_cut` or `N_end_cut`.
    Woven {
        node: NodeId,
        /// Whether the input `end` resets it.
        end: bool,
        /// Whether the input `cut` truncates its gradients.
        cut: bool,
    },
    /// The training node that a `train` declares.
    Train(TrainId),
    /// The node of a `train` without its optimisers: the loss at fixed parameters.
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

/// The derivatives of a node written by the user: `adj_M`, `tan_M`, `diff_M`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Customs {
    pub adjoint: Option<NodeId>,
    pub tangent: Option<NodeId>,
    pub diff: Option<NodeId>,
}

/// `train N as M loss L optim O(args) …;`, resolved.
#[derive(Clone, Debug)]
pub struct Train {
    pub module: usize,
    /// M.
    pub name: String,
    /// The keyword `train`.
    pub span: Span,
    /// N.
    pub node: NodeId,
    /// L.
    pub loss: NodeId,
    /// The optimisers, each with the parameters that it updates.
    pub rules: Vec<Rule>,
    /// Whether the input `end` resets N.
    pub segment: bool,
    /// Whether the gradient of a sequence is the mean over its rows instead of the sum.
    pub mean: bool,
    /// Whether the input `cut` truncates gradients.
    pub truncate: bool,
}

/// The files and nodes of a program.
///
/// If a program has errors, its invalid equations are left out, and the nodes that contained them are marked
/// as broken.
#[derive(Debug, Default)]
pub struct Program {
    /// The prelude, the main file, and the files that it imports.
    pub modules: Vec<Module>,
    /// The nodes of all files.
    pub nodes: Vec<Node>,
    /// The `train` declarations of all files.
    pub trains: Vec<Train>,
    /// The `train` declarations that refer to an unknown node. They keep their numbers and spans; their other
    /// fields are placeholders.
    pub broken_trains: BTreeSet<TrainId>,
    /// The functions, constants and types of all files.
    pub functions: Vec<Declared>,
    pub constants: Vec<Declared>,
    /// The values of the constants; an error for a constant without a value.
    pub constant_values: Vec<Result<ConstantValue, Box<Diagnostic>>>,
    pub types: Vec<Declared>,
    /// The written types of parameters and results of the functions.
    pub interfaces: Vec<WrittenInterface>,
    /// The calls of functions in nodes that have records or enumerations, by the file and the call.
    pub structured_calls: FxHashMap<(usize, ExprId), StructuredCall>,
    /// The derivatives written by the user, by the node that they differentiate.
    pub customs: FxHashMap<NodeId, Customs>,
    /// The test benches of the main file that give nodes or functions to their node.
    pub benches: FxHashMap<Span, ComposedBench>,
    /// Accepted but suspicious code of the main file.
    pub warnings: Vec<Diagnostic>,
    pub limits: Limits,
}

#[derive(Debug)]
pub struct Module {
    pub names: Names,
    pub tree: tree::Program,
    /// What each expression refers to; parallel to the expressions of the tree.
    pub references: Vec<Reference>,
    /// The number of expressions in the source; the expansion of records adds further ones.
    pub n_written: usize,
    /// The nodes that are in scope in this file.
    pub visible: BTreeMap<String, Base>,
    /// The functions, constants, types and enumerators that are in scope in this file.
    pub entities: BTreeMap<String, Entity>,
    /// The module that each import names; `None` if the file could not be read.
    pub imports: Vec<Option<usize>>,
    /// The names that an import of the file brings into scope; `None` if it brings all of them.
    pub exports: Option<Vec<String>>,
    /// The first position of the file.
    pub start: Span,
    /// Whether the file is built into the binary: the prelude or a file of the library.
    pub is_library: bool,
}

impl Module {
    /// Adds an expression.
    pub(crate) fn add(&mut self, kind: ExprKind, span: Span, at: Span, reference: Reference) -> ExprId {
        self.references.push(reference);
        self.tree.exprs.push(kind, span, at)
    }

    /// The tree of the node that is declaration number `item`.
    pub fn node_tree(&self, item: usize) -> &tree::Node {
        match &self.tree.items[item] {
            tree::Item::Node(node) => node,
            _ => unreachable!("a node stores the index of its declaration"),
        }
    }
}

/// What a variable or a call refers to.
#[derive(Clone, Debug, Default)]
pub enum Reference {
    /// Any other expression.
    #[default]
    Nothing,
    /// A stream of the node that the expression is in.
    Slot(SlotId),
    /// A `const`.
    Constant(ConstantId),
    /// A leaf of a `const` that is a record or an enumerator, by its number.
    ConstantLeaf(ConstantId, usize),
    /// A name of an enumeration, counted from 0. The expansion of records replaces it by its number.
    Enumerator(TypeDefId, u32),
    /// `f(…)`, the `ordinal`-th call of that name in the text of its node, counted from 1.
    Call { callee: Callee, ordinal: u32, site: Option<Arc<Site>> },
    /// A call or a callable as it is written. Composition is expanded early: no equation of a resolved
    /// program has one.
    Composed(Arc<Composed>),
}

#[derive(Clone, Debug)]
pub enum Callee {
    /// An instance of a node.
    Instance(Callable),
    /// A `fn`, or a derivative of one, the innermost first: `tan_adj_f` is `[Adj, Tan]`.
    Applied(FunctionId, Vec<eddy_body::ir::Mode>),
    /// A function of the operation table.
    Function(Builtin),
    /// `zeros`, `uniform` and other initialisers.
    Initialiser(Initialiser),
    /// `param`.
    Param,
    /// `all_sum`: a sum over all parameters of an optimiser.
    AllSum,
}

/// The positions of arguments that must be known at compile time: leading ones, and an axis at the end if
/// there is one.
pub(crate) fn static_positions(builtin: Builtin, n_arguments: usize) -> impl Iterator<Item = usize> {
    let n_leading = builtin.n_leading();
    let is_with_axis = !builtin.arity().accepts(n_arguments.saturating_sub(n_leading));
    (0..n_leading).chain(is_with_axis.then(|| n_arguments - 1))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Input,
    Output,
    Local,
}

/// A stream of a node.
#[derive(Clone, Debug)]
pub struct Slot {
    pub name: String,
    /// The span of its declaration: in the head of the node, or on the left side of its equation.
    pub span: Span,
    pub role: Role,
    /// The type annotations; one stream may have several.
    pub annotations: Vec<Annotation>,
    /// The type annotations that are names. The expansion of records makes annotations of leaves from them.
    pub type_names: Vec<TypeName>,
    /// Set if its integers are numbers of enumerators.
    pub enumeration: Option<TypeDefId>,
    /// The clock annotations, each with its span.
    pub clocks: Vec<(Vec<(SlotId, Polarity)>, Span)>,
    /// The value of an input that a call does not give.
    pub default: Option<ExprId>,
    /// Whether it is an input that is a node or a function, which only calls can use.
    pub is_callable: bool,
    /// Whether it is an input for a value that a callable brings along, which has no derivative.
    pub is_captured: bool,
    /// Set for the condition of a contract.
    pub contract: Option<Arc<Contract>>,
    /// Whether a `probe` marks it.
    pub is_probed: bool,
}

/// `assert e "message";` or `assume e "message";`.
#[derive(Debug)]
pub struct Contract {
    pub is_assumption: bool,
    pub message: String,
    /// The word.
    pub span: Span,
}

impl Slot {
    pub fn new(name: String, span: Span, role: Role) -> Slot {
        Slot {
            name,
            span,
            role,
            annotations: Vec::new(),
            type_names: Vec::new(),
            enumeration: None,
            clocks: Vec::new(),
            default: None,
            is_callable: false,
            is_captured: false,
            contract: None,
            is_probed: false,
        }
    }
}

/// An equation of a node.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The streams that it defines; `None` stands for `_`.
    pub targets: Vec<Option<SlotId>>,
    pub value: ExprId,
    /// Whether it is invalid. Resolution removes such equations at the end.
    pub(crate) is_broken: bool,
}

#[derive(Clone, Debug)]
pub struct Node {
    /// The index of its file.
    pub module: usize,
    /// The index of its declaration in that file.
    pub item: usize,
    pub name: String,
    /// The span of its name.
    pub span: Span,
    /// The comment above it.
    pub doc: Option<String>,
    /// The inputs come first, in order.
    pub slots: Vec<Slot>,
    pub n_inputs: usize,
    pub outputs: Vec<SlotId>,
    pub equations: Vec<Equation>,
    /// Whether its streams and equations differ from those of its tree, because records and enumerations were
    /// expanded.
    pub is_expanded: bool,
    /// The leaves of each stream that is a record; they are on one clock.
    pub bundles: Vec<Vec<SlotId>>,
    /// For each slot, whether it must be known at compile time.
    pub is_static: Vec<bool>,
    /// Whether an invalid part was left out.
    pub is_broken: bool,
    pub lets: Vec<Let>,
    pub made: Made,
    /// Whether it has callable inputs, or is inside a node that has: it has no equations of its own, but
    /// other nodes are made from it.
    pub is_template: bool,
}

impl Node {
    pub fn inputs(&self) -> &[Slot] {
        &self.slots[..self.n_inputs]
    }

    /// Whether it is declared without a body: it has outputs and no equations.
    pub fn is_external(&self) -> bool {
        self.equations.is_empty() && !self.outputs.is_empty() && !self.is_broken && !self.is_template
    }

    /// The inputs that are nodes or functions.
    pub fn callable_inputs(&self) -> impl Iterator<Item = &Slot> {
        self.inputs().iter().filter(|slot| slot.is_callable)
    }

    /// The inputs that must be known at compile time.
    pub fn static_inputs(&self) -> impl Iterator<Item = &Slot> {
        self.inputs().iter().zip(&self.is_static).filter(|(_, is_static)| **is_static).map(|(slot, _)| slot)
    }
}

impl Program {
    /// Index of the prelude in `modules`.
    pub const PRELUDE: usize = 0;
    /// Index of the main file in `modules`.
    pub const MAIN: usize = 1;

    /// As [`find`](Self::find), for a name from the command line, which has no span in a file.
    pub fn find_named(&self, name: &str) -> Result<Callable, Box<Diagnostic>> {
        self.find(name, Span::default()).map_err(|mut found| {
            Box::new(found.pop().expect("`find` fails with one diagnostic").without_edit())
        })
    }

    /// The node of this name that is visible in the main file.
    pub fn find(&self, name: &str, span: Span) -> Result<Callable, Vec<Diagnostic>> {
        match synthesis::callable(name, self.visible()) {
            Some(callable) => Ok(callable),
            None => {
                let title = format!("unknown node or function `{name}`");
                let diagnostic = Diagnostic::error(codes::UNKNOWN_CALLEE, span, title);
                if synthesis::order(name) > synthesis::MAX_ORDER {
                    let reason =
                        format!("derivatives of derivatives are taken at most {} deep", synthesis::MAX_ORDER);
                    return Err(vec![diagnostic.reason(reason)]);
                }
                Err(vec![match nearest(name, self.visible().keys().map(String::as_str)) {
                    Some(meant) => diagnostic.suggest(span, meant),
                    None => listing(diagnostic, &self.declared_names()),
                }])
            }
        }
    }

    fn visible(&self) -> &BTreeMap<String, Base> {
        &self.modules[Program::MAIN].visible
    }

    /// The names of the nodes of the main file, in order of declaration.
    fn declared_names(&self) -> Vec<&str> {
        let nodes = self.nodes.iter().filter(|node| node.module == Program::MAIN);
        let trains = self.trains.iter().filter(|train| train.module == Program::MAIN);
        nodes.map(|node| node.name.as_str()).chain(trains.map(|train| train.name.as_str())).collect()
    }

    pub fn train(&self, train: TrainId) -> &Train {
        &self.trains[train.index()]
    }

    /// Whether it is a `train` with a part that could not be resolved.
    pub fn is_broken(&self, base: Base) -> bool {
        match base {
            Base::Train(train) | Base::Test(train) => self.broken_trains.contains(&train),
            Base::Node(_) | Base::Woven { .. } => false,
        }
    }

    /// The node from which `base` is derived.
    pub fn origin(&self, base: Base) -> NodeId {
        match base {
            Base::Node(node) | Base::Woven { node, .. } => node,
            Base::Train(train) | Base::Test(train) => self.train(train).node,
        }
    }

    /// The inputs of a node that have defaults.
    pub fn defaults_of(&self, callable: &Callable) -> FxHashSet<String> {
        let node = self.node(self.origin(callable.base));
        let inputs = node.inputs().iter().filter(|slot| slot.default.is_some() && !slot.is_callable);
        inputs.map(|slot| slot.name.clone()).collect()
    }

    /// The name by which a program calls it, such as `tan_adj_N`.
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

    /// The span of its declaration, or of the declaration from which it is synthesised.
    pub fn span_of(&self, callable: &Callable) -> Span {
        match callable.base {
            Base::Node(node) | Base::Woven { node, .. } => self.node(node).span,
            Base::Train(train) | Base::Test(train) => self.train(train).span,
        }
    }

    pub fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.index()]
    }

    /// The index of the file of a function, and its tree.
    pub fn function(&self, function: FunctionId) -> (usize, &tree::Function) {
        let Declared { module, item } = self.functions[function.index()];
        match &self.modules[module].tree.items[item] {
            tree::Item::Function(tree) => (module, tree),
            _ => unreachable!("a function stores the index of its declaration"),
        }
    }

    /// The index of the file of a constant, and its tree.
    pub fn constant(&self, constant: ConstantId) -> (usize, &tree::Constant) {
        let Declared { module, item } = self.constants[constant.index()];
        match &self.modules[module].tree.items[item] {
            tree::Item::Constant(tree) => (module, tree),
            _ => unreachable!("a constant stores the index of its declaration"),
        }
    }

    /// The index of the file of a type, and its tree.
    pub fn type_def(&self, definition: TypeDefId) -> (usize, &tree::TypeDef) {
        let Declared { module, item } = self.types[definition.index()];
        match &self.modules[module].tree.items[item] {
            tree::Item::Type(tree) => (module, tree),
            _ => unreachable!("a type stores the index of its declaration"),
        }
    }

    /// The tree of a node.
    pub fn tree_of(&self, node: &Node) -> &tree::Node {
        self.modules[node.module].node_tree(node.item)
    }

    /// The names of an enumeration, in order.
    pub fn enumerators(&self, definition: TypeDefId) -> Vec<String> {
        let (module, tree) = self.type_def(definition);
        let names = &self.modules[module].names;
        match &tree.definition {
            tree::Definition::Enumeration(cases, _) => {
                // The states of a machine without a name have names of their own, after a point.
                let name = |case: &tree::Ident| names.text(case.name).rsplit('.').next().map(str::to_string);
                cases.iter().filter_map(name).collect()
            }
            tree::Definition::Alias(_) => Vec::new(),
        }
    }

    pub fn module_of(&self, node: NodeId) -> &Module {
        &self.modules[self.node(node).module]
    }
}
