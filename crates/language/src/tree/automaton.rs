//! State machines in nodes (composition.md, section 7).

use eddy_syntax::Span;

use super::{Contract, Equation, ExprId, Ident, Let, Probe};

/// `automaton m: T { last o = e; state S { … } … }`
#[derive(Clone, Debug)]
pub struct Automaton {
    /// The stream of the state and its type, if they are written.
    pub stream: Option<(Ident, Ident)>,
    pub lasts: Vec<Last>,
    pub states: Vec<State>,
    /// The number of equations of the node before it.
    pub at: usize,
    /// The word `automaton`.
    pub word: Span,
    /// With its braces.
    pub span: Span,
}

/// `last o = e;`: the value of `last o` at the first cycle.
#[derive(Clone, Debug)]
pub struct Last {
    pub ident: Ident,
    /// The `=`.
    pub equals: Span,
    pub value: ExprId,
    pub span: Span,
}

/// `state S { … }`
#[derive(Clone, Debug)]
pub struct State {
    pub ident: Ident,
    pub equations: Vec<Equation>,
    pub lets: Vec<Let>,
    pub transitions: Vec<Transition>,
    pub contracts: Vec<Contract>,
    pub probes: Vec<Probe>,
    /// With its braces.
    pub span: Span,
}

/// `until e then S;`
#[derive(Clone, Debug)]
pub struct Transition {
    pub kind: TransitionKind,
    pub condition: ExprId,
    /// Whether the target starts anew: `then`, not `continue`.
    pub restarts: bool,
    pub target: Ident,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionKind {
    /// Decides the state of the next cycle.
    Until,
    /// Decides the state of this cycle, before it runs.
    Unless,
}

impl TransitionKind {
    /// The word in source text.
    pub fn word(self) -> &'static str {
        match self {
            TransitionKind::Until => "until",
            TransitionKind::Unless => "unless",
        }
    }
}
