//! Elaborates calls: their arguments, their interface, and the place of the instance.

use std::rc::Rc;

use eddy_autodiff::section::{Argument, Input, Instance as Custom, Output, Request, Restart};
use eddy_syntax::{Diagnostic, Span};

use super::instance::{Binding, Instance};
use super::interface::{self, Interface, KnownInputs};
use super::synthesis::Place;
use super::{Elaborator, InstanceId, MAX_DEPTH, Operand, Work, without_body};
use crate::automata::path_of_state;
use crate::codes;
use crate::flow::{self, Name, Path, VarId};
use crate::program::{Base, Callable, Callee, Copies, NodeId, Reference, Site};
use crate::tree::{ExprId, ExprKind};

impl<'a> Elaborator<'a> {
    /// The number of streams of an expression; `None` if it cannot be determined, which is reported.
    pub(super) fn n_streams(&mut self, instance: InstanceId, expr: ExprId) -> Option<usize> {
        let Some(Callee::Instance(callable)) = self.callee(instance, expr) else { return Some(1) };
        match self.site(instance, expr).and_then(|site| site.copies) {
            Some(Copies::Fold { n_streams }) => return Some(n_streams),
            Some(_) => return Some(1),
            None => {}
        }
        if let (Base::Node(node) | Base::Woven { node, .. }, []) = (callable.base, callable.modes.as_slice())
        {
            return Some(self.program.node(node).outputs.len());
        }
        let constants =
            self.arguments(instance, expr).iter().map(|argument| self.known(instance, *argument).cloned());
        let known = KnownInputs::in_order(constants.collect(), Vec::new());
        Some(self.levels(callable, &known)?.last()?.outputs.len())
    }

    pub(super) fn arguments(&self, instance: InstanceId, expr: ExprId) -> &'a [ExprId] {
        let exprs = &self.module(instance).tree.exprs;
        match exprs.kind(expr) {
            ExprKind::Call(_, arguments) => exprs.items(arguments),
            _ => unreachable!("only calls have arguments"),
        }
    }

    pub(super) fn site(&self, instance: InstanceId, expr: ExprId) -> Option<&'a Site> {
        match &self.module(instance).references[expr.index()] {
            Reference::Call { site, .. } => site.as_deref(),
            _ => None,
        }
    }

    /// The shared parameters that a call passes on.
    pub(super) fn shares_of(&self, instance: InstanceId, expr: ExprId) -> Vec<Path> {
        let shares = self.site(instance, expr).map_or(&[][..], |site| &site.shares);
        shares.iter().map(|share| self.instances[instance.index()].share(share)).collect()
    }

    fn levels(&mut self, callable: &Callable, known: &KnownInputs<'_>) -> Option<Vec<Rc<Interface>>> {
        match interface::levels(self.program, callable, known, self.probes) {
            Ok(levels) => Some(levels),
            Err(mut diagnostics) => {
                self.diagnostics.append(&mut diagnostics);
                None
            }
        }
    }

    /// Begins the instance of a call whose arguments are on the stack.
    pub(super) fn call(&mut self, instance: InstanceId, expr: ExprId, targets: &[Option<VarId>]) {
        let span = self.module(instance).tree.exprs.at(expr);
        let Reference::Call { callee: Callee::Instance(callable), ordinal, site } =
            &self.module(instance).references[expr.index()]
        else {
            unreachable!("only calls of nodes are entered")
        };
        let origin = self.program.node(self.program.origin(callable.base));
        if origin.is_external() {
            self.fail(without_body(&origin.name, span, origin.span));
            return;
        }
        if self.instances.len() > MAX_DEPTH {
            let title = format!("instances are nested more than {MAX_DEPTH} deep");
            self.diagnostics.push(Diagnostic::error(codes::TOO_LARGE, span, title));
            return;
        }
        let arguments = self.arguments(instance, expr);
        let first = self.operands.len() - arguments.len();
        let mut bindings: Vec<Binding> = self
            .operands
            .drain(first..)
            .map(|operand| match operand {
                Operand::Stream(var) => Binding::Stream(var),
                Operand::Static(constant) => Binding::Static(constant),
            })
            .collect();
        if let Some(order) = site.as_ref().and_then(|site| site.order.as_ref()) {
            bindings = in_order_of_inputs(bindings, order);
        }
        for (input, binding) in bindings.iter().enumerate().take(origin.n_inputs) {
            if origin.is_static[input] && matches!(binding, Binding::Stream(_)) {
                let node = self.program.origin(callable.base);
                self.fail(self.must_be_static(instance, arguments[input], node, input));
                return;
            }
        }
        let Some(levels) = self.levels_of_call(callable, &bindings, span) else { return };
        let name = self.program.name_of(callable);
        let exprs = &self.module(instance).tree.exprs;
        let written = |(binding, expr): (&Binding, &ExprId)| flow::Argument {
            var: if let Binding::Stream(var) = binding { Some(*var) } else { None },
            span: exprs.span(*expr),
        };
        let written = bindings.iter().zip(arguments).map(written).collect();
        let call = self.register_call(&name, self.program.origin(callable.base), written, span);
        let outer = &self.instances[instance.index()];
        let suffix = &outer.suffix;
        let label = site.as_ref().and_then(|site| site.label.as_deref());
        let sharing = site.as_ref().and_then(|site| site.sharing.as_ref());
        let name = label.unwrap_or(&name);
        // Seed paths use the name of the original node, not that of the derivative.
        let origin = label.unwrap_or(&origin.name);
        let seed_path = match sharing {
            Some(sharing) => outer.share(sharing),
            None => match path_of_state(origin) {
                Some(path) => inside(&outer.seed_path, path, suffix),
                None => outer.seed_path.inside(format!("{origin}#{ordinal}{suffix}")),
            },
        };
        // A state of a machine is an instance without a number.
        let path = match path_of_state(name) {
            Some(path) => inside(&outer.path, path, suffix),
            None => outer.path.inside(format!("{name}#{ordinal}{suffix}")),
        };
        let place = Place {
            is_shared: sharing.is_some() || outer.is_shared,
            shares: self.shares_of(instance, expr),
            ..Place::new(path, seed_path, span, Some(call))
        };
        self.record_call(instance, expr);
        if let Some(every) = site.as_ref().and_then(|site| site.every) {
            let every = self.instances[instance.index()].bindings[every.index()].clone();
            let every = self.signal(every, span);
            self.begin_section();
            let node = self.program.name_of(callable);
            self.work.push(Work::Restart(Box::new((Restart { node, every }, span))));
        }
        self.instantiate(callable, &levels, place, bindings, targets.to_vec());
    }

    /// The interfaces that an instance needs; `None` if they do not fit its arguments, which is reported.
    fn levels_of_call(
        &mut self,
        callable: &Callable,
        bindings: &[Binding],
        span: Span,
    ) -> Option<Vec<Rc<Interface>>> {
        if let (Base::Node(node), []) = (callable.base, callable.modes.as_slice())
            && self.program.node(node).n_inputs == bindings.len()
        {
            return Some(Vec::new()); // it is not differentiated
        }
        let known = self.known_inputs(bindings);
        let levels = self.levels(callable, &known)?;
        let interface = &levels[levels.len() - 1];
        if interface.inputs.len() != bindings.len() {
            self.fail(self.wrong_arity(callable, interface, bindings.len(), span));
            return None;
        }
        Some(levels)
    }

    fn known_inputs(&self, bindings: &[Binding]) -> KnownInputs<'static> {
        let constant = |binding: &Binding| match binding {
            Binding::Static(constant) => Some(constant.clone()),
            Binding::Stream(_) => None,
        };
        let is_false = |binding: &Binding| match binding {
            Binding::Static(_) => false,
            Binding::Stream(var) => self.falses.contains(var),
        };
        KnownInputs::in_order(
            bindings.iter().map(constant).collect(),
            bindings.iter().map(is_false).collect(),
        )
    }

    fn wrong_arity(
        &self,
        callable: &Callable,
        interface: &Interface,
        found: usize,
        span: Span,
    ) -> Diagnostic {
        let name = self.program.name_of(callable);
        let n = interface.inputs.len();
        let plural = if n == 1 { "" } else { "s" };
        let found = if found == 1 { "1 is".to_string() } else { format!("{found} are") };
        let inputs: Vec<&str> = interface.inputs.iter().map(|port| port.name.as_str()).collect();
        let outputs: Vec<&str> = interface.outputs.iter().map(|port| port.name.as_str()).collect();
        let title = format!("`{name}` expects {n} argument{plural}, but {found} given");
        Diagnostic::error(codes::ARITY, span, title)
            .cause(self.program.span_of(callable), "it is synthesised from this")
            .help(format!("it is `{name}({}) -> ({})`", inputs.join(", "), outputs.join(", ")))
    }

    /// Reports an equation with too many or too few names on its left side.
    pub(super) fn report_wrong_width(&mut self, instance: InstanceId, number: usize) {
        let node = self.instances[instance.index()].node;
        let equation = &self.program.node(node).equations[number];
        let span = self.module(instance).tree.exprs.at(equation.value);
        let n_names = equation.targets.len();
        let count = |n: usize| format!("{n} stream{}", if n == 1 { "" } else { "s" });
        let names = count(n_names);
        let exprs = &self.module(instance).tree.exprs;
        let value = exprs.without_parentheses(equation.value);
        let interface = match self.callee(instance, value) {
            Some(Callee::Instance(callable)) => {
                let constants = self.arguments(instance, value).iter();
                let constants = constants.map(|argument| self.known(instance, *argument).cloned());
                let known = KnownInputs::in_order(constants.collect(), Vec::new());
                let name = self.program.name_of(callable);
                self.levels(callable, &known)
                    .map(|mut levels| (name, levels.pop().expect("at least the node")))
            }
            _ => None,
        };
        let diagnostic = match interface {
            Some((name, interface)) => {
                let outputs: Vec<&str> = interface.outputs.iter().map(|port| port.name.as_str()).collect();
                let found = count(outputs.len());
                let title = format!("the left side names {names}, but the right side has {found}");
                let help = format!("`{name}` returns ({})", outputs.join(", "));
                Diagnostic::error(codes::WIDTH, span, title).help(help)
            }
            None => {
                let title = format!("the left side names {names}, but the right side has another number");
                Diagnostic::error(codes::WIDTH, span, title)
            }
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports a call with several outputs where one stream is needed.
    pub(super) fn report_several_streams(&mut self, n: usize, span: Span) {
        let title = format!("this place names one stream, but the expression has {n}");
        let help = "give its streams names in an equation of its own";
        self.diagnostics.push(Diagnostic::error(codes::WIDTH, span, title).help(help));
    }

    /// Begins a section if the user wrote derivatives of the node and the current code is differentiated.
    /// Returns the number of parameters before the section.
    pub(super) fn begin_custom(&mut self, node: NodeId) -> Option<usize> {
        if self.n_derivatives == 0 || !self.program.customs.contains_key(&node) {
            return None;
        }
        self.begin_section();
        Some(self.draft.parameters.len())
    }

    /// Ends the section of a node with custom derivatives.
    pub(super) fn end_custom(&mut self, instance: &Instance) {
        let Some(n_parameters) = instance.custom else { return };
        let program = self.program;
        let customs = program.customs[&instance.node];
        let node = program.node(instance.node);
        if self.draft.parameters.len() > n_parameters
            && (customs.adjoint.is_some() || customs.tangent.is_some())
        {
            let title = format!("the node `{}` has a custom derivative and a parameter", node.name);
            let diagnostic = Diagnostic::error(codes::CUSTOM, instance.span, title)
                .reason("`adj_` and `tan_` nodes do not return derivatives of parameters")
                .help("pass the weights as inputs");
            self.diagnostics.push(diagnostic);
            return;
        }
        let known = self.known_inputs(&instance.bindings[..node.n_inputs]);
        let interface = match interface::probe(program, Base::Node(instance.node), &known, self.probes) {
            Ok(interface) => interface,
            Err(mut diagnostics) => {
                self.diagnostics.append(&mut diagnostics);
                return;
            }
        };
        let inputs = instance.bindings.iter().zip(&interface.inputs).map(|(binding, port)| Input {
            argument: match binding {
                Binding::Stream(var) => Argument::Stream(*var),
                Binding::Static(constant) => Argument::Static(constant.clone()),
            },
            has_cotangent: port.is_num,
        });
        let outputs = node.outputs.iter().zip(&interface.outputs).map(|(slot, port)| Output {
            var: match &instance.bindings[slot.index()] {
                Binding::Stream(var) => *var,
                Binding::Static(_) => unreachable!("outputs are streams"),
            },
            has_cotangent: port.is_num,
        });
        let custom = Custom {
            node: instance.node.index(),
            name: node.name.clone(),
            path: instance.path.clone(),
            seed_path: instance.seed_path.clone(),
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            has_adjoint: customs.adjoint.is_some(),
            has_tangent: customs.tangent.is_some(),
            has_diff: customs.diff.is_some(),
            span: instance.span,
        };
        self.end_section(Request::Instance(custom), instance.span);
    }
}

/// The bindings of a call whose arguments were elaborated in another order than that of the inputs.
fn in_order_of_inputs(elaborated: Vec<Binding>, order: &[usize]) -> Vec<Binding> {
    let mut bindings: Vec<(usize, Binding)> = order.iter().copied().zip(elaborated).collect();
    bindings.sort_by_key(|(input, _)| *input);
    bindings.into_iter().map(|(_, binding)| binding).collect()
}

/// The name of a stream of an instance. The state of a machine has a path of its own, `automaton#1/state`.
pub(super) fn name_of_stream(path: &Path, name: &str) -> Name {
    match name.rsplit_once('/') {
        Some((machine, name)) => inside(path, machine, "").name(name),
        None => path.name(name),
    }
}

/// The path of a part of a machine, `automaton#1/grow`, in an instance.
fn inside(outer: &Path, parts: &str, suffix: &str) -> Path {
    let mut path = outer.clone();
    let mut parts = parts.split('/').peekable();
    while let Some(part) = parts.next() {
        let suffix = if parts.peek().is_none() { suffix } else { "" };
        path = path.inside(format!("{part}{suffix}"));
    }
    path
}
