//! How equations are translated, rule by rule, in the files of `passes`: flow in, flow out. A law in
//! `eddy-driver` checks that a batch equals separate runs.

use std::path::Path;

use eddy_batch::batch;
use eddy_flow::text::{parse, print};
use eddy_flow::{Flow, VarId};
use eddy_tests::passes::check_folder;

/// The batched equations; `sums` names the gradients of parameters.
fn batched(text: &str, n: usize, sums: &[&str]) -> Flow {
    let flow = parse(text).expect("the flow is right");
    let gradients: Vec<VarId> = sums.iter().map(|name| flow.find(name).expect("it is there")).collect();
    let (flow, _) = batch(flow, n, &gradients).unwrap_or_else(|found| panic!("{}", found[0].title));
    flow
}

#[test]
fn equations_are_translated() {
    check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes"), |words, text| {
        let ["batch", n, sums @ ..] = words else { return Err(format!("no pass `{}`", words.join(" "))) };
        let sums = sums.strip_prefix(&["sums"]).unwrap_or(sums);
        let n = n.parse().map_err(|_| format!("`{n}` is no number of streams"))?;
        Ok(print(&batched(text, n, sums), |_, _| None))
    });
}

/// All operations that are applied to each stream separately, and a gradient.
const OF_EACH_STREAM: &str = "
    input x : num [4,4,1]
    input g : num [3,3,2]
    k : num [2,2,1,2] = const 0.5
    y : num [3,3,2] = call conv2d ( x k )
    dx : num [4,4,1] = call conv2d_dx ( k g )
    dk : num [2,2,1,2] = call conv2d_dk ( x g )
    m : num [4,4] = call reshape [4,4] ( x )
    t : num [4,4] = call transpose ( m )
    p : num [4,4] = call matmul ( m t )
    s : num [4,4] = call softmax ( p )
    i : int [] = call argmax ( s )
    h : num [16] = call onehot 16 ( i )
    gk : num [2,2,1,2] = dk
    output y
    output dx
    output h
    output gk";

#[test]
fn there_are_as_many_equations_for_many_streams_as_for_two() {
    let n_equations = |n: usize| batched(OF_EACH_STREAM, n, &["gk"]).equations.len();
    assert_eq!(n_equations(2), n_equations(1000));
    assert_eq!(n_equations(2), n_equations(1));
}

#[test]
fn the_text_of_a_batched_flow_parses_back() {
    let flow = batched(OF_EACH_STREAM, 3, &["gk"]);
    let text = print(&flow, |_, _| None);
    assert!(text.contains("each [0] call conv2d ( x k )"), "{text}");
    let again = parse(&text).expect("what is printed can be read");
    assert_eq!(print(&again, |_, _| None), text);
}
