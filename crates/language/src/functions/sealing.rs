//! The end of an instance: its result, its open kinds, and its body.

use std::rc::Rc;

use eddy_body::ir::{Body, BodyId, Elem, Kind, Literal, Param, Region, Stmt};
use eddy_syntax::Span;

use super::activation::{Activation, DeferredCall, Undecided};
use super::entering::ParamTask;
use super::errors::{Refused, function, function_value, type_error};
use super::instances::Instance;
use super::key::{Key, KeyKind, Ty};
use super::lowering::{Lowering, Task};
use super::value::{Code, FnValue, Val};
use crate::tree::{ExprKind, Form};

impl Lowering<'_> {
    /// Ends an instance whose body was computed; its result is the last operand.
    pub fn finish_instance(&mut self) -> Result<(), Refused> {
        let result = self.pop();
        let key = self.here().key.clone();
        if let Val::Function(_) = result {
            let place = match key.function.code {
                Code::Item { .. } => "the value of a constant or of an `eval`",
                _ => "the result of a function",
            };
            return Err(function_value(self.name_span(), place));
        }
        let mut open = Vec::new();
        let found = result.ty(&self.here().kinds, &mut open);
        let progress = &self.in_progress[&key];
        if progress.was_needed {
            if result.is_unknown() {
                let name = self.name_of(&key);
                let text =
                    format!("the result type of the recursive function '{name}' cannot be found: write it");
                return Err(function(self.name_span(), text));
            }
            let span = self.here().span;
            self.in_progress.remove(&key);
            self.activations.pop();
            self.provisional.clear();
            return self.start_instance(key, Some(found), span);
        }
        if let Some(assumed) = &progress.assumed
            && !agrees(assumed, &found)
            && !result.is_unknown()
        {
            let text = "a recursive function returns different types";
            return Err(type_error(self.name_span(), text));
        }
        let is_closed = key.is_closed();
        self.push(result);
        if !is_closed || self.here().is_provisional {
            return self.seal();
        }
        self.here().kinds.close();
        let deferred: Vec<(FnValue, Vec<Val>)> = self
            .here()
            .deferred
            .iter()
            .map(|call| match &call.function {
                Val::Function(function) => (function.clone(), call.args.clone()),
                _ => unreachable!("a function is called"),
            })
            .collect();
        let span = self.here().span;
        self.tasks.push(Task::Seal);
        self.tasks.extend(
            deferred.into_iter().map(|(function, args)| Task::Param(ParamTask::Ensure(function, args, span))),
        );
        Ok(())
    }

    pub fn name_span(&self) -> Span {
        let activation = self.activations.last().expect("a function is being lowered");
        match &activation.key.function.code {
            Code::Declared(id, _) => self.program.function(*id).1.ident.span,
            Code::Local { module, expr } | Code::Item { module, expr } => {
                self.program.modules[*module].tree.exprs.at(*expr)
            }
            Code::Builtin(_) | Code::Gradient | Code::Outside => activation.span,
        }
    }

    pub fn name_of(&self, key: &Key) -> String {
        match &key.function.code {
            Code::Declared(id, _) => {
                let (module, tree) = self.program.function(*id);
                self.program.modules[module].names.text(tree.ident.name).to_string()
            }
            Code::Item { .. } => "item".to_string(),
            Code::Local { module, expr } => {
                let file = &self.program.modules[*module];
                match file.tree.exprs.kind(*expr) {
                    ExprKind::Form(form, _) => match file.tree.exprs.form(form) {
                        Form::LetFunction { ident, .. } => file.names.text(ident.name).to_string(),
                        _ => "lambda".to_string(),
                    },
                    _ => "lambda".to_string(),
                }
            }
            Code::Builtin(name) => (*name).to_string(),
            Code::Gradient => "gradient".to_string(),
            Code::Outside => "call".to_string(),
        }
    }

    /// Completes the body of a function, when all instances that it calls exist.
    pub fn seal(&mut self) -> Result<(), Refused> {
        let result = self.pop();
        let key = self.here().key.clone();
        self.in_progress.remove(&key);
        let is_closed = key.is_closed();
        let mut done = self.activations.pop().expect("a function was being lowered");
        if is_closed && !done.is_provisional {
            let ids: Vec<(BodyId, BodyId)> = done
                .deferred
                .iter()
                .map(|DeferredCall { placeholder, function, args }| {
                    let mut open = Vec::new();
                    let Val::Function(function) = function else { unreachable!("a function is called") };
                    let function = function.key(&done.kinds, &mut open);
                    let args = args.iter().map(|arg| arg.ty(&done.kinds, &mut open)).collect();
                    (*placeholder, self.ids[&Key { function, args }])
                })
                .collect();
            let name = format!("{}_{}", self.name_of(&key), done.id.index());
            self.add_body(&mut done, &result, &ids, name);
        }
        let mut params = std::mem::take(&mut done.params);
        params.extend(done.captured.into_iter().map(|(_, val)| val));
        let instance = Instance {
            id: done.id,
            params,
            result,
            kinds: done.kinds,
            classes: done.classes,
            n_param_atoms: done.n_param_atoms,
        };
        let (is_final, span) = (is_closed && !done.is_provisional, done.span);
        if done.is_provisional {
            self.provisional.insert(key, Rc::new(instance));
            return Ok(());
        }
        let instance = Rc::new(instance);
        self.instances.insert(key.clone(), Rc::clone(&instance));
        if is_final { self.find_customs(&key, &instance, span) } else { Ok(()) }
    }

    pub fn add_body(&mut self, done: &mut Activation, result: &Val, ids: &[(BodyId, BodyId)], name: String) {
        let mut region = done.open.pop().expect("the body is open");
        region.yields = result.vars();
        decide(&mut region, done, ids);
        let captured = done.captured.iter().map(|(_, val)| val);
        let params = done.params.iter().chain(captured).flat_map(Val::leaves);
        let params =
            params.map(|leaf| Param { var: leaf.var, ty: done.type_of(leaf), is_acc: false }).collect();
        let results = result.leaves().into_iter().map(|leaf| done.type_of(leaf)).collect();
        let body = Body { name, params, results, region, names: std::mem::take(&mut done.names) };
        self.module.bodies[done.id.index()] = body;
    }
}

/// Whether a type agrees with the assumed type; an open kind agrees with all kinds.
fn agrees(assumed: &Ty, found: &Ty) -> bool {
    match (assumed, found) {
        (Ty::Tensor(a, rank), Ty::Tensor(b, other)) => {
            rank == other && (a == b || matches!(a, KeyKind::Open(_)) || matches!(b, KeyKind::Open(_)))
        }
        (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b)),
        (Ty::Record(a), Ty::Record(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0 && agrees(&a.1, &b.1))
        }
        (Ty::Unknown, _) | (_, Ty::Unknown) => true,
        _ => false,
    }
}

/// Sets the kinds of literals and the bodies of calls, which are known now.
fn decide(region: &mut Region, done: &Activation, ids: &[(BodyId, BodyId)]) {
    let mut work: Vec<&mut Region> = vec![region];
    while let Some(region) = work.pop() {
        for Stmt { results, kind, .. } in &mut region.stmts {
            match kind {
                Kind::Const(literal) => {
                    if let Some((kind, number)) = results.first().and_then(|var| done.undecided.get(var)) {
                        *literal = decided(done.kinds.get(*kind), *number);
                    }
                }
                Kind::Call(_, id, _) => {
                    if let Some((_, known)) = ids.iter().find(|(placeholder, _)| placeholder == id) {
                        *id = *known;
                    }
                }
                Kind::If(_, yes, no) => work.extend([yes, no]),
                Kind::Loop(repeat) => {
                    if let eddy_body::ir::Control::While(condition) = &mut repeat.control {
                        work.push(condition);
                    }
                    work.push(&mut repeat.body);
                }
                _ => {}
            }
        }
    }
}

fn decided(elem: Option<Elem>, number: Undecided) -> Literal {
    #[expect(clippy::cast_precision_loss, reason = "a literal is rounded to the nearest num")]
    match (elem, number) {
        (Some(Elem::Num), Undecided::Number(value)) => Literal::num(value as f64),
        (Some(Elem::Num), Undecided::EmptySum) => Literal::num(-0.0),
        (_, Undecided::Number(value)) => Literal::int(value),
        (_, Undecided::EmptySum) => Literal::int(0),
    }
}
