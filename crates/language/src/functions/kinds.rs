//! Kinds of elements, found by unification (functions.md, section 2.1).
//!
//! A literal without a point is an `int` or a `num`: its kind is open until its context determines it. Kinds
//! that remain open become `int`.

use eddy_body::ir::Elem;

eddy_index::id! {
    /// A kind that may be open.
    pub struct KindId, "an instance has less than 2^32 kinds";
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// `int` or `num`.
    Open,
    Is(Elem),
    SameAs(KindId),
}

#[derive(Clone, Debug, Default)]
pub struct Kinds {
    entries: Vec<Entry>,
}

impl Kinds {
    /// A new kind that is `int` or `num`.
    pub fn open(&mut self) -> KindId {
        self.entries.push(Entry::Open);
        KindId::new(self.entries.len() - 1)
    }

    pub fn known(&mut self, elem: Elem) -> KindId {
        self.entries.push(Entry::Is(elem));
        KindId::new(self.entries.len() - 1)
    }

    /// The representative of a kind.
    pub fn class(&self, kind: KindId) -> KindId {
        let mut kind = kind;
        while let Entry::SameAs(other) = self.entries[kind.index()] {
            kind = other;
        }
        kind
    }

    /// The kind, unless it is open.
    pub fn get(&self, kind: KindId) -> Option<Elem> {
        match self.entries[self.class(kind).index()] {
            Entry::Is(elem) => Some(elem),
            _ => None,
        }
    }

    /// Unifies two kinds; if they differ, returns both.
    pub fn unify(&mut self, a: KindId, b: KindId) -> Result<(), (Option<Elem>, Option<Elem>)> {
        let (a, b) = (self.class(a), self.class(b));
        if a == b {
            return Ok(());
        }
        match (self.entries[a.index()], self.entries[b.index()]) {
            (Entry::Is(x), Entry::Is(y)) if x == y => Ok(()),
            (Entry::Open, Entry::Open | Entry::Is(Elem::Int | Elem::Num)) => {
                self.entries[a.index()] = Entry::SameAs(b);
                Ok(())
            }
            (Entry::Is(Elem::Int | Elem::Num), Entry::Open) => {
                self.entries[b.index()] = Entry::SameAs(a);
                Ok(())
            }
            _ => Err((self.get(a), self.get(b))),
        }
    }

    /// Makes the remaining open kinds `int`.
    pub fn close(&mut self) {
        for entry in &mut self.entries {
            if let Entry::Open = entry {
                *entry = Entry::Is(Elem::Int);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_take_the_kind_of_what_they_meet() {
        let mut kinds = Kinds::default();
        let (one, two) = (kinds.open(), kinds.open());
        let half = kinds.known(Elem::Num);
        assert_eq!(kinds.unify(one, two), Ok(()));
        assert_eq!(kinds.get(two), None);
        assert_eq!(kinds.unify(two, half), Ok(()));
        assert_eq!(kinds.get(one), Some(Elem::Num));
        let truth = kinds.known(Elem::Bool);
        assert!(kinds.unify(truth, one).is_err());
        let open = kinds.open();
        assert!(kinds.unify(open, truth).is_err());
        kinds.close();
        assert_eq!(kinds.get(open), Some(Elem::Int));
    }
}
