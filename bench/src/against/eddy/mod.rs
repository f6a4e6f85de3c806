//! Eddy's side of the comparison: programs of `bench/programs`, compiled to C and called in this process.
//!
//! [`case`] says what a workload is for Eddy, [`ready`] makes it a program with its parameters, [`compiled`] measures it, and
//! `simulated` is the reference that small sizes are checked with.

pub mod case;
pub mod compiled;
pub mod ready;
#[cfg(test)]
mod simulated;

use super::Side;
use super::workload::Workload;

/// Eddy's side of a workload; or why there is none.
pub fn side(workload: Workload, seconds: f64) -> Result<Box<dyn Side>, String> {
    Ok(Box::new(compiled::Compiled::new(workload, seconds)?))
}
