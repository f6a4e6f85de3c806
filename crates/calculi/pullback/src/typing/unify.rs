//! Types with unknown parts, and first-order unification (section 4.1).
//!
//! A type is a class of equal nodes (union-find). Classes are joined before their parts are compared, so
//! unification also ends where a type would contain itself; [`Unknowns::cycle`] finds such types afterwards,
//! in one sweep, instead of an occurs check at each step. The whole is nearly linear in the size of the
//! program.

use eddy_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::types::{Shape, Type, Types};

eddy_index::id! {
    /// A type, possibly with unknown parts.
    pub struct Ty, "fewer types than source bytes times a constant";
}

/// The outermost form of a type, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownForm {
    Nothing,
    /// The type of an error; it agrees with everything.
    Poison,
    /// `R`.
    Real,
    /// `σ × τ`.
    Product(Ty, Ty),
    /// `σ → τ`.
    Arrow(Ty, Ty),
    /// `σ*`.
    Dual(Ty),
}

/// Why two types cannot be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// They have different forms.
    Mismatch,
    /// One of them contains itself, caused at this place.
    Infinite(Span),
}

impl KnownForm {
    /// Whether a type of this known form may have the other form.
    fn may_be(self, other: KnownForm) -> bool {
        use std::mem::discriminant;
        let agrees = |known| matches!(known, KnownForm::Nothing | KnownForm::Poison);
        agrees(self) || agrees(other) || discriminant(&self) == discriminant(&other)
    }

    fn parts(self) -> impl Iterator<Item = Ty> {
        let [first, second] = match self {
            KnownForm::Nothing | KnownForm::Poison | KnownForm::Real => [None, None],
            KnownForm::Dual(of) => [Some(of), None],
            KnownForm::Product(left, right) | KnownForm::Arrow(left, right) => [Some(left), Some(right)],
        };
        first.into_iter().chain(second)
    }
}

/// All types of a program during inference.
#[derive(Debug, Default)]
pub struct Unknowns {
    parents: Vec<Ty>,
    known: Vec<KnownForm>,
    /// Where each class was last joined with another.
    joined_at: Vec<Option<Span>>,
}

impl Unknowns {
    fn push(&mut self, known: KnownForm) -> Ty {
        let ty = Ty::new(self.known.len());
        self.parents.push(ty);
        self.known.push(known);
        self.joined_at.push(None);
        ty
    }

    /// An unknown type.
    pub fn fresh(&mut self) -> Ty {
        self.push(KnownForm::Nothing)
    }

    /// A type that agrees with everything.
    pub fn poison(&mut self) -> Ty {
        self.push(KnownForm::Poison)
    }

    /// `R`.
    pub fn real(&mut self) -> Ty {
        self.push(KnownForm::Real)
    }

    /// `σ × τ`.
    pub fn product(&mut self, left: Ty, right: Ty) -> Ty {
        self.push(KnownForm::Product(left, right))
    }

    /// `σ → τ`.
    pub fn arrow(&mut self, from: Ty, to: Ty) -> Ty {
        self.push(KnownForm::Arrow(from, to))
    }

    /// `σ*`.
    pub fn dual(&mut self, of: Ty) -> Ty {
        self.push(KnownForm::Dual(of))
    }

    /// `Ω σ`.
    pub fn omega(&mut self, of: Ty) -> Ty {
        let dual = self.dual(of);
        self.arrow(of, dual)
    }

    /// `R^n`.
    pub fn vector(&mut self, n: usize) -> Ty {
        let mut ty = self.real();
        for _ in 1..n {
            let real = self.real();
            ty = self.product(ty, real);
        }
        ty
    }

    /// The product of several types, nested to the left.
    pub fn tuple(&mut self, items: impl IntoIterator<Item = Ty>) -> Ty {
        items.into_iter().reduce(|left, right| self.product(left, right)).expect("a tuple has items")
    }

    fn find(&mut self, ty: Ty) -> Ty {
        let mut root = ty;
        while self.parents[root.index()] != root {
            root = self.parents[root.index()];
        }
        let mut at = ty;
        while at != root {
            at = std::mem::replace(&mut self.parents[at.index()], root);
        }
        root
    }

    pub fn known(&mut self, ty: Ty) -> KnownForm {
        let root = self.find(ty);
        self.known[root.index()]
    }

    /// Makes two types equal, or returns why they cannot be. `at` is the place of the constraint.
    pub fn unify(&mut self, left: Ty, right: Ty, at: Span) -> Result<(), Clash> {
        let mut work = vec![(left, right)];
        let mut clash = None;
        while let Some((left, right)) = work.pop() {
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                continue;
            }
            let (a, b) = (self.known[left.index()], self.known[right.index()]);
            if !a.may_be(b) {
                // Compared before they are joined: otherwise a type joined with its own part and another type
                // would seem to contain itself.
                clash = clash.or_else(|| Some(self.clash(left, right)));
            }
            let (root, other) = if a == KnownForm::Nothing { (right, left) } else { (left, right) };
            self.parents[other.index()] = root;
            self.joined_at[root.index()] = Some(at);
            match (a, b) {
                (KnownForm::Nothing, _) | (_, KnownForm::Nothing) | (KnownForm::Real, KnownForm::Real) => {}
                (KnownForm::Product(a1, a2), KnownForm::Product(b1, b2))
                | (KnownForm::Arrow(a1, a2), KnownForm::Arrow(b1, b2)) => {
                    work.extend([(a2, b2), (a1, b1)]);
                }
                (KnownForm::Dual(a), KnownForm::Dual(b)) => work.push((a, b)),
                _ => self.known[root.index()] = KnownForm::Poison,
            }
        }
        clash.map_or(Ok(()), Err)
    }

    /// Why two types of different forms differ: `x x` gives `x` a type that contains itself, which is the
    /// cause of any later mismatch.
    fn clash(&mut self, left: Ty, right: Ty) -> Clash {
        let cycle = self.cycle_from([left, right]);
        cycle.map_or(Clash::Mismatch, Clash::Infinite)
    }

    /// A place that makes a type contain itself, if there is one.
    pub fn cycle(&mut self) -> Option<Span> {
        let n = u32::try_from(self.known.len()).expect("types are numbered by `u32`");
        self.cycle_from((0..n).map(Ty))
    }

    /// Like [`Unknowns::cycle`], among the parts of some types.
    fn cycle_from(&mut self, starts: impl IntoIterator<Item = Ty>) -> Option<Span> {
        /// The state of a class during the search.
        #[derive(PartialEq)]
        enum Mark {
            Open,
            Closed,
        }
        let mut marks: FxHashMap<Ty, Mark> = FxHashMap::default();
        for start in starts {
            let mut path = vec![(self.find(start), false)];
            while let Some((ty, is_done)) = path.pop() {
                if is_done {
                    marks.insert(ty, Mark::Closed);
                    continue;
                }
                match marks.get(&ty) {
                    Some(Mark::Closed) => continue,
                    Some(Mark::Open) => return Some(self.report(ty, &path)),
                    None => {}
                }
                marks.insert(ty, Mark::Open);
                path.push((ty, true));
                for part in self.known[ty.index()].parts() {
                    let part = self.find(part);
                    path.push((part, false));
                }
            }
        }
        None
    }

    /// The last place in the source at which a class of the cycle through `ty` was joined.
    fn report(&self, ty: Ty, path: &[(Ty, bool)]) -> Span {
        let open: Vec<Ty> = path.iter().filter(|(_, is_done)| *is_done).map(|(ty, _)| *ty).collect();
        let from = open.iter().rposition(|open| *open == ty).unwrap_or(0);
        let places = open[from..].iter().filter_map(|ty| self.joined_at[ty.index()]);
        let place = places.max_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        place.expect("a cycle is made by joining")
    }

    /// Whether the type has no unknown parts.
    pub fn is_ground(&mut self, ty: Ty) -> bool {
        self.unknown_parts(ty).is_empty()
    }

    /// Sets the unknown parts of a type to `R`.
    pub fn default_to_real(&mut self, ty: Ty) {
        for part in self.unknown_parts(ty) {
            self.known[part.index()] = KnownForm::Real;
        }
    }

    fn unknown_parts(&mut self, ty: Ty) -> Vec<Ty> {
        let (mut work, mut seen, mut unknown) = (vec![ty], FxHashSet::default(), Vec::new());
        while let Some(ty) = work.pop() {
            let ty = self.find(ty);
            if !seen.insert(ty) {
                continue;
            }
            match self.known[ty.index()] {
                KnownForm::Nothing => unknown.push(ty),
                known => work.extend(known.parts()),
            }
        }
        unknown
    }

    /// The ground type, in a program without errors and cycles; unknown parts become `R`. `memo` is kept
    /// between calls.
    pub fn ground(&mut self, ty: Ty, types: &mut Types, memo: &mut Vec<Option<Type>>) -> Type {
        memo.resize(self.known.len(), None);
        let mut work = vec![ty];
        while let Some(ty) = work.last().copied() {
            let root = self.find(ty);
            let known = self.known[root.index()];
            let waiting: Vec<Ty> = known
                .parts()
                .filter(|part| {
                    let part = self.find(*part);
                    memo[part.index()].is_none()
                })
                .collect();
            if memo[root.index()].is_none() {
                if !waiting.is_empty() {
                    work.extend(waiting);
                    continue;
                }
                let mut part = |ty: Ty| {
                    let root = self.find(ty);
                    memo[root.index()].expect("parts come first")
                };
                let shape = match known {
                    KnownForm::Nothing | KnownForm::Poison | KnownForm::Real => Shape::Real,
                    KnownForm::Product(left, right) => Shape::Product(part(left), part(right)),
                    KnownForm::Arrow(from, to) => Shape::Arrow(part(from), part(to)),
                    KnownForm::Dual(of) => Shape::Dual(part(of)),
                };
                memo[root.index()] = Some(types.intern(shape));
            }
            work.pop();
        }
        let root = self.find(ty);
        memo[root.index()].expect("it was made")
    }

    /// The text of a type for messages (section 10): unknown parts are `_`, and long types are shortened.
    pub fn show(&mut self, ty: Ty) -> String {
        enum Task {
            Word(&'static str),
            Text(String),
            Type(Ty, u8),
        }
        const MANY: usize = 60;
        let (mut out, mut tasks) = (String::new(), vec![Task::Type(ty, 0)]);
        while let Some(task) = tasks.pop() {
            if out.len() > MANY {
                out.push('…');
                break;
            }
            let (ty, tightness) = match task {
                Task::Word(word) => {
                    out.push_str(word);
                    continue;
                }
                Task::Text(text) => {
                    out.push_str(&text);
                    continue;
                }
                Task::Type(ty, tightness) => (ty, tightness),
            };
            let (level, parts) = match self.known(ty) {
                KnownForm::Nothing | KnownForm::Poison => (4, vec![Task::Word("_")]),
                KnownForm::Real => (4, vec![Task::Word("R")]),
                KnownForm::Arrow(from, to) => {
                    (0, vec![Task::Type(from, 1), Task::Word(" -> "), Task::Type(to, 0)])
                }
                KnownForm::Product(..) => {
                    let items = self.spine(ty);
                    let n_reals =
                        items.iter().take_while(|item| self.known(**item) == KnownForm::Real).count();
                    let n_merged = if n_reals >= 2 { n_reals } else { 0 };
                    let mut parts = Vec::new();
                    if n_merged > 0 {
                        parts.push(Task::Text(format!("R^{n_merged}")));
                    }
                    for item in items[n_merged..].iter().take(MANY) {
                        if !parts.is_empty() {
                            parts.push(Task::Word(" * "));
                        }
                        parts.push(Task::Type(*item, 2));
                    }
                    (if n_merged == items.len() { 2 } else { 1 }, parts)
                }
                KnownForm::Dual(of) => (3, vec![Task::Type(of, 4), Task::Word("^*")]),
            };
            if level < tightness {
                tasks.push(Task::Word(")"));
            }
            tasks.extend(parts.into_iter().rev());
            if level < tightness {
                tasks.push(Task::Word("("));
            }
        }
        out
    }

    /// The items along the left spine of a product. An infinite spine is cut.
    fn spine(&mut self, mut ty: Ty) -> Vec<Ty> {
        let mut items = Vec::new();
        while let KnownForm::Product(left, right) = self.known(ty)
            && items.len() < self.known.len()
        {
            items.push(right);
            ty = left;
        }
        items.push(ty);
        items.reverse();
        items
    }
}
