//! The distribution of differentiated programs: all constructs occur, most cotangents are known, and many are
//! nonzero.

use std::cell::RefCell;
use std::collections::BTreeMap;

use eddy_flow::Kind;
use eddy_language::semantics::Cell;

use crate::generated::case::Ready;
use crate::generated::harness::show;
use crate::numbers::elements;
use crate::orders::Curvature;
use crate::run::law_of_nodes;
use crate::samples::sample;

#[test]
fn most_derivatives_are_known_and_many_are_not_zero() {
    let features = RefCell::new(BTreeMap::new());
    let [first, second] = [(); 2].map(|()| RefCell::new(BTreeMap::new()));
    law_of_nodes("distribution", 600, sample, |case, node| {
        let curvature = Curvature::new(case, node)?;
        for feature in features_of(&node.ready) {
            *features.borrow_mut().entry(feature).or_insert(0) += 1;
        }
        for (cells, rows) in [(&first, &curvature.adjoint.rows), (&second, &curvature.rows)] {
            for cell in rows.iter().flatten() {
                *cells.borrow_mut().entry(kind(cell)).or_insert(0) += 1;
            }
        }
        Ok(())
    });
    let (features, first, second) = (features.into_inner(), first.into_inner(), second.into_inner());
    show(&format!("programs with: {features:?}"));
    show(&format!("cotangents: {first:?}"));
    show(&format!("second derivatives: {second:?}"));
    // In percent of the present cells.
    let share = |cells: &BTreeMap<&str, usize>, kind: &str| {
        100 * cells.get(kind).copied().unwrap_or(0) / (cells.values().sum::<usize>() - cells["absent"])
    };
    assert!(share(&first, "unknown") <= 15, "most cotangents should be known: {first:?}");
    assert!(share(&first, "not zero") >= 30, "many cotangents should not be zero: {first:?}");
    assert!(share(&second, "not zero") >= 10, "many programs should be curved: {second:?}");
    let count = |feature: &&str| features.get(*feature).copied().unwrap_or(0);
    let is_rare = |feature: &&&str| 20 * count(feature) < features["accepted"];
    let is_missing = |feature: &&&str| count(feature) == 0;
    assert_eq!(CONSTRUCTS.iter().find(is_rare), None, "these constructs must be frequent: {features:?}");
    assert_eq!(OPERATIONS.iter().find(is_missing), None, "these operations must occur: {features:?}");
}

fn kind(cell: &Cell) -> &'static str {
    match cell {
        Cell::Value(value) if elements(value).iter().all(|number| *number == 0.0) => "zero",
        Cell::Value(_) => "not zero",
        Cell::Absent => "absent",
        _ => "unknown",
    }
}

const CONSTRUCTS: [&str; 10] =
    ["fby", "fby back", "post", "when", "merge", "if", "param", "instances", "absent inputs", "sampled"];

const OPERATIONS: [&str; 36] = [
    "+",
    "-",
    "*",
    "/",
    "pow",
    "exp",
    "log",
    "sqrt",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "relu",
    "abs",
    "maximum",
    "minimum",
    "where",
    "matmul",
    "transpose",
    "reshape",
    "concat",
    "stack",
    "index",
    "sum",
    "mean",
    "max",
    "softmax",
    "conv2d",
    "sum_to",
    "reduce",
    "broadcast",
    "spread",
    "slice",
    "pad",
    "outer",
    "stop_gradient",
];

/// The constructs and operations of a program.
fn features_of(ready: &Ready) -> Vec<String> {
    let flow = ready.flow();
    let mut features = vec!["accepted".to_string()];
    for equation in &flow.equations {
        features.push(match &equation.kind {
            Kind::Const(_) => "constants".to_string(),
            Kind::Apply(op, _) => op.name().to_string(),
            Kind::When { .. } => "when".to_string(),
            Kind::Merge { .. } => "merge".to_string(),
            Kind::Fby { .. } => "fby".to_string(),
            Kind::FbyBack { .. } => "fby back".to_string(),
            Kind::Post(_) => "post".to_string(),
            Kind::Param(_) => "param".to_string(),
        });
    }
    if flow.var_ids().any(|var| ready.n_samplings(var) > 0) {
        features.push("sampled".to_string());
    }
    if flow.vars.iter().any(|var| var.name.as_deref().is_some_and(|name| name.contains('/'))) {
        features.push("instances".to_string());
    }
    if ready.inputs.iter().flatten().any(|cell| *cell == Cell::Absent) {
        features.push("absent inputs".to_string());
    }
    features.sort();
    features.dedup();
    features
}
