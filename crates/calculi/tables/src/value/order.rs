//! The canonical order, in which tables are printed and searched; ⊑, by which values match; and ⊔ (section
//! 2).
//!
//! ⊑ is shallow on tables: `t ⊑ t'` is `t ⊆ t'`, and entries are compared by equality.

use std::cmp::Ordering;

use super::{Entry, Side, Store, Value, ValueKind, Values};

impl Values {
    /// The canonical order. Equal parts have equal numbers, so the walk finds the first difference directly.
    pub fn compare(&self, mut a: Value, mut b: Value) -> Ordering {
        loop {
            if a == b {
                return Ordering::Equal;
            }
            let ranks = (rank(self.kind(a)), rank(self.kind(b)));
            if ranks.0 != ranks.1 {
                return ranks.0.cmp(&ranks.1);
            }
            (a, b) = match (self.kind(a), self.kind(b)) {
                (ValueKind::Int(a), ValueKind::Int(b)) => return a.cmp(b),
                (ValueKind::Address(a), ValueKind::Address(b)) => return a.cmp(b),
                (ValueKind::Pair(a1, a2), ValueKind::Pair(b1, b2)) => {
                    if a1 == b1 {
                        (*a2, *b2)
                    } else {
                        (*a1, *b1)
                    }
                }
                (ValueKind::ThunkSome(a), ValueKind::ThunkSome(b)) => (*a, *b),
                (ValueKind::Table(a), ValueKind::Table(b)) => {
                    if a.len() != b.len() {
                        return a.len().cmp(&b.len());
                    }
                    let sides = |entries: &[Entry]| -> Vec<Side> {
                        entries.iter().flat_map(|entry| [entry.input, entry.output]).collect()
                    };
                    match self.first_difference(&sides(a), &sides(b)) {
                        Difference::Decided(order) => return order,
                        Difference::Between(a, b) => (a, b),
                    }
                }
                _ => unreachable!("values of one rank have one form, and unequal ones have parts"),
            };
        }
    }

    /// The order of entries: by input, then by output.
    pub fn compare_entries(&self, a: Entry, b: Entry) -> Ordering {
        match self.first_difference(&[a.input, a.output], &[b.input, b.output]) {
            Difference::Decided(order) => order,
            Difference::Between(a, b) => self.compare(a, b),
        }
    }

    fn first_difference(&self, a: &[Side], b: &[Side]) -> Difference {
        let Some((a, b)) = a.iter().zip(b).find(|(a, b)| a != b) else {
            return Difference::Decided(Ordering::Equal);
        };
        if a.value != b.value {
            return Difference::Between(a.value, b.value);
        }
        self.first_difference_of_stores(a.store, b.store)
    }

    /// Stores are compared as lists of addresses and values.
    fn first_difference_of_stores(&self, a: Store, b: Store) -> Difference {
        let (a, b) = (self.cells(a), self.cells(b));
        match a.iter().zip(b).find(|(a, b)| a != b) {
            Some(((at, value), (other_at, other))) if at == other_at => Difference::Between(*value, *other),
            Some(((at, _), (other_at, _))) => Difference::Decided(at.cmp(other_at)),
            None => Difference::Decided(a.len().cmp(&b.len())),
        }
    }

    /// `v ⊑ w`.
    pub fn is_below(&self, v: Value, w: Value) -> bool {
        let mut work = vec![(v, w)];
        while let Some((v, w)) = work.pop() {
            if v == w {
                continue;
            }
            match (self.kind(v), self.kind(w)) {
                (ValueKind::Table(v), ValueKind::Table(w)) => {
                    if !self.is_subset(v, w) {
                        return false;
                    }
                }
                (ValueKind::Pair(v1, v2), ValueKind::Pair(w1, w2)) => work.extend([(*v1, *w1), (*v2, *w2)]),
                (ValueKind::ThunkNone, ValueKind::ThunkSome(_)) => {}
                (ValueKind::ThunkSome(v), ValueKind::ThunkSome(w)) => work.push((*v, *w)),
                _ => return false,
            }
        }
        true
    }

    /// Whether all entries of one table are in the other; both are sorted.
    fn is_subset(&self, part: &[Entry], whole: &[Entry]) -> bool {
        let mut rest = whole;
        part.iter().all(|entry| {
            let at = rest.partition_point(|other| self.compare_entries(*other, *entry) == Ordering::Less);
            let found = rest.get(at) == Some(entry);
            rest = &rest[(at + usize::from(found)).min(rest.len())..];
            found
        })
    }

    /// `v ⊔ w`, where it is defined. A thunk without content adds nothing to another.
    pub fn join(&mut self, v: Value, w: Value) -> Option<Value> {
        if v == w {
            return Some(v);
        }
        match (self.kind(v).clone(), self.kind(w).clone()) {
            (ValueKind::Table(v), ValueKind::Table(w)) => Some(self.table([v, w].concat())),
            (ValueKind::ThunkNone, ValueKind::ThunkSome(_)) => Some(w),
            (ValueKind::ThunkSome(_), ValueKind::ThunkNone) => Some(v),
            (ValueKind::Pair(..), ValueKind::Pair(..))
            | (ValueKind::ThunkSome(_), ValueKind::ThunkSome(_)) => self.join_parts(v, w),
            _ => None,
        }
    }

    /// The join of pairs and thunks, which may be nested.
    fn join_parts(&mut self, v: Value, w: Value) -> Option<Value> {
        enum Task {
            Join(Value, Value),
            Pair,
            Thunk,
        }
        let (mut work, mut done) = (vec![Task::Join(v, w)], Vec::new());
        while let Some(task) = work.pop() {
            let joined = match task {
                Task::Join(v, w) => match (self.kind(v), self.kind(w)) {
                    (ValueKind::Pair(v1, v2), ValueKind::Pair(w1, w2)) => {
                        work.extend([Task::Pair, Task::Join(*v2, *w2), Task::Join(*v1, *w1)]);
                        continue;
                    }
                    (ValueKind::ThunkSome(v), ValueKind::ThunkSome(w)) => {
                        work.extend([Task::Thunk, Task::Join(*v, *w)]);
                        continue;
                    }
                    _ => self.join(v, w)?,
                },
                Task::Pair => {
                    let (second, first) = (done.pop()?, done.pop()?);
                    self.pair(first, second)
                }
                Task::Thunk => {
                    let content = done.pop()?;
                    self.thunk_some(content)
                }
            };
            done.push(joined);
        }
        done.pop()
    }
}

/// The first difference of two lists of sides.
enum Difference {
    Decided(Ordering),
    Between(Value, Value),
}

/// int < address < pair < table < thunk < wrong, and `thunk(none)` is the first thunk.
fn rank(kind: &ValueKind) -> u8 {
    match kind {
        ValueKind::Int(_) => 0,
        ValueKind::Address(_) => 1,
        ValueKind::Pair(..) => 2,
        ValueKind::Table(_) => 3,
        ValueKind::ThunkNone => 4,
        ValueKind::ThunkSome(_) => 5,
        ValueKind::Wrong => 6,
    }
}
