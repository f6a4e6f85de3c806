//! From nodes to flat equations: instances are inlined, expressions flattened (section 2).
//!
//! The elaborator is a machine with a stack of [`Work`] and a stack of operands, so that neither the depth of expressions
//! nor that of instances is bounded by the native stack. An expression is visited, its operands are visited from left to
//! right, then its equation is written. An instance visits its arguments, then its own equations, in place:
//!
//! ```text
//! z = f(x + 1);          work: [visit x + 1] [enter f] [name the result z]
//! node f(a)->(o) …       after the argument: [equation 1 of f] [equation 2 of f] …
//! ```
//!
//! * [`later`]: the node `later` of the prelude, whose delays are streams of their own.
//! * [`instance`]: one instance of a node: what its streams are bound to, what is static in it.
//! * [`annotations`]: the types and clocks that are written.
//! * [`expression`]: the equations of each form of expression.
//! * [`sizes`]: what must be known at compile time.
//! * [`call`]: what a call instantiates. [`interface`](mod@interface): what that is given and gives.
//! * [`record`]: which stream each expression became, for who asks.
//! * [`synthesis`]: instances of synthesised nodes, [`training`]: of nodes that `train` declares.

mod annotations;
mod call;
mod expression;
mod instance;
mod interface;
mod later;
mod record;
mod sizes;
mod synthesis;
mod training;

use eddy_language::BatchLoss;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes;
use crate::draft::{Draft, DraftVar};
use crate::flow::{Argument, Call, ClockAnnotation, Constant, Equation, Kind, VarId, in_instances};
use crate::program::{Callable, NodeId, Program, Role, SlotId};
use crate::static_value::Static;
use crate::tree::ExprId;
use instance::{Binding, Instance};
use interface::{Known, Probes};
use synthesis::{Open, Place};
use training::Training;

pub use interface::{Interface, Port, interface};
pub use record::{Record, Recorded};

/// Instances may be nested at most this deep: a stream's name holds the whole path to it.
pub const MAX_DEPTH: usize = 1000;

/// What the node that is elaborated is given.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Compile-time constants for inputs, by name.
    pub constants: FxHashMap<String, Static>,
    /// Streams that will be shown, by their names with instance path; static ones are streams only on demand.
    pub shown: FxHashSet<String>,
    /// Inputs that are the constant `false`, by name.
    pub falses: FxHashSet<String>,
    /// What names begin with in seed paths; the node that is run has no path.
    pub seed_path: String,
    /// How many streams are run at once, if that is asked for.
    pub batch: Option<usize>,
    /// What is minimised of the losses of these streams.
    pub batch_loss: BatchLoss,
    /// How many activations later than they are known optimisers get steps and gradients.
    pub delay: usize,
    /// Whether derivatives will be taken of the node, so that those which the user wrote must be marked.
    pub is_differentiated: bool,
}

/// Elaborates one node, or what is synthesised from it.
pub fn elaborate(program: &Program, callable: &Callable, given: &Given) -> Result<Draft, Vec<Diagnostic>> {
    elaborate_with(program, callable, given, &Probes::default())
}

/// As [`elaborate`], and tells which stream each expression became.
pub fn elaborate_recorded(
    program: &Program,
    callable: &Callable,
    given: &Given,
) -> Result<(Draft, Record), Vec<Diagnostic>> {
    let probes = Probes::default();
    let elaborator = Elaborator::new(program, given, &probes, Some(Record::default()));
    let (draft, record) = elaborator.elaborate(callable, given)?;
    Ok((draft, record.expect("a record is kept")))
}

fn elaborate_with(
    program: &Program,
    callable: &Callable,
    given: &Given,
    probes: &Probes,
) -> Result<Draft, Vec<Diagnostic>> {
    let (draft, _) = Elaborator::new(program, given, probes, None).elaborate(callable, given)?;
    Ok(draft)
}

/// An instance that is being elaborated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InstanceId(usize);

/// What an expression turned out to be.
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

/// What is left to do; the last item is next.
enum Work {
    /// Elaborate an equation.
    Equation(InstanceId, usize),
    /// Find the stream of an expression and push it; if a target is given, it is that stream.
    Stream(InstanceId, ExprId, Option<VarId>),
    /// Find an argument of an instance and push it.
    Argument(InstanceId, ExprId),
    /// The operands of an expression are on the stack: write its equation, push its stream.
    Apply(InstanceId, ExprId, Option<VarId>),
    /// The arguments of an instance are on the stack: write its body, then push its outputs.
    Enter(InstanceId, ExprId, Vec<Option<VarId>>),
    /// The body of the innermost instance is done: push its outputs.
    Leave,
    /// The equations of a section are done.
    Close(Box<Open>),
    /// A part of a training node is done.
    Train(Box<Training>),
    /// Forget operands that an equation left.
    Drop(usize),
}

struct Elaborator<'a> {
    program: &'a Program,
    probes: &'a Probes,
    shown: &'a FxHashSet<String>,
    draft: Draft,
    /// The instances from the outermost to the innermost.
    instances: Vec<Instance>,
    work: Vec<Work>,
    operands: Vec<Operand>,
    /// The names of parameters that are taken.
    parameter_names: FxHashSet<String>,
    /// Streams that are the constant `false`.
    falses: FxHashSet<VarId>,
    /// How many derivatives are taken of what is being elaborated.
    n_derivatives: usize,
    /// How many activations later optimisers get steps and gradients.
    delay: usize,
    /// Which stream each expression became, if someone asks.
    record: Option<Record>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Elaborator<'a> {
    fn new(program: &'a Program, given: &'a Given, probes: &'a Probes, record: Option<Record>) -> Self {
        Elaborator {
            program,
            probes,
            shown: &given.shown,
            parameter_names: FxHashSet::default(),
            falses: FxHashSet::default(),
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

    fn elaborate(
        mut self,
        callable: &Callable,
        given: &Given,
    ) -> Result<(Draft, Option<Record>), Vec<Diagnostic>> {
        self.root(callable, given);
        self.run();
        self.finish();
        if self.diagnostics.is_empty() { Ok((self.draft, self.record)) } else { Err(self.diagnostics) }
    }

    fn root(&mut self, callable: &Callable, given: &Given) {
        let origin = self.program.node(self.program.origin(callable.base));
        if origin.is_external() {
            self.diagnostics.push(without_body(&origin.name, origin.span, origin.span));
            return;
        }
        // Static inputs are those of the node itself.
        for (input, slot) in origin.inputs().iter().enumerate() {
            if origin.is_static[input] && !given.constants.contains_key(&slot.name) {
                let title = format!("the input `{}` must be a compile-time constant", slot.name);
                let diagnostic = Diagnostic::error(codes::COMPILE_TIME, slot.span, title)
                    .help(format!("give it in the run, `{} = …;`, or with `--const`", slot.name));
                self.diagnostics.push(diagnostic);
                return;
            }
        }
        let known = Known::by_name(&given.constants);
        let levels = match interface::levels(self.program, callable, &known, self.probes) {
            Ok(levels) => levels,
            Err(diagnostics) => {
                self.diagnostics = diagnostics;
                return;
            }
        };
        let mut bindings = Vec::new();
        for port in &levels[levels.len() - 1].inputs {
            bindings.push(match given.constants.get(&port.name) {
                Some(constant) => Binding::Static(constant.clone()),
                None => {
                    let var = self.var(Some(port.name.clone()), port.span);
                    self.draft.inputs.push(var);
                    if given.falses.contains(&port.name) {
                        self.falses.insert(var);
                    }
                    Binding::Stream(var)
                }
            });
        }
        let span = self.program.span_of(callable);
        let place = Place { path: String::new(), seed_path: given.seed_path.clone(), span, call: None };
        self.instantiate(callable, &levels, place, bindings, Vec::new());
    }

    /// What the root left on the stack are the outputs.
    fn finish(&mut self) {
        if self.diagnostics.is_empty() {
            self.draft.outputs = self.operands.drain(..).map(Operand::stream).collect();
        }
    }

    fn run(&mut self) {
        while let Some(work) = self.work.pop() {
            if !self.diagnostics.is_empty() {
                return; // one mistake would come back in every instance
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
                Work::Leave => self.leave(),
                Work::Close(open) => self.close(*open),
                Work::Train(training) => self.continue_training(*training),
                Work::Drop(n) => self.operands.truncate(self.operands.len() - n),
            }
        }
    }

    /// A new stream.
    fn var(&mut self, name: Option<String>, span: Span) -> VarId {
        let var = VarId::new(self.draft.vars.len());
        self.draft.vars.push(DraftVar { name: name.map(String::into_boxed_str), span });
        var
    }

    /// Writes an equation; without a target, its stream has no name.
    fn write(&mut self, target: Option<VarId>, kind: Kind, span: Span) -> VarId {
        let span = self.blamed().unwrap_or(span);
        let out = target.unwrap_or_else(|| self.var(None, span));
        if kind == Kind::Const(Constant::Bool(false)) {
            self.falses.insert(out);
        }
        let call = self.innermost();
        self.draft.equations.push(Equation { out, kind, span, call });
        out
    }

    /// The call of the instance that is being elaborated.
    fn innermost(&self) -> Option<usize> {
        self.instances.last().and_then(|instance| instance.call)
    }

    /// Where messages point, if not at the text that is being elaborated: inside the prelude there is nothing to mend.
    fn blamed(&self) -> Option<Span> {
        let call = &self.draft.calls[self.innermost()?];
        call.is_opaque.then_some(call.span)
    }

    /// Reports a mistake in the text that is being elaborated.
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

    /// Notes a call; inside the prelude, it is that which leads there.
    fn called(&mut self, name: &str, node: NodeId, arguments: Box<[Argument]>, span: Span) -> usize {
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

    /// The stream that a slot of an instance is bound to.
    fn stream_of(&self, instance: InstanceId, slot: SlotId) -> VarId {
        match &self.instances[instance.0].bindings[slot.0] {
            Binding::Stream(var) => *var,
            Binding::Static(_) => unreachable!("outputs and conditions are streams"),
        }
    }

    /// Begins an instance, the root or one that a call makes: binds its streams and schedules its equations.
    fn enter(&mut self, node: NodeId, place: Place, mut bindings: Vec<Binding>, targets: &[Option<VarId>]) {
        if self.enter_later(node, &place, &bindings, targets) {
            return;
        }
        let Place { path, seed_path, span, call } = place;
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
            // Outputs are numbered in their order.
            let output = declared.outputs.binary_search_by_key(&number, |output| output.0).ok();
            let name = format!("{path}{}", slot.name);
            let binding = match (
                output.and_then(|output| targets.get(output).copied().flatten()),
                &statics.slots[number],
            ) {
                (Some(target), _) => Binding::Stream(target),
                (None, Some(constant)) if slot.role == Role::Local && !self.shown.contains(&name) => {
                    Binding::Static(constant.clone())
                }
                (None, _) => Binding::Stream(self.var(Some(name), slot.span)),
            };
            bindings.push(binding);
        }
        let id = InstanceId(self.instances.len());
        let custom = self.begin_custom(node);
        let mut instance = Instance {
            node,
            number: 0,
            path,
            seed_path,
            custom,
            bindings,
            statics: statics.exprs,
            clocks: Vec::new(),
            span,
            call,
        };
        instance.number = self.record_instance(&instance);
        self.instances.push(instance);
        self.alias(id);
        self.annotations(id);
        self.work.push(Work::Leave);
        for number in (0..declared.equations.len()).rev() {
            self.work.push(Work::Equation(id, number));
        }
    }

    /// The inputs and outputs of an instance that will be shown are streams of its caller, or constants.
    fn alias(&mut self, id: InstanceId) {
        if self.shown.is_empty() {
            return;
        }
        let declared = self.program.node(self.instances[id.0].node);
        for (number, slot) in declared.slots.iter().enumerate() {
            let name = format!("{}{}", self.instances[id.0].path, slot.name);
            if !self.shown.contains(&name) {
                continue;
            }
            match self.instances[id.0].bindings[number].clone() {
                Binding::Stream(var) => self.draft.aliases.push((name.into(), var)),
                Binding::Static(constant) => {
                    let var = self.var(Some(name), slot.span);
                    self.write(Some(var), Kind::Const(Constant::from(&constant)), slot.span);
                }
            }
        }
    }

    /// Ends the innermost instance.
    fn leave(&mut self) {
        for index in 0..self.instances[self.instances.len() - 1].clocks.len() {
            let clock = self.instances[self.instances.len() - 1].clocks[index].clone();
            self.synchronise(&clock);
        }
        let instance = self.instances.pop().expect("each instance is left once");
        self.end_custom(&instance);
        for slot in &self.program.node(instance.node).outputs {
            let Binding::Stream(var) = &instance.bindings[slot.0] else {
                unreachable!("outputs are streams")
            };
            self.operands.push(Operand::Stream(*var));
        }
    }

    /// A written clock as equations, so that it also says when a stream is there that nothing else decides: the condition,
    /// sampled by itself, ticks with the stream, or with the next condition.
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
            .help("`--equations N` raises the limit")
    }
}

fn without_body(name: &str, span: Span, declared: Span) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(codes::WITHOUT_BODY, span, format!("the node `{name}` is without a body"))
            .help("write its equations, or import it from a file that has them");
    if span == declared { diagnostic } else { diagnostic.cause(declared, "only declared here") }
}
