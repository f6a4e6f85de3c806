//! The operations and predicates of section 5, in one table: name, arity, domain and value.
//!
//! Reals are finite; an operation is undefined outside its open domain, and *overflows* when its result would
//! not be finite. [`crate::template`] defines the reverse derivative `op_r` of an operation.

use eddy_syntax::real::Real;

use crate::types::{Type, Types};

/// Why a program has no value: `undefined: …`. This is an answer, not an error.
#[derive(Clone, Debug, PartialEq)]
pub enum Undefined {
    /// An operation or predicate outside its domain, and its argument.
    Outside {
        /// The printed name of the operation.
        what: String,
        /// Its argument: one real or a pair.
        at: Vec<f64>,
    },
    /// A result that is not finite.
    Overflow,
    /// A call of a `letrec[0]` function (section 9).
    LetrecLimit(String),
    /// Under `use clarke`, the branches at a tie have different values.
    Jump,
    /// Under `use clarke`, more ties on one path than [`crate::outcome::Ties`] explores.
    TooManyTies,
}

impl std::fmt::Display for Undefined {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Undefined::Outside { what, at } => match at.as_slice() {
                [x] => write!(f, "{what} at {}", Real(*x)),
                [x, y] => write!(f, "{what} at ({}, {})", Real(*x), Real(*y)),
                _ => unreachable!("partial operations take one real or two"),
            },
            Undefined::Overflow => f.write_str("overflow"),
            Undefined::LetrecLimit(name) => write!(f, "letrec limit in {name}"),
            Undefined::Jump => f.write_str("jump"),
            Undefined::TooManyTies => f.write_str("too many ties"),
        }
    }
}

/// An operation on reals: addition, which the paper treats separately, and the scalar operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `M + N` at `real`.
    Add,
    /// `neg(x)`.
    Neg,
    /// `sub(x, y)`.
    Sub,
    /// `mul(x, y)`.
    Mul,
    /// `div(x, y)`, `y ≠ 0`.
    Div,
    /// `exp(x)`.
    Exp,
    /// `log(x)`, `x > 0`.
    Log,
    /// `sin(x)`.
    Sin,
    /// `cos(x)`.
    Cos,
    /// `tan(x)`, `cos x ≠ 0`.
    Tan,
    /// `tanh(x)`.
    Tanh,
    /// `sigmoid(x)`.
    Sigmoid,
    /// `sqrt(x)`, `x > 0`: at 0 it has no derivative.
    Sqrt,
    /// `pow(x, y)`, `x > 0`.
    Pow,
    /// `powi[k](x)`, `x ≠ 0` when `k < 0`.
    Powi(i64),
}

impl Scalar {
    pub fn is_binary(self) -> bool {
        matches!(self, Scalar::Add | Scalar::Sub | Scalar::Mul | Scalar::Div | Scalar::Pow)
    }

    /// The name in source text; `+` for addition.
    pub fn name(self) -> String {
        match self {
            Scalar::Powi(exponent) => format!("powi[{exponent}]"),
            other => other.keyword().to_string(),
        }
    }

    pub fn keyword(self) -> &'static str {
        match self {
            Scalar::Add => "+",
            Scalar::Neg => "neg",
            Scalar::Sub => "sub",
            Scalar::Mul => "mul",
            Scalar::Div => "div",
            Scalar::Exp => "exp",
            Scalar::Log => "log",
            Scalar::Sin => "sin",
            Scalar::Cos => "cos",
            Scalar::Tan => "tan",
            Scalar::Tanh => "tanh",
            Scalar::Sigmoid => "sigmoid",
            Scalar::Sqrt => "sqrt",
            Scalar::Pow => "pow",
            Scalar::Powi(_) => "powi",
        }
    }

    /// The value at `x` (and `y`, for two arguments), without checks: outside the domain, or beyond the
    /// finite reals, the result is meaningless.
    #[inline]
    #[allow(clippy::cast_precision_loss)] // exponents are within ±2^53, see the parser
    pub fn raw(self, x: f64, y: f64) -> f64 {
        match self {
            Scalar::Add => x + y,
            Scalar::Neg => -x,
            Scalar::Sub => x - y,
            Scalar::Mul => x * y,
            Scalar::Div => x / y,
            Scalar::Exp => x.exp(),
            Scalar::Log => x.ln(),
            Scalar::Sin => x.sin(),
            Scalar::Cos => x.cos(),
            Scalar::Tan => x.tan(),
            Scalar::Tanh => x.tanh(),
            Scalar::Sigmoid if x >= 0.0 => 1.0 / (1.0 + (-x).exp()),
            Scalar::Sigmoid => {
                let e = x.exp();
                e / (1.0 + e)
            }
            Scalar::Sqrt => x.sqrt(),
            Scalar::Pow => x.powf(y),
            Scalar::Powi(exponent) => x.powf(exponent as f64),
        }
    }

    /// Whether the arguments are in the open domain.
    #[inline]
    pub fn is_defined(self, x: f64, y: f64) -> bool {
        match self {
            Scalar::Div => y != 0.0,
            Scalar::Log | Scalar::Sqrt | Scalar::Pow => x > 0.0,
            Scalar::Tan => x.cos() != 0.0,
            Scalar::Powi(exponent) => exponent >= 0 || x != 0.0,
            _ => true,
        }
    }

    /// The partial function `ev(op, V)`.
    ///
    /// ```
    /// use eddy_rd::operation::Scalar;
    /// assert_eq!(Scalar::Div.eval(1.0, 4.0), Ok(0.25));
    /// assert_eq!(Scalar::Log.eval(-1.0, 0.0).unwrap_err().to_string(), "log at -1");
    /// assert_eq!(Scalar::Exp.eval(1000.0, 0.0).unwrap_err().to_string(), "overflow");
    /// ```
    #[inline]
    pub fn eval(self, x: f64, y: f64) -> Result<f64, Undefined> {
        if !self.is_defined(x, y) {
            return Err(self.outside(x, y));
        }
        finite(self.raw(x, y))
    }

    /// The report for arguments outside the domain.
    #[cold]
    pub fn outside(self, x: f64, y: f64) -> Undefined {
        let at = if self.is_binary() { vec![x, y] } else { vec![x] };
        Undefined::Outside { what: self.name(), at }
    }
}

/// `x` if it is finite, otherwise [`Undefined::Overflow`].
#[inline]
pub fn finite(x: f64) -> Result<f64, Undefined> {
    if x.is_finite() { Ok(x) } else { Err(Undefined::Overflow) }
}

/// An operation of the language without `+`: a scalar one, or one of the two that work at every type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// An operation on reals.
    Scalar(Scalar),
    /// `dot_T : T × T → real`; the paper's `DProd_n` at `real^n`.
    Dot(Type),
    /// `scale_T : real × T → T`.
    Scale(Type),
}

/// An operation or the reverse derivative of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `op : T → U`.
    Primal(Primitive),
    /// `op_r : T × U → T`; its argument is the pair of the point and the cotangent.
    Reverse(Primitive),
}

impl Primitive {
    /// The name in source text.
    pub fn name(self) -> String {
        match self {
            Primitive::Scalar(scalar) => scalar.name(),
            Primitive::Dot(_) => "dot".to_string(),
            Primitive::Scale(_) => "scale".to_string(),
        }
    }

    /// The arity `T → U`.
    pub fn arity(self, types: &mut Types) -> (Type, Type) {
        match self {
            Primitive::Scalar(scalar) if scalar.is_binary() => {
                (types.product(Type::REAL, Type::REAL), Type::REAL)
            }
            Primitive::Scalar(_) => (Type::REAL, Type::REAL),
            Primitive::Dot(ty) => (types.product(ty, ty), Type::REAL),
            Primitive::Scale(ty) => (types.product(Type::REAL, ty), ty),
        }
    }
}

impl Op {
    /// The name of the operation, or that of its reverse.
    pub fn name(self) -> String {
        match self {
            Op::Primal(primitive) => primitive.name(),
            Op::Reverse(Primitive::Scalar(Scalar::Powi(exponent))) => format!("powi_r[{exponent}]"),
            Op::Reverse(primitive) => format!("{}_r", primitive.name()),
        }
    }

    /// The arity `T → U` of the operation, or `T × U → T` of its reverse.
    pub fn arity(self, types: &mut Types) -> (Type, Type) {
        match self {
            Op::Primal(primitive) => primitive.arity(types),
            Op::Reverse(primitive) => {
                let (argument, result) = primitive.arity(types);
                (types.product(argument, result), argument)
            }
        }
    }
}

/// A predicate on two reals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pred {
    /// `<`, undefined on equal arguments.
    Lt,
    /// `>`, undefined on equal arguments.
    Gt,
    /// `<=`, only under `use clarke`.
    Le,
    /// `>=`, only under `use clarke`.
    Ge,
    /// `==`, only under `use clarke`.
    Eq,
    /// `!=`, only under `use clarke`.
    Ne,
}

impl Pred {
    /// The predicate of a symbol.
    pub fn from_symbol(symbol: &str) -> Option<Pred> {
        Some(match symbol {
            "<" => Pred::Lt,
            ">" => Pred::Gt,
            "<=" => Pred::Le,
            ">=" => Pred::Ge,
            "==" => Pred::Eq,
            "!=" => Pred::Ne,
            _ => return None,
        })
    }

    pub fn symbol(self) -> &'static str {
        match self {
            Pred::Lt => "<",
            Pred::Gt => ">",
            Pred::Le => "<=",
            Pred::Ge => ">=",
            Pred::Eq => "==",
            Pred::Ne => "!=",
        }
    }

    /// The name in `undefined:` reports.
    pub fn name(self) -> &'static str {
        match self {
            Pred::Lt => "lt",
            Pred::Gt => "gt",
            Pred::Le => "le",
            Pred::Ge => "ge",
            Pred::Eq => "eq",
            Pred::Ne => "ne",
        }
    }

    /// Whether both pre-images are open; the checker refuses all other predicates without `use clarke`.
    pub fn is_continuous(self) -> bool {
        matches!(self, Pred::Lt | Pred::Gt)
    }

    /// The partial function `bev(pred, V)`.
    #[inline]
    pub fn eval(self, x: f64, y: f64) -> Result<bool, Undefined> {
        match self {
            Pred::Lt | Pred::Gt if x == y => Err(self.outside(x, y)),
            Pred::Lt => Ok(x < y),
            Pred::Gt => Ok(x > y),
            Pred::Le => Ok(x <= y),
            Pred::Ge => Ok(x >= y),
            Pred::Eq => Ok(x == y),
            Pred::Ne => Ok(x != y),
        }
    }

    /// The report for a tie.
    #[cold]
    pub fn outside(self, x: f64, y: f64) -> Undefined {
        Undefined::Outside { what: self.name().to_string(), at: vec![x, y] }
    }
}
