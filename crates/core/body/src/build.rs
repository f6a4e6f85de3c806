//! Writes statements, with types, for passes and front ends.

use eddy_syntax::Span;
use eddy_tensor::Op;

use crate::edit::Names;
use crate::ir::{At, Body, Elem, Kind, Literal, Stmt, Type, Var};
use crate::operation::Operation;
use crate::verify::selected;

/// Statements of a region that is being written, and the names of its body.
#[derive(Debug, Default)]
pub struct Builder {
    pub names: Names,
    pub types: Vec<Type>,
    pub out: Vec<Stmt>,
    /// The source of the next statements.
    pub span: Span,
}

impl Builder {
    /// A builder of further code for a body whose names have these types.
    pub fn new(body: &Body, types: &[Type]) -> Builder {
        Builder {
            names: Names::new(body.names.clone()),
            types: types.to_vec(),
            out: Vec::new(),
            span: Span::default(),
        }
    }

    /// A new name.
    pub fn fresh(&mut self, name: &str, ty: Type) -> Var {
        self.types.push(ty);
        self.names.fresh(name)
    }

    /// A new name with the same type and a similar text.
    pub fn fresh_like(&mut self, var: Var) -> Var {
        self.types.push(self.ty(var));
        self.names.fresh_like(var)
    }

    /// The type of a name.
    pub fn ty(&self, var: Var) -> Type {
        self.types[var.index()]
    }

    /// Appends a statement.
    pub fn push(&mut self, results: Vec<Var>, kind: Kind) {
        self.out.push(Stmt { results, kind, span: self.span });
    }

    /// A constant.
    pub fn constant(&mut self, literal: Literal) -> Var {
        let var = self.fresh("c", literal.ty());
        self.push(vec![var], Kind::Const(literal));
        var
    }

    /// An operation; its operands have the right types.
    pub fn apply(&mut self, operation: Operation, operands: &[Var]) -> Var {
        let types: Vec<Type> = operands.iter().map(|var| self.ty(*var)).collect();
        let result = operation.result_types(&types);
        let ty = result.unwrap_or_else(|message| panic!("{operation:?} {message}: {types:?}"))[0];
        let var = self.fresh("t", ty);
        self.push(vec![var], Kind::Op(operation, operands.to_vec()));
        var
    }

    /// An operation of the table.
    pub fn op(&mut self, op: Op, operands: &[Var]) -> Var {
        self.apply(Operation::Table(op), operands)
    }

    /// Elements of a tensor; the tensor itself if there are no selectors.
    pub fn index(&mut self, array: Var, at: &[At]) -> Var {
        if at.is_empty() {
            return array;
        }
        let ty = selected(self.ty(array), at, |var| self.ty(var)).expect("the selectors fit");
        let var = self.fresh("e", ty);
        self.push(vec![var], Kind::Index(array, at.to_vec()));
        var
    }

    /// A tensor with elements replaced.
    pub fn update(&mut self, array: Var, at: &[At], value: Var) -> Var {
        let var = self.fresh_like(array);
        self.push(vec![var], Kind::Update(array, at.to_vec(), value));
        var
    }

    /// A tensor with elements increased; a sum if there are no selectors.
    pub fn increase(&mut self, array: Var, at: &[At], value: Var) -> Var {
        if at.is_empty() {
            return self.op(Op::Add, &[array, value]);
        }
        let var = self.fresh_like(array);
        self.push(vec![var], Kind::Increase(array, at.to_vec(), value));
        var
    }

    /// Zeros in the shape of a value.
    pub fn zeros_like(&mut self, value: Var) -> Var {
        match self.ty(value) {
            Type { elem: Elem::Num, rank: 0 } => self.constant(Literal::num(0.0)),
            Type { elem: Elem::Int, rank: 0 } => self.constant(Literal::int(0)),
            _ => self.op(Op::ZerosLike, &[value]),
        }
    }

    /// A placeholder of a type.
    pub fn dummy(&mut self, ty: Type) -> Var {
        let element = match ty.elem {
            Elem::Bool => self.constant(Literal::bool(false)),
            Elem::Num => self.constant(Literal::num(0.0)),
            Elem::Int => self.constant(Literal::int(0)),
            Elem::Enum(_) => self.constant(Literal { elem: ty.elem, ..Literal::int(0) }),
            Elem::Tape => self.apply(Operation::Pack, &[]),
        };
        if ty.rank == 0 {
            return element;
        }
        let zero = self.constant(Literal::int(0));
        let operands: Vec<Var> = std::iter::once(element).chain(std::iter::repeat_n(zero, ty.rank)).collect();
        self.apply(Operation::Fill, &operands)
    }

    /// The size of an axis.
    pub fn size(&mut self, value: Var, axis: usize) -> Var {
        self.apply(Operation::Size(axis), &[value])
    }

    /// The statements that `write` appends, which are not added to those of the builder, and its result.
    pub fn aside<T>(&mut self, write: impl FnOnce(&mut Builder) -> T) -> (Vec<Stmt>, T) {
        let before = std::mem::take(&mut self.out);
        let result = write(self);
        (std::mem::replace(&mut self.out, before), result)
    }
}
