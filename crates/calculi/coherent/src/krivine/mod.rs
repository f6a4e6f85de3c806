//! The machines of the paper: they substitute terms into terms, and take ∂ when a derivative meets an
//! abstraction.
//!
//! A state `(δ, M, s)` computes the leaf δ of the term M in the context s. The two machines differ in one
//! rule. When `theta` meets the letter 1, the leaf is a sum of two leaves, and
//!
//! * the Krivine machine, [`nd`] (section 6, Figure 9), continues with both, on a multiset of states. At most
//!   one of them ever reaches a number, but finding it may take exponentially many states;
//! * the deterministic machine, [`det`] (section 7, Figures 11 and 13), puts one *cell* into both places and
//!   continues with one state. An injection that determines which of the two was meant writes the cell.
//!
//! [`state`] has states, stacks and their text, [`step`](mod@step) the rules of both. For the laws,
//! [`typing`] checks states, [`readback`] gives the term of a state, and [`resolve`] the nd states of a det
//! state.
//!
//! These machines are for traces and for the laws. Programs run on the [environment
//! machine](crate::environment).

pub mod det;
pub mod nd;
pub mod readback;
pub mod resolve;
pub mod state;
pub mod step;
pub mod typing;
