//! The laws of planning (section 16 of its specification), tried on generated programs, and the golden plans (section 15).
//!
//! * [`generated`]: programs and traces, shared with the laws of the semantics; [`samples`](samples): which of them are tried, and what
//!   differentiation makes of them; [`run`](run): plans that are executed.
//! * the laws: [`agreement`](agreement) and [`benches`](benches) (L1, L2), [`mutants`](mutants) (L3), [`sharing`](sharing) (L2, L3), [`bounds`](bounds) (L4, L5), [`invariance`](invariance) (L6, L7,
//!   L8) and [`checkpoints`](checkpoints) (L8), [`batch`](batch) (L9), [`knowledge`](knowledge) (L10); [`compiled`](compiled): code that is printed from plans, [`shapes`](shapes) of all kinds, [`threads`](threads) on any number of
//!   threads, [`unread`](unread) equations and [`traps`](traps); [`golden`](golden): plans of programs that are known by name.

#[path = "../generated/mod.rs"]
mod generated;

mod run;
mod samples;

mod agreement;
mod batch;
mod benches;
mod bounds;
mod checkpoints;
mod compiled;
mod ends;
mod golden;
mod invariance;
mod knowledge;
mod mutants;
mod restarts;
mod shapes;
mod sharing;
mod threads;
mod traps;
mod unread;
