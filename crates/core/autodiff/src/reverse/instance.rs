//! An instance with a derivative written by the user is a black box: x̄ += the dx of `adj_M` (9.12).

use eddy_flow::{Polarity, VarId};
use eddy_syntax::Diagnostic;

use super::Reverse;
use crate::custom;
use crate::expand::Host;
use crate::section::{Argument, Instance, Mode, Pair};

impl Reverse<'_> {
    pub(super) fn instance(
        &mut self,
        instance: &Instance,
        is_training: bool,
        host: &mut dyn Host,
    ) -> Result<(), Vec<Diagnostic>> {
        self.writer.at(instance.span);
        let is_replaced = is_training && !instance.has_adjoint && !instance.has_tangent;
        let is_active = instance.differentiable().any(|output| self.cotangents.contains_key(&output));
        if !is_active && !is_replaced {
            return Ok(());
        }
        let mut cotangents: Vec<VarId> = Vec::new();
        for output in instance.differentiable() {
            let cotangent = self.cotangents.get(&output).copied();
            cotangents.push(cotangent.unwrap_or_else(|| self.writer.zero_like(output)));
        }
        let contributions = if is_replaced {
            self.replacement(instance, cotangents, host)?
        } else {
            let rule = if instance.has_adjoint {
                custom::rule(instance, Mode::Adjoint, self.writer, host)?
            } else {
                custom::transposed(instance, Mode::Tangent, self.writer, host)?
            };
            let n_primal = if instance.has_adjoint { instance.outputs.len() } else { 0 };
            let arguments: Vec<VarId> = instance.streams().chain(cotangents).collect();
            custom::splice(&rule, n_primal.., &arguments, instance, self.writer)
        };
        let varying = instance.inputs.iter().enumerate().filter(|(_, input)| input.has_cotangent);
        let pairs: Vec<_> = varying.zip(contributions).collect();
        for ((position, input), contribution) in pairs.into_iter().rev() {
            if let Argument::Stream(var) = input.argument
                && self.cotangents.contains_key(&var)
            {
                let contribution = self.writer.on_clock_of(contribution, var);
                self.writer.synchronise(Pair { primal: var, derivative: contribution });
                self.contribute(position, var, contribution);
            }
        }
        Ok(())
    }

    /// Only `diff_M` exists: it replaces the instance, with bp true and dense cotangents.
    fn replacement(
        &mut self,
        instance: &Instance,
        cotangents: Vec<VarId>,
        host: &mut dyn Host,
    ) -> Result<Vec<VarId>, Vec<Diagnostic>> {
        let rule = custom::rule(instance, Mode::Diff, self.writer, host)?;
        let bp = self.writer.truth(true);
        let mut arguments: Vec<VarId> = instance.streams().chain([bp]).collect();
        for cotangent in cotangents {
            arguments.push(self.writer.when(cotangent, bp, Polarity::On));
        }
        let mut results = custom::splice(&rule, 0.., &arguments, instance, self.writer);
        let sampled = results.split_off(instance.outputs.len());
        for (output, result) in instance.outputs.iter().zip(results) {
            self.writer.define_copy(output.var, result);
        }
        Ok(sampled.into_iter().map(|dx| self.writer.padded(dx, bp, Polarity::On)).collect())
    }
}
