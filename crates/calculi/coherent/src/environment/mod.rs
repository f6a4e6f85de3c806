//! The environment machine (section 8), the default of `eddy run`: no substitution, and no ∂ at run time.
//!
//! A closure `⟨M | ρ | X⟩` is a term, values for its free variables, and a list X of variables, its *levels*;
//! it stands for `∂(xn, … ∂(x1, M))` with ρ substituted. So differentiating an abstraction adds its variable
//! to X. The machine changes the word where ∂ would change the term: the last letters `u1…un` of the word
//! belong to the levels, and where a variable occurs in both parts of a term, its letter is split between
//! them.
//!
//! ```text
//! (ε u, ⟨M N | ρ | x⟩, s)  →  (ε a, ⟨M | ρ | x⟩, D(b)·arg(⟨N | ρ | x⟩)·s)      where u ⇒ (a,b)
//! ```
//!
//! A variable that does not occur in M cannot have a level: its letter must be 0, and both are dropped (the
//! *free-variable rule*). This keeps derivatives of recursive programs small.
//!
//! * [`code`] is the code, [`compile`](fn@compile) makes it from a term: variables become slots, and each
//!   binder stores its occurrences.
//! * [`heap`] holds closures and collects unreachable ones, [`cells`] counts the occurrences of cells, so
//!   that writing one takes constant time.
//! * [`machine`] has the rules, [`levels`] those for terms with levels.
//! * [`run`](fn@run) and [`distribution`] are the entry points; the latter follows all [`paths`] of coins,
//!   and merges those that wait in equal states ([`settle`]).

pub mod code;

mod cells;
mod compile;
mod heap;
mod levels;
mod machine;
mod paths;
mod run;
mod settle;

pub use compile::compile;
pub use paths::{PathCounters, distribution};
pub use run::{Report, run};
