//! Limits on the size of a program: the number of equations after inlining, and the bytes that the values of
//! one cycle take.
//!
//! `--equations` and `--memory` set these limits. Nested instances multiply, and a tensor that is
//! concatenated with itself doubles in size, so a program of one page can exceed any machine. Such a program
//! is rejected before it is built.

use eddy_autodiff::EquationLimit;
use eddy_syntax::{Diagnostic, Span};

use crate::codes;
use crate::flow::Flow;

/// Upper bounds on the size of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Equations after inlining.
    pub equations: usize,
    /// Bytes of all values of one cycle.
    pub memory: u64,
    /// Whether `equations` was derived from the memory limit.
    equations_by_memory: bool,
}

impl Default for Limits {
    /// Checking 2^21 equations takes about 2 GiB. 16 GiB of values are more than most machines have for one
    /// program.
    fn default() -> Limits {
        Limits { equations: 1 << 21, memory: 16 << 30, equations_by_memory: false }
    }
}

/// Bytes per equation while a program is checked and planned. Elaboration takes 0.3 KiB (measured); each
/// later phase adds tables of its own.
const BYTES_PER_EQUATION: u64 = 1 << 10;

impl Limits {
    /// Limits from the command line. A memory limit also bounds the number of equations.
    pub fn new(equations: Option<u64>, memory: Option<u64>) -> Limits {
        let default = Limits::default();
        let by_memory = memory.map_or(u64::MAX, |bytes| (bytes / BYTES_PER_EQUATION).max(1));
        let equations_by_memory = equations.is_none() && by_memory < default.equations as u64;
        let equations = equations.unwrap_or((default.equations as u64).min(by_memory));
        Limits {
            equations: usize::try_from(equations).unwrap_or(usize::MAX),
            memory: memory.unwrap_or(default.memory),
            equations_by_memory,
        }
    }

    /// The limit on equations with the help text that names the option to raise it.
    pub fn equation_limit(&self) -> EquationLimit {
        let help = if self.equations_by_memory {
            "`--memory MIB` allows 1024 equations for each mebibyte; `--equations N` sets their number alone"
        } else {
            "`--equations N` raises the limit"
        };
        EquationLimit { max: self.equations, help }
    }

    /// Fails if the values of one cycle exceed the memory limit.
    pub fn fits(&self, flow: &Flow) -> Result<(), Vec<Diagnostic>> {
        let bytes = |number: usize| {
            let elements =
                flow.vars[number].ty.shape.iter().fold(1_u64, |n, size| n.saturating_mul(*size as u64));
            elements.saturating_mul(8)
        };
        let all = (0..flow.vars.len()).fold(0_u64, |sum, number| sum.saturating_add(bytes(number)));
        if all <= self.memory {
            return Ok(());
        }
        let largest = (0..flow.vars.len()).max_by_key(|number| (bytes(*number), std::cmp::Reverse(*number)));
        let span = largest.map_or(Span::default(), |number| flow.vars[number].span);
        let title =
            format!("the values of one cycle take {} MiB; the limit is {} MiB", all >> 20, self.memory >> 20);
        let diagnostic = Diagnostic::error(codes::TOO_LARGE, span, title);
        let diagnostic = match largest {
            Some(number) => {
                diagnostic.label(format!("the largest stream has shape {}", flow.vars[number].ty.shape))
            }
            None => diagnostic,
        };
        Err(vec![diagnostic.help("`--memory MIB` raises the limit")])
    }
}
