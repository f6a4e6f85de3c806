//! `jacobian` and `hessian`: a loop over the numbers of the result, or of the point (functions.md, section
//! 5.1).

use eddy_body::ir::{Control, Kind, Mode, Var};
use eddy_body::operation::{Operation, Sized};
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::Header;
use super::derivatives::Site;
use super::derivatives::operands;
use super::lowering::Lowering;
use super::value::{Leaf, Val};

impl Lowering<'_> {
    /// Computes a row of the Jacobian for each number of the result.
    pub fn jacobian_reverse(&mut self, site: &Site) -> Val {
        let value = self.plain(site);
        let outputs: Vec<Leaf> =
            value.leaves().into_iter().filter(|leaf| self.is_num(leaf)).cloned().collect();
        let mut rows = Vec::new();
        for chosen in &outputs {
            let span = site.span;
            let (n, sizes) = self.elements(chosen, span);
            let index = self.here().var("k");
            self.here().open_region();
            let mut cotangents = Vec::new();
            for leaf in &outputs {
                let cotangent = if leaf.var == chosen.var {
                    let unit = self.here().op(Operation::Sized(Sized::Onehot), vec![index, n], span);
                    let mut operands = vec![unit];
                    operands.extend(&sizes);
                    self.here().op(Operation::Sized(Sized::Reshape), operands, span)
                } else {
                    self.here().table(Op::ZerosLike, vec![leaf.var], span)
                };
                cotangents.push(cotangent);
            }
            let (_, tangents) = self.adjoint(site, cotangents);
            let tangent = Self::of_point(tangents);
            let header =
                Header { control: Control::Each { index, count: n }, states: Vec::new(), accs: Vec::new() };
            let collected = self.here().close_loop(header, Vec::new(), tangent.vars(), span);
            let row = self.reshape_rows(chosen, &sizes, &tangent, &collected, span);
            rows.push(row);
        }
        let mut rows = rows.into_iter();
        self.replaced(&site.result, &mut rows)
    }

    /// Computes a column of the Jacobian for each number of the point.
    pub fn jacobian_forward(&mut self, site: &Site) -> Val {
        let inputs: Vec<Leaf> =
            site.args.iter().flat_map(Val::leaves).filter(|leaf| self.is_num(leaf)).cloned().collect();
        let value = self.plain(site);
        let outputs: Vec<Leaf> =
            value.leaves().into_iter().filter(|leaf| self.is_num(leaf)).cloned().collect();
        let span = site.span;
        // For each output, the blocks of all inputs.
        let mut blocks: Vec<Vec<Leaf>> = vec![Vec::new(); outputs.len()];
        for chosen in &inputs {
            let (n, sizes) = self.elements(chosen, span);
            let index = self.here().var("k");
            self.here().open_region();
            let mut tangents = Vec::new();
            for leaf in &inputs {
                let tangent = if leaf.var == chosen.var {
                    let unit = self.here().op(Operation::Sized(Sized::Onehot), vec![index, n], span);
                    let mut operands = vec![unit];
                    operands.extend(&sizes);
                    self.here().op(Operation::Sized(Sized::Reshape), operands, span)
                } else {
                    self.here().table(Op::ZerosLike, vec![leaf.var], span)
                };
                tangents.push(tangent);
            }
            let (_, tangent) = self.forward(site, tangents);
            let header =
                Header { control: Control::Each { index, count: n }, states: Vec::new(), accs: Vec::new() };
            let columns = self.here().close_loop(header, Vec::new(), tangent.vars(), span);
            for ((output, column), block) in outputs.iter().zip(columns).zip(&mut blocks) {
                let (m, of_output) = self.elements(output, span);
                let flat = self.here().op(Operation::Sized(Sized::Reshape), vec![column, n, m], span);
                let turned = self.here().table(Op::Transpose, vec![flat], span);
                let mut operands = vec![turned];
                operands.extend(&of_output);
                operands.extend(&sizes);
                let var = self.here().op(Operation::Sized(Sized::Reshape), operands, span);
                let mut forms = output.sizes.clone();
                forms.extend(chosen.sizes.iter().cloned());
                block.push(Leaf { var, kind: chosen.kind, sizes: forms, form: None });
            }
        }
        let point = Self::of_point(site.args.clone());
        let mut rows = Vec::new();
        for block in blocks {
            let mut leaves = block.into_iter().map(Val::Leaf);
            rows.push(self.replaced(&point, &mut leaves));
        }
        let mut rows = rows.into_iter();
        self.replaced(&site.result, &mut rows)
    }

    /// Calls the function itself, for the sizes of the result.
    pub fn plain(&mut self, site: &Site) -> Val {
        let operands = operands(site);
        let here = self.here();
        let value = site.result.map(&mut |leaf| here.renamed(leaf));
        here.emit(value.vars(), Kind::Call(Mode::Plain, site.id, operands), site.span);
        value
    }

    /// The number of elements of a tensor, and its sizes.
    pub fn elements(&mut self, leaf: &Leaf, span: Span) -> (Var, Vec<Var>) {
        let here = self.here();
        let sizes: Vec<Var> = (0..leaf.rank()).map(|axis| here.size(leaf, axis, span).var).collect();
        let mut n = here.int(1, span).var;
        for size in &sizes {
            n = here.table(Op::Mul, vec![n, *size], span);
        }
        (n, sizes)
    }

    /// Splits rows of cotangents into blocks of a Jacobian: the sizes of the output, then those of each
    /// input.
    pub fn reshape_rows(
        &mut self,
        output: &Leaf,
        sizes: &[Var],
        tangent: &Val,
        collected: &[Var],
        span: Span,
    ) -> Val {
        let mut at = 0;
        let here = self.here();
        tangent.map(&mut |leaf| {
            let rows = collected[at];
            at += 1;
            let mut operands = vec![rows];
            operands.extend(sizes);
            for axis in 0..leaf.rank() {
                operands.push(here.op(Operation::Size(axis + 1), vec![rows], span));
            }
            let var = here.op(Operation::Sized(Sized::Reshape), operands, span);
            let mut forms = output.sizes.clone();
            forms.extend(leaf.sizes.iter().cloned());
            Leaf { var, kind: leaf.kind, sizes: forms, form: None }
        })
    }

    /// A structure with each num replaced by the next value, and everything else by `()`.
    pub fn replaced(&mut self, val: &Val, by: &mut dyn Iterator<Item = Val>) -> Val {
        match val {
            Val::Leaf(leaf) if self.is_num(leaf) => by.next().expect("a value for each num"),
            Val::Leaf(_) | Val::Function(_) | Val::Unknown => Val::unit(),
            Val::Tuple(parts) => Val::Tuple(parts.iter().map(|part| self.replaced(part, by)).collect()),
            Val::Record(fields) => Val::Record(
                fields.iter().map(|(label, val)| (label.clone(), self.replaced(val, by))).collect(),
            ),
        }
    }
}
