//! The functions that a program can call by name, and the translation of a call to an operation.
//!
//! Some arguments are static: known at compile time, they become part of the operation. They come first, as
//! in `slice(0,2,x)`, except for an axis, which comes last and is optional: `sum(x,0)`, `sum(x)`.
//!
//! Operators and other syntax (`+`, `x[i]`, `[a,b]`) are not functions; `zeros` and the other initialisers
//! are in [`crate::init`].

use std::fmt;

use crate::op::{Op, ROWS};
use crate::shape::Shape;
use crate::signature::{Arity, Signature};
use crate::spelling::Spelling;

#[derive(Clone, Copy, Debug)]
pub struct Builtin(&'static Row);

/// A row of the operation table.
#[derive(Debug)]
pub(crate) struct Row {
    /// The operation with arbitrary static arguments.
    pub(crate) sample: Op,
    pub(crate) statics: &'static [StaticKind],
    pub(crate) construct: fn(&mut Arguments<'_>) -> Result<Op, StaticError>,
}

/// A compile-time argument.
#[derive(Clone, Debug, PartialEq)]
pub enum Static {
    Int(i64),
    /// No function takes a number; it exists to be rejected with a proper error.
    Num(f64),
    List(Vec<i64>),
}

/// The kind of a static argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticKind {
    /// A non-negative integer before the operands.
    Size,
    /// A list of non-negative integers before the operands.
    Shape,
    /// An optional axis after the operands.
    Axis,
}

/// Why static arguments do not form an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaticError {
    /// The argument has the wrong kind.
    Kind { name: &'static str, expected: StaticKind },
    /// A size, an index or an axis is negative.
    Negative { name: &'static str, found: i64 },
}

/// Finds a function by name.
///
/// ```
/// use eddy_tensor::{Op, Static, builtin};
/// let slice = builtin("slice").unwrap();
/// assert_eq!(slice.op(&[Static::Int(0), Static::Int(2)]), Ok(Op::Slice(0, 2)));
/// assert!(builtin("slize").is_none());
/// ```
pub fn builtin(name: &str) -> Option<Builtin> {
    builtins().find(|builtin| builtin.name() == name)
}

/// Finds an operation by its name in the text of flow: a function that programs can call, or a hidden one.
pub fn named(name: &str) -> Option<Builtin> {
    let is_named =
        |row: &&Row| matches!(row.sample.spelling(), Spelling::Call | Spelling::Hidden | Spelling::Function);
    ROWS.iter().filter(is_named).map(Builtin).find(|builtin| builtin.name() == name)
}

pub fn builtins() -> impl Iterator<Item = Builtin> {
    ROWS.iter().filter(|row| row.sample.spelling() == Spelling::Call).map(Builtin)
}

impl Builtin {
    pub fn name(self) -> &'static str {
        self.0.sample.name()
    }

    /// A one-line description for users.
    pub fn doc(self) -> &'static str {
        self.0.sample.doc()
    }

    /// The kinds of the static arguments: those before the operands, then possibly an axis.
    pub fn statics(self) -> &'static [StaticKind] {
        self.0.statics
    }

    /// The number of static arguments before the operands.
    pub fn n_leading(self) -> usize {
        self.0.statics.iter().filter(|kind| **kind != StaticKind::Axis).count()
    }

    /// Whether an axis may follow the operands.
    pub fn has_axis(self) -> bool {
        self.0.statics.contains(&StaticKind::Axis)
    }

    /// The number of operands, without static arguments.
    pub fn arity(self) -> Arity {
        self.0.sample.arity()
    }

    /// The scalar types of operands and result.
    pub fn signature(self) -> Signature {
        self.0.sample.signature()
    }

    /// Whether a call may have this many arguments, static ones included.
    pub fn accepts(self, n_arguments: usize) -> bool {
        let Some(n_operands) = n_arguments.checked_sub(self.n_leading()) else { return false };
        let is_with_axis = self.has_axis() && n_operands > 0 && self.arity().accepts(n_operands - 1);
        self.arity().accepts(n_operands) || is_with_axis
    }

    /// The operation with these static arguments. The caller has checked their number against
    /// [`Builtin::statics`]; only an axis may be missing.
    pub fn op(self, statics: &[Static]) -> Result<Op, StaticError> {
        let mut arguments = Arguments { name: self.name(), left: statics };
        let op = (self.0.construct)(&mut arguments)?;
        assert!(arguments.left.is_empty(), "the caller of `{}` counted its static arguments", self.name());
        Ok(op)
    }
}

/// Static arguments that have not been read yet.
pub(crate) struct Arguments<'a> {
    name: &'static str,
    left: &'a [Static],
}

impl<'a> Arguments<'a> {
    fn next(&mut self) -> Option<&'a Static> {
        let (first, others) = self.left.split_first()?;
        self.left = others;
        Some(first)
    }

    fn size(&self, number: i64) -> Result<usize, StaticError> {
        usize::try_from(number).map_err(|_| StaticError::Negative { name: self.name, found: number })
    }

    fn unexpected(&self, expected: StaticKind) -> StaticError {
        StaticError::Kind { name: self.name, expected }
    }
}

/// A type of static argument: of a field of [`Op`].
pub(crate) trait StaticArgument: Sized {
    const KIND: StaticKind;
    const SAMPLE: Self;

    fn read(arguments: &mut Arguments<'_>) -> Result<Self, StaticError>;

    /// The argument that `read` would turn into this value; `None` for a missing axis.
    fn to_static(&self) -> Option<Static>;
}

impl StaticArgument for usize {
    const KIND: StaticKind = StaticKind::Size;
    const SAMPLE: usize = 0;

    fn read(arguments: &mut Arguments<'_>) -> Result<usize, StaticError> {
        match arguments.next() {
            Some(Static::Int(number)) => arguments.size(*number),
            _ => Err(arguments.unexpected(StaticKind::Size)),
        }
    }

    fn to_static(&self) -> Option<Static> {
        Some(Static::Int(to_int(*self)))
    }
}

impl StaticArgument for Shape {
    const KIND: StaticKind = StaticKind::Shape;
    const SAMPLE: Shape = Shape::scalar();

    fn read(arguments: &mut Arguments<'_>) -> Result<Shape, StaticError> {
        match arguments.next() {
            Some(Static::List(numbers)) => {
                let sizes: Result<Vec<usize>, _> = numbers.iter().map(|n| arguments.size(*n)).collect();
                Ok(Shape::from(sizes?))
            }
            _ => Err(arguments.unexpected(StaticKind::Shape)),
        }
    }

    fn to_static(&self) -> Option<Static> {
        Some(Static::List(self.iter().map(|size| to_int(*size)).collect()))
    }
}

impl StaticArgument for Option<usize> {
    const KIND: StaticKind = StaticKind::Axis;
    const SAMPLE: Option<usize> = None;

    fn read(arguments: &mut Arguments<'_>) -> Result<Option<usize>, StaticError> {
        match arguments.next() {
            None => Ok(None),
            Some(Static::Int(number)) => arguments.size(*number).map(Some),
            Some(_) => Err(arguments.unexpected(StaticKind::Axis)),
        }
    }

    fn to_static(&self) -> Option<Static> {
        self.map(|axis| Static::Int(to_int(axis)))
    }
}

/// Cannot fail: sizes come from 64-bit integers, or count elements in memory.
fn to_int(size: usize) -> i64 {
    i64::try_from(size).expect("a size is below 2^63")
}

impl fmt::Display for StaticKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StaticKind::Size => "a compile-time integer",
            StaticKind::Shape => "a compile-time list of integers",
            StaticKind::Axis => "a compile-time integer as axis",
        })
    }
}

impl fmt::Display for StaticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaticError::Kind { name, expected } => write!(f, "{name} expects {expected}"),
            StaticError::Negative { name, found } => write!(f, "{found} is out of range for {name}"),
        }
    }
}

impl std::error::Error for StaticError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_resolves() {
        let names = "abs relu exp log sqrt tanh sigmoid sin cos pow maximum minimum where matmul concat reshape \
            transpose sum mean max max_mask softmax conv2d conv2d_dx conv2d_dk num int argmax onehot stop_gradient \
            zeros_like ones_like sum_to slice pad spread broadcast reduce outer unfold fold";
        let names: Vec<&str> = names.split_whitespace().collect();
        for name in &names {
            assert_eq!(builtin(name).map(Builtin::name), Some(*name));
        }
        assert_eq!(builtins().count(), names.len(), "no others can be called");
        for syntax in ["+", "index", "stack", "copy", "if", "div", "not"] {
            assert!(builtin(syntax).is_none(), "{syntax} is not a function");
        }
    }

    fn function(name: &str) -> Builtin {
        builtin(name).expect("it is in the table")
    }

    #[test]
    fn static_arguments_make_operations() {
        let two = [Static::Int(1), Static::Int(3)];
        assert_eq!(function("pad").op(&two), Ok(Op::Pad(1, 3)));
        assert_eq!(function("spread").op(&two), Ok(Op::Spread(1, 3)));
        assert_eq!(function("onehot").op(&[Static::Int(4)]), Ok(Op::Onehot(4)));
        assert_eq!(function("max").op(&[]), Ok(Op::Max(None)));
        assert_eq!(function("max").op(&[Static::Int(1)]), Ok(Op::Max(Some(1))));
        let list = [Static::List(vec![2, 3])];
        assert_eq!(function("reshape").op(&list), Ok(Op::Reshape(Shape::new(&[2, 3]))));
        assert_eq!(function("reduce").op(&[Static::List(vec![])]), Ok(Op::Reduce(Shape::scalar())));
    }

    #[test]
    fn an_operation_gives_its_static_arguments_back() {
        for op in [
            Op::Slice(1, 2),
            Op::Onehot(3),
            Op::Sum(None),
            Op::Mean(Some(1)),
            Op::Broadcast(Shape::new(&[4])),
            Op::Exp,
        ] {
            let builtin = builtin(op.name()).expect("these are functions");
            assert_eq!(builtin.op(&op.statics()), Ok(op));
        }
    }

    #[test]
    fn other_static_arguments_are_refused() {
        let sentence =
            |name: &str, statics: &[Static]| function(name).op(statics).expect_err("refused").to_string();
        assert_eq!(sentence("reshape", &[Static::Int(3)]), "reshape expects a compile-time list of integers");
        assert_eq!(sentence("onehot", &[Static::Num(1.5)]), "onehot expects a compile-time integer");
        assert_eq!(sentence("slice", &[Static::Int(0)]), "slice expects a compile-time integer");
        assert_eq!(sentence("sum", &[Static::List(vec![])]), "sum expects a compile-time integer as axis");
        assert_eq!(sentence("slice", &[Static::Int(-1), Static::Int(2)]), "-1 is out of range for slice");
        assert_eq!(sentence("broadcast", &[Static::List(vec![2, -3])]), "-3 is out of range for broadcast");
    }

    #[test]
    fn calls_have_the_right_number_of_arguments() {
        let accepted = |name: &str| -> Vec<usize> {
            let builtin = function(name);
            (0..6).filter(|n| builtin.accepts(*n)).collect()
        };
        assert_eq!(accepted("exp"), [1]);
        assert_eq!(accepted("sum"), [1, 2]);
        assert_eq!(accepted("slice"), [3]);
        assert_eq!(accepted("reshape"), [2]);
        assert_eq!(accepted("concat"), [1, 2, 3, 4, 5]);
        assert_eq!(accepted("where"), [3]);
        assert_eq!(function("slice").n_leading(), 2);
        assert!(function("mean").has_axis() && !function("exp").has_axis());
    }
}
