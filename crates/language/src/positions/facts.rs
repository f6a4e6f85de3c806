//! Collects the types, shapes and clocks of streams by elaborating the nodes that the user wrote.
//!
//! A node is elaborated by itself, and wherever another node instantiates it. If it is correct, all its
//! streams have types and clocks, as `eddy check` reports them. If it is broken, inference makes no
//! assumptions, and types that do not follow from the remaining equations stay unknown.

use eddy_autodiff::{Gradients, expand};
use eddy_tensor::Static;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Facts;
use crate::causality::{Verdict, causality};
use crate::clocks::{self, Clock, ClockId, Clocks};
use crate::custom::Customs;
use crate::draft::Draft;
use crate::elaborate::{Elaborated, ElaborationOptions, Record, constant_expression, elaborate_partly};
use crate::extent::too_large;
use crate::flow::{Flow, VarId};
use crate::infer::{self, Hints, PartialTypes};
use crate::program::{Base, Callable, Made, NodeId, Program, SlotId, TrainId};
use crate::resolve::synthesis;
use crate::tree::{ExprId, RowValue, Run};

/// The largest number of different facts kept for one stream: instances may differ, but a reader looks at
/// only a few of them.
const MAX_DIFFERENT: usize = 16;

/// Clocks with more samplings are not shown: the texts of 10^4 streams, each sampled once more than the
/// previous one, would have 10^8 words.
const MAX_SAMPLINGS: usize = 32;

/// The facts about the streams of a program.
#[derive(Default)]
pub(super) struct CollectedFacts {
    slots: FxHashMap<(NodeId, SlotId), Vec<Facts>>,
    /// Expressions other than variables, by module.
    exprs: FxHashMap<(usize, ExprId), Vec<Facts>>,
    verdicts: FxHashMap<NodeId, Verdict>,
}

impl CollectedFacts {
    pub fn of_slot(&self, node: NodeId, slot: SlotId) -> Vec<Facts> {
        self.slots.get(&(node, slot)).cloned().unwrap_or_default()
    }

    pub fn of_expr(&self, module: usize, expr: ExprId) -> Vec<Facts> {
        self.exprs.get(&(module, expr)).cloned().unwrap_or_default()
    }

    pub fn of_node(&self, node: NodeId) -> Option<Verdict> {
        self.verdicts.get(&node).cloned()
    }
}

/// Elaborates all user nodes and collects facts about them and their instances.
pub(super) fn collect(program: &Program) -> CollectedFacts {
    let mut known = CollectedFacts::default();
    // `eddy check` does not elaborate too large programs either.
    if !too_large(program).is_empty() {
        return known;
    }
    for (callable, given) in roots(program) {
        let elaborated = elaborate_partly(program, &callable, &given);
        collect_from(program, &callable, elaborated, &mut known);
    }
    known
}

/// The nodes and `train`s to elaborate. A node with compile-time inputs is elaborated with the constants of
/// each of its test benches.
fn roots(program: &Program) -> Vec<(Callable, ElaborationOptions)> {
    let is_own = |module: usize| !program.modules[module].is_library;
    let nodes = (0..program.nodes.len()).map(NodeId::new).filter(|node| {
        let node = program.node(*node);
        let is_whole = node.made == Made::Written && !node.is_template && !node.is_external();
        is_own(node.module) && is_whole && node.static_inputs().all(|slot| slot.default.is_some())
    });
    let trains = (0..program.trains.len())
        .map(TrainId::new)
        .filter(|train| is_own(program.train(*train).module) && !program.is_broken(Base::Train(*train)));
    let bases = nodes.map(Base::Node).chain(trains.map(Base::Train));
    let mut roots: Vec<(Callable, ElaborationOptions)> =
        bases.map(|base| with_defaults(program, base.into())).collect();
    roots.extend(program.modules[Program::MAIN].tree.runs().filter_map(|run| bench(program, run)));
    roots
}

fn with_defaults(program: &Program, callable: Callable) -> (Callable, ElaborationOptions) {
    let defaults = program.defaults_of(&callable);
    (callable, ElaborationOptions { defaults, ..ElaborationOptions::default() })
}

/// The constants that a test bench gives to a node with compile-time inputs.
fn bench(program: &Program, run: &Run) -> Option<(Callable, ElaborationOptions)> {
    let module = &program.modules[Program::MAIN];
    let callable = synthesis::callable(module.names.text(run.node.name), &module.visible)?;
    if program.is_broken(callable.base) {
        return None;
    }
    let node = program.node(program.origin(callable.base));
    if node.is_template || node.static_inputs().next().is_none() {
        return None;
    }
    let constants = run.rows.iter().filter_map(|row| match row.value {
        RowValue::Constant(expr) => {
            let constant: Static = constant_expression(&module.tree.exprs, expr).ok()?;
            Some((module.names.text(row.ident.name).to_string(), constant))
        }
        RowValue::Cells(_) => None,
    });
    let defaults = program.defaults_of(&callable);
    let given =
        ElaborationOptions { constants: constants.collect(), defaults, ..ElaborationOptions::default() };
    Some((callable, given))
}

/// Adds the facts about one root and all its instances.
fn collect_from(program: &Program, callable: &Callable, elaborated: Elaborated, known: &mut CollectedFacts) {
    let Elaborated { draft, record, diagnostics } = elaborated;
    let is_complete = diagnostics.is_empty() && is_complete(program, &record);
    let streams = if is_complete { typed(program, draft) } else { Streams::partial(&draft) };
    for instance in &record.instances {
        let module = program.node(instance.node).module;
        for slot in (0..instance.slots.len()).map(SlotId::new) {
            let facts = match (instance.stream_of(slot), &instance.constants[slot.index()]) {
                (Some(var), _) => streams.facts(var),
                (None, Some(constant)) => Facts { constant: Some(constant.clone()), ..Facts::default() },
                (None, None) => continue,
            };
            add(known.slots.entry((instance.node, slot)).or_default(), facts);
        }
        for (expr, var) in &instance.streams {
            add(known.exprs.entry((module, *expr)).or_default(), streams.facts(*var));
        }
        for (expr, callee) in &instance.calls {
            let callee = &record.instances[*callee];
            if let [output] = program.node(callee.node).outputs.as_slice()
                && let Some(var) = callee.stream_of(*output)
            {
                add(known.exprs.entry((module, *expr)).or_default(), streams.facts(var));
            }
        }
    }
    if let (Callable { base: Base::Node(node), modes }, Some(clocked)) = (callable, &streams.clocked)
        && modes.is_empty()
        && let Ok(verdict) = causality(&clocked.flow, &clocked.clocks)
    {
        known.verdicts.insert(*node, verdict);
    }
}

/// Whether no equation was removed from the instantiated nodes.
fn is_complete(program: &Program, record: &Record) -> bool {
    let nodes: FxHashSet<NodeId> = record.instances.iter().map(|instance| instance.node).collect();
    nodes.into_iter().all(|node| !program.node(node).is_broken)
}

/// Adds facts that are new.
fn add(all: &mut Vec<Facts>, facts: Facts) {
    if facts != Facts::default() && all.len() < MAX_DIFFERENT && !all.contains(&facts) {
        all.push(facts);
    }
}

struct Streams {
    found: PartialTypes,
    clocked: Option<Clocked>,
}

/// Checked equations and their clocks.
pub(super) struct Clocked {
    pub flow: Flow,
    pub clocks: Clocks,
    /// Streams that are inputs or have a definition. Differentiation replaces some streams, whose clocks are
    /// then undetermined.
    is_decided: Vec<bool>,
    /// The texts of the clocks, indexed by clock.
    texts: Vec<Option<String>>,
}

impl Streams {
    fn partial(draft: &Draft) -> Streams {
        Streams { found: infer::found(draft, &Hints::default()), clocked: None }
    }

    fn facts(&self, var: VarId) -> Facts {
        Facts {
            scalar: self.found.scalar(var),
            shape: self.found.shape(var).cloned(),
            clock: self.clocked.as_ref().and_then(|clocked| clocked.clock(var)),
            constant: None,
        }
    }
}

impl Clocked {
    fn clock(&self, var: VarId) -> Option<String> {
        if self.is_decided[var.index()] { self.texts[self.clocks.of(var).index()].clone() } else { None }
    }
}

/// The texts of all clocks that are not sampled too often.
fn texts(flow: &Flow, clocks: &Clocks) -> Vec<Option<String>> {
    let label = |condition: VarId| match flow.var(condition).name.as_deref() {
        // Without the instance path, so that equal facts of different instances are merged.
        Some(name) => name.rsplit('/').next().unwrap_or(name).to_string(),
        None => "…".to_string(),
    };
    let mut n_samplings: Vec<usize> = Vec::new();
    for clock in clocks.all() {
        n_samplings.push(match clock {
            Clock::Root(_) => 0,
            Clock::On { of, .. } => n_samplings[of.index()] + 1,
        });
    }
    let text = |(number, n): (usize, &usize)| {
        (*n <= MAX_SAMPLINGS).then(|| clocks.show(flow, ClockId::new(number), &label))
    };
    n_samplings.iter().enumerate().map(text).collect()
}

/// Types and clocks of a node without resolution errors.
fn typed(program: &Program, draft: Draft) -> Streams {
    let (flow, marks) = match infer::infer(program, draft, &Hints::default()) {
        Ok(typed) => typed,
        Err(failure) => return Streams { found: failure.found, clocked: None },
    };
    let found = PartialTypes {
        scalars: flow.vars.iter().map(|var| Some(var.ty.scalar)).collect(),
        shapes: flow.vars.iter().map(|var| Some(var.ty.shape.clone())).collect(),
    };
    // Differentiation uses custom derivatives, which are not instances: one of them may be broken.
    if !marks.is_empty() && program.nodes.iter().any(|node| node.is_broken) {
        return Streams { found, clocked: None };
    }
    let expanded = expand(flow, marks, Gradients::Direct, &mut Customs::new(program));
    let clocked = expanded.ok().and_then(|expanded| with_clocks(expanded.flow));
    Streams { found, clocked }
}

fn with_clocks(flow: Flow) -> Option<Clocked> {
    let clocks = clocks::infer(&flow).ok()?;
    let mut is_decided: Vec<bool> = flow.definitions().iter().map(Option::is_some).collect();
    for input in &flow.inputs {
        is_decided[input.index()] = true;
    }
    let texts = texts(&flow, &clocks);
    Some(Clocked { flow, clocks, is_decided, texts })
}

/// A node by itself, with its clocks.
pub(super) fn clocked(program: &Program, node: NodeId) -> Option<(Clocked, Record)> {
    if !too_large(program).is_empty() {
        return None;
    }
    let Elaborated { draft, record, diagnostics } =
        elaborate_partly(program, &node.into(), &ElaborationOptions::default());
    if !diagnostics.is_empty() || !is_complete(program, &record) {
        return None;
    }
    Some((typed(program, draft).clocked?, record))
}
