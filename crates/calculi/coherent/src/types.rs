//! Types, `A ::= D^d nat | A -> B`, in the one form that makes `D` a function on types (section 1).
//!
//! `D (A -> B)` *is* `A -> D B`, so every type is `A1 -> … -> Ak -> D^d nat` for exactly one list of
//! arguments and one depth `d`. A [`Type`] is that pair. `D` adds one to the depth, an application removes
//! the first argument from the list, and two types are equal when the pairs are: lists of arguments are
//! interned.
//! ```
//! use eddy_coherent::types::{Type, Types};
//! let mut types = Types::default();
//! let function = types.arrow(Type::NAT, Type::NAT);
//! assert_eq!(types.show(function.deeper(1)), "nat -> D nat");
//! ```

use std::fmt::Write;

use rustc_hash::FxHashMap;

/// The maximal depth of a type, so that depths and their sums stay small numbers.
pub const MAX_DEPTH: u32 = 1_000_000;

/// A type: arguments and depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    args: Args,
    /// The `d` of `A1 -> … -> Ak -> D^d nat`.
    pub depth: u32,
}

eddy_index::id! {
    /// A list of arguments, an index into the table.
    struct Args, "fewer types than source bytes";
}

impl Args {
    const NONE: Args = Args(u32::MAX);
    const UNKNOWN: Args = Args(u32::MAX - 1);
}

impl Type {
    /// `nat`.
    pub const NAT: Type = Type { args: Args::NONE, depth: 0 };
    /// The type of a term with an error: it agrees with everything, so that one mistake gives one message.
    pub const UNKNOWN: Type = Type { args: Args::UNKNOWN, depth: 0 };

    /// `D^depth nat`.
    pub fn ground(depth: u32) -> Type {
        Type { args: Args::NONE, depth }
    }

    /// Whether it is the type of a term with an error.
    pub fn is_unknown(self) -> bool {
        self.args == Args::UNKNOWN
    }

    /// Whether it is `D^d nat` for some d.
    pub fn is_ground(self) -> bool {
        self.args == Args::NONE
    }

    /// `D^n` of this type; `None` if it is too deep.
    pub fn checked_deeper(self, n: u32) -> Option<Type> {
        let depth = self.depth.checked_add(n).filter(|depth| *depth <= MAX_DEPTH)?;
        Some(if self.is_unknown() { self } else { Type { depth, ..self } })
    }

    /// `D^n` of this type. Only what users write is bounded by [`MAX_DEPTH`]: a run may go deeper.
    #[must_use]
    pub fn deeper(self, n: u32) -> Type {
        if self.is_unknown() { self } else { Type { depth: self.depth + n, ..self } }
    }

    /// The type whose `D^n` this is, if there is one.
    pub fn shallower(self, n: u32) -> Option<Type> {
        if self.is_unknown() {
            return Some(self);
        }
        Some(Type { depth: self.depth.checked_sub(n)?, ..self })
    }
}

/// The lists of arguments of all types of one program.
#[derive(Clone, Debug, Default)]
pub struct Types {
    /// The first argument and the others.
    cells: Vec<(Type, Args)>,
    places: FxHashMap<(Type, Args), Args>,
}

impl Types {
    /// `from -> to`.
    pub fn arrow(&mut self, from: Type, to: Type) -> Type {
        if from.is_unknown() || to.is_unknown() {
            return Type::UNKNOWN;
        }
        let cell = (from, to.args);
        let next = Args::new(self.cells.len());
        let args = *self.places.entry(cell).or_insert(next);
        if args == next {
            self.cells.push(cell);
        }
        Type { args, depth: to.depth }
    }

    /// The two sides of an arrow.
    pub fn sides(&self, ty: Type) -> Option<(Type, Type)> {
        let (from, args) = *self.cells.get(ty.args.index())?;
        Some((from, Type { args, depth: ty.depth }))
    }

    /// The type in source text: never `D (A -> B)`, and parentheses only around an arrow on the left of an
    /// arrow.
    pub fn show(&self, ty: Type) -> String {
        self.show_at_most(ty, usize::MAX)
    }

    /// The type for messages: shortened when too long to read.
    pub fn show_briefly(&self, ty: Type) -> String {
        const ENOUGH: usize = 80;
        self.show_at_most(ty, ENOUGH)
    }

    /// The type, cut after `limit` characters.
    pub fn show_at_most(&self, ty: Type, limit: usize) -> String {
        enum Task {
            Show(Type),
            Text(&'static str),
        }
        let mut text = String::new();
        let mut work = vec![Task::Show(ty)];
        while let Some(task) = work.pop() {
            if text.len() > limit {
                return text + "…";
            }
            match task {
                Task::Text(part) => text.push_str(part),
                Task::Show(ty) if ty.is_unknown() => text.push('?'),
                Task::Show(ty) => match self.sides(ty) {
                    Some((from, to)) => {
                        work.push(Task::Show(to));
                        if from.is_ground() {
                            work.extend([Task::Text(" -> "), Task::Show(from)]);
                        } else {
                            work.extend([Task::Text(") -> "), Task::Show(from), Task::Text("(")]);
                        }
                    }
                    None => match ty.depth {
                        0 => text.push_str("nat"),
                        1 => text.push_str("D nat"),
                        depth => write!(text, "D^{depth} nat").expect("a string takes all that is written"),
                    },
                },
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d_goes_to_the_end_of_the_codomain() {
        let mut types = Types::default();
        let function = types.arrow(Type::NAT, Type::NAT);
        let higher = types.arrow(function, function);
        assert_eq!(types.show(higher), "(nat -> nat) -> nat -> nat");
        assert_eq!(types.show(higher.deeper(2)), "(nat -> nat) -> nat -> D^2 nat");
        assert_eq!(higher.deeper(2).shallower(2), Some(higher));
        assert_eq!(higher.shallower(1), None);
    }

    #[test]
    fn equal_types_are_the_same() {
        let mut types = Types::default();
        let one = types.arrow(Type::NAT, Type::ground(1));
        let other = types.arrow(Type::NAT, Type::NAT).deeper(1);
        assert_eq!(one, other);
    }
}
