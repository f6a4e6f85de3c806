//! Each construct of section 3, and the traps of section 12 that are about values.

use crate::harness::{check, fails};

#[test]
fn sums_of_tensors_have_binders_and_filters() {
    check(
        "eval sum(i < 3, j < 2 if i != j: [num(i), num(j)]);
         eval sum(i < 3, j < i: [i, j]);
         eval sum(i < 3 if i > 0: [i, 10 * i]);
         eval sum(i < 3: (i, [i, i]));
         eval sum(i < 3: { a = i, b = 0.5 });
         fn rows[n, m](a: num [n, m]) -> num [m] = sum(i < n, j < n if i != j: a[i] * a[j]);
         eval rows([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
         fn shifted(k: int) = sum(i < 2, j < 2: [l < 2 * k - 1: i + j + l]);
         eval (shifted(2), shifted(0), shifted(-3));",
        &["[5,2]", "[5,1]", "[3,30]", "[3,[3,3]]", r#"{"a":3,"b":1.5}"#, "[46,88]", "[[4,8,12],[],[]]"],
    );
}

#[test]
fn a_sum_of_no_terms_is_zero_and_one_of_minus_zero_keeps_its_sign() {
    check(
        r"eval (1.0 / sum(i < 0: 2.0), 1.0 / sum(i < 1: -0.0), 1.0 / sum(i < 2, j < 0: 2.0));
          eval (1.0 / sum(i < 2, j < 1: -0.0), 1.0 / sum(i < 2 if i > 5: 1.0), 1.0 / sum(i < 2 if i > 0: -0.0));
          eval (sum(i < 0: 2), sum(i < 3, j < i - 1: 1), prod(i < 0: 2.0));",
        &[r#"["inf","-inf","inf"]"#, r#"["-inf","inf","-inf"]"#, "[0,1,1]"],
    );
}

#[test]
fn a_sum_of_no_tensors_is_an_error() {
    for sum in
        ["sum(i < 0: [i])", "sum(i < 3 if i > 5: [i])", "sum(i < 3, j < 0: [i])", "sum(i < 0: (i, 1.0))"]
    {
        fails(&format!("eval {sum};"), "1:6", "empty");
    }
}

#[test]
fn terms_of_unknown_size_are_rows() {
    let text = "fn upto(n: int) = if n == 0 then [] else concat(upto(n - 1), [num(n)]);
                eval sum(i < 3: upto(2) * num(i));
                eval sum(i < 3: upto(i));";
    fails(text, "3:22", "shape");
    check(&text.replace("upto(i)", "upto(3)"), &["[3,6]", "[3,6,9]"]);
    fails(&text.replace("i < 3: upto(i)", "i < 3 if i > 0: upto(2)"), "3:22", "use `fold`");
}

#[test]
fn extrema_are_the_first_ones() {
    check(
        "eval (max(i < 3, j < 3: (i - 1) * (j - 2)), argmax(i < 3, j < 3: (i - 1) * (j - 2)));
         eval (argmin(i < 3, j < 4: (i - 1) * (j - 2)), argmax(i < 3 if i != 1: i * (2 - i)));
         eval (max(i < 2: if i == 0 then 0.0 / 0.0 else 1.0), max(i < 2: if i == 1 then 0.0 / 0.0 else 1.0));
         eval (argmin([3, 1, 1]), argmax([[1, 5], [5, 0]]), min([3.0, 1.0]), prod([2, 3]));",
        &["[2,[0,0]]", "[[2,0],0]", r#"["nan",1]"#, "[1,1,1,6]"],
    );
    fails("eval max(i < 0: 1.0);", "1:6", "empty");
    fails("eval argmin(i < 4 if i > 5: 1.0);", "1:6", "empty");
}

#[test]
fn reductions_along_an_axis() {
    check(
        "const a = [[1, 2], [5, 0]];
         eval (max(a, 0), min(a, 0), prod(a, 0), max(a, 1), min(a, 1), prod(a, 1));
         eval min([[[1.0, 2.0], [0.0, 7.0]], [[4.0, 3.0], [5.0, 9.0]]], 1);",
        &["[[5,2],[1,0],[5,0],[2,5],[1,0],[2,0]]", "[[0,2],[4,3]]"],
    );
    fails("eval min([[1, 2]], 2);", "1:6", "shape");
    fails("eval min([1, 2], 0 + len([1]));", "1:6", "there is no axis");
}

#[test]
fn searches_stop_at_the_first_term_that_decides() {
    check(
        "eval (any(i < 3: 1 div (2 - i) == 1), all(i < 3: 1 div (2 - i) == 1));
         eval (all(i < 3 if i < 2: 1 div (2 - i) >= 0), any(i < 3, j < 3: i == 1 and j == 1 div (2 - i)));
         eval (all(i < 0: false), any(i < 0: true));",
        &["[true,false]", "[true,true]", "[true,false]"],
    );
}

#[test]
fn filters_and_elements_fail_in_the_order_of_indices() {
    // The element of index 1 fails before the filter of index 2.
    fails("eval [i < 3 if 1 div (2 - i) > -5: [5, 6][i + 1]];", "1:42", "out of range");
    // The filter of index 1 fails before the element of index 2.
    fails("eval [i < 3 if 1 div (1 - i) > -5: [5, 6][i]];", "1:18", "division by zero");
    // Elements of unknown size.
    let text = "fn upto(n: int) = if n == 0 then [] else concat(upto(n - 1), [n]);
                eval [i < 3 if 1 div (2 - i) > -5: upto(2 + 0 * [5, 6][i + 1])];";
    fails(text, "2:71", "out of range");
    check(&text.replace("2 - i", "3 - i").replace("[i + 1]", "[0]"), &["[[1,2],[1,2],[1,2]]"]);
    check("eval [i < 4 if i > 0: 6 div i];", &["[6,3,2]"]);
}

#[test]
fn filtered_elements_are_of_any_type() {
    check(
        "type e = enum { a, b };
         const x = [3, 1, 0, 2];
         eval [i < 4 if x[i] > 0: { a = x[i], b = [i, i], c = x[i] == 3, d = if i == 0 then a else b }];
         eval ([i < 4 if x[i] > 9: 1.0], shape([i < 4 if x[i] > 9: [1.0, 2.0]]), [i < -2 if x[i] > 9: 1]);
         eval [1 <= i < 4 if 6 div x[i] > 0: i];",
        &[
            r#"{"a":[3,1,2],"b":[[0,0],[1,1],[3,3]],"c":[true,false,false],"d":["a","b","b"]}"#,
            "[[],[0,2],[]]",
            "FILE:5:32: error: division by zero",
        ],
    );
}

#[test]
fn places_are_read_and_changed() {
    check(
        "const a = [[1, 2], [3, 4]];
         eval (a with [.., 1] = [9, 9], a with [0] += [1, 1], a with [1, ..1] = [0], a);
         eval let v = [1.0, 2.0, 3.0] in (v with [1..] = [7.0, 8.0], v with [[0, 2]] += [1.0, 1.0], v[..]);
         eval ([1, 2] with [0] = 1 + 5, scatter(3, [0, 2, 0], [[1, 2], [3, 4], [5, 6]]));",
        &[
            "[[[1,9],[3,9]],[[2,3],[3,4]],[[1,2],[0,4]],[[1,2],[3,4]]]",
            "[[1,7,8],[2,2,4],[1,2,3]]",
            "[[6,2],[[6,8],[0,0],[3,4]]]",
        ],
    );
    for (text, place) in [("[1, 2, 3][2..1]", "1:15"), ("[1, 2, 3][-1]", "1:15"), ("[1, 2, 3][4..]", "1:15")]
    {
        fails(&format!("eval {text};"), place, "out of range");
    }
    fails("eval scatter(2, [0, 2], [1.0, 1.0]);", "1:6", "out of range");
    fails("eval scatter(2, [0, 1], [1.0, 1.0, 2.0]);", "1:6", "shape");
}

#[test]
fn names_fields_and_components() {
    check(
        "eval let t = ((1, 2), 3) in t.0.1;
         eval let g = \\y.y.x in g({x = 5});
         eval let f = \\(a, b), {x, y = z}. a + b * x - z in f((1, 2), {x = 3, y = 4});
         fn max(x: int) -> int = x + 100;
         eval (max(1), max(i < 3: i));
         eval let f(x) = if x <= 0 then 0 else x + f(x - 1) in f(10);",
        &["2", "5", "3", "[101,2]", "55"],
    );
}

#[test]
fn sizes_are_bound_through_named_types() {
    check(
        "type R[n] = { w: num [n], k: int };
         type S[a, b] = { r: R[b], m: num [a, b] };
         fn f[n](r: R[n]) -> num = sum(r.w) * num(n);
         fn g[p, q](s: S[p, q]) -> int = 10 * p + q;
         eval f({ k = 1, w = [1, 2] });
         eval grad(f, { w = [1, 2], k = 3 });
         eval g({ r = { w = [1, 2], k = 0 }, m = [[1, 2], [3, 4], [5, 6]] });",
        &["6", r#"{"w":[2,2],"k":[]}"#, "32"],
    );
    fails(
        "type S[b] = { r: num [b], m: num [b, b] };
         fn g[q](s: S[q]) -> int = q;
         eval g({ r = [1, 2], m = [[1, 2], [3, 4], [5, 6]] });",
        "3:15",
        "size",
    );
}

#[test]
fn numbers_that_json_lacks_are_strings() {
    check(
        "eval ([1.0 / 0.0, 2.5], { a = [-1.0 / 0.0] }, 0.0 / 0.0);",
        &[r#"[["inf",2.5],{"a":["-inf"]},"nan"]"#],
    );
}

#[test]
fn a_local_function_without_parameters_is_no_item() {
    check("eval let f() = 5 in f();", &["5"]);
}
