//! Expands one call.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::Composer;
use super::closure;
use super::closure::{Closure, Given, Part, bind_left};
use super::copy::{copied, refused_default};
use super::expand::{Scope, site};
use crate::codes;
use crate::program::{
    Base, Callable, Callee, Composed, ComposedCallee, Copies, Module, NodeId, Program, Reference, Sharing,
    Site, SlotId,
};
use crate::resolve::arguments::{Misbound, Source};
use crate::resolve::inputs::{Inputs, inputs_of};
use crate::resolve::refusals;
use crate::static_value::postorder;
use crate::tree::{ExprId, ExprKind};

/// A call whose callee and arguments are known.
pub struct Plan {
    expr: ExprId,
    callee: Callee,
    ordinal: u32,
    /// The arguments, one for each input of the callee.
    arguments: Vec<Part>,
    /// The expressions that are written in the call, in the order of the text.
    pub written: Vec<ExprId>,
    /// The node whose defaults are meant.
    defaults_of: Option<NodeId>,
    /// For each input of that node, its argument, if it is a value.
    by_input: Vec<Option<Part>>,
    label: Option<String>,
    sharing: Option<Sharing>,
    shares: Vec<Sharing>,
    copies: Option<Copies>,
}

/// The arguments of a call, by input.
struct Bound {
    /// The values; `None` for callables, and for inputs that copies bind.
    by_input: Vec<Option<Part>>,
    callables: Vec<(usize, Closure)>,
}

impl Composer<'_> {
    pub fn inputs_of(&self, callee: &Callee) -> Inputs<'_> {
        inputs_of(&self.program.nodes, &self.parameters, callee)
    }

    /// Finds out the callee of a call and the argument for each of its inputs.
    pub fn plan(&mut self, scope: &mut Scope, expr: ExprId, composed: &Composed) -> Option<Plan> {
        let module = &self.program.modules[scope.module];
        let span = module.tree.exprs.at(expr);
        let label = match (&composed.callee, module.tree.exprs.kind(expr)) {
            (ComposedCallee::Known(_), _) => None,
            (_, ExprKind::Call(name, _)) => Some(module.names.text(name).to_string()),
            _ => None,
        };
        let callee = self.callee(scope, &composed.callee, span)?;
        let mut written = Vec::new();
        let (closure, own) = match composed.copies {
            None => (self.applied(scope, callee, &composed.arguments, span, &mut written)?, Vec::new()),
            Some(copies) => self.copies(scope, callee, copies, composed, &mut written)?,
        };
        let mut plan = self.complete(scope, expr, closure, written, span, own.len())?;
        plan.arguments.splice(0..0, own);
        plan.label = label;
        plan.ordinal = composed.ordinal;
        plan.copies = composed.copies;
        Some(plan)
    }

    /// The body of copies with what it captures, and the arguments of the copies themselves: their number,
    /// and the first streams of a fold.
    fn copies(
        &mut self,
        scope: &mut Scope,
        callee: Closure,
        copies: Copies,
        composed: &Composed,
        written: &mut Vec<ExprId>,
    ) -> Option<(Closure, Vec<Part>)> {
        let (n_own, n_bound) = copies.n_bound();
        let mut own = Vec::new();
        for (_, argument) in &composed.arguments[..n_own] {
            own.push(Part::Written(written.len()));
            written.push(*argument);
        }
        let mut closure = callee;
        for (number, (_, argument)) in composed.arguments[n_own..].iter().enumerate() {
            let given = self.given(scope, &closure.callee, n_bound + number, *argument, written)?;
            closure.given.push((n_bound + number, given));
        }
        Some((closure, own))
    }

    /// A callable with further arguments.
    pub fn applied(
        &mut self,
        scope: &mut Scope,
        mut closure: Closure,
        arguments: &[(Option<String>, ExprId)],
        span: Span,
        written: &mut Vec<ExprId>,
    ) -> Option<Closure> {
        if arguments.is_empty() {
            return Some(closure);
        }
        let names: Vec<Option<&str>> = arguments.iter().map(|(name, _)| name.as_deref()).collect();
        let inputs = self.inputs_of(&closure.callee);
        let bound = match bind_left(&inputs, &closure, &names) {
            Ok(bound) => bound,
            Err(misbound) => {
                let error = self.misbound(&closure, misbound, arguments, span);
                self.diagnostics.push(error);
                return None;
            }
        };
        let mut by_argument: Vec<(usize, usize)> = bound
            .iter()
            .filter_map(|(input, source)| match source {
                Source::Argument(number) => Some((*number, *input)),
                _ => None,
            })
            .collect();
        by_argument.sort_unstable();
        for (number, input) in by_argument {
            let given = self.given(scope, &closure.callee, input, arguments[number].1, written)?;
            closure.given.push((input, given));
        }
        Some(closure)
    }

    /// An argument for an input of a callee.
    fn given(
        &mut self,
        scope: &mut Scope,
        callee: &Callee,
        input: usize,
        argument: ExprId,
        written: &mut Vec<ExprId>,
    ) -> Option<Given> {
        if self.inputs_of(callee).is_callable(input) {
            return Some(Given::Closure(Box::new(self.closure_of(scope, argument, written)?)));
        }
        written.push(argument);
        Some(Given::Value(Part::Written(written.len() - 1)))
    }

    /// Gives each input of a callee its argument, and replaces a template by the node that is made from it.
    fn complete(
        &mut self,
        scope: &mut Scope,
        expr: ExprId,
        closure: Closure,
        written: Vec<ExprId>,
        span: Span,
        n_own: usize,
    ) -> Option<Plan> {
        let n_known = self.inputs_of(&closure.callee).formals.len();
        // The inputs that copies bind get their values from the copies.
        let n_bound = if n_own > 0 { n_known - closure.given.len() } else { 0 };
        let Bound { by_input, callables } = self.bound(&closure, n_bound, expr, span)?;
        let (mut values, mut shares) = (Vec::new(), Vec::new());
        for (_, callable) in &callables {
            callable.collect(&mut values, &mut shares);
        }
        let template = match &closure.callee {
            Callee::Instance(Callable { base: Base::Node(node) | Base::Woven { node, .. }, .. }) => {
                Some(*node)
            }
            _ => None,
        };
        let callee = match (&closure.callee, template) {
            (Callee::Instance(callable), Some(node)) if !callables.is_empty() => {
                if !shares.is_empty() && !callable.modes.is_empty() {
                    self.diagnostics.push(shared_in_derivative(span));
                    return None;
                }
                Callee::Instance(self.made_from(node, callable, &callables, scope.depth)?)
            }
            (callee, _) => callee.clone(),
        };
        // The values that callables bring along follow the inputs of the node.
        let n_inputs = template.map_or(n_known, |node| self.program.node(node).n_inputs).min(by_input.len());
        let of_node = by_input[..n_inputs].iter().flatten().cloned();
        let further = by_input[n_inputs..].iter().flatten().cloned();
        Some(Plan {
            expr,
            callee,
            ordinal: 0,
            arguments: of_node.chain(values).chain(further).collect(),
            written,
            defaults_of: template,
            by_input,
            label: None,
            sharing: closure.sharing,
            shares,
            copies: None,
        })
    }

    /// The argument of each input after the first `n_bound`; one without argument and default is reported.
    fn bound(&mut self, closure: &Closure, n_bound: usize, expr: ExprId, span: Span) -> Option<Bound> {
        let mut given: FxHashMap<usize, Given> = closure.given.iter().cloned().collect();
        let inputs = self.inputs_of(&closure.callee);
        let defaults: Vec<bool> = inputs.formals.iter().map(|formal| formal.has_default).collect();
        let callable_inputs: Vec<usize> =
            (0..defaults.len()).filter(|input| inputs.is_callable(*input)).collect();
        let n = given.keys().map(|input| input + 1).max().unwrap_or(0).max(defaults.len());
        let (mut by_input, mut callables) = (vec![None; n_bound], Vec::new());
        for input in n_bound..n {
            let has_default = defaults.get(input) == Some(&true);
            by_input.push(match given.remove(&input) {
                Some(Given::Value(part)) => Some(part),
                Some(Given::Closure(closure)) => {
                    callables.push((input, *closure));
                    None
                }
                None if has_default && callable_inputs.contains(&input) => {
                    callables.push((input, self.default_callable(&closure.callee, input)?));
                    None
                }
                None if has_default => Some(Part::Default(input)),
                None => {
                    let names: Vec<(Option<String>, ExprId)> =
                        closure.given.iter().map(|_| (None, expr)).collect();
                    let error = self.misbound(closure, Misbound::TooMany, &names, span);
                    self.diagnostics.push(error);
                    return None;
                }
            });
        }
        Some(Bound { by_input, callables })
    }

    /// A node, or one synthesised from it, with callables in the place of its callable inputs.
    fn made_from(
        &mut self,
        template: NodeId,
        callable: &Callable,
        callables: &[(usize, Closure)],
        depth: usize,
    ) -> Option<Callable> {
        let node = self.specialised(template, callables, depth)?;
        let base = match callable.base {
            Base::Woven { end, cut, .. } => Base::Woven { node, end, cut },
            _ => Base::Node(node),
        };
        Some(Callable { base, modes: callable.modes.clone() })
    }

    /// The callable that an input has by default.
    fn default_callable(&mut self, callee: &Callee, input: usize) -> Option<Closure> {
        let Callee::Instance(callable) = callee else { return None };
        self.default_of(self.program.origin(callable.base), input)
    }

    pub fn default_of(&mut self, node: NodeId, input: usize) -> Option<Closure> {
        let node = self.program.node(node);
        let (module, default) = (node.module, node.slots[input].default?);
        self.constant_callable(module, default, 0)
    }

    /// A callable in a default: its arguments are constants and callables.
    fn constant_callable(&mut self, module: usize, expr: ExprId, depth: usize) -> Option<Closure> {
        let file = &self.program.modules[module];
        let span = file.tree.exprs.at(expr);
        let Reference::Composed(composed) = file.references[expr.index()].clone() else { return None };
        let ComposedCallee::Known(callee) = &composed.callee else {
            self.diagnostics.push(refusals::not_callable(span));
            return None;
        };
        if depth > closure::MAX_DEPTH {
            self.diagnostics.push(too_deep(span));
            return None;
        }
        let mut closure = Closure::of(callee.clone(), span);
        let names: Vec<Option<&str>> = composed.arguments.iter().map(|(name, _)| name.as_deref()).collect();
        let bound = bind_left(&self.inputs_of(callee), &closure, &names).ok()?;
        for (input, source) in bound {
            let Source::Argument(number) = source else { continue };
            let argument = composed.arguments[number].1;
            if self.inputs_of(callee).is_callable(input) {
                let inner = self.constant_callable(module, argument, depth + 1)?;
                closure.given.push((input, Given::Closure(Box::new(inner))));
                continue;
            }
            if let Some(refusal) = refused_default(self.program, module, argument, 0) {
                self.diagnostics.push(refusal);
                return None;
            }
            closure.given.push((input, Given::Value(Part::Constant(module, argument))));
        }
        Some(closure)
    }

    /// Makes the call from its written arguments.
    pub fn make_call(&mut self, scope: &mut Scope, plan: Plan, written: &[ExprId]) -> Option<ExprId> {
        let mut made = Vec::with_capacity(plan.arguments.len());
        let mut keys = Vec::with_capacity(plan.arguments.len());
        for (number, part) in plan.arguments.iter().enumerate() {
            made.push(self.part(scope, &plan, part, written)?);
            // Defaults follow what is written; streams that exist already need no equation.
            keys.push(match part {
                Part::Written(at) => (0, *at),
                Part::Slot(_) => (0, 0),
                Part::Constant(..) | Part::Default(_) => (1, number),
            });
        }
        let mut order: Vec<usize> = (0..made.len()).collect();
        order.sort_by_key(|number| keys[*number]);
        let is_in_order = order.iter().enumerate().all(|(at, number)| at == *number);
        let name = self.name_of(&plan.callee);
        let is_instance = matches!(plan.callee, Callee::Instance(_));
        let site = site(Site {
            label: plan.label.clone(),
            order: (is_instance && !is_in_order).then_some(order),
            sharing: plan.sharing.clone().filter(|_| is_instance),
            shares: plan.shares.clone(),
            copies: plan.copies,
            every: None,
        });
        let reference = Reference::Call { callee: plan.callee.clone(), ordinal: plan.ordinal, site };
        let module = &mut self.program.modules[scope.module];
        let (span, at) = (module.tree.exprs.span(plan.expr), module.tree.exprs.at(plan.expr));
        let name = module.names.intern(&name);
        let list = module.tree.exprs.list(made.iter().copied());
        let call = module.add(ExprKind::Call(name, list), span, at, reference);
        // The operations are the only callees whose number of inputs was not known before.
        let written: Vec<(Option<String>, ExprId)> = made.iter().map(|argument| (None, *argument)).collect();
        let name = self.name_of(&plan.callee);
        if let Some(error) = refusals::wrong_operands(&name, &plan.callee, &written, at) {
            self.diagnostics.push(error);
            return None;
        }
        Some(call)
    }

    /// The expression for an argument.
    fn part(&mut self, scope: &mut Scope, plan: &Plan, part: &Part, written: &[ExprId]) -> Option<ExprId> {
        match part {
            Part::Written(number) => Some(written[*number]),
            Part::Slot(slot) => Some(self.read(scope, *slot, plan.expr)),
            Part::Constant(module, expr) => {
                copied(self.program, (*module, *expr), scope.module, &mut |_, _| None)
            }
            Part::Default(input) => self.default(scope, plan, *input, written),
        }
    }

    /// The default of an input, in which the other inputs stand for their arguments.
    fn default(
        &mut self,
        scope: &mut Scope,
        plan: &Plan,
        input: usize,
        written: &[ExprId],
    ) -> Option<ExprId> {
        // Each input stands for its argument, which may be a default again; the chain is no longer than the
        // node has inputs, unless a default depends on itself.
        let node = plan.defaults_of?;
        let mut values: FxHashMap<usize, ExprId> = FxHashMap::default();
        let mut waiting = vec![input];
        while let Some(at) = waiting.last().copied() {
            let (module, default) =
                (self.program.node(node).module, self.program.node(node).slots[at].default?);
            let read = slots_in(&self.program.modules[module], default);
            let mut read = read.into_iter().map(|(slot, _)| slot.index());
            let missing = read.find(|other| !values.contains_key(other));
            match missing {
                Some(other) => match plan.by_input.get(other).cloned().flatten() {
                    Some(Part::Default(_)) if waiting.contains(&other) => {
                        let span = self.program.modules[module].tree.exprs.at(default);
                        let title = "the default of an input depends on itself";
                        self.diagnostics.push(Diagnostic::error(codes::COMPILE_TIME, span, title));
                        return None;
                    }
                    Some(Part::Default(_)) => waiting.push(other),
                    Some(part) => {
                        let value = self.part(scope, plan, &part, written)?;
                        values.insert(other, value);
                    }
                    None => return None,
                },
                None => {
                    let to = scope.module;
                    let known = values.clone();
                    let mut stands_for = |program: &mut Program, slot: SlotId| {
                        let value = *known.get(&slot.index())?;
                        duplicate(program, to, value)
                    };
                    let value = copied(self.program, (module, default), to, &mut stands_for)?;
                    values.insert(at, value);
                    waiting.pop();
                }
            }
        }
        values.get(&input).copied()
    }

    /// The error about arguments that do not fit what a callable leaves open.
    fn misbound(
        &self,
        closure: &Closure,
        misbound: Misbound,
        arguments: &[(Option<String>, ExprId)],
        span: Span,
    ) -> Diagnostic {
        let name = self.name_of(&closure.callee);
        let inputs = self.inputs_of(&closure.callee);
        let argument = |number: usize| arguments[number].0.clone().unwrap_or_default();
        let title = match misbound {
            Misbound::NoInput(number) => format!("`{name}` has no input named `{}`", argument(number)),
            Misbound::GivenTwice(number) => {
                format!("the input `{}` of `{name}` is given twice", argument(number))
            }
            Misbound::TooMany => {
                let n_left = inputs.formals.len().saturating_sub(closure.given.len());
                let n = arguments.len();
                let plural = if n_left == 1 { "" } else { "s" };
                let found = if n == 1 { "1 is".to_string() } else { format!("{n} are") };
                format!("`{name}` expects {n_left} more argument{plural}, but {found} given")
            }
        };
        let diagnostic = Diagnostic::error(codes::ARITY, span, title);
        let diagnostic = if closure.span == span {
            diagnostic
        } else {
            diagnostic.cause(closure.span, "the node or function is given here")
        };
        if inputs.formals.is_empty() {
            return diagnostic;
        }
        diagnostic.help(format!("its inputs are `({})`", inputs.names().join(", ")))
    }
}

/// The streams that an expression reads, each with a place where it is read.
fn slots_in(module: &Module, root: ExprId) -> Vec<(SlotId, ExprId)> {
    let slot = |expr: ExprId| match module.references[expr.index()] {
        Reference::Slot(slot) => Some((slot, expr)),
        _ => None,
    };
    postorder(&module.tree.exprs, root).into_iter().filter_map(slot).collect()
}

/// A copy of an expression, since no expression is in two places.
fn duplicate(program: &mut Program, module: usize, root: ExprId) -> Option<ExprId> {
    let reads = slots_in(&program.modules[module], root);
    let mut read = |program: &mut Program, slot: SlotId| {
        let module = &mut program.modules[module];
        let (_, variable) = *reads.iter().find(|(other, _)| *other == slot)?;
        let exprs = &module.tree.exprs;
        let (kind, span, at) = (exprs.kind(variable), exprs.span(variable), exprs.at(variable));
        Some(module.add(kind, span, at, Reference::Slot(slot)))
    };
    copied(program, (module, root), module, &mut read)
}

fn shared_in_derivative(span: Span) -> Diagnostic {
    let title = "a derivative cannot be given a `let`, whose parameters belong to another instance";
    Diagnostic::error(codes::ARGUMENT, span, title)
        .help("give it the node itself, `dense(8, 4)`, or take the derivative of the node around it")
}

pub fn too_deep(span: Span) -> Diagnostic {
    let title = format!("nodes and functions are given to each other more than {} deep", closure::MAX_DEPTH);
    Diagnostic::error(codes::TOO_LARGE, span, title)
}
