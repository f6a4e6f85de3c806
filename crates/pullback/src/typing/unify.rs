//! Types with unknown parts, and first-order unification (section 4.1).
//!
//! A type is a class of nodes that were found equal (union-find). Classes are joined before their parts are looked at, so that
//! unification ends also where a type would contain itself; [`Unknowns::cycle`] finds those afterwards, in one sweep, instead of an
//! occurs check at each step. Everything together is nearly linear in the size of the program.

use eddy_syntax::Span;

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

impl Known {
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

    /// Makes two types equal, or says that they cannot be. `at` is the place that asks for it.
    pub fn unify(&mut self, left: Ty, right: Ty, at: Span) -> bool {
        let mut work = vec![(left, right)];
        let mut agrees = true;
        while let Some((left, right)) = work.pop() {
            let (left, right) = (self.find(left), self.find(right));
            if left == right {
                continue;
            }
            let (a, b) = (self.known[left.index()], self.known[right.index()]);
            let (root, other) = match (a, b) {
                (Known::Nothing, _) => (right, left),
                (_, Known::Nothing) => (left, right),
                _ => (left, right),
            };
            self.parents[other.index()] = root;
            self.joined_at[root.index()] = Some(at);
            match (a, b) {
                (Known::Nothing, _) | (_, Known::Nothing) | (Known::Real, Known::Real) => {}
                (Known::Poison, _) | (_, Known::Poison) => self.known[root.index()] = Known::Poison,
                (Known::Product(a1, a2), Known::Product(b1, b2))
                | (Known::Arrow(a1, a2), Known::Arrow(b1, b2)) => {
                    work.extend([(a2, b2), (a1, b1)]);
                }
                (Known::Dual(a), Known::Dual(b)) => work.push((a, b)),
                _ => {
                    agrees = false;
                    self.known[root.index()] = Known::Poison;
                }
            }
        }
        agrees
    }

    /// A place where a type was made to contain itself, if there is one.
    pub fn cycle(&mut self) -> Option<Span> {
        const WHITE: u8 = 0;
        const GREY: u8 = 1;
        const BLACK: u8 = 2;
        let mut colour = vec![WHITE; self.known.len()];
        for start in 0..self.known.len() {
            let start = self.find(Ty(u32::try_from(start).expect("they are numbered so")));
            let mut path = vec![(start, false)];
            while let Some((ty, is_done)) = path.pop() {
                if is_done {
                    colour[ty.index()] = BLACK;
                    continue;
                }
                match colour[ty.index()] {
                    BLACK => continue,
                    GREY => return Some(self.report(ty, &path)),
                    _ => {}
                }
                colour[ty.index()] = GREY;
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
        let (mut work, mut seen) = (vec![ty], rustc_hash::FxHashSet::default());
        while let Some(ty) = work.pop() {
            let ty = self.find(ty);
            if !seen.insert(ty) {
                continue;
            }
            match self.known[ty.index()] {
                Known::Nothing => return false,
                known => work.extend(known.parts()),
            }
        }
        true
    }

    /// What is unknown in the type is `R`.
    pub fn default_to_real(&mut self, ty: Ty) {
        let (mut work, mut seen) = (vec![ty], rustc_hash::FxHashSet::default());
        while let Some(ty) = work.pop() {
            let ty = self.find(ty);
            if !seen.insert(ty) {
                continue;
            }
            match self.known[ty.index()] {
                Known::Nothing => self.known[ty.index()] = Known::Real,
                known => work.extend(known.parts()),
            }
        }
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

    /// For messages: unknown parts are `_`, and what is too long to be read is cut short.
    pub fn show(&mut self, ty: Ty) -> String {
        enum Task {
            Word(&'static str),
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
                Task::Type(ty, tightness) => (ty, tightness),
            };
            let (level, parts) = match self.known(ty) {
                Known::Nothing | Known::Poison => (3, vec![Task::Word("_")]),
                Known::Real => (3, vec![Task::Word("R")]),
                Known::Arrow(from, to) => {
                    (0, vec![Task::Type(from, 1), Task::Word(" -> "), Task::Type(to, 0)])
                }
                Known::Product(left, right) => {
                    (1, vec![Task::Type(left, 1), Task::Word(" * "), Task::Type(right, 2)])
                }
                Known::Dual(of) => (3, vec![Task::Type(of, 3), Task::Word("^*")]),
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
}
