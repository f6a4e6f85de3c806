//! One-line descriptions of operators and keywords.

use crate::tree::{BinaryOp, Direction, ExprKind, Polarity, UnaryOp};

/// The name and the description of an operator; `None` for names, numbers, calls and parentheses.
pub(super) fn operator(kind: ExprKind) -> Option<(&'static str, &'static str)> {
    Some(match kind {
        ExprKind::Unary(op, _) => (op.symbol(), unary(op)),
        ExprKind::Binary(op, ..) => (op.symbol(), binary(op)),
        ExprKind::If(..) => {
            ("if", "one of two values, selected by a condition; does not wait for the other one")
        }
        ExprKind::Index(..) => ("[ ]", "a row of a tensor; the index is a compile-time constant"),
        ExprKind::Fby(Direction::Forward, ..) => {
            ("fby", "the previous value; at the first cycle, the left side")
        }
        ExprKind::Fby(Direction::Back, ..) => {
            ("fby back", "the next value; at the last cycle, the left side")
        }
        ExprKind::When(Polarity::On, ..) => ("when", "the value at cycles where the condition is true"),
        ExprKind::When(Polarity::OnNot, ..) => {
            ("when not", "the value at cycles where the condition is false")
        }
        ExprKind::Merge(..) => {
            ("merge", "the first stream where the condition is true, the second where it is false")
        }
        ExprKind::Error
        | ExprKind::Number(_)
        | ExprKind::Bool(_)
        | ExprKind::Variable(_)
        | ExprKind::Call(..)
        | ExprKind::Group(_)
        | ExprKind::Named(..)
        | ExprKind::Tuple(_)
        | ExprKind::List(_)
        | ExprKind::Form(..) => return None,
    })
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "the negative, element by element",
        UnaryOp::Not => "true where the operand is false",
        UnaryOp::Post => "the next value",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "the sum, element by element",
        BinaryOp::Sub => "the difference, element by element",
        BinaryOp::Mul => "the product, element by element",
        BinaryOp::Divide => "the quotient of numbers, element by element",
        BinaryOp::IntDivide => "the quotient of integers",
        BinaryOp::Mod => "the remainder of integers",
        BinaryOp::Less => "whether the left side is smaller",
        BinaryOp::LessEqual => "whether the left side is smaller or equal",
        BinaryOp::Greater => "whether the left side is greater",
        BinaryOp::GreaterEqual => "whether the left side is greater or equal",
        BinaryOp::Equal => "whether both sides are equal",
        BinaryOp::NotEqual => "whether the sides differ",
        BinaryOp::And => "whether both sides are true",
        BinaryOp::Or => "whether one side is true, or both",
    }
}
