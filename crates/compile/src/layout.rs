//! The structs of emitted C, and where their fields lie.
//!
//! Both sides know the layout: C from the declaration, the host from the offsets computed here. The C text asserts that they agree.

use std::fmt::Write;

use eddy_tensor::{Scalar, Shape};
use rustc_hash::FxHashMap;

use crate::precision::Precision;

/// A struct.
#[derive(Clone, Debug, Default)]
pub struct Struct {
    /// Its fields, in order.
    pub fields: Vec<Field>,
    /// How many bytes it takes.
    pub bytes: usize,
    align: usize,
    /// For each name the number of its field.
    numbers: FxHashMap<String, usize>,
}

/// The bytes of a line of most caches.
const CACHE_LINE: usize = 64;

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in C.
    pub name: String,
    /// What its elements are.
    pub element: Element,
    /// How many there are in a row, for each of its dimensions; none for a scalar.
    pub dimensions: Vec<usize>,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// What it is for.
    pub comment: String,
}

/// The type of an element in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A value of the language.
    Value(Scalar),
    /// A truth value of the code itself.
    Flag,
    /// A number of cycles.
    Count,
    /// A number of an equation.
    Site,
}

impl Element {
    /// The type in C.
    pub fn c_type(self, precision: Precision) -> &'static str {
        match self {
            Element::Value(scalar) => precision.c_type(scalar),
            Element::Flag => "bool",
            Element::Count => "int64_t",
            Element::Site => "int32_t",
        }
    }

    /// Its size, which is also its alignment.
    pub fn bytes(self, precision: Precision) -> usize {
        match self {
            Element::Value(scalar) => precision.bytes(scalar),
            Element::Flag => 1,
            Element::Count => 8,
            Element::Site => 4,
        }
    }
}

impl Struct {
    /// Adds a field for a value of some shape.
    pub fn value(
        &mut self,
        name: String,
        scalar: Scalar,
        shape: &Shape,
        comment: String,
        precision: Precision,
    ) {
        let dimensions = if shape.is_scalar() { Vec::new() } else { vec![shape.iter().product()] };
        self.field(name, Element::Value(scalar), dimensions, comment, precision);
    }

    /// Adds a field.
    pub fn field(
        &mut self,
        name: String,
        element: Element,
        dimensions: Vec<usize>,
        comment: String,
        precision: Precision,
    ) {
        let align = element.bytes(precision);
        let end = self.fields.last().map_or(0, |last| last.offset + last.bytes(precision));
        let offset = end.next_multiple_of(align);
        self.align = self.align.max(align);
        self.numbers.insert(name.clone(), self.fields.len());
        self.fields.push(Field { name, element, dimensions, offset, comment });
        let end = offset + self.fields.last().expect("it was added").bytes(precision);
        self.bytes = end.next_multiple_of(self.align);
    }

    /// Puts the fields first that are as long as some lines of a cache: in a struct that begins with a line they do, too, and no vector of
    /// them lies in two lines.
    pub(crate) fn arrange(&mut self, precision: Precision) {
        let fields = std::mem::take(self).fields;
        let (lines, others): (Vec<Field>, Vec<Field>) =
            fields.into_iter().partition(|field| field.bytes(precision).is_multiple_of(CACHE_LINE));
        for Field { name, element, dimensions, comment, .. } in lines.into_iter().chain(others) {
            self.field(name, element, dimensions, comment, precision);
        }
    }

    /// The field of this name.
    pub fn find(&self, name: &str) -> Option<&Field> {
        self.numbers.get(name).map(|number| &self.fields[*number])
    }

    /// The declaration. C has no empty structs.
    pub(crate) fn declaration(&self, name: &str, precision: Precision) -> String {
        let mut text = "typedef struct {\n".to_string();
        if self.fields.is_empty() {
            text.push_str("  char nothing;\n");
        }
        for field in &self.fields {
            let _ = write!(text, "  {} {}", field.element.c_type(precision), field.name);
            for n in &field.dimensions {
                let _ = write!(text, "[{}]", n.max(&1));
            }
            text.push(';');
            let comment =
                if field.comment.is_empty() { String::new() } else { format!(" /* {} */", field.comment) };
            let _ = writeln!(text, "{comment}");
        }
        let _ = writeln!(text, "}} {name};");
        text
    }

    /// What the declaration promises to the host.
    pub(crate) fn assertions(&self, name: &str) -> String {
        let mut text = String::new();
        if !self.fields.is_empty() {
            let _ = writeln!(text, "_Static_assert(sizeof({name}) == {}, \"size of {name}\");", self.bytes);
        }
        for field in &self.fields {
            let (field, offset) = (&field.name, field.offset);
            let _ = writeln!(text, "_Static_assert(offsetof({name}, {field}) == {offset}, \"{field}\");");
        }
        text
    }
}

impl Field {
    /// How many bytes it takes.
    pub fn bytes(&self, precision: Precision) -> usize {
        self.element.bytes(precision) * self.dimensions.iter().map(|n| (*n).max(1)).product::<usize>()
    }
}
