//! How late gradients must be so that no parameter waits for itself.
//!
//! A parameter that is read at row t + 1 needs its gradient at row t, which comes back from later rows if the
//! model has memory. If the model remembers k rows, an optimiser whose inputs are all k rows late has them in
//! time (`delayed` forms of the library).

use eddy_language::causality::Verdict;
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::{Base, Callable, Program};
use eddy_tensor::Static;

/// The largest delay that is tried.
const MAX_DELAY: usize = 64;

/// The smallest number of rows by which gradients must be late so that the node is causal, as advice; `None`
/// if no small one suffices.
pub(super) fn advice(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
    prepared: &Prepared,
) -> Option<String> {
    let Base::Train(train) = callable.base else { return None };
    let declared = program.train(train);
    if declared.segment || declared.truncate || !matches!(prepared.verdict, Some(Verdict::Guarded { .. })) {
        return None;
    }
    let k = smallest(|k| is_causal(program, callable, given, prepared, k))?;
    let rule = declared.rules.first()?;
    let optimiser = &program.node(rule.optimiser).name;
    let arguments: Vec<String> = rule.arguments.iter().map(written).collect();
    let example = match optimiser.as_str() {
        "sgd" | "momentum" | "adam" => {
            let arguments = arguments.iter().chain([&k.to_string()]).cloned().collect::<Vec<_>>().join(", ");
            format!("`optim {optimiser}_delayed({arguments})`")
        }
        _ => format!(
            "`optim sgd_delayed(rate, {k})`, or `{optimiser}` with `later({k}, ..)` of its step and gradient"
        ),
    };
    let rows = if k == 1 { "row" } else { "rows" };
    Some(format!(
        "the model's memory is finite, so it can learn on the stream with gradients that come k = {k} {rows} late: {example}"
    ))
}

fn written(argument: &Static) -> String {
    match argument {
        Static::Num(number) => format!("{number:?}"),
        Static::Int(number) => number.to_string(),
        Static::List(items) => {
            format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}

/// The smallest sufficient delay, provided that larger ones suffice too.
fn smallest(suffices: impl Fn(usize) -> bool) -> Option<usize> {
    let mut large = 1;
    while !suffices(large) {
        large *= 2;
        if large > MAX_DELAY {
            return None;
        }
    }
    let mut small = large / 2;
    while large - small > 1 {
        let middle = small.midpoint(large);
        if suffices(middle) {
            large = middle;
        } else {
            small = middle;
        }
    }
    Some(large)
}

fn is_causal(
    program: &Program,
    callable: &Callable,
    given: &ElaborationOptions,
    known: &Prepared,
    delay: usize,
) -> bool {
    let given = ElaborationOptions { delay, ..given.clone() };
    let types = known.input_types();
    let hints = |draft: &eddy_language::elaborate::Draft| {
        let inputs = draft.inputs.iter().zip(&types);
        let hint = |(input, ty): (&eddy_flow::VarId, &&eddy_tensor::Type)| {
            let span = draft.vars[input.index()].span;
            (
                Hint { input: *input, says: ty.scalar, span },
                Hint { input: *input, says: ty.shape.clone(), span },
            )
        };
        let (scalars, shapes) = inputs.map(hint).unzip();
        Hints { scalars, shapes }
    };
    let prepared = prepare(program, callable, &given, hints, Checks::On);
    prepared.is_ok_and(|prepared| !matches!(prepared.verdict, Some(Verdict::Guarded { .. })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_delay_is_found() {
        for least in 1..=MAX_DELAY {
            assert_eq!(smallest(|k| k >= least), Some(least));
        }
        assert_eq!(smallest(|k| k > MAX_DELAY), None);
    }
}
