//! The golden plans of section 15, with held values and without.
//!
//! The table of the specification gives kinds, numbers kept per cycle of a window, and carried slots. Some of
//! these plans are better than those of the specification:
//!
//! * Recomputation crosses several operations, by a minimum cut, so fewer numbers are kept: 12 instead of 18
//!   for the LSTM.
//! * Sequences of sweeps are searched, so some adjoints take one loop less.

use eddy_flow::VarId;
use eddy_language::prepare::Prepared;
use eddy_plan::plan::{Buffer, BufferRole, Plan, Schedule};
use eddy_plan::show::kind;
use eddy_plan::{Options, Recompute, plan};
use expect_test::{Expect, expect};

use crate::programs::{PROGRAMS, prepared};

/// Numbers per cycle that steps pass to each other.
fn kept(prepared: &Prepared, plan: &Plan) -> usize {
    let numbers = |var: &VarId| prepared.flow.var(*var).ty.shape.n_elements().expect("shapes are small");
    let mut n = 0;
    for root in &plan.roots {
        if let Schedule::Windows(windows) = &root.schedule {
            let is_between = |buffer: &&Buffer| buffer.is_between_steps && buffer.role != BufferRole::Arrival;
            n += windows
                .buffers
                .iter()
                .filter(is_between)
                .flat_map(|buffer| &buffer.vars)
                .map(numbers)
                .sum::<usize>();
        }
    }
    n
}

/// Values that cross windows, or cycles of a forward loop.
fn carried(plan: &Plan) -> usize {
    let of_root = plan.roots.iter().map(|root| match &root.schedule {
        Schedule::Windows(windows) => windows.carried.len(),
        Schedule::Forward(lagged) => lagged.registers.len(),
        Schedule::EventDriven(_) => 0,
    });
    of_root.sum()
}

/// One line per node: its kind, the kind without held values if it differs, numbers kept without
/// recomputation and with it, and the number of carried values.
fn check(text: &str, nodes: &[&str], expected: Expect) {
    let mut lines = Vec::new();
    for node in nodes {
        let prepared = prepared(text, node);
        let planned = |options: &Options| plan(&prepared.flow, &prepared.clocks, options);
        let with = planned(&Options::default());
        let without = planned(&Options { holds: false, ..Options::default() });
        let everything = planned(&Options { recompute: Recompute::Nothing, ..Options::default() });
        let [with_kind, without_kind] = [&with, &without].map(|plan| kind(&prepared.flow, plan));
        let without = if with_kind == without_kind { String::new() } else { format!(" | {without_kind}") };
        let kept = if with_kind.starts_with("window") || with_kind.starts_with("whole") {
            format!("  {} -> {} kept", kept(&prepared, &everything), kept(&prepared, &with))
        } else {
            String::new()
        };
        lines.push(format!("{node}: {with_kind}{without}{kept}  {} carried\n", carried(&with)));
    }
    expected.assert_eq(&lines.concat());
}

#[test]
fn forward_programs() {
    check(
        PROGRAMS,
        &[
            "counter",
            "running_mean",
            "l",
            "l_end",
            "moe",
            "subclock",
            "app_pipe",
            "diff_app",
            "t_app",
            "rnn_reset",
            "infer",
        ],
        expect![[r"
            counter: forward  1 carried
            running_mean: forward  2 carried
            l: forward  2 carried
            l_end: forward  3 carried
            moe: forward  1 carried
            subclock: forward  1 carried
            app_pipe: forward  1 carried
            diff_app: forward  2 carried
            t_app: forward  2 carried
            rnn_reset: forward  2 carried
            infer: forward  1 carried
        "]],
    );
}

#[test]
fn pipelines_are_late() {
    check(
        PROGRAMS,
        &["diff_app_pipe", "t_pipe", "tp"],
        expect![[r"
        diff_app_pipe: lag 1  1 carried
        t_pipe: lag 0  1 carried
        tp: lag 0  1 carried
    "]],
    );
}

#[test]
fn look_ahead_that_a_condition_guards() {
    check(
        PROGRAMS,
        &[
            "backfill",
            "sample_backfill",
            "merge_backfill",
            "rec_merge_backfill",
            "two_backfills",
            "late_backfill",
            "bn",
            "birnn",
            "lb",
        ],
        expect![[r"
            backfill: window bp: s | window bp: B  0 -> 0 kept  0 carried
            sample_backfill: window bp: F,F | window bp: F,B  0 -> 0 kept  1 carried
            merge_backfill: window bp: F,F | window bp: F,B  0 -> 0 kept  1 carried
            rec_merge_backfill: window derived: F,B  1 -> 1 kept  1 carried
            two_backfills: window derived: B  0 -> 0 kept  0 carried
            late_backfill: window e: lag 1, s | window e: lag 1, B  0 -> 0 kept  0 carried
            bn: window batch_end: F,F,F | window batch_end: F,B,F,B  1 -> 0 kept  0 carried
            birnn: window end: F,B  1 -> 1 kept  0 carried
            lb: window end: F,B  2 -> 2 kept  0 carried
        "]],
    );
}

#[test]
fn adjoints_of_programs_with_resets() {
    // `adj_birnn` takes two loops, not three: both of its chains are linear, so neither reads values of the
    // other.
    check(
        PROGRAMS,
        &["adj_bn", "adj_birnn", "adj_lb", "adj_l_end", "adj_rnn_reset"],
        expect![[r"
            adj_bn: window batch_end: F,F,F,B,F,B | window batch_end: F,B,F,B,F,B,F,B  8 -> 2 kept  0 carried
            adj_birnn: window end: F,B  2 -> 2 kept  0 carried
            adj_lb: window end: B,F,B  96 -> 30 kept  0 carried
            adj_l_end: window end: F,B  26 -> 12 kept  0 carried
            adj_rnn_reset: window end: F,B  1 -> 1 kept  0 carried
        "]],
    );
}

#[test]
fn training_by_segments() {
    check(
        PROGRAMS,
        &["diff_l_end", "t_lstm", "t_sgd", "t_mom", "t_adam", "diff_lb", "t_bir", "t_cut", "t_both"],
        expect![[r"
            diff_l_end: window end: F,B,s | window end: F,B,F  26 -> 12 kept  4 carried
            t_lstm: window end: F,B,s | window end: F,B,F  28 -> 12 kept  4 carried
            t_sgd: window end: F,B,s | window end: F,B,F  3 -> 1 kept  3 carried
            t_mom: window end: F,B,s | window end: F,B,F  3 -> 1 kept  6 carried
            t_adam: window end: F,B,s | window end: F,B,F  3 -> 1 kept  12 carried
            diff_lb: window end: F,B,F,B,s | window end: F,B,F,B,F  100 -> 30 kept  8 carried
            t_bir: window end: s,B,F,B,s | window end: F,B,F,B,F  5 -> 2 kept  16 carried
            t_cut: window cut: F,B,s | window cut: F,B,F  3 -> 1 kept  5 carried
            t_both: window end or cut: F,B,s | window end or cut: F,B,F  3 -> 1 kept  6 carried
        "]],
    );
}

#[test]
fn whole_traces() {
    check(
        PROGRAMS,
        &["adj_rnn", "adj_l", "adj_moe", "adj_subclock", "diff_moe", "adj_backsub", "backsub"],
        expect![[r"
            adj_rnn: whole trace: F,B  0 -> 0 kept  0 carried
            adj_l: whole trace: F,B  26 -> 12 kept  0 carried
            adj_moe: whole trace: F,B  3 -> 1 kept  0 carried
            adj_subclock: whole trace: F,B  3 -> 1 kept  0 carried
            diff_moe: whole trace: F,B  3 -> 1 kept  0 carried
            adj_backsub: whole trace: B,F  3 -> 1 kept  0 carried
            backsub: whole trace: B  0 -> 0 kept  0 carried
        "]],
    );
}

#[test]
fn adjoints_of_training_loops() {
    check(
        PROGRAMS,
        &["adj_diff_r_end", "adj_t_sgd"],
        expect![[r"
        adj_diff_r_end: whole trace: F,[end: F,B,s],F,[end back: B,F,B],F | whole trace: F,[end: F,B,F],F,[end back: B,F,B],F  19 -> 19 kept  6 carried
        adj_t_sgd: whole trace: F,[end: F,B,s],F,[end back: B,F,B],F | whole trace: F,[end: F,B,F],F,[end back: B,F,B],F  24 -> 24 kept  6 carried
    "]],
    );
}

#[test]
fn a_recurrence_that_learns_at_every_cycle_waits_for_itself() {
    check(
        PROGRAMS,
        &["diff_r"],
        expect![[r"
            diff_r: event-driven: a part of the derivative of `((0.5 fby …) * x) + ((0.75 fby …) * ((0.25 fby ……`, the derivative of `h`, a part of the derivative of `(0.25 fby …) fby h` need each other, into the future at a part of the derivative of `(0.25 fby …) fby h`  0 carried
        "]],
    );
}

#[test]
fn figure_20_by_hand() {
    let text = include_str!("../../../../language/tests/programs/g38_diff.eddy").to_string()
        + "node hand(x:num [2],end,bp,gt)->(h) h,dx = diff_lstm_end(2,2,x,end,bp,dh); dh = -0.125 * mse_grad_i(h when bp,gt);";
    check(
        &text,
        &["hand"],
        expect![[r"
            hand: window end: bp ? F,B,F : F  28 -> 12 kept  4 carried
        "]],
    );
}
