//! `eddy trace`: the program after each step, one line each.

use std::fmt;

use eddy_language::Out;

use crate::print;
use crate::run::{Failure, Limits};
use crate::step::Configuration;
use crate::syntax::Program;

/// How many steps are traced, unless the command line says otherwise.
pub const DEFAULT_STEPS: u64 = 10_000;

/// How many steps a program makes to its value, or why it comes to none. What is printed of a term counts as memory.
pub fn steps(program: &Program, limits: Limits) -> Result<u64, Failure> {
    let mut configuration = Configuration::new(program);
    let (mut steps, mut printed) = (0, 0_u64);
    loop {
        let len = configuration.terms.len();
        let whole = configuration.whole();
        printed = printed.saturating_add(configuration.terms.size(whole));
        let heap = configuration.heap.iter().map(|term| configuration.terms.size(*term));
        printed = heap.fold(printed, u64::saturating_add);
        configuration.terms.truncate(len);
        // A term takes some hundred bytes with all that is known about it.
        if printed > limits.memory || configuration.terms.len() as u64 > limits.memory / 100 {
            return Err(Failure::Memory(limits.memory));
        }
        if !configuration.step()? {
            return Ok(steps);
        }
        if steps == limits.fuel {
            return Err(Failure::Fuel(limits.fuel));
        }
        steps += 1;
    }
}

/// Writes the terms on the way of a program to its value; there must be one.
pub fn write(program: &Program, out: Out<'_>) -> Result<(), fmt::Error> {
    let mut configuration = Configuration::new(program);
    loop {
        let len = configuration.terms.len();
        let whole = configuration.whole();
        print::write(&configuration.terms, whole, out)?;
        write_heap(&configuration, out)?;
        out.write_str("\n")?;
        configuration.terms.truncate(len);
        if configuration.step() != Ok(true) {
            return Ok(());
        }
        out.write_str("--> ")?;
    }
}

/// ` | [@0 = v, …]`, unless the heap is empty.
fn write_heap(configuration: &Configuration, out: Out<'_>) -> fmt::Result {
    for (address, value) in configuration.heap.iter().enumerate() {
        write!(out, "{}@{address} = ", if address == 0 { " | [" } else { ", " })?;
        print::write(&configuration.terms, *value, out)?;
    }
    out.write_str(if configuration.heap.is_empty() { "" } else { "]" })
}
