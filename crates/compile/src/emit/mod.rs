//! A plan as C: one state struct, `reset`, `reset_state`, `step`, `flush`.
//!
//! * [`interface`]: what is asked for, and what a host is told about the text.
//! * [`reads`]: operands of instructions, as views of the memory that they are in.
//! * [`invariants`]: what does not depend on time.
//! * [`memories`]: what delays remember, and where hosts find it.
//! * [`transposed`]: matrices that are kept by columns too.
//! * [`assign`]: assignments, one by one or at once.
//! * [`forward`]: one forward loop, whose iterations are calls of `step`; [`iteration`]: what one of them computes.
//! * [`refusal`]: what is not written.
//! * [`over`]: what is late when the inputs end.
//! * [`window`]: windows, and the sweeps over them.

mod assign;
mod forward;
mod interface;
mod invariants;
mod iteration;
mod memories;
mod over;
mod reads;
mod refusal;
mod transposed;
mod window;

use std::fmt::Write;

use eddy_flow::clocks::{Clock, Root};
use eddy_flow::{Equation, Labels, VarId};
use eddy_plan::plan::{RootPlan, Schedule, SlotId};
use eddy_tensor::{Type, Value};
use rustc_hash::FxHashSet;

use crate::layout::{Element, Struct};
use crate::lines::Lines;
use crate::lower::long_loops::LongLoops;
use crate::lower::memory::Scratch;
use crate::names::{Names, flag_name, port_names, program_name};
use crate::pieces;
pub use crate::pieces::Pieces;
use crate::precision::Precision;
use crate::runtime::{self, LARGE};
pub use interface::{Constants, Emitted, Memory, MemoryPlace, Options, Port, Ring, Shape, Source};
pub use refusal::NotCompiled;

/// Writes a program in C.
pub fn emit<'a>(source: &Source<'a>, options: &Options) -> Result<Emitted, NotCompiled> {
    let Some(root) = source.plan.roots.first() else { return Err(NotCompiled::Nothing) };
    let mut emitter = Emitter::new(source, root, options);
    emitter.invariants();
    if emitter.prepare.mention("&error, ") {
        let comment = "the number of an equation that does not depend on time and has no value".to_string();
        emitter.state.field("failed".into(), Element::Site, Vec::new(), comment, emitter.precision);
    }
    if source.plan.roots.len() > 1 {
        let prompt = |root: &'a RootPlan| match &root.schedule {
            Schedule::Forward(lagged) if lagged.max_lag == 0 => Some((root, lagged)),
            _ => None,
        };
        let loops: Option<Vec<_>> = source.plan.roots.iter().map(prompt).collect();
        emitter.forward_together(&loops.ok_or_else(|| several_roots(source))?);
        return Ok(emitter.finish());
    }
    match &root.schedule {
        Schedule::Forward(lagged) => emitter.forward(lagged),
        Schedule::Windows(windows) => {
            emitter.windows(windows, options.max_window)?;
        }
        Schedule::EventDriven(_) => return Err(NotCompiled::EventDriven),
    }
    Ok(emitter.finish())
}

/// Names a stream that waits for later cycles, and one that does not wait with it.
fn several_roots(source: &Source<'_>) -> NotCompiled {
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

/// C text under construction.
struct Emitter<'a> {
    source: Source<'a>,
    root: &'a RootPlan,
    name: String,
    precision: Precision,
    names: Names,
    labels: Labels<'a>,
    /// For each stream the number of its equation.
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
    /// Constants that are in the text.
    tables: Lines,
    places: Vec<String>,
    /// The fields that are set by `reset`.
    is_set: FxHashSet<String>,
    /// Lines of `reset` and of `reset_state`.
    reset: Lines,
    reset_state: Lines,
    /// Lines of `prepare`.
    prepare: Lines,
    /// Functions, in order.
    functions: Lines,
    scratch: Scratch,
    long_loops: LongLoops,
    parameters: Vec<(VarId, String)>,
    memories: Vec<Memory>,
    shape: Shape,
    is_flushed: bool,
    /// Whether `flush` gives some of these, and how many of the last cycles it leaves out, since something may be unknown there.
    flushes: bool,
    left_out: usize,
    /// How many units of the window were written.
    n_units: usize,
    /// Slots that have a flag which says whether they were written.
    flagged: FxHashSet<SlotId>,
    /// Streams with a companion that says whether they are known.
    doubts: window::Doubts,
    /// The window whose code is being written.
    frame: window::Frame,
}

impl<'a> Emitter<'a> {
    fn new(source: &Source<'a>, root: &'a RootPlan, options: &Options) -> Emitter<'a> {
        let flow = source.flow;
        let has_flag = |var: VarId| source.plan.roots.len() > 1 || source.clocks.of(var) != root.clock;
        let ports = |vars: &[VarId]| -> Vec<Port> {
            let port = |(field, var): (String, &VarId)| Port {
                name: flow.var(*var).name.clone().unwrap_or_default().to_string(),
                field,
                ty: flow.var(*var).ty.clone(),
                has_flag: has_flag(*var),
            };
            port_names(flow, vars, &has_flag).into_iter().zip(vars).map(port).collect()
        };
        let name = program_name(&options.name);
        let has_threads = options.constants == Constants::FromHost;
        Emitter {
            source: *source,
            root,
            long_loops: LongLoops::new(has_threads.then(|| name.clone())),
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
            tables: Lines::default(),
            places: options.places.clone(),
            is_set: FxHashSet::default(),
            reset: Lines::default(),
            reset_state: Lines::default(),
            prepare: Lines::default(),
            functions: Lines::default(),
            scratch: Scratch::default(),
            parameters: Vec::new(),
            memories: Vec::new(),
            shape: Shape::Forward,
            is_flushed: false,
            flushes: false,
            left_out: 0,
            n_units: 0,
            flagged: FxHashSet::default(),
            doubts: window::Doubts::default(),
            frame: window::Frame::default(),
        }
    }

    /// Whether an operation on what does not depend on time may have no value: then each step says so.
    fn can_prepare_fail(&self) -> bool {
        self.state.find("failed").is_some()
    }

    fn ty(&self, var: VarId) -> &'a Type {
        &self.source.flow.var(var).ty
    }

    /// The equation of a stream; inputs have none.
    fn equation(&self, var: VarId) -> Option<&'a Equation> {
        self.definitions[var.index()].map(|number| &self.source.flow.equations[number])
    }

    /// A field of the state for the value of a stream; gives the C expression.
    fn state_value(&mut self, prefix: &str, var: VarId) -> String {
        let name = format!("{prefix}_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            let ty = self.ty(var);
            let comment = self.label(var);
            self.state.value(name.clone(), ty.scalar, &ty.shape, comment, self.precision);
        }
        format!("self->{name}")
    }

    /// A flag of the state; gives the C expression.
    fn state_flag(&mut self, prefix: &str, var: VarId) -> String {
        let name = format!("{prefix}_{}", self.names.of(var));
        if self.state.find(&name).is_none() {
            self.state.field(name.clone(), Element::Flag, Vec::new(), String::new(), self.precision);
        }
        format!("self->{name}")
    }

    /// What comments call a stream.
    fn label(&self, var: VarId) -> String {
        let label = self.labels.label(var);
        // A comment that ended early would be code.
        label.replace("*/", "* /").replace("/*", "/ *")
    }

    fn struct_of(&self, ports: &[Port]) -> Struct {
        let mut fields = Struct::default();
        for port in ports {
            let Port { name, field, ty, .. } = port;
            // What C could not call by its name.
            let renamed =
                if name.is_empty() || name == field { String::new() } else { format!(": `{name}`") };
            let comment = format!("{ty}{renamed}").replace("*/", "* /");
            fields.value(field.clone(), ty.scalar, &ty.shape, comment, self.precision);
        }
        for port in ports.iter().filter(|port| port.has_flag) {
            let name = flag_name(&port.field);
            fields.field(name, Element::Flag, Vec::new(), String::new(), self.precision);
        }
        fields
    }

    fn finish(mut self) -> Emitted {
        for (number, (scalar, size)) in self.scratch.pieces.clone().into_iter().enumerate() {
            self.state.field(
                format!("t{number}"),
                Element::Value(scalar),
                vec![size],
                "scratch".to_string(),
                self.precision,
            );
        }
        self.state.arrange(self.precision);
        let (input, output) = (self.struct_of(&self.inputs), self.struct_of(&self.outputs));
        let Source { flow, clocks, .. } = self.source;
        let on_root =
            (0..flow.inputs.len()).filter(|input| clocks.of(flow.inputs[*input]) == self.root.clock);
        let owners = match clocks.clock(self.root.clock) {
            Clock::Root(Root::Input(_)) if self.source.plan.roots.len() == 1 => Some(on_root.collect()),
            _ => None,
        };
        let header = self.header(&input, &output);
        let source = self.with_threads(self.source_text(&input, &output));
        let can_fail = [&self.prepare, &self.functions].iter().any(|lines| lines.mention("&error, "));
        Emitted {
            name: self.name,
            precision: self.precision,
            runtime_header: runtime::header(self.precision),
            header,
            source,
            input,
            output,
            state: self.state,
            max_outputs: self.max_outputs,
            owners,
            constants: if self.constants_are == Constants::FromHost { self.constants } else { Vec::new() },
            inputs: self.inputs,
            outputs: self.outputs,
            parameters: self.parameters,
            memories: self.memories,
            shape: self.shape,
            can_fail,
            is_flushed: self.is_flushed,
        }
    }

    fn header(&self, input: &Struct, output: &Struct) -> String {
        let (name, upper) = (&self.name, self.name.to_uppercase());
        let mut text = format!("#ifndef EDDY_NODE_{upper}_H\n#define EDDY_NODE_{upper}_H\n\n");
        text.push_str("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
        text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
        let _ = writeln!(
            text,
            "/* The bytes of the state, and how many outputs a step, or flush, can give. */\n\
             #define {upper}_STATE_BYTES {}\n#define {upper}_MAX_OUTPUTS {}\n",
            self.state.bytes.max(1),
            self.max_outputs
        );
        text.push_str("/* What goes in at a cycle. */\n");
        text.push_str(&input.declaration(&format!("{name}_in"), self.precision));
        text.push_str("\n/* What comes out of a cycle. */\n");
        text.push_str(&output.declaration(&format!("{name}_out"), self.precision));
        text.push_str(
            "\n/* What is remembered. It is plain data: copying it saves it. It is fastest at an address that is a multiple of 64. */\n",
        );
        text.push_str(&self.state.declaration(&format!("{name}_state"), self.precision));
        let _ = writeln!(
            text,
            "\n/* Starts anew: what is learnt, and delays, have their initial values. */\n\
             void {name}_reset({name}_state *self);\n\
             /* Starts anew, and keeps what was learnt. */\n\
             void {name}_reset_state({name}_state *self);\n\
             /* To be called when parameters (fields k_...) were changed. */\n\
             void {name}_prepare({name}_state *self);\n\
             /* A cycle. Gives how many cycles of outputs are complete now; they are in out, oldest first. Below 0 something went wrong:\n\
             \x20  -n: equation n has no value, INT32_MIN: the window is too long, INT32_MIN + 1: it is of a kind that is not compiled. */\n\
             int32_t {name}_step({name}_state *self, const {name}_in *in, {name}_out *out);\n\
             /* There are no more cycles{}. */\n\
             int32_t {name}_flush({name}_state *self, {name}_out *out);\n\n\
             #ifdef __cplusplus\n}}\n#endif\n\n#endif",
            self.about_flush()
        );
        text
    }

    /// Lets a host compute large work in pieces; C that others compile calls nobody.
    fn with_threads(&self, text: String) -> String {
        let has_pieces = text.contains("eddy_large_") || text.contains("eddy_in_pieces(");
        if self.constants_are == Constants::InText || !has_pieces {
            return text;
        }
        let name = &self.name;
        format!(
            "#define EDDY_PARALLEL\n#define EDDY_LARGE {LARGE}\n{text}\nvoid {name}_parallel(EddyParallel parallel);\n\
             void {name}_parallel(EddyParallel parallel) {{\n  eddy_parallel = parallel;\n}}\n"
        )
    }

    /// What `flush` gives.
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

    fn source_text(&self, input: &Struct, output: &Struct) -> String {
        let name = &self.name;
        let mut text = format!("#include \"{name}.h\"\n#include \"eddy_rt.h\"\n\n");
        for (part, fields) in [("in", input), ("out", output), ("state", &self.state)] {
            text.push_str(&fields.assertions(&format!("{name}_{part}")));
        }
        if !self.tables.is_empty() {
            text.push('\n');
            text.push_str(&self.tables.text());
        }
        text.push_str(&self.long_loops.text());
        let mut lines = Lines::default();
        lines.line("");
        lines.block(&format!("void {name}_reset_state({name}_state *self)"), |lines| {
            lines.function_body(&["self"], &self.reset_state);
        });
        lines.line("");
        lines.block(&format!("void {name}_reset({name}_state *self)"), |lines| {
            lines.append(&self.reset);
            // Delays may start with what is made of parameters.
            lines.line(format!("{name}_prepare(self);"));
            lines.line(format!("{name}_reset_state(self);"));
        });
        lines.line("");
        lines.block(&format!("void {name}_prepare({name}_state *self)"), |lines| {
            if !self.can_prepare_fail() {
                return lines.function_body(&["self"], &self.prepare);
            }
            lines.line("int32_t error = 0;");
            lines.append(&self.prepare);
            lines.line("self->failed = error;");
        });
        lines.append(&self.functions);
        text.push_str(&pieces::cut(&lines, self.pieces));
        text
    }
}
