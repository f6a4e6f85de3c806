//! Constants: what a stream is that does not depend on time.
//!
//! A constant is kept as it was written until its type is known, since `0` may turn out to be a number, an integer, or,
//! as the first value of a stream of vectors, a vector of zeros (section 3, literal stretching).

use std::fmt;

use eddy_tensor::init::SplitMix64;
use eddy_tensor::text::Number;
use eddy_tensor::{Data, Initialiser, Scalar, Shape, Static, Type, Value};

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// `true` or `false`.
    Bool(bool),
    /// An integer literal or static integer: of either numeric type.
    Int(i64),
    /// A number with point or exponent, or a static number.
    Num(f64),
    /// A list of static integers: of either numeric type.
    Ints(Vec<i64>),
    /// `zeros(s)` and its like; a random one is drawn once, from its seed path (section 4).
    Initialiser(Initialiser, Shape, Box<str>),
    /// A value that was learnt: a parameter that is read from a file.
    Given(Value),
    /// Zero of whatever type the stream has; only synthesised code has it.
    Zero,
}

impl Constant {
    /// Whether it takes the shape that its place requires: a scalar literal or a static number, or a zero.
    pub fn stretches(&self) -> bool {
        self.shape().is_none()
    }

    /// Its shape, if it has one of its own.
    pub fn shape(&self) -> Option<Shape> {
        match self {
            Constant::Ints(ns) => Some(Shape::new(&[ns.len()])),
            Constant::Initialiser(_, shape, _) => Some(shape.clone()),
            Constant::Given(value) => Some(value.shape().clone()),
            Constant::Bool(_) | Constant::Int(_) | Constant::Num(_) | Constant::Zero => None,
        }
    }

    /// Its value at the type that inference found for it.
    pub fn value(&self, ty: &Type, seed: u64) -> Value {
        let n = ty.shape.n_elements().expect("inference refuses types that are too large");
        let data = match self {
            Constant::Bool(truth) => Data::Bool(vec![*truth; n]),
            Constant::Int(integer) => integers(&vec![*integer; n], ty.scalar),
            Constant::Ints(ints) => integers(ints, ty.scalar),
            Constant::Num(x) => Data::Num(vec![*x; n]),
            Constant::Zero => return Value::zeros(ty),
            Constant::Given(value) => return value.clone(),
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

/// A number as it is written: with a point or an exponent, which tells it from an integer.
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
            Constant::Given(value) => write!(f, "given {}", value.ty()),
            Constant::Zero => f.write_str("0"),
        }
    }
}
