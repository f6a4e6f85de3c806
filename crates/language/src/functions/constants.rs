//! Constants: evaluated once, before the run (functions.md, section 4).

use std::sync::Arc;

use eddy_body::ir::{Elem, Literal};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Data, Static, Value};
use rustc_hash::FxHashMap;

use super::errors::Refused;
use super::key::{KeyKind, Ty};
use super::lowering::Lowering;
use super::sizes::Form as Size;
use super::value::{Leaf, Val};
use crate::codes;
use crate::program::{ConstantId, ConstantValue, Structure, TypeDefId};

/// The types of constants, and the values of their tensors.
#[derive(Default)]
pub struct Constants {
    pub known: FxHashMap<ConstantId, (Ty, Vec<Value>)>,
    /// A constant that was needed before it was computed.
    pub missing: Option<ConstantId>,
}

/// A constant as an operand of a node.
pub fn in_node(ty: &Ty, values: &[Value]) -> ConstantValue {
    match (ty, values) {
        (Ty::Tensor(KeyKind::Is(Elem::Enum(_)), _) | Ty::Record(_), _) => match structure(ty) {
            Some(structure) => ConstantValue::Structure(structure, values.to_vec()),
            None => ConstantValue::Tuple,
        },
        (Ty::Tensor(..), [Value::Int(number)]) => ConstantValue::Static(Static::Int(*number)),
        (Ty::Tensor(..), [Value::Num(number)]) => ConstantValue::Static(Static::Num(*number)),
        (Ty::Tensor(_, 1), [Value::Tensor(tensor)]) if let Data::Int(list) = tensor.data() => {
            ConstantValue::Static(Static::List(list.clone()))
        }
        (Ty::Tensor(..), [value]) => ConstantValue::Tensor(value.clone()),
        _ => ConstantValue::Tuple,
    }
}

/// The structure of a stream of this type; `None` for a tuple. The recursion is bounded, because the nesting
/// depth of values is limited.
fn structure(ty: &Ty) -> Option<Structure> {
    match ty {
        Ty::Tensor(KeyKind::Is(Elem::Enum(id)), _) => {
            Some(Structure::Enumeration(TypeDefId::new(id.index())))
        }
        Ty::Tensor(..) => Some(Structure::Tensor),
        Ty::Record(fields) => {
            let field = |(label, ty): &(String, Ty)| Some((label.clone(), structure(ty)?));
            fields.iter().map(field).collect::<Option<_>>().map(Structure::Record)
        }
        Ty::Tuple(_) | Ty::Function(_) | Ty::Unknown => None,
    }
}

impl Lowering<'_> {
    /// Pushes a constant as literals.
    pub fn constant(&mut self, constant: ConstantId, at: Span) -> Result<(), Refused> {
        let Some((ty, values)) = self.constants.known.get(&constant).cloned() else {
            self.constants.missing = Some(constant);
            let (module, tree) = self.program.constant(constant);
            let name = self.program.modules[module].names.text(tree.ident.name);
            let text = format!("the constant `{name}` is defined by itself");
            return Err(Box::new(Diagnostic::error(codes::FUNCTION, at, text)));
        };
        let mut values = values.into_iter();
        let val = self.literals(&ty, &mut values, at);
        self.push(val);
        Ok(())
    }

    fn literals(&mut self, ty: &Ty, values: &mut dyn Iterator<Item = Value>, at: Span) -> Val {
        match ty {
            Ty::Tensor(kind, _) => {
                let elem = match kind {
                    KeyKind::Is(elem) => *elem,
                    KeyKind::Open(_) => Elem::Int,
                };
                let value = values.next().expect("a value for each tensor");
                let size = |size: &usize| i64::try_from(*size).ok().map(Size::constant);
                let sizes: Vec<Option<Size>> = value.shape().iter().map(size).collect();
                let form = match &value {
                    Value::Int(number) if elem == Elem::Int => Some(Size::constant(*number)),
                    _ => None,
                };
                let var = self.here().literal(Literal { elem, value: Arc::new(value) }, at);
                let kind = self.here().kinds.known(elem);
                Val::Leaf(Leaf { var, kind, sizes, form })
            }
            Ty::Tuple(parts) => {
                Val::Tuple(parts.iter().map(|part| self.literals(part, values, at)).collect())
            }
            Ty::Record(fields) => {
                let field = |(label, ty): &(String, Ty)| (label.clone(), self.literals(ty, values, at));
                Val::Record(fields.iter().map(field).collect())
            }
            Ty::Function(_) | Ty::Unknown => unreachable!("a constant is data"),
        }
    }
}
