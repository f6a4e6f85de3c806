//! Instances of the nodes made so far.

use super::Generator;
use super::expressions::Place;
use super::scope::{Stream, Ty};
use super::text::Text;

/// An input or output of a node.
#[derive(Clone, Debug)]
pub struct Port {
    pub ty: Ty,
    /// The input that samples this stream, and the value of that input at which this stream is present.
    sampling: Option<(usize, bool)>,
}

/// The interface of a node.
#[derive(Clone, Debug)]
pub struct Interface {
    pub name: &'static str,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

impl Generator<'_> {
    /// The interface of the node that was just made.
    pub fn interface(&self, name: &'static str, n_inputs: usize, outputs: &[usize]) -> Interface {
        let port = |number: usize| {
            let Stream { ty, clock, .. } = self.scope.streams[number];
            let sampling = self.scope.sampling(clock).map(|sampling| (sampling.condition, sampling.polarity));
            Port { ty, sampling }
        };
        let outputs = outputs.iter().map(|number| port(*number)).collect();
        Interface { name, inputs: (0..n_inputs).map(port).collect(), outputs }
    }

    /// An instance with one output.
    pub fn instance(&mut self, ty: Ty, place: Place) -> Option<Text> {
        let callee = self.callees.iter().find(|callee| callee.outputs.len() == 1)?.clone();
        let output = &callee.outputs[0];
        if output.ty != ty {
            return None;
        }
        match output.sampling {
            None => self.call(&callee, place, None),
            Some((input, polarity)) => {
                let sampling = self.scope.sampling(place.clock)?;
                let given = (polarity == sampling.polarity).then_some((input, sampling.condition))?;
                self.call(&callee, place.on(sampling.of), Some(given))
            }
        }
    }

    /// `f(e, ..)`; conditions that sample other inputs are given as named streams. One of them may be given
    /// already.
    fn call(&mut self, callee: &Interface, place: Place, given: Option<(usize, usize)>) -> Option<Text> {
        let is_sampling =
            |input: usize| callee.inputs.iter().any(|port| port.sampling.is_some_and(|(by, _)| by == input));
        let mut conditions = vec![None; callee.inputs.len()];
        for input in 0..callee.inputs.len() {
            conditions[input] = match given {
                Some((number, condition)) if number == input => Some(condition),
                _ if is_sampling(input) => {
                    let clock = match callee.inputs[input].sampling {
                        None => place.clock,
                        Some((by, polarity)) => self.scope.on(conditions[by]?, polarity),
                    };
                    Some(self.condition(place.on(clock))?)
                }
                _ => None,
            };
        }
        let place = Place { depth: place.depth.min(2), ..place };
        let mut arguments = Vec::new();
        for (input, port) in callee.inputs.iter().enumerate() {
            arguments.push(match (conditions[input], port.sampling) {
                (Some(condition), _) => Text::atom(self.scope.streams[condition].name.clone()),
                (None, None) => self.expression(port.ty, place.operand()),
                (None, Some((by, polarity))) => {
                    let clock =
                        self.scope.on(conditions[by].expect("the condition samples another input"), polarity);
                    self.expression(port.ty, place.operand().on(clock))
                }
            });
        }
        Some(Text::call(callee.name, arguments))
    }

    /// An instance with two outputs; a tuple if it cannot be made.
    pub fn pair(&mut self, callee: usize, stream: usize) -> Text {
        let callee = self.callees[callee].clone();
        let place = Place::root(self.scope.streams[stream].clock, 2);
        self.call(&callee, place, None).unwrap_or_else(|| {
            let parts = [stream, stream + 1].map(|part| self.expression(self.scope.streams[part].ty, place));
            let [first, second] = parts.map(Text::loose);
            Text::atom(format!("({first}, {second})"))
        })
    }
}
