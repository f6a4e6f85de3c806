//! Elaborates rows of tensors: `x[i]`, `x[i, j]`, `x[lo..hi]` (composition.md, section 6).

use eddy_syntax::Span;
use eddy_tensor::Op;

use super::{Elaborator, InstanceId, Operand};
use crate::flow::{Kind, VarId};
use crate::tree::{ExprId, Index};

impl Elaborator<'_> {
    /// A row at a static index, or at an index that is a stream.
    pub(super) fn row(
        &mut self,
        instance: InstanceId,
        value: VarId,
        index: ExprId,
        operand: Operand,
    ) -> Option<Kind> {
        Some(match operand {
            Operand::Stream(index) => Kind::Apply(Op::Row, Box::new([value, index])),
            Operand::Static(_) => Kind::Apply(Op::Index(self.size(instance, index)?), Box::new([value])),
        })
    }

    /// `x[i, j]`, or a range of rows. The value and the indices are on the stack.
    pub(super) fn rows(
        &mut self,
        instance: InstanceId,
        indices: &[Index],
        parts: &[ExprId],
        span: Span,
    ) -> Option<Kind> {
        let (parts, mut bounds) = (&parts[1..], parts[1..].iter());
        if let [Index::Range { has_lower, has_upper }] = indices {
            let lower = if *has_lower { bounds.next() } else { None };
            let upper = if *has_upper { bounds.next() } else { None };
            let lo = lower.map_or(Some(0), |bound| self.size(instance, *bound))?;
            let hi = upper.map_or(Some(Op::LAST_ROW), |bound| self.size(instance, *bound))?;
            return Some(Kind::Apply(Op::Slice(lo, hi), Box::new([self.pop()])));
        }
        let operands: Vec<Operand> = self.operands.drain(self.operands.len() - parts.len()..).collect();
        let mut value = self.pop();
        let (last, first) = parts.split_last().expect("there is an index");
        let mut operands = operands.into_iter();
        for (index, operand) in first.iter().zip(operands.by_ref()) {
            let kind = self.row(instance, value, *index, operand)?;
            value = self.write(None, kind, span);
        }
        self.row(instance, value, *last, operands.next().expect("as many as indices"))
    }
}
