//! The equations that the interface of training code needs in addition (section 9.1): masks, zeros, and the
//! types of cotangents.

use super::Ties;
use super::local::StreamId;
use super::node::Writer;
use super::nodes::Line;
use super::supports::{SupportId, Supports};
use crate::tree::{ExprId, Polarity};

impl Writer<'_> {
    /// The additional equations of the interface: masks, zeros for inputs without dependents, and the types
    /// of cotangents without readers. In the outermost node, which has no caller to determine them, the
    /// shapes and clocks of these are those of the corresponding streams.
    pub fn interface_lines(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let given = self.supports.as_ref().map(|_| Supports::GIVEN);
        for (slot, name) in self.results.clone() {
            let stream = self.local.slot(slot);
            let value = if !self.active.contains(&stream) {
                let zeros = if self.is_root() { self.zeros_like(stream) } else { self.zeros(stream) };
                self.sampled(zeros, given)
            } else if self.is_masked(stream) {
                let cotangent = self.text.var(&self.cotangents[&stream].clone());
                let dense = self.padded(cotangent, self.support(stream));
                self.sampled(dense, given)
            } else {
                continue;
            };
            lines.push(self.text.equation(&[name], value));
        }
        for (stream, name) in self.seeds.clone() {
            let is_read = self.active.contains(&stream) && self.seeded.contains(&stream);
            let is_tied = is_read && !(self.is_root() && self.instances.ties == Ties::Written);
            if !is_tied {
                let value = self.tie(stream, &name, given);
                lines.push(self.text.equation(&["_".to_string()], value));
            }
        }
        lines
    }

    /// An expression that determines the type and clock of an incoming cotangent.
    fn tie(&mut self, stream: StreamId, name: &str, given: Option<SupportId>) -> ExprId {
        let cotangent = self.text.var(name);
        let condition = given.map(|given| self.support_name(given));
        match (condition, self.is_root()) {
            (Some(condition), true) => {
                let output = self.written(stream);
                let elsewhere = self.text.when(output, condition, Polarity::OnNot);
                self.text.merge(condition, cotangent, elsewhere)
            }
            (Some(condition), false) => {
                let zeros = self.zeros(stream);
                self.text.merge(condition, cotangent, zeros)
            }
            (None, true) => {
                let (truth, output) = (self.text.truth(true), self.written(stream));
                self.text.conditional(truth, cotangent, output)
            }
            (None, false) => {
                let zeros = self.zeros(stream);
                self.text.sum(cotangent, zeros)
            }
        }
    }

    /// Zeros with the type, the shape and the clock of a stream, which do not wait for its value.
    fn zeros_like(&mut self, stream: StreamId) -> ExprId {
        let (truth, zero, operand) = (self.text.truth(true), self.text.number(0.0), self.written(stream));
        self.text.conditional(truth, zero, operand)
    }
}
