//! Derivatives that are recorded: the tape evaluates and stores every operation, so that the whole can be
//! differentiated.
//!
//! A gradient is recorded on the same tape as its function, so it has a gradient too.

use eddy_tensor::{Algebra, Op, Scalar, Shape, Site, Value};

use crate::cases::eval;

/// The applied operations, in order.
#[derive(Default)]
pub struct Tape {
    nodes: Vec<Node>,
}

/// The index of a node.
pub type Id = usize;

struct Node {
    /// `None` for inputs and constants.
    origin: Option<(Op, Vec<Id>)>,
    value: Value,
}

impl Tape {
    pub fn input(&mut self, value: Value) -> Id {
        self.nodes.push(Node { origin: None, value });
        self.nodes.len() - 1
    }

    pub fn value(&self, id: Id) -> &Value {
        &self.nodes[id].value
    }

    /// Calls `derive` with the site of a node, which must be the result of an operation.
    pub fn at_site(&mut self, id: Id, derive: impl FnOnce(&Op, &Site<'_, Id>, &mut Tape) -> Id) -> Id {
        let (op, operands) = self.nodes[id].origin.clone().expect("a result of an operation");
        let shapes: Vec<Shape> = operands.iter().map(|operand| self.shape(operand)).collect();
        let site = Site { operands: &operands, result: &id, shapes: &shapes, result_shape: &self.shape(&id) };
        derive(&op, &site, self)
    }

    /// The gradient of a scalar node with respect to some inputs; zeros where it does not depend on one.
    pub fn gradient(&mut self, output: Id, inputs: &[Id]) -> Vec<Id> {
        let mut cotangents: Vec<Option<Id>> = vec![None; output + 1];
        cotangents[output] = Some(self.constant(1.0));
        for id in (0..=output).rev() {
            let (Some(g), Some((op, operands))) = (cotangents[id], self.nodes[id].origin.clone()) else {
                continue;
            };
            for (index, operand) in operands.iter().enumerate() {
                let is_num = self.value(*operand).scalar() == Scalar::Num;
                if is_num && op.is_differentiable_in(index) {
                    let share = self.at_site(id, |op, site, tape| {
                        op.vjp(index, site, &g, tape).expect("a differentiable operand")
                    });
                    cotangents[*operand] = Some(match cotangents[*operand] {
                        Some(others) => self.apply(Op::Add, &[others, share]),
                        None => share,
                    });
                }
            }
        }
        let zeros = |tape: &mut Tape, input: Id| tape.zeros(&tape.shape(&input));
        inputs.iter().map(|input| cotangents[*input].unwrap_or_else(|| zeros(self, *input))).collect()
    }
}

impl Algebra for Tape {
    type Value = Id;

    fn apply(&mut self, op: Op, operands: &[Id]) -> Id {
        let values: Vec<&Value> = operands.iter().map(|operand| self.value(*operand)).collect();
        let value = eval(&op, &values);
        self.nodes.push(Node { origin: Some((op, operands.to_vec())), value });
        self.nodes.len() - 1
    }

    fn constant(&mut self, value: f64) -> Id {
        self.input(Value::Num(value))
    }

    fn shape(&self, value: &Id) -> Shape {
        self.value(*value).shape().clone()
    }
}
