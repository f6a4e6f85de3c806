//! Translates a plan to C: a state struct, `reset`, `reset_state`, `step`, `flush`.
//!
//! * [`interface`]: the input of the emitter, and the interface for a host.
//! * [`reads`]: operands of instructions, as views of memory.
//! * [`invariants`]: values that do not depend on time.
//! * [`delay_states`]: the state of delays, and where hosts find it.
//! * [`transposed`]: matrices that are also stored by columns.
//! * [`assign`]: assignments, sequential or simultaneous.
//! * [`forward`]: one forward loop, whose iterations are calls of `step`; [`iteration`]: the code of one
//!   iteration.
//! * [`refusal`]: why a program is not compiled.
//! * [`flush_late`]: the streams with a lag when the inputs end.
//! * [`window`]: windows, and the sweeps over them.
//! * [`text`]: the header and the source of the finished program.

mod assign;
mod delay_states;
mod flush_late;
mod forward;
mod interface;
mod invariants;
mod iteration;
mod reads;
mod refusal;
mod text;
mod transposed;
mod window;

use eddy_body::Applied;
use eddy_flow::clocks::{Clock, Root};
use eddy_flow::{Equation, Kind, Labels, Polarity, VarId};
use eddy_imp::{
    Argument, Block, Expr, Linkage, Name, Parameter, Place, Precision, Procedure, Program, Stmt, Struct,
    Table, Type as Element, effects,
};
use eddy_plan::plan::{RootPlan, Schedule, SlotId};
use eddy_tensor::{Op, Type, Value};
use rustc_hash::FxHashSet;

use crate::functions::{AppliedFunction, applied};
use crate::layout::value_field;
use crate::lower::calls;
use crate::lower::memory::Scratch;
use crate::names::{Names, flag_name, port_names, program_name};
use crate::passes;
pub use crate::passes::Pieces;
use crate::precision::element_type;
use crate::runtime;
pub use interface::{Constants, DelayState, DelayStatePlace, EmitInput, Emitted, Options, Port, Ring, Shape};
pub use refusal::NotCompiled;

pub fn emit<'a>(source: &EmitInput<'a>, options: &Options) -> Result<Emitted, NotCompiled> {
    let Some(root) = source.plan.roots.first() else { return Err(NotCompiled::Nothing) };
    if let Some(function) = function_without_code(source) {
        return Err(NotCompiled::Calls(function));
    }
    let mut emitter = Emitter::new(source, root, options);
    emitter.invariants();
    if effects::can_fail(&emitter.prepare) {
        let comment = "the number of an equation that does not depend on time and has no value";
        emitter.state.field("failed", Element::Status, Vec::new(), comment, emitter.precision);
    }
    if source.plan.roots.len() > 1 {
        let prompt = |root: &'a RootPlan| match &root.schedule {
            Schedule::Forward(lagged) if lagged.max_lag == 0 => Some((root, lagged)),
            _ => None,
        };
        let loops: Option<Vec<_>> = source.plan.roots.iter().map(prompt).collect();
        emitter.forward_together(&loops.ok_or_else(|| several_roots(source))?);
        return emitter.finish();
    }
    match &root.schedule {
        Schedule::Forward(lagged) => emitter.forward(lagged),
        Schedule::Windows(windows) => {
            emitter.windows(windows, options.max_window)?;
        }
        Schedule::EventDriven(_) => return Err(NotCompiled::EventDriven),
    }
    emitter.finish()
}

/// The name of a function that the program applies and that has no code.
fn function_without_code(source: &EmitInput<'_>) -> Option<String> {
    source.flow.equations.iter().find_map(|equation| match &equation.kind {
        Kind::Apply(op, _) => match op.applied() {
            Op::Call(call) if Applied::of(op).is_none() => Some(call.callee().name().to_string()),
            _ => None,
        },
        _ => None,
    })
}

/// Names a stream that waits for later cycles, and one on another root.
fn several_roots(source: &EmitInput<'_>) -> NotCompiled {
    let waits = |root: &RootPlan| !matches!(&root.schedule, Schedule::Forward(lagged) if lagged.max_lag == 0);
    let roots = &source.plan.roots;
    let waiting = roots.iter().position(waits).unwrap_or(0);
    let other = usize::from(waiting == 0);
    let name = |root: usize| {
        let shown = roots[root].outputs.first().or(roots[root].inputs.first());
        shown.and_then(|var| source.flow.var(*var).name.as_deref()).unwrap_or("_").to_string()
    };
    NotCompiled::SeveralRoots(name(waiting), name(other))
}

struct Emitter<'a> {
    source: EmitInput<'a>,
    root: &'a RootPlan,
    name: String,
    precision: Precision,
    names: Names,
    labels: Labels<'a>,
    /// The index of each stream's equation.
    definitions: Vec<Option<usize>>,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    state: Struct,
    max_outputs: usize,
    /// The buffers that are kept for one chunk of the window at a time.
    chunked: FxHashSet<usize>,
    constants: Vec<(String, Value)>,
    constants_are: Constants,
    opens: bool,
    pieces: Pieces,
    arena: usize,
    /// Constants in the text.
    tables: Vec<Table>,
    places: Vec<String>,
    /// The places that `reset` sets.
    is_set: FxHashSet<Place>,
    /// The fields of values that do not depend on time.
    invariant_fields: FxHashSet<Name>,
    /// The bodies of `reset` and `reset_state`.
    reset: Block,
    reset_state: Block,
    /// The body of `prepare`.
    prepare: Block,
    /// Other procedures, in order.
    procedures: Vec<Procedure>,
    scratch: Scratch,
    parameters: Vec<(VarId, String)>,
    delay_states: Vec<DelayState>,
    shape: Shape,
    is_flushed: bool,
    /// Whether `flush` emits remaining outputs, and how many of the last cycles it omits because something
    /// may be unknown there.
    flushes: bool,
    left_out: usize,
    /// The number of units of the window emitted so far.
    n_units: usize,
    /// Slots with a flag that says whether they were written.
    flagged: FxHashSet<SlotId>,
    /// Streams with a companion that says whether they are known.
    companions: window::Companions,
    /// The window whose code is being emitted.
    frame: window::Frame,
}

impl<'a> Emitter<'a> {
    fn new(source: &EmitInput<'a>, root: &'a RootPlan, options: &Options) -> Emitter<'a> {
        let flow = source.flow;
        let has_flag = |var: VarId| source.plan.roots.len() > 1 || source.clocks.of(var) != root.clock;
        let ports = |vars: &[VarId]| -> Vec<Port> {
            let port = |(field, var): (String, &VarId)| Port {
                name: flow.var(*var).name.as_deref().unwrap_or_default().to_string(),
                field,
                ty: flow.var(*var).ty.clone(),
                has_flag: has_flag(*var),
            };
            port_names(flow, vars, &has_flag).into_iter().zip(vars).map(port).collect()
        };
        let name = program_name(&options.name);
        Emitter {
            source: *source,
            root,
            name,
            precision: options.precision,
            names: Names::new(flow),
            labels: flow.labels(),
            definitions: flow.definitions(),
            inputs: ports(&flow.inputs),
            outputs: ports(&flow.outputs),
            state: Struct::default(),
            max_outputs: 1,
            chunked: FxHashSet::default(),
            constants: Vec::new(),
            constants_are: options.constants,
            opens: options.opens,
            pieces: options.pieces,
            arena: options.arena,
            tables: Vec::new(),
            places: options.places.clone(),
            is_set: FxHashSet::default(),
            invariant_fields: FxHashSet::default(),
            reset: Block::new(),
            reset_state: Block::new(),
            prepare: Block::new(),
            procedures: Vec::new(),
            scratch: Scratch::default(),
            parameters: Vec::new(),
            delay_states: Vec::new(),
            shape: Shape::Forward,
            is_flushed: false,
            flushes: false,
            left_out: 0,
            n_units: 0,
            flagged: FxHashSet::default(),
            companions: window::Companions::default(),
            frame: window::Frame::default(),
        }
    }

    /// Whether an operation on invariants may fail; then each step reports it.
    fn can_prepare_fail(&self) -> bool {
        self.state.find("failed").is_some()
    }

    fn ty(&self, var: VarId) -> &'a Type {
        &self.source.flow.var(var).ty
    }

    /// The equation of a stream; `None` for inputs.
    fn equation(&self, var: VarId) -> Option<&'a Equation> {
        self.definitions[var.index()].map(|number| &self.source.flow.equations[number])
    }

    /// Adds a field of the state for the value of a stream.
    fn state_value(&mut self, prefix: &str, var: VarId) -> Place {
        let name: Name = format!("{prefix}_{}", self.names.of(var)).into();
        if self.state.find(name.as_str()).is_none() {
            let (ty, comment) = (self.ty(var), self.label(var));
            value_field(&mut self.state, &name, ty, comment, self.precision);
        }
        Place::state(name)
    }

    /// Adds a flag to the state.
    fn state_flag(&mut self, prefix: &str, var: VarId) -> Place {
        self.flags(format!("{prefix}_{}", self.names.of(var)), Vec::new())
    }

    /// Adds a field of flags.
    fn flags(&mut self, name: impl Into<Name>, dimensions: Vec<usize>) -> Place {
        let name = name.into();
        if self.state.find(name.as_str()).is_none() {
            self.state.field(&name, Element::Bool, dimensions, "", self.precision);
        }
        Place::state(name)
    }

    /// Adds a field of the state that counts from 0.
    fn count(&mut self, name: impl Into<Name>, comment: &str) -> Place {
        let name = name.into();
        if self.state.find(name.as_str()).is_none() {
            self.state.field(&name, Element::Cycle, Vec::new(), comment, self.precision);
            self.reset_state.store(Place::state(&name), 0);
        }
        Place::state(name)
    }

    fn procedure(
        &mut self,
        name: impl Into<Name>,
        linkage: Linkage,
        parameters: Vec<Parameter>,
        mut body: Block,
    ) {
        if !effects::can_fail(&body) {
            never_leave(&mut body);
        }
        let (name, result, shared) = (name.into(), Some(Element::Status), Struct::default());
        self.procedures.push(Procedure { name, linkage, parameters, result, shared, body });
    }

    /// The name of a stream in comments.
    fn label(&self, var: VarId) -> String {
        self.labels.label(var)
    }

    fn struct_of(&self, ports: &[Port]) -> Struct {
        let mut fields = Struct::default();
        for port in ports {
            let Port { name, field, ty, .. } = port;
            // A name that is not valid in C.
            let renamed =
                if name.is_empty() || name == field { String::new() } else { format!(": `{name}`") };
            let comment = format!("{ty}{renamed}");
            value_field(&mut fields, field.as_str(), ty, comment, self.precision);
        }
        for port in ports.iter().filter(|port| port.has_flag) {
            fields.field(flag_name(&port.field), Element::Bool, Vec::new(), "", self.precision);
        }
        fields
    }

    fn finish(mut self) -> Result<Emitted, NotCompiled> {
        for (number, (scalar, size)) in self.scratch.pieces.clone().into_iter().enumerate() {
            let (name, ty) = (Scratch::name(number), element_type(scalar));
            self.state.field(name, ty, vec![size], "scratch", self.precision);
        }
        let functions = std::mem::take(&mut self.scratch.functions).into_vec();
        let functions_text = self.functions_text(&functions)?;
        let (input, output) = (self.struct_of(&self.inputs), self.struct_of(&self.outputs));
        let EmitInput { flow, clocks, .. } = self.source;
        let on_root =
            (0..flow.inputs.len()).filter(|input| clocks.of(flow.inputs[*input]) == self.root.clock);
        let owners = match clocks.clock(self.root.clock) {
            Clock::Root(Root::Input(_)) if self.source.plan.roots.len() == 1 => Some(on_root.collect()),
            _ => None,
        };
        let mut procedures = self.resetting();
        procedures.append(&mut self.procedures);
        let mut program = Program {
            name: self.name.as_str().into(),
            precision: self.precision,
            state: std::mem::take(&mut self.state),
            input: input.clone(),
            output: output.clone(),
            tables: std::mem::take(&mut self.tables),
            functions: functions.iter().map(|applied| applied.function.clone()).collect(),
            procedures,
        };
        let can_fail = program.procedures.iter().any(|procedure| effects::can_fail(&procedure.body));
        let has_threads = self.constants_are == Constants::FromHost;
        passes::run(&mut program, &self.seen_by_host(), has_threads, self.pieces);
        program.state.arrange(self.precision);
        // A bug in a pass would give wrong numbers, so code that does not verify is rejected.
        eddy_imp::verify(&program).map_err(|violation| NotCompiled::InternalError(violation.to_string()))?;
        Ok(Emitted {
            runtime_header: runtime::header_of(self.precision, !functions.is_empty()),
            header: text::header(&program, self.max_outputs, &self.about_flush()),
            source: text::source(&program, &functions_text),
            state: program.state.clone(),
            program,
            name: self.name,
            precision: self.precision,
            input,
            output,
            max_outputs: self.max_outputs,
            owners,
            constants: if has_threads { self.constants } else { Vec::new() },
            inputs: self.inputs,
            outputs: self.outputs,
            parameters: self.parameters,
            delay_states: self.delay_states,
            shape: self.shape,
            can_fail,
            functions,
            is_flushed: self.is_flushed,
        })
    }

    /// The C of the functions that the program applies, and memory of the state for them.
    fn functions_text(&mut self, functions: &[AppliedFunction]) -> Result<String, NotCompiled> {
        if functions.is_empty() {
            return Ok(String::new());
        }
        let words = self.arena.div_ceil(8);
        let made = applied::text(functions, &self.name, self.precision, words)
            .map_err(|error| NotCompiled::InternalError(error.to_string()))?;
        let (words, comment) =
            if made.uses_memory { (words, "memory of functions") } else { (1, "functions need no memory") };
        self.state.field(calls::ARENA, Element::Cycle, vec![words], comment, self.precision);
        Ok(made.text)
    }

    /// The fields that a host reads or writes.
    fn seen_by_host(&self) -> FxHashSet<Name> {
        let mut seen: FxHashSet<Name> = ["n", "t", "failed"].into_iter().map(Name::from).collect();
        let mut add = |name: &str| {
            seen.insert(name.into());
        };
        self.parameters.iter().for_each(|(_, field)| add(field));
        self.constants.iter().for_each(|(field, _)| add(field));
        let rings = match &self.shape {
            Shape::Late(rings) => rings.as_slice(),
            Shape::Forward | Shape::Windows { .. } | Shape::Trace => &[],
        };
        for ring in rings {
            add(&ring.field);
            if let Some(flags) = &ring.flags {
                add(flags);
            }
        }
        for memory in &self.delay_states {
            match &memory.place {
                DelayStatePlace::Field { name, flag } => {
                    add(name);
                    if let Some(flag) = flag {
                        add(flag);
                    }
                }
                DelayStatePlace::Start(name) | DelayStatePlace::Invariant(name) => add(name),
                DelayStatePlace::Newest(ring) => {
                    add(&ring.field);
                    if let Some(flags) = &ring.flags {
                        add(flags);
                    }
                }
                DelayStatePlace::Known(_) => {}
            }
        }
        seen
    }

    /// `prepare`, `reset_state` and `reset`.
    fn resetting(&mut self) -> Vec<Procedure> {
        let mut prepare = std::mem::take(&mut self.prepare);
        if self.can_prepare_fail() {
            prepare.store(Place::state("failed"), Expr::Failure);
        }
        let mut reset = std::mem::take(&mut self.reset);
        // Initial values of delays may depend on parameters.
        for name in ["prepare", "reset_state"] {
            reset.push(Stmt::Run(None, name.into(), vec![Argument::State]));
        }
        let bodies =
            [("prepare", prepare), ("reset_state", std::mem::take(&mut self.reset_state)), ("reset", reset)];
        let procedure = |(name, body): (&str, Block)| Procedure {
            name: name.into(),
            linkage: Linkage::Public,
            parameters: vec![Parameter::State],
            result: None,
            shared: Struct::default(),
            body,
        };
        bodies.map(procedure).into()
    }

    /// A description of what `flush` emits.
    fn about_flush(&self) -> String {
        match (self.is_flushed, self.flushes, &self.shape) {
            (true, ..) => ": gives the outputs of the cycles that are left, as a step does".to_string(),
            (false, _, Shape::Forward) => ", and no outputs are left: gives 0".to_string(),
            (false, true, Shape::Late(_)) => format!(
                ": gives the outputs of the cycles that are left, as a step does, but for the last {}:\n\
                 \x20  outputs there are made of what would come then (post)",
                self.left_out
            ),
            (false, true, _) => {
                ": gives the outputs of windows that have ended. Outputs of the cycles after that are\n\
                 \x20  made of what would come then (post)"
                    .to_string()
            }
            (false, false, _) => {
                ". Gives 0: outputs of the cycles that are left are made of what would come then (post)"
                    .to_string()
            }
        }
    }
}

/// Code that cannot fail does not check for failures.
fn never_leave(block: &mut Block) {
    block.stmts.retain(|stmt| *stmt != Stmt::LeaveIfFailed);
    for stmt in &mut block.stmts {
        if let Stmt::If(arms, otherwise) = stmt {
            for (_, block) in arms {
                never_leave(block);
            }
            never_leave(otherwise);
        }
    }
}

/// The condition, or its negation.
fn holds(polarity: Polarity, condition: Expr) -> Expr {
    match polarity {
        Polarity::On => condition,
        Polarity::OnNot => !condition,
    }
}

fn field_name(place: &Place) -> String {
    place.field().map(Name::to_string).expect("it is a field of the state")
}
