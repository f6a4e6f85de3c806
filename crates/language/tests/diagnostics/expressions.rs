//! Errors in expressions.

use expect_test::expect;

use crate::{accepted, check_equation};

#[test]
fn a_call_and_an_index_are_glued() {
    check_equation(
        "o = g (x) + h (* c *) (x);",
        &expect![[r"
        error[E0102]: expected an operator, found `(`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = g (x) + h (* c *) (x);
          |                      ^
          |
        help: a call is written without a blank
          |
        1 | node f(x)->(o) o = g(x) + h (* c *) (x);
          |

        error[E0102]: expected an operator, found `(`
         --> f.eddy:1:38
          |
        1 | node f(x)->(o) o = g (x) + h (* c *) (x);
          |                                      ^
          |
          = help: a call is written without a blank
    "]],
    );
    check_equation(
        "o = x [0];",
        &expect![[r"
        error[E0102]: expected an operator, found `[`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x [0];
          |                      ^
          |
        help: an index is written without a blank
          |
        1 | node f(x)->(o) o = x[0];
          |
    "]],
    );
    accepted("node f(x)->(o) o = g(x)[0]; p = merge c (x) [0];");
}

#[test]
fn brackets_are_closed() {
    check_equation(
        "o = (x + 1;",
        &expect![[r"
        error[E0102]: expected `,` or `)`, found `;`
         --> f.eddy:1:26
          |
        1 | node f(x)->(o) o = (x + 1;
          |                    -     ^
          |                    |
          |                    this parenthesis is open
    "]],
    );
    check_equation(
        "o = g(x, (x;",
        &expect![[r"
        error[E0102]: expected `,` or `)`, found `;`
         --> f.eddy:1:27
          |
        1 | node f(x)->(o) o = g(x, (x;
          |                         - ^
          |                         |
          |                         this parenthesis is open
    "]],
    );
    check_equation(
        "o = [1, (2]);",
        &expect![[r"
        error[E0102]: expected `,` or `)`, found `]`
         --> f.eddy:1:26
          |
        1 | node f(x)->(o) o = [1, (2]);
          |                        - ^
          |                        |
          |                        this parenthesis is open
    "]],
    );
    check_equation(
        "o = x[0;",
        &expect![[r"
        error[E0102]: expected `]`, found `;`
         --> f.eddy:1:23
          |
        1 | node f(x)->(o) o = x[0;
          |                     - ^
          |                     |
          |                     this bracket is open
    "]],
    );
    check_equation(
        "o = x + 1);",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `)`
         --> f.eddy:1:25
          |
        1 | node f(x)->(o) o = x + 1);
          |                         ^
          |
          = help: no open bracket matches `)`
    "]],
    );
}

#[test]
fn commas_stand_between_items() {
    check_equation(
        "o = g(x,);",
        &expect![[r"
        error[E0102]: expected an expression, found `)`
         --> f.eddy:1:24
          |
        1 | node f(x)->(o) o = g(x,);
          |                    --  ^
          |                    |
          |                    the arguments of this call are open
          |
          = help: remove the comma before it
    "]],
    );
    check_equation(
        "o = [1 2];",
        &expect![[r"
        error[E0102]: expected `,` or `]`, found `2`
         --> f.eddy:1:23
          |
        1 | node f(x)->(o) o = [1 2];
          |                    -  ^
          |                    |
          |                    this bracket is open
    "]],
    );
    accepted("node f(x)->(o) o = g(); p = [];");
}

#[test]
fn comparisons_do_not_chain() {
    check_equation(
        "o = a < b < c;",
        &expect![[r"
        error[E0102]: expected `and`, `or` or the end of the comparison, found `<`
         --> f.eddy:1:26
          |
        1 | node f(x)->(o) o = a < b < c;
          |                          ^
          |
          = help: comparisons do not chain: write `a < b and b < c`
    "]],
    );
    accepted("node f(x)->(o) o = a < b and b < c; p = (a < b) == c;");
}

#[test]
fn an_if_has_both_branches() {
    check_equation(
        "o = if x then 1;",
        &expect![[r"
        error[E0102]: expected `else`, found `;`
         --> f.eddy:1:31
          |
        1 | node f(x)->(o) o = if x then 1;
          |                    --         ^
          |                    |
          |                    this `if` waits for its `else`
          |
          = help: an `if` has both branches: `if c then x else y`
    "]],
    );
    check_equation(
        "o = if x 1 else 2;",
        &expect![[r"
            error[E0102]: expected `then`, found `1`
             --> f.eddy:1:25
              |
            1 | node f(x)->(o) o = if x 1 else 2;
              |                    --   ^
              |                    |
              |                    this `if` waits for its `then`
              |
              = help: a choice is written `if c then a else b`
        "]],
    );
    check_equation(
        "o = if then 1 else 2;",
        &expect![[r"
        error[E0102]: expected a condition after `if`, found `then`
         --> f.eddy:1:23
          |
        1 | node f(x)->(o) o = if then 1 else 2;
          |                    -- ^^^^
          |                    |
          |                    this `if` waits for its `then`
    "]],
    );
    check_equation(
        "o = x else 2;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `else`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x else 2;
          |                      ^^^^
          |
          = help: this `else` has no `if`
    "]],
    );
}

#[test]
fn an_if_inside_an_operator_stands_in_parentheses() {
    check_equation(
        "o = 1 + if c then 1 else 2;",
        &expect![[r"
        error[E0102]: expected an operand, found `if`
         --> f.eddy:1:24
          |
        1 | node f(x)->(o) o = 1 + if c then 1 else 2;
          |                        ^^
          |
          = help: an `if` inside a larger expression stands in parentheses: `(if … then … else …)`
    "]],
    );
    accepted("node f(x)->(o) o = 1 + (if c then 1 else 2); p = 0 fby if c then 1 else 2;");
}

#[test]
fn when_has_a_value_and_a_condition() {
    check_equation(
        "o = x when;",
        &expect![[r"
        error[E0102]: expected a condition after `when`, found `;`
         --> f.eddy:1:26
          |
        1 | node f(x)->(o) o = x when;
          |                          ^
    "]],
    );
    check_equation(
        "o = when c;",
        &expect![[r"
        error[E0102]: expected an expression, found `when`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = when c;
          |                    ^^^^
          |
          = help: `when` follows the value that it samples: `x when c`
    "]],
    );
    check_equation(
        "o = x when -c;",
        &expect![[r"
        error[E0102]: expected a condition after `when`, found `-`
         --> f.eddy:1:27
          |
        1 | node f(x)->(o) o = x when -c;
          |                           ^
          |
          = help: put it in parentheses: `(-…)`
    "]],
    );
    check_equation(
        "o = merge c x y when d;",
        &expect![[r"
        error[E0102]: expected an operator, found `when`
         --> f.eddy:1:32
          |
        1 | node f(x)->(o) o = merge c x y when d;
          |                                ^^^^
          |
          = help: `when` binds tighter than what stands before it: write `(merge …) when …`
    "]],
    );
    accepted("node f(x)->(o) o = (merge c x y) when d; p = x when not c when (a and b);");
}

#[test]
fn merge_has_three_arguments() {
    check_equation(
        "o = merge c x;",
        &expect![[r"
        error[E0102]: expected the third argument of `merge`, found `;`
         --> f.eddy:1:29
          |
        1 | node f(x)->(o) o = merge c x;
          |                             ^
    "]],
    );
    check_equation(
        "o = merge c x y z;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `z`
         --> f.eddy:1:32
          |
        1 | node f(x)->(o) o = merge c x y z;
          |                                ^
          |
          = help: `merge` has three arguments: a condition, and a value for each case
    "]],
    );
    check_equation(
        "o = merge c x + 1 y;",
        &expect![[r"
        error[E0102]: expected the third argument of `merge`, found `+`
         --> f.eddy:1:30
          |
        1 | node f(x)->(o) o = merge c x + 1 y;
          |                              ^
          |
          = help: an argument with operators stands in parentheses: `merge c (x + 1) y`
    "]],
    );
}

#[test]
fn arguments_of_merge_stand_in_parentheses() {
    check_equation(
        "o = merge c -1 x;",
        &expect![[r"
        error[E0102]: expected the second argument of `merge`, found `-`
         --> f.eddy:1:28
          |
        1 | node f(x)->(o) o = merge c -1 x;
          |                            ^
          |
          = help: put it in parentheses: `(-1)`
    "]],
    );
    check_equation(
        "o = merge c x when c y;",
        &expect![[r"
        error[E0102]: expected the third argument of `merge`, found `when`
         --> f.eddy:1:30
          |
        1 | node f(x)->(o) o = merge c x when c y;
          |                              ^^^^
          |
          = help: put the sampled argument in parentheses: `(x when …)`
    "]],
    );
    check_equation(
        "o = merge c merge d x y z;",
        &expect![[r"
        error[E0102]: expected the second argument of `merge`, found `merge`
         --> f.eddy:1:28
          |
        1 | node f(x)->(o) o = merge c merge d x y z;
          |                            ^^^^^
          |
          = help: put it in parentheses: `(merge …)`
    "]],
    );
    accepted("node f(x)->(o) o = merge c (-1) (x when not c); p = -merge c x y;");
}

#[test]
fn back_follows_fby() {
    check_equation(
        "o = x back y;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `back`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x back y;
          |                      ^^^^
          |
          = help: `back` only follows `fby`: `i fby back x`
    "]],
    );
    check_equation(
        "o = x fby back;",
        &expect![[r"
        error[E0102]: expected an expression, found `;`
         --> f.eddy:1:30
          |
        1 | node f(x)->(o) o = x fby back;
          |                              ^
    "]],
    );
    accepted("node f(x)->(o) o = x fby back y;");
}

#[test]
fn cells_and_strings_are_not_expressions() {
    check_equation(
        "o = ? + x;",
        &expect![[r"
        error[E0102]: expected an expression, found `?`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = ? + x;
          |                    ^
          |
          = help: absent and unknown values are written only in the rows of a `run`
    "]],
    );
    check_equation(
        "o = \"x\";",
        &expect![[r#"
        error[E0102]: expected an expression, found `"x"`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = "x";
          |                    ^^^
          |
          = help: strings are only for the path of an `import`
    "#]],
    );
    check_equation(
        "o = { x };",
        &expect![[r"
            error[E0102]: expected an expression, found `{`
             --> f.eddy:1:20
              |
            1 | node f(x)->(o) o = { x };
              |                    ^
              |
              = help: braces hold records, `{x = 1.0}`, and the rows of a `run`; group with parentheses
        "]],
    );
}
