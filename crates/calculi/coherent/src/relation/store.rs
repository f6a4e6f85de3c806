//! Points with unknowns, and their solutions. All solutions can be undone, for backtracking.

use rustc_hash::FxHashSet;

use crate::syntax::Bit;
use crate::types::{Type, Types};

eddy_index::id! {
    pub struct PointId, "the search is bounded far below 2^32";
    /// The number of a multiset, known or not.
    pub struct SetId, "the search is bounded far below 2^32";
    /// A source that checks a point as soon as it is known to be in a multiset; see
    /// [`search`](super::search).
    pub struct Supplier, "the search is bounded far below 2^32";
    /// A list of the uses of a variable.
    pub struct Collector, "the search is bounded far below 2^32";
}

/// A number: an unknown, if there is one, plus an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub unknown: Option<u32>,
    /// The offset. Numbers of programs have 64 bits; sums of several of them fit here.
    pub offset: u128,
}

impl Number {
    pub fn known(n: u64) -> Number {
        Number { unknown: None, offset: n.into() }
    }
}

/// A letter of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    Known(Bit),
    Unknown(u32),
}

/// A point: a multiset for each argument, a word in path order, and a number.
#[derive(Clone, Debug)]
pub struct Point {
    /// The multisets, one for each argument.
    pub sets: Vec<SetId>,
    /// The leaf; the first letter is depth 0.
    pub word: Vec<Letter>,
    pub number: Number,
}

impl Point {
    fn n_parts(&self) -> usize {
        self.sets.len() + self.word.len()
    }
}

/// The state of a multiset.
#[derive(Clone, Debug)]
enum Set {
    /// Unknown; its points go to the supplier, if there is one.
    Unknown(Option<Supplier>),
    Same(SetId),
    Points(Vec<PointId>),
}

/// An entry of the trail, to be undone.
#[derive(Clone, Copy, Debug)]
enum TrailEntry {
    Number(u32),
    Letter(u32),
    Set(SetId, Option<Supplier>),
    Taken(SetId, Supplier),
    Use(Collector),
}

/// The state of the store at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    trail: usize,
    points: usize,
    numbers: usize,
    letters: usize,
    sets: usize,
    collectors: usize,
}

/// All points, and the solutions of unknowns.
#[derive(Clone, Debug, Default)]
pub struct Store {
    points: Vec<Point>,
    numbers: Vec<Option<Number>>,
    letters: Vec<Option<Letter>>,
    sets: Vec<Set>,
    uses: Vec<Vec<PointId>>,
    taken: FxHashSet<Supplier>,
    trail: Vec<TrailEntry>,
    /// The total number of multisets and letters of points, and points of multisets.
    n_parts: usize,
}

impl Store {
    pub fn add(&mut self, point: Point) -> PointId {
        self.n_parts += point.n_parts();
        self.points.push(point);
        PointId::new(self.points.len() - 1)
    }

    pub fn point(&self, id: PointId) -> &Point {
        &self.points[id.index()]
    }

    /// An unknown point of a type.
    pub fn fresh_point(&mut self, types: &Types, mut ty: Type) -> PointId {
        let mut sets = Vec::new();
        while let Some((_, to)) = types.sides(ty) {
            sets.push(self.fresh_set());
            ty = to;
        }
        let word = (0..ty.depth).map(|_| self.fresh_letter()).collect();
        let number = self.fresh_number();
        self.add(Point { sets, word, number })
    }

    /// An unknown multiset.
    pub fn fresh_set(&mut self) -> SetId {
        self.sets.push(Set::Unknown(None));
        SetId::new(self.sets.len() - 1)
    }

    /// An unknown multiset with a supplier of its points.
    pub fn supplied_set(&mut self, supplier: Supplier) -> SetId {
        self.sets.push(Set::Unknown(Some(supplier)));
        SetId::new(self.sets.len() - 1)
    }

    /// Takes the supplier of an unknown multiset, once; the caller then sends it each point.
    pub fn take_supplier(&mut self, set: SetId) -> Option<Supplier> {
        let set = self.representative(set);
        let Set::Unknown(Some(supplier)) = self.sets[set.index()] else { return None };
        self.sets[set.index()] = Set::Unknown(None);
        self.taken.insert(supplier);
        self.trail.push(TrailEntry::Taken(set, supplier));
        Some(supplier)
    }

    /// Whether this supplier was taken; then each point is sent to it.
    pub fn is_taken(&self, supplier: Supplier) -> bool {
        self.taken.contains(&supplier)
    }

    /// A multiset of known size.
    pub fn known_set(&mut self, points: Vec<PointId>) -> SetId {
        self.n_parts += points.len();
        self.sets.push(Set::Points(points));
        SetId::new(self.sets.len() - 1)
    }

    /// An unknown letter.
    pub fn fresh_letter(&mut self) -> Letter {
        self.letters.push(None);
        Letter::Unknown(small(self.letters.len() - 1))
    }

    /// An unknown number.
    pub fn fresh_number(&mut self) -> Number {
        self.numbers.push(None);
        Number { unknown: Some(small(self.numbers.len() - 1)), offset: 0 }
    }

    pub fn fresh_collector(&mut self) -> Collector {
        self.uses.push(Vec::new());
        Collector::new(self.uses.len() - 1)
    }

    /// Records a use of a variable at a point.
    pub fn add_use(&mut self, collector: Collector, point: PointId) {
        self.uses[collector.index()].push(point);
        self.trail.push(TrailEntry::Use(collector));
    }

    /// The uses of a variable so far.
    pub fn uses(&self, collector: Collector) -> &[PointId] {
        &self.uses[collector.index()]
    }

    /// The points of a multiset, if they are known.
    pub fn elements(&self, set: SetId) -> Option<&[PointId]> {
        match &self.sets[self.representative(set).index()] {
            Set::Points(points) => Some(points),
            Set::Unknown(_) => None,
            Set::Same(_) => unreachable!("a representative refers to no other set"),
        }
    }

    /// Unifies two multisets; false if their elements are known and must be compared.
    pub fn join(&mut self, one: SetId, other: SetId) -> bool {
        let (one, other) = (self.representative(one), self.representative(other));
        if one == other {
            return true;
        }
        let (unknown, known) = match (&self.sets[one.index()], &self.sets[other.index()]) {
            // If both are unknown, the representative keeps its supplier.
            (Set::Unknown(None), _) => (one, other),
            (_, Set::Unknown(None)) => (other, one),
            (Set::Unknown(_), _) => (one, other),
            (_, Set::Unknown(_)) => (other, one),
            _ => return false,
        };
        let Set::Unknown(supplier) = self.sets[unknown.index()] else { unreachable!("it is unknown") };
        self.sets[unknown.index()] = Set::Same(known);
        self.trail.push(TrailEntry::Set(unknown, supplier));
        true
    }

    fn representative(&self, mut set: SetId) -> SetId {
        while let Set::Same(other) = self.sets[set.index()] {
            set = other;
        }
        set
    }

    /// The current solution of a number.
    pub fn number(&self, mut number: Number) -> Number {
        while let Some(Some(value)) = number.unknown.map(|unknown| self.numbers[unknown as usize]) {
            number = Number { offset: value.offset + number.offset, ..value };
        }
        number
    }

    /// Unifies two numbers; false if that is impossible.
    #[must_use]
    pub fn equate(&mut self, one: Number, other: Number) -> bool {
        let (one, other) = (self.number(one), self.number(other));
        if one.unknown == other.unknown {
            return one.offset == other.offset;
        }
        // `x + k = y + m`: the unknown of the side with the smaller offset is solved.
        let (solved, target) = match (one.unknown, other.unknown) {
            (Some(_), None) => (one, other),
            (None, _) => (other, one),
            _ if one.offset <= other.offset => (one, other),
            _ => (other, one),
        };
        let (Some(unknown), Some(offset)) = (solved.unknown, target.offset.checked_sub(solved.offset)) else {
            return false;
        };
        self.numbers[unknown as usize] = Some(Number { offset, ..target });
        self.trail.push(TrailEntry::Number(unknown));
        true
    }

    /// The current solution of a letter.
    pub fn letter(&self, mut letter: Letter) -> Letter {
        while let Letter::Unknown(unknown) = letter {
            match self.letters[unknown as usize] {
                Some(value) => letter = value,
                None => break,
            }
        }
        letter
    }

    /// Unifies two letters; false if that is impossible.
    #[must_use]
    pub fn equate_letters(&mut self, one: Letter, other: Letter) -> bool {
        match (self.letter(one), self.letter(other)) {
            (Letter::Known(one), Letter::Known(other)) => one == other,
            (one, other) if one == other => true,
            (Letter::Unknown(unknown), value) | (value, Letter::Unknown(unknown)) => {
                self.letters[unknown as usize] = Some(value);
                self.trail.push(TrailEntry::Letter(unknown));
                true
            }
        }
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        self.points.len() * size_of::<Point>()
            + self.sets.len() * size_of::<Set>()
            + self.numbers.len() * size_of::<Option<Number>>()
            + self.letters.len() * size_of::<Option<Letter>>()
            + self.uses.len() * size_of::<Vec<PointId>>()
            + self.trail.len() * (size_of::<TrailEntry>() + size_of::<PointId>())
            + self.n_parts * size_of::<Letter>()
    }

    /// The current state, for [`Store::undo_to`].
    pub fn mark(&self) -> Mark {
        Mark {
            trail: self.trail.len(),
            points: self.points.len(),
            numbers: self.numbers.len(),
            letters: self.letters.len(),
            sets: self.sets.len(),
            collectors: self.uses.len(),
        }
    }

    /// Undoes all solutions since the mark.
    pub fn undo_to(&mut self, mark: Mark) {
        for entry in self.trail.drain(mark.trail..).rev() {
            match entry {
                TrailEntry::Number(unknown) => self.numbers[unknown as usize] = None,
                TrailEntry::Letter(unknown) => self.letters[unknown as usize] = None,
                TrailEntry::Taken(set, supplier) => {
                    self.taken.remove(&supplier);
                    self.sets[set.index()] = Set::Unknown(Some(supplier));
                }
                TrailEntry::Set(set, supplier) => self.sets[set.index()] = Set::Unknown(supplier),
                TrailEntry::Use(collector) => {
                    self.uses[collector.index()].pop();
                }
            }
        }
        let sets = self.sets[mark.sets..].iter().map(|set| match set {
            Set::Points(points) => points.len(),
            Set::Unknown(_) | Set::Same(_) => 0,
        });
        let points = self.points[mark.points..].iter().map(Point::n_parts);
        self.n_parts -= sets.chain(points).sum::<usize>();
        self.points.truncate(mark.points);
        self.numbers.truncate(mark.numbers);
        self.letters.truncate(mark.letters);
        self.sets.truncate(mark.sets);
        self.uses.truncate(mark.collectors);
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).expect("the search is bounded far below 2^32")
}
