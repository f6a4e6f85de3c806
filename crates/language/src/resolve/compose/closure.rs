//! Callables with the values that they bring along, and their application to arguments.

use eddy_syntax::Span;

use super::super::arguments::{Formal, Misbound, Source, bind};
use super::super::inputs::Inputs;
use crate::program::{Callee, Sharing, SlotId};
use crate::tree::ExprId;

/// The largest depth of callables inside callables.
pub const MAX_DEPTH: usize = 1000;

/// A node or a function, with some of its inputs given.
#[derive(Clone, Debug)]
pub struct Closure {
    pub callee: Callee,
    /// The inputs that are given, by number, in the order of the text.
    pub given: Vec<(usize, Given)>,
    /// Set if all its instances share their parameters.
    pub sharing: Option<Sharing>,
    /// The place where it is written.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Given {
    Value(Part),
    Closure(Box<Closure>),
}

/// A value for an input.
#[derive(Clone, Debug)]
pub enum Part {
    /// An expression of the call that is being expanded, by its number in the order of the text.
    Written(usize),
    /// A stream of the node.
    Slot(SlotId),
    /// An expression of a file that reads no stream.
    Constant(usize, ExprId),
    /// The default of an input of the callee, by number.
    Default(usize),
}

impl Closure {
    pub fn of(callee: Callee, span: Span) -> Closure {
        Closure { callee, given: Vec::new(), sharing: None, span }
    }

    /// The text by which nodes made from a template are distinguished.
    pub fn signature(&self, into: &mut String) {
        use std::fmt::Write;
        let _ = match &self.callee {
            Callee::Function(builtin) => write!(into, "{}(", builtin.name()),
            Callee::Initialiser(initialiser) => write!(into, "{}(", initialiser.name()),
            callee => write!(into, "{callee:?}("),
        };
        for (input, given) in &self.given {
            let _ = write!(into, "{input}:");
            match given {
                Given::Value(_) => into.push('v'),
                Given::Closure(closure) => closure.signature(into),
            }
            into.push(',');
        }
        into.push_str(if self.sharing.is_some() { ")s" } else { ")" });
    }

    /// How deep callables are nested in it.
    pub fn depth(&self) -> usize {
        let inner = self.given.iter().map(|(_, given)| match given {
            Given::Value(_) => 0,
            Given::Closure(closure) => closure.depth(),
        });
        1 + inner.max().unwrap_or(0)
    }

    /// The same callable as a value that a node is given: its values are what `slot` returns for each, in
    /// order, and its shared parameters what `share` returns.
    pub fn received(
        &self,
        slot: &mut dyn FnMut(&Closure, usize) -> SlotId,
        share: &mut dyn FnMut() -> Sharing,
    ) -> Closure {
        let given = self.given.iter().map(|(input, given)| {
            let given = match given {
                Given::Value(_) => Given::Value(Part::Slot(slot(self, *input))),
                Given::Closure(closure) => Given::Closure(Box::new(closure.received(slot, share))),
            };
            (*input, given)
        });
        let given = given.collect();
        let sharing = self.sharing.as_ref().map(|_| share());
        Closure { callee: self.callee.clone(), given, sharing, span: self.span }
    }

    /// The values and shared parameters in it, in the order in which [`received`](Self::received) asks for
    /// them.
    pub fn collect(&self, values: &mut Vec<Part>, shares: &mut Vec<Sharing>) {
        for (_, given) in &self.given {
            match given {
                Given::Value(part) => values.push(part.clone()),
                Given::Closure(closure) => closure.collect(values, shares),
            }
        }
        shares.extend(self.sharing.clone());
    }
}

/// The argument for each input that a closure leaves open.
pub fn bind_left(
    inputs: &Inputs<'_>,
    closure: &Closure,
    names: &[Option<&str>],
) -> Result<Vec<(usize, Source)>, Misbound> {
    let is_given = |input: &usize| closure.given.iter().any(|(given, _)| given == input);
    let further = Formal { name: "", has_default: false };
    let n_known = inputs.formals.len();
    let n_further = if inputs.is_open { closure.given.len() + names.len() } else { 0 };
    let left: Vec<usize> = (0..n_known + n_further).filter(|input| !is_given(input)).collect();
    let formals: Vec<Formal<'_>> =
        left.iter().map(|input| inputs.formals.get(*input).copied().unwrap_or(further)).collect();
    let mut bound: Vec<(usize, Source)> = left.into_iter().zip(bind(&formals, names)?).collect();
    while bound.last().is_some_and(|(input, source)| *input >= n_known && *source == Source::Missing) {
        bound.pop();
    }
    Ok(bound)
}
