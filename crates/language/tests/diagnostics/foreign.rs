//! Syntax of other languages.

use expect_test::expect;

use crate::{accepted, check, check_equation};

#[test]
fn lustre_nodes() {
    check(
        "node f(x:num) returns (o:num);\nvar t:int; u, v:bool;\nlet\n  o = x;\ntel\nnode g(x)->(o) o = x;",
        &expect![[r"
            error[E0102]: expected `->`, found `returns`
             --> f.eddy:1:15
              |
            1 | node f(x:num) returns (o:num);
              |               ^^^^^^^
              |
            help: write `->`
              |
            1 - node f(x:num) returns (o:num);
            1 + node f(x:num) -> (o:num);
              |
        "]],
    );
    check_equation(
        "let o = x; tel",
        &expect![[r"
            error[E0102]: expected an equation, found `tel`
             --> f.eddy:1:27
              |
            1 | node f(x)->(o) let o = x; tel
              |                           ^^^
              |
              = help: a node ends where the next declaration starts, without `tel`
        "]],
    );
    check_equation(
        "var t:num; o = x;",
        &expect![[r"
        error[E0102]: expected an equation, found `var`
         --> f.eddy:1:16
          |
        1 | node f(x)->(o) var t:num; o = x;
          |                ^^^
          |
          = help: locals need no declaration; a type may be in their equation: `x:num = …;`
    "]],
    );
    accepted("node f(returns, var)->(let) let = var; tel = returns; var, x = g(x);");
}

#[test]
fn lustre_operators() {
    check_equation(
        "o = x -> pre o;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `->`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x -> pre o;
          |                      ^^
          |
          = help: `a -> pre b` of Lustre is `a fby b`
    "]],
    );
    check_equation(
        "o = 0 + pre x;",
        &expect![[r"
            error[E0102]: expected an operator or `;`, found `x`
             --> f.eddy:1:28
              |
            1 | node f(x)->(o) o = 0 + pre x;
              |                            ^
              |
              = help: `pre x` of Lustre is `init fby x`: say what the value is at the first cycle
        "]],
    );
    check_equation(
        "o = last (x);",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `(`
         --> f.eddy:1:25
          |
        1 | node f(x)->(o) o = last (x);
          |                         ^
          |
          = help: `last x` of Lustre is `init fby x`: say what the value is at the first cycle
    "]],
    );
    check_equation(
        "o = current x;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `x`
         --> f.eddy:1:28
          |
        1 | node f(x)->(o) o = current x;
          |                            ^
          |
          = help: hold the last value with `y = merge c x ((0.0 fby y) when not c);`
    "]],
    );
    check_equation(
        "o = g(x) every c;",
        &expect![[r"
            error[E0102]: expected an operator or `;`, found `every`
             --> f.eddy:1:25
              |
            1 | node f(x)->(o) o = g(x) every c;
              |                         ^^^^^
              |
              = help: an instance that restarts is written `reset f(x) every c`
        "]],
    );
    accepted("node f(pre, last)->(every) every = pre + last(x) * every(3);");
}

#[test]
fn operators_of_c() {
    check_equation(
        "o = a && !b || c <> d % 2;",
        &expect![[r"
        error[E0102]: expected `and`, found `&&`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = a && !b || c <> d % 2;
          |                      ^^
          |
        help: write `and`
          |
        1 - node f(x)->(o) o = a && !b || c <> d % 2;
        1 + node f(x)->(o) o = a and !b || c <> d % 2;
          |

        error[E0102]: expected `not`, found `!`
         --> f.eddy:1:25
          |
        1 | node f(x)->(o) o = a && !b || c <> d % 2;
          |                         ^
          |
        help: write `not`
          |
        1 - node f(x)->(o) o = a && !b || c <> d % 2;
        1 + node f(x)->(o) o = a && not b || c <> d % 2;
          |

        error[E0102]: expected `or`, found `||`
         --> f.eddy:1:28
          |
        1 | node f(x)->(o) o = a && !b || c <> d % 2;
          |                            ^^
          |
        help: write `or`
          |
        1 - node f(x)->(o) o = a && !b || c <> d % 2;
        1 + node f(x)->(o) o = a && !b or c <> d % 2;
          |

        error[E0102]: expected `!=`, found `<>`
         --> f.eddy:1:33
          |
        1 | node f(x)->(o) o = a && !b || c <> d % 2;
          |                                 ^^
          |
        help: write `!=`
          |
        1 - node f(x)->(o) o = a && !b || c <> d % 2;
        1 + node f(x)->(o) o = a && !b || c != d % 2;
          |

        error[E0102]: expected `mod`, found `%`
         --> f.eddy:1:38
          |
        1 | node f(x)->(o) o = a && !b || c <> d % 2;
          |                                      ^
          |
        help: write `mod`
          |
        1 - node f(x)->(o) o = a && !b || c <> d % 2;
        1 + node f(x)->(o) o = a && !b || c <> d mod 2;
          |
    "]],
    );
    check_equation(
        "o = x ^ 2;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `^`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x ^ 2;
          |                      ^
          |
          = help: write `pow(x, y)`
    "]],
    );
    check_equation(
        "o = x ** 2;",
        &expect![[r"
        error[E0102]: expected an operator or `;`, found `**`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x ** 2;
          |                      ^^
          |
          = help: write `pow(x, y)`
    "]],
    );
}

#[test]
fn comments_of_c_and_python() {
    check(
        "// comment here = (\nnode f(x)->(o) # another\n  o = x; /* and\n  a third */",
        &expect![[r"
        error[E0102]: expected a comment to start with `--` or `(*`, found `//`
         --> f.eddy:1:1
          |
        1 | // comment here = (
          | ^^ comments are not written like this
          |
          = help: write `-- …`
    "]],
    );
    check(
        "# one\nnode f(x)->(o) o = ;",
        &expect![[r"
        error[E0102]: expected a comment to start with `--` or `(*`, found `#`
         --> f.eddy:1:1
          |
        1 | # one
          | ^ comments are not written like this
          |
          = help: write `-- …`

        error[E0102]: expected an expression, found `;`
         --> f.eddy:2:20
          |
        2 | node f(x)->(o) o = ;
          |                    ^
    "]],
    );
    accepted("run f show a#1 {}");
}

#[test]
fn functions() {
    check(
        "node f(x)->(o) o = x;\nfn g(x)->(o) o = x;",
        &expect![[r"
            error[E0102]: expected `=`, found `o`
             --> f.eddy:2:14
              |
            2 | fn g(x)->(o) o = x;
              |              ^
              |
              = help: a function of streams is a node: `node f(x) -> (y)  y = …;`
        "]],
    );
}
