//! Plans the gaps of state machines: each item has a line.

use eddy_syntax::Span;
use eddy_syntax::format::{INDENT, Joint};

use super::plan::{Planner, Range};
use crate::tree::{Automaton, State, Transition};

impl Planner<'_> {
    pub(super) fn automaton(&mut self, automaton: &Automaton) {
        let Range { first, last } = self.tokens_of(automaton.span);
        self.join(first, Joint::Line);
        let mut brace = first + 1;
        if let Some((stream, ty)) = automaton.stream {
            self.join(self.tokens_of(stream.span).first, Joint::Blank);
            self.join(self.tokens_of(ty.span).first, Joint::Blank);
            brace = self.tokens_of(ty.span).last + 1;
        }
        for item in &automaton.lasts {
            let first = self.tokens_of(item.span).first;
            self.join(first, Joint::Line);
            self.join(first + 1, Joint::Blank);
            self.join(self.tokens_of(item.equals).first, Joint::Blank);
            self.below(item.value);
        }
        for state in &automaton.states {
            self.state(state);
        }
        let spans = automaton.lasts.iter().map(|item| item.span);
        let spans = spans.chain(automaton.states.iter().map(|state| state.span));
        self.block(Range { first: brace, last }, spans.min_by_key(|span| span.start));
    }

    fn state(&mut self, state: &State) {
        let Range { first, last } = self.tokens_of(state.span);
        self.join(first, Joint::Line);
        self.join(first + 1, Joint::Blank);
        for equation in &state.equations {
            self.equation(equation);
        }
        for item in &state.lets {
            self.let_item(item);
        }
        for transition in &state.transitions {
            self.transition(transition);
        }
        self.contracts(&state.contracts, &state.probes);
        let spans = state.equations.iter().map(|equation| equation.span);
        let spans = spans.chain(state.contracts.iter().map(|contract| contract.span));
        let spans = spans.chain(state.probes.iter().map(|probe| probe.span));
        let spans = spans.chain(state.lets.iter().map(|item| item.span));
        let spans = spans.chain(state.transitions.iter().map(|transition| transition.span));
        self.block(Range { first: first + 2, last }, spans.min_by_key(|span| span.start));
    }

    fn transition(&mut self, transition: &Transition) {
        let first = self.tokens_of(transition.span).first;
        self.join(first, Joint::Line);
        self.join(first + 1, Joint::Blank);
        self.below(transition.condition);
        let target = self.tokens_of(transition.target.span).first;
        self.join(target - 1, Joint::Blank);
        self.join(target, Joint::Blank);
    }

    /// Braces around items with a line each.
    fn block(&mut self, braces: Range, first_item: Option<Span>) {
        self.join(braces.first, Joint::Blank);
        let Some(item) = first_item else { return };
        self.join(self.tokens_of(item).first, Joint::Begin);
        self.join(braces.last, Joint::CloseBrace);
        self.group_with_joint(Range { first: braces.first + 1, last: braces.last }, INDENT);
    }
}
