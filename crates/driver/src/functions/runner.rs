//! Runs functions: evaluations and calls, compiled or interpreted. Both give the same bits and the same
//! errors.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

use eddy_body::{BodyId, Failure, Limits, Module, Program, RunError};
use eddy_compile::functions::{Compiled, emit};
use eddy_language::codes;
use eddy_language::functions::Budget;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use crate::engine::{EngineKind, NotCompiled};
use crate::listener::Event;
use crate::session::Session;

/// An engine that runs functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionEngine {
    /// Machine code from the C compiler.
    Compiled,
    /// The reference: interprets statements one after the other.
    Interpret,
}

impl FunctionEngine {
    /// The function engine that corresponds to an engine of nodes.
    pub fn of(engine: EngineKind) -> FunctionEngine {
        match engine {
            EngineKind::Compiled => FunctionEngine::Compiled,
            EngineKind::Simulate | EngineKind::Denote | EngineKind::Kahn => FunctionEngine::Interpret,
        }
    }
}

/// Without a named engine, a run that needs at most this much fuel is interpreted: starting a C compiler
/// takes longer.
const SMALL: u64 = 100_000;

/// The name in messages of the compiled functions of a file.
const NAME: &str = "functions";

/// Bodies of a final module, ready to run. The module is compiled when a run first needs it.
pub struct FunctionRunner {
    session: Session,
    module: Arc<Module>,
    entries: Vec<BodyId>,
    engine: Option<FunctionEngine>,
    interpreted: Program,
    compiled: OnceCell<Result<Compiled, NotCompiled>>,
}

impl FunctionRunner {
    /// Without a named engine, small runs are interpreted and others compiled.
    pub fn new(
        session: &Session,
        module: Arc<Module>,
        entries: Vec<BodyId>,
        engine: Option<FunctionEngine>,
    ) -> FunctionRunner {
        let interpreted =
            Program::new(&module).unwrap_or_else(|error| panic!("lowered code verifies: {error}"));
        let session = session.clone();
        FunctionRunner { session, module, entries, engine, interpreted, compiled: OnceCell::new() }
    }

    /// The results of an entry at these arguments, which have the types of its parameters.
    ///
    /// The budget pays for one run: an interpreted run that is abandoned for compiled code costs nothing.
    pub fn run(
        &self,
        body: BodyId,
        arguments: &[Value],
        budget: &mut Budget,
    ) -> Result<Vec<Value>, RunError> {
        budget.spend(|limits| self.run_counting(body, arguments, limits))
    }

    fn run_counting(
        &self,
        body: BodyId,
        arguments: &[Value],
        limits: &Limits,
    ) -> (Result<Vec<Value>, RunError>, u64) {
        let is_small = |limits: &Limits| limits.fuel.is_some_and(|fuel| fuel <= SMALL);
        let interpret = |limits: &Limits| self.interpreted.run_counting(body, arguments, limits);
        match self.engine {
            Some(FunctionEngine::Interpret) => return interpret(limits),
            None if self.compiled.get().is_none() => {
                let small =
                    Limits { fuel: Some(limits.fuel.map_or(SMALL, |fuel| fuel.min(SMALL))), ..*limits };
                match interpret(&small) {
                    (Err(RunError { failure: Failure::Fuel, .. }), _) if !is_small(limits) => {}
                    outcome => return outcome,
                }
            }
            _ => {}
        }
        match self.compiled() {
            Ok(compiled) => compiled.run_counting(body, arguments, limits),
            Err(_) => interpret(limits),
        }
    }

    /// Compiles the functions, if that was requested.
    pub fn prepare(&self) {
        if self.engine == Some(FunctionEngine::Compiled) {
            self.compiled();
        }
    }

    /// Why the functions were interpreted although machine code was requested, if that happened.
    pub fn warning(&self) -> Option<Diagnostic> {
        let why = self.compiled.get()?.as_ref().err()?;
        let title = "functions are not compiled: they are interpreted, more slowly";
        let warning =
            Diagnostic::warning(codes::NOT_COMPILED, Span::default(), title).reason(why.to_string());
        Some(match why.help() {
            Some(help) => warning.help(help),
            None => warning,
        })
    }

    fn compiled(&self) -> &Result<Compiled, NotCompiled> {
        self.compiled.get_or_init(|| {
            let node = || NAME.to_owned();
            let listener = self.session.listener();
            let outcome = self.build();
            if let Err(why) = &outcome {
                listener.hear(Event::NotCompiled { node: node(), reason: why.to_string() });
            }
            outcome
        })
    }

    fn build(&self) -> Result<Compiled, NotCompiled> {
        let node = || NAME.to_owned();
        let listener = self.session.listener();
        let options = self.session.native().building.as_ref();
        let options = options.map_err(|bad| NotCompiled::Setting(bad.clone()))?;
        let emitted = emit(&self.module, &self.entries).expect("the interpreter has verified it");
        let n_lines = emitted.source.lines().count();
        let mut tell = || listener.hear(Event::Compiling { node: node(), n_lines });
        let (built, compiled) =
            Compiled::build(&self.module, emitted, options, &mut tell).map_err(NotCompiled::Build)?;
        listener.hear(if built.was_cached {
            Event::FoundCompiled { node: node() }
        } else {
            Event::Compiled { node: node(), seconds: built.seconds, is_kept: built.is_kept() }
        });
        Ok(compiled)
    }
}

impl fmt::Debug for FunctionRunner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_compiled = matches!(self.compiled.get(), Some(Ok(_)));
        f.debug_struct("FunctionRunner").field("is_compiled", &is_compiled).finish_non_exhaustive()
    }
}
