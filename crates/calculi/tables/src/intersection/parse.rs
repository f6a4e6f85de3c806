//! Parsing of intersection types for `--type` (section 3), without recursion.
//!
//! `ity ::= iarr ('&' iarr)*`, `iarr ::= iatom ['->' iarr]`, `iatom ::= INT | 'top' | '⊤' | '(' ity ')'`.

use eddy_syntax::lex::{Lexed, TokenKind, lex};
use eddy_syntax::{Diagnostic, SourceFile, Span};

use super::{Form, Intersection, Intersections};
use crate::codes;
use crate::parse::reader::Reader;
use crate::parse::{LEXICON, or_lexical};

/// An unfinished type around the current one.
enum Waiting {
    /// `A ->`, for an arrow or an atom.
    Arrow(Intersection),
    /// `F &`, for an arrow or an atom.
    And(Intersection),
    /// `(`, for a type and `)`.
    Bracket,
}

/// Reads a type.
pub fn parse(file: &SourceFile, types: &mut Intersections) -> Result<Intersection, Vec<Diagnostic>> {
    let Lexed { tokens, errors, .. } = lex(file, &LEXICON);
    let mut parser = Parser { reader: Reader::new(file, &tokens), types };
    let ty = if errors.is_empty() { parser.whole() } else { None };
    let diagnostics = or_lexical(file, &errors, parser.reader.0.diagnostics);
    match ty {
        Some(ty) if diagnostics.is_empty() => Ok(ty),
        _ => Err(diagnostics),
    }
}

struct Parser<'a> {
    reader: Reader<'a>,
    types: &'a mut Intersections,
}

impl Parser<'_> {
    fn whole(&mut self) -> Option<Intersection> {
        let mut waiting = Vec::new();
        loop {
            let start = self.reader.token().span;
            if self.reader.eat("(") {
                waiting.push(Waiting::Bracket);
                continue;
            }
            let mut ty = self.atom()?;
            loop {
                if self.reader.eat("->") {
                    waiting.push(Waiting::Arrow(ty));
                    break;
                }
                while let Some(Waiting::Arrow(from)) = waiting.last() {
                    ty = self.types.make(Form::Arrow(*from, ty));
                    waiting.pop();
                }
                if let Some(Waiting::And(first)) = waiting.last() {
                    let first = *first;
                    self.check_function(ty, start)?;
                    ty = self.types.make(Form::And(first, ty));
                    waiting.pop();
                }
                if self.reader.sees("&") {
                    self.check_function(ty, start)?;
                    self.reader.advance();
                    waiting.push(Waiting::And(ty));
                    break;
                }
                match waiting.pop() {
                    Some(_) => self.reader.expect(")").then_some(())?,
                    None if self.reader.token().kind == TokenKind::End => return Some(ty),
                    None => {
                        self.reader.syntax_error("`->`, `&` or the end of the type");
                        return None;
                    }
                }
            }
        }
    }

    fn atom(&mut self) -> Option<Intersection> {
        if self.reader.sees_literal() {
            let int = self.reader.literal()?;
            return Some(self.types.make(Form::Int(int)));
        }
        if self.reader.eat("top") {
            return Some(self.types.make(Form::Top));
        }
        self.reader.syntax_error("a type");
        self.reader.help("types are integers, `top`, `A -> B` and `F & G`");
        None
    }

    fn check_function(&mut self, ty: Intersection, start: Span) -> Option<()> {
        if self.types.is_function(ty) {
            return Some(());
        }
        let title = "parse error: `&` stands between types of functions, and this is an integer";
        let diagnostic = Diagnostic::error(codes::SYNTAX, start.to(self.reader.previous()), title)
            .label("not a type of functions")
            .reason("two integers are equal or have nothing in common");
        self.reader.report(diagnostic);
        None
    }
}
