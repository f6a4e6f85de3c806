//! The start of an instance: parameters get names, types and sizes (functions.md, sections 2.1 and 2.2).

use eddy_body::ir::{BodyId, Elem, Kind, Mode, Var};
use eddy_body::operation::Operation;
use eddy_syntax::Span;

use super::activation::Activation;
use super::errors::{Refused, arity, size_error};
use super::instances::{Progress, Ready, make_val};
use super::key::{FnKey, Key, KeyKind, Ty};
use super::lowering::{Lowering, Task};
use super::sizes::Form as Size;
use super::value::{Code, FnValue, Leaf, Val};
use super::written::Dim;
use crate::names::Name;
use crate::tree::{ExprId, ExprKind, Form, TypeId};

/// Tasks for the sizes of parameters and results.
pub enum ParamTask {
    /// Check the size of a tensor along an axis.
    Check { leaf: Leaf, axis: usize, module: usize, expr: ExprId, sizes: Vec<(Name, Dim)>, span: Span },
    /// Compare a size with the written size, which is the last operand.
    Compare { leaf: Leaf, axis: usize, span: Span },
    /// Bind a size of a type to the last operand.
    BindSize(Name),
    /// Continue in another file, without the names in scope.
    Enter { module: usize },
    /// Continue in the file of the function, with its names in scope.
    Return { module: usize, env: Vec<(Name, Val)> },
    /// Start an instance if it does not exist.
    Ensure(FnValue, Vec<Val>, Span),
    /// Lower a derivative that the user wrote.
    Custom { of: BodyId, mode: Mode, key: Key, span: Span },
    /// Remove the dummy activation that takes the place of a caller.
    Leave,
    /// Combine this many operands to a tuple.
    Tuple(usize),
    /// Emit a body that applies one operation to all parameters.
    Builtin(&'static str, Span),
    /// Emit a body that is one call of a derivative with all parameters.
    Derivative(FnValue, Mode, Span),
}

impl Lowering<'_> {
    /// Begins to lower a function at arguments of these types.
    pub fn start_instance(&mut self, key: Key, assumed: Option<Ty>, span: Span) -> Result<(), Refused> {
        let id = self.body_id(&key);
        let module = match &key.function.code {
            Code::Declared(function, _) => self.program.function(*function).0,
            Code::Local { module, .. } | Code::Item { module, .. } => *module,
            Code::Builtin(_) | Code::Gradient | Code::Outside => self.here().module,
        };
        let mut activation = Activation::new(key.clone(), module, id, span);
        let mut classes = Vec::new();
        let mut vars = Vec::new();
        let args: Vec<Val> =
            key.args.iter().map(|ty| make_val(&mut activation, ty, &mut classes, &mut vars)).collect();
        let captured: Vec<(Name, Val)> = key
            .function
            .captured
            .iter()
            .map(|(name, ty)| (*name, make_val(&mut activation, ty, &mut classes, &mut vars)))
            .collect();
        activation.n_param_atoms = activation.n_atoms();
        activation.first_operand = self.operands.len();
        activation.classes = classes;
        activation.params.clone_from(&args);
        activation.captured.clone_from(&captured);
        activation.env = captured;
        let depth = self.activations.len();
        activation.first_operand = self.operands.len();
        self.activations.push(activation);
        let written = self.enter_function(&key.function, args, span)?;
        let assumed = assumed.or(written);
        self.in_progress.insert(key, Progress { assumed, was_needed: false, depth });
        Ok(())
    }

    /// Binds the parameters of a function and pushes the tasks of its body. Returns its written result type.
    pub fn enter_function(&mut self, f: &FnKey, args: Vec<Val>, span: Span) -> Result<Option<Ty>, Refused> {
        match &f.code {
            Code::Declared(id, modes) => match modes.split_last() {
                None => self.enter_declared(*id, args, span),
                Some((mode, inner)) => {
                    let inner = FnValue { code: Code::Declared(*id, inner.to_vec()), captured: Vec::new() };
                    self.then(vec![Task::Param(ParamTask::Derivative(inner, *mode, span)), Task::Finish]);
                    Ok(None)
                }
            },
            Code::Builtin(name) => {
                self.operands.extend(args);
                self.then(vec![Task::Param(ParamTask::Builtin(name, span)), Task::Finish]);
                Ok(None)
            }
            Code::Gradient => {
                let Some((_, Val::Function(inner))) = self.here().captured.first().cloned() else {
                    unreachable!("a gradient has captured its function")
                };
                self.push(Val::Function(inner));
                let point = if args.len() == 1 { args.into_iter().next() } else { Some(Val::Tuple(args)) };
                self.operands.extend(point);
                let operator = super::derivatives::Operator::Grad;
                self.then(vec![Task::Derive { operator, span }, Task::Finish]);
                Ok(None)
            }
            Code::Local { expr, .. } => self.enter_local(*expr, args, span),
            Code::Item { .. } | Code::Outside => unreachable!("nothing calls an item"),
        }
    }

    pub fn enter_local(&mut self, expr: ExprId, args: Vec<Val>, span: Span) -> Result<Option<Ty>, Refused> {
        let (form, parts) = self.form_of(expr).expect("a local function is a form");
        match form {
            Form::Lambda { params } => {
                if params.len() != args.len() {
                    return Err(arity(span, "\\", params.len(), args.len()));
                }
                let mut tasks = Vec::new();
                for (param, arg) in params.iter().zip(args) {
                    self.push(arg);
                    let mut of_param = vec![];
                    of_param.extend(param.annotation.map(Task::Annotate));
                    of_param.push(Task::Bind(param.pattern));
                    // The last argument is the last operand.
                    tasks.splice(0..0, of_param);
                }
                tasks.extend([Task::Expr(parts[0]), Task::Finish]);
                self.then(tasks);
                Ok(None)
            }
            Form::LetFunction { ident, params, result } => {
                if params.len() != args.len() {
                    return Err(arity(span, self.text(ident.name), params.len(), args.len()));
                }
                let code = self.here().key.function.code.clone();
                let captured = self.here().captured.clone();
                self.here().env.push((ident.name, Val::Function(FnValue { code, captured })));
                let params: Vec<_> =
                    params.iter().map(|param| (param.ident.name, param.annotation)).collect();
                self.enter_params(&params, args, &[], *result, parts[0], span)
            }
            _ => unreachable!("these forms are functions"),
        }
    }

    pub fn enter_declared(
        &mut self,
        id: crate::program::FunctionId,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Option<Ty>, Refused> {
        let (_, tree) = self.program.function(id);
        if tree.params.len() != args.len() {
            return Err(arity(span, self.text(tree.ident.name), tree.params.len(), args.len()));
        }
        let params: Vec<_> = tree.params.iter().map(|param| (param.ident.name, param.annotation)).collect();
        self.enter_params(&params, args, &tree.sizes, tree.result, tree.body, span)
    }

    /// A written type as kinds and ranks.
    pub fn written_type(&mut self, ty: TypeId) -> Result<Ty, Refused> {
        let module = self.here().module;
        let written = self.written(module, ty, &[], &mut Vec::new())?;
        Ok(type_of(&written))
    }

    /// Binds parameters and size variables, requires written types, and pushes tasks that check sizes and
    /// lower the body. Returns the written result type.
    pub fn enter_params(
        &mut self,
        params: &[(Name, Option<TypeId>)],
        args: Vec<Val>,
        sizes: &[crate::tree::Ident],
        result: Option<TypeId>,
        body: ExprId,
        span: Span,
    ) -> Result<Option<Ty>, Refused> {
        let module = self.here().module;
        let mut dims = Vec::new();
        for ((_, annotation), arg) in params.iter().zip(&args) {
            let Some(ty) = annotation else { continue };
            let place = self.program.modules[module].tree.written.type_span(*ty);
            let written = self.written(module, *ty, &[], &mut Vec::new())?;
            let mut of_param = Vec::new();
            self.demand_written(arg, &written, span, &mut of_param)?;
            dims.extend(of_param.into_iter().map(|(leaf, axis, dim)| (leaf, axis, dim, place)));
        }
        for ((name, _), arg) in params.iter().zip(args) {
            self.here().env.push((*name, arg));
        }
        for size in sizes {
            let is_exactly = |dim: &Dim| self.is_size(dim, module, size.name);
            let Some(at) = dims.iter().position(|(_, _, dim, _)| is_exactly(dim)) else {
                let text = format!("no parameter has the size `{}`", self.text(size.name));
                return Err(size_error(size.span, text));
            };
            let (leaf, axis, _, place) = dims.remove(at);
            let bound = self.here().size(&leaf, axis, place);
            self.here().env.push((size.name, Val::Leaf(bound)));
        }
        let mut tasks = Vec::new();
        for (leaf, axis, dim, place) in dims {
            if let Dim::Expr { module, expr, sizes } = dim {
                tasks.push(Task::Param(ParamTask::Check { leaf, axis, module, expr, sizes, span: place }));
            }
        }
        tasks.push(Task::Expr(body));
        tasks.extend(result.map(Task::Annotate));
        tasks.push(Task::Finish);
        self.then(tasks);
        result.map(|ty| self.written_type(ty)).transpose()
    }

    /// Whether a written size is this size variable of a file, directly or through the sizes of named types.
    fn is_size(&self, dim: &Dim, module: usize, name: Name) -> bool {
        let mut dim = dim;
        while let Dim::Expr { module: home, expr, sizes } = dim {
            let ExprKind::Variable(found) = self.program.modules[*home].tree.exprs.kind(*expr) else {
                return false;
            };
            match sizes.iter().find(|(size, _)| *size == found) {
                Some((_, given)) => dim = given,
                None => return *home == module && found == name,
            }
        }
        false
    }

    pub fn param_task(&mut self, task: ParamTask) -> Result<(), Refused> {
        match task {
            ParamTask::Check { leaf, axis, module, expr, sizes, span } => {
                let dim = Dim::Expr { module, expr, sizes };
                if dim.is_open() {
                    return Ok(());
                }
                let mut tasks = Vec::new();
                self.size_tasks(&dim, &mut tasks);
                tasks.push(Task::Param(ParamTask::Compare { leaf, axis, span }));
                self.then(tasks);
            }
            ParamTask::Enter { module } => {
                self.here().module = module;
                self.here().env.clear();
            }
            ParamTask::BindSize(name) => {
                let val = self.pop();
                self.here().env.push((name, val));
            }
            ParamTask::Return { module, env } => (self.here().module, self.here().env) = (module, env),
            ParamTask::Compare { leaf, axis, span } => {
                let val = self.pop();
                let Some(required) = self.scalar(val, Elem::Int, "a size", span)? else { return Ok(()) };
                return self.compare_sizes(&leaf, axis, &required, span);
            }
            ParamTask::Ensure(f, args, span) => {
                let n_tasks = self.tasks.len();
                if let Ready::Started = self.instance(&f, &args, span)? {
                    self.tasks.insert(n_tasks, Task::Param(ParamTask::Ensure(f, args, span)));
                }
            }
            ParamTask::Custom { of, mode, key, span } => return self.register_custom(of, mode, key, span),
            ParamTask::Leave => drop(self.activations.pop()),
            ParamTask::Tuple(n) => {
                let parts = self.pop_n(n);
                self.push(Val::Tuple(parts));
            }
            ParamTask::Builtin(name, span) => {
                let n = self.here().params.len();
                return self.builtin(name, n, span);
            }
            ParamTask::Derivative(inner, mode, span) => return self.wrapped_derivative(inner, mode, span),
        }
        Ok(())
    }

    /// Pushes tasks that compute a written size. The sizes of a named type are computed first, in the file
    /// that uses the type; then its own expression, in the file that defines it. Types are nested only as
    /// deep as the parser allows.
    fn size_tasks(&mut self, dim: &Dim, tasks: &mut Vec<Task>) {
        let Dim::Expr { module, expr, sizes } = dim else { unreachable!("an open size is not computed") };
        let (here, env) = (self.here().module, self.here().env.clone());
        if here == *module && sizes.is_empty() {
            tasks.push(Task::Expr(*expr));
            return;
        }
        for (_, given) in sizes {
            self.size_tasks(given, tasks);
        }
        tasks.push(Task::Param(ParamTask::Enter { module: *module }));
        let names = sizes.iter().rev().map(|(name, _)| *name);
        tasks.extend(names.map(|name| Task::Param(ParamTask::BindSize(name))));
        tasks.push(Task::Expr(*expr));
        tasks.push(Task::Param(ParamTask::Return { module: here, env }));
    }

    pub fn compare_sizes(
        &mut self,
        leaf: &Leaf,
        axis: usize,
        required: &Leaf,
        span: Span,
    ) -> Result<(), Refused> {
        let form = leaf.sizes[axis].clone();
        let is_same = form.is_some() && form == required.form;
        if let (Some(form), Some(required)) = (&form, &required.form)
            && form.certainly_differs(required)
        {
            let text = match (form.as_constant(), required.as_constant()) {
                (Some(found), Some(required)) => format!("a size is {found} where {required} is required"),
                _ => {
                    let more = form.subtract(required).and_then(|difference| difference.as_constant());
                    let more = more.unwrap_or_default();
                    let word = if more < 0 { "less" } else { "more" };
                    format!("a size is {} {word} than the required one", more.unsigned_abs())
                }
            };
            return Err(size_error(span, text));
        }
        if !is_same {
            let size = self.here().size(leaf, axis, span);
            let check = Kind::Op(Operation::CheckSize, vec![size.var, required.var]);
            self.here().emit(Vec::new(), check, span);
            self.refine(leaf.var, axis, required.form.clone());
        }
        Ok(())
    }

    /// Replaces the known size of a tensor by another form.
    pub fn refine(&mut self, var: Var, axis: usize, form: Option<Size>) {
        let change = &mut |leaf: &Leaf| {
            let mut leaf = leaf.clone();
            if leaf.var == var {
                leaf.sizes[axis].clone_from(&form);
            }
            leaf
        };
        // Operands below these belong to callers and have other names.
        let first = self.here().first_operand;
        for val in &mut self.operands[first..] {
            *val = val.map(change);
        }
        let here = self.here();
        for (_, val) in &mut here.env {
            *val = val.map(change);
        }
        for val in &mut here.params {
            *val = val.map(change);
        }
    }
}

/// The kinds and ranks of a written type.
fn type_of(written: &super::written::Written) -> Ty {
    use super::written::Written;
    match written {
        Written::Tensor(elem, dims) => Ty::Tensor(KeyKind::Is(*elem), dims.len()),
        Written::Tuple(parts) => Ty::Tuple(parts.iter().map(type_of).collect()),
        Written::Record(fields) => {
            Ty::Record(fields.iter().map(|(label, ty)| (label.clone(), type_of(ty))).collect())
        }
        Written::Function => Ty::Unknown,
    }
}
