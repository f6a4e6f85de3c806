//! The laws of planning (section 16 of its specification) on generated programs, and the golden plans
//! (section 15).
//!
//! The reference is the simulator of `language`, which is independent of plans.
//!
//! * [`generated`]: programs and traces, shared with the laws of the semantics; [`samples`](samples): the
//!   choice of samples, and their derivatives; [`programs`](programs): named programs;
//!   [`bench_files`](bench_files): those of the file tests; [`run`](run): execution of plans.
//! * the laws: [`agreement`](agreement) and [`benches`](benches) (L1, L2), [`mutants`](mutants) (L3),
//!   [`sharing`](sharing) (L2, L3), [`bounds`](bounds) (L4, L5), [`invariance`](invariance) (L6, L7, L8) and
//!   [`checkpoints`](checkpoints) (L8), [`knowledge`](knowledge) (L10). L9 concerns batches that run, and is
//!   tested in `driver`.
//! * [`ends`](ends) and [`restarts`](restarts): error-prone cases; [`golden`](golden): plans of known
//!   programs.

#[path = "../../../../language/tests/generated/mod.rs"]
mod generated;

mod bench_files;
mod programs;
mod run;
#[allow(
    dead_code,
    reason = "only the laws of compiled code, in `driver` and `compile`, use some of the families"
)]
mod samples;

mod agreement;
mod benches;
mod bounds;
mod checkpoints;
mod ends;
mod golden;
mod invariance;
mod knowledge;
mod mutants;
mod restarts;
mod sharing;
