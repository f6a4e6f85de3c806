//! The invariants of a flow, which every pass must preserve.

use std::fmt;

use eddy_tensor::{Class, Scalar, Shape, Slot};

use super::{Equation, Flow, Kind, VarId};

/// An invariant that a flow violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The index of the offending equation; `None` if the violation is not in an equation.
    pub equation: Option<usize>,
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.equation {
            Some(number) => write!(f, "equation {number}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// Checks that every stream that is not an input is defined once, that operands exist, and that types and
/// shapes obey the rules of the primitives.
pub fn verify(flow: &Flow) -> Result<(), Violation> {
    let mut n_definitions = vec![0_usize; flow.vars.len()];
    for input in &flow.inputs {
        n_definitions[input.index()] += 1;
    }
    for (number, equation) in flow.equations.iter().enumerate() {
        let violated = |message: String| Violation { equation: Some(number), message };
        n_definitions[equation.out.index()] += 1;
        if let Some(operand) = equation.kind.operands().find(|operand| operand.index() >= flow.vars.len()) {
            return Err(violated(format!("there is no stream {}", operand.index())));
        }
        check_types(flow, equation).map_err(violated)?;
    }
    match n_definitions.iter().position(|n| *n != 1) {
        None => Ok(()),
        Some(var) => {
            let name = flow.vars[var].name.as_deref().unwrap_or("_");
            let message = format!("`{name}` has {} definitions", n_definitions[var]);
            Err(Violation { equation: None, message })
        }
    }
}

fn check_types(flow: &Flow, equation: &Equation) -> Result<(), String> {
    let ty = |var: VarId| &flow.var(var).ty;
    let out = ty(equation.out);
    let same = |var: VarId| {
        if ty(var) == out {
            Ok(())
        } else {
            Err(format!("an operand has type {}, but the result has type {out}", ty(var)))
        }
    };
    let condition = |var: VarId| {
        if ty(var).scalar == Scalar::Bool && ty(var).shape.is_scalar() {
            Ok(())
        } else {
            Err(format!("a condition has type {}, not bool []", ty(var)))
        }
    };
    match &equation.kind {
        Kind::Const(constant) => match constant.shape() {
            Some(shape) if shape != out.shape => {
                Err(format!("the constant has shape {shape}, but the result has type {out}"))
            }
            _ => Ok(()),
        },
        Kind::Apply(op, operands) => {
            let shapes: Vec<&Shape> = operands.iter().map(|operand| &ty(*operand).shape).collect();
            let shape = op.shape(&shapes).map_err(|error| error.to_string())?;
            if shape != out.shape {
                return Err(format!("`{}` gives shape {shape}, not {}", op.name(), out.shape));
            }
            let signature = op.signature();
            let slots =
                operands.iter().enumerate().map(|(index, operand)| (*operand, signature.operand(index)));
            let mut alpha = None;
            for (var, slot) in slots.chain([(equation.out, signature.result)]) {
                let scalar = ty(var).scalar;
                let is_right = match slot {
                    Slot::Is(expected) => scalar == expected,
                    Slot::Free => true,
                    Slot::Alpha => {
                        (signature.alpha == Class::Any || scalar != Scalar::Bool)
                            && *alpha.get_or_insert(scalar) == scalar
                    }
                };
                if !is_right {
                    return Err(format!(
                        "`{}` has the signature {signature}, but a stream has type {scalar}",
                        op.name()
                    ));
                }
            }
            Ok(())
        }
        Kind::When { value, condition: c, .. } => condition(*c).and_then(|()| same(*value)),
        Kind::Merge { condition: c, yes, no } => {
            condition(*c).and_then(|()| same(*yes)).and_then(|()| same(*no))
        }
        Kind::Fby { init, next } | Kind::FbyBack { init, next } => same(*init).and_then(|()| same(*next)),
        Kind::Post(operand) | Kind::Param(operand) => same(*operand),
    }
}
