//! What becomes of equations, rule by rule. That it is right is a law of `eddy-reactive`: a batch is separate runs.

use eddy_batch::batch;
use eddy_flow::text::{parse, print};
use eddy_flow::{Flow, VarId};
use expect_test::{Expect, expect};

/// The equations for two streams; `sums` are the gradients of parameters.
fn batched(text: &str, sums: &[&str]) -> Flow {
    let flow = parse(text).expect("the flow is right");
    let gradients: Vec<VarId> = sums.iter().map(|name| flow.find(name).expect("it is there")).collect();
    let (flow, _) = batch(flow, 2, &gradients).unwrap_or_else(|found| panic!("{}", found[0].title));
    flow
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    check_sums(text, &[], expected);
}

#[track_caller]
fn check_sums(text: &str, sums: &[&str], expected: Expect) {
    expected.assert_eq(&print(&batched(text, sums), |_, _| None));
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
            _2 : num [6,2] = call reshape [6,2] ( x )
            _3 : num [2,6] = call transpose ( _2 )
            _4 : num [2,2,3] = call reshape [2,2,3] ( _3 )
            _5 : num [2,2,3] = call softmax ( _4 )
            _6 : num [2,6] = call reshape [2,6] ( _5 )
            _7 : num [6,2] = call transpose ( _6 )
            m : num [2,3,2] = call reshape [2,3,2] ( _7 )
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
            _1 : num [2,2] = call transpose ( x )
            _2 : num [2] = _1 [0]
            _3 : int [] = call argmax ( _2 )
            _4 : num [2] = _1 [1]
            _5 : int [] = call argmax ( _4 )
            _6 : int [2] = [ _3 _5 ]
            i : int [2] = _6
            output i
        "]],
    );
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
