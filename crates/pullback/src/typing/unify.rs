//! Types with unknown parts, and first-order unification (section 4.1).
//!
//! A type is a class of nodes that were found equal (union-find). Classes are joined before their parts are looked at, so that
//! unification ends also where a type would contain itself; [`Unknowns::cycle`] finds those afterwards, in one sweep, instead of an
//! occurs check at each step. Everything together is nearly linear in the size of the program.

use eddy_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::types::{Shape, Type, Types};

/// A type, possibly with unknown parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ty(u32);

impl Ty {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Nothing.
    Nothing,
    /// It was found wrong: it agrees with everything.
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
    /// One of them contains itself, made so at this place.
    Infinite(Span),
}

impl Known {
    /// Whether something of which this is known may be of the other form.
    fn may_be(self, other: Known) -> bool {
        use std::mem::discriminant;
        let agrees = |known| matches!(known, Known::Nothing | Known::Poison);
        agrees(self) || agrees(other) || discriminant(&self) == discriminant(&other)
    }

    fn parts(self) -> impl Iterator<Item = Ty> {
        let [first, second] = match self {
            Known::Nothing | Known::Poison | Known::Real => [None, None],
            Known::Dual(of) => [Some(of), None],
            Known::Product(left, right) | Known::Arrow(left, right) => [Some(left), Some(right)],
        };
        first.into_iter().chain(second)
    }
}

/// All types of a program while they are being found out.
#[derive(Debug, Default)]
pub struct Unknowns {
    parents: Vec<Ty>,
    known: Vec<Known>,
    /// Where each class was last joined with another.
    joined_at: Vec<Option<Span>>,
}

impl Unknowns {
    fn push(&mut self, known: Known) -> Ty {
        let ty = Ty(u32::try_from(self.known.len()).expect("fewer types than source bytes times a constant"));
        self.parents.push(ty);
        self.known.push(known);
        self.joined_at.push(None);
        ty
    }

    /// A type of which nothing is known.
    pub fn fresh(&mut self) -> Ty {
        self.push(Known::Nothing)
    }

    /// A type that agrees with everything.
    pub fn poison(&mut self) -> Ty {
        self.push(Known::Poison)
    }

    /// `R`.
    pub fn real(&mut self) -> Ty {
        self.push(Known::Real)
    }

    /// `σ × τ`.
    pub fn product(&mut self, left: Ty, right: Ty) -> Ty {
        self.push(Known::Product(left, right))
    }

    /// `σ → τ`.
    pub fn arrow(&mut self, from: Ty, to: Ty) -> Ty {
        self.push(Known::Arrow(from, to))
    }

    /// `σ*`.
    pub fn dual(&mut self, of: Ty) -> Ty {
        self.push(Known::Dual(of))
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

    /// What is known of the outermost form.
    pub fn known(&mut self, ty: Ty) -> Known {
        let root = self.find(ty);
        self.known[root.index()]
    }

    /// Makes two types equal, or says why they cannot be. `at` is the place that asks for it.
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
                // Looked at before they are joined: a type of its own part and another type would seem to contain itself.
                clash = clash.or_else(|| Some(self.clash(left, right)));
            }
            let (root, other) = if a == Known::Nothing { (right, left) } else { (left, right) };
            self.parents[other.index()] = root;
            self.joined_at[root.index()] = Some(at);
            match (a, b) {
                (Known::Nothing, _) | (_, Known::Nothing) | (Known::Real, Known::Real) => {}
                (Known::Product(a1, a2), Known::Product(b1, b2))
                | (Known::Arrow(a1, a2), Known::Arrow(b1, b2)) => {
                    work.extend([(a2, b2), (a1, b1)]);
                }
                (Known::Dual(a), Known::Dual(b)) => work.push((a, b)),
                _ => self.known[root.index()] = Known::Poison,
            }
        }
        clash.map_or(Ok(()), Err)
    }

    /// Why two types of different forms differ: `x x` gives `x` a type that contains itself, and whatever it is compared with later, that is the mistake.
    fn clash(&mut self, left: Ty, right: Ty) -> Clash {
        let cycle = self.cycle_from([left, right]);
        cycle.map_or(Clash::Mismatch, Clash::Infinite)
    }

    /// A place where a type was made to contain itself, if there is one.
    pub fn cycle(&mut self) -> Option<Span> {
        let n = u32::try_from(self.known.len()).expect("they are numbered so");
        self.cycle_from((0..n).map(Ty))
    }

    /// The same, among the parts of some types.
    fn cycle_from(&mut self, starts: impl IntoIterator<Item = Ty>) -> Option<Span> {
        /// A class that is being visited, or was.
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

    /// Whether nothing in the type is unknown.
    pub fn is_ground(&mut self, ty: Ty) -> bool {
        self.unknown_parts(ty).is_empty()
    }

    /// What is unknown in the type is `R`.
    pub fn default_to_real(&mut self, ty: Ty) {
        for part in self.unknown_parts(ty) {
            self.known[part.index()] = Known::Real;
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
                Known::Nothing => unknown.push(ty),
                known => work.extend(known.parts()),
            }
        }
        unknown
    }

    /// The type itself, in a program without mistakes and without cycles; what is unknown is `R`. `memo` is kept between calls.
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
                    Known::Nothing | Known::Poison | Known::Real => Shape::Real,
                    Known::Product(left, right) => Shape::Product(part(left), part(right)),
                    Known::Arrow(from, to) => Shape::Arrow(part(from), part(to)),
                    Known::Dual(of) => Shape::Dual(part(of)),
                };
                memo[root.index()] = Some(types.intern(shape));
            }
            work.pop();
        }
        let root = self.find(ty);
        memo[root.index()].expect("it was made")
    }

    /// For messages, as section 10 prints types: unknown parts are `_`, and what is too long to be read is cut short.
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
                Known::Nothing | Known::Poison => (4, vec![Task::Word("_")]),
                Known::Real => (4, vec![Task::Word("R")]),
                Known::Arrow(from, to) => {
                    (0, vec![Task::Type(from, 1), Task::Word(" -> "), Task::Type(to, 0)])
                }
                Known::Product(..) => {
                    let items = self.spine(ty);
                    let n_reals = items.iter().take_while(|item| self.known(**item) == Known::Real).count();
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
                Known::Dual(of) => (3, vec![Task::Type(of, 4), Task::Word("^*")]),
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

    /// The items of a product, its left spine taken apart. A spine that goes on for ever is cut.
    fn spine(&mut self, mut ty: Ty) -> Vec<Ty> {
        let mut items = Vec::new();
        while let Known::Product(left, right) = self.known(ty)
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
