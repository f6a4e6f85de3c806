//! The golden examples of the specification.

use eddy_language::functions::Budget;

use crate::harness::{check, output};

macro_rules! golden {
    ($($name:ident: $file:literal, [$($line:expr),* $(,)?];)*) => {
        $(
            #[test]
            fn $name() {
                check(include_str!(concat!("../programs/", $file, ".eddy")), &[$($line),*]);
            }
        )*
    };
}

golden! {
    f01_a_function_its_derivative_both_modes: "f01", ["8", "[12,[8,12],[8,120]]", "[-1,3]"];
    f02_euclidean_division_short_circuit_lazy_if: "f02", ["[-1,5,-1,-1]", "[-4,1,true]"];
    f03_literals_take_the_type_that_is_needed_functions_are_checked_at_each_use: "f03", ["[11,4.5,3,3.5]"];
    f04_recursion_result_type_inferred_and_written: "f04", ["[3628800,false]"];
    f05_non_tail_recursion_differentiated: "f05", ["80", "[[10,6],[6,0]]"];
    f06_recursion_on_the_size_determinant: "f06", ["6", "[[5,-4],[-1,2]]"];
    f07_records_partial_patterns_update_tangents_of_int_fields: "f07", [r#"{"at":[1,3],"mass":0.5,"id":7}"#, r#"{"at":[4,12],"mass":10,"id":[]}"#, "[20,4]"];
    f08_enumerations: "f08", [r#"["small","small","large"]"#, "[6,20,true]"];
    f09_comprehensions_reductions_filters_dependent_bounds: "f09", ["[[0,1,2],[10,11,12]]", "[11,4,2]", "[1,5,9]", "[true,true,120]"];
    f10_fold_scan_loop: "f10", ["11223", "[[1,1,2,3,5],[1,2,3,5,8]]", "[81,4]", "[40,20,10]"];
    f11_a_while_loop_differentiated_the_count_is_not: "f11", ["[125,75,1]"];
    f12_indexing_ranges_gather_update: "f12", ["[6,[1,4],[2,3],[[4,5,6],[1,2,3],[4,5,6]]]", "[[1,12,3],[7,8,9]]", "[2,[2,3],[]]"];
    f13_gradient_of_gather_and_scatter_duplicates_add: "f13", ["[10,0,101]", "[10,0,101]", "[202,20,202]"];
    f14_an_update_in_a_loop_the_overwritten_element_gets_nothing: "f14", ["[6,2,4]", "[[1,1,1],[2,0,0],[4,0,0]]", "5"];
    f15_perturbations_are_not_confused: "f15", ["1", "[9,6]", "12"];
    f16_closures_function_parameters_derivatives_of_what_they_capture: "f16", ["1.4142135623746899", "17", "103"];
    f17_recursion_through_its_own_derivative: "f17", ["[5.0625,13.5,27,36]"];
    f18_synthesised_names_and_again_of_the_result: "f18", ["[30,15,[6,6]]", "[30,21]", "[[8,12],12,12]"];
    f19_custom_derivative_used_by_both_modes_its_transpose: "f19", ["[0.1,[1,0.30000000000000004],0.55]"];
    f20_kinks_and_ties_as_in_nodes_stop_gradient: "f20", ["[0,0,1,0]", "[[1,0],[1,0]]", "3"];
    f21_jacobians_and_hessians_of_structures: "f21", ["[[[1,3],[[2,0],[0,2]]],[4,[0,0]]]", r#"{"a":{"a":0,"b":[2,6]},"b":{"a":[2,6],"b":[[4,0],[0,4]]}}"#];
    f22_sizes_declared_computed_found_at_run_time: "f22", ["[-1,-1,-1]", "[[1,2],[2,3]]"];
    f26_error_at_run_time_what_was_printed_stays: "f26", ["1", "FILE:2:12: error: index 9 is out of range for shape [2]"];
    f27_overflow: "f27", ["FILE:1:47: error: integer overflow"];
    f29_sizes_that_differ_at_run_time: "f29", ["FILE:1:26: error: size error: a size is 3 where 2 is required"];
    f30_sizes_that_differ_for_certain: "f30", ["FILE:2:6: error: size error: an argument of 'add' has size 2 where 1 is required"];
    f31_a_function_value_where_none_may_be: "f31", ["FILE:1:4: error: a function value cannot be the result of a function"];
    f32_a_recursive_call_with_a_new_function: "f32", ["FILE:1:69: error: a recursive call of 'cps' must pass its function parameters unchanged, not a new function"];
    f33_result_type_needed: "f33", ["FILE:1:4: error: the result type of the recursive function 'f' cannot be found: write it"];
    f34_streams_stay_outside: "f34", ["FILE:1:27: error: 'fby' is a stream operator; a function has none"];
    f35_the_gradient_of_a_vector: "f35", ["FILE:1:6: error: shape error: 'grad' needs a function whose result is a single num, not num [2]"];
}

#[test]
fn f28_fuel() {
    let limits = Budget { fuel: Some(1000), ..Budget::default() };
    let found = output(include_str!("../programs/f28.eddy"), limits);
    assert_eq!(found, "FILE:1:24: error: out of fuel\n");
}

#[test]
fn derivatives_that_are_written_inside_each_other_have_no_limit() {
    let text = "fn p(x: num) -> num = x * x * x * x * x * x * x;
                eval grad(\\a. grad(\\b. grad(\\c. grad(\\d. grad(\\e. grad(p, e), d), c), b), a), 1.0);";
    check(text, &["5040"]);
}

#[test]
fn a_recursion_reaches_its_own_derivative_four_times() {
    let text = "fn d(n: int, x: num) -> num = if n == 0 then x * x * x * x * x * x * x else grad(\\y. d(n - 1, y), x);
                eval d(4, 2.0);
                eval d(5, 2.0);";
    let found = output(text, Budget::default());
    assert!(found.starts_with("6720\nFILE:3:17: error: ") && found.contains("derivative order"), "{found}");
}
