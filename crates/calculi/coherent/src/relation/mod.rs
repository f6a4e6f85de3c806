//! The relational semantics as intersection types (section 9, Figure 11), and the bounded search of `eddy
//! ask`.
//!
//! A *point* of `A1 -> … -> Ak -> D^d nat` describes one use of a program: for each argument the multiset of
//! points at which it is used, a leaf, and a number. `\x:nat. if x then x else 7` has the point `[0, 0] ->
//! 0`: it uses x twice. Multisets are not sets: a point that is used twice is listed twice, and derivatives
//! count these uses.
//!
//! * [`point`]: points as text.
//! * [`store`]: points with unknowns, and unification.
//! * [`search`]: goals and backtracking, with bounds. A goal list and a stack of choices; nothing recurses.
//! * `rules`: the rules themselves, from a judgement to its premises.
//! * [`derivation`]: the text of the proof.
//! * [`states`]: the same for the states of the Krivine machine (Figure 12); for the laws.

pub mod derivation;
pub mod point;
mod rules;
pub mod search;
pub mod states;
pub mod store;

pub use search::{Answer, Bounds, Cut, Derivation, ask};
