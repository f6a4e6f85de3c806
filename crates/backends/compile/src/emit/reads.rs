//! Operands of instructions, as views of memory.

use eddy_flow::VarId;
use eddy_imp::{Place, Table};
use eddy_plan::plan::Immediate;
use eddy_tensor::{Type, Value};

use super::{Constants, Emitter};
use crate::layout::value_field;
use crate::precision::{element_type, elements, literal, uniform};
use crate::view::{Root, View};

impl Emitter<'_> {
    /// A value that does not depend on time.
    pub(super) fn immediate(&mut self, var: VarId, immediate: &Immediate) -> View {
        let ty = self.ty(var).clone();
        match immediate {
            Immediate::Value(value) => {
                if let Some(element) = uniform(value) {
                    return View::whole(Root::One(literal(&element)), &ty);
                }
                View::whole(Root::Memory(self.constant(var, value)), &ty)
            }
            Immediate::Invariant(invariant) => {
                let ty = self.ty(*invariant).clone();
                memory(self.state_value("k", *invariant), &ty)
            }
        }
    }

    /// An array of constants: a table, or a field of the state.
    fn constant(&mut self, var: VarId, value: &Value) -> Place {
        let is_in_text = self.constants_are == Constants::InText;
        let place = |name: &str| if is_in_text { Place::table(name) } else { Place::state(name) };
        if let Some((name, _)) = self.constants.iter().find(|(_, known)| known == value) {
            return place(name);
        }
        let name = format!("c{}_{}", self.constants.len(), self.names.of(var));
        let ty = value.ty();
        if is_in_text {
            let (name, elements) = (name.as_str().into(), elements(value));
            self.tables.push(Table { name, ty: element_type(ty.scalar), elements });
        } else {
            value_field(&mut self.state, name.as_str(), &ty, "constant", self.precision);
        }
        self.constants.push((name.clone(), value.clone()));
        place(&name)
    }
}

/// Memory: an array, or an element for a scalar.
pub(super) fn memory(place: Place, ty: &Type) -> View {
    let root = if ty.shape.is_scalar() { Root::One(place.into()) } else { Root::Memory(place) };
    View::whole(root, ty)
}
