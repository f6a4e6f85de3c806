//! Errors in test benches.

use expect_test::expect;

use crate::{accepted, check};

#[test]
fn rows_end_with_semicolons() {
    check(
        "run f { x: 1 2\n  y: 3; k = 1 }",
        &expect![[r"
        error[E0102]: expected `;`, found `y`
         --> f.eddy:2:3
          |
        2 |   y: 3; k = 1 }
          |   ^
          |
        help: a row ends with `;`
          |
        1 | run f { x: 1 2;
          |               +

        error[E0102]: expected `;`, found `}`
         --> f.eddy:2:15
          |
        2 |   y: 3; k = 1 }
          |               ^
          |
        help: a row ends with `;`
          |
        2 |   y: 3; k = 1; }
          |              +
    "]],
    );
    check(
        "run f { x: 1;; }",
        &expect![[r"
        error[E0102]: expected a row, found `;`
         --> f.eddy:1:14
          |
        1 | run f { x: 1;; }
          |              ^
          |
          = help: remove this `;`
    "]],
    );
    accepted("run f { x:; t: t; f: f; }");
}

#[test]
fn braces_stand_around_rows() {
    check(
        "run f;",
        &expect![[r"
        error[E0102]: expected an option or `{`, found `;`
         --> f.eddy:1:6
          |
        1 | run f;
          |      ^
          |
          = help: the inputs stand in braces, even if there are none: `run f for 3 {}`
    "]],
    );
    check(
        "run f x: 1; }",
        &expect![[r"
        error[E0102]: expected an option or `{`, found `x`
         --> f.eddy:1:7
          |
        1 | run f x: 1; }
          |       ^
          |
          = help: the inputs stand in braces: `run f { x: 1 2; }`
    "]],
    );
    check(
        "run f { x: 1;\nnode g()->()",
        &expect![[r"
        error[E0102]: expected `}`, found `node`
         --> f.eddy:2:1
          |
        1 | run f { x: 1;
          |       - this brace is open
        2 | node g()->()
          | ^^^^
    "]],
    );
    check(
        "run f { x: 1; k = 2;",
        &expect![[r"
        error[E0102]: expected `}`, found the end of the file
         --> f.eddy:1:21
          |
        1 | run f { x: 1; k = 2;
          |       -             ^
          |       |
          |       this brace is open
    "]],
    );
    accepted("run f {}");
}

#[test]
fn options_are_known() {
    check(
        "run f chrno for { x: 1; }",
        &expect![[r"
        error[E0102]: expected an option or `{`, found `chrno`
         --> f.eddy:1:7
          |
        1 | run f chrno for { x: 1; }
          |       ^^^^^
          |
          = help: did you mean `chrono`?
    "]],
    );
    check(
        "run f verbose {}",
        &expect![[r"
            error[E0102]: expected an option or `{`, found `verbose`
             --> f.eddy:1:7
              |
            1 | run f verbose {}
              |       ^^^^^^^
              |
              = help: the options are `A`, `B`, `K`, `chrono`, `trace`, `stats`, `strict`, `unchecked`, `for`, `seed`, `show`, `probe`
        "]],
    );
    check(
        "run f for -1 {}",
        &expect![[r"
        error[E0102]: expected a number of cycles, found `-`
         --> f.eddy:1:11
          |
        1 | run f for -1 {}
          |           ^
          |
          = help: it cannot be negative
    "]],
    );
    check(
        "run f for 1.5 {}",
        &expect![[r"
        error[E0102]: expected a number of cycles, found `1.5`
         --> f.eddy:1:11
          |
        1 | run f for 1.5 {}
          |           ^^^
          |
          = help: it is written with digits only
    "]],
    );
    check(
        "run f show a#0, b#x {}",
        &expect![[r"
            error[E0103]: number out of range: expected the number of an instance, from 1 to 2^32 - 1
             --> f.eddy:1:14
              |
            1 | run f show a#0, b#x {}
              |              ^

            error[E0102]: expected the number of an instance, found `x`
             --> f.eddy:1:19
              |
            1 | run f show a#0, b#x {}
              |                   ^
        "]],
    );
    check(
        "run f seed 99999999999999999999 {}",
        &expect![[r"
        error[E0103]: number out of range: expected a seed below 2^64
         --> f.eddy:1:12
          |
        1 | run f seed 99999999999999999999 {}
          |            ^^^^^^^^^^^^^^^^^^^^ too large
    "]],
    );
    accepted("run f K chrono trace stats strict unchecked for 0 seed 1 show a#1/b {}");
}

#[test]
fn rows_have_names_and_values() {
    check(
        "run f { x 1 2; 3: 4; y: 5; }",
        &expect![[r"
        error[E0102]: expected `:` or `=`, found `1`
         --> f.eddy:1:11
          |
        1 | run f { x 1 2; 3: 4; y: 5; }
          |           ^
          |
          = help: write `x: 1 2 3;` for a stream, `k = 3;` for a constant

        error[E0102]: expected the name of an input or `}`, found `3`
         --> f.eddy:1:16
          |
        1 | run f { x 1 2; 3: 4; y: 5; }
          |                ^
    "]],
    );
    check(
        "run f { merge: 1; _: 2; }",
        &expect![[r"
        error[E0102]: expected the name of an input or `}`, found the reserved word `merge`
         --> f.eddy:1:9
          |
        1 | run f { merge: 1; _: 2; }
          |         ^^^^^
          |
          = help: choose another name, for instance `merge1`

        error[E0102]: expected the name of an input or `}`, found `_`
         --> f.eddy:1:19
          |
        1 | run f { merge: 1; _: 2; }
          |                   ^
          |
          = help: `_` stands only on the left side of `=`, for a value that is not used
    "]],
    );
}

#[test]
fn cells_are_constants() {
    check(
        "run f { x: 1 inf 2; y: -t; z: +1; w: (1); }",
        &expect![[r"
            error[E0102]: expected a cell or `;`, found `-`
             --> f.eddy:1:24
              |
            1 | run f { x: 1 inf 2; y: -t; z: +1; w: (1); }
              |                        ^
              |
              = help: a minus belongs to a number: `-1`

            error[E0102]: expected a cell or `;`, found `+`
             --> f.eddy:1:31
              |
            1 | run f { x: 1 inf 2; y: -t; z: +1; w: (1); }
              |                               ^
              |
              = help: a positive number has no sign

            error[E0102]: expected a cell or `;`, found `(`
             --> f.eddy:1:38
              |
            1 | run f { x: 1 inf 2; y: -t; z: +1; w: (1); }
              |                                      ^
              |
              = help: a cell is a constant: compute constants in a row `k = …;`
        "]],
    );
    check(
        "run f { x: 1, 2, 3; y: 1, oops; }",
        &expect![[r"
        error[E0102]: expected a cell or `;`, found `,`
         --> f.eddy:1:13
          |
        1 | run f { x: 1, 2, 3; y: 1, oops; }
          |             ^
          |
          = help: cells are separated by blanks

        error[E0102]: expected a cell or `;`, found `,`
         --> f.eddy:1:25
          |
        1 | run f { x: 1, 2, 3; y: 1, oops; }
          |                         ^
          |
          = help: cells are separated by blanks
    "]],
    );
    accepted("run f { x: 1 -2 - 3 1e5; y: ..? t; }");
}

#[test]
fn a_point_next_to_a_number_is_not_a_cell() {
    check(
        "run f { x: .5; y: 1. 2; z: 1.5.; }",
        &expect![[r"
        error[E0102]: expected a number or cells with blanks between them, found `.5`
         --> f.eddy:1:12
          |
        1 | run f { x: .5; y: 1. 2; z: 1.5.; }
          |            ^
          |
          = help: write a digit before the point, or a blank after it

        error[E0102]: expected a number or cells with blanks between them, found `1.`
         --> f.eddy:1:19
          |
        1 | run f { x: .5; y: 1. 2; z: 1.5.; }
          |                   ^
          |
          = help: write a digit after the point, or a blank before it

        error[E0102]: expected a number or cells with blanks between them, found `1.5.`
         --> f.eddy:1:28
          |
        1 | run f { x: .5; y: 1. 2; z: 1.5.; }
          |                            ^^^
          |
          = help: write a digit after the point, or a blank before it
    "]],
    );
    accepted("run f { x: . 5 . 1 . [.] ..; }");
}

#[test]
fn lists_of_cells_are_closed() {
    check(
        "run f { x: [1, 2; y: [1 2]; z: [1,]; w: 1]; }",
        &expect![[r"
        error[E0102]: expected `,` or `]`, found `;`
         --> f.eddy:1:17
          |
        1 | run f { x: [1, 2; y: [1 2]; z: [1,]; w: 1]; }
          |            -    ^
          |            |
          |            this list is open

        error[E0102]: expected `,` or `]`, found `2`
         --> f.eddy:1:25
          |
        1 | run f { x: [1, 2; y: [1 2]; z: [1,]; w: 1]; }
          |                      -  ^
          |                      |
          |                      this list is open

        error[E0102]: expected a cell, found `]`
         --> f.eddy:1:35
          |
        1 | run f { x: [1, 2; y: [1 2]; z: [1,]; w: 1]; }
          |                                   ^
          |
          = help: a cell is a number, `t`, `f`, `.` for absent, `?` for unknown, or a list of these

        error[E0102]: expected a cell or `;`, found `]`
         --> f.eddy:1:42
          |
        1 | run f { x: [1, 2; y: [1 2]; z: [1,]; w: 1]; }
          |                                          ^
          |
          = help: a cell is a number, `t`, `f`, `.` for absent, `?` for unknown, or a list of these
    "]],
    );
    accepted("run f { x: [] [[1], [t, .]]; }");
}

#[test]
fn numbers_of_cells_have_a_range() {
    check(
        "run f { x: 9223372036854775808 -1e999; }",
        &expect![[r"
        error[E0103]: number out of range: expected an integer of 64 bits
         --> f.eddy:1:12
          |
        1 | run f { x: 9223372036854775808 -1e999; }
          |            ^^^^^^^^^^^^^^^^^^^ too large
          |
          = note: an integer is at most 9223372036854775807
          = help: write a `num` with a point or an exponent, for instance `1e20`

        error[E0103]: number out of range: expected a finite number
         --> f.eddy:1:33
          |
        1 | run f { x: 9223372036854775808 -1e999; }
          |                                 ^^^^^ too large
          |
          = note: a `num` is a 64-bit floating-point number, up to 1.7976931348623157e308
    "]],
    );
    accepted("run f { x: -9223372036854775808; }");
}
