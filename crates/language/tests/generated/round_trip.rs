//! Flow text reads back.

use eddy_flow::text::{parse, print};
use eddy_flow::{Flow, Kind, VarId, verify};
use eddy_language::clocks;

use super::case::Ready;
use super::compare::same;
use super::engines::{Rows, cells, denote, denote_flow, simulate, simulate_flow};
use super::harness::{Trial, Verdict};

/// The flow is well formed, and so is the flow that is read back from its text, with the same cells.
pub fn reads_back(ready: &Ready) -> Trial {
    let flow = ready.flow();
    verify(flow).map_err(|violation| format!("inferred: {violation}"))?;
    for clocks in [None, Some(ready.clocks())] {
        let text = print(flow, |var, name| clocks.map(|clocks| clocks.show(flow, clocks.of(var), &name)));
        let again = parse(&text).map_err(|error| format!("{error}\n{text}"))?;
        verify(&again).map_err(|violation| format!("read back: {violation}\n{text}"))?;
        let renaming = same_flow(flow, &again).map_err(|message| format!("{message}\n{text}"))?;
        let printed = print(&again, |_, _| None);
        let once_more = parse(&printed).map_err(|error| format!("{error}\n{printed}"))?;
        if print(&once_more, |_, _| None) != printed {
            return Err(format!("not stable\n{printed}"));
        }
        let clocks =
            clocks::infer(&again).map_err(|errors| format!("read back: {}\n{text}", errors[0].title))?;
        let b = cells!(simulate_flow(&again, &clocks, ready));
        let a = cells!(denote_flow(&again, &clocks, ready));
        let renamed = |rows: &Rows| renaming.iter().map(|var| rows[var.index()].clone()).collect::<Rows>();
        same(flow, ("B", &cells!(simulate(ready))), ("B, read back", &renamed(&b)))?;
        same(flow, ("A", &cells!(denote(ready))), ("A, read back", &renamed(&a)))?;
    }
    Ok(Verdict::Holds)
}

/// Two flows are equal up to spans and the numbering of streams; returns the stream of the second for each of
/// the first.
fn same_flow(flow: &Flow, again: &Flow) -> Result<Vec<VarId>, String> {
    let definitions = |flow: &Flow| -> Vec<VarId> {
        flow.inputs.iter().copied().chain(flow.equations.iter().map(|equation| equation.out)).collect()
    };
    let (old, new) = (definitions(flow), definitions(again));
    if old.len() != new.len()
        || flow.vars.len() != again.vars.len()
        || flow.inputs.len() != again.inputs.len()
    {
        return Err("the streams differ".to_string());
    }
    let mut renaming = vec![VarId::new(0); flow.vars.len()];
    for (old, new) in old.iter().zip(&new) {
        renaming[old.index()] = *new;
    }
    for (old, new) in old.iter().zip(&new) {
        let (old, new) = (flow.var(*old), again.var(*new));
        if (&old.name, &old.ty) != (&new.name, &new.ty) {
            return Err(format!("{:?} : {} is not {:?} : {}", old.name, old.ty, new.name, new.ty));
        }
    }
    for (old, new) in flow.equations.iter().zip(&again.equations) {
        let operands: Vec<VarId> = old.kind.operands().map(|var| renaming[var.index()]).collect();
        let same_form = form(&old.kind) == form(&new.kind);
        if !same_form || operands != new.kind.operands().collect::<Vec<_>>() {
            return Err(format!("{:?} is not {:?}", old.kind, new.kind));
        }
    }
    let outputs: Vec<VarId> = flow.outputs.iter().map(|var| renaming[var.index()]).collect();
    if outputs != again.outputs {
        return Err("the outputs differ".to_string());
    }
    let clocks = |flow: &Flow, renaming: Option<&[VarId]>| -> Vec<String> {
        let number = |var: VarId| renaming.map_or(var, |renaming| renaming[var.index()]);
        let one = |conditions: &[(VarId, eddy_flow::Polarity)]| -> Vec<String> {
            conditions.iter().map(|(var, polarity)| format!("{polarity:?} {:?}", number(*var))).collect()
        };
        flow.clocks
            .iter()
            .map(|written| format!("{:?} {:?}", number(written.var), one(&written.conditions)))
            .collect()
    };
    if clocks(flow, Some(&renaming)) != clocks(again, None) {
        return Err("the clock annotations differ".to_string());
    }
    Ok(renaming)
}

/// An equation without its operands; NaN equals NaN.
fn form(kind: &Kind) -> String {
    match kind {
        Kind::Const(constant) => format!("{constant:?}"),
        Kind::Apply(op, _) => format!("{op:?}"),
        Kind::When { polarity, .. } => format!("when {polarity:?}"),
        Kind::Merge { .. } => "merge".to_string(),
        Kind::Fby { .. } => "fby".to_string(),
        Kind::FbyBack { .. } => "fby back".to_string(),
        Kind::Post(_) => "post".to_string(),
        Kind::Param(_) => "param".to_string(),
    }
}
