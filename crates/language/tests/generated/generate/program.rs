//! Whole programs: their nodes and features.

use std::fmt::Write;

use super::Generator;
use super::nodes::Kind;

const SINGLE: Kind = Kind { name: "f", max_inputs: 3, max_locals: 3, n_outputs: Some(1) };
const PAIR: Kind = Kind { name: "g", max_inputs: 2, max_locals: 3, n_outputs: Some(2) };
const MAIN: Kind = Kind { name: "n", max_inputs: 4, max_locals: 6, n_outputs: None };

/// Optional features of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    FbyBack,
    /// A random initialiser among the constants, at most one in a program.
    Random,
    /// Clock annotations.
    WrittenClocks,
    /// Sampled streams.
    Sampling,
    /// Recurrences that only a condition breaks.
    Guards,
    Parameters,
    /// Parameters with a varying initial value: training code reads it once, inference always.
    VaryingParameters,
    /// Operations that have derivatives and stay small, parameters of all shapes.
    Smooth,
    /// Inputs and outputs that are all on the base.
    OneClock,
    /// Three or four inputs, sampled where possible, by others or by computed conditions.
    SampledInputs,
    /// Functions that stay calls.
    Functions,
}

/// The features of most programs.
pub const FEATURES: [Feature; 6] = [
    Feature::FbyBack,
    Feature::Random,
    Feature::Sampling,
    Feature::Guards,
    Feature::Parameters,
    Feature::VaryingParameters,
];

/// A node as text.
#[derive(Clone, Debug)]
pub struct NodeText {
    pub name: &'static str,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub equations: Vec<String>,
}

/// A program as text; the last node is the one that runs.
#[derive(Clone, Debug)]
pub struct ProgramText {
    /// The functions that nodes apply.
    pub functions: String,
    pub nodes: Vec<NodeText>,
}

impl NodeText {
    /// The names of the inputs, without their types.
    pub fn input_names(&self) -> impl Iterator<Item = &str> {
        self.inputs.iter().map(|input| input.split([':', ' ']).next().expect("an input has a name"))
    }
}

impl ProgramText {
    pub fn main(&self) -> &NodeText {
        self.nodes.last().expect("a program has a node")
    }

    pub fn text(&self) -> String {
        let mut text = self.functions.clone();
        for node in &self.nodes {
            let (inputs, outputs) = (node.inputs.join(", "), node.outputs.join(", "));
            writeln!(text, "node {}({inputs}) -> ({outputs})", node.name)
                .expect("writing to a string cannot fail");
            for equation in &node.equations {
                writeln!(text, "  {equation}").expect("writing to a string cannot fail");
            }
        }
        text
    }
}

impl Generator<'_> {
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    fn drop(&mut self, feature: Feature) {
        self.features.retain(|other| *other != feature);
    }

    /// Programs have functions.
    pub fn with_functions(&mut self) -> &mut Self {
        self.features.push(Feature::Functions);
        self
    }

    /// A program without `fby back`.
    pub fn program_without_end(&mut self) -> ProgramText {
        self.drop(Feature::FbyBack);
        self.program()
    }

    /// A program whose streams are all on the clock of the inputs, without `fby back`.
    pub fn program_without_sampling(&mut self) -> ProgramText {
        self.drop(Feature::Sampling);
        self.program_without_end()
    }

    /// A program with clock annotations.
    pub fn program_with_written_clocks(&mut self) -> ProgramText {
        self.features.push(Feature::WrittenClocks);
        self.program()
    }

    /// A program with sampled inputs.
    pub fn program_with_sampled_inputs(&mut self) -> ProgramText {
        self.features.push(Feature::SampledInputs);
        self.program()
    }

    /// A program whose recurrences all go into the past.
    pub fn program_without_guards(&mut self) -> ProgramText {
        self.drop(Feature::Guards);
        self.program()
    }

    /// A program to differentiate.
    pub fn smooth_program(&mut self) -> ProgramText {
        self.features.push(Feature::Smooth);
        self.program()
    }

    /// A program to differentiate, without random initialisers: its instances have equal values.
    pub fn smooth_program_without_random(&mut self) -> ProgramText {
        self.drop(Feature::Random);
        self.smooth_program()
    }

    /// A program to train: its streams are all on the clock of the inputs, its parameters start with
    /// constants.
    pub fn program_to_train(&mut self) -> ProgramText {
        self.drop(Feature::Sampling);
        self.sampled_program_to_train()
    }

    /// A program to train that has sampled streams.
    pub fn sampled_program_to_train(&mut self) -> ProgramText {
        self.drop(Feature::VaryingParameters);
        self.smooth_program()
    }

    /// A node with one output, to differentiate.
    pub fn smooth_single(&mut self) -> ProgramText {
        self.features.push(Feature::Smooth);
        self.single()
    }

    /// A node with one output, to train.
    pub fn single_to_train(&mut self) -> ProgramText {
        self.drop(Feature::Sampling);
        self.drop(Feature::VaryingParameters);
        self.smooth_single()
    }

    /// A node with one output and without parameters, to differentiate.
    pub fn smooth_single_without_parameters(&mut self) -> ProgramText {
        self.drop(Feature::Parameters);
        self.smooth_single()
    }

    /// A program with training code: its inputs and outputs are on one clock. Without random numbers, which
    /// would differ, because training code has other names.
    pub fn program_to_print(&mut self) -> ProgramText {
        self.features.push(Feature::OneClock);
        self.drop(Feature::Random);
        self.program()
    }

    /// A program that can be reset and trained: delays on sampled clocks cannot be reset.
    pub fn program_to_reset(&mut self) -> ProgramText {
        self.drop(Feature::Sampling);
        self.program_to_print()
    }

    pub fn program(&mut self) -> ProgramText {
        let mut nodes = Vec::new();
        for kind in [SINGLE, PAIR] {
            if self.choices.below(2) == 1 {
                nodes.push(self.node(kind));
            }
        }
        let main = self.node(MAIN);
        let functions = if self.has(Feature::Functions) { self.functions() } else { String::new() };
        let mut program = ProgramText { functions, nodes: vec![main] };
        for node in nodes.into_iter().rev() {
            let call = format!("{}(", node.name);
            let is_called = |other: &NodeText| other.equations.iter().any(|text| calls(text, &call));
            if program.nodes.iter().any(is_called) {
                program.nodes.insert(0, node);
            }
        }
        program
    }

    /// A node with one output that runs on its own.
    pub fn single(&mut self) -> ProgramText {
        // Two instances would draw different numbers.
        self.drop(Feature::Random);
        let nodes = vec![self.node(SINGLE)];
        let functions = if self.has(Feature::Functions) { self.functions() } else { String::new() };
        ProgramText { functions, nodes }
    }
}

/// Whether a text contains this call. A call of a longer name that ends in this name does not count.
fn calls(text: &str, call: &str) -> bool {
    text.match_indices(call).any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}
