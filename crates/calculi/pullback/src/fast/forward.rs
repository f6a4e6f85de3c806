//! `(J s·t) x`: forward derivatives by two backward sweeps.
//!
//! The pullback of `s` at `x` maps a covector `c` to `s'(x)ᵀ c`, and is linear in `c`. Contracted with `t` it
//! is `c @ s'(x) t`, whose derivative with respect to `c` is `s'(x) t`. So `c` is lifted to a tape, `x` to
//! another above it, and both are swept; that costs a constant factor, and needs no second kind of tape.
//!
//! This works where the result consists of numbers. A derivative that is a function is stored symbolically
//! and computed when it is applied: `((J s·t) x) z` is the derivative of `λx. s x z`. A list of [`Use`]s
//! describes how a result is used until it consists of numbers.

use super::frame::{Control, Frame, Halt};
use super::heap::{Object, Value};
use super::layout::Kind;
use super::lazy::Owner;
use super::machine::Machine;
use crate::types::Type;

/// A use of the result of a function.
#[derive(Clone, Copy, Debug)]
pub enum Use {
    /// Selects the leaf with this number.
    Leaf(usize, Type),
    /// Applies the function to this.
    Apply(Value),
    /// Contracts the functional with this.
    Contract(Value),
}

/// The derivative of `λx. uses(s x)` at a point, in a direction.
#[derive(Clone, Debug)]
pub struct Derived {
    /// `s`.
    pub function: Value,
    /// The type of `s`.
    pub ty: Type,
    /// `x`.
    pub point: Value,
    /// `t`.
    pub direction: Value,
    /// The uses of the result of `s`, in order; each with the type of what is used.
    pub uses: Vec<(Use, Type)>,
    /// The type of the final result.
    pub result: Type,
}

impl Derived {
    pub(super) fn parts(&self) -> Vec<Value> {
        let used = self.uses.iter().filter_map(|(used, _)| match used {
            Use::Leaf(..) => None,
            Use::Apply(value) | Use::Contract(value) => Some(*value),
        });
        [self.function, self.point, self.direction].into_iter().chain(used).collect()
    }

    pub(super) fn with_parts(&self, parts: &[Value]) -> Derived {
        let mut used = parts[3..].iter();
        let mut next = || *used.next().expect("as many uses as before");
        let uses = self.uses.iter().map(|(used, ty)| match used {
            Use::Leaf(..) => (*used, *ty),
            Use::Apply(_) => (Use::Apply(next()), *ty),
            Use::Contract(_) => (Use::Contract(next()), *ty),
        });
        let uses = uses.collect();
        Derived { function: parts[0], point: parts[1], direction: parts[2], uses, ..self.clone() }
    }

    /// The same with one more use of the result.
    pub(super) fn then(&self, used: Use, result: Type) -> Derived {
        let mut derived = self.clone();
        derived.uses.push((used, self.result));
        derived.result = result;
        derived
    }
}

/// An unfinished derivative.
#[derive(Clone, Debug)]
pub struct Running {
    derived: Derived,
    next_use: usize,
    /// The covector on the outer tape, and the point on the inner one; or the number `ε`, if functions are
    /// not tracked.
    covector: Value,
    point: Value,
    is_lazy: bool,
}

impl Machine<'_> {
    /// `(J s·t) x`.
    pub(super) fn derive(&mut self, derived: Derived) -> Control {
        let layout = self.layouts.of(derived.result);
        match &layout.leaves[..] {
            _ if layout.is_vector => self.run_derivative(derived, false),
            [_] => Control::Return(self.heap.derive(derived)),
            _ => self.next_leaf(derived, Vec::new()),
        }
    }

    /// Computes the leaves one by one, where some are numbers and some are not.
    fn next_leaf(&mut self, derived: Derived, done: Vec<Value>) -> Control {
        let layout = self.layouts.of(derived.result);
        let Some((ty, _)) = layout.leaves.get(done.len()) else {
            return Control::Return(self.layouts.rebuild(&mut self.heap, derived.result, &done));
        };
        let leaf = derived.then(Use::Leaf(done.len(), derived.result), *ty);
        self.frames.push(Frame::DerivedLeaves(Box::new(derived), done));
        self.derive(leaf)
    }

    pub(super) fn resume_leaves(&mut self, derived: Derived, mut done: Vec<Value>, value: Value) -> Control {
        done.push(value);
        self.next_leaf(derived, done)
    }

    /// With `is_lazy`, `ε` is lifted instead of the point, and the function is applied to `x + ε·t`.
    pub(super) fn run_derivative(&mut self, derived: Derived, is_lazy: bool) -> Control {
        let (from, _) = self.layouts.types.function(derived.ty);
        let outer = self.open_level(Owner::Numbers);
        let zero = self.zero(derived.result);
        let covector = self.lift(zero, derived.result, outer);
        let (point, argument) = if is_lazy {
            let epsilon = self.open_numbers();
            match self.perturbed(from, derived.point, epsilon, derived.direction) {
                Ok(perturbed) => (epsilon, perturbed),
                Err(halt) => return Control::Halted(halt),
            }
        } else {
            let inner = self.open_level(Owner::Derivative(Box::new(derived.clone())));
            let point = self.lift(derived.point, from, inner);
            (point, point)
        };
        let (function, ty) = (derived.function, derived.ty);
        let running = Running { derived, next_use: 0, covector, point, is_lazy };
        self.frames.push(Frame::Derivative(Box::new(running)));
        Control::Apply(ty, function, argument)
    }

    /// Continues with the result of the function, or of one of its uses.
    pub(super) fn resume_derivative(&mut self, mut running: Running, value: Value) -> Result<Control, Halt> {
        if let Some((used, ty)) = running.derived.uses.get(running.next_use).copied() {
            running.next_use += 1;
            self.frames.push(Frame::Derivative(Box::new(running)));
            return Ok(match used {
                Use::Leaf(leaf, _) => Control::Return(self.layouts.flatten(&self.heap, value, ty)[leaf]),
                Use::Apply(argument) => Control::Apply(ty, value, argument),
                Use::Contract(vector) => {
                    let of = self.layouts.types.predual(ty);
                    self.contract(of, value, vector)?
                }
            });
        }
        let Running { derived, covector, point, is_lazy, .. } = running;
        let (from, _) = self.layouts.types.function(derived.ty);
        let lifted = if is_lazy { Type::REAL } else { from };
        let results = self.layouts.flatten(&self.heap, value, derived.result);
        let seeds = self.layouts.flatten(&self.heap, covector, derived.result);
        let pulled = self.sweep(point, lifted, results.into_iter().zip(seeds))?;
        let Some(pulled) = pulled else {
            self.tapes.levels.pop();
            return Ok(Control::Return(self.zero(derived.result)));
        };
        if is_lazy {
            return self.finish_derivative(covector, derived.result, pulled);
        }
        self.frames.push(Frame::DerivativeSeed(covector, derived.result));
        self.contract(from, pulled, derived.direction)
    }

    /// The answer is the derivative, with respect to the covector, of the contraction with the direction.
    pub(super) fn finish_derivative(
        &mut self,
        covector: Value,
        ty: Type,
        value: Value,
    ) -> Result<Control, Halt> {
        let found = self.sweep(covector, ty, [(value, Value::Real(1.0))])?;
        Ok(Control::Return(found.unwrap_or_else(|| self.zero(ty))))
    }

    /// Applies or contracts a derivative that is a function or a functional.
    pub(super) fn use_derived(&mut self, id: u32, used: Use) -> Control {
        let derived = self.heap.derived(id);
        let result = match used {
            Use::Contract(_) => Type::REAL,
            _ => self.layouts.types.function(derived.result).1,
        };
        debug_assert!(self.layouts.of(derived.result).leaves.iter().all(|(_, kind)| *kind != Kind::Scalar));
        let then = derived.then(used, result);
        self.derive(then)
    }

    /// `J s·t` as a value; (C2) `J s·0` is 0, also where `s` has no derivative.
    pub(super) fn jacobian(&mut self, ty: Type, function: Value, direction: Value) -> Value {
        let (from, _) = self.layouts.types.function(ty);
        let directions = self.layouts.flatten(&self.heap, direction, from);
        let is_zero = |leaf: &Value| match leaf {
            Value::Object(_) => matches!(self.heap.get(*leaf), Object::Zero | Object::List(_, 0)),
            leaf => *leaf == Value::Real(0.0),
        };
        if directions.iter().all(is_zero) {
            return self.heap.object(Object::Zero);
        }
        self.heap.object(Object::Jacobian(ty, function, direction))
    }
}
