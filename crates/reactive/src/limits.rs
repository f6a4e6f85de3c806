//! How large a program may become: how many equations once its nodes are inlined, and how many bytes the values of one cycle take.
//!
//! Both limits can be set, by `--equations` and `--memory`. Instances of instances multiply, and so do tensors that are joined with
//! themselves: a program of a page can be larger than any machine. It is refused before it is made.

use eddy_syntax::{Diagnostic, Span};

use crate::codes;
use crate::flow::Flow;

/// What a program may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many equations it may have once its nodes are inlined.
    pub equations: usize,
    /// How many bytes the values of one cycle may take.
    pub memory: u64,
}

impl Default for Limits {
    /// Equations: about 2 GiB while a program is checked. Memory: more than most machines have for one program.
    fn default() -> Limits {
        Limits { equations: 1 << 21, memory: 16 << 30 }
    }
}

/// What an equation takes while a program is checked and planned, in bytes: 0.3 KiB were measured in elaboration, and each later phase
/// has tables of its own.
const EQUATION: u64 = 1 << 10;

impl Limits {
    /// The limits that were asked for. A limit of memory bounds the equations too.
    pub fn new(equations: Option<u64>, memory: Option<u64>) -> Limits {
        let default = Limits::default();
        let by_memory = memory.map_or(u64::MAX, |bytes| (bytes / EQUATION).max(1));
        let equations = equations.unwrap_or((default.equations as u64).min(by_memory));
        Limits {
            equations: usize::try_from(equations).unwrap_or(usize::MAX),
            memory: memory.unwrap_or(default.memory),
        }
    }

    /// Whether the values of one cycle fit.
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
        let title = format!(
            "the values of one cycle take {} MiB, and {} MiB are allowed",
            all >> 20,
            self.memory >> 20
        );
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
