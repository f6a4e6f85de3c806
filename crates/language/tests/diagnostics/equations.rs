//! Errors in equations and between them.

use expect_test::expect;

use crate::{accepted, check, check_equation};

#[test]
fn an_equation_ends_with_a_semicolon() {
    check(
        "node f(x)->(o)\n  o = x + 1\n  p = x;",
        &expect![[r"
        error[E0102]: expected `;`, found `p`
         --> f.eddy:3:3
          |
        3 |   p = x;
          |   ^
          |
        help: an equation ends with `;`
          |
        2 |   o = x + 1;
          |            +
    "]],
    );
    check(
        "node f(x)->(o)\n  o = x",
        &expect![[r"
        error[E0102]: expected `;`, found the end of the file
         --> f.eddy:2:8
          |
        2 |   o = x
          |        ^
          |
        help: an equation ends with `;`
          |
        2 |   o = x;
          |        +
    "]],
    );
    accepted("node f(x)->(o) o = x; p = x;");
}

#[test]
fn an_equation_has_a_right_side() {
    check(
        "node f(x)->(o)\n  o =\n  p = x +\n  q = 1;",
        &expect![[r"
        error[E0102]: expected an expression, found `p`
         --> f.eddy:3:3
          |
        3 |   p = x +
          |   ^
          |
          = help: this starts the equation of `p`: the one before it is not finished

        error[E0102]: expected an expression, found `q`
         --> f.eddy:4:3
          |
        4 |   q = 1;
          |   ^
          |
          = help: this starts the equation of `q`: the one before it is not finished
    "]],
    );
    check_equation(
        "o = ;",
        &expect![[r"
        error[E0102]: expected an expression, found `;`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = ;
          |                    ^
    "]],
    );
}

#[test]
fn an_equation_has_one_equals_sign() {
    check_equation(
        "o == x;",
        &expect![[r"
        error[E0102]: expected `=`, found `==`
         --> f.eddy:1:18
          |
        1 | node f(x)->(o) o == x;
          |                  ^^
          |
        help: an equation is written with `=`
          |
        1 - node f(x)->(o) o == x;
        1 + node f(x)->(o) o = x;
          |
    "]],
    );
    check_equation(
        "o := x;",
        &expect![[r"
        error[E0102]: expected `=`, found `:=`
         --> f.eddy:1:18
          |
        1 | node f(x)->(o) o := x;
          |                  ^^
          |
        help: an equation is written with `=`
          |
        1 - node f(x)->(o) o := x;
        1 + node f(x)->(o) o = x;
          |
    "]],
    );
    check_equation(
        "o = x = 1;",
        &expect![[r"
        error[E0102]: expected `==`, found `=`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x = 1;
          |                      ^
          |
        help: compare with `==`
          |
        1 | node f(x)->(o) o = x == 1;
          |                       +
    "]],
    );
    accepted("node f(x)->(o) o = x == 1;");
}

#[test]
fn an_equation_names_its_results() {
    check_equation(
        "g(x);",
        &expect![[r"
        error[E0102]: expected `=`, found `(`
         --> f.eddy:1:17
          |
        1 | node f(x)->(o) g(x);
          |                 ^
          |
          = help: an equation names its results, or discards them: `_ = g(…);`
    "]],
    );
    check_equation(
        "o, p g(x);",
        &expect![[r"
        error[E0102]: expected `,` or `=`, found `g`
         --> f.eddy:1:21
          |
        1 | node f(x)->(o) o, p g(x);
          |                     ^
    "]],
    );
    check_equation(
        "(o, p = g(x);",
        &expect![[r"
        error[E0102]: expected `,` or `)`, found `=`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) (o, p = g(x);
          |                -     ^
          |                |
          |                this parenthesis is open
    "]],
    );
    accepted("node f(x)->(o) _ = g(x); (o, p) = g(x);");
}

#[test]
fn an_equation_has_one_value() {
    check_equation(
        "o, p = x, x;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `,`
         --> f.eddy:1:24
          |
        1 | node f(x)->(o) o, p = x, x;
          |                        ^
          |
          = help: put several values in parentheses: `(x, y)`
    "]],
    );
    accepted("node f(x)->(o) o, p = (x, x);");
}

#[test]
fn an_underscore_cannot_be_read() {
    check_equation(
        "o = _ + 1;",
        &expect![[r"
        error[E0102]: expected an expression, found `_`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = _ + 1;
          |                    ^
          |
          = help: `_` discards a value on the left side of `=`; it has none to read
    "]],
    );
    accepted("node f(x)->(o) o, _ = g(x);");
}

#[test]
fn misplaced_semicolons_and_braces() {
    check_equation(
        "o = x;;",
        &expect![[r"
        error[E0102]: expected an equation, found `;`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x;;
          |                      ^
          |
          = help: remove this `;`
    "]],
    );
    check(
        "node f(x)->(o); o = x;",
        &expect![[r"
        error[E0102]: expected an equation, found `;`
         --> f.eddy:1:15
          |
        1 | node f(x)->(o); o = x;
          |               ^
          |
          = help: there is no `;` between the head of a node and its equations
    "]],
    );
    check(
        "node f(x)->(o) { o = x; }\nrun f { x: 1; }",
        &expect![[r"
        error[E0102]: expected an equation, found `{`
         --> f.eddy:1:16
          |
        1 | node f(x)->(o) { o = x; }
          |                ^
          |
          = help: the equations of a node stand without braces
    "]],
    );
    check_equation(
        "+ 3; o = x;",
        &expect![[r"
        error[E0102]: expected an equation, found `+`
         --> f.eddy:1:16
          |
        1 | node f(x)->(o) + 3; o = x;
          |                ^
    "]],
    );
}

#[test]
fn reserved_words_are_not_names() {
    check(
        "node f(merge)->(or) or = merge + 1; mod = or * merge; post = not or;",
        &expect![[r"
        error[E0102]: expected a name, found the reserved word `merge`
         --> f.eddy:1:8
          |
        1 | node f(merge)->(or) or = merge + 1; mod = or * merge; post = not or;
          |        ^^^^^
          |
          = help: choose another name, for instance `merge1`

        error[E0102]: expected a name, found the reserved word `or`
         --> f.eddy:1:17
          |
        1 | node f(merge)->(or) or = merge + 1; mod = or * merge; post = not or;
          |                 ^^
          |
          = help: choose another name, for instance `or1`

        error[E0102]: expected the name of a stream, found the reserved word `mod`
         --> f.eddy:1:37
          |
        1 | node f(merge)->(or) or = merge + 1; mod = or * merge; post = not or;
          |                                     ^^^
          |
          = help: choose another name, for instance `mod1`

        error[E0102]: expected the name of a stream, found the reserved word `post`
         --> f.eddy:1:55
          |
        1 | node f(merge)->(or) or = merge + 1; mod = or * merge; post = not or;
          |                                                       ^^^^
          |
          = help: choose another name, for instance `post1`
    "]],
    );
    accepted("node end(do, num)->(run) run = do; train = num;");
}
