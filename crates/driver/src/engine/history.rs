//! What compiled code remembered some cycles ago.
//!
//! Where something must be known about later cycles before a window can run, the loop that finds it out is
//! ahead of the windows. Who takes over starts with a window, and wants to know what delays of that loop
//! remembered there.

use std::collections::VecDeque;

use eddy_compile::emit::{DelayState, Emitted, Shape};
use eddy_compile::machine::Machine;
use eddy_flow::VarId;
use eddy_tensor::Value;

/// The values of some delays, after each of the last iterations.
pub struct History {
    /// How much later windows run than they end.
    lag: usize,
    delays: Vec<VarId>,
    /// After so many iterations, the value of each delay.
    values: VecDeque<(usize, Vec<Option<Value>>)>,
}

impl History {
    /// Before the first iteration.
    pub fn new(emitted: &Emitted) -> History {
        let lag = match emitted.shape {
            Shape::Windows { lag, .. } => lag,
            _ => 0,
        };
        let delays = emitted.delay_states.iter().filter(|memory| lag > 0 && memory.lag.is_some());
        History { lag, delays: delays.map(|memory| memory.fby).collect(), values: VecDeque::new() }
    }

    /// The program made a step.
    pub fn step(&mut self, machine: &Machine) {
        if self.delays.is_empty() || self.values.back().is_some_and(|(last, _)| *last == machine.iteration())
        {
            return;
        }
        let values = self.delays.iter().map(|fby| machine.delay_state(*fby)).collect();
        self.values.push_back((machine.iteration(), values));
        if self.values.len() > self.lag + 1 {
            self.values.pop_front();
        }
    }

    /// What a delay was to be at the first cycle whose outputs are not known: there the next window starts.
    pub fn value(&self, machine: &Machine, memory: &DelayState) -> Option<Value> {
        let (Some(lag), Some(delay)) = (memory.lag, self.delays.iter().position(|fby| *fby == memory.fby))
        else {
            return machine.delay_state(memory.fby);
        };
        // After some iterations, a delay that is late is where windows are after more of them.
        let asked = machine.iteration().checked_sub(self.lag - lag);
        let entry = asked.and_then(|asked| self.values.iter().find(|(iteration, _)| *iteration == asked));
        match entry {
            Some((_, values)) => values[delay].clone(),
            None => machine.delay_state(memory.fby),
        }
    }
}
