//! Which instance an equation comes from, so that a diagnostic about it can show the call.

use eddy_syntax::{Diagnostic, Span};

use super::VarId;

/// Diagnostics show at most this many enclosing calls, starting with the innermost.
const MAX_SHOWN: usize = 3;

/// An inlined instance of a node.
#[derive(Clone, Debug)]
pub struct Call {
    pub node: Box<str>,
    /// The node's name at the call.
    pub span: Span,
    pub arguments: Box<[Argument]>,
    /// Whether the node is part of the prelude. Diagnostics do not point into such a node but at its call.
    pub is_opaque: bool,
    /// The enclosing call, as an index into [`Flow::calls`](crate::Flow::calls); `None` directly in the main
    /// node.
    pub within: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Argument {
    /// `None` for a compile-time constant.
    pub var: Option<VarId>,
    pub span: Span,
}

/// Adds the chain of enclosing instances to a diagnostic; adds nothing in the main node.
pub fn in_instances(calls: &[Call], innermost: Option<usize>, mut diagnostic: Diagnostic) -> Diagnostic {
    let chain = std::iter::successors(innermost, |call| calls[*call].within);
    for call in chain.take(MAX_SHOWN).map(|call| &calls[call]) {
        diagnostic = in_instance(&call.node, call.span, diagnostic);
    }
    diagnostic
}

/// Adds one enclosing instance to a diagnostic.
pub fn in_instance(node: &str, span: Span, diagnostic: Diagnostic) -> Diagnostic {
    let text = format!("in this instance of `{node}`");
    match (diagnostic.primary.span == span, diagnostic.primary.text.is_empty()) {
        (false, _) => diagnostic.cause(span, text),
        (true, true) => diagnostic.label(text),
        (true, false) => diagnostic,
    }
}
