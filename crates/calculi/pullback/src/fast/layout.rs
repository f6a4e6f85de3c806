//! The representation of values of a type: a tree of tuples with leaves.
//!
//! The dual of a type is represented like the type itself, leaf by leaf: a covector on `R` is a number, a
//! covector on a product is a tuple, and only functionals on functions (and on such functionals) have their
//! own representation, lists. So there are three kinds of leaves, and operations at every type (adding,
//! lifting to a tape, contracting) work leaf by leaf.

use std::rc::Rc;

use super::heap::{Heap, Value};
use crate::types::{Shape, Type, Types};

/// The kind of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Scalar,
    Function,
    Functional,
}

/// The types of a run, and their layouts.
#[derive(Debug)]
pub struct Layouts {
    /// The types, which grow.
    pub types: Types,
    layouts: Vec<Option<Rc<Layout>>>,
}

/// The representation of values of one type.
#[derive(Debug)]
pub struct Layout {
    is_tuple: bool,
    /// The leaves, from left to right.
    pub leaves: Vec<(Type, Kind)>,
    /// Whether all leaves are numbers.
    pub is_vector: bool,
    /// Whether it is a tuple of leaves, or a leaf.
    is_flat: bool,
}

impl Layouts {
    pub fn new(types: Types) -> Self {
        Layouts { types, layouts: Vec::new() }
    }

    pub fn of(&mut self, ty: Type) -> Rc<Layout> {
        if let Some(Some(known)) = self.layouts.get(ty.index()) {
            return Rc::clone(known);
        }
        let (mut leaves, mut work, mut is_flat) = (Vec::new(), vec![ty], true);
        while let Some(at) = work.pop() {
            match self.items(at) {
                Some(items) => {
                    is_flat &= at == ty;
                    work.extend(items.into_iter().rev());
                }
                None => leaves.push((at, self.kind(at))),
            }
        }
        let is_vector = leaves.iter().all(|(_, kind)| *kind == Kind::Scalar);
        let is_tuple = self.items(ty).is_some();
        let layout = Rc::new(Layout { is_tuple, leaves, is_vector, is_flat });
        if self.layouts.len() <= ty.index() {
            self.layouts.resize(self.types.len().max(ty.index() + 1), None);
        }
        self.layouts[ty.index()] = Some(Rc::clone(&layout));
        layout
    }

    /// The type under all outer duals, and their number.
    fn base(&self, mut ty: Type) -> (Type, usize) {
        let mut n = 0;
        while let Shape::Dual(of) = self.types.shape(ty) {
            ty = of;
            n += 1;
        }
        (ty, n)
    }

    fn items(&mut self, ty: Type) -> Option<Vec<Type>> {
        let (base, n) = self.base(ty);
        self.types.factors(base)?;
        let items = self.types.spine(base);
        Some(items.into_iter().map(|item| (0..n).fold(item, |item, _| self.types.dual(item))).collect())
    }

    fn kind(&self, ty: Type) -> Kind {
        match self.base(ty) {
            (base, _) if base == Type::REAL => Kind::Scalar,
            (_, 0) => Kind::Function,
            _ => Kind::Functional,
        }
    }

    /// The leaves of a value.
    pub fn flatten(&mut self, heap: &Heap, value: Value, ty: Type) -> Vec<Value> {
        let layout = self.of(ty);
        if layout.is_flat {
            return if layout.is_tuple { heap.items(value).to_vec() } else { vec![value] };
        }
        let (mut leaves, mut work) = (Vec::with_capacity(layout.leaves.len()), vec![(value, ty)]);
        while let Some((value, ty)) = work.pop() {
            match self.items(ty) {
                Some(items) => work.extend(heap.items(value).iter().copied().zip(items).rev()),
                None => leaves.push(value),
            }
        }
        leaves
    }

    /// The value with these leaves.
    pub fn rebuild(&mut self, heap: &mut Heap, ty: Type, leaves: &[Value]) -> Value {
        enum Task {
            Visit(Type),
            Join(usize),
        }
        let layout = self.of(ty);
        if layout.is_flat {
            return heap.tuple(leaves);
        }
        let (mut tasks, mut done, mut leaves) = (vec![Task::Visit(ty)], Vec::new(), leaves.iter());
        while let Some(task) = tasks.pop() {
            match task {
                // `self.of(ty)` would list the leaves of each part again, in quadratic time.
                Task::Visit(ty) => match self.items(ty) {
                    Some(items) => {
                        tasks.push(Task::Join(items.len()));
                        tasks.extend(items.into_iter().rev().map(Task::Visit));
                    }
                    None => done.push(*leaves.next().expect("a leaf for each")),
                },
                Task::Join(n) => {
                    let items = done.split_off(done.len() - n);
                    done.push(heap.tuple(&items));
                }
            }
        }
        done.pop().expect("one value is built")
    }
}
