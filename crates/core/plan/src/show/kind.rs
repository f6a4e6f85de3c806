//! A plan in one line: `window end: F,B,s`.

use eddy_flow::{Flow, Labels, VarId};

use crate::plan::{
    Cut, Direction, NoPlan, Plan, Polarity, Region, RootPlan, Schedule, Step, Unit, Version, Windows,
};

/// The kind of a plan; the kinds of several roots are joined by ` + `.
pub fn kind(flow: &Flow, plan: &Plan) -> String {
    let labels = flow.labels();
    let kinds: Vec<String> = plan.roots.iter().map(|root| of_root(&labels, root)).collect();
    if kinds.is_empty() { "forward".to_string() } else { kinds.join(" + ") }
}

pub fn of_root(labels: &Labels<'_>, root: &RootPlan) -> String {
    match &root.schedule {
        Schedule::Forward(lagged) if lagged.max_lag == 0 => "forward".to_string(),
        Schedule::Forward(lagged) => format!("lag {}", lagged.look_ahead),
        Schedule::Windows(windows) => of_windows(labels, windows),
        Schedule::EventDriven(no_plan) => format!("event-driven: {}", reason(labels, no_plan)),
    }
}

fn of_windows(labels: &Labels<'_>, windows: &Windows) -> String {
    let cut = match &windows.cut {
        Cut::Guard(guard, polarity) => format!("window {}", condition(labels, *guard, *polarity)),
        Cut::Derived(_) => "window derived".to_string(),
        Cut::Trace => "whole trace".to_string(),
    };
    let mut parts = Vec::new();
    if windows.prelude.max_lag > 0 {
        parts.push(format!("lag {}", windows.prelude.max_lag));
    }
    let code = match &windows.versions[..] {
        [Version { assumes: Some((constant, _)), region, .. }, no] => {
            format!(
                "{} ? {} : {}",
                labels.operand(*constant),
                steps(labels, region),
                steps(labels, &no.region)
            )
        }
        versions => steps(labels, &versions[0].region),
    };
    if !code.is_empty() {
        parts.push(code);
    }
    format!("{cut}: {}", parts.join(", "))
}

pub fn condition(labels: &Labels<'_>, guard: VarId, polarity: Polarity) -> String {
    match polarity {
        Polarity::On => labels.label(guard),
        Polarity::OnNot => format!("not {}", labels.operand(guard)),
    }
}

/// `F,B,s`, with units in brackets.
fn steps(labels: &Labels<'_>, region: &Region) -> String {
    let step = |step: &Step| match step {
        Step::Sweep(sweep) if sweep.is_straight => "s".to_string(),
        Step::Sweep(sweep) if sweep.direction == Direction::Forward => "F".to_string(),
        Step::Sweep(_) => "B".to_string(),
        Step::Unit(Unit::Retimed(retimed)) => format!("R{}", retimed.lagged.max_lag),
        Step::Unit(Unit::Nested(inner)) => {
            let (guard, polarity) = inner.guard.expect("nested windows have a guard");
            let back = if inner.order == Direction::Backward { " back" } else { "" };
            format!("[{}{back}: {}]", condition(labels, guard, polarity), steps(labels, inner))
        }
    };
    region.steps.iter().map(step).collect::<Vec<_>>().join(",")
}

/// Why there is no plan: the names on a cycle that no window cuts, and where it reads the past and the
/// future.
pub fn reason(labels: &Labels<'_>, no_plan: &NoPlan) -> String {
    let list = |vars: &[VarId]| {
        let mut names: Vec<String> = vars.iter().take(MAX_NAMES).map(|var| quoted(labels, *var)).collect();
        // Several parts of one derivative are named once.
        names.dedup();
        if vars.len() > MAX_NAMES {
            names.push(format!("{} more", vars.len() - MAX_NAMES));
        }
        names.join(", ")
    };
    let cycle = list(&no_plan.cycle);
    let mut parts = vec![if no_plan.cycle.len() == 1 {
        format!("{cycle} needs itself")
    } else {
        format!("{cycle} need each other")
    }];
    if !no_plan.past.is_empty() {
        parts.push(format!("into the past at {}", list(&no_plan.past)));
    }
    if !no_plan.future.is_empty() {
        parts.push(format!("into the future at {}", list(&no_plan.future)));
    }
    parts.join(", ")
}

/// At most this many streams of a cycle are named.
const MAX_NAMES: usize = 6;

/// Expressions are cut after this many characters.
const MAX_LETTERS: usize = 48;

/// The name of a stream in reasons.
pub fn quoted(labels: &Labels<'_>, var: VarId) -> String {
    if !labels.is_written(var) {
        return labels.subject(var, "`");
    }
    let label = labels.label(var);
    if label.chars().count() <= MAX_LETTERS {
        return format!("`{label}`");
    }
    let start: String = label.chars().take(MAX_LETTERS).collect();
    format!("`{}…`", start.trim_end_matches('…'))
}
