//! Nodes: the head, the equations, and their left sides.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Confidence, Span};

use super::Parser;
use super::recover::Place;
use crate::tree::{
    Annotation, Automaton, Contract, Decl, Equation, ExprList, Ident, Item, Let, Node, Polarity, Probe,
    Sampling, Scalar, Target, TypeKind, TypeName,
};

/// The part between `node` and the first equation.
#[derive(Default)]
struct Head {
    inputs: Vec<Decl>,
    outputs: Vec<Decl>,
    inputs_span: Span,
    outputs_span: Span,
    /// Whether it has `returns`, as in Lustre.
    is_lustre: bool,
}

/// An error that was reported and after which the rest of the part cannot be read.
struct Failed;

/// The items of a node.
#[derive(Default)]
struct Body {
    equations: Vec<Equation>,
    lets: Vec<Let>,
    automata: Vec<Automaton>,
    contracts: Vec<Contract>,
    probes: Vec<Probe>,
}

impl Parser<'_> {
    /// `node f(x)->(o)` and its equations.
    pub(super) fn node(&mut self) {
        let doc = self.doc_above(self.at);
        let start = self.advance().span;
        if self.begins_item() {
            self.complain("the name of the node");
            return;
        }
        let ident = self.ident("the name of the node").unwrap_or_else(|| self.no_ident());
        let head_at = self.at;
        let mut head = Head::default();
        if self.head(&mut head).is_none() {
            self.poison_since(head_at);
            self.skip(Place::Node);
        }
        let Body { equations, lets, automata, contracts, probes } = self.body(&head);
        let Head { inputs, outputs, inputs_span, outputs_span, .. } = head;
        let span = self.since(start);
        self.program.items.push(Item::Node(Node {
            ident,
            doc,
            inputs,
            outputs,
            equations,
            lets,
            automata,
            contracts,
            probes,
            inputs_span,
            outputs_span,
            span,
        }));
    }

    /// A placeholder for a missing name, which was reported.
    fn no_ident(&mut self) -> Ident {
        let name = self.names.intern("_");
        self.poisoned.insert(name);
        Ident { name, span: self.token().span.before() }
    }

    fn head(&mut self, head: &mut Head) -> Option<()> {
        head.inputs_span = self.interface(&mut head.inputs, true)?;
        head.is_lustre = self.eats_returns();
        if !head.is_lustre && !self.eat("->") {
            self.complain_about_arrow();
            if !self.sees("(") {
                return None;
            }
        }
        head.outputs_span = if self.sees("(") || self.token().kind != TokenKind::Name {
            self.interface(&mut head.outputs, false)?
        } else {
            self.bare_outputs(&mut head.outputs)?
        };
        Some(())
    }

    /// Reports a token other than `->` after the inputs; reads it if it is another language's form of `->`.
    fn complain_about_arrow(&mut self) {
        let (after, token) = (self.previous().span.after(), self.token());
        let complaint = self.complain("`->`");
        match token.kind {
            TokenKind::Symbol("=" | ":=") => {
                complaint.help("a node names its outputs and defines them: `node f(x) -> (y)  y = …;`");
            }
            TokenKind::Symbol(":" | "=>") => {
                complaint.edit("the outputs follow `->`", token.span, "->", Confidence::Maybe);
                self.advance();
            }
            _ => drop(complaint.edit("the outputs follow `->`", after, "->", Confidence::Maybe)),
        }
    }

    /// The help when the inputs of a node have no parenthesis.
    fn help_for_inputs(&self) -> &'static str {
        match self.token().kind {
            TokenKind::Symbol("<" | "[") => "sizes are inputs like all others: `node f(n, x) -> (y)`",
            _ => {
                "the inputs stand in parentheses, even if there are none: `node f(x) -> (y)`, `node g() -> (y)`"
            }
        }
    }

    /// The help when a declaration continues where it should end.
    fn help_for_decl(&self) -> Option<String> {
        let (before, here) = (self.file.slice(self.previous().span), self.text());
        Some(match self.token().kind {
            TokenKind::Name => match super::foreign::scalar(before) {
                Some(scalar) => format!("a type comes after the name: `{here}:{}`", scalar.word()),
                None if self.previous().kind == TokenKind::Name => {
                    format!("names are separated by `,`: `{before}, {here}`")
                }
                None => "declarations are separated by `,`".to_string(),
            },
            TokenKind::Symbol("=") => "an output has no default: an equation defines it".to_string(),
            TokenKind::Number => format!("a shape stands in brackets: `{before} [{here}]`"),
            TokenKind::Symbol("[") if before == "]" => {
                "all axes stand in one pair of brackets: `num [3, 4]`".to_string()
            }
            _ => return None,
        })
    }

    /// `(x, y:num [3], k = 1.0)`; returns its span.
    fn interface(&mut self, decls: &mut Vec<Decl>, has_defaults: bool) -> Option<Span> {
        let open = self.token().span;
        if !self.eat("(") {
            let help = self.help_for_inputs();
            self.complain("`(`").help(help);
            return None;
        }
        if self.eat(")") {
            return Some(self.since(open));
        }
        loop {
            let mut decl = self.decl("a name")?;
            if has_defaults && self.eat("=") {
                decl.default = Some(self.expression()?);
                decl.span = self.since(decl.ident.span);
            }
            decls.push(decl);
            if self.eat(",") && !self.sees(")") {
                continue;
            }
            if self.previous().kind == TokenKind::Symbol(",") {
                self.complain("a name").help("remove the comma before it");
            }
            if self.eat(")") {
                return Some(self.since(open));
            }
            let is_semicolon = self.sees(";");
            let help = self.help_for_decl();
            let mut complaint = self.complain("`,` or `)`").cause(open, "this parenthesis is open");
            if let Some(help) = help {
                complaint = complaint.help(help);
            }
            if is_semicolon {
                complaint.help("names are separated by `,`");
                self.advance();
            } else if self.sees("->") {
                return Some(self.since(open));
            } else {
                return None;
            }
        }
    }

    /// Reports `-> o`, and parses it as if it were in parentheses.
    fn bare_outputs(&mut self, decls: &mut Vec<Decl>) -> Option<Span> {
        let start = self.token().span;
        self.complain("`(`").help("the outputs stand in parentheses: `-> (o)`");
        loop {
            decls.push(self.decl("a name")?);
            if !self.eat(",") {
                // The closing parenthesis may be there although the opening one is missing.
                self.eat(")");
                return Some(self.since(start));
            }
        }
    }

    /// `x:num [3] when c`.
    fn decl(&mut self, what: &str) -> Option<Decl> {
        let ident = self.ident(what)?;
        let mut is_callable = false;
        let (annotation, type_name) = if self.eat(":") {
            if self.eat("node") {
                is_callable = true;
                (None, None)
            } else if self.names_type() {
                (None, Some(self.type_name().ok()?))
            } else {
                (self.annotation().ok()?, None)
            }
        } else {
            (None, None)
        };
        let mut clock = Vec::new();
        while self.sees("when") {
            let start = self.advance().span;
            let polarity = if self.eat("not") { Polarity::OnNot } else { Polarity::On };
            let condition = self.ident("the name of a condition")?;
            clock.push(Sampling { polarity, condition, span: self.since(start) });
        }
        Some(Decl {
            ident,
            annotation,
            type_name,
            clock,
            default: None,
            is_callable,
            span: self.since(ident.span),
        })
    }

    /// `num [3,n]`; `None` if the type was reported and parsing can continue.
    fn annotation(&mut self) -> Result<Option<Annotation>, Failed> {
        let start = self.token().span;
        let known = Scalar::ALL.into_iter().find(|scalar| self.sees_word(scalar.word()));
        let scalar = match known {
            Some(_) => {
                self.advance();
                known
            }
            None if self.token().kind == TokenKind::Name => self.foreign_scalar(),
            None => {
                self.foreign_scalar();
                return Err(Failed);
            }
        };
        let dims = self.dims()?;
        let span = self.since(start);
        Ok(scalar.map(|scalar| Annotation { scalar, dims, span }))
    }

    /// Whether the next word may be the name of a `type`. Words for types of other languages are explained
    /// instead.
    fn names_type(&self) -> bool {
        self.token().kind == TokenKind::Name && super::foreign::scalar(self.text()).is_none()
    }

    /// `pt` or `pt[n]`.
    fn type_name(&mut self) -> Result<TypeName, Failed> {
        let ident = self.ident_here();
        let sizes = self.dims()?;
        let span = self.since(ident.span);
        let ty = self.program.written.add_type(TypeKind::Named(ident, sizes), span);
        Ok(TypeName { ty, sizes, span })
    }

    /// `[3,n]`, or nothing.
    fn dims(&mut self) -> Result<Option<ExprList>, Failed> {
        let open = self.token().span;
        if !self.eat("[") {
            return Ok(None);
        }
        let dims = self.expressions("]").ok_or(Failed)?;
        if !self.eat("]") {
            self.complain("`,` or `]`").cause(open, "this bracket is open");
            return Err(Failed);
        }
        Ok(Some(self.program.exprs.list(dims)))
    }

    fn body(&mut self, head: &Head) -> Body {
        let Body { mut equations, mut lets, mut automata, mut contracts, mut probes } = Body::default();
        let mut in_braces = false;
        while !self.begins_item() {
            match self.token().kind {
                TokenKind::End => break,
                TokenKind::Name if !head.is_lustre && self.begins_let() => {
                    lets.push(self.let_item(equations.len()));
                }
                TokenKind::Name if !head.is_lustre && self.begins_automaton() => {
                    automata.extend(self.automaton(equations.len()));
                }
                TokenKind::Name if !head.is_lustre && self.begins_contract() => {
                    contracts.push(self.contract(contracts.len()));
                }
                TokenKind::Name if !head.is_lustre && self.begins_probe() => probes.extend(self.probe()),
                TokenKind::Name if self.eats_lustre_block(head.is_lustre) => {}
                TokenKind::Name | TokenKind::Symbol("(") => equations.extend(self.equation()),
                TokenKind::Symbol("{") => {
                    in_braces = true;
                    self.complain("an equation").help("the equations of a node stand without braces");
                    self.advance();
                }
                TokenKind::Symbol("}") if in_braces => drop(self.advance()),
                TokenKind::Symbol(";") => {
                    if !head.is_lustre || !equations.is_empty() {
                        let help = if equations.is_empty() {
                            "there is no `;` between the head of a node and its equations"
                        } else {
                            "remove this `;`"
                        };
                        self.complain("an equation").help(help);
                    }
                    self.advance();
                }
                // A reserved word in place of a name.
                TokenKind::Symbol(_) if matches!(self.peek(1), TokenKind::Symbol("=" | "," | ":" | ":=")) => {
                    equations.extend(self.equation());
                }
                _ => {
                    let help = match self.text() {
                        "if" | "else" | "then" => {
                            Some("`if` is an expression: `o = if c then x else y;`, with both branches")
                        }
                        ":" => Some("the equations of a node follow its head without a `:`"),
                        ")" | "}" | "]" => Some("no open bracket matches this"),
                        _ => None,
                    };
                    let complaint = self.complain("an equation");
                    if let Some(help) = help {
                        complaint.help(help);
                    }
                    self.advance();
                    self.skip(Place::Node);
                }
            }
        }
        Body { equations, lets, automata, contracts, probes }
    }

    /// Whether an item `let e = C;` begins here.
    pub(super) fn begins_let(&self) -> bool {
        self.sees_word("let") && self.peek(1) == TokenKind::Name && self.peek(2) == TokenKind::Symbol("=")
    }

    /// `let e = C;`.
    pub(super) fn let_item(&mut self, at: usize) -> Let {
        let start = self.advance().span;
        let ident = self.ident_here();
        let equals = self.advance().span;
        let value = self.line(Place::Node);
        Let { ident, value, equals, at, span: self.since(start) }
    }

    /// `x, y = e;`. If only its right side cannot be read, its targets are kept.
    pub(super) fn equation(&mut self) -> Option<Equation> {
        let start = self.token().span;
        let head_at = self.at;
        let Some((targets, at)) = self.left_side() else {
            self.poison_since(head_at);
            self.skip(Place::Node);
            return None;
        };
        let value = self.line(Place::Node);
        Some(Equation { targets, value, at, span: self.since(start) })
    }

    /// From the first name to the `=`, whose span it returns.
    fn left_side(&mut self) -> Option<(Vec<Target>, Span)> {
        let open = self.token().span;
        let in_parentheses = self.eat("(");
        let mut targets = Vec::new();
        loop {
            targets.push(self.target()?);
            if !self.eat(",") {
                break;
            }
        }
        if in_parentheses && !self.eat(")") {
            self.complain("`,` or `)`").cause(open, "this parenthesis is open");
            return None;
        }
        let at = self.token();
        if self.eat("=") {
            return Some((targets, at.span));
        }
        if matches!(at.kind, TokenKind::Symbol(":=" | "==")) {
            self.complain("`=`").edit("an equation is written with `=`", at.span, "=", Confidence::Safe);
            self.advance();
            return Some((targets, at.span));
        }
        let first = match &targets[..] {
            [Target::Decl(decl)] if !in_parentheses => Some(decl.ident.name),
            _ => None,
        };
        let help = self.help_for_equals(first);
        let complaint = self.complain(if targets.len() == 1 { "`=`" } else { "`,` or `=`" });
        if let Some(help) = help {
            complaint.help(help);
        }
        None
    }

    fn target(&mut self) -> Option<Target> {
        if self.sees_word("_") {
            return Some(Target::Discard(self.advance().span));
        }
        Some(Target::Decl(self.decl("the name of a stream")?))
    }
}
