//! Compiles a program to machine code.

use std::borrow::Cow;
use std::fmt;

use eddy_compile::Precision;
use eddy_compile::build::{BadSetting, BuildError, BuildOptions, Built, Compiler, build};
use eddy_compile::emit::{self, Emitted, emit};
use eddy_flow::{Flow, VarId};
use eddy_language::causality::waiting;
use eddy_language::clocks::{Clock, Clocks};
use eddy_language::semantics::simulate;
use eddy_loader::{Library, Threads};
use eddy_plan::plan::{Cut, Plan, Schedule};
use eddy_plan::{Recompute, plan};
use rustc_hash::FxHashSet;

use super::EngineInput;
use super::companions::{WithCompanions, add_companions};
use super::parts::{Part, Split, split};

/// The number of bytes that functions may use at once; the system maps them when they are touched. Programs
/// that need more are simulated.
const ARENA: usize = 1 << 26;

/// How machine code is made, and which threads run it.
#[derive(Clone, Debug)]
pub struct Native {
    /// The C compiler and its cache, or the setting that is invalid.
    pub building: Result<BuildOptions, BadSetting>,
    /// The threads that compute large work.
    pub threads: Threads,
}

/// A program as C text.
pub struct Printed {
    /// The equations. Their outputs are the shown streams, then the conditions of sampled inputs, then the
    /// streams whose computation may fail.
    flow: Flow,
    plan: Plan,
    /// The text, and facts about it.
    pub emitted: Emitted,
    /// Inputs on sampled clocks, with the conditions of their clocks: positions among the outputs, and the
    /// values that they must have.
    sampled: Vec<(usize, Vec<(usize, bool)>)>,
    /// For each output, the position of the output that says whether it is known; `None` if it always is.
    companions: Vec<Option<usize>>,
    /// Whether all delays that outlive a trace are known at its end.
    is_state_known: bool,
}

/// A program as machine code.
pub struct Compilation {
    pub(super) flow: Flow,
    pub(super) plan: Plan,
    pub(super) emitted: Emitted,
    pub(super) sampled: Vec<(usize, Vec<(usize, bool)>)>,
    pub(super) companions: Vec<Option<usize>>,
    pub(super) is_state_known: bool,
    pub(super) library: Library,
    /// The seconds that building took; `None` if the code was in the cache.
    pub built_in: Option<f64>,
    /// Remarks about the compiler and its cache.
    pub notes: Vec<String>,
    /// If roots are compiled one by one: the part that has this code, and the others.
    pub(super) split: Option<Box<Split>>,
    // Keeps the code loaded while it runs.
    built: Option<Built>,
}

/// Why a program is not compiled.
#[derive(Debug)]
pub enum NotCompiled {
    /// Compilation does not support it, on any machine.
    Program(emit::NotCompiled),
    /// A setting in the environment is invalid.
    Setting(BadSetting),
    /// The compiler is missing, it failed, or it produces wrong code.
    Build(BuildError),
}

impl NotCompiled {
    /// Whether to tell the user: the cause is an error of this machine, or of Eddy.
    pub fn is_unexpected(&self) -> bool {
        !matches!(self, NotCompiled::Program(why) if !matches!(why, emit::NotCompiled::InternalError(_)))
    }

    /// A remedy.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            NotCompiled::Build(BuildError::NoCompiler { .. }) => Some(
                "install a C compiler such as gcc or clang, or name one with the variable `CC`; `--engine simulate` says that none is wanted",
            ),
            NotCompiled::Build(BuildError::Unfit { .. }) => Some(
                "Eddy prints C99 with some builtin functions of gcc and clang: name one of these with the variable `CC`",
            ),
            NotCompiled::Build(BuildError::TimedOut { .. }) => {
                Some("the variable `EDDY_CC_SECONDS` sets another limit")
            }
            NotCompiled::Build(BuildError::Unreliable { .. }) => {
                Some("name another compiler with the variable `CC`")
            }
            _ => None,
        }
    }
}

impl fmt::Display for NotCompiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCompiled::Program(why) => why.fmt(f),
            NotCompiled::Setting(bad) => bad.fmt(f),
            NotCompiled::Build(error) => error.fmt(f),
        }
    }
}

/// Compiles a program. Before the C compiler is called, `tell` gets the number of lines of C.
pub fn compile(
    source: &EngineInput<'_>,
    name: &str,
    native: &Native,
    tell: &mut dyn FnMut(usize),
) -> Result<Compilation, NotCompiled> {
    let printed = match print(source, name, false) {
        Err(why @ emit::NotCompiled::SeveralRoots(..)) => {
            let parts = split(source).ok_or(NotCompiled::Program(why))?;
            return compile_parts(source, name, parts, native, tell);
        }
        printed => printed.map_err(NotCompiled::Program)?,
    };
    let options = native.building.as_ref().map_err(|bad| NotCompiled::Setting(bad.clone()))?;
    let n_lines = printed.emitted.source.lines().count();
    let (built, library) =
        build(&printed.emitted, options, &mut || tell(n_lines)).map_err(NotCompiled::Build)?;
    let built_in = (!built.was_cached).then_some(built.seconds);
    let notes = built.notes.clone();
    Ok(Compilation {
        built_in,
        notes,
        built: Some(built),
        ..printed.opened(library.with_threads(&native.threads))
    })
}

/// Compiles the roots of a program one by one; roots that cannot be compiled are simulated, if others
/// compile. If none compiles, returns the first root's reason.
fn compile_parts(
    source: &EngineInput<'_>,
    name: &str,
    parts: Vec<Part>,
    native: &Native,
    tell: &mut dyn FnMut(usize),
) -> Result<Compilation, NotCompiled> {
    let (mut compiled, mut reason) = (Vec::new(), emit::NotCompiled::Nothing);
    for part in parts {
        let compilation = match compile(&part.source(source), name, native, tell) {
            Ok(compilation) => Some(compilation),
            Err(NotCompiled::Program(why)) => {
                // A root without outputs has nothing to compile; that is not the reason for the others.
                if reason == emit::NotCompiled::Nothing {
                    reason = why;
                }
                None
            }
            Err(why) => return Err(why),
        };
        compiled.push((part, compilation));
    }
    Compilation::joined(compiled).ok_or(NotCompiled::Program(reason))
}

/// Prints a program as C; `opens` says whether the window that is open at the end is compiled too.
pub fn print(source: &EngineInput<'_>, name: &str, opens: bool) -> Result<Printed, emit::NotCompiled> {
    print_in_pieces(source, name, opens, emit::Pieces::USUAL)
}

/// Prints a program as C; `pieces` says how long functions are cut.
pub fn print_in_pieces(
    source: &EngineInput<'_>,
    name: &str,
    opens: bool,
    pieces: emit::Pieces,
) -> Result<Printed, emit::NotCompiled> {
    let mut flow = source.flow.clone();
    flow.outputs = source.shown.to_vec();
    let sampled = sampled(source, &mut flow);
    let simulate::Options { seed, single, .. } = source.options;
    let precision = if single { Precision::Single } else { Precision::Double };
    let options = eddy_plan::Options {
        seed,
        single,
        recompute: Recompute::Arithmetic,
        checkpoints: source.checkpoints,
        ..eddy_plan::Options::default()
    };
    let plan = with_failures(&mut flow, source.clocks, &options);
    let Planned { flow, clocks, plan, companions, is_state_known } =
        all_known(flow, source.clocks, plan, &options);
    let per_cycle = plan.roots.iter().map(|root| root.memory.per_cycle()).max().unwrap_or(0);
    let most = source.options.max_window.unwrap_or(usize::MAX);
    let max_window = room(per_cycle, row_bytes(&flow), precision).min(most);
    let options = emit::Options {
        name: name.to_string(),
        precision,
        max_window,
        constants: emit::Constants::FromHost,
        opens,
        places: Vec::new(),
        pieces,
        arena: ARENA,
    };
    let emitted = emit(&emit::EmitInput { flow: &flow, clocks: &clocks, plan: &plan, seed }, &options)?;
    Ok(Printed { flow, plan, emitted, sampled, companions, is_state_known })
}

/// Plans the shown streams, and unread operations that may fail: a simulation stops there, so compiled code
/// must stop as well. Both ignore unread operations that look ahead.
fn with_failures(flow: &mut Flow, clocks: &Clocks, options: &eddy_plan::Options) -> Plan {
    let planned = plan(flow, clocks, options);
    if planned.unread.is_empty() {
        return planned;
    }
    let is_waiting = waiting(flow, clocks);
    let contracts: FxHashSet<VarId> = flow.contracts.iter().map(|contract| contract.var).collect();
    let failing = planned.unread.iter().filter(|var| !is_waiting[var.index()] || contracts.contains(var));
    let failing: Vec<VarId> = failing.copied().collect();
    flow.outputs.extend(failing);
    plan(flow, clocks, options)
}

/// Equations and their plan.
struct Planned<'a> {
    flow: Flow,
    clocks: Cow<'a, Clocks>,
    plan: Plan,
    companions: Vec<Option<usize>>,
    is_state_known: bool,
}

/// If the whole program is one window and streams are unknown at its end: the same program with booleans that
/// say which streams are known.
fn all_known<'a>(flow: Flow, clocks: &'a Clocks, plan: Plan, options: &eddy_plan::Options) -> Planned<'a> {
    let is_trace = |plan: &Plan| match plan.roots.as_slice() {
        [root] => matches!(&root.schedule, Schedule::Windows(windows) if matches!(windows.cut, Cut::Trace)),
        _ => false,
    };
    let may_be_unknown = plan.roots.iter().any(|root| !root.may_be_unknown.is_empty());
    if is_trace(&plan)
        && may_be_unknown
        && let Some(WithCompanions { flow, clocks, companions, is_state_known }) =
            add_companions(&flow, clocks)
    {
        let plan = eddy_plan::plan(&flow, &clocks, options);
        if is_trace(&plan) {
            return Planned { flow, clocks: Cow::Owned(clocks), plan, companions, is_state_known };
        }
    }
    let (companions, is_state_known) = (Vec::new(), true);
    Planned { flow, clocks: Cow::Borrowed(clocks), plan, companions, is_state_known }
}

impl Printed {
    /// Adds the machine code made from the text.
    pub fn opened(self, library: Library) -> Compilation {
        let Printed { flow, plan, emitted, sampled, companions, is_state_known } = self;
        Compilation {
            flow,
            plan,
            emitted,
            sampled,
            companions,
            is_state_known,
            library,
            split: None,
            built_in: None,
            notes: Vec::new(),
            built: None,
        }
    }
}

impl Compilation {
    /// Whether the next run finds the code in the cache.
    pub(super) fn is_kept(&self) -> bool {
        self.built.as_ref().is_some_and(Built::is_kept)
    }

    /// The compiler that made the code, if Eddy called it.
    pub fn compiler(&self) -> Option<&Compiler> {
        self.built.as_ref().map(|built| &built.compiler)
    }

    /// The C text of all parts: names of files and their contents. Each part after the first has a folder of
    /// its own.
    pub fn c_files(&self) -> Vec<(String, &str)> {
        let others = self.split.iter().flat_map(|split| &split.others);
        let parts = std::iter::once(self).chain(others.filter_map(|(_, part)| part.as_ref()));
        let files = parts.enumerate().flat_map(|(number, part)| {
            let Emitted { name, source, header, runtime_header, .. } = &part.emitted;
            let folder = if number == 0 { String::new() } else { format!("part{}/", number + 1) };
            [
                (format!("{folder}{name}.c"), source.as_str()),
                (format!("{folder}{name}.h"), header.as_str()),
                (format!("{folder}eddy_rt.h"), runtime_header),
            ]
        });
        files.collect()
    }

    /// Joins parts; `None` if no part is compiled.
    pub fn joined(mut parts: Vec<(Part, Option<Compilation>)>) -> Option<Compilation> {
        let position = parts.iter().position(|(_, compilation)| compilation.is_some())?;
        let (first, compilation) = parts.remove(position);
        let split = Some(Box::new(Split { first, others: parts }));
        Some(Compilation { split, ..compilation? })
    }
}

/// The largest number of cycles of a window: as many as fit into lazily mapped memory. Much of a row of
/// outputs is never touched, if large outputs are present at one cycle only.
fn room(bytes_per_cycle: u64, bytes_per_row: u64, precision: Precision) -> usize {
    const ROOM: u64 = 1 << 29;
    const ROOM_OF_ROWS: u64 = 1 << 31;
    let shrink = if precision == Precision::Single { 2 } else { 1 };
    let cycles = ROOM / (bytes_per_cycle / shrink).max(1);
    let rows = ROOM_OF_ROWS / (bytes_per_row / shrink).max(1);
    usize::try_from(cycles.min(rows).clamp(256, 1 << 20)).unwrap_or(256)
}

/// The bytes of the outputs of a cycle.
fn row_bytes(flow: &Flow) -> u64 {
    let sizes = flow.outputs.iter().map(|output| &flow.var(*output).ty.shape);
    sizes.map(|shape| 8 * shape.iter().map(|size| *size as u64).product::<u64>() + 1).sum()
}

/// Adds the conditions of sampled inputs to the outputs, in order to detect an input that is present where it
/// must not be.
fn sampled(source: &EngineInput<'_>, flow: &mut Flow) -> Vec<(usize, Vec<(usize, bool)>)> {
    let mut found = Vec::new();
    for (position, input) in source.flow.inputs.iter().enumerate() {
        let mut conditions = Vec::new();
        let mut clock = source.clocks.of(*input);
        while let Clock::On { of, condition, polarity } = source.clocks.clock(clock) {
            conditions.push((output(flow, condition), polarity == eddy_flow::Polarity::On));
            clock = of;
        }
        if !conditions.is_empty() {
            conditions.reverse();
            found.push((position, conditions));
        }
    }
    found
}

/// The position of a stream among the outputs; adds it to them if needed.
fn output(flow: &mut Flow, var: VarId) -> usize {
    flow.outputs.iter().position(|output| *output == var).unwrap_or_else(|| {
        flow.outputs.push(var);
        flow.outputs.len() - 1
    })
}
