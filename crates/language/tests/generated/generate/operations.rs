//! Pointwise operations: arithmetic, comparisons, logic and small vectors.

use super::Generator;
use super::expressions::{Place, indexed};
use super::program::Feature;
use super::scope::Ty;
use super::text::Text;

const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

impl Generator<'_> {
    /// An operation on expressions of the same clock.
    pub fn pointwise(&mut self, ty: Ty, place: Place) -> Text {
        let place = place.operand();
        if let Some(applied) = self.application(ty, place) {
            return applied;
        }
        match ty {
            Ty::Num if self.has(Feature::Smooth) => self.smooth_number(place),
            Ty::Vector if self.has(Feature::Smooth) => self.smooth_vector(place),
            Ty::Num => self.number(place),
            Ty::Bool => self.truth(place),
            Ty::Int => self.integer(place),
            Ty::Vector => self.vector(place),
        }
    }

    /// Combines two streams of a type, as in recurrences.
    pub fn combined(&mut self, ty: Ty, left: Text, right: Text) -> Text {
        let op = match ty {
            // Products make derivatives depend on the point.
            Ty::Num | Ty::Vector if self.has(Feature::Smooth) => self.choices.among(&["*", "+", "*", "-"]),
            Ty::Num | Ty::Vector => self.choices.among(&["+", "-", "*"]),
            Ty::Int => self.choices.among(&["+", "-"]),
            Ty::Bool => self.choices.among(&["or", "and", "!="]),
        };
        Text::infix(left, op, right)
    }

    fn number(&mut self, place: Place) -> Text {
        match self.choices.weighted(&[(6, 0), (1, 1), (1, 2), (1, 3), (2, 4), (1, 5)]) {
            0 => {
                let op = self.choices.among(&["+", "-", "*", "/"]);
                Text::infix(self.expression(Ty::Num, place), op, self.expression(Ty::Num, place))
            }
            1 => self.expression(Ty::Num, place).negated(),
            2 => {
                let name = self.choices.among(&["relu", "abs", "tanh"]);
                Text::call(name, vec![self.expression(Ty::Num, place)])
            }
            3 => {
                let name = self.choices.among(&["maximum", "minimum"]);
                Text::call(name, vec![self.expression(Ty::Num, place), self.expression(Ty::Num, place)])
            }
            4 => self.part(place),
            _ => Text::call("num", vec![self.expression(Ty::Int, place)]),
        }
    }

    /// A number from a vector.
    fn part(&mut self, place: Place) -> Text {
        self.has_parts = true;
        match self.choices.below(4) {
            0 => {
                let index = self.choices.below(2);
                indexed(self.expression(Ty::Vector, place), index)
            }
            1 => Text::call("sum", vec![self.expression(Ty::Vector, place)]),
            2 => Text::call("max", vec![self.expression(Ty::Vector, place), Text::atom("0")]),
            _ => {
                let (left, right) = (self.expression(Ty::Vector, place), self.expression(Ty::Vector, place));
                Text::call("matmul", vec![left, right])
            }
        }
    }

    fn truth(&mut self, place: Place) -> Text {
        match self.choices.weighted(&[(4, 0), (1, 1), (2, 2), (2, 3)]) {
            0 => {
                let op = self.choices.among(&COMPARISONS);
                Text::infix(self.expression(Ty::Num, place), op, self.expression(Ty::Num, place))
            }
            1 => {
                let op = self.choices.among(&COMPARISONS);
                Text::infix(self.expression(Ty::Int, place), op, self.expression(Ty::Int, place))
            }
            2 => self.expression(Ty::Bool, place).prefixed("not"),
            _ => {
                let op = self.choices.among(&["and", "or", "=="]);
                Text::infix(self.expression(Ty::Bool, place), op, self.expression(Ty::Bool, place))
            }
        }
    }

    /// Operations that stay small, so that no program overflows, and nonzero divisors.
    fn integer(&mut self, place: Place) -> Text {
        let operand = self.expression(Ty::Int, place);
        match self.choices.below(4) {
            0 => {
                let op = self.choices.among(&["+", "-"]);
                Text::infix(operand, op, self.expression(Ty::Int, place))
            }
            1 => Text::infix(operand, self.choices.among(&["mod", "div"]), Text::atom("3")),
            2 => Text::infix(operand, "*", Text::atom("2")),
            _ => Text::call("argmax", vec![self.expression(Ty::Vector, place)]),
        }
    }

    fn vector(&mut self, place: Place) -> Text {
        match self.choices.below(4) {
            0 => {
                let items = [self.expression(Ty::Num, place), self.expression(Ty::Num, place)];
                let [first, second] = items.map(Text::loose);
                Text::atom(format!("[{first}, {second}]"))
            }
            1 => {
                let (left, right) = (self.expression(Ty::Vector, place), self.expression(Ty::Vector, place));
                self.combined(Ty::Vector, left, right)
            }
            2 => {
                let (left, right) = (self.expression(Ty::Num, place), self.expression(Ty::Vector, place));
                self.combined(Ty::Vector, left, right)
            }
            _ => {
                let condition = self.expression(Ty::Vector, place);
                let bound = self.expression(Ty::Num, place);
                let (yes, no) = (self.expression(Ty::Vector, place), self.expression(Ty::Num, place));
                Text::call("where", vec![Text::infix(condition, "<", bound), yes, no])
            }
        }
    }
}
