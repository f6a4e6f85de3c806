//! Comprehensions with a filter: `[i < n if c: e]` (functions.md, section 3).
//!
//! The filter and the element of an index are evaluated before those of the next index, so that the first of
//! several failures is reported. There are three cases:
//!
//! * The filter cannot fail: one loop finds the indices to keep, and independent iterations compute their
//!   elements.
//! * The filter can fail, and the sizes of an element are known before the loop: one loop writes elements
//!   into a tensor with room for all indices; the result is its first rows.
//! * The filter can fail, and the sizes are unknown: a loop evaluates filters and elements in order, for
//!   their errors; then the elements of the kept indices are computed again.

use eddy_body::ir::{At, Binding, Control, Elem, Kind, Literal, Region, Var};
use eddy_body::operation::Operation;
use eddy_syntax::Span;
use eddy_tensor::{Op, Value};

use super::activation::{Header, Undecided};
use super::control::{LoopTask, OpenRows, outside};
use super::errors::Refused;
use super::expression::no_functions;
use super::lowering::{Lowering, Task};
use super::sizes::Form as Size;
use super::value::{Leaf, Val};
use crate::tree::ExprId;

impl Lowering<'_> {
    /// Lowers the elements of a comprehension whose filter was computed.
    pub fn keep(&mut self, expr: ExprId, open: Box<OpenRows>) -> Result<(), Refused> {
        let val = self.pop();
        let condition = self.scalar(val, Elem::Bool, "a filter", open.span)?;
        let condition = condition.map_or(Var::new(0), |leaf| leaf.var);
        if !can_fail(self.here().open.last().expect("a region is open")) {
            self.keep_indices(expr, *open, condition);
            return Ok(());
        }
        self.here().open_region();
        let (_, parts) = self.binders_of(expr);
        let element = *parts.last().expect("a comprehension has an element");
        self.then(vec![Task::Expr(element), Task::Loop(LoopTask::KeepElement(expr, open, condition))]);
        Ok(())
    }

    /// Emits a loop that finds the indices to keep, then lowers the elements at these indices.
    fn keep_indices(&mut self, expr: ExprId, mut open: OpenRows, condition: Var) {
        let span = open.span;
        let (_, index) = self.here().env.pop().expect("the index was bound");
        let index = index.vars()[0];
        self.here().env.truncate(open.scope);
        let (header, _) = open.loops.pop().expect("there is one binder");
        let Control::Each { count: n, .. } = header.control else { unreachable!("rows are independent") };
        let kept = self.here().close_loop(header, Vec::new(), vec![condition, index], span);
        let (indices, n_kept) = self.kept_indices(kept[0], kept[1], n, span);
        let element = self.here().var("");
        self.here().open_region();
        let at = self.here().row(indices, element, span);
        let (binders, parts) = self.binders_of(expr);
        let (ident, body) = (binders.binders[0].ident, *parts.last().expect("it has an element"));
        self.bind_index(ident, at, None, span);
        let control = Control::Each { index: element, count: n_kept };
        // The number of kept elements is unknown.
        open.loops.push((Header { control, states: Vec::new(), accs: Vec::new() }, None));
        self.then(vec![Task::Expr(body), Task::Loop(LoopTask::Element(Box::new(open)))]);
    }

    /// The elements of `indices` for which `conditions` hold, at the start of a vector, and their number.
    fn kept_indices(&mut self, conditions: Var, indices: Var, n: Var, span: Span) -> (Var, Var) {
        let here = self.here();
        let zero = here.int(0, span).var;
        let count = here.table(Op::Maximum, vec![n, zero], span);
        let empty = here.op(Operation::Fill, vec![zero, count], span);
        let [index, list, found] = ["i", "kept", "n"].map(|name| here.var(name));
        here.open_region();
        let condition = here.row(conditions, index, span);
        let value = here.row(indices, index, span);
        here.open_region();
        let longer = here.var("");
        here.emit(vec![longer], Kind::Update(list, vec![At::Int(found)], value), span);
        let one = here.int(1, span).var;
        let more = here.table(Op::Add, vec![found, one], span);
        let yes = here.close_region(vec![longer, more]);
        here.open_region();
        let no = here.close_region(vec![list, found]);
        let next = [here.var(""), here.var("")];
        here.emit(next.to_vec(), Kind::If(condition, yes, no), span);
        let states = vec![Binding { var: list, init: empty }, Binding { var: found, init: zero }];
        let header = Header { control: Control::For { index, count: n }, states, accs: Vec::new() };
        let results = here.close_loop(header, next.to_vec(), Vec::new(), span);
        (results[0], results[1])
    }

    /// Stores an element that was computed under a filter that can fail.
    pub fn keep_element(&mut self, expr: ExprId, open: OpenRows, condition: Var) -> Result<(), Refused> {
        let val = self.pop();
        no_functions(std::slice::from_ref(&val), open.span, "an element of a tensor")?;
        let n_atoms = open.n_atoms;
        let val = val.map(&mut |leaf| {
            let sizes = leaf.sizes.iter().map(|size| outside(size.as_ref(), n_atoms)).collect();
            Leaf { sizes, form: None, ..leaf.clone() }
        });
        let is_known = |size: &Option<Size>| size.as_ref().is_some_and(|form| form.parts().is_some());
        if !val.is_unknown() && val.leaves().iter().all(|leaf| leaf.sizes.iter().all(is_known)) {
            self.write_kept(open, condition, &val);
            return Ok(());
        }
        let here = self.here();
        let yes = here.close_region(Vec::new());
        here.open_region();
        let no = here.close_region(Vec::new());
        here.emit(Vec::new(), Kind::If(condition, yes, no), open.span);
        self.keep_indices(expr, open, condition);
        Ok(())
    }

    /// Emits a loop that writes the kept elements into the first rows of a tensor.
    fn write_kept(&mut self, mut open: OpenRows, condition: Var, val: &Val) {
        let span = open.span;
        let (header, _) = open.loops.pop().expect("there is one binder");
        let Control::Each { index, count } = header.control else { unreachable!("rows are independent") };
        self.here().env.truncate(open.scope);
        let here = self.here();
        let found = here.var("n");
        let room: Vec<Var> = val.leaves().iter().map(|_| here.var("kept")).collect();
        let mut written = Vec::new();
        for (array, leaf) in room.iter().zip(val.leaves()) {
            let longer = here.var("");
            here.emit(vec![longer], Kind::Update(*array, vec![At::Int(found)], leaf.var), span);
            written.push(longer);
        }
        let one = here.int(1, span).var;
        written.push(here.table(Op::Add, vec![found, one], span));
        let yes = here.close_region(written);
        here.open_region();
        let states: Vec<Var> = room.iter().copied().chain([found]).collect();
        let no = here.close_region(states.clone());
        let next: Vec<Var> = states.iter().map(|_| here.var("")).collect();
        here.emit(next.clone(), Kind::If(condition, yes, no), span);
        // The initial states are defined before the loop.
        let body = here.close_region(Vec::new());
        let zero = here.int(0, span).var;
        let n = here.table(Op::Maximum, vec![count, zero], span);
        let mut bindings = Vec::new();
        for (array, leaf) in room.iter().zip(val.leaves()) {
            let filler = self.filler(leaf, span);
            let here = self.here();
            let sizes = leaf.sizes.iter().flatten();
            let sizes: Vec<Var> = sizes.filter_map(|form| here.size_of_form(form, span)).collect();
            let init = here.op(Operation::Fill, [vec![filler, n], sizes].concat(), span);
            bindings.push(Binding { var: *array, init });
        }
        bindings.push(Binding { var: found, init: zero });
        let here = self.here();
        here.open.push(body);
        let control = Control::For { index, count };
        let header = Header { control, states: bindings, accs: Vec::new() };
        let results = here.close_loop(header, next, Vec::new(), span);
        let n_kept = results[room.len()];
        let mut at = 0;
        let val = val.map(&mut |leaf| {
            let var = here.var("");
            here.emit(vec![var], Kind::Index(results[at], vec![At::Range(zero, n_kept)]), span);
            at += 1;
            let sizes = std::iter::once(None).chain(leaf.sizes.iter().cloned()).collect();
            Leaf { var, sizes, ..leaf.clone() }
        });
        self.push(val);
    }

    /// An arbitrary value of the kind of a tensor.
    fn filler(&mut self, leaf: &Leaf, span: Span) -> Var {
        let here = self.here();
        match here.kinds.get(leaf.kind) {
            Some(Elem::Bool) => here.literal(Literal::bool(false), span),
            Some(elem @ Elem::Enum(_)) => {
                here.literal(Literal { elem, value: std::sync::Arc::new(Value::Int(0)) }, span)
            }
            _ => here.undecided(leaf.kind, Undecided::Number(0), span),
        }
    }
}

/// Whether a region that computes a single value may fail. Comparisons and connectives of single values
/// cannot fail; an operation that makes a single value of a tensor counts as one that can.
fn can_fail(region: &Region) -> bool {
    let mut work = vec![region];
    let mut constants: Vec<(Var, &Value)> = Vec::new();
    while let Some(region) = work.pop() {
        for stmt in &region.stmts {
            let is_safe = match &stmt.kind {
                Kind::Const(literal) => {
                    constants.push((stmt.results[0], &literal.value));
                    true
                }
                Kind::Op(Operation::Table(Op::IntDiv | Op::IntMod), operands) => {
                    let is_divisor = |value: &Value| matches!(value, Value::Int(n) if *n > 0);
                    constants.iter().any(|(var, value)| *var == operands[1] && is_divisor(value))
                }
                Kind::Op(Operation::Table(op), _) => matches!(
                    op,
                    Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne | Op::And | Op::Or | Op::Not
                ),
                Kind::If(_, yes, no) => {
                    work.extend([yes, no]);
                    true
                }
                _ => false,
            };
            if !is_safe {
                return true;
            }
        }
    }
    false
}
