//! Writes equations, each about the equation that is being translated.

use std::mem::take;

use eddy_flow::{Constant, Equation, Flow, Kind, Var, VarId};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Scalar, Shape, Slot, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::BATCH;
use crate::shared::Shares;

/// A flow on its way.
pub(crate) struct Writer {
    /// The flow as it was, without its streams and equations.
    rest: Flow,
    /// Its equations, and the one of each stream.
    pub old: Vec<Equation>,
    pub definitions: Vec<Option<usize>>,
    /// How many streams the batch has.
    pub n: usize,
    vars: Vec<Var>,
    pub equations: Vec<Equation>,
    is_wide: Vec<bool>,
    /// Streams that are the same for all, as streams of the batch.
    widened: FxHashMap<VarId, VarId>,
    /// The same with an axis of size 1 in the place of the batch.
    columns: FxHashMap<VarId, VarId>,
    span: Span,
    call: Option<usize>,
}

impl Writer {
    /// Gives the wide streams their axis, unless one becomes too large.
    pub fn new(mut flow: Flow, n: usize, shares: Shares) -> Result<Writer, Box<Diagnostic>> {
        let definitions = flow.definitions();
        let (mut vars, old) = (take(&mut flow.vars), take(&mut flow.equations));
        let is_wide = shares.into_inner();
        for (var, _) in vars.iter_mut().zip(&is_wide).filter(|(_, is_wide)| **is_wide) {
            var.ty.shape = with_last(&var.ty.shape, n);
            if let Err(error) = var.ty.shape.n_elements() {
                let title = format!("with {n} streams, {error}");
                return Err(Box::new(Diagnostic::error(BATCH, var.span, title)));
            }
        }
        Ok(Writer {
            rest: flow,
            old,
            definitions,
            n,
            vars,
            equations: Vec::new(),
            is_wide,
            widened: FxHashMap::default(),
            columns: FxHashMap::default(),
            span: Span::default(),
            call: None,
        })
    }

    /// The flow without some streams and their equations, and which streams are wide.
    pub fn finish(self, gone: &FxHashSet<VarId>) -> (Flow, Vec<bool>) {
        let Writer { rest, vars, equations, is_wide, .. } = self;
        let mut numbers = Vec::with_capacity(vars.len());
        let (mut kept_vars, mut kept_wide) = (Vec::new(), Vec::new());
        for (number, (var, is_wide)) in vars.into_iter().zip(is_wide).enumerate() {
            numbers.push(VarId::new(kept_vars.len()));
            if !gone.contains(&VarId::new(number)) {
                kept_vars.push(var);
                kept_wide.push(is_wide);
            }
        }
        let rename = |var: VarId| numbers[var.index()];
        let equations = equations.iter().filter(|equation| !gone.contains(&equation.out));
        let equations = equations.map(|equation| equation.renamed(&rename)).collect();
        let flow = renamed(Flow { vars: kept_vars, equations, ..rest }, gone, &rename);
        if cfg!(debug_assertions)
            && let Err(violation) = eddy_flow::verify(&flow)
        {
            unreachable!("batching keeps a flow well formed: {violation}");
        }
        (flow, kept_wide)
    }

    /// Streams that others than equations know.
    pub fn known_outside(&self) -> FxHashSet<VarId> {
        let Flow { inputs, outputs, clocks, parameters, memory, aliases, .. } = &self.rest;
        let conditions =
            clocks.iter().flat_map(|clock| clock.conditions.iter().map(|(condition, _)| *condition));
        let named = parameters.iter().chain(memory).map(|named| named.var);
        let aliases = aliases.iter().map(|(_, var)| *var);
        inputs.iter().chain(outputs).copied().chain(conditions).chain(named).chain(aliases).collect()
    }

    /// What is written next is about an equation.
    pub fn at(&mut self, equation: &Equation) {
        (self.span, self.call) = (equation.span, equation.call);
    }

    pub fn is_wide(&self, var: VarId) -> bool {
        self.is_wide[var.index()]
    }

    pub fn ty(&self, var: VarId) -> &Type {
        &self.vars[var.index()].ty
    }

    pub fn shape(&self, var: VarId) -> &Shape {
        &self.ty(var).shape
    }

    /// The shape that it has in one stream.
    pub fn own_shape(&self, var: VarId) -> Shape {
        let shape = self.shape(var);
        if self.is_wide(var) { Shape::new(&shape[..shape.len() - 1]) } else { shape.clone() }
    }

    /// A shape with the axis of the batch.
    pub fn wide(&self, shape: &Shape) -> Shape {
        with_last(shape, self.n)
    }

    pub fn definition(&self, var: VarId) -> Option<&Equation> {
        self.definitions.get(var.index()).copied().flatten().map(|number| &self.old[number])
    }

    /// A new stream without an equation.
    pub fn fresh(&mut self, ty: Type, is_wide: bool) -> VarId {
        let var = VarId::new(self.vars.len());
        self.vars.push(Var { name: None, span: self.span, ty, purpose: None });
        self.is_wide.push(is_wide);
        var
    }

    /// Writes the equation of a stream.
    pub fn define(&mut self, out: VarId, kind: Kind) {
        self.equations.push(Equation { out, kind, span: self.span, call: self.call });
    }

    /// Writes the application that defines a stream.
    pub fn define_apply(&mut self, out: VarId, op: Op, operands: &[VarId]) {
        self.define(out, Kind::Apply(op, operands.into()));
    }

    /// A constant of some type.
    pub fn constant(&mut self, constant: Constant, ty: Type) -> VarId {
        let out = self.fresh(ty, false);
        self.define(out, Kind::Const(constant));
        out
    }

    /// The result of an operation, in a stream of its own.
    pub fn apply(&mut self, op: Op, operands: &[VarId]) -> VarId {
        let shapes: Vec<&Shape> = operands.iter().map(|operand| self.shape(*operand)).collect();
        let shape = op.shape(&shapes).expect("batched operations are well-shaped");
        let signature = op.signature();
        let scalar = match signature.result {
            Slot::Is(scalar) => scalar,
            Slot::Alpha | Slot::Free => {
                let is_alpha = |index: &usize| signature.operand(*index) == Slot::Alpha;
                let first = (0..operands.len()).find(is_alpha).expect("α is the type of an operand");
                self.ty(operands[first]).scalar
            }
        };
        let out = self.fresh(Type { scalar, shape }, false);
        self.define_apply(out, op, operands);
        out
    }

    /// In another shape, if it has another one.
    pub fn reshaped(&mut self, var: VarId, shape: &Shape) -> VarId {
        if self.shape(var) == shape { var } else { self.apply(Op::Reshape(shape.clone()), &[var]) }
    }

    /// A stream as a stream of the batch: what is the same for all is repeated.
    pub fn widened(&mut self, var: VarId) -> VarId {
        if self.is_wide(var) {
            return var;
        }
        if let Some(wide) = self.widened.get(&var) {
            return *wide;
        }
        let wide = self.repeated(var);
        self.widened.insert(var, wide);
        wide
    }

    fn repeated(&mut self, var: VarId) -> VarId {
        let ty = Type { scalar: self.ty(var).scalar, shape: self.wide(self.shape(var)) };
        // A constant stays one: that a zero is a zero must be seen.
        if let Some(Kind::Const(constant)) = self.definition(var).map(|equation| &equation.kind)
            && constant.stretches()
        {
            let constant = constant.clone();
            return self.constant(constant, ty);
        }
        let column = self.column(var);
        match ty.scalar {
            Scalar::Num => self.apply(Op::Broadcast(ty.shape), &[column]),
            Scalar::Int => {
                let zero = self.constant(Constant::Int(0), ty);
                self.apply(Op::Add, &[column, zero])
            }
            Scalar::Bool => {
                let no = self.constant(Constant::Bool(false), ty);
                self.apply(Op::Or, &[column, no])
            }
        }
    }

    /// A stream as an operand of broadcasting: what is the same for all gets an axis of size 1, unless it is a scalar.
    pub fn column(&mut self, var: VarId) -> VarId {
        if self.is_wide(var) || self.shape(var).is_scalar() {
            return var;
        }
        if let Some(column) = self.columns.get(&var) {
            return *column;
        }
        let shape = with_last(self.shape(var), 1);
        let column = self.apply(Op::Reshape(shape), &[var]);
        self.columns.insert(var, column);
        column
    }
}

/// What is known of a flow besides its equations, under the new numbers of its streams.
fn renamed(mut flow: Flow, gone: &FxHashSet<VarId>, rename: &impl Fn(VarId) -> VarId) -> Flow {
    flow.clocks.retain(|clock| !gone.contains(&clock.var));
    flow.tape.retain(|var| !gone.contains(var));
    for clock in &mut flow.clocks {
        clock.var = rename(clock.var);
        clock.conditions.iter_mut().for_each(|(condition, _)| *condition = rename(*condition));
    }
    let named = flow.parameters.iter_mut().chain(&mut flow.memory).map(|named| &mut named.var);
    let others = flow.inputs.iter_mut().chain(&mut flow.outputs).chain(&mut flow.tape);
    let aliases = flow.aliases.iter_mut().map(|(_, var)| var);
    named.chain(others).chain(aliases).for_each(|var| *var = rename(*var));
    flow
}

/// The shape with one more axis at its end.
pub(crate) fn with_last(shape: &Shape, size: usize) -> Shape {
    let mut sizes = shape.to_vec();
    sizes.push(size);
    Shape::from(sizes)
}
