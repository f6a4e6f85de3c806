//! Parsing: precedence, adjacency, contextual keywords, spans.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

mod show;

use eddy_language::parse::parse;
use eddy_language::tree::{ExprKind, Item, Program};
use eddy_syntax::SourceFile;
use expect_test::{Expect, expect};

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show::show(text));
}

/// The right side of one equation.
fn check_expr(text: &str, expected: &Expect) {
    let shown = show::show(&format!("node n()->()\n o = {text};"));
    let value = shown.strip_prefix("node n() -> ()\n  o = ").unwrap_or(&shown);
    expected.assert_eq(value.trim_end());
}

#[test]
fn operators_from_loosest_to_tightest() {
    check_expr(
        "a fby b or c and d == e + f * -g",
        &expect!["(a fby (b or (c and (d == (e + (f * (- g)))))))"],
    );
    check_expr("a * b + c < d and e or f fby g", &expect!["((((((a * b) + c) < d) and e) or f) fby g)"]);
    check_expr("a - b - c / d div e mod f", &expect!["((a - b) - (((c / d) div e) mod f))"]);
    check_expr("a or b or c and d and e", &expect!["((a or b) or ((c and d) and e))"]);
    check_expr("not a == b", &expect!["((not a) == b)"]);
    check_expr("-a * -b - -c", &expect!["(((- a) * (- b)) - (- c))"]);
}

#[test]
fn fby_is_right_associative_and_loosest() {
    check_expr("0.0 fby n + x", &expect!["(0.0 fby (n + x))"]);
    check_expr("a fby b fby back c fby d", &expect!["(a fby (b fby back (c fby d)))"]);
    check_expr("a fby if b then c else d fby e", &expect!["(a fby (if b then c else (d fby e)))"]);
    check_expr(
        "if a fby b then c fby d else if e then f else g",
        &expect!["(if (a fby b) then (c fby d) else (if e then f else g))"],
    );
}

#[test]
fn sampling_binds_tighter_than_products_and_prefixes() {
    check_expr("do * 2.0 * i when bp", &expect!["((do * 2.0) * (i when bp))"]);
    check_expr("-i when not c", &expect!["(- (i when not c))"]);
    check_expr("post x when a when not b + 1", &expect!["((post ((x when a) when not b)) + 1)"]);
    check_expr("x[0] when c[1]", &expect!["(x[0] when c[1])"]);
    check_expr("not not post - x", &expect!["(not (not (post (- x))))"]);
    check_expr("post x + 1", &expect!["((post x) + 1)"]);
}

#[test]
fn merge_takes_three_postfix_arguments() {
    check_expr("merge c (x) (y)", &expect!["(merge c {x} {y})"]);
    check_expr("merge c(x) (y) z", &expect!["(merge c(x) {y} z)"]);
    check_expr("merge c [1,2] x", &expect!["(merge c [1, 2] x)"]);
    check_expr("merge c[0] [1][0] x[i][j]", &expect!["(merge c[0] [1][0] x[i][j])"]);
    check_expr("o + merge bp do 0.0 * 2.0", &expect!["(o + ((merge bp do 0.0) * 2.0))"]);
    check_expr("-merge(c)(x)(y)", &expect!["(- (merge {c} {x} {y}))"]);
    check_expr(
        "g1 * (merge c1 o1 zeros(shape)) + post merge true false f(x, y)",
        &expect!["((g1 * {(merge c1 o1 zeros(shape))}) + (post (merge true false f(x, y))))"],
    );
}

#[test]
fn tuples_lists_groups_and_calls() {
    check_expr("((a), (b, c), [], [[1], [2, 3]])", &expect!["tuple({a}, tuple(b, c), [], [[1], [2, 3]])"]);
    check_expr("f()[0] + (a)[1] + [1,2][0]", &expect!["((f()[0] + {a}[1]) + [1, 2][0])"]);
    check_expr("f(g(), a fby b, if c then d else e)", &expect!["f(g(), (a fby b), (if c then d else e))"]);
}

#[test]
fn unicode_aliases() {
    check_expr("¬a ∧ b ≤ c ∨ d ≥ e × f", &expect!["(((not a) and (b <= c)) or (d >= (e * f)))"]);
    check(
        "node f(x) → (o) o = x ≠ 1; run f { x: □ ⊥ 1; }",
        &expect![[r"
        node f(x) -> (o)
          o = (x != 1)
        run f
          x: . ? 1
    "]],
    );
}

#[test]
fn numbers_are_integers_without_point_and_exponent() {
    check_expr(
        "1 + 1.0 + 1e3 + 1.5E-3 + 9223372036854775807",
        &expect!["((((1 + 1.0) + 1e3) + 1.5E-3) + 9223372036854775807)"],
    );
}

#[test]
fn contextual_keywords_are_names_elsewhere() {
    check(
        "node train(end, do, init, num, import, as)->(run, show)
           run = train + import; train = num; import, as' = f(loss);
           run:num [] = 1; (train) = chrono; _ = from; import when for = A; x = merge c run train;
         node run(x)->(o) o = x;
         run run for 3 show run, train#1/run K { run: t; train = 1; import: f; }
         train train as as loss loss optim optim(segment) segment truncate;",
        &expect![[r"
            node train(end, do, init, num, import, as) -> (run, show)
              run = (train + import)
              train = num
              import, as' = f(loss)
              run:num[] = 1
              train = chrono
              _ = from
              import when for = A
              x = (merge c run train)
            node run(x) -> (o)
              o = x
            run run For(3) Show(run, train#1/run) Semantics(Kahn)
              run: true
              train = 1
              import: false
            train train as as loss loss optim optim(segment) segment truncate
        "]],
    );
}

#[test]
fn types_and_clocks_of_declarations() {
    check(
        "node f(x:num, y:int [], z:bool[2, n * 3], w:num [] when c, v when not c when d)->(o:num [k] when not c)
           a:num [3], _, b when c = g(x);
           (p:bool, q) = h(y);",
        &expect![[r"
            node f(x:num, y:int[], z:bool[2, (n * 3)], w:num[] when c, v when not c when d) -> (o:num[k] when not c)
              a:num[3], _, b when c = g(x)
              p:bool, q = h(y)
        "]],
    );
}

#[test]
fn heads_need_no_blanks_and_take_any() {
    check(
        "node f(x)->(o)o=x;node g ( ) -> ( ) node h(a,b)->(c)",
        &expect![[r"
        node f(x) -> (o)
          o = x
        node g() -> ()
        node h(a, b) -> (c)
    "]],
    );
}

#[test]
fn runs_and_their_options() {
    check(
        "run f A chrono trace stats strict unchecked for 10 seed 18446744073709551615 show a, b#2/c, d#1 {} run f B {} run f K {}",
        &expect![[r"
            run f Semantics(Denotational) Chrono Trace Stats Strict Unchecked For(10) Seed(18446744073709551615) Show(a, b#2/c, d#1)
            run f Semantics(Operational)
            run f Semantics(Kahn)
        "]],
    );
    check(
        "run f {
           x: . _ ? ⊥ true t T false f F 1 -2 - 3 1.5 -2e3 -9223372036854775808;
           y: [] [1,-2] [[t,f],[.,?]] [[]];
           z:;
           k = [1, 2 + n];
           t: 1; f: 2; x': 3;
         }",
        &expect![[r"
            run f
              x: . . ? ? true true true false false false 1 -2 -3 1.5 -2000.0 -9223372036854775808
              y: [] [1, -2] [[true, false], [., ?]] [[]]
              z: 
              k = [1, (2 + n)]
              t: 1
              f: 2
              x': 3
        "]],
    );
}

#[test]
fn training() {
    check(
        "train rnn as tr loss sq optim sgd(0.125, -k) truncate; train a as b loss c optim d ();",
        &expect![[r"
            train rnn as tr loss sq optim sgd(0.125, (- k)) truncate
            train a as b loss c optim d()
        "]],
    );
}

#[test]
fn imports_stand_at_the_top() {
    check(
        "import f, g from \"lib/f.rd\"; import \"all.eddy\"; import from from \"x\"; import import from \"\";\nnode n()->(o) o = f(1);",
        &expect![[r#"
            import f, g from "lib/f.rd"
            import everything from "all.eddy"
            import from from "x"
            import import from ""
            node n() -> (o)
              o = f(1)
        "#]],
    );
}

#[test]
fn the_comment_above_a_node_documents_it() {
    check(
        "-- about the file

-- about a,
--   indented
(* and more *)
node a()->()
-- not about b

node b()->() x = 1; -- not about c
node c()->() x = 1;
(* over
     several
       lines
   *)
node d()->() (* e *) node e()->()
--
----- f -----
node f()->()",
        &expect![[r#"
            doc "about a,\n  indented\nand more"
            node a() -> ()
            node b() -> ()
              x = 1
            node c() -> ()
              x = 1
            doc "over\nseveral\n  lines"
            node d() -> ()
            doc "e"
            node e() -> ()
            doc "f -----"
            node f() -> ()
        "#]],
    );
}

#[test]
fn empty_files_are_programs() {
    check("", &expect![[""]]);
    check(" -- nothing\n", &expect![[""]]);
}

#[test]
fn the_programs_of_the_specification_parse() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut n_programs = 0;
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let parsed = parse(&SourceFile::new("test.eddy", text));
        assert!(parsed.diagnostics.is_empty(), "{}: {:?}", path.display(), parsed.diagnostics);
        n_programs += 1;
    }
    assert_eq!(n_programs, 79);
}

#[test]
fn a_whole_program() {
    check(
        include_str!("programs/g19.eddy"),
        &expect![[r"
        node rnn(x) -> (h)
          w = param(0.5)
          h = ((w * x) + hp)
          hp = (param(0.25) fby h)
        node sq(i, gt) -> (o)
          o = ({(i - gt)} * {(i - gt)})
        train rnn as tr loss sq optim sgd(0.125) segment
        run tr
          x: 1 2 1 2 1
          end: false true false true true
          bp: true true false false true
          gt: 1 1 . . 1
        run tr Stats
          x: 1 2 1 2 1
          end: false true false true true
          bp: true true true true true
          gt: 1 1 1 1 1
    "]],
    );
}

/// Line and column of the mark of each expression except groups, in tree order.
fn marks(text: &str) -> String {
    let file = SourceFile::new("test.eddy", text);
    let Program { exprs, .. } = parse(&file).program;
    let shown = exprs.ids().map(|id| {
        let at = file.position(exprs.at(id).start);
        format!("{} @ {}:{} {}", file.slice(exprs.span(id)), at.line, at.column, file.slice(exprs.at(id)))
    });
    shown.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_expression_is_marked_at_its_operator_or_first_token() {
    let check = |text: &str, expected: Expect| expected.assert_eq(&marks(text));
    // The positions of the errors in G26 to G31.
    check(
        include_str!("programs/g26.eddy"),
        expect![[r"
        u @ 2:12 u
        post u @ 2:7 post
        o @ 3:7 o
        1 @ 3:11 1
        o + 1 @ 3:9 +"]],
    );
    check(
        "node c(x)->(o) o = x + p; p = o * 0.5;",
        expect![[r"
        x @ 1:20 x
        p @ 1:24 p
        x + p @ 1:22 +
        o @ 1:31 o
        0.5 @ 1:35 0.5
        o * 0.5 @ 1:33 *"]],
    );
    check(
        "node d(x,c)->(o) o = merge c x 0.0;",
        expect![[r"
        c @ 1:28 c
        x @ 1:30 x
        0.0 @ 1:32 0.0
        merge c x 0.0 @ 1:22 merge"]],
    );
    check(
        "node d(x:num [3])->(o) o = x + [1.0,2.0];",
        expect![[r"
        3 @ 1:15 3
        x @ 1:28 x
        1.0 @ 1:33 1.0
        2.0 @ 1:37 2.0
        [1.0,2.0] @ 1:32 [
        x + [1.0,2.0] @ 1:30 +"]],
    );
    check(
        "node d()->() o = (if f(a)[0] then b when not c else (d, e)) fby back (- (g));",
        expect![[r"
        a @ 1:24 a
        f(a) @ 1:22 f
        0 @ 1:27 0
        f(a)[0] @ 1:26 [
        b @ 1:35 b
        c @ 1:46 c
        b when not c @ 1:37 when
        d @ 1:54 d
        e @ 1:57 e
        (d, e) @ 1:53 (
        if f(a)[0] then b when not c else (d, e) @ 1:19 if
        (if f(a)[0] then b when not c else (d, e)) @ 1:19 if
        g @ 1:74 g
        (g) @ 1:74 g
        - (g) @ 1:71 -
        (- (g)) @ 1:71 -
        (if f(a)[0] then b when not c else (d, e)) fby back (- (g)) @ 1:61 fby"]],
    );
}

#[test]
fn children_come_before_their_parents_and_are_listed_in_order() {
    let file = SourceFile::new("test.eddy", include_str!("programs/g38_diff.eddy"));
    let Program { exprs, items, .. } = parse(&file).program;
    let mut n_children = 0;
    for id in exprs.ids() {
        let children: Vec<_> = exprs.children(id).collect();
        assert!(children.iter().all(|child| *child < id));
        assert!(children.is_sorted_by_key(|child| exprs.span(*child)));
        n_children += children.len();
        let is_group = matches!(exprs.kind(id), ExprKind::Group(_));
        assert_eq!(exprs.without_parentheses(id) == id, !is_group);
    }
    let equations =
        items.iter().map(|item| if let Item::Node(node) = item { node.equations.len() } else { 0 });
    assert_eq!(exprs.len(), n_children + equations.sum::<usize>(), "everything has one parent");
}
