//! Runs, trains, plans and builds programs of the language of `.eddy` files (`eddy-language`).
//!
//! A [`Session`] has settings, threads and a [`Listener`]; it loads a [`Program`]; a [`Model`] is one node of
//! the program. Requests and answers are plain data. All of them own their data, can be kept, and can be
//! moved to other threads. The command line, bindings to other languages and editors use this interface.
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//!
//! use eddy_driver::{BuildOptions, Cell, Data, Deaf, NodeRequest, Options, RunRequest, Session};
//! use eddy_driver::{Row, TrainRequest};
//! use eddy_tensor::{Shape, Value};
//!
//! # fn main() -> Result<(), eddy_driver::Refusal> {
//! let session = Session::new(Options::new(BuildOptions::from_environment()), Arc::new(Deaf));
//! let text = "node line(x) -> (y) y = param(1.0) * x + param(0.5);
//!             train line as learn loss mse optim sgd(0.1);";
//! let program = session.load_text("line.eddy", text)?;
//! let vector = |numbers: &[f64]| {
//!     let elements = eddy_tensor::Data::Num(numbers.to_vec());
//!     Value::new(Shape::new(&[numbers.len()]), elements).expect("as many numbers as the shape has")
//! };
//!
//! // A node on tensors, whose first axis is time.
//! let model = program.model(NodeRequest::of("line"))?;
//! let run = model.run(&RunRequest::default(), vec![Data::tensors([("x", vector(&[1.0, 2.0]))])])?;
//! let rows = run.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(rows[1].cells, [Cell::Value(Value::Num(2.5))]);
//!
//! // The same node, step by step.
//! let mut run = model.start(&RunRequest::default())?;
//! let expected = Row { cycle: 0, ..rows[1].clone() };
//! assert_eq!(run.step(&[Cell::Value(Value::Num(2.0))])?, [expected]);
//! assert!(run.flush()?.is_empty());
//!
//! // Two epochs of training, and what was learnt.
//! let data = Data::tensors([("x", vector(&[-1.0, 0.0, 1.0])), ("gt", vector(&[-5.0, -3.0, -1.0]))]);
//! let mut trainer = program.trainer(&TrainRequest::default(), vec![data], Vec::new())?;
//! for epoch in 1..=2 {
//!     trainer.epoch(epoch, &mut |_progress| ControlFlow::Continue(()))?;
//! }
//! let learnt = trainer.parameters();
//! assert_eq!(learnt.len(), 2);
//! assert!(learnt.iter().all(|(_, value)| value.is_finite()));
//! # Ok(())
//! # }
//! ```
//!
//! * The interface: [`session`], [`listener`], [`program`] with [`benches`], [`testing`] and
//!   [`documentation`], [`model`], [`data`], [`refusal`].
//! * Running: [`functions`] evaluates functions, [`run`] steps a node, [`stream`] runs it on data;
//!   [`engine`] runs programs, compiled or simulated; [`disagreement`] reports where the two differ;
//!   `lock_step` joins the cells of several streams.
//! * [`compare`] runs a program under every semantics that supports it.
//! * Functions: [`functions`] calls a function with data and checks its derivatives.
//! * Learning: [`train`] runs epochs over data, `parameters` loads learnt values, [`gradcheck`] compares
//!   derivatives with finite differences. `normalisation` scales inputs.
//! * Loops and C: [`planning`] shows how a node will run, [`building`] writes it in C, `checkpoints` warns if
//!   a plan has no checkpoints.
//!
//! `eddy-language` reads, checks and simulates programs and does no input or output. In this crate,
//! [`engine`] calls the C compiler and measures time, and [`stream`] reads data. It uses no terminal and no
//! environment variables, and sessions of a process share nothing except the folder of compiled programs.

#![warn(missing_docs)]

pub mod data;
pub mod listener;
pub mod model;
pub mod program;
pub mod refusal;
pub mod session;

pub mod benches;
pub mod compare;
pub mod documentation;
pub mod functions;
pub mod run;
pub mod stream;
pub mod testing;

pub mod building;
pub mod disagreement;
pub mod engine;
pub mod gradcheck;
pub mod planning;
pub mod train;

mod checkpoints;
mod inputs;
pub mod lock_step;
mod normalisation;
mod parameters;
mod precision;
mod ready;

pub use benches::BenchRequest;
pub use building::BuildRequest;
pub use data::Data;
pub use eddy_compile::Precision;
pub use eddy_compile::build::BuildOptions;
pub use eddy_formats::Encoding;
pub use eddy_language::program::Limits;
pub use eddy_language::semantics::Cell;
pub use engine::EngineKind;
pub use functions::runner::FunctionEngine;
pub use functions::{FunctionModel, FunctionRequest};
pub use gradcheck::GradcheckRequest;
pub use listener::{Deaf, Event, Listener};
pub use model::{GivenParameters, Model, NodeRequest};
pub use planning::PlanRequest;
pub use program::{Answer, Program};
pub use refusal::Refusal;
pub use run::{Row, Run, RunRequest};
pub use session::{Options, Session};
pub use stream::DataRun;
pub use testing::TestRequest;
pub use train::{TrainRequest, Trainer};
