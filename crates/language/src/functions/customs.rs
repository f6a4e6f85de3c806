//! Derivatives that the user wrote: `fn adj_f` and `fn tan_f` (functions.md, section 5.3).

use std::rc::Rc;

use eddy_body::ir::{BodyId, Custom, Elem, Mode};
use eddy_syntax::{Diagnostic, Span};

use super::activation::Activation;
use super::declarations::closed;
use super::entering::ParamTask;
use super::errors::Refused;
use super::instances::Instance;
use super::key::{FnKey, Key, KeyKind, Ty};
use super::lowering::{Lowering, Task};
use super::value::Code;
use crate::codes;
use crate::program::{Entity, FunctionId};

impl Lowering<'_> {
    /// Lowers the derivatives that the user wrote for a function, at the arguments of this instance.
    pub fn find_customs(&mut self, key: &Key, instance: &Rc<Instance>, span: Span) -> Result<(), Refused> {
        let Code::Declared(id, modes) = &key.function.code else { return Ok(()) };
        if !modes.is_empty() {
            return Ok(());
        }
        for mode in [Mode::Adj, Mode::Tan] {
            let Some(written) = self.custom(*id, mode) else { continue };
            let derivative = self.program.function(written).1.ident.span;
            if key.args.iter().any(|arg| matches!(arg, Ty::Function(_))) {
                let text = "a function with function parameters cannot have a custom derivative: \
                            it would ignore the values that these functions capture";
                return Err(Box::new(Diagnostic::error(codes::CUSTOM, derivative, text)));
            }
            let value = instance.result.ty(&instance.kinds, &mut Vec::new());
            let mut args = key.args.clone();
            let mut results = vec![value.clone()];
            let directions = key.args.iter().filter(|arg| arg.contains_num()).map(tangent);
            match mode {
                Mode::Adj => {
                    args.push(tangent(&value));
                    results.extend(directions);
                }
                _ => {
                    args.extend(directions);
                    results.push(tangent(&value));
                }
            }
            let result = Ty::Tuple(results);
            self.check_parameters(written, &args, &result)?;
            let function = FnKey { code: Code::Declared(written, Vec::new()), captured: Vec::new() };
            let derivative_key = Key { function, args };
            self.custom_results.push((written, derivative_key.clone(), result));
            let task = ParamTask::Custom { of: instance.id, mode, key: derivative_key, span };
            self.tasks.push(Task::Param(task));
        }
        Ok(())
    }

    /// The parameters of a custom derivative must have the types of the synthesised one.
    fn check_parameters(&self, written: FunctionId, args: &[Ty], result: &Ty) -> Result<(), Refused> {
        let (module, tree) = self.program.function(written);
        let mut fits = tree.params.len() == args.len();
        for (param, arg) in tree.params.iter().zip(args) {
            if let Some(ty) = param.annotation {
                let found = closed(&self.written(module, ty, &[], &mut Vec::new())?);
                fits &= found.as_ref() == Some(arg);
            }
        }
        if fits { Ok(()) } else { Err(self.wrong_interface(written, args, result)) }
    }

    /// The results of custom derivatives must have the types of the synthesised ones. Result types are known
    /// only at the end.
    pub fn check_custom_results(&self) -> Result<(), Refused> {
        for (written, key, result) in &self.custom_results {
            if let Some(instance) = self.instances.get(key)
                && instance.result.ty(&instance.kinds, &mut Vec::new()) != *result
            {
                return Err(self.wrong_interface(*written, &key.args, result));
            }
        }
        Ok(())
    }

    fn wrong_interface(&self, written: FunctionId, args: &[Ty], result: &Ty) -> Refused {
        let (module, tree) = self.program.function(written);
        let name = self.program.modules[module].names.text(tree.ident.name);
        let (_, of) = name.split_once('_').expect("it is `adj_f` or `tan_f`");
        let show = |ty: &Ty| ty.show(&|elem| self.kind_name(elem));
        let params: Vec<String> = args.iter().map(show).collect();
        let text = format!("`{name}` does not have the interface of a custom derivative of `{of}`");
        let help = format!("its type must be ({}) -> {}", params.join(", "), show(result));
        Box::new(Diagnostic::error(codes::CUSTOM, tree.ident.span, text).help(help))
    }

    /// The function `adj_f` or `tan_f` in the file that declares `f`, if there is one.
    fn custom(&self, id: FunctionId, mode: Mode) -> Option<FunctionId> {
        let (module, tree) = self.program.function(id);
        let file = &self.program.modules[module];
        let prefix = if mode == Mode::Adj { "adj_" } else { "tan_" };
        match file.entities.get(&format!("{prefix}{}", file.names.text(tree.ident.name))) {
            Some(Entity::Function(written)) => Some(*written),
            _ => None,
        }
    }

    /// Registers a custom derivative in place of the synthesised one, after starting to lower it if needed.
    pub fn register_custom(&mut self, of: BodyId, mode: Mode, key: Key, span: Span) -> Result<(), Refused> {
        let is_there = self.instances.contains_key(&key) || self.in_progress.contains_key(&key);
        if !is_there {
            // The instance has no caller, so a dummy activation takes the place of one.
            if self.activations.is_empty() {
                let id = BodyId::new(u32::MAX as usize);
                self.activations.push(Activation::new(key.clone(), 0, id, span));
                self.tasks.push(Task::Param(ParamTask::Leave));
            }
            let n_tasks = self.tasks.len();
            self.start_instance(key.clone(), None, span)?;
            self.tasks.insert(n_tasks, Task::Param(ParamTask::Custom { of, mode, key, span }));
            return Ok(());
        }
        let derivative = self.body_id(&key);
        let custom = Custom { of, mode, derivative };
        if !self.module.customs.contains(&custom) {
            self.module.customs.push(custom);
        }
        Ok(())
    }
}

/// The type of tangents: `()` for parts that are not nums.
pub fn tangent(ty: &Ty) -> Ty {
    match ty {
        Ty::Tensor(KeyKind::Is(Elem::Num), _) => ty.clone(),
        Ty::Tensor(..) | Ty::Function(_) | Ty::Unknown => Ty::Tuple(Vec::new()),
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(tangent).collect()),
        Ty::Record(fields) => {
            Ty::Record(fields.iter().map(|(label, ty)| (label.clone(), tangent(ty))).collect())
        }
    }
}
