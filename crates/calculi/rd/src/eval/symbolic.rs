//! The redexes of symbolic evaluation (Figure 4), the context rule (Figure 5), and derivatives.

use super::context::Layer;
use super::environment::Operand;
use super::traces::eval_trace;
use super::{Block, Control, Derivative, Machine, Purpose};
use crate::outcome::Stop;
use crate::reverse::Goal;
use crate::syntax::{Term, TermId, VarId};
use crate::value::Value;

impl Machine<'_> {
    // V + W ⇝ V + W      op(V) ⇝ op(V)      fst(V) ⇝ fst(V)      snd(V) ⇝ snd(V)
    // The redex is not evaluated, and `V` is not substituted.
    pub(super) fn symbolic(&mut self, layer: Layer<Operand>, operand: &Operand) -> Result<Control, Stop> {
        let open = open_form(operand);
        let (name, redex) = match &layer {
            Layer::AddRight(left) => ("Add", Term::Add(open_form(left), open)),
            Layer::Op(op) => ("Op", Term::Op(*op, open)),
            Layer::Fst => ("Fst", Term::Fst(open)),
            Layer::Snd => ("Snd", Term::Snd(open)),
            _ => unreachable!("the other layers are handled for both judgements"),
        };
        self.rule(name, &mut || layer.redex(&operand.closed));
        let trace = self.terms.push(redex);
        self.emit(trace)
    }

    /// Adds the trace `C` of the current redex. In a trivial context `C` ends the block; otherwise `C ⇒ V`,
    /// and a fresh variable with the value `V` takes the place of the redex in the context.
    fn emit(&mut self, trace: TermId) -> Result<Control, Stop> {
        let block = self.blocks.last().expect("only symbolic evaluation emits traces");
        if block.base == self.frames.len() { self.finish_block(trace) } else { self.append(trace, trace) }
    }

    /// Appends `let x = C` to the current block. `rest` is the part of `C` that is not evaluated yet.
    fn append(&mut self, trace: TermId, rest: TermId) -> Result<Control, Stop> {
        let closed = eval_trace(&self.terms, &mut self.trace_env, rest)?;
        let var = self.terms.fresh_named("t", self.terms.ty(trace));
        self.trace_env.insert(var, closed.clone());
        self.push_let(var, trace);
        let open = Some(self.terms.variable(var));
        Ok(Control::Value(Operand { closed, open }))
    }

    fn push_let(&mut self, var: VarId, bound: TermId) {
        self.counters.recorded += 1;
        self.blocks.last_mut().expect("only symbolic evaluation writes lets").lets.push((var, bound));
    }

    /// Opens a block for the trace of a redex inside a context. Called before the sub-derivation of the
    /// redex.
    pub(super) fn open_block_unless_trivial(&mut self) {
        let Some(block) = self.blocks.last() else { return };
        if block.base != self.frames.len() {
            self.open_block(Purpose::Subterm);
        }
    }

    fn open_block(&mut self, purpose: Purpose) {
        let (base, activation) = (self.frames.len(), self.activations.len() - 1);
        self.blocks.push(Block { lets: Vec::new(), base, activation, purpose });
    }

    /// In symbolic evaluation, appends `let x' = V` with a fresh `x'` to the trace; the result has `x'` as
    /// its open form.
    pub(super) fn name_in_trace(&mut self, var: VarId, operand: Operand) -> Operand {
        let Some(open) = operand.open else { return operand };
        let copy = self.trace_name(var, &operand.closed);
        self.push_let(copy, open);
        Operand { closed: operand.closed, open: Some(self.terms.variable(copy)) }
    }

    /// A fresh variable of the trace for a variable of the program, with its value.
    fn trace_name(&mut self, var: VarId, value: &Value) -> VarId {
        let known = self.terms.var(var);
        let copy = self.terms.fresh(known.name, known.ty);
        self.trace_env.insert(copy, value.clone());
        copy
    }

    // V ⇒ V', φ|ρ[V'/x] ⊢ N ⇝ C   gives   W.rd_V(x:T.N) ⇝ W.R_V(x:T.C)
    // W.rd_V(x:T.N) ⇝ C, C ⇒ X    gives   W.rd_V(x:T.N) ⇒ X
    pub(super) fn differentiate(
        &mut self,
        point: Operand,
        cotangent: Operand,
        var: VarId,
        body: TermId,
    ) -> Control {
        self.rule("Rd", &mut || format!("at {} cotangent {}", point.closed, cotangent.closed));
        if self.is_main(var) {
            self.ties.activate();
        }
        let mark = self.terms.mark();
        let copy = self.trace_name(var, &point.closed);
        let closed = point.closed.clone();
        self.open_block(Purpose::Derivative { var: copy, point, cotangent, mark });
        let open = Some(self.terms.variable(copy));
        self.activation().rho.insert(var, Operand { closed, open });
        Control::Descend(body)
    }

    fn is_main(&self, var: VarId) -> bool {
        self.blocks.is_empty() && self.options.main.as_ref().is_some_and(|(main, _)| *main == var)
    }

    /// Completes the trace of a block with its last redex or value.
    pub(super) fn finish_block(&mut self, tail: TermId) -> Result<Control, Stop> {
        let block = self.blocks.pop().expect("a block is open");
        self.activations.truncate(block.activation + 1);
        let trace = self.terms.bind_all(&block.lets, tail);
        match block.purpose {
            // The lets are evaluated already; only the tail must be evaluated.
            Purpose::Subterm => self.append(trace, tail),
            Purpose::Derivative { var, point, cotangent, .. } if self.is_symbolic() => {
                let (point, cotangent) = (open_form(&point), open_form(&cotangent));
                let reverse = self.reverse(Goal { var, point, cotangent, body: trace })?;
                self.emit(reverse)
            }
            Purpose::Derivative { var, point, cotangent, mark } => {
                let value = self.outermost_derivative(var, &point.closed, &cotangent.closed, trace)?;
                self.trace_env.clear();
                self.terms.release(mark);
                Ok(Control::Value(Operand { closed: value, open: None }))
            }
        }
    }

    fn outermost_derivative(
        &mut self,
        var: VarId,
        point: &Value,
        cotangent: &Value,
        trace: TermId,
    ) -> Result<Value, Stop> {
        let point_term = self.terms.value_term(point);
        let cotangent_term = self.terms.value_term(cotangent);
        let goal = Goal { var, point: point_term, cotangent: cotangent_term, body: trace };
        let reverse = self.reverse(goal)?;
        let derivative =
            Derivative { terms: &self.terms, env: &self.trace_env, var, point, cotangent, trace, reverse };
        self.options.observer.derivative(&derivative);
        let value = eval_trace(&self.terms, &mut self.trace_env, reverse)?;
        self.options.observer.value(&value);
        if self.ties.has_choices() {
            self.ties.deactivate();
            let body = eval_trace(&self.terms, &mut self.trace_env, trace)?;
            if let Some((_, slot)) = &mut self.options.main {
                **slot = Some(body);
            }
        }
        self.ties.deactivate();
        Ok(value)
    }
}

fn open_form(operand: &Operand) -> TermId {
    operand.open.expect("symbolic operands have an open form")
}
