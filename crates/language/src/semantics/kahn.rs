//! The Kahn semantics (Appendix A; Figures 26 and 27): streams are lists without absence.
//!
//! It demonstrates why lists do not suffice: `post` drops the head of a list, so a program that looks ahead
//! through a `merge` waits for itself, and its output stays empty.

use eddy_tensor::{EvalError, Value};

use crate::flow::{Equation, Flow, Kind, Polarity, VarId};

#[derive(Clone, Debug, PartialEq)]
pub enum KahnError {
    /// `fby back` depends on the end of the trace, which lists do not have.
    FbyBack {
        /// The index of the equation.
        equation: usize,
    },
    /// An operation has no value.
    Operation {
        /// The index of the equation.
        equation: usize,
        /// The position in the list.
        position: usize,
        error: EvalError,
    },
}

/// The lists of all streams: the least fixpoint, truncated to the length of the trace.
pub fn lists(
    flow: &Flow,
    inputs: &[Vec<Value>],
    n_cycles: usize,
    seed: u64,
) -> Result<Vec<Vec<Value>>, KahnError> {
    let mut lists: Vec<Vec<Value>> = vec![Vec::new(); flow.vars.len()];
    for (input, list) in flow.inputs.iter().zip(inputs) {
        lists[input.index()].clone_from(list);
    }
    loop {
        let mut has_grown = false;
        for (number, equation) in flow.equations.iter().enumerate() {
            let mut list = transformed(flow, number, equation, &lists, n_cycles, seed)?;
            list.truncate(n_cycles);
            // Lists only grow, because each transformer is monotone in the prefix order.
            has_grown |= list.len() > lists[equation.out.index()].len();
            lists[equation.out.index()] = list;
        }
        if !has_grown {
            return Ok(lists);
        }
    }
}

/// Figure 27: the list of an equation's stream, from those of its operands.
fn transformed(
    flow: &Flow,
    number: usize,
    equation: &Equation,
    lists: &[Vec<Value>],
    n_cycles: usize,
    seed: u64,
) -> Result<Vec<Value>, KahnError> {
    let list = |var: &VarId| &lists[var.index()];
    Ok(match &equation.kind {
        Kind::Const(constant) => vec![constant.value(&flow.var(equation.out).ty, seed); n_cycles],
        Kind::Apply(op, operands) => {
            let length = operands.iter().map(|operand| list(operand).len()).min().unwrap_or(0);
            let value = |position: usize| {
                let values: Vec<&Value> = operands.iter().map(|operand| &list(operand)[position]).collect();
                op.eval(&values).map_err(|error| KahnError::Operation { equation: number, position, error })
            };
            (0..length).map(value).collect::<Result<_, _>>()?
        }
        Kind::Param(operand) => list(operand).clone(),
        Kind::When { value, condition, polarity } => {
            let pairs = list(value).iter().zip(list(condition));
            let is_chosen = |condition: &Value| condition.as_bool() == Some(*polarity == Polarity::On);
            pairs.filter(|(_, condition)| is_chosen(condition)).map(|(value, _)| value.clone()).collect()
        }
        Kind::Merge { condition, yes, no } => {
            let (mut yes, mut no) = (list(yes).iter(), list(no).iter());
            let next =
                |condition: &Value| if condition.as_bool() == Some(true) { yes.next() } else { no.next() };
            list(condition).iter().map_while(next).cloned().collect()
        }
        Kind::Fby { init, next } => match list(init).first() {
            Some(first) => [first].into_iter().chain(list(next)).cloned().collect(),
            None => Vec::new(),
        },
        Kind::Post(operand) => list(operand).iter().skip(1).cloned().collect(),
        Kind::FbyBack { .. } => return Err(KahnError::FbyBack { equation: number }),
    })
}
