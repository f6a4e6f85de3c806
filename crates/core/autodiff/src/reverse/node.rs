//! The transpose of one node separately, with the origin of each equation; printed training code is made of
//! it.
//!
//! Synthesised nodes are transposed as a whole, after all instances are inlined. Printed training code has
//! one node for each node of the program, so each is transposed separately, by the same rules. A call is a
//! black box with known passages of derivatives from inputs to outputs. Its contributions to its arguments
//! are streams without equations: the training code of the callee defines them.
//!
//! ```text
//! y = f(x) * x         steps      t = f(x), y = t * x
//!                      uses       t in step 1: y' * x,  x in step 1: t * y',  x in step 0: given by the call
//! ```
//!
//! Contributions are not added up, so each can be attributed to its use.

use eddy_flow::{Equation, Var, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cotangents, Reverse, Use};
use crate::activity::{active, differentiable_operands, reachable};
use crate::expand::Gradients;
use crate::writer::Writer;

/// A node whose calls are not inlined.
#[derive(Clone, Debug)]
pub struct Node {
    pub vars: Vec<Var>,
    /// The definitions of its streams, in flattening order.
    pub steps: Vec<NodeStep>,
}

/// An equation or a call.
#[derive(Clone, Debug)]
pub enum NodeStep {
    Equation(Equation),
    Call(NodeCall),
}

/// A call of another node.
#[derive(Clone, Debug)]
pub struct NodeCall {
    pub inputs: Vec<VarId>,
    /// The streams that it defines.
    pub outputs: Vec<VarId>,
    /// For each input whether derivatives pass from it to each output.
    pub passes: Vec<Vec<bool>>,
}

/// A transposed node.
#[derive(Clone, Debug)]
pub struct Transposed {
    /// The streams of the node, then those that were written.
    pub vars: Vec<Var>,
    /// The cotangent of each active stream. It has no equation: it is the sum of the contributions of uses
    /// and of the cotangent from outside.
    pub cotangents: Cotangents,
    /// The contributions of uses, in the order of steps.
    pub uses: Vec<Use>,
    /// The equations of contributions, each after those that it reads.
    pub equations: Vec<Equation>,
}

impl Node {
    /// The streams that `sources` influence through operands with derivatives.
    pub fn influenced(&self, sources: &[VarId]) -> FxHashSet<VarId> {
        let mut edges: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
        for (from, to) in self.passages(&self.writer()) {
            edges.entry(from).or_default().push(to);
        }
        reachable(sources.iter().copied(), &edges)
    }

    /// Transposes the steps between these sources and sinks.
    pub fn transpose(&self, sources: &[VarId], sinks: &[VarId]) -> Transposed {
        let mut writer = self.writer();
        let passages = self.passages(&writer);
        let active = active(&writer, passages, sources.iter().copied(), sinks.iter().copied());
        let mut order: Vec<VarId> = active.into_iter().collect();
        order.sort_unstable();
        let cotangents = order.into_iter().map(|var| (var, writer.derivative("d'", var))).collect();
        let mut reverse =
            Reverse { writer: &mut writer, cotangents, uses: Vec::new(), step: 0, n_attributed: 0 };
        for (number, step) in self.steps.iter().enumerate().rev() {
            reverse.step = number;
            match step {
                NodeStep::Equation(equation) => reverse.equation(equation),
                NodeStep::Call(call) => reverse.call(call),
            }
        }
        let Reverse { cotangents, mut uses, .. } = reverse;
        uses.reverse();
        Transposed { vars: writer.vars, cotangents, uses, equations: writer.body.equations }
    }

    fn writer(&self) -> Writer {
        Writer::new(self.vars.clone(), Vec::new(), Vec::new(), Gradients::Direct)
    }

    /// The pairs of operand and result through which derivatives pass.
    fn passages(&self, writer: &Writer) -> Vec<(VarId, VarId)> {
        let mut passages = Vec::new();
        for step in &self.steps {
            match step {
                NodeStep::Equation(equation) => {
                    let operands = differentiable_operands(writer, equation).into_iter();
                    passages.extend(operands.map(|(_, operand)| (operand, equation.out)));
                }
                NodeStep::Call(call) => {
                    for (input, passes) in call.inputs.iter().zip(&call.passes) {
                        let outputs = call.outputs.iter().zip(passes).filter(|(_, passes)| **passes);
                        passages.extend(outputs.map(|(output, _)| (*input, *output)));
                    }
                }
            }
        }
        passages
    }
}

impl Transposed {
    /// The equations of a use's contribution, the last of which defines it. Without equations, the
    /// contribution is the cotangent of the result itself, or an output of a call.
    pub fn equations_of(&self, usage: &Use) -> &[Equation] {
        &self.equations[usage.equations.clone()]
    }
}

impl Reverse<'_> {
    /// A call contributes to the arguments from which derivatives pass to active results.
    fn call(&mut self, call: &NodeCall) {
        for (position, (input, passes)) in call.inputs.iter().zip(&call.passes).enumerate().rev() {
            let is_active =
                |(output, passes): (&VarId, &bool)| *passes && self.cotangents.contains_key(output);
            if self.cotangents.contains_key(input) && call.outputs.iter().zip(passes).any(is_active) {
                let given = self.writer.derivative("d'", *input);
                self.contribute(position, *input, given);
            }
        }
    }
}
