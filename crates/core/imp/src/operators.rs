//! Builds expressions from others, with Rust's operators where they exist.

use std::ops;

use crate::expr::{Binary, Expr, Unary};
use crate::name::Name;
use crate::place::Place;
use crate::types::Type;

impl Expr {
    pub fn var(name: impl Into<Name>) -> Expr {
        Expr::Var(name.into())
    }

    pub fn num(x: f64) -> Expr {
        Expr::Num(x.into())
    }

    pub fn binary(op: Binary, left: impl Into<Expr>, right: impl Into<Expr>) -> Expr {
        Expr::Binary(op, Box::new([left.into(), right.into()]))
    }

    pub fn choice(condition: impl Into<Expr>, yes: impl Into<Expr>, no: impl Into<Expr>) -> Expr {
        Expr::Choice(Box::new([condition.into(), yes.into(), no.into()]))
    }

    /// `self < other`.
    #[must_use]
    pub fn lt(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Binary::Lt, self, other)
    }

    /// `self <= other`.
    #[must_use]
    pub fn le(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Binary::Le, self, other)
    }

    /// `self > other`.
    #[must_use]
    pub fn gt(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Binary::Gt, self, other)
    }

    /// `self >= other`.
    #[must_use]
    pub fn ge(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Binary::Ge, self, other)
    }

    /// `self == other`.
    #[must_use]
    pub fn equals(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Binary::Eq, self, other)
    }

    /// `self != other`.
    #[must_use]
    pub fn differs(self, other: impl Into<Expr>) -> Expr {
        Expr::binary(Binary::Ne, self, other)
    }

    /// `self && other`; omits a literal `true`.
    #[must_use]
    pub fn and_then(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Bool(true), other) => other,
            (this, Expr::Bool(true)) => this,
            (this, other) => Expr::binary(Binary::AndThen, this, other),
        }
    }

    /// `self || other`; omits a literal `false`.
    #[must_use]
    pub fn or_else(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Bool(false), other) => other,
            (this, Expr::Bool(false)) => this,
            (this, other) => Expr::binary(Binary::OrElse, this, other),
        }
    }

    /// The conjunction, evaluated in this order. The tree is balanced, so that its depth stays small.
    pub fn all(conditions: impl IntoIterator<Item = Expr>) -> Expr {
        balanced(conditions.into_iter().collect(), Expr::Bool(true), Expr::and_then)
    }

    /// The disjunction, evaluated in this order.
    pub fn any(conditions: impl IntoIterator<Item = Expr>) -> Expr {
        balanced(conditions.into_iter().collect(), Expr::Bool(false), Expr::or_else)
    }

    #[must_use]
    pub fn cast(self, ty: Type) -> Expr {
        Expr::Cast(ty, Box::new(self))
    }

    /// Whether it is a literal, which a compiler can see.
    pub fn is_literal(&self) -> bool {
        matches!(self, Expr::Num(_) | Expr::Int(_) | Expr::Bool(_) | Expr::Count(_))
    }
}

/// Joins adjacent expressions in rounds until one is left.
fn balanced(mut exprs: Vec<Expr>, none: Expr, join: fn(Expr, Expr) -> Expr) -> Expr {
    while exprs.len() > 1 {
        let mut joined = Vec::with_capacity(exprs.len().div_ceil(2));
        let mut rest = exprs.into_iter();
        while let Some(one) = rest.next() {
            joined.push(match rest.next() {
                Some(other) => join(one, other),
                None => one,
            });
        }
        exprs = joined;
    }
    exprs.pop().unwrap_or(none)
}

impl From<bool> for Expr {
    fn from(truth: bool) -> Expr {
        Expr::Bool(truth)
    }
}

impl From<i64> for Expr {
    fn from(count: i64) -> Expr {
        Expr::Count(count)
    }
}

impl From<i32> for Expr {
    fn from(count: i32) -> Expr {
        Expr::Count(count.into())
    }
}

impl From<usize> for Expr {
    fn from(count: usize) -> Expr {
        Expr::Count(i64::try_from(count).expect("a size of memory is far below 2^63"))
    }
}

impl From<Name> for Expr {
    fn from(name: Name) -> Expr {
        Expr::Var(name)
    }
}

impl From<&Name> for Expr {
    fn from(name: &Name) -> Expr {
        Expr::Var(name.clone())
    }
}

impl From<Place> for Expr {
    fn from(place: Place) -> Expr {
        Expr::Load(place)
    }
}

impl From<&Place> for Expr {
    fn from(place: &Place) -> Expr {
        Expr::Load(place.clone())
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Expr {
        expr.clone()
    }
}

/// A sum or a difference; merges constants that are added to a count.
fn plus(left: Expr, right: Expr, op: Binary) -> Expr {
    let Expr::Count(n) = right else { return Expr::binary(op, left, right) };
    let n = if op == Binary::Add { n } else { -n };
    let (rest, n) = match left {
        Expr::Count(m) => return Expr::Count(m + n),
        Expr::Binary(inner @ (Binary::Add | Binary::Sub), operands) => match *operands {
            [rest, Expr::Count(m)] => (rest, if inner == Binary::Add { m + n } else { n - m }),
            operands => (Expr::Binary(inner, Box::new(operands)), n),
        },
        other => (other, n),
    };
    match n {
        0 => rest,
        n if n < 0 => Expr::binary(Binary::Sub, rest, -n),
        n => Expr::binary(Binary::Add, rest, n),
    }
}

impl<T: Into<Expr>> ops::Add<T> for Expr {
    type Output = Expr;
    fn add(self, other: T) -> Expr {
        plus(self, other.into(), Binary::Add)
    }
}

impl<T: Into<Expr>> ops::Sub<T> for Expr {
    type Output = Expr;
    fn sub(self, other: T) -> Expr {
        plus(self, other.into(), Binary::Sub)
    }
}

impl<T: Into<Expr>> ops::Mul<T> for Expr {
    type Output = Expr;
    fn mul(self, other: T) -> Expr {
        Expr::binary(Binary::Mul, self, other)
    }
}

impl<T: Into<Expr>> ops::Div<T> for Expr {
    type Output = Expr;
    fn div(self, other: T) -> Expr {
        Expr::binary(Binary::Div, self, other)
    }
}

impl<T: Into<Expr>> ops::Rem<T> for Expr {
    type Output = Expr;
    fn rem(self, other: T) -> Expr {
        Expr::binary(Binary::Rem, self, other)
    }
}

impl ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::Unary(Unary::Neg, Box::new(self))
    }
}

impl ops::Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        match self {
            Expr::Bool(truth) => Expr::Bool(!truth),
            Expr::Unary(Unary::Not, operand) => *operand,
            expr => Expr::Unary(Unary::Not, Box::new(expr)),
        }
    }
}
