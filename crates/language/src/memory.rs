//! Memory use of a program: `eddy check --memory`.
//!
//! For each output: how far it looks ahead, and how many cycles are open at once. The latter depends on the
//! stream that looks furthest ahead among all streams that the output depends on. For the whole node: the
//! *state*, the values that `fby` keeps from one activation to the next.
//!
//! ```text
//! f: (x: num [] @ base) -> (y: num [] @ base) | look-ahead 1
//!   y: look-ahead 1, at most 2 activations of 24 B open
//!   state: 8 B in 1 value
//! ```
//!
//! Training code adds the values that the backward pass reads, for each cycle of a sequence.

use std::fmt::Write;

use eddy_syntax::Diagnostic;
use eddy_tensor::{Scalar, Type};

use crate::causality::{Verdict, causality_of, needed};
use crate::clocks::Clocks;
use crate::flow::{Flow, Kind, VarId};

/// Lines to print below the line of a node.
pub fn report(flow: &Flow, clocks: &Clocks) -> Result<String, Box<Diagnostic>> {
    let row: u64 = flow.vars.iter().map(|var| bytes(&var.ty)).sum();
    let mut text = String::new();
    for output in &flow.outputs {
        let name = flow.var(*output).name.as_deref().unwrap_or("_");
        let verdict = causality_of(flow, clocks, &[*output])?;
        // An output may look less far ahead than its operands: `0.0 fby post post x` waits one cycle,
        // `post post x` two.
        // Contracts keep their cycles open, too.
        let contracts = flow.contracts.iter().map(|contract| contract.var);
        let by: Vec<VarId> = contracts.chain([*output]).collect();
        let is_needed = needed(flow, clocks, &by);
        let needed: Vec<VarId> = flow.var_ids().filter(|var| is_needed[var.index()]).collect();
        let window = match causality_of(flow, clocks, &needed)? {
            Verdict::LookAhead(0) => format!("at most 1 cycle of {} open", size(row)),
            Verdict::LookAhead(z) => format!("at most {} activations of {} open", z + 1, size(row)),
            Verdict::NextActivation => "the cycles up to the next activation stay open".to_string(),
            Verdict::Guarded { conditions, end_of_trace } => {
                let mut guards = conditions;
                if end_of_trace {
                    guards.push("the end of the trace".to_string());
                }
                if guards.is_empty() {
                    guards.push("a condition".to_string());
                }
                format!("{} a cycle stay open until {} ends the chain", size(row), guards.join(" or "))
            }
        };
        writeln!(text, "  {name}: {verdict}, {window}").expect("writing to a string cannot fail");
    }
    let kept = flow.equations.iter().filter(|equation| matches!(equation.kind, Kind::Fby { .. }));
    let kept: Vec<u64> = kept.map(|equation| bytes(&flow.var(equation.out).ty)).collect();
    let values = if kept.len() == 1 { "1 value".to_string() } else { format!("{} values", kept.len()) };
    writeln!(text, "  state: {} in {values}", size(kept.iter().sum()))
        .expect("writing to a string cannot fail");
    let all: Vec<VarId> = flow.var_ids().collect();
    text.push_str(&backward(flow, &causality_of(flow, clocks, &all)?));
    Ok(text)
}

/// Values kept for the backward pass, if it goes through time.
fn backward(flow: &Flow, verdict: &Verdict) -> String {
    if flow.tape.is_empty() {
        return String::new();
    }
    if *verdict == Verdict::LookAhead(0) {
        return "  backward pass: within each cycle, nothing is kept for it\n".to_string();
    }
    let kept: u64 = flow.tape.iter().map(|var| bytes(&flow.var(*var).ty)).sum();
    let n = flow.tape.len();
    let values = if n == 1 { "1 value".to_string() } else { format!("{n} values") };
    format!(
        "  backward pass: {} in {values} kept for each cycle of a sequence, {} for 100 cycles\n",
        size(kept),
        size(100 * kept)
    )
}

fn bytes(ty: &Type) -> u64 {
    let width = match ty.scalar {
        Scalar::Bool => 1,
        Scalar::Int | Scalar::Num => 8,
    };
    width * ty.shape.iter().map(|size| *size as u64).product::<u64>()
}

#[allow(clippy::cast_precision_loss)] // two digits are shown
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
