//! The tree of a program as it is written: it keeps parentheses and spans.
//!
//! ```text
//! node f(x:num [3], c)->(o)        Node { inputs: x:num [3], c;  outputs: o }
//!   y = x when c;                    Equation { targets: y;  value: When(x, c) }
//! run f { x: [1,2,3]; c: t; }      Run { rows: x = one cell, a list;  c = one cell, true }
//! ```
//!
//! [`expr`] contains the expressions of a file in one table, [`cells`] those of its chronograms; declarations
//! refer to them by number. So no tree is nested natively, and a tree of any depth is copied and dropped like
//! a list.

mod automaton;
mod cells;
mod expr;
mod form;
mod function;
mod places;

pub use crate::flow::Polarity;
use eddy_syntax::Span;

use crate::names::{Name, Names};

pub use automaton::{Automaton, Last, State, Transition, TransitionKind};
pub use cells::{CellId, CellKind, CellList, Cells};
pub use expr::{BinaryOp, Direction, ExprId, ExprKind, ExprList, Exprs, Number, NumberValue, UnaryOp};
pub use form::{
    Binder, Binders, Case, Control, Form, FormId, Index, LambdaParam, LoopKind, Reduction, UpdateKind,
};
pub use function::{
    Constant, Definition, Eval, Function, Param, PatternId, PatternKind, TypeDef, TypeId, TypeKind, Written,
};

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub imports: Vec<Import>,
    /// Its declarations, in order.
    pub items: Vec<Item>,
    /// The expressions in them.
    pub exprs: Exprs,
    /// The cells of the chronograms in them.
    pub cells: Cells,
    /// The types and patterns of its functions.
    pub written: Written,
}

impl Program {
    /// The nodes, in order.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.items.iter().filter_map(|item| if let Item::Node(node) = item { Some(node) } else { None })
    }

    /// The test benches, in order.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.items.iter().filter_map(|item| if let Item::Run(run) = item { Some(run) } else { None })
    }

    /// The training declarations, in order.
    pub fn trains(&self) -> impl Iterator<Item = &Train> {
        self.items.iter().filter_map(|item| if let Item::Train(train) = item { Some(train) } else { None })
    }
}

/// A name and its span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// `import name, other from "path.eddy";` or `import "path.eddy";`.
#[derive(Clone, Debug)]
pub struct Import {
    /// The imported names.
    pub what: Imported,
    /// The path, without its quotes.
    pub path: String,
    /// The span of the path, with its quotes.
    pub path_span: Span,
    /// The whole declaration.
    pub span: Span,
}

/// The names that an import takes.
#[derive(Clone, Debug)]
pub enum Imported {
    /// Everything.
    All,
    /// The declarations with these names.
    Names(Vec<Ident>),
}

/// A declaration.
#[derive(Clone, Debug)]
pub enum Item {
    /// `node …`.
    Node(Node),
    /// `run …`.
    Run(Run),
    /// `train …`.
    Train(Train),
    /// `fn …`.
    Function(Function),
    /// `const …`.
    Constant(Constant),
    /// `type …`.
    Type(TypeDef),
    /// `eval …`.
    Eval(Eval),
}

impl Item {
    /// The whole declaration, without comments.
    pub fn span(&self) -> Span {
        match self {
            Item::Node(node) => node.span,
            Item::Run(run) => run.span,
            Item::Train(train) => train.span,
            Item::Function(function) => function.span,
            Item::Constant(constant) => constant.span,
            Item::Type(definition) => definition.span,
            Item::Eval(eval) => eval.span,
        }
    }
}

/// `node f(x)->(o)` and its equations. A node with outputs and no equations is an external declaration.
#[derive(Clone, Debug)]
pub struct Node {
    pub ident: Ident,
    /// The comment right above it, without the marks of a comment.
    pub doc: Option<String>,
    pub inputs: Vec<Decl>,
    pub outputs: Vec<Decl>,
    /// Its equations, in order.
    pub equations: Vec<Equation>,
    /// Its `let`s, in order.
    pub lets: Vec<Let>,
    /// Its state machines, in order.
    pub automata: Vec<Automaton>,
    pub contracts: Vec<Contract>,
    pub probes: Vec<Probe>,
    /// The inputs with their parentheses.
    pub inputs_span: Span,
    /// The outputs with their parentheses.
    pub outputs_span: Span,
    /// From `node` to the end of the last equation.
    pub span: Span,
}

/// A name with its optional type and clock, and for an input its default: `x:num [3] when c`, `k = 1.0`.
#[derive(Clone, Debug)]
pub struct Decl {
    pub ident: Ident,
    /// Its type, if one is written.
    pub annotation: Option<Annotation>,
    /// Its type, if it is written as the name of a `type`.
    pub type_name: Option<TypeName>,
    /// Its clock, if one is written: `x when c when not d` is sampled by `c`, then by `not d`.
    pub clock: Vec<Sampling>,
    /// The value of an input that a call does not give (composition.md, section 4).
    pub default: Option<ExprId>,
    /// Whether its type is `node`: an input that is a node or a function.
    pub is_callable: bool,
    pub span: Span,
}

/// A written type of a tensor: `num [3,n]`.
#[derive(Clone, Copy, Debug)]
pub struct Annotation {
    /// The type of each element.
    pub scalar: Scalar,
    /// The sizes; `None` without brackets, which leaves the shape to inference.
    pub dims: Option<ExprList>,
    pub span: Span,
}

/// A written type that is a name: `pt`, or `pt[n]` with the sizes of its declaration.
#[derive(Clone, Copy, Debug)]
pub struct TypeName {
    pub ty: TypeId,
    pub sizes: Option<ExprList>,
    pub span: Span,
}

/// The types of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Real numbers.
    Num,
    /// Integers.
    Int,
    /// Truth values.
    Bool,
}

impl Scalar {
    /// All of them.
    pub const ALL: [Scalar; 3] = [Scalar::Num, Scalar::Int, Scalar::Bool];

    /// The word in source text.
    pub fn word(self) -> &'static str {
        match self {
            Scalar::Num => "num",
            Scalar::Int => "int",
            Scalar::Bool => "bool",
        }
    }
}

/// One step of a written clock: `when c` or `when not c`.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// The value of the condition at which the stream is present.
    pub polarity: Polarity,
    pub condition: Ident,
    pub span: Span,
}

/// `x, _ = e;`.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The targets; at least one.
    pub targets: Vec<Target>,
    pub value: ExprId,
    /// The `=`.
    pub at: Span,
    /// All of it, with its `;`.
    pub span: Span,
}

impl Equation {
    /// The streams that it defines.
    pub fn decls(&self) -> impl Iterator<Item = &Decl> {
        self.targets
            .iter()
            .filter_map(|target| if let Target::Decl(decl) = target { Some(decl) } else { None })
    }
}

/// `let e = C;`: an instance whose calls share their parameters.
#[derive(Clone, Debug)]
pub struct Let {
    pub ident: Ident,
    /// The node or function, with the arguments that it is given here.
    pub value: ExprId,
    /// The `=`.
    pub equals: Span,
    /// The number of equations before it.
    pub at: usize,
    /// All of it, with its `;`.
    pub span: Span,
}

/// `assert e "message";` or `assume e "message";`.
#[derive(Clone, Debug)]
pub struct Contract {
    pub is_assumption: bool,
    pub condition: ExprId,
    /// The stream of the condition, whose name is in no program.
    pub stream: Name,
    /// The message, or the text of the condition.
    pub text: String,
    /// The word.
    pub word: Span,
    /// All of it, with its `;`.
    pub span: Span,
}

/// `probe x, y;`.
#[derive(Clone, Debug)]
pub struct Probe {
    pub idents: Vec<Ident>,
    /// All of it, with its `;`.
    pub span: Span,
}

/// One place on the left side of an equation.
#[derive(Clone, Debug)]
pub enum Target {
    /// A stream.
    Decl(Decl),
    /// `_`: the value is not used.
    Discard(Span),
}

impl Target {
    pub fn span(&self) -> Span {
        match self {
            Target::Decl(decl) => decl.span,
            Target::Discard(span) => *span,
        }
    }
}

/// `run f chrono for 4 { x: 1 2 3; k = 2; }`: a test bench.
#[derive(Clone, Debug)]
pub struct Run {
    pub node: Ident,
    /// The options, in the order of the text.
    pub options: Vec<RunOption>,
    /// The rows of the inputs.
    pub rows: Vec<Row>,
    /// The rows with their braces.
    pub rows_span: Span,
    /// From `run` to `}`.
    pub span: Span,
}

/// An option of a run.
#[derive(Clone, Debug)]
pub struct RunOption {
    pub kind: RunOptionKind,
    pub span: Span,
}

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOptionKind {
    /// `A`, `B` or `K`.
    Semantics(Semantics),
    /// `chrono`: print a table.
    Chrono,
    /// `trace`: print the iterates of the fixpoint.
    Trace,
    /// `stats`: print the look-ahead that was used.
    Stats,
    /// `strict`: `if` waits for both branches.
    Strict,
    /// `unchecked`: clocks and causality are not checked, and synchronisation errors do not stop the run.
    Unchecked,
    /// `for n`: the number of cycles.
    For(u64),
    /// `seed n`: of random initialisers.
    Seed(u64),
    /// `probe`: print the probed streams, too.
    Probe,
    /// `show a, f#1/b`: the streams to print.
    Show(Vec<StreamPath>),
}

/// The executable semantics, by their names in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Semantics {
    /// `A`, denotational.
    Denotational,
    /// `B`, operational.
    Operational,
    /// `K`, Kahn's.
    Kahn,
}

/// The name of a stream from outside of its node: `lstm_cell#1/dense1#2/kernel`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamPath {
    /// Its parts, outermost first; at least one.
    pub segments: Vec<Segment>,
    pub span: Span,
}

impl StreamPath {
    /// The text without blanks.
    pub fn text(&self, names: &Names) -> String {
        let segments = self.segments.iter().map(|segment| {
            let instance = segment.instance.iter().map(|number| format!("#{number}"));
            let copies = segment.copies.iter().map(|copy| format!("[{copy}]"));
            let name = names.text(segment.ident.name).to_string();
            std::iter::once(name).chain(instance).chain(copies).collect::<String>()
        });
        segments.collect::<Vec<_>>().join("/")
    }
}

/// A part of a path: a name, the number of the instance with that name, and the numbers of its copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub ident: Ident,
    /// `k` of `#k`.
    pub instance: Option<u32>,
    /// `i` of `[i]`, the outermost range first.
    pub copies: Vec<u64>,
}

/// A row of a run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The cells that a stream must have, `expect o: 1 2;`, and not those of an input.
    pub is_expected: bool,
    pub ident: Ident,
    /// Its cells or its constant.
    pub value: RowValue,
    /// All of it, with its `;`.
    pub span: Span,
}

/// A chronogram or a constant.
#[derive(Clone, Debug)]
pub enum RowValue {
    /// `x: 1 . 2;`: one cell for each cycle; the stream is absent at the cycles after the last cell.
    Cells(CellList),
    /// `k = e;`: a compile-time constant.
    Constant(ExprId),
}

/// `train N as M loss L optim O(args) for "encoder/*", P segment mean truncate;`.
#[derive(Clone, Debug)]
pub struct Train {
    /// The word `train`, the span for messages of later phases.
    pub at: Span,
    /// N, the node that is trained.
    pub node: Ident,
    /// M, the node that this declares.
    pub ident: Ident,
    /// L, the node that measures the loss.
    pub loss: Ident,
    /// The optimisers; at least one.
    pub rules: Vec<Rule>,
    /// The word `segment`, if it is written.
    pub segment: Option<Span>,
    /// The word `mean` after it.
    pub mean: Option<Span>,
    /// The word `truncate`, if it is written.
    pub truncate: Option<Span>,
    /// All of it, with its `;`.
    pub span: Span,
}

/// `O(args) for "encoder/*"`: an optimiser and its parameters.
#[derive(Clone, Debug)]
pub struct Rule {
    /// O, the node that updates a parameter.
    pub optimiser: Ident,
    /// The arguments of the optimiser after the parameter, the step and the gradient.
    pub arguments: ExprList,
    /// The parameters that it updates; `None` for all that no rule before it takes.
    pub pattern: Option<Pattern>,
    pub span: Span,
}

/// A pattern of parameter paths, in which `*` stands for any characters.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Without its quotes.
    pub text: String,
    /// With its quotes.
    pub span: Span,
}
