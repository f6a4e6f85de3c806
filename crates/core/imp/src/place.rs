//! Places: the memory that expressions read and statements write, and whether two places may overlap.

use crate::expr::{Binary, Expr};
use crate::name::Name;

/// Memory: an element or, with fewer indices than dimensions, an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub base: Base,
    /// One index for each dimension, starting with the first.
    pub at: Vec<Expr>,
}

/// A named object in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A field of the state.
    State(Name),
    /// A field of the input of a cycle.
    In(Name),
    /// A field of an output: of the first one, or of the one with this index.
    Out(Name, Option<Box<Expr>>),
    /// A table of constants.
    Table(Name),
    /// A field of the struct that the pieces of a procedure share.
    Shared(Name),
    /// A local array, a pointer, or a parameter that is an array.
    Local(Name),
}

impl Place {
    pub fn state(name: impl Into<Name>) -> Place {
        Place { base: Base::State(name.into()), at: Vec::new() }
    }

    pub fn input(name: impl Into<Name>) -> Place {
        Place { base: Base::In(name.into()), at: Vec::new() }
    }

    pub fn output(name: impl Into<Name>) -> Place {
        Place { base: Base::Out(name.into(), None), at: Vec::new() }
    }

    pub fn output_of(row: impl Into<Expr>, name: impl Into<Name>) -> Place {
        Place { base: Base::Out(name.into(), Some(Box::new(row.into()))), at: Vec::new() }
    }

    pub fn table(name: impl Into<Name>) -> Place {
        Place { base: Base::Table(name.into()), at: Vec::new() }
    }

    pub fn local(name: impl Into<Name>) -> Place {
        Place { base: Base::Local(name.into()), at: Vec::new() }
    }

    /// Adds an index.
    #[must_use]
    pub fn index(&self, at: impl Into<Expr>) -> Place {
        let mut place = self.clone();
        place.at.push(at.into());
        place
    }

    /// The array that contains an element: the place without its last index.
    #[must_use]
    pub fn row(&self) -> Place {
        let mut row = self.clone();
        row.at.pop();
        row
    }

    /// The value of an element.
    pub fn load(&self) -> Expr {
        Expr::Load(self.clone())
    }

    /// Whether two places may overlap. Pointers are not followed.
    pub fn overlaps(&self, other: &Place) -> bool {
        let is_same = match (&self.base, &other.base) {
            (Base::Out(one, row), Base::Out(another, other)) => {
                one == another && !matches!((row, other), (Some(row), Some(other)) if differ(row, other))
            }
            (one, another) => one == another,
        };
        is_same && !self.at.iter().zip(&other.at).any(|(one, another)| differ(one, another))
    }

    /// The name, if it is a field of the state.
    pub fn field(&self) -> Option<&Name> {
        match &self.base {
            Base::State(name) => Some(name),
            _ => None,
        }
    }
}

/// Whether two indices certainly differ: they are equal except for an added constant.
fn differ(one: &Expr, other: &Expr) -> bool {
    if let (Expr::Binary(Binary::Rem, one), Expr::Binary(Binary::Rem, other)) = (one, other) {
        // Indices into a ring, relative to the same position.
        let ((first, n), (second, m)) = (shifted(&one[0]), shifted(&other[0]));
        return match (&one[1], &other[1]) {
            (Expr::Count(size), Expr::Count(same)) if size == same && *size > 0 => {
                first == second && (n - m) % size != 0
            }
            _ => false,
        };
    }
    let ((one, n), (other, m)) = (shifted(one), shifted(other));
    one == other && n != m
}

/// Splits an index into an expression and an added constant.
fn shifted(expr: &Expr) -> (Option<&Expr>, i64) {
    match expr {
        Expr::Count(n) => (None, *n),
        Expr::Binary(op @ (Binary::Add | Binary::Sub), operands) => match &**operands {
            [rest, Expr::Count(n)] => {
                let (rest, m) = shifted(rest);
                (rest, if *op == Binary::Add { m + n } else { m - n })
            }
            _ => (Some(expr), 0),
        },
        _ => (Some(expr), 0),
    }
}
