//! Each rule by what it writes: flow in, flow out.

use eddy_autodiff::section::{Adjoint, Edge, Instance, Mark, Mode, Pair, Section, Tangent, Weave, Wish};
use eddy_autodiff::{Expanded, Gradients, Host, expand};
use eddy_flow::clocks::{Clock, ClockId, Clocks, Root};
use eddy_flow::text::{parse, print};
use eddy_flow::{Equation, Flow, Var, VarId, verify};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Type;
use expect_test::{Expect, expect};

/// Nobody writes derivatives here, and all clocks are base.
struct Nobody;

impl Host for Nobody {
    fn rule(&mut self, _: &Instance, _: Mode, _: &[Type]) -> Result<Expanded, Vec<Diagnostic>> {
        unreachable!("no instance has a derivative of its own")
    }

    fn sampled(
        &self,
        _: &Flow,
        _: &dyn Fn(&Equation) -> bool,
    ) -> Result<Option<(usize, String)>, Vec<Diagnostic>> {
        Ok(None)
    }

    /// All streams are on one clock.
    fn clocks(&self, flow: &Flow) -> Result<Clocks, Vec<Diagnostic>> {
        let base = ClockId::new(0);
        Ok(Clocks::new(vec![Clock::Root(Root::Always)], vec![base; flow.vars.len()], Vec::new()))
    }
}

/// A stream beside another one, with a letter in front of its name.
fn beside(flow: &mut Flow, letter: &str, of: VarId) -> Pair {
    let Var { name, ty, span, .. } = flow.var(of).clone();
    let name = name.map(|name| format!("{letter}{name}").into_boxed_str());
    flow.vars.push(Var { name, ty, span, purpose: None });
    Pair { primal: of, derivative: VarId::new(flow.vars.len() - 1) }
}

fn expanded(flow: Flow, wish: Wish) -> Flow {
    let end = flow.equations.len();
    let section = Box::new(Section { span: Span::default(), wish });
    let marks = vec![Mark { at: 0, what: Edge::Begin }, Mark { at: end, what: Edge::End(section) }];
    let flow = expand(flow, marks, Gradients::AsTheyAre, &mut Nobody).expect("nothing is wrong").flow;
    verify(&flow).expect("a pass leaves a flow");
    flow
}

/// The equations that the adjoint of a flow adds.
fn adjoint(text: &str, expected: Expect) {
    let mut flow = parse(text).expect("the text is a flow");
    let n = flow.equations.len();
    let nums = |vars: &[VarId], flow: &Flow| -> Vec<VarId> {
        vars.iter().copied().filter(|var| flow.var(*var).ty.to_string().starts_with("num")).collect()
    };
    let (inputs, outputs) = (nums(&flow.inputs, &flow), nums(&flow.outputs, &flow));
    let outputs: Vec<Pair> = outputs.into_iter().map(|output| beside(&mut flow, "d", output)).collect();
    flow.inputs.extend(outputs.iter().map(|pair| pair.derivative));
    let inputs: Vec<Pair> = inputs.into_iter().map(|input| beside(&mut flow, "d", input)).collect();
    flow.outputs.extend(inputs.iter().map(|pair| pair.derivative));
    let flow = expanded(flow, Wish::Adjoint(Adjoint { inputs, outputs, parameters: Vec::new() }));
    expected.assert_eq(&added(&flow, n));
}

/// The equations that the tangent of a flow adds.
fn tangent(text: &str, expected: Expect) {
    let mut flow = parse(text).expect("the text is a flow");
    let n = flow.equations.len();
    let inputs: Vec<Pair> =
        flow.inputs.clone().into_iter().map(|input| beside(&mut flow, "t", input)).collect();
    flow.inputs.extend(inputs.iter().map(|pair| pair.derivative));
    let outputs: Vec<Pair> =
        flow.outputs.clone().into_iter().map(|output| beside(&mut flow, "t", output)).collect();
    flow.outputs.extend(outputs.iter().map(|pair| pair.derivative));
    let flow = expanded(flow, Wish::Tangent(Tangent { inputs, outputs, parameters: Vec::new() }));
    expected.assert_eq(&added(&flow, n));
}

/// All equations of a flow into which `end` is woven; it is the last input.
fn woven(text: &str, expected: Expect) {
    let flow = parse(text).expect("the text is a flow");
    let end = flow.inputs.last().copied();
    let flow = expanded(flow, Wish::Weave(Weave { node: "n".to_string(), end, cut: None }));
    expected.assert_eq(&added(&flow, 0));
}

/// The equations from the n-th on, as text.
fn added(flow: &Flow, n: usize) -> String {
    let text = print(flow, |_, _| None);
    let equations = text.lines().filter(|line| line.contains(" = "));
    equations.skip(n).flat_map(|line| [line, "\n"]).collect()
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
fn what_looked_back_looks_ahead() {
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
fn what_looked_ahead_looks_back() {
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
