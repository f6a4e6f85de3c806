//! Tangents (9.10): each active stream gets one, on its own clock, by the linearised equation of the stream.
//!
//! Tangents flow forwards in time, so they are as causal as the program.

mod apply;

use eddy_flow::{Equation, Kind, VarId};
use eddy_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use crate::activity::{active, differentiable_operands, passages};
use crate::body::{Body, Step};
use crate::custom;
use crate::expand::Host;
use crate::renaming::Renaming;
use crate::section::{Argument, Instance, Mode, Pair};
use crate::writer::Writer;

/// The tangents of streams.
pub(crate) type Tangents = FxHashMap<VarId, VarId>;

/// Writes the tangent equations of a body. `given` are the streams whose tangents are inputs, `outputs` those
/// whose tangents are existing streams to be defined.
pub(crate) fn forward(
    body: &Body,
    given: &[Pair],
    outputs: &[Pair],
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<(), Vec<Diagnostic>> {
    let steps = body.steps(|instance| instance.has_adjoint || instance.has_tangent);
    let sources = given.iter().map(|pair| pair.primal);
    let passages = passages(writer, &steps);
    let active = active(writer, passages, sources, outputs.iter().map(|pair| pair.primal));
    let mut tangents: Tangents = given.iter().map(|pair| (pair.primal, pair.derivative)).collect();
    let mut pinned: FxHashMap<VarId, VarId> = FxHashMap::default();
    for pair in outputs {
        // The tangent of an output that is a parameter is an input.
        if active.contains(&pair.primal) && !tangents.contains_key(&pair.primal) {
            pinned.insert(pair.primal, pair.derivative);
        }
    }
    for step in &steps {
        let defined = match step {
            Step::Equation(equation) => vec![equation.out],
            Step::Instance(placed) => placed.instance.differentiable().collect(),
        };
        for var in defined.into_iter().filter(|var| active.contains(var)) {
            tangents
                .entry(var)
                .or_insert_with(|| pinned.get(&var).copied().unwrap_or_else(|| writer.derivative("t'", var)));
        }
    }
    let renaming = Renaming::new(writer, pinned.values().copied().collect());
    let mut forward = Forward { writer, host, tangents, renaming };
    for step in &steps {
        match step {
            Step::Equation(equation) => forward.equation(equation),
            Step::Instance(placed) => forward.instance(&placed.instance)?,
        }
    }
    for pair in outputs.iter().filter(|pair| !pinned.contains_key(&pair.primal)) {
        forward.writer.at_stream(pair.primal);
        match forward.tangents.get(&pair.primal).copied() {
            Some(tangent) => forward.writer.define_copy(pair.derivative, tangent),
            None => forward.writer.define_zero(pair.derivative, pair.primal),
        }
    }
    forward.renaming.finish(forward.writer);
    Ok(())
}

struct Forward<'a> {
    writer: &'a mut Writer,
    host: &'a mut dyn Host,
    tangents: Tangents,
    renaming: Renaming,
}

impl Forward<'_> {
    fn equation(&mut self, equation: &Equation) {
        let Some(target) = self.tangents.get(&equation.out).copied() else { return };
        self.writer.at_equation(equation);
        let kind = match &equation.kind {
            Kind::Apply(op, operands) => {
                let active = differentiable_operands(self.writer, equation)
                    .into_iter()
                    .filter_map(|(position, operand)| Some((position, *self.tangents.get(&operand)?)));
                let active: Vec<(usize, VarId)> = active.collect();
                let parts = apply::contributions(op, operands, equation.out, &active, self.writer);
                self.renaming.define_sum(target, &parts, self.writer);
                return;
            }
            // `ẋ when c`, `merge c ȧ ḃ`, `i̇ fby ẋ` and so on: the equation of the stream, on tangents.
            Kind::When { value, condition, polarity } => {
                Kind::When { value: self.tangent(*value), condition: *condition, polarity: *polarity }
            }
            Kind::Merge { condition, yes, no } => {
                Kind::Merge { condition: *condition, yes: self.tangent(*yes), no: self.tangent(*no) }
            }
            Kind::Fby { init, next } => Kind::Fby { init: self.tangent(*init), next: self.tangent(*next) },
            Kind::FbyBack { init, next } => {
                Kind::FbyBack { init: self.tangent(*init), next: self.tangent(*next) }
            }
            Kind::Post(operand) => Kind::Post(self.tangent(*operand)),
            // ṗ = tparamK, which is an input.
            Kind::Param(_) => return,
            Kind::Const(_) => unreachable!("a constant is not active"),
        };
        self.writer.define(target, kind);
    }

    /// The tangent of an operand; zero if it has none.
    fn tangent(&mut self, operand: VarId) -> VarId {
        match self.tangents.get(&operand) {
            Some(tangent) => *tangent,
            None => self.writer.zero_like(operand),
        }
    }

    /// An instance with a derivative written by the user.
    fn instance(&mut self, instance: &Instance) -> Result<(), Vec<Diagnostic>> {
        self.writer.at(instance.span);
        if !instance.differentiable().any(|output| self.tangents.contains_key(&output)) {
            return Ok(());
        }
        let rule = if instance.has_tangent {
            custom::rule(instance, Mode::Tangent, self.writer, self.host)?
        } else {
            custom::transposed(instance, Mode::Adjoint, self.writer, self.host)?
        };
        let n_primal = if instance.has_tangent { instance.outputs.len() } else { 0 };
        let mut arguments: Vec<VarId> = instance.streams().collect();
        for (number, input) in instance.inputs.iter().filter(|input| input.has_cotangent).enumerate() {
            arguments.push(match input.argument {
                Argument::Stream(var) => self.tangent(var),
                Argument::Static(_) => {
                    let input = rule.flow.inputs[instance.streams().count() + number];
                    self.writer.zero(rule.flow.var(input).ty.clone())
                }
            });
        }
        let results = custom::splice(&rule, n_primal.., &arguments, instance, self.writer);
        for (output, result) in instance.differentiable().zip(results) {
            if let Some(target) = self.tangents.get(&output).copied() {
                let result = self.writer.on_clock_of(result, output);
                self.writer.synchronise(Pair { primal: output, derivative: result });
                self.renaming.define_copy(target, result, self.writer);
            }
        }
        Ok(())
    }
}
