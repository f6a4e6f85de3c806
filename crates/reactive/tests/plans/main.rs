//! The laws of planning, tried on generated programs.

#[path = "../generated/mod.rs"]
mod generated;

mod agreement;
mod compiled;
mod golden;
mod run;
mod samples;
