//! Maps the positions of a program to symbols: for editors and other tools that show source text.
//!
//! A *symbol* is the meaning of a name: a stream of a node, a node, a `train`, a file, an operation. An
//! *occurrence* is a token that names a symbol. A program with errors has positions too: for the names that
//! can be resolved, with the types that follow from the valid equations.
//!
//! ```
//! use eddy_language::positions::Positions;
//! use eddy_language::resolve;
//! use eddy_syntax::{SourceFile, Sources, Span};
//!
//! let text = "node f(x:num [3], c:bool)->(o, p)  y = x when c;  o = sum(y);  p = x + unknown;";
//! let mut sources = Sources::alone(SourceFile::new("f.eddy", text));
//! let resolved = resolve(&mut sources);
//! assert_eq!(resolved.diagnostics.len(), 1, "`unknown` is not defined");
//!
//! let positions = Positions::of(&resolved);
//! let offset = u32::try_from(text.find("sum(y").expect("a call") + "sum(".len()).expect("a short text");
//! let y = positions.symbol(positions.at(offset).expect("an occurrence").symbol);
//! let place = |span: Span| sources.file(span).slice(span);
//! assert_eq!((y.name.as_str(), place(y.definition.expect("of an equation"))), ("y", "y"));
//! assert_eq!(y.facts[0].shape.as_ref().expect("it is that of `x`").to_string(), "[3]");
//! assert_eq!(positions.occurrences_of(positions.at(offset).expect("the same").symbol).count(), 2);
//! ```
//!
//! * [`names`]: finds the occurrences of each symbol.
//! * [`body`]: in the text of nodes.
//! * [`functions`](mod@functions): finds the occurrences in functions, constants and types.
//! * [`facts`]: types, shapes, clocks and constants of streams, by elaborating nodes.
//! * [`operators`]: one-line descriptions of operators and keywords such as `fby`.
//!
//! Offsets and spans are those of [`Sources`](eddy_syntax::Sources), which are unique across the files of a
//! program.

mod body;
mod facts;
mod functions;
mod names;
mod operators;

use eddy_syntax::Span;
use eddy_tensor::{Scalar, Shape, Static};
use rustc_hash::FxHashMap;

use crate::causality::{Verdict, causality_of};
use crate::functions::bound_types;
use crate::program::{Entity, NodeId, Role, SlotId, TrainId};
use crate::resolve::Resolved;

eddy_index::id! {
    /// A symbol of some [`Positions`].
    pub struct SymbolId, "fewer symbols than source bytes";
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// A stream of a node.
    Stream {
        node: NodeId,
        slot: SlotId,
    },
    Node(NodeId),
    /// The training node that a `train` declares.
    Train(TrainId),
    /// An imported file, by its index among the modules of the program.
    File(usize),
    /// A function of the operation table, an initialiser, or `param`.
    Function,
    /// A `fn`, `const` or `type` of the program, or an enumerator.
    Entity(Entity),
    /// A name that a function binds: a parameter, a size, a `let`, a binder.
    Local,
    /// A field of records.
    Field,
    /// An operator, or a keyword such as `fby`.
    Operator,
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name, without prefixes and suffixes of derivatives.
    pub name: String,
    pub kind: SymbolKind,
    /// The role of a stream in its node; `None` for other symbols.
    pub role: Option<Role>,
    /// Whether it is a stream that is defined by `param`.
    pub is_parameter: bool,
    /// Where it is declared; `None` for operations.
    pub definition: Option<Span>,
    /// The comment above a node or a function, or the description of an operation.
    pub doc: Option<String>,
    /// Whether it is built in: an operation, or a part of the prelude or the library.
    pub is_library: bool,
    /// Facts about a stream, or about the result of a node with one output. Instances with equal facts share
    /// one entry.
    pub facts: Vec<Facts>,
    /// The type of a function, a constant or a name that a function binds, as `eddy check` writes it, if it
    /// is known.
    pub ty: Option<String>,
    /// How far the outputs of a node look ahead, if the node is correct and can be checked by itself.
    pub look_ahead: Option<Verdict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// It declares its symbol, or it is the left side of an equation.
    Definition,
    /// It uses a symbol that is declared elsewhere.
    Use,
}

#[derive(Clone, Debug)]
pub struct Occurrence {
    pub span: Span,
    pub symbol: SymbolId,
    pub purpose: Purpose,
    /// Whether the token is derived from the name of its symbol, as `adj_f` from `f`.
    pub is_derived: bool,
    /// Facts about the stream that a call or an operator computes here.
    pub facts: Vec<Facts>,
}

/// Facts about a stream. A missing fact is unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub scalar: Option<Scalar>,
    pub shape: Option<Shape>,
    /// Such as `base on c`.
    pub clock: Option<String>,
    /// Its value, if it is a compile-time constant.
    pub constant: Option<Static>,
}

/// The symbols of a program and their occurrences.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    symbols: Vec<Symbol>,
    /// In source order; they do not overlap.
    occurrences: Vec<Occurrence>,
    /// The occurrences of each symbol, as indices.
    of_symbol: Vec<Vec<usize>>,
}

impl Positions {
    /// Collects the symbols of all files, and the types of user nodes.
    pub fn of(resolved: &Resolved) -> Positions {
        let facts = facts::collect(&resolved.program);
        let has_errors = !resolved.diagnostics.is_empty();
        let types = if has_errors { FxHashMap::default() } else { bound_types(&resolved.program) };
        let (symbols, mut occurrences) = names::collect(&resolved.program, facts, types);
        // A missing name has an empty span.
        occurrences.retain(|occurrence| occurrence.span.start < occurrence.span.end);
        occurrences.sort_by_key(|occurrence| occurrence.span);
        // Of two declarations of one name, which is an error, the first one counts.
        occurrences.dedup_by_key(|occurrence| occurrence.span);
        let mut of_symbol = vec![Vec::new(); symbols.len()];
        for (number, occurrence) in occurrences.iter().enumerate() {
            of_symbol[occurrence.symbol.index()].push(number);
        }
        Positions { symbols, occurrences, of_symbol }
    }

    /// The occurrence that contains an offset, or ends there.
    pub fn at(&self, offset: u32) -> Option<&Occurrence> {
        let after = self.occurrences.partition_point(|occurrence| occurrence.span.start <= offset);
        let before = self.occurrences[..after].last()?;
        (offset <= before.span.end).then_some(before)
    }

    /// All occurrences, in source order.
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    pub fn symbol(&self, symbol: SymbolId) -> &Symbol {
        &self.symbols[symbol.index()]
    }

    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        (0..).map(SymbolId).zip(&self.symbols)
    }

    /// The definitions and uses of a symbol, in source order.
    pub fn occurrences_of(&self, symbol: SymbolId) -> impl Iterator<Item = &Occurrence> {
        self.of_symbol[symbol.index()].iter().map(|number| &self.occurrences[*number])
    }
}

/// How far a stream looks ahead when its node runs by itself; `None` if this is unknown. Each call elaborates
/// the node, so [`Positions`] does not have this for all streams.
pub fn look_ahead(resolved: &Resolved, node: NodeId, slot: SlotId) -> Option<Verdict> {
    let (clocked, record) = facts::clocked(&resolved.program, node)?;
    let var = record.instances.first()?.stream_of(slot)?;
    causality_of(&clocked.flow, &clocked.clocks, &[var]).ok()
}
