//! State machines: `automaton { last o = e; state S { … } }` (composition.md, section 7).

use eddy_syntax::lex::TokenKind;

use super::recover::Place;
use super::{Parser, State as Parsed, Tightness};
use crate::tree::{Automaton, ExprKind, Form, Last, State, Transition, TransitionKind};

impl Parser<'_> {
    /// Whether a state machine begins here: `automaton` is a name before `=`, `:` and `,`.
    pub(super) fn begins_automaton(&self) -> bool {
        self.sees_word("automaton") && !matches!(self.peek(1), TokenKind::Symbol("=" | ":" | "," | ":="))
    }

    pub(super) fn automaton(&mut self, at: usize) -> Option<Automaton> {
        let word = self.advance().span;
        let mut stream = None;
        if self.token().kind == TokenKind::Name {
            let ident = self.ident_here();
            if !self.eat(":") {
                self.complain("`:`").help("the type of the states follows: `automaton m: Phase { … }`");
                self.skip(Place::Node);
                return None;
            }
            stream = Some((ident, self.ident("the name of an enumeration")?));
        }
        if !self.eat("{") {
            self.complain("`{`").cause(word, "this automaton has its states in braces");
            self.skip(Place::Node);
            return None;
        }
        let (mut lasts, mut states) = (Vec::new(), Vec::new());
        while !self.sees("}") && self.token().kind != TokenKind::End {
            if self.sees_word("last") && self.peek(1) == TokenKind::Name {
                let start = self.advance().span;
                let ident = self.ident_here();
                let equals = self.token().span;
                if !self.eat("=") {
                    self.complain("`=`").help("the first value follows: `last o = 0.0;`");
                    self.skip(Place::Node);
                    continue;
                }
                let value = self.line(Place::Node);
                lasts.push(Last { ident, equals, value, span: self.since(start) });
            } else if self.sees_word("state") && self.peek(1) == TokenKind::Name {
                states.extend(self.state());
            } else {
                self.complain("`state` or `last`").cause(word, "in this automaton");
                self.skip(Place::Node);
                self.skip_to_brace();
                break;
            }
        }
        if !self.eat("}") {
            self.complain("`}`").cause(word, "this automaton is open");
        }
        Some(Automaton { stream, lasts, states, at, word, span: self.since(word) })
    }

    fn state(&mut self) -> Option<State> {
        let start = self.advance().span;
        let ident = self.ident_here();
        if !self.eat("{") {
            self.complain("`{`").cause(start, "this state has its equations in braces");
            self.skip(Place::Node);
            return None;
        }
        let (mut equations, mut lets, mut transitions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut contracts, mut probes) = (Vec::new(), Vec::new());
        while !self.sees("}") && self.token().kind != TokenKind::End {
            let transition = [TransitionKind::Until, TransitionKind::Unless]
                .into_iter()
                .find(|kind| self.sees_word(kind.word()) && !self.begins_equation());
            if let Some(kind) = transition {
                transitions.extend(self.transition(kind));
            } else if self.begins_let() {
                lets.push(self.let_item(equations.len()));
            } else if self.begins_contract() {
                contracts.push(self.contract(contracts.len()));
            } else if self.begins_probe() {
                probes.extend(self.probe());
            } else if matches!(self.token().kind, TokenKind::Name | TokenKind::Symbol("(")) {
                equations.extend(self.equation());
            } else {
                self.complain("an equation, `until` or `unless`").cause(start, "in this state");
                self.skip_to_brace();
                break;
            }
        }
        if !self.eat("}") {
            self.complain("`}`").cause(start, "this state is open");
        }
        Some(State { ident, equations, lets, transitions, contracts, probes, span: self.since(start) })
    }

    /// `until e then S;` or `unless e continue S;`.
    fn transition(&mut self, kind: TransitionKind) -> Option<Transition> {
        let start = self.advance().span;
        let Some(condition) = self.expression() else {
            self.skip(Place::Node);
            return None;
        };
        let restarts = self.sees("then");
        if !restarts && !self.sees_word("continue") {
            self.complain("`then` or `continue`").cause(start, "after the condition of this transition");
            self.skip(Place::Node);
            return None;
        }
        self.advance();
        let target = self.ident("the name of a state")?;
        self.end_of_line(None, Place::Node);
        Some(Transition { kind, condition, restarts, target, span: self.since(start) })
    }

    /// `last o` in an expression.
    pub(super) fn last(&mut self) -> Parsed {
        let start = self.advance().span;
        let ident = self.ident_here();
        let form = self.program.exprs.form_id(Form::Last(ident));
        let parts = self.program.exprs.list([]);
        Parsed::Have(self.push(ExprKind::Form(form, parts), start, ident.span), Tightness::Postfix)
    }

    /// Skips to the brace that ends this block.
    fn skip_to_brace(&mut self) {
        while !self.sees("}") && self.token().kind != TokenKind::End {
            if self.sees("{") {
                self.skip_braces();
            } else {
                self.advance();
            }
        }
    }
}
