//! Expressions, in one table; they refer to each other by number, children before parents.
//!
//! An expression has two spans. Its *span* is all of it. Its *mark* ([`Exprs::at`]) is its characteristic
//! token: the operator of `x + b`, the `post` of `post u`, the first token of a variable, a literal or a
//! call. Messages about an expression point at its mark, so that they distinguish the operators of a long
//! line:
//!
//! ```text
//! o = x * k + b        type error in the sum:   o = x * k + b
//!                                                         ^
//! ```

use eddy_syntax::Span;

use super::Polarity;
use super::form::{Form, FormId};
use crate::names::Name;

eddy_index::id! {
    /// An expression: its index in [`Exprs`], and in tables parallel to it.
    pub struct ExprId, "fewer expressions than source bytes";
}

/// Several expressions, in order; [`Exprs::items`] gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExprList {
    start: u32,
    end: u32,
}

impl ExprList {
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A numeral and its text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: NumberValue,
    /// Its text in the source.
    pub text: Name,
}

/// The value of a numeral.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberValue {
    /// Without point and exponent: of either numeric type.
    Int(i64),
    /// With point or exponent: a `num`.
    Num(f64),
}

/// The prefix operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`.
    Negate,
    /// `not`.
    Not,
    /// `post`.
    Post,
}

impl UnaryOp {
    /// The word or symbol in the source.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Negate => "-",
            UnaryOp::Not => "not",
            UnaryOp::Post => "post",
        }
    }
}

/// The infix operators that are applied pointwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Divide,
    /// `div`.
    IntDivide,
    /// `mod`.
    Mod,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `and`.
    And,
    /// `or`.
    Or,
}

impl BinaryOp {
    /// The operator with this word or symbol.
    pub fn from_symbol(symbol: &str) -> Option<BinaryOp> {
        Some(match symbol {
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "*" => BinaryOp::Mul,
            "/" => BinaryOp::Divide,
            "div" => BinaryOp::IntDivide,
            "mod" => BinaryOp::Mod,
            "<" => BinaryOp::Less,
            "<=" => BinaryOp::LessEqual,
            ">" => BinaryOp::Greater,
            ">=" => BinaryOp::GreaterEqual,
            "==" => BinaryOp::Equal,
            "!=" => BinaryOp::NotEqual,
            "and" => BinaryOp::And,
            "or" => BinaryOp::Or,
            _ => return None,
        })
    }

    /// The word or symbol in source text.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Divide => "/",
            BinaryOp::IntDivide => "div",
            BinaryOp::Mod => "mod",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
        }
    }
}

/// The direction in which a delay looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// `fby`: to the past.
    Forward,
    /// `fby back`: to the future.
    Back,
}

/// The forms of expressions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExprKind {
    /// An unreadable expression, which was reported.
    Error,
    /// `1` or `2.5e-3`.
    Number(Number),
    /// `true` or `false`.
    Bool(bool),
    /// `x`.
    Variable(Name),
    /// `f(e, …)`: an instance of a node, or a function.
    Call(Name, ExprList),
    /// `k = e`, an argument of a call. Name resolution puts the arguments into the order of the inputs, after
    /// which none is left.
    Named(Name, ExprId),
    /// `(e)`.
    Group(ExprId),
    /// `(e, e, …)`, with at least two items.
    Tuple(ExprList),
    /// `[e, …]`.
    List(ExprList),
    /// `e[i]`: value and index.
    Index(ExprId, ExprId),
    /// `-e`, `not e` or `post e`.
    Unary(UnaryOp, ExprId),
    /// `e + e` and the like.
    Binary(BinaryOp, ExprId, ExprId),
    /// `if c then e else e`.
    If(ExprId, ExprId, ExprId),
    /// `i fby e` or `i fby back e`.
    Fby(Direction, ExprId, ExprId),
    /// `e when c` or `e when not c`: value and condition.
    When(Polarity, ExprId, ExprId),
    /// `merge c e e`.
    Merge(ExprId, ExprId, ExprId),
    /// A form of functions, and its parts in the order of the text.
    Form(FormId, ExprList),
}

/// The expressions of one program.
#[derive(Clone, Debug, Default)]
pub struct Exprs {
    kinds: Vec<ExprKind>,
    spans: Vec<Span>,
    marks: Vec<Span>,
    pool: Vec<ExprId>,
    forms: Vec<Form>,
}

impl Exprs {
    /// Adds an expression with its span and its mark.
    pub fn push(&mut self, kind: ExprKind, span: Span, at: Span) -> ExprId {
        let id = ExprId::new(self.kinds.len());
        self.kinds.push(kind);
        self.spans.push(span);
        self.marks.push(at);
        id
    }

    /// Replaces an expression in its place.
    pub(crate) fn replace(&mut self, expr: ExprId, kind: ExprKind) {
        self.kinds[expr.index()] = kind;
    }

    /// Makes a form for [`ExprKind::Form`].
    pub fn form_id(&mut self, form: Form) -> FormId {
        self.forms.push(form);
        FormId::new(self.forms.len() - 1)
    }

    pub fn form(&self, id: FormId) -> &Form {
        &self.forms[id.index()]
    }

    /// Makes a list of expressions.
    pub fn list(&mut self, items: impl IntoIterator<Item = ExprId>) -> ExprList {
        let offset = |at: usize| u32::try_from(at).expect("fewer expressions than source bytes");
        let start = offset(self.pool.len());
        self.pool.extend(items);
        ExprList { start, end: offset(self.pool.len()) }
    }

    /// Replaces the places of all expressions.
    pub(super) fn replace_places(&mut self, new: &impl Fn(Span) -> Span) {
        self.spans.iter_mut().chain(&mut self.marks).for_each(|span| *span = new(*span));
        self.forms.iter_mut().for_each(|form| form.replace_places(new));
    }

    /// The expressions of a list.
    pub fn items(&self, list: ExprList) -> &[ExprId] {
        &self.pool[list.start as usize..list.end as usize]
    }

    /// All expressions, children before parents. In a program with errors some have no parent.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ExprId> + use<> {
        // `push` checked that the number fits.
        #[allow(clippy::cast_possible_truncation)]
        let n_exprs = self.kinds.len() as u32;
        (0..n_exprs).map(ExprId)
    }

    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The form of an expression.
    pub fn kind(&self, id: ExprId) -> ExprKind {
        self.kinds[id.index()]
    }

    /// The span of an expression, all of it.
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.index()]
    }

    /// The span for messages about an expression: its operator, or its first token; for parentheses, the mark
    /// of their contents.
    pub fn at(&self, id: ExprId) -> Span {
        self.marks[id.index()]
    }

    /// The parts of an expression, from left to right.
    pub fn children(&self, id: ExprId) -> impl Iterator<Item = ExprId> {
        let (few, many) = match self.kind(id) {
            ExprKind::Error | ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Variable(_) => {
                ([None; 3], ExprList::default())
            }
            ExprKind::Group(inner) | ExprKind::Unary(_, inner) | ExprKind::Named(_, inner) => {
                ([Some(inner), None, None], ExprList::default())
            }
            ExprKind::Index(left, right)
            | ExprKind::Binary(_, left, right)
            | ExprKind::Fby(_, left, right)
            | ExprKind::When(_, left, right) => ([Some(left), Some(right), None], ExprList::default()),
            ExprKind::If(a, b, c) | ExprKind::Merge(a, b, c) => {
                ([Some(a), Some(b), Some(c)], ExprList::default())
            }
            ExprKind::Call(_, items)
            | ExprKind::Tuple(items)
            | ExprKind::List(items)
            | ExprKind::Form(_, items) => ([None; 3], items),
        };
        few.into_iter().flatten().chain(self.items(many).iter().copied())
    }

    /// The form of an expression, with these parts in the place of its own.
    pub(crate) fn with_children(&mut self, id: ExprId, parts: &[ExprId]) -> ExprKind {
        match (self.kind(id), parts) {
            (ExprKind::Call(name, _), _) => ExprKind::Call(name, self.list(parts.iter().copied())),
            (ExprKind::Tuple(_), _) => ExprKind::Tuple(self.list(parts.iter().copied())),
            (ExprKind::List(_), _) => ExprKind::List(self.list(parts.iter().copied())),
            (ExprKind::Form(form, _), _) => ExprKind::Form(form, self.list(parts.iter().copied())),
            (ExprKind::Named(name, _), [value]) => ExprKind::Named(name, *value),
            (ExprKind::Group(_), [inner]) => ExprKind::Group(*inner),
            (ExprKind::Unary(op, _), [operand]) => ExprKind::Unary(op, *operand),
            (ExprKind::Binary(op, ..), [left, right]) => ExprKind::Binary(op, *left, *right),
            (ExprKind::Index(..), [value, index]) => ExprKind::Index(*value, *index),
            (ExprKind::If(..), [c, yes, no]) => ExprKind::If(*c, *yes, *no),
            (ExprKind::Merge(..), [c, yes, no]) => ExprKind::Merge(*c, *yes, *no),
            (ExprKind::Fby(direction, ..), [first, next]) => ExprKind::Fby(direction, *first, *next),
            (ExprKind::When(polarity, ..), [value, c]) => ExprKind::When(polarity, *value, *c),
            (kind, _) => unreachable!("{kind:?} has other parts"),
        }
    }

    /// The expression inside all parentheses around it.
    pub fn without_parentheses(&self, id: ExprId) -> ExprId {
        let mut inner = id;
        while let ExprKind::Group(expr) = self.kind(inner) {
            inner = expr;
        }
        inner
    }
}
