//! The interface of the crate for applications, without files and terminals.

#![expect(clippy::disallowed_methods, reason = "tests move the face between threads")]

mod answers;
mod functions;
mod refusals;
mod running;
mod sessions;
mod training;

use std::sync::{Arc, Mutex, PoisonError};

use eddy_compile::build::BuildOptions;
use eddy_driver::{Event, Listener, Model, NodeRequest, Options, Program, Session};
use eddy_language::semantics::Cell;
use eddy_tensor::{Data as Elements, Shape, Value};

/// Keeps all events.
#[derive(Default)]
struct Recorder(Mutex<Vec<Event>>);

impl Recorder {
    fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Listener for Recorder {
    fn hear(&self, event: Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

/// A session with the C compiler of this machine, and its events.
fn session() -> (Session, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    (Session::new(Options::new(BuildOptions::from_environment()), recorder.clone()), recorder)
}

fn program(text: &str) -> Program {
    session().0.load_text("test.eddy", text).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn model(text: &str, node: &str) -> Model {
    program(text).model(NodeRequest::of(node)).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn nums(numbers: impl IntoIterator<Item = f64>) -> Vec<Cell> {
    numbers.into_iter().map(|number| Cell::Value(Value::Num(number))).collect()
}

fn bools(truths: impl IntoIterator<Item = bool>) -> Vec<Cell> {
    truths.into_iter().map(|truth| Cell::Value(Value::Bool(truth))).collect()
}

/// A vector over time, or another tensor.
fn tensor(sizes: &[usize], numbers: Vec<f64>) -> Value {
    Value::new(Shape::new(sizes), Elements::Num(numbers)).expect("there are as many numbers as the shape has")
}
