//! `run --fn`, `gradcheck --fn` and the limits of functions: valid data, and the messages for invalid data.

use std::fmt::Write;

use crate::folder::{Ended, Folder};

const PROGRAM: &str = "\
type body = { at: num [2], mass: num, id: int };
type sort = enum { small, large };
fn pull(b: body) -> num = let {at, mass} = b in mass * sum(at * at);
fn dot(a, b) = sum(a * b);
fn f(x: num, k: int, v: num [2]) -> num = x * num(k) * sum(v);
fn g(x: num) -> num = x * x * x;
fn sizes(xs: num []) -> sort = if xs < 10.0 then small else large;
fn cost(s: sort, t: (int, num), on: bool) -> num = if on then (match s { small: t.1, large: 20.0 * t.1 }) else 0.0;
fn row(k) = [i < k: 1.5];
fn swap(p) = { x = p.y, y = p.x };
fn nothing(u: ()) -> int = 3;
fn down(n: int) -> int = if n == 0 then 0 else down(n - 1);
fn fill(n: int) -> num = sum(zeros([n]));
fn apply(h: (num) -> num, x: num) -> num = h(x);
fn five() -> int = 5;
node id(x)->(y) y = x;
";

fn call(function: &str, lines: &str, options: &[&str]) -> Ended {
    let folder = Folder::new(&format!("fn_{function}_{}", lines.len())).with("a.eddy", PROGRAM);
    let run = [&["run", "a.eddy", "--fn", function, "--in", "-"], options].concat();
    folder.eddy_with_input(&run, lines)
}

#[test]
fn records_tuples_enumerators_and_units_are_read_by_their_types() {
    call(
        "pull",
        "{\"b\":{\"id\":7,\"mass\":2,\"at\":[1,3]}}\n\n{\"b\":{\"at\":[1,0],\"mass\":\"inf\",\"id\":0}}",
        &[],
    )
    .is(0, "20\n\"inf\"\n");
    let lines = "{\"s\":\"large\",\"t\":[1,2],\"on\":true}\n{\"on\":false,\"s\":\"small\",\"t\":[1,2.5]}";
    call("cost", lines, &[]).is(0, "40\n0\n");
    call("sizes", "{\"xs\":2}\n{\"xs\":20.5}\n{\"xs\":\"nan\"}", &[])
        .is(0, "\"small\"\n\"large\"\n\"large\"\n");
    call("nothing", "{\"u\":[]}", &[]).is(0, "3\n");
}

#[test]
fn types_that_are_left_out_are_those_of_the_data() {
    let lines = "{\"a\":[1,2],\"b\":[3,4]}\n{\"a\":[0.5,2],\"b\":[1,2]}\n{\"a\":[[1,2],[3,4]],\"b\":2}\n";
    // Integers in data are nums, unless the function needs integers.
    call("dot", lines, &[]).is(0, "11\n4.5\n20\n");
    call("row", "{\"k\":2}\n{\"k\":0}", &[]).is(0, "[1.5,1.5]\n[]\n");
    call("swap", "{\"p\":{\"y\":[true],\"x\":{\"z\":1}}}", &[]).is(0, "{\"x\":[true],\"y\":{\"z\":1}}\n");
    call("row", "{\"k\":1.5}", &[]).fails(1, &["type error", "line 1 of <stdin>"]);
}

#[test]
fn derivatives_have_the_parameters_that_they_add() {
    call("adj_f", "{\"x\":2,\"k\":3,\"v\":[1,4],\"dy\":1}", &[]).is(0, "[30,15,[6,6]]\n");
    call("tan_f", "{\"x\":2,\"k\":3,\"v\":[1,4],\"tx\":1,\"tv\":[0,1]}", &[]).is(0, "[30,21]\n");
    call("adj_adj_g", "{\"x\":2,\"dy\":1,\"ddy\":[0,1]}", &[]).is(0, "[[8,12],12,12]\n");
    let body = "\"b\":{\"at\":[1,3],\"mass\":2,\"id\":7}";
    call("adj_pull", &format!("{{{body},\"dy\":1}}"), &[])
        .is(0, "[20,{\"at\":[4,12],\"mass\":10,\"id\":[]}]\n");
    let tangent = "\"tb\":{\"at\":[1,0],\"mass\":0,\"id\":[]}";
    call("tan_pull", &format!("{{{body},{tangent}}}"), &[]).is(0, "[20,4]\n");
    call("tan_pull", &format!("{{{body},\"tb\":{{\"at\":[1,0],\"mass\":0,\"id\":1}}}}"), &[])
        .fails(1, &["`tb.id` must be a list of 0 parts, not 1"]);
}

/// Each message has the line of the data, the field, the reason, and a fix if there is one.
#[test]
fn a_wrong_line_is_refused_and_those_before_stay() {
    let wrong: [(&str, &str, &[&str]); 14] = [
        ("g", "{\"x\":[1]}", &["`x` must be a number, not a list of 1"]),
        ("g", "{\"x\":\"one\"}", &["`x` must be a number, not the string \"one\""]),
        ("g", "{\"x\":null}", &["`x` contains null"]),
        ("g", "{\"y\":1}", &["`x` is missing", "`y` is no parameter of `g`"]),
        ("g", "{\"x\":1,\"y\":2}", &["`y` is no parameter of `g`", "the parameters of `g` are x"]),
        ("g", "[1]", &["expected a JSON object"]),
        ("g", "{\"x\":1", &["expected a JSON object: EOF"]),
        ("f", "{\"x\":1,\"k\":2.0,\"v\":[1,2]}", &["`k` must be an integer, not 2", "without a fraction: 2"]),
        ("f", "{\"x\":1,\"k\":2,\"v\":[1,[2]]}", &["`v[1]` must be a number, not a list of 1"]),
        (
            "pull",
            "{\"b\":{\"at\":[1,3],\"mas\":2,\"id\":7}}",
            &["`b` has no field `mas`", "did you mean `mass`?"],
        ),
        ("pull", "{\"b\":{\"at\":[1,3],\"id\":7}}", &["`b.mass` is missing"]),
        (
            "cost",
            "{\"s\":\"lrge\",\"t\":[1,2],\"on\":true}",
            &["no case of an enumeration", "did you mean \"large\"?"],
        ),
        (
            "cost",
            "{\"s\":\"large\",\"t\":[1],\"on\":true}",
            &["`t` must be a list of 2 parts, not a list of 1"],
        ),
        ("apply", "{\"x\":1}", &["`h` is a function, which data cannot contain"]),
    ];
    for (function, line, words) in wrong {
        let ran = call(function, line, &[]);
        ran.fails(1, &[&["error[E0701]", "<stdin>:1"], words].concat());
    }
    let folder = Folder::new("fn_third")
        .with("a.eddy", PROGRAM)
        .with("in.jsonl", "{\"x\":1}\n{\"x\":2}\n{\"x\":true}\n");
    let ran = folder.eddy(&["run", "a.eddy", "--fn", "g", "--in", "in.jsonl"]);
    ran.fails_after("1\n8\n", 1, &["in.jsonl:3:2", "`x` must be a number, not true"]);
}

#[test]
fn a_call_that_fails_ends_with_3_and_names_its_line() {
    call("f", "{\"x\":1,\"k\":1,\"v\":[1,1]}\n{\"x\":1,\"k\":1,\"v\":[1,1,1]}\n", &[]).fails_after(
        "2\n",
        3,
        &["size error: a size is 3 where 2 is required", "line 2 of <stdin>"],
    );
}

#[test]
fn functions_are_found_by_name() {
    call("gg", "{}", &[]).fails(1, &["unknown function `gg`", "did you mean `g`?"]);
    call("id", "{}", &[]).fails(1, &["unknown function `id`", "`--node id`"]);
    let folder = Folder::new("fn_names").with("a.eddy", PROGRAM).with("a.csv", "x\n1\n");
    folder.eddy(&["run", "a.eddy", "--fn", "five"]).is(0, "5\n");
    folder.eddy(&["run", "a.eddy", "--fn", "g"]).fails(1, &["`g` has parameters", "--in FILE"]);
    folder.eddy(&["run", "a.eddy", "--fn", "g", "--in", "a.csv"]).fails(1, &["JSON lines"]);
    folder.eddy(&["run", "a.eddy", "--in", "a.csv"]).fails(2, &["`--node NAME`", "`--fn NAME`"]);
    folder.eddy(&["run", "a.eddy", "--fn", "g", "--node", "id"]).fails(2, &["cannot be used with"]);
}

#[test]
fn results_are_data_for_scripts() {
    let ran = call("pull", "{\"b\":{\"at\":[1,3],\"mass\":2,\"id\":7}}", &["--json"]);
    ran.is(
        0,
        "{\"version\":1,\"command\":\"run\",\"status\":\"answered\",\"output\":[\"20\"],\
         \"answer\":{\"kind\":\"calls\",\"function\":\"pull\",\"results\":[20]}}\n",
    );
}

#[test]
fn every_limit_names_the_option_that_raises_it() {
    let deep = "{\"n\":10}";
    call("down", deep, &["--fuel", "5"]).fails(3, &["out of fuel", "`--fuel N`"]);
    call("down", deep, &["--depth", "5"]).fails(3, &["depth", "`--depth N`", "now 5"]);
    call("fill", deep, &["--memory", "79"]).fails(3, &["memory", "`--memory B`", "now 79"]);
    call("fill", deep, &["--memory", "80"]).is(0, "0\n");
    call("fill", "{\"n\":1000}", &["--memory", "1KiB"]).fails(3, &["memory"]);
    call("fill", "{\"n\":268435457}", &[]).fails(3, &["memory", "268435456 elements"]);
    let tower = "fn d(n: int, x: num) -> num = if n == 0 then x * x * x else grad(\\y. d(n - 1, y), x);\n\
                 eval d(2, 2.0);\neval d(3, 2.0);\n";
    let folder = Folder::new("fn_order").with("a.eddy", tower);
    folder.eddy(&["run", "a.eddy", "--order", "2"]).fails_after(
        "12\n",
        3,
        &["derivative order", "`--order K`"],
    );
    folder.eddy(&["run", "a.eddy"]).is(0, "12\n6\n");
}

/// L20. A run that succeeds with N succeeds with every larger N, with the same output; fuel is that of the
/// whole command.
#[test]
fn fuel_is_monotone() {
    let program = "fn f(n: int) -> int = if n <= 1 then 1 else f(n - 1) + f(n - 2);\n\
                   const c = f(3);\neval f(4);\neval fold s = 0 for i < 5 do s + c;\neval grad(\\x. x * x, 3.0);\n";
    let folder = Folder::new("fn_fuel").with("a.eddy", program);
    let runs: Vec<Ended> =
        (0..40).map(|n| folder.eddy(&["run", "a.eddy", "--fuel", &n.to_string()])).collect();
    let first = runs.iter().position(|ran| ran.code == Some(0)).expect("it has a finite need");
    // A constant takes 5 calls, the first evaluation 9, the second one 5 iterations.
    assert!(first >= 19, "{first}");
    for (n, ran) in runs.into_iter().enumerate() {
        match n {
            _ if n >= first => ran.is(0, "5\n15\n6\n"),
            0..5 => ran.fails(1, &["out of fuel"]),
            5..14 => ran.fails_after("", 3, &["out of fuel"]),
            14..19 => ran.fails_after("5\n", 3, &["out of fuel"]),
            _ => ran.fails_after("5\n15\n", 3, &["out of fuel"]),
        }
    }
}

#[test]
fn gradcheck_compares_both_modes() {
    let mut lines = String::new();
    for x in [1.0, 2.5] {
        writeln!(lines, "{{\"b\":{{\"at\":[{x},3],\"mass\":2,\"id\":7}}}}").expect("a string can be written");
    }
    let wrong = "fn clip(x: num) -> num = tanh(x);\n\
                 fn adj_clip(x: num, dy: num) -> (num, num) = (clip(x), 0.1 * dy);\n\
                 fn half(x: num) -> num = sqrt(x - 0.3);\n";
    let folder =
        Folder::new("fn_gradcheck").with("a.eddy", PROGRAM).with("w.eddy", wrong).with("in.jsonl", &lines);
    let first = |arguments: &[&str], line: &str| {
        let ran = folder.eddy(&[&["gradcheck"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout.lines().next(), Some(line));
    };
    first(&["a.eddy", "--fn", "pull"], "pull: 3 of 3 entries in 1 call, both modes within 1e-5");
    first(
        &["a.eddy", "--fn", "pull", "--in", "in.jsonl"],
        "pull: 6 of 6 entries in 2 calls, both modes within 1e-5",
    );
    first(&["a.eddy", "--fn", "f"], "f: 3 of 3 entries in 1 call, both modes within 1e-5");
    first(&["a.eddy", "--fn", "cost"], "cost: 1 of 1 entry in 1 call, both modes within 1e-5");
    first(
        &["a.eddy", "--fn", "dot", "--shape", "a=[2]", "--shape", "b=[2]"],
        "dot: 4 of 4 entries in 1 call, both modes within 1e-5",
    );
    // `gradcheck` replaces arguments without a value.
    first(&["w.eddy", "--fn", "half"], "half: 1 of 1 entry in 1 call, both modes within 1e-5");
    let words = ["error[E0805]", "the derivative in `x`", "in reverse", "forwards", "1 entry is wrong"];
    folder.eddy(&["gradcheck", "w.eddy", "--fn", "clip"]).fails(1, &words);
    folder.eddy(&["gradcheck", "a.eddy", "--fn", "down"]).fails(1, &["nothing to differentiate"]);
    folder.eddy(&["gradcheck", "a.eddy", "--fn", "row"]).fails(1, &["type error", "`--in FILE`"]);
    folder.eddy(&["gradcheck", "a.eddy"]).fails(2, &["--node <NAME>"]);
}

/// Functions that stay calls: loops and recursions that the arguments decide.
const CALLS: &str = "\
fn pick(i: int, a: num) -> num = [a, 1.5, 0.5 * a][i];
fn deep(n: int, x: num) -> num = if n == 0 then x else deep(n - 1, x * 0.5) + 0.5;
fn grown(x: num, n: int) -> (num, int, bool) =
  loop (y, k, b) = (x, 0, false) while y < 10.0 and k < n do (y * 1.5 + x, k + 1, y > 5.0);
node picks(i: int, a) -> (y) y = pick(i, a) + (0.0 fby y);
node falls(i: int, a) -> (y) y = deep(i, a) + (0.0 fby y);
node grows(i: int, a) -> (y, k, b) y, k, b = grown(a, i);
";

/// The same words, cycle and exit code on both engines, and the same rows before that.
#[test]
fn a_function_fails_alike_in_a_node_on_both_engines() {
    let rows: String = [0, 1, 2, 5, 1].map(|i| format!("{{\"i\":{i},\"a\":1.5}}\n")).concat();
    let folder = Folder::new("fails").with("a.eddy", CALLS).with("i.jsonl", rows);
    let run = ["run", "a.eddy", "--node", "picks", "--in", "i.jsonl", "--no-shadow", "--engine"];
    let [compiled, simulated] =
        ["compiled", "simulate"].map(|engine| folder.eddy(&[&run[..], &[engine]].concat()));
    assert_eq!((compiled.code, &compiled.stdout), (simulated.code, &simulated.stdout));
    assert_eq!(compiled.stderr, simulated.stderr);
    let rows = compiled.stdout.clone();
    compiled.fails_after(
        &rows,
        1,
        &["index 5 is out of range for shape [3] at cycle 3 in `pick`", "it happens here"],
    );
}

/// Compiled code has less stack than the simulator allows calls: such a cycle is simulated, and the next one
/// is compiled again.
#[test]
fn a_deep_recursion_in_a_node_is_left_to_the_simulator() {
    let rows: String = [3, 100_000, 7].map(|i| format!("{{\"i\":{i},\"a\":1.5}}\n")).concat();
    let folder = Folder::new("deep").with("a.eddy", CALLS).with("i.jsonl", rows);
    let run = ["run", "a.eddy", "--node", "falls", "--in", "i.jsonl", "--no-shadow", "--engine"];
    let [compiled, simulated] =
        ["compiled", "simulate"].map(|engine| folder.eddy(&[&run[..], &[engine]].concat()));
    assert_eq!((simulated.code, simulated.stdout.lines().count()), (Some(0), 3), "{}", simulated.stderr);
    compiled.is(0, &simulated.stdout);
}

#[test]
fn results_of_one_application_are_one_instruction() {
    let folder = Folder::new("plan").with("a.eddy", CALLS);
    let planned = folder.eddy(&["plan", "a.eddy", "--node", "grows"]).stdout;
    assert!(planned.contains("  y, k, b = grown(a i)\n"), "{planned}");
    folder.eddy(&["build", "a.eddy", "--node", "grows", "--out", "c"]);
    let text = folder.read("c/grows.c");
    assert_eq!(text.matches("grows_apply0(self->arena").count(), 1, "{text}");
    let diff = folder.eddy(&["diff", "a.eddy", "--node", "grows"]);
    diff.fails(1, &["E0807", "`eddy diff` prints nodes only", "`y, dx = adj_f(x, dy);`"]);
}
