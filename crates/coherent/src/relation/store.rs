//! Points with unknowns, and what is known about them. Everything that is learnt can be forgotten again, for backtracking.

use rustc_hash::FxHashSet;

use crate::syntax::Bit;
use crate::types::{Type, Types};

/// The number of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointId(u32);

/// The number of a multiset, known or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetId(u32);

/// Who can check a point as soon as it is known to be in a multiset; see [`search`](super::search).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Supplier(pub(super) u32);

/// Who collects the uses of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collector(u32);

/// A number: an unknown, if there is one, plus an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The unknown.
    pub unknown: Option<u32>,
    /// What is added to it. Numbers of programs have 64 bits; a sum of some of them has room here.
    pub offset: u128,
}

impl Number {
    /// A number that is known.
    pub fn known(n: u64) -> Number {
        Number { unknown: None, offset: n.into() }
    }
}

/// A letter of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letter {
    /// A known one.
    Known(Bit),
    /// An unknown one.
    Unknown(u32),
}

/// A point: a multiset for each argument, a word in path order, and a number.
#[derive(Clone, Debug)]
pub struct Point {
    /// The multisets, one for each argument.
    pub sets: Vec<SetId>,
    /// Which leaf; the first letter is depth 0.
    pub word: Vec<Letter>,
    /// The number there.
    pub number: Number,
}

impl Point {
    fn n_parts(&self) -> usize {
        self.sets.len() + self.word.len()
    }
}

/// What is known about a multiset.
#[derive(Clone, Debug)]
enum Set {
    /// Not known; its points go to the supplier, if there is one.
    Unknown(Option<Supplier>),
    Same(SetId),
    Points(Vec<PointId>),
}

/// What was learnt, to be forgotten.
#[derive(Clone, Copy, Debug)]
enum Learnt {
    Number(u32),
    Letter(u32),
    Set(SetId, Option<Supplier>),
    Taken(SetId, Supplier),
    Use(Collector),
}

/// How much was known at some time.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    learnt: usize,
    points: usize,
    numbers: usize,
    letters: usize,
    sets: usize,
    collectors: usize,
}

/// Everything that is known.
#[derive(Clone, Debug, Default)]
pub struct Store {
    points: Vec<Point>,
    numbers: Vec<Option<Number>>,
    letters: Vec<Option<Letter>>,
    sets: Vec<Set>,
    uses: Vec<Vec<PointId>>,
    taken: FxHashSet<Supplier>,
    learnt: Vec<Learnt>,
    /// How many multisets and letters the points have, and points the multisets, together.
    n_parts: usize,
}

impl Store {
    /// Adds a point.
    pub fn add(&mut self, point: Point) -> PointId {
        self.n_parts += point.n_parts();
        self.points.push(point);
        PointId(small(self.points.len() - 1))
    }

    /// The point with this number.
    pub fn point(&self, id: PointId) -> &Point {
        &self.points[id.0 as usize]
    }

    /// A point of a type about which nothing is known.
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

    /// A multiset about which nothing is known.
    pub fn fresh_set(&mut self) -> SetId {
        self.sets.push(Set::Unknown(None));
        SetId(small(self.sets.len() - 1))
    }

    /// A multiset about which nothing is known, except who supplies its points.
    pub fn supplied_set(&mut self, supplier: Supplier) -> SetId {
        self.sets.push(Set::Unknown(Some(supplier)));
        SetId(small(self.sets.len() - 1))
    }

    /// Whoever finds the points of an unknown multiset takes its supplier, once.
    pub fn take_supplier(&mut self, set: SetId) -> Option<Supplier> {
        let set = self.representative(set);
        let Set::Unknown(Some(supplier)) = self.sets[set.0 as usize] else { return None };
        self.sets[set.0 as usize] = Set::Unknown(None);
        self.taken.insert(supplier);
        self.learnt.push(Learnt::Taken(set, supplier));
        Some(supplier)
    }

    /// Whether somebody took this supplier, and gives it each point.
    pub fn is_taken(&self, supplier: Supplier) -> bool {
        self.taken.contains(&supplier)
    }

    /// A multiset of known size.
    pub fn known_set(&mut self, points: Vec<PointId>) -> SetId {
        self.n_parts += points.len();
        self.sets.push(Set::Points(points));
        SetId(small(self.sets.len() - 1))
    }

    /// A letter about which nothing is known.
    pub fn fresh_letter(&mut self) -> Letter {
        self.letters.push(None);
        Letter::Unknown(small(self.letters.len() - 1))
    }

    /// A number about which nothing is known.
    pub fn fresh_number(&mut self) -> Number {
        self.numbers.push(None);
        Number { unknown: Some(small(self.numbers.len() - 1)), offset: 0 }
    }

    /// Somebody who collects the uses of a variable.
    pub fn fresh_collector(&mut self) -> Collector {
        self.uses.push(Vec::new());
        Collector(small(self.uses.len() - 1))
    }

    /// A variable is used at a point.
    pub fn add_use(&mut self, collector: Collector, point: PointId) {
        self.uses[collector.0 as usize].push(point);
        self.learnt.push(Learnt::Use(collector));
    }

    /// The uses of a variable so far.
    pub fn uses(&self, collector: Collector) -> &[PointId] {
        &self.uses[collector.0 as usize]
    }

    /// The points of a multiset, if they are known.
    pub fn elements(&self, set: SetId) -> Option<&[PointId]> {
        match &self.sets[self.representative(set).0 as usize] {
            Set::Points(points) => Some(points),
            Set::Unknown(_) => None,
            Set::Same(_) => unreachable!("a representative is the same as no other"),
        }
    }

    /// Two multisets are one; false if their elements are known and must be compared.
    pub fn join(&mut self, one: SetId, other: SetId) -> bool {
        let (one, other) = (self.representative(one), self.representative(other));
        if one == other {
            return true;
        }
        let (unknown, known) = match (&self.sets[one.0 as usize], &self.sets[other.0 as usize]) {
            // Of two that are unknown, the one that stays keeps its supplier.
            (Set::Unknown(None), _) => (one, other),
            (_, Set::Unknown(None)) => (other, one),
            (Set::Unknown(_), _) => (one, other),
            (_, Set::Unknown(_)) => (other, one),
            _ => return false,
        };
        let Set::Unknown(supplier) = self.sets[unknown.0 as usize] else { unreachable!("it is unknown") };
        self.sets[unknown.0 as usize] = Set::Same(known);
        self.learnt.push(Learnt::Set(unknown, supplier));
        true
    }

    fn representative(&self, mut set: SetId) -> SetId {
        while let Set::Same(other) = self.sets[set.0 as usize] {
            set = other;
        }
        set
    }

    /// What is known about a number by now.
    pub fn number(&self, mut number: Number) -> Number {
        while let Some(Some(value)) = number.unknown.map(|unknown| self.numbers[unknown as usize]) {
            number = Number { offset: value.offset + number.offset, ..value };
        }
        number
    }

    /// Two numbers are one; false if they cannot be.
    #[must_use]
    pub fn equate(&mut self, one: Number, other: Number) -> bool {
        let (one, other) = (self.number(one), self.number(other));
        if one.unknown == other.unknown {
            return one.offset == other.offset;
        }
        // `x + k = y + m`: the side with the smaller offset has the unknown that is learnt.
        let (learner, teacher) = match (one.unknown, other.unknown) {
            (Some(_), None) => (one, other),
            (None, _) => (other, one),
            _ if one.offset <= other.offset => (one, other),
            _ => (other, one),
        };
        let (Some(unknown), Some(offset)) = (learner.unknown, teacher.offset.checked_sub(learner.offset))
        else {
            return false;
        };
        self.numbers[unknown as usize] = Some(Number { offset, ..teacher });
        self.learnt.push(Learnt::Number(unknown));
        true
    }

    /// What is known about a letter by now.
    pub fn letter(&self, mut letter: Letter) -> Letter {
        while let Letter::Unknown(unknown) = letter {
            match self.letters[unknown as usize] {
                Some(value) => letter = value,
                None => break,
            }
        }
        letter
    }

    /// Two letters are one; false if they cannot be.
    #[must_use]
    pub fn equate_letters(&mut self, one: Letter, other: Letter) -> bool {
        match (self.letter(one), self.letter(other)) {
            (Letter::Known(one), Letter::Known(other)) => one == other,
            (one, other) if one == other => true,
            (Letter::Unknown(unknown), value) | (value, Letter::Unknown(unknown)) => {
                self.letters[unknown as usize] = Some(value);
                self.learnt.push(Learnt::Letter(unknown));
                true
            }
        }
    }

    /// About how many bytes all of it takes.
    pub fn bytes(&self) -> usize {
        self.points.len() * size_of::<Point>()
            + self.sets.len() * size_of::<Set>()
            + self.numbers.len() * size_of::<Option<Number>>()
            + self.letters.len() * size_of::<Option<Letter>>()
            + self.uses.len() * size_of::<Vec<PointId>>()
            + self.learnt.len() * (size_of::<Learnt>() + size_of::<PointId>())
            + self.n_parts * size_of::<Letter>()
    }

    /// How much is known now.
    pub fn mark(&self) -> Mark {
        Mark {
            learnt: self.learnt.len(),
            points: self.points.len(),
            numbers: self.numbers.len(),
            letters: self.letters.len(),
            sets: self.sets.len(),
            collectors: self.uses.len(),
        }
    }

    /// Forgets what was learnt since.
    pub fn forget(&mut self, mark: Mark) {
        for learnt in self.learnt.drain(mark.learnt..).rev() {
            match learnt {
                Learnt::Number(unknown) => self.numbers[unknown as usize] = None,
                Learnt::Letter(unknown) => self.letters[unknown as usize] = None,
                Learnt::Taken(set, supplier) => {
                    self.taken.remove(&supplier);
                    self.sets[set.0 as usize] = Set::Unknown(Some(supplier));
                }
                Learnt::Set(set, supplier) => self.sets[set.0 as usize] = Set::Unknown(supplier),
                Learnt::Use(collector) => {
                    self.uses[collector.0 as usize].pop();
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
