//! The streams of a node, leaf by leaf.

use std::rc::Rc;

use eddy_syntax::Span;

use super::declared::Size;
use super::infer::LeafType;
use super::rewrite::Rewriter;
use crate::program::{Node, Slot, SlotId, Structure};
use crate::tree::{Annotation, ExprId, ExprKind, ExprList, Number, Scalar};

impl Rewriter<'_> {
    /// The streams of the node, leaf by leaf.
    pub(super) fn streams(&mut self, node: &Node) {
        for (number, slot) in node.slots.iter().enumerate() {
            self.first.push(self.slots.len());
            let structure = Rc::clone(&self.found.slots[number]);
            let found = self.found;
            self.add(slot, &structure, &found.written[number]);
        }
        for (number, slot) in node.slots.iter().enumerate() {
            let clocks = slot.clocks.iter().map(|(conditions, span)| {
                let conditions = conditions.iter();
                let renumbered =
                    |(slot, polarity): &(SlotId, _)| (SlotId::new(self.first[slot.index()]), *polarity);
                (conditions.map(renumbered).collect::<Vec<_>>(), *span)
            });
            let clocks: Vec<_> = clocks.collect();
            for leaf in 0..self.found.slots[number].n_leaves() {
                self.slots[self.first[number] + leaf].clocks.clone_from(&clocks);
            }
        }
    }

    /// Adds the leaves of a stream.
    pub(super) fn add(&mut self, slot: &Slot, structure: &Structure, written: &[LeafType]) {
        let first = self.slots.len();
        for (number, leaf) in structure.leaves().into_iter().enumerate() {
            let name = [slot.name.clone()].into_iter().chain(leaf.path).collect::<Vec<_>>().join(".");
            let mut annotations = slot.annotations.clone();
            for written in written.iter().filter(|written| written.leaf == number) {
                let dims = written.sizes.as_ref().map(|sizes| self.dims(sizes, written.span));
                annotations.push(Annotation { scalar: written.scalar, dims, span: written.span });
            }
            if leaf.enumeration.is_some() && annotations.is_empty() {
                annotations.push(Annotation { scalar: Scalar::Int, dims: None, span: slot.span });
            }
            self.slots.push(Slot {
                name,
                span: slot.span,
                role: slot.role,
                annotations,
                type_names: Vec::new(),
                enumeration: leaf.enumeration,
                clocks: Vec::new(),
                ..slot.clone()
            });
        }
        if self.slots.len() > first + 1 {
            self.bundles.push((first..self.slots.len()).map(SlotId::new).collect());
        }
    }

    /// Sizes as expressions of the file of the node.
    fn dims(&mut self, sizes: &[Size], span: Span) -> ExprList {
        let dims: Vec<ExprId> = sizes.iter().map(|size| self.size(size, span)).collect();
        self.module.tree.exprs.list(dims)
    }

    /// A size as an expression. The recursion is no deeper than declarations of types are nested.
    fn size(&mut self, size: &Size, span: Span) -> ExprId {
        let parts = match size {
            Size::Own(expr) => return *expr,
            Size::Copied(parts) => parts,
        };
        let mut made: Vec<ExprId> = Vec::new();
        for part in parts {
            if let Some(size) = &part.stands_for {
                let expr = self.size(size, span);
                made.push(expr);
                continue;
            }
            let operands: Vec<ExprId> = part.operands.iter().map(|number| made[*number]).collect();
            let kind = match (part.kind, operands.as_slice()) {
                (ExprKind::Number(number), _) => {
                    ExprKind::Number(Number { text: self.module.names.intern(&part.text), ..number })
                }
                (ExprKind::Group(_), [inner]) => ExprKind::Group(*inner),
                (ExprKind::Unary(op, _), [operand]) => ExprKind::Unary(op, *operand),
                (ExprKind::Binary(op, ..), [left, right]) => ExprKind::Binary(op, *left, *right),
                (_, _) => ExprKind::Variable(self.module.names.intern("_")),
            };
            made.push(self.push(kind, span, span, part.reference.clone()));
        }
        *made.last().expect("a size has a part")
    }
}
