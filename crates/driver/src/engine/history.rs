//! The state of compiled code some cycles ago.
//!
//! If a window needs information about later cycles, the loop that computes this information runs ahead of
//! the windows. A takeover starts at the beginning of a window and needs the state of that loop's delays at
//! that cycle.

use std::collections::VecDeque;

use eddy_compile::emit::{DelayState, Emitted, Shape};
use eddy_compile::machine::Machine;
use eddy_flow::VarId;
use eddy_tensor::Value;

/// The values of some delays, after each of the last iterations.
pub struct History {
    /// The number of iterations between the end of a window and its run.
    lag: usize,
    delays: Vec<VarId>,
    /// After each of the last iterations, its number and the value of each delay.
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

    /// Records the state after a step of the program.
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

    /// The value of a delay at the first cycle with unknown outputs, where the next window starts.
    pub fn value(&self, machine: &Machine, memory: &DelayState) -> Option<Value> {
        let (Some(lag), Some(delay)) = (memory.lag, self.delays.iter().position(|fby| *fby == memory.fby))
        else {
            return machine.delay_state(memory.fby);
        };
        // For a delay with this lag, the loop was at the cycle of the windows `self.lag - lag` iterations
        // ago.
        let asked = machine.iteration().checked_sub(self.lag - lag);
        let entry = asked.and_then(|asked| self.values.iter().find(|(iteration, _)| *iteration == asked));
        match entry {
            Some((_, values)) => values[delay].clone(),
            None => machine.delay_state(memory.fby),
        }
    }
}
