//! The equations of one section, and those of its instances that have derivatives of their own.

use std::ops::Range;

use eddy_flow::{Equation, Kind, VarId};

use crate::section::Instance;

/// An instance and the range of its equations.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Its equations.
    pub range: Range<usize>,
    pub instance: Instance,
}

/// The equations of a section.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The equations, in flattening order.
    pub equations: Vec<Equation>,
    /// The instances with derivatives of their own, inner ones first.
    pub instances: Vec<Placed>,
}

/// A unit of differentiation: an equation, or an instance as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    Equation(&'a Equation),
    Instance(&'a Placed),
}

impl Body {
    /// Appends the equations of another body.
    pub(crate) fn append(&mut self, other: Body) {
        let offset = self.equations.len();
        self.equations.extend(other.equations);
        self.instances.extend(other.instances.into_iter().map(|placed| Placed {
            range: placed.range.start + offset..placed.range.end + offset,
            ..placed
        }));
    }

    /// The steps in flattening order; of nested instances for which `is_black_box` holds, the outermost is a
    /// step.
    pub(crate) fn steps(&self, is_black_box: impl Fn(&Instance) -> bool) -> Vec<Step<'_>> {
        let mut boxes: Vec<&Placed> =
            self.instances.iter().filter(|placed| is_black_box(&placed.instance)).collect();
        // Outer ones before inner ones, which are then behind the cursor.
        boxes.sort_by_key(|placed| (placed.range.start, usize::MAX - placed.range.end));
        let mut boxes = boxes.into_iter().peekable();
        let (mut steps, mut at) = (Vec::new(), 0);
        while at <= self.equations.len() {
            match boxes.peek() {
                Some(placed) if placed.range.start < at => {
                    boxes.next();
                }
                Some(placed) if placed.range.start == at => {
                    steps.push(Step::Instance(placed));
                    at = placed.range.end;
                    boxes.next();
                }
                _ => {
                    steps.extend(self.equations.get(at).map(Step::Equation));
                    at += 1;
                }
            }
        }
        steps
    }

    /// The parameters, in flattening order: the indices of their equations.
    pub(crate) fn parameters(&self) -> Vec<usize> {
        let is_parameter = |equation: &Equation| matches!(equation.kind, Kind::Param(_));
        (0..self.equations.len()).filter(|number| is_parameter(&self.equations[*number])).collect()
    }

    /// The streams of the parameters.
    pub(crate) fn parameter_streams(&self) -> Vec<VarId> {
        self.parameters().into_iter().map(|number| self.equations[number].out).collect()
    }
}
