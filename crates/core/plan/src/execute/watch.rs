//! The common state of several delays after the last activation at which all of them are known.
//!
//! The delays of a loop have different lags: after iteration `t` a delay of lag ℓ holds its state after
//! activation `t − ℓ`. So their state after *one* activation is collected from several iterations:
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

/// The watched delays and their state.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    delays: Vec<Delay>,
    max_lag: usize,
    /// The state of the delays after each of the last iterations, newest last.
    recent: VecDeque<Vec<Option<Cell>>>,
    known: Option<Vec<Option<Value>>>,
}

#[derive(Clone, Copy, Debug)]
struct Delay {
    fby: VarId,
    /// The stream whose ring holds its value; `None` if it has a register.
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

    /// Records the state after an iteration.
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
        // Takes the values of all delays or of none: states after different activations must not be mixed.
        let values: Option<Vec<Option<Value>>> = self.delays.iter().enumerate().map(value).collect();
        if values.is_some() {
            self.known = values;
        }
    }

    /// The state of the delays after the last activation at which all are known; `None` for a delay that was
    /// never active.
    pub fn known(&self) -> Option<&[Option<Value>]> {
        self.known.as_deref()
    }
}
