//! Operations on single elements, as C expressions.
//!
//! The same expression serves scalars and elements of tensors. Integers are checked before it, unless
//! intervals prove that the operation cannot fail.

use eddy_body::{Elem, Var};
use eddy_tensor::Op;

use super::body::Emitter;
use super::facts::Interval;

/// An element that an expression reads.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    pub text: String,
    pub elem: Elem,
    pub interval: Interval,
}

/// Whether an operation computes each element of its result from one element of each operand.
pub(super) fn is_elementwise(op: &Op) -> bool {
    crate::operation::is_elementwise(op) && !matches!(op, Op::Outer)
}

/// The name of the function that computes many elements.
pub(super) fn function(op: &Op) -> Option<&'static str> {
    Some(match op {
        Op::Exp => "exp",
        Op::Log => "log",
        Op::Tanh => "tanh",
        Op::Sigmoid => "sigmoid",
        Op::Sin => "sin",
        Op::Cos => "cos",
        Op::Lgamma => "lgamma",
        Op::Digamma => "digamma",
        Op::Pow => "pow",
        _ => return None,
    })
}

impl Emitter<'_, '_> {
    pub fn scalar_operand(&self, var: Var) -> Operand {
        Operand { text: self.scalar(var), elem: self.ty(var).elem, interval: self.facts.interval(var) }
    }

    /// The expression of one element, and its interval; its checks are emitted before it.
    pub fn element(&mut self, op: &Op, operands: &[Operand]) -> (String, Interval) {
        let x = operands.first().map_or("", |operand| operand.text.as_str());
        let y = operands.get(1).map_or("", |operand| operand.text.as_str());
        let is_num = operands.first().is_some_and(|operand| operand.elem == Elem::Num);
        if !is_num && let Some(found) = self.integer(op, operands) {
            return found;
        }
        let function = if self.vectorises { "eddy" } else { "eddy_single" };
        let text = match op {
            Op::Add => format!("{x} + {y}"),
            Op::Sub => format!("{x} - {y}"),
            Op::Mul => format!("{x} * {y}"),
            Op::Div => format!("{x} / {y}"),
            Op::Pow => format!("{function}_pow({x}, {y})"),
            Op::Maximum => format!("eddy_maximum({x}, {y})"),
            Op::Minimum => format!("eddy_minimum({x}, {y})"),
            Op::Lt => format!("{x} < {y}"),
            Op::Le => format!("{x} <= {y}"),
            Op::Gt => format!("{x} > {y}"),
            Op::Ge => format!("{x} >= {y}"),
            Op::Eq => format!("{x} == {y}"),
            Op::Ne => format!("{x} != {y}"),
            Op::And => format!("{x} & {y}"),
            Op::Or => format!("{x} | {y}"),
            Op::Not => format!("!{x}"),
            Op::Neg => format!("-{x}"),
            Op::Abs => format!("eddy_abs({x})"),
            Op::Relu => format!("eddy_relu({x})"),
            Op::Exp => format!("{function}_exp({x})"),
            Op::Log => format!("{function}_log({x})"),
            Op::Sqrt => format!("eddy_sqrt({x})"),
            Op::Tanh => format!("{function}_tanh({x})"),
            Op::Sigmoid => format!("{function}_sigmoid({x})"),
            Op::Sin => format!("{function}_sin({x})"),
            Op::Cos => format!("{function}_cos({x})"),
            Op::Lgamma => format!("{function}_lgamma({x})"),
            Op::Digamma => format!("{function}_digamma({x})"),
            Op::Where => format!("{x} ? {y} : {}", operands[2].text),
            Op::ToNum if is_num => x.to_owned(),
            Op::ToNum => format!("(double){x}"),
            Op::ToInt => {
                let range = format!("!({x} >= -9223372036854775808.0 && {x} < 9223372036854775808.0)");
                self.fail(&range, "EDDY_OVERFLOW");
                format!("(int64_t){x}")
            }
            Op::ZerosLike => if is_num { "0.0" } else { "INT64_C(0)" }.to_owned(),
            Op::OnesLike => if is_num { "1.0" } else { "INT64_C(1)" }.to_owned(),
            Op::Copy | Op::StopGradient => x.to_owned(),
            other => unreachable!("`{}` is no operation on elements", other.name()),
        };
        let interval = match op {
            Op::Copy | Op::StopGradient => operands[0].interval,
            _ => Interval::ALL,
        };
        (text, interval)
    }

    /// The truth value of a condition, if it is known.
    pub fn known_truth(&self, op: &Op, operands: &[Var]) -> Option<bool> {
        let truth = |at: usize| self.facts.truth(operands[at]);
        match op {
            Op::Not => return truth(0).map(|x| !x),
            Op::And => return truth(0).zip(truth(1)).map(|(x, y)| x && y),
            Op::Or => return truth(0).zip(truth(1)).map(|(x, y)| x || y),
            _ => {}
        }
        let [x, y] = *operands else { return None };
        if self.ty(x).elem != Elem::Int {
            return None;
        }
        let (x, y) = (self.facts.interval(x), self.facts.interval(y));
        let (is_below, is_above) = (x.hi < y.lo, x.lo > y.hi);
        let is_equal = x.single().is_some() && x.single() == y.single();
        let decided = |yes: bool, no: bool| if yes || no { Some(yes) } else { None };
        match op {
            Op::Lt => decided(is_below, x.lo >= y.hi),
            Op::Le => decided(x.hi <= y.lo, is_above),
            Op::Gt => decided(is_above, x.hi <= y.lo),
            Op::Ge => decided(x.lo >= y.hi, is_below),
            Op::Eq => decided(is_equal, is_below || is_above),
            Op::Ne => decided(is_below || is_above, is_equal),
            _ => None,
        }
    }

    /// Operations on integers that can fail, or whose expression differs from that on numbers.
    fn integer(&mut self, op: &Op, operands: &[Operand]) -> Option<(String, Interval)> {
        let first = operands.first()?;
        if first.elem != Elem::Int {
            return None;
        }
        let (x, a) = (first.text.as_str(), first.interval);
        let (y, b) =
            operands.get(1).map_or(("", Interval::ALL), |other| (other.text.as_str(), other.interval));
        let found = match op {
            Op::Add => self.checked("add", "+", [x, y], a.plus(b)),
            Op::Sub => self.checked("sub", "-", [x, y], a.minus(b)),
            Op::Mul => self.checked("mul", "*", [x, y], a.times(b)),
            Op::Neg => self.checked("sub", "-", ["INT64_C(0)", x], Interval::of(0).minus(a)),
            Op::Abs => {
                if a.lo == Interval::ALL.lo {
                    self.fail(&format!("{x} == INT64_MIN"), "EDDY_OVERFLOW");
                }
                (format!("{x} < 0 ? -{x} : {x}"), Interval { lo: 0, hi: Interval::ALL.hi })
            }
            Op::Relu => (format!("{x} > 0 ? {x} : 0"), Interval { lo: a.lo.max(0), hi: a.hi.max(0) }),
            Op::Maximum => {
                (format!("{y} > {x} ? {y} : {x}"), Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) })
            }
            Op::Minimum => {
                (format!("{y} < {x} ? {y} : {x}"), Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) })
            }
            Op::IntDiv => {
                self.nonzero(y, b);
                if a.lo == Interval::ALL.lo && b.lo <= -1 && b.hi >= -1 {
                    self.fail(&format!("{x} == INT64_MIN && {y} == -1"), "EDDY_OVERFLOW");
                }
                let text =
                    if a.lo >= 0 && b.lo > 0 { format!("{x} / {y}") } else { format!("eddy_div({x}, {y})") };
                let interval = if a.lo >= 0 && b.lo > 0 {
                    Interval { lo: a.lo / b.hi, hi: a.hi / b.lo }
                } else {
                    Interval::ALL
                };
                (text, interval)
            }
            Op::IntMod => {
                self.nonzero(y, b);
                let text =
                    if a.lo >= 0 && b.lo > 0 { format!("{x} % {y}") } else { format!("eddy_mod({x}, {y})") };
                let hi = b.lo.abs().max(b.hi.abs()) - 1;
                (text, Interval { lo: 0, hi: hi.max(0) })
            }
            Op::ToInt => (x.to_owned(), a),
            _ => return None,
        };
        Some(found)
    }

    fn checked(
        &mut self,
        word: &str,
        sign: &str,
        [x, y]: [&str; 2],
        interval: Interval,
    ) -> (String, Interval) {
        if interval.fits() {
            return (format!("{x} {sign} {y}"), interval);
        }
        let name = self.names.of("checked");
        self.line(&format!("int64_t {name};"));
        self.fail(&format!("__builtin_{word}_overflow({x}, {y}, &{name})"), "EDDY_OVERFLOW");
        (name, interval)
    }

    fn nonzero(&mut self, y: &str, interval: Interval) {
        if interval.lo <= 0 && interval.hi >= 0 {
            self.fail(&format!("{y} == 0"), "EDDY_DIVISION");
        }
    }
}
