//! All positions of small programs.

use std::fmt::Write as _;

use eddy_language::positions::{Facts, Purpose, SymbolKind, look_ahead};
use eddy_language::program::Entity;
use eddy_syntax::{SourceFile, Sources, Span};
use expect_test::{Expect, expect};

use super::{Read, of};

/// Each name of the main file: `place name: symbol, definition, facts`.
fn check(text: &str, expected: &Expect) {
    check_files(text, &[], expected);
}

fn check_files(text: &str, others: &'static [(&str, &str)], expected: &Expect) {
    let read = of(Sources::new(
        SourceFile::new("main.eddy", text),
        Box::new(|path| match others.iter().find(|(name, _)| *name == path) {
            Some((_, text)) => Ok(text.as_bytes().to_vec()),
            None => Err("there is no such file".to_string()),
        }),
    ));
    expected.assert_eq(&shown(&read));
}

fn shown(read: &Read) -> String {
    let Read { sources, positions, resolved } = read;
    let place = |span: Span| {
        let file = sources.file(span);
        let position = file.position(span.start);
        let name = if file.base() == 0 { "" } else { file.name() };
        format!("{name}{}{}:{}", if name.is_empty() { "" } else { ":" }, position.line, position.column)
    };
    let mut text = String::new();
    for diagnostic in &resolved.diagnostics {
        let _ = writeln!(text, "{} {}", place(diagnostic.primary.span), diagnostic.title);
    }
    let main = sources.main();
    for found in positions.occurrences().iter().filter(|found| found.span.end <= main.end().end) {
        let symbol = positions.symbol(found.symbol);
        let kind = match &symbol.kind {
            SymbolKind::Stream { .. } if symbol.is_parameter => "parameter",
            SymbolKind::Stream { .. } => "stream",
            SymbolKind::Node(_) => "node",
            SymbolKind::Train(_) => "train",
            SymbolKind::File(_) => "file",
            SymbolKind::Function => "function",
            SymbolKind::Operator => "operator",
            SymbolKind::Entity(Entity::Function(_)) => "fn",
            SymbolKind::Entity(Entity::Constant(_)) => "const",
            SymbolKind::Entity(Entity::Type(_)) => "type",
            SymbolKind::Entity(Entity::Enumerator(..)) => "enumerator",
            SymbolKind::Local => "local",
            SymbolKind::Field => "field",
        };
        let definition = match (found.purpose, symbol.definition) {
            (Purpose::Definition, _) => " defined".to_string(),
            (Purpose::Use, Some(span)) => format!(" of {}", place(span)),
            (Purpose::Use, None) => String::new(),
        };
        let derived = if found.is_derived { format!(", from `{}`", symbol.name) } else { String::new() };
        let facts = if found.facts.is_empty() { &symbol.facts } else { &found.facts };
        let facts: Vec<String> = facts.iter().map(known).collect();
        let ty = symbol.ty.as_ref().map_or(String::new(), |ty| format!(", {ty}"));
        let doc = match (&symbol.kind, &symbol.doc) {
            (SymbolKind::Entity(_), Some(doc)) => format!(" -- {doc}"),
            _ => String::new(),
        };
        let ahead = symbol.look_ahead.as_ref().filter(|_| found.purpose == Purpose::Definition);
        let ahead = ahead.map_or(String::new(), |verdict| format!(" | {verdict}"));
        let _ = writeln!(
            text,
            "{} {}: {kind}{definition}{derived}{ty}{doc}{}{}{ahead}",
            place(found.span),
            main.slice(found.span),
            if facts.is_empty() { "" } else { ", " },
            facts.join(" or "),
        );
    }
    text
}

fn known(facts: &Facts) -> String {
    if let Some(constant) = &facts.constant {
        return format!("{constant:?}");
    }
    let unknown = || "?".to_string();
    let scalar = facts.scalar.as_ref().map_or_else(unknown, ToString::to_string);
    let shape = facts.shape.as_ref().map_or_else(unknown, ToString::to_string);
    let clock = facts.clock.as_ref().map_or_else(String::new, |clock| format!(" @ {clock}"));
    format!("{scalar} {shape}{clock}")
}

#[test]
fn a_correct_program_has_all_positions() {
    check(
        "node f(x:num [3], c:bool)->(o)\n  y = x when c;\n  o = sum(y) + 1.0;\n",
        &expect![[r"
            1:6 f: node defined | look-ahead 0
            1:8 x: stream defined, num [3] @ base
            1:19 c: stream defined, bool [] @ base
            1:29 o: stream defined, num [] @ base on c
            2:3 y: stream defined, num [3] @ base on c
            2:7 x: stream of 1:8, num [3] @ base
            2:9 when: operator, num [3] @ base on c
            2:14 c: stream of 1:19, bool [] @ base
            3:3 o: stream defined, num [] @ base on c
            3:7 sum: function, num [] @ base on c
            3:11 y: stream of 2:3, num [3] @ base on c
            3:14 +: operator, num [] @ base on c
        "]],
    );
}

#[test]
fn an_unknown_name_leaves_the_other_equations() {
    check(
        "node f(x:num [3])->(o, p)\n  o = x + unknown;\n  p = x * 2.0;\n",
        &expect![[r"
        2:11 unknown variable `unknown`
        1:6 f: node defined
        1:8 x: stream defined, num [3]
        1:21 o: stream defined
        1:24 p: stream defined, num [3]
        2:3 o: stream defined
        2:7 x: stream of 1:8, num [3]
        2:9 +: operator
        3:3 p: stream defined, num [3]
        3:7 x: stream of 1:8, num [3]
        3:9 *: operator, num [3]
    "]],
    );
}

#[test]
fn a_wrong_type_leaves_the_types_of_the_others() {
    check(
        "node f(x:num [3], c:bool)->(o, p)\n  o = x + c;\n  p = x * 2.0;\n",
        &expect![[r"
        1:6 f: node defined
        1:8 x: stream defined, num [3]
        1:19 c: stream defined, bool ?
        1:29 o: stream defined
        1:32 p: stream defined, num [3]
        2:3 o: stream defined
        2:7 x: stream of 1:8, num [3]
        2:9 +: operator
        2:11 c: stream of 1:19, bool ?
        3:3 p: stream defined, num [3]
        3:7 x: stream of 1:8, num [3]
        3:9 *: operator, num [3]
    "]],
    );
}

#[test]
fn a_wrong_shape_leaves_the_shapes_of_the_others() {
    check(
        "node f(x:num [3], y:num [2])->(o, p, q)\n  o = x + y;\n  p = [x, x];\n  q = o * 2.0;\n",
        &expect![[r"
            1:6 f: node defined
            1:8 x: stream defined, num [3]
            1:19 y: stream defined, num [2]
            1:32 o: stream defined, num ?
            1:35 p: stream defined, num [2,3]
            1:38 q: stream defined, num ?
            2:3 o: stream defined, num ?
            2:7 x: stream of 1:8, num [3]
            2:9 +: operator, num ?
            2:11 y: stream of 1:19, num [2]
            3:3 p: stream defined, num [2,3]
            3:8 x: stream of 1:8, num [3]
            3:11 x: stream of 1:8, num [3]
            4:3 q: stream defined, num ?
            4:7 o: stream of 1:32, num ?
            4:9 *: operator, num ?
        "]],
    );
}

#[test]
fn a_syntax_error_in_an_equation_leaves_the_others() {
    check(
        "node f(x:num)->(o, p)\n  o = x + ;\n  p = x * o;\n",
        &expect![[r"
            2:11 expected an expression, found `;`
            1:6 f: node defined
            1:8 x: stream defined, num ?
            1:17 o: stream defined, num ?
            1:20 p: stream defined, num ?
            2:3 o: stream defined, num ?
            2:7 x: stream of 1:8, num ?
            3:3 p: stream defined, num ?
            3:7 x: stream of 1:8, num ?
            3:9 *: operator, num ?
            3:11 o: stream of 1:17, num ?
        "]],
    );
}

#[test]
fn a_call_with_too_few_arguments_still_names_its_node() {
    check(
        "node g(a, b)->(o) o = a + b;\nnode f(x:int)->(o) y = g(x); o = x + y;\n",
        &expect![[r"
        2:24 `g` expects 2 arguments, but 1 is given
        1:6 g: node defined | look-ahead 0
        1:8 a: stream defined, num [] @ base
        1:11 b: stream defined, num [] @ base
        1:16 o: stream defined, num [] @ base
        1:19 o: stream defined, num [] @ base
        1:23 a: stream of 1:8, num [] @ base
        1:25 +: operator, num [] @ base
        1:27 b: stream of 1:11, num [] @ base
        2:6 f: node defined
        2:8 x: stream defined, int ?
        2:17 o: stream defined, int ?
        2:20 y: stream defined, int ?
        2:24 g: node of 1:6
        2:26 x: stream of 2:8, int ?
        2:30 o: stream defined, int ?
        2:34 x: stream of 2:8, int ?
        2:36 +: operator, int ?
        2:38 y: stream of 2:20, int ?
    "]],
    );
}

#[test]
fn a_node_that_instantiates_itself_has_the_types_of_its_other_equations() {
    check(
        "node f(x:num [2])->(o) p = x * 2.0; o = f(p) + p;\n",
        &expect![[r"
            1:41 the node `f` instantiates itself: f -> f
            1:6 f: node defined
            1:8 x: stream defined, num [2]
            1:21 o: stream defined
            1:24 p: stream defined, num [2]
            1:28 x: stream of 1:8, num [2]
            1:30 *: operator, num [2]
            1:37 o: stream defined
            1:41 f: node of 1:6
            1:43 p: stream of 1:24, num [2]
            1:46 +: operator
            1:48 p: stream of 1:24, num [2]
        "]],
    );
}

#[test]
fn facts_of_instances_are_separate_if_they_differ() {
    check(
        "node g(a)->(o) o = a + a;\nnode f(x:num [2], n:int)->(o, p, q) o = g(x); p = g(n); q = g(x);\n",
        &expect![[r"
            1:6 g: node defined | look-ahead 0
            1:8 a: stream defined, num [] @ base or num [2] @ base or int [] @ 'a
            1:13 o: stream defined, num [] @ base or num [2] @ base or int [] @ 'a
            1:16 o: stream defined, num [] @ base or num [2] @ base or int [] @ 'a
            1:20 a: stream of 1:8, num [] @ base or num [2] @ base or int [] @ 'a
            1:22 +: operator, num [] @ base or num [2] @ base or int [] @ 'a
            1:24 a: stream of 1:8, num [] @ base or num [2] @ base or int [] @ 'a
            2:6 f: node defined | look-ahead 0
            2:8 x: stream defined, num [2] @ base
            2:19 n: stream defined, int [] @ 'a
            2:28 o: stream defined, num [2] @ base
            2:31 p: stream defined, int [] @ 'a
            2:34 q: stream defined, num [2] @ base
            2:37 o: stream defined, num [2] @ base
            2:41 g: node of 1:6, num [2] @ base
            2:43 x: stream of 2:8, num [2] @ base
            2:47 p: stream defined, int [] @ 'a
            2:51 g: node of 1:6, int [] @ 'a
            2:53 n: stream of 2:19, int [] @ 'a
            2:57 q: stream defined, num [2] @ base
            2:61 g: node of 1:6, num [2] @ base
            2:63 x: stream of 2:8, num [2] @ base
        "]],
    );
}

#[test]
fn imported_files_and_libraries_have_positions() {
    check_files(
        "import half from \"other.eddy\";\nimport dense from \"eddy:layers\";\nnode f(x:num)->(o) o = half(x);\n",
        &[("other.eddy", "-- The half of it.\nnode half(x)->(o) o = x / 2.0;\n")],
        &expect![[r#"
            1:8 half: node of other.eddy:2:6
            1:18 "other.eddy": file of other.eddy:1:1
            2:8 dense: node of eddy:layers:13:6
            2:19 "eddy:layers": file of eddy:layers:1:1
            3:6 f: node defined | look-ahead 0
            3:8 x: stream defined, num [] @ base
            3:17 o: stream defined, num [] @ base
            3:20 o: stream defined, num [] @ base
            3:24 half: node of other.eddy:2:6, num [] @ base
            3:29 x: stream of 3:8, num [] @ base
        "#]],
    );
}

#[test]
fn derivatives_trains_and_benches_name_their_origin() {
    check(
        "node f(x:num)->(y) k = param(0.5); y = k * x;\n\
         train f as t loss mse optim sgd(0.1);\n\
         run adj_f show y, dx { x: 1.0; dy: 1.0; }\n",
        &expect![[r"
            1:6 f: node defined | look-ahead 0
            1:8 x: stream defined, num [] @ base
            1:17 y: stream defined, num [] @ base
            1:20 k: parameter defined, num [] @ base
            1:24 param: function, num [] @ base
            1:36 y: stream defined, num [] @ base
            1:40 k: parameter of 1:20, num [] @ base
            1:42 *: operator, num [] @ base
            1:44 x: stream of 1:8, num [] @ base
            2:7 f: node of 1:6
            2:12 t: train defined
            2:19 mse: node of prelude.eddy:24:6
            2:29 sgd: node of prelude.eddy:32:6
            3:5 adj_f: node of 1:6, from `f`
            3:16 y: stream of 1:17, num [] @ base
            3:19 dx: stream of 1:8, from `x`, num [] @ base
            3:24 x: stream of 1:8, num [] @ base
            3:32 dy: stream of 1:17, from `y`, num [] @ base
        "]],
    );
}

#[test]
fn a_generic_node_has_the_constants_of_its_bench() {
    check(
        "node f(n, x:num [n])->(o) o = x + zeros([n]);\nrun f { n = 2; x: [1,2]; }\n",
        &expect![[r"
        1:6 f: node defined | look-ahead 0
        1:8 n: stream defined, Int(2)
        1:11 x: stream defined, num [2] @ base
        1:18 n: stream of 1:8, Int(2)
        1:24 o: stream defined, num [2] @ base
        1:27 o: stream defined, num [2] @ base
        1:31 x: stream of 1:11, num [2] @ base
        1:33 +: operator, num [2] @ base
        1:35 zeros: function, num [2] @ base
        1:42 n: stream of 1:8, Int(2)
        2:5 f: node of 1:6
        2:9 n: stream of 1:8, Int(2)
        2:16 x: stream of 1:11, num [2] @ base
    "]],
    );
}

#[test]
fn a_train_of_an_unknown_node_leaves_the_rest() {
    check(
        "node f(x:num)->(y) y = x * param(0.5);\ntrain g as t loss mse optim sgd(0.1);\nnode h(x)->(o) o = t(x, x);\n",
        &expect![[r"
            2:7 unknown node `g`
            1:6 f: node defined | look-ahead 0
            1:8 x: stream defined, num [] @ base
            1:17 y: stream defined, num [] @ base
            1:20 y: stream defined, num [] @ base
            1:24 x: stream of 1:8, num [] @ base
            1:26 *: operator, num [] @ base
            1:28 param: function, num [] @ base
            2:12 t: train defined
            2:19 mse: node of prelude.eddy:24:6
            2:29 sgd: node of prelude.eddy:32:6
            3:6 h: node defined
            3:8 x: stream defined
            3:13 o: stream defined
            3:16 o: stream defined
            3:20 t: train of 2:12
            3:22 x: stream of 3:8
            3:25 x: stream of 3:8
        "]],
    );
}

#[test]
fn look_ahead_of_a_stream() {
    let text = "node f(x:num)->(o, p) a = post x; b = post a; o = a; p = b + 0.0 fby x;";
    let read = of(Sources::alone(SourceFile::new("main.eddy", text)));
    let ahead = |name: &str| {
        let mut symbols = read.positions.symbols().map(|(_, symbol)| symbol);
        match symbols
            .find(|symbol| symbol.name == name && !symbol.is_library)
            .expect("the symbol exists")
            .kind
        {
            SymbolKind::Stream { node, slot } => {
                look_ahead(&read.resolved, node, slot).map(|ahead| ahead.to_string())
            }
            _ => None,
        }
    };
    assert_eq!(ahead("x").as_deref(), Some("look-ahead 0"));
    assert_eq!(ahead("a").as_deref(), Some("look-ahead 1"));
    assert_eq!(ahead("b").as_deref(), Some("look-ahead 2"));
}

#[test]
fn an_offset_finds_the_name_around_it_and_the_one_that_ends_there() {
    let text = "node f(speed)->(o) o = speed+speed;";
    let read = of(Sources::alone(SourceFile::new("main.eddy", text)));
    let name = |offset: usize| {
        let offset = u32::try_from(offset).expect("a short text");
        read.positions.at(offset).map(|found| read.sources.main().slice(found.span))
    };
    let sum = text.find('+').expect("a sum");
    assert_eq!(name(sum - 1), Some("speed"));
    assert_eq!(name(sum), Some("+"), "a token that begins at the offset takes precedence");
    assert_eq!(name(text.len() - 1), Some("speed"), "an offset at the end of a name belongs to it");
    assert_eq!(name(0), None, "`node` names nothing");
    assert_eq!(name(text.len() + 100), None);
}

#[test]
fn functions_constants_and_types_have_definitions_types_and_comments() {
    check(
        "\
type p = { x: num, k: int };
type sort = enum { small, large };
-- Twice a number.
fn double(x: num) = 2.0 * x;
const pi = 3.5;
fn f[n](v: num [n], q: p, g: (num) -> num) -> num =
  let {x, k = m} = q in
  let h(y) = g(y) * x in
  fold s = sum(i < n: v[i]) for j < m if s < pi do h(double(s)) + q.x;
node double_all(v, s) -> (o) o = v + s;
fn pick(s: sort) -> num = match s { small: grad(double, 1.0), _: adj_double(2.0, 1.0).1 };
eval f([1.0], { x = 1.0, k = 2 }, \\z. sin(z));
",
        &expect![[r"
            1:6 p: type defined
            1:12 x: field defined
            1:20 k: field defined
            2:6 sort: type defined
            2:20 small: enumerator defined
            2:27 large: enumerator defined
            4:4 double: fn defined, (x: num) -> num -- Twice a number.
            4:11 x: local defined, num
            4:25 *: operator
            4:27 x: local of 4:11, num
            5:7 pi: const defined, num
            6:4 f: fn defined, (v: num [n], q: p, g: (num) -> num) -> num
            6:6 n: local defined
            6:9 v: local defined, num [n]
            6:17 n: local of 6:6
            6:21 q: local defined, p
            6:24 p: type of 1:6
            6:27 g: local defined, (num) -> num
            7:8 x: local defined, num
            7:11 k: field of 1:20
            7:15 m: local defined, int
            7:20 q: local of 6:21, p
            8:7 h: local defined
            8:9 y: local defined
            8:14 g: local of 6:27, (num) -> num
            8:16 y: local of 8:9
            8:19 *: operator
            8:21 x: local of 7:8, num
            9:8 s: local defined, num
            9:12 sum: function
            9:16 i: local defined
            9:20 n: local of 6:6
            9:23 v: local of 6:9, num [n]
            9:25 i: local of 9:16
            9:33 j: local defined
            9:37 m: local of 7:15, int
            9:42 s: local of 9:8, num
            9:44 <: operator
            9:46 pi: const of 5:7, num
            9:52 h: local of 8:7
            9:54 double: fn of 4:4, (x: num) -> num -- Twice a number.
            9:61 s: local of 9:8, num
            9:65 +: operator
            9:67 q: local of 6:21, p
            9:69 x: field of 1:12
            10:6 double_all: node defined | look-ahead 0
            10:17 v: stream defined, num [] @ base
            10:20 s: stream defined, num [] @ base
            10:27 o: stream defined, num [] @ base
            10:30 o: stream defined, num [] @ base
            10:34 v: stream of 10:17, num [] @ base
            10:36 +: operator, num [] @ base
            10:38 s: stream of 10:20, num [] @ base
            11:4 pick: fn defined, (s: sort) -> num
            11:9 s: local defined, sort
            11:12 sort: type of 2:6
            11:33 s: local of 11:9, sort
            11:37 small: enumerator of 2:20
            11:44 grad: function
            11:49 double: fn of 4:4, (x: num) -> num -- Twice a number.
            11:66 adj_double: fn of 4:4, from `double`, (x: num) -> num -- Twice a number.
            12:6 f: fn of 6:4, (v: num [n], q: p, g: (num) -> num) -> num
            12:17 x: field of 1:12
            12:26 k: field of 1:20
            12:36 z: local defined, num
            12:39 sin: function
            12:43 z: local of 12:36, num
        "]],
    );
}

#[test]
fn imported_functions_are_those_of_their_file() {
    check_files(
        "import half, unit, t from \"lib.eddy\";\nfn f(x: t) -> num = half(x.a) + unit;\neval f({ a = 2.0 });\n",
        &[(
            "lib.eddy",
            "-- Half of it.\nfn half(x: num) -> num = 0.5 * x;\n-- One.\nconst unit = 1.0;\ntype t = { a: num };\n",
        )],
        &expect![[r#"
            1:8 half: fn of lib.eddy:2:4, (x: num) -> num -- Half of it.
            1:14 unit: const of lib.eddy:4:7, num -- One.
            1:20 t: type of lib.eddy:5:6
            1:27 "lib.eddy": file of lib.eddy:1:1
            2:4 f: fn defined, (x: t) -> num
            2:6 x: local defined, t
            2:9 t: type of lib.eddy:5:6
            2:21 half: fn of lib.eddy:2:4, (x: num) -> num -- Half of it.
            2:26 x: local of 2:6, t
            2:28 a: field of lib.eddy:5:12
            2:31 +: operator
            2:33 unit: const of lib.eddy:4:7, num -- One.
            3:6 f: fn of 2:4, (x: t) -> num
            3:10 a: field of lib.eddy:5:12
        "#]],
    );
}
