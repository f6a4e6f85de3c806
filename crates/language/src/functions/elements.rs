//! `len`, `shape`, `scatter`, `lgamma`, `digamma`, and reductions of all elements of a tensor (functions.md,
//! section 3).

use eddy_body::ir::{At, Binding, Control, Elem, Kind, Literal};
use eddy_body::operation::{Operation, Sized};
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::{Header, Undecided};
use super::errors::{Refused, arity, shape_error};
use super::expression::tensor;
use super::lowering::Lowering;
use super::sizes::Form as Size;
use super::value::{Leaf, Val};

impl Lowering<'_> {
    /// Lowers the functions that functions can call but nodes cannot.
    pub fn own(&mut self, name: &'static str, args: Vec<Val>, at: Span) -> Result<(), Refused> {
        let expected: &[usize] = match name {
            "scatter" => &[3],
            "min" | "prod" => &[1, 2],
            _ => &[1],
        };
        if !expected.contains(&args.len()) {
            return Err(arity(at, name, expected[0], args.len()));
        }
        let mut args = args.into_iter();
        let mut next = || args.next().expect("the arguments were counted");
        match name {
            "len" => {
                let Some(leaf) = tensor(next(), at)? else { unreachable!("it is known") };
                if leaf.rank() == 0 {
                    return Err(shape_error(at, "`len` needs at least one axis"));
                }
                let size = self.here().size(&leaf, 0, at);
                self.push(Val::Leaf(size));
                Ok(())
            }
            "shape" => {
                let Some(leaf) = tensor(next(), at)? else { unreachable!("it is known") };
                let sizes: Vec<_> =
                    (0..leaf.rank()).map(|axis| self.here().size(&leaf, axis, at).var).collect();
                let rank = i64::try_from(leaf.rank()).expect("a rank is small");
                let var = if sizes.is_empty() {
                    let zero = self.here().int(0, at).var;
                    self.here().op(Operation::Fill, vec![zero, zero], at)
                } else {
                    self.here().table(Op::Stack, sizes, at)
                };
                let leaf = self.here().leaf(var, Elem::Int, vec![Some(Size::constant(rank))]);
                self.push(Val::Leaf(leaf));
                Ok(())
            }
            "lgamma" | "digamma" => {
                let Some(leaf) = tensor(next(), at)? else { unreachable!("it is known") };
                self.demand(&leaf, Elem::Num, at)?;
                let op = if name == "lgamma" { Op::Lgamma } else { Op::Digamma };
                let var = self.here().table(op, vec![leaf.var], at);
                self.push(Val::Leaf(Leaf { var, form: None, ..leaf }));
                Ok(())
            }
            "scatter" => {
                let (n, indices, rows) = (next(), next(), next());
                self.scatter(n, indices, rows, at)
            }
            _ => self.reduce_elements(name, next(), args.next(), at),
        }
    }

    /// `scatter(n, ix, v)`: rows of zeros, to which the rows of `v` are added.
    pub fn scatter(&mut self, n: Val, indices: Val, rows: Val, at: Span) -> Result<(), Refused> {
        let n = self.scalar(n, Elem::Int, "the number of rows", at)?;
        let (indices, rows) = (tensor(indices, at)?, tensor(rows, at)?);
        let (Some(n), Some(indices), Some(rows)) = (n, indices, rows) else { unreachable!("they are known") };
        self.demand(&indices, Elem::Int, at)?;
        self.demand_numeric(&rows, at)?;
        if indices.rank() != 1 || rows.rank() == 0 {
            return Err(shape_error(at, "scatter needs a vector of indices and a row for each"));
        }
        if let (Some(n_indices), Some(n_rows)) = (&indices.sizes[0], &rows.sizes[0])
            && n_indices.certainly_differs(n_rows)
        {
            return Err(shape_error(at, "scatter needs as many rows as indices"));
        }
        let kind = rows.kind;
        let here = self.here();
        let mut operands = vec![here.undecided(kind, Undecided::Number(0), at), n.var];
        for axis in 1..rows.rank() {
            operands.push(here.size(&rows, axis, at).var);
        }
        let zeros = here.op(Operation::Fill, operands, at);
        let var = here.var("");
        here.emit(vec![var], Kind::Increase(zeros, vec![At::Int(indices.var)], rows.var), at);
        let mut sizes = rows.sizes.clone();
        sizes[0] = n.form;
        self.push(Val::Leaf(Leaf { var, kind, sizes, form: None }));
        Ok(())
    }

    /// Reduces all elements of a tensor, or those along an axis.
    pub fn reduce_elements(
        &mut self,
        name: &'static str,
        val: Val,
        axis: Option<Val>,
        at: Span,
    ) -> Result<(), Refused> {
        let axis = axis.map(|axis| self.axis(axis, at)).transpose()?;
        let Some(leaf) = tensor(val, at)? else { unreachable!("it is known") };
        match name {
            "any" | "all" => self.demand(&leaf, Elem::Bool, at)?,
            _ => self.demand_numeric(&leaf, at)?,
        }
        if let Some(axis) = axis {
            return self.reduce_axis(name, &leaf, axis, at);
        }
        let flat = self.flattened(&leaf, at);
        match name {
            "max" | "min" | "argmax" | "argmin" => {
                let operation = if name.ends_with("max") { Operation::FirstMax } else { Operation::FirstMin };
                let here = self.here();
                let count = here.op(Operation::Size(0), vec![flat], at);
                here.emit(Vec::new(), Kind::Op(Operation::CheckSome, vec![count]), at);
                let index = here.op(operation, vec![flat], at);
                let result = if name.starts_with("arg") {
                    here.int_leaf(index, None)
                } else {
                    let var = here.row(flat, index, at);
                    Leaf { var, kind: leaf.kind, sizes: Vec::new(), form: None }
                };
                self.push(Val::Leaf(result));
                Ok(())
            }
            "prod" | "any" | "all" => {
                self.fold_elements(name, flat, leaf.kind, at);
                Ok(())
            }
            _ => unreachable!("these reduce"),
        }
    }

    /// Reduces the elements along an axis, for each index of the other axes.
    fn reduce_axis(&mut self, name: &'static str, leaf: &Leaf, axis: usize, at: Span) -> Result<(), Refused> {
        if axis >= leaf.rank() {
            return Err(shape_error(
                at,
                format!("there is no axis {axis} in a tensor of {} axes", leaf.rank()),
            ));
        }
        let others: Vec<usize> = (0..leaf.rank()).filter(|other| *other != axis).collect();
        let counts: Vec<Leaf> = others.iter().map(|other| self.here().size(leaf, *other, at)).collect();
        let here = self.here();
        let mut selectors = vec![At::All; leaf.rank()];
        let mut headers = Vec::new();
        for (other, count) in others.iter().zip(&counts) {
            let index = here.var("i");
            here.open_region();
            selectors[*other] = At::Int(index);
            let control = Control::Each { index, count: count.var };
            headers.push(Header { control, states: Vec::new(), accs: Vec::new() });
        }
        let vector = here.var("");
        here.emit(vec![vector], Kind::Index(leaf.var, selectors), at);
        let sizes = vec![leaf.sizes[axis].clone()];
        let vector = Leaf { var: vector, kind: leaf.kind, sizes, form: None };
        self.reduce_elements(name, Val::Leaf(vector), None, at)?;
        let Some(reduced) = tensor(self.pop(), at)? else { unreachable!("it is known") };
        let mut var = reduced.var;
        for header in headers.into_iter().rev() {
            var = self.here().close_loop(header, Vec::new(), vec![var], at)[0];
        }
        let sizes = others.iter().map(|other| leaf.sizes[*other].clone()).collect();
        self.push(Val::Leaf(Leaf { var, kind: reduced.kind, sizes, form: None }));
        Ok(())
    }

    /// All elements as a vector.
    pub fn flattened(&mut self, leaf: &Leaf, at: Span) -> eddy_body::ir::Var {
        if leaf.rank() == 1 {
            return leaf.var;
        }
        let here = self.here();
        let mut n = here.int(1, at).var;
        for axis in 0..leaf.rank() {
            let size = here.size(leaf, axis, at).var;
            n = here.table(Op::Mul, vec![n, size], at);
        }
        here.op(Operation::Sized(Sized::Reshape), vec![leaf.var, n], at)
    }

    pub fn fold_elements(
        &mut self,
        name: &str,
        flat: eddy_body::ir::Var,
        kind: super::kinds::KindId,
        at: Span,
    ) {
        let here = self.here();
        let count = here.op(Operation::Size(0), vec![flat], at);
        let init = match name {
            "prod" => here.undecided(kind, Undecided::Number(1), at),
            _ => here.literal(Literal::bool(name == "all"), at),
        };
        let [index, state] = ["i", "s"].map(|name| here.var(name));
        here.open_region();
        let element = here.row(flat, index, at);
        let op = match name {
            "prod" => Op::Mul,
            "any" => Op::Or,
            _ => Op::And,
        };
        let next = here.table(op, vec![state, element], at);
        let header = Header {
            control: Control::For { index, count },
            states: vec![Binding { var: state, init }],
            accs: Vec::new(),
        };
        let results = here.close_loop(header, vec![next], Vec::new(), at);
        self.push(Val::Leaf(Leaf { var: results[0], kind, sizes: Vec::new(), form: None }));
    }
}
