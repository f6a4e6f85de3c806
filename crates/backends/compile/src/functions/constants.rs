//! Constants: scalars are literals, tensors are tables.

use std::fmt::Write;

use eddy_body::{Literal, Var};
use eddy_tensor::{Data, Value};

use super::body::{Emitter, Repr, Tensor, c_type, int_literal};
use super::facts::Interval;
use crate::c::number;
use crate::precision::Precision;

impl Emitter<'_, '_> {
    pub fn constant(&mut self, var: Var, literal: &Literal) {
        if let Value::Tensor(_) = &*literal.value {
            return self.table(var, literal);
        }
        let text = match &*literal.value {
            Value::Num(x) => number(*x, Precision::Double),
            Value::Int(x) => {
                self.facts.set_interval(var, Interval::of(*x));
                int_literal(*x)
            }
            Value::Bool(x) => {
                self.facts.set_truth(var, *x);
                x.to_string()
            }
            other => unreachable!("a constant in double precision, not {other:?}"),
        };
        self.set(var, Repr::Scalar(text));
    }

    fn table(&mut self, var: Var, literal: &Literal) {
        let Value::Tensor(tensor) = &*literal.value else { return };
        let elements: Vec<String> = match tensor.data() {
            Data::Num(xs) => xs.iter().map(|x| number(*x, Precision::Double)).collect(),
            Data::Int(xs) => xs.iter().map(|x| int_literal(*x)).collect(),
            Data::Bool(xs) => xs.iter().map(bool::to_string).collect(),
            Data::Num32(_) => unreachable!("constants are in double precision"),
        };
        let name = format!("eddy_table{}", self.shared.n_tables);
        self.shared.n_tables += 1;
        let ty = c_type(literal.elem);
        let rows: Vec<String> = elements.chunks(8).map(|row| format!("  {},\n", row.join(", "))).collect();
        let rows = if rows.is_empty() { "  0\n".to_owned() } else { rows.concat() };
        let _ = writeln!(self.shared.tables, "static const {ty} {name}[] = {{\n{rows}}};");
        let sizes = tensor.shape().iter().map(|size| {
            let size = i64::try_from(*size).expect("a size is below 2^63");
            int_literal(size)
        });
        let sizes = sizes.collect();
        // Nothing writes to it: an update needs a copy of a constant.
        self.set(var, Repr::Tensor(Tensor { data: format!("(({ty} *){name})"), sizes }));
    }
}
