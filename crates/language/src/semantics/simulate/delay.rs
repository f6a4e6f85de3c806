//! `fby`, `fby back` and `post` (Definitions 9 and 10): equations that read the neighbouring activation.
//!
//! At a cycle where its stream is present, a delay needs the nearest earlier, or later, cycle where it is
//! present too. It skips cycles where the stream is absent and stops at the first cycle that is not decided:
//! where the stream may be present, or is present with an operand whose value is unknown. There it stores its
//! own cycle as the *waiter*, and it is scheduled again when the delay runs at that cycle. A search never
//! turns back, and no two searches of one delay stop at the same cycle, so each absent cycle is skipped once.

use super::window::{Knowledge, NOTHING};
use super::{Past, Simulation};
use crate::flow::{Kind, VarId};
use crate::semantics::Cell;

impl Simulation<'_> {
    /// Definition 9. The streams are o, i and x of `o = i fby x`.
    pub(super) fn fby(&mut self, cycle: u64, equation: usize, [out, init, next]: [VarId; 3]) {
        let delay = self.tables.delay(equation);
        self.synchronise(cycle, &[out, init, next]);
        self.wake(cycle, delay, equation, [out, next]);
        if *self.cell(cycle, out) != Cell::Present {
            return;
        }
        let mut at = self.window.search(cycle, delay).at;
        let found = loop {
            if at <= self.window.first() {
                // o is □ at all earlier open cycles: its value is the one saved from the released cycles, or
                // else that of i.
                break match &self.past[delay] {
                    Past::Value(value) => Cell::Value(value.clone()),
                    Past::None => self.cell(cycle, init).clone(),
                    Past::Forgotten => Cell::Unknown,
                };
            }
            match self.cell(at - 1, out) {
                Cell::Absent => at -= 1,
                Cell::Unknown => {
                    self.wait(at - 1, cycle, delay, [out, next]);
                    break Cell::Unknown;
                }
                Cell::Present | Cell::Value(_) | Cell::Error => {
                    self.wait(at - 1, cycle, delay, [out, next]);
                    break self.cell(at - 1, next).clone();
                }
            }
        };
        self.window.search(cycle, delay).at = at;
        if let Cell::Value(_) | Cell::Present = found {
            self.join(cycle, out, &found);
        }
    }

    /// Definition 10 for `o = i fby back x`; `post` is the same without an initial value: at its last
    /// activation the output stays `?`.
    pub(super) fn fby_back_or_post(
        &mut self,
        cycle: u64,
        equation: usize,
        out: VarId,
        next: VarId,
        init: Option<VarId>,
    ) {
        let delay = self.tables.delay(equation);
        match init {
            Some(init) => self.synchronise(cycle, &[out, init, next]),
            None => self.synchronise(cycle, &[out, next]),
        };
        self.wake(cycle, delay, equation, [out, next]);
        if *self.cell(cycle, out) != Cell::Present {
            return;
        }
        let mut at = self.window.search(cycle, delay).at;
        let found = loop {
            if at + 1 == self.window.end() {
                self.frontier[delay] = Some(cycle);
                break match init {
                    Some(init) if self.is_ended => self.cell(cycle, init).clone(),
                    _ => Cell::Unknown,
                };
            }
            match self.cell(at + 1, out) {
                Cell::Absent => at += 1,
                Cell::Unknown => {
                    self.wait(at + 1, cycle, delay, [out, next]);
                    break Cell::Unknown;
                }
                Cell::Present | Cell::Value(_) | Cell::Error => {
                    self.wait(at + 1, cycle, delay, [out, next]);
                    break self.cell(at + 1, next).clone();
                }
            }
        };
        self.window.search(cycle, delay).at = at;
        if let Cell::Value(_) | Cell::Present = found {
            self.join(cycle, out, &found);
        }
    }

    fn knowledge(&self, cycle: u64, [out, next]: [VarId; 2]) -> (Knowledge, Knowledge) {
        (Knowledge::of(self.cell(cycle, out)), Knowledge::of(self.cell(cycle, next)))
    }

    /// Stops the search from `waiter` at a cycle, and stores what is known there.
    fn wait(&mut self, cycle: u64, waiter: u64, delay: usize, streams: [VarId; 2]) {
        let seen = self.knowledge(cycle, streams);
        let search = self.window.search(cycle, delay);
        (search.waiter, search.seen) = (Some(waiter), seen);
    }

    /// Schedules the search that waits at this cycle, if more is known about the cycle than the search saw.
    fn wake(&mut self, cycle: u64, delay: usize, equation: usize, streams: [VarId; 2]) {
        let known = self.knowledge(cycle, streams);
        let search = self.window.search(cycle, delay);
        if search.seen == known {
            return;
        }
        search.seen = known;
        if let Some(waiter) = search.waiter
            && waiter >= self.window.first()
        {
            let equation = u32::try_from(equation).expect("elaboration stops before 2^32 equations");
            self.window.schedule(waiter, equation);
        }
    }

    /// Searches that stopped at the newest cycle continue in a new one, once the stream is decided there.
    pub(super) fn resume_at_frontier(&mut self, cycle: u64) {
        for delay in 0..self.frontier.len() {
            if let Some(waiter) = self.frontier[delay].take() {
                let search = self.window.search(cycle, delay);
                (search.waiter, search.seen) = (Some(waiter), NOTHING);
            }
        }
    }

    /// Schedules the searches that wait for a further cycle, since the trace has ended.
    pub(super) fn wake_frontier(&mut self) {
        for (number, equation) in self.flow.equations.iter().enumerate() {
            if let Kind::FbyBack { .. } = equation.kind
                && let Some(waiter) = self.frontier[self.tables.delay(number)]
                && waiter >= self.window.first()
            {
                let number = u32::try_from(number).expect("elaboration stops before 2^32 equations");
                self.window.schedule(waiter, number);
            }
        }
    }

    /// Saves the values of the operands of `fby` at a cycle that is about to be released.
    pub(super) fn save_operands(&mut self, cycle: u64) {
        for (number, equation) in self.flow.equations.iter().enumerate() {
            if let Kind::Fby { next, .. } = equation.kind {
                self.past[self.tables.delay(number)] = match self.cell(cycle, next) {
                    Cell::Value(value) => Past::Value(value.clone()),
                    Cell::Absent => continue,
                    Cell::Unknown | Cell::Present | Cell::Error => Past::Forgotten,
                };
            }
        }
    }
}
