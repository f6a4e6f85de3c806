//! `eddy plan`: how a node will run (section 14 of the planner's specification).

use eddy_language::Options;
use eddy_plan::plan::{Plan, Schedule};
use eddy_plan::show::{json, kind, reason, report, svg};
use eddy_plan::{Kinds, Recompute, plan as planned};
use eddy_syntax::{Diagnostic, Sources};

use crate::checkpoints;
use crate::codes;
use crate::command_line::{Told, shape_hints};
use crate::draft::Draft;
use crate::elaborate::Given;
use crate::infer::Hints;
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Callable, Program};

/// The plan of one node in full, or a line for each of several; and what the user should know about them.
pub fn plan(
    program: &Program,
    nodes: &[Callable],
    sources: &mut Sources,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let wishes = eddy_plan::Options {
        seed: options.seed.unwrap_or(0),
        checkpoints: options.checkpoints,
        kinds: if options.stream { Kinds::Bounded } else { Kinds::All },
        recompute: recompute(options),
        ..eddy_plan::Options::default()
    };
    let (mut text, mut warnings, mut diagnostics) = (String::new(), Vec::new(), Vec::new());
    for node in nodes {
        let name = program.name_of(node);
        let mut prepared = match ready(program, node, sources, options) {
            Ok(prepared) => prepared,
            Err(mut found) => {
                diagnostics.append(&mut found);
                continue;
            }
        };
        let flow = &prepared.flow;
        let plan = planned(flow, &prepared.clocks, &wishes);
        if options.svg {
            text.push_str(&svg(&name, flow, &plan));
        } else if options.json {
            text.push_str(&json(&name, flow, &plan, options.max_window));
        } else if options.node.is_some() {
            text.push_str(&report(&name, flow, &plan, options.max_window));
        } else {
            text.extend([&name, ": ", &kind(flow, &plan), "\n"]);
        }
        warnings.append(&mut prepared.warnings);
        warnings.extend(no_plan(program, node, &prepared, &plan, options.stream));
        warnings.extend(checkpoints::warning(&prepared.flow, &plan, &name, program.span_of(node)));
    }
    if diagnostics.is_empty() { Ok((text, warnings)) } else { Err(diagnostics) }
}

/// What later loops compute again.
pub(crate) fn recompute(options: &Options) -> Recompute {
    if options.keep { Recompute::Arithmetic } else { Recompute::Elementwise }
}

fn ready(
    program: &Program,
    node: &Callable,
    sources: &mut Sources,
    options: &Options,
) -> Result<Prepared, Vec<Diagnostic>> {
    if options.node.is_none() {
        let given = Given { batch: options.batch, ..Given::default() };
        return prepare(program, node, &given, |_| Hints::default(), Checks::On);
    }
    let Told { constants, shapes, .. } =
        Told::read(program, node, sources, &options.constants, &options.shapes)?;
    let given = Given { constants, batch: options.batch, ..Given::default() };
    prepare(program, node, &given, |draft: &Draft| shape_hints(draft, &shapes), Checks::On)
}

/// A warning for a node that has no static plan: it is nearly always a deadlock.
fn no_plan(
    program: &Program,
    node: &Callable,
    prepared: &Prepared,
    plan: &Plan,
    is_stream: bool,
) -> Option<Diagnostic> {
    let no_plan = plan.roots.iter().find_map(|root| match &root.schedule {
        Schedule::EventDriven(no_plan) => Some(no_plan),
        _ => None,
    })?;
    let name = program.name_of(node);
    let labels = prepared.flow.labels();
    let definitions = prepared.flow.definitions();
    let mut spans =
        no_plan.cycle.iter().filter_map(|var| Some(prepared.flow.equations[definitions[var.index()]?].span));
    let span = spans.next().unwrap_or_else(|| program.span_of(node));
    let title = if is_stream {
        format!("the node `{name}` has no plan with bounded memory")
    } else {
        format!("the node `{name}` has no static plan")
    };
    let help = "a recurrence that learns needs resets: train it with `segment`, or differentiate `N_end` instead of `N`";
    let reason = reason(&labels, no_plan);
    Some(Diagnostic::warning(codes::NO_PLAN, span, title).reason(reason).help(help))
}
