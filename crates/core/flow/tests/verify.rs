//! Each rule of `verify`, with a flow that violates only this rule and one that satisfies it.

use eddy_flow::text::parse;
use eddy_flow::{Flow, Kind, VarId, verify};

/// The result of `verify` for some lines after the declarations of `INPUTS`.
fn verdict(lines: &str) -> String {
    match verify(&flow(lines)) {
        Ok(()) => "fine".to_string(),
        Err(violation) => violation.to_string(),
    }
}

const INPUTS: &str =
    "input c : bool []\ninput cs : bool [2]\ninput x : num []\ninput xs : num [2]\ninput n : int []\n";

fn flow(lines: &str) -> Flow {
    parse(&format!("{INPUTS}{lines}")).expect("the lines are a flow")
}

#[track_caller]
fn accepts(lines: &str) {
    assert_eq!(verdict(lines), "fine", "{lines}");
}

#[track_caller]
fn refuses(lines: &str, why: &str) {
    assert_eq!(verdict(lines), why, "{lines}");
}

#[test]
fn each_stream_has_one_definition() {
    accepts("");
    refuses("y : num []", "`y` has 0 definitions");
    let mut twice = flow("y : num [] = x + x");
    twice.equations.push(twice.equations[0].clone());
    assert_eq!(verify(&twice).expect_err("two equations").to_string(), "`y` has 2 definitions");
    let mut input = flow("y : num [] = x + x");
    input.equations[0].out = input.find("x").expect("an input");
    input.vars.truncate(5);
    assert_eq!(verify(&input).expect_err("an input with an equation").to_string(), "`x` has 2 definitions");
}

#[test]
fn operands_exist() {
    for beyond in [0, 1] {
        let mut flow = flow("y : num [] = post x");
        let missing = VarId::new(flow.vars.len() + beyond);
        flow.equations[0].kind = Kind::Post(missing);
        let expected = format!("equation 0: there is no stream {}", missing.index());
        assert_eq!(verify(&flow).expect_err("no such stream").to_string(), expected);
    }
}

#[test]
fn constants_have_the_shape_of_their_stream() {
    accepts("y : int [2] = const [1,2]");
    accepts("y : num [2] = const 0");
    refuses(
        "y : int [3] = const [1,2]",
        "equation 0: the constant has shape [2], but the result has type int [3]",
    );
    refuses(
        "y : num [2] = const given num [] 1.5",
        "equation 0: the constant has shape [], but the result has type num [2]",
    );
}

#[test]
fn operations_give_the_shape_of_their_stream() {
    accepts("y : num [2] = x + xs");
    refuses("y : num [] = x + xs", "equation 0: `+` gives shape [2], not []");
}

#[test]
fn operations_have_the_types_of_their_signature() {
    accepts("y : int [] = n + n");
    accepts("y : bool [] = x < x");
    accepts("y : bool [] = c and c");
    // The operands must agree with each other, with the result, and with the class of the operation.
    refuses(
        "y : num [] = x + n",
        "equation 0: `+` has the signature α × α → α, α numeric, but a stream has type int",
    );
    refuses(
        "y : int [] = x + x",
        "equation 0: `+` has the signature α × α → α, α numeric, but a stream has type int",
    );
    refuses(
        "y : bool [] = c + c",
        "equation 0: `+` has the signature α × α → α, α numeric, but a stream has type bool",
    );
    refuses(
        "y : num [] = x < x",
        "equation 0: `<` has the signature α × α → bool, α numeric, but a stream has type num",
    );
    refuses(
        "y : bool [] = c and x",
        "equation 0: `and` has the signature bool × bool → bool, but a stream has type num",
    );
}

#[test]
fn conditions_are_single_truth_values() {
    for (good, bad) in [
        ("y : num [] = x when c", "y : num [] = x when cs"),
        ("y : num [] = x when not c", "y : num [] = x when not cs"),
        ("y : num [] = merge c x x", "y : num [] = merge cs x x"),
    ] {
        accepts(good);
        refuses(bad, "equation 0: a condition has type bool [2], not bool []");
    }
    refuses("y : num [] = x when n", "equation 0: a condition has type int [], not bool []");
    refuses("y : num [] = merge x x x", "equation 0: a condition has type num [], not bool []");
}

#[test]
fn sampling_merging_and_delaying_preserve_the_type() {
    for good in ["merge c x x", "x fby x", "x fby back x", "post x", "param x"] {
        accepts(&format!("y : num [] = {good}"));
    }
    for bad in [
        "xs when c",
        "merge c xs x",
        "merge c x xs",
        "xs fby x",
        "x fby xs",
        "xs fby back x",
        "x fby back xs",
        "post xs",
        "param xs",
    ] {
        refuses(
            &format!("y : num [] = {bad}"),
            "equation 0: an operand has type num [2], but the result has type num []",
        );
    }
    refuses("y : num [] = n fby x", "equation 0: an operand has type int [], but the result has type num []");
}
