//! The redexes of ordinary evaluation (Figure 2) that symbolic evaluation treats differently.

use super::context::Layer;
use super::environment::Operand;
use super::traces::apply;
use super::{Control, Machine};
use crate::operation::Scalar;
use crate::outcome::Stop;
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn ordinary(&mut self, layer: Layer<Operand>, operand: &Operand) -> Result<Control, Stop> {
        let argument = &operand.closed;
        let (name, value) = match &layer {
            // V ⇒ r, W ⇒ s   gives   V + W ⇒ r + s
            Layer::AddRight(left) => {
                let value = Scalar::Add.eval(left.closed.real(), argument.real())?;
                ("Add", Value::Real(value))
            }
            // V ⇒ V', ev(op,V') = W   gives   op(V) ⇒ W
            Layer::Op(op) => ("Op", apply(&self.terms.types, *op, argument)?),
            // V ⇒ ⟨W1,W2⟩   gives   fst(V) ⇒ W1, snd(V) ⇒ W2
            Layer::Fst => ("Fst", argument.halves().0.clone()),
            Layer::Snd => ("Snd", argument.halves().1.clone()),
            _ => unreachable!("the other layers are handled for both judgements"),
        };
        self.rule(name, &mut || format!("{} ⇒ {value}", layer.redex(argument)));
        Ok(Control::Value(Operand { closed: value, open: None }))
    }
}
