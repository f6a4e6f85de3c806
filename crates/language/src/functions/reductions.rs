//! Reductions over ranges: `prod`, `max`, `min`, `argmax`, `argmin`, `any`, `all` (functions.md, section 3);
//! `sum` is in [`super::sums`].
//!
//! `prod` and the extrema are folds. The state of an extremum is a flag that is true after the first term,
//! the best term so far, and the indices of this term. `any` and `all` are `while` loops, which stop at the
//! first term that decides.

use eddy_body::ir::{Control, Elem, Kind, Literal, Var};
use eddy_body::operation::Operation;
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::{Header, Undecided};
use super::control::{LoopTask, OpenLoop, bounds, filter};
use super::errors::{Refused, kinds, shape_error};
use super::expression::tensor;
use super::lowering::{Lowering, Task};
use super::sums::SumTask;
use super::value::{Leaf, Val};
use crate::tree::{BinaryOp, ExprId, Form, Reduction};

/// The ways in which reductions are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reducing {
    /// Terms are added to an accumulator.
    Sum,
    Prod,
    /// The best term so far is the state.
    Extremum,
    /// A search stops at the first term that decides.
    Search,
}

impl Reducing {
    pub fn of(kind: Reduction) -> Reducing {
        match kind {
            Reduction::Sum => Reducing::Sum,
            Reduction::Prod => Reducing::Prod,
            Reduction::Max | Reduction::Min | Reduction::Argmax | Reduction::Argmin => Reducing::Extremum,
            Reduction::Any | Reduction::All => Reducing::Search,
            Reduction::Mean | Reduction::Concat => unreachable!("only nodes have these"),
        }
    }
}

pub enum ReductionTask {
    Push(Val),
    /// Combines the term of a fold, which was computed, with this state.
    Combine(ExprId, Val),
    /// Extracts the result of a fold from its final state.
    Done(ExprId),
    Sum(SumTask),
    /// Lowers the bounds of a binder of a search; the truth value so far is the last operand.
    SearchLevel(ExprId, usize),
    SearchEnter(ExprId, usize),
    SearchFilter(ExprId),
    SearchExit(Box<OpenLoop>, Var),
}

impl Lowering<'_> {
    pub fn begin_reduction(&mut self, expr: ExprId) {
        let span = self.exprs().at(expr);
        match self.reducing(expr) {
            Reducing::Sum => self.begin_sum(expr, span),
            Reducing::Prod | Reducing::Extremum => {
                let state = self.first_state(expr, span);
                self.push(state);
                self.then(vec![
                    Task::Loop(LoopTask::Level(expr, 0)),
                    Task::Loop(LoopTask::Reduction(ReductionTask::Done(expr))),
                ]);
            }
            Reducing::Search => {
                let is_any = self.is_any(expr);
                self.then(vec![
                    Task::Loop(LoopTask::Truth(!is_any, span)),
                    Task::Loop(LoopTask::Reduction(ReductionTask::SearchLevel(expr, 0))),
                ]);
            }
        }
    }

    fn kind_of(&self, expr: ExprId) -> Reduction {
        match self.form_of(expr) {
            Some((Form::Reduction { kind, .. }, _)) => *kind,
            _ => unreachable!("only reductions reduce"),
        }
    }

    fn is_any(&self, expr: ExprId) -> bool {
        self.kind_of(expr) == Reduction::Any
    }

    /// The initial state of a fold of terms: 1 for a product; for an extremum, a flag that is false.
    fn first_state(&mut self, expr: ExprId, span: Span) -> Val {
        let n_binders = self.binders_of(expr).0.binders.len();
        let here = self.here();
        let kind = here.kinds.open();
        if self.reducing(expr) == Reducing::Prod {
            let var = self.here().undecided(kind, Undecided::Number(1), span);
            return Val::Leaf(Leaf { var, kind, sizes: Vec::new(), form: None });
        }
        let here = self.here();
        let has = here.literal(Literal::bool(false), span);
        let has = here.leaf(has, Elem::Bool, Vec::new());
        let best = here.undecided(kind, Undecided::Number(0), span);
        let best = Leaf { var: best, kind, sizes: Vec::new(), form: None };
        let mut parts = vec![Val::Leaf(has), Val::Leaf(best)];
        parts.extend((0..n_binders).map(|_| Val::Leaf(here.int(0, span))));
        Val::Tuple(parts)
    }

    /// Lowers the term of a fold; the state is the last operand.
    pub fn reduction_body(&mut self, expr: ExprId) {
        let state = self.pop();
        let (binders, parts) = self.binders_of(expr);
        let term = *parts.last().expect("a reduction has a term");
        match filter(binders, parts) {
            None => {
                let combine = ReductionTask::Combine(expr, state);
                self.then(vec![Task::Expr(term), Task::Loop(LoopTask::Reduction(combine))]);
            }
            Some(filter) => {
                self.then(vec![Task::Expr(filter), Task::Loop(LoopTask::Filtered(expr, state))]);
            }
        }
    }

    pub fn reduction_task(&mut self, task: ReductionTask) -> Result<(), Refused> {
        match task {
            ReductionTask::Push(val) => {
                self.push(val);
                Ok(())
            }
            ReductionTask::Combine(expr, state) => self.combine_term(expr, state),
            ReductionTask::Done(expr) => {
                self.reduced(expr);
                Ok(())
            }
            ReductionTask::Sum(task) => self.sum_task(task),
            ReductionTask::SearchLevel(expr, at) => {
                let (binders, parts) = self.binders_of(expr);
                let (lower, upper) = bounds(binders, parts, at);
                let mut tasks: Vec<Task> = lower.into_iter().map(Task::Expr).collect();
                tasks.push(Task::Expr(upper));
                tasks.push(Task::Loop(LoopTask::Reduction(ReductionTask::SearchEnter(expr, at))));
                self.then(tasks);
                Ok(())
            }
            ReductionTask::SearchEnter(expr, at) => self.search_enter(expr, at),
            ReductionTask::SearchFilter(expr) => self.search_filter(expr),
            ReductionTask::SearchExit(open, counter) => self.search_exit(*open, counter),
        }
    }

    /// The next state of a fold of terms.
    fn combine_term(&mut self, expr: ExprId, state: Val) -> Result<(), Refused> {
        let span = self.exprs().at(expr);
        let term = self.pop();
        let Some(term) = tensor(term, span)? else {
            self.here().is_provisional = true;
            self.push(state);
            return Ok(());
        };
        if term.rank() > 0 {
            let word = self.kind_of(expr).word();
            return Err(shape_error(span, format!("`{word}` over a range has single numbers as terms")));
        }
        self.demand_numeric(&term, span)?;
        match state {
            Val::Leaf(product) => {
                self.binary(BinaryOp::Mul, Val::Leaf(product), Val::Leaf(term), span)?;
                let Val::Leaf(leaf) = self.pop() else { unreachable!("a product is a number") };
                self.push(Val::Leaf(Leaf { form: None, ..leaf }));
                Ok(())
            }
            Val::Tuple(parts) => self.better(expr, &parts, &term, span),
            _ => unreachable!("a fold of terms has one of these states"),
        }
    }

    /// Keeps the better of the best term so far and this one: a later term wins only if it is strictly
    /// better.
    fn better(&mut self, expr: ExprId, state: &[Val], term: &Leaf, span: Span) -> Result<(), Refused> {
        let [Val::Leaf(has), Val::Leaf(best), ..] = state else { unreachable!("a flag and a term") };
        self.unify(best.kind, term.kind, span)?;
        let op = match self.kind_of(expr) {
            Reduction::Max | Reduction::Argmax => Op::Gt,
            _ => Op::Lt,
        };
        let n_binders = self.binders_of(expr).0.binders.len();
        let n_env = self.here().env.len();
        let indices: Vec<Var> =
            self.here().env[n_env - n_binders..].iter().map(|(_, val)| val.vars()[0]).collect();
        let here = self.here();
        let is_better = here.table(op, vec![term.var, best.var], span);
        let is_first = here.table(Op::Not, vec![has.var], span);
        let wins = here.table(Op::Or, vec![is_first, is_better], span);
        let truth = here.literal(Literal::bool(true), span);
        let mut new = vec![truth, term.var];
        new.extend(indices);
        here.open_region();
        let yes = here.close_region(new);
        here.open_region();
        let no = here.close_region(state.iter().flat_map(Val::vars).collect());
        let joined = Val::Tuple(state.to_vec()).map(&mut |leaf| here.renamed(leaf));
        here.emit(joined.vars(), Kind::If(wins, yes, no), span);
        self.push(joined);
        Ok(())
    }

    /// The result of a fold of terms.
    fn reduced(&mut self, expr: ExprId) {
        let span = self.exprs().at(expr);
        let val = self.pop();
        let Val::Tuple(parts) = val else {
            self.push(val);
            return;
        };
        let [Val::Leaf(has), best, indices @ ..] = &parts[..] else { unreachable!("a flag and a term") };
        // The check needs a number of terms: 1 if the flag is true, else 0.
        let here = self.here();
        let [one, zero] = [1, 0].map(|n| here.int(n, span).var);
        here.open_region();
        let yes = here.close_region(vec![one]);
        here.open_region();
        let no = here.close_region(vec![zero]);
        let count = here.var("");
        here.emit(vec![count], Kind::If(has.var, yes, no), span);
        here.emit(Vec::new(), Kind::Op(Operation::CheckSome, vec![count]), span);
        let result = match self.kind_of(expr) {
            Reduction::Max | Reduction::Min => best.clone(),
            _ if indices.len() == 1 => indices[0].clone(),
            _ => Val::Tuple(indices.to_vec()),
        };
        self.push(result);
    }

    /// Enters a loop that stops when the truth value is decided.
    fn search_enter(&mut self, expr: ExprId, at: usize) -> Result<(), Refused> {
        let (binders, parts) = self.binders_of(expr);
        let (binder, n_binders) = (binders.binders[at], binders.binders.len());
        let term = *parts.last().expect("it has a term");
        let condition = filter(binders, parts);
        let span = self.exprs().at(expr);
        let is_any = self.is_any(expr);
        let (lower, count) = self.take_bounds(binder.has_lower, span)?;
        let init = self.pop();
        let (scope, n_atoms) = (self.here().env.len(), self.here().n_atoms());
        let zero = self.here().int(0, span);
        let both = Val::Tuple(vec![init.clone(), Val::Leaf(zero)]);
        let (inside, states) = self.states(&both);
        let &[truth, counter] = &inside.vars()[..] else { unreachable!("a truth value and a counter") };
        let here = self.here();
        here.open_region();
        let goes_on = if is_any { here.table(Op::Not, vec![truth], span) } else { truth };
        let is_below = here.table(Op::Lt, vec![counter, count.var], span);
        let again = here.table(Op::And, vec![goes_on, is_below], span);
        let region = here.close_region(vec![again]);
        here.open_region();
        self.bind_index(binder.ident, counter, lower.as_ref(), span);
        let header = Header { control: Control::While(region), states, accs: Vec::new() };
        let open = OpenLoop { expr, header, inside, init, scope, n_atoms, span, count: None, is_scan: false };
        let exit = Task::Loop(LoopTask::Reduction(ReductionTask::SearchExit(Box::new(open), counter)));
        let mut tasks = Vec::new();
        if at + 1 < n_binders {
            tasks.push(Task::Loop(LoopTask::Truth(!is_any, span)));
            tasks.push(Task::Loop(LoopTask::Reduction(ReductionTask::SearchLevel(expr, at + 1))));
        } else if let Some(filter) = condition {
            tasks.push(Task::Expr(filter));
            tasks.push(Task::Loop(LoopTask::Reduction(ReductionTask::SearchFilter(expr))));
        } else {
            tasks.push(Task::Expr(term));
        }
        tasks.extend([Task::Unbind(scope), exit]);
        self.then(tasks);
        Ok(())
    }

    fn search_filter(&mut self, expr: ExprId) -> Result<(), Refused> {
        let span = self.exprs().at(expr);
        let is_any = self.is_any(expr);
        let val = self.pop();
        let condition = self.scalar(val, Elem::Bool, "a filter", span)?;
        let condition = condition.map_or(Var::new(0), |leaf| leaf.var);
        let (_, parts) = self.binders_of(expr);
        let term = *parts.last().expect("it has a term");
        self.branches(condition, Task::Expr(term), Task::Loop(LoopTask::Truth(!is_any, span)), span);
        Ok(())
    }

    fn search_exit(&mut self, open: OpenLoop, counter: Var) -> Result<(), Refused> {
        let span = open.span;
        let val = self.pop();
        let Some(leaf) = tensor(val, span)? else {
            self.here().is_provisional = true;
            self.here().close_region(Vec::new());
            self.push(open.init);
            return Ok(());
        };
        if leaf.rank() > 0 || self.here().kinds.get(leaf.kind) != Some(Elem::Bool) {
            return Err(kinds(span, "a single bool", "another type"));
        }
        let here = self.here();
        let one = here.int(1, span).var;
        let next = here.table(Op::Add, vec![counter, one], span);
        let results = here.close_loop(open.header, vec![leaf.var, next], Vec::new(), span);
        let leaf = here.leaf(results[0], Elem::Bool, Vec::new());
        self.push(Val::Leaf(leaf));
        Ok(())
    }
}
