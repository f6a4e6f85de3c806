//! Cotangents that cannot be represented as lists of calls.
//!
//! While a pullback differentiates with respect to `f`, `f` may itself be differentiated: `λf. grad f at 2`.
//! The cotangent of `f` is then `u ↦ u' 2`, and `f` is called on a number of a higher tape than its own,
//! which no list of calls can record. The machine detects this and restarts the pullback that owns `f` in
//! another way: the functional is represented by the function that the pullback differentiates, `g`, and
//! computed when it is applied to a direction `u`. Its value is the derivative of the number
//! `ε ↦ c @ g(f + ε·u)` at 0, with respect to `ε` alone: only numbers are on the tape, and one direction
//! costs one sweep.
//!
//! A dual map is linear, so there `φ @ u` is `c @ s[u/x]`, without a derivative. `J s·t` at a function
//! differentiates `ε ↦ s(x + ε·t)`.

use super::code::{BlockId, Signature};
use super::forward::Derived;
use super::frame::{Control, Frame, Halt};
use super::heap::{Object, Value};
use super::layout::Kind;
use super::machine::Machine;
use crate::primitive::calculus::{Arithmetic, Binary};
use crate::types::Type;

/// The owner of a level, with the data to restart it.
#[derive(Clone, Debug)]
pub enum Owner {
    /// A level with numbers only, which is never restarted.
    Numbers,
    /// `((Ω λx.p)·w) V`: the function, the 1-form and the point.
    Pullback(Function, Value, Value),
    /// `(λx.s)^*·t`: the function and the covector.
    Dual(Function, Value),
    /// `(J s·t) x`, the owner of this level and of the level below.
    Derivative(Box<Derived>),
}

/// The state of the machine when a level was opened.
#[derive(Clone, Debug)]
pub struct Opening {
    pub owner: Owner,
    /// The number of frames; the result goes to the last of them.
    pub n_frames: usize,
    pub n_slots: usize,
}

/// A block with its captured values.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    pub block: BlockId,
    /// The index of the first captured value in the pool.
    pub start: u32,
    pub len: u32,
    pub signature: Signature,
}

/// A functional on one leaf of the domain of a function: `u ↦ c @ D(function)(point)(u)`, or `u ↦ c @
/// function(u)` if there is no point.
#[derive(Clone, Copy, Debug)]
pub struct Lazy {
    pub function: Function,
    /// The point of the derivative; `None` if the function is linear.
    pub point: Option<Value>,
    /// `c`.
    pub covector: Value,
    pub leaf: usize,
}

impl Machine<'_> {
    /// Returns to the opening of the level, and restarts its owner without tracking functions.
    pub(super) fn restart(&mut self, level: u32) -> Control {
        let Opening { owner, n_frames, n_slots } = self.tapes.levels[level as usize].opening.clone();
        let n_levels = level as usize - usize::from(matches!(owner, Owner::Derivative(_)));
        self.frames.truncate(n_frames);
        self.tapes.levels.truncate(n_levels);
        self.tapes.is_sweeping = false;
        self.truncate_stack(n_slots);
        match owner {
            Owner::Numbers => unreachable!("numbers are not called"),
            // Computes the value at the point itself, then the covector at this value.
            Owner::Pullback(function, form, point) => {
                self.frames.push(Frame::LazyForm(function, form, point));
                self.enter_function(function, point)
            }
            Owner::Dual(function, covector) => {
                self.next_lazy_leaf(Lazy { function, point: None, covector, leaf: 0 }, Vec::new())
            }
            Owner::Derivative(derived) => self.run_derivative(*derived, true),
        }
    }

    /// The value at the point is known; applies the 1-form.
    pub(super) fn resume_lazy_form(
        &mut self,
        function: Function,
        form: Value,
        point: Value,
        value: Value,
    ) -> Control {
        self.frames.push(Frame::LazyCovector(function, point));
        let ty = self.layouts.types.omega(function.signature.to);
        Control::Apply(ty, form, value)
    }

    /// The cotangent leaf by leaf: numbers are computed, functionals stay lazy.
    pub(super) fn next_lazy_leaf(&mut self, lazy: Lazy, mut done: Vec<Value>) -> Control {
        let from = lazy.function.signature.from;
        let layout = self.layouts.of(from);
        loop {
            let lazy = Lazy { leaf: done.len(), ..lazy };
            match layout.leaves.get(done.len()) {
                None => {
                    let dual = self.layouts.types.dual(from);
                    return Control::Return(self.layouts.rebuild(&mut self.heap, dual, &done));
                }
                Some((_, Kind::Scalar)) => {
                    self.frames.push(Frame::LazyLeaves(Box::new(lazy), done));
                    return self.use_lazy(lazy, Value::Real(1.0));
                }
                Some(_) => done.push(self.heap.lazy(lazy)),
            }
        }
    }

    /// `φ @ u`.
    pub(super) fn use_lazy(&mut self, lazy: Lazy, vector: Value) -> Control {
        let Lazy { function, point, covector, leaf } = lazy;
        let from = function.signature.from;
        let zero = self.zero(from);
        let mut leaves = self.layouts.flatten(&self.heap, zero, from);
        leaves[leaf] = vector;
        let direction = self.layouts.rebuild(&mut self.heap, from, &leaves);
        let Some(point) = point else {
            self.frames.push(Frame::LazyValue(covector, function.signature.to));
            return self.enter_function(function, direction);
        };
        let epsilon = self.open_numbers();
        self.frames.push(Frame::LazySeed(epsilon));
        self.frames.push(Frame::LazyValue(covector, function.signature.to));
        match self.perturbed(from, point, epsilon, direction) {
            Ok(perturbed) => self.enter_function(function, perturbed),
            Err(halt) => Control::Halted(halt),
        }
    }

    /// Opens a level whose only input is the number 0.
    pub(super) fn open_numbers(&mut self) -> Value {
        let level = self.open_level(Owner::Numbers);
        self.lift(Value::Real(0.0), Type::REAL, level)
    }

    /// `point + ε·direction`.
    pub(super) fn perturbed(
        &mut self,
        ty: Type,
        point: Value,
        epsilon: Value,
        direction: Value,
    ) -> Result<Value, Halt> {
        let step = self.scale(ty, epsilon, direction)?;
        self.add(ty, point, step)
    }

    /// `k·v` at any type.
    pub(super) fn scale(&mut self, ty: Type, factor: Value, value: Value) -> Result<Value, Halt> {
        let layout = self.layouts.of(ty);
        let mut leaves = self.layouts.flatten(&self.heap, value, ty);
        for (leaf, (_, kind)) in leaves.iter_mut().zip(&layout.leaves) {
            *leaf = match kind {
                Kind::Scalar => self.tapes.binary(Binary::Mul, factor, *leaf)?,
                Kind::Function | Kind::Functional => self.heap.object(Object::Scaled(factor, *leaf)),
            };
        }
        Ok(self.layouts.rebuild(&mut self.heap, ty, &leaves))
    }

    /// The answer is the derivative of the contraction with respect to `ε`.
    pub(super) fn finish_lazy(&mut self, epsilon: Value, value: Value) -> Result<Control, Halt> {
        let found = self.sweep(epsilon, Type::REAL, [(value, Value::Real(1.0))])?;
        Ok(Control::Return(found.unwrap_or(Value::Real(0.0))))
    }
}
