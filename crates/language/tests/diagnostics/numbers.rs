//! Errors in numbers.

use expect_test::expect;

use crate::{accepted, check, check_equation};

#[test]
fn numbers_have_digits_on_both_sides_of_the_point() {
    check_equation(
        "o = .5 + x;",
        &expect![[r"
        error[E0102]: expected an expression, found `.`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = .5 + x;
          |                    ^
          |
          = help: write a digit before the point: `0.5`
    "]],
    );
    check_equation(
        "o = 1. + x;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `.`
         --> f.eddy:1:21
          |
        1 | node f(x)->(o) o = 1. + x;
          |                     ^
          |
          = help: write a digit after the point: `1.0`
    "]],
    );
    check_equation(
        "o = 2x;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `x`
         --> f.eddy:1:21
          |
        1 | node f(x)->(o) o = 2x;
          |                     ^
          |
          = help: write the product with `*`: `2 * x`
    "]],
    );
    check_equation(
        "o = +1;",
        &expect![[r"
        error[E0102]: expected an expression, found `+`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = +1;
          |                    ^
          |
          = help: there is no unary `+`: leave it out
    "]],
    );
}

#[test]
fn numbers_have_a_range() {
    check_equation(
        "o = 99999999999999999999 + 1e999;",
        &expect![[r"
        error[E0103]: number out of range: expected an integer of 64 bits
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = 99999999999999999999 + 1e999;
          |                    ^^^^^^^^^^^^^^^^^^^^ too large
          |
          = note: an integer is at most 9223372036854775807
          = help: write a `num` with a point or an exponent, for instance `1e20`

        error[E0103]: number out of range: expected a finite number
         --> f.eddy:1:43
          |
        1 | node f(x)->(o) o = 99999999999999999999 + 1e999;
          |                                           ^^^^^ too large
          |
          = note: a `num` is a 64-bit floating-point number, up to 1.7976931348623157e308
    "]],
    );
    accepted("node f(x)->(o) o = 9223372036854775807 + 1e308;");
}

#[test]
fn two_minus_signs_start_a_comment() {
    check(
        "node f(x)->(o) o = x --1;\n  p = 2;",
        &expect![[r"
        error[E0102]: expected `;`, found `p`
         --> f.eddy:2:3
          |
        2 |   p = 2;
          |   ^
          |
          = help: `--` starts a comment: write `- -1`
    "]],
    );
    accepted("node f(x)->(o) o = x - -1;");
}
