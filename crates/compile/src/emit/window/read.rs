//! Where cells of a window are.

use eddy_flow::VarId;
use eddy_plan::plan::{BufferId, Place, Read};

use super::super::Emitter;
use super::super::assign::copy;
use super::super::reads::memory;
use super::{Context, Pointer};
use crate::lines::Lines;
use crate::lower::Operand;
use crate::view::{Root, View};

impl Emitter<'_> {
    /// What an instruction reads.
    pub(super) fn read(&mut self, context: &mut Context, read: &Read) -> Operand {
        match read {
            Read::Here(var, Place::Local) if context.computed.contains(var) => Operand::Var(*var),
            Read::Here(var, place) => Operand::Seen(self.place(context, *var, place, "t")),
            Read::Before { var, first, inner } => {
                let first = self.place(context, *var, first, "(t - 1)");
                let inner = self.place(context, *var, inner, "(t - 1)");
                Operand::Seen(self.picked(context, *var, "t == 1", first, inner))
            }
            Read::After { var, inner, last } => {
                let mut view = self.place(context, *var, inner, "(t + 1)");
                // An open window has no last cycle that is different.
                let last = if self.frame.is_open { &[][..] } else { last };
                let mut lasts =
                    last.iter().map(|place| self.place(context, *var, place, "(t + 1)")).collect::<Vec<_>>();
                if let Some(mut chosen) = lasts.pop() {
                    for (number, other) in lasts.into_iter().enumerate().rev() {
                        chosen = self.picked(context, *var, &format!("alt == {number}"), other, chosen);
                    }
                    view = self.picked(context, *var, "t == n - 2", chosen, view);
                }
                Operand::Seen(view)
            }
        }
    }

    /// Where a cell is.
    pub(super) fn place(&mut self, context: &mut Context, var: VarId, place: &Place, at: &str) -> View {
        match place {
            Place::Immediate(immediate) => self.immediate(var, immediate),
            Place::Neighbour => {
                let text = self.register(context.sweep, var);
                memory(text, self.ty(var))
            }
            Place::Buffer(buffer) => memory(self.entry(*buffer, at), self.ty(var)),
            Place::Scalar(scalar) => memory(format!("self->u{}", scalar.0), self.ty(var)),
            // Nobody who counts reads what is not there.
            Place::Absent | Place::Nowhere => View::whole(Root::One("0".to_string()), self.ty(var)),
            Place::Local | Place::Ring(_) => unreachable!("it is read where it was not computed: {var:?}"),
        }
    }

    /// The entry of a buffer for a cycle. Buffers that are kept for one chunk begin a cycle before it.
    pub(super) fn entry(&self, buffer: BufferId, at: &str) -> String {
        format!("self->{}[{}]", self.buffer_name(buffer), self.index(buffer, at))
    }

    /// Whether the stream of a buffer is there at a cycle.
    pub(super) fn entry_flag(&self, buffer: BufferId, at: &str) -> String {
        format!("self->{}[{}]", self.flags_name(buffer), self.index(buffer, at))
    }

    /// The index of a cycle in a buffer.
    pub(super) fn index(&self, buffer: BufferId, at: &str) -> String {
        if self.chunked.contains(&buffer.0) { format!("{at} - before") } else { self.frame.entry(at) }
    }

    /// The field that says at which cycles the stream of a buffer is there.
    pub(super) fn flags_name(&self, buffer: BufferId) -> String {
        let letter = if self.chunked.contains(&buffer.0) { "c" } else { "w" };
        format!("{letter}f{}", buffer.0)
    }

    /// The field of a buffer.
    pub(super) fn buffer_name(&self, buffer: BufferId) -> String {
        let letter = if self.chunked.contains(&buffer.0) { "c" } else { "w" };
        format!("{letter}{}", buffer.0)
    }

    /// One of two views, by a condition of C. Arrays are chosen by a pointer.
    fn picked(&mut self, context: &mut Context, var: VarId, condition: &str, yes: View, no: View) -> View {
        if yes == no || matches!(&no.root, Root::One(text) if text == "0") && !self.is_zero(var, &no) {
            return yes;
        }
        let ty = self.ty(var).clone();
        match (&yes.root, &no.root) {
            (Root::One(yes), Root::One(no)) => {
                View::whole(Root::One(format!("({condition} ? {yes} : {no})")), &ty)
            }
            _ => {
                let [yes, no] = [yes, no].map(|view| self.as_array(var, view));
                let name = format!("x{}_{}", context.pointers.len() + 1, self.names.of(var));
                let c_type = self.precision.c_type(ty.scalar);
                let declaration = format!("const {c_type} *const {name} = {condition} ? {yes} : {no};");
                context.pointers.push(Pointer { name: name.clone(), declaration, targets: [yes, no] });
                View::whole(Root::Memory(name), &ty)
            }
        }
    }

    /// Whether the text "0" stands for a value, and not for something that is nowhere: values are written with a point.
    fn is_zero(&self, var: VarId, _view: &View) -> bool {
        self.ty(var).scalar != eddy_tensor::Scalar::Num
    }

    /// The C expression of an array with the elements of a view.
    fn as_array(&mut self, var: VarId, view: View) -> String {
        match view.root {
            Root::Memory(text) => text,
            Root::One(text) => {
                let ty = self.ty(var).clone();
                let name = format!("e{}_{}", self.state.fields.len(), self.names.of(var));
                self.state.value(name.clone(), ty.scalar, &ty.shape, "constant".to_string(), self.precision);
                let view = View::whole(Root::One(text), &ty);
                let mut lines = Lines::default();
                copy(&view, &format!("self->{name}"), &ty, &mut lines);
                self.reset.append(&lines);
                format!("self->{name}")
            }
            Root::Var(_) => unreachable!("it has a place by now"),
        }
    }

    /// The register of a stream that the next iteration reads.
    pub(super) fn register(&mut self, sweep: usize, var: VarId) -> String {
        self.state_value(&format!("r{sweep}"), var)
    }
}
