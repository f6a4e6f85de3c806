//! The report of `eddy check` about a program and each of its nodes (section 11).

use std::fmt;

use eddy_syntax::{Diagnostic, Diagnostics, Phase, Sources};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::causality::{Verdict, causality_and_deadlocks};
use crate::clocks::{self, Clocks};
use crate::elaborate::{ElaborationOptions, Interface, Port, interface};
use crate::extent::too_large;
use crate::flow::{Flow, VarId};
use crate::functions::{self, Budget, Checkpoints, Description, Tape};
use crate::generic::{check_shapes, check_sizes};
use crate::infer::Hints;
use crate::kernels::Kernel;
use crate::limits::Limits;
use crate::memory::report;
use crate::prepare::{Typed, typed};
use crate::program::{Base, Callable, Made, NodeId, Program, Slot, StreamPaths, TrainId};
use crate::resolve::resolve_as;
use crate::runs;

#[derive(Clone, Debug, Default)]
pub struct Checked {
    pub report: CheckReport,
    pub warnings: Vec<Diagnostic>,
}

/// The inferred properties of the nodes and functions of the main file. `Display` prints the report of
/// `eddy check`.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    pub nodes: Vec<NodeReport>,
    pub functions: Vec<FunctionReport>,
}

#[derive(Clone, Debug)]
pub struct FunctionReport {
    pub name: String,
    /// One line, followed by the requested details.
    pub text: String,
    /// The tape of its adjoint, if the caller asked for memory. The report of its size needs the sources, so
    /// the caller adds it to the text.
    pub tape: Option<Tape>,
}

#[derive(Clone, Debug)]
pub struct NodeReport {
    pub name: String,
    /// One line, followed by the requested details.
    pub text: String,
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| f.write_str(&node.text))?;
        self.functions.iter().try_for_each(|function| f.write_str(&function.text))
    }
}

/// Reads a program and rejects it if a node is too large to elaborate.
pub fn load(sources: &mut Sources, limits: Limits) -> Result<Program, Vec<Diagnostic>> {
    load_as(sources, None, limits)
}

/// As [`load`]; with `kernel`, the main file is a program of that kernel.
pub fn load_as(
    sources: &mut Sources,
    kernel: Option<Kernel>,
    limits: Limits,
) -> Result<Program, Vec<Diagnostic>> {
    let program = resolve_as(sources, kernel).accepted().map_err(without_repetitions)?;
    let program = Program { limits, ..program };
    let too_large = too_large(&program);
    if too_large.is_empty() { Ok(program) } else { Err(without_repetitions(too_large)) }
}

/// Checks all nodes and test benches of the main file. With `memory`, the report includes the memory of each
/// node, and of each adjoint of a function with these checkpoints.
pub fn check_program(program: &Program, memory: Option<Checkpoints>) -> Result<Checked, Vec<Diagnostic>> {
    let (mut checked, mut diagnostics) = (Checked::default(), Vec::new());
    for callable in declared(program) {
        match check_node(program, &callable, memory.is_some()) {
            Ok((text, found)) => {
                checked.report.nodes.push(NodeReport { name: program.name_of(&callable), text });
                checked.warnings.extend(found);
            }
            Err(mut found) => diagnostics.append(&mut found),
        }
    }
    for run in program.modules[Program::MAIN].tree.runs() {
        if let Err(mut found) = runs::check(program, run) {
            diagnostics.append(&mut found);
        }
    }
    match functions::lower(program, &mut Budget::default()) {
        Ok(functions) => {
            let report = |function: &Description| FunctionReport {
                name: function.name.clone(),
                text: function.line.clone(),
                tape: memory.and_then(|checkpoints| function.tape(program, checkpoints)),
            };
            checked.report.functions = functions.declared.iter().map(report).collect();
        }
        Err(mut found) => diagnostics.append(&mut found),
    }
    if !diagnostics.is_empty() {
        return Err(to_report(diagnostics));
    }
    checked.warnings.extend_from_slice(&program.warnings);
    checked.warnings = without_repetitions(checked.warnings);
    Ok(checked)
}

/// The nodes of the main file, then the training nodes that its `train`s declare.
pub fn declared(program: &Program) -> Vec<Callable> {
    let nodes = (0..program.nodes.len()).map(NodeId::new);
    let is_listed = |node: &NodeId| {
        program.node(*node).module == Program::MAIN && program.node(*node).made == Made::Written
    };
    let nodes = nodes.filter(is_listed).map(Base::Node);
    let trains = (0..program.trains.len()).map(TrainId::new);
    let trains = trains.filter(|train| program.train(*train).module == Program::MAIN).map(Base::Train);
    nodes.chain(trains).map(Callable::from).collect()
}

/// Checks a node of the main file, or one that a `train` declares, and returns its line of the report with
/// its warnings. `memory` adds the memory report.
pub fn check_node(
    program: &Program,
    callable: &Callable,
    memory: bool,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let name = program.name_of(callable);
    let generic = |names: Vec<&str>| (format!("{name}: generic in {}\n", names.join(", ")), Vec::new());
    let origin = program.node(program.origin(callable.base));
    if origin.is_template {
        let needed = |(slot, is_static): &(&Slot, &bool)| slot.is_callable || **is_static;
        let inputs = origin.inputs().iter().zip(&origin.is_static).filter(needed);
        return Ok(generic(inputs.map(|(slot, _)| slot.name.as_str()).collect()));
    }
    let statics: Vec<&Slot> = origin.static_inputs().filter(|slot| slot.default.is_none()).collect();
    if !statics.is_empty() && !origin.is_external() {
        check_sizes(program, callable, &statics)?;
        return Ok(generic(statics.iter().map(|slot| slot.name.as_str()).collect()));
    }
    if origin.is_external() {
        return Ok((format!("{name}: declared without a body\n"), Vec::new()));
    }
    let given =
        ElaborationOptions { defaults: program.defaults_of(callable), ..ElaborationOptions::default() };
    let interface = interface(program, callable, &FxHashMap::default())?;
    let Typed { flow, mut warnings, .. } = match typed(program, callable, &given, |_| Hints::default()) {
        Ok(typed) => typed,
        Err(failure) if failure.defaulted.is_empty() => return Err(failure.diagnostics),
        Err(failure) => {
            check_shapes(program, callable)?;
            let inputs = interface.inputs.iter().map(|port| port.name.as_str());
            // The inputs are the first streams of the root, in order.
            let names = inputs
                .enumerate()
                .filter(|(index, _)| failure.defaulted.iter().any(|var| var.index() == *index));
            return Ok(generic(names.map(|(_, name)| name).collect()));
        }
    };
    let clocks = clocks::infer(&flow)?;
    let (verdict, deadlocks) =
        causality_and_deadlocks(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?;
    warnings.extend(deadlocks);
    let paths = StreamPaths::new(program, callable);
    let mut text = line(&name, &interface, &flow, &clocks, &verdict, paths);
    if memory {
        text.push_str(&report(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?);
    }
    Ok((text, warnings))
}

/// `NAME: (x: num [] @ base, ..) -> (..) | VERDICT`.
fn line(
    name: &str,
    interface: &Interface,
    flow: &Flow,
    clocks: &Clocks,
    verdict: &Verdict,
    mut paths: StreamPaths<'_>,
) -> String {
    let labels = flow.labels();
    let name_condition = |var: VarId| labels.operand(var);
    let mut show = |(port, var): (&Port, &VarId)| {
        let clock = clocks.show(flow, clocks.of(*var), &name_condition);
        let ty = &flow.var(*var).ty;
        match paths.enumeration_name(&port.name) {
            Some(name) => format!("{}: {name} {} @ {clock}", port.name, ty.shape),
            None => format!("{}: {ty} @ {clock}", port.name),
        }
    };
    // Inputs that have their defaults are not inputs of the flow.
    let names: FxHashSet<&str> =
        flow.inputs.iter().filter_map(|var| flow.var(*var).name.as_deref()).collect();
    let inputs = interface.inputs.iter().filter(|port| names.contains(port.name.as_str()));
    let inputs: Vec<String> = inputs.zip(&flow.inputs).map(&mut show).collect();
    let outputs: Vec<String> = interface.outputs.iter().zip(&flow.outputs).map(show).collect();
    format!("{name}: ({}) -> ({}) | {verdict}\n", inputs.join(", "), outputs.join(", "))
}

/// The errors to report: those of the earliest phase, each once, at most [`Diagnostics::MAX`].
pub fn to_report(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    truncated(without_repetitions(earliest(diagnostics)))
}

/// The errors of the earliest phase that has any: errors of later phases in other nodes are reported when
/// these are fixed.
fn earliest(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let phase = |diagnostic: &Diagnostic| match diagnostic.code.phase() {
        // The parser reads the tokens, and name resolution evaluates constants: such errors appear together.
        Phase::Lexical => Phase::Syntax,
        Phase::Elaboration => Phase::Names,
        phase => phase,
    };
    let first = diagnostics.iter().map(phase).min();
    diagnostics.into_iter().filter(|diagnostic| Some(phase(diagnostic)) == first).collect()
}

/// The first [`Diagnostics::MAX`] errors; the last of them states how many more there are.
fn truncated(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let n_more = diagnostics.len().saturating_sub(Diagnostics::MAX);
    diagnostics.truncate(Diagnostics::MAX);
    if n_more > 0
        && let Some(last) = diagnostics.last_mut()
    {
        last.reason = Some(format!("{n_more} more mistakes are not shown"));
    }
    diagnostics
}

/// Keeps one error per code and span: an error in a node occurs again in each instance of the node.
pub fn without_repetitions(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = FxHashSet::default();
    diagnostics
        .into_iter()
        .filter(|diagnostic| seen.insert((diagnostic.code, diagnostic.primary.span)))
        .collect()
}
