//! The places of cells in a window.

use eddy_flow::VarId;
use eddy_imp::stmt::PointsTo;
use eddy_imp::{Expr, Name, Place as ImpPlace, Stmt};
use eddy_plan::plan::{BufferId, Place, Read};

use super::super::Emitter;
use super::super::assign::{copy, first};
use super::super::iteration::t;
use super::super::reads::memory;
use super::{Context, Pointer, n, scalar_place};
use crate::layout::value_field;
use crate::lower::Operand;
use crate::precision::element_type;
use crate::view::{Root, View};

impl Emitter<'_> {
    /// The operand for a read.
    pub(super) fn read(&mut self, context: &mut Context, read: &Read) -> Operand {
        match read {
            Read::Here(var, Place::Local) if context.computed.contains(var) => Operand::Var(*var),
            Read::Here(var, place) => Operand::Seen(self.place(context, *var, place, t())),
            Read::Before { var, first, inner } => {
                let first = self.place(context, *var, first, t() - 1);
                let inner = self.place(context, *var, inner, t() - 1);
                Operand::Seen(self.picked(context, *var, t().equals(1), first, inner))
            }
            Read::After { var, inner, last } => {
                let mut view = self.place(context, *var, inner, t() + 1);
                // An open window has no separate last cycle.
                let last = if self.frame.is_open { &[][..] } else { last };
                let mut lasts =
                    last.iter().map(|place| self.place(context, *var, place, t() + 1)).collect::<Vec<_>>();
                if let Some(mut chosen) = lasts.pop() {
                    for (number, other) in lasts.into_iter().enumerate().rev() {
                        let is_other = Expr::var("alt").equals(number);
                        chosen = self.picked(context, *var, is_other, other, chosen);
                    }
                    view = self.picked(context, *var, t().equals(n() - 2), chosen, view);
                }
                Operand::Seen(view)
            }
        }
    }

    pub(super) fn place(&mut self, context: &mut Context, var: VarId, place: &Place, at: Expr) -> View {
        match place {
            Place::Immediate(immediate) => self.immediate(var, immediate),
            Place::Neighbour => memory(self.register(context.sweep, var), self.ty(var)),
            Place::Buffer(buffer) => memory(self.entry(*buffer, at), self.ty(var)),
            Place::Scalar(scalar) => memory(scalar_place(*scalar), self.ty(var)),
            // No live instruction reads an absent cell.
            Place::Absent | Place::Nowhere => View::whole(Root::Nothing, self.ty(var)),
            Place::Local | Place::Ring(_) => unreachable!("it is read where it was not computed: {var:?}"),
        }
    }

    /// The entry of a buffer for a cycle. Chunk buffers begin a cycle before the chunk.
    pub(super) fn entry(&self, buffer: BufferId, at: Expr) -> ImpPlace {
        ImpPlace::state(self.buffer_name(buffer)).index(self.index(buffer, at))
    }

    /// Whether the stream of a buffer is present at a cycle.
    pub(super) fn entry_flag(&self, buffer: BufferId, at: Expr) -> ImpPlace {
        ImpPlace::state(self.flags_name(buffer)).index(self.index(buffer, at))
    }

    /// The index of a cycle in a buffer.
    pub(super) fn index(&self, buffer: BufferId, at: Expr) -> Expr {
        if self.chunked.contains(&buffer.index()) { at - Expr::var("before") } else { self.frame.entry(at) }
    }

    /// The field with the presence flags of a buffer.
    pub(super) fn flags_name(&self, buffer: BufferId) -> String {
        let letter = if self.chunked.contains(&buffer.index()) { "c" } else { "w" };
        format!("{letter}f{}", buffer.index())
    }

    pub(super) fn buffer_name(&self, buffer: BufferId) -> String {
        let letter = if self.chunked.contains(&buffer.index()) { "c" } else { "w" };
        format!("{letter}{}", buffer.index())
    }

    /// One of two views, chosen by a condition. Arrays are chosen by a pointer.
    fn picked(&mut self, context: &mut Context, var: VarId, condition: Expr, yes: View, no: View) -> View {
        if yes == no || no.root == Root::Nothing {
            return yes;
        }
        let ty = self.ty(var).clone();
        if ty.shape.is_scalar() {
            return View::whole(Root::One(Expr::choice(condition, first(&yes), first(&no))), &ty);
        }
        if let (Root::One(yes), Root::One(no)) = (&yes.root, &no.root) {
            return View::whole(Root::One(Expr::choice(condition, yes, no)), &ty);
        }
        let [yes, no] = [yes, no].map(|view| self.as_array(var, view));
        let name: Name = format!("x{}_{}", context.pointers.len() + 1, self.names.of(var)).into();
        let to = PointsTo { condition, yes: yes.clone(), no: no.clone() };
        let declaration = Stmt::Pointer(name.clone(), element_type(ty.scalar), Box::new(to));
        context.pointers.push(Pointer { name: name.clone(), declaration, targets: [yes, no] });
        View::whole(Root::Memory(ImpPlace::local(name)), &ty)
    }

    /// An array with the elements of a view.
    fn as_array(&mut self, var: VarId, view: View) -> ImpPlace {
        if let Root::Memory(place) = view.root {
            return place;
        }
        let ty = self.ty(var).clone();
        let name: Name = format!("e{}_{}", self.state.fields.len(), self.names.of(var)).into();
        value_field(&mut self.state, &name, &ty, "constant", self.precision);
        let place = ImpPlace::state(name);
        copy(&view, &place, &ty, &mut self.reset);
        place
    }

    /// The register of a stream that the next iteration reads.
    pub(super) fn register(&mut self, sweep: usize, var: VarId) -> ImpPlace {
        self.state_value(&format!("r{sweep}"), var)
    }
}
