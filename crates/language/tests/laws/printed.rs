//! Printed training code computes what the synthesised node does (P19).

use std::fmt;

use eddy_flow::{Kind, VarId};
use eddy_language::check::check_node;
use eddy_language::codes;
use eddy_language::elaborate::{Draft, ElaborationOptions, Interface, interface};
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::printed::{PrintOptions, print};
use eddy_language::program::{NodeId, Program};
use eddy_language::resolve;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, SourceFile, Sources};
use eddy_tensor::Value;
use rustc_hash::FxHashMap;

use crate::generated::agreement::waits;
use crate::generated::case::Ready;
use crate::generated::compare::{is_below, show};
use crate::generated::engines::{NoValue, Rows, cells, denote, settled, simulate};
use crate::generated::generate::{Choices, ProgramText};
use crate::generated::harness::{SampleChoices, Trial, Verdict, law};
use crate::generated::trace::{Absences, Numbers, Trace, value};

/// A program, and the choices for a trace of its training code.
struct Training {
    source: String,
    /// The node that is differentiated.
    node: String,
    trace: Vec<u16>,
}

impl fmt::Debug for Training {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}-- eddy diff --node {}", self.source, self.node)
    }
}

fn plain(source: &mut SampleChoices<'_>) -> Training {
    let program = source.program.program_to_print();
    training(&program, program.main().name.to_string(), source)
}

fn with_resets(source: &mut SampleChoices<'_>) -> Training {
    let program = source.program.program_to_reset();
    training(&program, format!("{}_end", program.main().name), source)
}

fn training(program: &ProgramText, node: String, source: &SampleChoices<'_>) -> Training {
    Training { source: program.text(), node, trace: longer(source.law) }
}

/// As many choices as the longest trace needs. After the given ones, all are zero; cotangents come last.
fn longer(choices: &[u16]) -> Vec<u16> {
    let n = choices.len().max(1);
    let choice = |at: usize| {
        choices.get(at % n).map_or(0, |choice| choice.rotate_left(u32::try_from(5 * (at / n)).unwrap_or(0)))
    };
    (0..400).map(choice).collect()
}

/// The relation between the printed text and the synthesised node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// The same cells.
    Same,
    /// The same cells, and perhaps more: where `bp` is false, sparse cotangents do not wait for primal values
    /// that a dense zero is multiplied by (section 15).
    More,
    /// No contradiction where both are known. Values after the end of the trace are unknown.
    Compatible,
}

#[test]
fn p19_dense_training_code_is_the_synthesised_node() {
    law("P19 dense", 300, plain, |training| {
        let options = PrintOptions { dense: true, ..PrintOptions::default() };
        agrees(training, &options, Promise::Same)
    });
}

#[test]
fn p19_sparse_training_code_is_the_synthesised_node_on_finite_traces() {
    law("P19 finite", 300, plain, |training| {
        let options = PrintOptions { finite: true, ..PrintOptions::default() };
        agrees(training, &options, Promise::More)
    });
}

#[test]
fn p19_sparse_training_code_contradicts_the_synthesised_node_nowhere() {
    law("P19 open", 300, plain, |training| agrees(training, &PrintOptions::default(), Promise::Compatible));
}

#[test]
fn p19_dense_training_code_with_resets() {
    law("P19 dense resets", 300, with_resets, |training| {
        let options = PrintOptions { dense: true, ..PrintOptions::default() };
        agrees(training, &options, Promise::Same)
    });
}

#[test]
fn p19_sparse_training_code_with_resets_if_bp_is_constant_on_each_segment() {
    law("P19 finite resets", 300, with_resets, |training| {
        let options = PrintOptions { finite: true, ..PrintOptions::default() };
        agrees(training, &options, Promise::More)
    });
}

#[test]
fn p19_sparse_training_code_with_resets_contradicts_the_synthesised_node_nowhere() {
    law("P19 open resets", 300, with_resets, |training| {
        agrees(training, &PrintOptions::default(), Promise::Compatible)
    });
}

/// Generated programs seldom have a parameter after each kind of equation that moves a support. The parameter
/// shows where the support is: `dx` is output only where `bp` holds, but the parameter changes wherever a
/// cotangent reaches it.
#[test]
fn p19_supports_move_with_each_kind_of_equation() {
    let bodies = [
        "o = 0.0 fby w * x;",
        "o = post (w * x);",
        "o = 0.0 fby back w * x;",
        "o = w * x fby x;",
        "o = w * x fby back x;",
        "o = merge c ((w * x) when c) (x when not c);",
        "o = merge c (x when c) ((w * x) when not c);",
        "a = 0.0 fby ((w * x) when c); o = merge c a (x when not c);",
        "a = post ((w * x) when not c); o = merge c (x when c) a;",
        "o = w * (0.0 fby x) + (post (w * x));",
        "o = -(w * x) - (0.0 fby w * x) / (2.0 + x * x);",
    ];
    let all_options = [
        (PrintOptions { dense: true, ..PrintOptions::default() }, Promise::Same),
        (PrintOptions { finite: true, ..PrintOptions::default() }, Promise::More),
        (PrintOptions::default(), Promise::Compatible),
    ];
    for body in bodies {
        for (options, promise) in &all_options {
            let mut n_compared = 0;
            for seed in 0..40_u64 {
                let source = format!("node n(x,c:bool [])->(o)\n  w = param(0.5); {body}\n");
                let trace = (1..400).map(|n| (seed * 7919 + n).wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let trace = trace.map(|word| u16::try_from(word >> 48).expect("16 bits are left")).collect();
                let training = Training { source, node: "n".to_string(), trace };
                match agrees(&training, options, *promise) {
                    Ok(verdict) => n_compared += usize::from(matches!(verdict, Verdict::Holds)),
                    Err(broken) => panic!("{training:?}: {broken}"),
                }
            }
            assert!(n_compared > 20, "`{body}` was compared on {n_compared} of 40 traces only");
        }
    }
}

/// Compares printed and synthesised training code on one trace, in both semantics.
fn agrees(training: &Training, options: &PrintOptions, promise: Promise) -> Trial {
    let program = resolved(&training.source).map_err(|found| messages("the program", &found))?;
    let name = format!("diff_{}", training.node);
    let Ok((synthesised, expected)) = prepared(&program, &name, |_| Hints::default()) else {
        return Ok(Verdict::Vacuous("no training code"));
    };
    let callable = program.find_named(&training.node).expect("its derivative was found");
    let text = match print(&program, &callable, options) {
        Ok(text) => text,
        // An output that is never known is an error in a user's program, and a warning in synthesised nodes.
        Err(found) if is_deadlock(&found) && synthesised.deadlocks().next().is_some() => {
            return Ok(Verdict::Vacuous("waits for itself"));
        }
        Err(found) => return Err(messages("printing", &found)),
    };
    if !options.dense && text.contains("back_n") {
        return Ok(Verdict::Vacuous("only a dense form"));
    }
    if !options.dense && !training.node.ends_with("_end") && text.contains("_end(") {
        // The program has segments of its own, on which `bp` is not constant.
        return Ok(Verdict::Vacuous("resets"));
    }
    let fail = |what: String| format!("{what}\n{text}");
    let printed = resolved(&text).map_err(|found| fail(messages("the printed text", &found)))?;
    let is_checked = if checked(&program).is_ok() { checked(&printed) } else { Ok(()) };
    let (printed, found) = is_checked
        .and_then(|()| prepared(&printed, &name, |draft| like(draft, &synthesised)))
        .map_err(|found| fail(messages("the printed text", &found)))?;
    for [expected, found] in [[ports(&expected), ports(&found)], [streams(&synthesised), streams(&printed)]] {
        if expected != found {
            return Err(fail(format!("{expected:?}\n{found:?}")));
        }
    }
    let mut choices = Choices::new(&training.trace);
    let segments = if options.dense { Segments::Mixed } else { Segments::Whole };
    let ready = cells!(on_a_trace(synthesised, &mut choices, segments));
    let other = Ready { prepared: printed, inputs: ready.inputs.clone(), n_cycles: ready.n_cycles };
    for (semantics, run) in [("A", denote as fn(&Ready) -> Result<Rows, NoValue>), ("B", simulate)] {
        let (left, right) = (cells!(run(&ready)), cells!(run(&other)));
        if !left.iter().flatten().all(is_finite) {
            return Ok(Verdict::Vacuous("not finite"));
        }
        // Where a stream waits for itself within a cycle, A does not learn that it is absent (P1).
        let promise = if semantics == "A" && waits(other.flow()) { Promise::Compatible } else { promise };
        compare((&ready, settled(&left)), (&other, settled(&right)), promise)
            .map_err(|broken| fail(format!("{semantics}: {broken}\n{}", ready.bench(&name))))?;
    }
    Ok(Verdict::Holds)
}

fn is_deadlock(found: &[Diagnostic]) -> bool {
    let is_causality = |diagnostic: &Diagnostic| diagnostic.title.contains(": causality error: ");
    found.iter().all(|diagnostic| diagnostic.code == codes::NOT_PRINTED && is_causality(diagnostic))
}

fn resolved(text: &str) -> Result<Program, Vec<Diagnostic>> {
    resolve(&mut Sources::alone(SourceFile::new("law.eddy", text))).accepted()
}

/// The checks of `eddy check`.
fn checked(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let nodes = (0..program.nodes.len()).map(NodeId::new);
    for node in nodes.filter(|node| program.node(*node).module == Program::MAIN) {
        check_node(program, &node.into(), false)?;
    }
    Ok(())
}

fn prepared(
    program: &Program,
    name: &str,
    hints: impl FnOnce(&Draft) -> Hints,
) -> Result<(Prepared, Interface), Vec<Diagnostic>> {
    let callable = program.find_named(name).map_err(|found| vec![*found])?;
    let interface = interface(program, &callable, &FxHashMap::default())?;
    let prepared = prepare(program, &callable, &ElaborationOptions::default(), hints, Checks::On)?;
    Ok((prepared, interface))
}

/// The data have the shapes of the synthesised node.
fn like(draft: &Draft, synthesised: &Prepared) -> Hints {
    let shapes = synthesised.flow.inputs.iter().map(|input| synthesised.flow.var(*input).ty.shape.clone());
    let hint = |(input, says): (&VarId, eddy_tensor::Shape)| Hint {
        input: *input,
        says,
        span: draft.vars[input.index()].span,
    };
    Hints { shapes: draft.inputs.iter().zip(shapes).map(hint).collect(), ..Hints::default() }
}

fn messages(what: &str, found: &[Diagnostic]) -> String {
    let titles: Vec<&str> = found.iter().map(|diagnostic| diagnostic.title.as_str()).collect();
    format!("{what} is refused: {}", titles.join("; "))
}

fn ports(interface: &Interface) -> [Vec<String>; 2] {
    [&interface.inputs, &interface.outputs].map(|ports| ports.iter().map(|port| port.name.clone()).collect())
}

/// The types and clocks of inputs and outputs. A constant is present whenever it is needed, so its clock is
/// irrelevant.
fn streams(prepared: &Prepared) -> [Vec<String>; 2] {
    let Prepared { flow, clocks, .. } = prepared;
    let (labels, definitions) = (flow.labels(), flow.definitions());
    let is_constant = |var: &VarId| {
        definitions[var.index()].is_some_and(|number| matches!(flow.equations[number].kind, Kind::Const(_)))
    };
    let show = |var: &VarId| {
        let ty = flow.var(*var).ty.to_string();
        if is_constant(var) {
            return ty;
        }
        format!("{ty} @ {}", clocks.show(flow, clocks.of(*var), &|var| labels.label(var)))
    };
    [&flow.inputs, &flow.outputs].map(|streams| streams.iter().map(show).collect())
}

/// A trace for training code.
fn on_a_trace(prepared: Prepared, choices: &mut Choices<'_>, segments: Segments) -> Result<Ready, NoValue> {
    let n_cycles = choices.below(9);
    // If no relevant equation ties `bp` to the inputs, its clock is free in the synthesised node, but perhaps
    // not in the printed node.
    let base = (0..n_cycles).map(|_| if choices.once_in(4) { Cell::Absent } else { Cell::Present });
    let base: Vec<Cell> = base.collect();
    let like = Some(vec![base; prepared.flow.inputs.len()]);
    let trace =
        Trace { flow: &prepared.flow, clocks: &prepared.clocks, n_cycles, like, numbers: Numbers::Round };
    let mut inputs = trace.rows(choices, Absences::Some)?;
    if segments == Segments::Whole {
        make_constant(&prepared, &mut inputs);
        // When `bp` changes, so do the cotangents.
        let is_root = |input: &VarId| prepared.clocks.is_root(prepared.clocks.of(*input));
        let is_sampled: Vec<bool> = prepared.flow.inputs.iter().map(|input| !is_root(input)).collect();
        let values: Vec<Vec<Cell>> = prepared
            .flow
            .inputs
            .iter()
            .map(|input| (0..n_cycles).map(|_| Cell::Value(value(&prepared.flow, *input, choices))).collect())
            .collect();
        for (row, _) in inputs.iter_mut().zip(&is_sampled).filter(|(_, is_sampled)| **is_sampled) {
            row.fill(Cell::Unknown);
        }
        let cell = |input: usize, cycle: usize, is_active: bool| {
            if is_active { values[input][cycle].clone() } else { Cell::Absent }
        };
        trace.fill(cell, &is_sampled, &mut inputs)?;
    }
    Ok(Ready { prepared, inputs, n_cycles })
}

/// The values of `bp` within a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segments {
    /// `bp` changes at any cycle.
    Mixed,
    /// It is the same at all cycles of a segment.
    Whole,
}

fn make_constant(prepared: &Prepared, inputs: &mut Rows) {
    let find = |name: &str| {
        let is_named = |input: &VarId| prepared.flow.var(*input).name.as_deref() == Some(name);
        prepared.flow.inputs.iter().position(is_named)
    };
    let (Some(end), Some(bp)) = (find("end"), find("bp")) else { return };
    let mut current: Option<Cell> = None;
    for cycle in 0..inputs[bp].len() {
        if !inputs[bp][cycle].is_present() {
            continue;
        }
        let first = current.get_or_insert_with(|| inputs[bp][cycle].clone()).clone();
        inputs[bp][cycle] = first;
        if inputs[end][cycle] == Cell::Value(Value::Bool(true)) {
            current = None;
        }
    }
}

fn is_finite(cell: &Cell) -> bool {
    let text = cell.to_string();
    !text.contains("nan") && !text.contains("inf")
}

/// Compares the outputs of both, in order.
fn compare(
    (left, left_rows): (&Ready, Rows),
    (right, right_rows): (&Ready, Rows),
    promise: Promise,
) -> Result<(), String> {
    for (one, other) in left.flow().outputs.iter().zip(&right.flow().outputs) {
        let (expected, found) = (&left_rows[one.index()], &right_rows[other.index()]);
        let fits = |(expected, found): (&Cell, &Cell)| match promise {
            _ if is_close(expected, found) => true,
            Promise::Same => false,
            Promise::More => is_below(expected, found),
            Promise::Compatible => is_below(expected, found) || is_below(found, expected),
        };
        if !expected.iter().zip(found).all(fits) {
            let name = left.flow().var(*one).name.as_deref().unwrap_or("?");
            return Err(format!(
                "`{name}`\n  synthesised: {}\n  printed:     {}",
                show(expected),
                show(found)
            ));
        }
    }
    Ok(())
}

/// Whether two cells are equal up to rounding, since sums may be in another order.
fn is_close(left: &Cell, right: &Cell) -> bool {
    let numbers = |cell: &Cell| match cell {
        Cell::Value(value) => Some(value.clone()),
        _ => None,
    };
    match (numbers(left), numbers(right)) {
        (Some(left), Some(right)) => left == right || are_near(&left, &right),
        _ => left == right,
    }
}

fn are_near(left: &Value, right: &Value) -> bool {
    let parse = |value: &Value| -> Vec<f64> {
        let text = value.to_string();
        text.split(|c: char| "[],".contains(c)).filter_map(|word| word.parse().ok()).collect()
    };
    let (left, right) = (parse(left), parse(right));
    let is_near =
        |(left, right): (&f64, &f64)| (left - right).abs() <= 1e-9 * (1.0 + left.abs().max(right.abs()));
    left.len() == right.len() && left.iter().zip(&right).all(is_near)
}
