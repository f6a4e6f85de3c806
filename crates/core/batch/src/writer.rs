//! Builds the equations of the batched flow.

use std::mem::take;

use eddy_flow::codes::BATCH;
use eddy_flow::{Constant, Equation, Flow, Kind, Var, VarId};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Scalar, Shape, Slot, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::shared::WideVars;

/// A flow during translation.
pub(crate) struct Writer {
    /// The original flow without its variables and equations.
    rest: Flow,
    /// The original equations, and the index of the one that defines each variable.
    pub old: Vec<Equation>,
    pub definitions: Vec<Option<usize>>,
    /// The number of streams in the batch.
    pub n: usize,
    vars: Vec<Var>,
    pub equations: Vec<Equation>,
    is_wide: Vec<bool>,
    /// Shared variables, repeated along the axis of the batch.
    widened: FxHashMap<VarId, VarId>,
    /// Shared variables with a last axis of size 1.
    columns: FxHashMap<VarId, VarId>,
    span: Span,
    call: Option<usize>,
}

impl Writer {
    /// Adds the axis of the batch to all wide variables; fails if one becomes too large.
    pub fn new(mut flow: Flow, n: usize, wide_vars: WideVars) -> Result<Writer, Box<Diagnostic>> {
        let definitions = flow.definitions();
        let (mut vars, old) = (take(&mut flow.vars), take(&mut flow.equations));
        let is_wide = wide_vars.into_inner();
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

    /// Returns the flow without the variables in `removed` and their equations, and which variables are wide.
    pub fn finish(self, removed: &FxHashSet<VarId>) -> (Flow, Vec<bool>) {
        let Writer { rest, vars, equations, is_wide, .. } = self;
        let mut numbers = Vec::with_capacity(vars.len());
        let (mut kept_vars, mut kept_wide) = (Vec::new(), Vec::new());
        for (number, (var, is_wide)) in vars.into_iter().zip(is_wide).enumerate() {
            numbers.push(VarId::new(kept_vars.len()));
            if !removed.contains(&VarId::new(number)) {
                kept_vars.push(var);
                kept_wide.push(is_wide);
            }
        }
        let rename = |var: VarId| numbers[var.index()];
        let equations = equations.iter().filter(|equation| !removed.contains(&equation.out));
        let equations = equations.map(|equation| equation.renamed(&rename)).collect();
        let flow = renamed(Flow { vars: kept_vars, equations, ..rest }, removed, &rename);
        if cfg!(debug_assertions)
            && let Err(violation) = eddy_flow::verify(&flow)
        {
            unreachable!("batching keeps a flow well formed: {violation}");
        }
        (flow, kept_wide)
    }

    /// Variables that the flow mentions outside of its equations.
    pub fn used_outside_equations(&self) -> FxHashSet<VarId> {
        let Flow { inputs, outputs, clocks, parameters, persistent_state, contracts, aliases, .. } =
            &self.rest;
        let conditions =
            clocks.iter().flat_map(|clock| clock.conditions.iter().map(|(condition, _)| *condition));
        let named = parameters.iter().chain(persistent_state).map(|named| named.var);
        let aliases = aliases.iter().map(|(_, var)| *var);
        let contracts = contracts.iter().flat_map(|contract| [contract.var, contract.condition]);
        let aliases = aliases.chain(contracts);
        inputs.iter().chain(outputs).copied().chain(conditions).chain(named).chain(aliases).collect()
    }

    /// Equations written from now on carry the place of `equation`.
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

    /// The shape in a single stream.
    pub fn own_shape(&self, var: VarId) -> Shape {
        let shape = self.shape(var);
        if self.is_wide(var) { Shape::new(&shape[..shape.len() - 1]) } else { shape.clone() }
    }

    /// Adds the axis of the batch.
    pub fn wide(&self, shape: &Shape) -> Shape {
        with_last(shape, self.n)
    }

    pub fn definition(&self, var: VarId) -> Option<&Equation> {
        self.definitions.get(var.index()).copied().flatten().map(|number| &self.old[number])
    }

    pub fn fresh(&mut self, ty: Type, is_wide: bool) -> VarId {
        let var = VarId::new(self.vars.len());
        self.vars.push(Var { name: None, span: self.span, ty, purpose: None });
        self.is_wide.push(is_wide);
        var
    }

    pub fn define(&mut self, out: VarId, kind: Kind) {
        self.equations.push(Equation { out, kind, span: self.span, call: self.call });
    }

    pub fn define_apply(&mut self, out: VarId, op: Op, operands: &[VarId]) {
        self.define(out, Kind::Apply(op, operands.into()));
    }

    pub fn constant(&mut self, constant: Constant, ty: Type) -> VarId {
        let out = self.fresh(ty, false);
        self.define(out, Kind::Const(constant));
        out
    }

    /// Applies an operation and returns its result, a fresh variable.
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

    pub fn reshaped(&mut self, var: VarId, shape: &Shape) -> VarId {
        if self.shape(var) == shape { var } else { self.apply(Op::Reshape(shape.clone()), &[var]) }
    }

    /// Returns a wide version of a variable: a shared one is repeated for each stream.
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
        // A constant stays a constant, so that later passes recognise zeros.
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

    /// Returns a variable as an operand of broadcasting: a shared one gets a last axis of size 1, unless it
    /// is a scalar.
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

/// Renames the variables outside of equations; drops the clocks and tape entries of those in `removed`.
fn renamed(mut flow: Flow, removed: &FxHashSet<VarId>, rename: &impl Fn(VarId) -> VarId) -> Flow {
    flow.clocks.retain(|clock| !removed.contains(&clock.var));
    flow.tape.retain(|var| !removed.contains(var));
    for clock in &mut flow.clocks {
        clock.var = rename(clock.var);
        clock.conditions.iter_mut().for_each(|(condition, _)| *condition = rename(*condition));
    }
    let named = flow.parameters.iter_mut().chain(&mut flow.persistent_state).map(|named| &mut named.var);
    let others = flow.inputs.iter_mut().chain(&mut flow.outputs).chain(&mut flow.tape);
    let aliases = flow.aliases.iter_mut().map(|(_, var)| var);
    let contracts = flow.contracts.iter_mut().flat_map(|one| [&mut one.var, &mut one.condition]);
    named.chain(others).chain(aliases).chain(contracts).for_each(|var| *var = rename(*var));
    flow
}

pub(crate) fn with_last(shape: &Shape, size: usize) -> Shape {
    let mut sizes = shape.to_vec();
    sizes.push(size);
    Shape::from(sizes)
}
