//! The Kahn semantics (Appendix A; Figures 26 and 27): streams are lists without absence.
//!
//! It is here to show why it does not do: in it `post` drops the head of a list, so a program that looks ahead through a
//! `merge` waits for itself and its output stays empty.

use eddy_tensor::{EvalError, Value};

use crate::flow::{Equation, Flow, Kind, Polarity, VarId};

/// Why a program has no Kahn semantics.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// `fby back` looks at the end of the trace, which lists do not have.
    FbyBack {
        /// The number of the equation.
        equation: usize,
    },
    /// An operation has no value.
    Operation {
        /// The number of the equation.
        equation: usize,
        /// The position in the list.
        position: usize,
        /// What is wrong.
        error: EvalError,
    },
}

/// The lists of all streams: the least fixpoint, cut at the length of the trace.
pub fn lists(
    flow: &Flow,
    inputs: &[Vec<Value>],
    n_cycles: usize,
    seed: u64,
) -> Result<Vec<Vec<Value>>, Failure> {
    let mut lists: Vec<Vec<Value>> = vec![Vec::new(); flow.vars.len()];
    for (input, list) in flow.inputs.iter().zip(inputs) {
        lists[input.index()].clone_from(list);
    }
    loop {
        let mut has_grown = false;
        for (number, equation) in flow.equations.iter().enumerate() {
            let mut list = transformed(flow, number, equation, &lists, n_cycles, seed)?;
            list.truncate(n_cycles);
            // Lists only grow: each transformer is monotone in the prefix order.
            has_grown |= list.len() > lists[equation.out.index()].len();
            lists[equation.out.index()] = list;
        }
        if !has_grown {
            return Ok(lists);
        }
    }
}

/// Figure 27: what an equation makes of the lists of its operands.
fn transformed(
    flow: &Flow,
    number: usize,
    equation: &Equation,
    lists: &[Vec<Value>],
    n_cycles: usize,
    seed: u64,
) -> Result<Vec<Value>, Failure> {
    let list = |var: &VarId| &lists[var.index()];
    Ok(match &equation.kind {
        Kind::Const(constant) => vec![constant.value(&flow.var(equation.out).ty, seed); n_cycles],
        Kind::Apply(op, operands) => {
            let length = operands.iter().map(|operand| list(operand).len()).min().unwrap_or(0);
            let value = |position: usize| {
                let values: Vec<&Value> = operands.iter().map(|operand| &list(operand)[position]).collect();
                op.eval(&values).map_err(|error| Failure::Operation { equation: number, position, error })
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
        Kind::FbyBack { .. } => return Err(Failure::FbyBack { equation: number }),
    })
}
