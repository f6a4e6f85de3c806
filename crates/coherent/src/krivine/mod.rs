//! The machines of the paper: terms are substituted into terms, and ∂ is taken when a derivative meets an abstraction.
//!
//! A state `(δ, M, s)` asks for the leaf δ of the term M in the surroundings s. There are two machines with the same rules but one.
//! When `theta` meets the letter 1, the leaf is a sum of two leaves, and
//!
//! * the Krivine machine, [`nd`] (section 6, Figure 9), goes on with both, on a multiset of states. At most one of them will
//!   ever reach a number, but it takes exponentially many to know which;
//! * the deterministic machine, [`det`] (section 7, Figures 11 and 13), puts one *cell* into both places and goes on with one state. The cell is
//!   written when an injection tells which of the two was meant.
//!
//! [`state`] has states and stacks and what they print as, [`step`](mod@step) the rules of both. [`typing`] says which states are well
//! typed, [`readback`] which term a state stands for, [`resolve`] which nd states a det state stands for; the laws ask them.
//!
//! These machines are for traces and for the laws. What runs programs is the [environment machine](crate::environment).

pub mod det;
pub mod nd;
pub mod readback;
pub mod resolve;
pub mod state;
pub mod step;
pub mod typing;
