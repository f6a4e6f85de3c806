//! What some delays remember after the last activation at which all of them are known.
//!
//! Delays of a loop are late by different numbers of iterations: after iteration `t` a delay of lag ℓ remembers activation `t − ℓ`. So what
//! they remember after *one* activation is collected from several iterations:
//!
//! ```text
//! iteration                 3   4   5        lag 0: count   lag 1: p
//! count after activation    3   4   5
//! p after activation        2   3   4        after activation 4: count of iteration 4, p of iteration 5
//! ```

use std::collections::VecDeque;

use eddy_flow::VarId;
use eddy_tensor::Value;
use rustc_hash::FxHashMap;

use super::cell::Cell;
use super::late::LateRun;
use crate::plan::{Lagged, Late, Right};

/// Delays whose state is wanted, and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    delays: Vec<Delay>,
    max_lag: usize,
    /// What the delays held after each of the last iterations, the newest at the end.
    recent: VecDeque<Vec<Option<Cell>>>,
    known: Option<Vec<Option<Value>>>,
}

#[derive(Clone, Copy, Debug)]
struct Delay {
    fby: VarId,
    /// The stream whose ring holds its value; without one, it has a register.
    ring: Option<VarId>,
    lag: usize,
}

impl Watch {
    /// Watches delays of a loop from its last iteration on.
    pub fn new(lagged: &Lagged, fbys: &[VarId], run: &LateRun) -> Watch {
        let body: FxHashMap<VarId, &Late> =
            lagged.body.iter().map(|late| (late.instruction.var, late)).collect();
        let delay = |fby: &VarId| match body.get(fby) {
            Some(Late { instruction, lag }) => match &instruction.right {
                Right::Previous { next, .. } => {
                    let lag = body.get(&next.var()).map_or(0, |next| next.lag);
                    Delay { fby: *fby, ring: Some(next.var()), lag }
                }
                _ => Delay { fby: *fby, ring: None, lag: *lag },
            },
            None => Delay { fby: *fby, ring: None, lag: 0 },
        };
        let delays: Vec<Delay> = fbys.iter().map(delay).collect();
        let max_lag = delays.iter().map(|delay| delay.lag).max().unwrap_or(0);
        let mut watch = Watch { delays, max_lag, recent: VecDeque::new(), known: None };
        watch.look(run);
        watch
    }

    /// An iteration is over.
    pub fn look(&mut self, run: &LateRun) {
        let cell = |delay: &Delay| run.remembered(delay.fby, delay.ring).cloned();
        self.recent.push_back(self.delays.iter().map(cell).collect());
        if self.recent.len() > self.max_lag + 1 {
            self.recent.pop_front();
        }
        let newest = self.recent.len() - 1;
        let value = |(number, delay): (usize, &Delay)| {
            let iteration = newest.checked_sub(self.max_lag - delay.lag)?;
            match &self.recent[iteration][number] {
                None => Some(None),
                Some(Cell::Value(value)) => Some(Some(value.clone())),
                Some(_) => None,
            }
        };
        // All or nothing: numbers of different activations do not belong together.
        let values: Option<Vec<Option<Value>>> = self.delays.iter().enumerate().map(value).collect();
        if values.is_some() {
            self.known = values;
        }
    }

    /// What the delays remember after the last activation at which all are known; a delay that was never active has no value.
    pub fn known(&self) -> Option<&[Option<Value>]> {
        self.known.as_deref()
    }
}
