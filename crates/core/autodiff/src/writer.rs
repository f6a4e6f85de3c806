//! Writes equations; the derivatives of operations are formulas over it.

use std::collections::BTreeSet;

use eddy_flow::{
    Call, ClockAnnotation, Constant, Equation, Kind, Name, Named, Polarity, Purpose, Role, Var, VarId,
};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Algebra, Op, Scalar, Shape, Slot, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::body::Body;
use crate::expand::Gradients;
use crate::section::Pair;

/// The streams of a program, and the equations written for a section.
pub(crate) struct Writer {
    pub vars: Vec<Var>,
    /// The declared clocks.
    pub clocks: Vec<ClockAnnotation>,
    /// The instances of the equations, for messages.
    pub calls: Vec<Call>,
    /// The equations written so far.
    pub body: Body,
    /// The span of new equations, for messages.
    span: Span,
    /// The instance of new equations.
    call: Option<usize>,
    /// The stream that new equations are synthesised for, and their relation to it.
    about: Option<VarId>,
    pub role: Role,
    /// Parameters that became state.
    pub learnt: Vec<Named>,
    /// Warnings for the user.
    pub warnings: Vec<Diagnostic>,
    /// Streams whose values a backward pass reads.
    pub tape: BTreeSet<VarId>,
    /// Parameters that are held over a sequence: one value, for any length.
    pub held: FxHashSet<VarId>,
    /// For streams whose equation was a delay and is now a choice, the delay that keeps their state.
    pub delays: FxHashMap<VarId, VarId>,
    /// How the gradients of parameters are passed on, and the gradients with streams of their own.
    gradients: Gradients,
    pub handed: Vec<VarId>,
    names: FxHashSet<Name>,
}

impl Writer {
    pub fn new(vars: Vec<Var>, clocks: Vec<ClockAnnotation>, calls: Vec<Call>, gradients: Gradients) -> Self {
        let names = vars.iter().filter_map(|var| var.name.clone()).collect();
        Writer {
            vars,
            clocks,
            calls,
            body: Body::default(),
            span: Span::default(),
            call: None,
            about: None,
            role: Role::Derivative,
            learnt: Vec::new(),
            warnings: Vec::new(),
            tape: BTreeSet::new(),
            held: FxHashSet::default(),
            delays: FxHashMap::default(),
            gradients,
            handed: Vec::new(),
            names,
        }
    }

    /// New equations belong to this equation.
    pub fn at_equation(&mut self, equation: &Equation) {
        (self.span, self.call, self.about) = (equation.span, equation.call, Some(equation.out));
    }

    /// New equations belong to this stream.
    pub fn at_stream(&mut self, var: VarId) {
        self.at(self.vars[var.index()].span);
        self.about = Some(var);
    }

    /// New equations belong to this span.
    pub fn at(&mut self, span: Span) {
        (self.span, self.call, self.about) = (span, None, None);
    }

    pub fn ty(&self, var: VarId) -> &Type {
        &self.vars[var.index()].ty
    }

    pub fn is_num(&self, var: VarId) -> bool {
        self.ty(var).scalar == Scalar::Num
    }

    /// A new stream without an equation.
    pub fn fresh(&mut self, ty: Type) -> VarId {
        self.var(None, ty)
    }

    /// A new stream for the cotangent (`d'`) or tangent (`t'`) of a stream, named after it.
    pub fn derivative(&mut self, prefix: &str, of: VarId) -> VarId {
        let Var { name, ty, .. } = &self.vars[of.index()];
        let name = name.as_ref().map(|name| name.path().name(format!("{prefix}{}", name.word())));
        let ty = ty.clone();
        let var = self.var(name, ty);
        self.vars[var.index()].purpose = Some(Purpose { of, role: Role::Derivative });
        var
    }

    /// A new stream; if the name is taken, `'` is appended.
    pub fn var(&mut self, name: Option<Name>, ty: Type) -> VarId {
        let name = name.map(|mut name| {
            while !self.names.insert(name.clone()) {
                name = name.with_prime();
            }
            name
        });
        let var = VarId::new(self.vars.len());
        let purpose = self.about.map(|of| Purpose { of, role: self.role });
        self.vars.push(Var { name, span: self.span, ty, purpose });
        var
    }

    /// Writes the equation of a stream.
    pub fn define(&mut self, out: VarId, kind: Kind) {
        self.body.equations.push(Equation { out, kind, span: self.span, call: self.call });
    }

    /// Writes an equation of a new stream.
    pub fn write(&mut self, kind: Kind, ty: Type) -> VarId {
        let out = self.fresh(ty);
        self.define(out, kind);
        out
    }

    /// The constant zero, which depends on nothing and is present whenever it is needed.
    pub fn zero(&mut self, ty: Type) -> VarId {
        self.write(Kind::Const(Constant::Zero), ty)
    }

    /// Zero of the type of a stream.
    pub fn zero_like(&mut self, var: VarId) -> VarId {
        let ty = self.ty(var).clone();
        self.zero(ty)
    }

    /// Defines a stream as zero on the clock of another one, without waiting for its value.
    pub fn define_zero(&mut self, out: VarId, like: VarId) {
        let (truth, zero) = (self.truth(true), self.zero_like(like));
        self.define(out, Kind::Apply(Op::If, Box::new([truth, zero, like])));
    }

    /// The stream `value` on the clock of `other`, which has the same type. Only a constant changes, as it
    /// has no clock of its own: `if true then k else x` is present when x is, and does not wait for its
    /// value.
    pub fn on_clock_of(&mut self, value: VarId, other: VarId) -> VarId {
        let is_constant = self.body.equations.iter().rev().find(|equation| equation.out == value);
        if is_constant.is_some_and(|equation| matches!(equation.kind, Kind::Const(_))) {
            let truth = self.truth(true);
            self.select(truth, value, other)
        } else {
            value
        }
    }

    /// Puts a derivative that is an input on the clock of its stream. Linear equations would not do so: they
    /// never read the stream. The new equation has no readers, and does not wait for the value of the stream.
    pub fn synchronise(&mut self, pair: Pair) {
        let truth = self.truth(true);
        self.select(truth, pair.derivative, pair.primal);
    }

    /// Defines a stream as a copy of another one.
    pub fn define_copy(&mut self, out: VarId, value: VarId) {
        self.define(out, Kind::Apply(Op::Copy, Box::new([value])));
    }

    /// The stream whose equation is the gradient of a parameter, where an optimiser reads `wanted`: that
    /// stream itself, or one of which it is a copy.
    pub fn computed(&mut self, wanted: VarId) -> VarId {
        match self.gradients {
            Gradients::Direct => wanted,
            Gradients::Copied { .. } => {
                let ty = self.ty(wanted).clone();
                self.fresh(ty)
            }
        }
    }

    /// Passes a gradient to the optimiser of a parameter.
    pub fn hand_over(&mut self, wanted: VarId, computed: VarId) {
        if wanted != computed {
            self.define_copy(wanted, computed);
            self.handed.push(wanted);
        }
    }

    /// Whether some of these equations pass gradients to optimisers.
    pub fn has_handed_over(&self, body: &Body) -> bool {
        !self.handed.is_empty() && body.equations.iter().any(|equation| self.handed.contains(&equation.out))
    }

    /// Passes on a gradient for which the optimiser has no reserved stream; returns the stream that it reads.
    /// Here the cotangents come from inputs, so this gradient is scaled here.
    pub fn handed_over(&mut self, computed: VarId) -> VarId {
        let wanted = self.computed(computed);
        self.hand_over(wanted, computed);
        let weight = self.weight();
        if weight == 1.0 {
            return wanted;
        }
        let weight = self.constant(weight);
        self.apply(Op::Mul, &[weight, wanted])
    }

    /// The weight of each of the losses that are minimised together.
    #[allow(clippy::cast_precision_loss, clippy::float_cmp)] // there are fewer than 2^28 of them; 1 is exact
    pub fn weight(&self) -> f64 {
        match self.gradients {
            Gradients::Direct => 1.0,
            Gradients::Copied { n_losses } => 1.0 / n_losses as f64,
        }
    }

    pub fn truth(&mut self, truth: bool) -> VarId {
        self.write(Kind::Const(Constant::Bool(truth)), Type { scalar: Scalar::Bool, shape: Shape::scalar() })
    }

    /// `if c then yes else no`.
    pub fn select(&mut self, condition: VarId, yes: VarId, no: VarId) -> VarId {
        self.apply(Op::If, &[condition, yes, no])
    }

    pub fn merge(&mut self, condition: VarId, yes: VarId, no: VarId) -> VarId {
        let ty = self.ty(yes).clone();
        self.write(Kind::Merge { condition, yes, no }, ty)
    }

    pub fn when(&mut self, value: VarId, condition: VarId, polarity: Polarity) -> VarId {
        let ty = self.ty(value).clone();
        self.write(Kind::When { value, condition, polarity }, ty)
    }

    pub fn fby(&mut self, init: VarId, next: VarId) -> VarId {
        let ty = self.ty(next).clone();
        self.write(Kind::Fby { init, next }, ty)
    }

    pub fn fby_back(&mut self, init: VarId, next: VarId) -> VarId {
        let ty = self.ty(next).clone();
        self.write(Kind::FbyBack { init, next }, ty)
    }

    /// `merge c x 0`, or `merge c 0 x` for `not c`.
    pub fn padded(&mut self, value: VarId, condition: VarId, polarity: Polarity) -> VarId {
        let zero = self.zero_like(value);
        match polarity {
            Polarity::On => self.merge(condition, value, zero),
            Polarity::OnNot => self.merge(condition, zero, value),
        }
    }
}

impl Writer {
    /// The result of this operation on these operands, if it was written recently.
    fn applied_before(&self, op: &Op, operands: &[VarId]) -> Option<VarId> {
        // Between the cotangents of two operands there are at most a slice, a reshape and an addition.
        let recent = self.body.equations.iter().rev().take(4 * operands.len() + 4);
        let is_same =
            |kind: &Kind| matches!(kind, Kind::Apply(other, vars) if other == op && **vars == *operands);
        recent.filter(|equation| is_same(&equation.kind)).map(|equation| equation.out).next()
    }
}

impl Algebra for Writer {
    type Value = VarId;

    fn apply(&mut self, op: Op, operands: &[VarId]) -> VarId {
        // The cotangents of all operands of a function are slices of one result, which is computed once.
        if let Op::Call(_) = op
            && let Some(same) = self.applied_before(&op, operands)
        {
            return same;
        }
        let shapes: Vec<&Shape> = operands.iter().map(|operand| &self.ty(*operand).shape).collect();
        let shape = op.shape(&shapes).expect("derivatives of well-shaped operations are well-shaped");
        let signature = op.signature();
        let scalar = match signature.result {
            Slot::Is(scalar) => scalar,
            Slot::Alpha | Slot::Free => {
                let is_alpha = |index: &usize| signature.operand(*index) == Slot::Alpha;
                let first = (0..operands.len()).find(is_alpha).expect("α is the type of an operand");
                self.ty(operands[first]).scalar
            }
        };
        self.write(Kind::Apply(op, operands.into()), Type { scalar, shape })
    }

    fn constant(&mut self, value: f64) -> VarId {
        let ty = Type { scalar: Scalar::Num, shape: Shape::scalar() };
        self.write(Kind::Const(Constant::Num(value)), ty)
    }

    fn shape(&self, value: &VarId) -> Shape {
        self.ty(*value).shape.clone()
    }

    fn zeros(&mut self, shape: &Shape) -> VarId {
        self.zero(Type { scalar: Scalar::Num, shape: shape.clone() })
    }
}
