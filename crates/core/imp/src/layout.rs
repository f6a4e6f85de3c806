//! Structs and the offsets of their fields.
//!
//! Backends know the layout from the declaration, the host from the offsets computed here. Backends assert
//! that both agree.

use rustc_hash::FxHashMap;

use crate::name::Name;
use crate::types::{Precision, Type};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Struct {
    /// In order.
    pub fields: Vec<Field>,
    pub bytes: usize,
    align: usize,
    /// The index of the field with each name.
    numbers: FxHashMap<Name, usize>,
}

/// The line size of most caches, in bytes.
const CACHE_LINE: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: Name,
    /// The type of its elements.
    pub ty: Type,
    /// The sizes of its dimensions; empty for a scalar.
    pub dimensions: Vec<usize>,
    /// In bytes.
    pub offset: usize,
    /// The purpose of the field.
    pub comment: String,
}

impl Struct {
    pub fn field(
        &mut self,
        name: impl Into<Name>,
        ty: Type,
        dimensions: Vec<usize>,
        comment: impl Into<String>,
        precision: Precision,
    ) {
        let (name, align) = (name.into(), ty.bytes(precision));
        let end = self.fields.last().map_or(0, |last| last.offset + last.bytes(precision));
        let offset = end.next_multiple_of(align);
        let field = Field { name, ty, dimensions, offset, comment: comment.into() };
        self.align = self.align.max(align);
        self.bytes = (offset + field.bytes(precision)).next_multiple_of(self.align);
        self.numbers.insert(field.name.clone(), self.fields.len());
        self.fields.push(field);
    }

    /// Moves fields whose size is a multiple of a cache line to the front: in a struct that is aligned to a
    /// line they are aligned too, so that no vector crosses a line.
    pub fn arrange(&mut self, precision: Precision) {
        let fields = std::mem::take(self).fields;
        let (lines, others): (Vec<Field>, Vec<Field>) =
            fields.into_iter().partition(|field| field.bytes(precision).is_multiple_of(CACHE_LINE));
        for Field { name, ty, dimensions, comment, .. } in lines.into_iter().chain(others) {
            self.field(name, ty, dimensions, comment, precision);
        }
    }

    pub fn find(&self, name: &str) -> Option<&Field> {
        self.numbers.get(name).map(|number| &self.fields[*number])
    }
}

impl Field {
    pub fn bytes(&self, precision: Precision) -> usize {
        self.ty.bytes(precision) * self.n_elements()
    }

    /// At least 1, because memory is never empty.
    pub fn n_elements(&self) -> usize {
        self.dimensions.iter().map(|n| (*n).max(1)).product()
    }
}
