//! The meaning of the inputs of a training node: besides those of its node there are `end`, `cut`, `bp` and
//! the arguments of the loss.

use eddy_flow::Flow;
use eddy_language::codes;
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::program::{Base, Callable, Program};
use eddy_syntax::{Diagnostic, Span};

use super::TrainRequest;

/// The indices of `end`, `cut` and `bp`. Inputs after `bp` are read only in rows where `bp` is true.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    pub end: Option<usize>,
    pub cut: Option<usize>,
    pub bp: Option<usize>,
}

impl Signals {
    /// The signals follow the inputs of the node, in this order; without a `train` declaration there are
    /// none.
    pub fn of(program: &Program, callable: &Callable, given: &ElaborationOptions) -> Signals {
        let (Base::Train(train) | Base::Test(train)) = callable.base else { return Signals::default() };
        let declared = program.train(train);
        let inputs = program.node(declared.node).inputs().iter();
        let mut next = inputs.filter(|slot| !given.constants.contains_key(&slot.name)).count()..;
        let end = if declared.segment { next.next() } else { None };
        let cut = if declared.truncate { next.next() } else { None };
        Signals { end, cut, bp: next.next() }
    }

    /// Checks that the options refer to existing inputs.
    pub fn check_options(self, request: &TrainRequest, span: Span) -> Result<(), Vec<Diagnostic>> {
        let asked = [
            (request.sequence.filter(|_| self.end.is_none()), "--sequence", "where sequences end", "segment"),
            (request.cut.filter(|_| self.cut.is_none()), "--cut", "where gradients are cut", "truncate"),
        ];
        let useless = asked.into_iter().find(|(asked, ..)| asked.is_some());
        let Some((_, flag, what, word)) = useless else { return Ok(()) };
        let title = format!("`{flag}` says {what}, but nothing here asks for that");
        let help = format!("write `{word}` in the `train` declaration, or leave out `{flag}`");
        Err(vec![Diagnostic::error(codes::DATA, span, title).help(help)])
    }
}

/// The name of an input.
pub(super) fn name(flow: &Flow, input: usize) -> &str {
    flow.var(flow.inputs[input]).name.as_deref().unwrap_or_default()
}
