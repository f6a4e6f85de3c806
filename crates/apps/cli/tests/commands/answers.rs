//! Answers as data: the key `answer` of results, for each kind of answer.

use serde_json::{Value, json};

use crate::folder::Folder;

/// The answer to a question about a program, and the exit code.
fn check(file: &str, program: &str, arguments: &[&str], code: i32, expected: &Value) {
    let folder = Folder::new(file).with(file, program);
    let ended = folder.eddy(&[&[arguments[0], "--json", file], &arguments[1..]].concat());
    assert_eq!(ended.code, Some(code), "{arguments:?} of {program}: {}", ended.stderr);
    let last = ended.stdout.lines().last().expect("there is a result");
    let result: Value = serde_json::from_str(last).expect("it is JSON");
    assert_eq!(&result["answer"], expected, "{arguments:?} of {program}");
}

#[test]
fn of_programs_of_nodes() {
    let eddy = |program, arguments: &[&str], code, expected: Value| {
        check("a.eddy", program, arguments, code, &expected);
    };
    let sum = "node sum(x:num []) -> (y) y = x + (0.0 fby y);\nrun sum { x: 1 2.5; }\n";
    let line = "sum: (x: num [] @ base) -> (y: num [] @ base) | look-ahead 0";
    let nodes = json!([{ "name": "sum", "lines": [line] }]);
    eddy(sum, &["check"], 0, json!({ "nodes": nodes, "functions": [] }));
    let rows = |rows: Value| json!({ "kind": "rows", "node": "sum", "look_ahead": null, "rows": rows });
    let bench = json!({ "results": [rows(json!([{ "y": 1 }, { "y": 3.5 }]))] });
    eddy(sum, &["run"], 0, bench);
    let lists = json!({ "kind": "lists", "node": "sum", "look_ahead": null, "lists": { "y": [1, 3.5] } });
    eddy(sum, &["run", "--engine=kahn"], 0, json!({ "results": [lists] }));
    eddy(
        "fn f(x: num) -> num = x / 2.0;\neval f(3.0);\n",
        &["run"],
        0,
        json!({
            "results": [{ "kind": "evaluation", "line": "1.5" }],
        }),
    );
    let count = "node n() -> (y) y = 0 fby y + 1;\n";
    let counted = json!([{ "y": 0 }, { "y": 1 }]);
    let answer = json!({ "kind": "rows", "node": "n", "look_ahead": null, "rows": counted });
    eddy(count, &["run", "--node=n", "--cycles=2"], 0, answer.clone());
    eddy(count, &["run", "--node=n", "--cycles=2", "--chrono"], 0, answer);
}

#[test]
fn of_derivatives_and_c() {
    let program = "node double(x:num []) -> (y) y = 2.0 * x;\n";
    let folder = Folder::new("derivative_answers").with("a.eddy", program);
    let answer = |arguments: &[&str]| {
        let ended = folder.eddy(arguments);
        let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        result["answer"].clone()
    };
    let report = answer(&["gradcheck", "--json", "a.eddy", "--node=double", "--cycles=2"]);
    assert_eq!(report["node"], "double");
    assert_eq!(report["compared"].as_array().map(Vec::len), Some(2), "{report}");
    let worst = &report["compared"][0];
    assert_eq!((&worst["place"], &worst["cycle"]), (&json!("x"), &json!(0)));
    assert!(worst["adjoint"].is_f64() && worst["difference"].is_f64(), "{worst}");
    let flow = answer(&["flow", "--json", "a.eddy"]);
    assert_eq!(
        (&flow["nodes"][0]["name"], &flow["nodes"][0]["lines"][0]),
        (&json!("double"), &json!("-- double"))
    );
    let diff = answer(&["diff", "--json", "a.eddy", "--node=double"]);
    assert!(diff["program"].as_str().is_some_and(|text| text.contains("node ")), "{diff}");
    let built = answer(&["build", "--json", "a.eddy", "--node=double", "--dry-run"]);
    assert_eq!((&built["node"], &built["folder"]), (&json!("double"), &json!(null)));
    assert!(built["files"].as_array().is_some_and(|files| files.contains(&json!("double.c"))), "{built}");
}

#[test]
fn of_rd() {
    let rd = |program, arguments: &[&str], code, expected: Value| {
        check("a.rd", program, arguments, code, &expected);
    };
    rd("(1, (2, 3))", &["check"], 0, json!({ "type": "real * (real * real)" }));
    let value = json!({ "kind": "value", "value": "(1, (2, 3))", "numbers": [1.0, 2.0, 3.0] });
    rd("(1, (2, 3))", &["run"], 0, value.clone());
    rd("(1, (2, 3))", &["trace"], 0, value);
    let interval = json!({ "kind": "interval", "value": "[0, 1]", "low": [0.0], "high": [1.0] });
    rd("use clarke grad[0](x. relu(x))", &["run"], 0, interval);
    rd("1 / 0", &["run"], 3, json!({ "kind": "undefined", "reason": "div at (1, 0)" }));
    let endless = "letrec f(x:real):real = f(x) in f(0)";
    rd(endless, &["run", "--fuel=7"], 3, json!({ "kind": "out-of-fuel", "fuel": 7 }));
}

/// A value that is nested deeper than JSON readers accept is a string.
#[test]
fn of_a_value_that_is_nested_deep() {
    let depth = 100_000;
    let program = "(1, ".repeat(depth) + "1" + &")".repeat(depth);
    let folder = Folder::new("deep_answer").with("a.rd", &program);
    let ended = folder.eddy(&["run", "--json", "a.rd"]);
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert_eq!(result["answer"]["numbers"].as_array().map(Vec::len), Some(depth + 1));
}

#[test]
fn of_pullback() {
    let pullback = |program, arguments: &[&str], code, expected: Value| {
        check("a.pb", program, arguments, code, &expected);
    };
    pullback("grad (\\x:R. x^3) at 2", &["check"], 0, json!({ "type": "R" }));
    pullback("def f (x : R) = x;", &["check"], 0, json!({ "type": null }));
    let value = json!({ "kind": "value", "value": "<12, <fun>>", "numbers": [12.0, null] });
    pullback("<grad (\\x:R. x^3) at 2, \\x:R. x>", &["run"], 0, value);
    let short = json!({ "kind": "out-of-fuel", "fuel": 1 });
    pullback("grad (\\x:R. x^3) at 2", &["run", "--engine=reference", "--fuel=1"], 3, short);
}

#[test]
fn of_coherent() {
    let coherent = |program, arguments: &[&str], code, expected: Value| {
        check("a.cd", program, arguments, code, &expected);
    };
    let types = json!({ "type": "nat", "definitions": [{ "name": "f", "type": "nat -> nat" }] });
    coherent("def f = \\x:nat. succ x; f 1", &["check"], 0, types);
    let leaf =
        |path: &str, value: u64| json!({ "path": path, "kind": "value", "value": value, "ticks": null });
    let leaves = |leaves: Value| json!({ "kind": "leaves", "leaves": leaves });
    let pair = leaves(json!([{ "path": "0", "kind": "none" }, leaf("1", 5)]));
    coherent("D (\\x:nat. succ x) (inj1 4)", &["run"], 0, pair);
    coherent("succ 6", &["trace"], 0, leaves(json!([leaf("", 7)])));
    let distribution = json!({
        "path": "",
        "kind": "distribution",
        "values": [
            { "value": 0, "probability": "1/3", "ticks": null },
            { "value": 1, "probability": "2/3", "ticks": null },
        ],
        "none": "0",
        "unresolved": "0",
    });
    coherent("coin(1/3)", &["run"], 0, leaves(json!([distribution])));
    coherent("omega[nat]", &["run", "--fuel=9"], 3, json!({ "kind": "out-of-fuel", "fuel": 9 }));
    let twice = "\\x:nat. if x then x else 7";
    let derivation = json!([
        "[abs] ⊢ λx:nat. if x then x else 7 : [0, 0] -> 0",
        "  [if] x:[0, 0] ⊢ if x then x else 7 : 0",
        "    [var] x:[0] ⊢ x : 0",
        "    [var] x:[0] ⊢ x : 0"
    ]);
    coherent(
        twice,
        &["ask", "--point", "[0, 0] -> 0"],
        0,
        json!({ "kind": "yes", "derivation": derivation }),
    );
    coherent(twice, &["ask", "--point", "[0] -> 0"], 0, json!({ "kind": "no" }));
    let cut = json!({ "kind": "unknown", "cut": ["fuel"] });
    coherent(twice, &["ask", "--point", "[0] -> 0", "--fuel=1"], 0, cut);
}

#[test]
fn of_tables() {
    let lam = |program, arguments: &[&str], code, expected: Value| {
        check("a.lam", program, arguments, code, &expected);
    };
    lam("\\x. x", &["check"], 0, json!({ "type": null }));
    lam("(\\x. x + 1) 6", &["run"], 0, json!({ "kind": "value", "value": "7", "type": null }));
    lam("1 / 0", &["run"], 3, json!({ "kind": "stuck", "reason": "division by zero" }));
    lam("(\\x. x + 1) 6", &["trace"], 0, json!(null));
    let plain = |kind: &str| json!({ "kind": kind, "derivation": null, "tables": null });
    lam("\\x. x + 1", &["ask", "--value", "{1 -> 2}"], 0, plain("yes"));
    lam("\\x. x + 1", &["ask", "--value", "{1 -> 3}"], 0, plain("no"));
    let tables = json!({
        "kind": "yes",
        "derivation": null,
        "tables": [{ "function": "f", "table": "{1 -> 2}" }],
    });
    lam("let f = \\x. x + 1 in f 1", &["ask", "--value=2", "--tables"], 0, tables);
    let values = json!({ "values": ["{}", "{0 -> 0}", "{{} -> {}}"], "complete": true });
    lam("\\x. x", &["enum", "--size=3", "--ints=0"], 0, values);
    lam("(\\x. x + 1) 6", &["opt"], 0, json!({ "kind": "program", "program": "7" }));
    let sysf = |arguments: &[&str], code, expected: Value| {
        check("a.sysf", "/\\a. \\x:a. x", arguments, code, &expected);
    };
    sysf(&["check"], 0, json!({ "type": "forall a. a -> a" }));
    sysf(&["intype", "--value", "thunk(some({1 -> 1}))"], 0, json!({ "kind": "yes" }));
    sysf(&["intype", "--value", "3"], 0, json!({ "kind": "no" }));
    let short = json!({ "kind": "out-of-fuel", "fuel": 1 });
    sysf(&["intype", "--value", "thunk(some({1 -> 1}))", "--fuel=1"], 3, short);
}
