//! The types of `.sysf` and `.ref`, with de Bruijn indices (section 4).
//!
//! Types are interned, so comparing two types compares two numbers. Nothing recurses: shifting and
//! substitution rebuild a type from the table, parts first.

use rustc_hash::FxHashMap;

eddy_index::id! {
    /// A type; equal types are equal numbers.
    pub struct Type, "fewer types than 2^32";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// The type of a term with an error; it agrees with every type.
    Unknown,
    /// `int`.
    Int,
    /// A type variable, as the number of binders between it and its own.
    Variable(u32),
    /// `A -> B`.
    Arrow(Type, Type),
    /// `forall. A`.
    Forall(Type),
    /// `A * B`.
    Product(Type, Type),
    /// `ref A`.
    Ref(Type),
}

impl Type {
    /// The type that agrees with every type.
    pub const UNKNOWN: Type = Type(0);
    pub const INT: Type = Type(1);
}

#[derive(Clone, Debug)]
pub struct Types {
    kinds: Vec<TypeKind>,
    /// For each type, one more than its largest free index; 0 for a closed type.
    reach: Vec<u32>,
    /// For each type, the number of its forms when written out.
    sizes: Vec<u64>,
    numbers: FxHashMap<TypeKind, Type>,
}

impl Default for Types {
    fn default() -> Self {
        let mut types =
            Types { kinds: Vec::new(), reach: Vec::new(), sizes: Vec::new(), numbers: FxHashMap::default() };
        assert_eq!(types.make(TypeKind::Unknown), Type::UNKNOWN);
        assert_eq!(types.make(TypeKind::Int), Type::INT);
        types
    }
}

/// How a walk over a type changes its variables.
#[derive(Clone, Copy)]
enum Change {
    /// `↑_c^d`: adds d to indices ≥ c.
    Shift { by: u32 },
    /// `[i↦B]`: replaces the index i by B, shifted by the number of crossed binders, and decrements the
    /// indices above i.
    Substitute { index: u32, by: Type },
}

impl Types {
    pub fn make(&mut self, kind: TypeKind) -> Type {
        if let Some(ty) = self.numbers.get(&kind) {
            return *ty;
        }
        let reach = |ty: Type| self.reach[ty.index()];
        let reach = match kind {
            TypeKind::Unknown | TypeKind::Int => 0,
            TypeKind::Variable(index) => index + 1,
            TypeKind::Arrow(a, b) | TypeKind::Product(a, b) => reach(a).max(reach(b)),
            TypeKind::Forall(a) => reach(a).saturating_sub(1),
            TypeKind::Ref(a) => reach(a),
        };
        let size = match kind {
            TypeKind::Unknown | TypeKind::Int | TypeKind::Variable(_) => 1,
            TypeKind::Arrow(a, b) | TypeKind::Product(a, b) => {
                self.size(a).saturating_add(self.size(b)).saturating_add(1)
            }
            TypeKind::Forall(a) | TypeKind::Ref(a) => self.size(a).saturating_add(1),
        };
        let ty = Type::new(self.kinds.len());
        self.kinds.push(kind);
        self.reach.push(reach);
        self.sizes.push(size);
        self.numbers.insert(kind, ty);
        ty
    }

    /// `A -> B`.
    pub fn arrow(&mut self, from: Type, to: Type) -> Type {
        self.make(TypeKind::Arrow(from, to))
    }

    pub fn kind(&self, ty: Type) -> TypeKind {
        self.kinds[ty.index()]
    }

    /// The number of forms of a type when written out: parts that occur twice count twice.
    pub fn size(&self, ty: Type) -> u64 {
        self.sizes[ty.index()]
    }

    /// `↑_0^d(A)`.
    pub fn shift(&mut self, ty: Type, by: u32) -> Type {
        if by == 0 { ty } else { self.change(ty, 0, Change::Shift { by }) }
    }

    /// `[i↦B]A`.
    pub fn substitute(&mut self, ty: Type, index: u32, by: Type) -> Type {
        self.change(ty, index, Change::Substitute { index, by })
    }

    /// Rebuilds a type with changed variables; `cutoff` grows with the binders that are crossed.
    fn change(&mut self, ty: Type, cutoff: u32, change: Change) -> Type {
        let (mut done, mut work) = (FxHashMap::default(), vec![(ty, cutoff)]);
        while let Some(&(ty, cutoff)) = work.last() {
            if done.contains_key(&(ty, cutoff)) {
                work.pop();
                continue;
            }
            let parts: [Option<(Type, u32)>; 2] = match self.kind(ty) {
                // It has no variables beyond the binders that were crossed.
                _ if self.reach[ty.index()] <= cutoff => [None, None],
                TypeKind::Arrow(a, b) | TypeKind::Product(a, b) => [Some((a, cutoff)), Some((b, cutoff))],
                TypeKind::Forall(a) => [Some((a, cutoff + 1)), None],
                TypeKind::Ref(a) => [Some((a, cutoff)), None],
                TypeKind::Unknown | TypeKind::Int | TypeKind::Variable(_) => [None, None],
            };
            let missing = parts.iter().flatten().filter(|part| !done.contains_key(*part));
            let missing: Vec<_> = missing.copied().collect();
            if !missing.is_empty() {
                work.extend(missing);
                continue;
            }
            let part = |i: usize| done[&parts[i].expect("this form has the part")];
            let changed = match self.kind(ty) {
                _ if self.reach[ty.index()] <= cutoff => ty,
                TypeKind::Variable(index) => self.changed_variable(index, cutoff, change),
                TypeKind::Arrow(..) => {
                    let (a, b) = (part(0), part(1));
                    self.arrow(a, b)
                }
                TypeKind::Product(..) => {
                    let kind = TypeKind::Product(part(0), part(1));
                    self.make(kind)
                }
                TypeKind::Forall(_) => {
                    let kind = TypeKind::Forall(part(0));
                    self.make(kind)
                }
                TypeKind::Ref(_) => {
                    let kind = TypeKind::Ref(part(0));
                    self.make(kind)
                }
                TypeKind::Unknown | TypeKind::Int => ty,
            };
            done.insert((ty, cutoff), changed);
            work.pop();
        }
        done[&(ty, cutoff)]
    }

    fn changed_variable(&mut self, index: u32, cutoff: u32, change: Change) -> Type {
        match change {
            Change::Shift { by } => self.make(TypeKind::Variable(index + by)),
            Change::Substitute { index: from, by } if index == cutoff => self.shift(by, cutoff - from),
            Change::Substitute { .. } => self.make(TypeKind::Variable(index - 1)),
        }
    }

    /// The type in source text for messages, with binders named a, b, c… by their depth; shortened when too
    /// long.
    pub fn show_briefly(&self, ty: Type) -> String {
        const MOST: usize = 200;
        let mut text = self.write(ty, MOST);
        if text.chars().count() > MOST {
            text = text.chars().take(MOST).chain(['…']).collect();
        }
        text
    }

    /// The type in source text, with binders named a, b, c… by their depth.
    pub fn show(&self, ty: Type) -> String {
        self.write(ty, usize::MAX)
    }

    /// Writes a type until it is longer than `limit`.
    fn write(&self, ty: Type, limit: usize) -> String {
        let (mut text, mut work) = (String::new(), vec![Piece::Type(ty, Place::Type, 0)]);
        while let Some(piece) = work.pop() {
            if text.len() > limit.saturating_mul(4) {
                break;
            }
            let (ty, place, depth) = match piece {
                Piece::Text(part) => {
                    text.push_str(part);
                    continue;
                }
                Piece::Type(ty, place, depth) => (ty, place, depth),
            };
            let needs = match self.kind(ty) {
                TypeKind::Arrow(..) | TypeKind::Forall(_) => place > Place::Type,
                TypeKind::Product(..) => place > Place::Product,
                _ => false,
            };
            if needs {
                text.push('(');
                work.push(Piece::Text(")"));
            }
            match self.kind(ty) {
                TypeKind::Unknown => text.push('_'),
                TypeKind::Int => text.push_str("int"),
                TypeKind::Variable(index) => text.push_str(&binder_name(depth, index)),
                TypeKind::Arrow(a, b) => work.extend([
                    Piece::Type(b, Place::Type, depth),
                    Piece::Text(" -> "),
                    Piece::Type(a, Place::Product, depth),
                ]),
                TypeKind::Product(a, b) => work.extend([
                    Piece::Type(b, Place::Product, depth),
                    Piece::Text(" * "),
                    Piece::Type(a, Place::Atom, depth),
                ]),
                TypeKind::Forall(a) => {
                    text.push_str("forall ");
                    text.push_str(&name_of_depth(depth));
                    text.push_str(". ");
                    work.push(Piece::Type(a, Place::Type, depth + 1));
                }
                TypeKind::Ref(a) => {
                    text.push_str("ref ");
                    work.push(Piece::Type(a, Place::Atom, depth));
                }
            }
        }
        text
    }
}

/// Pending output.
enum Piece {
    Text(&'static str),
    /// A type, its place, and the number of enclosing binders.
    Type(Type, Place, u32),
}

/// The place of a type; in later variants more forms need parentheses.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Place {
    Type,
    Product,
    Atom,
}

/// The name of a variable under `depth` binders; a free one is shown by its distance.
fn binder_name(depth: u32, index: u32) -> String {
    match depth.checked_sub(index + 1) {
        Some(depth) => name_of_depth(depth),
        None => format!("'{}", index - depth),
    }
}

/// a, b, …, z, a1, b1, …
fn name_of_depth(depth: u32) -> String {
    let letter = char::from(b'a' + u8::try_from(depth % 26).expect("below 26"));
    if depth < 26 { letter.to_string() } else { format!("{letter}{}", depth / 26) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substitution_shifts_what_it_puts_under_binders() {
        // [0 -> 0'](forall. 1 -> 0), where 0' is the variable 3 outside: under the binder it is 4.
        let mut types = Types::default();
        let [zero, one, three] = [0, 1, 3].map(|index| types.make(TypeKind::Variable(index)));
        let arrow = types.arrow(one, zero);
        let all = types.make(TypeKind::Forall(arrow));
        let result = types.substitute(all, 0, three);
        let four = types.make(TypeKind::Variable(4));
        let expected = types.arrow(four, zero);
        assert_eq!(result, types.make(TypeKind::Forall(expected)));
    }

    #[test]
    fn parentheses_only_where_the_grammar_needs_them() {
        let mut types = Types::default();
        let zero = types.make(TypeKind::Variable(0));
        let identity = types.arrow(zero, zero);
        let all = types.make(TypeKind::Forall(identity));
        let outer = types.arrow(all, all);
        assert_eq!(types.show(outer), "(forall a. a -> a) -> forall a. a -> a");
        let pair = types.make(TypeKind::Product(outer, Type::INT));
        let pairs = types.make(TypeKind::Product(pair, pair));
        let cell = types.make(TypeKind::Ref(pairs));
        assert_eq!(
            types.show(cell),
            "ref ((((forall a. a -> a) -> forall a. a -> a) * int) * ((forall a. a -> a) -> forall a. a -> a) * int)"
        );
    }
}
