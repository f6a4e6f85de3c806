//! The laws of the operation table, tried on generated operands of generated shapes.
//!
//! The numbers are the same on every run. A failing law shows the smallest operands that violate it.
//! `EDDY_CASES=10` tries ten times as many.
//!
//! * [`cases`](cases): operands for every operation; [`harness`](harness): tries a law on them.
//! * [`evaluate`](evaluate): derivatives that compute; [`tape`](tape): derivatives that are recorded, so that
//!   they can be differentiated again.
//! * The laws: [`soundness`](soundness) of the typing and shape rules, [`facts`](facts) for compilers,
//!   [`reference`](reference) for values, [`elements`](elements) for elementwise operations,
//!   [`definitions`](definitions) for sums and products, [`derivatives`](derivatives) for first order,
//!   [`second_order`](second_order) for second order, [`precision`](precision) for f32, [`text`](text) for
//!   printing. [`formulas`](formulas) lists all derivatives and what they read.

mod cases;
mod harness;

mod evaluate;
mod tape;

mod definitions;
mod derivatives;
mod elements;
mod facts;
mod formulas;
mod precision;
mod reference;
mod second_order;
mod soundness;
mod text;
