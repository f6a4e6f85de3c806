//! The tree of a program as it is written: sugar, parentheses and places are kept.
//!
//! Expressions, patterns and written types live in tables of their own and refer to each other by number,
//! children before parents; so a tree has no depth that could exhaust a stack when it is walked or dropped.

use eddy_syntax::Span;

use crate::names::Name;

/// An expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(u32);

/// A pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PatternId(u32);

/// A type as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WrittenId(u32);

impl ExprId {
    /// For tables that are indexed by expressions.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl PatternId {
    /// For tables that are indexed by patterns.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Its declarations, in order.
    pub declarations: Vec<Declaration>,
    /// The main expression, if there is one.
    pub main: Option<ExprId>,
    /// The nodes.
    pub tree: Tree,
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// `pat` or `(pat : type)`.
#[derive(Clone, Copy, Debug)]
pub struct Binder {
    /// The pattern.
    pub pattern: PatternId,
    /// Its type, where one is written.
    pub written: Option<WrittenId>,
    /// Where all of it stands.
    pub span: Span,
}

/// What stands before the main expression.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The declared name.
    pub ident: Ident,
    /// What is declared.
    pub kind: DeclarationKind,
    /// From the keyword to the semicolon.
    pub span: Span,
}

/// The forms of declarations.
#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `prim f(x, y) = e;`
    Prim {
        /// The parameters.
        params: Vec<Ident>,
        /// The arithmetic body.
        body: ExprId,
    },
    /// `type T = t;`
    Type(WrittenId),
    /// `assume x : t;`
    Assume(WrittenId),
    /// `def f b b : t = e;`
    Def {
        /// The parameters.
        binders: Vec<Binder>,
        /// The type of the result, where one is written.
        result: Option<WrittenId>,
        /// The body.
        body: ExprId,
    },
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `x`.
    Name(Name),
    /// `<p, q>`, `(p, q)` or `[p, q]`, with two items or more.
    Tuple(Vec<PatternId>),
}

/// The forms of written types.
#[derive(Clone, Copy, Debug)]
pub enum Written {
    /// Something that could not be read.
    Error,
    /// `R`.
    Real,
    /// The name of a type.
    Name(Name),
    /// `t -> u`.
    Arrow(WrittenId, WrittenId),
    /// `t * u`.
    Product(WrittenId, WrittenId),
    /// `t^n`.
    Power(WrittenId, u32),
    /// `t^*`.
    Dual(WrittenId),
    /// `Omega t`, which is `t -> t^*`.
    Omega(WrittenId),
    /// `(t)`.
    Group(WrittenId),
}

/// The binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`, the sum at any type.
    Add,
    /// `-`.
    Sub,
    /// `*`.
    Mul,
    /// `/`.
    Div,
}

/// The first or the second part of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// `fst`, π1.
    First,
    /// `snd`, π2.
    Second,
}

/// The three constructs that are written with `·`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Former {
    /// `(Ω f) · w` or `pull(f, w)`.
    Pullback,
    /// `(λx.s)^* · t` or `dmap(λ, t)`.
    DualMap,
    /// `J f · t` or `jac(f, t)`.
    Jacobian,
}

/// `jacobian f at v` or `grad f at v`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// `jacobian`.
    Jacobian,
    /// `grad`.
    Gradient,
}

/// The forms of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Something that could not be read, and was reported.
    Error,
    /// A numeral.
    Number(f64),
    /// A variable or a primitive.
    Name(Name),
    /// `zero`.
    Zero,
    /// `(e)` or `[e]`.
    Group(ExprId),
    /// `(e, e)`, `<e, e>` or `[e, e]`, with two items or more.
    Tuple(Vec<ExprId>),
    /// `(e : t)`.
    Ascribe(ExprId, WrittenId),
    /// `\b b. e`.
    Lambda(Vec<Binder>, ExprId),
    /// `let b = e in e`.
    Let(Binder, ExprId, ExprId),
    /// `e e`.
    Apply(ExprId, ExprId),
    /// `e + e` and its like.
    Binary(BinaryOp, Span, ExprId, ExprId),
    /// `-e`.
    Negate(ExprId),
    /// `e^k`.
    Power(ExprId, u32),
    /// `e @ e`.
    Contract(ExprId, ExprId),
    /// `e^*`: the operator of a dual map after a parenthesised λ, otherwise `flat e`.
    Star(ExprId),
    /// `Omega e`, the operator of a pullback, or a constant 1-form when it stands alone.
    Omega(ExprId),
    /// `J e`, the operator of a Jacobian.
    Jay(ExprId),
    /// One of the three formers and its two operands; the first is the function itself, without its operator.
    Former(Former, ExprId, ExprId),
    /// `fst e` or `snd e`.
    Project(Side, ExprId),
    /// `sharp e`.
    Sharp(ExprId),
    /// `flat e`.
    Flat(ExprId),
    /// `jacobian f at v` or `grad f at v`.
    Derivative(Derivative, ExprId, ExprId),
    /// `vjp f at v with w`.
    Vjp(ExprId, ExprId, ExprId),
}

/// The nodes of one program.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    exprs: Vec<(ExprKind, Span)>,
    patterns: Vec<(Pattern, Span)>,
    written: Vec<(Written, Span)>,
}

fn next_id(length: usize) -> u32 {
    u32::try_from(length).expect("fewer nodes than source bytes")
}

impl Tree {
    /// Adds an expression.
    pub fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.exprs.push((kind, span));
        ExprId(next_id(self.exprs.len() - 1))
    }

    /// Adds a pattern.
    pub fn push_pattern(&mut self, pattern: Pattern, span: Span) -> PatternId {
        self.patterns.push((pattern, span));
        PatternId(next_id(self.patterns.len() - 1))
    }

    /// Adds a written type.
    pub fn push_written(&mut self, written: Written, span: Span) -> WrittenId {
        self.written.push((written, span));
        WrittenId(next_id(self.written.len() - 1))
    }

    /// The form of an expression.
    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.exprs[id.index()].0
    }

    /// Where an expression stands.
    pub fn span(&self, id: ExprId) -> Span {
        self.exprs[id.index()].1
    }

    /// The form of a pattern.
    pub fn pattern(&self, id: PatternId) -> &Pattern {
        &self.patterns[id.index()].0
    }

    /// Where a pattern stands.
    pub fn pattern_span(&self, id: PatternId) -> Span {
        self.patterns[id.index()].1
    }

    /// The form of a written type.
    pub fn written(&self, id: WrittenId) -> Written {
        self.written[id.0 as usize].0
    }

    /// Where a written type stands.
    pub fn written_span(&self, id: WrittenId) -> Span {
        self.written[id.0 as usize].1
    }

    /// How many expressions there are.
    pub fn n_exprs(&self) -> usize {
        self.exprs.len()
    }

    /// How many patterns there are.
    pub fn n_patterns(&self) -> usize {
        self.patterns.len()
    }

    /// All expressions, children before parents.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..next_id(self.exprs.len())).map(ExprId)
    }

    /// The expression inside of any parentheses.
    pub fn ungroup(&self, mut id: ExprId) -> ExprId {
        while let ExprKind::Group(inner) = self.kind(id) {
            id = *inner;
        }
        id
    }

    /// Whether this is `\b. e`, in parentheses or not.
    pub fn is_lambda(&self, id: ExprId) -> bool {
        matches!(self.kind(self.ungroup(id)), ExprKind::Lambda(..))
    }

    /// Whether this is a numeral or a tuple of literals: what may follow a lone `Omega`.
    pub fn is_literal(&self, id: ExprId) -> bool {
        let mut work = vec![id];
        while let Some(id) = work.pop() {
            match self.kind(id) {
                ExprKind::Number(_) => {}
                ExprKind::Group(inner) => work.push(*inner),
                ExprKind::Tuple(items) => work.extend(items),
                _ => return false,
            }
        }
        true
    }
}
