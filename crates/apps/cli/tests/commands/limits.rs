//! Limits of a program's size: every command that makes equations refuses a program that is too large, and
//! names the option.

use crate::folder::Folder;

/// All commands that make equations have the same two limits.
#[test]
fn every_command_refuses_what_doubles() {
    // 2^11 additions, which a mebibyte does not hold.
    let caller = |level: usize| format!("node f{level}(x)->(y) y = f{i}(f{i}(x));\n", i = level - 1);
    let callers: String = (1..=11).map(caller).collect();
    let program = format!(
        "node f0(x)->(y) y = x + 1.0;\n{callers}node m(x)->(y) y = param(0.5) * f11(x);\n\
         train m as learn loss mse optim sgd(0.1);\nrun f11 {{ x: 1.0; }}\n"
    );
    let folder = Folder::new("doubling").with("a.eddy", &program).with("a.jsonl", "{\"x\":1,\"gt\":2}\n");
    let commands: [&[&str]; 9] = [
        &["run", "a.eddy"],
        &["run", "a.eddy", "--node", "m", "--in", "a.jsonl"],
        &["trace", "a.eddy"],
        &["flow", "a.eddy"],
        &["plan", "a.eddy"],
        &["diff", "a.eddy", "--node", "m"],
        &["gradcheck", "a.eddy", "--node", "m"],
        &["build", "a.eddy", "--node", "m", "--dry-run"],
        &["train", "a.eddy", "--in", "a.jsonl", "--run", "learnt", "--engine", "simulate"],
    ];
    for command in commands {
        let limited = |limit: &[&str]| folder.eddy(&[command, limit].concat());
        limited(&["--memory", "1"]).fails(
            1,
            &[
                "error[E0213]: more than 1024 equations",
                "`--memory MIB` allows 1024 equations for each mebibyte",
            ],
        );
        limited(&["--equations", "1000"])
            .fails(1, &["error[E0213]: more than 1000 equations", "`--equations N` raises the limit"]);
    }
    assert!(!folder.0.join("learnt").exists(), "a program that is refused makes no folder");
}

/// Commands that do not store the values of a cycle refuse too many of them as well.
#[test]
fn every_command_counts_the_values_of_a_cycle() {
    let program = "node m(x)->(y) y = param(0.5) * sum(x + zeros([1000, 1000]));\n\
                   train m as learn loss mse optim sgd(0.1);\n";
    let folder = Folder::new("values").with("a.eddy", program).with("a.jsonl", "{\"x\":1,\"gt\":2}\n");
    let commands: [&[&str]; 6] = [
        &["flow", "a.eddy", "--node", "m"],
        &["plan", "a.eddy", "--node", "m"],
        &["gradcheck", "a.eddy", "--node", "m"],
        &["build", "a.eddy", "--node", "m", "--dry-run"],
        &["train", "a.eddy", "--in", "a.jsonl", "--run", "learnt"],
        &["train", "a.eddy", "--in", "a.jsonl", "--run", "learnt", "--batch", "1"],
    ];
    for command in commands {
        folder
            .eddy(&[command, &["--memory", "10"]].concat())
            .fails(1, &["error[E0213]", "the limit is 10 MiB", "`--memory MIB` raises the limit"]);
    }
    // One stream fits, a hundred do not.
    let small = "node f(x)->(y) y = sum(x + zeros([100, 100]));\n";
    let folder = folder.with("b.eddy", small);
    let plan = ["plan", "b.eddy", "--node", "f", "--memory", "4"];
    assert_eq!(folder.eddy(&plan).code, Some(0));
    folder.eddy(&[&plan[..], &["--batch", "100"]].concat()).fails(1, &["error[E0213]", "the limit is 4 MiB"]);
}

/// Derivatives count: one limit applies to all equations.
#[test]
fn derivatives_have_the_same_limit() {
    let program = "node f(x:num)->(y) y = sin(x) * exp(x);\n\
                   node g(x:num, a, b)->(d) _, d, _, _ = adj_adj_f(x, a, b, b);\n";
    let folder = Folder::new("derivatives").with("a.eddy", program);
    let check = |n: &str| folder.eddy(&["flow", "a.eddy", "--node", "adj_adj_f", "--equations", n]);
    assert_eq!(check("1000").code, Some(0));
    check("12").fails(
        1,
        &["error[E0213]: more than 12 equations once derivatives are written out", "`--equations N` raises"],
    );
}

/// An imported file is read once: 2^30 import paths lead to the last of these.
#[test]
fn imports_that_double_thirty_times() {
    let mut folder = Folder::new("imports").with("a30.eddy", "node a30(x) -> (y)\n  y = x + 1.0;\n");
    for level in 0..30 {
        let next = level + 1;
        let half = |name: &str| {
            format!(
                "import a{next} from \"a{next}.eddy\";\nnode {name}{level}(x) -> (y)\n  y = a{next}(x);\n"
            )
        };
        let whole = format!(
            "import c{level} from \"c{level}.eddy\";\nimport d{level} from \"d{level}.eddy\";\n\
             node a{level}(x) -> (y)\n  y = c{level}(x);\nnode other{level}(x) -> (y)\n  y = d{level}(x);\n"
        );
        folder = folder
            .with(&format!("c{level}.eddy"), half("c"))
            .with(&format!("d{level}.eddy"), half("d"))
            .with(&format!("a{level}.eddy"), whole);
    }
    let checked = folder.eddy(&["check", "a0.eddy"]);
    checked.is(
        0,
        "a0: (x: num [] @ base) -> (y: num [] @ base) | look-ahead 0\n\
         other0: (x: num [] @ base) -> (y: num [] @ base) | look-ahead 0\n",
    );
}

/// Nodes may be nested 1000 deep, and one more is refused.
#[test]
fn calls_that_are_nested_to_the_limit() {
    let call = |level: usize| format!("node f{level}(x) -> (y)\n  y = f{}(x) + 1.0;\n", level - 1);
    let chain = |n: usize| {
        let calls: String = (1..n).map(call).collect();
        format!("node f0(x) -> (y)\n  y = x;\n{calls}run f{} {{ x: 0.0; }}\n", n - 1)
    };
    let folder = Folder::new("nested").with("a.eddy", chain(1001)).with("b.eddy", chain(1002));
    folder.eddy(&["run", "a.eddy"]).is(0, "{\"y\":1000}\n");
    folder.eddy(&["run", "b.eddy"]).fails(1, &["error[E0213]: instances are nested more than 1000 deep"]);
}
