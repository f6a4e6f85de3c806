//! Closed values `V ::= r | * | ⟨V,W⟩`, immutable and shared.
//!
//! A value may be a left-nested tuple of a million reals, so nothing here recurses, not even `Drop`, which
//! takes long chains apart one link at a time.

use std::rc::Rc;

use eddy_syntax::real::Real;

use crate::types::{Shape, Type, Types};

/// A closed value.
#[derive(Clone, Debug)]
pub enum Value {
    /// `r`, which is finite.
    Real(f64),
    /// `*`.
    Unit,
    /// `⟨V,W⟩`.
    Pair(Rc<Pair>),
}

/// The two halves of a pair.
#[derive(Debug)]
pub struct Pair {
    first: Value,
    second: Value,
}

impl Drop for Pair {
    fn drop(&mut self) {
        if !matches!((&self.first, &self.second), (Value::Pair(_), _) | (_, Value::Pair(_))) {
            return;
        }
        let mut chain = vec![
            std::mem::replace(&mut self.first, Value::Unit),
            std::mem::replace(&mut self.second, Value::Unit),
        ];
        while let Some(value) = chain.pop() {
            // Only the last owner takes the pair apart; its halves join the work list before it is freed.
            if let Value::Pair(pair) = value
                && let Some(mut pair) = Rc::into_inner(pair)
            {
                chain.push(std::mem::replace(&mut pair.first, Value::Unit));
                chain.push(std::mem::replace(&mut pair.second, Value::Unit));
            }
        }
    }
}

impl Value {
    /// `⟨V,W⟩`.
    pub fn pair(first: Value, second: Value) -> Value {
        Value::Pair(Rc::new(Pair { first, second }))
    }

    pub fn real(&self) -> f64 {
        match self {
            Value::Real(value) => *value,
            _ => unreachable!("a checked program has a real here"),
        }
    }

    pub fn halves(&self) -> (&Value, &Value) {
        match self {
            Value::Pair(pair) => (&pair.first, &pair.second),
            _ => unreachable!("a checked program has a pair here"),
        }
    }

    /// The two reals of a pair of reals.
    pub fn two_reals(&self) -> (f64, f64) {
        let (first, second) = self.halves();
        (first.real(), second.real())
    }

    /// The reals of the value, from left to right.
    pub fn leaves(&self) -> Vec<f64> {
        let mut leaves = Vec::new();
        let mut todo = vec![self];
        while let Some(value) = todo.pop() {
            match value {
                Value::Real(value) => leaves.push(*value),
                Value::Unit => {}
                Value::Pair(pair) => todo.extend([&pair.second, &pair.first]),
            }
        }
        leaves
    }

    /// The value of type `ty` with these reals, from left to right.
    pub fn from_leaves(types: &Types, ty: Type, leaves: &[f64]) -> Value {
        let mut leaves = leaves.iter();
        fold_type(types, ty, &mut || Value::Real(*leaves.next().expect("as many reals as the type has")))
    }

    /// `0_T`.
    pub fn zero(types: &Types, ty: Type) -> Value {
        fold_type(types, ty, &mut || Value::Real(0.0))
    }

    /// Whether both are the same, real by real; `-0` equals `0`.
    pub fn equals(&self, other: &Value) -> bool {
        let mut todo = vec![(self, other)];
        while let Some(pair) = todo.pop() {
            match pair {
                (Value::Real(x), Value::Real(y)) if x == y => {}
                (Value::Unit, Value::Unit) => {}
                (Value::Pair(x), Value::Pair(y)) => {
                    todo.extend([(&x.first, &y.first), (&x.second, &y.second)]);
                }
                _ => return false,
            }
        }
        true
    }
}

/// Builds a value of a type; `real` gives its reals from left to right.
fn fold_type(types: &Types, ty: Type, real: &mut dyn FnMut() -> Value) -> Value {
    enum Task {
        Build(Type),
        Join,
    }
    let mut done = Vec::new();
    let mut tasks = vec![Task::Build(ty)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Join => {
                let second = done.pop().expect("both halves are built");
                let first = done.pop().expect("both halves are built");
                done.push(Value::pair(first, second));
            }
            Task::Build(ty) => match types.shape(ty) {
                Shape::Real => done.push(real()),
                Shape::Unit => done.push(Value::Unit),
                Shape::Product(first, second) => {
                    tasks.extend([Task::Join, Task::Build(second), Task::Build(first)]);
                }
                Shape::Unknown => unreachable!("a checked program has no unknown type"),
            },
        }
    }
    done.pop().expect("one value is built")
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        enum Task<'a> {
            Word(&'static str),
            Value(&'a Value),
        }
        let mut tasks = vec![Task::Value(self)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Word(word) => f.write_str(word)?,
                Task::Value(Value::Real(value)) => write!(f, "{}", Real(*value))?,
                Task::Value(Value::Unit) => f.write_str("()")?,
                Task::Value(Value::Pair(pair)) => {
                    f.write_str("(")?;
                    tasks.extend([
                        Task::Word(")"),
                        Task::Value(&pair.second),
                        Task::Word(", "),
                        Task::Value(&pair.first),
                    ]);
                }
            }
        }
        Ok(())
    }
}
