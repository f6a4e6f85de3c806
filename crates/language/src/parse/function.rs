//! Functions, constants, types and evaluations, apart from their expressions.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::recover::Place;
use super::{Grammar, Parser};
use crate::tree::{
    Constant, Definition, Eval, ExprId, Function, Ident, Item, LambdaParam, Param, PatternId, PatternKind,
    Scalar, TypeDef, TypeId, TypeKind,
};

/// The deepest nesting of types and patterns.
const MAX_NESTED: usize = 200;

impl Parser<'_> {
    /// `fn f[n](x: num [n]) -> num = e;`.
    pub(super) fn function(&mut self) {
        let doc = self.doc_above(self.at);
        let start = self.advance().span;
        let head = self.at;
        if let Some(function) = self.function_after_keyword(doc, start) {
            self.program.items.push(Item::Function(function));
        } else {
            self.give_up_item(head);
        }
    }

    fn function_after_keyword(&mut self, doc: Option<String>, start: Span) -> Option<Function> {
        let ident = self.ident("the name of the function")?;
        let open = self.token().span;
        let sizes = self.sizes()?;
        let sizes_span = (!sizes.is_empty()).then(|| self.since(open));
        let open = self.token().span;
        let params = self.params()?;
        let params_span = self.since(open);
        let result = if self.eat("->") { Some(self.written_type()?) } else { None };
        if !self.sees("=") && self.begins_equation_of_node() {
            self.complain("`=`").help("a function of streams is a node: `node f(x) -> (y)  y = …;`");
            return None;
        }
        let at = self.expect("=")?;
        let body = self.function_line();
        Some(Function {
            ident,
            doc,
            sizes,
            params,
            result,
            body,
            sizes_span,
            params_span,
            at,
            span: self.since(start),
        })
    }

    /// `o =` or `o, p =` in place of the `=` of a function.
    fn begins_equation_of_node(&self) -> bool {
        self.token().kind == TokenKind::Name && matches!(self.peek(1), TokenKind::Symbol("=" | ","))
    }

    /// `const c: num = e;`.
    pub(super) fn constant(&mut self) {
        let doc = self.doc_above(self.at);
        let start = self.advance().span;
        let head = self.at;
        let Some((ident, annotation, at)) = self.constant_head() else { return self.give_up_item(head) };
        let value = self.function_line();
        let span = self.since(start);
        self.program.items.push(Item::Constant(Constant { ident, doc, annotation, value, at, span }));
    }

    fn constant_head(&mut self) -> Option<(Ident, Option<TypeId>, Span)> {
        let ident = self.ident("the name of the constant")?;
        let annotation = self.optional_type()?;
        Some((ident, annotation, self.expect("=")?))
    }

    /// `type t[n] = …;`.
    pub(super) fn type_definition(&mut self) {
        let doc = self.doc_above(self.at);
        let start = self.advance().span;
        let head = self.at;
        let Some((ident, sizes, at, definition)) = self.type_head() else { return self.give_up_item(head) };
        if self.expect(";").is_none() {
            self.skip(Place::Function);
        }
        let span = self.since(start);
        self.program.items.push(Item::Type(TypeDef { ident, doc, sizes, definition, at, span }));
    }

    fn type_head(&mut self) -> Option<(Ident, Vec<Ident>, Span, Definition)> {
        let ident = self.ident("the name of the type")?;
        let sizes = self.sizes()?;
        let at = self.expect("=")?;
        let is_enumeration = self.sees_word("enum") && self.peek(1) == TokenKind::Symbol("{");
        if !is_enumeration {
            return Some((ident, sizes, at, Definition::Alias(self.written_type()?)));
        }
        self.advance();
        let open = self.advance().span;
        let mut enumerators = vec![self.ident("the name of an enumerator")?];
        while self.eat(",") {
            enumerators.push(self.ident("the name of an enumerator")?);
        }
        if !self.eat("}") {
            self.complain("`,` or `}`").cause(open, "this brace is open");
            return None;
        }
        Some((ident, sizes, at, Definition::Enumeration(enumerators, self.since(open))))
    }

    /// `eval e;`.
    pub(super) fn eval(&mut self) {
        let at = self.advance().span;
        let value = self.function_line();
        let span = self.since(at);
        self.program.items.push(Item::Eval(Eval { value, at, span }));
    }

    /// An expression of functions and its `;`.
    fn function_line(&mut self) -> ExprId {
        self.grammar = Grammar::Functions;
        let value = self.line(Place::Function);
        self.grammar = Grammar::Streams;
        value
    }

    fn give_up_item(&mut self, head: usize) {
        self.poison_since(head);
        self.skip(Place::Function);
    }

    /// `[n, k]`, or nothing.
    fn sizes(&mut self) -> Option<Vec<Ident>> {
        let open = self.token().span;
        let mut sizes = Vec::new();
        if !self.eat("[") {
            return Some(sizes);
        }
        loop {
            sizes.push(self.ident("the name of a size")?);
            if self.eat("]") {
                return Some(sizes);
            }
            if !self.eat(",") {
                self.complain("`,` or `]`").cause(open, "this bracket is open");
                return None;
            }
        }
    }

    /// `(x: num, y)`.
    pub(super) fn params(&mut self) -> Option<Vec<Param>> {
        let open = self.token().span;
        if !self.eat("(") {
            self.complain("`(`")
                .help("the parameters stand in parentheses, even if there are none: `fn f() = 1;`");
            return None;
        }
        let mut params = Vec::new();
        if self.eat(")") {
            return Some(params);
        }
        loop {
            let ident = self.ident("the name of a parameter")?;
            params.push(Param { ident, annotation: self.optional_type()? });
            if self.eat(")") {
                return Some(params);
            }
            if !self.eat(",") {
                self.complain("`,` or `)`").cause(open, "this parenthesis is open");
                return None;
            }
        }
    }

    /// `x, (a, b): (num, num).`, with the point.
    pub(super) fn lambda_params(&mut self) -> Option<Vec<LambdaParam>> {
        let mut params = Vec::new();
        loop {
            let pattern = self.pattern()?;
            params.push(LambdaParam { pattern, annotation: self.optional_type()? });
            if self.eat(".") {
                return Some(params);
            }
            if !self.eat(",") {
                self.complain("`,` or `.`").help("a function without a name is written `\\x, y. x + y`");
                return None;
            }
        }
    }

    /// `: T`, or nothing; the outer option is `None` after a reported error.
    #[expect(clippy::option_option, reason = "an absent type is no mistake")]
    pub(super) fn optional_type(&mut self) -> Option<Option<TypeId>> {
        if !self.eat(":") {
            return Some(None);
        }
        self.written_type().map(Some)
    }

    pub(super) fn written_type(&mut self) -> Option<TypeId> {
        self.type_at(0)
    }

    /// `type`; `depth` is the number of enclosing types.
    fn type_at(&mut self, depth: usize) -> Option<TypeId> {
        let start = self.token().span;
        if depth > MAX_NESTED {
            self.complain_about("a type", &format!("more than {MAX_NESTED} types inside each other"));
            return None;
        }
        let kind = match self.token().kind {
            TokenKind::Symbol("(") => self.tuple_type(depth)?,
            TokenKind::Symbol("{") => self.record_type(depth)?,
            TokenKind::Name => match Scalar::ALL.into_iter().find(|scalar| self.sees_word(scalar.word())) {
                Some(scalar) => {
                    self.advance();
                    TypeKind::Scalar(scalar, self.type_sizes()?)
                }
                None => {
                    let ident = self.ident_here();
                    TypeKind::Named(ident, self.type_sizes()?)
                }
            },
            _ => {
                self.complain("a type")
                    .help("types are `num`, `int [3]`, `(num, bool)`, `{x: num}`, or a name");
                return None;
            }
        };
        let span = self.since(start);
        Some(self.program.written.add_type(kind, span))
    }

    /// `[3, n]` after a type, or nothing; the outer option is `None` after a reported error.
    #[expect(clippy::option_option, reason = "absent sizes are no mistake")]
    fn type_sizes(&mut self) -> Option<Option<crate::tree::ExprList>> {
        let open = self.token().span;
        if !self.eat("[") {
            return Some(None);
        }
        // A size contains no forms of functions, and so no types: this nested call of the expression parser
        // is at most one deep.
        let (frames, items) = (std::mem::take(&mut self.frames), std::mem::take(&mut self.items));
        let grammar = std::mem::replace(&mut self.grammar, Grammar::Sizes);
        let sizes = self.expressions("]");
        (self.frames, self.items, self.grammar) = (frames, items, grammar);
        let sizes = sizes?;
        if !self.eat("]") {
            self.complain("`,` or `]`").cause(open, "this bracket is open");
            return None;
        }
        Some(Some(self.program.exprs.list(sizes)))
    }

    /// `(T, U)` or `(T, U) -> V`.
    fn tuple_type(&mut self, depth: usize) -> Option<TypeKind> {
        let open = self.advance().span;
        let mut parts = Vec::new();
        if !self.eat(")") {
            loop {
                parts.push(self.type_at(depth + 1)?);
                if self.eat(")") {
                    break;
                }
                if !self.eat(",") {
                    self.complain("`,` or `)`").cause(open, "this parenthesis is open");
                    return None;
                }
            }
        }
        if self.eat("->") {
            return Some(TypeKind::Function(parts, self.type_at(depth + 1)?));
        }
        Some(TypeKind::Tuple(parts))
    }

    /// `{x: T, y: U}`.
    fn record_type(&mut self, depth: usize) -> Option<TypeKind> {
        let open = self.advance().span;
        let mut fields = Vec::new();
        loop {
            let ident = self.ident("the name of a field")?;
            self.expect(":")?;
            fields.push((ident, self.type_at(depth + 1)?));
            if self.eat("}") {
                return Some(TypeKind::Record(fields));
            }
            if !self.eat(",") {
                self.complain("`,` or `}`").cause(open, "this brace is open");
                return None;
            }
        }
    }

    pub(super) fn pattern(&mut self) -> Option<PatternId> {
        self.pattern_at(0)
    }

    /// `pattern`; `depth` is the number of enclosing patterns.
    fn pattern_at(&mut self, depth: usize) -> Option<PatternId> {
        let start = self.token().span;
        if depth > MAX_NESTED {
            self.complain_about("a pattern", &format!("more than {MAX_NESTED} patterns inside each other"));
            return None;
        }
        let kind = match self.token().kind {
            TokenKind::Symbol("(") => self.tuple_pattern(depth)?,
            TokenKind::Symbol("{") => self.record_pattern(depth)?,
            _ if self.sees_word("_") => {
                self.advance();
                PatternKind::Discard
            }
            _ => PatternKind::Name(self.ident("a name, `_`, or a pattern in parentheses")?),
        };
        let span = self.since(start);
        Some(self.program.written.add_pattern(kind, span))
    }

    /// `(p, q)`.
    fn tuple_pattern(&mut self, depth: usize) -> Option<PatternKind> {
        let open = self.advance().span;
        let mut parts = Vec::new();
        if self.eat(")") {
            return Some(PatternKind::Tuple(parts));
        }
        loop {
            parts.push(self.pattern_at(depth + 1)?);
            if self.eat(")") {
                return Some(PatternKind::Tuple(parts));
            }
            if !self.eat(",") {
                self.complain("`,` or `)`").cause(open, "this parenthesis is open");
                return None;
            }
        }
    }

    /// `{x, y = p}`.
    fn record_pattern(&mut self, depth: usize) -> Option<PatternKind> {
        let open = self.advance().span;
        let mut fields = Vec::new();
        loop {
            let ident = self.ident("the name of a field")?;
            let pattern = if self.eat("=") { Some(self.pattern_at(depth + 1)?) } else { None };
            fields.push((ident, pattern));
            if self.eat("}") {
                return Some(PatternKind::Record(fields));
            }
            if !self.eat(",") {
                self.complain("`,` or `}`").cause(open, "this brace is open");
                return None;
            }
        }
    }
}
