//! Finds mutually recursive functions, by the names in their text (functions.md, section 2.1, termination).
//!
//! A lambda belongs to the function whose text contains it: a call in it counts as a call of that function.

use eddy_flow::components::components;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::Name;
use crate::program::{Entity, FunctionId, Program};
use crate::tree::{Control, ExprId, ExprKind, Form, PatternId, PatternKind, Written};

#[derive(Debug, Default)]
pub struct Groups {
    /// The functions that each function mentions.
    mentioned: Vec<Vec<usize>>,
    /// The component of the call graph that each function belongs to.
    group: Vec<usize>,
    /// The function whose text contains each lambda and local function.
    homes: FxHashMap<(usize, ExprId), FunctionId>,
}

impl Groups {
    pub fn new(program: &Program) -> Groups {
        let n = program.functions.len();
        let mut groups =
            Groups { mentioned: vec![Vec::new(); n], group: Vec::new(), homes: FxHashMap::default() };
        for id in (0..n).map(FunctionId::new) {
            groups.read(program, id);
        }
        groups.group = components(n, |id| groups.mentioned[id].clone());
        groups
    }

    /// Records the names in the text of a function.
    fn read(&mut self, program: &Program, id: FunctionId) {
        let (module, tree) = program.function(id);
        let file = &program.modules[module];
        let mut exprs = vec![tree.body];
        let mut at = 0;
        while let Some(expr) = exprs.get(at) {
            exprs.extend(file.tree.exprs.children(*expr).collect::<Vec<_>>());
            at += 1;
        }
        let mut local: FxHashSet<Name> = tree.params.iter().map(|param| param.ident.name).collect();
        for expr in &exprs {
            if let ExprKind::Form(form, _) = file.tree.exprs.kind(*expr) {
                bound(&file.tree.written, file.tree.exprs.form(form), &mut local);
            }
        }
        for expr in exprs {
            match file.tree.exprs.kind(expr) {
                // A name that is bound anywhere in the function counts as local.
                ExprKind::Variable(name) | ExprKind::Call(name, _) if !local.contains(&name) => {
                    let mut text = file.names.text(name);
                    loop {
                        if let Some(Entity::Function(callee)) = file.entities.get(text) {
                            self.mentioned[id.index()].push(callee.index());
                        }
                        let Some(rest) = text.strip_prefix("adj_").or(text.strip_prefix("tan_")) else {
                            break;
                        };
                        text = rest;
                    }
                }
                ExprKind::Form(form, _)
                    if matches!(
                        file.tree.exprs.form(form),
                        Form::Lambda { .. } | Form::LetFunction { .. }
                    ) =>
                {
                    self.homes.insert((module, expr), id);
                }
                _ => {}
            }
        }
    }

    /// The function whose text contains a lambda or a local function; `None` in an `eval` or a constant.
    pub fn home(&self, module: usize, expr: ExprId) -> Option<FunctionId> {
        self.homes.get(&(module, expr)).copied()
    }

    /// Whether two functions call each other, directly or through other functions.
    pub fn are_mutually_recursive(&self, one: FunctionId, other: FunctionId) -> bool {
        let is_same = self.group[one.index()] == self.group[other.index()];
        is_same && (one != other || self.mentioned[one.index()].contains(&one.index()))
    }
}

/// The names that a form binds.
fn bound(written: &Written, form: &Form, names: &mut FxHashSet<Name>) {
    let mut patterns: Vec<PatternId> = Vec::new();
    match form {
        Form::Let { pattern, .. } => patterns.push(*pattern),
        Form::LetFunction { ident, params, .. } => {
            names.insert(ident.name);
            names.extend(params.iter().map(|param| param.ident.name));
        }
        Form::Lambda { params } => patterns.extend(params.iter().map(|param| param.pattern)),
        Form::Loop { state, control, .. } => {
            patterns.push(*state);
            if let Control::For(binders) = control {
                names.extend(binders.binders.iter().map(|binder| binder.ident.name));
            }
        }
        Form::Comprehension(binders) | Form::Reduction { binders, .. } => {
            names.extend(binders.binders.iter().map(|binder| binder.ident.name));
        }
        _ => {}
    }
    while let Some(pattern) = patterns.pop() {
        match written.pattern(pattern) {
            PatternKind::Name(ident) => {
                names.insert(ident.name);
            }
            PatternKind::Discard => {}
            PatternKind::Tuple(parts) => patterns.extend(parts),
            PatternKind::Record(fields) => {
                for (ident, pattern) in fields {
                    match pattern {
                        Some(pattern) => patterns.push(*pattern),
                        None => drop(names.insert(ident.name)),
                    }
                }
            }
        }
    }
}
