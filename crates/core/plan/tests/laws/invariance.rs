//! L6, L7, L8: changes that must not affect a plan, and changes that must not affect its outputs.

use eddy_flow::{Equation, Flow, Kind, VarId};
use eddy_language::clocks;
use eddy_plan::execute::ExecutionError;
use eddy_plan::plan::{Cut, Schedule};
use eddy_plan::show::{kind as kind_line, report};
use eddy_plan::{Kinds, Options, Recompute, plan};
use eddy_tensor::{Op, Scalar};
use eddy_tests::law::Coverage;

use crate::generated::case::Ready;
use crate::generated::engines::Rows;
use crate::generated::generate::Choices;
use crate::generated::harness::{Trial, Verdict, law};
use crate::run::{execute, execute_joining, has_unknown_inputs, options, planned};
use crate::samples::{Family, Sample};

pub fn law_of_samples(
    name: &'static str,
    cases: u32,
    family: Family,
    holds: impl Fn(&Sample, &Ready) -> Trial,
) {
    law(
        name,
        cases,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) if has_unknown_inputs(ready) => Ok(Verdict::Vacuous("unknown inputs")),
            Ok(ready) => holds(sample, ready),
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
        },
    );
}

/// Checks that two executions of a program give the same outputs, if both succeed.
fn same(ready: &Ready, ways: [Result<Rows, ExecutionError>; 2]) -> Trial {
    let mut rows = Vec::new();
    for way in ways {
        match way {
            Ok(found) => rows.push(found),
            Err(ExecutionError::NoPlan) => return Ok(Verdict::Vacuous("no plan")),
            Err(ExecutionError::Mixed(_)) => {
                return Ok(Verdict::Vacuous("a condition that changes inside a window"));
            }
            Err(ExecutionError::Operation { .. }) => return Ok(Verdict::Vacuous("no value")),
            Err(stop) => return Err(format!("{stop:?}")),
        }
    }
    if rows[0] != rows[1] {
        return Err(format!(
            "{:?}\n{:?}\n{}",
            rows[0],
            rows[1],
            report("n", ready.flow(), &planned(ready, &options()), None)
        ));
    }
    Ok(Verdict::Holds)
}

pub fn agree(ready: &Ready, left: &Options, right: &Options) -> Trial {
    let [left, right] = [left, right].map(|options| execute(ready, &planned(ready, options)));
    same(ready, [left, right])
}

#[test]
fn l6_windows_compute_what_the_whole_trace_does() {
    let trace = Options { kinds: Kinds::Trace, ..options() };
    for family in [Family::Plain, Family::Training] {
        law_of_samples("L6 whole trace", 300, family, |_, ready| agree(ready, &options(), &trace));
    }
}

#[test]
fn l6_derived_ends_may_be_passed_over() {
    let coverage = Coverage::default();
    // One program in fifty has a derived end.
    law_of_samples("L6 joined windows", 2000, Family::Plain, |_, ready| {
        let plan = planned(ready, &options());
        let is_derived = plan.roots.iter().any(|root| {
            matches!(&root.schedule, Schedule::Windows(windows) if matches!(windows.cut, Cut::Derived(_)))
        });
        if !is_derived {
            return Ok(Verdict::Holds);
        }
        let verdict = same(ready, [execute(ready, &plan), execute_joining(ready, &plan, 1)])?;
        if matches!(verdict, Verdict::Holds) && ready.n_cycles > 1 {
            coverage.note("a derived end");
        }
        Ok(verdict)
    });
    coverage.require("L6 joined windows", 20, ["a derived end"]);
}

#[test]
fn l8_held_values_and_recomputation_change_no_bit() {
    let plain = Options { holds: false, recompute: Recompute::Nothing, ..options() };
    for family in [Family::Plain, Family::Reset, Family::Training] {
        law_of_samples("L8 held, recomputed", 300, family, |_, ready| agree(ready, &options(), &plain));
        let fast = Options { recompute: Recompute::Arithmetic, ..options() };
        law_of_samples("L8 sums recomputed", 200, family, |_, ready| agree(ready, &fast, &plain));
    }
}

/// The same program with its equations in another order, and with additional copies and double negations.
fn disguised(flow: &Flow, choices: &mut Choices<'_>) -> Flow {
    let mut flow = flow.clone();
    for number in 0..flow.equations.len() {
        if !choices.once_in(6) || !matches!(flow.equations[number].kind, Kind::Apply(..) | Kind::Fby { .. }) {
            continue;
        }
        let Some(operand) = flow.equations[number].kind.operands().next() else { continue };
        let is_truth = flow.var(operand).ty.scalar == Scalar::Bool;
        let ops = if is_truth && choices.once_in(2) { vec![Op::Not, Op::Not] } else { vec![Op::Copy] };
        let mut last = operand;
        for op in ops {
            let out = VarId::new(flow.vars.len());
            let mut var = flow.var(operand).clone();
            var.name = None;
            flow.vars.push(var);
            let Equation { span, call, .. } = flow.equations[number];
            flow.equations.push(Equation { out, kind: Kind::Apply(op, [last].into()), span, call });
            last = out;
        }
        let out = flow.equations[number].out;
        let mut equation = flow.equations[number].renamed(&|var| if var == operand { last } else { var });
        equation.out = out;
        flow.equations[number] = equation;
    }
    for number in (1..flow.equations.len()).rev() {
        let other = choices.below(number + 1);
        flow.equations.swap(number, other);
    }
    flow
}

/// The kind of a plan without the names in it.
fn shape(kind: &str) -> String {
    match kind.split_once(": ") {
        Some((what, _)) if what.starts_with("event") => "event-driven".to_string(),
        Some((what, steps)) => {
            format!(
                "{}: {}",
                what.split(' ').next().unwrap_or(""),
                steps.matches(['F', 'B', 'R', '[']).collect::<String>()
            )
        }
        None => kind.to_string(),
    }
}

#[test]
fn l7_order_copies_and_negations_do_not_matter() {
    for family in [Family::Plain, Family::Training] {
        law_of_samples("L7 invariance", 300, family, |sample, ready| {
            let flow = disguised(ready.flow(), &mut sample.decisions());
            let clocks = clocks::infer(&flow).map_err(|errors| errors[0].title.clone())?;
            let original = planned(ready, &options());
            let other = plan(&flow, &clocks, &options());
            let [before, after] =
                [kind_line(ready.flow(), &original), kind_line(&flow, &other)].map(|kind| shape(&kind));
            if before == after {
                return Ok(Verdict::Holds);
            }
            Err(format!(
                "{before}\n{after}\n{}\n{}",
                report("before", ready.flow(), &original, None),
                report("after", &flow, &other, None)
            ))
        });
    }
}
