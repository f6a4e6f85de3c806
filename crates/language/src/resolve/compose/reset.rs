//! Expands `reset f(x) every c`: the call says which stream restarts its instance (composition.md, section
//! 8).
//!
//! The condition becomes a stream of the node, unless it is one. A function has no state, so its call stays
//! as it is.

use super::Composer;
use super::expand::Scope;
use crate::program::{Callee, Equation, Reference, Role, Site, Slot, SlotId};
use crate::tree::{Annotation, ExprId, Scalar};

impl Composer<'_> {
    /// A call whose instance restarts where a condition holds.
    pub fn restarted(&mut self, scope: &mut Scope, call: ExprId, condition: ExprId) -> ExprId {
        let module = &self.program.modules[scope.module];
        let Reference::Call { callee, ordinal, site } = module.references[call.index()].clone() else {
            return call;
        };
        let name = format!("{}#{ordinal}:every", self.name_of(&callee));
        if !matches!(callee, Callee::Instance(_)) {
            self.own_condition(scope, condition, name);
            return call;
        }
        let every = self.condition_of_reset(scope, condition, name);
        let site = site.map_or_else(Site::default, |site| (*site).clone());
        let site = Some(std::sync::Arc::new(Site { every: Some(every), ..site }));
        let module = &mut self.program.modules[scope.module];
        let exprs = &module.tree.exprs;
        let (kind, span, at) = (exprs.kind(call), exprs.span(call), exprs.at(call));
        module.add(kind, span, at, Reference::Call { callee, ordinal, site })
    }

    fn condition_of_reset(&mut self, scope: &mut Scope, condition: ExprId, name: String) -> SlotId {
        let module = &mut self.program.modules[scope.module];
        let condition = module.tree.exprs.without_parentheses(condition);
        match module.references[condition.index()] {
            Reference::Slot(slot) => slot,
            _ => self.own_condition(scope, condition, name),
        }
    }

    /// A stream for a condition, which must be Boolean.
    fn own_condition(&mut self, scope: &mut Scope, condition: ExprId, name: String) -> SlotId {
        let module = &mut self.program.modules[scope.module];
        let span = module.tree.exprs.span(condition);
        let truth = Annotation { scalar: Scalar::Bool, dims: Some(module.tree.exprs.list([])), span };
        let slot = SlotId::new(scope.new_slots.len());
        scope.new_slots.push(Slot { annotations: vec![truth], ..Slot::new(name, span, Role::Local) });
        let equation = Equation { targets: vec![Some(slot)], value: condition, is_broken: false };
        scope.new_equations.push((scope.at, equation));
        slot
    }
}
