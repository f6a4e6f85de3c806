//! The structs of compiled programs.

pub use eddy_imp::{Field, Struct};
use eddy_imp::{Name, Precision};
use eddy_tensor::Type;

use crate::precision::element_type;

/// Adds a field for a value of a type. Its elements are in row-major order; a scalar has no dimension.
pub(crate) fn value_field(
    fields: &mut Struct,
    name: impl Into<Name>,
    ty: &Type,
    comment: impl Into<String>,
    precision: Precision,
) {
    let dimensions = if ty.shape.is_scalar() { Vec::new() } else { vec![ty.shape.iter().product()] };
    fields.field(name, element_type(ty.scalar), dimensions, comment, precision);
}
