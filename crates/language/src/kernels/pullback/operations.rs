//! Primitives of `pullback`, and sums and contractions at every type, as functions.
//!
//! | `pullback` | function |
//! | --- | --- |
//! | `neg add sub mult div` | `-x`, `x + y`, `x - y`, `x * y`, `x / y` |
//! | `exp log sin cos tanh sqrt sigmoid` | the same names |
//! | `tan`, `recip`, `pow_k` | `sin(x) / cos(x)`, `1.0 / x`, a power as in `rd` |
//! | `prim f`, and `f'` | a helper: a `let` for each operation |
//! | `s + t`, `φ @ v` at products | helpers of the leaves |

use std::fmt::Write;

use eddy_pullback::primitive::calculus::{Binary, Unary};
use eddy_pullback::primitive::{Node, PrimId, Primitive};
use eddy_pullback::syntax::Terms;
use eddy_pullback::types::{Type, Types};
use rustc_hash::FxHashMap;

use super::types;
use crate::kernels::powers::power;
use crate::kernels::writer::Writer;

/// A helper, which is written once, as an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Helper {
    Primitive(PrimId),
    Power(u32),
    Add(Type),
    Contract(Type),
}

/// The operations that a program uses.
pub(super) struct Operations {
    types: Types,
    helpers: FxHashMap<Helper, String>,
    /// Helpers in the order of their first use.
    order: Vec<Helper>,
}

impl Operations {
    pub fn new(types: Types) -> Operations {
        Operations { types, helpers: FxHashMap::default(), order: Vec::new() }
    }

    pub fn is_data(&self, ty: Type) -> bool {
        types::is_data(&self.types, ty)
    }

    /// Whether values of the type are single numbers.
    pub fn is_single(&self, ty: Type) -> bool {
        self.is_data(ty) && self.types.components(ty) == 1
    }

    pub fn uncurried(&self, ty: Type) -> (Vec<Type>, Type) {
        types::uncurried(&self.types, ty)
    }

    /// The text of a type; `None` if the type contains functions.
    pub fn type_text(&self, ty: Type) -> Option<String> {
        types::along(&self.types, ty, |_| "num".to_string())
    }

    /// The text of a parameter type; `None` if it contains functions where a parameter cannot.
    pub fn parameter_text(&self, ty: Type) -> Option<String> {
        types::parameter_text(&self.types, ty)
    }

    /// The text of the zero of a type; `None` if the type contains functions.
    pub fn zero_text(&self, ty: Type) -> Option<String> {
        types::along(&self.types, ty, |_| "0.0".to_string())
    }

    /// The name of the function for a primitive.
    pub fn primitive(&mut self, terms: &Terms, id: PrimId, out: &mut Writer) -> String {
        let primitive = terms.primitives.get(id);
        // The helpers that the function uses are written after it.
        for node in &primitive.nodes {
            if let Node::Unary(Unary::Pow(exponent), _) = node {
                self.helper(Helper::Power(*exponent), &format!("power_{exponent}"), out);
            }
        }
        let like = format!("{}_of", primitive.name);
        self.helper(Helper::Primitive(id), &like, out)
    }

    /// The name of the helper for `+` at a type other than `R`.
    pub fn add(&mut self, ty: Type, out: &mut Writer) -> String {
        self.helper(Helper::Add(ty), "add", out)
    }

    /// The name of the helper for `@` at a type other than `R`.
    pub fn contract(&mut self, ty: Type, out: &mut Writer) -> String {
        self.helper(Helper::Contract(ty), "contract", out)
    }

    fn helper(&mut self, helper: Helper, like: &str, out: &mut Writer) -> String {
        if let Some(name) = self.helpers.get(&helper) {
            return name.clone();
        }
        let name = out.global(like);
        self.helpers.insert(helper, name.clone());
        self.order.push(helper);
        name
    }

    /// Writes the items of all helpers.
    pub fn write_helpers(&self, terms: &Terms, out: &mut Writer) {
        for helper in &self.order {
            let name = &self.helpers[helper];
            out.push(&match helper {
                Helper::Primitive(id) => self.written(name, terms.primitives.get(*id)),
                Helper::Power(exponent) => power(name, i64::from(*exponent)),
                Helper::Add(ty) => {
                    let sum = |at| format!("x{at} + y{at}");
                    self.leafwise(name, *ty, true, &types::along(&self.types, *ty, sum).expect("numbers"))
                }
                Helper::Contract(ty) => {
                    let products: Vec<String> =
                        (0..self.types.components(*ty)).map(|at| format!("x{at} * y{at}")).collect();
                    self.leafwise(name, *ty, false, &products.join(" + "))
                }
            });
        }
    }

    /// A function of two values of a type, whose leaves are `x0`, `y0`, and so on.
    fn leafwise(&self, name: &str, ty: Type, returns_operand_type: bool, body: &str) -> String {
        let pattern =
            |stem: char| types::along(&self.types, ty, |at| format!("{stem}{at}")).expect("numbers");
        let written = self.type_text(ty).expect("numbers");
        let (x, y, result) =
            (pattern('x'), pattern('y'), if returns_operand_type { &*written } else { "num" });
        format!("fn {name}(x: {written}, y: {written}) -> {result} = let {x} = x in let {y} = y in {body};\n")
    }

    /// `fn f(p: (num, num)) -> num = let (x0, x1) = p in let x2 = x0 * x1 in x2;`
    fn written(&self, name: &str, primitive: &Primitive) -> String {
        let tuple = |items: Vec<String>| {
            items.into_iter().reduce(|left, right| format!("({left}, {right})")).expect("at least one")
        };
        let vector = |n: usize| tuple(vec!["num".to_string(); n]);
        let mut body = String::new();
        for (at, node) in primitive.nodes.iter().enumerate() {
            let value = match *node {
                // Bound by the pattern below.
                Node::Param(i) => format!("p{i}"),
                Node::Constant(value) => format!("({value:?})"),
                Node::Unary(op, a) => self.unary(op, &format!("x{a}")),
                Node::Binary(op, a, b) => {
                    let symbol = match op {
                        Binary::Add => "+",
                        Binary::Sub => "-",
                        Binary::Mul => "*",
                        Binary::Div => "/",
                    };
                    format!("x{a} {symbol} x{b}")
                }
            };
            let _ = write!(body, "let x{at} = {value} in ");
        }
        let params = tuple((0..primitive.n_params).map(|i| format!("p{i}")).collect());
        let outputs = tuple(primitive.outputs.iter().map(|output| format!("x{output}")).collect());
        let (from, to) = (vector(primitive.n_params), vector(primitive.outputs.len()));
        format!("fn {name}(p: {from}) -> {to} = let {params} = p in {body}{outputs};\n")
    }

    fn unary(&self, op: Unary, x: &str) -> String {
        match op {
            Unary::Neg => format!("-{x}"),
            Unary::Exp => format!("exp({x})"),
            Unary::Log => format!("log({x})"),
            Unary::Sin => format!("sin({x})"),
            Unary::Cos => format!("cos({x})"),
            Unary::Tan => format!("sin({x}) / cos({x})"),
            Unary::Tanh => format!("tanh({x})"),
            Unary::Sqrt => format!("sqrt({x})"),
            Unary::Sigmoid => format!("sigmoid({x})"),
            Unary::Recip => format!("1.0 / {x}"),
            Unary::Pow(exponent) => format!("{}({x})", self.helpers[&Helper::Power(exponent)]),
        }
    }
}
