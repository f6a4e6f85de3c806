//! Prints structs as C, with assertions about their layout.

use std::fmt::Write;

use eddy_imp::{Precision, Struct};

use super::expression::c_type;
use super::statement::in_comment;

/// The declaration. C has no empty structs.
pub(crate) fn declaration(fields: &Struct, name: &str, precision: Precision) -> String {
    let mut text = "typedef struct {\n".to_string();
    if fields.fields.is_empty() {
        text.push_str("  char nothing;\n");
    }
    for field in &fields.fields {
        let _ = write!(text, "  {} {}", c_type(field.ty, precision), field.name);
        for n in &field.dimensions {
            let _ = write!(text, "[{}]", n.max(&1));
        }
        text.push(';');
        if !field.comment.is_empty() {
            let _ = write!(text, " /* {} */", in_comment(&field.comment));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "}} {name};");
    text
}

/// Assertions that the layout is as the host expects.
pub(crate) fn assertions(fields: &Struct, name: &str) -> String {
    let mut text = String::new();
    if !fields.fields.is_empty() {
        let _ = writeln!(text, "_Static_assert(sizeof({name}) == {}, \"size of {name}\");", fields.bytes);
    }
    for field in &fields.fields {
        let (field, offset) = (&field.name, field.offset);
        let _ = writeln!(text, "_Static_assert(offsetof({name}, {field}) == {offset}, \"{field}\");");
    }
    text
}
