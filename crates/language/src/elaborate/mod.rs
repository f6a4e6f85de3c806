//! Elaborates nodes to flat equations: inlines instances and flattens expressions (section 2).
//!
//! The elaborator has a stack of [`Work`] and a stack of operands, so the native stack bounds neither the
//! depth of expressions nor that of instances. To elaborate an expression, it elaborates the operands from
//! left to right, then writes the equation. To elaborate an instance, it elaborates the arguments, then the
//! equations of the node, in place:
//!
//! ```text
//! z = f(x + 1);          work: [visit x + 1] [enter f] [bind the result to z]
//! node f(a)->(o) …       after the argument: [equation 1 of f] [equation 2 of f] …
//! ```
//!
//! * [`later`]: the node `later` of the prelude, whose delays become separate streams.
//! * [`instance`]: the bindings and compile-time values of one instance.
//! * [`annotations`]: type and clock annotations.
//! * [`expression`]: the equations of each form of expression.
//! * [`rows`]: rows of tensors. [`sizes`]: sizes, shapes, axes and indices.
//! * [`call`]: calls of nodes. [`contract`]: contracts and probes. [`copies`]: copies of a node.
//!   [`root`](mod@root): the node that is run.
//!   [`interface`](mod@interface): the interfaces of synthesised nodes.
//! * [`record`]: which stream each expression became.
//! * [`synthesis`]: instances of synthesised nodes, [`training`]: of nodes that `train` declares, with their
//!   [`rules`].

mod annotations;
mod call;
mod contract;
mod copies;
mod expression;
mod instance;
mod interface;
mod later;
mod record;
mod root;
mod rows;
mod rules;
mod sizes;
mod synthesis;
mod training;

use eddy_autodiff::section::{Request, Restart};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes;
use crate::flow::{
    Argument, Call, ClockAnnotation, Constant, Equation, Kind, Name, Path, VarId, in_instances,
};
use crate::program::{Callable, Made, NodeId, Program, Role, SlotId};
use crate::static_value::Static;
use crate::tree::ExprId;
use copies::Copying;
use instance::{Binding, Instance};
use interface::Probes;
use rules::Sums;
use synthesis::{OpenSection, Place};
use training::Training;

pub use crate::draft::{Draft, DraftVar, Formal, Loss, Parameter, SameType, TypeAnnotation};
pub use crate::static_value::{constant_expression, shape};
pub use interface::{Interface, Port, interface};
pub(crate) use record::{Record, Recorded};
pub use root::static_defaults;

/// The maximal nesting depth of instances. A limit is needed because the name of a stream contains its whole
/// path.
pub(crate) const MAX_DEPTH: usize = 1000;

/// Constants and options for the elaboration of a root node.
#[derive(Clone, Debug, Default)]
pub struct ElaborationOptions {
    /// Compile-time constants for inputs, by name.
    pub constants: FxHashMap<String, Static>,
    /// Streams to show, by name with instance path. Static locals become streams only if they are in this
    /// set.
    pub shown: FxHashSet<Name>,
    /// Inputs that are the constant `false`, by name.
    pub falses: FxHashSet<String>,
    /// Prefix of all seed paths; empty for the node that is run.
    pub seed_path: Path,
    /// The number of streams to run in lock-step, if any.
    pub batch: Option<usize>,
    /// How the losses of these streams are combined.
    pub batch_loss: BatchLoss,
    /// Whether a training node has one more input, by which the gradient of the loss of each row is
    /// multiplied; it is on the clock of the loss.
    pub is_weighted: bool,
    /// The delay, in activations, of the steps and gradients that optimisers receive.
    pub delay: usize,
    /// Inputs that have their defaults, by name.
    pub defaults: FxHashSet<String>,
    /// Whether the node will be differentiated, in which case custom derivatives must be marked.
    pub is_differentiated: bool,
}

/// How the losses of a batch are combined into the objective.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BatchLoss {
    /// Their mean, which is also printed.
    #[default]
    Mean,
    Sum,
}

/// Elaborates a node, or a node synthesised from it.
pub fn elaborate(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
) -> Result<Draft, Vec<Diagnostic>> {
    elaborate_with(program, callable, given, &Probes::default())
}

/// A partly elaborated node with its errors.
pub(crate) struct Elaborated {
    /// The equations written before the first error.
    pub draft: Draft,
    pub record: Record,
    /// Empty if the whole node was elaborated.
    pub diagnostics: Vec<Diagnostic>,
}

/// Elaborates a node up to its first error.
pub(crate) fn elaborate_partly(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
) -> Elaborated {
    elaborate_keeping(Record::default(), program, callable, given)
}

fn elaborate_keeping(
    record: Record,
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
) -> Elaborated {
    let probes = Probes::default();
    let mut elaborator = Elaborator::new(program, given, &probes, Some(record));
    elaborator.elaborate_root(callable, given);
    let Elaborator { draft, record, diagnostics, .. } = elaborator;
    Elaborated { draft, record: record.expect("a record is kept"), diagnostics }
}

/// As [`elaborate`], with a record of the stream of each expression; every stream belongs to an expression.
pub(crate) fn elaborate_recorded(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
) -> Result<(Draft, Record), Vec<Diagnostic>> {
    let Elaborated { draft, record, diagnostics } =
        elaborate_keeping(Record::of_bodies(), program, callable, given);
    if diagnostics.is_empty() { Ok((draft, record)) } else { Err(diagnostics) }
}

/// The names of the streams that `probe` marks in a node and its instances: those of the node first, then
/// those of instances in flattening order.
pub fn probes(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
) -> Result<Vec<String>, Vec<Diagnostic>> {
    let draft = elaborate(program, callable, given)?;
    let mut names: Vec<String> = Vec::new();
    for name in draft.probes.iter().map(ToString::to_string) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn elaborate_with(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
    probes: &Probes,
) -> Result<Draft, Vec<Diagnostic>> {
    let mut elaborator = Elaborator::new(program, given, probes, None);
    elaborator.elaborate_root(callable, given);
    let Elaborator { draft, diagnostics, .. } = elaborator;
    if diagnostics.is_empty() { Ok(draft) } else { Err(diagnostics) }
}

eddy_index::id! {
    /// The index of an instance that is being elaborated.
    struct InstanceId, "elaboration stops before 2^32 streams";
}

/// A value on the operand stack.
#[derive(Clone, Debug)]
enum Operand {
    Stream(VarId),
    /// Only arguments of instances stay static; elsewhere a static operand becomes a stream.
    Static(Static),
}

impl Operand {
    fn stream(self) -> VarId {
        match self {
            Operand::Stream(var) => var,
            Operand::Static(_) => unreachable!("only arguments are static"),
        }
    }
}

/// A step of elaboration; the top of the stack is next.
enum Work {
    /// Elaborate an equation.
    Equation(InstanceId, usize),
    /// Elaborate an expression and push its stream, which is the target if one is given.
    Stream(InstanceId, ExprId, Option<VarId>),
    /// Elaborate an argument of an instance and push it.
    Argument(InstanceId, ExprId),
    /// The operands of an expression are on the stack: write its equation, push its stream.
    Apply(InstanceId, ExprId, Option<VarId>),
    /// The arguments of an instance are on the stack: write its body, then push its outputs.
    Enter(InstanceId, ExprId, Vec<Option<VarId>>),
    /// The arguments of copies are on the stack: make the copies, then push their streams.
    Copies(InstanceId, ExprId, Vec<Option<VarId>>),
    /// A copy is complete: make the next one.
    Copy(Box<Copying>),
    /// The arguments of a function are on the stack: apply it, push its results.
    Function(InstanceId, ExprId, Vec<Option<VarId>>),
    /// The condition of a contract is complete: test it.
    Contract(InstanceId, SlotId),
    /// The body of the innermost instance is done: push its outputs.
    Leave,
    /// The equations of a section are complete: end it.
    Close(Box<OpenSection>),
    /// The equations of an instance that restarts are complete: end their section.
    Restart(Box<(Restart, Span)>),
    /// A part of a training node is complete: begin the next part.
    Train(Box<Training>),
    /// Drop the operands that an equation left on the stack.
    Drop(usize),
}

struct Elaborator<'a> {
    program: &'a Program,
    probes: &'a Probes,
    shown: &'a FxHashSet<Name>,
    draft: Draft,
    /// The open instances, outermost first.
    instances: Vec<Instance>,
    work: Vec<Work>,
    operands: Vec<Operand>,
    /// The names of parameters so far.
    parameter_names: FxHashSet<Name>,
    sums: Sums,
    /// The parameters of `let`s so far.
    shared_parameters: FxHashMap<Name, VarId>,
    /// Streams that are the constant `false`.
    falses: FxHashSet<VarId>,
    /// The number of derivatives taken of the current code.
    n_derivatives: usize,
    /// The delay, in activations, of the steps and gradients that optimisers receive.
    delay: usize,
    /// Whether the gradient of a loss is multiplied by an input.
    is_weighted: bool,
    /// Which stream each expression became; `None` if no record was requested.
    record: Option<Record>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Elaborator<'a> {
    fn new(
        program: &'a Program,
        given: &'a ElaborationOptions,
        probes: &'a Probes,
        record: Option<Record>,
    ) -> Self {
        Elaborator {
            program,
            probes,
            shown: &given.shown,
            parameter_names: FxHashSet::default(),
            sums: Sums::default(),
            shared_parameters: FxHashMap::default(),
            falses: FxHashSet::default(),
            is_weighted: given.is_weighted,
            n_derivatives: usize::from(given.is_differentiated),
            delay: given.delay,
            draft: Draft::default(),
            instances: Vec::new(),
            work: Vec::new(),
            operands: Vec::new(),
            record,
            diagnostics: Vec::new(),
        }
    }

    /// The outputs are the operands that the root left on the stack.
    fn finish(&mut self) {
        if self.diagnostics.is_empty() {
            self.draft.outputs = self.operands.drain(..).map(Operand::stream).collect();
        }
    }

    fn run(&mut self) {
        while let Some(work) = self.work.pop() {
            if !self.diagnostics.is_empty() {
                return; // the same error would be reported for every instance
            }
            if self.draft.equations.len() > self.program.limits.equations {
                self.diagnostics.push(self.too_large());
                return;
            }
            match work {
                Work::Equation(instance, number) => self.equation(instance, number),
                Work::Stream(instance, expr, target) => self.stream(instance, expr, target),
                Work::Argument(instance, expr) => self.argument(instance, expr),
                Work::Apply(instance, expr, target) => self.apply(instance, expr, target),
                Work::Enter(instance, expr, targets) => self.call(instance, expr, &targets),
                Work::Copies(instance, expr, targets) => self.begin_copies(instance, expr, targets),
                Work::Copy(copying) => self.continue_copies(*copying),
                Work::Function(instance, expr, targets) => self.apply_function(instance, expr, &targets),
                Work::Contract(instance, slot) => self.contract(instance, slot),
                Work::Leave => self.leave(),
                Work::Close(open) => self.close(*open),
                Work::Restart(restart) => {
                    let (restart, span) = *restart;
                    self.end_section(Request::Restart(restart), span);
                }
                Work::Train(training) => self.continue_training(*training),
                Work::Drop(n) => self.operands.truncate(self.operands.len() - n),
            }
        }
    }

    fn var(&mut self, name: Option<Name>, span: Span) -> VarId {
        let var = VarId::new(self.draft.vars.len());
        self.draft.vars.push(DraftVar { name, span });
        var
    }

    /// Writes an equation; without a target, its stream has no name.
    fn write(&mut self, target: Option<VarId>, kind: Kind, span: Span) -> VarId {
        let span = self.reported_span().unwrap_or(span);
        let out = target.unwrap_or_else(|| self.var(None, span));
        if kind == Kind::Const(Constant::Bool(false)) {
            self.falses.insert(out);
        }
        let call = self.innermost();
        self.draft.equations.push(Equation { out, kind, span, call });
        out
    }

    /// The call of the innermost open instance.
    fn innermost(&self) -> Option<usize> {
        self.instances.last().and_then(|instance| instance.call)
    }

    /// The span for errors inside a library node: its call, because the user cannot change the library.
    /// `None` outside of library nodes.
    fn reported_span(&self) -> Option<Span> {
        let call = &self.draft.calls[self.innermost()?];
        call.is_opaque.then_some(call.span)
    }

    /// Reports an error in the text that is being elaborated.
    fn fail(&mut self, diagnostic: Diagnostic) {
        self.fail_in(self.innermost(), diagnostic);
    }

    fn fail_in(&mut self, call: Option<usize>, mut diagnostic: Diagnostic) {
        let calls = &self.draft.calls;
        if let Some(call) = call.map(|call| &calls[call]).filter(|call| call.is_opaque) {
            diagnostic.primary.span = call.span;
            diagnostic.causes.clear();
        }
        self.diagnostics.push(in_instances(calls, call, diagnostic));
    }

    /// Registers a call and returns its index. Inside a library node, returns the call of that node instead.
    fn register_call(&mut self, name: &str, node: NodeId, arguments: Box<[Argument]>, span: Span) -> usize {
        let within = self.innermost();
        if let Some(call) = within.filter(|call| self.draft.calls[*call].is_opaque) {
            return call;
        }
        let declared = self.program.node(node);
        self.draft.calls.push(Call {
            node: name.into(),
            span,
            arguments,
            is_opaque: self.program.modules[declared.module].is_library,
            within,
        });
        self.draft.calls.len() - 1
    }

    fn stream_of(&self, instance: InstanceId, slot: SlotId) -> VarId {
        match &self.instances[instance.index()].bindings[slot.index()] {
            Binding::Stream(var) => *var,
            Binding::Static(_) => unreachable!("outputs and conditions are streams"),
        }
    }

    /// Begins the root instance or the instance of a call: binds its streams and schedules its
    /// equations.
    fn enter(&mut self, node: NodeId, place: Place, mut bindings: Vec<Binding>, targets: &[Option<VarId>]) {
        if self.enter_later(node, &place, &bindings, targets) {
            return;
        }
        let Place { path, seed_path, span, call, suffix, shares, is_shared } = place;
        let program = self.program;
        let declared = program.node(node);
        let statics = match instance::statics(program, node, &bindings) {
            Ok(statics) => statics,
            Err(diagnostic) => {
                self.fail_in(call, *diagnostic);
                return;
            }
        };
        for (binding, constant) in bindings.iter_mut().zip(&statics.slots) {
            if let (Binding::Static(given), Some(constant)) = (binding, constant) {
                given.clone_from(constant);
            }
        }
        for (number, slot) in declared.slots.iter().enumerate().skip(declared.n_inputs) {
            // Slots of outputs are numbered in the order of the outputs.
            let output = declared.outputs.binary_search_by_key(&number, |output| output.index()).ok();
            let name = || call::name_of_stream(&path, &slot.name);
            let own_name = || (declared.made != Made::Copied).then(name);
            let binding = match (
                output.and_then(|output| targets.get(output).copied().flatten()),
                &statics.slots[number],
            ) {
                (Some(target), _) => Binding::Stream(target),
                (None, Some(constant)) if slot.role == Role::Local && !self.shown.contains(&name()) => {
                    Binding::Static(constant.clone())
                }
                (None, _) => Binding::Stream(self.var(own_name(), slot.span)),
            };
            bindings.push(binding);
        }
        let id = InstanceId::new(self.instances.len());
        let custom = self.begin_custom(node);
        let mut instance = Instance {
            node,
            number: 0,
            path,
            seed_path,
            suffix,
            shares,
            is_shared,
            custom,
            bindings,
            statics: statics.exprs,
            equation: 0,
            clocks: Vec::new(),
            span,
            call,
        };
        instance.number = self.record_instance(&instance);
        self.instances.push(instance);
        self.probes(id);
        self.alias(id);
        self.annotations(id);
        self.work.push(Work::Leave);
        for number in (0..declared.equations.len()).rev() {
            self.work.push(Work::Equation(id, number));
        }
    }

    /// Names the shown inputs and outputs of an instance, which are streams of its caller or constants.
    fn alias(&mut self, id: InstanceId) {
        if self.shown.is_empty() {
            return;
        }
        let declared = self.program.node(self.instances[id.index()].node);
        if declared.made == Made::Copied {
            return;
        }
        for (number, slot) in declared.slots.iter().enumerate() {
            let name = call::name_of_stream(&self.instances[id.index()].path, &slot.name);
            if !self.shown.contains(&name) {
                continue;
            }
            match self.instances[id.index()].bindings[number].clone() {
                Binding::Stream(var) => self.draft.aliases.push((name, var)),
                Binding::Static(constant) => {
                    let var = self.var(Some(name), slot.span);
                    self.write(Some(var), Kind::Const(Constant::from(&constant)), slot.span);
                }
            }
        }
    }

    /// Ends the innermost instance: pushes its outputs.
    fn leave(&mut self) {
        for index in 0..self.instances[self.instances.len() - 1].clocks.len() {
            let clock = self.instances[self.instances.len() - 1].clocks[index].clone();
            self.synchronise(&clock);
        }
        let instance = self.instances.pop().expect("each instance is left once");
        self.end_custom(&instance);
        for slot in &self.program.node(instance.node).outputs {
            let Binding::Stream(var) = &instance.bindings[slot.index()] else {
                unreachable!("outputs are streams")
            };
            self.operands.push(Operand::Stream(*var));
        }
    }

    /// Writes a clock annotation as equations, so that it determines the clock of a stream that is otherwise
    /// unconstrained: each condition, sampled by itself, ticks with the next condition, and the last one with
    /// the stream.
    fn synchronise(&mut self, clock: &ClockAnnotation) {
        let next = clock.conditions.iter().skip(1).map(|(condition, _)| *condition).chain([clock.var]);
        for ((condition, polarity), next) in clock.conditions.iter().zip(next) {
            let when = Kind::When { value: *condition, condition: *condition, polarity: *polarity };
            let tick = self.write(None, when, clock.span);
            self.write(None, Kind::Apply(Op::If, Box::new([tick, next, next])), clock.span);
        }
    }

    fn too_large(&self) -> Diagnostic {
        let outermost = self.instances.get(1).or(self.instances.first());
        let span = outermost.map_or(Span::default(), |instance| instance.span);
        let title =
            format!("more than {} equations once all nodes are inlined", self.program.limits.equations);
        Diagnostic::error(codes::TOO_LARGE, span, title)
            .reason("each instance is a copy of its node; instances of instances multiply")
            .help(self.program.limits.equation_limit().help)
    }
}

fn without_body(name: &str, span: Span, declared: Span) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(codes::WITHOUT_BODY, span, format!("the node `{name}` is without a body"))
            .help("write its equations, or import it from a file that has them");
    if span == declared { diagnostic } else { diagnostic.cause(declared, "declared here without a body") }
}
