//! Generated source expressions, and their text.
//!
//! The expressions are in a table like those of a file ([`Exprs`]), without spans. Parentheses are not
//! stored: the text has those that the grammar needs, and a few for readability, such as those around `when`
//! among operators.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::nodes::Line;
use crate::names::Names;
use crate::program::Module;
use crate::static_value::postorder;
use crate::tree::{
    BinaryOp, Decl, Direction, ExprId, ExprKind, Exprs, Number, NumberValue, Polarity, UnaryOp,
};

/// Expressions under construction.
#[derive(Default)]
pub(super) struct Text {
    exprs: Exprs,
    names: Names,
}

/// Returns the replacement of an expression in a copy, if there is one, given the copies of its parts.
type Change<'a> = dyn FnMut(&mut Text, ExprId, &FxHashMap<ExprId, ExprId>) -> Option<ExprId> + 'a;

impl Text {
    fn push(&mut self, kind: ExprKind) -> ExprId {
        self.exprs.push(kind, Span::default(), Span::default())
    }

    pub fn var(&mut self, name: &str) -> ExprId {
        let name = self.names.intern(name);
        self.push(ExprKind::Variable(name))
    }

    pub fn truth(&mut self, truth: bool) -> ExprId {
        self.push(ExprKind::Bool(truth))
    }

    pub fn number(&mut self, value: f64) -> ExprId {
        let text = self.names.intern(&format!("{:?}", value.abs()));
        let number = self.push(ExprKind::Number(Number { value: NumberValue::Num(value.abs()), text }));
        if value < 0.0 { self.unary(UnaryOp::Negate, number) } else { number }
    }

    pub fn integer(&mut self, value: usize) -> ExprId {
        let text = self.names.intern(&value.to_string());
        let value = i64::try_from(value).expect("a size is below 2^63");
        self.push(ExprKind::Number(Number { value: NumberValue::Int(value), text }))
    }

    pub fn call(&mut self, name: &str, arguments: &[ExprId]) -> ExprId {
        let name = self.names.intern(name);
        let arguments = self.exprs.list(arguments.iter().copied());
        self.push(ExprKind::Call(name, arguments))
    }

    pub fn list(&mut self, items: &[ExprId]) -> ExprId {
        let items = self.exprs.list(items.iter().copied());
        self.push(ExprKind::List(items))
    }

    pub fn index(&mut self, value: ExprId, row: usize) -> ExprId {
        let row = self.integer(row);
        self.push(ExprKind::Index(value, row))
    }

    pub fn unary(&mut self, op: UnaryOp, operand: ExprId) -> ExprId {
        self.push(ExprKind::Unary(op, operand))
    }

    pub fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> ExprId {
        self.push(ExprKind::Binary(op, left, right))
    }

    /// The sum; `x + -y` is written `x - y`.
    pub fn sum(&mut self, left: ExprId, right: ExprId) -> ExprId {
        match self.exprs.kind(right) {
            ExprKind::Unary(UnaryOp::Negate, operand) => self.binary(BinaryOp::Sub, left, operand),
            _ => self.binary(BinaryOp::Add, left, right),
        }
    }

    pub fn conditional(&mut self, condition: ExprId, yes: ExprId, no: ExprId) -> ExprId {
        self.push(ExprKind::If(condition, yes, no))
    }

    pub fn fby(&mut self, direction: Direction, init: ExprId, next: ExprId) -> ExprId {
        self.push(ExprKind::Fby(direction, init, next))
    }

    pub fn when(&mut self, value: ExprId, condition: ExprId, polarity: Polarity) -> ExprId {
        self.push(ExprKind::When(polarity, value, condition))
    }

    pub fn merge(&mut self, condition: ExprId, yes: ExprId, no: ExprId) -> ExprId {
        self.push(ExprKind::Merge(condition, yes, no))
    }

    /// `merge c x pad`, or `merge c pad x` for `not c`.
    pub fn padded(&mut self, condition: ExprId, polarity: Polarity, value: ExprId, pad: ExprId) -> ExprId {
        match polarity {
            Polarity::On => self.merge(condition, value, pad),
            Polarity::OnNot => self.merge(condition, pad, value),
        }
    }

    /// Whether an expression is as short as a name, so that it may be duplicated.
    pub fn is_atom(&self, expr: ExprId) -> bool {
        matches!(self.exprs.kind(expr), ExprKind::Variable(_) | ExprKind::Number(_) | ExprKind::Bool(_))
    }

    /// Copies an expression of a file, without its parentheses. Parts may be replaced, and calls may get
    /// other names.
    pub fn copy(
        &mut self,
        from: &Module,
        root: ExprId,
        replaced: &FxHashMap<ExprId, ExprId>,
        callee: &dyn Fn(ExprId) -> Option<String>,
    ) -> ExprId {
        self.copy_changed(from, root, callee, &mut |_, expr, _| replaced.get(&expr).copied())
    }

    /// Copies an expression of a file; `change` may replace expressions.
    pub fn copy_changed(
        &mut self,
        from: &Module,
        root: ExprId,
        callee: &dyn Fn(ExprId) -> Option<String>,
        change: &mut Change<'_>,
    ) -> ExprId {
        let mut copies: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for expr in postorder(&from.tree.exprs, root) {
            let copy = match change(self, expr, &copies) {
                Some(other) => other,
                None => self.copy_one(from, expr, &copies, callee),
            };
            copies.insert(expr, copy);
        }
        copies[&root]
    }

    fn copy_one(
        &mut self,
        from: &Module,
        expr: ExprId,
        copies: &FxHashMap<ExprId, ExprId>,
        callee: &dyn Fn(ExprId) -> Option<String>,
    ) -> ExprId {
        let of = |part: ExprId| copies[&part];
        let kind = match from.tree.exprs.kind(expr) {
            ExprKind::Group(inner) | ExprKind::Named(_, inner) => return of(inner),
            ExprKind::Form(..) => unreachable!("nodes have no forms of functions"),
            ExprKind::Number(number) => {
                let text = self.names.intern(from.names.text(number.text));
                ExprKind::Number(Number { value: number.value, text })
            }
            ExprKind::Variable(name) => ExprKind::Variable(self.names.intern(from.names.text(name))),
            ExprKind::Call(name, arguments) => {
                let arguments: Vec<ExprId> =
                    from.tree.exprs.items(arguments).iter().map(|part| of(*part)).collect();
                let name = callee(expr).unwrap_or_else(|| from.names.text(name).to_string());
                return self.call(&name, &arguments);
            }
            ExprKind::Tuple(items) => {
                let items: Vec<ExprId> = from.tree.exprs.items(items).iter().map(|part| of(*part)).collect();
                ExprKind::Tuple(self.exprs.list(items))
            }
            ExprKind::List(items) => {
                let items: Vec<ExprId> = from.tree.exprs.items(items).iter().map(|part| of(*part)).collect();
                return self.list(&items);
            }
            ExprKind::Index(value, row) => ExprKind::Index(of(value), of(row)),
            ExprKind::Unary(op, operand) => ExprKind::Unary(op, of(operand)),
            ExprKind::Binary(op, left, right) => ExprKind::Binary(op, of(left), of(right)),
            ExprKind::If(c, yes, no) => ExprKind::If(of(c), of(yes), of(no)),
            ExprKind::Fby(direction, init, next) => ExprKind::Fby(direction, of(init), of(next)),
            ExprKind::When(polarity, value, c) => ExprKind::When(polarity, of(value), of(c)),
            ExprKind::Merge(c, yes, no) => ExprKind::Merge(of(c), of(yes), of(no)),
            kind @ (ExprKind::Error | ExprKind::Bool(_)) => kind,
        };
        self.push(kind)
    }

    /// A declaration with its type and clock, as it is written: `c:bool []`.
    pub fn declaration(&mut self, from: &Module, decl: &Decl) -> String {
        let mut text = from.names.text(decl.ident.name).to_string();
        if let Some(annotation) = decl.annotation {
            text.push(':');
            text.push_str(annotation.scalar.word());
            if let Some(dims) = annotation.dims {
                let dims = from.tree.exprs.items(dims).iter().map(|dim| {
                    let dim = self.copy(from, *dim, &FxHashMap::default(), &|_| None);
                    self.show(dim)
                });
                let dims: Vec<String> = dims.collect();
                text.extend([" [", &dims.join(","), "]"]);
            }
        }
        for sampling in &decl.clock {
            let when = if sampling.polarity == Polarity::On { " when " } else { " when not " };
            text.extend([when, from.names.text(sampling.condition.name)]);
        }
        text
    }

    /// `x,y = e;`.
    pub fn equation(&self, targets: &[String], value: ExprId) -> Line {
        let called =
            postorder(&self.exprs, value).into_iter().filter_map(|expr| match self.exprs.kind(expr) {
                ExprKind::Call(name, _) => Some(self.names.text(name).to_string()),
                _ => None,
            });
        let called = called.collect();
        Line { text: format!("{} = {};", targets.join(","), self.show(value)), called }
    }

    /// The text of an expression.
    pub fn show(&self, root: ExprId) -> String {
        let mut text = String::new();
        let mut todo = vec![Piece::Expr(root, 0)];
        while let Some(piece) = todo.pop() {
            match piece {
                Piece::Word(word) => text.push_str(word),
                Piece::Name(name) => text.push_str(&name),
                Piece::Expr(expr, least) => {
                    let kind = self.exprs.kind(expr);
                    let mut pieces = self.pieces(kind);
                    if level(kind) < least {
                        pieces.insert(0, Piece::Word("("));
                        pieces.push(Piece::Word(")"));
                    }
                    todo.extend(pieces.into_iter().rev());
                }
            }
        }
        text
    }

    fn pieces(&self, kind: ExprKind) -> Vec<Piece> {
        use Piece::{Expr, Name, Word};
        match kind {
            ExprKind::Error => unreachable!("unreadable programs are not printed"),
            ExprKind::Form(..) => unreachable!("nodes have no forms of functions"),
            ExprKind::Number(number) => vec![Name(self.names.text(number.text).to_string())],
            ExprKind::Bool(truth) => vec![Word(if truth { "true" } else { "false" })],
            ExprKind::Variable(name) => vec![Name(self.names.text(name).to_string())],
            ExprKind::Call(name, items) => {
                let mut pieces = vec![Name(self.names.text(name).to_string())];
                pieces.extend(self.items("(", items, ")"));
                pieces
            }
            ExprKind::Group(inner) | ExprKind::Named(_, inner) => vec![Expr(inner, PRIMARY)],
            ExprKind::Tuple(items) => self.items("(", items, ")"),
            ExprKind::List(items) => self.items("[", items, "]"),
            ExprKind::Index(value, row) => vec![Expr(value, POSTFIX), Word("["), Expr(row, 0), Word("]")],
            ExprKind::Unary(op, operand) => {
                let blank = if op == UnaryOp::Negate { "" } else { " " };
                vec![Word(op.symbol()), Word(blank), Expr(operand, POSTFIX)]
            }
            ExprKind::Binary(op, left, right) => {
                let own = level(kind);
                // For readability, `when` under any operator, and a unary operator or `merge` under a
                // product, are in parentheses.
                let operand = |expr: ExprId, least: u8| {
                    let is_sampled = matches!(self.exprs.kind(expr), ExprKind::When(..));
                    let is_factor = own == PRODUCT && level(self.exprs.kind(expr)) == UNARY;
                    if is_sampled || is_factor { POSTFIX } else { least }
                };
                let is_chain = own != COMPARISON;
                let (first, second) =
                    (operand(left, if is_chain { own } else { own + 1 }), operand(right, own + 1));
                vec![Expr(left, first), Word(" "), Word(op.symbol()), Word(" "), Expr(right, second)]
            }
            ExprKind::If(c, yes, no) => {
                let is_chain = matches!(self.exprs.kind(no), ExprKind::If(..));
                let last = Expr(no, if is_chain { 0 } else { OR });
                vec![Word("if "), Expr(c, OR), Word(" then "), Expr(yes, OR), Word(" else "), last]
            }
            ExprKind::Fby(direction, init, next) => {
                let word = if direction == Direction::Forward { " fby " } else { " fby back " };
                vec![Expr(init, POSTFIX), Word(word), Expr(next, POSTFIX)]
            }
            ExprKind::When(polarity, value, c) => {
                let word = if polarity == Polarity::On { " when " } else { " when not " };
                vec![Expr(value, POSTFIX), Word(word), Expr(c, POSTFIX)]
            }
            ExprKind::Merge(c, yes, no) => {
                let argument = |expr| Expr(expr, POSTFIX);
                vec![Word("merge "), argument(c), Word(" "), argument(yes), Word(" "), argument(no)]
            }
        }
    }

    fn items(&self, open: &'static str, items: crate::tree::ExprList, close: &'static str) -> Vec<Piece> {
        let mut pieces = vec![Piece::Word(open)];
        for (number, item) in self.exprs.items(items).iter().enumerate() {
            if number > 0 {
                pieces.push(Piece::Word(","));
            }
            pieces.push(Piece::Expr(*item, 0));
        }
        pieces.push(Piece::Word(close));
        pieces
    }
}

/// A part that remains to be printed.
enum Piece {
    Word(&'static str),
    Name(String),
    /// An expression; in parentheses if it binds less tightly than this.
    Expr(ExprId, u8),
}

const OR: u8 = 1;
const COMPARISON: u8 = 3;
const PRODUCT: u8 = 5;
const UNARY: u8 = 6;
const POSTFIX: u8 = 8;
const PRIMARY: u8 = 9;

/// How tightly a form binds: the levels of the grammar (section 1), from loosest to tightest.
fn level(kind: ExprKind) -> u8 {
    match kind {
        ExprKind::If(..) | ExprKind::Fby(..) => 0,
        ExprKind::Binary(BinaryOp::Or, ..) => OR,
        ExprKind::Binary(BinaryOp::And, ..) => 2,
        ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, ..) => 4,
        ExprKind::Binary(BinaryOp::Mul | BinaryOp::Divide | BinaryOp::IntDivide | BinaryOp::Mod, ..) => {
            PRODUCT
        }
        ExprKind::Binary(..) => COMPARISON,
        ExprKind::Unary(..) | ExprKind::Merge(..) => UNARY,
        ExprKind::When(..) => 7,
        ExprKind::Index(..) => POSTFIX,
        _ => PRIMARY,
    }
}
