//! Translations, written out: what each row of a table becomes.

use eddy_language::kernels::Kernel;
use expect_test::{Expect, expect};

use crate::harness::text;

#[track_caller]
fn check(kernel: Kernel, program: &str, expected: &Expect) {
    expected.assert_eq(&text(kernel, program));
}

#[test]
fn functions_of_rd_become_items() {
    let program = "let sq(x:real):real = x * x in letrec p(x:real, n:real):real = if n < 0.5 then 1 else x * p(x, n - 1)
        in let y = sq(3) in (p(y, 2), -y)";
    check(
        Kernel::Rd,
        program,
        &expect![[r#"
        fn sq(x: num) -> num = (x * x);
        fn p(x: num, n: num) -> num = p_2((x, n));
        fn p_2(p_3: (num, num)) -> num = let z = p_3 in let x = z.0 in let n = z.1 in if (n < 0.5) then 1.0 else (x * p_2((x, (n - 1.0))));
        eval let y = sq(3.0) in (p_2((y, 2.0)), (-y));
    "#]],
    );
}

#[test]
fn derivatives_of_rd_become_operators() {
    let program = "(grad[3](x. x^3), 2.rd[3](x. x * x), 3.fd[2](x. (x * x, 5 * x)))";
    check(
        Kernel::Rd,
        program,
        &expect![[r#"
        eval ((grad(\x. power_3(x), 3.0), vjp(\x_2. (x_2 * x_2), 3.0, 2.0).1), jvp(\x_3. ((x_3 * x_3), (5.0 * x_3)), 2.0, 3.0).1);
        fn power_3(x: num) -> num = if x > 0.0 then pow(x, 3.0) else let x1 = x * x in x * x1;
    "#]],
    );
}

#[test]
fn a_limit_counts_down() {
    check(
        Kernel::Rd,
        "letrec[3] f(n:real):real = if n < 0.5 then 1 else f(n - 1) in f(2)",
        &expect![[r#"
        fn f(n: num) -> num = f_2(3, n);
        fn f_2(limit: int, n: num) -> num = let _ = 1 div limit in if (n < 0.5) then 1.0 else f_2(limit - 1, (n - 1.0));
        eval f_2(3, 2.0);
    "#]],
    );
}

#[test]
fn operations_of_rd_become_helpers() {
    let program =
        "(tan(1), 2^-3, dot((1, 2), (3, 4)), 2 * (1, 2), 1.sin_r(2), if 1 < 2 && not (2 < 1) then 1 else 0)";
    check(
        Kernel::Rd,
        program,
        &expect![[r#"
            eval (((((tangent(1.0), power_minus_3(2.0)), dot((1.0, 2.0), (3.0, 4.0))), scale(2.0, (1.0, 2.0))), (let pair = (2.0, 1.0) in vjp(\z. sin(z), pair.0, pair.1).1)), if ((1.0 < 2.0)) and (not (2.0 < 1.0)) then 1.0 else 0.0);
            fn tangent(x: num) -> num = sin(x) / cos(x);
            fn power_minus_3(x: num) -> num = if x > 0.0 then pow(x, -3.0) else let x1 = x * x in 1.0 / (x * x1);
            fn dot(x: (num, num), y: (num, num)) -> num = let (x0, x1) = x in let (y0, y1) = y in x0 * y0 + x1 * y1;
            fn scale(r: num, x: (num, num)) -> (num, num) = let (x0, x1) = x in (r * x0, r * x1);
        "#]],
    );
}

#[test]
fn conditions_of_rd_are_connected() {
    let program = "if not (1 < 2 && not (2 < 1) || 3 < 4) then 1 else 0";
    check(Kernel::Rd, program, &expect![[r#"
        eval if (((1.0 < 2.0)) and (not (2.0 < 1.0))) or ((3.0 < 4.0)) then 0.0 else 1.0;
    "#]]);
}

#[test]
fn definitions_of_pullback_become_items() {
    let program = "prim p(x, y) = x * y^2; def twice f x = f (f x); def k = <1, 2>;
        ((Ω λx:R^2. p x) · (\\y:R. [3]^*)) k @ <twice (\\u:R. u + 1) 2, 1>";
    check(Kernel::Pullback, program, &expect![[r#"
        fn twice(f: (num) -> num, x: num) -> num = f(f(x));
        const k = (1.0, 2.0);
        eval contract((let a = k in (let p(x: (num, num)) -> num = p_of(x) in vjp(p, a, 3.0).1)), (twice(\u. (u + 1.0), 2.0), 1.0));
        fn contract(x: (num, num), y: (num, num)) -> num = let (x0, x1) = x in let (y0, y1) = y in x0 * y0 + x1 * y1;
        fn power_2(x: num) -> num = if x > 0.0 then pow(x, 2.0) else let x1 = x * x in x1;
        fn p_of(p: (num, num)) -> num = let (p0, p1) = p in let x0 = p0 in let x1 = p1 in let x2 = power_2(x1) in let x3 = x0 * x2 in x3;
    "#]]);
}

#[test]
fn numerals_of_coherent_become_integers() {
    let program = "(fix \\f:nat -> nat. \\n:nat. if n then 0 else let m = pred n in succ (f m)) 3";
    check(Kernel::Coherent, program, &expect![[r#"
        eval (let a = 3 in (let f(x) -> int = (if x == 0 then 0 else (let m = predecessor(x) in (f(m) + 1))) in f(a)));
        fn predecessor(n: int) -> int = if n == 0 then 0 else n - 1;
    "#]]);
}

#[test]
fn a_function_of_lam_that_is_its_own_argument_is_recursive() {
    let program = "let f = \\self n. if n = 0 then 1 else n * self self (n - 1) in f f 10 / (0 - 7)";
    check(Kernel::Lam, program, &expect![[r#"
        eval (let f(self, n) -> int = (if (if n == 0 then 1 else 0) != 0 then 1 else (n * self(self, (n - 1)))) in floor_div(f(f, 10), (0 - 7)));
        fn floor_div(a: int, b: int) -> int = if b < 0 and a mod b != 0 then a div b - 1 else a div b;
    "#]]);
}
