//! A node of a program with constants and shapes for its inputs, and the requests about it.

use eddy_flow::VarId;
use eddy_formats::Encoding;
use eddy_language::causality::{self, causality_of};
use eddy_language::check::{to_report, without_repetitions};
use eddy_language::elaborate::{Draft, ElaborationOptions, probes};
use eddy_language::infer::shape_hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::printed::{self, PrintOptions};
use eddy_language::program::Callable;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::{Type, Value};

use crate::inputs::FixedInputs;
use crate::normalisation::normalise;
use crate::parameters;
use crate::program::{Answer, Program};
use crate::refusal::Refusal;

/// A node, and what is fixed about its inputs.
#[derive(Clone, Debug, Default)]
pub struct NodeRequest {
    /// The name of the node.
    pub node: String,
    /// Compile-time constants for inputs: name and expression, such as `n` and `3`.
    pub constants: Vec<(String, String)>,
    /// Shapes of inputs without a written one: name and list of sizes, such as `x` and `[2,3]`. Runs on data
    /// take them from the data.
    pub shapes: Vec<(String, String)>,
    /// The number of independent streams that run at once.
    pub batch: Option<usize>,
}

impl NodeRequest {
    /// A node without constants.
    pub fn of(node: impl Into<String>) -> NodeRequest {
        NodeRequest { node: node.into(), ..NodeRequest::default() }
    }
}

/// A node, ready to be run and differentiated. Clones share the program.
#[derive(Clone, Debug)]
pub struct Model {
    program: Program,
    /// The files of the program, and the constants as excerpts.
    sources: Sources,
    callable: Callable,
    request: NodeRequest,
    fixed_inputs: FixedInputs,
    given_parameters: Option<GivenParameters>,
    encoding: Encoding,
}

/// Values that replace the initial ones.
#[derive(Clone, Debug)]
pub struct GivenParameters {
    /// Their source in messages, such as a file.
    pub from: String,
    /// The values, by name.
    pub values: Vec<(String, Value)>,
}

/// The inputs and outputs of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// The node.
    pub node: String,
    /// Its inputs in their order, without compile-time constants.
    pub inputs: Vec<Port>,
    /// Its outputs in their order.
    pub outputs: Vec<Port>,
    /// How far the node as a whole looks ahead of its inputs; `None` for programs that are not checked.
    pub look_ahead: Option<causality::Verdict>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its type and shape; with a batch, those of all streams together.
    pub ty: Type,
    /// Its clock, such as `base on c`.
    pub clock: String,
    /// How far it looks ahead of the inputs; `None` for inputs.
    pub look_ahead: Option<causality::Verdict>,
}

impl Program {
    /// A node of this program, with constants and shapes for its inputs.
    pub fn model(&self, request: NodeRequest) -> Result<Model, Refusal> {
        let mut sources = self.sources().clone();
        let callable = self
            .resolved()
            .find_named(&request.node)
            .map_err(|diagnostic| Refusal::new(vec![*diagnostic], &sources))?;
        let NodeRequest { constants, shapes, .. } = &request;
        match FixedInputs::read(self.resolved(), &callable, &mut sources, constants, shapes) {
            Ok(fixed_inputs) => {
                let program = self.clone();
                let (given_parameters, encoding) = (None, Encoding::default());
                Ok(Model { program, sources, callable, request, fixed_inputs, given_parameters, encoding })
            }
            Err(diagnostics) => Err(Refusal { diagnostics: to_report(diagnostics), sources }),
        }
    }
}

impl Model {
    /// The program of the node.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The files that diagnostics refer to.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The node's name.
    pub fn name(&self) -> String {
        self.program.resolved().name_of(&self.callable)
    }

    /// The names of its inputs, without compile-time constants.
    pub fn input_names(&self) -> impl Iterator<Item = &str> {
        let ports = self.fixed_inputs.interface.inputs.iter().map(|port| port.name.as_str());
        ports.filter(|name| !self.fixed_inputs.constants.contains_key(*name))
    }

    /// Types, shapes, clocks and look-ahead of its inputs and outputs.
    pub fn signature(&self) -> Result<Signature, Refusal> {
        Ok(self.signature_of(&self.prepared()?))
    }

    /// The parameters with their values: those that were given, and initial ones for this seed. A parameter
    /// whose initial value the program computes is not included.
    pub fn parameters(&self, seed: u64) -> Result<Vec<(String, Value)>, Refusal> {
        let prepared = self.prepared()?;
        Ok(parameters::values(&prepared.flow, seed))
    }

    /// Sets the values of all parameters; each must have one, of its type.
    pub fn set_parameters(&mut self, given: GivenParameters) -> Result<(), Refusal> {
        let before = self.given_parameters.replace(given);
        match self.prepared() {
            Ok(_) => Ok(()),
            Err(refusal) => {
                self.given_parameters = before;
                Err(refusal)
            }
        }
    }

    /// Sets one parameter; the others keep their values, initial ones for this seed.
    pub fn set_parameter(&mut self, name: &str, value: Value, seed: u64) -> Result<(), Refusal> {
        let mut values = self.parameters(seed)?;
        match values.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value,
            None => values.push((name.to_string(), value)),
        }
        self.set_parameters(GivenParameters { from: "the values given".to_string(), values })
    }

    /// Sets parameters. They are checked when the node is prepared for data, since their types may depend on
    /// the data.
    #[must_use]
    pub fn with_parameters(mut self, given: Option<GivenParameters>) -> Model {
        self.given_parameters = given;
        self
    }

    /// Sets how data become inputs, such as the encoding that a file of parameters contains.
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Model {
        self.encoding = encoding;
        self
    }

    /// The training code of the node, as source. Cotangents are printed dense, or only where they can differ
    /// from zero; cells that depend on values after the end of the trace are unknown or 0.
    pub fn diff(&self, cotangents: Cotangents, after_end: AfterEnd) -> Result<Answer<String>, Refusal> {
        let options = PrintOptions {
            constants: self.fixed_inputs.constants.clone(),
            shapes: self.fixed_inputs.shapes.clone(),
            dense: cotangents == Cotangents::Dense,
            finite: after_end == AfterEnd::Zero,
        };
        let text = printed::print(self.program.resolved(), &self.callable, &options);
        text.map(|text| self.program.answer(text, Vec::new())).map_err(|found| self.reported(found))
    }

    /// The names of its outputs, then those of the streams that `probe` marks in it and its instances.
    pub fn outputs_and_probes(&self) -> Result<Vec<String>, Refusal> {
        let outputs = self.fixed_inputs.interface.outputs.iter().map(|port| port.name.clone());
        let mut names: Vec<String> = outputs.collect();
        let probed = probes(self.program.resolved(), &self.callable, &self.given());
        for name in probed.map_err(|found| self.refusal(found))? {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    pub(crate) fn callable(&self) -> &Callable {
        &self.callable
    }

    pub(crate) fn request(&self) -> &NodeRequest {
        &self.request
    }

    pub(crate) fn fixed_inputs(&self) -> &FixedInputs {
        &self.fixed_inputs
    }

    pub(crate) fn encoding(&self) -> &Encoding {
        &self.encoding
    }

    pub(crate) fn given_parameters(&self) -> Option<&GivenParameters> {
        self.given_parameters.as_ref()
    }

    /// The place of the node in the program.
    pub fn span(&self) -> Span {
        self.program.resolved().span_of(&self.callable)
    }

    pub(crate) fn given(&self) -> ElaborationOptions {
        ElaborationOptions {
            constants: self.fixed_inputs.constants.clone(),
            batch: self.request.batch,
            ..ElaborationOptions::default()
        }
    }

    /// The node with the given shapes and parameters.
    pub(crate) fn prepared(&self) -> Result<Prepared, Refusal> {
        self.prepare_given(&self.given(), Checks::On).map_err(|found| self.refusal(found))
    }

    pub(crate) fn prepare_given(
        &self,
        given: &ElaborationOptions,
        checks: Checks,
    ) -> Result<Prepared, Vec<Diagnostic>> {
        let mut shapes = self.fixed_inputs.shapes.clone();
        for normalised in &self.encoding.normalised {
            if !shapes.iter().any(|(name, _)| *name == normalised.input) {
                shapes.push((normalised.input.clone(), normalised.mean.shape().clone()));
            }
        }
        let hints = |draft: &Draft| shape_hints(draft, &shapes);
        let mut prepared = prepare(self.program.resolved(), &self.callable, given, hints, checks)?;
        self.give_parameters(&mut prepared)?;
        Ok(prepared)
    }

    /// Puts the given parameters, and the normalisation of inputs, into equations.
    pub(crate) fn give_parameters(&self, prepared: &mut Prepared) -> Result<(), Vec<Diagnostic>> {
        let from = match &self.given_parameters {
            Some(given) => {
                parameters::give(&mut prepared.flow, &given.values, &given.from, self.span())?;
                &given.from
            }
            None => "the encoding",
        };
        normalise(prepared, &self.encoding.normalised, from, self.span())
    }

    pub(crate) fn refusal(&self, diagnostics: Vec<Diagnostic>) -> Refusal {
        Refusal::new(without_repetitions(diagnostics), &self.sources)
    }

    /// The refusal for these errors: those of the earliest phase, each once.
    pub(crate) fn reported(&self, diagnostics: Vec<Diagnostic>) -> Refusal {
        Refusal::new(to_report(diagnostics), &self.sources)
    }

    pub(crate) fn signature_of(&self, prepared: &Prepared) -> Signature {
        let Prepared { flow, clocks, verdict, .. } = prepared;
        let labels = flow.labels();
        let port = |name: &str, var: VarId, look_ahead| Port {
            name: name.to_string(),
            ty: flow.var(var).ty.clone(),
            clock: clocks.show(flow, clocks.of(var), &|var| labels.operand(var)),
            look_ahead,
        };
        let input = |var: &VarId| port(flow.var(*var).name.as_deref().unwrap_or_default(), *var, None);
        let outputs = self.fixed_inputs.interface.outputs.iter().zip(&flow.outputs);
        let of_output = |var: VarId| verdict.as_ref().and_then(|_| causality_of(flow, clocks, &[var]).ok());
        Signature {
            node: self.name(),
            inputs: flow.inputs.iter().map(input).collect(),
            outputs: outputs.map(|(named, var)| port(&named.name, *var, of_output(*var))).collect(),
            look_ahead: verdict.clone(),
        }
    }
}

/// The cycles at which derivatives are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cotangents {
    /// Where they can differ from zero.
    #[default]
    Sparse,
    /// At every cycle.
    Dense,
}

/// The derivatives that come from after the end of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterEnd {
    /// They are unknown.
    #[default]
    Unknown,
    /// They are zero.
    Zero,
}
