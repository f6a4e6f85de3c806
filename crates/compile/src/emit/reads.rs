//! Operands of instructions, as views of the memory that they are in.

use eddy_flow::VarId;
use eddy_plan::plan::Immediate;
use eddy_tensor::Value;

use super::Emitter;
use crate::precision::uniform;
use crate::view::{Root, View};

/// Constants with at most so many elements are written into the code.
const WRITTEN: usize = 64;

impl Emitter<'_> {
    /// What does not depend on time.
    pub(super) fn immediate(&mut self, var: VarId, immediate: &Immediate) -> View {
        let ty = self.ty(var).clone();
        match immediate {
            Immediate::Value(value) => {
                if let Some(element) = uniform(value) {
                    return View::whole(Root::One(self.precision.element(&element)), &ty);
                }
                let name = self.constant(var, value);
                View::whole(Root::Memory(name), &ty)
            }
            Immediate::Invariant(invariant) => {
                let ty = self.ty(*invariant).clone();
                let text = self.state_value("k", *invariant);
                memory(text, &ty)
            }
        }
    }

    /// An array of constants: in the state, where the host puts them, or `reset` if there are few.
    fn constant(&mut self, var: VarId, value: &Value) -> String {
        let found = self.constants.iter().find(|(_, known)| known == value);
        if let Some((name, _)) = found {
            return format!("self->{name}");
        }
        let name = format!("c{}_{}", self.constants.len(), self.names.of(var));
        let ty = value.ty();
        let comment = "constant".to_string();
        self.state.value(name.clone(), ty.scalar, &ty.shape, comment, self.precision);
        if value.n_elements() <= WRITTEN {
            for (index, element) in self.precision.elements(value).iter().enumerate() {
                self.reset.line(format!("self->{name}[{index}] = {element};"));
            }
        }
        self.constants.push((name.clone(), value.clone()));
        format!("self->{name}")
    }
}

/// Memory of the state: an array, or a scalar that C reads by name.
pub(super) fn memory(text: String, ty: &eddy_tensor::Type) -> View {
    let root = if ty.shape.is_scalar() { Root::One(text) } else { Root::Memory(text) };
    View::whole(root, ty)
}
