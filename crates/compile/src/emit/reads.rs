//! Operands of instructions, as views of the memory that they are in.

use eddy_flow::VarId;
use eddy_plan::plan::Immediate;
use eddy_tensor::Value;

use super::{Constants, Emitter};
use crate::precision::uniform;
use crate::view::{Root, View};

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

    /// An array of constants: a table, or in the state.
    pub(super) fn constant(&mut self, var: VarId, value: &Value) -> String {
        let is_in_text = self.constants_are == Constants::InText;
        let text = |name: &str| if is_in_text { name.to_string() } else { format!("self->{name}") };
        if let Some((name, _)) = self.constants.iter().find(|(_, known)| known == value) {
            return text(name);
        }
        let name = format!("c{}_{}", self.constants.len(), self.names.of(var));
        let ty = value.ty();
        if is_in_text {
            let elements = self.precision.elements(value);
            let head = format!(
                "static const {} {name}[{}] =",
                self.precision.c_type(ty.scalar),
                elements.len().max(1)
            );
            self.tables.block_with(&head, "};", |lines| {
                for row in elements.chunks(8) {
                    lines.line(format!("{},", row.join(", ")));
                }
            });
        } else {
            self.state.value(name.clone(), ty.scalar, &ty.shape, "constant".to_string(), self.precision);
        }
        self.constants.push((name.clone(), value.clone()));
        text(&name)
    }
}

/// Memory of the state: an array, or a scalar that C reads by name.
pub(super) fn memory(text: String, ty: &eddy_tensor::Type) -> View {
    let root = if ty.shape.is_scalar() { Root::One(text) } else { Root::Memory(text) };
    View::whole(root, ty)
}
