//! Functions, constants, types and evaluations (functions.md, section 1).

use eddy_syntax::Span;

use super::{ExprId, ExprList, Ident, Scalar};

eddy_index::id! {
    /// A written type in the table of a program.
    pub struct TypeId, "a type takes at least one byte of a source file";
    /// A pattern in the table of a program.
    pub struct PatternId, "a pattern takes at least one byte of a source file";
}

/// `fn f[n](x: num [n], k) -> num = e;`
#[derive(Clone, Debug)]
pub struct Function {
    pub ident: Ident,
    /// The comment right above it, without the marks of a comment.
    pub doc: Option<String>,
    /// The size variables.
    pub sizes: Vec<Ident>,
    pub params: Vec<Param>,
    pub result: Option<TypeId>,
    pub body: ExprId,
    /// The size variables with their brackets.
    pub sizes_span: Option<Span>,
    /// The parameters with their parentheses.
    pub params_span: Span,
    /// The `=`.
    pub at: Span,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    pub ident: Ident,
    pub annotation: Option<TypeId>,
}

/// `const c: num = e;`
#[derive(Clone, Debug)]
pub struct Constant {
    pub ident: Ident,
    pub doc: Option<String>,
    pub annotation: Option<TypeId>,
    pub value: ExprId,
    /// The `=`.
    pub at: Span,
    pub span: Span,
}

/// `type t[n] = {x: num [n]};` or `type e = enum {a, b};`
#[derive(Clone, Debug)]
pub struct TypeDef {
    pub ident: Ident,
    pub doc: Option<String>,
    /// The size variables.
    pub sizes: Vec<Ident>,
    pub definition: Definition,
    /// The `=`.
    pub at: Span,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Definition {
    Alias(TypeId),
    /// The enumerators, with their braces.
    Enumeration(Vec<Ident>, Span),
}

/// `eval e;`
#[derive(Clone, Copy, Debug)]
pub struct Eval {
    pub value: ExprId,
    /// The word `eval`.
    pub at: Span,
    pub span: Span,
}

/// A written type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// An unreadable type, which was reported.
    Error,
    /// `num [3, n]`; without brackets, a single element.
    Scalar(Scalar, Option<ExprList>),
    /// `body` or `body[n]`: a record or an enumeration.
    Named(Ident, Option<ExprList>),
    /// `(num, int)`; `()` is the unit.
    Tuple(Vec<TypeId>),
    /// `(num, num) -> num`
    Function(Vec<TypeId>, TypeId),
    /// `{x: num, y: int}`
    Record(Vec<(Ident, TypeId)>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    Name(Ident),
    /// `_`
    Discard,
    /// `(p, q)`; `()` is the unit.
    Tuple(Vec<PatternId>),
    /// `{x, y = p}`: `x` binds the field `x` to a name, `y = p` matches the field `y` with a pattern.
    Record(Vec<(Ident, Option<PatternId>)>),
}

/// The written types and patterns of a program; they refer to each other by number, parts before wholes.
#[derive(Clone, Debug, Default)]
pub struct Written {
    types: Vec<(TypeKind, Span)>,
    patterns: Vec<(PatternKind, Span)>,
}

impl Written {
    pub fn add_type(&mut self, kind: TypeKind, span: Span) -> TypeId {
        self.types.push((kind, span));
        TypeId::new(self.types.len() - 1)
    }

    pub fn add_pattern(&mut self, kind: PatternKind, span: Span) -> PatternId {
        self.patterns.push((kind, span));
        PatternId::new(self.patterns.len() - 1)
    }

    pub fn ty(&self, id: TypeId) -> &TypeKind {
        &self.types[id.index()].0
    }

    pub fn type_span(&self, id: TypeId) -> Span {
        self.types[id.index()].1
    }

    pub fn pattern(&self, id: PatternId) -> &PatternKind {
        &self.patterns[id.index()].0
    }

    pub fn pattern_span(&self, id: PatternId) -> Span {
        self.patterns[id.index()].1
    }

    /// Replaces the places of all types and patterns.
    pub(super) fn replace_places(&mut self, new: &impl Fn(Span) -> Span) {
        for (kind, span) in &mut self.types {
            *span = new(*span);
            match kind {
                TypeKind::Named(ident, _) => ident.replace_place(new),
                TypeKind::Record(fields) => fields.iter_mut().for_each(|(ident, _)| ident.replace_place(new)),
                TypeKind::Error | TypeKind::Scalar(..) | TypeKind::Tuple(_) | TypeKind::Function(..) => {}
            }
        }
        for (kind, span) in &mut self.patterns {
            *span = new(*span);
            match kind {
                PatternKind::Name(ident) => ident.replace_place(new),
                PatternKind::Record(fields) => {
                    for (ident, _) in fields {
                        ident.replace_place(new);
                    }
                }
                PatternKind::Discard | PatternKind::Tuple(_) => {}
            }
        }
    }

    /// The names that a pattern binds, from left to right.
    pub fn names(&self, id: PatternId) -> Vec<Ident> {
        enum Part {
            Pattern(PatternId),
            Name(Ident),
        }
        let (mut names, mut work) = (Vec::new(), vec![Part::Pattern(id)]);
        while let Some(part) = work.pop() {
            let pattern = match part {
                Part::Name(ident) => {
                    names.push(ident);
                    continue;
                }
                Part::Pattern(pattern) => pattern,
            };
            match self.pattern(pattern) {
                PatternKind::Name(ident) => names.push(*ident),
                PatternKind::Discard => {}
                PatternKind::Tuple(parts) => work.extend(parts.iter().rev().copied().map(Part::Pattern)),
                PatternKind::Record(fields) => work.extend(
                    fields
                        .iter()
                        .rev()
                        .map(|(ident, pattern)| pattern.map_or(Part::Name(*ident), Part::Pattern)),
                ),
            }
        }
        names
    }
}
