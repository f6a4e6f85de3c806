//! Operations of all arities, as calls and as operators, and their reverse derivatives.

use super::Generator;
use super::text::{Level, Text, parenthesised};
use super::types::Ty;

/// The operations on one real, except `powi`.
pub const UNARY: [&str; 9] = ["neg", "exp", "sin", "cos", "tanh", "sigmoid", "tan", "log", "sqrt"];

/// The operations on two reals.
pub const BINARY: [&str; 4] = ["mul", "sub", "div", "pow"];

/// The exponents of `powi`.
pub const EXPONENTS: [i32; 7] = [2, 1, 0, 3, -1, -2, 5];

impl Generator<'_> {
    pub(super) fn unary(&mut self, depth: u32) -> Text {
        // Total operations come first, and are chosen more often.
        let n = self.choices.weighted(&[(4, 6), (1, UNARY.len())]);
        let name = self.choices.among(&UNARY[..n]);
        let argument = self.arguments(&Ty::Real, depth);
        Text::atom_of(format!("{name}{argument}"))
    }

    pub(super) fn binary(&mut self, depth: u32) -> Text {
        if self.choices.once_in(2) {
            let (left, right) = (self.term(&Ty::Real, depth), self.term(&Ty::Real, depth));
            return Text::infix(Level::Product, (left, Level::Product), "/", (right, Level::Unary));
        }
        let name = self.choices.among(&BINARY);
        let argument = self.arguments(&Ty::pair(Ty::Real, Ty::Real), depth);
        Text::atom_of(format!("{name}{argument}"))
    }

    pub(super) fn power(&mut self, depth: u32) -> Text {
        let exponent = self.choices.among(&EXPONENTS);
        match self.choices.below(4) {
            0 => {
                let argument = self.arguments(&Ty::Real, depth);
                Text::atom_of(format!("powi[{exponent}]{argument}"))
            }
            1 => {
                let (base, exponent) = (self.term(&Ty::Real, depth), self.term(&Ty::Real, depth));
                // `x^2.rd[…]` is refused.
                let exponent = exponent.atom();
                let is_ambiguous = exponent.starts_with(|c: char| c.is_ascii_digit())
                    && !exponent.ends_with(|c: char| c.is_ascii_digit());
                let exponent = if is_ambiguous { parenthesised(&exponent) } else { exponent };
                Text::new(Level::Power, format!("{}^{exponent}", base.atom()))
            }
            _ => {
                let base = self.term(&Ty::Real, depth).atom();
                Text::new(Level::Power, format!("{base}^{exponent}"))
            }
        }
    }

    pub(super) fn dot(&mut self, depth: u32) -> Text {
        let ty = self.any_type();
        let argument = self.arguments(&Ty::pair(ty.clone(), ty), depth);
        Text::atom_of(format!("dot{argument}"))
    }

    pub(super) fn kinked(&mut self, depth: u32) -> Text {
        match self.choices.among(&["relu", "abs", "max", "min"]) {
            name @ ("relu" | "abs") => {
                let argument = self.arguments(&Ty::Real, depth);
                Text::atom_of(format!("{name}{argument}"))
            }
            name => {
                let (left, right) = (self.term(&Ty::Real, depth).loose(), self.other_real(depth).loose());
                let arguments = parenthesised(&format!("{left}, {right}"));
                Text::atom_of(format!("{name}{arguments}"))
            }
        }
    }

    /// `M.op_r(L)`, of the type of `L`.
    pub(super) fn reverse_operation(&mut self, ty: &Ty, depth: u32) -> Text {
        let (name, result) = match ty {
            Ty::Real if self.choices.once_in(3) => {
                (format!("powi_r[{}]", self.choices.among(&EXPONENTS)), Ty::Real)
            }
            Ty::Real => (format!("{}_r", self.choices.among(&UNARY)), Ty::Real),
            Ty::Pair(left, right) if **left == Ty::Real && **right == Ty::Real => {
                let name = self.choices.among(&["mul", "sub", "div", "pow", "dot", "scale"]);
                (format!("{name}_r"), Ty::Real)
            }
            Ty::Pair(left, right) if **left == Ty::Real => ("scale_r".to_string(), (**right).clone()),
            Ty::Pair(left, right) if left == right => ("dot_r".to_string(), Ty::Real),
            // No operation has an argument of this type; a sum has the same parts.
            _ => {
                let (left, right) = (self.term(ty, depth), self.term(ty, depth));
                return Text::infix(Level::Sum, (left, Level::Sum), "+", (right, Level::Product));
            }
        };
        let cotangent = self.term(&result, depth).atom();
        let argument = self.arguments(ty, depth);
        Text::atom_of(format!("{cotangent}.{name}{argument}"))
    }
}
