//! The training code of one instance of a node, as text.
//!
//! The node is traversed three times: [`forward`](super::forward) gives names to expressions that need one
//! and copies the equations, [`support_names`](super::support_names) names supports on demand, and
//! [`cotangent`](super::cotangent) visits the steps in reverse. This module contains their common state.

use eddy_autodiff::{Transposed, Use};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dimensions::Dimensions;
use super::instances::{Derived, Instances, Treatment};
use super::local::{Action, Local, Origin, StreamId, Typed};
use super::names::Fresh;
use super::nodes::{Line, NodeText, Nodes};
use super::supports::{NotClosed, Returns, SupportId, Supports};
use super::text::Text;
use super::{Ends, Form, Shapes};
use crate::flow::Kind;
use crate::program::{Program, SlotId};
use crate::tree::{Decl, ExprId, Polarity};

/// The state of printing one instance.
pub(super) struct Writer<'a> {
    pub instances: &'a Instances<'a>,
    pub instance: usize,
    pub local: &'a Local,
    pub transposed: &'a Transposed,
    pub active: FxHashSet<StreamId>,
    pub nodes: &'a mut Nodes,
    pub text: Text,
    pub fresh: Fresh,
    pub dimensions: Dimensions,
    /// The streams with a name.
    pub names: FxHashMap<StreamId, String>,
    /// Expressions that were replaced by names.
    pub replaced: FxHashMap<ExprId, ExprId>,
    /// The names of the interface: `bp`, then a cotangent for each `num` output and each `num` input.
    pub bp: Option<String>,
    pub seeds: Vec<(StreamId, String)>,
    /// The outputs whose cotangents the caller provides; those of other outputs are zero.
    pub seeded: FxHashSet<StreamId>,
    pub results: Vec<(SlotId, String)>,
    /// The supports, in sparse form, with their names so far.
    pub supports: Option<Supports>,
    pub support_names: FxHashMap<SupportId, String>,
    pub defined: FxHashSet<SupportId>,
    /// The additional outputs that return the supports of inputs' cotangents.
    pub returned_supports: FxHashMap<SlotId, String>,
    pub n_supports: usize,
    pub support_lines: Vec<Line>,
    /// The steps that are printed as calls of `diff_fby1`; each call defines a support.
    pub registers: FxHashSet<usize>,
    /// The uses of each active stream: step and position.
    pub uses: FxHashMap<StreamId, Vec<(usize, usize)>>,
    /// The contributions of uses, by step and position.
    pub contributions: FxHashMap<(usize, usize), &'a Use>,
    /// The names of cotangents.
    pub cotangents: FxHashMap<StreamId, String>,
    /// The names of cotangents that calls and registers return, by step and position.
    pub returned: FxHashMap<(usize, usize), String>,
    /// Results of operations whose formulas read them more than once.
    pub shared_results: FxHashMap<StreamId, String>,
    /// A constant `true`, if one is needed.
    pub always: Option<String>,
}

/// Prints the training code of an instance, and returns its name.
pub(super) fn print_instance(
    instances: &Instances<'_>,
    instance: usize,
    nodes: &mut Nodes,
) -> Result<Derived, NotClosed> {
    let mut writer = Writer::new(instances, instance, nodes);
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
    let prefix = match (instances.form, returns.contains(&true)) {
        (Form::Dense, _) => "back_",
        (Form::Sparse(_), false) => "diff_",
        (Form::Sparse(_), true) => "diffp_",
    };
    let preferred = format!("{prefix}{}", instances.typed.node(instance).name);
    let name = writer.nodes.add(&preferred, node);
    Ok(Derived { name, returns })
}

impl<'a> Writer<'a> {
    fn new(instances: &'a Instances<'a>, instance: usize, nodes: &'a mut Nodes) -> Writer<'a> {
        let typed = instances.typed;
        let local = &instances.locals[instance];
        let mut text = Text::default();
        let dimensions = Dimensions::new(typed.program, typed.recorded(instance), &mut text);
        let is_seeded = &instances.seeded[instance];
        let transposed = instances.transposed[instance]
            .as_ref()
            .expect("instances are transposed before they are printed");
        let active = transposed.cotangents.keys().copied().collect();
        let outputs = typed.node(instance).outputs.iter().zip(is_seeded);
        let seeded = outputs.filter(|(_, is_seeded)| **is_seeded).map(|(output, _)| local.slot(*output));
        let seeded = seeded.collect();
        let mut uses: FxHashMap<StreamId, Vec<(usize, usize)>> = FxHashMap::default();
        let mut contributions = FxHashMap::default();
        for usage in &transposed.uses {
            let place = (usage.step, usage.position);
            uses.entry(usage.operand).or_default().push(place);
            contributions.insert(place, usage);
        }
        let slots = &typed.node(instance).slots;
        Writer {
            instances,
            instance,
            local,
            transposed,
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
            contributions,
            cotangents: FxHashMap::default(),
            returned: FxHashMap::default(),
            shared_results: FxHashMap::default(),
            always: None,
        }
    }

    pub fn program(&self) -> &'a Program {
        self.instances.typed.program
    }

    pub fn is_root(&self) -> bool {
        self.instance == 0
    }

    /// Whether delays into the future are 0 or unknown at the end of the trace.
    pub fn ends(&self) -> Ends {
        match self.instances.form {
            Form::Sparse(ends) => ends,
            Form::Dense => Ends::Finite,
        }
    }

    /// The names of section 9.1, made unique among the streams of the node.
    fn name_interface(&mut self) {
        let typed = self.instances.typed;
        let node = typed.node(self.instance);
        if self.instances.form != Form::Dense {
            self.bp = Some(self.fresh.name("bp"));
        }
        for output in &node.outputs {
            let stream = self.local.slot(*output);
            if self.local.is_num(stream) {
                let name = self.fresh.name(&format!("d{}", node.slots[output.index()].name));
                self.seeds.push((stream, name));
            }
        }
        for (input, slot) in node.inputs().iter().enumerate() {
            if self.local.is_num(self.local.slot(SlotId::new(input))) {
                let name = self.fresh.name(&format!("d{}", slot.name));
                self.results.push((SlotId::new(input), name));
            }
        }
    }

    fn find_supports(&mut self) -> Result<(), NotClosed> {
        if self.instances.form == Form::Dense {
            return Ok(());
        }
        self.all_calls_have_sparse_forms()?;
        let outputs: Vec<StreamId> = self.seeded.iter().copied().collect();
        let returns = |step: usize| self.returns_of(step);
        let supports = Supports::new(self.local, self.transposed, &outputs, &returns)?;
        self.supports = Some(supports);
        self.find_registers();
        Ok(())
    }

    /// The supports that the call of a step returns.
    pub fn returns_of(&self, step: usize) -> Returns {
        match self.treatment(step) {
            Some((Treatment::Derived, callee)) => {
                self.instances.derived[callee].as_ref().expect("callees are printed first").returns.clone()
            }
            _ => Returns::new(),
        }
    }

    /// The translation of a call; `None` if its results carry no cotangents and it contains no parameter.
    pub fn treatment(&self, step: usize) -> Option<(Treatment, usize)> {
        self.instances.treatment(&self.local.steps[step], self.transposed)
    }

    /// Finds the registers that become calls of `diff_fby1` of Fig 3: whole equations with an inactive
    /// initial value. Such a call defines the support `post b`, so only one register with support `b` becomes
    /// a call; the others remain equations.
    fn find_registers(&mut self) {
        let mut defined = FxHashSet::default();
        for (number, step) in self.local.steps.iter().enumerate() {
            let is_register = step.is_whole && matches!(step.action, Action::Equation(Kind::Fby { .. }));
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

    /// The name of the incoming cotangent of an output.
    pub fn seed_of(&self, stream: StreamId) -> Option<String> {
        let is_its = |(output, _): &&(StreamId, String)| *output == stream && self.seeded.contains(output);
        self.seeds.iter().find(is_its).map(|(_, name)| name.clone())
    }

    /// The support of a stream's cotangent; `None` in dense form.
    pub fn support(&self, stream: StreamId) -> Option<SupportId> {
        self.supports.as_ref().map(|supports| supports.of(stream))
    }

    /// The support of a use's contribution.
    pub fn support_of_use(&mut self, step: usize, position: usize) -> Option<SupportId> {
        let of_results = self.support_of_results(step)?;
        let returns = self.returns_of(step);
        let (transposed, usage) = (self.transposed, self.contributions[&(step, position)]);
        let supports = self.supports.as_mut().expect("there is a support");
        Some(supports.contribution(self.local, transposed, usage, of_results, &|_| returns.clone()))
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
                let name = &self.instances.typed.node(self.instance).slots[slot.index()].name;
                self.text.var(name)
            }
            Origin::Expr(expr) => self.copied(expr),
            Origin::Discarded => unreachable!("a discarded output has no readers"),
        }
    }

    /// An expression as it is written, with parts replaced by their names.
    pub fn copied(&mut self, expr: ExprId) -> ExprId {
        let module = self.instances.typed.module(self.instance);
        self.text.copy(module, expr, &self.replaced, &|_| None)
    }

    /// A stream where a support holds: `x when b`. A constant is present whenever it is needed.
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
        let (typed, shapes) = (self.instances.typed, self.instances.shapes);
        let decls = &self.program().tree_of(typed.node(self.instance)).inputs;
        let own = inputs(typed, self.instance, decls, self.local, &self.dimensions, shapes, &mut self.text);
        // Without any cotangent, nothing else determines the type and clock of `bp`.
        let is_unread = self.seeds.is_empty() && self.results.is_empty();
        let bp = self.bp.iter().map(|bp| if is_unread { format!("{bp}:bool []") } else { bp.clone() });
        let seeds = self.seeds.iter().map(|(stream, name)| self.seed(*stream, name.clone()));
        own.into_iter().chain(bp).chain(seeds).collect()
    }

    /// An incoming cotangent, with its shape if inference does not find it.
    fn seed(&self, stream: StreamId, name: String) -> String {
        match self.instances.shapes {
            Shapes::Inferred => name,
            Shapes::Written => self.dimensions.annotated(&name, self.local.ty(stream), &self.text),
        }
    }

    fn outputs(&mut self) -> Vec<String> {
        let module = self.instances.typed.module(self.instance);
        let tree = self.program().tree_of(self.instances.typed.node(self.instance));
        let mut outputs =
            tree.outputs.iter().map(|decl| self.text.declaration(module, decl)).collect::<Vec<_>>();
        for (input, name) in self.results.clone() {
            outputs.extend(self.returned_supports.get(&input).cloned());
            outputs.push(name);
        }
        outputs
    }
}

/// The inputs of a node, as they are written or with their types at an instance.
pub(super) fn inputs(
    typed: &Typed<'_>,
    instance: usize,
    decls: &[Decl],
    local: &Local,
    dimensions: &Dimensions,
    shapes: Shapes,
    text: &mut Text,
) -> Vec<String> {
    let (node, module) = (typed.node(instance), typed.module(instance));
    let mut inputs = Vec::new();
    for (input, decl) in decls.iter().enumerate() {
        let stream = local.slot(SlotId::new(input));
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
