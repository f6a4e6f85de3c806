//! Builds trees for what a state machine stands for.

use eddy_syntax::Span;

use crate::names::{Name, Names};
use crate::static_value::postorder;
use crate::tree::{Case, Decl, Direction, Equation, ExprId, ExprKind, Form, Ident, Program, Target};

pub(super) struct Builder<'a> {
    pub tree: &'a mut Program,
    pub names: &'a mut Names,
    /// The place of what is built.
    pub span: Span,
}

impl Builder<'_> {
    pub fn name(&mut self, text: &str) -> Name {
        self.names.intern(text)
    }

    pub fn ident(&mut self, text: &str) -> Ident {
        Ident { name: self.names.intern(text), span: self.span }
    }

    pub fn push(&mut self, kind: ExprKind) -> ExprId {
        self.tree.exprs.push(kind, self.span, self.span)
    }

    pub fn variable(&mut self, name: Name) -> ExprId {
        self.push(ExprKind::Variable(name))
    }

    pub fn truth(&mut self, value: bool) -> ExprId {
        self.push(ExprKind::Bool(value))
    }

    pub fn fby(&mut self, first: ExprId, next: ExprId) -> ExprId {
        self.push(ExprKind::Fby(Direction::Forward, first, next))
    }

    pub fn choice(&mut self, condition: ExprId, yes: ExprId, no: ExprId) -> ExprId {
        self.push(ExprKind::If(condition, yes, no))
    }

    pub fn call(&mut self, callee: Name, arguments: Vec<ExprId>) -> ExprId {
        let list = self.tree.exprs.list(arguments);
        self.push(ExprKind::Call(callee, list))
    }

    fn form(&mut self, form: Form, parts: Vec<ExprId>) -> ExprId {
        let form = self.tree.exprs.form_id(form);
        let parts = self.tree.exprs.list(parts);
        self.push(ExprKind::Form(form, parts))
    }

    /// `x when s is a`
    pub fn when_is(&mut self, value: ExprId, stream: Name, constructor: Ident) -> ExprId {
        let stream = self.variable(stream);
        self.form(Form::WhenIs(constructor), vec![value, stream])
    }

    /// `merge s { a: e, b: e }`
    pub fn merge(&mut self, stream: Name, branches: Vec<(Ident, ExprId)>) -> ExprId {
        let stream = self.variable(stream);
        let cases = branches.iter().map(|(constructor, _)| Case::Enumerator(*constructor)).collect();
        let parts = std::iter::once(stream).chain(branches.into_iter().map(|(_, value)| value)).collect();
        self.form(Form::Merge(cases), parts)
    }

    /// `reset f(x) every c`
    pub fn reset(&mut self, call: ExprId, condition: ExprId) -> ExprId {
        self.form(Form::Reset, vec![call, condition])
    }

    /// Replaces each `last o` by the variable of its stream.
    pub fn replace_lasts(&mut self, root: ExprId) {
        for expr in postorder(&self.tree.exprs, root) {
            let ExprKind::Form(form, _) = self.tree.exprs.kind(expr) else { continue };
            let Form::Last(ident) = self.tree.exprs.form(form) else { continue };
            let text = format!("{}:last", self.names.text(ident.name));
            let name = self.names.intern(&text);
            self.tree.exprs.replace(expr, ExprKind::Variable(name));
        }
    }

    pub fn equation(&self, targets: Vec<Ident>, value: ExprId) -> Equation {
        let targets = targets.into_iter().map(|ident| Target::Decl(decl(ident))).collect();
        Equation { targets, value, at: self.span, span: self.span }
    }
}

pub(super) fn decl(ident: Ident) -> Decl {
    Decl {
        ident,
        annotation: None,
        type_name: None,
        clock: Vec::new(),
        default: None,
        is_callable: false,
        span: ident.span,
    }
}
