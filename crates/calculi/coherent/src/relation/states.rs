//! Intersection types of stacks and states (Figure 12): `(δ, M, s) : ν` iff `M : reverse(δ)·f` and `s : f ⊢
//! ν` for some f.
//!
//! `s : f ⊢ ν` says that the stack maps a use of a term at the point f to ν. Read from its bottom, each frame
//! determines the point from the frames below it; so f is known, up to unknowns, at the top. By Theorem 7.13
//! a state has the type ν iff it reaches ν; the laws test that on the states of runs.

use super::search::{Answer, Bounds, Goal, Search};
use super::store::{Letter, Number, Point, PointId};
use crate::krivine::state::{Frame, State};
use crate::syntax::{Bit, Terms};
use crate::types::Type;
use crate::word::{self, Word};

/// Searches for a number that a state without cells has as its type; returns its point.
pub fn ask_state(terms: &Terms, state: &State, bounds: Bounds) -> (Answer, PointId) {
    let mut search = Search::new(terms, bounds);
    // () : ν ⊢ ν
    let number = search.store.fresh_number();
    let mut point = Point { sets: Vec::new(), word: Vec::new(), number };
    let bottom = search.store.add(point.clone());
    let mut goals = Vec::new();
    let mut argument = Type::NAT;
    for frame in &state.stack {
        point = search.frame(frame, point, &mut argument, &mut goals);
    }
    let point = search.below(&state.word, point);
    let term = Goal::Check(search.closed(state.term, point));
    // The term first, then the frames from the top: each frame then gets a known number.
    search.push_all(goals.into_iter().chain([term]).rev());
    (search.answer().0, bottom)
}

impl Search {
    /// `frame·s : f' ⊢ ν` from `s : f ⊢ ν`: returns f', and adds the goals. The type is that of the argument
    /// at the top of s.
    fn frame(&mut self, frame: &Frame, below: Point, ty: &mut Type, goals: &mut Vec<Goal>) -> Point {
        let number = self.store.fresh_number();
        let fresh = Point { sets: Vec::new(), word: Vec::new(), number };
        let is_zero = Goal::Numbers(number, Number::known(0));
        match frame {
            // s : κ+1 ⊢ ν
            // ─────────────────
            // succ·s : κ ⊢ ν
            Frame::Succ => {
                goals.push(Goal::Numbers(below.number, Number { offset: 1, ..number }));
                fresh
            }
            // s : 0 ⊢ ν              s : κ ⊢ ν
            // ────────────────       ──────────────────
            // pred·s : 0 ⊢ ν         pred·s : κ+1 ⊢ ν
            Frame::Pred => {
                let above = Number { offset: below.number.offset + 1, ..below.number };
                goals.push(Goal::Either(vec![
                    vec![is_zero, Goal::Numbers(below.number, Number::known(0))],
                    vec![Goal::Numbers(number, above)],
                ]));
                fresh
            }
            // ⊢ P : reverse(ε)·f    s : f ⊢ ν       ⊢ Q : reverse(ε)·f    s : f ⊢ ν
            // ────────────────────────────────      ────────────────────────────────
            // if(ε,P,Q)·s : 0 ⊢ ν                   if(ε,P,Q)·s : κ+1 ⊢ ν
            Frame::If(word, p, q) => {
                let branch = self.below(word, below);
                let [yes, no] = [*p, *q].map(|branch_term| Goal::Check(self.closed(branch_term, branch)));
                let before = self.store.fresh_number();
                let is_successor = Goal::Numbers(number, Number { offset: 1, ..before });
                goals.push(Goal::Either(vec![vec![is_zero, yes], vec![is_successor, no]]));
                fresh
            }
            // x:[κ,…,κ] ⊢ P : reverse(ε)·f    s : f ⊢ ν
            // ──────────────────────────────────────────
            // let(ε,x,P)·s : κ ⊢ ν
            Frame::Let(word, p) => {
                let body = self.below(word, below);
                let mut check = self.closed(*p, body);
                let (environment, collector) = self.bind(check.environment, *p, Type::NAT, None);
                check.environment = environment;
                // Goals are processed from the last to the first.
                goals.extend([Goal::AllEqual(collector, number), Goal::Check(check)]);
                fresh
            }
            // ⊢ M : a1 … ⊢ M : an    s : f ⊢ ν
            // ─────────────────────────────────
            // arg(M)·s : ([a1,…,an],f) ⊢ ν
            Frame::Arg(m) => {
                // A placeholder: each point of the argument replaces it.
                let any = self.store.add(fresh);
                let argument = self.closed(*m, any);
                *ty = self.type_of(argument);
                let (set, goal) = self.supplied(argument);
                goals.push(goal);
                let mut point = below;
                point.sets.insert(0, set);
                point
            }
            // s : (m',f) ⊢ ν    (m',(r,m)) ∈ ∂
            // ─────────────────────────────────
            // D(r)·s : (m,f) ⊢ ν
            Frame::Derive(letter) => {
                let mut point = below;
                *ty = ty.shallower(1).expect("a derivative takes pairs");
                let goal = self.derive(&mut point, known(*letter), *ty);
                goals.push(goal);
                point
            }
        }
    }

    /// `reverse(δ)·f`.
    fn below(&mut self, word: &Word, mut point: Point) -> PointId {
        point.word.splice(0..0, word.0.iter().rev().map(|letter| known(*letter)));
        self.store.add(point)
    }
}

fn known(letter: word::Letter) -> Letter {
    match letter {
        word::Letter::Zero => Letter::Known(Bit::Zero),
        word::Letter::One => Letter::Known(Bit::One),
        word::Letter::Cell(name) => unreachable!("a state of the nd machine has no cell {name}"),
    }
}
