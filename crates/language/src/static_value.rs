//! Compile-time constants: numbers and lists of integers (section 2).

use std::fmt;

use eddy_syntax::Diagnostic;
use eddy_tensor::Shape;
use rustc_hash::FxHashMap;

use crate::codes;
use crate::flow::Constant;
use crate::flow::constant::with_point;
use crate::tree::{BinaryOp, ExprId, ExprKind, Exprs, NumberValue, UnaryOp};

pub use eddy_tensor::Static;

/// Why an expression of constants has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaticError {
    DivisionByZero,
    /// The result does not fit into 64 bits.
    Overflow,
    /// A list where a number is needed, or a number where a list is needed.
    Kind(&'static str),
    /// `[1,2][5]`.
    Index {
        index: i64,
        length: usize,
    },
}

/// The constant in the syntax of the language.
pub fn shown(value: &Static) -> String {
    match value {
        Static::Num(x) => with_point(*x),
        value => Constant::from(value).to_string(),
    }
}

/// The list as a shape; `None` unless all items are valid sizes.
pub fn shape(value: &Static) -> Option<Shape> {
    match value {
        Static::List(sizes) => {
            let sizes: Option<Vec<usize>> = sizes.iter().map(|size| usize::try_from(*size).ok()).collect();
            Some(Shape::new(&sizes?))
        }
        Static::Int(_) | Static::Num(_) => None,
    }
}

/// `-e`; `None` for lists, which are negated at run time.
pub fn negated(value: &Static) -> Option<Result<Static, StaticError>> {
    match value {
        Static::Int(n) => Some(n.checked_neg().map(Static::Int).ok_or(StaticError::Overflow)),
        Static::Num(x) => Some(Ok(Static::Num(-x))),
        Static::List(_) => None,
    }
}

/// Whether an operator is evaluated at compile time if its operands are constants.
pub fn is_static_operator(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Divide, IntDivide, Mod, Mul, Sub};
    matches!(op, Add | Sub | Mul | Divide | IntDivide | Mod)
}

/// A binary operation; `None` if it is not evaluated at compile time.
pub fn binary(op: BinaryOp, left: &Static, right: &Static) -> Option<Result<Static, StaticError>> {
    let is_static = is_static_operator(op);
    // Arithmetic on lists happens at run time: `2 * [1,2]` is a product of two constant streams.
    let is_list = matches!(left, Static::List(_)) || matches!(right, Static::List(_));
    (is_static && !is_list).then(|| match (left, right) {
        (Static::Int(a), Static::Int(b)) => integers(op, *a, *b),
        _ => numbers(op, number(left), number(right)),
    })
}

/// `list[index]`.
pub fn item(list: &Static, index: &Static) -> Result<Static, StaticError> {
    match (list, index) {
        (Static::List(items), Static::Int(index)) => {
            let item = usize::try_from(*index).ok().and_then(|at| items.get(at));
            item.map(|n| Static::Int(*n)).ok_or(StaticError::Index { index: *index, length: items.len() })
        }
        (Static::List(_), _) => Err(StaticError::Kind("an index is an integer")),
        _ => Err(StaticError::Kind("a number has no items")),
    }
}

#[allow(clippy::cast_precision_loss)] // an integer mixed with numbers is rounded to the nearest double
fn number(value: &Static) -> f64 {
    match value {
        Static::Int(n) => *n as f64,
        Static::Num(x) => *x,
        Static::List(_) => unreachable!("lists have no compile-time arithmetic"),
    }
}

fn integers(op: BinaryOp, a: i64, b: i64) -> Result<Static, StaticError> {
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::IntDivide | BinaryOp::Mod if b == 0 => return Err(StaticError::DivisionByZero),
        BinaryOp::IntDivide => a.checked_div_euclid(b),
        BinaryOp::Mod => a.checked_rem_euclid(b),
        _ => return numbers(op, number(&Static::Int(a)), number(&Static::Int(b))),
    };
    result.map(Static::Int).ok_or(StaticError::Overflow)
}

fn numbers(op: BinaryOp, a: f64, b: f64) -> Result<Static, StaticError> {
    match op {
        BinaryOp::Add => Ok(Static::Num(a + b)),
        BinaryOp::Sub => Ok(Static::Num(a - b)),
        BinaryOp::Mul => Ok(Static::Num(a * b)),
        BinaryOp::Divide => Ok(Static::Num(a / b)),
        _ => Err(StaticError::Kind("`div` and `mod` are for integers")),
    }
}

/// The compile-time value of an expression, given the values of its parts; `None` if it is not static.
pub(crate) fn value(
    exprs: &Exprs,
    expr: ExprId,
    known: &FxHashMap<ExprId, Static>,
    variable: impl Fn(ExprId) -> Option<Static>,
) -> Option<Result<Static, StaticError>> {
    let known = |expr: ExprId| known.get(&expr);
    match exprs.kind(expr) {
        ExprKind::Number(number) => Some(Ok(match number.value {
            NumberValue::Int(n) => Static::Int(n),
            NumberValue::Num(x) => Static::Num(x),
        })),
        ExprKind::Variable(_) => variable(expr).map(Ok),
        ExprKind::Group(inner) => known(inner).cloned().map(Ok),
        ExprKind::Unary(UnaryOp::Negate, operand) => match exprs.kind(operand) {
            // `-9223372036854775808`: the parser already reads the numeral as the negative number, since the
            // positive one does not fit.
            ExprKind::Number(number) if number.value == NumberValue::Int(i64::MIN) => {
                Some(Ok(Static::Int(i64::MIN)))
            }
            _ => negated(known(operand)?),
        },
        ExprKind::Binary(op, left, right) => binary(op, known(left)?, known(right)?),
        ExprKind::List(items) => {
            let integer = |item: &ExprId| match known(*item) {
                Some(Static::Int(n)) => Some(*n),
                _ => None,
            };
            let items: Option<Vec<i64>> = exprs.items(items).iter().map(integer).collect();
            items.map(|items| Ok(Static::List(items)))
        }
        ExprKind::Index(list, index) => Some(item(known(list)?, known(index)?)),
        _ => None,
    }
}

/// The value of an expression outside of any node, such as `[2,3]` in `run f { shape = [2,3]; }`.
pub fn constant_expression(exprs: &Exprs, root: ExprId) -> Result<Static, Box<Diagnostic>> {
    let mut known = FxHashMap::default();
    for expr in postorder(exprs, root) {
        let span = exprs.at(expr);
        match value(exprs, expr, &known, |_| None) {
            Some(Ok(value)) => {
                known.insert(expr, value);
            }
            Some(Err(error)) => {
                return Err(Box::new(Diagnostic::error(codes::COMPILE_TIME, span, error.to_string())));
            }
            None => {
                let title = "a compile-time constant is needed here";
                return Err(Box::new(Diagnostic::error(codes::COMPILE_TIME, span, title)));
            }
        }
    }
    Ok(known.remove(&root).expect("the root comes last in the order"))
}

/// The expression and its parts, parts first.
pub(crate) fn postorder(exprs: &Exprs, root: ExprId) -> Vec<ExprId> {
    let (mut order, mut todo) = (Vec::new(), vec![root]);
    while let Some(expr) = todo.pop() {
        order.push(expr);
        todo.extend(exprs.children(expr));
    }
    order.reverse();
    order
}

impl fmt::Display for StaticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaticError::DivisionByZero => f.write_str("division by zero in a compile-time constant"),
            StaticError::Overflow => f.write_str("integer overflow in a compile-time constant"),
            StaticError::Kind(what) => {
                write!(f, "{what} (compile-time constants are numbers and lists of integers)")
            }
            StaticError::Index { index, length } => {
                write!(f, "the compile-time index {index} is out of range of a list of {length}")
            }
        }
    }
}
