//! Loops: `fold`, `loop`, `scan`, comprehensions (functions.md, section 3). Reductions are in
//! [`super::reductions`], filters of comprehensions in [`super::filters`].
//!
//! Several binders become nested loops. One task opens a loop: it creates the names and a region. Another
//! task closes the loop when all parts of its statement are known.

use eddy_body::ir::{Binding, Control, Elem, Literal, Var};
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::{AtomSource, Header};
use super::errors::{Refused, shape_error, type_error};
use super::expression::no_functions;
use super::lowering::{Lowering, Task};
use super::reductions::{Reducing, ReductionTask};
use super::sizes::{Atom, Form as Size};
use super::value::{Leaf, Val};
use crate::tree::{self, Binders, ExprId, Form, LoopKind};

pub enum LoopTask {
    /// Pushes a truth value.
    Truth(bool, Span),
    /// Exchanges the last two operands.
    Swap,
    /// Opens a loop whose initial state was computed.
    Start(ExprId),
    /// Lowers the bounds of a binder of a fold; the state is the last operand.
    Level(ExprId, usize),
    /// Opens the loop of a binder of a fold, whose bounds were computed.
    Enter(ExprId, usize),
    /// Lowers the innermost body of a fold.
    Body(ExprId),
    /// Lowers the body of a fold with this state under its filter, which was computed.
    Filtered(ExprId, Val),
    /// Closes a loop whose body was computed.
    Exit(Box<OpenLoop>),
    /// Lowers the body of a `while` whose condition was computed.
    Condition(Box<OpenLoop>),
    /// Opens the loops of a comprehension whose bounds were computed.
    Rows(ExprId),
    /// Lowers the elements of a comprehension whose filter was computed.
    Keep(ExprId, Box<OpenRows>),
    /// Stores an element that was computed under a filter that can fail.
    KeepElement(ExprId, Box<OpenRows>, Var),
    /// Closes the loops of a comprehension whose element was computed.
    Element(Box<OpenRows>),
    Reduction(ReductionTask),
}

/// A `fold` or a `while` whose body is being lowered.
pub struct OpenLoop {
    pub expr: ExprId,
    pub header: Header,
    /// The states inside of the loop, and the operands that initialise them.
    pub inside: Val,
    pub init: Val,
    pub scope: usize,
    pub n_atoms: usize,
    pub span: Span,
    /// The number of iterations, if it is known beforehand.
    pub count: Option<Size>,
    pub is_scan: bool,
}

/// A comprehension whose element is being lowered.
pub struct OpenRows {
    pub loops: Vec<(Header, Option<Size>)>,
    pub scope: usize,
    pub n_atoms: usize,
    pub span: Span,
}

/// The lower bound of a binder, if written, and its upper bound, from the parts of a form.
pub fn bounds(binders: &Binders, parts: &[ExprId], at: usize) -> (Option<ExprId>, ExprId) {
    let n_parts = |binder: &tree::Binder| 1 + usize::from(binder.has_lower);
    let start: usize = binders.binders[..at].iter().map(n_parts).sum();
    if binders.binders[at].has_lower { (Some(parts[start]), parts[start + 1]) } else { (None, parts[start]) }
}

/// The filter of binders, if any.
pub fn filter(binders: &Binders, parts: &[ExprId]) -> Option<ExprId> {
    let n_bounds: usize = binders.binders.iter().map(|binder| 1 + usize::from(binder.has_lower)).sum();
    binders.has_filter.then(|| parts[n_bounds])
}

impl Lowering<'_> {
    pub fn begin_loop(&mut self, expr: ExprId) -> Result<(), Refused> {
        let (form, parts) = self.form_of(expr).expect("it is a form");
        match form {
            Form::Loop { kind, control, .. } => {
                if let (LoopKind::Scan, tree::Control::For(binders)) = (kind, control)
                    && (binders.binders.len() > 1 || binders.has_filter)
                {
                    let text = "`scan` has one binder and no filter";
                    return Err(type_error(self.exprs().at(expr), text));
                }
                self.then(vec![Task::Expr(parts[0]), Task::Loop(LoopTask::Start(expr))]);
            }
            Form::Comprehension(binders) => {
                if binders.has_filter && binders.binders.len() > 1 {
                    let text = "a comprehension with a filter has one binder";
                    return Err(type_error(self.exprs().at(expr), text));
                }
                self.check_rectangular(binders, parts, expr)?;
                let mut tasks = Vec::new();
                for at in 0..binders.binders.len() {
                    let (lower, upper) = bounds(binders, parts, at);
                    tasks.extend(lower.map(Task::Expr));
                    tasks.push(Task::Expr(upper));
                }
                tasks.push(Task::Loop(LoopTask::Rows(expr)));
                self.then(tasks);
            }
            Form::Reduction { .. } => self.begin_reduction(expr),
            _ => unreachable!("these forms are loops"),
        }
        Ok(())
    }

    /// The bounds of a comprehension must not depend on its indices.
    fn check_rectangular(&self, binders: &Binders, parts: &[ExprId], expr: ExprId) -> Result<(), Refused> {
        let indices: Vec<_> = binders.binders.iter().map(|binder| binder.ident.name).collect();
        for at in 1..binders.binders.len() {
            let (lower, upper) = bounds(binders, parts, at);
            let mut work: Vec<ExprId> = lower.into_iter().chain([upper]).collect();
            while let Some(part) = work.pop() {
                if let tree::ExprKind::Variable(name) = self.exprs().kind(part)
                    && indices[..at].contains(&name)
                {
                    let text = format!(
                        "a comprehension is rectangular: its bounds cannot depend on `{}`",
                        self.text(name)
                    );
                    return Err(type_error(self.exprs().at(expr), text));
                }
                work.extend(self.exprs().children(part));
            }
        }
        Ok(())
    }

    pub fn loop_task(&mut self, task: LoopTask) -> Result<(), Refused> {
        match task {
            LoopTask::Truth(value, span) => {
                let var = self.here().literal(Literal::bool(value), span);
                let leaf = self.here().leaf(var, Elem::Bool, Vec::new());
                self.push(Val::Leaf(leaf));
            }
            LoopTask::Swap => {
                let n = self.operands.len();
                self.operands.swap(n - 1, n - 2);
            }
            LoopTask::Start(expr) => return self.start(expr),
            LoopTask::Level(expr, at) => {
                let (binders, parts) = self.binders_of(expr);
                let (lower, upper) = bounds(binders, parts, at);
                let mut tasks: Vec<Task> = lower.into_iter().map(Task::Expr).collect();
                tasks.extend([Task::Expr(upper), Task::Loop(LoopTask::Enter(expr, at))]);
                self.then(tasks);
            }
            LoopTask::Enter(expr, at) => return self.enter(expr, at),
            LoopTask::Body(expr) => self.body(expr),
            LoopTask::Filtered(expr, state) => return self.filtered(expr, state),
            LoopTask::Exit(open) => return self.exit(*open),
            LoopTask::Condition(open) => return self.condition(*open),
            LoopTask::Rows(expr) => return self.rows(expr),
            LoopTask::Keep(expr, open) => return self.keep(expr, open),
            LoopTask::KeepElement(expr, open, condition) => {
                return self.keep_element(expr, *open, condition);
            }
            LoopTask::Element(open) => return self.element(*open),
            LoopTask::Reduction(task) => return self.reduction_task(task),
        }
        Ok(())
    }

    /// The binders of a form and its parts from the first bound on.
    pub fn binders_of(&self, expr: ExprId) -> (&Binders, &[ExprId]) {
        let (form, parts) = self.form_of(expr).expect("it is a form");
        match form {
            Form::Loop { control: tree::Control::For(binders), .. } => (binders, &parts[1..]),
            Form::Comprehension(binders) | Form::Reduction { binders, .. } => (binders, parts),
            _ => unreachable!("these forms have binders"),
        }
    }

    fn start(&mut self, expr: ExprId) -> Result<(), Refused> {
        let (form, parts) = self.form_of(expr).expect("it is a form");
        let Form::Loop { state, control, kind } = form else { unreachable!("only loops have states") };
        let span = self.exprs().at(expr);
        let init = self.pop();
        no_functions(std::slice::from_ref(&init), span, "the state of a loop")?;
        if init.is_unknown() {
            self.here().is_provisional = true;
            self.push(Val::Unknown);
            return Ok(());
        }
        if let tree::Control::For(_) = control {
            self.push(init);
            self.tasks.push(Task::Loop(LoopTask::Level(expr, 0)));
            return Ok(());
        }
        let (scope, n_atoms) = (self.here().env.len(), self.here().n_atoms());
        let (inside, states) = self.states(&init);
        self.here().open_region();
        let header =
            Header { control: Control::While(eddy_body::ir::Region::default()), states, accs: Vec::new() };
        let is_scan = *kind == LoopKind::Scan;
        let open = OpenLoop {
            expr,
            header,
            inside: inside.clone(),
            init,
            scope,
            n_atoms,
            span,
            count: None,
            is_scan,
        };
        self.push(inside);
        self.then(vec![
            Task::Bind(*state),
            Task::Expr(parts[1]),
            Task::Loop(LoopTask::Condition(Box::new(open))),
        ]);
        Ok(())
    }

    /// New names for the states of a loop.
    pub fn states(&mut self, init: &Val) -> (Val, Vec<Binding>) {
        let mut states = Vec::new();
        let here = self.here();
        let inside = init.map(&mut |leaf| {
            let var = here.var("");
            states.push(Binding { var, init: leaf.var });
            // The value of an integer state changes with each iteration.
            let form = (leaf.rank() == 0).then(|| here.atom(AtomSource::Int(var)));
            Leaf { var, form, ..leaf.clone() }
        });
        (inside, states)
    }

    fn condition(&mut self, mut open: OpenLoop) -> Result<(), Refused> {
        let val = self.pop();
        let leaf = self.scalar(val, Elem::Bool, "a condition", open.span)?;
        let yields = leaf.map_or_else(Vec::new, |leaf| vec![leaf.var]);
        let region = self.here().close_region(yields);
        open.header.control = Control::While(region);
        let scope = open.scope;
        self.here().env.truncate(scope);
        self.here().open_region();
        let (form, parts) = self.form_of(open.expr).expect("it is a form");
        let Form::Loop { state, .. } = form else { unreachable!("only loops have conditions") };
        self.push(open.inside.clone());
        self.then(vec![
            Task::Bind(*state),
            Task::Expr(parts[2]),
            Task::Unbind(scope),
            Task::Loop(LoopTask::Exit(Box::new(open))),
        ]);
        Ok(())
    }

    /// The bounds of a binder, from the operand stack: the first index, if it is written, and the
    /// number of indices.
    pub fn take_bounds(&mut self, has_lower: bool, span: Span) -> Result<(Option<Leaf>, Leaf), Refused> {
        let upper = self.pop();
        let lower = if has_lower { Some(self.pop()) } else { None };
        let unknown = self.here().int(0, span);
        let upper = self.scalar(upper, Elem::Int, "a bound", span)?.unwrap_or_else(|| unknown.clone());
        let Some(lower) = lower else { return Ok((None, upper)) };
        let lower = self.scalar(lower, Elem::Int, "a bound", span)?.unwrap_or(unknown);
        let var = self.here().table(Op::Sub, vec![upper.var, lower.var], span);
        let form = upper.form.as_ref().zip(lower.form.as_ref()).and_then(|(hi, lo)| hi.subtract(lo));
        let count = self.here().int_leaf(var, form);
        Ok((Some(lower), count))
    }

    pub fn index_var(&mut self, ident: tree::Ident) -> Var {
        let name = self.text(ident.name);
        self.here().var(name)
    }

    /// Binds the index of a binder in the region that was just opened: the counter, plus the first index if
    /// there is one.
    pub fn bind_index(&mut self, ident: tree::Ident, counter: Var, lower: Option<&Leaf>, span: Span) {
        let var = match lower {
            Some(lower) => self.here().table(Op::Add, vec![lower.var, counter], span),
            None => counter,
        };
        let form = Some(self.here().atom(AtomSource::Int(var)));
        let leaf = self.here().int_leaf(var, form);
        self.here().env.push((ident.name, Val::Leaf(leaf)));
    }

    fn enter(&mut self, expr: ExprId, at: usize) -> Result<(), Refused> {
        let (binders, _) = self.binders_of(expr);
        let binder = binders.binders[at];
        let is_innermost = at + 1 == binders.binders.len();
        let span = self.exprs().at(expr);
        let (lower, count) = self.take_bounds(binder.has_lower, span)?;
        let init = self.pop();
        let (scope, n_atoms) = (self.here().env.len(), self.here().n_atoms());
        let (inside, states) = self.states(&init);
        let index = self.index_var(binder.ident);
        self.here().open_region();
        self.bind_index(binder.ident, index, lower.as_ref(), span);
        let header = Header { control: Control::For { index, count: count.var }, states, accs: Vec::new() };
        let (form, _) = self.form_of(expr).expect("it is a form");
        let is_scan = matches!(form, Form::Loop { kind: LoopKind::Scan, .. });
        self.push(inside.clone());
        let next = if is_innermost { LoopTask::Body(expr) } else { LoopTask::Level(expr, at + 1) };
        let open = OpenLoop { expr, header, inside, init, scope, n_atoms, span, count: count.form, is_scan };
        self.then(vec![Task::Loop(next), Task::Unbind(scope), Task::Loop(LoopTask::Exit(Box::new(open)))]);
        Ok(())
    }

    fn body(&mut self, expr: ExprId) {
        let (form, parts) = self.form_of(expr).expect("it is a form");
        if let Form::Reduction { .. } = form {
            self.reduction_body(expr);
            return;
        }
        let Form::Loop { state, .. } = form else { unreachable!("folds have bodies") };
        let (binders, of_binders) = self.binders_of(expr);
        let filter = filter(binders, of_binders);
        let body = *parts.last().expect("a loop has a body");
        let scope = self.here().env.len();
        let inside = self.operands.last().expect("the state").clone();
        let mut tasks = vec![Task::Bind(*state)];
        match filter {
            Some(filter) => {
                tasks.extend([Task::Expr(filter), Task::Loop(LoopTask::Filtered(expr, inside))]);
            }
            None => tasks.push(Task::Expr(body)),
        }
        tasks.push(Task::Unbind(scope));
        self.then(tasks);
    }

    /// Lowers the body of a fold under its filter: where the filter is false, the state stays unchanged.
    fn filtered(&mut self, expr: ExprId, state: Val) -> Result<(), Refused> {
        let span = self.exprs().at(expr);
        let val = self.pop();
        let condition = self.scalar(val, Elem::Bool, "a filter", span)?;
        let condition = condition.map_or(Var::new(0), |leaf| leaf.var);
        let (_, parts) = self.form_of(expr).expect("it is a form");
        let body = *parts.last().expect("a loop has a body");
        let (form, _) = self.form_of(expr).expect("it is a form");
        let is_reduction = matches!(form, Form::Reduction { .. });
        let reduction = |task| Task::Loop(LoopTask::Reduction(task));
        let mut tasks = vec![Task::OpenRegion, Task::Expr(body)];
        if is_reduction {
            tasks.push(reduction(ReductionTask::Combine(expr, state.clone())));
        }
        tasks.extend([
            Task::EndBranch,
            Task::OpenRegion,
            reduction(ReductionTask::Push(state)),
            Task::EndBranch,
            Task::If { condition, span },
        ]);
        self.then(tasks);
        Ok(())
    }

    fn exit(&mut self, open: OpenLoop) -> Result<(), Refused> {
        let next = self.pop();
        if next.is_unknown() {
            self.here().is_provisional = true;
            self.here().close_region(Vec::new());
            self.push(open.init);
            return Ok(());
        }
        no_functions(std::slice::from_ref(&next), open.span, "the state of a loop")?;
        self.same_type(&open.inside, &next, open.span)?;
        for (before, after) in open.inside.leaves().iter().zip(next.leaves()) {
            for (a, b) in before.sizes.iter().zip(&after.sizes) {
                if let (Some(a), Some(b)) = (a, b)
                    && a.certainly_differs(b)
                {
                    let text = "the state of a loop keeps its shape";
                    return Err(shape_error(open.span, text));
                }
            }
        }
        let yields = next.vars();
        let collect = if open.is_scan { yields.clone() } else { Vec::new() };
        let n_states = yields.len();
        let results = self.here().close_loop(open.header, yields, collect, open.span);
        let n_atoms = open.n_atoms;
        let count = open.count.clone();
        let mut at = if open.is_scan { n_states } else { 0 };
        let val = open.init.map(&mut |leaf| {
            let var = results[at];
            at += 1;
            let mut sizes: Vec<Option<Size>> =
                leaf.sizes.iter().map(|size| outside(size.as_ref(), n_atoms)).collect();
            if open.is_scan {
                sizes.insert(0, count.clone());
            }
            Leaf { var, sizes, form: None, kind: leaf.kind }
        });
        self.push(val);
        Ok(())
    }

    /// Opens the loops of a comprehension.
    fn rows(&mut self, expr: ExprId) -> Result<(), Refused> {
        let (binders, parts) = self.binders_of(expr);
        let (binders, span) = (binders.clone(), self.exprs().at(expr));
        let element = *parts.last().expect("a comprehension has an element");
        let mut taken = Vec::new();
        for binder in binders.binders.iter().rev() {
            taken.push(self.take_bounds(binder.has_lower, span)?);
        }
        taken.reverse();
        let (scope, n_atoms) = (self.here().env.len(), self.here().n_atoms());
        let mut loops = Vec::new();
        for (binder, (lower, count)) in binders.binders.iter().zip(taken) {
            let index = self.index_var(binder.ident);
            self.here().open_region();
            self.bind_index(binder.ident, index, lower.as_ref(), span);
            let control = Control::Each { index, count: count.var };
            loops.push((Header { control, states: Vec::new(), accs: Vec::new() }, count.form));
        }
        let open = Box::new(OpenRows { loops, scope, n_atoms, span });
        let (binders, parts) = self.binders_of(expr);
        match filter(binders, parts) {
            Some(filter) => {
                self.then(vec![Task::Expr(filter), Task::Loop(LoopTask::Keep(expr, open))]);
            }
            None => self.then(vec![Task::Expr(element), Task::Loop(LoopTask::Element(open))]),
        }
        Ok(())
    }

    /// Closes the loops of a comprehension.
    fn element(&mut self, open: OpenRows) -> Result<(), Refused> {
        let OpenRows { loops, scope, n_atoms, span } = open;
        let mut val = self.pop();
        no_functions(std::slice::from_ref(&val), span, "an element of a tensor")?;
        self.here().env.truncate(scope);
        for (header, count) in loops.into_iter().rev() {
            let collect = val.vars();
            let results = self.here().close_loop(header, Vec::new(), collect, span);
            let mut at = 0;
            val = val.map(&mut |leaf| {
                let mut sizes: Vec<Option<Size>> =
                    leaf.sizes.iter().map(|size| outside(size.as_ref(), n_atoms)).collect();
                let rows = count.clone().filter(|form| form.as_constant().is_none_or(|n| n >= 0));
                sizes.insert(0, rows);
                at += 1;
                Leaf { var: results[at - 1], kind: leaf.kind, sizes, form: None }
            });
        }
        self.push(val);
        Ok(())
    }

    /// How the reduction `expr` is lowered.
    pub fn reducing(&self, expr: ExprId) -> Reducing {
        let (form, _) = self.form_of(expr).expect("it is a form");
        match form {
            Form::Reduction { kind, .. } => Reducing::of(*kind),
            _ => unreachable!("only reductions reduce"),
        }
    }
}

/// A size as known outside of a loop; `None` if it depends on integers of the loop.
pub fn outside(size: Option<&Size>, n_atoms: usize) -> Option<Size> {
    let is_inside = |atom: Atom| atom.index() >= n_atoms;
    size.filter(|form| !form.mentions(is_inside)).cloned()
}
