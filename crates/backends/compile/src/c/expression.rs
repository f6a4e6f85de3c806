//! Expressions and places in C.

use std::fmt::Write;

use eddy_imp::{Base, Binary, Expr, Intrinsic, Place, Precision, Type, Unary};

/// How a procedure accesses its parameters.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub precision: Precision,
    /// The variable with the number of the first failed equation.
    pub error: &'static str,
}

pub(crate) fn c_type(ty: Type, precision: Precision) -> &'static str {
    match (ty, precision) {
        (Type::Num, Precision::Double) => "double",
        (Type::Num, Precision::Single) => "float",
        (Type::Bool, _) => "bool",
        (Type::Int | Type::Cycle, _) => "int64_t",
        (Type::Size, _) => "size_t",
        (Type::Offset, _) => "ptrdiff_t",
        (Type::Status, _) => "int32_t",
    }
}

/// A function of the runtime header, which has a version for each precision: `eddy_exp` and `eddy_expf`.
pub(super) fn number_function(name: &str, precision: Precision) -> String {
    match precision {
        Precision::Double => format!("eddy_{name}"),
        Precision::Single => format!("eddy_{name}f"),
    }
}

fn function(intrinsic: Intrinsic, precision: Precision) -> String {
    if intrinsic.is_of_numbers() {
        return number_function(intrinsic.name(), precision);
    }
    format!("eddy_{}", intrinsic.name())
}

/// Prints a number exactly.
pub(crate) fn number(x: f64, precision: Precision) -> String {
    #[allow(clippy::cast_possible_truncation, reason = "rounding is what single precision means")]
    let (text, suffix, is_finite) = match precision {
        Precision::Double => (format!("{:?}", x.abs()), "", x.is_finite()),
        Precision::Single => (format!("{:?}", (x as f32).abs()), "f", (x as f32).is_finite()),
    };
    let text = match (is_finite, x.is_nan()) {
        (true, _) => format!("{text}{suffix}"),
        (false, true) => format!("__builtin_nan{suffix}(\"\")"),
        (false, false) => format!("__builtin_inf{suffix}()"),
    };
    if x.is_sign_negative() && !x.is_nan() { format!("(-{text})") } else { text }
}

/// The precedence of operations that need no parentheses inside each other.
fn rank(op: Binary) -> Option<usize> {
    match op {
        Binary::AndThen => Some(COMPARISON - 1),
        op if op.is_comparison() => Some(COMPARISON),
        Binary::Add | Binary::Sub => Some(COMPARISON + 1),
        Binary::Mul | Binary::Div | Binary::Rem => Some(COMPARISON + 2),
        _ => None,
    }
}

const COMPARISON: usize = 1;

fn int(x: i64) -> String {
    match x {
        i64::MIN => "(-INT64_C(9223372036854775807) - 1)".to_string(),
        x if x < 0 => format!("(-INT64_C({}))", -x),
        x => format!("INT64_C({x})"),
    }
}

impl Style {
    /// Prints an expression on its own: an operation needs no parentheses around it.
    pub fn whole(self, expr: &Expr) -> String {
        match expr {
            Expr::Count(n) if *n < 0 => n.to_string(),
            Expr::Binary(op, operands) => {
                let [left, right] = &**operands;
                format!(
                    "{} {} {}",
                    self.operand(*op, left, true),
                    op.symbol(),
                    self.operand(*op, right, false)
                )
            }
            Expr::Choice(operands) => {
                let [condition, yes, no] = &**operands;
                let condition = match condition {
                    Expr::Binary(..) => self.whole(condition),
                    _ => self.expr(condition),
                };
                format!("{condition} ? {} : {}", self.expr(yes), self.expr(no))
            }
            _ => self.expr(expr),
        }
    }

    /// Prints an expression inside of another.
    pub fn expr(self, expr: &Expr) -> String {
        match expr {
            Expr::Num(x) => number(x.get(), self.precision),
            Expr::Int(x) => int(*x),
            Expr::Bool(truth) => truth.to_string(),
            Expr::Count(n) if *n < 0 => format!("(-{})", n.unsigned_abs()),
            Expr::Count(n) => n.to_string(),
            Expr::Var(name) => name.to_string(),
            Expr::Load(place) => self.place(place),
            Expr::Unary(Unary::Neg, operand) => format!("(-{})", self.expr(operand)),
            Expr::Unary(Unary::Not, operand) => format!("!{}", self.expr(operand)),
            Expr::Binary(..) | Expr::Choice(_) => format!("({})", self.whole(expr)),
            Expr::Call(intrinsic, operands) => {
                format!("{}({})", function(*intrinsic, self.precision), self.list(operands))
            }
            Expr::Checked(intrinsic, operands, equation) => {
                let (function, operands) = (function(*intrinsic, self.precision), self.list(operands));
                format!("{function}({operands}, &{}, {equation})", self.error)
            }
            // Converts to double precision first and then rounds, as specified.
            Expr::Cast(Type::Num, operand) if self.precision == Precision::Single => {
                format!("((float)(double){})", self.expr(operand))
            }
            Expr::Cast(ty, operand) => format!("({}){}", c_type(*ty, self.precision), self.expr(operand)),
            Expr::Failure => self.error.to_string(),
        }
    }

    /// Prints an operand of an operation, with parentheses where C needs them or compilers would warn.
    fn operand(self, op: Binary, operand: &Expr, is_left: bool) -> String {
        let Expr::Binary(inner, _) = operand else { return self.expr(operand) };
        let binds = match (rank(op), rank(*inner)) {
            (Some(outer), Some(inner)) => inner > outer || inner == outer && is_left && inner > COMPARISON,
            _ => op == *inner && is_left,
        };
        if binds { self.whole(operand) } else { self.expr(operand) }
    }

    fn list(self, exprs: &[Expr]) -> String {
        let texts: Vec<String> = exprs.iter().map(|expr| self.whole(expr)).collect();
        texts.join(", ")
    }

    /// Prints an element or an array.
    pub fn place(self, place: &Place) -> String {
        let mut text = match &place.base {
            Base::State(name) => format!("self->{name}"),
            Base::In(name) => format!("in->{name}"),
            Base::Out(name, None) => format!("out->{name}"),
            Base::Out(name, Some(row)) => format!("out[{}].{name}", self.whole(row)),
            Base::Shared(name) => format!("locals->{name}"),
            Base::Table(name) | Base::Local(name) => name.to_string(),
        };
        for index in &place.at {
            let _ = write!(text, "[{}]", self.whole(index));
        }
        text
    }
}
