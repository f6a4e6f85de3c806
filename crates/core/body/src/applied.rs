//! A body as an operation of tensors: what backends compile where streams apply functions.
//!
//! An operation has one result and an operand for each tensor or *group* of tensors. A group of several is a
//! *pack*: a vector with the elements of all of them, one after the other.

use std::sync::Arc;

use eddy_tensor::{Op, Scalar, Shape, Type};

use crate::ir::{BodyId, Module};

/// The code of an operation that applies a function.
#[derive(Clone, Debug)]
pub struct Applied {
    /// Final; operations of one application share it.
    pub module: Arc<Module>,
    pub body: BodyId,
    /// The parameters of the body, in groups.
    pub operands: Vec<Vec<Type>>,
    /// The results of the body that are the result of the operation.
    pub picked: Vec<usize>,
    /// The types of these results.
    pub result: Vec<Type>,
}

/// The type of a group: that of a single tensor, or of a pack.
pub fn packed(group: &[Type]) -> Type {
    match group {
        [ty] => ty.clone(),
        types => {
            let size = types.iter().map(|ty| ty.shape.iter().product::<usize>()).sum();
            Type { scalar: Scalar::Num, shape: Shape::new(&[size]) }
        }
    }
}

impl Applied {
    /// The code that an operation applies, also to each slice; `None` if it applies no function, or if its
    /// derivatives cannot be expanded.
    pub fn of(op: &Op) -> Option<Arc<Applied>> {
        let Op::Call(call) = op.applied() else { return None };
        call.callee().code()?.downcast().ok()
    }

    /// The types of the operands of the operation.
    pub fn operand_types(&self) -> Vec<Type> {
        self.operands.iter().map(|group| packed(group)).collect()
    }

    /// The type of its result.
    pub fn result_type(&self) -> Type {
        packed(&self.result)
    }

    /// Whether both compute results of one body from the same operands.
    pub fn is_same_call(&self, other: &Applied) -> bool {
        Arc::ptr_eq(&self.module, &other.module) && self.body == other.body && self.operands == other.operands
    }
}
