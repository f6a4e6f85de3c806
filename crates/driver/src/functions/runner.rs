//! Runs functions: evaluations and calls, compiled or interpreted. Both give the same bits and the same
//! errors.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::sync::Arc;

use eddy_body::{BodyId, Failure, Limits, Module, Program, RunError};
use eddy_compile::functions::{Compiled, Emitted, Meter, emit, emit_for};
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
    /// Compiled code for runs with a limit on fuel, and for those without.
    exact: OnceCell<Result<Compiled, NotCompiled>>,
    free: OnceCell<Result<Compiled, NotCompiled>>,
    /// Compiled code for arguments of certain sizes, for runs without a limit on fuel.
    sized: RefCell<Vec<Sized>>,
}

/// Compiled code of one entry for arguments of certain sizes; `None` where it takes any size.
struct Sized {
    body: BodyId,
    sizes: Vec<Option<i64>>,
    compiled: Compiled,
}

/// Larger sizes vary from call to call: code for them takes any size.
const INNER: usize = 64;

/// The largest number of sizes for which an entry is compiled.
const MAX_SIZED: usize = 16;

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
        let (exact, free, sized) = (OnceCell::new(), OnceCell::new(), RefCell::default());
        FunctionRunner { session, module, entries, engine, interpreted, exact, free, sized }
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
            None if self.exact.get().is_none() && self.free.get().is_none() => {
                let small =
                    Limits { fuel: Some(limits.fuel.map_or(SMALL, |fuel| fuel.min(SMALL))), ..*limits };
                match interpret(&small) {
                    (Err(RunError { failure: Failure::Fuel, .. }), _) if !is_small(limits) => {}
                    outcome => return outcome,
                }
            }
            _ => {}
        }
        if self.is_free(limits) {
            let sizes = inner_sizes(arguments);
            let sized = self.sized.borrow();
            if let Some(found) = sized.iter().find(|sized| sized.body == body && sized.sizes == sizes) {
                return found.compiled.run_counting(body, arguments, limits);
            }
        }
        match self.compiled(limits) {
            Ok(compiled) => compiled.run_counting(body, arguments, limits),
            Err(_) => interpret(limits),
        }
    }

    /// Compiles the functions for these arguments, if that was requested.
    pub fn prepare(&self, body: BodyId, arguments: &[Value], budget: &Budget) {
        if self.engine != Some(FunctionEngine::Compiled) {
            return;
        }
        let limits = Limits { fuel: budget.fuel, depth: budget.depth, memory: budget.memory };
        let sizes = inner_sizes(arguments);
        if !self.is_free(&limits) || sizes.iter().all(Option::is_none) {
            self.compiled(&limits);
            return;
        }
        let mut sized = self.sized.borrow_mut();
        if sized.iter().any(|known| known.body == body && known.sizes == sizes) || sized.len() >= MAX_SIZED {
            return;
        }
        let emitted = emit_for(&self.module, &[body], Meter::Free, std::slice::from_ref(&sizes));
        if let Ok(compiled) = self.build(emitted.expect("the interpreter has verified it")) {
            sized.push(Sized { body, sizes, compiled });
        }
    }

    /// Whether code that counts neither fuel nor all calls gives the outcome of a run with these limits. It
    /// keeps temporaries of inlined calls for longer, so that it may need more memory.
    fn is_free(&self, limits: &Limits) -> bool {
        limits.fuel.is_none() && limits.memory.is_none() && limits.depth >= self.module.bodies.len()
    }

    /// Why the functions were interpreted although machine code was requested, if that happened.
    pub fn warning(&self) -> Option<Diagnostic> {
        let why = [&self.exact, &self.free].into_iter().find_map(|code| code.get()?.as_ref().err())?;
        let title = "functions are not compiled: they are interpreted, more slowly";
        let warning =
            Diagnostic::warning(codes::NOT_COMPILED, Span::default(), title).reason(why.to_string());
        Some(match why.help() {
            Some(help) => warning.help(help),
            None => warning,
        })
    }

    fn compiled(&self, limits: &Limits) -> &Result<Compiled, NotCompiled> {
        let (code, meter) =
            if self.is_free(limits) { (&self.free, Meter::Free) } else { (&self.exact, Meter::Exact) };
        code.get_or_init(|| {
            let node = || NAME.to_owned();
            let listener = self.session.listener();
            let emitted = emit(&self.module, &self.entries, meter);
            let outcome = self.build(emitted.expect("the interpreter has verified it"));
            if let Err(why) = &outcome {
                listener.hear(Event::NotCompiled { node: node(), reason: why.to_string() });
            }
            outcome
        })
    }

    fn build(&self, emitted: Emitted) -> Result<Compiled, NotCompiled> {
        let node = || NAME.to_owned();
        let listener = self.session.listener();
        let options = self.session.native().building.as_ref();
        let options = options.map_err(|bad| NotCompiled::Setting(bad.clone()))?;
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
        let is_compiled = [&self.exact, &self.free].iter().any(|code| matches!(code.get(), Some(Ok(_))));
        f.debug_struct("FunctionRunner").field("is_compiled", &is_compiled).finish_non_exhaustive()
    }
}

/// The sizes of arguments, tensor after tensor, as far as code is compiled for them.
fn inner_sizes(arguments: &[Value]) -> Vec<Option<i64>> {
    let sizes = arguments.iter().flat_map(|value| value.shape().iter());
    sizes.map(|size| i64::try_from(*size).ok().filter(|_| *size <= INNER)).collect()
}
