//! The training code of one instance of a node, as text.
//!
//! The work goes through the node three times: [`forward`](super::forward) gives names to what needs one and keeps the equations
//! as they are written, [`beside`](super::beside) names supports when they are asked for, and
//! [`cotangent`](super::cotangent) walks the steps back. Here is what they share.

use eddy_autodiff::section::Mode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::{Summary, active, contributing, summary};
use super::dimensions::Dimensions;
use super::local::{Action, Local, Origin, Step, StreamId, Typed};
use super::names::Fresh;
use super::nodes::{NodeText, Nodes, Template};
use super::supports::{NotClosed, Returns, SupportId, Supports};
use super::text::Text;
use super::{Ends, Form, Shapes, Ties};
use crate::clocks::Clocks;
use crate::elaborate::interface;
use crate::program::{Base, Callable, Callee, NodeId, Program, Reference, SlotId};
use crate::static_value::postorder;
use crate::tree::{Direction, ExprId, ExprKind, Polarity, UnaryOp};

/// An instance whose training code is printed, as its callers see it.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    /// The name of the printed node.
    pub name: String,
    /// Which inputs have cotangents, and which of these come back on supports of their own.
    pub returns: Returns,
}

/// What is known about all instances.
pub(super) struct Known<'a> {
    pub typed: &'a Typed<'a>,
    pub locals: &'a [Local],
    pub summaries: &'a [Option<Summary>],
    pub clocks: &'a Clocks,
    pub form: Form,
    pub shapes: Shapes,
    pub ties: Ties,
    /// For each instance which of its outputs have cotangents in its caller.
    pub seeded: Vec<Vec<bool>>,
    /// The instances that were printed.
    pub derived: Vec<Option<Derived>>,
}

impl Known<'_> {
    /// The callees of an instance whose training code it needs, in the order of its text. From now on it is known which of
    /// their outputs have cotangents.
    pub fn derived_callees(&mut self, instance: usize) -> Vec<usize> {
        let local = &self.locals[instance];
        let active = active(self.typed, instance, local, self.summaries, &self.seeded[instance]);
        let mut callees = Vec::new();
        for step in &local.steps {
            if let Some((Treatment::Derived, callee)) = self.treatment(step, &active) {
                self.seeded[callee] = step.results.iter().map(|result| active.contains(result)).collect();
                callees.push(callee);
            }
        }
        callees
    }

    /// What becomes of a call; nothing if its results carry no cotangents and there is no parameter in it, which training code keeps
    /// at its first value.
    fn treatment(&self, step: &Step, active: &FxHashSet<StreamId>) -> Option<(Treatment, usize)> {
        let Action::Call(callee) = step.action else { return None };
        let summary = summary(self.summaries, callee);
        let custom = summary.custom;
        let reset = reset_template(self.typed, callee).filter(|_| self.form != Form::Dense);
        let is_active = step.results.iter().any(|result| active.contains(result));
        let treatment = match (reset, custom) {
            (Some(template), _) => Treatment::Reset(template),
            (None, None) => Treatment::Derived,
            (None, Some(custom)) if custom.adjoint.is_some() || custom.tangent.is_some() => Treatment::Custom,
            (None, Some(_)) => return Some((Treatment::Replaced, callee)),
        };
        (is_active || summary.contains_parameter).then_some((treatment, callee))
    }

    /// The inputs for which what stands for a call gives cotangents.
    pub fn inputs_with_cotangents(&self, treatment: Option<(Treatment, usize)>, callee: usize) -> Vec<usize> {
        let local = &self.locals[callee];
        let inputs = 0..self.typed.node(callee).n_inputs;
        match treatment {
            Some((Treatment::Reset(template), _)) => template.inputs_with_cotangents().to_vec(),
            // What the user wrote has the interface of section 9.1, whatever the arguments are here.
            Some((Treatment::Custom | Treatment::Replaced, _)) => {
                let node = self.typed.recorded(callee).node;
                let adjoint = Callable { base: Base::Node(node), modes: vec![Mode::Adjoint] };
                let slots =
                    self.typed.node(callee).inputs().iter().zip(&self.typed.recorded(callee).constants);
                let constants =
                    slots.filter_map(|(slot, constant)| Some((slot.name.clone(), constant.clone()?)));
                let interface = interface(self.typed.program, &adjoint, &constants.collect());
                let interface = interface.expect("the synthesised node was accepted");
                inputs.filter(|input| interface.inputs[*input].is_num).collect()
            }
            _ => inputs.filter(|input| local.is_num(local.slot(SlotId(*input)))).collect(),
        }
    }

    /// Whether the user's derivative of an instance can be sampled with it: neither looks at other cycles.
    pub fn is_pointwise(&self, instance: usize) -> bool {
        let program = self.typed.program;
        let node = self.typed.recorded(instance).node;
        let adjoint = program.customs.get(&node).and_then(|customs| customs.adjoint);
        let mut todo: Vec<NodeId> = adjoint.into_iter().chain([node]).collect();
        let mut seen: FxHashSet<NodeId> = todo.iter().copied().collect();
        while let Some(node) = todo.pop() {
            let (module, declared) = (program.module_of(node), program.node(node));
            let roots = declared.equations.iter().map(|equation| equation.value);
            for expr in roots.flat_map(|root| postorder(&module.tree.exprs, root)) {
                match module.tree.exprs.kind(expr) {
                    ExprKind::Fby(..) | ExprKind::When(..) | ExprKind::Merge(..) => return false,
                    ExprKind::Unary(UnaryOp::Post, _) => return false,
                    _ => {}
                }
                if let Reference::Call { callee: Callee::Instance(callable), .. } =
                    &module.references[expr.index()]
                {
                    let origin = program.origin(callable.base);
                    if seen.insert(origin) {
                        todo.push(origin);
                    }
                }
            }
        }
        true
    }
}

/// What becomes of a call whose results carry cotangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Its training code is called.
    Derived,
    /// So is the training code of a prelude node with resets.
    Reset(Template),
    /// The user's `adj_M` is called beside it.
    Custom,
    /// The user's `diff_M` is called in its place.
    Replaced,
}

/// One instance, while its text is written.
pub(super) struct Writer<'a> {
    pub known: &'a Known<'a>,
    pub instance: usize,
    pub local: &'a Local,
    pub active: FxHashSet<StreamId>,
    pub nodes: &'a mut Nodes,
    pub text: Text,
    pub fresh: Fresh,
    pub dimensions: Dimensions,
    /// The streams that have a name.
    pub names: FxHashMap<StreamId, String>,
    /// Expressions that have become names.
    pub replaced: FxHashMap<ExprId, ExprId>,
    /// The names of the interface: `bp`, then a cotangent for each `num` output and each `num` input.
    pub bp: Option<String>,
    pub seeds: Vec<(StreamId, String)>,
    /// The outputs whose cotangents are more than zeros.
    pub seeded: FxHashSet<StreamId>,
    pub results: Vec<(SlotId, String)>,
    /// The supports, in sparse form, with the names that they have so far.
    pub supports: Option<Supports>,
    pub support_names: FxHashMap<SupportId, String>,
    pub defined: FxHashSet<SupportId>,
    /// The outputs that are supports.
    pub returned_supports: FxHashMap<SlotId, String>,
    pub n_supports: usize,
    pub support_lines: Vec<String>,
    /// Whole registers that are printed as `diff_fby1`; each defines a support.
    pub registers: FxHashSet<usize>,
    /// The uses of each active stream: step and position.
    pub uses: FxHashMap<StreamId, Vec<(usize, usize)>>,
    /// The cotangents that have a name.
    pub cotangents: FxHashMap<StreamId, String>,
    /// The cotangents that come out of calls and registers, by step and position.
    pub returned: FxHashMap<(usize, usize), String>,
    /// Results of operations whose formulas read them more than once.
    pub shared_results: FxHashMap<StreamId, String>,
    /// A constant `true`, where one is needed.
    pub always: Option<String>,
}

/// Writes the training code of an instance, and gives its name.
pub(super) fn print_instance(
    known: &Known<'_>,
    instance: usize,
    nodes: &mut Nodes,
) -> Result<Derived, NotClosed> {
    let mut writer = Writer::new(known, instance, nodes);
    writer.name_interface();
    writer.name_streams();
    writer.find_supports()?;
    writer.name_cotangents();
    let returns = writer.name_returned_supports();
    let mut lines = writer.forward_lines();
    let backward = writer.backward_lines();
    lines.append(&mut writer.support_lines);
    lines.extend(backward);
    let node = NodeText { inputs: writer.inputs(), outputs: writer.outputs(), lines };
    let prefix = match (known.form, returns.contains(&true)) {
        (Form::Dense, _) => "back_",
        (Form::Sparse(_), false) => "diff_",
        (Form::Sparse(_), true) => "diffp_",
    };
    let wish = format!("{prefix}{}", known.typed.node(instance).name);
    let name = writer.nodes.add(&wish, node);
    Ok(Derived { name, returns })
}

impl<'a> Writer<'a> {
    fn new(known: &'a Known<'a>, instance: usize, nodes: &'a mut Nodes) -> Writer<'a> {
        let typed = known.typed;
        let local = &known.locals[instance];
        let mut text = Text::default();
        let dimensions = Dimensions::new(typed.program, typed.recorded(instance), &mut text);
        let is_seeded = &known.seeded[instance];
        let active = active(typed, instance, local, known.summaries, is_seeded);
        let outputs = typed.node(instance).outputs.iter().zip(is_seeded);
        let seeded = outputs.filter(|(_, is_seeded)| **is_seeded).map(|(output, _)| local.slot(*output));
        let seeded = seeded.collect();
        let mut uses: FxHashMap<StreamId, Vec<(usize, usize)>> = FxHashMap::default();
        for (number, step) in local.steps.iter().enumerate() {
            for (position, operand) in contributing(local, step, known.summaries, &active) {
                uses.entry(operand).or_default().push((number, position));
            }
        }
        let slots = &typed.node(instance).slots;
        Writer {
            known,
            instance,
            local,
            active,
            nodes,
            text,
            fresh: Fresh::new(slots.iter().map(|slot| slot.name.clone())),
            dimensions,
            names: FxHashMap::default(),
            replaced: FxHashMap::default(),
            bp: None,
            seeds: Vec::new(),
            seeded,
            results: Vec::new(),
            supports: None,
            support_names: FxHashMap::default(),
            defined: FxHashSet::default(),
            returned_supports: FxHashMap::default(),
            n_supports: 0,
            support_lines: Vec::new(),
            registers: FxHashSet::default(),
            uses,
            cotangents: FxHashMap::default(),
            returned: FxHashMap::default(),
            shared_results: FxHashMap::default(),
            always: None,
        }
    }

    pub fn program(&self) -> &'a Program {
        self.known.typed.program
    }

    pub fn is_root(&self) -> bool {
        self.instance == 0
    }

    /// Whether delays may end the trace with 0, or say nothing about what comes after.
    pub fn ends(&self) -> Ends {
        match self.known.form {
            Form::Sparse(ends) => ends,
            Form::Dense => Ends::Finite,
        }
    }

    /// The names of section 9.1, which no stream of the node has.
    fn name_interface(&mut self) {
        let typed = self.known.typed;
        let node = typed.node(self.instance);
        if self.known.form != Form::Dense {
            self.bp = Some(self.fresh.name("bp"));
        }
        for output in &node.outputs {
            let stream = self.local.slot(*output);
            if self.local.is_num(stream) {
                let name = self.fresh.name(&format!("d{}", node.slots[output.0].name));
                self.seeds.push((stream, name));
            }
        }
        for (input, slot) in node.inputs().iter().enumerate() {
            if self.local.is_num(self.local.slot(SlotId(input))) {
                let name = self.fresh.name(&format!("d{}", slot.name));
                self.results.push((SlotId(input), name));
            }
        }
    }

    fn find_supports(&mut self) -> Result<(), NotClosed> {
        if self.known.form == Form::Dense {
            return Ok(());
        }
        self.all_calls_have_sparse_forms()?;
        let outputs: Vec<StreamId> = self.seeded.iter().copied().collect();
        let returns = |step: usize| self.returns_of(step);
        let supports = Supports::new(self.local, &self.active, &outputs, self.known.summaries, &returns)?;
        self.supports = Some(supports);
        self.find_registers();
        Ok(())
    }

    /// What the call that a step is returns beside cotangents.
    pub fn returns_of(&self, step: usize) -> Returns {
        match self.treatment(step) {
            Some((Treatment::Derived, callee)) => {
                self.known.derived[callee].as_ref().expect("callees are printed first").returns.clone()
            }
            _ => Returns::new(),
        }
    }

    /// What becomes of a call; nothing if its results carry no cotangents.
    pub fn treatment(&self, step: usize) -> Option<(Treatment, usize)> {
        self.known.treatment(&self.local.steps[step], &self.active)
    }

    /// A register with an inactive initial value that is a whole equation is Fig 3's `diff_fby1`. It defines the support `post b`,
    /// so another register with the same support is written out.
    fn find_registers(&mut self) {
        let mut defined = FxHashSet::default();
        for (number, step) in self.local.steps.iter().enumerate() {
            let is_register = step.is_whole && step.action == Action::Fby(Direction::Forward);
            if !is_register || !self.active.contains(&step.results[0]) {
                continue;
            }
            let [init, next] = [step.operands[0], step.operands[1]];
            let is_plain = self.active.contains(&next) && !self.active.contains(&init);
            let supports = self.supports.as_ref().expect("registers are for sparse forms");
            if is_plain && defined.insert(supports.of(step.results[0])) {
                self.registers.insert(number);
            }
        }
    }

    /// The name of the cotangent that comes in for an output.
    pub fn seed_of(&self, stream: StreamId) -> Option<String> {
        let is_its = |(output, _): &&(StreamId, String)| *output == stream && self.seeded.contains(output);
        self.seeds.iter().find(is_its).map(|(_, name)| name.clone())
    }

    /// The support of a stream's cotangent; dense ones have none.
    pub fn support(&self, stream: StreamId) -> Option<SupportId> {
        self.supports.as_ref().map(|supports| supports.of(stream))
    }

    /// The support of the cotangent that a use gives.
    pub fn support_of_use(&mut self, step: usize, position: usize) -> Option<SupportId> {
        let of_results = self.support_of_results(step)?;
        let returns = self.returns_of(step);
        let supports = self.supports.as_mut().expect("there is a support");
        Some(supports.contribution(self.local, step, position, of_results, &|_| returns.clone()))
    }

    /// The support of the cotangents that enter a step.
    pub fn support_of_results(&mut self, step: usize) -> Option<SupportId> {
        let results = &self.local.steps[step].results;
        let active: Vec<StreamId> =
            results.iter().copied().filter(|result| self.active.contains(result)).collect();
        let supports = self.supports.as_mut()?;
        let parts: Vec<SupportId> = active.iter().map(|result| supports.of(*result)).collect();
        Some(supports.either(&parts))
    }

    /// A stream as the user wrote it, or its name.
    pub fn written(&mut self, stream: StreamId) -> ExprId {
        if let Some(name) = self.names.get(&stream) {
            return self.text.var(name);
        }
        match self.local.stream(stream).origin {
            Origin::Slot(slot) => {
                let name = &self.known.typed.node(self.instance).slots[slot.0].name;
                self.text.var(name)
            }
            Origin::Expr(expr) => self.copied(expr),
            Origin::Discarded => unreachable!("nothing reads what has no name"),
        }
    }

    /// An expression as it is written, with the names that it has got.
    pub fn copied(&mut self, expr: ExprId) -> ExprId {
        let module = self.known.typed.module(self.instance);
        self.text.copy(module, expr, &self.replaced, &|_| None)
    }

    /// A stream where a support holds: `x when b`. A constant is there whenever it is needed.
    pub fn primal(&mut self, stream: StreamId, support: Option<SupportId>) -> ExprId {
        let value = self.written(stream);
        if self.local.stream(stream).is_literal { value } else { self.sampled(value, support) }
    }

    /// `x when b`.
    pub fn sampled(&mut self, value: ExprId, support: Option<SupportId>) -> ExprId {
        let Some(support) = support else { return value };
        let condition = self.support_name(support);
        self.text.when(value, condition, Polarity::On)
    }

    /// `merge b d 0.0`.
    pub fn padded(&mut self, value: ExprId, support: Option<SupportId>) -> ExprId {
        let Some(support) = support else { return value };
        let condition = self.support_name(support);
        let zero = self.text.number(0.0);
        self.text.merge(condition, value, zero)
    }

    fn inputs(&mut self) -> Vec<String> {
        let (typed, shapes) = (self.known.typed, self.known.shapes);
        let own = inputs(typed, self.instance, self.local, &self.dimensions, shapes, &mut self.text);
        // Where there is no cotangent at all, nothing else says what `bp` is.
        let is_unread = self.seeds.is_empty() && self.results.is_empty();
        let bp = self.bp.iter().map(|bp| if is_unread { format!("{bp}:bool []") } else { bp.clone() });
        let seeds = self.seeds.iter().map(|(stream, name)| self.seed(*stream, name.clone()));
        own.into_iter().chain(bp).chain(seeds).collect()
    }

    /// A cotangent that comes in, with its shape where nothing else says it.
    fn seed(&self, stream: StreamId, name: String) -> String {
        match self.known.shapes {
            Shapes::Inferred => name,
            Shapes::Written => self.dimensions.annotated(&name, self.local.ty(stream), &self.text),
        }
    }

    fn outputs(&mut self) -> Vec<String> {
        let module = self.known.typed.module(self.instance);
        let tree = self.program().tree_of(self.known.typed.node(self.instance));
        let mut outputs =
            tree.outputs.iter().map(|decl| self.text.declaration(module, decl)).collect::<Vec<_>>();
        for (input, name) in self.results.clone() {
            outputs.extend(self.returned_supports.get(&input).cloned());
            outputs.push(name);
        }
        outputs
    }
}

/// The inputs of a node, as they are written, or with the types that they have at an instance.
pub(super) fn inputs(
    typed: &Typed<'_>,
    instance: usize,
    local: &Local,
    dimensions: &Dimensions,
    shapes: Shapes,
    text: &mut Text,
) -> Vec<String> {
    let (node, module) = (typed.node(instance), typed.module(instance));
    let mut inputs = Vec::new();
    for (input, decl) in typed.program.tree_of(node).inputs.iter().enumerate() {
        let stream = local.slot(SlotId(input));
        let has_shape = decl.annotation.is_some_and(|annotation| annotation.dims.is_some());
        let is_open = !has_shape && decl.clock.is_empty() && !local.stream(stream).is_constant;
        inputs.push(match shapes {
            Shapes::Written if is_open => {
                dimensions.annotated(&node.slots[input].name, local.ty(stream), text)
            }
            _ => text.declaration(module, decl),
        });
    }
    inputs
}

/// The training code of Fig 20 for `fby_end`, `post_end` and `param_end` of the prelude.
pub(super) fn reset_template(typed: &Typed<'_>, instance: usize) -> Option<Template> {
    let node = typed.node(instance);
    if node.module != Program::PRELUDE {
        return None;
    }
    match node.name.as_str() {
        "fby_end" => Some(Template::FbyEnd),
        "post_end" => Some(Template::PostEnd),
        "param_end" => Some(Template::ParamEnd),
        _ => None,
    }
}
