//! The optimisers of `train`s (composition.md, section 5): `optim chain(clip(1.0), adam(0.01))` has nodes as
//! arguments like any call.

use super::Composer;
use super::expand::Scope;
use crate::program::{Base, Callable, Callee, Reference, Role, Slot, TrainId};
use crate::static_value::constant_expression;
use crate::tree::ExprKind;

/// The streams that `train` supplies.
const GIVEN: [&str; 3] = ["init", "step", "g"];

impl Composer<'_> {
    /// Finds out the node and the constants of each optimiser.
    pub fn rules(&mut self) {
        for number in 0..self.program.trains.len() {
            let id = TrainId::new(number);
            if self.program.broken_trains.contains(&id) {
                continue;
            }
            for rule in 0..self.program.trains[number].rules.len() {
                if self.rule(number, rule).is_none() {
                    self.program.broken_trains.insert(id);
                }
            }
            while let Some(task) = self.waiting.pop() {
                self.expand(task);
            }
        }
    }

    fn rule(&mut self, train: usize, rule: usize) -> Option<()> {
        let declared = &self.program.trains[train];
        let (module, call, span) = (declared.module, declared.rules[rule].call, declared.rules[rule].span);
        let slots = GIVEN.map(|name| Slot::new(name.to_string(), span, Role::Input));
        let mut scope = Scope::without_node(module, slots.to_vec());
        let call = self.expanded(&mut scope, call)?;
        let module = &self.program.modules[module];
        let Reference::Call {
            callee: Callee::Instance(Callable { base: Base::Node(optimiser), .. }), ..
        } = module.references[call.index()]
        else {
            return None;
        };
        let ExprKind::Call(_, arguments) = module.tree.exprs.kind(call) else { return None };
        let mut constants = Vec::new();
        for argument in module.tree.exprs.items(arguments).iter().skip(GIVEN.len()) {
            match constant_expression(&module.tree.exprs, *argument) {
                Ok(constant) => constants.push(constant),
                Err(diagnostic) => {
                    self.diagnostics.push(*diagnostic);
                    return None;
                }
            }
        }
        let rule = &mut self.program.trains[train].rules[rule];
        (rule.optimiser, rule.arguments) = (optimiser, constants);
        Some(())
    }
}
