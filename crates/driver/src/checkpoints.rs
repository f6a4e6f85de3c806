//! `--checkpoint`: the warning if it has no effect.

use eddy_flow::Flow;
use eddy_language::codes;
use eddy_plan::plan::Plan;
use eddy_plan::show::no_checkpoints;
use eddy_syntax::{Diagnostic, Span};

/// A warning for a node that keeps values for each cycle of a window although checkpoints were requested.
pub fn warning(flow: &Flow, plan: &Plan, name: &str, span: Span) -> Option<Diagnostic> {
    let why = no_checkpoints(flow, plan)?;
    let title = format!("the node `{name}` runs without checkpoints");
    let help = format!("`eddy plan FILE --node {name}` shows which loops run, and what they keep");
    Some(Diagnostic::warning(codes::NO_CHECKPOINTS, span, title).reason(why).help(help))
}
