//! A loaded and resolved program, and the requests about the whole of it.

use std::fmt::{self, Write};
use std::sync::Arc;

use eddy_flow::text::print;
use eddy_language::check::{CheckReport, Checked, check_program, declared, to_report, without_repetitions};
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::functions::Checkpoints;
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::{self, Callable};
use eddy_syntax::{Diagnostic, Sources};

use crate::refusal::Refusal;
use crate::session::Session;

/// A program. Clones share it.
#[derive(Clone)]
pub struct Program {
    session: Session,
    loaded: Arc<Loaded>,
}

struct Loaded {
    program: program::Program,
    sources: Sources,
}

/// An answer with warnings about the program.
#[derive(Clone, Debug)]
pub struct Answer<T> {
    /// The answer.
    pub value: T,
    /// The warnings, each once, in the order of the phases that found them.
    pub warnings: Vec<Diagnostic>,
}

/// Whether `check` also reports memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryReport {
    /// How much memory each node needs, and each adjoint of a function with these checkpoints.
    Included(Checkpoints),
    /// Memory is not reported.
    LeftOut,
}

/// The equations of a node. `Display` writes them as `eddy flow` does.
#[derive(Clone, Debug)]
pub struct Equations {
    /// The node.
    pub name: String,
    /// Its equations and their clocks.
    pub prepared: Prepared,
}

impl fmt::Display for Equations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prepared { flow, clocks, .. } = &self.prepared;
        let text = print(flow, |var, name| Some(clocks.show(flow, clocks.of(var), &name)));
        write!(f, "-- {}\n{text}", self.name)
    }
}

impl Program {
    pub(crate) fn new(session: Session, program: program::Program, sources: Sources) -> Program {
        Program { session, loaded: Arc::new(Loaded { program, sources }) }
    }

    /// The session that loaded it.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Its files, including those of the library; spans refer to them.
    pub fn sources(&self) -> &Sources {
        &self.loaded.sources
    }

    /// The warnings of the program, which apply to every request.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.loaded.program.warnings
    }

    /// The names of the nodes of its main file, then of those that a `train` declares.
    pub fn nodes(&self) -> Vec<String> {
        declared(self.resolved()).iter().map(|callable| self.resolved().name_of(callable)).collect()
    }

    /// The properties of each node and each function.
    pub fn check(&self, memory: MemoryReport) -> Result<Answer<CheckReport>, Refusal> {
        let memory = match memory {
            MemoryReport::Included(checkpoints) => Some(checkpoints),
            MemoryReport::LeftOut => None,
        };
        let checked = check_program(self.resolved(), memory);
        let Checked { mut report, warnings } = checked.map_err(|found| self.refusal(found))?;
        for function in &mut report.functions {
            if let Some(tape) = &function.tape {
                let tape = tape.show(&|span| {
                    let place = self.sources().file(span).position(span.start);
                    format!("{}:{}", place.line, place.column)
                });
                let _ = writeln!(function.text, "  tape of adj_{}: {tape}", function.name);
            }
        }
        Ok(self.answer(report, warnings))
    }

    /// The equations of one node, or of every node that needs no constants.
    pub fn equations(&self, node: Option<&str>) -> Result<Answer<Vec<Equations>>, Refusal> {
        let (mut found, mut diagnostics) = (Vec::new(), Vec::new());
        for callable in self.requested_nodes(node)? {
            match prepare(
                self.resolved(),
                &callable,
                &ElaborationOptions::default(),
                |_| Hints::default(),
                Checks::On,
            ) {
                Ok(prepared) => found.push(Equations { name: self.resolved().name_of(&callable), prepared }),
                Err(mut wrong) => diagnostics.append(&mut wrong),
            }
        }
        if diagnostics.is_empty() {
            Ok(self.answer(found, Vec::new()))
        } else {
            Err(self.refusal(diagnostics))
        }
    }

    /// The program with all its names resolved.
    pub(crate) fn resolved(&self) -> &program::Program {
        &self.loaded.program
    }

    /// The named node, or all that need no constants.
    pub(crate) fn requested_nodes(&self, node: Option<&str>) -> Result<Vec<Callable>, Refusal> {
        let program = self.resolved();
        match node {
            Some(name) => match program.find_named(name) {
                Ok(callable) => Ok(vec![callable]),
                Err(diagnostic) => Err(self.refusal(vec![*diagnostic])),
            },
            None => {
                let needs_constants = |callable: &Callable| {
                    let node = program.node(program.origin(callable.base));
                    node.is_template || node.static_inputs().any(|slot| slot.default.is_none())
                };
                Ok(declared(program).into_iter().filter(|callable| !needs_constants(callable)).collect())
            }
        }
    }

    /// An answer with these warnings and those of the program.
    pub(crate) fn answer<T>(&self, value: T, mut warnings: Vec<Diagnostic>) -> Answer<T> {
        warnings.extend_from_slice(self.warnings());
        Answer { value, warnings: without_repetitions(warnings) }
    }

    /// The refusal for these errors: those of the earliest phase, each once.
    pub(crate) fn refusal(&self, diagnostics: Vec<Diagnostic>) -> Refusal {
        Refusal::new(to_report(diagnostics), self.sources())
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("sources", self.sources()).finish_non_exhaustive()
    }
}
