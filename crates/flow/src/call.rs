//! Which instance an equation comes from, so that a message about it can show the call.

use eddy_syntax::{Diagnostic, Span};

use super::VarId;

/// So many calls are shown in one message, from the innermost one outwards.
const MAX_SHOWN: usize = 3;

/// An instance that was inlined.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the node.
    pub node: Box<str>,
    /// Where it is called: that name.
    pub span: Span,
    /// What it is given.
    pub arguments: Box<[Argument]>,
    /// Whether the node is of the prelude. What is inside of it is not shown: messages point at the call.
    pub is_opaque: bool,
    /// The call whose node it is written in; none in the node that is run.
    pub within: Option<usize>,
}

/// An argument of an instance.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its stream; none if it is a compile-time constant.
    pub var: Option<VarId>,
    /// Where it is written.
    pub span: Span,
}

/// Says in which instances a mistake is, if it is not in the node that is run.
pub fn in_instances(calls: &[Call], innermost: Option<usize>, mut diagnostic: Diagnostic) -> Diagnostic {
    let chain = std::iter::successors(innermost, |call| calls[*call].within);
    for call in chain.take(MAX_SHOWN).map(|call| &calls[call]) {
        diagnostic = in_instance(&call.node, call.span, diagnostic);
    }
    diagnostic
}

/// Says in which instance a mistake is.
pub fn in_instance(node: &str, span: Span, diagnostic: Diagnostic) -> Diagnostic {
    let text = format!("in this instance of `{node}`");
    match (diagnostic.primary.span == span, diagnostic.primary.text.is_empty()) {
        (false, _) => diagnostic.cause(span, text),
        (true, true) => diagnostic.label(text),
        (true, false) => diagnostic,
    }
}
