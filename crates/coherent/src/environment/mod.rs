//! The environment machine (section 8): no substitution, and no ∂ at run time. It is what `eddy run` uses.
//!
//! A closure `⟨M | ρ | X⟩` is a term, values for its free variables, and a list X of variables, its *levels*; it stands for
//! `∂(xn, … ∂(x1, M))` with ρ substituted. So differentiating an abstraction is adding its variable to X, and what ∂ would have
//! written into the term is done to the word instead: the last letters `u1…un` of the word belong to the levels, and where a variable
//! occurs in both parts of a term, its letter is split between them.
//!
//! ```text
//! (ε u, ⟨M N | ρ | x⟩, s)  →  (ε a, ⟨M | ρ | x⟩, D(b)·arg(⟨N | ρ | x⟩)·s)      where u ⇒ (a,b)
//! ```
//!
//! A variable that does not occur in M cannot have a level: its letter must be 0, and both are dropped
//! (the *free-variable rule*). That is what keeps derivatives of recursive programs small.
//!
//! * [`code`] is what runs, [`compile`](fn@compile) makes it of a term: variables become slots, and each binder knows where it occurs.
//! * [`heap`] holds closures and collects those that nobody can reach, [`cells`] counts the occurrences of cells, so that writing one takes
//!   no time at all.
//! * [`machine`] has the rules, [`levels`] those for terms with levels.
//! * [`run`](fn@run) and [`distribution`] are the ways in; the latter follows all [`paths`] of coins, and takes those together that wait in equal
//!   states ([`settle`]).

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
pub use paths::{Effort, distribution};
pub use run::{Report, run};
