//! Parsing of types: `forall a. (a -> int) -> ref a`. Variables become de Bruijn indices here.

use eddy_syntax::Diagnostic;
use eddy_syntax::lex::TokenKind;
use eddy_syntax::suggest::nearest;

use super::Parser;
use crate::codes;
use crate::dialect::Dialect;
use crate::surface::Annotation;
use crate::types::{Type, TypeKind};

/// An unfinished type around the current one.
enum Waiting {
    /// `ref`, for an atom.
    Ref,
    /// `A *`, for a product.
    Product(Type),
    /// `A ->`, for a type.
    Arrow(Type),
    /// `forall a b.`, for a type; the number of variables.
    Forall(usize),
    /// `(`, for a type and `)`.
    Paren,
}

impl Parser<'_> {
    /// `type ::= ('forall'|'∀') IDENT+ '.' type | prod [ '->' type ]`, `prod ::= tatom [ '*' prod ]`,
    /// `tatom ::= 'int' | IDENT | 'ref' tatom | '(' type ')'`.
    pub(super) fn annotation(&mut self) -> Option<Annotation> {
        let (start, scope) = (self.reader.token().span, self.type_names.len());
        let ty = self.type_expression();
        self.type_names.truncate(scope);
        Some(Annotation { ty: ty?, span: start.to(self.reader.previous()) })
    }

    fn type_expression(&mut self) -> Option<Type> {
        let mut waiting = Vec::new();
        loop {
            let wants_type = matches!(
                waiting.last(),
                None | Some(Waiting::Arrow(_) | Waiting::Forall(_) | Waiting::Paren)
            );
            let is_sysf = self.dialect == Dialect::SystemF;
            let mut ty = match self.reader.token().kind {
                TokenKind::Symbol("int") => Type::INT,
                TokenKind::Name if is_sysf => self.type_variable(),
                TokenKind::Symbol("forall") if is_sysf && wants_type => {
                    waiting.push(Waiting::Forall(self.quantifier()?));
                    continue;
                }
                TokenKind::Symbol("ref") if self.dialect == Dialect::References => {
                    self.reader.advance();
                    waiting.push(Waiting::Ref);
                    continue;
                }
                TokenKind::Symbol("(") => {
                    self.reader.advance();
                    waiting.push(Waiting::Paren);
                    continue;
                }
                _ => return self.no_type(),
            };
            self.reader.advance();
            loop {
                ty = self.close_atom(ty, &mut waiting);
                if self.dialect == Dialect::References && self.reader.eat("*") {
                    waiting.push(Waiting::Product(ty));
                    break;
                }
                ty = self.close_product(ty, &mut waiting);
                if self.reader.eat("->") {
                    waiting.push(Waiting::Arrow(ty));
                    break;
                }
                ty = self.close_type(ty, &mut waiting);
                if waiting.pop().is_none() {
                    return Some(ty);
                }
                // A parenthesis: its type is an atom for the enclosing form.
                if !self.reader.expect(")") {
                    return None;
                }
            }
        }
    }

    fn close_atom(&mut self, mut ty: Type, waiting: &mut Vec<Waiting>) -> Type {
        while let Some(Waiting::Ref) = waiting.last() {
            waiting.pop();
            ty = self.types.make(TypeKind::Ref(ty));
        }
        ty
    }

    fn close_product(&mut self, mut ty: Type, waiting: &mut Vec<Waiting>) -> Type {
        while let Some(Waiting::Product(first)) = waiting.last() {
            let first = *first;
            waiting.pop();
            ty = self.types.make(TypeKind::Product(first, ty));
        }
        ty
    }

    fn close_type(&mut self, mut ty: Type, waiting: &mut Vec<Waiting>) -> Type {
        loop {
            match waiting.last() {
                Some(Waiting::Arrow(from)) => ty = self.types.arrow(*from, ty),
                Some(Waiting::Forall(times)) => {
                    self.type_names.truncate(self.type_names.len() - times);
                    for _ in 0..*times {
                        ty = self.types.make(TypeKind::Forall(ty));
                    }
                }
                _ => return ty,
            }
            waiting.pop();
        }
    }

    /// `forall a b .`: puts the variables in scope and returns their number.
    fn quantifier(&mut self) -> Option<usize> {
        self.reader.advance();
        let mut times = 0;
        while times == 0 || self.reader.token().kind == TokenKind::Name {
            let ident = self.ident("a type variable")?;
            self.type_names.push(ident.name);
            times += 1;
        }
        self.reader.expect(".").then_some(times)
    }

    /// The index of a type variable; the token is read by the caller.
    fn type_variable(&mut self) -> Type {
        let span = self.reader.token().span;
        let name = self.names.intern(self.reader.slice(span));
        if let Some(index) = self.type_names.iter().rev().position(|bound| *bound == name) {
            let index = u32::try_from(index).expect("fewer type variables than source bytes");
            return self.types.make(TypeKind::Variable(index));
        }
        let text = self.names.text(name);
        let title = format!("unbound type variable `{text}`");
        let mut diagnostic = Diagnostic::error(codes::UNBOUND, span, title).label("nothing binds this");
        let known = self.type_names.iter().map(|bound| self.names.text(*bound));
        if let Some(meant) = nearest(text, known.chain(["int"])) {
            diagnostic = diagnostic.suggest(span, meant);
        } else {
            diagnostic = diagnostic.help(format!("bind it with `/\\{text}. e` or `forall {text}. A`"));
        }
        self.reader.diagnostics.push(diagnostic);
        Type::UNKNOWN
    }

    fn no_type(&mut self) -> Option<Type> {
        self.reader.syntax_error("a type");
        let help = match self.dialect {
            Dialect::SystemF => "types are `int`, variables, `A -> B` and `forall a. A`",
            _ => "types are `int`, `A -> B`, `A * B` and `ref A`",
        };
        self.reader.help(help);
        None
    }
}
