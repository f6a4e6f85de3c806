//! A function of a program, called with data: `fn f(..)`, or the derivative of a function, such as `adj_f`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use eddy_driver::functions::{Datum, FunctionRequest};
//! use eddy_driver::{BuildOptions, Deaf, Options, Session};
//!
//! let session = Session::new(Options::new(BuildOptions::from_environment()), Arc::new(Deaf));
//! let text = "fn norm(p: { x: num, y: num }) -> num = sqrt(p.x * p.x + p.y * p.y);";
//! let program = session.load_text("norm.eddy", text)?;
//! let mut norm = program.function(FunctionRequest::new("norm"))?;
//! let p = Datum::Record(vec![("x".to_string(), Datum::Int(3)), ("y".to_string(), Datum::Num(4.0))]);
//! let result = norm.call(&[("p".to_string(), p)]).expect("it has a value");
//! assert_eq!(result.to_string(), "5");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`calls`]: one call for each line of data files.
//! * [`runner`]: the engines, compiled and interpreted.
//! * [`gradcheck`]: derivatives against finite differences, which [`measure`] computes for one call.

mod building;
pub mod calls;
pub mod gradcheck;
mod measure;
pub mod runner;

use std::sync::Arc;

use eddy_language::codes;
use eddy_language::functions;
use eddy_language::functions::datum::Mismatch;
pub use eddy_language::functions::datum::{Datum, Expected};
pub use eddy_language::functions::entry::Outcome;
use eddy_language::functions::entry::{Call, CallError, Entry, LoweredCall};
pub use eddy_language::functions::{Budget, Checkpoints};
use eddy_syntax::{Diagnostic, Span};

use crate::functions::runner::{FunctionEngine, FunctionRunner};
use crate::program::Program;
use crate::refusal::Refusal;

/// A function, and the limits of its calls.
#[derive(Clone, Debug)]
pub struct FunctionRequest {
    /// The name; it may be synthesised, as in `adj_f`.
    pub function: String,
    /// The limits of all calls together.
    pub budget: Budget,
    /// The engine. `None` means that small calls are interpreted and others compiled.
    pub engine: Option<FunctionEngine>,
}

impl FunctionRequest {
    /// A function with the usual limits.
    pub fn new(function: impl Into<String>) -> FunctionRequest {
        FunctionRequest { function: function.into(), budget: Budget::default(), engine: None }
    }
}

/// A function that can be called. It keeps its instances: calls with the same kinds and ranks share one.
#[derive(Debug)]
pub struct FunctionModel {
    program: Program,
    entry: Entry,
    budget: Budget,
    engine: Option<FunctionEngine>,
    /// The runner of each instance.
    runners: Vec<(Arc<LoweredCall>, FunctionRunner)>,
}

/// A call with parsed arguments and prepared code. It can run any number of times.
#[derive(Debug)]
pub struct PreparedCall<'a> {
    model: &'a mut FunctionModel,
    call: Call,
}

/// Why a call has no result.
#[derive(Clone, Debug)]
pub enum NoResult {
    /// The arguments do not fit the function.
    Refused(Refusal),
    /// The call failed, or reached a limit.
    Failed(Refusal),
}

impl Program {
    /// A function, once all functions of the program are checked.
    pub fn function(&self, request: FunctionRequest) -> Result<FunctionModel, Refusal> {
        let FunctionRequest { function, budget, engine } = request;
        // Static errors of the whole file are reported before anything runs.
        functions::lower(self.resolved(), &mut budget.clone()).map_err(|found| self.refusal(found))?;
        let entry = Entry::new(self.resolved(), &function).map_err(|found| self.refusal(vec![*found]))?;
        Ok(FunctionModel { program: self.clone(), entry, budget, engine, runners: Vec::new() })
    }
}

impl FunctionModel {
    /// Its program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its name, as in `adj_f`.
    pub fn name(&self) -> &str {
        self.entry.name()
    }

    /// The span of its declaration, or of the function that it is a derivative of.
    pub fn span(&self) -> Span {
        self.entry.span()
    }

    /// Whether the types of all its parameters are written, and none is a function.
    pub fn has_written_types(&self) -> bool {
        let is_open = |expected: &Expected| matches!(expected, Expected::Open | Expected::Function);
        !self.params().iter().any(|(_, expected)| is_open(expected))
    }

    /// The parameters of the declared function, with their expected types.
    pub fn params(&self) -> &[(String, Expected)] {
        self.entry.params()
    }

    /// The result at these arguments, each under the name of its parameter. Derivatives add the parameters
    /// `dy`, and `tx` for a parameter `x`.
    pub fn call(&mut self, arguments: &[(String, Datum)]) -> Result<Outcome, NoResult> {
        self.outcome(arguments).map_err(|error| self.no_result(error))
    }

    /// Reads the arguments of a call and prepares the code for them, compiled for their sizes if compiled
    /// code was requested.
    pub fn prepare(&mut self, arguments: &[(String, Datum)]) -> Result<PreparedCall<'_>, NoResult> {
        let call = self.entry.prepare(self.program.resolved(), arguments, &self.budget);
        let call = call.map_err(|error| self.no_result(error))?;
        let at = self.runner(&call);
        self.runners[at].1.prepare(call.code.body, &call.arguments, &self.budget);
        Ok(PreparedCall { model: self, call })
    }

    fn outcome(&mut self, arguments: &[(String, Datum)]) -> Result<Outcome, CallError> {
        let call = self.entry.prepare(self.program.resolved(), arguments, &self.budget)?;
        self.run(&call)
    }

    fn run(&mut self, call: &Call) -> Result<Outcome, CallError> {
        let at = self.runner(call);
        let found = self.runners[at].1.run(call.code.body, &call.arguments, &mut self.budget);
        self.entry.outcome(call, found, &self.budget)
    }

    /// The index of the runner for the instance of a call.
    fn runner(&mut self, call: &Call) -> usize {
        let known = self.runners.iter().position(|(code, _)| Arc::ptr_eq(code, &call.code));
        known.unwrap_or_else(|| {
            let (module, entries) = (Arc::clone(&call.code.module), vec![call.code.body]);
            let runner = FunctionRunner::new(self.program.session(), module, entries, self.engine);
            self.runners.push((Arc::clone(&call.code), runner));
            self.runners.len() - 1
        })
    }

    fn no_result(&self, error: CallError) -> NoResult {
        let refusal = |found| self.program.refusal(vec![found]);
        match error {
            CallError::Argument(mismatch) => {
                NoResult::Refused(refusal(unfit_argument(mismatch, self.span())))
            }
            CallError::Refused(found) => NoResult::Refused(refusal(*found)),
            CallError::Failed(found) => NoResult::Failed(refusal(*found)),
        }
    }

    /// Why calls were interpreted although machine code was requested, if that happened.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.runners.iter().find_map(|(_, runner)| runner.warning()).into_iter().collect()
    }
}

impl PreparedCall<'_> {
    /// Calls the function.
    pub fn run(&mut self) -> Result<Outcome, NoResult> {
        self.model.run(&self.call).map_err(|error| self.model.no_result(error))
    }
}

/// A diagnostic about an argument that does not fit its parameter.
fn unfit_argument(mismatch: Mismatch, span: Span) -> Diagnostic {
    let Mismatch { place, reason, help } = mismatch;
    let diagnostic = Diagnostic::error(codes::DATA, span, format!("`{place}` {reason}"));
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}
