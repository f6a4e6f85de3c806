//! `eddy trace`: the program after each step, one line each.

use std::fmt::{self, Write};

use crate::print;
use crate::run::{Limits, RunError};
use crate::step::Configuration;
use crate::syntax::Program;

/// The default number of steps.
pub const DEFAULT_STEPS: u64 = 10_000;

/// The number of steps of a program to its value, or the reason why it has none. The printed text of terms
/// counts as memory.
pub fn count(program: &Program, limits: Limits) -> Result<u64, RunError> {
    let mut configuration = Configuration::new(program);
    let (mut steps, mut printed) = (0, 0_u64);
    loop {
        let len = configuration.terms.len();
        let whole = configuration.whole();
        printed = printed.saturating_add(configuration.terms.size(whole));
        let heap = configuration.heap.iter().map(|term| configuration.terms.size(*term));
        printed = heap.fold(printed, u64::saturating_add);
        configuration.terms.truncate(len);
        // A term takes about a hundred bytes with its data.
        if printed > limits.memory || configuration.terms.len() as u64 > limits.memory / 100 {
            return Err(RunError::Memory(limits.memory));
        }
        if !configuration.step()? {
            return Ok(steps);
        }
        if steps == limits.fuel {
            return Err(RunError::Fuel(limits.fuel));
        }
        steps += 1;
    }
}

/// The program before its first step and after each step. The program must have a value.
#[derive(Clone, Debug)]
pub struct Steps {
    configuration: Configuration,
    /// How many steps the program makes.
    pub n_steps: u64,
    /// The number of the next line.
    next: u64,
}

/// The program after a step. It prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How many steps were made.
    pub number: u64,
    /// The term, and the heap unless it is empty.
    pub text: String,
}

impl Steps {
    /// The steps of a program, of which there are `n_steps`, as [`count`] says.
    pub fn new(program: &Program, n_steps: u64) -> Steps {
        Steps { configuration: Configuration::new(program), n_steps, next: 0 }
    }
}

impl Iterator for Steps {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let number = self.next;
        if number > self.n_steps || number > 0 && self.configuration.step() != Ok(true) {
            return None;
        }
        self.next += 1;
        let len = self.configuration.terms.len();
        let whole = self.configuration.whole();
        let mut text = String::new();
        let written = print::write(&self.configuration.terms, whole, &mut text)
            .and_then(|()| write_heap(&self.configuration, &mut text));
        written.expect("a string takes all that is written");
        self.configuration.terms.truncate(len);
        Some(Line { number, text })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.number == 0 { "" } else { "--> " }, self.text)
    }
}

/// ` | [@0 = v, …]`, unless the heap is empty.
fn write_heap(configuration: &Configuration, out: &mut String) -> fmt::Result {
    for (address, value) in configuration.heap.iter().enumerate() {
        write!(out, "{}@{address} = ", if address == 0 { " | [" } else { ", " })?;
        print::write(&configuration.terms, *value, out)?;
    }
    out.write_str(if configuration.heap.is_empty() { "" } else { "]" })
}
