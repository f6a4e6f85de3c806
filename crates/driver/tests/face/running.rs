//! Steps, runs on data, and whole runs give the same cells.

use eddy_compile::Precision;
use eddy_driver::{Data, DataRun, EngineKind, Model, Row, Run, RunRequest};
use eddy_language::runs::Found;
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::{bools, model, nums, program, tensor};

/// A program, its node, and a column of cells for each input.
struct Sample {
    text: &'static str,
    columns: Vec<(&'static str, Vec<Cell>)>,
}

const N_CYCLES: usize = 23;

#[allow(clippy::cast_precision_loss)] // the numbers are small
fn wave(step: usize) -> Vec<Cell> {
    nums((0..N_CYCLES).map(|cycle| ((cycle * step) as f64 * 0.37).sin()))
}

fn every(n: usize) -> Vec<Cell> {
    bools((0..N_CYCLES).map(|cycle| cycle % n == n - 1))
}

fn only_where(cells: &[Cell], conditions: &[Cell]) -> Vec<Cell> {
    let pairs = cells.iter().zip(conditions);
    pairs
        .map(|(cell, condition)| if condition.truth() == Some(true) { cell.clone() } else { Cell::Absent })
        .collect()
}

fn samples() -> Vec<Sample> {
    let sample = |text, columns| Sample { text, columns };
    vec![
        sample("node n(x:num []) -> (y) y = 0.0 fby y + x;", vec![("x", wave(3))]),
        // Look-ahead, and unknown values at the end.
        sample("node n(x:num []) -> (y, z) y = x + post post x; z = x * x;", vec![("x", wave(2))]),
        // Absent outputs, and absent inputs.
        sample("node n(x:num [], c:bool []) -> (y) y = x when c;", vec![("x", wave(5)), ("c", every(3))]),
        sample(
            "node n(x:num [], c:bool []) -> (y) y = merge c x 0.0;",
            vec![("x", only_where(&wave(5), &every(4))), ("c", every(4))],
        ),
        // Windows that a condition ends; the last one stays open.
        sample(
            "node n(i:num [], bp:bool []) -> (o) o = merge bp (i when bp) ((post o) when not bp);",
            vec![("i", wave(7)), ("bp", every(5))],
        ),
        // The whole trace is a window.
        sample("node n(x:num []) -> (y) y = x + (0.0 fby back y);", vec![("x", wave(1))]),
        // Parameters.
        sample(
            "node n(x:num []) -> (y) y = tanh(param(0.3) * x + param(-0.5) * (0.0 fby y));",
            vec![("x", wave(4))],
        ),
    ]
}

fn data_run(model: &Model, request: &RunRequest, sample: &Sample) -> DataRun {
    let data = Data::cells(sample.columns.clone());
    model.run(request, vec![data]).unwrap_or_else(|refusal| panic!("{}\n{refusal}", sample.text))
}

fn rows(run: DataRun) -> Vec<Row> {
    run.map(|row| row.unwrap_or_else(|refusal| panic!("{refusal}"))).collect()
}

fn started(model: &Model, request: &RunRequest) -> Run {
    model.start(request).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn cycle(sample: &Sample, cycle: usize) -> Vec<Cell> {
    sample.columns.iter().map(|(_, cells)| cells[cycle].clone()).collect()
}

/// The rows of steps, and the remaining ones at the end.
fn stepped(run: &mut Run, sample: &Sample) -> Vec<Row> {
    let mut rows = Vec::new();
    for number in 0..N_CYCLES {
        rows.extend(run.step(&cycle(sample, number)).unwrap_or_else(|refusal| panic!("{refusal}")));
    }
    rows.extend(run.flush().unwrap_or_else(|refusal| panic!("{refusal}")));
    rows
}

fn requests() -> Vec<RunRequest> {
    let request = |engine, precision| RunRequest { engine, precision, ..RunRequest::default() };
    vec![
        request(None, None),
        request(Some(EngineKind::Compiled), Some(Precision::Single)),
        request(Some(EngineKind::Simulate), None),
        RunRequest { no_shadow: true, ..RunRequest::default() },
    ]
}

#[test]
fn steps_give_what_a_run_on_whole_data_gives() {
    for sample in samples() {
        for request in requests() {
            let model = model(sample.text, "n");
            let expected = rows(data_run(&model, &request, &sample));
            assert_eq!(expected.len(), N_CYCLES, "{}", sample.text);
            let mut run = started(&model, &request);
            assert_eq!(stepped(&mut run, &sample), expected, "{} {request:?}", sample.text);
            run.reset();
            assert_eq!(stepped(&mut run, &sample), expected, "after a reset: {} {request:?}", sample.text);
        }
    }
}

#[test]
fn whole_runs_show_the_cells_of_streamed_ones() {
    for sample in samples() {
        let model = model(sample.text, "n");
        let request = RunRequest { engine: Some(EngineKind::Denote), ..RunRequest::default() };
        let data = || vec![Data::cells(sample.columns.clone())];
        let denoted = model.run_whole(&request, data()).unwrap_or_else(|refusal| panic!("{refusal}")).value;
        let Found::Cells { shown, .. } = denoted.found else { panic!("{denoted:?}") };
        let run = data_run(&model, &RunRequest::default(), &sample);
        assert_eq!(run.names(), shown.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
        for row in rows(run) {
            let cycle = usize::try_from(row.cycle).expect("there are few cycles");
            // Cells that stay unknown are compared only by presence, which the two engines may know to
            // different degrees.
            let expected: Vec<Option<&Value>> = shown.iter().map(|(_, cells)| cells[cycle].value()).collect();
            assert_eq!(row.cells.iter().map(Cell::value).collect::<Vec<_>>(), expected, "{}", sample.text);
        }
    }
}

#[test]
fn steps_answer_when_outputs_become_known() {
    let model = model("node n(x:num []) -> (y) y = x + post x;", "n");
    let mut run = started(&model, &RunRequest::default());
    let known = |rows: Vec<Row>| -> Vec<(u64, Cell)> {
        rows.into_iter().map(|row| (row.cycle, row.cells[0].clone())).collect()
    };
    let mut step = |x: f64| known(run.step(&nums([x])).expect("it runs"));
    assert_eq!(step(1.0), vec![]);
    assert_eq!(step(2.0), vec![(0, Cell::Value(Value::Num(3.0)))]);
    assert_eq!(step(5.0), vec![(1, Cell::Value(Value::Num(7.0)))]);
    let last = known(run.flush().expect("it ends"));
    assert_eq!(last.len(), 1);
    assert!(last[0].0 == 2 && last[0].1.value().is_none(), "{last:?}");
    assert_eq!(run.flush().expect("it has ended"), vec![]);
}

#[test]
fn a_run_goes_on_in_another_thread() {
    for sample in samples() {
        let model = model(sample.text, "n");
        let expected = rows(data_run(&model, &RunRequest::default(), &sample));
        let mut run = started(&model, &RunRequest::default());
        let mut found = Vec::new();
        for number in 0..N_CYCLES / 2 {
            found.extend(run.step(&cycle(&sample, number)).expect("it runs"));
        }
        drop(model);
        let rest: Vec<Vec<Cell>> = (N_CYCLES / 2..N_CYCLES).map(|number| cycle(&sample, number)).collect();
        let thread = std::thread::spawn(move || {
            let mut found = Vec::new();
            for cells in rest {
                found.extend(run.step(&cells).expect("it runs"));
            }
            found.extend(run.flush().expect("it ends"));
            found
        });
        found.extend(thread.join().expect("it does not panic"));
        assert_eq!(found, expected, "{}", sample.text);
    }
}

#[test]
fn types_come_from_the_data() {
    let model = model("node n(x) -> (y) y = sum(x);", "n");
    let data = Data::tensors([("x", tensor(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))]);
    let run = model.run(&RunRequest::default(), vec![data]).expect("it runs");
    assert_eq!(run.signature().inputs[0].ty.to_string(), "num [3]");
    let sums: Vec<Cell> = rows(run).into_iter().flat_map(|row| row.cells).collect();
    assert_eq!(sums, nums([6.0, 15.0]));
}

#[test]
fn tensors_and_text_are_the_same_data() {
    let model = model("node n(x:num [], k:int []) -> (y) y = num(k) * x;", "n");
    let csv = Data::bytes("data.csv", eddy_driver::data::Format::Csv, &b"x,k\n0.5,2\n0.25,3\n"[..]);
    let ints = Value::new(eddy_tensor::Shape::new(&[2]), eddy_tensor::Data::Int(vec![2, 3])).expect("two");
    let tensors = Data::tensors([("x", tensor(&[2], vec![0.5, 0.25])), ("k", ints)]);
    let of = |data| rows(model.run(&RunRequest::default(), vec![data]).expect("it runs"));
    assert_eq!(of(csv), of(tensors));
}

#[test]
fn a_batch_gives_a_row_for_each_stream() {
    let text = "node n(x:num []) -> (y) y = 0.0 fby y + x;";
    let request = eddy_driver::NodeRequest { batch: Some(2), ..eddy_driver::NodeRequest::of("n") };
    let model = program(text).model(request).expect("it is a node");
    let data =
        vec![Data::cells([("x", nums([1.0, 2.0, 3.0]))]), Data::cells([("x", nums([10.0, 20.0, 30.0]))])];
    let rows = rows(model.run(&RunRequest::default(), data).expect("it runs"));
    let shown: Vec<_> = rows.into_iter().map(|row| (row.cycle, row.stream, row.cells[0].clone())).collect();
    let cell = |number| Cell::Value(Value::Num(number));
    let expected = [
        (0, Some(0), cell(0.0)),
        (0, Some(1), cell(0.0)),
        (1, Some(0), cell(1.0)),
        (1, Some(1), cell(10.0)),
        (2, Some(0), cell(3.0)),
        (2, Some(1), cell(30.0)),
    ];
    assert_eq!(shown, expected);
}
