//! Types as parts of the identity of an instance: kinds, ranks, and the identity of function values.

use std::fmt::Write;

use eddy_body::ir::Elem;

use super::value::Code;
use crate::names::Name;

/// A kind of elements in a type: known, or open; equal numbers mean equal open kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyKind {
    Is(Elem),
    Open(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// Elements of a kind, and a number of axes.
    Tensor(KeyKind, usize),
    Tuple(Vec<Ty>),
    Record(Vec<(String, Ty)>),
    Function(FnKey),
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FnKey {
    pub code: Code,
    pub captured: Vec<(Name, Ty)>,
}

/// A function at arguments of these types.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub function: FnKey,
    pub args: Vec<Ty>,
}

impl Key {
    /// Whether the kinds of all arguments are known.
    pub fn is_closed(&self) -> bool {
        let captured = self.function.captured.iter().map(|(_, ty)| ty);
        self.args.iter().chain(captured).all(Ty::is_closed)
    }
}

impl Ty {
    fn is_closed(&self) -> bool {
        match self {
            Ty::Tensor(kind, _) => matches!(kind, KeyKind::Is(_)),
            Ty::Tuple(parts) => parts.iter().all(Ty::is_closed),
            Ty::Record(fields) => fields.iter().all(|(_, ty)| ty.is_closed()),
            Ty::Function(function) => function.captured.iter().all(|(_, ty)| ty.is_closed()),
            Ty::Unknown => false,
        }
    }

    pub fn contains_num(&self) -> bool {
        match self {
            Ty::Tensor(kind, _) => *kind == KeyKind::Is(Elem::Num),
            Ty::Tuple(parts) => parts.iter().any(Ty::contains_num),
            Ty::Record(fields) => fields.iter().any(|(_, ty)| ty.contains_num()),
            Ty::Function(_) | Ty::Unknown => false,
        }
    }

    /// Prints the type with the names of enumerations, and without sizes.
    pub fn show(&self, enumeration: &dyn Fn(Elem) -> String) -> String {
        let list = |parts: &mut dyn Iterator<Item = String>| parts.collect::<Vec<_>>().join(", ");
        match self {
            Ty::Tensor(kind, rank) => {
                let mut text = match kind {
                    KeyKind::Is(elem) => enumeration(*elem),
                    KeyKind::Open(_) => "int".to_string(),
                };
                if *rank > 0 {
                    let sizes = vec!["_"; *rank].join(", ");
                    write!(text, " [{sizes}]").expect("a string can always be written");
                }
                text
            }
            Ty::Tuple(parts) => format!("({})", list(&mut parts.iter().map(|part| part.show(enumeration)))),
            Ty::Record(fields) => {
                let field = |(label, ty): &(String, Ty)| format!("{label}: {}", ty.show(enumeration));
                format!("{{{}}}", list(&mut fields.iter().map(field)))
            }
            Ty::Function(_) => "a function".to_string(),
            Ty::Unknown => "an unknown type".to_string(),
        }
    }
}
