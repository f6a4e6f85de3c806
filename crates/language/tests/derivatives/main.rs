//! The laws of differentiation (section 12: P9 to P11, P13, P14, P16 to P18, P20), tested on generated
//! programs.
//!
//! Derivatives are compared with independent methods: the cells of a finite trace are [`unrolled`](unrolled)
//! into an acyclic graph, whose slopes are computed by central differences ([`differences`](differences)) and
//! whose gradient is computed by `rd`, a separate language ([`kernel`](kernel)).
//!
//! * [`generated`]: programs and traces, shared with the laws of the semantics; [`samples`](samples): selects
//!   programs; [`run`](run): a node and its derivatives on a trace; [`numbers`](numbers): comparison of
//!   derivatives.
//! * The laws: [`gradients`](gradients) (P9), [`composition`](composition) (P10), [`duality`](duality) (P11),
//!   [`figure_3`](figure_3) (P13), [`training`](training) (P14), [`orders`](orders) (P16),
//!   [`tangents`](tangents) (P17), [`customs`](customs) (P18), [`truncation`](truncation) and
//!   [`optimisers`](optimisers) (P20), [`semantics`](semantics) (laws of all nodes, applied to synthesised
//!   ones), and the [`distribution`](distribution) of the programs.

#[path = "../generated/mod.rs"]
mod generated;

mod differences;
mod kernel;
mod numbers;
mod run;
mod samples;
mod unrolled;

mod composition;
mod customs;
mod distribution;
mod duality;
mod figure_3;
mod gradients;
mod optimisers;
mod orders;
mod semantics;
mod tangents;
mod training;
mod truncation;
