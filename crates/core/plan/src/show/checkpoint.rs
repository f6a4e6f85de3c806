//! Checkpoints as text.

use eddy_flow::{Flow, VarId};

use super::names::Names;
use crate::plan::{Checkpoint, NoCheckpoint, Plan, Region, Schedule};

/// The part of a step's description about checkpoints: it saves registers, or makes a loop run again.
pub fn of_step(names: &Names<'_>, region: &Region, step: usize) -> String {
    let mut parts = Vec::new();
    for checkpoint in &region.checkpoints {
        if checkpoint.writer == step {
            let registers = names.list(registers(checkpoint));
            parts.push(format!(", which saves {registers} every √W cycles"));
        }
        if checkpoint.reader == step {
            let writer = checkpoint.writer + 1;
            parts.push(format!(", before each √W cycles of which step {writer} runs again"));
        }
    }
    parts.concat()
}

/// The streams whose values a loop needs to run again.
pub fn registers(checkpoint: &Checkpoint) -> impl Iterator<Item = VarId> {
    let trackers = checkpoint.again.trackers.iter().map(|tracker| tracker.shift);
    trackers.chain(checkpoint.registers.iter().copied())
}

pub fn refusal(names: &Names<'_>, why: NoCheckpoint) -> String {
    match why {
        NoCheckpoint::NoLoops => {
            "no loop stores a value that a loop in the other direction reads".to_string()
        }
        NoCheckpoint::Units => "loops inside the window that go both ways do not run again".to_string(),
        NoCheckpoint::Reads(step, var) => {
            format!("step {} reads `{}`, which another step stores", step + 1, names.name(var))
        }
        NoCheckpoint::Shared(step, var) => {
            format!(
                "`{}` of step {} is not read by exactly one loop in the other direction",
                names.name(var),
                step + 1
            )
        }
    }
}

/// Why a plan has no checkpoints although they were requested and loops store values for each cycle.
pub fn no_checkpoints(flow: &Flow, plan: &Plan) -> Option<String> {
    let names = Names::new(flow);
    plan.roots.iter().find_map(|root| match &root.schedule {
        Schedule::Windows(windows) if root.memory.buffers > 0 => {
            let has_some = windows.versions.iter().any(|version| !version.region.checkpoints.is_empty());
            let why = windows.no_checkpoints.first().filter(|_| !has_some)?;
            Some(refusal(&names, *why))
        }
        _ => None,
    })
}
