//! The operations of `rd` as functions.
//!
//! | `rd` | function |
//! | --- | --- |
//! | `neg sub mul div` | `-x`, `x - y`, `x * y`, `x / y` |
//! | `exp log sin cos tanh sigmoid sqrt pow` | the same names |
//! | `tan` | `sin(x) / cos(x)` |
//! | `powi[k]` | `pow(x, k.0)` for x > 0, else a product, by squaring |
//! | `dot_T`, `scale_T` | the sum of the products of leaves; a product for each leaf |
//! | `op_r⟨L,M⟩` | `vjp(\z. op(z), L, M).1` |
//!
//! An operation without a name in the language becomes a helper, an item that is written once.

use std::fmt::Write;

use eddy_rd::operation::{Primitive, Scalar};
use eddy_rd::types::{Type, Types};
use rustc_hash::FxHashMap;

use super::types;
use crate::kernels::powers::power;
use crate::kernels::writer::Writer;

/// How an operation is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// `-x`
    Prefix(&'static str),
    /// `x - y`
    Infix(&'static str),
    /// `f(x)`
    Call(String),
    /// `f(x, y)`
    Call2(String),
}

/// The operations that a program uses.
pub(super) struct Operations {
    types: Types,
    helpers: FxHashMap<Primitive, String>,
    /// Helpers in the order of their first use.
    order: Vec<Primitive>,
}

impl Operations {
    pub fn new(types: Types) -> Operations {
        Operations { types, helpers: FxHashMap::default(), order: Vec::new() }
    }

    pub fn type_text(&self, ty: Type) -> String {
        types::type_text(&self.types, ty)
    }

    pub fn zero_text(&self, ty: Type) -> String {
        types::zero_text(&self.types, ty)
    }

    /// Whether a value of this type holds a real.
    pub fn has_reals(&self, ty: Type) -> bool {
        self.types.leaves(ty) > 0
    }

    /// The n factors of a tuple that nests to the left.
    pub fn factors(&self, ty: Type, n: usize) -> Vec<Type> {
        let (mut factors, mut ty) = (Vec::new(), ty);
        for _ in 1..n {
            let (left, right) = self.types.factors(ty).expect("a tuple has a factor for each item");
            factors.push(right);
            ty = left;
        }
        if n > 0 {
            factors.push(ty);
        }
        factors.reverse();
        factors
    }

    /// The types of the argument and of the result.
    pub fn arity(&mut self, primitive: Primitive) -> (Type, Type) {
        primitive.arity(&mut self.types)
    }

    /// How the operation is written.
    pub fn written(&mut self, primitive: Primitive, out: &mut Writer) -> Written {
        let call = |name: &str| Written::Call(name.to_string());
        match primitive {
            Primitive::Scalar(scalar) => match scalar {
                Scalar::Add => Written::Infix("+"),
                Scalar::Neg => Written::Prefix("-"),
                Scalar::Sub => Written::Infix("-"),
                Scalar::Mul => Written::Infix("*"),
                Scalar::Div => Written::Infix("/"),
                Scalar::Exp
                | Scalar::Log
                | Scalar::Sin
                | Scalar::Cos
                | Scalar::Tanh
                | Scalar::Sigmoid
                | Scalar::Sqrt => call(scalar.keyword()),
                Scalar::Pow => Written::Call2("pow".to_string()),
                Scalar::Tan => Written::Call(self.helper(primitive, "tangent", out)),
                Scalar::Powi(exponent) => {
                    let sign = if exponent < 0 { "minus_" } else { "" };
                    Written::Call(self.helper(
                        primitive,
                        &format!("power_{sign}{}", exponent.unsigned_abs()),
                        out,
                    ))
                }
            },
            Primitive::Dot(Type::REAL) | Primitive::Scale(Type::REAL) => Written::Infix("*"),
            Primitive::Dot(_) => Written::Call2(self.helper(primitive, "dot", out)),
            Primitive::Scale(_) => Written::Call2(self.helper(primitive, "scale", out)),
        }
    }

    fn helper(&mut self, primitive: Primitive, like: &str, out: &mut Writer) -> String {
        if let Some(name) = self.helpers.get(&primitive) {
            return name.clone();
        }
        let name = out.global(like);
        self.helpers.insert(primitive, name.clone());
        self.order.push(primitive);
        name
    }

    /// Writes the items of all helpers.
    pub fn write_helpers(&self, out: &mut Writer) {
        for primitive in &self.order {
            let name = &self.helpers[primitive];
            let text = match primitive {
                Primitive::Scalar(Scalar::Powi(exponent)) => power(name, *exponent),
                Primitive::Scalar(_) => format!("fn {name}(x: num) -> num = sin(x) / cos(x);\n"),
                Primitive::Dot(ty) => self.dot(name, *ty),
                Primitive::Scale(ty) => self.scale(name, *ty),
            };
            out.push(&text);
        }
    }

    /// The products are added from left to right, as in the kernel.
    fn dot(&self, name: &str, ty: Type) -> String {
        let (written, sum) = (self.type_text(ty), {
            let mut sum = String::new();
            for at in 0..self.types.leaves(ty) {
                let plus = if at == 0 { "" } else { " + " };
                let _ = write!(sum, "{plus}x{at} * y{at}");
            }
            if sum.is_empty() { "0.0".to_string() } else { sum }
        });
        let (left, right) = (types::pattern(&self.types, ty, "x"), types::pattern(&self.types, ty, "y"));
        format!(
            "fn {name}(x: {written}, y: {written}) -> num = let {left} = x in let {right} = y in {sum};\n"
        )
    }

    fn scale(&self, name: &str, ty: Type) -> String {
        let written = self.type_text(ty);
        let pattern = types::pattern(&self.types, ty, "x");
        let scaled = types::tuple(&self.types, ty, |at| format!("r * x{at}"));
        format!("fn {name}(r: num, x: {written}) -> {written} = let {pattern} = x in {scaled};\n")
    }
}
