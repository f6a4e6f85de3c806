//! Values and their representation.
//!
//! A value is a number, a cell on a tape, a range of the pool of tuple items, or the index of an object.
//! Values are copied freely; nothing is moved or freed before the run ends, so dropping a list of a million
//! closures drops one table.
//!
//! Tuples are flat: the left spine of a product is one range. So `<x1, …, xn>` is n consecutive items, a
//! component is one load, and `π1` of a tuple is the same range without its last item.

use super::code::{BlockId, Signature};
use super::forward::{Derived, Use};
use super::lazy::{Function, Lazy};
use crate::primitive::PrimId;
use crate::syntax::Path;
use crate::types::Type;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Real(f64),
    /// A number on a tape: the level of the tape, and the node on it.
    Cell(u32, u32),
    /// Two or more items of the pool: the index of the first item, and their number.
    Tuple(u32, u32),
    /// An object: a function, or a functional.
    Object(u32),
}

/// Functions and functionals.
#[derive(Clone, Copy, Debug)]
pub enum Object {
    /// `λx.t`: its block and what it captures, in the pool.
    Closure(BlockId, u32, u32),
    /// `0` at a function type.
    Zero,
    /// `s + t` of functions.
    Sum(Value, Value),
    /// `(Ω λx.p)·w`: the block and captures of `λx.p`, and `w`.
    Pullback(BlockId, u32, u32, Value, Signature),
    /// `J f·t`.
    PrimJacobian(PrimId, Value),
    /// `J s·t`, where `s` has this type.
    Jacobian(Type, Value, Value),
    /// `(J s·t) x` that is a function or a functional: `s`, `x`, `t`, and the uses of the result of `s`; see
    /// [`super::forward`].
    Derived(u32),
    /// A function or functional that is an input of the tape at this level, or a result of calling one: its
    /// node, its type, and the plain function.
    Tracked {
        /// The level of the tape.
        level: u32,
        node: u32,
        ty: Type,
        /// The function or functional itself.
        under: Value,
    },
    /// A functional on functions or functionals: `Σ c_i @ (u z_i)`, with entries `(z_i, c_i)`: the index of
    /// the first entry, and their number.
    List(u32, u32),
    /// The sum of two functionals.
    Both(Value, Value),
    /// A function or functional times a number.
    Scaled(Value, Value),
    /// A functional that is computed when it is applied; see [`super::lazy`].
    Lazy(u32),
}

/// All values of a run.
#[derive(Debug, Default)]
pub struct Heap {
    pool: Vec<Value>,
    objects: Vec<Object>,
    entries: Vec<(Value, Value)>,
    derived: Vec<Derived>,
    /// The total number of uses in the derivatives.
    n_uses: usize,
    lazies: Vec<Lazy>,
}

/// The size of the heap at some moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mark {
    pool: u32,
    objects: u32,
}

fn size(length: usize) -> u32 {
    u32::try_from(length).expect("the memory limit ends a run before 2^32 values")
}

impl Heap {
    pub fn mark(&self) -> Mark {
        Mark { pool: size(self.pool.len()), objects: size(self.objects.len()) }
    }

    /// Whether a value, with all its parts, existed at the mark.
    pub fn is_older(&self, value: Value, mark: Mark) -> bool {
        match value {
            Value::Real(_) => true,
            Value::Cell(..) => false,
            Value::Tuple(start, len) => start + len <= mark.pool,
            Value::Object(id) => id < mark.objects,
        }
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        self.pool.capacity() * size_of::<Value>()
            + self.objects.capacity() * size_of::<Object>()
            + self.entries.capacity() * size_of::<(Value, Value)>()
            + self.derived.capacity() * size_of::<Derived>()
            + self.n_uses * size_of::<(Use, Type)>()
            + self.lazies.capacity() * size_of::<Lazy>()
    }

    /// A tuple of these items; a single item is returned as it is.
    pub fn tuple(&mut self, items: &[Value]) -> Value {
        match items {
            [only] => *only,
            _ => {
                let start = size(self.pool.len());
                self.pool.extend_from_slice(items);
                Value::Tuple(start, size(items.len()))
            }
        }
    }

    /// A tuple with more items appended. A tuple at the end of the pool grows in place.
    pub fn extend(&mut self, tuple: Value, items: &[Value]) -> Value {
        let Value::Tuple(start, len) = tuple else { unreachable!("only tuples are extended") };
        if (start + len) as usize == self.pool.len() {
            self.pool.extend_from_slice(items);
            return Value::Tuple(start, len + size(items.len()));
        }
        let new = size(self.pool.len());
        self.pool.extend_from_within(start as usize..(start + len) as usize);
        self.pool.extend_from_slice(items);
        Value::Tuple(new, len + size(items.len()))
    }

    pub fn items(&self, tuple: Value) -> &[Value] {
        match tuple {
            Value::Tuple(start, len) => &self.pool[start as usize..(start + len) as usize],
            other => unreachable!("{other:?} is no tuple"),
        }
    }

    /// Values in the pool, such as the captures of a closure.
    pub fn range(&self, start: u32, len: u32) -> &[Value] {
        &self.pool[start as usize..(start + len) as usize]
    }

    /// Puts values in the pool.
    pub fn store(&mut self, values: impl Iterator<Item = Value>) -> (u32, u32) {
        let start = size(self.pool.len());
        self.pool.extend(values);
        (start, size(self.pool.len()) - start)
    }

    /// A component of a tuple.
    pub fn project(&self, path: Path, tuple: Value) -> Value {
        let Value::Tuple(start, len) = tuple else { unreachable!("only tuples are projected") };
        let rest = len - path.lefts;
        match (path.right, rest) {
            (true, _) => self.pool[(start + rest - 1) as usize],
            (false, 1) => self.pool[start as usize],
            (false, _) => Value::Tuple(start, rest),
        }
    }

    pub fn object(&mut self, object: Object) -> Value {
        self.objects.push(object);
        Value::Object(size(self.objects.len() - 1))
    }

    pub fn get(&self, value: Value) -> Object {
        match value {
            Value::Object(id) => self.objects[id as usize],
            other => unreachable!("{other:?} is no object"),
        }
    }

    /// A functional with these entries.
    pub fn list(&mut self, entries: Vec<(Value, Value)>) -> Value {
        let start = size(self.entries.len());
        let len = size(entries.len());
        self.entries.extend(entries);
        self.object(Object::List(start, len))
    }

    pub fn entries(&self, start: u32, len: u32) -> &[(Value, Value)] {
        &self.entries[start as usize..(start + len) as usize]
    }

    /// The values in a tuple or an object.
    pub fn parts(&self, value: Value) -> Vec<Value> {
        let Value::Object(_) = value else { return self.items(value).to_vec() };
        match self.get(value) {
            Object::Zero => Vec::new(),
            Object::Closure(_, start, len) => self.range(start, len).to_vec(),
            Object::Sum(a, b) | Object::Jacobian(_, a, b) | Object::Both(a, b) | Object::Scaled(a, b) => {
                vec![a, b]
            }
            Object::Lazy(id) => {
                let Lazy { function, point, covector, .. } = self.lazies[id as usize];
                let captures = self.range(function.start, function.len).iter().copied();
                captures.chain([covector]).chain(point).collect()
            }
            Object::Pullback(_, start, len, form, _) => {
                let mut parts = self.range(start, len).to_vec();
                parts.push(form);
                parts
            }
            Object::PrimJacobian(_, a) | Object::Tracked { under: a, .. } => vec![a],
            Object::Derived(id) => self.derived[id as usize].parts(),
            Object::List(start, len) => self
                .entries(start, len)
                .iter()
                .flat_map(|(argument, covector)| [*argument, *covector])
                .collect(),
        }
    }

    /// The same tuple or object with other parts, in the order of [`Heap::parts`].
    pub fn with_parts(&mut self, value: Value, parts: Vec<Value>) -> Value {
        let Value::Object(_) = value else { return self.tuple(&parts) };
        let new = match self.get(value) {
            Object::Zero => Object::Zero,
            Object::Closure(block, ..) => {
                let (start, len) = self.store(parts.into_iter());
                Object::Closure(block, start, len)
            }
            Object::Sum(..) => Object::Sum(parts[0], parts[1]),
            Object::Jacobian(ty, ..) => Object::Jacobian(ty, parts[0], parts[1]),
            Object::Both(..) => Object::Both(parts[0], parts[1]),
            Object::Scaled(..) => Object::Scaled(parts[0], parts[1]),
            Object::Lazy(id) => return self.lazy_with_parts(id, &parts),
            Object::Pullback(block, _, _, _, signature) => {
                let form = parts[parts.len() - 1];
                let (start, len) = self.store(parts[..parts.len() - 1].iter().copied());
                Object::Pullback(block, start, len, form, signature)
            }
            Object::PrimJacobian(f, _) => Object::PrimJacobian(f, parts[0]),
            Object::Tracked { level, node, ty, .. } => Object::Tracked { level, node, ty, under: parts[0] },
            Object::Derived(id) => {
                let derived = self.derived[id as usize].with_parts(&parts);
                return self.derive(derived);
            }
            Object::List(..) => {
                return self.list(parts.chunks(2).map(|entry| (entry[0], entry[1])).collect());
            }
        };
        self.object(new)
    }

    fn lazy_with_parts(&mut self, id: u32, parts: &[Value]) -> Value {
        let lazy = self.lazies[id as usize];
        let n = lazy.function.len as usize;
        let (start, len) = self.store(parts[..n].iter().copied());
        let function = Function { start, len, ..lazy.function };
        self.lazy(Lazy { function, covector: parts[n], point: lazy.point.map(|_| parts[n + 1]), ..lazy })
    }

    /// A functional that is computed when it is applied.
    pub fn lazy(&mut self, lazy: Lazy) -> Value {
        self.lazies.push(lazy);
        let id = size(self.lazies.len() - 1);
        self.object(Object::Lazy(id))
    }

    pub fn get_lazy(&self, id: u32) -> Lazy {
        self.lazies[id as usize]
    }

    pub fn derive(&mut self, derived: Derived) -> Value {
        self.n_uses += derived.uses.capacity();
        self.derived.push(derived);
        let id = size(self.derived.len() - 1);
        self.object(Object::Derived(id))
    }

    /// The data of a stored derivative.
    pub fn derived(&self, id: u32) -> Derived {
        self.derived[id as usize].clone()
    }
}
