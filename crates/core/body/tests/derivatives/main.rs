//! Derivatives: of small bodies, and the laws on generated ones.

mod generate;
mod harness;
mod laws;
mod small;
