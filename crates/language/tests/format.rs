//! The format of `.eddy` files.

use eddy_language::format;
use eddy_syntax::SourceFile;
use expect_test::{Expect, expect};

mod text_laws;

use text_laws::assert_laws;

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&assert_laws(text));
}

#[test]
fn tokens_are_spaced_as_the_language_is_written() {
    check(
        "node f ( x,y :num[ 3 , n+1 ],z :bool when not  c when d )->( o )
         o=- x*( y[ 0 ] )+g( ) div-2 ; ( a,b:int )=h( - - x,not  a ,post( b ) ,[ ] ,[1,2 ] ) ;_ ,q = r ;",
        &expect![[r"
            node f(x, y:num [3, n + 1], z:bool when not c when d) -> (o)
              o = -x * (y[0]) + g() div -2;
              (a, b:int) = h(- -x, not a, post (b), [], [1, 2]);
              _, q = r;
        "]],
    );
    check(
        "node f(x)->(o) o = ¬ a∧¬( b )∨ c≤d×e; p = if a then b else c; q = a fby back( b ) fby c; r = x when( c )when not d;",
        &expect![[r"
            node f(x) -> (o)
              o = ¬a ∧ ¬(b) ∨ c ≤ d × e;
              p = if a then b else c;
              q = a fby back (b) fby c;
              r = x when (c) when not d;
        "]],
    );
}

#[test]
fn adjacency_is_preserved() {
    check(
        "node f(x)->(o) o = merge c (x) (y); p = merge c(x)(y)z; q = merge(c)[0] [1] [2][0]; r = merge c x[0]\n[1];",
        &expect![[r"
            node f(x) -> (o)
              o = merge c (x) (y);
              p = merge c(x) (y) z;
              q = merge (c)[0] [1] [2][0];
              r = merge c x[0] [1];
        "]],
    );
}

#[test]
fn declarations_start_at_the_margin_and_equations_have_a_line_each() {
    check(
        "import a,b from \"x.eddy\"; import\"y.eddy\"; node f(x)->(o) o = x; p = o; node g(x)->(y)
         train f as g loss h optim sgd ( 0.1,2 ) segment  mean truncate; run f A for 3 seed 1 show a#1/b , c { }",
        &expect![[r#"
            import a, b from "x.eddy";
            import "y.eddy";
            node f(x) -> (o)
              o = x;
              p = o;
            node g(x) -> (y)
            train f as g loss h optim sgd(0.1, 2) segment mean truncate;
            run f A for 3 seed 1 show a#1/b, c {}
        "#]],
    );
}

#[test]
fn a_long_head_breaks_before_its_outputs_or_has_a_line_for_each_input() {
    check(
        "node diff_lstm_cell_end(units,sizex,h,c,x,end,bp,dh_next,dc_next)->(h_next,c_next,dh,dc,dx) dx = 1;
         node a_longer_name(first_input:num [first_size], second_input:num [second_size], third_input:bool)->(o) o = 1;",
        &expect![[r"
            node diff_lstm_cell_end(units, sizex, h, c, x, end, bp, dh_next, dc_next)
                -> (h_next, c_next, dh, dc, dx)
              dx = 1;
            node a_longer_name(first_input:num [first_size], second_input:num [second_size], third_input:bool)
                -> (o)
              o = 1;
        "]],
    );
}

#[test]
fn a_long_equation_breaks_behind_its_equals_sign() {
    check(
        "node f(x)->(o)
         output_gate = sigmoid(something_long) * tanh(something_longer) + sigmoid(something_else) * something_more;
         output_gate = sigmoid(something_long) * tanh(something_longer) + sigmoid(something_else) * something_more_and_more;
         output = initial_value_of_something fby (if some_condition_holds then some_value_that_is_long else another_value);
         output = (some_value_that_is_long + another_value_that_is_long) when some_condition_holds when not another_one;
         output = if some_condition_holds then some_value_that_is_long else if another_condition_holds then another_value else 0;",
        &expect![[r"
            node f(x) -> (o)
              output_gate =
                sigmoid(something_long) * tanh(something_longer) + sigmoid(something_else) * something_more;
              output_gate =
                sigmoid(something_long) * tanh(something_longer)
                  + sigmoid(something_else) * something_more_and_more;
              output =
                initial_value_of_something
                  fby (if some_condition_holds then some_value_that_is_long else another_value);
              output =
                (some_value_that_is_long + another_value_that_is_long)
                  when some_condition_holds
                  when not another_one;
              output =
                if some_condition_holds then some_value_that_is_long
                else if another_condition_holds then another_value
                else 0;
        "]],
    );
}

#[test]
fn a_call_a_list_or_a_merge_may_hang() {
    check(
        "node f(x)->(o)
         output = some_node(some_value_that_is_long * 2.0, another_value_that_is_long, yet_another_value_that_is_long);
         output = [some_value_that_is_long * 2.0, another_value_that_is_long, yet_another_value_that_is_long, 1.0, 20];
         output = merge some_condition_holds (some_value_that_is_long when some_condition_holds) (0.0 fby another_value_that_is_long);
         output = transpose(some_value_that_is_long * 2.0 + another_value_that_is_long, yet_another_value_that_is);",
        &expect![[r"
            node f(x) -> (o)
              output = some_node(
                some_value_that_is_long * 2.0,
                another_value_that_is_long,
                yet_another_value_that_is_long
              );
              output = [
                some_value_that_is_long * 2.0,
                another_value_that_is_long,
                yet_another_value_that_is_long,
                1.0,
                20
              ];
              output = merge some_condition_holds
                (some_value_that_is_long when some_condition_holds)
                (0.0 fby another_value_that_is_long);
              output = transpose(
                some_value_that_is_long * 2.0 + another_value_that_is_long,
                yet_another_value_that_is
              );
        "]],
    );
}

#[test]
fn numbers_fill_lines() {
    let numbers: Vec<String> = (0..50).map(|n| format!("0.{n}")).collect();
    check(
        &format!("node f()->(o) o = [{}];", numbers.join(",")),
        &expect![[r"
        node f() -> (o)
          o = [
            0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16,
            0.17, 0.18, 0.19, 0.20, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.27, 0.28, 0.29, 0.30, 0.31, 0.32,
            0.33, 0.34, 0.35, 0.36, 0.37, 0.38, 0.39, 0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46, 0.47, 0.48,
            0.49
          ];
    "]],
    );
    check(
        &format!("run f {{ x: {} [{}]; y: t; }}", numbers.join(" "), numbers.join(",")),
        &expect![[r"
        run f {
          x: 0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 0.10 0.11 0.12 0.13 0.14 0.15 0.16 0.17 0.18 0.19 0.20
              0.21 0.22 0.23 0.24 0.25 0.26 0.27 0.28 0.29 0.30 0.31 0.32 0.33 0.34 0.35 0.36 0.37 0.38 0.39
              0.40 0.41 0.42 0.43 0.44 0.45 0.46 0.47 0.48 0.49
              [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.10, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16,
              0.17, 0.18, 0.19, 0.20, 0.21, 0.22, 0.23, 0.24, 0.25, 0.26, 0.27, 0.28, 0.29, 0.30, 0.31,
              0.32, 0.33, 0.34, 0.35, 0.36, 0.37, 0.38, 0.39, 0.40, 0.41, 0.42, 0.43, 0.44, 0.45, 0.46,
              0.47, 0.48, 0.49];
          y: t;
        }
    "]],
    );
}

#[test]
fn a_run_on_one_line_stays_there_if_it_fits() {
    check(
        "run f { x: 1 2 3 ; y : t f t ; k=[ 1 ] ; }
         run f chrono show a { x: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; yyy: t f t f t f t f t f t f t f t; zzzzz: 1; }
         run f { x: 1
           ; }",
        &expect![[r"
            run f { x: 1 2 3; y: t f t; k = [1]; }
            run f chrono show a {
              x:     1 2 3 4 5 6 7 8 9 10 11 12 13 14 15;
              yyy:   t f t f t f t f t f  t  f  t  f  t;
              zzzzz: 1;
            }
            run f {
              x: 1;
            }
        "]],
    );
}

#[test]
fn cells_stand_in_columns() {
    check(
        "run f {
           x: 1 2.5 . -4;
           end: t f . t;   k = [1, 2] + 3;

           vector: [1,0] . [0.25,1];
           z:;
         }",
        &expect![[r"
            run f {
              x:      1      2.5 .         -4;
              end:    t      f   .         t;
              k = [1, 2] + 3;

              vector: [1, 0] .   [0.25, 1];
              z:;
            }
        "]],
    );
    // Comments stay in place, and so do the cells.
    check(
        "run f {\n x: 1 2.5 (* two and a half *) 3;\n end: t f t; -- the end\n}",
        &expect![[r"
        run f {
          x: 1 2.5 (* two and a half *) 3;
          end: t f t;  -- the end
        }
    "]],
    );
}

#[test]
fn long_training_declarations_and_options() {
    check(
        "import a_node_with_a_long_name, another_node_with_a_long_name, yet_another_node_with_a_name from \"x.eddy\";
         train a_node_with_a_long_name as another_node_with_a_long_name loss mean_squared_error optim adam(0.001, 0.9) segment;
         run a_node_with_a_long_name chrono stats show a_stream_with_a_long_name, another_stream_with_a_long_name, z {}
         run f show a_stream_with_a_long_name, another_stream_with_a_long_name, yet_another_stream_with_a_name, and_one {}",
        &expect![[r#"
            import a_node_with_a_long_name,
                another_node_with_a_long_name,
                yet_another_node_with_a_name
                from "x.eddy";
            train a_node_with_a_long_name as another_node_with_a_long_name
                loss mean_squared_error
                optim adam(0.001, 0.9)
                segment;
            run a_node_with_a_long_name
                chrono
                stats
                show a_stream_with_a_long_name, another_stream_with_a_long_name, z {}
            run f
                show a_stream_with_a_long_name,
                  another_stream_with_a_long_name,
                  yet_another_stream_with_a_name,
                  and_one {}
        "#]],
    );
}

#[test]
fn comments_stay_on_their_lines() {
    check(
        "
-- About the file.

-- About f.
node f(x)->(o) -- the head
   -- about o
o = x -- why
  + 1; -- ends the line
p = -- below
   2; (* before q *) q = g(x, -- first
    y (* second *), (* third *) z
    -- last
  );
  -- belongs to f
     (* also *)

  -- About g.
node g(x)->(o)
  o = x;

-- does not belong to g

run g { -- rows
x: 1 2; -- of x
-- of y
y: 3 -- early
  4; }
  -- the end
",
        &expect![[r"
            -- About the file.

            -- About f.
            node f(x) -> (o)  -- the head
              -- about o
              o =
                x  -- why
                  + 1;  -- ends the line
              p =  -- below
                2;
              (* before q *) q = g(
                x,  -- first
                y (* second *),
                (* third *) z
                -- last
              );
              -- belongs to f
              (* also *)

            -- About g.
            node g(x) -> (o)
              o = x;

            -- does not belong to g

            run g {  -- rows
              x: 1 2;  -- of x
              -- of y
              y: 3  -- early
                  4;
            }
            -- the end
        "]],
    );
}

#[test]
fn a_comment_of_several_lines_is_unchanged() {
    check(
        "node f(x)->(o)\n      (* over\n  several lines  \n     *) o = x;",
        &expect![[r"
        node f(x) -> (o)
          (* over
          several lines  
             *) o = x;
    "]],
    );
}

#[test]
fn empty_lines_stay_between_things() {
    check(
        "\n\nimport \"x\";\n\n\n\nnode f(x)->(o)\n\n\n  o = x\n\n + 1;\n\n\n  p = g(\n\n1,\n\n2\n\n);\n\nrun f {\n\n x: 1;\n\n\n y: 2;\n\n }\n\n",
        &expect![[r#"
            import "x";

            node f(x) -> (o)
              o = x + 1;

              p =
                g(
                  1,

                  2
                );

            run f {
              x: 1;

              y: 2;
            }
        "#]],
    );
    assert_eq!(format(&SourceFile::new("test.eddy", "\n\n")).as_deref(), Ok(""));
}

#[test]
fn a_program_with_errors_is_not_formatted() {
    let diagnostics = format(&SourceFile::new("test.eddy", "node f(x)->(o) o = ; p = £; q = 1e999;"));
    let codes: Vec<_> =
        diagnostics.expect_err("the program is wrong").iter().map(|found| found.code.name()).collect();
    assert_eq!(codes, ["E0102", "E0101", "E0103"]);
}
