//! What `eddy check` says about each node (section 11).

use eddy_syntax::Diagnostic;
use rustc_hash::FxHashSet;

use crate::causality::{Verdict, causality};
use crate::clocks::Clocks;
use crate::elaborate::{Given, elaborate};
use crate::flow::{Flow, VarId};
use crate::infer::{Hints, infer};
use crate::memory::report;
use crate::program::{NodeId, Program, Role};

/// Checks a node of the main file, and says what it is: its line, and with `memory` what it keeps.
pub fn check_node(program: &Program, node: NodeId, memory: bool) -> Result<String, Vec<Diagnostic>> {
    let declared = program.node(node);
    let generic = |names: Vec<&str>| format!("{}: generic in {}\n", declared.name, names.join(", "));
    let statics: Vec<&str> = declared.static_inputs().map(|slot| slot.name.as_str()).collect();
    if !statics.is_empty() {
        return Ok(generic(statics));
    }
    if declared.is_external() {
        return Ok(format!("{}: declared without a body\n", declared.name));
    }
    let draft = elaborate(program, node, &Given::default())?;
    let flow = match infer(draft, &Hints::default()) {
        Ok(flow) => flow,
        Err(failure) if failure.defaulted.is_empty() => return Err(failure.diagnostics),
        Err(failure) => {
            let inputs = declared.inputs().iter().map(|slot| slot.name.as_str());
            // Inputs are the first streams of the root, in order.
            let names = inputs
                .enumerate()
                .filter(|(index, _)| failure.defaulted.iter().any(|var| var.index() == *index));
            return Ok(generic(names.map(|(_, name)| name).collect()));
        }
    };
    let clocks = Clocks::infer(&flow)?;
    let verdict = causality(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?;
    let mut text = interface(program, node, &flow, &clocks, &verdict);
    if memory {
        text.push_str(&report(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?);
    }
    Ok(text)
}

/// `NAME: (x: num [] @ base, ..) -> (..) | VERDICT`.
fn interface(program: &Program, node: NodeId, flow: &Flow, clocks: &Clocks, verdict: &Verdict) -> String {
    let labels = flow.labels();
    let name_condition = |var: VarId| labels.operand(var);
    let declared = program.node(node);
    let show = |name: &str, var: VarId| {
        format!("{name}: {} @ {}", flow.var(var).ty, clocks.show(flow, clocks.of(var), &name_condition))
    };
    let names = |role: Role| {
        declared.slots.iter().filter(move |slot| slot.role == role).map(|slot| slot.name.as_str())
    };
    let inputs: Vec<String> =
        names(Role::Input).zip(&flow.inputs).map(|(name, var)| show(name, *var)).collect();
    let outputs: Vec<String> =
        names(Role::Output).zip(&flow.outputs).map(|(name, var)| show(name, *var)).collect();
    format!("{}: ({}) -> ({}) | {verdict}\n", declared.name, inputs.join(", "), outputs.join(", "))
}

/// The same mistake of one place is told once, however many instances have it.
pub fn without_repetitions(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = FxHashSet::default();
    diagnostics
        .into_iter()
        .filter(|diagnostic| seen.insert((diagnostic.code, diagnostic.primary.span)))
        .collect()
}
