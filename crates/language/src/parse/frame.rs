//! The forms of expressions that can be open, and how tightly they bind.

use eddy_syntax::Span;

use super::form::OpenForm;
use crate::tree::{BinaryOp, Direction, ExprId, Ident, Polarity, UnaryOp};

/// An open form: the parts read so far, and which part comes next. `base` is the index of its first item.
pub(super) enum Frame {
    /// `( e, …` waits for `,` or `)`.
    Paren { open: Span, base: usize },
    /// `[ e, …` waits for `,` or `]`.
    List { open: Span, base: usize },
    /// `f( e, …` waits for `,` or `)`.
    Arguments { callee: Ident, open: Span, base: usize },
    /// `k =` waits for the end of the argument.
    Named { ident: Ident },
    /// `e[` waits for `]`.
    Index { value: ExprId, open: Span },
    /// `-`, `not` or `post`.
    Unary { op: UnaryOp, at: Span },
    /// `e op` has its left operand.
    Binary { op: BinaryOp, at: Span, left: ExprId },
    /// `e fby` or `e fby back`.
    Fby { direction: Direction, at: Span, first: ExprId },
    /// `e when` or `e when not`.
    When { polarity: Polarity, at: Span, value: ExprId },
    /// `merge` waits for three arguments.
    Merge { at: Span, base: usize },
    /// `reset` waits for a call.
    Reset { at: Span },
    /// `reset f(x) every` waits for a condition.
    Every { at: Span, call: ExprId },
    /// `if` waits for `then`.
    IfCondition { at: Span },
    /// `if c then` waits for `else`.
    IfThen { at: Span, condition: ExprId },
    /// `if c then e else`.
    IfElse { at: Span, condition: ExprId, yes: ExprId },
    /// A form of functions.
    Form(Box<OpenForm>),
}

/// How tightly operators bind, loosest first. `when`, `merge` and indices bind tighter than all of them and
/// are handled as soon as an operand is read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    /// The operand of `else` and the right operand of `fby` are whole expressions.
    Expr,
    With,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
}

/// An infix operator.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Binary(BinaryOp),
    Fby,
    /// `with [`, in functions.
    With,
}

impl Operator {
    pub fn from_symbol(symbol: &str) -> Option<Operator> {
        match symbol {
            "fby" => Some(Operator::Fby),
            _ => BinaryOp::from_symbol(symbol).map(Operator::Binary),
        }
    }

    pub fn binding(self) -> Binding {
        match self {
            Operator::Fby => Binding::Expr,
            Operator::With => Binding::With,
            Operator::Binary(op) => binding(op),
        }
    }
}

fn binding(op: BinaryOp) -> Binding {
    match op {
        BinaryOp::Add | BinaryOp::Sub => Binding::Sum,
        BinaryOp::Mul | BinaryOp::Divide | BinaryOp::IntDivide | BinaryOp::Mod => Binding::Product,
        BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::Equal
        | BinaryOp::NotEqual => Binding::Compare,
        BinaryOp::And => Binding::And,
        BinaryOp::Or => Binding::Or,
    }
}

impl Frame {
    /// How tightly the form binds the operand on its right; `None` if it expects a word or a bracket.
    pub fn binding(&self) -> Option<Binding> {
        match self {
            Frame::Unary { .. } => Some(Binding::Unary),
            Frame::Binary { op, .. } => Some(binding(*op)),
            Frame::Fby { .. } | Frame::IfElse { .. } => Some(Binding::Expr),
            Frame::Form(open) => open.waits.binding(),
            _ => None,
        }
    }

    /// The loosest operator that its next part may have outside of parentheses.
    pub fn loosest(&self) -> Binding {
        match self {
            Frame::Form(open) => open.waits.loosest(),
            _ => Binding::Expr,
        }
    }

    /// Whether its next part is a whole expression, which may be an `if`, and not a mere operand.
    pub fn takes_expression(&self) -> bool {
        match self {
            Frame::Unary { .. }
            | Frame::Binary { .. }
            | Frame::When { .. }
            | Frame::Merge { .. }
            | Frame::Reset { .. }
            | Frame::Every { .. } => false,
            Frame::Paren { .. }
            | Frame::List { .. }
            | Frame::Arguments { .. }
            | Frame::Named { .. }
            | Frame::Index { .. }
            | Frame::Fby { .. }
            | Frame::IfCondition { .. }
            | Frame::IfThen { .. }
            | Frame::IfElse { .. } => true,
            Frame::Form(open) => open.waits.loosest() == Binding::Expr,
        }
    }

    /// The token that must follow the current part, in words for a message.
    pub fn waits_for(&self) -> Option<&'static str> {
        match self {
            Frame::Paren { .. } | Frame::Arguments { .. } | Frame::Named { .. } => Some("`,` or `)`"),
            Frame::List { .. } => Some("`,` or `]`"),
            Frame::Index { .. } => Some("`]`"),
            Frame::IfCondition { .. } => Some("`then`"),
            Frame::IfThen { .. } => Some("`else`"),
            Frame::Reset { .. } => Some("`every`"),
            Frame::Form(open) => open.waits_for(),
            _ => None,
        }
    }

    /// The span where it was opened and the text of the label there; `None` if it expects no token.
    pub fn opening(&self) -> Option<(Span, &'static str)> {
        match *self {
            Frame::Paren { open, .. } => Some((open, "this parenthesis is open")),
            Frame::Arguments { callee, open, .. } => {
                Some((callee.span.to(open), "the arguments of this call are open"))
            }
            Frame::List { open, .. } | Frame::Index { open, .. } => Some((open, "this bracket is open")),
            Frame::IfCondition { at } => Some((at, "this `if` waits for its `then`")),
            Frame::IfThen { at, .. } => Some((at, "this `if` waits for its `else`")),
            Frame::Reset { at } => Some((at, "this `reset` waits for its `every`")),
            Frame::Form(ref open) => open.opening(),
            _ => None,
        }
    }
}
