//! Passes from final modules to final modules, with the same results to the bit.
//!
//! A pass may change how much fuel a run needs, how deep calls nest, and to which body a failing statement
//! belongs; not whether it fails, how, and where in the source.
//!
//! * [`inline`](mod@inline): calls become statements. [`untape`]: tapes become names. [`rows`]: so do rows
//!   that are always the same; tapes in rows become rows. [`same`]: what changes nothing
//!   is removed.

mod inline;
mod rewrite;
mod rows;
mod same;
mod untape;

pub use inline::inline;
