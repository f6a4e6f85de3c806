//! What `eddy check` says about each node (section 11).

use eddy_syntax::{Diagnostic, Diagnostics};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::causality::{Verdict, causality_and_deadlocks};
use crate::clocks::{self, Clocks};
use crate::codes;
use crate::elaborate::{Given, Interface, Port, interface};
use crate::flow::{Flow, VarId};
use crate::generic::{check_shapes, check_sizes};
use crate::infer::Hints;
use crate::memory::report;
use crate::prepare::{Typed, typed};
use crate::program::{Callable, Program};

/// Checks a node of the main file, or one that a `train` declares, and says what it is: its line, and with `memory` what it keeps.
pub fn check_node(
    program: &Program,
    callable: &Callable,
    memory: bool,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let name = program.name_of(callable);
    let generic = |names: Vec<&str>| (format!("{name}: generic in {}\n", names.join(", ")), Vec::new());
    let origin = program.node(program.origin(callable.base));
    let statics: Vec<&str> = origin.static_inputs().map(|slot| slot.name.as_str()).collect();
    if !statics.is_empty() && !origin.is_external() {
        check_sizes(program, callable, &statics)?;
        return Ok(generic(statics));
    }
    if origin.is_external() {
        return Ok((format!("{name}: declared without a body\n"), Vec::new()));
    }
    let interface = interface(program, callable, &FxHashMap::default())?;
    let Typed { flow, mut warnings, .. } =
        match typed(program, callable, &Given::default(), |_| Hints::default()) {
            Ok(typed) => typed,
            Err(failure) if failure.defaulted.is_empty() => return Err(failure.diagnostics),
            Err(failure) => {
                check_shapes(program, callable)?;
                let inputs = interface.inputs.iter().map(|port| port.name.as_str());
                // Inputs are the first streams of the root, in order.
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
    let mut text = line(&name, &interface, &flow, &clocks, &verdict);
    if memory {
        text.push_str(&report(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?);
    }
    Ok((text, warnings))
}

/// `NAME: (x: num [] @ base, ..) -> (..) | VERDICT`.
fn line(name: &str, interface: &Interface, flow: &Flow, clocks: &Clocks, verdict: &Verdict) -> String {
    let labels = flow.labels();
    let name_condition = |var: VarId| labels.operand(var);
    let show = |(port, var): (&Port, &VarId)| {
        let clock = clocks.show(flow, clocks.of(*var), &name_condition);
        format!("{}: {} @ {clock}", port.name, flow.var(*var).ty)
    };
    let inputs: Vec<String> = interface.inputs.iter().zip(&flow.inputs).map(show).collect();
    let outputs: Vec<String> = interface.outputs.iter().zip(&flow.outputs).map(show).collect();
    format!("{name}: ({}) -> ({}) | {verdict}\n", inputs.join(", "), outputs.join(", "))
}

/// What is wrong in the earliest phase: what later phases say of other nodes comes when that is right.
pub fn earliest(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    // The hundreds of a code are its phase; shapes come after types.
    let phase = |diagnostic: &Diagnostic| match diagnostic.code {
        codes::SHAPE => codes::SHAPE,
        code => &code[..3],
    };
    let first = diagnostics.iter().map(phase).min().map(str::to_string);
    diagnostics.into_iter().filter(|diagnostic| first.as_deref() == Some(phase(diagnostic))).collect()
}

/// As many mistakes as are told; the last one says how many more there are.
pub fn first_ones(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let n_more = diagnostics.len().saturating_sub(Diagnostics::MAX);
    diagnostics.truncate(Diagnostics::MAX);
    if n_more > 0
        && let Some(last) = diagnostics.last_mut()
    {
        last.reason = Some(format!("{n_more} more mistakes are not shown"));
    }
    diagnostics
}

/// The same mistake of one place is told once, however many instances have it.
pub fn without_repetitions(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = FxHashSet::default();
    diagnostics
        .into_iter()
        .filter(|diagnostic| seen.insert((diagnostic.code, diagnostic.primary.span)))
        .collect()
}
