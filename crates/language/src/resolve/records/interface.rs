//! The structures of the inputs and outputs of nodes, and of the nodes that are synthesised from them.

use eddy_autodiff::section::Mode;

use crate::program::{Base, Callable, Node, Program, Structure};
use crate::tree::Scalar;

/// An input or output.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub structure: Structure,
    /// For each leaf, whether it is a `num`; a leaf without a written type is assumed to be a `num`.
    pub is_num: Vec<bool>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct StreamInterface {
    pub inputs: Vec<Stream>,
    pub outputs: Vec<Stream>,
}

impl Stream {
    /// A tensor with these annotations.
    pub fn tensor(node: &Node, slot: usize) -> Stream {
        let annotations = &node.slots[slot].annotations;
        let is_num = annotations.iter().all(|annotation| annotation.scalar == Scalar::Num);
        Stream { structure: Structure::Tensor, is_num: vec![is_num] }
    }

    fn number() -> Stream {
        Stream { structure: Structure::Tensor, is_num: vec![true] }
    }

    fn truth_value() -> Stream {
        Stream { structure: Structure::Tensor, is_num: vec![false] }
    }

    /// Its cotangent or tangent: the record of its `num` leaves, if there are any.
    fn derivative(&self) -> Option<Stream> {
        let structure = derivative(&self.structure, &mut self.is_num.iter().copied())?;
        Some(Stream { is_num: vec![true; structure.n_leaves()], structure })
    }
}

/// The derivative of a structure. The recursion is at most [`Structure::MAX_DEPTH`] deep.
fn derivative(structure: &Structure, is_num: &mut dyn Iterator<Item = bool>) -> Option<Structure> {
    match structure {
        Structure::Tensor | Structure::Enumeration(_) => {
            let is_num = is_num.next().expect("one for each leaf");
            (is_num && *structure == Structure::Tensor).then_some(Structure::Tensor)
        }
        Structure::Record(fields) => {
            let field =
                |(label, field): &(String, Structure)| Some((label.clone(), derivative(field, is_num)?));
            let fields: Vec<_> = fields.iter().filter_map(field).collect();
            (!fields.is_empty()).then_some(Structure::Record(fields))
        }
    }
}

impl StreamInterface {
    pub fn of_tensors(node: &Node) -> StreamInterface {
        StreamInterface {
            inputs: (0..node.n_inputs).map(|slot| Stream::tensor(node, slot)).collect(),
            outputs: node.outputs.iter().map(|slot| Stream::tensor(node, slot.index())).collect(),
        }
    }

    pub fn has_tensors_only(&self) -> bool {
        self.inputs.iter().chain(&self.outputs).all(|stream| stream.structure == Structure::Tensor)
    }

    /// The interface of a callee. The parameters of `N` are unknown here, so `adj_N` has further outputs
    /// after those listed: the cotangents of the parameters.
    pub fn of_callable(
        program: &Program,
        interfaces: &[StreamInterface],
        callable: &Callable,
    ) -> StreamInterface {
        let mut level = interfaces[program.origin(callable.base).index()].clone();
        let (end, cut, is_train) = match callable.base {
            Base::Node(_) => (false, false, false),
            Base::Woven { end, cut, .. } => (end, cut, false),
            Base::Train(train) | Base::Test(train) => {
                (program.train(train).segment, program.train(train).truncate, true)
            }
        };
        let n_signals = usize::from(end) + usize::from(cut);
        level.inputs.extend((0..n_signals).map(|_| Stream::truth_value()));
        if is_train {
            level.inputs.extend([Stream::truth_value(), Stream::number()]);
            level.outputs.push(Stream::number());
        }
        for mode in &callable.modes {
            level.differentiate(*mode);
        }
        level
    }

    fn differentiate(&mut self, mode: Mode) {
        let of_inputs: Vec<Stream> = self.inputs.iter().filter_map(Stream::derivative).collect();
        let of_outputs: Vec<Stream> = self.outputs.iter().filter_map(Stream::derivative).collect();
        match mode {
            Mode::Adjoint => {
                self.inputs.extend(of_outputs);
                self.outputs.extend(of_inputs);
            }
            Mode::Diff => {
                self.inputs.push(Stream::truth_value());
                self.inputs.extend(of_outputs);
                self.outputs.extend(of_inputs);
            }
            Mode::Tangent => {
                self.inputs.extend(of_inputs);
                self.outputs.extend(of_outputs);
            }
        }
    }
}
