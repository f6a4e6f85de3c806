//! Answers are data, which other programs render.

use std::fmt::Write;

use eddy_driver::benches::{BenchRequest, ItemResult};
use eddy_driver::building::BuildRequest;
use eddy_driver::gradcheck::GradcheckRequest;
use eddy_driver::model::{AfterEnd, Cotangents};
use eddy_driver::planning::PlanRequest;
use eddy_driver::program::MemoryReport;
use expect_test::{Expect, expect};

use crate::{model, program};

fn check_signature(text: &str, node: &str, expected: &Expect) {
    let signature = model(text, node).signature().unwrap_or_else(|refusal| panic!("{refusal}"));
    let mut lines = String::new();
    for port in signature.inputs.iter().chain(&signature.outputs) {
        let look_ahead = port.look_ahead.as_ref().map_or(String::new(), |verdict| format!(" | {verdict}"));
        let _ = writeln!(lines, "{}: {} @ {}{look_ahead}", port.name, port.ty, port.clock);
    }
    expected.assert_eq(&lines);
}

#[test]
fn signatures_contain_types_clocks_and_look_ahead() {
    check_signature(
        "node n(x:num [3], c:bool []) -> (y, z, w) y = x when c; z = sum(x + post x); w = merge c (1.0 when c) ((post w) when not c);",
        "n",
        &expect![[r"
            x: num [3] @ base
            c: bool [] @ base
            y: num [3] @ base on c | look-ahead 0
            z: num [] @ base | look-ahead 1
            w: num [] @ base | look-ahead guarded by c
        "]],
    );
}

#[test]
fn plans_and_equations_are_data() {
    let model = model("node n(x:num []) -> (y) y = 0.0 fby y + x;", "n");
    let plan = model.plan(&PlanRequest::default()).expect("it has a plan").value;
    assert_eq!((plan.name.as_str(), plan.plan.roots.len()), ("n", 1));
    assert!(
        plan.text(None).contains("n:") && plan.json(None).starts_with('{') && plan.svg().starts_with("<svg")
    );
    let plans = model.program().plans(&PlanRequest::default(), None).expect("it has a plan").value;
    assert_eq!(plans.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>(), ["n"]);
    let equations = model.program().equations(Some("n")).expect("it has equations").value;
    assert_eq!(equations[0].prepared.flow.outputs.len(), 1);
}

#[test]
fn programs_are_checked_and_listed() {
    let program = program("node a(x:num []) -> (y) y = x;\ntrain a as learn loss mse optim sgd(0.1);");
    assert_eq!(program.nodes(), ["a", "learn"]);
    let checked = program.check(MemoryReport::LeftOut).expect("it is right").value;
    let names: Vec<&str> = checked.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a", "learn"]);
    assert!(checked.to_string().starts_with("a: (x: num [] @ base)"), "{checked}");
}

#[test]
fn gradients_are_compared_entry_by_entry() {
    let model = model("node n(x:num []) -> (y) y = tanh(param(0.5) * x);", "n");
    let request = GradcheckRequest { cycles: Some(3), ..GradcheckRequest::default() };
    let report = model.gradcheck(&request, Vec::new()).expect("derivatives are right").value;
    assert_eq!((report.compared.len(), report.n_entries, report.n_cycles), (4, 4, 3));
    assert!(report.compared.iter().all(|entry| entry.error() <= report.tolerance));
    assert!(report.to_string().starts_with("n: 4 of 4 entries over 3 cycles, all within 1e-5\n"), "{report}");
}

#[test]
fn charts_hold_the_cells_of_benches() {
    let program = program("node n(x) -> (y) y = 0 fby x;\nrun n { x: 1 2 3; }");
    let charts = program.charts(&BenchRequest::default()).expect("it runs").value;
    assert_eq!((charts.len(), charts[0].title.as_str(), charts[0].n_cycles), (1, "n", 3));
    let ran = program.benches(&BenchRequest::default()).expect("it runs").value;
    let [ItemResult::Bench(bench)] = &ran.results[..] else { panic!("there is one bench: {ran:?}") };
    assert_eq!((bench.node.as_str(), bench.n_cycles), ("n", 3));
    assert_eq!(bench.text(None), "{\"y\":0}\n{\"y\":1}\n{\"y\":2}\n");
}

#[test]
fn evaluations_and_benches_come_in_the_order_of_the_text() {
    let text = "eval 1 + 1;\nnode n(x) -> (y) y = x;\nrun n { x: 5; }\neval 1 div 0;\neval 3;";
    let ran = program(text).benches(&BenchRequest::default()).expect("it is right").value;
    let lines: String = ran.results.iter().map(|result| result.text(None)).collect();
    assert_eq!(lines, "2\n{\"y\":5}\n");
    let failure = ran.failure.expect("the third line has no value");
    assert_eq!(failure.title, "division by zero");
}

#[test]
fn code_is_text() {
    let model = model("node n(x:num []) -> (y) y = param(0.5) * x;", "n");
    let built = model.build_c(&BuildRequest::default()).expect("it is C");
    assert!(built.files.iter().any(|file| file.name == "n.c" && file.text.contains("n_step")));
    let diff = model.diff(Cotangents::Sparse, AfterEnd::Unknown).expect("it has a derivative").value;
    assert!(diff.contains("node "), "{diff}");
}
