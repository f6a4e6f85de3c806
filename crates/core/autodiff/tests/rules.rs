//! Each rule by its output: flow in, flow out.

use eddy_autodiff::section::{
    Adjoint, Edge, Instance, Mark, Mode, Pair, Request, Section, Tangent, Train, Trained, Weave,
};
use eddy_autodiff::{EquationLimit, Expanded, Gradients, Host, Node, NodeCall, NodeStep, Use, expand};
use eddy_flow::clocks::{Clock, ClockId, Clocks, Root};
use eddy_flow::text::{parse, print};
use eddy_flow::{Equation, Flow, Kind, Var, VarId, verify};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Scalar, Shape, Type};
use expect_test::{Expect, expect};

/// A host without user derivatives, where all clocks are base.
struct NoUserRules;

impl Host for NoUserRules {
    fn rule(&mut self, _: &Instance, _: Mode, _: &[Type]) -> Result<Expanded, Vec<Diagnostic>> {
        unreachable!("no instance has a derivative of its own")
    }

    fn guessed_clocks(&self, flow: &Flow) -> Clocks {
        self.clocks(flow).expect("all clocks are base")
    }

    /// All streams are on one clock.
    fn clocks(&self, flow: &Flow) -> Result<Clocks, Vec<Diagnostic>> {
        let base = ClockId::new(0);
        Ok(Clocks::new(vec![Clock::Root(Root::Always)], vec![base; flow.vars.len()], Vec::new()))
    }

    fn equation_limit(&self) -> EquationLimit {
        EquationLimit { max: 1000, help: "write less" }
    }
}

/// Adds a derivative of a stream, whose name is that of the stream after a letter.
fn with_derivative(flow: &mut Flow, letter: &str, of: VarId) -> Pair {
    let Var { name, ty, span, .. } = flow.var(of).clone();
    let name = name.map(|name| name.path().name(format!("{letter}{}", name.word())));
    flow.vars.push(Var { name, ty, span, purpose: None });
    Pair { primal: of, derivative: VarId::new(flow.vars.len() - 1) }
}

fn expanded(flow: Flow, request: Request) -> Flow {
    let end = flow.equations.len();
    let section = Box::new(Section { span: Span::default(), request });
    let marks = vec![Mark { at: 0, what: Edge::Begin }, Mark { at: end, what: Edge::End(section) }];
    let flow = expand(flow, marks, Gradients::Direct, &mut NoUserRules).expect("nothing is wrong").flow;
    verify(&flow).expect("a pass leaves a flow");
    flow
}

fn nums(vars: &[VarId], flow: &Flow) -> Vec<VarId> {
    vars.iter().copied().filter(|var| flow.var(*var).ty.scalar == Scalar::Num).collect()
}

/// The equations that the adjoint of a flow adds.
fn adjoint(text: &str, expected: Expect) {
    let mut flow = parse(text).expect("the text is a flow");
    let n = flow.equations.len();
    let (inputs, outputs) = (nums(&flow.inputs, &flow), nums(&flow.outputs, &flow));
    let outputs: Vec<Pair> =
        outputs.into_iter().map(|output| with_derivative(&mut flow, "d", output)).collect();
    flow.inputs.extend(outputs.iter().map(|pair| pair.derivative));
    let inputs: Vec<Pair> = inputs.into_iter().map(|input| with_derivative(&mut flow, "d", input)).collect();
    flow.outputs.extend(inputs.iter().map(|pair| pair.derivative));
    let flow = expanded(flow, Request::Adjoint(Adjoint { inputs, outputs, parameters: Vec::new() }));
    expected.assert_eq(&added(&flow, n));
}

/// The equations that the tangent of a flow adds.
fn tangent(text: &str, expected: Expect) {
    let mut flow = parse(text).expect("the text is a flow");
    let n = flow.equations.len();
    let inputs: Vec<Pair> =
        nums(&flow.inputs, &flow).into_iter().map(|input| with_derivative(&mut flow, "t", input)).collect();
    flow.inputs.extend(inputs.iter().map(|pair| pair.derivative));
    let outputs: Vec<Pair> =
        flow.outputs.clone().into_iter().map(|output| with_derivative(&mut flow, "t", output)).collect();
    flow.outputs.extend(outputs.iter().map(|pair| pair.derivative));
    let flow = expanded(flow, Request::Tangent(Tangent { inputs, outputs, parameters: Vec::new() }));
    expected.assert_eq(&added(&flow, n));
}

/// All equations of a flow after weaving `end`, which is the last input.
fn woven(text: &str, expected: Expect) {
    let flow = parse(text).expect("the text is a flow");
    let end = flow.inputs.last().copied();
    let flow = expanded(
        flow,
        Request::Weave(Weave { node: "n".to_string(), end, cut: None, is_differentiated: false }),
    );
    expected.assert_eq(&added(&flow, 0));
}

/// The equations that training adds to a flow whose loss is its output: `ip` is the initial value of a
/// parameter `p`, `dp` its gradient, `sp` when it is updated, and `vp` the output of its optimiser.
fn trained(text: &str, expected: Expect) {
    let mut flow = parse(text).expect("the text is a flow");
    let n = flow.equations.len();
    let is_parameter = |equation: &&Equation| matches!(equation.kind, Kind::Param(_));
    let parameters: Vec<VarId> =
        flow.equations.iter().filter(is_parameter).map(|equation| equation.out).collect();
    let mut of_parameter = |parameter: VarId| {
        let [init, gradient, step, value] =
            ["i", "d", "s", "v"].map(|letter| with_derivative(&mut flow, letter, parameter).derivative);
        flow.vars[step.index()].ty = Type { scalar: Scalar::Bool, shape: Shape::scalar() };
        flow.inputs.push(value);
        flow.outputs.extend([init, gradient, step]);
        Trained { init, gradient, step: Some(step), value }
    };
    let parameters = parameters.into_iter().map(&mut of_parameter).collect();
    let loss = flow.outputs[0];
    let request = Train { node: "n".to_string(), loss, n_rows: None, parameters, is_bounded: false };
    let flow = expanded(flow, Request::Train(request));
    expected.assert_eq(&added(&flow, n));
}

/// The equations from the n-th on, as text.
fn added(flow: &Flow, n: usize) -> String {
    let text = print(flow, |_, _| None);
    let equations = text.lines().filter(|line| line.contains(" = "));
    equations.skip(n).flat_map(|line| [line, "\n"]).collect()
}

/// The contributions of uses to cotangents, in a node that begins with the call `a, b = f(x, k)`, through
/// which derivatives pass from `x` to `a` and from `k` to `b`. The text contains the equations after it.
fn transposed(text: &str, expected: Expect) {
    let flow = parse(text).expect("the text is a flow");
    let find = |name: &str| {
        let is_named = |var: &VarId| flow.var(*var).name.as_deref() == Some(name);
        flow.var_ids().find(is_named).expect("there is such a stream")
    };
    let passes = vec![vec![true, false], vec![false, true]];
    let [x, k, a, b] = ["x", "k", "a", "b"].map(find);
    let call = NodeStep::Call(NodeCall { inputs: vec![x, k], outputs: vec![a, b], passes });
    let equations = flow.equations.iter().cloned().map(NodeStep::Equation);
    let node = Node { vars: flow.vars.clone(), steps: std::iter::once(call).chain(equations).collect() };
    let transposed = node.transpose(&[x, k], &flow.outputs);
    let all =
        Flow { vars: transposed.vars.clone(), equations: transposed.equations.clone(), ..Flow::default() };
    let labels = all.labels();
    let show = |usage: &Use| {
        let written = transposed.equations_of(usage).iter().map(|equation| labels.label(equation.out));
        let written: Vec<String> = written.collect();
        format!(
            "step {}, operand {}: cotangent of {} += {} ({})\n",
            usage.step,
            usage.position,
            labels.label(usage.operand),
            labels.label(usage.value),
            written.join("; "),
        )
    };
    let found: String = transposed.uses.iter().map(show).collect();
    expected.assert_eq(&found);
}

#[test]
fn a_node_is_transposed_with_its_calls_as_they_are() {
    transposed(
        "input x : num []\ninput k : num []\ninput a : num []\ninput b : num []\ny : num [] = a * x\noutput y",
        expect![[r"
            step 0, operand 0: cotangent of x += d'x' ()
            step 1, operand 0: cotangent of a += d'y * x (d'y * x)
            step 1, operand 1: cotangent of x += d'y * a (d'y * a)
        "]],
    );
}

#[test]
fn a_call_contributes_only_where_derivatives_pass() {
    transposed(
        "input x : num []\ninput k : num []\ninput a : num []\ninput b : num []\ny : num [] = x fby b\noutput y",
        expect![[r"
            step 0, operand 1: cotangent of k += d'k' ()
            step 1, operand 0: cotangent of x += if (true fby false) then d'y else 0 (0; true; false; true fby false; if (true fby false) then d'y else 0)
            step 1, operand 1: cotangent of b += 0 fby back d'y (0; 0 fby back d'y)
        "]],
    );
}

#[test]
fn a_product_needs_the_other_factor() {
    adjoint(
        "input x : num []\ninput k : num []\ny : num [] = x * k\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            dk : num [] = dy * x
            dx : num [] = dy * k
        "]],
    );
}

#[test]
fn fan_out_is_a_sum() {
    adjoint(
        "input x : num []\ny : num [] = x + x\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            dx : num [] = dy + dy
        "]],
    );
}

#[test]
fn what_was_stretched_is_summed() {
    adjoint(
        "input x : num []\ninput v : num [3]\ny : num [3] = x + v\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [3] = if _1 then dy else y
            dx : num [] = call reduce [] ( dy )
            dv : num [3] = dy
        "]],
    );
}

#[test]
fn when_becomes_merge() {
    adjoint(
        "input x : num []\ninput c : bool []\ny : num [] = x when c\nz : num [] = x when not c\noutput y\noutput z",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            _3 : bool [] = const true
            _4 : num [] = if _3 then dz else z
            _5 : num [] = const zero
            _6 : num [] = merge c _5 dz
            _7 : num [] = const zero
            _8 : num [] = merge c dy _7
            dx : num [] = _8 + _6
        "]],
    );
}

#[test]
fn merge_becomes_when() {
    adjoint(
        "input a : num []\ninput b : num []\ninput c : bool []\ny : num [] = merge c a b\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            db : num [] = dy when not c
            da : num [] = dy when c
        "]],
    );
}

#[test]
fn a_branch_that_is_not_taken_gets_zero() {
    adjoint(
        "input a : num []\ninput b : num []\ninput c : bool []\ny : num [] = if c then a else b\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            _3 : num [] = const zero
            db : num [] = if c then _3 else dy
            _4 : num [] = const zero
            da : num [] = if c then dy else _4
        "]],
    );
}

#[test]
fn delays_to_the_past_become_delays_to_the_future() {
    adjoint(
        "input i : num []\ninput x : num []\ny : num [] = i fby x\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            _3 : num [] = const zero
            dx : num [] = _3 fby back dy
            _4 : num [] = const zero
            _5 : bool [] = const true
            _6 : bool [] = const false
            _7 : bool [] = _5 fby _6
            di : num [] = if _7 then dy else _4
        "]],
    );
}

#[test]
fn delays_to_the_future_become_delays_to_the_past() {
    adjoint(
        "input x : num []\ny : num [] = post x\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            _3 : num [] = const zero
            dx : num [] = _3 fby dy
        "]],
    );
    adjoint(
        "input i : num []\ninput x : num []\ny : num [] = i fby back x\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then dy else y
            _3 : num [] = const zero
            dx : num [] = _3 fby dy
            _4 : num [] = const zero
            _5 : bool [] = const true
            _6 : bool [] = const false
            _7 : bool [] = _5 fby back _6
            di : num [] = if _7 then dy else _4
        "]],
    );
}

#[test]
fn a_recurrence_runs_backwards() {
    adjoint(
        "input x : num []\n_1 : num [] = const 0.0\n_2 : num [] = _1 fby h\nh : num [] = x + _2\noutput h",
        expect![[r"
            _3 : bool [] = const true
            _4 : num [] = if _3 then dh else h
            _5 : num [] = const zero
            _6 : num [] = _5 fby back d'h
            d'h : num [] = dh + _6
            dx : num [] = d'h
        "]],
    );
}

#[test]
fn what_does_not_vary_is_zero_beside_its_stream() {
    adjoint(
        "input x : num []\ninput k : num []\n_1 : num [] = call stop_gradient ( k )\ny : num [] = x + _1\noutput y",
        expect![[r"
            _2 : bool [] = const true
            _3 : num [] = if _2 then dy else y
            dx : num [] = dy
            _4 : bool [] = const true
            _5 : num [] = const zero
            dk : num [] = if _4 then _5 else k
        "]],
    );
}

#[test]
fn tangents_follow_the_equations() {
    tangent(
        "input x : num []\ninput k : num []\ny : num [] = x * k\noutput y",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [] = if _1 then tx else x
            _3 : bool [] = const true
            _4 : num [] = if _3 then tk else k
            _5 : num [] = tx * k
            _6 : num [] = tk * x
            ty : num [] = _5 + _6
        "]],
    );
    tangent(
        "input x : num []\n_1 : num [] = const 0.0\ny : num [] = _1 fby x\nz : num [] = post y\noutput z",
        expect![[r"
            _2 : bool [] = const true
            _3 : num [] = if _2 then tx else x
            _4 : num [] = const zero
            t'y : num [] = _4 fby tx
            tz : num [] = post t'y
        "]],
    );
}

#[test]
fn resets_are_woven_into_delays_and_parameters() {
    woven(
        "input i : num []\ninput x : num []\ninput end : bool []\no : num [] = i fby x\noutput o",
        expect![[r"
            _1 : bool [] = const true
            _2 : bool [] = _1 fby end
            _3 : num [] = const zero
            _4 : num [] = if end then _3 else x
            _5 : num [] = i fby _4
            o : num [] = if _2 then i else _5
        "]],
    );
    woven(
        "input x : num []\ninput end : bool []\no : num [] = post x\noutput o",
        expect![[r"
            _1 : bool [] = const true
            _2 : bool [] = _1 fby end
            _3 : num [] = const zero
            _4 : num [] = if _2 then _3 else x
            _5 : num [] = const zero
            _6 : num [] = post _4
            o : num [] = if end then _5 else _6
        "]],
    );
    woven(
        "input end : bool []\n_1 : num [] = const 0.5\no : num [] = param _1\noutput o\nparameter o o",
        expect![[r"
            _2 : bool [] = const true
            _3 : bool [] = _2 fby end
            _1 : num [] = const 0.5
            _4 : num [] = param _1
            _5 : num [] = const zero
            _6 : num [] = if end then _5 else o
            _7 : num [] = _4 fby _6
            o : num [] = if _3 then _4 else _7
        "]],
    );
}

#[test]
fn the_tangent_of_a_branch_that_does_not_vary_is_zero() {
    tangent(
        "input x : num []\ninput c : bool []\n_1 : num [] = const 2.0\ny : num [] = if c then x else _1\noutput y",
        expect![[r"
            _2 : bool [] = const true
            _3 : num [] = if _2 then tx else x
            _4 : num [] = const zero
            ty : num [] = if c then tx else _4
        "]],
    );
    tangent(
        "input x : num []\ninput c : bool []\n_1 : num [] = const 2.0\ny : num [] = if c then _1 else x\noutput y",
        expect![[r"
            _2 : bool [] = const true
            _3 : num [] = if _2 then tx else x
            _4 : num [] = const zero
            ty : num [] = if c then _4 else tx
        "]],
    );
}

#[test]
fn rows_side_by_side_are_put_together() {
    adjoint(
        "input x : num [4]\na : num [1] = call slice 0 1 ( x )\nb : num [2] = call slice 2 4 ( x )\noutput a\noutput b",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [1] = if _1 then da else a
            _3 : bool [] = const true
            _4 : num [2] = if _3 then db else b
            _5 : num [1] = const zero
            dx : num [4] = call concat ( da _5 db )
        "]],
    );
}

#[test]
fn rows_that_overlap_are_added() {
    adjoint(
        "input x : num [3]\na : num [2] = call slice 0 2 ( x )\nb : num [2] = call slice 1 3 ( x )\noutput a\noutput b",
        expect![[r"
            _1 : bool [] = const true
            _2 : num [2] = if _1 then da else a
            _3 : bool [] = const true
            _4 : num [2] = if _3 then db else b
            _5 : num [3] = call pad 1 3 ( db )
            _6 : num [3] = call pad 0 3 ( da )
            dx : num [3] = _6 + _5
        "]],
    );
}

#[test]
fn a_parameter_moves_where_its_gradient_can_be_different_from_zero() {
    // On the clock of the loss.
    trained(
        "input x : num []\n_1 : num [] = const 0.5\np : num [] = param _1\nl : num [] = p * x\noutput l",
        expect![[r"
            _2 : num [] = const 1.0
            dp : num [] = _2 * x
            _3 : bool [] = const true
            sp : bool [] = _3
            ip : num [] = _1
        "]],
    );
    // On the clock of a sampled stream, and in the merged branch.
    trained(
        "input x : num []\ninput c : bool []\n_1 : num [] = const 0.5\np : num [] = param _1\nq : num [] = param _1\n\
         a : num [] = p when c\nb : num [] = q when not c\nl : num [] = merge c a b\noutput l",
        expect![[r"
            _2 : num [] = const 1.0
            d'b : num [] = _2 when not c
            d'a : num [] = _2 when c
            _3 : num [] = const zero
            dq : num [] = merge c _3 d'b
            _4 : num [] = const zero
            dp : num [] = merge c d'a _4
            _6 : bool [] = _7 when not c
            _5 : bool [] = _7 when c
            _8 : bool [] = const false
            sq : bool [] = merge c _8 _6
            _9 : bool [] = const false
            sp : bool [] = merge c _5 _9
            _7 : bool [] = const true
            ip : num [] = _1
            iq : num [] = _1
        "]],
    );
}

#[test]
fn a_parameter_moves_a_cycle_before_what_reads_it_late() {
    trained(
        "input x : num []\n_1 : num [] = const 0.5\np : num [] = param _1\nl : num [] = x fby p\noutput l",
        expect![[r"
            _2 : num [] = const 1.0
            _3 : num [] = const zero
            dp : num [] = _3 fby back _2
            _5 : bool [] = const false
            sp : bool [] = _5 fby back _4
            _4 : bool [] = const true
            ip : num [] = _1
        "]],
    );
}

#[test]
fn a_parameter_moves_a_cycle_after_what_reads_it_early() {
    trained(
        "input x : num []\n_1 : num [] = const 0.5\np : num [] = param _1\nl : num [] = x fby back p\noutput l",
        expect![[r"
            _2 : num [] = const 1.0
            _3 : num [] = const zero
            dp : num [] = _3 fby _2
            _5 : bool [] = const false
            sp : bool [] = _5 fby _4
            _4 : bool [] = const true
            ip : num [] = _1
        "]],
    );
    trained(
        "_1 : num [] = const 0.5\np : num [] = param _1\nl : num [] = post p\noutput l",
        expect![[r"
        _2 : num [] = const 1.0
        _3 : num [] = const zero
        dp : num [] = _3 fby _2
        _5 : bool [] = const false
        sp : bool [] = _5 fby _4
        _4 : bool [] = const true
        ip : num [] = _1
    "]],
    );
}

#[test]
fn a_parameter_that_the_loss_does_not_read_never_moves() {
    trained(
        "input x : num []\n_1 : num [] = const 0.5\np : num [] = param _1\nq : num [] = param _1\n\
         r : num [] = q * x\nl : num [] = p * x\noutput l\noutput r",
        expect![[r"
            _2 : num [] = const 1.0
            dp : num [] = _2 * x
            _3 : bool [] = const true
            sp : bool [] = _3
            _4 : bool [] = const false
            sq : bool [] = _4
            ip : num [] = _1
            iq : num [] = _1
            _5 : bool [] = const true
            _6 : num [] = const zero
            dq : num [] = if _5 then _6 else q
        "]],
    );
}
