//! The functions that programs in `imp` apply, computed by the interpreter of bodies.

use eddy_body::{Applied, Limits, Program};
use eddy_compile::emit::Emitted;
use eddy_imp::Function;
use eddy_imp::interpret::Value as Element;
use eddy_tensor::{Data, Scalar, Type, Value};

use crate::interpreted::elements;

/// The functions of a program, ready to run.
pub struct Bodies<'e> {
    emitted: &'e Emitted,
    ready: Vec<Program>,
}

impl<'e> Bodies<'e> {
    pub fn new(emitted: &'e Emitted) -> Bodies<'e> {
        let functions = emitted.functions.iter();
        let ready = functions.map(|function| Program::new(&function.parts[0].module).expect("it verifies"));
        Bodies { emitted, ready: ready.collect() }
    }

    /// The elements of all results; `None` if the function fails.
    pub fn apply(&self, function: &Function, operands: &[Vec<Element>]) -> Option<Vec<Vec<Element>>> {
        let known = self.emitted.functions.iter().position(|known| known.function == *function);
        let at = known.expect("it is one of them");
        let parts = &self.emitted.functions[at].parts;
        let arguments = arguments(&parts[0], operands);
        let found = self.ready[at].run(parts[0].body, &arguments, &Limits::default()).ok()?;
        let picked = |part: &Applied| part.picked.iter().flat_map(|at| elements(&found[*at])).collect();
        Some(parts.iter().map(|part| picked(part)).collect())
    }
}

/// The arguments of a body.
fn arguments(applied: &Applied, operands: &[Vec<Element>]) -> Vec<Value> {
    let mut arguments = Vec::new();
    for (types, operand) in applied.operands.iter().zip(operands) {
        let mut rest = operand.as_slice();
        for ty in types {
            let (own, others) = rest.split_at(ty.shape.iter().product());
            rest = others;
            arguments.push(value(own, ty));
        }
    }
    arguments
}

/// Functions compute in double precision.
fn value(elements: &[Element], ty: &Type) -> Value {
    let elements = elements.iter();
    let data = match ty.scalar {
        Scalar::Bool => Data::Bool(elements.map(|element| element.truth()).collect()),
        Scalar::Int => Data::Int(elements.map(|element| element.count()).collect()),
        Scalar::Num => Data::Num(elements.map(|element| element.num()).collect()),
    };
    Value::new(ty.shape.clone(), data).expect("as many elements as the shape has")
}
