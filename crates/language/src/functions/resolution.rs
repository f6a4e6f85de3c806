//! Checks names in functions that are typed only at their uses: each name must be known even if the function
//! has no caller (functions.md, section 2.1).

use eddy_body::ir::BodyId;
use eddy_syntax::Diagnostic;
use eddy_tensor::initialiser;

use super::activation::Activation;
use super::control::{bounds, filter};
use super::derivatives::Operator;
use super::errors::Refused;
use super::key::{FnKey, Key};
use super::lowering::Lowering;
use super::value::{Code, Val};
use crate::codes;
use crate::names::Name;
use crate::program::FunctionId;
use crate::tree::{Binders, Control, ExprId, ExprKind, Form, Ident, PatternId, PatternKind};

enum Step {
    Expr(ExprId),
    Bind(PatternId),
    BindName(Name),
    /// End the scope of all names but the first of this number.
    Unbind(usize),
}

impl Lowering<'_> {
    /// Checks that parameters have different names, and that every name in the body is known.
    pub fn check_names(&mut self, id: FunctionId) -> Result<(), Refused> {
        let (module, tree) = self.program.function(id);
        let idents: Vec<Ident> = tree.params.iter().map(|param| param.ident).collect();
        self.check_distinct_in(module, &idents)?;
        let names: Vec<Name> = idents.iter().chain(&tree.sizes).map(|ident| ident.name).collect();
        self.check_expression_names(Code::Declared(id, Vec::new()), module, &names, tree.body)
    }

    /// Checks that every name in an expression is known, with these names in scope.
    pub fn check_expression_names(
        &mut self,
        code: Code,
        module: usize,
        names: &[Name],
        expr: ExprId,
    ) -> Result<(), Refused> {
        let key = Key { function: FnKey { code, captured: Vec::new() }, args: Vec::new() };
        // A dummy activation holds the names in scope.
        let none = BodyId::new(u32::MAX as usize);
        let span = self.program.modules[module].tree.exprs.at(expr);
        let mut activation = Activation::new(key, module, none, span);
        activation.env = names.iter().map(|name| (*name, Val::Unknown)).collect();
        self.activations.push(activation);
        let resolved = self.resolve_all(expr);
        self.activations.pop();
        resolved
    }

    /// Checks that names that are bound at the same time are different.
    pub fn check_distinct(&self, idents: &[Ident]) -> Result<(), Refused> {
        let module = self.activations.last().expect("a function is being lowered").module;
        self.check_distinct_in(module, idents)
    }

    pub fn check_distinct_in(&self, module: usize, idents: &[Ident]) -> Result<(), Refused> {
        for (at, ident) in idents.iter().enumerate() {
            if idents[..at].iter().any(|earlier| earlier.name == ident.name) {
                let name = self.program.modules[module].names.text(ident.name);
                let text = format!("`{name}` is defined twice");
                return Err(Box::new(Diagnostic::error(codes::DEFINED_TWICE, ident.span, text)));
            }
        }
        Ok(())
    }

    /// Checks that the names that patterns bind are different, and so are the fields that a pattern reads.
    fn check_patterns(&self, patterns: &[PatternId]) -> Result<(), Refused> {
        let module = self.activations.last().expect("a function is being lowered").module;
        let written = &self.program.modules[module].tree.written;
        let (mut bound, mut work) = (Vec::new(), patterns.to_vec());
        work.reverse();
        while let Some(pattern) = work.pop() {
            match written.pattern(pattern) {
                PatternKind::Name(ident) => bound.push(*ident),
                PatternKind::Discard => {}
                PatternKind::Tuple(parts) => work.extend(parts.iter().rev()),
                PatternKind::Record(fields) => {
                    let labels: Vec<Ident> = fields.iter().map(|(label, _)| *label).collect();
                    self.check_distinct(&labels)?;
                    bound.extend(fields.iter().filter(|(_, part)| part.is_none()).map(|(label, _)| *label));
                    work.extend(fields.iter().rev().filter_map(|(_, part)| *part));
                }
            }
        }
        bound.sort_by_key(|ident| ident.span.start);
        self.check_distinct(&bound)
    }

    fn check_binders(&self, binders: &Binders) -> Result<(), Refused> {
        let idents: Vec<Ident> = binders.binders.iter().map(|binder| binder.ident).collect();
        self.check_distinct(&idents)
    }

    fn resolve_all(&mut self, body: ExprId) -> Result<(), Refused> {
        let mut work = vec![Step::Expr(body)];
        while let Some(step) = work.pop() {
            match step {
                Step::Expr(expr) => self.resolve(expr, &mut work)?,
                Step::Bind(pattern) => {
                    self.push(Val::Unknown);
                    self.bind(pattern)?;
                }
                Step::BindName(name) => self.here().env.push((name, Val::Unknown)),
                Step::Unbind(n_names) => self.here().env.truncate(n_names),
            }
        }
        Ok(())
    }

    fn resolve(&mut self, expr: ExprId, work: &mut Vec<Step>) -> Result<(), Refused> {
        let at = self.exprs().at(expr);
        match self.exprs().kind(expr) {
            ExprKind::Variable(name) => {
                let module = self.here().module;
                let is_entity = self.program.modules[module].entities.contains_key(self.text(name));
                if self.here().lookup(name).is_none() && !is_entity && self.named_function(name).is_none() {
                    return Err(self.unknown_name(self.text(name), at));
                }
            }
            ExprKind::Call(name, _) => {
                let text = self.text(name);
                let module = self.here().module;
                let is_entity = self.program.modules[module].entities.contains_key(text);
                let is_known = self.here().lookup(name).is_some()
                    || Operator::named(text).is_some()
                    || initialiser(text).is_some()
                    || self.named_function(name).is_some();
                if !is_known {
                    return Err(self.unknown_callee(text, is_entity, at));
                }
            }
            _ => {}
        }
        let Some((form, parts)) = self.form_of(expr) else {
            let children: Vec<ExprId> = self.exprs().children(expr).collect();
            work.extend(children.into_iter().rev().map(Step::Expr));
            return Ok(());
        };
        let mut steps = Vec::new();
        match form {
            Form::Let { pattern, .. } => {
                self.check_patterns(&[*pattern])?;
                steps.extend([Step::Expr(parts[0]), Step::Bind(*pattern), Step::Expr(parts[1])]);
            }
            Form::LetFunction { ident, params, .. } => {
                let idents: Vec<Ident> = params.iter().map(|param| param.ident).collect();
                self.check_distinct(&idents)?;
                let scope = self.here().env.len() + 1;
                steps.push(Step::BindName(ident.name));
                steps.extend(params.iter().map(|param| Step::BindName(param.ident.name)));
                steps.extend([Step::Expr(parts[0]), Step::Unbind(scope), Step::Expr(parts[1])]);
            }
            Form::Lambda { params } => {
                let patterns: Vec<PatternId> = params.iter().map(|param| param.pattern).collect();
                self.check_patterns(&patterns)?;
                steps.extend(params.iter().map(|param| Step::Bind(param.pattern)));
                steps.push(Step::Expr(parts[0]));
            }
            Form::Loop { state, control, .. } => {
                self.check_patterns(&[*state])?;
                steps.push(Step::Expr(parts[0]));
                let body = *parts.last().expect("a loop has a body");
                match control {
                    Control::While => {
                        steps.extend([Step::Bind(*state), Step::Expr(parts[1]), Step::Expr(body)]);
                    }
                    Control::For(binders) => {
                        self.check_binders(binders)?;
                        binder_steps(binders, &parts[1..], Some(*state), &mut steps);
                    }
                }
            }
            Form::Comprehension(binders) | Form::Reduction { binders, .. } => {
                self.check_binders(binders)?;
                binder_steps(binders, parts, None, &mut steps);
            }
            _ => steps.extend(parts.iter().map(|part| Step::Expr(*part))),
        }
        steps.push(Step::Unbind(self.here().env.len()));
        work.extend(steps.into_iter().rev());
        Ok(())
    }
}

/// Adds the steps for binders. The indices before a bound are in scope there; all indices and the state of a
/// loop are in scope in the filter and the body.
fn binder_steps(binders: &Binders, parts: &[ExprId], state: Option<PatternId>, steps: &mut Vec<Step>) {
    for (at, binder) in binders.binders.iter().enumerate() {
        let (lower, upper) = bounds(binders, parts, at);
        steps.extend(lower.into_iter().chain([upper]).map(Step::Expr));
        steps.push(Step::BindName(binder.ident.name));
    }
    steps.extend(state.map(Step::Bind));
    steps.extend(filter(binders, parts).map(Step::Expr));
    steps.extend(parts.last().copied().map(Step::Expr));
}
