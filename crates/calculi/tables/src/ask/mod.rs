//! `eddy ask`: is this value in the meaning of the program? (section 7)
//!
//! In the declarative semantics a function is any finite table that it satisfies, and an application uses
//! *some* table that is large enough. The search does not guess that table. Instead the program runs on a
//! **mixed machine**, whose values are closures *and* finite values: a closure stands for all its tables at
//! once. Only the values of the question are finite.
//!
//! ```text
//! ask {1 -> 2} of \x. x + 1       runs to a closure; 1 -> 2 asks the body at x := 1, which runs to 2: yes
//! ask {{1 -> 2} -> 3} of \f. f 1  asks the body at f := {1 -> 2}; looking 1 up gives 2, which is not 3: no
//! ```
//!
//! * [`mixed`]: the values of the machine, their environments, stores and continuations.
//! * [`machine`]: one branch of a run. Looking up a table, allocating, and a Λ whose body has choices may
//!   branch.
//! * [`search`]: "some branch" and "all entries", three-valued, on one explicit stack.
//! * [`pending`]: pending questions. [`memory`]: the memory counted for `--memory` beyond the tables.
//! * [`reach`]: whether the body of a Λ has choices.
//!
//! *Exactness.* Write ⟦w⟧ for the values in w. Each ⟦w⟧ is downward closed and directed, hence the union of
//! `E[e]ρ` over all ρ in ⟦ϱ⟧ is the union of ⟦w⟧ over all results w of e in ϱ: ⊆ is Lemma 3.3 of the paper
//! with tables enlarged, ⊇ is induction on the run, joining the ρs that the parts need. So `yes` and `no` are
//! always right, and `unknown` appears only when a limit was reached. In `.ref` the machine is the
//! definition.

mod machine;
mod memory;
mod mixed;
mod pending;
mod reach;
mod search;

use crate::syntax::Program;
use crate::value::parse::Goal;
use crate::value::{Store, Value, ValueKind, Values};

pub(crate) use mixed::{Cell, EnvId, Mixed, NIL};
pub(crate) use search::{FoundBranch, Machine};

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Yes,
    No,
    /// A limit was reached before an answer.
    Unknown,
}

impl Answer {
    /// The printed word.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Yes => "yes",
            Answer::No => "no",
            Answer::Unknown => "unknown",
        }
    }
}

/// The limits of a question.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Applications and forcings on each branch.
    pub fuel: u64,
    /// Applications and forcings in all.
    pub steps: u64,
    /// Approximate bytes on each branch.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { fuel: 100_000, steps: 10_000_000, memory: 1 << 30 }
    }
}

/// Whether `goal` is in the meaning of a program, and the number of applications.
pub fn ask(program: &Program, goal: Goal, values: &mut Values, limits: Limits) -> (Answer, u64) {
    let mut machine = Machine::new(program, values, limits);
    machine.prepare(goal);
    let answer = machine.ask(goal);
    (answer, machine.steps())
}

/// The addresses in a goal, ascending: values and keys of stores.
fn addresses(goal: Goal, values: &Values) -> Vec<u64> {
    let mut found = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut work = vec![goal.value];
    let visit_store = |store: Store, found: &mut Vec<u64>, work: &mut Vec<Value>| {
        for (address, value) in values.cells(store) {
            found.push(*address);
            work.push(*value);
        }
    };
    if let Some(store) = goal.store {
        visit_store(store, &mut found, &mut work);
    }
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if let ValueKind::Address(address) = values.kind(value) {
            found.push(*address);
        }
        for entry in values.entries(value) {
            visit_store(entry.input.store, &mut found, &mut work);
            visit_store(entry.output.store, &mut found, &mut work);
        }
        work.extend(values.parts(value));
    }
    found.sort_unstable();
    found.dedup();
    found
}
