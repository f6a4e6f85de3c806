//! Results of evaluations as text (functions.md, section 7): tuples are lists, records are objects;
//! enumerators, NaN and infinities are strings.

use eddy_body::ir::Elem;
use eddy_tensor::Value;
use eddy_tensor::text::Json;

use super::key::{KeyKind, Ty};

/// Prints a value of a type with these tensors.
pub fn show(ty: &Ty, values: &mut dyn Iterator<Item = &Value>, cases: &[Vec<String>]) -> String {
    match ty {
        Ty::Tensor(kind, _) => {
            let value = values.next().expect("a value for each tensor");
            match kind {
                KeyKind::Is(Elem::Enum(id)) => enumerators(value, &cases[id.index()]),
                _ => Json(value).to_string(),
            }
        }
        Ty::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| show(part, values, cases)).collect();
            format!("[{}]", parts.join(","))
        }
        Ty::Record(fields) => {
            let field = |(label, ty): &(String, Ty)| format!("\"{label}\":{}", show(ty, values, cases));
            let fields: Vec<String> = fields.iter().map(field).collect();
            format!("{{{}}}", fields.join(","))
        }
        Ty::Function(_) | Ty::Unknown => unreachable!("a result is data"),
    }
}

/// Enumerators are ints: replaces the digits in the text by names.
fn enumerators(value: &Value, cases: &[String]) -> String {
    let mut text = String::new();
    let mut digits = String::new();
    for c in value.to_string().chars().chain([' ']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if let Ok(at) = digits.parse::<usize>() {
            text.extend(["\"", cases.get(at).map_or("?", String::as_str), "\""]);
        }
        digits.clear();
        text.push(c);
    }
    text.trim_end().to_string()
}
