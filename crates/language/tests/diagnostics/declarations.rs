//! Errors in declarations.

use expect_test::expect;

use crate::{accepted, check};

#[test]
fn a_node_has_a_name_inputs_and_outputs() {
    check(
        "node (x)->(o) o = x;",
        &expect![[r"
        error[E0102]: expected the name of the node, found `(`
         --> f.eddy:1:6
          |
        1 | node (x)->(o) o = x;
          |      ^
    "]],
    );
    check(
        "node f x->(o) o = x;",
        &expect![[r"
            error[E0102]: expected `(`, found `x`
             --> f.eddy:1:8
              |
            1 | node f x->(o) o = x;
              |        ^
              |
              = help: the inputs stand in parentheses, even if there are none: `node f(x) -> (y)`, `node g() -> (y)`
        "]],
    );
    check(
        "node f(x)(o) o = x;",
        &expect![[r"
        error[E0102]: expected `->`, found `(`
         --> f.eddy:1:10
          |
        1 | node f(x)(o) o = x;
          |          ^
          |
        help: the outputs follow `->`
          |
        1 | node f(x)->(o) o = x;
          |          ++
    "]],
    );
    check(
        "node f(x)->o, p o = x;",
        &expect![[r"
        error[E0102]: expected `(`, found `o`
         --> f.eddy:1:12
          |
        1 | node f(x)->o, p o = x;
          |            ^
          |
          = help: the outputs stand in parentheses: `-> (o)`
    "]],
    );
    check(
        "node f(x) o = x;",
        &expect![[r"
        error[E0102]: expected `->`, found `o`
         --> f.eddy:1:11
          |
        1 | node f(x) o = x;
          |           ^
          |
        help: the outputs follow `->`
          |
        1 | node f(x)-> o = x;
          |          ++
    "]],
    );
    accepted("node f ()->()");
}

#[test]
fn interfaces_are_lists() {
    check(
        "node f(x -> (o) o = x;",
        &expect![[r"
        error[E0102]: expected `,` or `)`, found `->`
         --> f.eddy:1:10
          |
        1 | node f(x -> (o) o = x;
          |       -  ^^
          |       |
          |       this parenthesis is open
    "]],
    );
    check(
        "node f(x,)->(o) o = x;",
        &expect![[r"
        error[E0102]: expected a name, found `)`
         --> f.eddy:1:10
          |
        1 | node f(x,)->(o) o = x;
          |          ^
          |
          = help: remove the comma before it
    "]],
    );
    check(
        "node f(x; y)->(o) o = x;",
        &expect![[r"
        error[E0102]: expected `,` or `)`, found `;`
         --> f.eddy:1:9
          |
        1 | node f(x; y)->(o) o = x;
          |       - ^
          |       |
          |       this parenthesis is open
          |
          = help: names are separated by `,`
    "]],
    );
    check(
        "node f(_, x)->(o) o = x;",
        &expect![[r"
        error[E0102]: expected a name, found `_`
         --> f.eddy:1:8
          |
        1 | node f(_, x)->(o) o = x;
          |        ^
          |
          = help: `_` stands only on the left side of `=`, for a value that is not used
    "]],
    );
    check(
        "node f(1)->(o) o = x;",
        &expect![[r"
        error[E0102]: expected a name, found `1`
         --> f.eddy:1:8
          |
        1 | node f(1)->(o) o = x;
          |        ^
    "]],
    );
}

#[test]
fn types_are_num_int_and_bool() {
    check(
        "node f(x:real, y:boool, z:string)->(o) o = x;",
        &expect![[r"
            error[E0102]: expected `num`, `int` or `bool`, found `real`
             --> f.eddy:1:10
              |
            1 | node f(x:real, y:boool, z:string)->(o) o = x;
              |          ^^^^
              |
            help: the type is called `num`
              |
            1 - node f(x:real, y:boool, z:string)->(o) o = x;
            1 + node f(x:num, y:boool, z:string)->(o) o = x;
              |

            error[E0102]: expected `num`, `int` or `bool`, found `boool`
             --> f.eddy:1:18
              |
            1 | node f(x:real, y:boool, z:string)->(o) o = x;
              |                  ^^^^^
              |
            help: the type is called `bool`
              |
            1 - node f(x:real, y:boool, z:string)->(o) o = x;
            1 + node f(x:real, y:bool, z:string)->(o) o = x;
              |
        "]],
    );
    check(
        "node f(x:num [3)->(o) o = 1;",
        &expect![[r"
        error[E0102]: expected `,` or `]`, found `)`
         --> f.eddy:1:16
          |
        1 | node f(x:num [3)->(o) o = 1;
          |              - ^
          |              |
          |              this bracket is open
    "]],
    );
    check(
        "node f(x:)->(o) o = 1;",
        &expect![[r"
        error[E0102]: expected `num`, `int` or `bool`, found `)`
         --> f.eddy:1:10
          |
        1 | node f(x:)->(o) o = 1;
          |          ^
          |
          = help: types are `num`, `int` and `bool`, with a shape after them: `num [3]`
    "]],
    );
    accepted("node f(x:num [], y:int[n * 2], z:bool)->(o)");
}

#[test]
fn clocks_name_their_conditions() {
    check(
        "node f(x when, y when not 1)->(o) o = 1;",
        &expect![[r"
        error[E0102]: expected the name of a condition, found `,`
         --> f.eddy:1:14
          |
        1 | node f(x when, y when not 1)->(o) o = 1;
          |              ^
    "]],
    );
    accepted("node f(x:num when c when not d)->(o) o when c = 1;");
}

#[test]
fn declarations_start_with_a_keyword() {
    check(
        "nod f(x)->(o) o = x;",
        &expect![[r"
            error[E0102]: expected `node`, `fn`, `run` or `train`, found `nod`
             --> f.eddy:1:1
              |
            1 | nod f(x)->(o) o = x;
              | ^^^
              |
              = help: did you mean `node`?
        "]],
    );
    check(
        "node f(x)->(o) o = x;\nnodes g(x)->(o) o = x;",
        &expect![[r"
        error[E0102]: expected `=`, found `g`
         --> f.eddy:2:7
          |
        2 | nodes g(x)->(o) o = x;
          |       ^
          |
          = help: did you mean `node`?
    "]],
    );
    check(
        "run f { x: 1; }\no = 3;",
        &expect![[r"
            error[E0102]: expected `node`, `fn`, `run` or `train`, found `o`
             --> f.eddy:2:1
              |
            2 | o = 3;
              | ^
              |
              = help: equations belong to a node: write `o = …;` below the head of each node that needs it, or make `o` an input and give it as an argument
        "]],
    );
    check(
        "run f { x: 1; }\nrun { y: 1; }\nnode g()->()",
        &expect![[r"
            error[E0102]: expected `node`, `fn`, `run` or `train`, found `run`
             --> f.eddy:2:1
              |
            2 | run { y: 1; }
              | ^^^
              |
              = help: `run` is followed by the name of a node
        "]],
    );
    check(
        "x;",
        &expect![[r"
            error[E0102]: expected `node`, `fn`, `run` or `train`, found `x`
             --> f.eddy:1:1
              |
            1 | x;
              | ^
        "]],
    );
}

#[test]
fn training_messages_come_in_order() {
    check(
        "train f as g los h optim sgd(1) truncate segment;",
        &expect![[r"
        error[E0102]: expected `loss`, found `los`
         --> f.eddy:1:14
          |
        1 | train f as g los h optim sgd(1) truncate segment;
          |              ^^^
          |
          = help: did you mean `loss`?

        error[E0102]: expected `;`, found `segment`
         --> f.eddy:1:42
          |
        1 | train f as g los h optim sgd(1) truncate segment;
          |                                          ^^^^^^^
          |
          = help: `segment` comes before `truncate`
    "]],
    );
    check(
        "train f loss h;",
        &expect![[r"
        error[E0102]: expected `as`, found `loss`
         --> f.eddy:1:9
          |
        1 | train f loss h;
          |         ^^^^
          |
          = help: it is written `train N as M loss L optim O(…);`
    "]],
    );
    check(
        "train f as g loss h optim sgd(0.1, ;\ntrain f as g loss h optim sgd(0.1",
        &expect![[r"
            error[E0102]: expected an expression, found `;`
             --> f.eddy:1:36
              |
            1 | train f as g loss h optim sgd(0.1, ;
              |                           ----     ^
              |                           |
              |                           the arguments of this call are open

            error[E0102]: expected `,` or `)`, found the end of the file
             --> f.eddy:2:34
              |
            2 | train f as g loss h optim sgd(0.1
              |                           ----   ^
              |                           |
              |                           the arguments of this call are open
        "]],
    );
    accepted("train f as g loss h optim sgd() segment truncate;");
}

#[test]
fn imports_have_paths_in_quotes_and_stand_first() {
    check(
        "import f, g \"a.eddy\";\nimport \"b.eddy\nimport a from b;\nimport c from \"c\"",
        &expect![[r#"
            error[E0102]: expected `,` or `from`, found `"a.eddy"`
             --> f.eddy:1:13
              |
            1 | import f, g "a.eddy";
              |             ^^^^^^^^
              |
              = help: an import is written `import f, g from "FILE.eddy";`, or from the library `import dense from "eddy:layers";`; functions such as `exp` need none

            error[E0102]: expected a path with `"` at its end, found `"b.eddy`
             --> f.eddy:2:8
              |
            2 | import "b.eddy
              |        ^^^^^^^

            error[E0102]: expected a path in quotes, found `b`
             --> f.eddy:3:15
              |
            3 | import a from b;
              |               ^
              |
              = help: write `"b.eddy"`

            error[E0102]: expected `;`, found the end of the file
             --> f.eddy:4:18
              |
            4 | import c from "c"
              |                  ^
              |
            help: an import ends with `;`
              |
            4 | import c from "c";
              |                  +
        "#]],
    );
    check(
        "node f(x)->(o) o = x;\nimport \"b.eddy\";\nimport \"c.eddy\";",
        &expect![[r#"
            error[E0102]: expected `node`, `fn`, `run` or `train`, found `import`
             --> f.eddy:2:1
              |
            2 | import "b.eddy";
              | ^^^^^^
              |
              = help: imports stand at the top of the file
        "#]],
    );
    accepted("import f from \"a.eddy\"; node f(import)->(o) import = 1;");
}
