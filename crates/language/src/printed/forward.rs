//! The forward equations: kept as written, except that an instance or a parameter inside a larger expression
//! is moved to a separate equation, and a compound condition gets a name (section 9.5, structure).

use rustc_hash::FxHashMap;

use super::Form;
use super::instances::Treatment;
use super::local::{Action, Item, Origin, StreamId};
use super::node::Writer;
use super::nodes::{Line, Template};
use crate::flow::Kind;
use crate::program::SlotId;
use crate::tree::{Direction, ExprId};

impl Writer<'_> {
    /// Gives names to expressions that become equations.
    pub fn name_streams(&mut self) {
        let node = self.instances.typed.node(self.instance);
        for (number, slot) in node.slots.iter().enumerate() {
            self.names.insert(self.local.slot(SlotId::new(number)), slot.name.clone());
        }
        let (mut n_parameters, mut n_conditions) = (0, 0);
        for number in 0..self.local.steps.len() {
            let step = &self.local.steps[number];
            match &step.action {
                Action::Equation(Kind::Param(_)) if !step.is_whole => {
                    n_parameters += 1;
                    self.move_out(step.results[0], &format!("p{n_parameters}"));
                }
                Action::Call(_) => {
                    if let Some((_, callee)) = self.treatment(number)
                        && !step.is_whole
                    {
                        let name = format!("{}_o", self.instances.typed.node(callee).name);
                        self.move_out(step.results[0], &name);
                    }
                }
                Action::Equation(Kind::When { condition, .. } | Kind::Merge { condition, .. })
                    if self.active.contains(&step.results[0]) =>
                {
                    let condition = *condition;
                    if !self.names.contains_key(&condition) {
                        n_conditions += 1;
                        self.move_out(condition, &format!("c{n_conditions}"));
                    }
                }
                Action::Equation(_) => {}
            }
        }
    }

    fn move_out(&mut self, stream: StreamId, preferred: &str) {
        let Origin::Expr(expr) = self.local.stream(stream).origin else { return };
        let name = self.fresh.name(preferred);
        self.replaced.insert(expr, self.text.var(&name));
        self.names.insert(stream, name);
    }

    /// The streams that have names: inputs first, then in the order in which they are defined.
    pub fn named_streams(&self) -> Vec<StreamId> {
        let n_inputs = self.instances.typed.node(self.instance).n_inputs;
        let inputs = (0..n_inputs).map(|input| self.local.slot(SlotId::new(input)));
        let defined = self.local.steps.iter().flat_map(|step| step.results.iter().copied());
        inputs.chain(defined).filter(|stream| self.names.contains_key(stream)).collect()
    }

    /// The forward equations, and among them the calls of other training code.
    pub fn forward_lines(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let declared = self.declarations();
        for item in &self.local.items {
            for number in item.steps.clone() {
                let step = &self.local.steps[number];
                let is_named = self.names.contains_key(&step.results[0]);
                if !step.is_whole && is_named {
                    lines.push(self.moved_line(number));
                }
            }
            lines.push(self.item_line(item, &declared));
        }
        let conditions = self.constant_conditions();
        conditions.into_iter().chain(lines).collect()
    }

    /// The types and clocks that are written on the left of equations.
    fn declarations(&mut self) -> FxHashMap<SlotId, String> {
        let typed = self.instances.typed;
        let (node, module) = (typed.node(self.instance), typed.module(self.instance));
        let tree = typed.program.tree_of(node);
        let mut declared = FxHashMap::default();
        for (equation, tree) in node.equations.iter().zip(&tree.equations) {
            for (slot, target) in equation.targets.iter().zip(&tree.targets) {
                if let (Some(slot), crate::tree::Target::Decl(decl)) = (slot, target) {
                    declared.insert(*slot, self.text.declaration(module, decl));
                }
            }
        }
        declared
    }

    /// The equations of named constant conditions, as in `when true`, which have no step.
    fn constant_conditions(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for (number, stream) in self.local.streams.iter().enumerate() {
            let (Some(name), Origin::Expr(expr), true) =
                (self.names.get(&StreamId::new(number)).cloned(), stream.origin, stream.is_constant)
            else {
                continue;
            };
            let value = self.copied_inside(expr);
            lines.push(self.text.equation(&[name], value));
        }
        lines
    }

    /// A copy of the expression of a stream that has a name.
    fn copied_inside(&mut self, expr: ExprId) -> ExprId {
        let name = self.replaced.remove(&expr).expect("it has a name");
        let value = self.copied(expr);
        self.replaced.insert(expr, name);
        value
    }

    /// The equation of an expression that was moved out.
    fn moved_line(&mut self, number: usize) -> Line {
        let step = &self.local.steps[number];
        let name = self.names[&step.results[0]].clone();
        match (&step.action, self.treatment(number)) {
            (Action::Equation(Kind::Param(_)), _) => self.parameter_line(number, name),
            (Action::Call(_), Some((treatment, _))) if treatment != Treatment::Custom => {
                self.call_line(number, vec![name])
            }
            _ => {
                let value = self.copied_inside(step.expr);
                self.text.equation(&[name], value)
            }
        }
    }

    fn item_line(&mut self, item: &Item, declared: &FxHashMap<SlotId, String>) -> Line {
        let targets: Vec<String> = item
            .targets
            .iter()
            .map(|slot| slot.map_or("_".to_string(), |slot| declared[&slot].clone()))
            .collect();
        let whole = item.steps.clone().next_back().filter(|number| self.local.steps[*number].is_whole);
        if let Some(number) = whole {
            match self.local.steps[number].action {
                Action::Equation(Kind::Param(_)) => return self.parameter_line(number, targets[0].clone()),
                Action::Equation(Kind::Fby { .. }) if self.registers.contains(&number) => {
                    return self.register_line(number, targets);
                }
                Action::Call(_) => match self.treatment(number) {
                    None | Some((Treatment::Custom, _)) => {}
                    Some(_) => return self.call_line(number, targets),
                },
                Action::Equation(_) => {}
            }
        }
        let value = self.copied(item.value);
        self.text.equation(&targets, value)
    }

    /// `p = diff_param(i,b,dp)`. A parameter without dependents keeps its first value, as in the synthesised
    /// node.
    fn parameter_line(&mut self, number: usize, target: String) -> Line {
        let step = &self.local.steps[number];
        let (init, result) = (step.operands[0], step.results[0]);
        let init = self.written(init);
        if !self.active.contains(&result) {
            let held = self.written(result);
            let value = self.text.fby(Direction::Forward, init, held);
            return self.text.equation(&[target], value);
        }
        let template = match self.instances.form {
            Form::Dense => Template::DenseParam,
            Form::Sparse(_) => Template::Param,
        };
        let name = self.nodes.template(template, self.ends());
        let mut arguments = vec![init];
        if let Some(support) = self.support(result) {
            arguments.push(self.support_name(support));
        }
        let cotangent = self.cotangents[&result].clone();
        arguments.push(self.text.var(&cotangent));
        let value = self.text.call(&name, &arguments);
        self.text.equation(&[target], value)
    }
}
