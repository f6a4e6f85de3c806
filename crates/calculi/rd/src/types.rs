//! Types `T ::= real | unit | T × U`, interned: equal types are the same number.
//!
//! Interning makes equality one comparison and lets types share their parts, so a type of a million
//! components, or one nested a million deep, needs no recursion.

use std::fmt::Write;

use rustc_hash::FxHashMap;

eddy_index::id! {
    /// A type, an index into [`Types`].
    pub struct Type, "fewer types than source bytes";
}

impl Type {
    /// `real`.
    pub const REAL: Type = Type(0);
    /// `unit`.
    pub const UNIT: Type = Type(1);
    /// The type of a term with a reported error: it agrees with every type, so that one mistake gives one
    /// message.
    pub const UNKNOWN: Type = Type(2);
}

/// The outermost form of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `real`.
    Real,
    /// `unit`.
    Unit,
    /// `T × U`.
    Product(Type, Type),
    /// See [`Type::UNKNOWN`].
    Unknown,
}

#[derive(Clone, Debug)]
pub struct Types {
    shapes: Vec<Shape>,
    leaves: Vec<u64>,
    components: Vec<u64>,
    products: FxHashMap<(Type, Type), Type>,
}

impl Default for Types {
    fn default() -> Self {
        let shapes = vec![Shape::Real, Shape::Unit, Shape::Unknown];
        Types { shapes, leaves: vec![1, 0, 0], components: vec![1, 1, 1], products: FxHashMap::default() }
    }
}

impl Types {
    /// The maximal number of components of a value, units included; larger types are refused. Any number
    /// works that keeps one value well within memory.
    pub const MAX_COMPONENTS: u64 = 1 << 20;

    /// The product `left × right`.
    pub fn product(&mut self, left: Type, right: Type) -> Type {
        let next = Type::new(self.shapes.len());
        let leaves = self.leaves(left).saturating_add(self.leaves(right));
        let components = self.components(left).saturating_add(self.components(right));
        *self.products.entry((left, right)).or_insert_with(|| {
            self.shapes.push(Shape::Product(left, right));
            self.leaves.push(leaves);
            self.components.push(components);
            next
        })
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

    /// How many reals and units a value of this type holds (saturating).
    pub fn components(&self, ty: Type) -> u64 {
        self.components[ty.index()]
    }

    /// How many reals a value of this type holds (saturating).
    pub fn leaves(&self, ty: Type) -> u64 {
        self.leaves[ty.index()]
    }

    /// The type in source text: `real * real * (unit * real)`.
    ///
    /// ```
    /// use eddy_rd::types::{Type, Types};
    /// let mut types = Types::default();
    /// let pair = types.product(Type::REAL, Type::REAL);
    /// let nested = types.product(pair, pair);
    /// assert_eq!(types.show(nested), "real * real * (real * real)");
    /// ```
    pub fn show(&self, ty: Type) -> String {
        enum Task {
            Word(&'static str),
            Type(Type),
        }
        let mut out = String::new();
        let mut tasks = vec![Task::Type(ty)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Word(word) => out.push_str(word),
                Task::Type(ty) => match self.shape(ty) {
                    Shape::Real => out.push_str("real"),
                    Shape::Unit => out.push_str("unit"),
                    Shape::Unknown => out.push('?'),
                    Shape::Product(left, right) if self.factors(right).is_some() => {
                        tasks.extend([
                            Task::Word(")"),
                            Task::Type(right),
                            Task::Word(" * ("),
                            Task::Type(left),
                        ]);
                    }
                    Shape::Product(left, right) => {
                        tasks.extend([Task::Type(right), Task::Word(" * "), Task::Type(left)]);
                    }
                },
            }
        }
        out
    }

    /// Like [`Types::show`], shortened for messages when the type is too long to read.
    pub fn show_briefly(&self, ty: Type) -> String {
        const MANY: u64 = 24;
        if self.components(ty) <= MANY {
            return self.show(ty);
        }
        let mut out = String::new();
        let _ = write!(out, "a product of {} components", self.components(ty));
        out
    }
}
