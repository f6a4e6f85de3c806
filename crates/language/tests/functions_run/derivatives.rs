//! Derivatives of each construct, and the traps of section 12 that are about derivatives.

use crate::harness::{check, fails};

#[test]
fn custom_derivatives_keep_the_value_of_the_function() {
    check(
        "fn f(x: num) -> num = x * x;
         fn tan_f(x: num, tx: num) -> (num, num) = (0.0, 5.0 * tx);
         eval (grad(f, 3.0), jvp(f, 3.0, 1.0), vjp(f, 3.0, 2.0), value_and_grad(f, 3.0), jvp(\\x. f(x), 3.0, 1.0));
         eval (adj_f(3.0, 1.0), tan_f(3.0, 1.0), hessian(f, 3.0));
         fn g(x: num) -> num = x * x;
         fn adj_g(x: num, dy: num) -> (num, num) = (0.0, 5.0 * dy);
         eval (grad(g, 3.0), jvp(g, 3.0, 1.0), vjp(g, 3.0, 2.0), value_and_grad(g, 3.0), tan_g(3.0, 1.0));",
        &["[5,[9,5],[9,10],[9,5],[9,5]]", "[[9,5],[0,5],0]", "[5,[9,5],[9,10],[9,5],[9,5]]"],
    );
}

#[test]
fn higher_orders_differentiate_custom_code_in_which_calls_are_custom_again() {
    // The custom derivative is f' = x² f, hence f'' = 2 x f + x² f' = 16 + 64 at 2.
    for (name, code) in [
        ("tan_f(x: num, tx: num)", "(0.0, x * x * f(x) * tx)"),
        ("adj_f(x: num, dy: num)", "(0.0, x * x * f(x) * dy)"),
    ] {
        check(
            &format!(
                "fn f(x: num) -> num = x * x;
                 fn {name} -> (num, num) = {code};
                 eval (grad(f, 2.0), grad(\\x. grad(f, x), 2.0), grad(\\x. jvp(f, x, 1.0).1, 2.0));
                 eval (jvp(\\x. jvp(f, x, 1.0).1, 2.0, 1.0), jvp(\\x. grad(f, x), 2.0, 1.0), hessian(f, 2.0));"
            ),
            &["[16,80,80]", "[[16,80],[16,80],80]"],
        );
    }
}

#[test]
fn custom_derivatives_of_structures() {
    check(
        "fn f(x: num, k: int, v: num [2]) -> (num, int) = (x * sum(v) * num(k), k);
         fn adj_f(x: num, k: int, v: num [2], dy: (num, ())) -> ((num, int), num, num [2]) =
           (f(x, k, v), 7.0 * dy.0, [1.0, 2.0] * dy.0);
         eval grad(\\x. f(x, 2, [x, 1.0]).0, 1.0);
         eval jvp(\\x. f(x, 2, [x, 1.0]).0, 1.0, 1.0);",
        &["8", "[4,8]"],
    );
}

#[test]
fn sums_and_filters() {
    check(
        "eval grad(\\x. sum(sum(i < 3, j < 3 if i <= j: [x * num(i), x * x * num(j)])), 2.0);
         fn positive[n](x: num [n]) -> num = let y = [i < n if x[i] > 0.0: x[i] * x[i]] in sum(i < len(y): num(i + 1) * y[i]);
         eval (positive([3.0, -1.0, 5.0]), grad(positive, [3.0, -1.0, 5.0]), jvp(positive, [3.0, -1.0, 5.0], [1.0, 1.0, 1.0]));
         eval hessian(positive, [3.0, -1.0, 5.0]);
         eval grad(\\m. sum(min(m, 1) * [1.0, 10.0]), [[1.0, 2.0], [5.0, 5.0]]);
         eval grad(\\m. sum(prod(m, 0) * [1.0, 10.0]), [[1.0, 0.0], [5.0, 2.0]]);",
        &[
            "36",
            "[59,[6,0,20],[59,26]]",
            "[[2,0,0],[0,0,0],[0,0,4]]",
            "[[1,0],[10,0]]",
            "[[5,20],[1,0]]",
        ],
    );
}

#[test]
fn products_and_extrema() {
    check(
        "eval (grad(\\v. prod(v), [0.0, 2.0, 3.0]), grad(\\v. prod(i < 3: v[i]), [0.0, 0.0, 3.0]));
         eval (grad(\\v. max(i < 3: v[i]), [1.0, 1.0, 0.0]), grad(\\v. max(i < 2, j < 2: v[i] * v[1 - j]), [3.0, 3.0]));",
        &["[[6,0,0],[0,0,0]]", "[[1,0,0],[3,3]]"],
    );
}

#[test]
fn loops_pass_cotangents_to_their_starts() {
    check(
        "eval grad(\\x. (fold s = (x, x) for i < 2 do (s.0 * s.1, s.1)).0, 3.0);
         eval (grad(\\x. fold s = x for i < 0 do s * s, 3.0), grad(\\x. loop s = x while s > 100.0 do s * s, 3.0));
         eval jvp(\\x. (loop (y, n) = (x, 0) while n < 3 do (if n == 1 then y * x else y + x, n + 1)).0, 2.0, 1.0);
         eval grad(\\x. fold y = 0.0 for i < 3 do y + grad(\\z. z * z * x, y + x), 1.0);",
        &["27", "[1,1]", "[10,9]", "80"],
    );
}

#[test]
fn overwritten_elements_get_nothing_and_duplicates_add() {
    check(
        "eval grad(\\v. sum((v with [1] = 5.0) * v), [1.0, 2.0, 3.0]);
         eval grad(\\v. let w = v with [0] += v[1] * v[1] in sum(w * w), [1.0, 2.0]);
         eval grad(\\v. sum(v[[0, 0, 1]] * v[[1, 0, 0]]), [2.0, 3.0]);",
        &["[2,5,6]", "[10,44]", "[10,4]"],
    );
}

#[test]
fn mutual_recursion() {
    // f(x) = 2 x³ - 9 x² + 11 x between 2 and 3.
    check(
        "fn f(x: num) -> num = if x > 0.0 then g(x - 1.0) * x else x;
         fn g(x: num) -> num = if x > 0.0 then f(x - 1.0) + x else 2.0 * x;
         eval (f(2.5), grad(f, 2.5), jvp(f, 2.5, 1.0), hessian(f, 2.5));",
        &["[2.5,3.5,[2.5,3.5],12]"],
    );
}

#[test]
fn logarithms_of_gamma() {
    check(
        "eval (lgamma(5.0), lgamma([0.5, 1.0]), digamma(1.0));
         eval (grad(lgamma, 3.0), jvp(\\x. lgamma(x * x), 1.5, 2.0), grad(\\v. sum(lgamma(v)), [1.0, 2.0]));
         eval hessian(\\x. x * x * stop_gradient(digamma(x)), 1.0);",
        &[
            "[3.1780538303479458,[0.5723649429247001,0],-0.5772156649015328]",
            "[0.9227843350984672,[0.1248717148923966,3.4352787997424072],[-0.5772156649015328,0.42278433509846725]]",
            "-1.1544313298030655",
        ],
    );
    fails("eval grad(digamma, 3.0);", "1:6", "no derivative");
    fails("eval hessian(\\x. lgamma(x), 3.0);", "1:18", "no derivative");
    fails("eval lgamma(1 div 1);", "1:6", "type");
}

#[test]
fn a_cotangent_that_passes_through_a_branch_is_counted_once() {
    // In the branch, part of the cotangent of x depends on the sum, which is computed together with its own
    // cotangent.
    check(
        "fn f(x: num) -> num [2] = [if x > 0.0 then x * (sum(i < 3: x) + x) else x, x];
         eval (jacobian_reverse(f, 0.625), jacobian_forward(f, 0.625));
         fn g(x: num) -> num = (if x > 0.0 then x * ((if x > 0.25 then x * x else x) - x) else x) + 3.0 * x;
         eval (grad(g, 2.0), jvp(g, 2.0, 1.0));",
        &["[[5,1],[5,1]]", "[11,[10,11]]"],
    );
}
