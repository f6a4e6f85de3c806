//! Functions that nodes apply and that stay calls: loops whose length depends on arguments, recursion, long
//! loops, generated code, and functions that fail at some arguments.
//!
//! All of them end at any arguments, also at numbers that are infinite or nan.

use super::Generator;
use super::expressions::Place;
use super::program::Feature;
use super::scope::Ty;
use super::text::Text;
use crate::generated::functions::{PRELUDE, Style, scalar_function, vector_function};

/// The numbers of decisions of a generated function.
const DECISIONS: usize = 40;

impl Generator<'_> {
    /// The text of all functions of a program.
    pub fn functions(&mut self) -> String {
        let count = self.choices.among(&["9", "10", "12"]);
        let function = self.choices.among(&["sin", "tanh", "cos"]);
        let mut numbers = || -> Vec<u16> {
            (0..DECISIONS)
                .map(|_| u16::try_from(self.choices.below(1 << 12)).expect("it is smaller"))
                .collect()
        };
        let generated = [
            scalar_function("g0", &numbers(), Style::default()),
            vector_function("g1", &numbers(), Style::default()),
        ];
        format!(
            "{PRELUDE}{}\
             fn grown(a: num, b: num) -> num =\n  \
               (loop (s, k) = (a, 0) while k < {count} and abs(s) < 3.0 do (s * 1.5 + 0.25 * b, k + 1)).0;\n\
             fn nested(a: num, n: int) -> num = if n <= 0 then a else 0.5 * nested({function}(a), n - 1);\n\
             fn swept(v: num [2], a: num) -> num [2] =\n  \
               fold v = v for i < {count} do [0.5 * v[1] + 0.125 * a, {function}(v[0])];\n\
             fn above(v: num [2], a: num) -> bool = any(i < 2: v[i] > a);\n\
             fn divided(i: int, j: int) -> int = if i > 2 then i div j else i - j;\n\
             fn picked(i: int, a: num) -> num = [a, 1.5, 0.5 * a][if i > 4 then i else i mod 3];\n\
             fn several(a: num, b: num) -> (num [2], int, num, bool) =\n  \
               let (s, k) = loop (s, k) = (a, 0) while k < 6 and abs(s) < 2.0 do (s * 1.5 + b, k + 1)\n  \
               in ([s, 0.5 * b], k, 0.25 * s, s > a);\n",
            generated.concat()
        )
    }

    /// An expression that applies a function; `None` where no function has this type.
    pub fn application(&mut self, ty: Ty, place: Place) -> Option<Text> {
        if !self.has(Feature::Functions) || !self.choices.once_in(2) {
            return None;
        }
        let mut operand = |ty: Ty| self.expression(ty, place);
        Some(match ty {
            Ty::Num => {
                let (number, other) = (operand(Ty::Num), operand(Ty::Num));
                match self.choices.below(5) {
                    0 => Text::call("grown", vec![number, other]),
                    1 => {
                        let depth = Text::infix(self.expression(Ty::Int, place), "mod", Text::atom("4"));
                        Text::call("nested", vec![number, depth])
                    }
                    2 => Text::call("picked", vec![self.expression(Ty::Int, place), number]),
                    3 => Text::call(
                        "sum",
                        vec![Text::call("g1", vec![number.clone(), three(&number, &other)])],
                    ),
                    _ => Text::call("g0", vec![number.clone(), three(&number, &other)]),
                }
            }
            Ty::Vector => Text::call("swept", vec![operand(Ty::Vector), operand(Ty::Num)]),
            Ty::Bool => Text::call("above", vec![operand(Ty::Vector), operand(Ty::Num)]),
            Ty::Int => Text::call("divided", vec![operand(Ty::Int), operand(Ty::Int)]),
        })
    }
}

/// A vector of three numbers.
fn three(one: &Text, other: &Text) -> Text {
    let [one, other] = [one, other].map(|text| text.clone().loose());
    Text::atom(format!("[{one}, {other}, 0.5]"))
}

/// The equation of a number with all results of `several`, which the equation applies to its value.
pub fn with_several(head: &str, value: &str) -> [String; 2] {
    [
        format!("fr, fs, ft, fb = several({value}, 0.5);"),
        format!("{head} = fr[0] + (if fb then ft else 0.125 * num(fs)) * fr[1];"),
    ]
}
