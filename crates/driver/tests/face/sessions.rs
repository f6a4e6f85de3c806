//! State of a session: threads, the C compiler, events.

use std::num::NonZero;
use std::sync::Arc;

use eddy_compile::build::BuildOptions;
use eddy_compile::build::cache::Cache;
use eddy_driver::{
    Data, DataRun, Deaf, EngineKind, Event, Model, NodeRequest, Options, Program, Row, Run, RunRequest,
    Session, Trainer,
};
use eddy_tensor::Value;

use crate::{Recorder, model, nums, tensor};

fn is_send<T: Send>() {}
fn is_shared<T: Send + Sync>() {}

#[test]
fn the_face_can_be_moved_between_threads() {
    is_shared::<Session>();
    is_shared::<Program>();
    is_shared::<Model>();
    is_send::<Run>();
    is_send::<DataRun>();
    is_send::<Trainer>();
    is_send::<Data>();
    is_send::<Event>();
}

fn building() -> BuildOptions {
    BuildOptions::from_environment().expect("the environment makes sense")
}

/// A product that is large enough to wake workers at any time, and a recurrence that accumulates its rounding
/// errors.
const LARGE: &str = "node n(x:num [1100]) -> (y)
  w = param(glorot_uniform([1100,1100]));
  h = zeros([1100]) fby tanh(matmul(w, h) + x);
  y = matmul(w, h) + x;";

#[allow(clippy::cast_precision_loss)] // the numbers are small
fn vectors(n_cycles: usize) -> Value {
    tensor(&[n_cycles, 1100], (0..1100 * n_cycles).map(|at| ((at * 13) as f64 * 0.37).sin()).collect())
}

/// Whether a worker with this number exists; true where the system does not list threads. A thread that has
/// just started has no name yet.
fn has_worker(number: usize) -> bool {
    (0..2000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return true };
        let mut names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
        names.any(|name| name.trim() == format!("eddy-{number}"))
    })
}

#[test]
fn sessions_with_different_threads_work_at_the_same_time_and_agree() {
    let run = |n_threads: usize| {
        let options = Options { threads: NonZero::new(n_threads), ..Options::new(Ok(building())) };
        let session = Session::new(options, Arc::new(Deaf));
        assert_eq!(session.threads().n(), n_threads);
        let model = session
            .load_text("large.eddy", LARGE)
            .and_then(|program| program.model(NodeRequest::of("n")))
            .unwrap_or_else(|refusal| panic!("{refusal}"));
        let request =
            RunRequest { engine: Some(EngineKind::Compiled), no_shadow: true, ..RunRequest::default() };
        let run = model.run(&request, vec![Data::tensors([("x", vectors(6))])]).expect("it runs");
        assert!(run.is_compiled());
        let rows = run.collect::<Result<Vec<Row>, _>>().unwrap_or_else(|refusal| panic!("{refusal}"));
        assert!(n_threads < 3 || has_worker(n_threads - 1), "the threads of the session compute");
        rows
    };
    let alone = run(1);
    assert_eq!(alone.len(), 6);
    std::thread::scope(|scope| {
        let running: Vec<_> = [1, 2, 3].map(|n| scope.spawn(move || run(n))).into_iter().collect();
        for thread in running {
            // Cells are equal if their bits are, apart from those of NaN.
            assert_eq!(thread.join().expect("it does not panic"), alone);
        }
    });
}

#[test]
fn the_listener_gets_a_compilation_and_a_cached_one() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let cache = Cache { folder: folder.path().join("cache"), limit: 1 << 30 };
    let building = BuildOptions { cache: Some(cache), tries_compiler: false, ..building() };
    let recorder = Arc::new(Recorder::default());
    let session = Session::new(Options::new(Ok(building)), recorder.clone());
    let text = "node heard(x:num []) -> (y) y = 2.0 * x;";
    let program = session.load_text("heard.eddy", text).expect("it is a program");
    let start = || {
        let run =
            program.model(NodeRequest::of("heard")).and_then(|model| model.start(&RunRequest::default()));
        assert!(run.expect("it starts").is_compiled());
        recorder.take()
    };
    match start().as_slice() {
        [Event::Compiling { node, n_lines }, Event::Compiled { node: compiled, seconds, is_kept: true }] => {
            assert_eq!([node, compiled], ["heard", "heard"]);
            assert!(*n_lines > 10 && *seconds > 0.0, "{n_lines} lines, {seconds} s");
        }
        events => panic!("{events:?}"),
    }
    match start().as_slice() {
        [Event::FoundCompiled { node }] => assert_eq!(node, "heard"),
        events => panic!("{events:?}"),
    }
}

#[test]
fn without_a_compiler_programs_are_simulated_and_that_is_said() {
    let mut building = building();
    building.search.cc = Some("eddy-has-no-such-compiler".into());
    let recorder = Arc::new(Recorder::default());
    let session = Session::new(Options::new(Ok(building)), recorder.clone());
    let program =
        session.load_text("p.eddy", "node n(x:num []) -> (y) y = 2.0 * x;").expect("it is a program");
    let model = program.model(NodeRequest::of("n")).expect("it is a node");
    let mut run = model.start(&RunRequest::default()).expect("it starts");
    assert!(!run.is_compiled());
    assert_eq!(run.step(&nums([4.0])).expect("it runs")[0].cells, nums([8.0]));
    assert_eq!(run.warnings().iter().map(|warning| warning.code.name()).collect::<Vec<_>>(), ["E0902"]);
    assert!(matches!(recorder.take().as_slice(), [Event::NotCompiled { .. }]));
}

#[test]
fn a_name_means_one_engine_or_none() {
    assert_eq!("simulate".parse(), Ok(EngineKind::Simulate));
    let unknown = "simulated".parse::<EngineKind>().expect_err("no engine has this name");
    assert_eq!((unknown.name.as_str(), unknown.nearest()), ("simulated", Some("simulate")));
    let model = model("node n(x:num []) -> (y) y = x;", "n");
    let request = RunRequest { engine: Some(EngineKind::Kahn), ..RunRequest::default() };
    assert!(model.start(&request).is_err(), "an engine that cannot step is not replaced by another one");
    assert!(model.run(&request, vec![Data::cells([("x", nums([1.0]))])]).is_err());
}
