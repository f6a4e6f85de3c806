//! Types `σ ::= R | σ → τ | σ × τ | σ*` (section 2), interned: equal types are the same number.
//!
//! Interning makes equality one comparison and lets types share their parts, so a type of a million
//! components, or one nested a million deep, needs no recursion.

use rustc_hash::FxHashMap;

eddy_index::id! {
    /// A type, an index into [`Types`].
    pub struct Type, "memory ends before 2^32 types";
}

impl Type {
    /// `R`.
    pub const REAL: Type = Type(0);
}

/// The outermost form of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// `R`.
    Real,
    /// `σ × τ`.
    Product(Type, Type),
    /// `σ → τ`.
    Arrow(Type, Type),
    /// `σ*`.
    Dual(Type),
}

/// A step in putting a tuple together: the next of its leaves, or a pair of the last two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assembly {
    Leaf,
    Pair,
}

/// Puts a tuple together from its leaves, from left to right.
pub fn assemble<T>(
    steps: &[Assembly],
    leaves: impl IntoIterator<Item = T>,
    mut pair: impl FnMut(T, T) -> T,
) -> T {
    let (mut leaves, mut done) = (leaves.into_iter(), Vec::new());
    for step in steps {
        let part = match step {
            Assembly::Leaf => leaves.next().expect("a leaf for each `R`"),
            Assembly::Pair => {
                let right = done.pop().expect("both parts are made");
                let left = done.pop().expect("both parts are made");
                pair(left, right)
            }
        };
        done.push(part);
    }
    done.pop().expect("one tuple is made")
}

#[derive(Clone, Debug)]
pub struct Types {
    shapes: Vec<Shape>,
    /// The number of `R` in each type.
    components: Vec<u64>,
    is_euclidean: Vec<bool>,
    numbers: FxHashMap<Shape, Type>,
    /// The types after zero, one, two, … times `π1`, for products whose components were requested.
    prefixes: FxHashMap<Type, Vec<Type>>,
}

impl Default for Types {
    fn default() -> Self {
        let numbers = FxHashMap::from_iter([(Shape::Real, Type::REAL)]);
        Types {
            shapes: vec![Shape::Real],
            components: vec![1],
            is_euclidean: vec![true],
            numbers,
            prefixes: FxHashMap::default(),
        }
    }
}

impl Types {
    /// The maximal number of `R` in a type; larger types are refused. Any number works that keeps one value
    /// well within memory.
    pub const MAX_COMPONENTS: u64 = 1 << 20;

    /// The type of this form.
    pub fn intern(&mut self, shape: Shape) -> Type {
        if let Some(ty) = self.numbers.get(&shape) {
            return *ty;
        }
        let (components, is_euclidean) = match shape {
            Shape::Real => (1, true),
            Shape::Product(left, right) => (
                self.components(left).saturating_add(self.components(right)),
                self.is_euclidean(left) && self.is_euclidean(right),
            ),
            Shape::Arrow(left, right) => {
                (self.components(left).saturating_add(self.components(right)), false)
            }
            Shape::Dual(of) => (self.components(of), false),
        };
        let ty = Type::new(self.shapes.len());
        self.shapes.push(shape);
        self.components.push(components);
        self.is_euclidean.push(is_euclidean);
        self.numbers.insert(shape, ty);
        ty
    }

    /// `σ × τ`.
    pub fn product(&mut self, left: Type, right: Type) -> Type {
        self.intern(Shape::Product(left, right))
    }

    /// `σ → τ`.
    pub fn arrow(&mut self, from: Type, to: Type) -> Type {
        self.intern(Shape::Arrow(from, to))
    }

    /// `σ*`.
    pub fn dual(&mut self, of: Type) -> Type {
        self.intern(Shape::Dual(of))
    }

    /// `Ω σ`, which is `σ → σ*`.
    pub fn omega(&mut self, of: Type) -> Type {
        let dual = self.dual(of);
        self.arrow(of, dual)
    }

    /// `R^n`.
    pub fn vector(&mut self, n: usize) -> Type {
        (1..n).fold(Type::REAL, |left, _| self.product(left, Type::REAL))
    }

    pub fn shape(&self, ty: Type) -> Shape {
        self.shapes[ty.index()]
    }

    /// The two factors of a product.
    pub fn factors(&self, ty: Type) -> Option<(Type, Type)> {
        match self.shape(ty) {
            Shape::Product(left, right) => Some((left, right)),
            _ => None,
        }
    }

    /// The type after `lefts` times `π1`. The first request for a long product stores the types after every
    /// number of `π1`, so n requests take n steps and not n².
    pub fn after_lefts(&mut self, ty: Type, lefts: u32) -> Option<Type> {
        if lefts <= 2 {
            let step = |ty: Type| self.factors(ty).map(|(left, _)| left);
            return (0..lefts).try_fold(ty, |ty, _| step(ty));
        }
        if !self.prefixes.contains_key(&ty) {
            let (mut prefixes, mut at) = (vec![ty], ty);
            while let Some((left, _)) = self.factors(at) {
                prefixes.push(left);
                at = left;
            }
            self.prefixes.insert(ty, prefixes);
        }
        self.prefixes[&ty].get(lefts as usize).copied()
    }

    /// The argument and the result of a function type.
    pub fn function(&self, ty: Type) -> (Type, Type) {
        match self.shape(ty) {
            Shape::Arrow(from, to) => (from, to),
            other => unreachable!("{other:?} is no function type"),
        }
    }

    /// The type that a dual type is the dual of.
    pub fn predual(&self, ty: Type) -> Type {
        match self.shape(ty) {
            Shape::Dual(of) => of,
            other => unreachable!("{other:?} is no dual type"),
        }
    }

    /// The number of `R` in the type (saturating).
    pub fn components(&self, ty: Type) -> u64 {
        self.components[ty.index()]
    }

    /// Whether the type is `e ::= R | e × e`.
    pub fn is_euclidean(&self, ty: Type) -> bool {
        self.is_euclidean[ty.index()]
    }

    /// Whether the type is the dual of a Euclidean type.
    pub fn is_covector(&self, ty: Type) -> bool {
        matches!(self.shape(ty), Shape::Dual(of) if self.is_euclidean(of))
    }

    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Always false: the table contains `R`.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The factors along the left spine of a product: `R^2 * R^2` has the items `R`, `R`, `R^2`.
    pub fn spine(&self, mut ty: Type) -> Vec<Type> {
        let mut items = Vec::new();
        while let Some((left, right)) = self.factors(ty) {
            items.push(right);
            ty = left;
        }
        items.push(ty);
        items.reverse();
        items
    }

    /// The steps that assemble tuples of this type.
    pub fn assembly(&self, ty: Type) -> Vec<Assembly> {
        // Backwards, a pair comes before its parts, and its right part before its left one.
        let (mut steps, mut work) = (Vec::new(), vec![ty]);
        while let Some(ty) = work.pop() {
            match self.factors(ty) {
                Some((left, right)) => {
                    steps.push(Assembly::Pair);
                    work.extend([left, right]);
                }
                None => steps.push(Assembly::Leaf),
            }
        }
        steps.reverse();
        steps
    }

    /// The text of a type (section 10).
    ///
    /// ```
    /// use eddy_pullback::types::{Type, Types};
    /// let mut types = Types::default();
    /// let plane = types.vector(2);
    /// let covector = types.dual(plane);
    /// let nested = types.product(plane, plane);
    /// let function = types.arrow(nested, covector);
    /// assert_eq!(types.show(function), "R^2 * R^2 -> (R^2)^*");
    /// ```
    pub fn show(&self, ty: Type) -> String {
        enum Task {
            Word(&'static str),
            Text(String),
            Type(Type),
        }
        let mut out = String::new();
        let mut tasks = vec![Task::Type(ty)];
        while let Some(task) = tasks.pop() {
            let ty = match task {
                Task::Word(word) => {
                    out.push_str(word);
                    continue;
                }
                Task::Text(text) => {
                    out.push_str(&text);
                    continue;
                }
                Task::Type(ty) => ty,
            };
            match self.shape(ty) {
                Shape::Real => out.push('R'),
                Shape::Dual(of) if of == Type::REAL => out.push_str("R^*"),
                Shape::Dual(of) => {
                    tasks.extend([Task::Word(")^*"), Task::Type(of), Task::Word("(")]);
                }
                Shape::Arrow(from, to) => {
                    tasks.extend([Task::Type(to), Task::Word(" -> ")]);
                    if matches!(self.shape(from), Shape::Arrow(..)) {
                        tasks.extend([Task::Word(")"), Task::Type(from), Task::Word("(")]);
                    } else {
                        tasks.push(Task::Type(from));
                    }
                }
                Shape::Product(..) => {
                    let items = self.spine(ty);
                    let n_reals = items.iter().take_while(|item| **item == Type::REAL).count();
                    let n_merged = if n_reals >= 2 { n_reals } else { 0 };
                    let mut shown = Vec::new();
                    if n_merged > 0 {
                        shown.push(Task::Text(format!("R^{n_merged}")));
                    }
                    for item in &items[n_merged..] {
                        if !shown.is_empty() {
                            shown.push(Task::Word(" * "));
                        }
                        if self.is_atomic(*item) {
                            shown.push(Task::Type(*item));
                        } else {
                            shown.extend([Task::Word("("), Task::Type(*item), Task::Word(")")]);
                        }
                    }
                    tasks.extend(shown.into_iter().rev());
                }
            }
        }
        out
    }

    /// Whether the type needs no parentheses as a factor: `R`, `R^n` and duals.
    fn is_atomic(&self, ty: Type) -> bool {
        match self.shape(ty) {
            Shape::Real | Shape::Dual(_) => true,
            Shape::Arrow(..) => false,
            Shape::Product(..) => self.spine(ty).iter().all(|item| *item == Type::REAL),
        }
    }
}
