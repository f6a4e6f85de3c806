//! The functions of the operation table, and `zeros` and `ones` (functions.md, section 3).

use eddy_body::ir::{At, Elem, Kind};
use eddy_body::operation::{Operation, Sized};
use eddy_syntax::Span;
use eddy_tensor::{Op, builtin};

use super::activation::Undecided;
use super::calls::OWN;
use super::errors::{Refused, arity, function, shape_error, type_error};
use super::expression::{broadcast_sizes, no_functions, tensor};
use super::lowering::Lowering;
use super::sizes::Form as Size;
use super::value::{Leaf, Val};

impl Lowering<'_> {
    /// `zeros(s)` and `ones(s)`.
    pub fn initialiser(&mut self, name: &str, n_args: usize, at: Span) -> Result<(), Refused> {
        let number = match name {
            "zeros" => 0,
            "ones" => 1,
            _ => return Err(function(at, format!("`{name}` draws random numbers; a function has none"))),
        };
        if n_args != 1 {
            return Err(arity(at, name, 1, n_args));
        }
        let shape = self.pop();
        let Some(sizes) = self.sizes(shape, at)? else {
            self.push(Val::Unknown);
            return Ok(());
        };
        let kind = self.here().kinds.open();
        let mut operands = vec![self.here().undecided(kind, Undecided::Number(number), at)];
        operands.extend(sizes.iter().map(|size| size.var));
        let var = if sizes.is_empty() { operands[0] } else { self.here().op(Operation::Fill, operands, at) };
        let sizes = sizes.into_iter().map(|size| size.form).collect();
        self.push(Val::Leaf(Leaf { var, kind, sizes, form: None }));
        Ok(())
    }

    /// The sizes in a shape: a tuple of ints, one int, or an int vector of constant length.
    pub fn sizes(&mut self, shape: Val, at: Span) -> Result<Option<Vec<Leaf>>, Refused> {
        match shape {
            Val::Tuple(parts) => {
                let mut sizes = Vec::new();
                for part in parts {
                    match self.scalar(part, Elem::Int, "a size", at)? {
                        Some(size) => sizes.push(size),
                        None => return Ok(None),
                    }
                }
                Ok(Some(sizes))
            }
            other => {
                let Some(leaf) = tensor(other, at)? else { return Ok(None) };
                self.demand(&leaf, Elem::Int, at)?;
                let length = match &leaf.sizes[..] {
                    [] => return Ok(Some(vec![leaf])),
                    [size] => size.as_ref().and_then(Size::as_constant),
                    _ => None,
                };
                let Some(length) = length else {
                    return Err(shape_error(at, "the number of sizes must be known before the run"));
                };
                let mut sizes = Vec::new();
                for index in 0..length {
                    let index = self.here().int(index, at).var;
                    let var = self.here().row(leaf.var, index, at);
                    sizes.push(self.here().int_leaf(var, None));
                }
                Ok(Some(sizes))
            }
        }
    }

    /// Lowers a function of the table, or one of [`OWN`], whose arguments are the last `n_args` operands.
    pub fn builtin(&mut self, name: &'static str, n_args: usize, at: Span) -> Result<(), Refused> {
        let mut args = self.pop_n(n_args);
        no_functions(&args, at, "an operand")?;
        if args.iter().any(Val::is_unknown) {
            self.here().is_provisional = true;
            self.push(Val::Unknown);
            return Ok(());
        }
        if OWN.contains(&name) || (name == "max" && n_args == 1) || name == "argmax" {
            return self.own(name, args, at);
        }
        let row = builtin(name).expect("it is in the table");
        if !row.accepts(n_args) {
            let expected = match row.arity() {
                eddy_tensor::Arity::Exactly(n) | eddy_tensor::Arity::AtLeast(n) => n + row.n_leading(),
            };
            return Err(arity(at, name, expected, n_args));
        }
        let is_with_axis = row.has_axis() && !row.arity().accepts(n_args - row.n_leading());
        let axis = if is_with_axis { Some(self.axis(args.pop().expect("an axis"), at)?) } else { None };
        let operands: Vec<Val> = args.split_off(row.n_leading());
        let mut leaves = Vec::new();
        for operand in operands {
            leaves.extend(tensor(operand, at)?);
        }
        let kind = self.signature(name, &leaves, at)?;
        if row.n_leading() > 0 {
            return self.sized(name, args, &leaves, kind, at);
        }
        let op = table_op(name, axis);
        let sizes = sizes_of(name, axis, &leaves, at)?;
        let var = self.here().table(op, leaves.iter().map(|leaf| leaf.var).collect(), at);
        self.push(Val::Leaf(Leaf { var, kind, sizes, form: None }));
        Ok(())
    }

    /// The index of an axis, which must be a constant.
    pub fn axis(&mut self, val: Val, at: Span) -> Result<usize, Refused> {
        let leaf = self.scalar(val, Elem::Int, "an axis", at)?;
        let constant = leaf.and_then(|leaf| leaf.form).and_then(|form| form.as_constant());
        match constant.and_then(|axis| usize::try_from(axis).ok()) {
            Some(axis) => Ok(axis),
            None => Err(type_error(at, "an axis is a constant that is not negative")),
        }
    }

    /// Gives the operands the kinds that the table requires; returns the kind of the result.
    pub fn signature(
        &mut self,
        name: &str,
        leaves: &[Leaf],
        at: Span,
    ) -> Result<super::kinds::KindId, Refused> {
        use eddy_tensor::{Class, Scalar, Slot};
        let elem = |scalar: Scalar| match scalar {
            Scalar::Bool => Elem::Bool,
            Scalar::Int => Elem::Int,
            Scalar::Num => Elem::Num,
        };
        let row = builtin(name).expect("it is in the table");
        let signature = row.signature();
        let mut alpha: Option<Leaf> = None;
        for (index, leaf) in leaves.iter().enumerate() {
            match signature.operand(index) {
                Slot::Is(scalar) => self.demand(leaf, elem(scalar), at)?,
                Slot::Alpha => {
                    if signature.alpha == Class::Numeric {
                        self.demand_numeric(leaf, at)?;
                    }
                    match &alpha {
                        Some(first) => self.unify(first.kind, leaf.kind, at)?,
                        None => alpha = Some(leaf.clone()),
                    }
                }
                Slot::Free => {}
            }
        }
        Ok(match signature.result {
            Slot::Is(scalar) => self.here().kinds.known(elem(scalar)),
            _ => match alpha {
                Some(leaf) => leaf.kind,
                None => self.here().kinds.open(),
            },
        })
    }

    /// Lowers a function with size arguments before its operands.
    pub fn sized(
        &mut self,
        name: &str,
        leading: Vec<Val>,
        leaves: &[Leaf],
        kind: super::kinds::KindId,
        at: Span,
    ) -> Result<(), Refused> {
        let value = leaves[0].clone();
        let mut sizes: Vec<Leaf> = Vec::new();
        for val in leading {
            sizes.extend(self.sizes(val, at)?.unwrap_or_default());
        }
        let forms: Vec<Option<Size>> = sizes.iter().map(|size| size.form.clone()).collect();
        let vars: Vec<_> = sizes.iter().map(|size| size.var).collect();
        let constant = |at_size: usize| forms[at_size].as_ref().and_then(Size::as_constant);
        let axis = |at_size: usize| {
            let axis = constant(at_size).and_then(|axis| usize::try_from(axis).ok());
            axis.ok_or_else(|| type_error(at, "an axis is a constant that is not negative"))
        };
        let rest = || value.sizes.iter().skip(1).cloned().collect::<Vec<_>>();
        let (operation, operands, result): (Sized, Vec<_>, Vec<Option<Size>>) = match name {
            "slice" => {
                if value.rank() == 0 {
                    return Err(shape_error(at, "slice needs at least one axis"));
                }
                let var = self.here().var("");
                let place = vec![At::Range(vars[0], vars[1])];
                self.here().emit(vec![var], Kind::Index(value.var, place), at);
                let rows = forms[1].as_ref().zip(forms[0].as_ref()).and_then(|(hi, lo)| hi.subtract(lo));
                let mut sizes = rest();
                sizes.insert(0, rows);
                self.push(Val::Leaf(Leaf { var, kind, sizes, form: None }));
                return Ok(());
            }
            "reshape" => (Sized::Reshape, vars, forms),
            "broadcast" => (Sized::Broadcast, vars, forms),
            "reduce" => (Sized::Reduce, vars, forms),
            "onehot" => (Sized::Onehot, vars, forms),
            "pad" => {
                let mut sizes = rest();
                sizes.insert(0, forms[1].clone());
                (Sized::Pad, vars, sizes)
            }
            "spread" => {
                let axis = axis(0)?;
                if axis > value.rank() {
                    return Err(shape_error(at, format!("there is no axis {axis}")));
                }
                let mut sizes = value.sizes.clone();
                sizes.insert(axis, forms[1].clone());
                (Sized::Spread(axis), vec![vars[1]], sizes)
            }
            "unfold" => {
                let axis = axis(0)?;
                (Sized::Unfold(axis), vars[1..].to_vec(), vec![None; value.rank() + 1])
            }
            "fold" => {
                let axis = axis(0)?;
                let rank = value.rank().saturating_sub(1);
                (Sized::Fold(axis), vars[1..].to_vec(), vec![None; rank])
            }
            _ => unreachable!("these functions have sizes"),
        };
        let mut all = vec![value.var];
        all.extend(operands);
        let var = self.here().op(Operation::Sized(operation), all, at);
        self.push(Val::Leaf(Leaf { var, kind, sizes: result, form: None }));
        Ok(())
    }
}

/// The operation of a function without size arguments.
fn table_op(name: &str, axis: Option<usize>) -> Op {
    let statics: Vec<eddy_tensor::Static> = axis
        .map(|axis| eddy_tensor::Static::Int(i64::try_from(axis).expect("an axis is small")))
        .into_iter()
        .collect();
    builtin(name).expect("it is in the table").op(&statics).expect("an axis is not negative")
}

/// The sizes of the result of an operation without size arguments.
fn sizes_of(
    name: &str,
    axis: Option<usize>,
    leaves: &[Leaf],
    at: Span,
) -> Result<Vec<Option<Size>>, Refused> {
    let first = &leaves[0];
    let needs = |holds: bool, text: &str| if holds { Ok(()) } else { Err(shape_error(at, text)) };
    Ok(match name {
        "pow" | "maximum" | "minimum" => broadcast_sizes(first, &leaves[1], at)?,
        "where" => {
            let branches = broadcast_sizes(&leaves[1], &leaves[2], at)?;
            let branches = Leaf { sizes: branches, ..leaves[1].clone() };
            broadcast_sizes(first, &branches, at)?
        }
        "matmul" => {
            let (a, b) = (&leaves[0].sizes, &leaves[1].sizes);
            needs((1..=2).contains(&a.len()) && (1..=2).contains(&b.len()), "matmul needs one or two axes")?;
            if let (Some(k), Some(other)) = (&a[a.len() - 1], &b[0])
                && k.certainly_differs(other)
            {
                return Err(shape_error(at, "the inner sizes of matmul differ"));
            }
            a[..a.len() - 1].iter().chain(&b[1..]).cloned().collect()
        }
        "concat" => {
            needs(leaves.iter().all(|leaf| leaf.rank() > 0), "concat needs at least one axis")?;
            needs(
                leaves.iter().all(|leaf| leaf.rank() == first.rank()),
                "concat needs equal numbers of axes",
            )?;
            let sum = leaves.iter().try_fold(Size::constant(0), |sum, leaf| sum.add(leaf.sizes[0].as_ref()?));
            let mut sizes = first.sizes.clone();
            sizes[0] = sum;
            sizes
        }
        "transpose" => {
            needs(first.rank() <= 2, "transpose needs at most two axes")?;
            first.sizes.iter().rev().cloned().collect()
        }
        "sum" | "mean" | "max" => match axis {
            None => Vec::new(),
            Some(axis) => {
                needs(axis < first.rank(), &format!("there is no axis {axis}"))?;
                let mut sizes = first.sizes.clone();
                sizes.remove(axis);
                sizes
            }
        },
        "outer" => {
            needs(leaves.iter().all(|leaf| leaf.rank() == 1), "outer needs two vectors")?;
            vec![first.sizes[0].clone(), leaves[1].sizes[0].clone()]
        }
        "sum_to" => leaves[1].sizes.clone(),
        "conv2d" | "conv2d_dx" => {
            needs(first.rank() >= 3, "conv2d needs three and four axes")?;
            vec![None; 3]
        }
        "conv2d_dk" => vec![None; 4],
        _ => first.sizes.clone(),
    })
}
