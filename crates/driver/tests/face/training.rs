//! Training without files.

use std::ops::{ControlFlow, RangeInclusive};

use eddy_driver::data::Format;
use eddy_driver::model::GivenParameters;
use eddy_driver::train::Epoch;
use eddy_driver::{Data, NodeRequest, Program, RunRequest, TrainRequest, Trainer};
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::{program, tensor};

const LINE: &str = "node line(x) -> (y) y = param(0.0) * x + param(0.0);
train line as learn loss mse optim adam(0.1, 0.9, 0.999, 1e-8);";

const N_ROWS: usize = 40;

#[allow(clippy::cast_precision_loss)] // the numbers are small
fn line() -> (Vec<f64>, Vec<f64>) {
    let x = |row: usize| (row * 7 % 13) as f64 / 3.0 - 2.0;
    ((0..N_ROWS).map(x).collect(), (0..N_ROWS).map(|row| 2.0 * x(row) - 3.0).collect())
}

fn tensors() -> Vec<Data> {
    let (xs, ys) = line();
    vec![Data::tensors([("x", tensor(&[N_ROWS], xs)), ("gt", tensor(&[N_ROWS], ys))])]
}

fn csv() -> Vec<Data> {
    let (xs, ys) = line();
    let rows = xs.iter().zip(&ys).map(|(x, y)| format!("{x:?},{y:?}\n"));
    let text = std::iter::once("x,gt\n".to_string()).chain(rows).collect::<String>();
    vec![Data::bytes("line.csv", Format::Csv, std::io::Cursor::new(text.into_bytes()))]
}

fn trainer(program: &Program, data: Vec<Data>, validation: Vec<Data>) -> Trainer {
    let request = TrainRequest { shuffle: true, seed: 5, ..TrainRequest::default() };
    program.trainer(&request, data, validation).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn epoch(trainer: &mut Trainer, number: u64) -> f64 {
    match trainer
        .epoch(number, &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|refusal| panic!("{refusal}"))
    {
        Epoch::Done(measured) => measured.loss,
        Epoch::Cancelled => panic!("it was not stopped"),
    }
}

fn epochs(trainer: &mut Trainer, numbers: RangeInclusive<u64>) {
    for number in numbers {
        epoch(trainer, number);
    }
}

#[test]
fn tensors_and_files_teach_the_same() {
    let program = program(LINE);
    let learnt = |data| {
        let mut trainer = trainer(&program, data, Vec::new());
        let losses: Vec<f64> = (1..=4).map(|number| epoch(&mut trainer, number)).collect();
        (losses, trainer.plan().data_hash, trainer.persistent_state())
    };
    let from_tensors = learnt(tensors());
    assert_eq!(from_tensors, learnt(csv()));
    assert!(from_tensors.0[3] < from_tensors.0[0], "{:?}", from_tensors.0);
}

#[test]
fn a_checkpoint_is_a_value_and_goes_on_bit_for_bit_in_another_thread() {
    let program = program(LINE);
    let mut whole = trainer(&program, tensors(), Vec::new());
    epochs(&mut whole, 1..=6);
    let mut first = trainer(&program, tensors(), Vec::new());
    epochs(&mut first, 1..=3);
    let checkpoint = first.persistent_state();
    let resumed = std::thread::spawn(move || {
        let mut second = trainer(&program, tensors(), Vec::new());
        second.restore(checkpoint).expect("it fits");
        epochs(&mut second, 4..=6);
        second.persistent_state()
    });
    assert_eq!(resumed.join().expect("it does not panic"), whole.persistent_state());
}

#[test]
fn a_cancelled_epoch_teaches_nothing() {
    let program = program(LINE);
    let mut undisturbed = trainer(&program, tensors(), Vec::new());
    let mut disturbed = trainer(&program, tensors(), Vec::new());
    epoch(&mut undisturbed, 1);
    epoch(&mut disturbed, 1);
    let mut n_seen = 0;
    let stopped = disturbed.epoch(2, &mut |progress| {
        n_seen = progress.n_rows;
        if progress.n_rows == 17 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Ok(Epoch::Cancelled)));
    assert_eq!(n_seen, 17, "it stops at once");
    assert_eq!(disturbed.persistent_state(), undisturbed.persistent_state());
    assert_eq!(epoch(&mut disturbed, 2).to_bits(), epoch(&mut undisturbed, 2).to_bits());
    assert_eq!(disturbed.persistent_state(), undisturbed.persistent_state());
}

#[test]
fn what_was_learnt_runs() {
    let program = program(LINE);
    let mut trainer = trainer(&program, tensors(), tensors());
    epochs(&mut trainer, 1..=30);
    let validated = trainer.validate().expect("it is validated").expect("there are data");
    assert!(validated.loss < 1e-2, "{validated:?}");
    let mut model = program.model(NodeRequest::of(trainer.plan().model)).expect("the node is there");
    let values = trainer.parameters();
    model
        .set_parameters(GivenParameters { from: "training".to_string(), values: values.clone() })
        .expect("they fit");
    assert_eq!(model.parameters(0).expect("it has parameters"), values);
    let mut run = model.start(&RunRequest::default()).expect("it starts");
    let rows = run.step(&[Cell::Value(Value::Num(1.0))]).expect("it runs");
    let Some(Value::Num(y)) = rows[0].cells[0].value() else { panic!("{rows:?}") };
    assert!((y + 1.0).abs() < 0.2, "{y}");
}
