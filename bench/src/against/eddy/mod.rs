//! Eddy's side of the comparison: programs of `bench/programs`, compiled to C and called in this process.
//!
//! [`case`] defines each workload for Eddy, [`ready`] prepares a program with its parameters, [`compiled`]
//! measures it, and `simulated` is the reference for small sizes.

pub mod case;
pub mod compiled;
pub mod ready;
#[cfg(test)]
mod simulated;

use super::Side;
use super::workload::Workload;

/// Eddy's side of a workload; an error says why there is none.
pub fn side(workload: Workload, seconds: f64) -> Result<Box<dyn Side>, String> {
    Ok(Box::new(compiled::Compiled::new(workload, seconds)?))
}
