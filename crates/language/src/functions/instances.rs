//! Specialises functions: an instance for each combination of kinds and ranks (functions.md, sections 2.1 and
//! 2.2).
//!
//! * If the kinds of all arguments are known, the function is lowered once, and the call names its body.
//! * If some kinds are open, such as those of literals, the function is lowered only to find which kinds
//!   it requires and what its result is. The call gets its body when the kinds of the caller are determined.
//! * If the function is already being lowered, the call is recursive and has the written result type. Without
//!   a written type, the result is unknown in a first pass, and a second pass assumes the type that the first
//!   pass found.

use std::rc::Rc;

use eddy_body::ir::{Body, BodyId, Kind, Mode, Region, Var};
use eddy_syntax::Span;

use super::activation::{Activation, AtomSource, DeferredCall};
use super::errors::{Refused, function, size_error};
use super::key::{FnKey, Key, KeyKind, Ty};
use super::kinds::{KindId, Kinds};
use super::lowering::{Lowering, Task};
use super::sizes::{Atom, Form as Size};
use super::value::{Code, FnValue, Leaf, Val};
use crate::names::Name;

/// The largest number of functions that are being lowered inside each other.
const MAX_INSTANCES: usize = 300;

/// What a caller knows about a function for given types of its arguments.
pub struct Instance {
    pub id: BodyId,
    /// The arguments, then the captured values, as values of the function's body.
    pub params: Vec<Val>,
    pub result: Val,
    pub kinds: Kinds,
    /// The open kinds of the key.
    pub classes: Vec<KindId>,
    pub n_param_atoms: usize,
}

/// A function that is being lowered.
pub struct Progress {
    /// The type of its result, if it is known; sizes are open.
    pub assumed: Option<Ty>,
    /// Whether the result was needed before it was known.
    pub was_needed: bool,
    /// Its index among the activations.
    pub depth: usize,
}

/// The state of an instance.
pub enum Ready {
    Instance(Rc<Instance>),
    /// It was started: the caller repeats its task after the tasks of the instance.
    Started,
    /// It is being lowered by an outer activation, and its result is unknown.
    Unknown,
}

impl Lowering<'_> {
    pub fn apply(&mut self, f: FnValue, n_args: usize, span: Span) -> Result<(), Refused> {
        let args = self.operands[self.operands.len() - n_args..].to_vec();
        let n_below = self.operands.len() - n_args;
        if args.iter().any(Val::is_unknown) || f.captured.iter().any(|(_, val)| val.is_unknown()) {
            self.here().is_provisional = true;
            self.operands.truncate(n_below);
            self.push(Val::Unknown);
            return Ok(());
        }
        let n_tasks = self.tasks.len();
        match self.instance(&f, &args, span)? {
            Ready::Started => {
                // Repeat this task after the tasks of the instance.
                self.tasks.insert(n_tasks, Task::Apply { function: f, n_args, span });
                Ok(())
            }
            Ready::Unknown => {
                self.operands.truncate(n_below);
                self.push(Val::Unknown);
                Ok(())
            }
            Ready::Instance(instance) => {
                self.unify_classes(&instance, &f, &args, span)?;
                let mut open = Vec::new();
                let key = self.key(&f, &args, &mut open);
                if instance.classes.is_empty() || !key.is_closed() {
                    self.operands.truncate(n_below);
                    return self.emit_call(&instance, f, args, span);
                }
                // The open kinds are known now: repeat this task with a closed key.
                self.tasks.push(Task::Apply { function: f, n_args, span });
                Ok(())
            }
        }
    }

    pub fn key(&mut self, f: &FnValue, args: &[Val], open: &mut Vec<KindId>) -> Key {
        let kinds = &self.activations.last().expect("a function is being lowered").kinds;
        let function = f.key(kinds, open);
        Key { function, args: args.iter().map(|arg| arg.ty(kinds, open)).collect() }
    }

    /// The instance for these arguments; starts to lower it if it does not exist.
    pub fn instance(&mut self, f: &FnValue, args: &[Val], span: Span) -> Result<Ready, Refused> {
        let key = self.key(f, args, &mut Vec::new());
        if let Some(found) = self.instances.get(&key) {
            return Ok(Ready::Instance(Rc::clone(found)));
        }
        if let Some(found) = self.provisional.get(&key) {
            let found = Rc::clone(found);
            self.here().is_provisional = true;
            return Ok(Ready::Instance(found));
        }
        if let Some(progress) = self.in_progress.get_mut(&key) {
            if let Some(ty) = progress.assumed.clone() {
                let depth = progress.depth;
                return Ok(Ready::Instance(Rc::new(self.assumed(depth, &ty))));
            }
            progress.was_needed = true;
            let depth = progress.depth;
            for activation in &mut self.activations[depth + 1..] {
                activation.is_provisional = true;
            }
            return Ok(Ready::Unknown);
        }
        self.check_recursive_call(f, args, span)?;
        if self.activations.len() >= MAX_INSTANCES {
            let text = format!("specialisation does not end: {MAX_INSTANCES} instances inside each other");
            return Err(function(span, text));
        }
        self.start_instance(key, None, span)?;
        Ok(Ready::Started)
    }

    /// What is known about a function that is being lowered: its parameters, and the kinds and ranks of its
    /// result.
    pub fn assumed(&mut self, depth: usize, ty: &Ty) -> Instance {
        let activation = &self.activations[depth];
        let (id, kinds) = (activation.id, activation.kinds.clone());
        let mut params = activation.params.clone();
        params.extend(activation.captured.iter().map(|(_, val)| val.clone()));
        let n_param_atoms = activation.n_param_atoms;
        let mut scratch = Activation::new(activation.key.clone(), activation.module, id, activation.span);
        scratch.kinds = kinds;
        let mut classes = Vec::new();
        let mut result = make_val(&mut scratch, ty, &mut classes, &mut Vec::new());
        result = result.map(&mut |leaf| Leaf { sizes: vec![None; leaf.rank()], form: None, ..leaf.clone() });
        Instance { id, params, result, kinds: scratch.kinds, classes: Vec::new(), n_param_atoms }
    }

    /// Checks that a recursive call passes no new local function, so that the number of instances is finite.
    pub fn check_recursive_call(&mut self, f: &FnValue, args: &[Val], span: Span) -> Result<(), Refused> {
        let here = self.activations.last().expect("a function is being lowered");
        let caller = match &here.key.function.code {
            Code::Declared(id, _) => Some(*id),
            Code::Local { module, expr } => self.groups.home(*module, *expr),
            Code::Builtin(_) | Code::Gradient | Code::Item { .. } | Code::Outside => None,
        };
        let is_recursive = match (&f.code, caller) {
            (Code::Declared(id, _), Some(caller)) => self.groups.are_mutually_recursive(*id, caller),
            (code @ Code::Local { .. }, _) => *code == here.key.function.code,
            _ => false,
        };
        if !is_recursive {
            return Ok(());
        }
        let captured = here.captured.iter().map(|(_, val)| val);
        let own: Vec<Code> = here
            .params
            .iter()
            .chain(captured)
            .filter_map(
                |param| if let Val::Function(function) = param { Some(function.code.clone()) } else { None },
            )
            .collect();
        for arg in args {
            if let Val::Function(FnValue { code: code @ Code::Local { .. }, .. }) = arg
                && !own.contains(code)
            {
                let name = self.callee_name(f);
                let text = format!(
                    "a recursive call of '{name}' must pass its function parameters unchanged, not a new function"
                );
                return Err(function(span, text));
            }
        }
        Ok(())
    }

    /// The body of an instance; for an instance with open kinds, an id that no body has.
    pub fn body_id(&mut self, key: &Key) -> BodyId {
        if !key.is_closed() {
            return BodyId::new(u32::MAX as usize);
        }
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        let id = BodyId::new(self.module.bodies.len());
        self.ids.insert(key.clone(), id);
        self.module.bodies.push(Body {
            name: format!("unused_{}", id.index()),
            params: Vec::new(),
            results: Vec::new(),
            region: Region::default(),
            names: Vec::new(),
        });
        id
    }

    /// Unifies the open kinds of arguments as the function requires.
    pub fn unify_classes(
        &mut self,
        instance: &Instance,
        f: &FnValue,
        args: &[Val],
        span: Span,
    ) -> Result<(), Refused> {
        let mut open = Vec::new();
        self.key(f, args, &mut open);
        for (class, own) in instance.classes.iter().zip(&open) {
            if let Some(elem) = instance.kinds.get(*class) {
                let known = self.here().kinds.known(elem);
                self.unify(known, *own, span)?;
            }
            for (other, its_own) in instance.classes.iter().zip(&open) {
                if instance.kinds.class(*class) == instance.kinds.class(*other) {
                    self.unify(*own, *its_own, span)?;
                }
            }
        }
        Ok(())
    }

    /// Emits a call of an instance and pushes its result.
    pub fn emit_call(
        &mut self,
        instance: &Instance,
        f: FnValue,
        args: Vec<Val>,
        span: Span,
    ) -> Result<(), Refused> {
        let mut open = Vec::new();
        let is_closed = self.key(&f, &args, &mut open).is_closed();
        let sizes = self.size_map(instance, &f, &args, span)?;
        let result = self.returned(instance, &open, &sizes);
        let mut operands: Vec<Var> = args.iter().flat_map(Val::vars).collect();
        operands.extend(f.captured.iter().flat_map(|(_, val)| val.vars()));
        let id = if is_closed {
            instance.id
        } else {
            let placeholder = BodyId::new(u32::MAX as usize - self.here().deferred.len());
            self.here().deferred.push(DeferredCall { placeholder, function: Val::Function(f), args });
            placeholder
        };
        self.here().emit(result.vars(), Kind::Call(Mode::Plain, id, operands), span);
        self.push(result);
        Ok(())
    }

    /// The integers of an instance's parameters as forms of the caller. Sizes that certainly differ are an
    /// error.
    pub fn size_map(
        &mut self,
        instance: &Instance,
        f: &FnValue,
        args: &[Val],
        span: Span,
    ) -> Result<Vec<Option<Size>>, Refused> {
        let mut map: Vec<Option<Size>> = vec![None; instance.n_param_atoms];
        let mut is_bound = vec![false; instance.n_param_atoms];
        let given = args.iter().chain(f.captured.iter().map(|(_, val)| val));
        let pairs: Vec<(Leaf, Leaf)> = instance
            .params
            .iter()
            .zip(given)
            .flat_map(|(param, arg)| {
                param.leaves().into_iter().cloned().zip(arg.leaves().into_iter().cloned()).collect::<Vec<_>>()
            })
            .collect();
        let mut bind = |atom: Option<Atom>, form: &Option<Size>| {
            if let Some(at) = atom.map(Atom::index)
                && at < map.len()
                && !is_bound[at]
            {
                is_bound[at] = true;
                map[at].clone_from(form);
            }
        };
        for (param, arg) in &pairs {
            bind(param.form.as_ref().and_then(Size::as_atom), &arg.form);
            for (own, given) in param.sizes.iter().zip(&arg.sizes) {
                bind(own.as_ref().and_then(Size::as_atom), given);
            }
        }
        for (param, arg) in &pairs {
            for (own, given) in param.sizes.iter().zip(&arg.sizes) {
                let required =
                    own.as_ref().and_then(|form| form.substitute(|atom| map.get(atom.index())?.clone()));
                if let (Some(required), Some(given)) = (required, given)
                    && required.certainly_differs(given)
                {
                    let name = self.callee_name(f);
                    let shown =
                        |form: &Size| form.as_constant().map_or_else(|| "?".to_string(), |n| n.to_string());
                    let (found, needed) = (shown(given), shown(&required));
                    let text = format!("an argument of '{name}' has size {found} where {needed} is required");
                    return Err(size_error(span, text));
                }
            }
        }
        Ok(map)
    }

    pub fn callee_name(&self, f: &FnValue) -> String {
        self.name_of(&Key {
            function: FnKey { code: f.code.clone(), captured: Vec::new() },
            args: Vec::new(),
        })
    }

    /// The result of an instance as a value of the caller.
    pub fn returned(&mut self, instance: &Instance, open: &[KindId], sizes: &[Option<Size>]) -> Val {
        let mut fresh: Vec<(KindId, KindId)> = Vec::new();
        let here = self.here();
        instance.result.map(&mut |leaf| {
            let class = instance.kinds.class(leaf.kind);
            let kind = match instance.kinds.get(class) {
                Some(elem) => here.kinds.known(elem),
                None => {
                    let of_key = instance.classes.iter().position(|own| instance.kinds.class(*own) == class);
                    let known = fresh.iter().find(|(other, _)| *other == class).map(|(_, kind)| *kind);
                    of_key.and_then(|at| open.get(at).copied()).or(known).unwrap_or_else(|| {
                        let kind = here.kinds.open();
                        fresh.push((class, kind));
                        kind
                    })
                }
            };
            let form_of = |form: &Option<Size>| {
                form.as_ref()?.substitute(|atom| sizes.get(atom.index()).cloned().flatten())
            };
            let sizes = leaf.sizes.iter().map(form_of).collect();
            Leaf { var: here.var(""), kind, sizes, form: form_of(&leaf.form) }
        })
    }
}

/// A value of a type, with new variables and integers.
pub fn make_val(activation: &mut Activation, ty: &Ty, classes: &mut Vec<KindId>, vars: &mut Vec<Var>) -> Val {
    match ty {
        Ty::Tensor(kind, rank) => {
            let kind = match kind {
                KeyKind::Is(elem) => activation.kinds.known(*elem),
                KeyKind::Open(class) => {
                    while classes.len() <= *class {
                        classes.push(activation.kinds.open());
                    }
                    classes[*class]
                }
            };
            let var = activation.var("p");
            vars.push(var);
            let sizes: Vec<Option<Size>> =
                (0..*rank).map(|axis| Some(activation.atom(AtomSource::Axis(var, axis)))).collect();
            let form = (*rank == 0).then(|| activation.atom(AtomSource::Int(var)));
            Val::Leaf(Leaf { var, kind, sizes, form })
        }
        Ty::Tuple(parts) => {
            Val::Tuple(parts.iter().map(|part| make_val(activation, part, classes, vars)).collect())
        }
        Ty::Record(fields) => {
            let field = |(label, ty): &(String, Ty)| (label.clone(), make_val(activation, ty, classes, vars));
            Val::Record(fields.iter().map(field).collect())
        }
        Ty::Function(FnKey { code, captured }) => {
            let val = |(name, ty): &(Name, Ty)| (*name, make_val(activation, ty, classes, vars));
            Val::Function(FnValue { code: code.clone(), captured: captured.iter().map(val).collect() })
        }
        Ty::Unknown => Val::Unknown,
    }
}
