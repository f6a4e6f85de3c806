//! Names of supports, assigned on demand: `bpx`, after the first stream with the support, or `bp3`.

use super::Ends;
use super::node::Writer;
use super::nodes::Line;
use super::supports::{Returns, Support, SupportId, Supports};
use crate::program::SlotId;
use crate::tree::{BinaryOp, Direction, ExprId, UnaryOp};

/// Remaining work for a support.
enum Work {
    Name(SupportId),
    Define(SupportId),
}

impl Writer<'_> {
    /// The name of a support. Its equation is written with its first use, after those of its parts.
    pub fn support_name(&mut self, support: SupportId) -> ExprId {
        let mut todo = vec![Work::Name(support)];
        while let Some(work) = todo.pop() {
            match work {
                Work::Name(support) => {
                    if support == Supports::GIVEN || self.is_named(support) {
                        continue;
                    }
                    self.give_name(support);
                    todo.push(Work::Define(support));
                    let parts = self.parts(support);
                    todo.extend(parts.into_iter().rev().map(Work::Name));
                }
                Work::Define(support) => self.define(support),
            }
        }
        let name = self.name_of(support);
        self.text.var(&name)
    }

    fn supports(&self) -> &Supports {
        self.supports.as_ref().expect("only sparse forms have supports")
    }

    fn is_named(&self, support: SupportId) -> bool {
        self.defined.contains(&support)
    }

    fn name_of(&self, support: SupportId) -> String {
        if support == Supports::GIVEN {
            return self.bp.clone().expect("sparse forms have `bp`");
        }
        self.support_names[&support].clone()
    }

    fn give_name(&mut self, support: SupportId) {
        self.defined.insert(support);
        self.n_supports += 1;
        if self.support_names.contains_key(&support) {
            return;
        }
        let named = self.named_streams();
        let first = named
            .into_iter()
            .find(|stream| self.active.contains(stream) && self.supports().of(*stream) == support);
        let preferred = match first {
            Some(stream) => format!("bp{}", self.names[&stream]),
            None => format!("bp{}", self.n_supports),
        };
        let name = self.fresh.name(&preferred);
        self.support_names.insert(support, name);
    }

    fn parts(&self, support: SupportId) -> Vec<SupportId> {
        match self.supports().get(support) {
            Support::Bp | Support::Returned { .. } => Vec::new(),
            Support::Earlier(part)
            | Support::Later(part)
            | Support::Sampled(_, _, part)
            | Support::Padded(_, _, part) => vec![*part],
            Support::Either(parts) => parts.clone(),
        }
    }

    /// The equation of a support; a call or a register defines the supports that it returns.
    fn define(&mut self, support: SupportId) {
        let part = |writer: &mut Self, part: SupportId| {
            let name = writer.name_of(part);
            writer.text.var(&name)
        };
        let value = match self.supports().get(support).clone() {
            Support::Bp | Support::Returned { .. } => return,
            Support::Earlier(of) if self.register_of(of).is_some() => return,
            Support::Earlier(of) => {
                let of = part(self, of);
                match self.ends() {
                    Ends::Open => self.text.unary(UnaryOp::Post, of),
                    Ends::Finite => {
                        let never = self.text.truth(false);
                        self.text.fby(Direction::Back, never, of)
                    }
                }
            }
            Support::Later(of) => {
                let (of, never) = (part(self, of), self.text.truth(false));
                self.text.fby(Direction::Forward, never, of)
            }
            Support::Sampled(condition, polarity, of) => {
                let (of, condition) = (part(self, of), self.written(condition));
                self.text.when(of, condition, polarity.0)
            }
            Support::Padded(condition, polarity, of) => {
                let (of, condition, never) =
                    (part(self, of), self.written(condition), self.text.truth(false));
                self.text.padded(condition, polarity.0, of, never)
            }
            Support::Either(parts) => {
                let parts: Vec<ExprId> = parts.into_iter().map(|of| part(self, of)).collect();
                let (first, rest) = parts.split_first().expect("a support has a part");
                rest.iter().fold(*first, |left, right| self.text.binary(BinaryOp::Or, left, *right))
            }
        };
        let name = self.name_of(support);
        let line = self.text.equation(&[name], value);
        self.support_lines.push(line);
    }

    /// The register that defines `post b`.
    pub fn register_of(&self, support: SupportId) -> Option<usize> {
        let result = |register: &&usize| self.local.steps[**register].results[0];
        self.registers.iter().find(|register| self.supports().of(result(register)) == support).copied()
    }

    /// Names the supports of inputs' cotangents that differ from `bp`, which become outputs. The outermost
    /// node masks the cotangents instead, so that its interface is that of `diff_N`.
    pub fn name_returned_supports(&mut self) -> Returns {
        let n_inputs = self.instances.typed.node(self.instance).n_inputs;
        let mut returns = vec![false; n_inputs];
        if self.is_root() || self.supports.is_none() {
            return returns;
        }
        for (input, _) in self.results.clone() {
            let stream = self.local.slot(input);
            if !self.active.contains(&stream) || self.supports().of(stream) == Supports::GIVEN {
                continue;
            }
            returns[input.index()] = true;
            self.return_support(input, self.supports().of(stream));
        }
        returns
    }

    /// Makes a support an output. If two inputs share a support, the second output is a copy of the first; a
    /// clock on a copy is the same clock (section 5).
    fn return_support(&mut self, input: SlotId, support: SupportId) {
        let slot = &self.instances.typed.node(self.instance).slots[input.index()].name;
        let name = self.fresh.name(&format!("bp{slot}"));
        self.returned_supports.insert(input, name.clone());
        self.support_names.entry(support).or_insert(name);
    }

    /// The equations of the returned supports that were not needed before.
    pub fn returned_support_lines(&mut self) -> Vec<Line> {
        let mut copies = Vec::new();
        for (input, _) in self.results.clone() {
            let Some(output) = self.returned_supports.get(&input).cloned() else { continue };
            let support = self.supports().of(self.local.slot(input));
            let value = self.support_name(support);
            if self.name_of(support) != output {
                copies.push(self.text.equation(&[output], value));
            }
        }
        copies
    }
}
