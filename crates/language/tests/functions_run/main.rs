//! Functions run: what the evaluations of a file print, or why the file is refused.

mod golden;
mod harness;

mod constructs;
mod derivatives;
mod refusals;
