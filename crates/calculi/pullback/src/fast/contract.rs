//! `φ @ u`: the contraction of a covector with a vector, leaf by leaf.
//!
//! Numbers are multiplied. A functional on functions, `[(z_1, c_1), …]`, contracts with a function `u` by
//! calls: `Σ c_i @ (u z_i)`. A functional on functionals contracts with a functional `ψ` by contractions: `Σ
//! c_i · (ψ @ u_i)`. Calls take more than one step, so the pending work is kept in a frame.

use super::forward::Use;
use super::frame::{Control, Frame, Halt};
use super::heap::{Object, Value};
use super::layout::Kind;
use super::machine::Machine;
use crate::primitive::calculus::{Arithmetic, Binary};
use crate::types::{Shape, Type};

/// A pending part of a contraction.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// A covector and a vector of this type.
    Pair(Type, Value, Value),
    /// A function of this type at an argument; the result is contracted with the covector.
    Call(Type, Value, Value, Value),
    /// A functional on this type at a vector; the result is multiplied by a number.
    Scaled(Type, Value, Value, Value),
}

/// The use of the next value.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    /// Adds the number.
    Add,
    /// Adds the number times this factor.
    Multiply(Value),
    /// Contracts the value with a covector on this type.
    Contract(Type, Value),
}

/// An unfinished contraction.
#[derive(Clone, Debug)]
pub struct Contraction {
    parts: Vec<Part>,
    sum: Option<Value>,
    awaited: Awaited,
}

impl Machine<'_> {
    /// Contracts a covector on this type with a vector of it.
    pub(super) fn contract(&mut self, ty: Type, covector: Value, vector: Value) -> Result<Control, Halt> {
        let parts = vec![Part::Pair(ty, covector, vector)];
        self.run_contraction(Contraction { parts, sum: None, awaited: Awaited::Add })
    }

    pub(super) fn resume_contraction(
        &mut self,
        mut contraction: Contraction,
        value: Value,
    ) -> Result<Control, Halt> {
        match contraction.awaited {
            Awaited::Add => self.add_to(&mut contraction, value)?,
            Awaited::Multiply(factor) => {
                let product = self.tapes.binary(Binary::Mul, factor, value)?;
                self.add_to(&mut contraction, product)?;
            }
            Awaited::Contract(ty, covector) => contraction.parts.push(Part::Pair(ty, covector, value)),
        }
        self.run_contraction(contraction)
    }

    fn add_to(&mut self, contraction: &mut Contraction, value: Value) -> Result<(), Halt> {
        contraction.sum = Some(match contraction.sum {
            None => value,
            Some(sum) => self.tapes.binary(Binary::Add, sum, value)?,
        });
        Ok(())
    }

    fn run_contraction(&mut self, mut contraction: Contraction) -> Result<Control, Halt> {
        loop {
            match contraction.parts.pop() {
                None => return Ok(Control::Return(contraction.sum.unwrap_or(Value::Real(0.0)))),
                Some(Part::Call(ty, function, argument, covector)) => {
                    let (_, result) = self.layouts.types.function(ty);
                    contraction.awaited = Awaited::Contract(result, covector);
                    self.frames.push(Frame::Contraction(Box::new(contraction)));
                    return Ok(Control::Apply(ty, function, argument));
                }
                Some(Part::Scaled(ty, functional, vector, factor)) => {
                    contraction.awaited = Awaited::Multiply(factor);
                    self.frames.push(Frame::Contraction(Box::new(contraction)));
                    contraction = Contraction {
                        parts: vec![Part::Pair(ty, functional, vector)],
                        sum: None,
                        awaited: Awaited::Add,
                    };
                }
                Some(Part::Pair(ty, covector, vector)) => {
                    if let Some(control) = self.contract_leaves(&mut contraction, ty, covector, vector)? {
                        return Ok(control);
                    }
                }
            }
        }
    }

    /// Contracts the leaves of a covector and a vector; calls become pending parts.
    fn contract_leaves(
        &mut self,
        contraction: &mut Contraction,
        ty: Type,
        covector: Value,
        vector: Value,
    ) -> Result<Option<Control>, Halt> {
        let layout = self.layouts.of(ty);
        if let [(_, Kind::Function | Kind::Functional)] = layout.leaves[..] {
            return self.contract_functional(contraction, ty, covector, vector);
        }
        let dual = self.layouts.types.dual(ty);
        let covectors = self.layouts.flatten(&self.heap, covector, dual);
        let vectors = self.layouts.flatten(&self.heap, vector, ty);
        let mut later = Vec::new();
        for ((c, u), (ty, kind)) in covectors.into_iter().zip(vectors).zip(&layout.leaves) {
            match kind {
                Kind::Scalar => {
                    let product = self.tapes.binary(Binary::Mul, c, u)?;
                    self.add_to(contraction, product)?;
                }
                Kind::Function | Kind::Functional => later.push(Part::Pair(*ty, c, u)),
            }
        }
        contraction.parts.extend(later.into_iter().rev());
        Ok(None)
    }

    fn contract_functional(
        &mut self,
        contraction: &mut Contraction,
        ty: Type,
        functional: Value,
        vector: Value,
    ) -> Result<Option<Control>, Halt> {
        match self.heap.get(functional) {
            Object::List(start, len) => {
                let entries = self.heap.entries(start, len).iter().rev();
                let parts = match self.layouts.types.shape(ty) {
                    Shape::Dual(of) => {
                        entries.map(|(at, factor)| Part::Scaled(of, vector, *at, *factor)).collect::<Vec<_>>()
                    }
                    _ => entries.map(|(z, c)| Part::Call(ty, vector, *z, *c)).collect(),
                };
                contraction.parts.extend(parts);
                Ok(None)
            }
            Object::Both(first, second) => {
                contraction.parts.extend([Part::Pair(ty, second, vector), Part::Pair(ty, first, vector)]);
                Ok(None)
            }
            Object::Scaled(factor, functional) => {
                contraction.parts.push(Part::Scaled(ty, functional, vector, factor));
                Ok(None)
            }
            Object::Lazy(id) => {
                contraction.awaited = Awaited::Add;
                self.frames.push(Frame::Contraction(Box::new(contraction.clone())));
                let lazy = self.heap.get_lazy(id);
                Ok(Some(self.use_lazy(lazy, vector)))
            }
            Object::Derived(id) => {
                contraction.awaited = Awaited::Add;
                self.frames.push(Frame::Contraction(Box::new(contraction.clone())));
                Ok(Some(self.use_derived(id, Use::Contract(vector))))
            }
            Object::Tracked { level, node, under, .. } => {
                let stripped = self.argument_of_tracked(vector, level)?;
                contraction.awaited = Awaited::Add;
                self.frames.push(Frame::Contraction(Box::new(contraction.clone())));
                self.frames.push(Frame::Join(level, node, stripped, Type::REAL));
                Ok(Some(self.contract(ty, under, vector)?))
            }
            other => unreachable!("{other:?} is not a functional"),
        }
    }
}
