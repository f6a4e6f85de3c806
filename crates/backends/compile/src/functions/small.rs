//! Small tensors of known sizes.
//!
//! They are C arrays instead of memory in the arena, and their elements are read and written one by one, at
//! constant indices, without loops. So the C compiler treats them like scalars.
//!
//! ```text
//! double t[2];
//! t[0] = x[0] * y[0];
//! t[1] = x[1] * y[1];
//! ```
//!
//! Arrays are declared at the beginning of the function, since a tensor may be read after the block that
//! computes it.

use std::fmt::Write;

use eddy_body::{Elem, Var};
use eddy_tensor::{Cost, Op};

use super::body::{Emitter, Repr, c_type, int_literal};
use super::scalar::Operand;

/// The largest number of elements of a C array.
pub(super) const ARRAY: i64 = 64;
/// Arrays of this many elements and more are as long as whole vectors.
const PADDED: i64 = 5;
/// At most this many elements are written one by one.
const FEW: i64 = 16;
/// From this number of elements on, functions of them are computed in a loop.
const FUNCTIONS: i64 = 4;
/// At most this many products of a sum are written one by one.
const FEW_PRODUCTS: i64 = 64;

impl Emitter<'_, '_> {
    /// The number of elements, if it is small enough to write them one by one.
    pub fn few(&self, count: &str) -> Option<i64> {
        self.facts.literal(count).filter(|n| (0..=FEW).contains(n))
    }

    /// Declares a C array for this many elements, unless it is too large or the budget is used up.
    pub fn allocate_array(&mut self, name: &str, elem: Elem, n: i64) -> bool {
        if !(0..=ARRAY).contains(&n) || self.budget.0 < 8 * n {
            return false;
        }
        let whole = (n + 7) / 8 * 8;
        if elem == Elem::Num && (PADDED..=ARRAY).contains(&n) && whole > n && self.budget.0 >= 8 * whole {
            self.budget.0 -= 8 * whole;
            let _ = writeln!(self.arrays, "  double {name}[{whole}] = {{ 0 }};");
            return true;
        }
        self.budget.0 -= 8 * n;
        let _ = writeln!(self.arrays, "  {} {name}[{}];", c_type(elem), n.max(1));
        true
    }

    /// The number of elements that can be read and written for these n: with those behind the end that make
    /// the vectors whole, if all the arrays have them.
    pub fn whole_vectors(&self, arrays: &[&str], n: &str) -> String {
        let Some(count) = self.facts.literal(n) else { return n.to_owned() };
        let whole = int_literal((count + 7) / 8 * 8);
        let has = |name: &&str| self.arrays.contains(&format!(" {name}[{}] = {{ 0 }};", (count + 7) / 8 * 8));
        if arrays.iter().all(has) { whole } else { n.to_owned() }
    }

    pub fn is_array(&self, name: &str) -> bool {
        self.arrays.contains(&format!(" {name}["))
    }

    /// Writes the elements of an elementwise operation one by one, if the sizes are known; its operands may
    /// broadcast.
    pub fn few_elements(&mut self, result: Var, op: &Op, operands: &[Var]) -> bool {
        let shapes: Vec<Vec<i64>> = operands.iter().filter_map(|var| self.literal_sizes(*var)).collect();
        if shapes.len() < operands.len() {
            return false;
        }
        let Some(shape) = joined(&shapes) else { return false };
        let sizes: Vec<String> = shape.iter().map(|size| int_literal(*size)).collect();
        let Some(all) = self.facts.literal_elements(&sizes).filter(|all| *all <= FEW) else { return false };
        // A loop over them becomes vectors.
        if all >= FUNCTIONS
            && op.facts().cost == Cost::Function
            && shapes.iter().all(|own| own.is_empty() || *own == shape)
        {
            return false;
        }
        let (name, _) = self.result(result, sizes, false);
        let vectorises = std::mem::replace(&mut self.vectorises, false);
        for k in 0..all {
            let texts: Vec<Operand> = operands
                .iter()
                .zip(&shapes)
                .map(|(var, own)| match self.ty(*var).rank {
                    0 => self.scalar_operand(*var),
                    _ => self.element_at(*var, &place(k, &shape, own).to_string()),
                })
                .collect();
            let (text, _) = self.element(op, &texts);
            self.line(&format!("{name}[{k}] = {text};"));
        }
        self.vectorises = vectorises;
        true
    }

    fn literal_sizes(&self, var: Var) -> Option<Vec<i64>> {
        self.sizes(var).iter().map(|size| self.facts.literal(size)).collect()
    }

    /// The sum of a few elements as an expression. Sums begin with -0, which changes no term.
    pub fn few_sum(&self, count: &str, data: &str) -> String {
        match self.few(count) {
            Some(0) => "0.0".to_owned(),
            Some(n) => {
                let terms: Vec<String> = (0..n).map(|k| format!("{data}[{k}]")).collect();
                if n == 1 { terms.concat() } else { format!("({})", terms.join(" + ")) }
            }
            None => format!("eddy_sum({count}, {data})"),
        }
    }

    /// A product of small matrices: each element is a sum of products with one rounding each.
    pub fn few_products(&mut self, sizes: [&str; 3], x: &str, y: &str, name: &str) -> bool {
        let known: Option<Vec<i64>> = sizes.iter().map(|size| self.facts.literal(size)).collect();
        let Some(&[n, inner, m]) = known.as_deref() else { return false };
        let is_small = |size: &i64| (1..=FEW).contains(size);
        if ![n, inner, m].iter().all(is_small) || n * inner * m > FEW_PRODUCTS {
            return false;
        }
        for i in 0..n {
            for j in 0..m {
                let mut sum = format!("{x}[{}] * {y}[{j}]", i * inner);
                for l in 1..inner {
                    sum = format!("eddy_fma({x}[{}], {y}[{}], {sum})", i * inner + l, l * m + j);
                }
                self.line(&format!("{name}[{}] = {sum};", i * m + j));
            }
        }
        true
    }

    /// Sets all elements to one value.
    pub fn fill_elements(&mut self, name: &str, all: &str, value: &str) {
        if let Some(n) = self.few(all) {
            for k in 0..n {
                self.line(&format!("{name}[{k}] = {value};"));
            }
            return;
        }
        let k = self.names.of("k");
        self.line(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++) {name}[{k}] = {value};"));
    }

    /// Writes a tensor that is broadcast to a shape, one element after the other.
    pub fn few_stretched(&mut self, from: Var, sizes: &[String], name: &str) -> bool {
        let (Some(own), Some(all)) = (self.literal_sizes(from), self.facts.literal_elements(sizes)) else {
            return false;
        };
        let shape: Vec<i64> = sizes.iter().filter_map(|size| self.facts.literal(size)).collect();
        let Repr::Tensor(tensor) = self.repr(from).clone() else { return false };
        if all > FEW {
            return false;
        }
        for k in 0..all {
            self.line(&format!("{name}[{k}] = {}[{}];", tensor.data, place(k, &shape, &own)));
        }
        true
    }
}

/// The shape to which shapes broadcast.
fn joined(shapes: &[Vec<i64>]) -> Option<Vec<i64>> {
    let rank = shapes.iter().map(Vec::len).max()?;
    let mut shape = vec![1; rank];
    for own in shapes {
        for (size, own) in shape[rank - own.len()..].iter_mut().zip(own) {
            if *size != *own && *own != 1 {
                if *size != 1 {
                    return None;
                }
                *size = *own;
            }
        }
    }
    Some(shape)
}

/// The index of element `k` of a shape in a tensor that is broadcast to it.
fn place(k: i64, shape: &[i64], own: &[i64]) -> i64 {
    let (mut rest, mut stride, mut at) = (k, 1, 0);
    for (axis, size) in shape.iter().enumerate().rev() {
        let index = rest % size;
        rest /= size;
        let missing = shape.len() - own.len();
        if axis >= missing && own[axis - missing] != 1 {
            at += index * stride;
            stride *= own[axis - missing];
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{joined, place};

    #[test]
    fn operands_are_stretched() {
        let shapes = [vec![2, 1], vec![3]];
        let shape = joined(&shapes).expect("they fit");
        assert_eq!(shape, [2, 3]);
        let places = |own: &[i64]| (0..6).map(|k| place(k, &shape, own)).collect::<Vec<_>>();
        assert_eq!(places(&shapes[0]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(places(&shapes[1]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(joined(&[vec![2], vec![3]]), None);
    }
}
