//! A node that can run: its equations, its machine code if it has some, and engines that own the data they
//! run on.

use std::sync::Arc;

use eddy_flow::{Flow, VarId};
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::program::Enumerations;
use eddy_language::semantics::{errors, simulate};
use eddy_syntax::{Diagnostic, Span};
use self_cell::self_cell;

use crate::engine::choose::{Choice, choose};
use crate::engine::{Compilation, Engine, EngineInput};
use crate::listener::Event;
use crate::model::Model;
use crate::run::RunRequest;
use crate::stream::{DemandRun, Demands};

/// A node that can run.
pub(crate) struct Ready {
    pub name: String,
    pub span: Span,
    pub prepared: Prepared,
    /// The streams to show, with their names.
    pub shown: Vec<(String, VarId)>,
    /// The enumerations among the shown streams.
    pub enumerations: Enumerations,
    vars: Vec<VarId>,
    options: simulate::Options,
    is_checked: bool,
    checkpoints: bool,
    pub compilation: Option<Compilation>,
    /// The inputs that are read on demand, if the data are read that way.
    pub demands: Option<Demands>,
}

/// An engine at some cycle, and its demands on the data.
pub(crate) struct Playing<'a> {
    pub engine: Engine<'a>,
    pub demand_run: Option<DemandRun<'a>>,
}

self_cell!(
    /// An engine together with the program that it borrows.
    pub(crate) struct Running {
        owner: Arc<Ready>,
        #[not_covariant]
        dependent: Playing,
    }
);

impl Ready {
    /// Compiles the prepared node, if requested; returns remarks for the user.
    pub fn new(
        model: &Model,
        request: &RunRequest,
        prepared: Prepared,
        shown: Vec<(String, VarId)>,
    ) -> (Ready, Option<Diagnostic>) {
        let mut ready = Ready {
            name: model.name(),
            span: model.span(),
            vars: shown.iter().map(|(_, var)| *var).collect(),
            enumerations: model
                .program()
                .resolved()
                .enumerations(model.callable(), shown.iter().map(|(name, _)| name.as_str())),
            prepared,
            shown,
            options: request.simulation(),
            is_checked: !request.unchecked,
            checkpoints: request.checkpoints,
            compilation: None,
            demands: None,
        };
        let session = model.program().session();
        let choice = Choice { engine: request.engine, name: ready.name.clone(), span: ready.span };
        let (compilation, note) = choose(&ready.source(), &choice, session.native(), session.listener());
        let notes = compilation.iter().flat_map(|compilation| &compilation.notes);
        notes.for_each(|note| session.listener().hear(Event::Remark(note.clone())));
        ready.compilation = compilation;
        (ready, note)
    }

    pub fn source(&self) -> EngineInput<'_> {
        EngineInput {
            flow: &self.prepared.flow,
            clocks: &self.prepared.clocks,
            shown: &self.vars,
            options: self.options,
            is_checked: self.is_checked,
            checkpoints: self.checkpoints,
        }
    }

    /// The program before its first cycle.
    pub fn start(self: &Arc<Ready>, request: &RunRequest) -> Running {
        Running::new(Arc::clone(self), |ready| {
            let source = ready.source();
            let engine = match &ready.compilation {
                Some(compilation) if !request.no_shadow => {
                    Engine::shadowed(source, compilation, request.cycles)
                }
                compilation => Engine::new(source, compilation.as_ref()),
            };
            let demands = ready.demands.as_ref();
            let demand_run = demands.map(|demands| DemandRun::new(demands, source.clocks, source.options));
            Playing { engine, demand_run }
        })
    }
}

/// The streams to show: the named ones, or the outputs.
pub(crate) fn shown(
    model: &Model,
    request: &RunRequest,
    flow: &Flow,
) -> Result<Vec<(String, VarId)>, Vec<Diagnostic>> {
    if request.show.is_empty() {
        let names = model.fixed_inputs().interface.outputs.iter().map(|port| port.name.clone());
        return Ok(names.zip(flow.outputs.iter().copied()).collect());
    }
    let find = |name: &String| match flow.find(name) {
        Some(var) => Ok((name.clone(), var)),
        // The name does not occur in the program, so no edit is suggested.
        None => Err(vec![errors::unknown_stream(flow, name, model.span()).without_edit()]),
    };
    request.show.iter().map(find).collect()
}

/// The request with each shown record replaced by its leaves.
pub(crate) fn with_leaves(model: &Model, request: &RunRequest) -> RunRequest {
    let program = model.program().resolved();
    let leaves = |name: &String| program.leaves_of(model.callable(), name);
    RunRequest { show: request.show.iter().flat_map(leaves).collect(), ..request.clone() }
}

/// Refuses to show a stream twice.
pub(crate) fn shown_twice(model: &Model, request: &RunRequest) -> Result<(), Vec<Diagnostic>> {
    let names = &request.show;
    match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
        None => Ok(()),
        Some((_, shown)) => {
            let title = format!("`--show` names `{shown}` twice");
            Err(vec![Diagnostic::error(codes::DATA, model.span(), title)])
        }
    }
}
