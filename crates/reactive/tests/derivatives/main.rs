//! The laws of differentiation (section 12: P9 to P11, P13, P14, P16 to P18, P20), tried on generated programs.
//!
//! Derivatives are compared with witnesses that share nothing with them: the cells of a finite trace are [`unrolled`](unrolled) into
//! an acyclic graph, whose slopes are central differences ([`differences`](differences)), and whose gradient is computed by `rd`, a
//! language of its own ([`kernel`](kernel)).
//!
//! * [`generated`]: programs and traces, shared with the laws of the semantics; [`samples`](samples): which of them are tried;
//!   [`run`](run): a node that was run, and its derivatives; [`numbers`](numbers): when derivatives are the same.
//! * the laws: [`gradients`](gradients) (P9), [`composition`](composition) (P10), [`duality`](duality) (P11),
//!   [`figure_3`](figure_3) (P13), [`training`](training) (P14), [`orders`](orders) (P16), [`tangents`](tangents) (P17),
//!   [`customs`](customs) (P18), [`truncation`](truncation) and [`optimisers`](optimisers) (P20), [`semantics`](semantics) (what
//!   synthesised nodes share with all others), and what the programs are like, [`distribution`](distribution).

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
