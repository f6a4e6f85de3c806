//! Constants: right-hand sides that do not depend on time.
//!
//! A constant keeps its source form until its type is known: `0` may turn out to be a number, an integer, or,
//! as the first value of a stream of vectors, a vector of zeros (section 3, literal stretching).

use std::fmt;

use eddy_tensor::init::SplitMix64;
use eddy_tensor::text::Number;
use eddy_tensor::{Data, Initialiser, Scalar, Shape, Static, Type, Value};

use super::Name;

#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Bool(bool),
    /// An integer literal or static integer; its type may be `int` or `num`.
    Int(i64),
    /// A literal with point or exponent, or a static number.
    Num(f64),
    /// A list of static integers; its type may be `int` or `num`.
    Ints(Vec<i64>),
    /// `zeros(s)`, `glorot(s)` and so on. A random one is drawn once, from its seed path (section 4).
    Initialiser(Initialiser, Shape, Name),
    /// The value of a parameter, read from a file.
    Value(Value),
    /// Zero of the stream's type. Only synthesised equations contain it.
    Zero,
}

impl Constant {
    /// Whether it takes the shape that the context requires: scalar literals, static numbers and zeros do.
    pub fn stretches(&self) -> bool {
        self.shape().is_none()
    }

    /// `None` if the constant takes the shape that the context requires.
    pub fn shape(&self) -> Option<Shape> {
        match self {
            Constant::Ints(ns) => Some(Shape::new(&[ns.len()])),
            Constant::Initialiser(_, shape, _) => Some(shape.clone()),
            Constant::Value(value) => Some(value.shape().clone()),
            Constant::Bool(_) | Constant::Int(_) | Constant::Num(_) | Constant::Zero => None,
        }
    }

    /// The value at the inferred type; `seed` is the global seed of random initialisers.
    pub fn value(&self, ty: &Type, seed: u64) -> Value {
        let n = ty.shape.n_elements().expect("inference refuses types that are too large");
        let data = match self {
            Constant::Bool(truth) => Data::Bool(vec![*truth; n]),
            Constant::Int(integer) => integers(&vec![*integer; n], ty.scalar),
            Constant::Ints(ints) => integers(ints, ty.scalar),
            Constant::Num(x) => Data::Num(vec![*x; n]),
            Constant::Zero => return Value::zeros(ty),
            Constant::Value(value) => return value.clone(),
            Constant::Initialiser(initialiser, shape, path) => {
                let value = initialiser.value(ty.scalar, shape, SplitMix64::new(path, seed));
                return value.expect("inference refuses types that are too large");
            }
        };
        Value::new(ty.shape.clone(), data).expect("there are as many elements as the shape has")
    }
}

impl From<&Static> for Constant {
    fn from(value: &Static) -> Constant {
        match value {
            Static::Int(n) => Constant::Int(*n),
            Static::Num(x) => Constant::Num(*x),
            Static::List(ns) => Constant::Ints(ns.clone()),
        }
    }
}

#[allow(clippy::cast_precision_loss)] // an integer literal at `num` is the nearest number
fn integers(ints: &[i64], scalar: Scalar) -> Data {
    match scalar {
        Scalar::Int => Data::Int(ints.to_vec()),
        _ => Data::Num(ints.iter().map(|n| *n as f64).collect()),
    }
}

/// Writes a `num` with a point or an exponent, which distinguishes it from an integer.
pub fn with_point(x: f64) -> String {
    let text = Number(x).to_string();
    let is_integral = text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if is_integral { text + ".0" } else { text }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Bool(truth) => write!(f, "{truth}"),
            Constant::Int(n) => write!(f, "{n}"),
            Constant::Num(x) => write!(f, "{}", Number(*x)),
            Constant::Ints(ns) => {
                let items: Vec<String> = ns.iter().map(i64::to_string).collect();
                write!(f, "[{}]", items.join(","))
            }
            Constant::Initialiser(initialiser, shape, _) => write!(f, "{}({shape})", initialiser.name()),
            Constant::Value(value) => write!(f, "given {}", value.ty()),
            Constant::Zero => f.write_str("0"),
        }
    }
}
