//! Adds booleans that say which streams are known at the end of the trace, so that a program can be compiled.
//!
//! At the last cycle of a trace `post` is unknown, and so is every value computed from it; machine code
//! computes values only. So each such stream gets a companion, a boolean that says whether it is known, and
//! `post` gets a placeholder value for the last cycle, which is never shown:
//!
//! ```text
//! a = post x        a = 0 fby back x        a_known = false fby back x_known
//! b = a + y         b = a + y               b_known = a_known and y_known
//! o = if c then b else y                    o_known = if c then b_known else true
//! ```
//!
//! This follows the semantics of unknown values, provided that the presence of streams is known.

use eddy_flow::{Constant, Equation, Flow, Kind, Var, VarId};
use eddy_language::causality::needed;
use eddy_language::clocks::{Clock, ClockId, Clocks};
use eddy_tensor::{Op, Scalar, Shape, Type, Value};

/// A program with companions.
pub struct WithCompanions {
    /// The equations; the companions of outputs are outputs too.
    pub flow: Flow,
    /// The clocks.
    pub clocks: Clocks,
    /// For each output the position of its companion among the outputs, if it may be unknown.
    pub companions: Vec<Option<usize>>,
    /// Whether all delays that outlive a trace are known at its end.
    pub is_state_known: bool,
}

/// Adds companions to all streams that may be unknown; `None` if the presence of a stream may be unknown.
pub fn add_companions(flow: &Flow, clocks: &Clocks) -> Option<WithCompanions> {
    let unknown = &may_be_unknown(flow, clocks);
    let is_condition = |clock: &Clock| match clock {
        Clock::On { condition, .. } => unknown.contains(condition),
        Clock::Root(_) => false,
    };
    if clocks.all().iter().any(is_condition) {
        return None;
    }
    let mut companion = vec![None; flow.vars.len()];
    let mut writer =
        Writer { flow: flow.clone(), of_var: flow.var_ids().map(|var| clocks.of(var)).collect() };
    for var in unknown {
        companion[var.index()] = Some(writer.var(clocks.of(*var), truth()));
    }
    for number in 0..flow.equations.len() {
        let out = flow.equations[number].out;
        if let Some(own) = companion[out.index()] {
            writer.companion(number, own, &companion);
        }
    }
    let mut companions = Vec::new();
    for output in &flow.outputs {
        companions.push(companion[output.index()].map(|own| {
            writer.flow.outputs.push(own);
            writer.flow.outputs.len() - 1
        }));
    }
    let is_state_known = flow.persistent_state.iter().all(|memory| companion[memory.var.index()].is_none());
    let Writer { flow, of_var } = writer;
    let clocks = Clocks::new(clocks.all().to_vec(), of_var, clocks.demanded().to_vec());
    Some(WithCompanions { flow, clocks, companions, is_state_known })
}

/// The needed streams that depend on a `post`.
fn may_be_unknown(flow: &Flow, clocks: &Clocks) -> Vec<VarId> {
    let is_needed = needed(flow, clocks, &flow.outputs);
    let mut readers: Vec<Vec<VarId>> = vec![Vec::new(); flow.vars.len()];
    let mut todo = Vec::new();
    for Equation { out, kind, .. } in flow.equations.iter().filter(|equation| is_needed[equation.out.index()])
    {
        kind.operands().for_each(|operand| readers[operand.index()].push(*out));
        if matches!(kind, Kind::Post(_)) {
            todo.push(*out);
        }
    }
    let mut is_unknown = vec![false; flow.vars.len()];
    while let Some(var) = todo.pop() {
        if !std::mem::replace(&mut is_unknown[var.index()], true) {
            todo.extend(&readers[var.index()]);
        }
    }
    flow.var_ids().filter(|var| is_unknown[var.index()]).collect()
}

fn truth() -> Type {
    Type { scalar: Scalar::Bool, shape: Shape::scalar() }
}

/// Equations under construction.
struct Writer {
    flow: Flow,
    of_var: Vec<ClockId>,
}

impl Writer {
    fn var(&mut self, clock: ClockId, ty: Type) -> VarId {
        let span = self.flow.vars[0].span;
        self.flow.vars.push(Var { name: None, span, ty, purpose: None });
        self.of_var.push(clock);
        VarId::new(self.flow.vars.len() - 1)
    }

    fn equation(&mut self, like: usize, out: VarId, kind: Kind) {
        let Equation { span, call, .. } = self.flow.equations[like];
        self.flow.equations.push(Equation { out, kind, span, call });
    }

    fn constant(&mut self, like: usize, clock: ClockId, value: Value) -> VarId {
        let out = self.var(clock, value.ty());
        self.equation(like, out, Kind::Const(Constant::Value(value)));
        out
    }

    /// Whether an operand is known: its companion, or true.
    fn known(&mut self, like: usize, operand: VarId, companion: &[Option<VarId>]) -> VarId {
        let clock = self.of_var[operand.index()];
        companion[operand.index()].unwrap_or_else(|| self.constant(like, clock, Value::Bool(true)))
    }

    /// The equation of a companion; `post` becomes `fby back`.
    fn companion(&mut self, number: usize, own: VarId, companion: &[Option<VarId>]) {
        let Equation { out, kind, .. } = self.flow.equations[number].clone();
        let clock = self.of_var[out.index()];
        let kind = match kind {
            Kind::Const(_) => Kind::Const(Constant::Bool(true)),
            Kind::Apply(Op::If, operands) => {
                let [condition, yes, no] = *operands else { unreachable!("`if` has three operands") };
                let [yes, no] = [yes, no].map(|branch| self.known(number, branch, companion));
                self.chosen(number, (condition, companion), |condition| {
                    Kind::Apply(Op::If, Box::new([condition, yes, no]))
                })
            }
            Kind::Merge { condition, yes, no } => {
                let [yes, no] = [yes, no].map(|branch| self.known(number, branch, companion));
                self.chosen(number, (condition, companion), |condition| Kind::Merge { condition, yes, no })
            }
            Kind::Apply(_, operands) => {
                let known: Vec<VarId> =
                    operands.iter().filter_map(|operand| companion[operand.index()]).collect();
                self.all(number, clock, &known)
            }
            Kind::When { value, condition, polarity } => {
                Kind::When { value: self.known(number, value, companion), condition, polarity }
            }
            Kind::Fby { init, next } => {
                let [init, next] = [init, next].map(|operand| self.known(number, operand, companion));
                Kind::Fby { init, next }
            }
            Kind::FbyBack { init, next } => {
                let [init, next] = [init, next].map(|operand| self.known(number, operand, companion));
                Kind::FbyBack { init, next }
            }
            Kind::Post(next) => {
                let anything = Value::zeros(&self.flow.vars[out.index()].ty);
                let init = self.constant(number, clock, anything);
                self.flow.equations[number].kind = Kind::FbyBack { init, next };
                let init = self.constant(number, clock, Value::Bool(false));
                Kind::FbyBack { init, next: self.known(number, next, companion) }
            }
            Kind::Param(operand) => {
                let known = self.known(number, operand, companion);
                Kind::Apply(Op::Copy, Box::new([known]))
            }
        };
        self.equation(number, own, kind);
    }

    /// A choice is known if its condition and the branch that it takes are.
    fn chosen(
        &mut self,
        number: usize,
        (condition, companion): (VarId, &[Option<VarId>]),
        choice: impl FnOnce(VarId) -> Kind,
    ) -> Kind {
        let Some(known) = companion[condition.index()] else { return choice(condition) };
        let branch = self.var(self.of_var[condition.index()], truth());
        self.equation(number, branch, choice(condition));
        Kind::Apply(Op::And, Box::new([known, branch]))
    }

    /// Whether all of these are known.
    fn all(&mut self, number: usize, clock: ClockId, known: &[VarId]) -> Kind {
        let [first, middle @ .., last] = known else {
            return known
                .first()
                .map_or(Kind::Const(Constant::Bool(true)), |one| Kind::Apply(Op::Copy, Box::new([*one])));
        };
        let mut both = *first;
        for one in middle {
            let out = self.var(clock, truth());
            self.equation(number, out, Kind::Apply(Op::And, Box::new([both, *one])));
            both = out;
        }
        Kind::Apply(Op::And, Box::new([both, *last]))
    }
}
