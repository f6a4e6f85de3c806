//! The backward equations: contributions of steps, from the last step to the first, then a sum for each
//! stream (section 9.5).

use eddy_tensor::{Op, Shape};
use rustc_hash::FxHashMap;

use super::Form;
use super::instances::Treatment;
use super::local::{Action, StreamId};
use super::node::Writer;
use super::nodes::Line;
use super::supports::{SupportId, Supports};
use crate::flow::Kind;
use crate::tree::{BinaryOp, ExprId};

/// The contribution of a use to the cotangent of a stream.
struct Contribution {
    step: usize,
    position: usize,
    expr: ExprId,
    support: Option<SupportId>,
    /// If the use is `x[i]`, the row `i` and the cotangent of that row.
    row: Option<(usize, ExprId)>,
}

/// How often a contribution reads the result of its step, and the cotangent of that result.
struct Reads {
    result: usize,
    cotangent: usize,
}

/// The cotangents that the steps processed so far contribute to.
#[derive(Default)]
struct Found {
    /// The cotangents of streams without a name, which have one use.
    unnamed: FxHashMap<StreamId, ExprId>,
    /// The parts of the cotangents of streams with a name.
    parts: FxHashMap<StreamId, Vec<Contribution>>,
    /// The equations of expressions that are used more than once.
    lines: Vec<Line>,
    n_names: usize,
}

impl Writer<'_> {
    /// Names for the cotangents of streams with names, then for the results of calls.
    pub fn name_cotangents(&mut self) {
        for stream in self.named_streams() {
            if !self.active.contains(&stream) || self.cotangents.contains_key(&stream) {
                continue;
            }
            let seed = self.seed_of(stream);
            let result = self.results.iter().find(|(slot, _)| self.local.slot(*slot) == stream);
            let name = match (seed, result) {
                (Some(seed), _) if !self.uses.contains_key(&stream) => seed,
                (_, Some((_, name))) if !self.is_masked(stream) => name.clone(),
                _ => self.fresh.name(&format!("d{}", self.names[&stream])),
            };
            self.cotangents.insert(stream, name);
        }
        self.name_results();
        self.share_results();
    }

    /// Whether the outermost node outputs the cotangent of an input only where `bp` holds.
    pub fn is_masked(&self, stream: StreamId) -> bool {
        self.is_root() && self.support(stream).is_some_and(|support| support != Supports::GIVEN)
    }

    /// The backward equations.
    pub fn backward_lines(&mut self) -> Vec<Line> {
        let copies = match self.instances.form {
            Form::Sparse(_) => self.returned_support_lines(),
            Form::Dense => Vec::new(),
        };
        let mut lines = self.shared_lines();
        let mut found = Found::default();
        for number in (0..self.local.steps.len()).rev() {
            let is_active =
                self.local.steps[number].results.iter().any(|result| self.active.contains(result));
            if is_active {
                self.step(number, &mut found);
            }
        }
        lines.append(&mut found.lines);
        lines.extend(self.sums(found.parts));
        lines.extend(self.interface_lines());
        lines.extend(copies);
        if let Some(always) = self.always.clone() {
            let truth = self.text.truth(true);
            lines.push(self.text.equation(&[always], truth));
        }
        lines
    }

    /// Adds the contributions of a step.
    fn step(&mut self, number: usize, found: &mut Found) {
        let uses = self.uses_of(number);
        if let Some((treatment, callee)) = self.treatment(number) {
            return self.call(number, treatment, callee, &uses, found);
        }
        if uses.is_empty() {
            return;
        }
        if self.registers.contains(&number) {
            let expr = self.text.var(&self.returned[&(number, 1)].clone());
            return self.contribute(number, 1, expr, None, found);
        }
        let result = self.local.steps[number].results[0];
        let mut cotangent = match self.cotangents.get(&result).cloned() {
            Some(name) => self.text.var(&name),
            None => found.unnamed[&result],
        };
        if !self.text.is_atom(cotangent) && self.is_read_often(number, &uses) {
            found.n_names += 1;
            let name = self.fresh.name(&format!("g{}", found.n_names));
            found.lines.push(self.text.equation(std::slice::from_ref(&name), cotangent));
            cotangent = self.text.var(&name);
        }
        if let Some(expr) = self.square(number, cotangent, &uses) {
            return self.contribute(number, uses[0], expr, None, found);
        }
        for position in uses {
            let expr = self.contribution(number, position, cotangent);
            let row = match self.local.steps[number].action {
                Action::Equation(Kind::Apply(Op::Index(row), _)) => Some((row, cotangent)),
                _ => None,
            };
            self.contribute(number, position, expr, row, found);
        }
    }

    /// The operands of a step through which cotangents pass.
    fn uses_of(&self, number: usize) -> Vec<usize> {
        let operands = self.local.steps[number].operands.iter().enumerate();
        operands
            .filter(|(position, operand)| self.is_use(**operand, number, *position))
            .map(|(p, _)| p)
            .collect()
    }

    /// Adds the contributions of a call, whose results were named before. Writes the calls of custom
    /// derivatives.
    fn call(
        &mut self,
        number: usize,
        treatment: Treatment,
        callee: usize,
        uses: &[usize],
        found: &mut Found,
    ) {
        if treatment == Treatment::Custom {
            let line = self.custom_line(number, callee);
            found.lines.push(line);
        }
        for position in uses {
            let mut expr = self.text.var(&self.returned[&(number, *position)].clone());
            if treatment == Treatment::Replaced {
                let always = self.always_name();
                let (always, zero) = (self.text.var(&always), self.text.number(0.0));
                expr = self.text.merge(always, expr, zero);
            }
            self.contribute(number, *position, expr, None, found);
        }
    }

    fn contribute(
        &mut self,
        step: usize,
        position: usize,
        expr: ExprId,
        row: Option<(usize, ExprId)>,
        found: &mut Found,
    ) {
        let operand = self.local.steps[step].operands[position];
        let support = self.support_of_use(step, position);
        if self.cotangents.contains_key(&operand) {
            let part = Contribution { step, position, expr, support, row };
            found.parts.entry(operand).or_default().push(part);
        } else {
            found.unnamed.insert(operand, expr);
        }
    }

    /// Whether the cotangent of a step would be written more than once, or inside of a `merge` that pads it.
    fn is_read_often(&mut self, number: usize, uses: &[usize]) -> bool {
        let is_moved = self.support_of_results(number).is_some()
            && uses
                .iter()
                .any(|position| self.support_of_use(number, *position) != self.support_of_results(number));
        is_moved
            || uses.iter().map(|position| self.reads(number, *position).cotangent.max(1)).sum::<usize>() > 1
    }

    /// `x * x` has the derivative `2.0 * x`.
    fn square(&mut self, number: usize, cotangent: ExprId, uses: &[usize]) -> Option<ExprId> {
        let step = &self.local.steps[number];
        let is_product = matches!(step.action, Action::Equation(Kind::Apply(Op::Mul, _)));
        let is_square = is_product && step.operands[0] == step.operands[1];
        if !is_square || uses.len() != 2 {
            return None;
        }
        let (operand, support) = (step.operands[0], self.support(step.results[0]));
        let (two, primal) = (self.text.number(2.0), self.primal(operand, support));
        let slope = self.text.binary(BinaryOp::Mul, two, primal);
        Some(self.text.binary(BinaryOp::Mul, slope, cotangent))
    }

    /// How often the equations of a contribution read the result and its cotangent.
    fn reads(&self, number: usize, position: usize) -> Reads {
        let result = self.local.steps[number].results[0];
        let cotangent = self.transposed.cotangents.get(&result);
        let equations = self.transposed.equations_of(self.contributions[&(number, position)]);
        let read: Vec<StreamId> = equations.iter().flat_map(|equation| equation.kind.operands()).collect();
        let count = |stream: StreamId| read.iter().filter(|operand| **operand == stream).count();
        Reads { result: count(result), cotangent: cotangent.map_or(0, |cotangent| count(*cotangent)) }
    }

    pub fn shape(&self, stream: StreamId) -> Shape {
        self.local.ty(stream).shape.clone()
    }

    /// Results that a formula reads twice get a name: `u5 = tanh(c_next) when bp`.
    fn share_results(&mut self) {
        let mut n_shared = 0;
        for number in 0..self.local.steps.len() {
            let result = self.local.steps[number].results[0];
            let is_name = self.names.contains_key(&result) && self.supports.is_none();
            let uses = self.uses_of(number);
            if !is_name && uses.iter().any(|position| self.reads(number, *position).result > 1) {
                n_shared += 1;
                let name = self.fresh.name(&format!("u{n_shared}"));
                self.shared_results.insert(result, name);
            }
        }
    }

    fn shared_lines(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for number in 0..self.local.steps.len() {
            let result = self.local.steps[number].results[0];
            if let Some(name) = self.shared_results.get(&result).cloned() {
                let value = self.primal(result, self.support(result));
                lines.push(self.text.equation(&[name], value));
            }
        }
        lines
    }

    /// A sum for each stream with a name: seeded ones first, then in the order of their first uses.
    fn sums(&mut self, mut parts: FxHashMap<StreamId, Vec<Contribution>>) -> Vec<Line> {
        let seeded = |stream: &StreamId| self.seeds.iter().position(|(seeded, _)| seeded == stream);
        let mut order: Vec<(usize, (usize, usize), StreamId)> = Vec::new();
        for (stream, parts) in &mut parts {
            parts.sort_by_key(|part| (part.step, part.position));
            let first = (parts[0].step, parts[0].position);
            order.push((seeded(stream).unwrap_or(usize::MAX), first, *stream));
        }
        order.sort_unstable();
        let mut lines = Vec::new();
        for (_, _, stream) in order {
            let parts = parts.remove(&stream).expect("each is summed once");
            if parts.len() == 1
                && self.returned.get(&(parts[0].step, parts[0].position)) == self.cotangents.get(&stream)
            {
                continue; // the call that returns it defines it
            }
            let value = self.sum(stream, &parts);
            let name = self.cotangents[&stream].clone();
            lines.push(self.text.equation(&[name], value));
        }
        lines
    }

    fn sum(&mut self, stream: StreamId, parts: &[Contribution]) -> ExprId {
        let seed = self.seed_of(stream);
        let whole = self.support(stream);
        if seed.is_none()
            && let Some(rows) = self.rows(stream, parts)
        {
            return rows;
        }
        let mut terms: Vec<(ExprId, Option<SupportId>)> = Vec::new();
        if let Some(seed) = seed {
            terms.push((self.text.var(&seed), whole.map(|_| Supports::GIVEN)));
        }
        terms.extend(parts.iter().map(|part| (part.expr, part.support)));
        if terms.iter().all(|(_, support)| *support == whole) {
            return self.added(terms.iter().map(|(term, _)| *term));
        }
        let mut padded = Vec::new();
        for (term, support) in terms {
            padded.push(self.padded(term, support));
        }
        let sum = self.added(padded);
        self.sampled(sum, whole)
    }

    fn added(&mut self, terms: impl IntoIterator<Item = ExprId>) -> ExprId {
        let mut terms = terms.into_iter();
        let first = terms.next().expect("an active stream has a use");
        terms.fold(first, |sum, term| self.text.sum(sum, term))
    }

    /// If every row is used separately, the stacked cotangents of the rows: `[d0,d1,..]`.
    fn rows(&mut self, stream: StreamId, parts: &[Contribution]) -> Option<ExprId> {
        let n_rows = *self.shape(stream).first()?;
        let whole = self.support(stream);
        let mut rows: Vec<Vec<ExprId>> = vec![Vec::new(); n_rows];
        for part in parts {
            let (row, cotangent) = part.row.filter(|_| part.support == whole)?;
            rows[row].push(cotangent);
        }
        if rows.iter().any(Vec::is_empty) {
            return None;
        }
        let mut items = Vec::new();
        for row in rows {
            items.push(self.added(row));
        }
        Some(self.text.list(&items))
    }

    /// Zeros in the shape of a stream, which depend on nothing.
    pub fn zeros(&mut self, stream: StreamId) -> ExprId {
        let shape = self.shape(stream);
        let shape = self.dimensions.shape(&shape, &mut self.text);
        self.text.call("zeros", &[shape])
    }
}
