//! Calls: the function that a called name refers to, and the functions of the operation table (functions.md,
//! section 3).

use eddy_body::ir::Mode;
use eddy_syntax::Span;
use eddy_tensor::{StaticKind, builtin, initialiser};

use super::derivatives::Operator;
use super::entering::ParamTask;
use super::errors::{Refused, arity, function};
use super::lowering::{Lowering, Task};
use super::value::{Code, FnValue, Val};
use crate::names::Name;
use crate::program::{Entity, Program};
use crate::resolve::arguments::{Formal, Misbound, Source, bind};
use crate::tree::{ExprId, ExprKind, Param};

/// Functions that can be called in functions but not in nodes.
pub const OWN: [&str; 10] =
    ["len", "shape", "scatter", "min", "prod", "any", "all", "argmin", "lgamma", "digamma"];

impl Lowering<'_> {
    /// The function of this name: declared, synthesised, or of the table.
    pub fn named_function(&self, name: Name) -> Option<Code> {
        let module = self.activations.last().expect("a function is being lowered").module;
        function_named(self.program, module, self.text(name))
    }

    pub fn begin_call(&mut self, expr: ExprId) -> Result<(), Refused> {
        let ExprKind::Call(name, arguments) = self.exprs().kind(expr) else { unreachable!("it is a call") };
        let arguments = self.in_order_of_parameters(name, self.exprs().items(arguments))?;
        let text = self.text(name);
        let is_local = self.here().lookup(name).is_some();
        let is_shape = |at: usize| {
            let is_initialiser = initialiser(text).is_some();
            let is_static =
                builtin(text).is_some_and(|builtin| builtin.statics().get(at) == Some(&StaticKind::Shape));
            !is_local && at == 0 && (is_initialiser || is_static)
        };
        let mut tasks = Vec::new();
        for (at, argument) in arguments.into_iter().enumerate() {
            match self.exprs().kind(self.exprs().without_parentheses(argument)) {
                // Sizes in a written list are known individually.
                ExprKind::List(items) if is_shape(at) => {
                    let items = self.exprs().items(items);
                    tasks.extend(items.iter().map(|item| Task::Expr(*item)));
                    tasks.push(Task::Param(ParamTask::Tuple(items.len())));
                }
                _ => tasks.push(Task::Expr(argument)),
            }
        }
        tasks.push(Task::Call(expr));
        self.then(tasks);
        Ok(())
    }

    /// The arguments of a call, named ones at the places of their parameters (composition.md, section 4).
    fn in_order_of_parameters(&self, callee: Name, arguments: &[ExprId]) -> Result<Vec<ExprId>, Refused> {
        let exprs = self.exprs();
        let name_of = |argument: &ExprId| match exprs.kind(*argument) {
            ExprKind::Named(name, _) => Some(self.text(name)),
            _ => None,
        };
        let Some(first) = arguments.iter().find(|argument| name_of(argument).is_some()) else {
            return Ok(arguments.to_vec());
        };
        let (text, at) = (self.text(callee), exprs.at(*first));
        let is_local = self.activations.last().is_some_and(|here| here.lookup(callee).is_some());
        let Some(Code::Declared(declared, modes)) = self.named_function(callee).filter(|_| !is_local) else {
            return Err(function(at, format!("`{text}` takes its arguments by position")));
        };
        let (module, tree) = self.program.function(declared);
        let names = &self.program.modules[module].names;
        let formal = |param: &Param| Formal { name: names.text(param.ident.name), has_default: false };
        let mut formals: Vec<Formal<'_>> = tree.params.iter().map(formal).collect();
        if !modes.is_empty() {
            let further = Formal { name: "", has_default: false };
            formals.resize(formals.len().max(arguments.len()), further);
        }
        let written: Vec<Option<&str>> = arguments.iter().map(name_of).collect();
        let bound = bind(&formals, &written).map_err(|misbound| match misbound {
            Misbound::NoInput(number) => {
                let name = written[number].unwrap_or_default();
                function(exprs.at(arguments[number]), format!("`{text}` has no input named `{name}`"))
            }
            Misbound::GivenTwice(number) => {
                let name = written[number].unwrap_or_default();
                function(
                    exprs.at(arguments[number]),
                    format!("the input `{name}` of `{text}` is given twice"),
                )
            }
            Misbound::TooMany => arity(at, text, formals.len(), arguments.len()),
        })?;
        // A missing argument is reported by its number when the call is made.
        let value = |number: usize| match exprs.kind(arguments[number]) {
            ExprKind::Named(_, value) => value,
            _ => arguments[number],
        };
        let given = bound.iter().filter_map(|source| match source {
            Source::Argument(number) => Some(value(*number)),
            Source::Default | Source::Missing => None,
        });
        Ok(given.collect())
    }

    pub fn call(&mut self, expr: ExprId) -> Result<(), Refused> {
        let ExprKind::Call(name, arguments) = self.exprs().kind(expr) else { unreachable!("it is a call") };
        let (n_args, at, text) = (arguments.len(), self.exprs().at(expr), self.text(name));
        match self.here().lookup(name).cloned() {
            Some(Val::Function(function)) => {
                self.tasks.push(Task::Apply { function, n_args, span: at });
                return Ok(());
            }
            Some(Val::Unknown) => {
                self.pop_n(n_args);
                self.push(Val::Unknown);
                return Ok(());
            }
            Some(_) => return Err(function(at, format!("`{text}` is a value, not a function"))),
            None => {}
        }
        let module = self.here().module;
        let entity = self.program.modules[module].entities.get(text).copied();
        if entity.is_none() {
            if let Some(operator) = Operator::named(text) {
                if n_args != operator.n_operands() {
                    return Err(arity(at, text, operator.n_operands(), n_args));
                }
                self.tasks.push(Task::Derive { operator, span: at });
                return Ok(());
            }
            if initialiser(text).is_some() {
                return self.initialiser(text, n_args, at);
            }
        }
        match self.named_function(name) {
            Some(Code::Builtin(name)) => self.builtin(name, n_args, at),
            Some(code) => {
                let function = FnValue { code, captured: Vec::new() };
                self.tasks.push(Task::Apply { function, n_args, span: at });
                Ok(())
            }
            None => Err(self.unknown_callee(text, entity.is_some(), at)),
        }
    }

    pub fn unknown_callee(&self, text: &str, is_entity: bool, at: Span) -> Refused {
        if is_entity {
            return function(at, format!("`{text}` is not a function"));
        }
        let module = self.activations.last().expect("a function is being lowered").module;
        let file = &self.program.modules[module];
        if file.visible.contains_key(text) {
            return function(at, format!("`{text}` is a node; a function cannot call it"));
        }
        let diagnostic = eddy_syntax::Diagnostic::error(
            crate::codes::UNKNOWN_CALLEE,
            at,
            format!("unknown node or function `{text}`"),
        );
        let mut known: Vec<&str> = file.entities.keys().map(String::as_str).collect();
        known.extend(OWN);
        for builtin in eddy_tensor::builtins() {
            known.push(builtin.name());
        }
        Box::new(match eddy_syntax::suggest::nearest(text, known) {
            Some(meant) => diagnostic.suggest(at, meant),
            None => diagnostic,
        })
    }
}

/// The function that this name refers to in a file: declared, synthesised, or of the table.
pub fn function_named(program: &Program, module: usize, text: &str) -> Option<Code> {
    let entities = &program.modules[module].entities;
    if let Some(Entity::Function(id)) = entities.get(text) {
        return Some(Code::Declared(*id, Vec::new()));
    }
    if let Some(builtin) = builtin(text) {
        return Some(Code::Builtin(builtin.name()));
    }
    if let Some(own) = OWN.into_iter().find(|own| *own == text) {
        return Some(Code::Builtin(own));
    }
    let (mut rest, mut modes) = (text, Vec::new());
    loop {
        if let Some(inner) = rest.strip_prefix("adj_") {
            rest = inner;
            modes.push(Mode::Adj);
        } else if let Some(inner) = rest.strip_prefix("tan_") {
            rest = inner;
            modes.push(Mode::Tan);
        } else {
            return None;
        }
        if let Some(Entity::Function(id)) = entities.get(rest) {
            modes.reverse();
            return Some(Code::Declared(*id, modes));
        }
    }
}
