//! Outcomes and limits of runs, and choices at ties under `use clarke`.

use crate::operation::{Pred, Undefined};
use crate::reverse::TooLarge;
use crate::value::Value;

/// The answer of a program (section 10).
#[derive(Clone, Debug)]
pub enum Outcome {
    Value(Value),
    /// Under `use clarke`: the least and the greatest derivative, component by component.
    Interval(Value, Value),
    /// The program is undefined at this point.
    Undefined(Undefined),
    /// The program made more calls than it had fuel for.
    Diverged,
    /// The engine needed more memory than its limit.
    OutOfMemory,
}

/// Why a run stops without a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The program is undefined at this point.
    Undefined(Undefined),
    /// Out of fuel.
    Diverged,
    OutOfMemory,
}

impl From<Undefined> for Stop {
    fn from(undefined: Undefined) -> Self {
        Stop::Undefined(undefined)
    }
}

impl From<TooLarge> for Stop {
    fn from(_: TooLarge) -> Self {
        Stop::OutOfMemory
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Undefined(undefined) => Outcome::Undefined(undefined),
            Stop::Diverged => Outcome::Diverged,
            Stop::OutOfMemory => Outcome::OutOfMemory,
        }
    }
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many function calls the program may make, in either evaluation mode, each counted once.
    pub fuel: u64,
    /// How many bytes an engine may use for the program's data.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 4_000_000, memory: 4 << 30 }
    }
}

/// Counters for `--stats`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub calls: u64,
    /// Operations recorded on tapes, or lets written to traces.
    pub recorded: u64,
    /// The largest number of bytes in use.
    pub bytes: u64,
}

/// How predicates decide on equal arguments while the body of the main derivative runs under `use clarke`
/// (section 14): a script lists the choices; after its end, a predicate takes the first choice and records
/// it. Outside that body predicates are undefined on ties as usual.
#[derive(Clone, Debug, Default)]
pub struct Ties {
    script: Vec<bool>,
    n_choices: usize,
    active: bool,
}

impl Ties {
    /// The maximal number of ties on one path.
    const MAX: usize = 12;

    /// From here on, a predicate at a tie makes a choice.
    pub fn activate(&mut self) {
        self.active = true;
    }

    /// From here on, a predicate at a tie is undefined again.
    pub fn deactivate(&mut self) {
        self.active = false;
    }

    /// Whether a choice was made on this path.
    pub fn has_choices(&self) -> bool {
        self.n_choices > 0
    }

    /// `bev(pred, ⟨x,y⟩)`, or the choice at a tie.
    #[inline]
    pub fn decide(&mut self, pred: Pred, x: f64, y: f64) -> Result<bool, Undefined> {
        if x == y && self.active { self.choose(pred) } else { pred.eval(x, y) }
    }

    #[cold]
    fn choose(&mut self, pred: Pred) -> Result<bool, Undefined> {
        match pred {
            // The region of equality has no interior, so no limit of gradients comes from there.
            Pred::Eq => return Ok(false),
            Pred::Ne => return Ok(true),
            Pred::Lt | Pred::Gt | Pred::Le | Pred::Ge => {}
        }
        if self.n_choices == Ties::MAX {
            return Err(Undefined::TooManyTies);
        }
        if self.n_choices == self.script.len() {
            self.script.push(true);
        }
        self.n_choices += 1;
        Ok(self.script[self.n_choices - 1])
    }

    /// The next path in depth-first order, if one is left.
    pub fn next_path(&self) -> Option<Ties> {
        let mut script = self.script.clone();
        script.truncate(self.n_choices);
        while let Some(choice) = script.pop() {
            if choice {
                script.push(false);
                return Some(Ties { script, n_choices: 0, active: false });
            }
        }
        None
    }
}
