//! Straight-line programs of operations, recorded while they are evaluated.
//!
//! A [`Recorder`] is an algebra: it applies an operation to values, by the operation table, and records it.
//! So the expected value and the statements that should compute it come from the same calls, and the adjoint
//! of a recorded program is recorded like any other.

use eddy_flow::VarId;
use eddy_imp::{Place, Precision, Struct};
use eddy_tensor::{Algebra, Op, Scalar, Shape, Site, Value};

use crate::layout::value_field;
use crate::lower::{Code, Group, Operand, Right, Statement};
use crate::precision::literal;
use crate::view::{Root, View};

/// Values, and how each was computed.
pub(super) struct Recorder {
    precision: Precision,
    nodes: Vec<Node>,
}

struct Node {
    value: Value,
    made: Made,
}

enum Made {
    Input,
    Constant,
    Applied(Op, Vec<usize>),
}

impl Recorder {
    pub fn new(precision: Precision) -> Recorder {
        Recorder { precision, nodes: Vec::new() }
    }

    pub fn input(&mut self, value: Value) -> usize {
        self.push(value, Made::Input)
    }

    pub fn value(&self, node: usize) -> &Value {
        &self.nodes[node].value
    }

    /// The values of all inputs, in the order of their creation.
    pub fn inputs(&self) -> Vec<usize> {
        let is_input = |node: &usize| matches!(self.nodes[*node].made, Made::Input);
        (0..self.nodes.len()).filter(is_input).collect()
    }

    /// Whether an operation computes the node.
    pub fn is_computed(&self, node: usize) -> bool {
        matches!(self.nodes[node].made, Made::Applied(..))
    }

    #[cfg(test)]
    pub fn operations(&self) -> impl Iterator<Item = &Op> {
        self.nodes.iter().filter_map(|node| match &node.made {
            Made::Applied(op, _) => Some(op),
            _ => None,
        })
    }

    fn push(&mut self, value: Value, made: Made) -> usize {
        let value = if self.precision == Precision::Single { value.to_num32() } else { value };
        self.nodes.push(Node { value, made });
        self.nodes.len() - 1
    }

    /// The cotangents of all inputs that a cotangent of the result reaches.
    pub fn adjoint(&mut self, result: usize, cotangent: usize) -> Vec<usize> {
        let mut cotangents: Vec<Option<usize>> = vec![None; result + 1];
        cotangents[result] = Some(cotangent);
        for node in (0..=result).rev() {
            let (Some(g), Made::Applied(op, operands)) = (cotangents[node], &self.nodes[node].made) else {
                continue;
            };
            let (op, operands) = (op.clone(), operands.clone());
            let shapes: Vec<Shape> = operands.iter().map(|operand| self.shape(operand)).collect();
            let result_shape = self.shape(&node);
            let site =
                Site { operands: &operands, result: &node, shapes: &shapes, result_shape: &result_shape };
            for (position, operand) in operands.iter().enumerate() {
                if self.value(*operand).scalar() != Scalar::Num {
                    continue;
                }
                if let Some(part) = op.vjp(position, &site, &g, self) {
                    cotangents[*operand] = Some(match cotangents[*operand] {
                        Some(sum) => self.apply(Op::Add, &[sum, part]),
                        None => part,
                    });
                }
            }
        }
        self.inputs().into_iter().filter_map(|input| *cotangents.get(input)?).collect()
    }

    /// The statements that compute some nodes. Inputs are fields of `in`; each result is stored in a field of
    /// `out`.
    pub fn code(&self, inputs: &[(usize, Place)], outputs: &[(usize, Place)]) -> Code {
        let mut group = Group::default();
        for (node, Node { value, made }) in self.nodes.iter().enumerate() {
            if let Made::Applied(op, operands) = made {
                let operands: Vec<Operand> =
                    operands.iter().map(|operand| self.operand(*operand, inputs)).collect();
                let right = match (op, operands.as_slice()) {
                    (Op::If, [condition, yes, no]) => {
                        Right::Choice(condition.clone(), yes.clone(), no.clone())
                    }
                    _ => Right::Apply(op.clone(), operands),
                };
                let comment = format!("{} of {}", op.name(), value.ty());
                group.statements.push(Statement {
                    var: VarId::new(node),
                    ty: value.ty(),
                    right,
                    site: 1,
                    comment,
                });
            }
        }
        let mut code = Code { groups: vec![group], ..Code::default() };
        for (node, place) in outputs {
            code.exports.entry(VarId::new(*node)).or_default().push(place.clone());
        }
        code
    }

    fn operand(&self, node: usize, inputs: &[(usize, Place)]) -> Operand {
        let Node { value, made } = &self.nodes[node];
        let root = match made {
            Made::Applied(..) => return Operand::Var(VarId::new(node)),
            Made::Constant => Root::One(literal(value)),
            Made::Input => {
                let (_, place) = inputs.iter().find(|(input, _)| *input == node).expect("inputs have places");
                if value.shape().is_scalar() { Root::One(place.into()) } else { Root::Memory(place.clone()) }
            }
        };
        Operand::Seen(View::whole(root, &value.ty()))
    }

    pub fn field(&self, node: usize, name: &str, fields: &mut Struct) {
        let ty = self.value(node).ty();
        value_field(fields, name, &ty, "", self.precision);
    }
}

impl Algebra for Recorder {
    type Value = usize;

    fn apply(&mut self, op: Op, operands: &[usize]) -> usize {
        let values: Vec<&Value> = operands.iter().map(|operand| self.value(*operand)).collect();
        let value = op.eval(&values).expect("the cases have values");
        self.push(value, Made::Applied(op, operands.to_vec()))
    }

    fn constant(&mut self, value: f64) -> usize {
        self.push(Value::Num(value), Made::Constant)
    }

    fn shape(&self, value: &usize) -> Shape {
        self.value(*value).shape().clone()
    }
}
