//! Operations of programs to differentiate: most operations with a derivative, applied away from the borders
//! of their domains and from large numbers.

use super::Generator;
use super::expressions::{Place, indexed};
use super::scope::Ty;
use super::text::Text;

/// The sum of a number and something smaller: never near zero.
fn above(bound: &str, small: Text) -> Text {
    Text::infix(Text::atom(bound), "+", small)
}

fn atoms(texts: &[&str]) -> Vec<Text> {
    texts.iter().map(|text| Text::atom(*text)).collect()
}

impl Generator<'_> {
    /// A number, by an operation that is differentiable almost everywhere.
    pub fn smooth_number(&mut self, place: Place) -> Text {
        let small = |generator: &mut Self| {
            let name = generator.choices.among(&["sin", "cos", "tanh"]);
            Text::call(name, vec![generator.expression(Ty::Num, place)])
        };
        match self.choices.below(14) {
            0..4 => {
                let (left, right) = (self.expression(Ty::Num, place), self.expression(Ty::Num, place));
                self.combined(Ty::Num, left, right)
            }
            4 => self.expression(Ty::Num, place).negated(),
            5 => {
                let name = self.choices.among(&["tanh", "sigmoid", "sin", "cos"]);
                Text::call(name, vec![self.expression(Ty::Num, place)])
            }
            6 => {
                let name = self.choices.among(&["exp", "log", "sqrt"]);
                Text::call(name, vec![above("1.5", small(self))])
            }
            7 => Text::infix(self.expression(Ty::Num, place), "/", above("2.0", small(self))),
            8 => Text::call("pow", vec![above("2.0", small(self)), small(self)]),
            9 => {
                let name = self.choices.among(&["relu", "abs"]);
                Text::call(name, vec![self.expression(Ty::Num, place)])
            }
            10 => {
                let name = self.choices.among(&["maximum", "minimum"]);
                Text::call(name, vec![self.expression(Ty::Num, place), self.expression(Ty::Num, place)])
            }
            11 | 12 => self.number_of_vector(place),
            _ => match self.choices.below(2) {
                0 => Text::call("stop_gradient", vec![self.expression(Ty::Num, place)]),
                _ => Text::call("num", vec![self.expression(Ty::Int, place)]),
            },
        }
    }

    fn number_of_vector(&mut self, place: Place) -> Text {
        let vector = self.expression(Ty::Vector, place);
        match self.choices.below(7) {
            0 => indexed(vector, self.choices.below(2)),
            1 => Text::call("sum", vec![vector]),
            2 => Text::call("mean", vec![vector]),
            3 => Text::call("max", vec![vector]),
            4 => Text::call("max", vec![vector, Text::atom("0")]),
            5 => {
                Text::call("sum", vec![Text::call("outer", vec![vector, self.expression(Ty::Vector, place)])])
            }
            _ => Text::call("matmul", vec![vector, self.expression(Ty::Vector, place)]),
        }
    }

    /// A vector, by an operation that is differentiable almost everywhere.
    pub fn smooth_vector(&mut self, place: Place) -> Text {
        match self.choices.below(10) {
            0 => self.row(Ty::Num, place),
            1 | 2 => {
                let (left, right) = (self.expression(Ty::Vector, place), self.expression(Ty::Vector, place));
                self.combined(Ty::Vector, left, right)
            }
            3 => {
                let (left, right) = (self.expression(Ty::Num, place), self.expression(Ty::Vector, place));
                self.combined(Ty::Vector, left, right)
            }
            4 => {
                let condition = self.expression(Ty::Vector, place);
                let bound = self.expression(Ty::Num, place);
                let (yes, no) = (self.expression(Ty::Vector, place), self.expression(Ty::Num, place));
                Text::call("where", vec![Text::infix(condition, "<", bound), yes, no])
            }
            5 => {
                let name = self.choices.among(&["tanh", "softmax", "sigmoid", "relu", "stop_gradient"]);
                Text::call(name, vec![self.expression(Ty::Vector, place)])
            }
            6 => {
                let name = self.choices.among(&["maximum", "minimum"]);
                Text::call(name, vec![self.expression(Ty::Vector, place), self.expression(Ty::Num, place)])
            }
            7 => self.moved(place),
            _ => self.vector_of_matrix(place),
        }
    }

    /// `[a, b]`.
    fn row(&mut self, ty: Ty, place: Place) -> Text {
        let items = [self.expression(ty, place), self.expression(ty, place)];
        let [first, second] = items.map(Text::loose);
        Text::atom(format!("[{first}, {second}]"))
    }

    /// A permutation, shift or resizing of elements.
    fn moved(&mut self, place: Place) -> Text {
        let call = |name: &str, statics: &[&str], operand: Text| {
            Text::call(name, [atoms(statics), vec![operand]].concat())
        };
        match self.choices.below(5) {
            0 => call("broadcast", &["[2]"], self.expression(Ty::Num, place)),
            1 => call("spread", &["0", "2"], self.expression(Ty::Num, place)),
            2 => {
                let both = vec![self.expression(Ty::Vector, place), self.expression(Ty::Vector, place)];
                call("slice", &["1", "3"], Text::call("concat", both))
            }
            3 => {
                let part = call("slice", &["0", "1"], self.expression(Ty::Vector, place));
                call("pad", &["1", "2"], part)
            }
            _ => {
                let column = call("reshape", &["[2, 1]"], self.expression(Ty::Vector, place));
                call("reshape", &["[2]"], column)
            }
        }
    }

    fn vector_of_matrix(&mut self, place: Place) -> Text {
        let matrix = match self.choices.below(3) {
            0 => self.row(Ty::Vector, place),
            1 => Text::call("transpose", vec![self.row(Ty::Vector, place)]),
            _ => {
                let both = vec![self.expression(Ty::Vector, place), self.expression(Ty::Vector, place)];
                Text::call("outer", both)
            }
        };
        match self.choices.below(9) {
            0 => indexed(matrix, self.choices.below(2)),
            1 => Text::call("matmul", vec![matrix, self.expression(Ty::Vector, place)]),
            2 => Text::call("matmul", vec![self.expression(Ty::Vector, place), matrix]),
            3 => {
                let name = self.choices.among(&["sum", "mean", "max"]);
                let axis = self.choices.among(&["0", "1"]);
                Text::call(name, vec![matrix, Text::atom(axis)])
            }
            4 => indexed(Text::call("softmax", vec![matrix]), 0),
            5 => Text::call("reduce", vec![Text::atom("[2]"), matrix]),
            6 => Text::call("sum_to", vec![matrix, self.expression(Ty::Vector, place)]),
            7 => indexed(Text::infix(matrix, "*", self.expression(Ty::Vector, place)), 1),
            _ => {
                let image = Text::call("reshape", vec![Text::atom("[2, 2, 1]"), matrix]);
                let kernel = vec![self.expression(Ty::Vector, place), self.expression(Ty::Vector, place)];
                let kernel = Text::call("concat", kernel);
                let kernel = Text::call("reshape", vec![Text::atom("[1, 2, 1, 2]"), kernel]);
                let image = Text::call("conv2d", vec![image, kernel]);
                Text::call(
                    "sum",
                    vec![Text::call("reshape", vec![Text::atom("[2, 2]"), image]), Text::atom("0")],
                )
            }
        }
    }
}
