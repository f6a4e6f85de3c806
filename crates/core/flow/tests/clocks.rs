//! How clocks are displayed, and which inputs lie on a root.

use eddy_flow::clocks::{Clock, ClockId, Clocks, Root, letters};
use eddy_flow::text::parse;
use eddy_flow::{Flow, Polarity, VarId};

/// Two roots: `z` is on the first, `a` and `b` on the second; `s` is `a when b`, `t` is `s when not d`.
fn sample() -> (Flow, Clocks) {
    let text = "input z : num []\ninput a : num []\ninput b : bool []\ns : num [] = a when b\n\
                d : bool [] = s < s\nt : num [] = s when not d\n";
    let flow = parse(text).expect("it is a flow");
    let var = |name: &str| flow.find(name).expect("it has a name");
    let on = |of, condition, polarity| Clock::On { of: ClockId::new(of), condition, polarity };
    let clocks = vec![
        Clock::Root(Root::Input(var("z"))),
        Clock::Root(Root::Input(var("a"))),
        on(1, var("b"), Polarity::On),
        on(2, var("d"), Polarity::OnNot),
    ];
    let of_var = [0, 1, 1, 2, 2, 3].map(ClockId::new).to_vec();
    let clocks = Clocks::new(clocks, of_var, Vec::new());
    (flow, clocks)
}

#[test]
fn clocks_are_displayed_from_their_root() {
    let (flow, clocks) = sample();
    let label = |var: VarId| flow.labels().label(var);
    let shown: Vec<String> = flow.var_ids().map(|var| clocks.show(&flow, clocks.of(var), &label)).collect();
    assert_eq!(shown, ["base", "'a", "'a", "'a on b", "'a on b", "'a on b on not d"]);
}

#[test]
fn a_root_has_all_inputs_that_lie_on_it() {
    let (flow, clocks) = sample();
    let names = |owner: &str| -> Vec<&str> {
        let inputs = clocks.inputs_on_root(&flow, flow.find(owner).expect("it has a name"));
        inputs.into_iter().filter_map(|input| flow.var(input).name.as_deref()).collect()
    };
    assert_eq!((names("z"), names("a")), (vec!["z"], vec!["a", "b"]));
}

#[test]
fn many_roots_have_different_names() {
    assert_eq!([0, 1, 25, 26, 27, 52].map(letters), ["'a", "'b", "'z", "'a1", "'b1", "'a2"]);
}
