//! The laws of running code: machine code, with its host, computes what the simulator does.
//!
//! * [`generated`]: programs and traces, shared with the laws of the semantics; [`samples`](samples),
//!   [`programs`](programs), [`bench_files`](bench_files) and [`run`](run): test programs, shared with the
//!   laws of planning.
//! * [`compiled`](compiled): code that is printed from plans, in [`shapes`](shapes) of all kinds, on the
//!   [`benches`](benches) of the file tests, on any number of [`threads`](threads), with [`unread`](unread)
//!   equations and [`traps`](traps); [`batch`](batch): several streams at once (L9).

#[path = "../../../language/tests/generated/mod.rs"]
mod generated;

#[path = "../../../core/plan/tests/laws/bench_files.rs"]
mod bench_files;
#[path = "../../../core/plan/tests/laws/programs.rs"]
mod programs;
#[path = "../../../core/plan/tests/laws/run.rs"]
#[allow(dead_code, reason = "plans are executed in the laws of planning")]
mod run;
#[path = "../../../core/plan/tests/laws/samples.rs"]
mod samples;

mod batch;
mod benches;
mod calls;
mod compiled;
mod shapes;
mod threads;
mod traps;
mod unread;
