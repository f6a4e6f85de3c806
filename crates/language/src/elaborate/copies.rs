//! Elaborates copies: `[i < n: e]`, `sum(i < n: e)`, `fold h = z for i < n do e` (composition.md, section 3).
//!
//! The body is a node whose first input is the number of the copy. Its instances belong to the instance
//! around it, with the number added to their names: `dense#1[3]`.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Static, builtin};

use super::instance::Binding;
use super::synthesis::Place;
use super::{Elaborator, InstanceId, Operand, Work};
use crate::codes;
use crate::flow::{Kind, VarId};
use crate::program::{Base, Callee, Copies, NodeId};
use crate::tree::ExprId;

/// Copies that are being elaborated.
pub(super) struct Copying {
    instance: InstanceId,
    expr: ExprId,
    copies: Copies,
    body: NodeId,
    n: usize,
    n_done: usize,
    /// What the body captures.
    captured: Vec<Binding>,
    targets: Vec<Option<VarId>>,
    /// The state of a fold before the last copy.
    states: Vec<VarId>,
}

impl Elaborator<'_> {
    /// Schedules the arguments of copies, then the copies.
    pub(super) fn visit_copies(
        &self,
        instance: InstanceId,
        expr: ExprId,
        copies: Copies,
        targets: Vec<Option<VarId>>,
        work: &mut Vec<Work>,
    ) {
        let exprs = &self.module(instance).tree.exprs;
        let mut arguments = self.arguments(instance, expr).iter();
        work.extend(arguments.next().map(|bound| Work::Argument(instance, *bound)));
        if let Copies::Fold { n_streams } = copies
            && let Some(first) = arguments.next()
        {
            let first = exprs.without_parentheses(*first);
            match exprs.kind(first) {
                crate::tree::ExprKind::Tuple(items) => {
                    let items = exprs.items(items).iter();
                    work.extend(items.map(|item| Work::Argument(instance, *item)));
                }
                _ if n_streams == 1 => work.push(Work::Argument(instance, first)),
                _ => self.visit(instance, first, vec![None; n_streams], work),
            }
        }
        work.extend(arguments.map(|argument| Work::Argument(instance, *argument)));
        work.push(Work::Copies(instance, expr, targets));
    }

    /// Begins copies whose arguments are on the stack.
    pub(super) fn begin_copies(&mut self, instance: InstanceId, expr: ExprId, targets: Vec<Option<VarId>>) {
        let span = self.module(instance).tree.exprs.at(expr);
        let (Some(Callee::Instance(callable)), Some(copies)) =
            (self.callee(instance, expr), self.site(instance, expr).and_then(|site| site.copies))
        else {
            unreachable!("only copies are begun")
        };
        let Base::Node(body) = callable.base else { unreachable!("the body of copies is a node") };
        let n_states = if let Copies::Fold { n_streams } = copies { n_streams } else { 0 };
        let n_captured = self.program.node(body).n_inputs - 1 - n_states;
        if self.operands.len() < n_captured + n_states + 1 {
            return self.fail(wrong_states(span, n_states));
        }
        let captured = self.operands.drain(self.operands.len() - n_captured..).map(binding).collect();
        let bound = self.operands.remove(self.operands.len() - n_states - 1);
        let argument = self.arguments(instance, expr)[0];
        let least = usize::from(n_states == 0);
        let n = match bound {
            Operand::Static(Static::Int(n)) => usize::try_from(n).ok().filter(|n| *n >= least),
            _ => {
                self.size(instance, argument);
                return;
            }
        };
        let Some(n) = n else {
            let at = self.module(instance).tree.exprs.at(argument);
            let title = format!("the number of copies is {least} or more");
            return self.fail(Diagnostic::error(codes::COMPILE_TIME, at, title));
        };
        if n > self.program.limits.equations {
            return self.diagnostics.push(self.too_large());
        }
        let states = Vec::new();
        let copying = Copying { instance, expr, copies, body, n, n_done: 0, captured, targets, states };
        self.work.push(Work::Copy(Box::new(copying)));
    }

    /// Continues after a copy, whose streams are on the stack.
    pub(super) fn continue_copies(&mut self, mut copying: Copying) {
        if copying.n_done == copying.n {
            return self.end_copies(&copying);
        }
        let index = copying.n_done;
        let outer = &self.instances[copying.instance.index()];
        let place = Place {
            path: outer.path.clone(),
            seed_path: outer.seed_path.clone(),
            span: self.module(copying.instance).tree.exprs.at(copying.expr),
            call: outer.call,
            suffix: format!("{}[{index}]", outer.suffix),
            shares: self.shares_of(copying.instance, copying.expr),
            is_shared: outer.is_shared,
        };
        let mut bindings = vec![Binding::Static(Static::Int(i64::try_from(index).unwrap_or(i64::MAX)))];
        let mut targets = vec![None];
        if let Copies::Fold { n_streams } = copying.copies {
            let states: Vec<Binding> =
                self.operands.drain(self.operands.len() - n_streams..).map(binding).collect();
            let states: Vec<VarId> =
                states.into_iter().map(|state| self.as_stream(state, place.span)).collect();
            // The state has one type at all steps.
            self.require_same_types(&copying.states, &states, place.span);
            bindings.extend(states.iter().map(|state| Binding::Stream(*state)));
            copying.states = states;
            let is_last = index + 1 == copying.n;
            targets = if is_last { copying.targets.clone() } else { vec![None; n_streams] };
        }
        bindings.extend(copying.captured.iter().cloned());
        copying.n_done += 1;
        let body = copying.body;
        self.record_call(copying.instance, copying.expr);
        self.work.push(Work::Copy(Box::new(copying)));
        self.enter(body, place, bindings, &targets);
    }

    fn end_copies(&mut self, copying: &Copying) {
        let span = self.module(copying.instance).tree.exprs.at(copying.expr);
        let target = copying.targets.first().copied().flatten();
        match copying.copies {
            Copies::Concat => {
                let parts = self.pop_n(copying.n);
                self.push(target, Kind::Apply(Op::Concat, parts), span);
            }
            Copies::Stack(None) => {
                let parts = self.pop_n(copying.n);
                self.push(target, Kind::Apply(Op::Stack, parts), span);
            }
            Copies::Stack(Some(reduction)) => {
                let parts = self.pop_n(copying.n);
                let stack = self.write(None, Kind::Apply(Op::Stack, parts), span);
                let op = builtin(reduction.word()).and_then(|builtin| builtin.op(&[Static::Int(0)]).ok());
                match op {
                    Some(op) => self.push(target, Kind::Apply(op, Box::new([stack])), span),
                    None => self.fail(no_reduction(span, reduction.word())),
                }
            }
            Copies::Fold { n_streams } if copying.n == 0 => {
                let first: Vec<Operand> = self.operands.drain(self.operands.len() - n_streams..).collect();
                for (state, target) in first.into_iter().zip(&copying.targets) {
                    let var = self.as_stream(binding(state), span);
                    match target {
                        Some(_) => self.push(*target, Kind::Apply(Op::Copy, Box::new([var])), span),
                        None => self.operands.push(Operand::Stream(var)),
                    }
                }
            }
            Copies::Fold { n_streams } => {
                let last: Vec<VarId> = self.operands[self.operands.len() - n_streams..]
                    .iter()
                    .map(|state| state.clone().stream())
                    .collect();
                self.require_same_types(&copying.states, &last, span);
            }
        }
    }
}

fn binding(operand: Operand) -> Binding {
    match operand {
        Operand::Stream(var) => Binding::Stream(var),
        Operand::Static(constant) => Binding::Static(constant),
    }
}

fn wrong_states(span: Span, n: usize) -> Diagnostic {
    Diagnostic::error(
        codes::WIDTH,
        span,
        format!("the state of this `fold` has {n} names, but not as many streams"),
    )
}

fn no_reduction(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(codes::UNKNOWN_CALLEE, span, format!("nodes have no reduction `{name}`")).help(
        "nodes have `sum`, `mean`, `max` and `concat` over a range; functions have more, `fn f(x) = …;`",
    )
}
