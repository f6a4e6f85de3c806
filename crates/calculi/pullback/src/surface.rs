//! The tree of a program as written: with sugar, parentheses and places.
//!
//! Expressions, patterns and written types live in their own tables and refer to each other by number,
//! children before parents, so walking or dropping a deep tree cannot exhaust the stack.

use eddy_syntax::Span;

use crate::names::Name;

eddy_index::id! {
    pub struct ExprId, "fewer nodes than source bytes";
    pub struct PatternId, "fewer nodes than source bytes";
    /// A type in the source.
    pub struct WrittenId, "fewer nodes than source bytes";
}

/// A whole file.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub declarations: Vec<Declaration>,
    /// The main expression, if there is one.
    pub main: Option<ExprId>,
    pub tree: Tree,
}

/// A name and its place.
#[derive(Clone, Copy, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// `pat` or `(pat : type)`.
#[derive(Clone, Copy, Debug)]
pub struct Binder {
    pub pattern: PatternId,
    /// Its type, where one is written.
    pub written: Option<WrittenId>,
    pub span: Span,
}

/// A declaration before the main expression.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub ident: Ident,
    pub kind: DeclarationKind,
    /// From the keyword to the semicolon.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum DeclarationKind {
    /// `prim f(x, y) = e;`
    Prim {
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
        body: ExprId,
    },
}

#[derive(Clone, Debug)]
pub enum Pattern {
    /// `x`.
    Name(Name),
    /// `<p, q>`, `(p, q)` or `[p, q]`, with two items or more.
    Tuple(Vec<PatternId>),
}

#[derive(Clone, Copy, Debug)]
pub enum Written {
    /// An unreadable part.
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

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An unreadable part, already reported.
    Error,
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
    /// `e + e`, `e - e`, ….
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

#[derive(Clone, Debug, Default)]
pub struct Tree {
    exprs: Vec<(ExprKind, Span)>,
    patterns: Vec<(Pattern, Span)>,
    written: Vec<(Written, Span)>,
}

impl Tree {
    pub fn push(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.exprs.push((kind, span));
        ExprId::new(self.exprs.len() - 1)
    }

    pub fn push_pattern(&mut self, pattern: Pattern, span: Span) -> PatternId {
        self.patterns.push((pattern, span));
        PatternId::new(self.patterns.len() - 1)
    }

    pub fn push_written(&mut self, written: Written, span: Span) -> WrittenId {
        self.written.push((written, span));
        WrittenId::new(self.written.len() - 1)
    }

    pub fn kind(&self, id: ExprId) -> &ExprKind {
        &self.exprs[id.index()].0
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.exprs[id.index()].1
    }

    pub fn pattern(&self, id: PatternId) -> &Pattern {
        &self.patterns[id.index()].0
    }

    pub fn pattern_span(&self, id: PatternId) -> Span {
        self.patterns[id.index()].1
    }

    pub fn written(&self, id: WrittenId) -> Written {
        self.written[id.index()].0
    }

    pub fn written_span(&self, id: WrittenId) -> Span {
        self.written[id.index()].1
    }

    pub fn n_exprs(&self) -> usize {
        self.exprs.len()
    }

    pub fn n_patterns(&self) -> usize {
        self.patterns.len()
    }

    /// All expressions, children before parents.
    pub fn ids(&self) -> impl Iterator<Item = ExprId> + use<> {
        (0..self.exprs.len()).map(ExprId::new)
    }

    /// The expression inside any parentheses.
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

    /// Whether this is a numeral or a tuple of literals, which may follow a lone `Omega`.
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
