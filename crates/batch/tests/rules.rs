//! What becomes of equations, rule by rule. That it is right is a law of `eddy-reactive`: a batch is separate runs.

use eddy_batch::batch;
use eddy_flow::text::{parse, print};
use eddy_flow::{Flow, VarId};
use expect_test::{Expect, expect};

/// The equations for some streams; `sums` are the gradients of parameters.
fn batched(text: &str, n: usize, sums: &[&str]) -> Flow {
    let flow = parse(text).expect("the flow is right");
    let gradients: Vec<VarId> = sums.iter().map(|name| flow.find(name).expect("it is there")).collect();
    let (flow, _) = batch(flow, n, &gradients).unwrap_or_else(|found| panic!("{}", found[0].title));
    flow
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    check_sums(text, &[], expected);
}

#[track_caller]
fn check_sums(text: &str, sums: &[&str], expected: Expect) {
    expected.assert_eq(&print(&batched(text, 2, sums), |_, _| None));
}

#[test]
fn a_shared_matrix_multiplies_all_streams_at_once() {
    check(
        "input x : num [3]
         k : num [2,3] = const 0.5
         b : num [2] = const 1
         y : num [2] = call matmul ( k x )
         z : num [2] = y + b
         output z",
        expect![[r"
            input x : num [3,2]
            k : num [2,3] = const 0.5
            b : num [2] = const 1
            y : num [2,2] = call matmul ( k x )
            _1 : num [2,1] = call reshape [2,1] ( b )
            z : num [2,2] = y + _1
            output z
        "]],
    );
}

#[test]
fn what_conditions_depend_on_is_shared() {
    check(
        "input x : num []
         input t : num []
         h : num [] = const 0
         c : bool [] = t > h
         y : num [] = x when c
         output y",
        expect![[r"
            input x : num [2]
            input t : num []
            h : num [] = const 0
            c : bool [] = t > h
            y : num [2] = x when c
            output y
        "]],
    );
}

#[test]
fn each_stream_chooses_for_itself() {
    check(
        "input x : num []
         h : num [] = const 0
         c : bool [] = x > h
         y : num [] = if c then x else h
         output y",
        expect![[r"
            input x : num [2]
            h : num [] = const 0
            c : bool [2] = x > h
            y : num [2] = call where ( c x h )
            output y
        "]],
    );
}

#[test]
fn all_elements_are_those_of_one_stream() {
    check(
        "input x : num [2,3]
         s : num [] = call sum ( x )
         m : num [2,3] = call softmax ( x )
         output s
         output m",
        expect![[r"
            input x : num [2,3,2]
            _1 : num [6,2] = call reshape [6,2] ( x )
            s : num [2] = call sum 0 ( _1 )
            _2 : num [2,2] = call max 1 ( x )
            _3 : num [2,1,2] = call reshape [2,1,2] ( _2 )
            _4 : num [2,3,2] = x - _3
            _5 : num [2,3,2] = call exp ( _4 )
            _6 : num [2,2] = call sum 1 ( _5 )
            _7 : num [2,1,2] = call reshape [2,1,2] ( _6 )
            m : num [2,3,2] = _5 / _7
            output s
            output m
        "]],
    );
}

#[test]
fn an_operation_without_a_further_axis_is_applied_to_each_stream() {
    check(
        "input x : num [2]
         i : int [] = call argmax ( x )
         output i",
        expect![[r"
            input x : num [2,2]
            i : int [2] = each [0] call argmax ( x )
            output i
        "]],
    );
}

#[test]
fn products_of_what_differs_are_taken_in_each_stream() {
    check(
        "input x : num [2,3]
         k : num [3,4] = const 0.5
         t : num [3,2] = call transpose ( x )
         y : num [2,2] = call matmul ( x t )
         z : num [2,4] = call matmul ( x k )
         output y
         output z",
        expect![[r"
            input x : num [2,3,2]
            k : num [3,4] = const 0.5
            t : num [3,2,2] = each [0] call transpose ( x )
            y : num [2,2,2] = each [0,1] call matmul ( x t )
            z : num [2,4,2] = each [0] call matmul ( x k )
            output y
            output z
        "]],
    );
}

/// All operations that know no further axis, and a gradient.
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
fn the_text_of_a_batch_is_read_back() {
    let flow = batched(OF_EACH_STREAM, 3, &["gk"]);
    let text = print(&flow, |_, _| None);
    assert!(text.contains("each [0] call conv2d ( x k )"), "{text}");
    let again = parse(&text).expect("what is printed can be read");
    assert_eq!(print(&again, |_, _| None), text);
}

#[test]
fn a_sum_of_outer_products_is_a_product() {
    check_sums(
        "input e : num [2]
         input x : num [3]
         c : num [2,3] = call outer ( e x )
         z : num [2,3] = const 0
         h : num [2,3] = z fby d
         d : num [2,3] = c + h
         g : num [2,3] = d
         output g",
        &["g"],
        expect![[r"
            input e : num [2,2]
            input x : num [3,2]
            z : num [2,3] = const 0
            g : num [2,3] = _1
            _1 : num [2,3] = _2 + _3
            _3 : num [2,3] = z fby _1
            _4 : num [2,3] = call transpose ( x )
            _5 : num [2,3] = call reshape [2,3] ( _4 )
            _2 : num [2,3] = call matmul ( e _5 )
            output g
        "]],
    );
}

#[test]
fn what_each_stream_needs_is_summed_up_as_it_is() {
    check_sums(
        "input e : num [2]
         input x : num [3]
         d : num [2] = e + e
         c : num [2,3] = call outer ( d x )
         g : num [2,3] = c
         b : num [2] = d
         output g
         output b",
        &["g", "b"],
        expect![[r"
            input e : num [2,2]
            input x : num [3,2]
            d : num [2,2] = e + e
            g : num [2,3] = _1
            b : num [2] = _2
            _2 : num [2] = call sum 1 ( d )
            _3 : num [2,3] = call transpose ( x )
            _4 : num [2,3] = call reshape [2,3] ( _3 )
            _1 : num [2,3] = call matmul ( d _4 )
            output g
            output b
        "]],
    );
}

#[test]
fn what_is_the_same_in_all_streams_counts_once_for_each() {
    // A gradient that no data reach, and a shared summand of one that data reach.
    check_sums(
        "input x : num []
         k : num [] = const 0.5
         s : num [] = k * k
         g : num [] = s
         d : num [] = x + s
         h : num [] = d
         output g
         output h",
        &["g", "h"],
        expect![[r"
            input x : num [2]
            k : num [] = const 0.5
            s : num [] = k * k
            _1 : num [] = const 2.0
            _2 : num [] = _1 * s
            g : num [] = _2
            h : num [] = _3
            _5 : num [] = const 2.0
            _6 : num [] = _5 * s
            _3 : num [] = _4 + _6
            _4 : num [] = call sum 0 ( x )
            output g
            output h
        "]],
    );
}
