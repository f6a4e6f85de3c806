//! Finds why a parameter does not learn: every path from it to the loss has an operation without derivative.

use eddy_flow::{Equation, Kind, VarId};
use eddy_syntax::Diagnostic;
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use crate::activity::differentiable_operands;
use crate::body::Body;
use crate::codes;
use crate::writer::Writer;

/// The warning about a parameter that no gradient reaches; `None` if `stop_gradient` is the reason.
pub(crate) fn warning(body: &Body, parameter: VarId, loss: VarId, writer: &Writer) -> Option<Diagnostic> {
    let var = &writer.vars[parameter.index()];
    let name =
        var.name.as_deref().map_or("a parameter".to_string(), |name| format!("the parameter `{name}`"));
    let Some(way) = way(body, parameter, loss, |_| true) else {
        let title = format!("{name} will not learn: the loss does not depend on it");
        return Some(Diagnostic::warning(codes::UNREACHED, var.span, title));
    };
    let is_open = |equation: &Equation| !matches!(equation.kind, Kind::Apply(Op::StopGradient, _));
    // If all paths are stopped on purpose, there is no warning.
    let way = if way.iter().all(|(equation, _)| is_open(equation)) {
        way
    } else {
        self::way(body, parameter, loss, is_open)?
    };
    let passes = |equation: &Equation, operand: VarId| {
        differentiable_operands(writer, equation).iter().any(|(_, passing)| *passing == operand)
    };
    let (equation, _) = way.iter().find(|(equation, operand)| !passes(equation, *operand))?;
    let what = match &equation.kind {
        Kind::Apply(op, _) => format!("`{}`", op.name()),
        Kind::When { .. } => "the condition of `when`".to_string(),
        Kind::Merge { .. } => "the condition of `merge`".to_string(),
        _ => "an equation".to_string(),
    };
    let title =
        format!("{name} will not learn: the loss depends on it only through {what}, which has no derivative");
    Some(Diagnostic::warning(codes::UNREACHED, equation.span, title).cause(var.span, "this parameter").help(
        "give it a path with a derivative, such as `softmax` for a choice, or a custom derivative `adj_M`",
    ))
}

/// A shortest path from one stream to another: each equation, with the position of its operand on the path.
fn way(
    body: &Body,
    from: VarId,
    to: VarId,
    is_open: impl Fn(&Equation) -> bool,
) -> Option<Vec<(&Equation, VarId)>> {
    let mut uses: FxHashMap<VarId, Vec<&Equation>> = FxHashMap::default();
    for equation in body.equations.iter().filter(|equation| is_open(equation)) {
        for operand in equation.kind.operands() {
            uses.entry(operand).or_default().push(equation);
        }
    }
    let mut entered: FxHashMap<VarId, (&Equation, VarId)> = FxHashMap::default();
    let mut layer = vec![from];
    while !layer.is_empty() && !entered.contains_key(&to) {
        let mut next = Vec::new();
        for var in layer {
            for equation in uses.get(&var).into_iter().flatten() {
                if equation.out != from && !entered.contains_key(&equation.out) {
                    entered.insert(equation.out, (equation, var));
                    next.push(equation.out);
                }
            }
        }
        layer = next;
    }
    let mut steps = Vec::new();
    let mut at = to;
    while at != from {
        let step = *entered.get(&at)?;
        steps.push(step);
        at = step.1;
    }
    steps.reverse();
    Some(steps)
}
