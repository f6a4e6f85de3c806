//! The compiler against the oracle of `eddy_tables::oracle`: every rewrite of a pure function preserves its
//! tables.
//!
//! A pure function is a node without memory at one cycle, or a run of any node for some cycles: from all
//! inputs to all outputs. It is evaluated in three ways ([`functions`]): by the simulator, which rewrites
//! nothing; by executing its plan; and as C. All three promise the same bits, so comparisons are exact, with
//! one exception, which the table names.
//!
//! The table lists each rewrite of the compiler with its tests: of the rewrite itself, and of a planted
//! mistake, which is caught.
//!
//! | rewrite | where | kept by | a mistake is caught by |
//! | --- | --- | --- | --- |
//! | compile-time constants are computed | `language::elaborate` | [`rewrites`] `constants_are_folded…` | [`mistakes`] `algebra…`, `other_orders…` |
//! | streams known at all cycles are folded | `plan::known` | [`rewrites`] `constants_are_folded…`, [`runs`] `what_never_changes…` | `…one_case_too_many…`, `slips…` |
//! | connectives with a known operand | `plan::known` | [`rewrites`] `planning_keeps_tables` | `algebra…` |
//! | choices with a known condition, clocks that always tick | `plan::system` | [`rewrites`] `planning_keeps_tables`, [`runs`] `what_never_changes…` | `a_wrong_result…`, `…one_case_too_many…` |
//! | copies, double negations, conditions written twice | `plan::copies` | [`rewrites`] `planning_keeps_tables`, [`runs`] `what_never_changes…` | `a_wrong_result…`, `…one_case_too_many…` |
//! | dead equations are dropped | `plan::system` | [`rewrites`] `planning_keeps_tables`; those that can fail: `planning_drops_dead…` | `dropped_and_added_traps…` |
//! | values that are equal after each restart | `plan::restarts` | [`runs`] `what_is_the_same…` | `…one_case_too_many…` |
//! | parameters and values computed from them | `plan`, `compile::emit::invariants` | [`runs`] `parameters_and…` | `slips…` |
//! | loops with lags | `plan::retime` | [`runs`] `lags…` | `…one_case_too_many…` |
//! | windows, and what is known in their zones | `plan::windows`, `derived_end`, `zones`, `sweeps` | [`runs`] `windows…` | `…one_case_too_many…` |
//! | held values | `plan::held` | [`runs`] `held_values…` | `…one_case_too_many…` |
//! | zeros that differentiation wrote are not added (but for the sign of zero) | `plan::held` | [`runs`] `added_zeros…` | `algebra…` (for other zeros) |
//! | cheap values are computed again | `plan::lower::recompute` | [`runs`] `what_is_computed_again…` | `…one_case_too_many…` |
//! | dead results are not written | `compile::lower::prune` | [`rewrites`] `planning_keeps_tables`, [`runs`] | `dropped_and_added_traps…` |
//! | views | `compile::lower::schedule`, `view` | [`rewrites`] `the_c_backend…` | `slips…`, `a_wrong_result…` |
//! | fused loops | `compile::lower::schedule` | [`rewrites`] `the_c_backend…`, `whole_functions…` | `slips…` |
//! | repeated expressions are computed once | `compile::lower::common` | [`runs`] `loops_and_products…` | `slips…` |
//! | sums in the loops of their terms, sums and maxima side by side | `compile::lower::{schedule, reductions}` | [`runs`] `loops_and_products…` | `slips…` |
//! | products inside of sums | `compile::lower::accumulate` | [`runs`] `loops_and_products…` | `slips…` |
//! | overlapping blocks | `compile::lower::map` | [`runs`] `loops_and_products…` | `slips…` |
//! | dead rows of products, operands copied to rows | `compile::lower::{extents, products}` | [`runs`] `loops_and_products…` | `slips…` |
//! | shared memory, updates in place | `compile::lower::memory` | [`runs`] `what_c_keeps…` | `slips…` |
//! | equal operands | `compile::lower::expression` | [`rewrites`] `the_c_backend…` | `slips…`, `algebra…` |
//! | sums, products, convolutions as loops | `compile::lower::{reductions, products, structure, convolution}` | [`rewrites`] `the_c_backend…` | `slips…`, `other_orders…` |
//! | transposed matrices | `compile::emit::transposed`, `compile::passes::transposes` | [`runs`] `parameters_and…` | `slips…` |
//! | simultaneous assignments | `compile::emit::assign` | [`runs`] `what_c_keeps…` | `slips…` |
//! | long functions in pieces | `compile::pieces` | [`runs`] `pieces…` | `cuts…` |
//! | sums of outer products after a loop | `compile::emit::window::deferred` | [`runs`] `sums_of_outer_products…` | `slips…` |
//! | numbers in single precision | `plan::known`, `compile::precision` | [`runs`] `single_precision…` | `slips…` |
//! | several streams at once | `batch` | [`batches`] `a_batch_has…` | [`batches`] `slips…` |
//! | operations on each stream of a batch | `compile::lower::{each, convolution, reductions, structure}`, `view` | [`batches`] `a_batch_has…` | [`batches`] `slips…` |
//! | dead equations | `autodiff::prune` | [`derivatives`] `pruning…`, `rules_of_the_user…` | `what_differentiation…` |
//! | rows among zeros are put together (but for the sign of zero) | `autodiff::rows` | [`derivatives`] `rows_of_derivatives…` | `what_differentiation…` |
//! | one contribution is the derivative; none is zero | `autodiff::{renaming, activity}` | [`derivatives`] `copies_and_zeros…` | `what_differentiation…` |

mod batches;
mod derivatives;
mod functions;
mod mistakes;
mod rewrites;
mod runs;
