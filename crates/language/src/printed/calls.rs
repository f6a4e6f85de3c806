//! Calls of training code, and their replacement where the user wrote the derivative (sections 9.5 and 9.12).

use super::Form;
use super::instances::Treatment;
use super::local::{Action, StreamId};
use super::node::Writer;
use super::nodes::{Line, Template};
use super::supports::{NotClosed, SupportId};
use crate::clocks::{ClockId, Clocks};
use crate::tree::{ExprId, Polarity};

impl Writer<'_> {
    /// Names the cotangents that calls and registers return. If a returned cotangent is the whole cotangent
    /// of a stream, it gets the name of that cotangent.
    pub fn name_results(&mut self) {
        for number in 0..self.local.steps.len() {
            let is_register = self.registers.contains(&number);
            if !is_register && self.treatment(number).is_none() {
                continue;
            }
            let operands = self.local.steps[number].operands.clone();
            for (position, operand) in operands.into_iter().enumerate() {
                if !self.is_use(operand, number, position) {
                    continue;
                }
                let name = if self.is_only_part(operand, number) {
                    self.cotangents[&operand].clone()
                } else {
                    let of = match self.names.get(&operand) {
                        Some(name) => name.clone(),
                        None => self.formal(number, position),
                    };
                    self.fresh.name(&format!("d{of}"))
                };
                self.returned.insert((number, position), name);
            }
        }
    }

    pub fn is_use(&self, operand: StreamId, step: usize, position: usize) -> bool {
        self.uses.get(&operand).is_some_and(|uses| uses.contains(&(step, position)))
    }

    /// Whether the cotangent of a stream consists only of the result of this step.
    pub fn is_only_part(&self, operand: StreamId, step: usize) -> bool {
        let is_seed = self.seed_of(operand).is_some();
        let is_replacement = matches!(self.treatment(step), Some((Treatment::Replaced, _)));
        self.names.contains_key(&operand) && self.uses[&operand].len() == 1 && !is_seed && !is_replacement
    }

    /// The name of the input of the callee at this position.
    fn formal(&self, step: usize, position: usize) -> String {
        match self.local.steps[step].action {
            Action::Call(callee) => self.instances.typed.node(callee).slots[position].name.clone(),
            Action::Equation(_) => "i".to_string(),
        }
    }

    /// The call of training code that replaces a call of the node.
    pub fn call_line(&mut self, number: usize, targets: Vec<String>) -> Line {
        let (treatment, callee) = self.treatment(number).expect("it carries cotangents");
        let results = self.local.steps[number].results.clone();
        let support = self.support_of_results_of(number);
        let condition = match (self.instances.form, support) {
            (Form::Dense, _) => None,
            (Form::Sparse(_), Some(support)) => Some(self.support_name(support)),
            // No result has a cotangent. The callee contains parameters, which keep their first values.
            (Form::Sparse(_), None) => Some(self.text.truth(false)),
        };
        let mut arguments: Vec<ExprId> = Vec::new();
        for operand in self.local.steps[number].operands.clone() {
            arguments.push(self.written(operand));
        }
        let always = (treatment == Treatment::Replaced).then(|| self.always_name());
        arguments.extend(condition);
        if let Some(always) = &always {
            arguments.push(self.text.var(always));
        }
        for result in results {
            if self.local.is_num(result) {
                let cotangent = self.cotangent_at(result, support);
                arguments.push(match &always {
                    Some(always) => {
                        let always = self.text.var(always);
                        self.text.when(cotangent, always, Polarity::On)
                    }
                    None => cotangent,
                });
            }
        }
        let name = match treatment {
            Treatment::Derived => {
                self.instances.derived[callee].as_ref().expect("callees are printed first").name.clone()
            }
            Treatment::Reset(template) => self.nodes.template(template, self.ends()),
            Treatment::Replaced => format!("diff_{}", self.instances.typed.node(callee).name),
            Treatment::Custom => unreachable!("a custom derivative is called beside its node"),
        };
        let value = self.text.call(&name, &arguments);
        let targets = self.with_results(targets, number, callee);
        self.text.equation(&targets, value)
    }

    fn support_of_results_of(&mut self, number: usize) -> Option<SupportId> {
        let is_active = self.local.steps[number].results.iter().any(|result| self.active.contains(result));
        if is_active { self.support_of_results(number) } else { None }
    }

    /// Adds the results of training code after the outputs: for each `num` input its support, if that is
    /// returned, then its cotangent. Unused results are discarded.
    fn with_results(&mut self, mut targets: Vec<String>, number: usize, callee: usize) -> Vec<String> {
        let returns = self.returns_of(number);
        for position in self.instances.inputs_with_cotangents(self.treatment(number), callee) {
            let returned = self.returned.get(&(number, position)).cloned();
            if returns.get(position) == Some(&true) {
                targets.push(match &returned {
                    Some(_) => {
                        let support = self.support_of_use(number, position).expect("it is returned");
                        let name = self.support_name(support);
                        self.text.show(name)
                    }
                    None => "_".to_string(),
                });
            }
            targets.push(returned.unwrap_or_else(|| "_".to_string()));
        }
        targets
    }

    /// The cotangent of a result of a call, on the common support of all results; zero if it is not active.
    fn cotangent_at(&mut self, result: StreamId, support: Option<SupportId>) -> ExprId {
        let Some(name) = self.cotangents.get(&result).cloned() else {
            return self.zeros(result);
        };
        let cotangent = self.text.var(&name);
        let own = self.support(result);
        if own == support {
            return cotangent;
        }
        let dense = self.padded(cotangent, own);
        self.sampled(dense, support)
    }

    /// `y,bpx,dx = diff_fby1(k,x,b,dy)`.
    pub fn register_line(&mut self, number: usize, mut targets: Vec<String>) -> Line {
        let step = &self.local.steps[number];
        let (init, next, result) = (step.operands[0], step.operands[1], step.results[0]);
        let support = self.support(result).expect("registers are for sparse forms");
        let (init, value) = (self.written(init), self.written(next));
        let condition = self.support_name(support);
        let cotangent = self.cotangents[&result].clone();
        let cotangent = self.text.var(&cotangent);
        let earlier = self.support_of_use(number, 1).expect("registers are for sparse forms");
        let earlier = self.support_name(earlier);
        targets.push(self.text.show(earlier));
        targets.push(self.returned[&(number, 1)].clone());
        let name = self.nodes.template(Template::Register, self.ends());
        let call = self.text.call(&name, &[init, value, condition, cotangent]);
        self.text.equation(&targets, call)
    }

    /// `_,dx = adj_M(x when b,d)`.
    pub fn custom_line(&mut self, number: usize, callee: usize) -> Line {
        let support = self.support_of_results_of(number);
        let step = &self.local.steps[number];
        let (operands, results) = (step.operands.clone(), step.results.clone());
        let mut arguments = Vec::new();
        for operand in operands {
            arguments.push(self.primal(operand, support));
        }
        let mut targets = Vec::new();
        for result in results {
            targets.push("_".to_string());
            if self.local.is_num(result) {
                arguments.push(self.cotangent_at(result, support));
            }
        }
        let name = format!("adj_{}", self.instances.typed.node(callee).name);
        let value = self.text.call(&name, &arguments);
        let targets = self.with_results(targets, number, callee);
        self.text.equation(&targets, value)
    }

    /// A stream that is always true.
    pub fn always_name(&mut self) -> String {
        if self.always.is_none() {
            self.always = Some(self.fresh.name("always"));
        }
        self.always.clone().expect("it has just been named")
    }

    /// Checks that all calls have a sparse form; otherwise the program has only a dense form. A call takes
    /// one support for all its cotangents, so they must be on one clock. A custom derivative must also be
    /// pointwise, so that it can be sampled. `diff_M` requires dense cotangents.
    pub fn all_calls_have_sparse_forms(&self) -> Result<(), NotClosed> {
        for number in 0..self.local.steps.len() {
            let fits = match self.treatment(number) {
                None => true,
                Some((Treatment::Replaced, _)) => false,
                Some((Treatment::Custom, callee)) => {
                    self.instances.is_pointwise(callee) && self.is_on_one_clock(number)
                }
                Some(_) => self.is_on_one_clock(number),
            };
            if !fits {
                return Err(NotClosed);
            }
        }
        Ok(())
    }

    fn is_on_one_clock(&self, number: usize) -> bool {
        let clocks: &Clocks = self.instances.clocks;
        let results = self.local.steps[number].results.iter().filter(|result| self.active.contains(result));
        let mut found: Vec<ClockId> =
            results.filter_map(|result| self.local.stream(*result).var).map(|var| clocks.of(var)).collect();
        found.dedup();
        found.len() <= 1
    }
}
