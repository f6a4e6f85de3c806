//! The semantics of System F types (section 9; Figure 10 of the paper): is a finite value in the meaning of a
//! type?
//!
//! ```text
//! T[int]η=ℤ    T[i]η = cleanup(η_i)    T[A→B]η = { t | ∀(v↦v')∈t. v∈T[A]η ⟹ v'∈T[B]η }
//! T[∀.A]η = {thunk(none)} ∪ { thunk(some v) | for every set V of values, v∈T[A](V,η) }
//!           V becomes index 0 (R13)
//! cleanup(V) = { v ≠ wrong | ∃v'∈V. v⊑v' }
//! ```
//!
//! "For every set V" is decidable on a finite `v`: membership only tests values inside `v` at the places of
//! the variable, so V may range over the subsets of those. The walk keeps an explicit stack of continuations.

use rustc_hash::FxHashSet;

use crate::types::{Type, TypeKind, Types};
use crate::value::{Value, ValueKind, Values};

/// The maximal number of different values inside a value under a quantifier.
pub const MAX_SUBVALUES: usize = 16;

/// The default number of membership tests.
pub const DEFAULT_FUEL: u64 = 50_000_000;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A value under a quantifier contains this many different values: more than [`MAX_SUBVALUES`].
    TooManySets(usize),
    /// The limit of tests was reached.
    Fuel(u64),
}

/// η: the sets of the type variables, the innermost first.
#[derive(Clone, Debug, Default)]
pub struct Meanings {
    sets: Vec<(Vec<Value>, usize)>,
}

/// The index of an environment of sets; 0 is the empty one.
type Eta = usize;

impl Meanings {
    /// V, η.
    pub fn push(&mut self, set: Vec<Value>, outer: Eta) -> Eta {
        self.sets.push((set, outer));
        self.sets.len()
    }

    fn get(&self, index: u32, mut eta: Eta) -> &[Value] {
        for _ in 0..index {
            match eta.checked_sub(1) {
                Some(at) => eta = self.sets[at].1,
                None => return &[],
            }
        }
        eta.checked_sub(1).map_or(&[], |at| &self.sets[at].0)
    }
}

/// A continuation: what to do with the next truth value.
enum Frame {
    /// Entries of a table, from this one on, and whether its input or its output is tested.
    Entries { table: Value, at: usize, from: Type, to: Type, eta: Eta, is_output: bool },
    /// Tests the content for each set of values of a quantified variable; the sets before number `mask` are
    /// done.
    Sets { content: Value, body: Type, tested: Vec<Value>, mask: u32, eta: Eta },
}

/// The next action of the walk.
enum State {
    Test(Value, Type, Eta),
    Known(bool),
}

/// Whether `value ∈ T[ty]η`.
pub fn is_member(
    value: Value,
    ty: Type,
    (mut meanings, eta): (Meanings, Eta),
    types: &Types,
    values: &Values,
    fuel: u64,
) -> Result<bool, Refusal> {
    let (mut frames, mut state, mut tests) = (Vec::new(), State::Test(value, ty, eta), 0);
    loop {
        state = match state {
            State::Test(value, ty, eta) => {
                tests += 1;
                if tests > fuel {
                    return Err(Refusal::Fuel(fuel));
                }
                test(value, ty, eta, &meanings, types, values, &mut frames)?
            }
            State::Known(holds) => match frames.pop() {
                None => return Ok(holds),
                Some(frame) => resume(frame, holds, &mut frames, &mut meanings, values),
            },
        };
    }
}

/// One equation of T: returns the answer, or the test that must come first.
fn test(
    value: Value,
    ty: Type,
    eta: Eta,
    meanings: &Meanings,
    types: &Types,
    values: &Values,
    frames: &mut Vec<Frame>,
) -> Result<State, Refusal> {
    let holds = match (types.kind(ty), values.kind(value)) {
        (TypeKind::Int, ValueKind::Int(_)) => true,
        (TypeKind::Variable(index), kind) => {
            // cleanup(η_i)
            let set = meanings.get(index, eta);
            *kind != ValueKind::Wrong && set.iter().any(|member| values.is_below(value, *member))
        }
        (TypeKind::Arrow(from, to), ValueKind::Table(entries)) => {
            let Some(entry) = entries.first() else { return Ok(State::Known(true)) };
            frames.push(Frame::Entries { table: value, at: 0, from, to, eta, is_output: false });
            return Ok(State::Test(entry.input.value, from, eta));
        }
        (TypeKind::Forall(_), ValueKind::ThunkNone) => true,
        (TypeKind::Forall(body), ValueKind::ThunkSome(content)) => {
            let inside = subvalues(*content, values);
            if inside > MAX_SUBVALUES {
                return Err(Refusal::TooManySets(inside));
            }
            let tested = tested(*content, body, types, values);
            frames.push(Frame::Sets { content: *content, body, tested, mask: 0, eta });
            return Ok(State::Known(true));
        }
        _ => false,
    };
    Ok(State::Known(holds))
}

/// Gives a truth value to the innermost continuation.
fn resume(
    frame: Frame,
    holds: bool,
    frames: &mut Vec<Frame>,
    meanings: &mut Meanings,
    values: &Values,
) -> State {
    match frame {
        Frame::Entries { table, at, from, to, eta, is_output } => {
            let entries = values.entries(table);
            if !is_output && holds {
                // The input is in T[A], so the output must be in T[B].
                frames.push(Frame::Entries { table, at, from, to, eta, is_output: true });
                return State::Test(entries[at].output.value, to, eta);
            }
            if is_output && !holds {
                return State::Known(false);
            }
            match entries.get(at + 1) {
                Some(entry) => {
                    frames.push(Frame::Entries { table, at: at + 1, from, to, eta, is_output: false });
                    State::Test(entry.input.value, from, eta)
                }
                None => State::Known(true),
            }
        }
        Frame::Sets { content, body, tested, mask, eta } => {
            // The set of the previous round is dead.
            if mask > 0 {
                meanings.sets.pop();
            }
            if !holds || mask >> tested.len() != 0 {
                return State::Known(holds);
            }
            let set = tested.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, value)| *value);
            let inner = meanings.push(set.collect(), eta);
            frames.push(Frame::Sets { content, body, tested, mask: mask + 1, eta });
            State::Test(content, body, inner)
        }
    }
}

/// The number of different values other than `wrong` in a value, itself included.
fn subvalues(value: Value, values: &Values) -> usize {
    let (mut seen, mut work) = (FxHashSet::default(), vec![value]);
    while let Some(value) = work.pop() {
        if seen.insert(value) {
            work.extend(values.parts(value));
        }
    }
    seen.into_iter().filter(|value| *values.kind(*value) != ValueKind::Wrong).count()
}

/// The values inside a value at the places of variable 0 of a type.
fn tested(value: Value, ty: Type, types: &Types, values: &Values) -> Vec<Value> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut work = vec![(value, ty, 0)];
    while let Some((value, ty, depth)) = work.pop() {
        if !seen.insert((value, ty, depth)) {
            continue;
        }
        match (types.kind(ty), values.kind(value)) {
            (TypeKind::Variable(index), kind) if index == depth && *kind != ValueKind::Wrong => {
                found.push(value);
            }
            (TypeKind::Arrow(from, to), ValueKind::Table(entries)) => {
                for entry in entries {
                    work.extend([(entry.input.value, from, depth), (entry.output.value, to, depth)]);
                }
            }
            (TypeKind::Forall(body), ValueKind::ThunkSome(content)) => work.push((*content, body, depth + 1)),
            _ => {}
        }
    }
    found.sort_unstable_by(|a, b| values.compare(*a, *b));
    found.dedup();
    found
}
