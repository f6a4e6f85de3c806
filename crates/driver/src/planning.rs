//! The plans of nodes (section 14 of the planner's specification).

use eddy_flow::Flow;
use eddy_language::codes;
use eddy_language::elaborate::{ElaborationOptions, static_defaults};
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::{self, Callable};
use eddy_plan::plan::{Plan, Schedule};
use eddy_plan::show::{json, kind, reason, report, svg};
use eddy_plan::{Kinds, Recompute, plan as planned};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Static;
use rustc_hash::FxHashMap;

use crate::checkpoints;
use crate::model::Model;
use crate::program::{Answer, Program};
use crate::refusal::Refusal;

/// The conditions that a plan is made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanRequest {
    /// The seed of random initialisers.
    pub seed: u64,
    /// Recompute the values of loops instead of keeping them.
    pub checkpoints: bool,
    /// The data have no end, so memory must not grow with their length.
    pub stream: bool,
    /// Keep values that are expensive to recompute.
    pub keep: bool,
}

/// How a node will run.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// The node.
    pub name: String,
    /// Its equations, which the plan refers to.
    pub flow: Flow,
    /// Its loops over time, and the values that they keep.
    pub plan: Plan,
}

impl NodePlan {
    /// The plan in full, for people; memory is given for windows of at most `max_window` cycles.
    pub fn text(&self, max_window: Option<usize>) -> String {
        report(&self.name, &self.flow, &self.plan, max_window)
    }

    /// The same as one JSON object, for other programs.
    pub fn json(&self, max_window: Option<usize>) -> String {
        json(&self.name, &self.flow, &self.plan, max_window)
    }

    /// The loops as a picture.
    pub fn svg(&self) -> String {
        svg(&self.name, &self.flow, &self.plan)
    }

    /// The kind of plan, in a few words.
    pub fn kind(&self) -> String {
        kind(&self.flow, &self.plan)
    }
}

impl Model {
    /// The plan of the node.
    pub fn plan(&self, request: &PlanRequest) -> Result<Answer<NodePlan>, Refusal> {
        let prepared = self.prepare_given(&self.given(), Checks::On).map_err(|found| self.reported(found))?;
        let (plan, warnings) = node_plan(self.name(), self.span(), prepared, request);
        Ok(self.program().answer(plan, warnings))
    }
}

impl Program {
    /// The plans of all nodes that need no constants, for the given number of streams.
    pub fn plans(
        &self,
        request: &PlanRequest,
        batch: Option<usize>,
    ) -> Result<Answer<Vec<NodePlan>>, Refusal> {
        let program = self.resolved();
        let (mut plans, mut warnings, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
        for node in self.requested_nodes(None)? {
            let given = ElaborationOptions {
                batch,
                constants: fixed_by_defaults(program, &node),
                ..ElaborationOptions::default()
            };
            match prepare(program, &node, &given, |_| Hints::default(), Checks::On) {
                Ok(prepared) => {
                    let (name, span) = (program.name_of(&node), program.span_of(&node));
                    let (plan, mut found) = node_plan(name, span, prepared, request);
                    plans.push(plan);
                    warnings.append(&mut found);
                }
                Err(mut found) => diagnostics.append(&mut found),
            }
        }
        if diagnostics.is_empty() { Ok(self.answer(plans, warnings)) } else { Err(self.refusal(diagnostics)) }
    }
}

fn node_plan(
    name: String,
    span: Span,
    prepared: Prepared,
    request: &PlanRequest,
) -> (NodePlan, Vec<Diagnostic>) {
    let options = eddy_plan::Options {
        seed: request.seed,
        checkpoints: request.checkpoints,
        kinds: if request.stream { Kinds::Bounded } else { Kinds::All },
        recompute: recompute(request.keep),
        ..eddy_plan::Options::default()
    };
    let Prepared { flow, clocks, mut warnings, .. } = prepared;
    let plan = planned(&flow, &clocks, &options);
    warnings.extend(no_plan(&name, span, &flow, &plan, request.stream));
    warnings.extend(checkpoints::warning(&flow, &plan, &name, span));
    (NodePlan { name, flow, plan }, warnings)
}

/// The values that later loops recompute instead of reading them.
pub(crate) fn recompute(keep: bool) -> Recompute {
    if keep { Recompute::Arithmetic } else { Recompute::Elementwise }
}

/// A warning for a node without a static plan: it is nearly always a deadlock.
fn no_plan(name: &str, span: Span, flow: &Flow, plan: &Plan, is_stream: bool) -> Option<Diagnostic> {
    let no_plan = plan.roots.iter().find_map(|root| match &root.schedule {
        Schedule::EventDriven(no_plan) => Some(no_plan),
        _ => None,
    })?;
    let labels = flow.labels();
    let definitions = flow.definitions();
    let mut spans =
        no_plan.cycle.iter().filter_map(|var| Some(flow.equations[definitions[var.index()]?].span));
    let span = spans.next().unwrap_or(span);
    let title = if is_stream {
        format!("the node `{name}` has no plan with bounded memory")
    } else {
        format!("the node `{name}` has no static plan")
    };
    let help = "a recurrence that learns needs resets: train it with `segment`, or differentiate `N_end` instead of `N`";
    let reason = reason(&labels, no_plan);
    Some(Diagnostic::warning(codes::NO_PLAN, span, title).reason(reason).help(help))
}

/// The defaults of the inputs that must be known at compile time. A default that has no value is reported
/// when the node is prepared.
fn fixed_by_defaults(program: &program::Program, node: &Callable) -> FxHashMap<String, Static> {
    let constants = static_defaults(program, node, &FxHashMap::default()).unwrap_or_default();
    let declared = program.node(program.origin(node.base));
    let is_static = |name: &str| declared.static_inputs().any(|slot| slot.name == name);
    constants.into_iter().filter(|(name, _)| is_static(name)).collect()
}
