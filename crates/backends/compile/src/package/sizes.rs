//! The memory of a program, by purpose.

use std::fmt::Write;

use crate::emit::{Emitted, Shape};
use crate::layout::Field;
use crate::lower::calls::ARENA;

/// The purpose of a field, by the first letter of its name.
const ROLES: &[(&str, &str)] = &[
    ("k_", "parameters"),
    ("i_", "what was learnt before"),
    ("p", "carried from window to window"),
    ("s_", "carried from cycle to cycle"),
    ("q", "kept for some cycles"),
    ("w", "kept for each cycle of a window"),
    ("d", "kept for some cycles"),
    ("c", "kept for √W cycles of a window"),
    ("u", "single values of a window"),
    ("r", "registers of sweeps"),
    ("x", "registers of sweeps"),
    ("sf_", "registers of sweeps"),
    ("y", "where windows end"),
    ("cy", "cycles of windows inside windows"),
    ("t", "scratch"),
    (ARENA, "memory of functions"),
];

pub fn report(emitted: &Emitted) -> String {
    let mut rows: Vec<(&str, usize)> = Vec::new();
    for field in &emitted.state.fields {
        let (role, bytes) = (role(field), field.bytes(emitted.precision));
        match rows.iter_mut().find(|(known, _)| *known == role) {
            Some((_, sum)) => *sum += bytes,
            None => rows.push((role, bytes)),
        }
    }
    let mut text = format!("{}: numbers are {}\n", emitted.name, emitted.number());
    let _ = writeln!(
        text,
        "{:>12} bytes of state, all of it in the struct {}_state",
        emitted.state.bytes, emitted.name
    );
    for (role, bytes) in rows {
        let _ = writeln!(text, "{bytes:>12}   {role}");
    }
    let _ = writeln!(text, "{:>12} bytes of inputs each cycle", emitted.input.bytes);
    let _ = writeln!(text, "{:>12} bytes of outputs each cycle", emitted.output.bytes);
    let outputs = match emitted.shape {
        Shape::Windows { .. } | Shape::Trace => {
            format!("at most {} cycles of outputs in one step", emitted.max_outputs)
        }
        Shape::Forward | Shape::Late(_) => "at most 1 cycle of outputs in one step".to_string(),
    };
    let _ = writeln!(text, "{outputs}; nothing is allocated");
    text
}

fn role(field: &Field) -> &'static str {
    let name = field.name.as_str();
    let is_scratch = |name: &str| name.len() > 1 && name[1..].chars().all(|c| c.is_ascii_digit());
    let found = ROLES
        .iter()
        .find(|(start, role)| name.starts_with(start) && (*role != "scratch" || is_scratch(name)));
    found.map_or("other", |(_, role)| role)
}
