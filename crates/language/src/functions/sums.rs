//! `sum` over ranges: terms are added to accumulators (functions.md, section 3).
//!
//! A sum of single numbers without terms is 0; a sum of tensors without terms is an error, since their shape
//! is unknown.
//!
//! An accumulator starts from `-0.0`: adding a term to it changes no bit of the term. If the sum may be
//! empty, its result depends on the number of terms, which is the bound of the only binder, or an accumulator
//! that counts the terms.
//!
//! The accumulator of a tensor is created before the first term, so its sizes must be known there. Terms of
//! unknown sizes are collected as the rows of a tensor, whose sum is then taken.

use eddy_body::ir::{Binding, Control, Elem, Kind, Var};
use eddy_body::operation::Operation;
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::{Header, Undecided};
use super::control::{LoopTask, bounds, filter, outside};
use super::errors::{Refused, shape_error};
use super::expression::no_functions;
use super::kinds::KindId;
use super::lowering::{Lowering, Task};
use super::reductions::ReductionTask;
use super::sizes::Form as Size;
use super::value::{Leaf, Val};
use crate::tree::ExprId;

pub enum SumTask {
    /// Lowers the bounds of a binder.
    Level(ExprId, usize, Box<OpenSum>),
    Enter(ExprId, usize, Box<OpenSum>),
    Filter(ExprId, Box<OpenSum>),
    Term(Box<OpenSum>),
}

/// A sum whose term is being lowered.
pub struct OpenSum {
    loops: Vec<Header>,
    /// The number of iterations of each loop.
    counts: Vec<Leaf>,
    scope: usize,
    n_atoms: usize,
    span: Span,
    /// The condition of the `if` around the term.
    filter: Option<Var>,
}

impl OpenSum {
    /// Whether there is at least one term in every run.
    fn has_term(&self) -> bool {
        let is_positive =
            |count: &Leaf| count.form.as_ref().and_then(Size::as_constant).is_some_and(|n| n > 0);
        self.filter.is_none() && self.counts.iter().all(is_positive)
    }

    /// The number of terms, if it is known before the first term.
    fn count_before(&self) -> Option<Var> {
        (self.filter.is_none() && self.counts.len() == 1).then(|| self.counts[0].var)
    }
}

fn task(task: SumTask) -> Task {
    Task::Loop(LoopTask::Reduction(ReductionTask::Sum(task)))
}

impl Lowering<'_> {
    pub fn begin_sum(&mut self, expr: ExprId, span: Span) {
        let (scope, n_atoms) = (self.here().env.len(), self.here().n_atoms());
        let open = OpenSum { loops: Vec::new(), counts: Vec::new(), scope, n_atoms, span, filter: None };
        self.tasks.push(task(SumTask::Level(expr, 0, Box::new(open))));
    }

    pub fn sum_task(&mut self, sum: SumTask) -> Result<(), Refused> {
        match sum {
            SumTask::Level(expr, at, open) => {
                let (binders, parts) = self.binders_of(expr);
                let (lower, upper) = bounds(binders, parts, at);
                let mut tasks: Vec<Task> = lower.into_iter().chain([upper]).map(Task::Expr).collect();
                tasks.push(task(SumTask::Enter(expr, at, open)));
                self.then(tasks);
                Ok(())
            }
            SumTask::Enter(expr, at, open) => self.sum_enter(expr, at, open),
            SumTask::Filter(expr, open) => self.sum_filter(expr, open),
            SumTask::Term(open) => self.sum_term(*open),
        }
    }

    fn sum_enter(&mut self, expr: ExprId, at: usize, mut open: Box<OpenSum>) -> Result<(), Refused> {
        let (binders, parts) = self.binders_of(expr);
        let (binder, n_binders) = (binders.binders[at], binders.binders.len());
        let term = *parts.last().expect("a sum has a term");
        let condition = filter(binders, parts);
        let (lower, count) = self.take_bounds(binder.has_lower, open.span)?;
        let index = self.index_var(binder.ident);
        self.here().open_region();
        self.bind_index(binder.ident, index, lower.as_ref(), open.span);
        let control = Control::Each { index, count: count.var };
        open.loops.push(Header { control, states: Vec::new(), accs: Vec::new() });
        open.counts.push(count);
        if at + 1 < n_binders {
            self.tasks.push(task(SumTask::Level(expr, at + 1, open)));
            return Ok(());
        }
        self.then(match condition {
            Some(filter) => vec![Task::Expr(filter), task(SumTask::Filter(expr, open))],
            None => vec![Task::Expr(term), task(SumTask::Term(open))],
        });
        Ok(())
    }

    fn sum_filter(&mut self, expr: ExprId, mut open: Box<OpenSum>) -> Result<(), Refused> {
        let val = self.pop();
        let condition = self.scalar(val, Elem::Bool, "a filter", open.span)?;
        open.filter = Some(condition.map_or(Var::new(0), |leaf| leaf.var));
        self.here().open_region();
        let (_, parts) = self.binders_of(expr);
        let term = *parts.last().expect("a sum has a term");
        self.then(vec![Task::Expr(term), task(SumTask::Term(open))]);
        Ok(())
    }

    fn sum_term(&mut self, open: OpenSum) -> Result<(), Refused> {
        let term = self.pop();
        no_functions(std::slice::from_ref(&term), open.span, "a term of a sum")?;
        for leaf in term.leaves() {
            let leaf = leaf.clone();
            self.demand_numeric(&leaf, open.span)?;
        }
        self.here().env.truncate(open.scope);
        let n_atoms = open.n_atoms;
        let term = term.map(&mut |leaf| {
            let sizes = leaf.sizes.iter().map(|size| outside(size.as_ref(), n_atoms)).collect();
            Leaf { sizes, form: None, ..leaf.clone() }
        });
        let is_known = |size: &Option<Size>| size.as_ref().is_some_and(|form| form.parts().is_some());
        if term.leaves().iter().all(|leaf| leaf.sizes.iter().all(is_known)) {
            self.add_terms(open, &term);
            return Ok(());
        }
        if open.count_before().is_none() {
            let text = "the sizes of these terms are not known before the sum; use `fold`";
            return Err(shape_error(open.span, text));
        }
        self.add_rows(open, &term);
        Ok(())
    }

    /// Adds terms to accumulators, one for each tensor of the term.
    fn add_terms(&mut self, open: OpenSum, term: &Val) {
        let span = open.span;
        let is_single = matches!(term, Val::Leaf(leaf) if leaf.rank() == 0);
        let is_int = |leaf: &&Leaf| {
            self.activations.last().is_some_and(|here| here.kinds.get(leaf.kind) == Some(Elem::Int))
        };
        // The integer 0 is the initial value of a sum of integers.
        let is_counted = !(open.has_term() || is_single && term.leaves().iter().all(is_int));
        let before = open.count_before();
        let has_counter = is_counted && before.is_none();
        let n_terms = term.leaves().len();
        let here = self.here();
        let mut accs: Vec<Var> = (0..n_terms).map(|_| here.var("sum")).collect();
        for (acc, leaf) in accs.iter().zip(term.leaves()) {
            here.emit(Vec::new(), Kind::Add(*acc, Vec::new(), leaf.var), span);
        }
        if has_counter {
            accs.push(here.var("n"));
        }
        let results = self.close_sum(&open, term, &accs, is_single && is_counted);
        let count = if has_counter { results.last().copied() } else { before };
        let mut results = results[..n_terms].to_vec();
        let here = self.here();
        match count {
            Some(count) if is_counted && !is_single => {
                here.emit(Vec::new(), Kind::Op(Operation::CheckSome, vec![count]), span);
            }
            Some(count) if has_counter => {
                // `-0.0` becomes `0.0` if there are no terms; other sums stay unchanged.
                let kind = term.leaves()[0].kind;
                let correction = self.zero_if_empty(count, kind, span);
                results[0] = self.here().table(Op::Add, vec![results[0], correction], span);
            }
            _ => {}
        }
        let mut at = 0;
        let val = term.map(&mut |leaf| {
            at += 1;
            Leaf { var: results[at - 1], ..leaf.clone() }
        });
        self.push(val);
    }

    /// `0.0` if a count is 0, else `-0.0`.
    fn zero_if_empty(&mut self, count: Var, kind: KindId, span: Span) -> Var {
        let here = self.here();
        let one = here.int(1, span).var;
        let is_none = here.table(Op::Lt, vec![count, one], span);
        here.open_region();
        let zero = here.undecided(kind, Undecided::Number(0), span);
        let yes = here.close_region(vec![zero]);
        here.open_region();
        let start = here.undecided(kind, Undecided::EmptySum, span);
        let no = here.close_region(vec![start]);
        let result = here.var("");
        here.emit(vec![result], Kind::If(is_none, yes, no), span);
        result
    }

    /// Closes the loops of a sum. `accs` are its accumulators, then a counter if the number of terms is
    /// needed and unknown before. Returns their final values.
    fn close_sum(&mut self, open: &OpenSum, term: &Val, accs: &[Var], may_be_zero: bool) -> Vec<Var> {
        let span = open.span;
        let n_terms = term.leaves().len();
        let here = self.here();
        if let Some(condition) = open.filter {
            if let Some(counter) = accs.get(n_terms) {
                let one = here.int(1, span).var;
                here.emit(Vec::new(), Kind::Add(*counter, Vec::new(), one), span);
            }
            let yes = here.close_region(Vec::new());
            here.open_region();
            let no = here.close_region(Vec::new());
            here.emit(Vec::new(), Kind::If(condition, yes, no), span);
        }
        for depth in (1..open.loops.len()).rev() {
            here.close_loop(open.loops[depth].clone(), Vec::new(), Vec::new(), span);
            // Without a filter, the innermost loop has as many terms as iterations.
            if depth + 1 == open.loops.len()
                && open.filter.is_none()
                && let Some(counter) = accs.get(n_terms)
            {
                let zero = here.int(0, span).var;
                let count = here.table(Op::Maximum, vec![open.counts[depth].var, zero], span);
                here.emit(Vec::new(), Kind::Add(*counter, Vec::new(), count), span);
            }
        }
        // The accumulators belong to the outermost loop, and start before it.
        let body = here.close_region(Vec::new());
        let mut bindings = Vec::new();
        for (acc, leaf) in accs.iter().zip(term.leaves()) {
            let start = match open.count_before() {
                Some(count) if may_be_zero => self.zero_if_empty(count, leaf.kind, span),
                _ => self.here().undecided(leaf.kind, Undecided::EmptySum, span),
            };
            let here = self.here();
            let sizes = leaf.sizes.iter().flatten();
            let sizes: Vec<Var> = sizes.filter_map(|form| here.size_of_form(form, span)).collect();
            let init = if sizes.is_empty() {
                start
            } else {
                here.op(Operation::Fill, [vec![start], sizes].concat(), span)
            };
            bindings.push(Binding { var: *acc, init });
        }
        let here = self.here();
        for counter in &accs[n_terms..] {
            bindings.push(Binding { var: *counter, init: here.int(0, span).var });
        }
        here.open.push(body);
        let header = Header { accs: bindings, ..open.loops[0].clone() };
        here.close_loop(header, Vec::new(), Vec::new(), span)
    }

    /// Collects the terms as rows of a tensor, and adds the rows.
    fn add_rows(&mut self, mut open: OpenSum, term: &Val) {
        let span = open.span;
        let header = open.loops.pop().expect("a sum has a binder");
        let here = self.here();
        let rows = here.close_loop(header, Vec::new(), term.vars(), span);
        here.emit(Vec::new(), Kind::Op(Operation::CheckSome, vec![open.counts[0].var]), span);
        let mut at = 0;
        let val = term.map(&mut |leaf| {
            at += 1;
            let var = here.table(Op::Sum(Some(0)), vec![rows[at - 1]], span);
            Leaf { var, ..leaf.clone() }
        });
        self.push(val);
    }
}
